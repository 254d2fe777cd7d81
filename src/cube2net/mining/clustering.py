"""Clusters of vectors by k-means, and how well clusters found agree with true ones: F1, JC, NMI, overlapping NMI.

F1, JC and NMI take one label for each object, the NMI of overlapping groups several; found ones first, then true.
Names do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net._util.arrays import Array, freeze
from cube2net._util.progress import one_thread
from cube2net._util.random import stream
from cube2net.errors import InputError, check_int, unknown_name
from cube2net.kernels import cluster_agreement
from cube2net.kernels.cluster_agreement import entropy

if TYPE_CHECKING:
    import scipy.sparse as sp

ISOLATED = ("nearest", "own")
Labels = Sequence[object] | Array
NORMS = ("max", "sum", "lfk")
MAX_ITERATIONS = 300
ROUNDING = 1e-12
TOLERANCE = 1e-4
"""Iterations of k-means end when the centres move less than this times the mean variance of a column."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of every object, from 0, and which objects had no vector to go by."""

    labels: Array
    isolated: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", freeze(self.labels))
        object.__setattr__(self, "isolated", freeze(self.isolated))

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
        object.__setattr__(self, "restarts", check_int("restarts", self.restarts, 1))
        if self.isolated not in ISOLATED:
            raise unknown_name("isolated", self.isolated, ISOLATED)

    def cluster(self, vectors: Array, count: int, *, seed: int) -> Clusters:
        """Return at most ``count`` clusters of the rows of ``vectors``; fewer where fewer rows differ.

        The answer does not depend on the number of threads.

        >>> rows = np.array([[0.0, 1.0], [9.0, 9.0], [0.0, 1.1], [0.0, 0.0]])
        >>> found = KMeans().cluster(rows, 2, seed=0)
        >>> found, bool(found.labels[0] == found.labels[2] != found.labels[1])
        (Clusters(4 objects, 2 clusters, 1 isolated), True)
        """
        count = check_int("count", count, 1, what="clusters")
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
        if self.unit:
            rows = rows / np.sqrt(_squares(rows))[:, None]
        with one_thread():
            return _k_means(rows, min(count, len(rows)), self.restarts, np.random.RandomState(start))


def _k_means(rows: Array, count: int, restarts: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return the labels and the centres of the run with the smallest sum of squared distances.

    The draws and the updates are those of scikit-learn's ``KMeans``, which a test compares it with: the clusters are
    the same. It spares the core 33 MB and an import of 1.7 s.
    """
    mean = rows.mean(axis=0)
    rows = rows - mean
    total = float(_squares(rows).sum())
    enough = TOLERANCE * total / rows.size
    least = np.inf
    for _ in range(restarts):
        found, moved, inertia = _lloyd(rows, _spread_centres(rows, count, rng), enough)
        if inertia < least - ROUNDING * total:  # the same clusters in another order are no better
            labels, centres, least = found, moved, inertia
    return labels, centres + mean


def _spread_centres(rows: Array, count: int, rng: np.random.RandomState) -> Array:
    """Return rows to start from, each the best of a few drawn by their squared distance to those before (k-means++)."""
    squares = _squares(rows)
    chosen = [int(rng.choice(len(rows), p=np.full(len(rows), 1 / len(rows))))]
    nearest = _squared_distances(rows[chosen], rows, squares)[0]
    for _ in range(1, count):
        drawn = np.searchsorted(np.cumsum(nearest), rng.uniform(size=2 + int(np.log(count))) * nearest.sum())
        drawn = np.minimum(drawn, len(rows) - 1)
        nearer = np.minimum(nearest, _squared_distances(rows[drawn], rows, squares))
        best = int(nearer.sum(axis=1).argmin())
        chosen.append(int(drawn[best]))
        nearest = nearer[best]
    return rows[chosen]


def _lloyd(rows: Array, centres: Array, enough: float) -> tuple[Array, Array, float]:
    """Return labels, centres and the sum of squared distances once labels stay, or centres move less than enough."""
    labels = np.full(len(rows), -1)
    for _ in range(MAX_ITERATIONS):
        before, labels = labels, _nearest_centres(rows, centres)
        moved = _mean_rows(rows, labels, centres)
        shift, centres = float(((moved - centres) ** 2).sum()), moved
        if np.array_equal(labels, before):
            break
        if shift <= enough:
            labels = _nearest_centres(rows, centres)
            break
    else:
        labels = _nearest_centres(rows, centres)
    return labels.astype(np.int32), centres, float(_squares(rows - centres[labels]).sum())


def _nearest_centres(rows: Array, centres: Array) -> Array:
    nearest: Array = (_squares(centres) - 2.0 * (rows @ centres.T)).argmin(axis=1)
    return nearest


def _mean_rows(rows: Array, labels: Array, centres: Array) -> Array:
    """Return the mean of every cluster's rows; an empty cluster takes a row that is farthest from its own centre."""
    sizes = np.bincount(labels, minlength=len(centres))
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        distances = _squares(rows - centres[labels])
        farthest = np.argpartition(distances, -len(empty))[: -len(empty) - 1 : -1]
        if distances[farthest[0]] > 0:
            labels = labels.copy()
            labels[farthest] = empty
            sizes = np.bincount(labels, minlength=len(centres))
    sums = (labels == np.arange(len(centres))[:, None]).astype(np.float64) @ rows
    return np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)


