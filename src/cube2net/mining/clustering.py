"""Clusters of vectors by k-means, and their agreement with true clusters: F1, JC and NMI.

Scores take a label of every object, those of the clusters first and the true ones second; label names do not matter.
Those in ``AGREEMENT`` take contingency tables, many at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cube2net._util.arrays import Array, freeze
from cube2net._util.progress import one_thread
from cube2net._util.random import stream
from cube2net.errors import InputError, check_int, unknown_name

ISOLATED = ("nearest", "own")
Labels = Sequence[object] | Array
MAX_ITERATIONS = 300
ROUNDING = 1e-12
TOLERANCE = 1e-4
"""Iterations of k-means end when the centres move less than this times the mean variance of a column."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of every object, from 0, and the objects without a vector."""

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
        """The number of objects without a vector."""
        return len(self.isolated)


@dataclass(frozen=True, kw_only=True)
class KMeans:
    """The best of ``restarts`` runs of k-means, each initialised by k-means++.

    Objects without links have vectors of zeros. Centres are computed without them; they are assigned to the cluster
    whose centre is nearest to zero (``isolated="nearest"``), or to an additional cluster (``"own"``), and are scored
    like the others. ``unit=True`` scales all other vectors to length 1 first.
    """

    restarts: int = 10
    isolated: str = "nearest"
    unit: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "restarts", check_int("restarts", self.restarts, 1))
        if self.isolated not in ISOLATED:
            raise unknown_name("isolated", self.isolated, ISOLATED)

    def cluster(self, vectors: Array, count: int, *, seed: int) -> Clusters:
        """Return at most ``count`` clusters of the rows of ``vectors``; fewer if fewer rows are distinct.

        The result does not depend on the number of threads.

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
        is_known = rows.any(axis=1)
        start = int(stream(seed, "mine", "kmeans").integers(2**31))
        labels = np.zeros(len(rows), dtype=np.int32)
        centres = np.zeros((1, rows.shape[1]))
        if is_known.any():
            points = rows[is_known]
            largest = np.abs(points).max()
            if not 1e-100 < largest < 1e100:  # squares would overflow or vanish
                points = points / largest
            if self.unit:
                points = points / np.sqrt(_sum_squares(points))[:, None]
            with one_thread():
                rng = np.random.RandomState(start)
                labels[is_known], centres = _run_k_means(points, min(count, len(points)), self.restarts, rng)
            nearest = int(np.einsum("ij,ij->i", centres, centres).argmin())
            labels[~is_known] = len(centres) if self.isolated == "own" else nearest
        return Clusters(labels, np.flatnonzero(~is_known))


def _run_k_means(rows: Array, count: int, restarts: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return the labels and the centres of the run with the smallest sum of squared distances.

    Draws and updates are those of scikit-learn's ``KMeans``, and a test checks that clusters are equal. This avoids a
    dependency of 33 MB and an import of 1.7 s.
    """
    mean = rows.mean(axis=0)
    rows = rows - mean
    total = float(_sum_squares(rows).sum())
    enough = TOLERANCE * total / rows.size
    least = np.inf
    for _ in range(restarts):
        assigned, moved, inertia = _run_lloyd(rows, _spread_centres(rows, count, rng), enough)
        if inertia < least - ROUNDING * total:  # the same clusters in another order are no better
            labels, centres, least = assigned, moved, inertia
    return labels, centres + mean


def _spread_centres(rows: Array, count: int, rng: np.random.RandomState) -> Array:
    """Return initial centres, each the best of a few rows drawn by squared distance to earlier ones (k-means++)."""
    squares = _sum_squares(rows)
    chosen = [int(rng.choice(len(rows), p=np.full(len(rows), 1 / len(rows))))]
    nearest = _compute_squared_distances(rows[chosen], rows, squares)[0]
    for _ in range(1, count):
        drawn = np.searchsorted(np.cumsum(nearest), rng.uniform(size=2 + int(np.log(count))) * nearest.sum())
        drawn = np.minimum(drawn, len(rows) - 1)
        nearer = np.minimum(nearest, _compute_squared_distances(rows[drawn], rows, squares))
        best = int(nearer.sum(axis=1).argmin())
        chosen.append(int(drawn[best]))
        nearest = nearer[best]
    return rows[chosen]


