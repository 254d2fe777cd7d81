"""What every method shares: checks, limits, pins and bans, and the evaluation of a selection.

Let P be the pinned objects and S a further choice. For a ratio of sums, the value of P ∪ S is again a ratio of sums,
(gain₀ + Σ gain(P) + Σ gain(S ∖ P)) / (cost₀ + Σ cost(P) + Σ cost(S ∖ P)): P goes into the constants, and its objects
weigh nothing any more. Where repeats count, P has held some objects already; a function is called with both. So
methods choose as they do without pins, and the bounds they prove hold for all selections that keep the pins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array, LazyRagged, Ragged, ragged_from_pairs, row_of_entries, take_rows
from cube2net._util.progress import Stopwatch
from cube2net.errors import InputError, ParameterError, QueryError, quote
from cube2net.model.cube import Cube
from cube2net.model.network import Form
from cube2net.model.node_names import Node, format_title
from cube2net.model.query import Query
from cube2net.model.selection import (
    OPEN,
    Budget,
    CallableObjective,
    CoverObjective,
    QueryObjective,
    Scope,
    Selection,
    Steering,
    Weights,
    get_function_name,
)
from cube2net.selection.objectives import Jaccard

ADVICE = (
    "use the method 'none', 'hops' or 'pagerank', a cube rolled up (roll_up), "
    "or one built with a smaller min_objects (min_objects=2)"
)


def check(cube: Cube, query: Query, weights: QueryObjective) -> None:
    """Raise unless the query and the weights fit the cube."""
    count = len(cube.objects)
    if int(query.objects[-1]) >= count:
        raise QueryError(f"query names row {int(query.objects[-1])}, and the cube has only {count:,} objects")
    if weights.count != count:
        raise InputError(f"the weights are for {weights.count:,} objects, and the cube has {count:,}")


def check_sums(weights: QueryObjective, method: str) -> Weights | CallableObjective:
    """Return the objective, or raise where it counts repeats, which most methods do not support."""
    if isinstance(weights, CoverObjective):
        raise ParameterError(
            f"the objective 'cover' counts how often an object is held, and the method {method!r} counts it once: "
            "use 'greedy' or 'exact', or another objective"
        )
    return weights


def find_selected_objects(cube: Cube, scope: Scope) -> Array:
    """Return the pinned objects and those of pinned cells, ascending."""
    if not len(scope.cells):
        return scope.objects
    objects = np.union1d(scope.objects, take_rows(cube.cells.members, scope.cells).indices)
    return objects if scope.forbidden_objects is None else objects[~scope.forbidden_objects[objects]]


def drop_forbidden_cells(cells: Array, scope: Scope) -> Array:
    """Return the cells that may be chosen, in their order."""
    return cells[np.isin(cells, scope.forbidden_cells, invert=True)] if len(scope.forbidden_cells) else cells


def mark_new_nodes(cube: Cube, query: Query, scope: Scope, objects: Array) -> Array:
    """Return 1.0 for each object that would add a node to the network, else 0.0."""
    present = np.isin(objects, query.objects, assume_unique=True)
    if len(scope.cells) or len(scope.objects):
        present |= np.isin(objects, find_selected_objects(cube, scope), assume_unique=True)
    if scope.forbidden_objects is not None:
        present |= scope.forbidden_objects[objects]
    return np.asarray(1.0 - present)


def compute_room(cube: Cube, query: Query, budget: Budget) -> float:
    """Return how many more objects fit into ``max_nodes``; negative where the pinned ones exceed it."""
    if budget.max_nodes is None:
        return math.inf
    selected = np.setdiff1d(find_selected_objects(cube, budget.scope), query.objects, assume_unique=True)
    return float(budget.max_nodes - len(query) - len(selected))


def find_target_objects(query: Query, objective: CallableObjective | CoverObjective) -> Array:
    """Return the objects whose cells are candidates where gains are unknown."""
    if isinstance(objective, CoverObjective):
        return objective.objects
    return query.objects if objective.about is None else objective.about


class Clock:
    """Counts down a time limit, without the time spent on compiling."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._watch = Stopwatch()

    @property
    def left(self) -> float:
        """The seconds left; negative when the time is over."""
        return self.seconds - self._watch.seconds

    def over(self) -> bool:
        """Return whether no time is left."""
        return self.left <= 0


