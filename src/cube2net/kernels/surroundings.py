"""The part of a network around a query, and the links in it."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
def neighbourhood(
    indptr: Array, indices: Array, query: Array, reach: int, most: int, spare: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the nodes around a query, itself first, and the links among them as positions, with their entries.

    With ``spare`` the nodes that another can stand in for are left out.
    """
    nodes = expand(indptr, indices, query, reach, most)
    low, high, entries = links_among(indptr, indices, nodes)
    if spare:
        ends, others, _ = both_ends(len(nodes), low, high)
        nodes = nodes[needed(ends, others, len(query))]
        low, high, entries = links_among(indptr, indices, nodes)
    return nodes, low, high, entries


@njit(cache=True)
def expand(indptr: Array, indices: Array, query: Array, reach: int, most: int) -> Array:
    """Return the query and the objects within ``reach`` hops of it, ring by ring, at most ``most`` others.

    Of a ring that does not fit whole, the objects with most links to the ring before come in, in the
    order found where they have as many, and it is the last.
    """
    met = np.zeros(len(indptr) - 1, np.int32)
    found = np.empty(len(met), np.int32)
    for at in range(len(query)):
        found[at] = query[at]
        met[query[at]] = -1
    start, stop = 0, len(query)
    for _ in range(reach):
        end = stop
        for at in range(start, stop):
            for entry in range(indptr[found[at]], indptr[found[at] + 1]):
                other = indices[entry]
                if met[other] == 0:
                    found[end] = other
                    end += 1
                if met[other] >= 0:
                    met[other] += 1
        room = len(query) + most - stop
        if end - stop > room:
            return _fullest(met, found, stop, end, room)
        for at in range(stop, end):
            met[found[at]] = -1
        start, stop = stop, end
        if start == stop:
            break
    return found[:stop].copy()


@njit(cache=True)
def _fullest(met: Array, found: Array, stop: int, end: int, room: int) -> Array:
    most = 0
    for at in range(stop, end):
        most = max(most, met[found[at]])
    tally = np.zeros(most + 2, np.int64)
    for at in range(stop, end):
        tally[met[found[at]]] += 1
    least, sure = most + 1, 0
    while least > 1 and sure + tally[least] <= room:
        sure += tally[least]
        least -= 1
    some, to = room - sure, stop
    for at in range(stop, end):
        count = met[found[at]]
        if count > least or (count == least and some > 0):
            some -= count == least
            found[to] = found[at]
            to += 1
    return found[:to].copy()


@njit(cache=True)
def links_among(indptr: Array, indices: Array, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the links among nodes, each once: both ends as positions in ``nodes``, and the entry it stands at."""
    place = np.full(len(indptr) - 1, -1, np.int32)
    for at in range(len(nodes)):
        place[nodes[at]] = at
    count = 0
    for at in range(len(nodes)):
        for entry in range(indptr[nodes[at]], indptr[nodes[at] + 1]):
            count += place[indices[entry]] > at
    low = np.empty(count, np.int32)
    high = np.empty(count, np.int32)
    entries = np.empty(count, np.int64)
    count = 0
    for at in range(len(nodes)):
        for entry in range(indptr[nodes[at]], indptr[nodes[at] + 1]):
            other = place[indices[entry]]
            if other > at:
                low[count], high[count], entries[count] = at, other, entry
                count += 1
    return low, high, entries


@njit(cache=True)
def both_ends(count: int, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return links kept on both ends: where each node's row starts, its neighbours, and the link of each."""
    indptr = np.zeros(count + 1, np.int64)
    for link in range(len(low)):
        indptr[low[link] + 1] += 1
        indptr[high[link] + 1] += 1
    for node in range(count):
        indptr[node + 1] += indptr[node]
    free = indptr[:-1].copy()
    others = np.empty(2 * len(low), np.int64)
    links = np.empty(2 * len(low), np.int64)
    for link in range(len(low)):
        a, b = low[link], high[link]
        others[free[a]], links[free[a]] = b, link
        others[free[b]], links[free[b]] = a, link
        free[a] += 1
        free[b] += 1
    return indptr, others, links


@njit(cache=True)
def needed(indptr: Array, others: Array, first: int) -> Array:
    """Return which nodes are left when those that a neighbour can stand in for go; the ``first`` ones never go.

    A node can go when all its neighbours are also neighbours of one of them: whatever it joins, that one
    joins. So a smallest connected set around given nodes never needs it.
    """
    count = len(indptr) - 1
    left = np.ones(count, np.bool_)
    near = np.full(count, -1)
    for node in range(count):
        if not left[node]:
            continue
        near[node] = node
        for entry in range(indptr[node], indptr[node + 1]):
            near[others[entry]] = node
        for entry in range(indptr[node], indptr[node + 1]):
            other = others[entry]
            if other < first or not left[other]:
                continue
            left[other] = False
            for way in range(indptr[other], indptr[other + 1]):
                if left[others[way]] and near[others[way]] != node:
                    left[other] = True
                    break
    return left
