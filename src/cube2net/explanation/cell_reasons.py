"""The contribution of a cell to a network, the objects that only it holds, and the lift of its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net._util.arrays import Array, Ragged, compute_offsets, row_of_entries, take_rows
from cube2net._util.statistics import share_interval
from cube2net.model.cube import Cube, is_picked
from cube2net.model.explanation import AddedCell, CellExplanation, Lift, OnlyObject, ValueAccount, format_number
from cube2net.model.network import Network, RequestContext
from cube2net.model.node_names import CELL, Node, name_objects, resolve_cell
from cube2net.model.query import Query
from cube2net.model.selection import CallableObjective, CoverObjective, QueryObjective, Scope, Weights

MAX_SHOWN_OBJECTS = 10
"""Objects that are named of those that only a cell holds."""


def explain_cell(network: Network, context: RequestContext, cell: int) -> CellExplanation:
    """Return why a cell is selected in a network or not, and what it adds."""
    cube, query, selection = context.cube, network.query, network.selection
    choice = Choice.from_context(context, selection.cells)
    one = np.array([cell])
    chosen = cell in selection.cells
    nothing = choice.value(one[:0])
    others = choice.cells[choice.cells != cell]
    alone = choice.value(one) - nothing
    last = selection.value - choice.value(others) if chosen else choice.value(np.append(others, cell)) - selection.value
    at = int(np.flatnonzero(selection.cells == cell)[0]) if chosen else None
    objects = choice.bring(one).indices
    only = objects[~choice.mark_objects(others)[objects]]
    own = np.isin(only, query.objects)
    first = np.concatenate([only[own], only[~own]])[:MAX_SHOWN_OBJECTS]
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
    """Return what every part of a network adds to its value; ``chooses`` tells whether the method chooses cells."""
    selection, worth = network.selection, context.worth
    choice = Choice.from_context(context, selection.cells)
    is_function = isinstance(worth, CallableObjective)
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
            gain=None if is_function else more,
            cost=None if is_function else dearer,
            value=float(selection.values[at]),
            added=float(gains[at]),
        )
        for at, (new, more, dearer) in enumerate(rows)
    )
    return ValueAccount(
        objective=context.objective,
        value=selection.value,
        gain0=None if is_function else worth.gain0 if isinstance(worth, Weights) else 0.0,
        cost0=None if is_function else worth.cost0 if isinstance(worth, Weights) else 0.0,
        objects=len(choice.scope.objects if len(selection.cells) else selection.objects),
        pinned_gain=None if is_function else pinned[0][0],
        pinned_cost=None if is_function else pinned[0][1],
        pinned_cells_gain=None if is_function else pinned[1][0],
        pinned_cells_cost=None if is_function else pinned[1][1],
        gain=None if is_function else gain,
        cost=None if is_function else cost,
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
    """Return how much more often the objects of the query have each label of a cell than all objects.

    Labels are counted in all cells of the cube, or of the cube that its cells were picked from.
    """
    finest = cube.finest if cube.cells.merged else None
    own = resolve_cell(cube, Node(CELL, cell)) if finest is None else resolve_cell(finest, cube.cell(cell))
    cube = finest or cube
    lifts = []
    for column, (dimension, at, label) in enumerate(zip(cube.dimensions, own.levels, own.labels, strict=True)):
        if at is not None:
            parents = np.append(dimension.parents_at(at), -1)  # ∗ is part of no label
            members = [
                take_rows(cells.members, np.flatnonzero(parents[cells.labels[:, column]] == label)).indices
                for cells in (cube.cells, cube.small)
            ]
            level = dimension.levels[at]
            lifts.append(_compute_lift(level.name, level.labels[label], np.concatenate(members), cube, query))
    return tuple(lifts)


def _compute_lift(dimension: str, label: str, members: Array, cube: Cube, query: Query) -> Lift:
    mark = np.zeros(len(cube.objects), dtype=bool)
    mark[members] = True
    in_query, everyone = int(mark[query.objects].sum()), int(np.count_nonzero(mark))
    share = everyone / len(cube.objects)
    low, high = share_interval(in_query, len(query))
    return Lift(
        dimension=dimension,
        label=label,
        query=in_query,
        queried=len(query),
        everyone=everyone,
        objects=len(cube.objects),
        lift=in_query / len(query) / share if share else 0.0,
        low=low / share if share else 0.0,
        high=high / share if share else 0.0,
    )


def _count_better_cells(choice: Choice, query: Query, cell: int) -> int:
    """Return how many other cells that may be chosen and share an object with the query would add more."""
    free = np.zeros(len(choice.cube.cells), dtype=bool)
    free[take_rows(choice.cube.object_cells, query.objects).indices] = True
    free[choice.cells] = free[choice.scope.forbidden_cells] = free[cell] = False
    values = choice.evaluate_additions(np.append(np.flatnonzero(free), cell))
    return int((values[:-1] > values[-1]).sum())


def _explain_absence(
    network: Network, context: RequestContext, choice: Choice, cell: int, last: float, *, banned: bool
) -> str:
    """Return why a cell is not chosen, as part of a sentence."""
    if banned:
        return "it is banned"
    if not len(choice.cells) and len(network.selection.objects):
        return f"the method {context.method!r} chooses no cells"
    lacks = describe_exceeded_limit(network, context, choice, cell)
    if lacks:
        return lacks
    worth, count = context.worth, len(choice.cells)
    if isinstance(worth, CoverObjective) and last < worth.least:
        served = _describe_served(choice, worth, cell, int(last))
        return f"it would serve {format_number(last)} of the query{served}, and a cell has to serve {worth.least}"
    if count >= context.budget.n_cells:
        turns = network.selection.gains(choice.value(choice.cells[:0]))
        least = f", and the last cell added {format_number(float(turns[-1]), signed=True)}" if count else ""
        return f"n_cells is {context.budget.n_cells:,}{least}"
    return "it would not raise the value" if last <= 0 else f"the method {context.method!r} passed it over"


def _describe_served(choice: Choice, worth: CoverObjective, cell: int, last: int) -> str:
    """Return in brackets the number of the query's objects in a cell that are served already; empty if none is."""
    held = int(np.isin(choice.bring(np.array([cell])).indices, worth.objects).sum())
    if held <= last:
        return ""
    if held == 1:
        return " (the one that it contains is served already)"
    return f" ({f'{held - last:,}' if last else 'all'} of the {held:,} that it contains are served already)"


