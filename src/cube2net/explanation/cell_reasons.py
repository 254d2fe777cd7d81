"""What a cell adds to a network, which objects only it holds, and what its labels say of the query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net._util.arrays import Array, Ragged, row_of_entries, take_rows
from cube2net._util.statistics import share_interval
from cube2net.explanation.link_evidence import name_objects
from cube2net.model.cube import Cells, Cube, is_picked
from cube2net.model.explanation import AddedCell, CellExplanation, Lift, OnlyObject, ValueAccount, number
from cube2net.model.names import CELL, Node, mixed_cell_of
from cube2net.model.network import Network, RequestContext
from cube2net.model.query import Query
from cube2net.model.selection import CallableObjective, CoverObjective, QueryObjective, Scope, Weights

SHOWN_OBJECTS = 10
"""So many of the objects that one cell alone holds are name_objects."""


def explain_cell(network: Network, context: RequestContext, cell: int) -> CellExplanation:
    """Return what a cell is to a network."""
    cube, query, selection = context.cube, network.query, network.selection
    choice = Choice.from_context(context, selection.cells)
    one = np.array([cell])
    chosen = cell in selection.cells
    nothing = choice.value(one[:0])
    others = choice.others(cell)
    alone = choice.value(one) - nothing
    last = selection.value - choice.value(others) if chosen else choice.value(np.append(others, cell)) - selection.value
    at = int(np.flatnonzero(selection.cells == cell)[0]) if chosen else None
    objects = choice.bring(one).indices
    only = objects[~choice.there(others)[objects]]
    own = np.isin(only, query.objects)
    first = np.concatenate([only[own], only[~own]])[:SHOWN_OBJECTS]
    inside = np.isin(first, query.objects).tolist()
    chooses = len(selection.cells) > 0 or not len(selection.objects)
    banned = not chosen and cell in context.steering.cells("bans")
    return CellExplanation(
        number=cell,
        labels=cube.cell(cell),
        chosen=chosen,
        rank=None if at is None else at + 1,
        chosen_cells=len(selection.cells),
        value=selection.value,
        in_turn=None if at is None else float(selection.gains(nothing)[at]),
        alone=alone,
        last=last,
        objects=len(objects),
        query_objects=int(np.isin(objects, query.objects).sum()),
        queried=len(query),
        lift=_compute_lift("", "", cube.cells.members[cell], cube, query),
        label_lifts=compute_label_lifts(cube, query, cell),
        only=len(only),
        only_query=int(own.sum()),
        only_first=tuple(
            OnlyObject(key, name, flag) for (key, name), flag in zip(name_objects(cube, first), inside, strict=True)
        ),
        pinned=cell in choice.scope.cells,
        banned=banned,
        before=None
        if chosen or not chooses or isinstance(context.worth, CallableObjective)
        else _count_better_cells(choice, query, cell),
        why_not="" if chosen else _explain_absence(network, context, choice, cell, last, banned=banned),
    )


def compute_account(network: Network, context: RequestContext, *, chooses: bool = True) -> ValueAccount:
    """Return what every part of a network adds to its value; ``chooses`` says whether the method chooses cells."""
    selection, worth = network.selection, context.worth
    choice = Choice.from_context(context, selection.cells)
    judged = isinstance(worth, CallableObjective)
    sums = choice.sums(selection.cells)
    pinned = choice.pinned_sums()
    gain = cost = 0.0
    if not len(selection.cells):
        others = np.setdiff1d(selection.objects, choice.scope.objects)
        if isinstance(worth, Weights):
            gain, cost = (float(terms.sum()) for terms in worth.at(others))
        elif isinstance(worth, CoverObjective):
            gain = worth.value(others)
    gains = selection.gains(choice.value(selection.cells[:0])) if len(selection.cells) else selection.values
    rows = zip(sums.new.tolist(), sums.gains.tolist(), sums.costs.tolist(), strict=True)
    cells = tuple(
        AddedCell(
            rank=at + 1,
            number=int(selection.cells[at]),
            labels=network.labels[at],
            pinned=at < len(choice.scope.cells),
            new_objects=new,
            gain=None if judged else more,
            cost=None if judged else dearer,
            value=float(selection.values[at]),
            added=float(gains[at]),
        )
        for at, (new, more, dearer) in enumerate(rows)
    )
    return ValueAccount(
        objective=context.objective,
        value=selection.value,
        gain0=None if judged else worth.gain0 if isinstance(worth, Weights) else 0.0,
        cost0=None if judged else worth.cost0 if isinstance(worth, Weights) else 0.0,
        objects=len(choice.scope.objects if len(selection.cells) else selection.objects),
        pinned_gain=None if judged else pinned[0][0],
        pinned_cost=None if judged else pinned[0][1],
        pinned_cells_gain=None if judged else pinned[1][0],
        pinned_cells_cost=None if judged else pinned[1][1],
        gain=None if judged else gain,
        cost=None if judged else cost,
        cells=cells,
        ratio=isinstance(worth, Weights),
        method=context.method,
        chooses_cells=chooses,
        brought=len(np.setdiff1d(network.objects, np.union1d(network.query.objects, choice.scope.objects))),
        pinned=len(np.setdiff1d(choice.scope.objects, network.query.objects)),
        picked=is_picked(context.whole),
        note=selection.note,
    )


def compute_label_lifts(cube: Cube, query: Query, cell: int) -> tuple[Lift, ...]:
    """Return how much more often the query has each label of a cell than all objects; of ∗ nothing is said.

    Who has a label is counted in all cells of the cube; where only some of its cells were picked, in all of the cube
    that they were picked from.
    """
    whole = cube.finest if cube.cells.merged else None
    own = mixed_cell_of(cube, Node(CELL, cell)) if whole is None else mixed_cell_of(whole, cube.cell(cell))
    cube = whole or cube
    found = []
    for column, (dimension, at, label) in enumerate(zip(cube.dimensions, own.levels, own.labels, strict=True)):
        if at is not None:
            parents = np.append(dimension.parents_at(at), -1)  # ∗ is part of no label
            held = [
                _collect_members(cells, parents[cells.labels[:, column]] == label) for cells in (cube.cells, cube.small)
            ]
            level = dimension.levels[at]
            found.append(_compute_lift(level.name, level.labels[label], np.concatenate(held), cube, query))
    return tuple(found)


def _collect_members(cells: Cells, chosen: Array) -> Array:
    """Return the members of all marked cells, an object as often as it is in one."""
    return take_rows(cells.members, np.flatnonzero(chosen)).indices


def _compute_lift(dimension: str, label: str, members: Array, cube: Cube, query: Query) -> Lift:
    mark = np.zeros(len(cube.objects), dtype=bool)
    mark[members] = True
    found, everyone = int(mark[query.objects].sum()), int(np.count_nonzero(mark))
    share = everyone / len(cube.objects)
    low, high = share_interval(found, len(query))
    return Lift(
        dimension=dimension,
        label=label,
        query=found,
        queried=len(query),
        everyone=everyone,
        objects=len(cube.objects),
        lift=found / len(query) / share if share else 0.0,
        low=low / share if share else 0.0,
        high=high / share if share else 0.0,
    )


def _count_better_cells(choice: Choice, query: Query, cell: int) -> int:
    """Return how many other cells that may be chosen and hold an object of the query would add more than a cell."""
    free = np.zeros(len(choice.cube.cells), dtype=bool)
    free[take_rows(choice.cube.object_cells, query.objects).indices] = True
    free[choice.cells] = free[choice.scope.forbidden_cells] = free[cell] = False
    values = choice.added(np.append(np.flatnonzero(free), cell))
    return int((values[:-1] > values[-1]).sum())


def _explain_absence(
    network: Network, context: RequestContext, choice: Choice, cell: int, last: float, *, banned: bool
) -> str:
    """Return why a cell is not chosen, as a part of a sentence."""
    if banned:
        return "being banned"
    if not len(choice.cells) and len(network.selection.objects):
        return f"for the method {context.method!r} chooses no cells"
    lacks = describe_exceeded_limit(network, context, choice, cell)
    if lacks:
        return f"for {lacks}"
    worth, count = context.worth, len(choice.cells)
    if isinstance(worth, CoverObjective) and last < worth.least:
        served = "" if context.steering.avoid else _describe_served(choice, worth, cell, int(last))
        return f"for it would serve {number(last)} of the query{served}, and a cell has to serve {worth.least}"
    if count >= context.budget.n_cells:
        turns = network.selection.gains(choice.value(choice.cells[:0]))
        least = f", and the last of them added {number(float(turns[-1]), signed=True)}" if count else ""
        return f"for n_cells is {context.budget.n_cells:,} and so many cells are{least}"
    return "for it would not raise the value" if last <= 0 else f"for the method {context.method!r} passed it over"


def _describe_served(choice: Choice, worth: CoverObjective, cell: int, last: int) -> str:
    """Return how many of the query's objects in a cell are served already, in brackets; nothing where none is."""
    held = int(np.isin(choice.bring(np.array([cell])).indices, worth.objects).sum())
    if held <= last:
        return ""
    if held == 1:
        return " (the one that it holds is served already)"
    return f" ({f'{held - last:,}' if last else 'all'} of the {held:,} that it holds are served already)"


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
    worth: QueryObjective
    scope: Scope
    cells: Array

    @classmethod
    def from_context(cls, context: RequestContext, cells: Array) -> Choice:
        """Return the choice of some cells under a question."""
        return cls(context.cube, context.worth, context.budget.scope, np.asarray(cells, dtype=np.int64))

    def bring(self, cells: Array) -> Ragged:
        """Return the objects that each of some cells can bring."""
        held = take_rows(self.cube.cells.members, np.asarray(cells, dtype=np.int64))
        if self.scope.forbidden_objects is None:
            return held
        stays = ~self.scope.forbidden_objects[held.indices]
        counts = np.bincount(row_of_entries(held)[stays], minlength=len(held))
        return Ragged(np.concatenate([[0], np.cumsum(counts)]), held.indices[stays])

    def value(self, cells: Array) -> float:
        """Return what some cells are worth, with the objects that are pinned."""
        if isinstance(self.worth, CallableObjective):
            return self.worth.value(np.flatnonzero(self.there(cells)))
        if isinstance(self.worth, CoverObjective):
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
        if isinstance(self.worth, CallableObjective):
            return AddedSums(0.0, 0.0, np.zeros(len(rows)), np.zeros(len(rows)), new)
        if isinstance(self.worth, CoverObjective):
            gain, gains = _count_served(self.worth, objects, placed, place[: len(before)])
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
        if isinstance(self.worth, CallableObjective):
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

    def _lost(self, repeats: CoverObjective, cells: Array) -> int:
        """Return how often some cells and pins hold an object that is avoided."""
        return 0 if repeats.avoid is None else int(self._times(repeats.avoid, cells).sum())

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
        covers = (np.zeros(len(there), dtype=bool) if isinstance(self.worth, CoverObjective) else there).astype(
            np.uint8
        )
        if self.scope.forbidden_objects is not None:
            covers[self.scope.forbidden_objects] = 1
        terms = self._terms(self.worth)
        rows = (self.cube.cells.members.indptr, self.cube.cells.members.indices)
        gains, costs = residuals(np.asarray(candidates, dtype=np.int64), *rows, covers, *terms)
        if isinstance(self.worth, CoverObjective):
            return np.asarray(self.value(self.cells) + gains)
        if isinstance(self.worth, CallableObjective):
            return np.asarray(-costs)
        gain, cost = (float(term.sum()) for term in self.worth.at(np.flatnonzero(there)))
        above, below = self.worth.gain0 + gain + gains, self.worth.cost0 + cost + costs
        return np.asarray(np.divide(above, below, out=np.zeros(len(candidates)), where=below > 0))

    def _terms(self, worth: QueryObjective) -> tuple[Array, Array]:
        """Return what every object would add above and below if it came in, or was held once more, now."""
        if isinstance(worth, Weights):
            return worth.gain, worth.cost
        if isinstance(worth, CallableObjective):
            ones = np.ones(worth.count)
            return ones, ones
        serves = np.zeros(worth.count)
        times = self._times(worth.objects, self.cells)
        serves[worth.objects if worth.most is None else worth.objects[times < worth.most]] = 1.0
        if worth.avoid is not None:
            serves[worth.avoid] -= 1.0
        return serves, serves


