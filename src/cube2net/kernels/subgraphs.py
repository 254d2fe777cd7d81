"""Subgraphs: one hop from objects, the links among objects, and the neighbourhood of a query.

Values of objects are in a table, which has ``keys``. If these are empty, object v is at position v. Else it is a hash
table whose size is a power of two and at least twice the number of objects in it: ``keys`` is the object at every
position, or −1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import inner, njit
from cube2net.kernels.numpy_kernels import HUB

FEW = 32
"""Objects are few, and kept in a hash table, if they are fewer than one in this many."""
FREE = -1
GOLDEN = np.uint64(2654435769)
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def make_keys(most: int, objects: int) -> Array:
    """Return the keys of an empty table for at most ``most`` of all objects.

    >>> make_keys(3, 1_000).tolist(), make_keys(3, 50).tolist()
    ([-1, -1, -1, -1, -1, -1, -1, -1], [])
    """
    if most * FEW >= objects:
        return np.empty(0, np.int32)
    return np.full(1 << (2 * most).bit_length(), FREE, np.int32)


@njit(cache=True)
def hash_object(v: Any, size: Any) -> Any:
    """Return the hash of an object, a position below ``size``; hashes of consecutive objects are far apart."""
    return (((np.uint64(v) * GOLDEN) & LOW) * np.uint64(size)) >> HALF


@njit(cache=True)
def find_slot(keys: Array, v: Any) -> Any:
    """Return the position of an object, or the free one where it would be inserted."""
    size = np.uint64(len(keys))
    if size == 0:
        return np.uint64(v)
    place = hash_object(v, size)
    while keys[place] != v and keys[place] != FREE:
        place = (place + np.uint64(1)) & (size - np.uint64(1))
    return place


@njit(cache=True)
def insert_objects(keys: Array, values: Array, objects: Array, first: int, step: int) -> None:
    """Insert objects into a table with the values ``first``, ``first + step``, …"""
    for i in range(len(objects)):
        place = find_slot(keys, objects[i])
        if len(keys) > 0:
            keys[place] = objects[i]
        values[place] = first + i * step


@njit(cache=True)
def look_up(keys: Array, values: Array, objects: Array) -> Array:
    """Return the values of objects, and 0 for those not in the table."""
    results = np.zeros(len(objects), values.dtype)
    for i in range(len(objects)):
        place = find_slot(keys, objects[i])
        if len(keys) == 0 or keys[place] == objects[i]:
            results[i] = values[place]
    return results


@njit(cache=True)
def hop(
    indptr: Array,
    indices: Array,
    weights: Array,
    front: Array,
    fan_out: int,
    most: int,
    keys: Array,
    state: Array,
    hits: Array,
) -> Array:
    """Return the objects one step from the front that are not known, in the order found.

    Each object of the front adds at most ``fan_out`` of them (0: all), by its heaviest links, of equal weights the
    lower object first. At most ``most`` are found. ``keys`` and ``state`` are a table with room for these, in which
    objects to leave out have 1; those found get 2. ``hits`` is empty, or counts at the positions of the table how many
    objects of the front link to an object.
    """
    next_objects = np.empty(most, np.int32)
    count = 0
    counted, hashed = len(hits) > 0, len(keys) > 0
    for u in front:
        start, end = indptr[u], indptr[u + 1]
        least, ties, capped = np.float32(0.0), 0, False
        if 0 < fan_out < end - start:
            new = 0
            heavy = np.empty(end - start, np.float32)
            for k in range(start, end):
                place = find_slot(keys, indices[k])
                if state[place] != 1:
                    heavy[new] = weights[k]
                    new += 1
            if new > fan_out:
                least = _select_rank(heavy, new, new - fan_out)
                ties, capped = fan_out, True
                for at in range(new):
                    if heavy[at] > least:
                        ties -= 1
        for k in range(start, end):
            v = indices[k]
            place = find_slot(keys, v)
            if state[place] == 1 or (capped and weights[k] < least):
                continue
            if capped and weights[k] == least:
                if ties == 0:
                    continue
                ties -= 1
            if state[place] == 0:
                if hashed:
                    keys[place] = v
                state[place] = 2
                next_objects[count] = v
                count += 1
            if counted:
                hits[place] += 1
    return next_objects[:count].copy()


@inner
def _select_rank(values: Array, count: int, rank: int) -> Any:
    """Return the value of a rank among the first ``count`` values (quickselect); the values are reordered."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@njit(cache=True)
