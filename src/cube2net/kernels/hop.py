"""One step outwards from some objects along their links."""

from __future__ import annotations

import numpy as np
from numba import njit

from cube2net.records.ragged import Array


@njit(cache=True)
def hop(indptr: Array, indices: Array, weights: Array, front: Array, fan_out: int, known: Array, hits: Array) -> Array:
    """Return the objects one step from the front that are not known, in the order met.

    One object of the front brings at most ``fan_out`` of them (0: all), its heaviest links first and the
    lower object number where links weigh the same. ``known`` has one place an object, 1 for those to leave out and
    else 0; it becomes 2 for those found. ``hits`` is empty, or has one place an object, starts as zeros and counts how
    many of the front bring an object.
    """
    most = 0
    for u in front:
        row = indptr[u + 1] - indptr[u]
        most += min(row, fan_out) if fan_out > 0 else row
    found = np.empty(min(most, len(known)), np.int32)
    count = 0
    counted = len(hits) > 0
    for u in front:
        start, end = indptr[u], indptr[u + 1]
        least, ties, capped = np.float32(0.0), 0, False
        if 0 < fan_out < end - start:
            new = 0
            heavy = np.empty(end - start, np.float32)
            for k in range(start, end):
                if known[indices[k]] != 1:
                    heavy[new] = weights[k]
                    new += 1
            if new > fan_out:
                least = np.partition(heavy[:new], new - fan_out)[new - fan_out]
                ties, capped = fan_out, True
                for place in range(new):
                    if heavy[place] > least:
                        ties -= 1
        for k in range(start, end):
            v = indices[k]
            if known[v] == 1 or (capped and weights[k] < least):
                continue
            if capped and weights[k] == least:
                if ties == 0:
                    continue
                ties -= 1
            if known[v] == 0:
                known[v] = 2
                found[count] = v
                count += 1
            if counted:
                hits[v] += 1
    return found[:count].copy()
