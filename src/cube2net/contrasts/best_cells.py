"""The few cells that serve some objects best, each object by the best cell that holds it.

Cells have weights, and each object counts the weight of the best cell chosen that holds it, times a portion of its own.
Such a value never falls when a cell is added, and a cell adds less the more are chosen (it is monotone and submodular),
so k cells chosen one by one, each the one that adds most, are worth at least 1 − 1/e of the best k.

How far they are from these at most is told for every answer. For any prices u of the objects, no k cells are worth more
than the sum of the prices and the k largest of the cells' sums of what their objects count beyond their prices. What
objects count already is such a price, at every step of the choosing; from there the prices are moved against the
direction in which that bound grows (a subgradient), for so many rounds, and the lowest bound is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows
from cube2net.interrupts import step
from cube2net.records import Ragged
from cube2net.records.selection import PROVEN

DIGITS = 12
"""What agrees to so many digits is equal, and the first is chosen."""
SMALLEST = 10.0**-DIGITS
PATIENCE = 5
"""After so many rounds that find no lower bound, prices move half as far."""


@dataclass(frozen=True, eq=False)
class BestCells:
    """Cells by number in the order chosen, the value after each, and what the value of no k cells exceeds."""

    cells: Array
    values: Array
    bound: float


@dataclass(frozen=True, eq=False)
class _Served:
    """What cells are worth to each of the objects that they hold; ``portion`` is how much an object counts."""

    weights: Array
    members: Ragged
    portion: Array

    def adds(self, counted: Array) -> Array:
        """Return what each cell would add where objects count so much already."""
        from cube2net.kernels.csr import sums_beyond

        sums = sums_beyond(self.members.indptr, self.members.indices, self.weights, counted, self.portion)
        found: Array = sums.round(DIGITS)
        return found

    def takers(self, cells: Array, counted: Array) -> Array:
        """Return how many of some cells are worth more to each object than it counts already."""
        own = take_rows(self.members, cells)
        more = np.repeat(self.weights[cells], own.sizes) > counted[own.indices]
        return np.bincount(own.indices[more], minlength=len(counted))


def best_cells(
    weights: Array, members: Ragged, portion: Array, most: int, *, least: float = 0.0, rounds: int = 0
) -> BestCells:
    """Return at most so many cells, each the one that adds most; one that adds less than ``least``, or nothing, is not.

    >>> from cube2net.arrays import ragged_from_lists
    >>> found = best_cells(np.array([1.0, 3.0, 3.0]), ragged_from_lists([[0, 1, 2, 3], [0, 1], [4]]), np.ones(5), 2)
    >>> found.cells.tolist(), found.values.tolist()
    ([1, 2], [6.0, 9.0])
    """
    served = _Served(weights, members, portion)
    counted, highest = np.zeros(len(portion)), np.zeros(len(portion))
    np.maximum.at(highest, members.indices, np.repeat(weights, members.sizes))
    bound, value = float((highest * portion).sum()), 0.0
    chosen: list[int] = []
    values: list[float] = []
    while True:
        step()
        adds = served.adds(counted)
        bound = min(bound, value + float(adds[_largest(adds, most)].sum()))
        if len(chosen) == most or float(adds.max(initial=0.0)) < max(least, SMALLEST):
            break
        cell = int(np.argmax(adds))
        own = members[cell]
        counted[own] = np.maximum(counted[own], weights[cell])
        value = float((counted * portion).sum())
        chosen.append(cell)
        values.append(value)
    bound = _priced(served, counted, most, value, bound, rounds)
    return BestCells(np.array(chosen, dtype=np.int64), np.array(values), max(bound, value))


def _largest(adds: Array, most: int) -> Array:
    """Return the cells that would add most, so many of them, in no order."""
    return np.argpartition(adds, -most)[-most:] if 0 < most < len(adds) else np.arange(min(most, len(adds)))


def _priced(served: _Served, prices: Array, most: int, value: float, bound: float, rounds: int) -> float:
    """Return the lowest bound that some rounds of moving the prices find, or the one known."""
    far, stalled = 1.0, 0
    for _ in range(rounds):
        step()
        if bound - value <= PROVEN * bound:
            break
        adds = served.adds(prices)
        largest = _largest(adds, most)
        found = float((prices * served.portion).sum()) + float(adds[largest].sum())
        stalled = 0 if found < bound else stalled + 1
        bound = min(bound, found)
        if stalled == PATIENCE:
            far, stalled = far / 2, 0
        slope = (1.0 - served.takers(largest, prices)) * served.portion
        steep = float((slope**2).sum())
        if steep == 0:
            break
        prices = np.maximum(0.0, prices - far * (found - value) / steep * slope)
    return bound
