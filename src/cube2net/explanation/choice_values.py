"""What any choice of cells is worth under a question, by the sums and in the order of the choice itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries, take_rows
from cube2net.records import Cube, Judge, Question, Ragged, Repeats, Scope, Weights, Worth


@dataclass(frozen=True, eq=False)
class AddedSums:
    """What some cells add, one after the other, to what is there before them.

    ``gain`` and ``cost`` are of the objects that no cell brings; ``gains`` and ``costs`` are those of each cell, and
    ``new`` says how many objects it is the first to bring.
    """

    gain: float
    cost: float
    gains: Array
    costs: Array
    new: Array


@dataclass(frozen=True, eq=False)
class Choice:
    """Cells that are chosen of a cube, what is settled before, and what all of it is worth."""

    cube: Cube
    worth: Worth
    scope: Scope
    cells: Array

    @classmethod
    def of(cls, question: Question, cells: Array) -> Choice:
        """Return the choice of some cells under a question."""
        return cls(question.cube, question.worth, question.budget.scope, np.asarray(cells, dtype=np.int64))

    def bring(self, cells: Array) -> Ragged:
        """Return the objects that each of some cells can bring."""
        held = take_rows(self.cube.cells.members, np.asarray(cells, dtype=np.int64))
        if self.scope.barred is None:
            return held
        stays = ~self.scope.barred[held.indices]
        counts = np.bincount(row_of_entries(held)[stays], minlength=len(held))
        return Ragged(np.concatenate([[0], np.cumsum(counts)]), held.indices[stays])

    def value(self, cells: Array) -> float:
        """Return what some cells are worth, with the objects that are pinned."""
        if isinstance(self.worth, Judge):
            return self.worth.value(np.flatnonzero(self.there(cells)))
        if isinstance(self.worth, Repeats):
            return self.worth.total(self._times(self.worth.objects, cells)) - self._lost(self.worth, cells)
        sums = self.sums(cells)
        gain, cost = sums.gain, sums.cost
        for more, dearer in zip(sums.gains.tolist(), sums.costs.tolist(), strict=True):
            gain, cost = gain + more, cost + dearer
        return self.worth.ratio(gain, cost)

    def sums(self, cells: Array) -> AddedSums:
        """Return what each of some cells adds in this order."""
        rows, before = self.bring(cells), self.scope.objects
        objects, first, place = np.unique(
            np.concatenate([before, rows.indices]), return_index=True, return_inverse=True
        )
        first = first[first >= len(before)] - len(before)
        new = np.bincount(row_of_entries(rows)[first], minlength=len(rows))
        placed = Ragged(rows.indptr, place[len(before) :].astype(np.int32))
        if isinstance(self.worth, Judge):
            return AddedSums(0.0, 0.0, np.zeros(len(rows)), np.zeros(len(rows)), new)
        if isinstance(self.worth, Repeats):
            gain, gains = _served(self.worth, objects, placed, place[: len(before)])
            return AddedSums(gain, 0.0, gains, np.zeros(len(rows)), new)
        from cube2net.kernels.coverage import grow

        covers = np.zeros(len(objects), dtype=np.int32)
        covers[place[: len(before)]] = 1
        gains, costs = grow(np.arange(len(rows)), placed.indptr, placed.indices, covers, *self.worth.at(objects))
        own_gain, own_cost = (float(terms.sum()) for terms in self.worth.at(before))
        return AddedSums(own_gain, own_cost, gains, costs, new)

    def pinned_sums(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return what the pinned objects add above and below, as one sum, and what the pinned cells add to that."""
        if isinstance(self.worth, Weights):
            own = self.worth.at(self.scope.objects)
            objects = np.unique(self.bring(self.scope.cells).indices)
            known = np.isin(objects, self.scope.objects)
            gain, cost = (np.where(known, 0.0, terms) for terms in self.worth.at(objects))
            return (float(own[0].sum()), float(own[1].sum())), (float(gain.sum()), float(cost.sum()))
        if isinstance(self.worth, Judge):
            return (0.0, 0.0), (0.0, 0.0)
        before = self.value(self.scope.cells[:0])
        return (before, 0.0), (self.value(self.scope.cells) - before, 0.0)

    def there(self, cells: Array) -> Array:
        """Return a mark for every object that some cells bring or that is pinned."""
        # Pages that nobody looks at are never made: what marks cost follows the members of the cells.
        mark = np.zeros(len(self.cube.objects), dtype=bool)
        mark[self.scope.objects] = True
        mark[self.bring(cells).indices] = True
        return mark

    def _times(self, objects: Array, cells: Array) -> Array:
        """Return how often each of some objects, ascending, is held, by some cells or for being pinned."""
        held = np.concatenate([self.scope.objects, self.bring(cells).indices])
        if not len(objects):
            return np.zeros(0, dtype=np.int64)
        place = np.minimum(np.searchsorted(objects, held), len(objects) - 1)
        return np.bincount(place[objects[place] == held], minlength=len(objects))

    def _lost(self, repeats: Repeats, cells: Array) -> int:
        """Return how often some cells and pins hold an object that is not liked."""
        return 0 if repeats.unlike is None else int(self._times(repeats.unlike, cells).sum())

    def others(self, cell: int) -> Array:
        """Return the chosen cells but one."""
        others: Array = self.cells[self.cells != cell]
        return others

    def added(self, candidates: Array) -> Array:
        """Return what each of some cells would be worth with all that are chosen, but for rounding.

        A function is not asked: there it is how few objects a cell would bring.
        """
        from cube2net.kernels.coverage import residuals

        there = self.there(self.cells)
        covers = (np.zeros(len(there), dtype=bool) if isinstance(self.worth, Repeats) else there).astype(np.uint8)
        if self.scope.barred is not None:
            covers[self.scope.barred] = 1
        terms = self._terms(self.worth)
        rows = (self.cube.cells.members.indptr, self.cube.cells.members.indices)
        gains, costs = residuals(np.asarray(candidates, dtype=np.int64), *rows, covers, *terms)
        if isinstance(self.worth, Repeats):
            return np.asarray(self.value(self.cells) + gains)
        if isinstance(self.worth, Judge):
            return np.asarray(-costs)
        gain, cost = (float(term.sum()) for term in self.worth.at(np.flatnonzero(there)))
        above, below = self.worth.gain0 + gain + gains, self.worth.cost0 + cost + costs
        return np.asarray(np.divide(above, below, out=np.zeros(len(candidates)), where=below > 0))

    def _terms(self, worth: Worth) -> tuple[Array, Array]:
        """Return what every object would add above and below if it came in, or was held once more, now."""
        if isinstance(worth, Weights):
            return worth.gain, worth.cost
        if isinstance(worth, Judge):
            ones = np.ones(worth.count)
            return ones, ones
        serves = np.zeros(worth.count)
        times = self._times(worth.objects, self.cells)
        serves[worth.objects if worth.most is None else worth.objects[times < worth.most]] = 1.0
        if worth.unlike is not None:
            serves[worth.unlike] -= 1.0
        return serves, serves


def _served(repeats: Repeats, objects: Array, rows: Ragged, before: Array) -> tuple[float, Array]:
    """Return how many objects are held once before any cell, and how many each cell serves, one after the other."""
    wanted = np.isin(objects, repeats.objects)
    left = np.where(wanted, len(rows) + 1 if repeats.most is None else repeats.most, 0)
    first = before[left[before] > 0]
    left[first] -= 1
    served = np.zeros(len(rows))
    for row in range(len(rows)):
        held = rows[row][left[rows[row]] > 0]
        left[held] -= 1
        served[row] = len(held)
    loses = np.isin(objects, [] if repeats.unlike is None else repeats.unlike)
    lost = [int(loses[rows[row]].sum()) for row in range(len(rows))]
    return float(len(first) - loses[before].sum()), served - np.array(lost, dtype=np.float64)
