"""Sums over the objects of cells: how many several cells hold together, and what theirs are worth beyond a price."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True, nogil=True)
def count_unions(
    starts: Array, cells: Array, kept_starts: Array, kept: Array, small_starts: Array, small: Array, objects: int
) -> Array:
    """Return how many of ``objects`` objects each group of cells holds, an object in several of its cells once.

    The cells of group g are ``cells[starts[g]:starts[g + 1]]``; those of the second table are numbered behind it.
    """
    first_small = len(kept_starts) - 1
    last = np.full(objects, -1, np.int32)
    sizes = np.zeros(len(starts) - 1, np.int64)
    for group in range(len(sizes)):
        count = 0
        for c in cells[starts[group] : starts[group + 1]]:
            if c < first_small:
                members = kept[kept_starts[c] : kept_starts[c + 1]]
            else:
                members = small[small_starts[c - first_small] : small_starts[c - first_small + 1]]
            for o in members:
                count += last[o] != group
                last[o] = group
        sizes[group] = count
    return sizes


@njit(cache=True, nogil=True)
def sums_beyond(starts: Array, members: Array, weights: Array, prices: Array, portion: Array) -> Array:
    """Return the sum over the members of each cell of what its weight is beyond their prices, times their portions."""
    sums = np.zeros(len(weights))
    for cell in range(len(weights)):
        total = 0.0
        for o in members[starts[cell] : starts[cell + 1]]:
            if weights[cell] > prices[o]:
                total += (weights[cell] - prices[o]) * portion[o]
        sums[cell] = total
    return sums
