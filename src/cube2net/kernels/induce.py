"""The links among some objects."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.tables import hashed, spot

# A row this many times longer than the list of objects is searched for each of them instead of read through.
HUB = 64


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
    """Write the links among distinct nodes, each once, as positions source < target; return how many.

    ``keys`` and ``place`` are a table (see ``tables``) of 1 + the position of every node, 0 elsewhere. Where its keys
    are not empty, ``mark`` has a byte for many times as many objects as there are nodes, 1 wherever one of these may
    stand: it is looked at first, as most ends are no nodes and it stays near at hand. ``source``, ``target`` and
    ``weight`` must have room for as many links as the nodes have ends.
    """
    one = np.uint64(1)
    count = np.uint64(0)
    few = len(keys) > 0
    size = np.uint64(len(mark))
    if few:
        for v in nodes:
            mark[hashed(v, size)] = 1
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
            # Every end is written and the place moves on only for a link: no branch to guess wrong.
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
            # The same for what may be a node at all; positions and weights are looked at for these only.
            start, found = k, count
            while k < end:
                v = indices[k]
                source[found] = np.int32(k - start)
                target[found] = v
                found += np.uint64(mark[hashed(v, size)])
                k += one
            at = count
            while at < found:
                # What is no node stands at a free place, where 0 is kept.
                there = place[spot(keys, target[at])] - np.int32(1)
                strength = weights[start + np.uint64(source[at])]
                source[count] = here
                target[count] = there
                weight[count] = strength
                count += np.uint64(there > here)
                at += one
    return int(count)