class Limits:
    """Tracks ``max_nodes`` and ``max_links`` of a network that starts as the query and the pins, with their links.

    Objects and links never leave a growing network, so a cell that does not fit now never will.
    """

    def __init__(self, cube: Cube, query: Query, budget: Budget) -> None:
        scope = budget.scope
        self._pinned = len(scope.cells)
        self._m = budget.n_cells + self._pinned
        self.any = budget.max_nodes is not None or budget.max_links is not None
        if not self.any:
            return
        from cube2net.kernels.coverage import NO_LIMIT, bring

        self._cube = cube
        self._present = np.zeros(len(cube.objects), dtype=np.int8)
        self._nodes = NO_LIMIT if budget.max_nodes is None else budget.max_nodes
        self._links = NO_LIMIT if budget.max_links is None else budget.max_links
        links = cube.links
        if scope.forbidden_objects is not None:
            self._present[scope.forbidden_objects] = 2
            self._present[query.objects] = 0
        start = query.objects if scope.empty else np.union1d(query.objects, find_selected_objects(cube, scope))
        new, more = bring(start, self._present, links.indptr, links.indices, self._nodes, self._links)
        self._full = new < 0
        if not self._full:
            self._spend(new, more)

    def admit(self, cells: Array, want: int) -> Array:
        """Add the first ``want`` cells that fit, in the order given, and return their places."""
        if not self.any:
            return np.arange(min(want, len(cells)))
        if self._full:
            return np.arange(0)
        from cube2net.kernels.coverage import bring_first

        members, links = self._cube.cells.members, self._cube.links
        places, nodes, more = bring_first(
            cells,
            want,
            members.indptr,
            members.indices,
            self._present,
            links.indptr,
            links.indices,
            self._nodes,
            self._links,
        )
        self._spend(nodes, more)
        return np.asarray(places)

    def note(self, chosen: int, lacks: str) -> str:
        """Return why fewer than m cells were chosen, or an empty text; ``lacks`` is true of no other cell."""
        chosen += self._pinned
        if chosen >= self._m:
            return ""
        cells = "1 cell" if chosen == 1 else f"{chosen:,} cells"
        other = "other " if chosen else ""
        return f"{cells}, not {self._m:,}: no {other}cell {lacks}{' and fits the limits' if self.any else ''}"

    def _spend(self, nodes: int, links: int) -> None:
        from cube2net.kernels.coverage import NO_LIMIT

        self._nodes -= 0 if self._nodes == NO_LIMIT else nodes
        self._links -= 0 if self._links == NO_LIMIT else links


def explain_no_choice(cube: Cube, query: Query, weights: QueryObjective, scope: Scope = OPEN) -> Selection | None:
    """Return an empty selection with a note where no cell can help, else None.

    No cell can help where none holds an object with a positive gain, unless ``untouched_may_help``. Of a function
    nothing is known, so there the objects of the query count.
    """
    targets = weights.paying if isinstance(weights, Weights) else find_target_objects(query, weights)
    if len(take_rows(cube.object_cells, targets).indices):
        return None
    if isinstance(weights, Weights) and untouched_may_help(weights):
        return None
    if len(scope.cells):
        note = "no cell but those pinned holds an object that the objective gives a gain"
    elif len(take_rows(cube.object_cells, query.objects).indices):
        note = (
            "no cell holds an object that the objective gives a gain, so there is nothing to choose from: "
            "use another objective, or the method 'none'"
        )
    else:
        none = f"none of the {len(query):,} objects of the query is"
        who = "the 1 object of the query is not" if len(query) == 1 else none
        note = f"{who} in any cell, so there is nothing to choose from: {ADVICE}"
    nothing = np.empty(0, dtype=np.int32)
    return Selection(objects=nothing, value=weights.value(nothing), note=note)


