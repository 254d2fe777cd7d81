"""What every method that chooses cells keeps to: a checked question, a budget's limits, a time, one kind of answer."""

from __future__ import annotations

import math

import numpy as np

from cube2net._util.arrays import Array, LazyRagged, Ragged, ragged_from_pairs, row_of_entries, take_rows
from cube2net._util.compiling import Stopwatch
from cube2net.errors import InputError, ParameterError, QueryError, quoted
from cube2net.model.cube import Cube
from cube2net.model.names import Node, title_of
from cube2net.model.query import Query
from cube2net.model.selection import (
    OPEN,
    Budget,
    CallableObjective,
    CoverObjective,
    QueryObjective,
    Scope,
    Selection,
    Weights,
)

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
    """Return a worth that a method can use which counts an object once; one that counts repeats is refused."""
    if isinstance(weights, CoverObjective):
        raise ParameterError(
            f"the objective 'cover' counts how often an object is held, and the method {method!r} counts it once: "
            "use 'greedy' or 'exact', or another objective"
        )
    return weights


def find_brought(cube: Cube, scope: Scope) -> Array:
    """Return the objects that are in before a method chooses, ascending: those pinned and those of cells pinned."""
    if not len(scope.cells):
        return scope.objects
    objects = np.unique(np.concatenate([scope.objects, take_rows(cube.cells.members, scope.cells).indices]))
    return objects if scope.forbidden_objects is None else objects[~scope.forbidden_objects[objects]]


def merge_sorted(first: Array, second: Array) -> Array:
    """Return what is in either of two ascending lists without repeats, ascending.

    >>> merge_sorted(np.array([1, 4]), np.array([2, 4, 5])).tolist()
    [1, 2, 4, 5]
    """
    both = np.sort(np.concatenate([first, second]), kind="stable")  # which joins two runs
    return both[np.append(True, both[1:] != both[:-1])] if len(both) else both


def drop_forbidden_cells(cells: Array, scope: Scope) -> Array:
    """Return those of some cells, ascending, that may be chosen."""
    if not len(scope.forbidden_cells) or not len(cells):
        return cells
    place = np.minimum(np.searchsorted(cells, scope.forbidden_cells), len(cells) - 1)
    return np.delete(cells, place[cells[place] == scope.forbidden_cells])


def mark_new_nodes(cube: Cube, query: Query, scope: Scope, objects: Array) -> Array:
    """Return 1.0 for each of some objects, ascending, that would be another node if it came in, and else 0.0."""
    known = np.isin(objects, query.objects, assume_unique=True)
    if len(scope.cells) or len(scope.objects):
        known |= np.isin(objects, find_brought(cube, scope), assume_unique=True)
    if scope.forbidden_objects is not None:
        known |= scope.forbidden_objects[objects]
    return np.asarray(1.0 - known)


def compute_room(cube: Cube, query: Query, budget: Budget) -> float:
    """Return how many further objects may be brought; below 0 where what is in already are too many."""
    if budget.max_nodes is None:
        return math.inf
    inside = np.setdiff1d(find_brought(cube, budget.scope), query.objects, assume_unique=True)
    return float(budget.max_nodes - len(query) - len(inside))


def find_wanted(query: Query, worth: CallableObjective | CoverObjective) -> Array:
    """Return the objects whose cells are looked at where nothing has a gain."""
    if isinstance(worth, CoverObjective):
        return worth.objects
    return query.objects if worth.about is None else worth.about


