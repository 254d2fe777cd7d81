"""One step outwards from some objects along their links."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.tables import spot


@njit(cache=True)
def hop(
    indptr: Array,
    indices: Array,
    weights: Array,
    front: Array,
    fan_out: int,
    most: int,
    keys: Array,
    known: Array,
    hits: Array,
) -> Array:
    """Return the objects one step from the front that are not known, in the order met.

    One object of the front brings at most ``fan_out`` of them (0: all), its heaviest links first and the
    lower object number where links weigh the same. At most ``most`` are found. ``keys`` and ``known`` are a table (see
    ``tables``) with room for these, in which objects to leave out have 1 and others nothing; those found get 2.
    ``hits`` is empty, or has the places of the table, starts as zeros and counts how many of the front bring an object.
    """
    found = np.empty(most, np.int32)
    count = 0
    counted, hashed = len(hits) > 0, len(keys) > 0
    for u in front:
        start, end = indptr[u], indptr[u + 1]
        least, ties, capped = np.float32(0.0), 0, False
        if 0 < fan_out < end - start:
            new = 0
            heavy = np.empty(end - start, np.float32)
            for k in range(start, end):
                place = spot(keys, indices[k])
                if known[place] != 1:
                    heavy[new] = weights[k]
                    new += 1
            if new > fan_out:
                least = np.partition(heavy[:new], new - fan_out)[new - fan_out]
                ties, capped = fan_out, True
                for at in range(new):
                    if heavy[at] > least:
                        ties -= 1
        for k in range(start, end):
            v = indices[k]
            place = spot(keys, v)
            if known[place] == 1 or (capped and weights[k] < least):
                continue
            if capped and weights[k] == least:
                if ties == 0:
                    continue
                ties -= 1
            if known[place] == 0:
                if hashed:
                    keys[place] = v
                known[place] = 2
                found[count] = v
                count += 1
            if counted:
                hits[place] += 1
    return found[:count].copy()