def evaluate_cells(
    cube: Cube, weights: QueryObjective, cells: Array, best_prefix: bool = False, *, note: str = ""
) -> Selection:
    """Return the selection of cells in the order chosen, with the value of every prefix.

    ``best_prefix`` keeps the shortest prefix of the highest value, which may be empty. The note is dropped where the
    selection is cut.
    """
    cells = np.asarray(cells, dtype=np.int64)
    objects, rows, values = evaluate_prefixes(cube, weights, cells)
    kept = int(values.argmax()) if best_prefix else len(cells)
    return Selection(
        objects=objects if kept == len(cells) else objects[np.unique(rows.indices[: rows.indptr[kept]])],
        value=float(values[kept]),
        cells=cells[:kept],
        values=values[1 : kept + 1],
        note=note if kept == len(cells) else "",
    )


def evaluate_prefixes(cube: Cube, weights: QueryObjective, cells: Array) -> tuple[Array, Ragged, Array]:
    """Return the objects of cells, the places of each cell's objects among them, and the value of every prefix.

    The first value is that of no cells. In a lazy cube only the objects that ``cover`` counts are returned.
    """
    if isinstance(weights, CoverObjective) and isinstance(cube.object_cells, LazyRagged):
        members = _find_counted_members(cube, cells, weights)
    else:
        members = take_rows(cube.cells.members, cells)
    objects, place = np.unique(members.indices, return_inverse=True)
    rows = Ragged(members.indptr, place)
    if isinstance(weights, CallableObjective):
        return objects, rows, _call_on_prefixes(objects, rows, weights)
    if isinstance(weights, CoverObjective):
        return objects, rows, _count_prefix_repeats(objects, rows, weights)
    return objects, rows, _sum_prefixes(objects, rows, weights)


def _find_counted_members(cube: Cube, cells: Array, cover: CoverObjective) -> Ragged:
    objects = cover.objects
    object_cells = take_rows(cube.object_cells, objects)
    rank = np.full(len(cube.cells), -1)
    rank[cells] = np.arange(len(cells))
    chosen = rank[object_cells.indices]
    is_chosen = chosen >= 0
    return ragged_from_pairs(chosen[is_chosen], objects[row_of_entries(object_cells)[is_chosen]], len(cells))


def check_selection(selection: object, cube: Cube, method: str, budget: Budget | None = None) -> Selection:
    """Return what a method chose, or raise where it is not of this cube or breaks the pins and bans of the budget.

    Compiled code does not check its indices, so these must be valid.
    """
    if not isinstance(selection, Selection):
        raise InputError(f"the method {method!r} chose {quote(selection)}, expected a Selection")
    for what, rows, count in (
        ("object", selection.objects, len(cube.objects)),
        ("cell", selection.cells, len(cube.cells)),
    ):
        wrong = rows[(rows < 0) | (rows >= count)]
        if len(wrong):
            raise InputError(f"the method {method!r} chose {what} {int(wrong[0])}, and the cube has {count:,} {what}s")
    if budget is None or budget.scope.empty:
        return selection
    for cell in sorted(set(selection.cells.tolist()).intersection(budget.scope.forbidden_cells.tolist()))[:1]:
        how = "is pinned, and in already" if cell in budget.scope.cells else "is banned"
        raise InputError(
            f"the method {method!r} chose {format_title(cube, Node('cell', cell))}, which {how}: "
            "it has to leave out the cells of budget.scope.forbidden_cells"
        )
    if len(budget.scope.cells) and len(selection.cells) > budget.n_cells:
        raise InputError(
            f"the method {method!r} chose {len(selection.cells):,} cells, and beside those pinned there is room for "
            f"{budget.n_cells:,}: it has to choose budget.n_cells cells at most"
        )
    return selection


