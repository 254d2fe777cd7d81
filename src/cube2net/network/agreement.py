"""How far cells and links agree about a query: whether objects that are near by links are in the same cells."""

from __future__ import annotations

import numpy as np

from cube2net.records.ragged import Array

# So many objects of a query are looked at: their pairs are half a million.
LOOKED_AT = 1_000


# What is believed before anything is seen, as if so many pairs had said it: cells and links agree well.
BELIEVED, BELIEF = 30, 0.65
# Cells are trusted fully at the agreement believed, not at all at chance; but never less than this.
CHANCE, LEAST = 0.5, 0.1


def trust(links: tuple[Array, Array], held: Array, ranks: Array, *, query: int, objects: int, cells: int) -> float:
    """Return how much cells are trusted against links, from 0.1 to 1, by what the links of the query say of them.

    See :func:`agreement` for the arguments. Where few pairs can tell, cells are trusted.
    """
    found, pairs = agreement(links, held, ranks, query=query, objects=objects, cells=cells)
    settled = (found * pairs + BELIEF * BELIEVED) / (pairs + BELIEVED)
    return min(1.0, max(LEAST, (settled - CHANCE) / (BELIEF - CHANCE)))


def agreement(
    links: tuple[Array, Array], held: Array, ranks: Array, *, query: int, objects: int, cells: int
) -> tuple[float, int]:
    """Return how likely two objects of the query two steps apart share more cells than two that are further apart.

    It is an area under the curve: 0.5 where cells say nothing about links, 1 where they say all. Pairs that are linked
    are left out: the item that links two objects puts both into its cells, so these agree by themselves. ``links``
    join positions of ``objects``, the first ``query`` of which are the query's; object ``held[i]`` is in cell
    ``ranks[i]``. Of a large query only some objects are looked at. With it come the pairs two steps apart that were
    seen; without pairs of both kinds it is 0.5 and 0.

    >>> links = np.array([0, 1, 2, 3]), np.array([4, 4, 5, 5])  # 0 and 1 by 4, 2 and 3 by 5
    >>> held, ranks = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])
    >>> agreement(links, held, ranks, query=4, objects=6, cells=2)
    (1.0, 2)
    >>> agreement(links, held, np.array([0, 1, 0, 1]), query=4, objects=6, cells=2)
    (0.25, 2)
    """
    from scipy import sparse

    rows = np.unique(np.linspace(0, query - 1, min(query, LOOKED_AT)).astype(np.int64))
    ends = np.concatenate(links), np.concatenate(links[::-1])
    around = sparse.csr_array((np.ones(len(ends[0]), np.float32), ends), shape=(objects, objects))[rows]
    inside = held < query
    homes = sparse.csr_array((np.ones(int(inside.sum()), np.float32), (held[inside], ranks[inside])), (query, cells))
    homes = homes[rows]
    upper = np.triu_indices(len(rows), 1)
    linked = around[:, rows].toarray()[upper] > 0
    near = ((around @ around.T).toarray()[upper] > 0) & ~linked
    shared = (homes @ homes.T).toarray()[upper].astype(np.int64)
    one = np.bincount(shared[near], minlength=int(shared.max(initial=0)) + 1)
    other = np.bincount(shared[~near & ~linked], minlength=len(one))
    pairs = float(one.sum()) * float(other.sum())
    below = np.cumsum(other) - other
    return (float((one * (below + other / 2)).sum()) / pairs, int(one.sum())) if pairs else (CHANCE, 0)
