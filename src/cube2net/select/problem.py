"""The choice among cells, as small as it can be made without changing any answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.arrays import take_rows, transpose
from cube2net.records import Cube, Query, Ragged, Weights
from cube2net.records.ragged import Array
from cube2net.select.outcome import untouched_may_help

# A value may be off by so much of itself, by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Problem:
    """Cells that may be chosen, and groups of objects that they hold; the value of a choice is a ratio of sums.

    A group holds the objects that the same cells hold: no choice brings one without the others, so only their
    sums matter. ``members`` is cell → groups and ``homes`` group → cells, by position; ``cells[i]`` is the number
    in the cube of cell i. ``nodes`` counts the objects of a group that are not in the query, and ``group`` is object →
    group, −1 for objects in none of the cells.

    The groups and their weights are what ``kernels.coverage`` calls objects.
    """

    cells: Array
    members: Ragged
    homes: Ragged
    gain: Array
    cost: Array
    nodes: Array
    gain0: float
    cost0: float
    group: Array

    @classmethod
    def of(cls, cube: Cube, query: Query, weights: Weights, *, at_least: float = 0.0, every: bool = False) -> Problem:
        """Return the choice among the cells that may be in a best selection.

        ``at_least`` is a value that some selection reaches. Let λ ≥ ``at_least`` be the best value; a best
        selection has the largest Σ gain − λ·Σ cost, which is then 0 (up to the constants). An object with
        gain < ``at_least``·cost lowers that sum, so a cell of such objects only can be left out of a best selection.
        (One with gain = ``at_least``·cost must stay: where nothing else has a cost, a value is 0 without it.) At 0
        that leaves out the cells without any positive gain (see ``Greedy`` for the weights with which even these
        may help). ``every`` leaves none out.
        """
        from cube2net.kernels import coverage
        from cube2net.kernels.fold import fold, folded_members

        members = cube.cells.members
        if every or untouched_may_help(weights):
            cells = np.arange(len(cube.cells))
        else:
            least = max(0.0, at_least) * (1.0 - ROUNDING) * weights.cost
            worth = np.flatnonzero((weights.gain > 0) & (weights.gain >= least))
            cells = np.asarray(coverage.touched(worth, cube.homes.indptr, cube.homes.indices, len(cube.cells)))
        group, groups = fold(cells, members.indptr, members.indices, len(cube.objects))
        rows = Ragged(*folded_members(cells, members.indptr, members.indices, group, groups))
        held = np.flatnonzero(group >= 0)
        of = group[held]
        outside = np.ones(len(cube.objects))
        outside[query.objects] = 0.0
        return cls(
            cells=cells,
            members=rows,
            homes=transpose(rows, groups),
            gain=np.bincount(of, weights=weights.gain[held], minlength=groups),
            cost=np.bincount(of, weights=weights.cost[held], minlength=groups),
            nodes=np.bincount(of, weights=outside[held], minlength=groups),
            gain0=float(weights.gain0),
            cost0=float(weights.cost0),
            group=group,
        )

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return (
            f"Problem({len(self.cells):,} cells, {len(self.gain):,} groups, {len(self.members.indices):,} memberships)"
        )

    def ratio(self, gain: float, cost: float) -> float:
        """Return the value at given sums of gain and cost; 0 where there is no cost at all."""
        below = self.cost0 + cost
        return (self.gain0 + gain) / below if below > 0 else 0.0

    def value(self, cells: Array) -> float:
        """Return what the cells of some positions are worth together."""
        groups = np.unique(take_rows(self.members, np.asarray(cells, dtype=np.int64)).indices)
        return self.ratio(float(self.gain[groups].sum()), float(self.cost[groups].sum()))