def untouched_may_help(weights: Weights) -> bool:
    """Return whether a cell without any positive gain could raise the value of some selection.

    It cannot when no cost exists or the numerator is never negative, and a positive numerator always has a cost.

    >>> untouched_may_help(Weights(gain=np.array([1.0, 0.0]), cost=np.array([0.0, 1.0]), cost0=1.0))
    False
    >>> untouched_may_help(Weights(gain=np.array([1.0, -2.0]), cost=np.array([0.0, 1.0]), cost0=1.0))
    True
    """
    gain, cost = weights.given
    rest = weights.count - len(gain)
    other_gain, other_cost = weights.others if rest else (0.0, 0.0)
    if not (bool(cost.any()) or other_cost > 0):
        return False
    below_zero = weights.gain0 + float(gain[gain < 0].sum()) + rest * min(other_gain, 0.0) < 0
    gains_free = bool((cost[gain > 0] == 0).any()) or (other_gain > 0 and other_cost == 0)
    free = weights.cost0 == 0 and (weights.gain0 > 0 or gains_free)
    return below_zero or free


def _sum_prefixes(objects: Array, rows: Ragged, weights: Weights) -> Array:
    from cube2net.kernels import coverage

    covers = np.zeros(len(objects), dtype=np.int32)
    gains, costs = coverage.grow(np.arange(len(rows)), rows.indptr, rows.indices, covers, *weights.at(objects))
    sums = zip(np.cumsum(gains).tolist(), np.cumsum(costs).tolist(), strict=True)
    return np.array([weights.ratio(0.0, 0.0)] + [weights.ratio(gain, cost) for gain, cost in sums])


def _call_on_prefixes(objects: Array, rows: Ragged, function: CallableObjective) -> Array:
    is_selected = np.zeros(len(objects), dtype=bool)
    values = [function.value(objects[is_selected])]
    for row in range(len(rows)):
        is_selected[rows[row]] = True
        values.append(function.value(objects[is_selected]))
    return np.array(values)


def _count_prefix_repeats(objects: Array, rows: Ragged, cover: CoverObjective) -> Array:
    place, is_counted = find_places(objects, cover.objects)
    left = np.zeros(len(objects), dtype=np.int64)
    left[place] = len(rows) if cover.most is None else cover.most
    if cover.most is not None and cover.held is not None:
        left[place] -= cover.held[is_counted]
    values = np.full(len(rows) + 1, cover.value0)
    for row in range(len(rows)):
        served = rows[row][left[rows[row]] > 0]
        left[served] -= 1
        values[row + 1] = values[row] + len(served)
    return values


def find_places(sorted_rows: Array, rows: Array) -> tuple[Array, Array]:
    """Return the places of those rows that are in an ascending list, and the mask of them."""
    if not len(sorted_rows):
        return np.empty(0, dtype=np.int64), np.zeros(len(rows), dtype=bool)
    place = np.minimum(np.searchsorted(sorted_rows, rows), len(sorted_rows) - 1)
    is_there = sorted_rows[place] == rows
    return place[is_there], is_there


def resolve_scope(cube: Cube, query: Query, steering: Steering, bringable: Array | None = None) -> Scope:
    """Return the selected and the forbidden cells and objects of a steering.

    ``bringable`` is a mask of the objects that may be selected; None allows all. Raises where the steering contradicts
    itself or the query. Pinning an object of the query changes nothing.
    """
    if not steering and bringable is None:
        return OPEN
    _check_consistency(cube, query, steering)
    objects = np.setdiff1d(np.array(steering.objects("pins"), dtype=np.int32), query.objects)
    banned = steering.objects("bans")
    forbidden = None
    if bringable is not None or banned:
        forbidden = np.zeros(len(cube.objects), dtype=bool) if bringable is None else ~bringable
        preferred = np.setdiff1d(np.array(steering.prefer, dtype=np.int32), query.objects)
        for rows, how, option in ((objects, "pinned", "the pin"), (preferred, "preferred", "the preference")):
            for row in rows[forbidden[rows]][:1]:
                raise ParameterError(
                    f"{_name_node(cube, Node('object', int(row)))} is {how}, and the view of the cube leaves it out: "
                    f"leave out {option}, or view the cube so that it holds it"
                )
        forbidden[banned] = True
        forbidden[query.objects] = False
    cells = steering.cells("pins")
    forbidden_cells = np.array(sorted([*cells, *steering.cells("bans")]), dtype=np.int32)
    return Scope(np.array(cells, dtype=np.int32), objects, forbidden_cells, forbidden)


