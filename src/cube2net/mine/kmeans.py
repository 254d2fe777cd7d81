"""Clusters of vectors, by k-means."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.compiling import load
from cube2net.errors import InputError, unknown, whole_number
from cube2net.records.ragged import frozen
from cube2net.seeding import stream
from cube2net.threads import one_thread

ISOLATED = ("nearest", "own")


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of every object, from 0, and which objects had no vector to go by."""

    labels: Array
    isolated: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", frozen(self.labels))
        object.__setattr__(self, "isolated", frozen(self.isolated))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Clusters({len(self):,} objects, {len(set(self.labels.tolist()))} clusters, {self.alone:,} isolated)"

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.labels, dtype=dtype, copy=copy)  # type: ignore[call-overload, no-any-return]

    @property
    def alone(self) -> int:
        """The number of objects that had no vector to go by."""
        return len(self.isolated)


@dataclass(frozen=True, kw_only=True)
class KMeans:
    """The best of ``restarts`` runs of k-means, each from centres spread out at random (k-means++).

    An object without links has a vector of zeros: nothing is known of it. The centres are found without such
    objects, so that they cost the others no cluster; then they all join the cluster whose centre is nearest to zero
    (``isolated="nearest"``), or one cluster of their own beyond those asked for (``"own"``). Either way they are
    scored like the others, and counted. ``unit=True`` draws every other vector to length 1 first.
    """

    restarts: int = 10
    isolated: str = "nearest"
    unit: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "restarts", whole_number("restarts", self.restarts, 1))
        if self.isolated not in ISOLATED:
            raise unknown("isolated", self.isolated, ISOLATED)

    def cluster(self, vectors: Array, count: int, *, seed: int) -> Clusters:
        """Return at most ``count`` clusters of the rows of ``vectors``; fewer where fewer rows differ.

        The answer does not depend on the number of threads.

        >>> rows = np.array([[0.0, 1.0], [9.0, 9.0], [0.0, 1.1], [0.0, 0.0]])
        >>> found = KMeans().cluster(rows, 2, seed=0)
        >>> found, bool(found.labels[0] == found.labels[2] != found.labels[1])
        (Clusters(4 objects, 2 clusters, 1 isolated), True)
        """
        count = whole_number("count", count, 1, what="clusters")
        rows = np.asarray(vectors)
        if rows.ndim != 2:
            raise InputError(f"vectors have shape {rows.shape}, expected objects × columns")
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        if not bool(np.isfinite(rows).all()):
            raise InputError(f"{int((~np.isfinite(rows)).any(axis=1).sum()):,} vectors are not finite")
        known = rows.any(axis=1)
        start = int(stream(seed, "mine", "kmeans").integers(2**31))
        labels = np.zeros(len(rows), dtype=np.int32)
        centres = np.zeros((1, rows.shape[1]))
        if known.any():
            labels[known], centres = self._run(rows[known], count, start)
            nearest = int(np.einsum("ij,ij->i", centres, centres).argmin())
            labels[~known] = len(centres) if self.isolated == "own" else nearest
        return Clusters(labels, np.flatnonzero(~known))

    def _run(self, rows: Array, count: int, start: int) -> tuple[Array, Array]:
        """Return the labels and the centres of rows that are not zero."""
        load("sklearn.cluster")
        from sklearn.cluster import KMeans as Lloyd

        if self.unit:
            rows = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = Lloyd(n_clusters=min(count, len(rows)), n_init=self.restarts, random_state=start).fit(rows)
        return made.labels_, made.cluster_centers_