def _run_lloyd(rows: Array, centres: Array, enough: float) -> tuple[Array, Array, float]:
    """Return labels, centres and inertia once labels are stable or centres move less than ``enough``."""
    labels = np.full(len(rows), -1)
    for _ in range(MAX_ITERATIONS):
        before, labels = labels, _find_nearest_centres(rows, centres)
        moved = _compute_centres(rows, labels, centres)
        shift, centres = float(((moved - centres) ** 2).sum()), moved
        if np.array_equal(labels, before):
            break
        if shift <= enough:
            labels = _find_nearest_centres(rows, centres)
            break
    else:
        labels = _find_nearest_centres(rows, centres)
    return labels.astype(np.int32), centres, float(_sum_squares(rows - centres[labels]).sum())


def _find_nearest_centres(rows: Array, centres: Array) -> Array:
    nearest: Array = (_sum_squares(centres) - 2.0 * (rows @ centres.T)).argmin(axis=1)
    return nearest


def _compute_centres(rows: Array, labels: Array, centres: Array) -> Array:
    """Return the mean of every cluster's rows; an empty cluster takes a row that is farthest from its centre."""
    sizes = np.bincount(labels, minlength=len(centres))
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        distances = _sum_squares(rows - centres[labels])
        farthest = np.argpartition(distances, -len(empty))[: -len(empty) - 1 : -1]
        if distances[farthest[0]] > 0:
            labels = labels.copy()
            labels[farthest] = empty
            sizes = np.bincount(labels, minlength=len(centres))
    sums = (labels == np.arange(len(centres))[:, None]).astype(np.float64) @ rows
    return np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)


def _sum_squares(rows: Array) -> Array:
    squares: Array = np.einsum("ij,ij->i", rows, rows)
    return squares


def _compute_squared_distances(points: Array, rows: Array, squares: Array) -> Array:
    return np.maximum(_sum_squares(points)[:, None] - 2.0 * (points @ rows.T) + squares, 0.0)


def f1(clusters: Labels, truth: Labels) -> float:
    """Return the F1 similarity: the F1 of every cluster with the most similar true one, weighted by size.

    F1 = Σ_c |c| / n · max_t 2 |c ∩ t| / (|c| + |t|), with c the clusters and t the true ones. It is not symmetric:
    several clusters may match the same true one.

    >>> f1([0, 0, 1, 1], ["a", "a", "a", "b"])  # ½ · max(4/5, 0) + ½ · max(2/5, 2/3)
    0.7333333333333334
    """
    return float(compute_f1(_count_pairs(clusters, truth)))


def jaccard_index(clusters: Labels, truth: Labels) -> float:
    """Return the Jaccard similarity JC: the mean of the best matches in both directions.

    JC = ½ · mean_c max_t J(c, t) + ½ · mean_t max_c J(c, t), with J(c, t) = |c ∩ t| / |c ∪ t|.

    >>> jaccard_index([0, 0, 1, 1], ["a", "a", "a", "b"])  # ½ · (2/3 + 1/2) / 2 + ½ · (2/3 + 1/2) / 2
    0.5833333333333333
    """
    return float(compute_jaccard(_count_pairs(clusters, truth)))


def nmi(clusters: Labels, truth: Labels) -> float:
    """Return the normalised mutual information, I(C; T) / ((H(C) + H(T)) / 2).

    It is 1 if both have a single cluster.

    >>> round(nmi([0, 0, 1, 1], ["a", "a", "a", "b"]), 4)
    0.3437
    """
    return float(compute_nmi(_count_pairs(clusters, truth)))


def _count_pairs(clusters: Labels, truth: Labels) -> Array:
    """Return the contingency table of clusters and true clusters."""
    if len(clusters) != len(truth):
        raise InputError(
            f"{len(clusters):,} objects have a found label and {len(truth):,} a true one, expected the same objects"
        )
    if not len(clusters):
        raise InputError("there are no objects to score: give one label for each object, found and true")
    rows, columns = _number_labels(clusters), _number_labels(truth)
    width = int(columns.max()) + 1
    both = np.bincount(rows * width + columns, minlength=(int(rows.max()) + 1) * width).reshape(-1, width)
    return both.astype(np.float64)


def _number_labels(labels: Iterable[Any]) -> Array:
    """Return labels as integers in order of first occurrence."""
    if isinstance(labels, np.ndarray):
        if labels.ndim != 1:
            raise InputError(f"labels have shape {labels.shape}, expected one label for each object")
        labels = labels.tolist()
    numbers: dict[object, int] = {}
    try:
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    except TypeError:
        raise InputError("an object has several labels, expected one: give one label for each object") from None