class Clock:
    """How many seconds are left, compiling aside; without a limit always as many."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._watch = Stopwatch()

    @property
    def left(self) -> float:
        """The seconds left; below 0 when the time is over."""
        return self.seconds - self._watch.seconds if math.isfinite(self.seconds) else math.inf

    def over(self) -> bool:
        """Return whether no time is left."""
        return self.left <= 0


class Limits:
    """What is left of ``max_nodes`` and ``max_links``; the network starts as the query and what is in, and their links.

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
        start = query.objects if scope.empty else np.union1d(query.objects, find_brought(cube, scope))
        new, more = bring(start, self._present, links.indptr, links.indices, self._nodes, self._links)
        self._full = new < 0
        if not self._full:
            self._spend(new, more)

    def admit(self, cells: Array, want: int) -> Array:
        """Return the places of the first ``want`` cells, in the order given, that fit; they are in from now on."""
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
        """Return the sentence for fewer cells than asked for: what every other cell lacks; no text where m were."""
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
    """Return the selection of no cells, with a note that says why, where no cell can help; else None.

    No cell can help where none holds an object with a positive gain (in the paper's objective: an object of the
    query), unless the weights are such that even then one may (``untouched_may_help``). Of a function nothing is
    known: there it is the objects of the query that count.
    """
    wanted = weights.paying if isinstance(weights, Weights) else find_wanted(query, weights)
    if len(take_rows(cube.object_cells, wanted).indices) or (
        isinstance(weights, Weights) and untouched_may_help(weights)
    ):
        return None
    homeless = not len(take_rows(cube.object_cells, query.objects).indices)
    who, advice = (
        "no cell holds an object that the objective gives a gain",
        "use another objective, or the method 'none'",
    )
    if homeless:
        none = f"none of the {len(query):,} objects of the query is"
        who = ("the 1 object of the query is not" if len(query) == 1 else none) + " in any cell"
        advice = ADVICE
    nothing = np.empty(0, dtype=np.int32)
    note = f"{who}, so there is nothing to choose from: {advice}"
    if len(scope.cells):
        note = "no cell but those pinned holds an object that the objective gives a gain"
    return Selection(objects=nothing, value=weights.value(nothing), note=note)


def outcome(cube: Cube, weights: QueryObjective, cells: Array, prefix: str = "all", *, note: str = "") -> Selection:
    """Return the selection of cells in the order chosen, with the value of every prefix.

    ``prefix="best"`` keeps the shortest prefix of the highest value; that may be no cell at all. The note stays
    where nothing is cut.
    """
    cells = np.asarray(cells, dtype=np.int64)
    objects, rows, values = evaluate_prefixes(cube, weights, cells)
    place = rows.indices
    kept = int(values.argmax()) if prefix == "best" else len(cells)
    return Selection(
        objects=objects if kept == len(cells) else objects[np.unique(place[: rows.indptr[kept]])],
        value=float(values[kept]),
        cells=cells[:kept],
        values=values[1 : kept + 1],
        note=note if kept == len(cells) else "",
    )


def evaluate_prefixes(cube: Cube, weights: QueryObjective, cells: Array) -> tuple[Array, Ragged, Array]:
    """Return the objects of cells, the places of each cell's among them, and the values of every prefix.

    These are the values of no cells, of the first one, of the first two, and so on. Where members of cells are computed
    only when they are used, the objects are those that repeats are counted of.
    """
    if isinstance(weights, CoverObjective) and isinstance(cube.object_cells, LazyRagged):
        members = _find_members_among(cube, cells, weights)
    else:
        members = take_rows(cube.cells.members, cells)
    objects, place = np.unique(members.indices, return_inverse=True)
    rows = Ragged(members.indptr, place)
    if isinstance(weights, CallableObjective):
        return objects, rows, _judge_prefixes(objects, rows, weights)
    if isinstance(weights, CoverObjective):
        return objects, rows, _count_prefix_repeats(objects, rows, weights)
    return objects, rows, _sum_prefixes(objects, rows, weights)


def _find_members_among(cube: Cube, cells: Array, repeats: CoverObjective) -> Ragged:
    """Return the members of some cells among the objects that repeats are counted of."""
    objects = repeats.objects if repeats.unlike is None else np.union1d(repeats.objects, repeats.unlike)
    homes = take_rows(cube.object_cells, objects)
    rank = np.full(len(cube.cells), -1)
    rank[cells] = np.arange(len(cells))
    chosen = rank[homes.indices]
    there = chosen >= 0
    return ragged_from_pairs(chosen[there], objects[row_of_entries(homes)[there]], len(cells))


