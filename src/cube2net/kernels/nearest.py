"""The exact k nearest cells of every action: by tables of labels, or by products whose candidates are measured again.

Both kernels keep the k best in a heap with the worst on top, ordered by distance and then by cell number. Distances are
squared, in double precision.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit


@njit(cache=True, nogil=True)
def label_distances(actions: Array, turned: Array, out: Array) -> None:
    """Fill ``out[action, label]`` with squared distances; ``turned[column, label]`` holds the labels' vectors.

    Sums run over the columns in order, so equal vectors have bit-identical distances.
    """
    for row in range(actions.shape[0]):
        sums = out[row]
        sums[:] = 0.0
        for column in range(turned.shape[0]):
            at = actions[row, column]
            values = turned[column]
            for label in range(values.shape[0]):
                gap = at - values[label]
                sums[label] += gap * gap


@njit(cache=True, nogil=True)
def push(far: Array, cells: Array, size: int, distance: float, cell: int) -> int:
    """Push a cell on the heap, replacing the worst one if it is full and the cell is better; return its size."""
    if size < len(far):
        at = size
        while at > 0:
            up = (at - 1) >> 1
            if far[up] > distance or (far[up] == distance and cells[up] > cell):
                break
            far[at], cells[at] = far[up], cells[up]
            at = up
        far[at], cells[at] = distance, cell
        return size + 1
    if distance > far[0] or (distance == far[0] and cell > cells[0]):
        return size
    _sink(far, cells, size, distance, cell)
    return size


@njit(cache=True, nogil=True)
def _sink(far: Array, cells: Array, size: int, distance: float, cell: int) -> None:
    """Replace the top cell, and move the new one down to its position."""
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and (
            far[down + 1] > far[down] or (far[down + 1] == far[down] and cells[down + 1] > cells[down])
        ):
            down += 1
        if far[down] < distance or (far[down] == distance and cells[down] < cell):
            break
        far[at], cells[at] = far[down], cells[down]
        at = down
    far[at], cells[at] = distance, cell


@njit(cache=True, nogil=True)
def sort_heap(far: Array, cells: Array, size: int) -> None:
    """Turn the heap into an ascending list; positions beyond its size are -1 with an infinite distance."""
    for last in range(size - 1, 0, -1):
        distance, cell = far[last], cells[last]
        far[last], cells[last] = far[0], cells[0]
        _sink(far, cells, last, distance, cell)
    far[size:] = np.inf
    cells[size:] = -1


@njit(cache=True, nogil=True)
def nearest_by_tables(
    tables: Array,
    heads: Array,
    starts: Array,
    leaves: Array,
    numbers: Array,
    leaf_range: Array,
    taken: Array,
    cells: Array,
    far: Array,
) -> None:
    """Fill ``cells`` and ``far`` with the nearest cells of every row of ``tables`` that the row has not taken.

    ``tables[action]`` holds the distances of all labels of all dimensions. Cells that differ in one dimension only
    share a head: ``heads[h]`` are the columns of their common labels, and ``leaves[starts[h]:starts[h + 1]]`` those of
    the labels in which they differ. A head that is too far even with the nearest leaf is skipped; floating-point
    addition is monotone, so the result is exact.
    """
    k = cells.shape[1]
    mark = np.zeros(len(numbers), dtype=np.uint8)
    base = np.empty(len(heads), dtype=np.float64)
    for row in range(len(tables)):
        table = tables[row]
        for i in range(taken.shape[1]):
            if taken[row, i] >= 0:
                mark[taken[row, i]] = 1
        first = 0
        for head in range(len(heads)):
            total = 0.0
            for i in range(heads.shape[1]):
                total += table[heads[head, i]]
            base[head] = total
            if total < base[first]:
                first = head
        low = np.inf
        for column in range(leaf_range[0], leaf_range[1]):
            low = min(low, table[column])
        size = 0
        worst = np.inf
        for turn in range(-1, len(heads)):
            head = first if turn < 0 else turn
            shared = base[head]
            if turn == first or shared + low > worst:
                continue
            for at in range(starts[head], starts[head + 1]):
                distance = shared + table[leaves[at]]
                if distance <= worst and mark[numbers[at]] == 0:
                    size = push(far[row], cells[row], size, distance, numbers[at])
                    if size == k:
                        worst = far[row, 0]
        sort_heap(far[row], cells[row], size)
        for i in range(taken.shape[1]):
            if taken[row, i] >= 0:
                mark[taken[row, i]] = 0


@njit(cache=True, nogil=True)
def nearest_by_products(
    products: Array,
    halves: Array,
    slack: Array,
    actions: Array,
    values: Array,
    taken: Array,
    cells: Array,
    far: Array,
) -> None:
    """Fill ``cells`` and ``far`` from the products of actions and cells, each off by at most ``slack[action] / 2``.

    ``halves[cell] - products[action, cell]`` orders the cells up to rounding. All cells that may be among the k best
    within the rounding error are measured again in double precision, so the result is exact.
    """
    k = cells.shape[1]
    count = len(halves)
    mark = np.zeros(count, dtype=np.uint8)
    for row in range(len(products)):
        for i in range(taken.shape[1]):
            if taken[row, i] >= 0:
                mark[taken[row, i]] = 1
        size = 0
        worst = np.inf
        for cell in range(count):
            rough = np.float64(halves[cell] - products[row, cell])
            if rough < worst and mark[cell] == 0:
                size = push(far[row], cells[row], size, rough, cell)
                if size == k:
                    worst = far[row, 0]
        limit = worst + slack[row]
        size = 0
        for cell in range(count):
            if np.float64(halves[cell] - products[row, cell]) <= limit and mark[cell] == 0:
                total = 0.0
                for column in range(values.shape[1]):
                    gap = np.float64(actions[row, column]) - np.float64(values[cell, column])
                    total += gap * gap
                size = push(far[row], cells[row], size, total, cell)
        sort_heap(far[row], cells[row], size)
        for i in range(taken.shape[1]):
            if taken[row, i] >= 0:
                mark[taken[row, i]] = 0
