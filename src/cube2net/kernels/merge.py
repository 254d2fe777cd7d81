"""Rows that grow: sorted rows and what is added to them become sorted rows, in one pass; and texts as numbers.

A row of the result is made of one row of an old table and one row of an addition, either of which may be missing
(-1). What the addition does not touch is copied as it stands.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit
from cube2net.records.link_weights import HEAVIEST


@njit(cache=True)
def merge_rows(
    indptr: Array, indices: Array, old: Array, renumber: Array, more_indptr: Array, more_indices: Array, more: Array
) -> tuple[Array, Array]:
    """Return offsets and entries of rows that hold the entries of row ``old[i]`` and of row ``more[i]``, each once.

    Entries of old rows are first numbered anew by ``renumber``, which must ascend; none is given by no numbers.
    """
    count = len(old)
    room = 0
    for i in range(count):
        if old[i] >= 0:
            room += indptr[old[i] + 1] - indptr[old[i]]
        if more[i] >= 0:
            room += more_indptr[more[i] + 1] - more_indptr[more[i]]
    starts = np.zeros(count + 1, np.int64)
    merged = np.empty(room, np.int32)
    same = len(renumber) == 0
    end = 0
    for i in range(count):
        a, a_end = (indptr[old[i]], indptr[old[i] + 1]) if old[i] >= 0 else (0, 0)
        b, b_end = (more_indptr[more[i]], more_indptr[more[i] + 1]) if more[i] >= 0 else (0, 0)
        while a < a_end and b < b_end:
            left = indices[a] if same else renumber[indices[a]]
            right = more_indices[b]
            merged[end] = min(left, right)
            a += left <= right
            b += right <= left
            end += 1
        while a < a_end:
            merged[end] = indices[a] if same else renumber[indices[a]]
            a += 1
            end += 1
        while b < b_end:
            merged[end] = more_indices[b]
            b += 1
            end += 1
        starts[i + 1] = end
    return starts, merged[:end]


@njit(cache=True)
def merge_links(
    indptr: Array,
    indices: Array,
    weights: Array,
    more_indptr: Array,
    more_indices: Array,
    more_weights: Array,
    more: Array,
    rests: Array,
) -> tuple[Array, Array, Array]:
    """Return offsets, ends and weights of the links of ``len(more)`` objects; those in both add their weights.

    The first objects are the old ones; row ``more[i]`` is what is added to object i. The weights of the addition
    are doubles. ``rests`` has a place for each of its entries: it comes with what the old weight lacked of its sum
    for being rounded, and goes with what the new one lacks. A sum above the highest weight there is becomes that.
    """
    known = len(indptr) - 1
    count = len(more)
    starts = np.zeros(count + 1, np.int64)
    room = len(indices) + len(more_indices)
    ends = np.empty(room, np.int32)
    totals = np.empty(room, np.float32)
    end = 0
    for i in range(count):
        a, a_end = (indptr[i], indptr[i + 1]) if i < known else (0, 0)
        b, b_end = (more_indptr[more[i]], more_indptr[more[i] + 1]) if more[i] >= 0 else (0, 0)
        while b < b_end:
            right = more_indices[b]
            while a < a_end and indices[a] < right:
                ends[end] = indices[a]
                totals[end] = weights[a]
                a += 1
                end += 1
            total = more_weights[b]
            if a < a_end and indices[a] == right:
                total = (np.float64(weights[a]) + rests[b]) + total
                a += 1
            total = min(total, HEAVIEST)
            ends[end] = right
            totals[end] = np.float32(total)
            rests[b] = total - np.float64(totals[end])
            b += 1
            end += 1
        while a < a_end:
            ends[end] = indices[a]
            totals[end] = weights[a]
            a += 1
            end += 1
        starts[i + 1] = end
    return starts, ends[:end], totals[:end]
