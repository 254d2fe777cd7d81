"""Turn the options of a network into a plan, with defaults resolved, and describe plans as recipes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cube2net import __version__
from cube2net._util.arrays import Array
from cube2net.api.query import Asked, resolve_query
from cube2net.cube.cuboids import BOTH, FULL, cuboid
from cube2net.errors import InputError, ParameterError, QueryError, quote
from cube2net.model.cube import Cube, get_lineage
from cube2net.model.interfaces import (
    LinkObjective,
    Method,
    Objective,
    Registry,
    chooses_cells,
    counts_repeats,
    find_name,
    list_options,
    make_object,
)
from cube2net.model.network import Form, Network, network_fingerprint
from cube2net.model.node_names import CELL, OBJECT, Node, format_title, resolve_node
from cube2net.model.query import Query
from cube2net.model.query import parse_query as listed_of
from cube2net.model.recipe import FORMAT, Recipe
from cube2net.model.selection import (
    PAPER_CELLS,
    Budget,
    CallableObjective,
    CoverObjective,
    QueryObjective,
    Steering,
    Weights,
    get_function_name,
)
from cube2net.network.assembly import make_form
from cube2net.network.hops import Hops, Nothing
from cube2net.network.maxdisc import MaxDisc
from cube2net.network.pagerank import PageRank, compute_scores
from cube2net.network.steiner import Steiner
from cube2net.options import OPTIONS, STEERING, Levels, NetworkOptions, Wanted
from cube2net.selection.anneal import Anneal
from cube2net.selection.constraints import check_no_cells, check_scope, resolve_scope
from cube2net.selection.exact import Exact
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import OBJECTIVES, Cover, CustomObjective
from cube2net.selection.random import Random
from cube2net.selection.rl.cube2net import Cube2net

Valued = str | Objective | LinkObjective | Callable[[Array, Query], float]

# How far nearness by links may be off, summed over all objects. On the ACL Anthology, 1,820 authors: 58 of 97,922
# gains differ from the exact ones, each by its last digit (1/1024), for 80 ms; at 1e-4 744 do, for 66 ms.
LINK_TOLERANCE = 1e-5


def resolve_objective(given: Valued) -> Objective | LinkObjective:
    """Return the objective of a name, the object itself, or the objective that a function is."""
    if callable(given) and not isinstance(given, type | Objective | LinkObjective):
        return CustomObjective(given)
    found: Objective | LinkObjective = make_object(given, OBJECTIVES, (Objective, LinkObjective), "objective", {})
    return found


def weigh(cube: Cube, query: Asked, objective: Valued = "jaccard") -> QueryObjective:
    """Return the weights of an objective for a query; ``weigh(…).value(rows)`` is the value of a set of objects.

    Parameters
    ----------
    cube
        A cube, or a view of one.
    query
        Objects as for :func:`construct`.
    objective
        A name in :data:`cube2net.methods.OBJECTIVES`, an object, or a function.

    Returns
    -------
    Weights, CoverObjective or CallableObjective
        The weights that methods maximise.
    """
    return weigh_query(cube, resolve_query(cube, query), resolve_objective(objective))


def weigh_query(cube: Cube, query: Query, objective: Objective | LinkObjective) -> QueryObjective:
    """Return the weights of an objective; errors in them carry the objective's name."""
    try:
        weights: QueryObjective
        if isinstance(objective, LinkObjective):
            affinity = compute_scores(cube.links, query.objects, objective.damping, LINK_TOLERANCE)
            weights = objective.weigh_links(query, affinity, cube.links.degrees > 0)
        else:
            weights = objective.weigh(query, len(cube.objects))
        if not isinstance(weights, Weights | CallableObjective | CoverObjective):
            raise InputError(f"it gave {weights!r}, expected Weights")
        if weights.count != len(cube.objects):
            raise InputError(f"the weights are for {weights.count:,} objects, and the cube has {len(cube.objects):,}")
    except (QueryError, ParameterError):
        raise
    except InputError as error:
        raise InputError(f"the objective {objective_name(objective)!r} cannot be used: {error}") from None
    return weights


def objective_name(objective: Objective | LinkObjective) -> str:
    """Return the name of an objective, of its class or, where it is a function of one's own, of that."""
    return (
        get_function_name(objective.function)
        if isinstance(objective, CustomObjective)
        else find_name(objective, OBJECTIVES)
    )


