"""Rows of items: the objects they mention, the cells they are in, and the effect of removing items."""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import inner, njit

FEW = 32
"""Spans of up to this many entries are sorted by insertion."""


@njit(cache=True)
def fill_rows(rows: Array, entries: Array, places: Array, out: Array) -> None:
    """Write every entry to the next position of its row."""
    for i in range(len(rows)):
        row = rows[i]
        out[places[row]] = entries[i]
        places[row] += 1


@njit(cache=True)
def sort_rows(indptr: Array, indices: Array) -> int:
    """Sort every row and drop repeats, in place; return the new number of entries."""
    end = 0
    begin = indptr[0]
    for row in range(len(indptr) - 1):
        last = indptr[row + 1]
        first = end
        end += _write_sorted(indices, begin, last, indices, end)
        indptr[row] = first
        begin = last
    indptr[-1] = end
    return end


@njit(cache=True)
def count_cells(mentions: Array, indptr: Array, dimensions: int, counts: Array) -> None:
    """Count the cells of every item with mentions: the combinations of one label per dimension.

    Row ``item · dimensions + dimension`` of the offsets is that of the item's labels in a dimension.
    """
    for item in range(len(counts)):
        product = 1 if mentions[item + 1] > mentions[item] else 0
        for dimension in range(dimensions):
            row = item * dimensions + dimension
            product *= indptr[row + 1] - indptr[row]
        counts[item] = product


@njit(cache=True)
def fill_cells(
    starts: Array, indptr: Array, labels: Array, sizes: Array, keys: Array, numbers: Array, out: Array
) -> None:
    """Write the cells of every item, ascending; ``keys`` are sorted, and ``numbers`` are their cells."""
    count = len(sizes)
    at = np.empty(count, np.int64)
    for item in range(len(starts) - 1):
        for dimension in range(count):
            at[dimension] = indptr[item * count + dimension]
        for place in range(starts[item], starts[item + 1]):
            key = 0
            for dimension in range(count):
                key = key * sizes[dimension] + labels[at[dimension]]
            out[place] = numbers[_first_at_least(keys, 0, len(keys), key)]
            for dimension in range(count - 1, -1, -1):
                at[dimension] += 1
                if at[dimension] < indptr[item * count + dimension + 1]:
                    break
                at[dimension] = indptr[item * count + dimension]
        _write_sorted(out, starts[item], starts[item + 1], out, starts[item])


@njit(cache=True)
def renumber_rows(indptr: Array, indices: Array, empty: Array, numbers: Array) -> tuple[Array, Array]:
    """Return rows with entries mapped by ``numbers``, sorted and distinct; entries mapped to -1 are dropped.

    Rows marked ``empty`` lose all entries. Empty arrays of marks or numbers change nothing.
    """
    starts = np.zeros(len(indptr), np.int64)
    out = np.empty(len(indices), np.int32)
    end = 0
    for row in range(len(indptr) - 1):
        first = end
        if len(empty) == 0 or not empty[row]:
            for k in range(indptr[row], indptr[row + 1]):
                number = indices[k] if len(numbers) == 0 else numbers[indices[k]]
                if number >= 0:
                    out[end] = number
                    end += 1
            end = first + _write_sorted(out, first, end, out, first)
        starts[row + 1] = end
    return starts, out[:end]


@njit(cache=True)
def cross_rows(items: Array, indptr: Array, indices: Array, other: Array, others: Array) -> tuple[Array, Array]:
    """Return all pairs of an entry of an item's row and an entry of its other row."""
    room = 0
    for item in items:
        room += (indptr[item + 1] - indptr[item]) * (other[item + 1] - other[item])
    left, right = np.empty(room, np.int32), np.empty(room, np.int32)
    end = 0
    for item in items:
        for a in range(indptr[item], indptr[item + 1]):
            for b in range(other[item], other[item + 1]):
                left[end], right[end] = indices[a], others[b]
                end += 1
    return left, right


@njit(cache=True)
def pair_rows(items: Array, indptr: Array, indices: Array) -> tuple[Array, Array]:
    """Return all pairs of entries of every item's row, the lower first."""
    room = 0
    for item in items:
        size = indptr[item + 1] - indptr[item]
        room += size * (size - 1) // 2
    low, high = np.empty(room, np.int32), np.empty(room, np.int32)
    end = 0
    for item in items:
        for a in range(indptr[item], indptr[item + 1]):
            for b in range(a + 1, indptr[item + 1]):
                low[end], high[end] = indices[a], indices[b]
                end += 1
    return low, high


@njit(cache=True)
def mark_held(
    indptr: Array,
    indices: Array,
    other: Array,
    others: Array,
    skip: Array,
    which: Array,
    starts: Array,
    entries: Array,
    held: Array,
) -> None:
    """Mark the pairs of an object and a cell that at least one item that is not skipped has.

    The candidate cells of object ``o`` are row ``which[o]`` of ``starts`` and ``entries``; -1 is none.
    """
    for item in range(len(skip)):
        if skip[item] or other[item] == other[item + 1]:
            continue
        for a in range(indptr[item], indptr[item + 1]):
            row = which[indices[a]]
            if row < 0:
                continue
            for b in range(other[item], other[item + 1]):
                at = _first_at_least(entries, starts[row], starts[row + 1], others[b])
                if at < starts[row + 1] and entries[at] == others[b]:
                    held[at] = True


@njit(cache=True)
def find_entries(indptr: Array, indices: Array, rows: Array, entries: Array) -> Array:
    """Return the position of every entry in its row, or -1."""
    places = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        last = indptr[rows[i] + 1]
        at = _first_at_least(indices, indptr[rows[i]], last, entries[i])
        places[i] = at if at < last and indices[at] == entries[i] else -1
    return places


@inner
def _first_at_least(values: Array, low: int, high: int, wanted: int) -> int:
    """Return the first position from ``low`` up to ``high`` whose value is at least the wanted one."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _write_sorted(values: Array, begin: int, end: int, out: Array, place: int) -> int:
    """Write the distinct values of a span to a place, ascending; return their number."""
    if end - begin > FEW:
        _sort_coarsely(values, begin, end)
    for k in range(begin + 1, end):
        value = values[k]
        at = k
        while at > begin and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    count = 0
    for k in range(begin, end):
        if k == begin or values[k] != out[place + count - 1]:
            out[place + count] = values[k]
            count += 1
    return count


@inner
def _sort_coarsely(values: Array, begin: int, end: int) -> None:
    """Partially sort a span: run quicksort down to parts of ``FEW`` values.

    numba's own sort takes several times as long to compile.
    """
    # The larger part is put on the stack, so that it never has more than 64 entries.
    waiting = np.empty(128, np.int64)
    waiting[0], waiting[1], top = begin, end - 1, 2
    while top:
        top -= 2
        low, high = waiting[top], waiting[top + 1]
        while high - low >= FEW:
            first, middle, last = values[low], values[(low + high) // 2], values[high]
            pivot = max(min(first, middle), min(max(first, middle), last))
            i, j = low, high
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while values[j] > pivot:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j - low < high - i:
                waiting[top], waiting[top + 1], high = i, high, j
            else:
                waiting[top], waiting[top + 1], low = low, j, i
            top += 2
