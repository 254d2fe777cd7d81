"""What every cell of a cube would still add to a growing selection, at a cost that follows the cells chosen."""

from __future__ import annotations

import numpy as np

from cube2net.records import Cube
from cube2net.records.ragged import Array


class Sums:
    """Two sums over the members of cells that no chosen cell holds, kept up as cells are chosen.

    An object has two terms (a gain and a cost). Where only ``rows`` have terms of their own and all others the same,
    the sums of a cell are its size times the terms of others, corrected for the rows that it holds: only the homes
    of the rows are looked at, not the members of cells. Without rows ``terms`` are of all objects, and all members of
    ``cells`` are looked at once. Sums of whole numbers are the same either way.

    ``of[cell]`` are the sums of a cell; they are kept for ``cells`` only. Arrays with a place for every cell, or every
    object (one byte), start as untouched pages of zeros and cost what is written to them.
    """

    def __init__(self, cube: Cube, cells: Array, rows: Array | None, terms: Array, others: tuple[float, float]) -> None:
        from cube2net.kernels import coverage

        self._members = (cube.cells.members.indptr, cube.cells.members.indices)
        self._homes = (cube.homes.indptr, cube.homes.indices)
        self._terms, self._others = np.ascontiguousarray(terms, dtype=np.float64), np.array(others)
        self._rows = np.empty(0, dtype=np.int64) if rows is None else rows
        self._dense = rows is None
        self._state = np.zeros(len(cube.objects), dtype=np.uint8)
        self.of = np.zeros((len(cube.cells), 2))
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