def _squares(rows: Array) -> Array:
    squares: Array = np.einsum("ij,ij->i", rows, rows)
    return squares


def _squared_distances(points: Array, rows: Array, squares: Array) -> Array:
    return np.maximum(_squares(points)[:, None] - 2.0 * (points @ rows.T) + squares, 0.0)


def f1(found: Labels, truth: Labels) -> float:
    """Return the F1 similarity: the F1 of every found cluster with the true one most like it, weighed by size.

    F1 = Σ_c |c| / n · max_t 2 |c ∩ t| / (|c| + |t|), with c the clusters found and t the true ones. It is not
    symmetric: clusters found may share their best true one.

    >>> f1([0, 0, 1, 1], ["a", "a", "a", "b"])  # ½ · max(4/5, 0) + ½ · max(2/5, 2/3)
    0.7333333333333334
    """
    return float(cluster_agreement.f1(_contingency(found, truth)))


def jaccard_index(found: Labels, truth: Labels) -> float:
    """Return the Jaccard similarity JC: the mean of the best matches, half from either side.

    JC = ½ · mean_c max_t J(c, t) + ½ · mean_t max_c J(c, t), with J(c, t) = |c ∩ t| / |c ∪ t|.

    >>> jaccard_index([0, 0, 1, 1], ["a", "a", "a", "b"])  # ½ · (2/3 + 1/2) / 2 + ½ · (2/3 + 1/2) / 2
    0.5833333333333333
    """
    return float(cluster_agreement.jaccard(_contingency(found, truth)))


def nmi(found: Labels, truth: Labels) -> float:
    """Return the normalised mutual information, I(C; T) / ((H(C) + H(T)) / 2): 0 when one tells nothing of the other.

    It is 1 when both put all objects into one cluster.

    >>> round(nmi([0, 0, 1, 1], ["a", "a", "a", "b"]), 4)
    0.3437
    """
    return float(cluster_agreement.nmi(_contingency(found, truth)))


def overlapping_nmi(
    found: Sequence[Collection[object]], truth: Sequence[Collection[object]], *, norm: str = "max"
) -> float:
    """Return the NMI of groups that may overlap: every object has any number of labels, also none.

    A group is a yes-or-no variable over the n objects. What is left to know of group x once groups Y are known is
    H(x | Y) = min_y H(x | y), over those y that tell more by agreeing than by disagreeing, and H(x) where there is
    none (Lancichinetti, Fortunato and Kertész 2009). With H(X | Y) = Σ_x H(x | Y), I = ½ (H(X) − H(X | Y) + H(Y) −
    H(Y | X)), divided by max(H(X), H(Y)), or with ``norm="sum"`` by their mean (McDaid, Greene and Hurley 2011).
    ``norm="lfk"`` is the first paper's own: 1 − ½ (mean_x H(x | Y) / H(x) + mean_y H(y | X) / H(y)).

    On groups that do not overlap it is not ``nmi``, and is not meant to be compared with it.

    >>> overlapping_nmi([{0}, {0, 1}, {1}, {1}], [["a"], ["b", "a"], ["b"], ["b"]])
    1.0
    """
    if norm not in NORMS:
        raise unknown_name("norm", norm, NORMS)
    one, other = _cover(found, "found"), _cover(truth, "true")
    _same_length(one.shape[1], other.shape[1])
    total = one.shape[1]
    sizes, true_sizes = one.sum(axis=1), other.sum(axis=1)
    both = (one @ other.T).toarray()
    alone, true_alone = _binary_entropy(sizes / total), _binary_entropy(true_sizes / total)
    left = _left_to_know(both, sizes, true_sizes, total)
    true_left = _left_to_know(both.T, true_sizes, sizes, total)
    if norm == "lfk":
        shares = [_share_left(left, alone), _share_left(true_left, true_alone)]
        return float(1 - sum(shares) / 2)
    known = (alone.sum() - left.sum() + true_alone.sum() - true_left.sum()) / 2
    most = max(alone.sum(), true_alone.sum()) if norm == "max" else (alone.sum() + true_alone.sum()) / 2
    if most <= 0:
        return 1.0
    return float(min(max(known / most, 0.0), 1.0))


