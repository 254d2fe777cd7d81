"""Weighted maximum coverage of objects by cells, and smart drill-down.

An object counts the weight of the best chosen cell that holds it, times a portion of its own. The sum is monotone and
submodular, so k cells chosen greedily reach at least 1 − 1/e of the best k. For any prices of the objects, the sum of
the prices and of the k largest cells' excesses over the prices is an upper bound. The counts of the greedy choice are
the first prices; subgradient steps improve them, and the lowest bound is kept.

Smart drill-down (Joglekar, Garcia-Molina and Parameswaran, 2016) uses bits as weights: to name one of n objects takes
log2 n bits, so a cell of n objects saves log2(N / n) bits for each object of the query that it holds, where N is the
number of objects of the cell that is drilled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net._util.arrays import Array, Ragged, take_rows
from cube2net._util.progress import check_stop
from cube2net.model.selection import PROVEN

DIGITS = 12
"""Digits to which gains are rounded; of equal gains the first cell is chosen."""
MIN_GAIN = 10.0**-DIGITS
MIN_BITS = 1e-9
"""Fewer bits are rounding errors."""
MAX_STALLED_ROUNDS = 5
"""Rounds without improvement after which the step length is halved."""
BOUND_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class BestCells:
    """Cells in the order chosen, the value after each, and an upper bound on the value of k cells."""

    cells: Array
    values: Array
    bound: float


@dataclass(frozen=True, eq=False)
class _Coverage:
    """The weights and members of cells, and the portion that every object counts."""

    weights: Array
    members: Ragged
    portion: Array

    def compute_gains(self, counted: Array) -> Array:
        """Return what each cell would add to the present counts of objects."""
        from cube2net.kernels.csr import sums_beyond

        sums = sums_beyond(self.members.indptr, self.members.indices, self.weights, counted, self.portion)
        return np.asarray(sums.round(DIGITS))

    def count_better(self, cells: Array, counted: Array) -> Array:
        """Return for each object the number of its cells that weigh more than it counts already."""
        own = take_rows(self.members, cells)
        more = np.repeat(self.weights[cells], own.sizes) > counted[own.indices]
        return np.bincount(own.indices[more], minlength=len(counted))

    def improve_bound(self, prices: Array, most: int, value: float, bound: float, rounds: int) -> float:
        """Return the lowest bound found in some rounds of subgradient steps, or the present one."""
        length, stalled = 1.0, 0
        for _ in range(rounds):
            check_stop()
            if bound - value <= PROVEN * bound:
                break
            gains = self.compute_gains(prices)
            largest = _find_largest(gains, most)
            dual = float((prices * self.portion).sum()) + float(gains[largest].sum())
            stalled = 0 if dual < bound else stalled + 1
            bound = min(bound, dual)
            if stalled == MAX_STALLED_ROUNDS:
                length, stalled = length / 2, 0
            slope = (1.0 - self.count_better(largest, prices)) * self.portion
            squared_norm = float((slope**2).sum())
            if squared_norm == 0:
                break
            prices = np.maximum(0.0, prices - length * (dual - value) / squared_norm * slope)
        return bound


def choose_best_cells(
    weights: Array, members: Ragged, portion: Array, most: int, *, least: float = 0.0, rounds: int = 0
) -> BestCells:
    """Return at most ``most`` cells chosen greedily; stops when no cell adds ``least``.

    >>> from cube2net._util.arrays import ragged_from_lists
    >>> members = ragged_from_lists([[0, 1, 2, 3], [0, 1], [4]])
    >>> best = choose_best_cells(np.array([1.0, 3.0, 3.0]), members, np.ones(5), 2)
    >>> best.cells.tolist(), best.values.tolist()
    ([1, 2], [6.0, 9.0])
    """
    coverage = _Coverage(weights, members, portion)
    counted, highest = np.zeros(len(portion)), np.zeros(len(portion))
    np.maximum.at(highest, members.indices, np.repeat(weights, members.sizes))
    bound, value = float((highest * portion).sum()), 0.0
    chosen: list[int] = []
    values: list[float] = []
    while True:
        check_stop()
        gains = coverage.compute_gains(counted)
        bound = min(bound, value + float(gains[_find_largest(gains, most)].sum()))
        if len(chosen) == most or float(gains.max(initial=0.0)) < max(least, MIN_GAIN):
            break
        cell = int(np.argmax(gains))
        own = members[cell]
        counted[own] = np.maximum(counted[own], weights[cell])
        value = float((counted * portion).sum())
        chosen.append(cell)
        values.append(value)
    bound = coverage.improve_bound(counted, most, value, bound, rounds)
    return BestCells(np.array(chosen, dtype=np.int64), np.array(values), max(bound, value))


def _find_largest(gains: Array, most: int) -> Array:
    """Return the ``most`` cells with the largest gains, in any order."""
    return np.argpartition(gains, -most)[-most:] if 0 < most < len(gains) else np.arange(min(most, len(gains)))


@dataclass(frozen=True, eq=False)
class DrillDown:
    """Cells in the order chosen, with the bits that each saves and the number of objects that it is the first to hold.

    ``held`` marks the objects that some cell holds, and ``bound`` is an upper bound on the bits.
    """

    cells: Array
    bits: Array
    new: Array
    held: Array
    bound: float


def drill_down(members: Ragged, sizes: Array, count: int, total: int, k: int, least: int = 1) -> DrillDown:
    """Return up to k cells that save most bits for ``count`` objects among the ``total`` of the cell above.

    ``members`` are those of the objects that each cell holds, and ``sizes`` its numbers of all objects; cells with
    fewer than ``least`` are not chosen.
    """
    large = np.flatnonzero(sizes >= least)
    weights = np.log2(total / sizes[large]) if len(large) else np.empty(0)
    ones = np.ones(count)
    best = choose_best_cells(weights, take_rows(members, large), ones, k, least=MIN_BITS, rounds=BOUND_ROUNDS)
    cells = large[best.cells]
    held = np.zeros(count, dtype=bool)
    new = []
    for cell in cells.tolist():
        new.append(int((~held[members[cell]]).sum()))
        held[members[cell]] = True
    return DrillDown(cells, np.diff(best.values, prepend=0.0), np.array(new, np.int64), held, best.bound)
