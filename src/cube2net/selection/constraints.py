"""What every method that chooses cells shares: checks, limits, pins and bans, and the evaluation of a selection.

Let P be what is in. The value of a further choice S is that of P and S together. For a ratio of sums that is a ratio of
sums again, (gain₀ + Σ gain(P) + Σ gain(S ∖ P)) / (cost₀ + Σ cost(P) + Σ cost(S ∖ P)): P goes into the constants, and
its objects weigh nothing any more. Where repeats are counted, P has held some already. A function is asked about
both together. So every method chooses as it does without pins, and every bound that it proves holds for all choices
that keep them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array, LazyRagged, Ragged, ragged_from_pairs, row_of_entries, take_rows
from cube2net._util.compiling import Stopwatch
from cube2net.errors import InputError, ParameterError, QueryError, quoted
from cube2net.model.cube import Cube
from cube2net.model.names import Node, title_of
from cube2net.model.network import Form
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
        self._m = budget.m + self._pinned
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
    if len(budget.scope.cells) and len(given.cells) > budget.m:
        raise InputError(
            f"the method {method!r} chose {len(given.cells):,} cells, and beside those pinned there is room for "
            f"{budget.m:,}: it has to choose budget.m cells at most"
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


def scope_of(cube: Cube, query: Query, steering: Steering, bringable: Array | None = None) -> Scope:
    """Return what a steering settles: what is in before a method chooses, and what may not come in.

    ``bringable`` marks the objects that may be brought at all; None is all of them. Raises, in one sentence that names
    it, where the steering is against itself or against the query. An object of the query is in as it is: pinning it
    changes nothing.
    """
    if not steering and bringable is None:
        return OPEN
    _check_apart(cube, query, steering)
    objects = np.array(steering.objects("pins"), dtype=np.int32)
    objects = np.setdiff1d(objects, query.objects) if len(objects) else objects
    banned = steering.objects("bans")
    forbidden = None
    if bringable is not None or banned:
        forbidden = np.zeros(len(cube.objects), dtype=bool) if bringable is None else ~bringable
        liked = np.setdiff1d(np.array(steering.like, dtype=np.int32), query.objects)
        for rows, how, what in ((objects, "pinned", "the pin"), (liked, "liked", "the like")):
            for row in rows[forbidden[rows]][:1]:
                raise ParameterError(
                    f"{_name_node(cube, Node('object', int(row)))} is {how}, and the view of the cube leaves it out: "
                    f"leave out {what}, or view the cube so that it holds it"
                )
        forbidden[banned] = True
        forbidden[query.objects] = False
    cells = steering.cells("pins")
    closed = np.array(sorted([*cells, *steering.cells("bans")]), dtype=np.int32)
    return Scope(
        cells=np.array(cells, dtype=np.int32), objects=objects, forbidden_cells=closed, forbidden_objects=forbidden
    )


def check_scope(
    cube: Cube, query: Query, scope: Scope, budget: Budget, form: Form, max_nodes: int | None, most: str = "m"
) -> None:
    """Raise, in one sentence that names it, where what is pinned does not fit what the network may hold.

    ``max_nodes`` is the network's, and ``most`` the name of what limits the number of cells.
    """
    if len(scope.cells) > budget.m:
        cells = "1 cell is" if len(scope.cells) == 1 else f"{len(scope.cells):,} cells are"
        leaves = f"{most} is {budget.m:,}" if most == "m" else f"{most} leaves room for {budget.m:,}"
        raise ParameterError(f"{cells} pinned, and {leaves}: pin fewer, or raise {most}")
    unlimited = max_nodes is None and budget.max_links is None
    if unlimited or not (len(scope.cells) or len(scope.objects)):
        return
    objects = np.union1d(scope.objects, find_brought(cube, scope)) if form.has_brought else scope.objects
    objects = np.setdiff1d(objects, query.objects)
    nodes = len(query) + len(objects) + (len(scope.cells) if form.has_cells else 0)
    if max_nodes is not None and nodes > max_nodes:
        raise ParameterError(
            f"the query and what is pinned are {nodes:,} nodes, and max_nodes is {max_nodes:,}: "
            "pin less, or raise max_nodes"
        )
    if budget.max_links is not None:
        from cube2net.kernels.coverage import NO_LIMIT, bring

        present = np.zeros(len(cube.objects), dtype=np.int8)
        together = np.concatenate([query.objects, objects])
        _, links = bring(together, present, cube.links.indptr, cube.links.indices, NO_LIMIT, NO_LIMIT - 1)
        if links > budget.max_links:
            raise ParameterError(
                f"the query and what is pinned have {links:,} links, and max_links is {budget.max_links:,}: "
                "pin less, or raise max_links"
            )


def check_no_cells(cube: Cube, steering: Steering, method: str) -> None:
    """Raise where a steering is about cells, and the method chooses none."""
    about = [("pinned", cell) for cell in steering.cells("pins")] + [
        ("banned", cell) for cell in steering.cells("bans")
    ]
    for what, cell in about:
        raise ParameterError(
            f"{title_of(cube, Node('cell', cell))} is {what}, and the method {method!r} chooses no cells: "
            "pin and ban objects, or use a method that does, such as 'greedy'"
        )
    for word in ("like", "unlike"):
        if getattr(steering, word):
            raise ParameterError(
                f"{word} says what cells are worth, and the method {method!r} chooses no cells: "
                "use a method that does, such as 'greedy'"
            )


def _check_apart(cube: Cube, query: Query, steering: Steering) -> None:
    """Raise where one thing is wanted in two ways that exclude each other."""
    pinned, banned = set(steering.objects("pins")), set(steering.objects("bans"))
    like, unlike = set(steering.like), set(steering.unlike)
    told = np.array(sorted(banned | unlike), dtype=np.int64)
    inside = set(told[np.isin(told, query.objects)].tolist()) if len(told) else set()
    _refuse(cube, set(steering.pins) & set(steering.bans), "is pinned and banned: it cannot be both")
    for rows, why in (
        (
            banned & inside,
            "is banned, and it is in the query, which always stays: leave it out of the query, or ask without it",
        ),
        (pinned & unlike, "is pinned and unliked: it cannot be both"),
        (like & unlike, "is liked and unliked: it cannot be both"),
        (like & banned, "is liked and banned: leave it out of one of them"),
        (unlike & inside, "is unliked, and it is in the query: leave it out of one of them"),
    ):
        _refuse(cube, {Node("object", int(row)) for row in rows}, why)


def _refuse(cube: Cube, nodes: set[Node], why: str) -> None:
    for node in sorted(nodes)[:1]:
        raise ParameterError(f"{_name_node(cube, node)} {why}")


def _name_node(cube: Cube, node: Node) -> str:
    title = title_of(cube, node)
    return title if node.is_cell else quoted(title)


# An unliked object weighs as so many others that are not in the query.
TIMES = 10.0


def guided(worth: QueryObjective, scope: Scope, unlike: Array) -> QueryObjective:
    """Return what choices are worth where some objects never come, and others are not liked (rows, ascending)."""
    forbidden = None if scope.forbidden_objects is None else np.flatnonzero(scope.forbidden_objects)
    if forbidden is not None and len(unlike):
        unlike = np.setdiff1d(unlike, forbidden, assume_unique=True)
    if isinstance(worth, Weights):
        if len(unlike):
            gain, cost = worth.at(unlike)
            worth = worth.with_terms(unlike, np.where((cost == 0) & (gain < 0), TIMES * gain, gain), TIMES * cost)
        return worth if forbidden is None else worth.with_terms(forbidden, 0.0, 0.0)
    if isinstance(worth, CoverObjective):
        if forbidden is not None:
            worth = replace(worth, objects=np.setdiff1d(worth.objects, forbidden, assume_unique=True))
        return replace(worth, unlike=unlike) if len(unlike) else worth
    if len(unlike):
        raise ParameterError(
            f"{worth.name} is a function of the objects, and unlike says what objects cost: "
            "leave unlike out, or use an objective that counts"
        )
    return worth if scope.forbidden_objects is None else _bar_objects(worth, scope.forbidden_objects)


@dataclass(frozen=True, eq=False)
class ResidualProblem:
    """A choice of which a part is made: what is in, and the question of what is left.

    ``objects`` are in, and ``values`` the value after every cell that is in. ``worth`` says what further choices are
    worth, ``start`` what all cells are worth beside the objects pinned, and ``budget`` how far further choices may go.
    """

    worth: QueryObjective
    start: QueryObjective
    budget: Budget
    objects: Array
    values: Array

    @classmethod
    def of(cls, cube: Cube, worth: QueryObjective, budget: Budget) -> ResidualProblem:
        """Return the question of what is left to choose within a budget, whose scope says what is in."""
        scope = budget.scope
        start = _weigh_beside(worth, scope.objects, scope.objects)
        if not len(scope.cells):
            return cls(start, start, budget, scope.objects, np.empty(0))
        inside, rows, values = evaluate_prefixes(cube, start, scope.cells)
        members = inside[rows.indices] if isinstance(start, CoverObjective) else inside
        if scope.forbidden_objects is not None:
            inside = inside[~scope.forbidden_objects[inside]]
        rest = _weigh_beside(start, inside, members)
        objects = merge_sorted(inside, scope.objects) if len(scope.objects) else inside
        return cls(rest, start, replace(budget, m=budget.m - len(scope.cells)), objects, values[1:])

    @property
    def empty_value(self) -> float:
        """What no cells are worth."""
        return self.start.value(np.empty(0, dtype=np.int64))

    def with_choice(self, chosen: Selection) -> Selection:
        """Return the selection of what is in and of what was chosen beside it, what is in first."""
        scope = self.budget.scope
        if scope.empty:
            return chosen
        objects, value = chosen.objects, chosen.value
        if scope.forbidden_objects is not None:
            objects = objects[~scope.forbidden_objects[objects]]
        if not len(chosen.cells) and len(chosen.objects):
            value = self.worth.value(objects)
        if len(self.objects):
            objects = merge_sorted(self.objects, objects)
        return replace(
            chosen,
            objects=objects,
            value=value,
            cells=np.concatenate([scope.cells, chosen.cells]),
            values=np.concatenate([self.values, chosen.values]),
            bound=None if chosen.bound is None else max(chosen.bound, value),
        )


def make_guide(cube: Cube, query: Query, worth: Weights | CallableObjective, scope: Scope) -> Weights:
    """Return what cells are compared by: the weights, or jaccard where a function says what they are worth."""
    if isinstance(worth, Weights):
        return worth
    jaccard = Jaccard().weigh(Query(find_wanted(query, worth)), len(cube.objects))
    if scope.empty:
        return jaccard
    weights = _weigh_beside(guided(jaccard, scope, scope.objects[:0]), find_brought(cube, scope), scope.objects)
    return weights if isinstance(weights, Weights) else jaccard


def _weigh_beside(worth: QueryObjective, inside: Array, members: Array) -> QueryObjective:
    """Return what further choices are worth beside some objects; ``members`` has them as often as they are held."""
    if not len(inside):
        return worth
    if isinstance(worth, Weights):
        gain, cost = worth.at(inside)
        return worth.with_terms(inside, 0.0, 0.0, more=(float(gain.sum()), float(cost.sum())))
    if isinstance(worth, CallableObjective):
        return _add_objects(worth, inside)
    held = _count_held(worth.objects, members)
    lost = 0 if worth.unlike is None else int(_count_held(worth.unlike, members).sum())
    value0 = worth.total(held) - lost
    return replace(worth, held=held if worth.held is None else worth.held + held, value0=value0)


def _count_held(objects: Array, members: Array) -> Array:
    """Return how often each of some objects, ascending, is among the members of cells."""
    if not len(objects):
        return np.zeros(0, dtype=np.int64)
    place = np.minimum(np.searchsorted(objects, members), len(objects) - 1)
    return np.bincount(place[objects[place] == members], minlength=len(objects))


def _bar_objects(judge: CallableObjective, forbidden: Array) -> CallableObjective:
    return replace(judge, function=lambda objects: judge.value(objects[~forbidden[objects]]), title=judge.called)


def _add_objects(judge: CallableObjective, inside: Array) -> CallableObjective:
    return replace(judge, function=lambda objects: judge.value(np.union1d(inside, objects)), title=judge.called)
