"""The choice among cells, reduced without changing any answer, and what every cell would still add to it.

Objects count once (``Sums``), or until they are held often enough (``Served``). The value of the latter,
Σ min(r, chosen cells that hold q), is submodular: m cells chosen greedily are worth at least 1 − 1/e of the best m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cube2net._util.arrays import Array, Ragged, ragged_from_pairs, row_of_entries, take_rows, transpose
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import OPEN, CoverObjective, Scope, Weights
from cube2net.selection.contract import Limits, drop_forbidden_cells, mark_new_nodes, untouched_may_help

# What agrees to so many digits is equal, be it values or sums.
DIGITS, EQUAL = 12, 1e-12
# Below what any cell serves, less what it loses.
TAKEN = -(2**31)


class Sums:
    """Two sums over the members of cells that no chosen cell holds, kept up as cells are chosen.

    ``members`` is cell → objects and ``object_cells`` object → cells; the objects may be groups of objects.
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
        self._rows = np.empty(0, dtype=np.int64) if rows is None else rows.astype(np.int64)
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


class Served:
    """How many objects each cell would serve that still need one, less what it loses, kept up as cells are chosen.

    ``cells`` are the numbers of the cells that hold an object of the query, ascending; ``gains[i]`` is what the i-th
    would add now, ``loses[i]`` how many unliked objects it holds, and ``left[q]`` how often the q-th object of the
    query may still be held. Cells that may not be chosen are taken from the start.
    """

    def __init__(self, cube: Cube, repeats: CoverObjective, scope: Scope = OPEN) -> None:
        self.object_cells = take_rows(cube.object_cells, repeats.objects)
        self.cells, entries = np.unique(self.object_cells.indices, return_inverse=True)
        self.object_cells = Ragged(self.object_cells.indptr, entries.astype(np.int32))
        self.members = ragged_from_pairs(entries, row_of_entries(self.object_cells), len(self.cells))
        self.taken = np.zeros(len(self.cells), dtype=bool)
        self.loses = np.zeros(len(self.cells), dtype=np.int64)
        sizes = self.object_cells.sizes
        if len(scope.forbidden_cells):
            closed = self._places(scope.forbidden_cells)
            self.taken[closed] = True
            sizes = sizes - np.bincount(take_rows(self.members, closed).indices, minlength=len(sizes))
        self.left = sizes.copy() if repeats.most is None else np.minimum(sizes, repeats.most)
        self.gains: Array = self.members.sizes.copy()
        if repeats.held is not None and repeats.most is not None:
            self.left = np.minimum(self.left, np.maximum(repeats.most - repeats.held, 0))
        if len(scope.forbidden_cells) or repeats.held is not None:
            served = take_rows(self.object_cells, np.flatnonzero(self.left == 0))
            self.gains -= np.bincount(served.indices, minlength=len(self.cells))
        if repeats.unlike is not None:
            places = self._places(take_rows(cube.object_cells, repeats.unlike).indices)
            self.loses = np.bincount(places, minlength=len(self.cells))
            self.gains -= self.loses

    def _places(self, cells: Array) -> Array:
        """Return the places of those of some cells that are here."""
        if not len(self.cells):
            return np.empty(0, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.cells, cells), len(self.cells) - 1)
        return np.asarray(place[self.cells[place] == cells])

    def take(self, place: int) -> int:
        """Choose a cell by its place, and return how many objects it serves, whatever it loses."""
        self.taken[place] = True
        objects = self.members[place]
        needing = objects[self.left[objects] > 0]
        self.left[needing] -= 1
        served = needing[self.left[needing] == 0]
        if len(served):
            np.subtract.at(self.gains, take_rows(self.object_cells, served).indices, 1)
        return len(needing)

    def bound(self, served: float, n_cells: int) -> float:
        """Return a value that no m cells exceed: what is served so far, and the m largest gains left beside it.

        What the cells chosen lose is not taken from it: others may do without them.
        """
        free = np.maximum(self.gains[~self.taken], 0)
        most = np.sort(free)[max(0, len(free) - n_cells) :]
        return served + min(float(most.sum()), float(self.left.sum()))


def serve_greedily(
    cube: Cube, repeats: CoverObjective, limits: Limits, n_cells: int, scope: Scope = OPEN
) -> tuple[Array, float]:
    """Return at most m cells, each the one that serves most, and a bound on the value of any m; of equals the first.

    It ends when no cell serves as many as ``repeats.least``. A cell that would break a limit is passed over.
    """
    served = Served(cube, repeats, scope)
    value, bound = repeats.value0, served.bound(repeats.value0, n_cells)
    if repeats.most is None and not limits.any:
        # Every time counts, so that no choice changes what another cell adds.
        order = _best_first(served, only=False)
        order = order[served.gains[order] >= repeats.least][:n_cells]
        return served.cells[order].astype(np.int64), bound
    lost = 0
    chosen: list[int] = []
    while len(chosen) < n_cells and len(served.cells):
        order = _best_first(served, only=not limits.any)
        order = order[served.gains[order] >= repeats.least]
        admitted = limits.admit(served.cells[order], 1)
        if len(admitted) == 0:
            break
        place = int(order[admitted[0]])
        served.taken[order[: admitted[0]]] = True
        chosen.append(int(served.cells[place]))
        value += served.take(place)
        lost += int(served.loses[place])
    if not limits.any:
        bound = min(bound, served.bound(value, n_cells))
    return np.array(chosen, dtype=np.int64), max(bound, value - lost)


