"""The choice among cells, reduced without changing any answer, and what every cell would still add to it.

Objects count once (``Sums``), or until they are held often enough (``Served``). The value of the latter,
Σ min(r, chosen cells that hold q), is submodular: m cells chosen greedily are worth at least 1 − 1/e of the best m.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cube2net._util.arrays import Array, Ragged, take_rows, transpose
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import OPEN, Scope, Weights
from cube2net.selection.constraints import drop_forbidden_cells, mark_new_nodes, untouched_may_help
from cube2net.selection.greedy import ROUNDING, Sums, find_candidates


@dataclass(frozen=True, eq=False)
class Problem:
    """Cells that may be chosen, and groups of objects that they hold; the value of a choice is a ratio of sums.

    A group holds the objects that the same cells hold: no choice brings one without the others, so only their sums
    matter. ``members`` is cell → groups and ``object_cells`` group → cells, by position; ``cells[i]`` is the number in
    the cube of cell i. ``nodes`` counts the objects of a group that are not in yet. ``objects`` are those that the
    cells hold, ascending, and ``group`` the group of each.

    The groups and their weights are what ``kernels.coverage`` calls objects.
    """

    cells: Array
    members: Ragged
    object_cells: Ragged
    gain: Array
    cost: Array
    nodes: Array
    gain0: float
    cost0: float
    objects: Array
    group: Array

    @classmethod
    def of(
        cls,
        cube: Cube,
        query: Query,
        weights: Weights,
        *,
        at_least: float = 0.0,
        every: bool = False,
        n_cells: int | None = None,
        scope: Scope = OPEN,
    ) -> Problem:
        """Return the choice among the cells that may be in a best selection.

        ``at_least`` is a value that some selection reaches. Let λ ≥ ``at_least`` be the best value; a best
        selection has the largest Σ gain − λ·Σ cost, which is then 0 (up to the constants). An object with
        gain < ``at_least``·cost lowers that sum, so a cell of such objects only can be left out of a best selection.
        (One with gain = ``at_least``·cost must stay: where nothing else has a cost, a value is 0 without it.) At 0
        that leaves out the cells without any positive gain (see ``Greedy`` for the weights with which even these
        may help). ``every`` leaves none out. What ``scope`` closes is never there.

        With ``m``, the most cells that a selection may have, cells are left out too that cost too much for any best
        selection: see ``drop_unaffordable`` and ``drop_dear``. The cost follows the members of the cells that stay.
        """
        from cube2net.kernels.reductions import find_held_objects, group_alike, list_placed_homes

        free = every or untouched_may_help(weights)
        cells = np.arange(len(cube.cells)) if every else find_candidates(cube, weights, at_least)
        cells = drop_forbidden_cells(cells, scope)
        tight = n_cells is not None and at_least > 0 and not free
        if tight and n_cells is not None:
            cells = drop_unaffordable(cube, weights, cells, at_least, n_cells)
        members, rows = cube.cells.members, (cube.object_cells.indptr, cube.object_cells.indices)
        objects = find_held_objects(cells, members.indptr, members.indices, np.zeros(len(cube.objects), dtype=np.uint8))
        place = np.full(len(cube.cells), -1, dtype=np.int32)
        place[cells] = np.arange(len(cells), dtype=np.int32)
        group, first = group_alike(objects, *rows, place)
        homes = Ragged(*list_placed_homes(first, *rows, place))
        gain, cost = weights.at(objects)
        nodes = mark_new_nodes(cube, query, scope, objects)
        problem = cls(
            cells=cells,
            members=transpose(homes, len(cells)),
            object_cells=homes,
            gain=np.bincount(group, weights=gain, minlength=len(first)),
            cost=np.bincount(group, weights=cost, minlength=len(first)),
            nodes=np.bincount(group, weights=nodes, minlength=len(first)),
            gain0=float(weights.gain0),
            cost0=float(weights.cost0),
            objects=objects,
            group=group,
        )
        return problem.drop_dear(at_least) if tight else problem

    @cached_property
    def cell_totals(self) -> Array:
        """The gain, the cost and the nodes of every cell by itself."""
        from cube2net.kernels.reductions import row_sums

        terms = np.column_stack([self.gain, self.cost, self.nodes])
        return row_sums(self.members.indptr, self.members.indices, terms)

    def drop_dear(self, price: float) -> Problem:
        """Return the problem without cells that no best selection holds, where one is worth ``price`` or more.

        At the value λ of a best selection, what a chosen cell adds to Σ gain − λ·Σ cost is not below 0: else the
        selection without it were better. It adds at most what its objects pay (those worth more than 0, at λ or at the
        lower price), less what those take that no other cell is left to hold. All cells stay where those left would
        still have more than half of the memberships.
        """
        from cube2net.kernels.reductions import mark_too_costly, row_sums

        worth = self.gain - price * (1.0 - ROUNDING) * self.cost
        rows = (self.members.indptr, self.members.indices)
        pays = row_sums(*rows, np.maximum(worth, 0.0)[:, None])[:, 0]
        out = mark_too_costly(
            *rows, self.object_cells.indptr, self.object_cells.indices, worth, pays * (1.0 + ROUNDING)
        )
        cells = np.flatnonzero(~out)
        members = take_rows(self.members, cells)
        if len(members.indices) > len(self.members.indices) // 2:
            return self
        groups, entries = np.unique(members.indices, return_inverse=True)
        members = Ragged(members.indptr, entries.astype(np.int32))
        number = np.full(len(self.gain), -1, dtype=np.int32)
        number[groups] = np.arange(len(groups), dtype=np.int32)
        stays = number[self.group] >= 0
        return replace(
            self,
            cells=self.cells[cells],
            members=members,
            object_cells=transpose(members, len(groups)),
            gain=self.gain[groups],
            cost=self.cost[groups],
            nodes=self.nodes[groups],
            objects=self.objects[stays],
            group=number[self.group[stays]],
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


def drop_unaffordable(cube: Cube, weights: Weights, cells: Array, price: float, n_cells: int) -> Array:
    """Return the cells that may be in a selection of m cells worth ``price`` or more.

    At the price λ an object is worth w = gain − λ·cost. A selection worth λ or more has gain₀ − λ·cost₀ + Σ w ≥ 0.
    What is above 0 in that sum is at most what the cell pays (its objects with w > 0) and the m − 1 cells that pay
    most; what is below 0 is at least what the cell takes. Without the cells that fail others pay less: so again,
    until none does.
    """
    price *= 1.0 - ROUNDING
    rows = weights.rows
    gain, cost = weights.given
    worth, other = gain - price * cost, weights.others[0] - price * weights.others[1]
    terms = np.column_stack([np.maximum(worth, 0.0), np.maximum(-worth, 0.0)])
    rest = (max(other, 0.0), max(-other, 0.0))
    sums = Sums(cube.cells.members, cube.object_cells, cells, rows, terms, rest).of[cells]
    pays, takes = sums[:, 0], sums[:, 1]
    constant = weights.gain0 - price * weights.cost0
    size = abs(weights.gain0) + price * weights.cost0 + float(pays.sum())
    while len(cells) and n_cells > 0:
        most = np.sort(pays)[::-1][:n_cells]
        others = float(most.sum()) - (np.maximum(most[-1], pays) if len(most) == n_cells else pays)
        fits = takes <= constant + pays + others + ROUNDING * (size + takes)
        if bool(fits.all()):
            break
        cells, pays, takes = cells[fits], pays[fits], takes[fits]
    return cells
