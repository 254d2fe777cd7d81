"""Trees in a network: searching and spanning ones, and the best subtree."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.surroundings import both_ends


@njit(cache=True)
def search(indptr: Array, others: Array, links: Array, first: Array) -> tuple[Array, Array, Array, Array]:
    """Return a breadth-first tree for every connected part: from the first node it has in ``first``, else its lowest.

    For every node: the order of visits, the parent and the link to it (-1 at a root), and the part's number.
    """
    count = len(indptr) - 1
    order = np.empty(count, np.int32)
    parent = np.full(count, -1, np.int32)
    above = np.full(count, -1, np.int32)
    part = np.full(count, -1, np.int32)
    done = stop = parts = 0
    for start in range(-len(first), count):
        root = first[start] if start < 0 else start
        if part[root] >= 0:
            continue
        part[root] = parts
        order[stop] = root
        stop += 1
        while done < stop:
            node = order[done]
            done += 1
            for entry in range(indptr[node], indptr[node + 1]):
                other = others[entry]
                if part[other] < 0:
                    part[other] = parts
                    parent[other] = node
                    above[other] = links[entry]
                    order[stop] = other
                    stop += 1
        parts += 1
    return order, parent, above, part


@njit(cache=True)
def rooted(count: int, low: Array, high: Array, cost: Array, first: Array) -> tuple[Array, Array, Array]:
    """Return the order, the parents and the cost of the way up, for every node of a forest given by its links.

    A tree hangs from the first node it has in ``first``, else from its lowest.
    """
    indptr, others, links = both_ends(count, low, high)
    order, parent, above, _ = search(indptr, others, links, first)
    up = np.zeros(count)
    for node in range(count):
        if above[node] >= 0:
            up[node] = cost[above[node]]
    return order, parent, up


@njit(cache=True)
def find(top: Array, node: int) -> int:
    """Return the representative of a node's set, and shorten the way to it."""
    while top[node] != node:
        top[node] = top[top[node]]
        node = top[node]
    return node


@njit(cache=True)
def spanning(count: int, low: Array, high: Array, order: Array) -> Array:
    """Return the links of the spanning forest that takes links in the given order where they join two parts."""
    top = np.arange(count)
    kept = np.empty(min(len(order), max(count - 1, 0)), np.int64)
    size = 0
    for link in order:
        a, b = find(top, low[link]), find(top, high[link])
        if a != b:
            top[a] = b
            kept[size] = link
            size += 1
            if size == count - 1:
                break
    return kept[:size]


@njit(cache=True)
def best_subtrees(
    order: Array, parent: Array, worth: Array, cost: Array, group: Array, groups: int
) -> tuple[Array, Array]:
    """Return which nodes make the best connected subtree of each group of trees, and what each is worth.

    A subtree is worth its nodes less the cost of its links (``cost[node]`` is that of the link to the
    parent). Linear: below(v) = worth(v) + Σ max(0, below(c) − cost(c)) over the children c; the best
    subtree hangs from the v where below is highest. Branches that add nothing are left off; a group
    whose best is not above 0 is left empty.
    """
    below = worth.copy()
    for at in range(len(order) - 1, -1, -1):
        node = order[at]
        if parent[node] >= 0 and below[node] > cost[node]:
            below[parent[node]] += below[node] - cost[node]
    best = np.zeros(groups)
    top = np.full(groups, -1, np.int64)
    for node in order:
        if below[node] > best[group[node]]:
            best[group[node]] = below[node]
            top[group[node]] = node
    keep = np.zeros(len(order), np.bool_)
    for node in order:
        hangs = parent[node] >= 0 and keep[parent[node]] and below[node] > cost[node]
        keep[node] = hangs or top[group[node]] == node
    return keep, best