METRICS: dict[str, Callable[[Labels, Labels], float]] = {"F1": f1, "JC": jaccard_index, "NMI": nmi}
"""The three scores of the paper by name."""


def compute_f1(tables: Array) -> Array:
    """Return the F1 of contingency tables (clusters × true clusters); see :func:`f1`.

    >>> float(compute_f1(np.array([[2.0, 0.0], [1.0, 1.0]])))  # ½ · max(4/5, 0) + ½ · max(2/5, 2/3)
    0.7333333333333334
    """
    clusters, true = tables.sum(axis=-1), tables.sum(axis=-2)
    best = _share(2 * tables, clusters[..., :, None] + true[..., None, :]).max(axis=-1)
    return _share((clusters * best).sum(axis=-1), clusters.sum(axis=-1), empty=np.nan)


def compute_jaccard(tables: Array) -> Array:
    """Return the Jaccard similarity of contingency tables; see :func:`jaccard_index`.

    >>> float(compute_jaccard(np.array([[2.0, 0.0], [1.0, 1.0]])))  # ½ · (2/3 + 1/2) / 2 + ½ · (2/3 + 1/2) / 2
    0.5833333333333333
    """
    clusters, true = tables.sum(axis=-1), tables.sum(axis=-2)
    match = _share(tables, clusters[..., :, None] + true[..., None, :] - tables)
    return (_average_full(match.max(axis=-1), clusters) + _average_full(match.max(axis=-2), true)) / 2


def compute_nmi(tables: Array) -> Array:
    """Return the normalised mutual information of contingency tables; see :func:`nmi`.

    >>> compute_nmi(np.array([[[2.0, 0.0], [1.0, 1.0]], [[4.0, 0.0], [0.0, 0.0]]])).round(4).tolist()
    [0.3437, 1.0]
    """
    clusters, true = tables.sum(axis=-1), tables.sum(axis=-2)
    total = clusters.sum(axis=-1)
    single = (np.count_nonzero(clusters, axis=-1) == 1) & (np.count_nonzero(true, axis=-1) == 1)
    apart = entropy(_share(clusters, total[..., None])).sum(axis=-1) + entropy(_share(true, total[..., None])).sum(
        axis=-1
    )
    shared = apart - entropy(_share(tables, total[..., None, None])).sum(axis=(-1, -2))
    score = np.clip(np.where(single, 1.0, _share(2 * shared, apart)), 0.0, 1.0)
    return np.where(total > 0, score, np.nan)


def entropy(shares: Array) -> Array:
    """Return −p log₂ p of every share, and 0 for 0."""
    safe = np.where(shares > 0, shares, 1.0)
    return -safe * np.log2(safe)


def count_tables(clusters: Array, true: Array, shape: tuple[int, int], times: Array) -> Array:
    """Return a contingency table of clusters and true clusters for every column of ``times``, the weights of objects.

    ``clusters`` and ``true`` are the cluster numbers of the objects, and ``shape`` the numbers of clusters. All tables
    are one product of a sparse matrix (pairs of clusters × objects) with ``times`` (objects × tables).

    >>> count_tables(np.array([0, 1, 1]), np.array([0, 0, 1]), (2, 2), np.array([[1.0], [0.0], [2.0]])).tolist()
    [[[1.0, 0.0], [0.0, 2.0]]]
    """
    import scipy.sparse as sp

    count = len(clusters)
    places = (np.ones(count, times.dtype), clusters * shape[1] + true, np.arange(count + 1))
    both = sp.csc_array(places, shape=(shape[0] * shape[1], count)) @ times
    return np.moveaxis(both.astype(np.float64, copy=False).reshape(*shape, -1), -1, 0)


def _share(part: Array, total: Array, empty: float = 0.0) -> Array:
    """Return part / whole, and ``empty`` where the whole is 0."""
    valid = total > 0
    return np.where(valid, part / np.where(valid, total, 1.0), empty)


def _average_full(values: Array, sizes: Array) -> Array:
    """Return the mean over the clusters that are not empty."""
    full = sizes > 0
    return _share(np.where(full, values, 0.0).sum(axis=-1), full.sum(axis=-1), empty=np.nan)


AGREEMENT: dict[str, Callable[[Array], Array]] = {"F1": compute_f1, "JC": compute_jaccard, "NMI": compute_nmi}
"""The same scores of contingency tables."""