def _contingency(found: Labels, truth: Labels) -> Array:
    """Return how many objects every found and every true cluster share."""
    _same_length(len(found), len(truth))
    if not len(found):
        raise InputError("there are no objects to score: give one label for each object, found and true")
    rows, columns = _number_labels(found), _number_labels(truth)
    width = int(columns.max()) + 1
    both = np.bincount(rows * width + columns, minlength=(int(rows.max()) + 1) * width).reshape(-1, width)
    return both.astype(np.float64)


def _number_labels(labels: Iterable[Any]) -> Array:
    """Return a number for every label, equal for equal labels, in the order in which they first come."""
    if isinstance(labels, np.ndarray):
        if labels.ndim != 1:
            raise InputError(f"labels have shape {labels.shape}, expected one label for each object")
        labels = labels.tolist()
    numbers: dict[object, int] = {}
    try:
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    except TypeError:
        raise InputError("an object has several labels, expected one: use overlapping_nmi for several") from None


def _cover(labels: Sequence[Collection[object]], side: str) -> sp.csr_array:
    """Return groups × objects, 1 where an object has the group's label; the same group under two names stays two."""
    import scipy.sparse as sp

    numbers: dict[object, int] = {}
    groups: list[int] = []
    objects: list[int] = []
    for position, own in enumerate(labels):
        if isinstance(own, str | bytes) or not isinstance(own, Collection):
            raise InputError(
                f"the {side} labels of object {position:,} are {own!r}, expected several such as ['a', 'b']"
            )
        for label in set(own):
            groups.append(numbers.setdefault(label, len(numbers)))
            objects.append(position)
    if not groups:
        raise InputError(f"none of the {len(labels):,} objects has a {side} label")
    return sp.csr_array((np.ones(len(groups)), (groups, objects)), shape=(len(numbers), len(labels)))


def _same_length(found: int, truth: int) -> None:
    if found != truth:
        raise InputError(f"{found:,} objects have a found label and {truth:,} a true one, expected the same objects")


def _binary_entropy(shares: Array) -> Array:
    return entropy(shares) + entropy(1 - shares)


def _left_to_know(both: Array, sizes: Array, others: Array, total: int) -> Array:
    """Return H(x | Y) of every group x: what the most telling of the other groups leaves open."""
    cells = [both, sizes[:, None] - both, others - both, total - sizes[:, None] - others + both]
    yes, only, other, neither = (entropy(np.maximum(cell, 0) / total) for cell in cells)
    given = yes + only + other + neither - _binary_entropy(others / total)
    agreeing = yes + neither >= only + other
    alone = _binary_entropy(sizes / total)
    left: Array = np.minimum(np.where(agreeing, given, np.inf).min(axis=1), alone)
    return np.maximum(left, 0.0)


def _share_left(left: Array, alone: Array) -> float:
    """Return the mean share of each group's entropy that is left; a group of all objects has none to leave."""
    return float(np.where(alone > 0, left / np.where(alone > 0, alone, 1.0), 0.0).mean())


METRICS: dict[str, Callable[[Labels, Labels], float]] = {"F1": f1, "JC": jaccard_index, "NMI": nmi}
"""The three scores of the paper, by the names it gives them."""
