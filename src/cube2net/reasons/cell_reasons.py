"""What a cell is to a network: what it adds, whom it alone holds, and what its labels say of the query."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows
from cube2net.confidence import share_interval
from cube2net.reasons.choice_values import Choice
from cube2net.reasons.limits_left import does_not_fit
from cube2net.reasons.link_paths import named
from cube2net.records import Cells, Cube, Judge, Network, Query, Question, Repeats, Weights
from cube2net.records.cell_explanation import AddedCell, CellExplanation, Lift, OnlyObject, ValueAccount
from cube2net.records.explanation import number
from cube2net.records.lineage import is_picked
from cube2net.records.mixed_names import mixed_cell_of
from cube2net.records.node_names import CELL, Node

SHOWN_OBJECTS = 10
"""So many of the objects that one cell alone holds are named."""


def explain_cell(network: Network, question: Question, cell: int) -> CellExplanation:
    """Return what a cell is to a network."""
    cube, query, selection = question.cube, network.query, network.selection
    choice = Choice.of(question, selection.cells)
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
    banned = not chosen and cell in question.steering.cells("bans")
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
        lift=_lift("", "", cube.cells.members[cell], cube, query),
        label_lifts=label_lifts(cube, query, cell),
        only=len(only),
        only_query=int(own.sum()),
        only_first=tuple(
            OnlyObject(key, name, flag) for (key, name), flag in zip(named(cube, first), inside, strict=True)
        ),
        pinned=cell in choice.scope.cells,
        banned=banned,
        before=None if chosen or not chooses or isinstance(question.worth, Judge) else _before(choice, query, cell),
        why_not="" if chosen else _why_not(network, question, choice, cell, last, banned=banned),
    )


def account_of(network: Network, question: Question, *, chooses: bool = True) -> ValueAccount:
    """Return what every part of a network adds to its value; ``chooses`` says whether the method chooses cells."""
    selection, worth = network.selection, question.worth
    choice = Choice.of(question, selection.cells)
    judged = isinstance(worth, Judge)
    sums = choice.sums(selection.cells)
    pinned = choice.pinned_sums()
    gain = cost = 0.0
    if not len(selection.cells):
        others = np.setdiff1d(selection.objects, choice.scope.objects)
        if isinstance(worth, Weights):
            gain, cost = (float(terms.sum()) for terms in worth.at(others))
        elif isinstance(worth, Repeats):
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
        objective=question.objective,
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
        method=question.method,
        chooses_cells=chooses,
        brought=len(np.setdiff1d(network.objects, np.union1d(network.query.objects, choice.scope.objects))),
        pinned=len(np.setdiff1d(choice.scope.objects, network.query.objects)),
        picked=is_picked(question.whole),
        note=selection.note,
    )


def label_lifts(cube: Cube, query: Query, cell: int) -> tuple[Lift, ...]:
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
            held = [_holders(cells, parents[cells.labels[:, column]] == label) for cells in (cube.cells, cube.small)]
            level = dimension.levels[at]
            found.append(_lift(level.name, level.labels[label], np.concatenate(held), cube, query))
    return tuple(found)


def _holders(cells: Cells, chosen: Array) -> Array:
    """Return the members of all marked cells, an object as often as it is in one."""
    return take_rows(cells.members, np.flatnonzero(chosen)).indices


def _lift(dimension: str, label: str, members: Array, cube: Cube, query: Query) -> Lift:
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


def _before(choice: Choice, query: Query, cell: int) -> int:
    """Return how many other cells that may be chosen and hold an object of the query would add more than a cell."""
    free = np.zeros(len(choice.cube.cells), dtype=bool)
    free[take_rows(choice.cube.homes, query.objects).indices] = True
    free[choice.cells] = free[choice.scope.closed] = free[cell] = False
    values = choice.added(np.append(np.flatnonzero(free), cell))
    return int((values[:-1] > values[-1]).sum())


def _why_not(network: Network, question: Question, choice: Choice, cell: int, last: float, *, banned: bool) -> str:
    """Return why a cell is not chosen, as a part of a sentence."""
    if banned:
        return "being banned"
    if not len(choice.cells) and len(network.selection.objects):
        return f"for the method {question.method!r} chooses no cells"
    lacks = does_not_fit(network, question, choice, cell)
    if lacks:
        return f"for {lacks}"
    worth, count = question.worth, len(choice.cells)
    if isinstance(worth, Repeats) and last < worth.least:
        served = "" if question.steering.unlike else _served(choice, worth, cell, int(last))
        return f"for it would serve {number(last)} of the query{served}, and a cell has to serve {worth.least}"
    if count >= question.budget.m:
        turns = network.selection.gains(choice.value(choice.cells[:0]))
        least = f", and the last of them added {number(float(turns[-1]), signed=True)}" if count else ""
        return f"for m is {question.budget.m:,} and so many cells are{least}"
    return "for it would not raise the value" if last <= 0 else f"for the method {question.method!r} passed it over"


def _served(choice: Choice, worth: Repeats, cell: int, last: int) -> str:
    """Return how many of the query's objects in a cell are served already, in brackets; nothing where none is."""
    held = int(np.isin(choice.bring(np.array([cell])).indices, worth.objects).sum())
    if held <= last:
        return ""
    if held == 1:
        return " (the one that it holds is served already)"
    return f" ({f'{held - last:,}' if last else 'all'} of the {held:,} that it holds are served already)"
