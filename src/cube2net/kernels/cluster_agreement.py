"""Agreement of clusterings, from contingency tables: F1, JC, NMI."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cube2net._util.arrays import Array


def f1(tables: Array) -> Array:
    """Return Σ_c |c| / n · max_t 2 |c ∩ t| / (|c| + |t|), with c the clusters found and t the true ones.

    >>> float(f1(np.array([[2.0, 0.0], [1.0, 1.0]])))  # ½ · max(4/5, 0) + ½ · max(2/5, 2/3)
    0.7333333333333334
    """
    found, true = tables.sum(axis=-1), tables.sum(axis=-2)
    best = _share(2 * tables, found[..., :, None] + true[..., None, :]).max(axis=-1)
    return _share((found * best).sum(axis=-1), found.sum(axis=-1), empty=np.nan)


def jaccard(tables: Array) -> Array:
    """Return ½ · mean_c max_t J(c, t) + ½ · mean_t max_c J(c, t), with J(c, t) = |c ∩ t| / |c ∪ t|.

    >>> float(jaccard(np.array([[2.0, 0.0], [1.0, 1.0]])))  # ½ · (2/3 + 1/2) / 2 + ½ · (2/3 + 1/2) / 2
    0.5833333333333333
    """
    found, true = tables.sum(axis=-1), tables.sum(axis=-2)
    match = _share(tables, found[..., :, None] + true[..., None, :] - tables)
    return (_average_full(match.max(axis=-1), found) + _average_full(match.max(axis=-2), true)) / 2


def nmi(tables: Array) -> Array:
    """Return I(C; T) / ((H(C) + H(T)) / 2), and 1 where both sides put all objects into one cluster.

    >>> nmi(np.array([[[2.0, 0.0], [1.0, 1.0]], [[4.0, 0.0], [0.0, 0.0]]])).round(4).tolist()
    [0.3437, 1.0]
    """
    found, true = tables.sum(axis=-1), tables.sum(axis=-2)
    total = found.sum(axis=-1)
    single = (np.count_nonzero(found, axis=-1) == 1) & (np.count_nonzero(true, axis=-1) == 1)
    apart = entropy(_share(found, total[..., None])).sum(axis=-1) + entropy(_share(true, total[..., None])).sum(axis=-1)
    shared = apart - entropy(_share(tables, total[..., None, None])).sum(axis=(-1, -2))
    score = np.clip(np.where(single, 1.0, _share(2 * shared, apart)), 0.0, 1.0)
    return np.where(total > 0, score, np.nan)


def entropy(shares: Array) -> Array:
    """Return −p log₂ p of every share, and 0 for 0."""
    safe = np.where(shares > 0, shares, 1.0)
    return -safe * np.log2(safe)


def count_tables(found: Array, true: Array, shape: tuple[int, int], times: Array) -> Array:
    """Return a contingency table of found and true clusters for every column of ``times``, the weights of objects.

    ``found`` and ``true`` are the cluster numbers of the objects, and ``shape`` the numbers of clusters. All tables are
    one product of a sparse matrix (pairs of clusters × objects) with ``times`` (objects × tables).

    >>> count_tables(np.array([0, 1, 1]), np.array([0, 0, 1]), (2, 2), np.array([[1.0], [0.0], [2.0]])).tolist()
    [[[1.0, 0.0], [0.0, 2.0]]]
    """
    import scipy.sparse as sp

    count = len(found)
    places = (np.ones(count, times.dtype), found * shape[1] + true, np.arange(count + 1))
    both = sp.csc_array(places, shape=(shape[0] * shape[1], count)) @ times
    return np.moveaxis(both.astype(np.float64, copy=False).reshape(*shape, -1), -1, 0)


def _share(part: Array, whole: Array, empty: float = 0.0) -> Array:
    """Return part / whole, and ``empty`` where the whole is 0."""
    valid = whole > 0
    return np.where(valid, part / np.where(valid, whole, 1.0), empty)


def _average_full(values: Array, sizes: Array) -> Array:
    """Return the mean over the clusters that are not empty."""
    full = sizes > 0
    return _share(np.where(full, values, 0.0).sum(axis=-1), full.sum(axis=-1), empty=np.nan)


AGREEMENT: dict[str, Callable[[Array], Array]] = {"F1": f1, "JC": jaccard, "NMI": nmi}
"""The scores by their names in the paper."""