def induce(
    indptr: Array,
    indices: Array,
    weights: Array,
    nodes: Array,
    keys: Array,
    place: Array,
    mark: Array,
    source: Array,
    target: Array,
    weight: Array,
) -> int:
    """Write the links among distinct nodes, each once, as positions source < target; return their number.

    ``keys`` and ``place`` are a table of 1 + the position of every node, 0 elsewhere. If its keys are not empty,
    ``mark`` is a filter: a byte for each of many hashes, 1 for those of nodes. It is checked first, as most ends are
    not nodes and it stays in the cache. ``source``, ``target`` and ``weight`` need room for all ends of links of nodes.
    """
    one = np.uint64(1)
    count = np.uint64(0)
    few = len(keys) > 0
    size = np.uint64(len(mark))
    if few:
        for v in nodes:
            mark[hash_object(v, size)] = 1
    for i in range(len(nodes)):
        u = np.uint64(nodes[i])
        k, end = np.uint64(indptr[u]), np.uint64(indptr[u + one])
        if end - k > np.uint64(HUB * (len(nodes) - i)):
            for j in range(i + 1, len(nodes)):
                low, high = np.int64(k), np.int64(end)
                while low < high:
                    middle = (low + high) // 2
                    if indices[middle] < nodes[j]:
                        low = middle + 1
                    else:
                        high = middle
                if low < np.int64(end) and indices[low] == nodes[j]:
                    source[count] = i
                    target[count] = j
                    weight[count] = weights[low]
                    count += one
        else:
            # Every end is written, and the position advances only for a link: no branch to mispredict.
            here = np.int32(i)
            if not few:
                while k < end:
                    there = place[np.uint64(indices[k])] - np.int32(1)
                    source[count] = here
                    target[count] = there
                    weight[count] = weights[k]
                    count += np.uint64(there > here)
                    k += one
                continue
            # The same for ends that pass the filter; positions and weights are read for these only.
            start, filled = k, count
            while k < end:
                v = indices[k]
                source[filled] = np.int32(k - start)
                target[filled] = v
                filled += np.uint64(mark[hash_object(v, size)])
                k += one
            at = count
            while at < filled:
                # An end that is not a node is at a free position, whose value is 0.
                there = place[find_slot(keys, target[at])] - np.int32(1)
                strength = weights[start + np.uint64(source[at])]
                source[count] = here
                target[count] = there
                weight[count] = strength
                count += np.uint64(there > here)
                at += one
    return int(count)


def find_neighbourhood(
    indptr: Array, indices: Array, query: Array, forbidden: Array, reach: int, most: int, spare: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the nodes around a query, the query first, and the links among them as positions, with their entries.

    Objects marked in ``forbidden`` (which may be empty) are left out unless they are in the query. With ``spare``,
    nodes that a neighbour can replace are left out; see :func:`mark_needed`.
    """
    nodes = expand(indptr, indices, query, forbidden, reach, most)
    low, high, entries = find_links_among(indptr, indices, nodes)
    if spare:
        ends, others, _ = both_ends(len(nodes), low, high)
        nodes = nodes[mark_needed(ends, others, len(query))]
        low, high, entries = find_links_among(indptr, indices, nodes)
    return nodes, low, high, entries


@njit(cache=True)
def expand(indptr: Array, indices: Array, query: Array, forbidden: Array, reach: int, most: int) -> Array:
    """Return the query and at most ``most`` objects within ``reach`` hops of it, ring by ring.

    No path leads through objects marked in ``forbidden`` (which may be empty). Of a ring that does not fit, the objects
    with the most links to the previous ring are taken, of equal ones those found first, and it is the last.
    """
    met = np.zeros(len(indptr) - 1, np.int32)
    reached = np.empty(len(met), np.int32)
    for v in range(len(forbidden)):
        if forbidden[v]:
            met[v] = -1
    for at in range(len(query)):
        reached[at] = query[at]
        met[query[at]] = -1
    start, stop = 0, len(query)
    for _ in range(reach):
        end = stop
        for at in range(start, stop):
            for entry in range(indptr[reached[at]], indptr[reached[at] + 1]):
                other = indices[entry]
                if met[other] == 0:
                    reached[end] = other
                    end += 1
                if met[other] >= 0:
                    met[other] += 1
        room = len(query) + most - stop
        if end - stop > room:
            return _keep_best_linked(met, reached, stop, end, room)
        for at in range(stop, end):
            met[reached[at]] = -1
        start, stop = stop, end
        if start == stop:
            break
    return reached[:stop].copy()


@inner
def _keep_best_linked(met: Array, reached: Array, stop: int, end: int, room: int) -> Array:
    most = 0
    for at in range(stop, end):
        most = max(most, met[reached[at]])
    tally = np.zeros(most + 2, np.int64)
    for at in range(stop, end):
        tally[met[reached[at]]] += 1
    least, sure = most + 1, 0
    while least > 1 and sure + tally[least] <= room:
        sure += tally[least]
        least -= 1
    left, to = room - sure, stop
    for at in range(stop, end):
        count = met[reached[at]]
        if count > least or (count == least and left > 0):
            left -= count == least
            reached[to] = reached[at]
            to += 1
    return reached[:to].copy()


@njit(cache=True)
def find_links_among(indptr: Array, indices: Array, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the links among nodes, each once: both ends as positions in ``nodes``, and its entry."""
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
    """Return links stored at both ends: the start of each node's row, its neighbours, and the link of each."""
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
def mark_needed(indptr: Array, others: Array, first: int) -> Array:
    """Mark the nodes that no neighbour can replace; the ``first`` ones are always marked.

    A node can be replaced if all its neighbours are also neighbours of one of them, which then connects whatever it
    connects. So a smallest connected set around given nodes never needs it.
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