def check_scope(
    cube: Cube, query: Query, scope: Scope, budget: Budget, form: Form, max_nodes: int | None, most: str = "n_cells"
) -> None:
    """Raise where the pins exceed a limit of the network; ``most`` names what limits the number of cells."""
    if len(scope.cells) > budget.n_cells:
        cells = "1 cell is" if len(scope.cells) == 1 else f"{len(scope.cells):,} cells are"
        leaves = f"{most} is {budget.n_cells:,}" if most == "n_cells" else f"{most} leaves room for {budget.n_cells:,}"
        raise ParameterError(f"{cells} pinned, and {leaves}: pin fewer, or raise {most}")
    unlimited = max_nodes is None and budget.max_links is None
    if unlimited or not (len(scope.cells) or len(scope.objects)):
        return
    objects = np.union1d(scope.objects, find_selected_objects(cube, scope)) if form.has_brought else scope.objects
    objects = np.setdiff1d(objects, query.objects)
    nodes = len(query) + len(objects) + (len(scope.cells) if form.has_cells else 0)
    counts = [("nodes", nodes, "max_nodes", max_nodes)]
    if budget.max_links is not None:
        from cube2net.kernels.coverage import NO_LIMIT, bring

        present = np.zeros(len(cube.objects), dtype=np.int8)
        together = np.concatenate([query.objects, objects])
        _, links = bring(together, present, cube.links.indptr, cube.links.indices, NO_LIMIT, NO_LIMIT - 1)
        counts.append(("links", links, "max_links", budget.max_links))
    for what, count, name, limit in counts:
        if limit is not None and count > limit:
            verb = "are" if what == "nodes" else "have"
            raise ParameterError(
                f"the query and what is pinned {verb} {count:,} {what}, and {name} is {limit:,}: "
                f"pin less, or raise {name}"
            )


def check_no_cells(cube: Cube, steering: Steering, method: str) -> None:
    """Raise where a steering refers to cells and the method chooses none."""
    for option, verb in (("pins", "pinned"), ("bans", "banned")):
        for cell in steering.cells(option):
            raise ParameterError(
                f"{format_title(cube, Node('cell', cell))} is {verb}, and the method {method!r} chooses no cells: "
                "pin and ban objects, or use a method that does, such as 'greedy'"
            )
    if steering.prefer:
        raise ParameterError(
            f"prefer says what cells are worth, and the method {method!r} chooses no cells: "
            "use a method that does, such as 'greedy'"
        )


def _check_consistency(cube: Cube, query: Query, steering: Steering) -> None:
    banned = set(steering.objects("bans"))
    excluded = np.array(sorted(banned), dtype=np.int64)
    in_query = set(excluded[np.isin(excluded, query.objects)].tolist())
    conflicts = [
        (set(steering.pins) & set(steering.bans), "is pinned and banned: it cannot be both"),
        *(
            ({Node("object", row) for row in rows}, why)
            for rows, why in (
                (banned & in_query, "is banned, and it is in the query: leave it out of one of them"),
                (set(steering.prefer) & banned, "is preferred and banned: leave it out of one of them"),
            )
        ),
    ]
    for nodes, why in conflicts:
        for node in sorted(nodes)[:1]:
            raise ParameterError(f"{_name_node(cube, node)} {why}")


def _name_node(cube: Cube, node: Node) -> str:
    title = format_title(cube, node)
    return title if node.is_cell else quote(title)


def exclude_forbidden(objective: QueryObjective, scope: Scope) -> QueryObjective:
    """Return an objective in which the forbidden objects of a scope weigh nothing."""
    if scope.forbidden_objects is None:
        return objective
    forbidden = np.flatnonzero(scope.forbidden_objects)
    if isinstance(objective, Weights):
        return objective.with_terms(forbidden, 0.0, 0.0)
    if isinstance(objective, CoverObjective):
        return replace(objective, objects=np.setdiff1d(objective.objects, forbidden, assume_unique=True))
    mask = scope.forbidden_objects
    return _compose(objective, lambda objects: objects[~mask[objects]])