def check_selection(given: object, cube: Cube, method: str, budget: Budget | None = None) -> Selection:
    """Return what a method chose; what is not of this cube is refused, as compiled code does not look where it ends.

    With the budget that it had, cells that it may not choose are refused too, and more than pins leave room for.
    """
    if not isinstance(given, Selection):
        raise InputError(f"the method {method!r} chose {quoted(given)}, expected a Selection")
    for what, rows, count in (("object", given.objects, len(cube.objects)), ("cell", given.cells, len(cube.cells))):
        wrong = rows[(rows < 0) | (rows >= count)]
        if len(wrong):
            raise InputError(f"the method {method!r} chose {what} {int(wrong[0])}, and the cube has {count:,} {what}s")
    if budget is None or budget.scope.empty:
        return given
    for cell in sorted(set(given.cells.tolist()).intersection(budget.scope.forbidden_cells.tolist()))[:1]:
        how = "is pinned, and in already" if cell in budget.scope.cells else "is banned"
        raise InputError(
            f"the method {method!r} chose {title_of(cube, Node('cell', cell))}, which {how}: "
            "it has to leave out the cells of budget.scope.forbidden_cells"
        )
    if len(budget.scope.cells) and len(given.cells) > budget.n_cells:
        raise InputError(
            f"the method {method!r} chose {len(given.cells):,} cells, and beside those pinned there is room for "
            f"{budget.n_cells:,}: it has to choose budget.n_cells cells at most"
        )
    return given


def untouched_may_help(weights: Weights) -> bool:
    """Return whether a cell without any positive gain could raise the value of some selection.

    It cannot when the sum above is never below 0 or nothing has a cost, and a positive sum above always
    has a cost below it.

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
    """Return the values of no cells, of the first, of the first two, …, by adding up what each one brings."""
    from cube2net.kernels import coverage

    covers = np.zeros(len(objects), dtype=np.int32)
    gains, costs = coverage.grow(np.arange(len(rows)), rows.indptr, rows.indices, covers, *weights.at(objects))
    sums = zip(np.cumsum(gains).tolist(), np.cumsum(costs).tolist(), strict=True)
    return np.array([weights.ratio(0.0, 0.0)] + [weights.ratio(gain, cost) for gain, cost in sums])


def _judge_prefixes(objects: Array, rows: Ragged, judge: CallableObjective) -> Array:
    """Return the values of no cells, of the first, of the first two, …, one call for each."""
    is_in = np.zeros(len(objects), dtype=bool)
    values = [judge.value(objects[is_in])]
    for row in range(len(rows)):
        is_in[rows[row]] = True
        values.append(judge.value(objects[is_in]))
    return np.array(values)


def _count_prefix_repeats(objects: Array, rows: Ragged, repeats: CoverObjective) -> Array:
    """Return the values of no cells, of the first, of the first two, …, by counting who is held once more."""
    place = np.searchsorted(objects, repeats.objects)
    known = place < len(objects)
    known[known] = objects[place[known]] == repeats.objects[known]
    left = np.zeros(len(objects), dtype=np.int64)
    left[place[known]] = len(rows) if repeats.most is None else repeats.most
    if repeats.most is not None and repeats.held is not None:
        left[place[known]] -= repeats.held[known]
    values = np.full(len(rows) + 1, repeats.value0)
    for row in range(len(rows)):
        held = rows[row]
        served = held[left[held] > 0]
        left[served] -= 1
        values[row + 1] = values[row] + len(served)
    if repeats.unlike is not None:
        lost = np.cumsum(np.isin(objects, repeats.unlike)[rows.indices])
        values -= np.append(0, lost)[rows.indptr]
    return values
