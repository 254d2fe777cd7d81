"""What is asked, with nothing left open: every method by its name, and the defaults where nobody says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cube2net import network as networks
from cube2net.arguments import made, name_of
from cube2net.array_types import Array
from cube2net.cube import BOTH as BOTH
from cube2net.cube import FULL
from cube2net.cube import cuboid as cuboid
from cube2net.errors import ParameterError
from cube2net.interfaces import LinkObjective, Method, Objective, chooses_cells, counts_repeats
from cube2net.network_options import FORMS as FORMS
from cube2net.network_options import STEERING, Levels, NetworkOptions, Wanted
from cube2net.pipeline.queries import Asked, query_of
from cube2net.pipeline.worths import Valued, objective_of
from cube2net.records import Budget, Cube, Form, Node, Query, Steering
from cube2net.records.budget import PAPER_CELLS
from cube2net.records.node_names import OBJECT, node_of, title_of
from cube2net.records.query_tables import asked_of as listed_of
from cube2net.select import Anneal, Cover, Cube2net, Exact, Greedy, Random, check_no_cells, check_scope, scope_of

METHODS: dict[str, type[Method]] = {
    "none": networks.Nothing,
    "hops": networks.Hops,
    "pagerank": networks.PageRank,
    "steiner": networks.Steiner,
    "maxdisc": networks.MaxDisc,
    "random": Random,
    "greedy": Greedy,
    "anneal": Anneal,
    "exact": Exact,
    "cube2net": Cube2net,
}
"""Every method by its name, in the order in which one would teach them."""

WITH_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "hops 2": ("hops", {"hops": 2}),
    "cube2net paper": ("cube2net", {"preset": "paper"}),
}
"""Names that stand for a method with options, wherever a method is named."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A question with nothing left open.

    ``cube`` has the cells of the ``levels`` asked for, ``whole`` is the cube that was asked. ``budget`` is the
    method's. ``sized`` says that the query decides how many cells there are. ``options`` are those given, with the
    defaults of method, objective, form, levels and keep settled, and without steering. ``steering`` is what the user
    pinned, banned, liked and did not like, and ``unsteered`` the budget as it is without: pins may make fewer cells
    fit, or more.
    """

    cube: Cube
    query: Query
    method: Method
    objective: Objective | LinkObjective
    form: Form
    budget: Budget
    options: NetworkOptions
    sized: bool = False
    whole: Cube = field(kw_only=True)
    steering: Steering = field(default_factory=Steering, kw_only=True)
    unsteered: Budget = field(kw_only=True)

    @property
    def levels(self) -> Levels:
        """Which cells there are."""
        return self.options.levels or FULL

    @property
    def max_nodes(self) -> int | None:
        """The most nodes of the network, cells included."""
        return self.options.max_nodes

    @property
    def liked(self) -> Query:
        """The query with what is liked: by it choices are told what they are worth, and near objects what is near."""
        if not self.steering.like:
            return self.query
        return Query(np.union1d(self.query.objects, np.array(self.steering.like, dtype=np.int32)))

    @property
    def unlike(self) -> Array:
        """The rows of what is not liked, ascending."""
        return np.unique(np.array(self.steering.unlike, dtype=np.int32))


def plan_network(cube: Cube, query: Asked, options: NetworkOptions) -> Plan:
    """Return the plan of a network; see :func:`construct` for the options and their defaults."""
    asked = query_of(cube, query)
    method: Method = made(options.method, METHODS, Method, "method", {})
    kind = options.form or default_form(method)
    named = default_objective(method, kind) if options.objective is None else options.objective
    levels = options.levels
    if levels is None:
        levels = FULL if cube.cells.merged else default_levels(named, kind)
    view = cube if levels == FULL else cuboid(cube, levels)
    levels = FULL if levels == BOTH and view is cube else levels
    # Of cells at higher levels an object is in few, and large ones would be enough: there every time counts.
    objective = Cover(r=None) if named == "cover" and view.cells.merged else objective_of(named)
    keep = "linked" if options.keep is None and isinstance(objective, LinkObjective) else options.keep
    settled: dict[str, Any] = {"method": method, "objective": objective, "form": kind, "levels": levels, "keep": keep}
    given, options = options, replace(options, **settled | dict.fromkeys(STEERING, ()))
    form = networks.make_form(options)
    if form.has_cells and options.max_links is not None:
        raise ParameterError(f"max_links limits the form 'objects', got the form {kind!r}: limit max_nodes instead")
    sized = options.m is None and isinstance(objective, Cover)
    most = (len(asked) if sized else PAPER_CELLS) if options.m is None else options.m
    max_objects = options.max_nodes
    if options.max_nodes is not None and not form.has_brought:
        most, max_objects = min(most, max(0, options.max_nodes - len(asked))), None
    budget = Budget(m=most, max_nodes=max_objects, max_links=options.max_links, prefix=options.prefix)
    free = Plan(view, asked, method, objective, form, budget, options, sized, whole=cube, unsteered=budget)
    return steered(free, steering_of(view, given))


def steered(plan: Plan, steering: Steering) -> Plan:
    """Return the plan under another steering, everything else as it was; what cannot be kept is refused.

    Without a number of cells asked for there are at least as many as are pinned.
    """
    view, query, budget, m = plan.cube, plan.query, plan.unsteered, plan.options.m
    method = name_of(plan.method, METHODS)
    if not chooses_cells(plan.method):
        check_no_cells(view, steering, method)
    scope = scope_of(view, query, steering, view.bringable)
    limited = plan.max_nodes is not None and not plan.form.has_brought
    if m is None and len(scope.cells) > budget.m and not limited:
        budget = replace(budget, m=len(scope.cells))
    elif limited and plan.max_nodes is not None and len(scope.objects):
        budget = replace(budget, m=max(0, min(budget.m, plan.max_nodes - len(query) - len(scope.objects))))
    fewer = limited and (m is None or budget.m < m)
    check_scope(view, query, scope, budget, plan.form, plan.max_nodes, most="max_nodes" if fewer else "m")
    return replace(plan, budget=replace(budget, scope=scope), steering=steering)


def steering_of(cube: Cube, options: NetworkOptions) -> Steering:
    """Return the steering that options mean, in the cells of a cube."""
    return Steering(
        pins=tuple(node_of(cube, thing) for thing in several(options.pins)),
        bans=tuple(node_of(cube, thing) for thing in several(options.bans)),
        like=tuple(_liked(cube, "like", thing) for thing in several(options.like)),
        unlike=tuple(_liked(cube, "unlike", thing) for thing in several(options.unlike)),
    )


def several(things: Wanted) -> list[Any]:
    """Return the things that a caller gave, one by itself among them; frames and series list them as for a query.

    >>> several(np.int64(7)), several(np.array([[1, 2]])), several({"id": [5], "name": ["x"]})
    ([7], [[1, 2]], ['5'])
    """
    if things is None:
        return []
    if isinstance(things, str | Node):
        return [things]
    if isinstance(things, Query):
        return [Node(OBJECT, row) for row in things.objects.tolist()]
    found = things.tolist() if isinstance(things, np.ndarray | np.generic) else listed_of(things, texts=True)[0]
    return list(found) if isinstance(found, Iterable) and not isinstance(found, str) else [found]


def _liked(cube: Cube, word: str, thing: Any) -> int:
    node = node_of(cube, thing)
    if node.is_cell:
        raise ParameterError(f"{word} takes objects, and {title_of(cube, node)} is a cell: pin it or ban it")
    return node.number


def default_form(method: Method) -> str:
    """Return the form of a method's network where nobody says: woven, or the paper's where cells are not chosen."""
    paper = isinstance(method, Cube2net) and method.preset != "default"
    return "woven" if chooses_cells(method) and not paper else "objects"


def default_levels(objective: Valued, form: str) -> str:
    """Return which cells there are where nobody says: with those of one label where cells are nodes that cover."""
    covers = objective == "cover" or isinstance(objective, Cover)
    return BOTH if covers and form in ("cells", "woven") else FULL


def default_objective(method: Method, form: str | None = None) -> str:
    """Return what a choice is worth where nobody says: cover where cells are nodes and the method counts repeats.

    Without a form it is that of the method's default form.
    """
    kind = form or default_form(method)
    return "cover" if kind in ("cells", "woven") and counts_repeats(method) else "jaccard"