def in_order_of_service(cube: Cube, repeats: CoverObjective, cells: Array) -> Array:
    """Return cells in the order in which they serve most, those that serve nobody any more last."""
    served = Served(cube, repeats)
    served.taken[:] = ~np.isin(served.cells, cells)
    order: list[int] = []
    while not served.taken.all():
        place = int(_best_first(served, only=True)[0])
        order.append(int(served.cells[place]))
        served.take(place)
    return np.array(order, dtype=np.int64)


def _best_first(served: Served, *, only: bool) -> Array:
    """Return the places of the cells that are free, the one that serves most first; of them the first one only."""
    gains = np.where(served.taken, TAKEN, served.gains)
    if only:
        place = int(np.argmax(gains))
        return np.array([place] if gains[place] > TAKEN else [], dtype=np.int64)
    order = np.argsort(-gains, kind="stable")
    return np.asarray(order[gains[order] > TAKEN])


# A value may be off by so much of itself, by rounding.
ROUNDING = 1e-12


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
        selection: see ``drop_unaffordable`` and ``without_dear``. The cost follows the members of the cells that stay.
        """
        from cube2net.kernels.reductions import alike, held, placed_homes, turned

        free = every or untouched_may_help(weights)
        cells = np.arange(len(cube.cells)) if every else find_candidates(cube, weights, at_least)
        cells = drop_forbidden_cells(cells, scope)
        tight = n_cells is not None and at_least > 0 and not free
        if tight and n_cells is not None:
            cells = drop_unaffordable(cube, weights, cells, at_least, n_cells)
        members, rows = cube.cells.members, (cube.object_cells.indptr, cube.object_cells.indices)
        objects = held(cells, members.indptr, members.indices, np.zeros(len(cube.objects), dtype=np.uint8))
        place = np.full(len(cube.cells), -1, dtype=np.int32)
        place[cells] = np.arange(len(cells), dtype=np.int32)
        group, first = alike(objects, *rows, place)
        homes = Ragged(*placed_homes(first, *rows, place))
        gain, cost = weights.at(objects)
        nodes = mark_new_nodes(cube, query, scope, objects)
        problem = cls(
            cells=cells,
            members=Ragged(*turned(homes.indptr, homes.indices, len(cells))),
            object_cells=homes,
            gain=np.bincount(group, weights=gain, minlength=len(first)),
            cost=np.bincount(group, weights=cost, minlength=len(first)),
            nodes=np.bincount(group, weights=nodes, minlength=len(first)),
            gain0=float(weights.gain0),
            cost0=float(weights.cost0),
            objects=objects,
            group=group,
        )
        return problem.without_dear(at_least) if tight else problem

    @cached_property
    def whole(self) -> Array:
        """The gain, the cost and the nodes of every cell by itself."""
        from cube2net.kernels.reductions import row_sums

        terms = np.column_stack([self.gain, self.cost, self.nodes])
        return row_sums(self.members.indptr, self.members.indices, terms)

    def without_dear(self, price: float) -> Problem:
        """Return the problem without cells that no best selection holds, where one is worth ``price`` or more.

        At the value λ of a best selection, what a chosen cell adds to Σ gain − λ·Σ cost is not below 0: else the
        selection without it were better. It adds at most what its objects pay (those worth more than 0, at λ or at the
        lower price), less what those take that no other cell is left to hold. All cells stay where those left would
        still have more than half of the memberships.
        """
        from cube2net.kernels.reductions import dear, row_sums

        worth = self.gain - price * (1.0 - ROUNDING) * self.cost
        rows = (self.members.indptr, self.members.indices)
        pays = row_sums(*rows, np.maximum(worth, 0.0)[:, None])[:, 0]
        out = dear(*rows, self.object_cells.indptr, self.object_cells.indices, worth, pays * (1.0 + ROUNDING))
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


def find_candidates(cube: Cube, weights: Weights, at_least: float = 0.0) -> Array:
    """Return the cells that hold an object which pays at a price, or all where even others may help."""
    from cube2net.kernels import coverage

    if untouched_may_help(weights):
        return np.arange(len(cube.cells))
    gain, cost = weights.at(weights.paying)
    worth = weights.paying[gain >= max(0.0, at_least) * (1.0 - ROUNDING) * cost]
    return np.asarray(coverage.touched(worth, cube.object_cells.indptr, cube.object_cells.indices, len(cube.cells)))


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
