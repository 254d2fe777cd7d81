"""What every cell would still add to a growing selection, at a cost that follows the cells chosen."""

from __future__ import annotations

import math

import numpy as np

from cube2net.array_types import Array
from cube2net.records import Ragged

# What agrees to so many digits is equal, be it values or sums.
DIGITS, EQUAL = 12, 1e-12


class Sums:
    """Two sums over the members of cells that no chosen cell holds, kept up as cells are chosen.

    ``members`` is cell → objects and ``homes`` object → cells; the objects may be groups of objects.
    An object has two terms (a gain and a cost). Where only ``rows`` have terms of their own and all others the same,
    the sums of a cell are its size times the terms of others, corrected for the rows that it holds: only the homes
    of the rows are looked at, not the members of cells. Without rows ``terms`` are of all objects, and all members of
    ``cells`` are looked at once. Sums of whole numbers are the same either way.

    ``of[cell]`` are the sums of a cell; they are kept for ``cells`` only.
    """

    def __init__(
        self,
        members: Ragged,
        homes: Ragged,
        cells: Array,
        rows: Array | None,
        terms: Array,
        others: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        from cube2net.kernels import coverage

        self._members = (members.indptr, members.indices)
        self._homes = (homes.indptr, homes.indices)
        self._terms, self._others = np.ascontiguousarray(terms, dtype=np.float64), np.array(others)
        self._rows = np.empty(0, dtype=np.int64) if rows is None else rows
        self._dense = rows is None
        self._state = np.zeros(len(homes), dtype=np.uint8)
        self.of = np.zeros((len(members), 2))
        if self._dense:
            gain, cost = self._terms[:, 0], self._terms[:, 1]
            self.of[cells, 0], self.of[cells, 1] = coverage.residuals(cells, *self._members, self._state, gain, cost)
            return
        indptr = self._members[0]
        self.of[cells] = (indptr[cells + 1] - indptr[cells])[:, None] * self._others
        coverage.spread(self._rows, self._terms - self._others, *self._homes, self.of)
        self._state[self._rows] = 2

    def add(self, cell: int) -> None:
        """Cover the members of a cell: what they are worth is taken from every cell that holds them."""
        from cube2net.kernels import coverage

        rows = (*self._members, *self._homes)
        if self._dense:
            coverage.cover_all(cell, *rows, self._terms, self._state, self.of)
        else:
            coverage.cover(cell, *rows, self._rows, self._terms, self._others, self._state, self.of)

    def take_by_value(self, cells: Array, above: float, below: float, most: int) -> Array:
        """Return at most so many cells in the order taken, each the one that raises above / below most.

        The two numbers grow by the sums of the cells taken; what agrees to 12 digits is equal, and the first is taken.
        """
        from cube2net.kernels import coverage

        chosen: list[int] = []
        while len(chosen) < most and len(cells):
            place = int(coverage.best_value(cells, self.of, above, below, 10.0**DIGITS))
            cell = int(cells[place])
            above, below = above + float(self.of[cell, 0]), below + float(self.of[cell, 1])
            self.add(cell)
            cells = np.delete(cells, place)
            chosen.append(cell)
        return np.array(chosen, dtype=np.int64)

    def take_by_sum(self, cells: Array, most: int, room: float = math.inf) -> Array:
        """Return at most so many cells in the order taken, each that of the largest first sum, while it is above 0.

        A cell is passed over when its second sum is more than is left of ``room``. Sums that differ by no more than
        12 digits of the largest at the start are equal, and the first is taken.
        """
        from cube2net.kernels import coverage

        equal = EQUAL * float(np.abs(self.of[cells, 0]).max(initial=0.0))
        taken = np.zeros(len(cells), dtype=bool)
        chosen: list[int] = []
        while len(chosen) < most:
            place = int(coverage.best_sum(cells, self.of, taken, room, equal))
            if place < 0:
                break
            cell = int(cells[place])
            taken[place] = True
            room -= float(self.of[cell, 1])
            self.add(cell)
            chosen.append(cell)
        return np.array(chosen, dtype=np.int64)