METHODS: Registry[type[Method]] = Registry(
    "cube2net.methods",
    {
        "none": Nothing,
        "hops": Hops,
        "pagerank": PageRank,
        "steiner": Steiner,
        "maxdisc": MaxDisc,
        "random": Random,
        "greedy": Greedy,
        "anneal": Anneal,
        "exact": Exact,
        "cube2net": Cube2net,
    },
)
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
    defaults of method, objective, form, levels and keep_unlinked settled, and without steering. ``steering`` is what
    the user pinned, banned and preferred, and ``unsteered`` the budget as it is without: pins may make fewer
    cells fit, or more.
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
    def preferred_query(self) -> Query:
        """The query with what is preferred: choices are valued by it, and neighbours are nearest to it."""
        if not self.steering.prefer:
            return self.query
        return Query(np.union1d(self.query.objects, np.array(self.steering.prefer, dtype=np.int32)))


def plan_network(cube: Cube, query: Asked, options: NetworkOptions) -> Plan:
    """Return the plan of a network; see :func:`construct` for the options and their defaults."""
    asked = resolve_query(cube, query)
    method: Method = make_object(options.method, METHODS, Method, "method", {})
    kind = options.form or default_form(method)
    named = default_objective(method, kind) if options.objective is None else options.objective
    levels = options.levels
    if levels is None:
        levels = FULL if cube.cells.merged else default_levels(named, kind)
    view = cube if levels == FULL else cuboid(cube, levels)
    levels = FULL if levels == BOTH and view is cube else levels
    # Of cells at higher levels an object is in few, and large ones would be enough: there every time counts.
    objective = Cover(r=None) if named == "cover" and view.cells.merged else resolve_objective(named)
    keep_unlinked = options.keep_unlinked
    if keep_unlinked is None and isinstance(objective, LinkObjective):
        keep_unlinked = False
    settled: dict[str, Any] = {
        "method": method,
        "objective": objective,
        "form": kind,
        "levels": levels,
        "keep_unlinked": keep_unlinked,
    }
    given, options = options, replace(options, **settled | dict.fromkeys(STEERING, ()))
    form = make_form(options)
    if form.has_cells and options.max_links is not None:
        raise ParameterError(f"max_links limits the form 'objects', got the form {kind!r}: limit max_nodes instead")
    sized = options.n_cells is None and isinstance(objective, Cover)
    most = (len(asked) if sized else PAPER_CELLS) if options.n_cells is None else options.n_cells
    max_objects = options.max_nodes
    if options.max_nodes is not None and not form.has_brought:
        most, max_objects = min(most, max(0, options.max_nodes - len(asked))), None
    budget = Budget(n_cells=most, max_nodes=max_objects, max_links=options.max_links, best_prefix=options.best_prefix)
    free = Plan(view, asked, method, objective, form, budget, options, sized, whole=cube, unsteered=budget)
    return steer(free, resolve_steering(view, given))


def steer(plan: Plan, steering: Steering) -> Plan:
    """Return the plan under another steering, everything else as it was; what cannot be kept is refused.

    Without a number of cells asked for there are at least as many as are pinned.
    """
    view, query, budget, n_cells = plan.cube, plan.query, plan.unsteered, plan.options.n_cells
    method = find_name(plan.method, METHODS)
    if not chooses_cells(plan.method):
        check_no_cells(view, steering, method)
    scope = resolve_scope(view, query, steering, view.bringable)
    limited = plan.max_nodes is not None and not plan.form.has_brought
    if n_cells is None and len(scope.cells) > budget.n_cells and not limited:
        budget = replace(budget, n_cells=len(scope.cells))
    elif limited and plan.max_nodes is not None and len(scope.objects):
        budget = replace(budget, n_cells=max(0, min(budget.n_cells, plan.max_nodes - len(query) - len(scope.objects))))
    fewer = limited and (n_cells is None or budget.n_cells < n_cells)
    check_scope(view, query, scope, budget, plan.form, plan.max_nodes, most="max_nodes" if fewer else "n_cells")
    return replace(plan, budget=replace(budget, scope=scope), steering=steering)


