"""What a user pins, bans, likes and unlikes: what is in before a method chooses, and the question that is left.

Let P be what is in. The value of a further choice S is that of P and S together. For a ratio of sums that is a ratio of
sums again, (gain₀ + Σ gain(P) + Σ gain(S ∖ P)) / (cost₀ + Σ cost(P) + Σ cost(S ∖ P)): P goes into the constants, and
its objects weigh nothing any more. Where repeats are counted, P has held some already. A function is asked about
both together. So every method chooses as it does without pins, and every bound that it proves holds for all choices
that keep them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError, quoted
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
from cube2net.selection.contract import evaluate_prefixes, find_brought, find_wanted, merge_sorted
from cube2net.selection.objectives import Jaccard


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
    cube: Cube, query: Query, scope: Scope, budget: Budget, form: Form, max_nodes: int | None, most: str = "n_cells"
) -> None:
    """Raise, in one sentence that names it, where what is pinned does not fit what the network may hold.

    ``max_nodes`` is the network's, and ``most`` the name of what limits the number of cells.
    """
    if len(scope.cells) > budget.n_cells:
        cells = "1 cell is" if len(scope.cells) == 1 else f"{len(scope.cells):,} cells are"
        leaves = f"{most} is {budget.n_cells:,}" if most == "n_cells" else f"{most} leaves room for {budget.n_cells:,}"
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
        return cls(rest, start, replace(budget, n_cells=budget.n_cells - len(scope.cells)), objects, values[1:])

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