def _count_served(repeats: CoverObjective, objects: Array, rows: Ragged, before: Array) -> tuple[float, Array]:
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
    loses = np.isin(objects, [] if repeats.avoid is None else repeats.avoid)
    lost = [int(loses[rows[row]].sum()) for row in range(len(rows))]
    return float(len(first) - loses[before].sum()), served - np.array(lost, dtype=np.float64)


def describe_exceeded_limit(network: Network, context: RequestContext, choice: Choice, cell: int) -> str:
    """Return which limit on nodes and links a network would break with one more cell, and nothing where it breaks none.

    Objects count as they are chosen, whether the network keeps them or not.
    """
    budget = context.budget
    if budget.max_nodes is None and budget.max_links is None:
        return ""
    from cube2net.kernels.coverage import NO_LIMIT, bring

    links = context.cube.links
    inside = np.union1d(network.query.objects, np.union1d(choice.scope.objects, choice.bring(choice.cells).indices))
    more = np.union1d(inside, choice.bring(np.array([cell])).indices)
    if budget.max_nodes is not None and len(more) > budget.max_nodes:
        return f"with it there are {len(more):,} objects, and max_nodes is {budget.max_nodes:,}"
    present = np.zeros(len(context.cube.objects), dtype=np.int8)
    # One below no limit at all, so that links are counted.
    _, count = bring(more, present, links.indptr, links.indices, NO_LIMIT, NO_LIMIT - 1)
    if budget.max_links is not None and count > budget.max_links:
        return f"with it there are {count:,} links, and max_links is {budget.max_links:,}"
    return ""
