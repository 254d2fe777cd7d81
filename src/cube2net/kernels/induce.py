"""The links among some objects."""

from __future__ import annotations

import numpy as np
from numba import njit

from cube2net.records.ragged import Array

# A row this many times longer than the list of objects is searched for each of them instead of read through.
HUB = 64
# Nodes are few where they are fewer than one in so many objects.
FEW = 32


@njit(cache=True)
def induce(
    indptr: Array,
    indices: Array,
    weights: Array,
    nodes: Array,
    mark: Array,
    place: Array,
    source: Array,
    target: Array,
    weight: Array,
) -> int:
    """Write the links among distinct nodes, each once, as positions source < target; return how many.

    ``mark`` and ``place`` have one entry an object: the byte ``mark`` is 1 for the nodes, ``place`` is 1 + their
    position, and both are 0 for others. Where nodes are few the bytes are looked at first, which stay near at hand
    where positions do not. ``source``, ``target`` and ``weight`` must have room for as many links as the nodes have
    ends.
    """
    one = np.uint64(1)
    count = np.uint64(0)
    few = len(nodes) * FEW < len(mark)
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
            # The same for what is a node at all; positions and weights are looked at for these only.
            start, found = k, count
            while k < end:
                v = indices[k]
                source[found] = np.int32(k - start)
                target[found] = v
                found += np.uint64(mark[np.uint64(v)])
                k += one
            at = count
            while at < found:
                there = place[np.uint64(target[at])] - np.int32(1)
                strength = weights[start + np.uint64(source[at])]
                source[count] = here
                target[count] = there
                weight[count] = strength
                count += np.uint64(there > here)
                at += one
    return int(count)