@dataclass(frozen=True, eq=False)
class AddedSums:
    """Sums of gains and costs of the pinned objects, and what each cell adds to them, one after the other.

    ``new`` is the number of objects that each cell is the first to bring.
    """

    gain: float
    cost: float
    gains: Array
    costs: Array
    new: Array


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen cells of a cube, its scope with pins and bans, and the objective."""

    cube: Cube
    worth: QueryObjective
    scope: Scope
    cells: Array

    @classmethod
    def from_context(cls, context: RequestContext, cells: Array) -> Choice:
        """Return the choice of some cells in the context of a request."""
        return cls(context.cube, context.worth, context.budget.scope, np.asarray(cells, dtype=np.int64))

    def bring(self, cells: Array) -> Ragged:
        """Return the allowed objects of each cell."""
        members = take_rows(self.cube.cells.members, np.asarray(cells, dtype=np.int64))
        if self.scope.forbidden_objects is None:
            return members
        allowed = ~self.scope.forbidden_objects[members.indices]
        return Ragged(compute_offsets(row_of_entries(members)[allowed], len(members)), members.indices[allowed])

    def value(self, cells: Array) -> float:
        """Return the value of some cells together with the pinned objects."""
        if isinstance(self.worth, CallableObjective):
            return self.worth.value(np.flatnonzero(self.mark_objects(cells)))
        sums = self.sums(cells)
        # Added in order, so that the parts of an account add up to the bit.
        gain, cost = sum(sums.gains.tolist(), sums.gain), sum(sums.costs.tolist(), sums.cost)
        return self.worth.ratio(gain, cost) if isinstance(self.worth, Weights) else gain

    def sums(self, cells: Array) -> AddedSums:
        """Return what each of some cells adds in this order."""
        rows, before = self.bring(cells), self.scope.objects
        objects, first, place = np.unique(
            np.concatenate([before, rows.indices]), return_index=True, return_inverse=True
        )
        first = first[first >= len(before)] - len(before)
        new, zeros = np.bincount(row_of_entries(rows)[first], minlength=len(rows)), np.zeros(len(rows))
        if isinstance(self.worth, CallableObjective):
            return AddedSums(0.0, 0.0, zeros, zeros, new)
        pinned, placed = place[: len(before)], Ragged(rows.indptr, place[len(before) :].astype(np.int32))
        if isinstance(self.worth, CoverObjective):
            gain, gains = _count_served(self.worth, objects, placed, pinned)
            return AddedSums(gain, 0.0, gains, zeros, new)
        from cube2net.kernels.coverage import grow

        covers = np.zeros(len(objects), dtype=np.int32)
        covers[pinned] = 1
        gains, costs = grow(np.arange(len(rows)), placed.indptr, placed.indices, covers, *self.worth.at(objects))
        gain, cost = (float(terms.sum()) for terms in self.worth.at(before))
        return AddedSums(gain, cost, gains, costs, new)

    def pinned_sums(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the gain and the cost of the pinned objects together, and what the pinned cells add to them."""
        if isinstance(self.worth, CallableObjective):
            return (0.0, 0.0), (0.0, 0.0)
        if isinstance(self.worth, CoverObjective):
            before = self.value(self.scope.cells[:0])
            return (before, 0.0), (self.value(self.scope.cells) - before, 0.0)
        own, objects = self.worth.at(self.scope.objects), np.unique(self.bring(self.scope.cells).indices)
        is_pinned = np.isin(objects, self.scope.objects)
        gain, cost = (np.where(is_pinned, 0.0, terms) for terms in self.worth.at(objects))
        return (float(own[0].sum()), float(own[1].sum())), (float(gain.sum()), float(cost.sum()))

    def mark_objects(self, cells: Array) -> Array:
        """Return a mask of the objects that some cells bring or that are pinned."""
        mark = np.zeros(len(self.cube.objects), dtype=bool)
        mark[self.scope.objects] = True
        mark[self.bring(cells).indices] = True
        return mark

    def evaluate_additions(self, candidates: Array) -> Array:
        """Return the value of all chosen cells with each of some others, up to rounding.

        A user's function is not called: its values are minus the number of objects that each cell would bring.
        """
        from cube2net.kernels.coverage import compute_residuals

        mark = self.mark_objects(self.cells)
        covers = (np.zeros_like(mark) if isinstance(self.worth, CoverObjective) else mark).astype(np.uint8)
        if self.scope.forbidden_objects is not None:
            covers[self.scope.forbidden_objects] = 1
        rows = (self.cube.cells.members.indptr, self.cube.cells.members.indices)
        gains, costs = compute_residuals(np.asarray(candidates, dtype=np.int64), *rows, covers, *self._list_terms())
        if isinstance(self.worth, CoverObjective):
            return np.asarray(self.value(self.cells) + gains)
        if isinstance(self.worth, CallableObjective):
            return np.asarray(-costs)
        gain, cost = (float(term.sum()) for term in self.worth.at(np.flatnonzero(mark)))
        above, below = self.worth.gain0 + gain + gains, self.worth.cost0 + cost + costs
        return np.asarray(np.divide(above, below, out=np.zeros(len(candidates)), where=below > 0))

    def _list_terms(self) -> tuple[Array, Array]:
        """Return the gain and the cost of every object if it is added, or held once more."""
        worth = self.worth
        if isinstance(worth, Weights):
            return worth.gain, worth.cost
        terms = np.zeros(worth.count)
        if isinstance(worth, CallableObjective):
            terms[:] = 1.0
            return terms, terms
        held = np.concatenate([self.scope.objects, self.bring(self.cells).indices])
        counts = np.bincount(held, minlength=worth.count)[worth.objects]
        terms[worth.objects if worth.most is None else worth.objects[counts < worth.most]] = 1.0
        return terms, terms


def _count_served(cover: CoverObjective, objects: Array, rows: Ragged, pinned: Array) -> tuple[float, Array]:
    """Return the number of objects that the pinned ones serve, and that each cell serves in order."""
    left = np.where(np.isin(objects, cover.objects), len(rows) + 1 if cover.most is None else cover.most, 0)

    def serve(members: Array) -> float:
        served = members[left[members] > 0]
        left[served] -= 1
        return float(len(served))

    return serve(pinned), np.array([serve(rows[row]) for row in range(len(rows))])


def describe_exceeded_limit(network: Network, context: RequestContext, choice: Choice, cell: int) -> str:
    """Return which limit on nodes or links one more cell would break; empty if it breaks none.

    All chosen objects count, whether the network keeps them or not.
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
    # A limit just below NO_LIMIT makes the kernel count links.
    _, count = bring(more, present, links.indptr, links.indices, NO_LIMIT, NO_LIMIT - 1)
    if budget.max_links is not None and count > budget.max_links:
        return f"with it there are {count:,} links, and max_links is {budget.max_links:,}"
    return ""