@dataclass(frozen=True, eq=False)
class ResidualProblem:
    """What is left to choose once the pins are selected.

    ``objects`` are selected, and ``values`` the value after every pinned cell. ``objective`` values further choices,
    ``start`` all cells beside the pinned objects, and ``budget`` limits further choices.
    """

    objective: QueryObjective
    start: QueryObjective
    budget: Budget
    objects: Array
    values: Array

    @classmethod
    def of(cls, cube: Cube, objective: QueryObjective, budget: Budget) -> ResidualProblem:
        """Return what is left to choose within a budget, whose scope holds the pins."""
        scope = budget.scope
        start = _condition_on(objective, scope.objects, scope.objects)
        if not len(scope.cells):
            return cls(start, start, budget, scope.objects, np.empty(0))
        objects, rows, values = evaluate_prefixes(cube, start, scope.cells)
        members = objects[rows.indices] if isinstance(start, CoverObjective) else objects
        if scope.forbidden_objects is not None:
            objects = objects[~scope.forbidden_objects[objects]]
        rest = _condition_on(start, objects, members)
        rest_budget = replace(budget, n_cells=budget.n_cells - len(scope.cells))
        return cls(rest, start, rest_budget, np.union1d(objects, scope.objects), values[1:])

    @property
    def empty_value(self) -> float:
        """The value of no cells."""
        return self.start.value(np.empty(0, dtype=np.int64))

    def with_choice(self, chosen: Selection) -> Selection:
        """Return the selection of the pins followed by a further choice."""
        scope = self.budget.scope
        if scope.empty:
            return chosen
        objects, value = chosen.objects, chosen.value
        if scope.forbidden_objects is not None:
            objects = objects[~scope.forbidden_objects[objects]]
        if not len(chosen.cells) and len(chosen.objects):
            value = self.objective.value(objects)
        return replace(
            chosen,
            objects=np.union1d(self.objects, objects) if len(self.objects) else objects,
            value=value,
            cells=np.concatenate([scope.cells, chosen.cells]),
            values=np.concatenate([self.values, chosen.values]),
            bound=None if chosen.bound is None else max(chosen.bound, value),
        )


def make_surrogate(cube: Cube, query: Query, objective: Weights | CallableObjective, scope: Scope) -> Weights:
    """Return the weights to compare cells by: the objective's, or those of jaccard where it is a function."""
    if isinstance(objective, Weights):
        return objective
    jaccard = Jaccard().weigh(Query(find_target_objects(query, objective)), len(cube.objects))
    if scope.empty:
        return jaccard
    weights = exclude_forbidden(jaccard, scope)
    weights = _condition_on(weights, find_selected_objects(cube, scope), scope.objects)
    assert isinstance(weights, Weights)
    return weights


def _condition_on(objective: QueryObjective, selected: Array, members: Array) -> QueryObjective:
    """Return the value of further choices; ``members`` repeats the selected objects as often as they are held."""
    if not len(selected):
        return objective
    if isinstance(objective, Weights):
        gain, cost = objective.at(selected)
        return objective.with_terms(selected, 0.0, 0.0, more=(float(gain.sum()), float(cost.sum())))
    if isinstance(objective, CallableObjective):
        return _compose(objective, lambda objects: np.union1d(selected, objects))
    held = _count_held(objective.objects, members)
    value0 = objective.total(held)
    return replace(objective, held=held if objective.held is None else objective.held + held, value0=value0)


def _count_held(objects: Array, members: Array) -> Array:
    """Return how often each of some objects, ascending, is among the members of cells."""
    return np.bincount(find_places(objects, members)[0], minlength=len(objects))


def _compose(objective: CallableObjective, change: Callable[[Array], Array]) -> CallableObjective:
    """Return the function of the objects that ``change`` returns."""
    title = objective.title or get_function_name(objective.function)
    return replace(objective, function=lambda objects: objective.value(change(objects)), title=title)
