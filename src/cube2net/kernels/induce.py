"""The links among some objects."""

from __future__ import annotations

import numpy as np
from numba import njit

from cube2net.records.ragged import Array

# A row this many times longer than the list of objects is searched for each of them instead of read through.
HUB = 64


@njit(cache=True)
def induce(
    indptr: Array,
    indices: Array,
    weights: Array,
    nodes: Array,
    place: Array,
    source: Array,
    target: Array,
    weight: Array,
) -> int:
    """Write the links among distinct nodes, each once, as positions source < target; return how many.

    ``place`` has one entry an object: 1 + its position in ``nodes``, or 0. ``source``, ``target`` and
    ``weight`` must have room for as many links as the nodes have ends.
    """
    one = np.uint64(1)
    count = np.uint64(0)
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
            while k < end:
                there = np.int32(place[np.uint64(indices[k])] - np.int32(1))
                source[count] = here
                target[count] = there
                weight[count] = weights[k]
                count += np.uint64(there > here)
                k += one
    return int(count)