def resolve_steering(cube: Cube, options: NetworkOptions) -> Steering:
    """Return the steering that options mean, in the cells of a cube."""
    return Steering(
        pins=tuple(resolve_node(cube, thing) for thing in several(options.pins)),
        bans=tuple(resolve_node(cube, thing) for thing in several(options.bans)),
        prefer=tuple(_find_preferred(cube, thing) for thing in several(options.prefer)),
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


def _find_preferred(cube: Cube, thing: Any) -> int:
    node = resolve_node(cube, thing)
    if node.is_cell:
        raise ParameterError(f"prefer takes objects, and {format_title(cube, node)} is a cell: pin it or ban it")
    return node.number


def default_form(method: Method) -> str:
    """Return the default form of a method: hybrid, or objects if it chooses no cells."""
    paper = isinstance(method, Cube2net) and method.preset != "default"
    return "hybrid" if chooses_cells(method) and not paper else "objects"


def default_levels(objective: Valued, form: str) -> str:
    """Return the default levels, with single-label cells if cells are nodes and the objective is cover."""
    covers = objective == "cover" or isinstance(objective, Cover)
    return BOTH if covers and form in ("cells", "hybrid") else FULL


def default_objective(method: Method, form: str | None = None) -> str:
    """Return the default objective: cover if cells are nodes and the method supports it, otherwise jaccard.

    By default it is that of the method's default form.
    """
    kind = form or default_form(method)
    return "cover" if kind in ("cells", "hybrid") and counts_repeats(method) else "jaccard"


SPARE = 5
"""Multiple of the limit that is allowed while it is not yet clear how many objects will be left out."""
_most: ContextVar[int | None] = ContextVar("most", default=None)


@contextmanager
def nodes_at_most(most: int | None) -> Iterator[None]:
    """Refuse networks of more nodes for a while, in this thread; None refuses nothing."""
    before = _most.set(most)
    try:
        yield
    finally:
        _most.reset(before)


def check_nodes(count: int, sure: bool = True) -> None:
    """Raise where a network has more nodes than may be; where that is not ``sure`` yet, where it has many more."""
    most = _most.get()
    if most is not None and count > (most if sure else SPARE * most):
        up_to = "" if sure else "up to "
        raise ParameterError(
            f"the network has {up_to}{count:,} nodes, more than the {most:,} that are taken at once: ask for fewer "
            "with max_nodes, n_cells or n_neighbors"
        )


LEFT_OUT = ("save",)
"""Options of methods that say where something is written: not what is chosen."""
FILES = ("policy",)
"""Options of methods that name a file; recipes record only whether there is one."""


def make_recipe(plan: Plan, network: Network, seed: int) -> Recipe:
    """Return the recipe of the network of a plan."""
    lineage = get_lineage(plan.whole)
    problems: list[str] = []
    method = _describe(plan.method, METHODS, "method", problems)
    if isinstance(plan.objective, CustomObjective):
        objective: dict[str, Any] = {"name": type(plan.objective).__name__, "options": {}}
        problems.append("its objective is a function of one's own")
    else:
        objective = _describe(plan.objective, OBJECTIVES, "objective", problems)
    given: dict[str, Any] = {
        name: getattr(plan.options, name)
        for name, option in OPTIONS.items()
        if option.is_recorded and name not in STEERING
    }
    return Recipe(
        cube={
            "checksum": lineage.origin.seal if lineage.origin else None,
            "name": _text(lineage.origin.folder.name) if lineage.origin else None,
            "views": [_value(dict(view), "a view of its cube", problems) for view in lineage.views],
        },
        query={"ids": plan.whole.objects.ids(plan.query.objects), "labels": plan.query.labels},
        method=method,
        objective=objective,
        parameters={
            name: _value(value, f"its {name}", problems)
            for name, value in {**given, **_describe_steering(plan)}.items()
        },
        seed=seed,
        made=describe_network(network),
        versions={"cube2net": __version__, "recipe": FORMAT},
        obstacle="; ".join(problems),
    )


def _describe_steering(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Return what was pinned, banned and preferred, by labels and ids."""

    def write_node(node: Node) -> dict[str, Any]:
        if node.is_cell:
            return {CELL: list(plan.cube.cell(node.number))}
        return {OBJECT: plan.whole.objects.ids(np.array([node.number]))[0].as_py()}

    return {name: [write_node(node) for node in nodes] for name, nodes in plan.steering.nodes().items()}


def describe_network(network: Network) -> dict[str, Any]:
    """Return what tells a network from others: how many nodes and links it has, and a checksum of them."""
    return {"nodes": len(network), "links": len(network.source), "checksum": network_fingerprint(network).hex()[:16]}


def _describe(thing: object, registry: Mapping[str, Any], what: str, problems: list[str]) -> dict[str, Any]:
    name = find_name(thing, registry)
    if registry.get(name) is not type(thing):
        problems.append(f"its {what} {quote(name)} is one's own")
        return {"name": name, "options": {}}
    options = {}
    for option in list_options(type(thing)):
        value = getattr(thing, option)
        if option in LEFT_OUT:
            continue
        if option in FILES and value is not None:
            problems.append(f"its {what} has a {option}, which a recipe does not hold")
            value = None
        options[option] = _value(value, f"the {option} of its {what}", problems)
    return {"name": name, "options": options}


def _value(value: Any, what: str, problems: list[str]) -> Any:
    """Return a value as JSON has it; one that JSON has no way to write is a problem."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {_text(str(name)): _value(part, what, problems) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_value(part, what, problems) for part in value]
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return _value(value.item(), what, problems)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        problems.append(f"{what} is an object, {type(value).__name__}")
    else:
        problems.append(f"{what} is {quote(value, 60)}")
    return None


def _text(text: str) -> str:
    """Return a text that every file can hold: halves of signs are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
