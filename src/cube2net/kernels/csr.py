"""Sparse rows in flat arrays (CSR): pack, merge and group them.

**Packing** needs no sorting: links come once each, from the lower object to the higher, ascending. Then the lower and
the higher neighbours of every object come in order, and two positions per object are enough. Links may come in batches
and be written to files larger than memory.

**Merging** combines a row of an old table with a row of an addition; either may be missing (-1).

**Grouping** merges cells object by object. Objects come in order, so the members of a group do too. Small cells are
numbered after the kept ones. ``groups[cell, view]`` is the group of a cell in each of several views; no group is in two
views.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import HEAVIEST, Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
def count_ends(source: Array, target: Array, below: Array, above: Array) -> int:
    """Count the neighbours below and above every object; return the first link that is out of order, or -1.

    Links must go from a lower to a higher object, each once and ascending.
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
    """Write every link to the rows of both its ends, at the next positions of neighbours below and above."""
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
    """Count the occurrences of every entry."""
    for entry in entries:
        counts[entry] += 1


@njit(cache=True)
def fill_homes(indptr: Array, indices: Array, next_home: Array, homes: Array) -> None:
    """Write the number of every row to the next positions of its entries."""
    for row in range(len(indptr) - 1):
        for k in range(indptr[row], indptr[row + 1]):
            entry = indices[k]
            homes[next_home[entry]] = row
            next_home[entry] += np.int64(1)


@njit(cache=True)
def merge_rows(
    indptr: Array, indices: Array, old: Array, renumber: Array, more_indptr: Array, more_indices: Array, more: Array
) -> tuple[Array, Array]:
    """Return offsets and entries of rows with the entries of row ``old[i]`` and of row ``more[i]``, each once.

    Entries of old rows are first mapped by ``renumber``, which must ascend; an empty array maps nothing.
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
def add_links(
    indptr: Array,
    indices: Array,
    weights: Array,
    more_indptr: Array,
    more_indices: Array,
    more_weights: Array,
    more: Array,
    rests: Array,
) -> tuple[Array, Array, Array]:
    """Return offsets, ends and weights of the links of ``len(more)`` objects; those in both tables add their weights.

    The first objects are the old ones; row ``more[i]`` is added to object i. The weights of the addition are doubles.
    ``rests`` has one number per entry of the addition: the rounding error of the old weight, replaced by that of the
    new one. Sums are at most ``HEAVIEST``.
    """
    old_count = len(indptr) - 1
    count = len(more)
    starts = np.zeros(count + 1, np.int64)
    room = len(indices) + len(more_indices)
    ends = np.empty(room, np.int32)
    totals = np.empty(room, np.float32)
    end = 0
    for i in range(count):
        a, a_end = (indptr[i], indptr[i + 1]) if i < old_count else (0, 0)
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


@njit(cache=True, nogil=True)
def count_groups(
    kept_starts: Array, kept: Array, small_starts: Array, small: Array, first_small: int, groups: Array, sizes: Array
) -> None:
    """Add to ``sizes[group]`` how many objects are in one of its cells."""
    last = np.full(len(sizes), -1, np.int32)
    for item in range(len(kept_starts) - 1):
        for k in range(kept_starts[item], kept_starts[item + 1]):
            for view in range(groups.shape[1]):
                group = groups[kept[k], view]
                sizes[group] += last[group] != item
                last[group] = item
        for k in range(small_starts[item], small_starts[item + 1]):
            for view in range(groups.shape[1]):
                group = groups[first_small + small[k], view]
                sizes[group] += last[group] != item
                last[group] = item


@njit(cache=True, nogil=True)
def fill_groups(
    kept_starts: Array,
    kept: Array,
    small_starts: Array,
    small: Array,
    first_small: int,
    groups: Array,
    next_member: Array,
    members: Array,
    counts: Array,
) -> None:
    """Write the members of every group, and in how many of its cells each is.

    ``next_member[group]`` is where its first member goes.
    """
    last = np.full(len(next_member), -1, np.int32)
    for item in range(len(kept_starts) - 1):
        many = kept_starts[item + 1] - kept_starts[item]
        for k in range(many + small_starts[item + 1] - small_starts[item]):
            cell = kept[kept_starts[item] + k] if k < many else first_small + small[small_starts[item] + k - many]
            for view in range(groups.shape[1]):
                group = groups[cell, view]
                place = next_member[group]
                if last[group] == item:
                    counts[place - 1] += 1
                    continue
                last[group] = item
                members[place] = item
                counts[place] = 1
                next_member[group] = place + 1


@njit(cache=True, nogil=True)
def count_unions(
    starts: Array, cells: Array, kept_starts: Array, kept: Array, small_starts: Array, small: Array, objects: int
) -> Array:
    """Return the number of distinct objects in each group of cells.

    The cells of group g are ``cells[starts[g]:starts[g + 1]]``; small cells are numbered after the kept ones.
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
    """Return Σ max(0, weight − price) · portion over the members of each cell."""
    sums = np.zeros(len(weights))
    for cell in range(len(weights)):
        total = 0.0
        for o in members[starts[cell] : starts[cell + 1]]:
            if weights[cell] > prices[o]:
                total += (weights[cell] - prices[o]) * portion[o]
        sums[cell] = total
    return sums
