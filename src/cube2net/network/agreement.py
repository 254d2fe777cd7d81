"""How far cells and links agree about a query: whether objects that are near by links are in the same cells."""

from __future__ import annotations

import math

import numpy as np

from cube2net.array_types import Array
from cube2net.compiling import load

# So many objects of a query are looked at: their pairs are 180,000.
LOOKED_AT = 600
# Cells are not trusted where objects two steps apart share them as often as this, and fully where as often as that.
NONE, FULL = 1.5, 2.5
# But never less than this; and before anything is seen they are trusted, as if so many pairs had said so.
LEAST, BELIEVED = 0.1, 30


def trust(links: tuple[Array, Array], held: Array, ranks: Array, *, query: int, objects: int, cells: int) -> float:
    """Return how much cells are trusted against links, from 0.1 to 1, by what the links of the query say of them.

    See :func:`agreement` for the arguments. Where few pairs can tell, cells are trusted.
    """
    found, pairs = agreement(links, held, ranks, query=query, objects=objects, cells=cells)
    settled = (min(found, FULL) * pairs + FULL * BELIEVED) / (pairs + BELIEVED)
    return min(1.0, max(LEAST, (settled - NONE) / (FULL - NONE)))


def agreement(
    links: tuple[Array, Array], held: Array, ranks: Array, *, query: int, objects: int, cells: int
) -> tuple[float, int]:
    """Return how many times as often two objects of the query share cells where they are two steps apart as where far.

    Sharing is counted beside what chance would give, the product of the numbers of cells that the two are in: else busy
    objects, which are near each other and in many cells, would decide. 1 is where cells say nothing about links. Pairs
    that are linked are left out: the item that links two objects puts both into its cells, so these agree by
    themselves. Far are pairs that no path of three links joins, or of two where all others are joined.

    ``links`` join positions of ``objects``, the first ``query`` of which are the query's; object ``held[i]`` is in cell
    ``ranks[i]``. Of a large query only some objects are looked at. With it come the pairs two steps apart that were
    seen, 0 where nothing can be told; where far pairs share nothing, and near ones do, it is infinite.

    >>> links = np.array([0, 1, 2, 3]), np.array([4, 4, 5, 5])  # 0 and 1 by 4, 2 and 3 by 5
    >>> held = np.array([0, 1, 2, 3, 0, 2])
    >>> agreement(links, held, np.array([0, 0, 1, 1, 2, 2]), query=4, objects=6, cells=3)  # 0 and 2 share a cell too
    (4.5, 2)
    >>> agreement(links, held[:4], np.array([0, 1, 0, 1]), query=4, objects=6, cells=2)
    (0.0, 2)
    """
    load("scipy.sparse")
    from scipy import sparse

    rows = np.unique(np.linspace(0, query - 1, min(query, LOOKED_AT)).astype(np.int64))
    upper = np.triu_indices(len(rows), 1)
    ends = np.concatenate(links), np.concatenate(links[::-1])
    joined = sparse.csr_array((np.ones(len(ends[0]), np.float32), ends), shape=(objects, objects))
    around = joined[rows]
    inside = held < query
    homes = sparse.csr_array((np.ones(int(inside.sum()), np.float32), (held[inside], ranks[inside])), (query, cells))
    homes = homes[rows]

    linked = around[:, rows].toarray()[upper] > 0
    near = ((around @ around.T).toarray()[upper] > 0) & ~linked
    further = ~near & ~linked
    far = further & ~(((around @ joined) @ around.T).toarray()[upper] > 0)
    far = far if far.any() else further
    shared = (homes @ homes.T).toarray()[upper].astype(np.float64)
    count = homes.sum(axis=1)
    chance = np.outer(count, count)[upper].astype(np.float64)
    if not (chance[near].any() and chance[far].any() and (shared[near].any() or shared[far].any())):
        return 1.0, 0
    often, base = (float(shared[pairs].sum() / chance[pairs].sum()) for pairs in (near, far))
    return often / base if base else math.inf, int(near.sum())
