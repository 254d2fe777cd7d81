"""Rows from entries that come in order: links on both their ends, and cells by object.

Nothing is sorted. Links come once each, from the lower object to the higher, ascending; then the lower neighbours of an
object come in order, and so do its higher ones. Where the next one goes is all that has to be known, two numbers an
object, so links may come in any number of batches and be written to a file that is larger than memory.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
def count_ends(source: Array, target: Array, below: Array, above: Array) -> int:
    """Count the neighbours below and above every object; return the first link that is not in order, or -1.

    In order are links from a lower to a higher object, each once and ascending.
    """
    wrong = -1
    for i in range(len(source)):
        a, b = source[i], target[i]
        if wrong < 0 and (a >= b or (i > 0 and (source[i - 1] > a or (source[i - 1] == a and target[i - 1] >= b)))):
            wrong = i
        above[a] += 1
        below[b] += 1
    return wrong


@njit(cache=True)
def fill_links(
    source: Array, target: Array, weight: Array, next_below: Array, next_above: Array, indices: Array, weights: Array
) -> None:
    """Write every link to both its ends, where the next neighbour below or above goes."""
    for i in range(len(source)):
        a, b = source[i], target[i]
        at = next_above[a]
        indices[at] = b
        weights[at] = weight[i]
        next_above[a] = at + 1
        at = next_below[b]
        indices[at] = a
        weights[at] = weight[i]
        next_below[b] = at + 1


@njit(cache=True)
def count_entries(entries: Array, counts: Array) -> None:
    """Count how often every entry comes."""
    for entry in entries:
        counts[entry] += 1


@njit(cache=True)
def fill_homes(indptr: Array, indices: Array, next_home: Array, homes: Array) -> None:
    """Write the number of every row to the place where the next row of each of its entries goes."""
    for row in range(len(indptr) - 1):
        for k in range(indptr[row], indptr[row + 1]):
            entry = indices[k]
            homes[next_home[entry]] = row
            next_home[entry] += np.int64(1)
