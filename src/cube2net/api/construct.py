"""Construct the network of a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, ProgressOption, record_seconds, report_compiling, resolve_progress, silent
from cube2net.api.plan import (
    METHODS,
    WITH_OPTIONS,
    Plan,
    check_nodes,
    make_recipe,
    objective_name,
    plan_network,
    steer,
    weigh_query,
)
from cube2net.api.query import Asked, resolve_query
from cube2net.errors import ParameterError, check_int, quote, quote_few
from cube2net.model.cube import Cube, list_limits
from cube2net.model.interfaces import (
    LinkObjective,
    MakesNetworks,
    Method,
    NeedsVectors,
    Objective,
    TellsProgress,
    check_call,
    check_options,
    find_name,
    list_options,
    make_object,
)
from cube2net.model.network import Network, RequestContext
from cube2net.model.node_names import Node, format_title
from cube2net.model.query import Query, describe_shared_names
from cube2net.model.selection import QueryObjective, Selection, Steering
from cube2net.network import pagerank
from cube2net.network.assembly import (
    assemble,
    brings_objects,
    count_neighbors,
    describe_limit,
    describe_missing_links,
    describe_scope,
    describe_size,
    estimate_nodes,
    take_first_cells,
)
from cube2net.options import OPTIONS, AnyMethodName, FormName, NetworkOptions, ObjectiveName, Wanted, is_given
from cube2net.selection.constraints import ResidualProblem, check_selection, exclude_forbidden
from cube2net.selection.exact import add_bound

T = TypeVar("T")
NearestCache = dict[tuple[Any, ...], Array]
# How many results of looking for neighbours a question keeps, the latest ones.
KNOWN = 16


@check_call
@report_compiling
def construct(
    cube: Cube,
    query: Asked,
    method: AnyMethodName | Method | MakesNetworks = "greedy",
    n_cells: int | None = None,
    objective: ObjectiveName | Objective | LinkObjective | Callable[[Array, Query], float] | None = None,
    form: FormName | None = None,
    seed: int = 0,
    *,
    max_nodes: int | None = None,
    pins: Wanted = (),
    bans: Wanted = (),
    options: NetworkOptions | None = None,
    progress: ProgressOption = None,
) -> Network:
    """Construct a small network around a query.

    By default the nodes are the query Q, at most |Q| cells that contain two or more of its objects (with a label in
    every dimension or in one, such as ⟨∗, ACL, ∗⟩), and the |Q| objects nearest to Q by links: at most 3·|Q| nodes. The
    weight of memberships is estimated from the links of Q. The paper's network is ``form="objects"``: the objects of 20
    cells.

    Parameters
    ----------
    cube
        A cube of :func:`build` or :func:`open`, or a view of one.
    query
        Objects by id or name, as a string, a list, a pandas or Polars series or index, or an array; a mapping from
        objects to labels; a data frame with a column ``object`` or ``id`` and optionally ``label``; the path of a file
        for :func:`read_query`; another network; or a :class:`Query`. :meth:`Cube.query` describes how integers are
        interpreted.
    method
        A name in :data:`cube2net.methods.METHODS`, or an object with a method ``select``, such as
        ``methods.Greedy(by="price")`` or your own; ``"auto"`` tries several networks.
    n_cells
        The maximum number of cells; by default 20, or for the objective ``cover`` as many as are useful.
    objective
        A name in :data:`cube2net.methods.OBJECTIVES`, an object, or a function ``f(objects, query)`` of the row numbers
        of the objects in chosen cells. By default ``"cover"`` for greedy and exact in the forms hybrid and cells,
        otherwise the paper's ``"jaccard"``.
    form
        ``"hybrid"`` (the query, cells and neighbours), ``"cells"`` (the query and cells), ``"objects"`` (the query and
        all objects of the cells) or ``"cells+objects"``; see :class:`cube2net.model.Form`. By default ``"hybrid"``
        for methods that choose cells, ``"objects"`` for others.
    seed
        The seed of the random number generator; the same seed gives the same network.
    max_nodes
        The maximum number of nodes; no limit by default.
    pins, bans
        Cells and objects that must, or must not, be in the network. Give a cell by its labels, as a tuple or as
        ``"2010s · ACL · parsing"``, and an object by its id or name. Pinned cells are chosen first and count towards
        ``n_cells``; banned objects are treated as if they were not in the cube. :meth:`Network.pin_costs` returns the
        costs.
    options
        Further options: levels, neighbours, weights, preferred objects, a bound; see :class:`NetworkOptions`. It can
        also contain the options above if they are not given here.
    progress
        A callback that receives the progress, and the size of a large network in advance; True shows a progress bar.

    Returns
    -------
    Network
        Its ``selection`` contains the cells in the order chosen, and a ``note`` if there is a remark.

    Raises
    ------
    QueryError
        If objects are not in the cube; ``cube.query(objects, skip_missing=True)`` leaves them out.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> c2n.construct(cube, planted.query(0))
    Network(100 objects, 10 cells, 779 links, 50 in the query)
    >>> paper = c2n.construct(cube, planted.query(0), "greedy", n_cells=4, form="objects")
    >>> paper, set(paper.labels) == set(planted.best_cells[0])
    (Network(50 objects, 163 links, 50 in the query), True)
    >>> c2n.construct(cube, planted.query(0), options=c2n.NetworkOptions(n_neighbors=5, bound=True))
    Network(55 objects, 10 cells, 512 links, 50 in the query)
    """
    flat = {name: value for name, value in locals().items() if name in OPTIONS}
    return construct_network(cube, query, _merge(flat, options), progress=progress)


def _merge(flat: Mapping[str, Any], options: NetworkOptions | None) -> NetworkOptions:
    """Return options with those given by parameters; raise if one is given twice with different values."""
    if options is None:
        return NetworkOptions(**flat)
    given = dict(expect_options(NetworkOptions, options, "n_neighbors=10").given)
    for name, value in flat.items():
        if is_given(name, value):
            if name in given and given[name] is not value and given[name] != value:
                raise ParameterError(
                    f"{name} is {quote(value)}, and {quote(given[name])} in options: give it once",
                    parameter=name,
                    value=value,
                )
            given[name] = value
    return NetworkOptions(**given)


def expect_options(kind: type[T], options: object, example: str) -> T:
    """Return options, those by default for None, or raise what they should be."""
    if options is None or isinstance(options, kind):
        return kind() if options is None else options
    raise ParameterError(
        f"options is {quote(options)}, expected {kind.__name__}, such as {kind.__name__}({example})",
        parameter="options",
        value=options,
    )


def construct_by_name(
    cube: Cube,
    query: Asked,
    method: str | Method | MakesNetworks = "greedy",
    n_cells: int | None = None,
    *,
    progress: ProgressOption = None,
    **given: Any,
) -> Network:
    """Construct a network from options by name, as recipes and commands contain them.

    The options are those of :class:`NetworkOptions` and, if the method is a name, those of the method.
    """
    chooser = resolve_method(method, {name: value for name, value in given.items() if name not in OPTIONS})
    options = {name: value for name, value in given.items() if name in OPTIONS}
    return construct_network(cube, query, NetworkOptions(method=chooser, n_cells=n_cells, **options), progress=progress)


def construct_network(cube: Cube, query: Asked, options: NetworkOptions, *, progress: ProgressOption = None) -> Network:
    """Return the network of a query with some options; see :func:`construct`."""
    progress = resolve_progress(progress)
    seed, chooser = options.seed, resolve_method(options.method, {})
    options = replace(options, method=chooser)
    if not isinstance(chooser, Method):
        _check_nothing_chosen(chooser, options)
        return chooser.construct(cube, resolve_query(cube, query), seed=seed, progress=progress)
    plan = plan_network(cube, query, options)
    chosen = choose(plan, seed=seed, bound=options.bound, progress=progress)
    if (
        options.form is None
        and options.max_nodes is not None
        and plan.form.has_cells
        and brings_objects(chosen.selection, plan.budget.scope)
    ):
        # A method of one's own that chooses no cells has to know the limit on its objects.
        plan = plan_network(cube, query, replace(options, form="objects"))
        chosen = choose(plan, seed=seed, bound=options.bound, progress=progress)
    return build_network(plan, chosen, default=options.form is None, progress=progress)


def resolve_method(method: str | Method | MakesNetworks, options: Mapping[str, Any]) -> Method | MakesNetworks:
    """Return the method of a name with its options, or the object itself."""
    if isinstance(method, str) and method in WITH_OPTIONS:
        method, own = WITH_OPTIONS[method]
        options = {**own, **options}
    kinds: dict[str, type[Any]] = METHODS
    if isinstance(method, str) and (method == "auto" or method not in METHODS):
        from cube2net.api.compare import Auto

        kinds = {**METHODS, "auto": Auto}
    if options and isinstance(method, str) and method in kinds:
        check_options(options, f"the method {method!r}", list_options(kinds[method]), construct)
    elif options and not isinstance(method, str):
        instead = ": set it where the method is made"
        check_options(options, f"the object {quote(method)}", (), construct, instead=instead)
    found: Method | MakesNetworks = make_object(method, kinds, (Method, MakesNetworks), "method", options)
    return found


def _check_nothing_chosen(method: object, options: NetworkOptions) -> None:
    """Raise where something is asked of what chooses all of it by itself."""
    who = type(method).__name__.replace("Auto", "auto")
    for name, value in options.given.items():
        if name not in ("method", "seed"):
            raise ParameterError(f"{who!r} chooses what to bring by itself, and {name} is {value!r}: leave it out")


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a method chose, with what seed, what no cells and all others are worth, and how long its parts took.

    ``bounded`` says that a bound was asked for beside.
    """

    selection: Selection
    seed: int
    empty_value: float
    worth: QueryObjective
    seconds: Mapping[str, float]
    bounded: bool = False


def choose(plan: Plan, *, seed: int = 0, bound: bool = False, progress: Progress = silent) -> Chosen:
    """Return what the method of a plan chooses; see :func:`construct` for the parameters."""
    check_int("seed", seed, 0, None)
    cube, query, budget = plan.cube, plan.query, plan.budget
    seconds: dict[str, float] = {}
    with record_seconds(seconds, "weigh"):
        weights = _weights(plan)
        settled = ResidualProblem.of(cube, weights, budget)
    with record_seconds(seconds, "vectors"):
        ready = with_vectors(cube, plan.method, seed)
    if ready is plan.method:
        del seconds["vectors"]
    if isinstance(ready, TellsProgress):
        ready = ready.with_progress(progress)
    with record_seconds(seconds, "select"):
        given = ready.select(cube, query, weights=settled.objective, budget=settled.budget, seed=seed)
    selection = check_selection(given, cube, find_name(plan.method, METHODS), settled.budget)
    seconds["select"] -= selection.train_seconds
    seconds["train"] = selection.train_seconds
    if bound:
        with record_seconds(seconds, "bound"):
            selection = add_bound(cube, query, settled.objective, settled.budget, selection)
    selection = settled.with_choice(selection)
    empty = settled.empty_value if len(selection.cells) else selection.value
    return Chosen(selection, seed, empty, weights, seconds, bound)


def known_choice(
    plan: Plan, selection: Selection, seed: int, empty_value: float, seconds: Mapping[str, float], bounded: bool
) -> Chosen:
    """Return what the method of a plan chose at another time."""
    return Chosen(selection, seed, empty_value, _weights(plan), seconds, bounded)


def _weights(plan: Plan) -> QueryObjective:
    return exclude_forbidden(weigh_query(plan.cube, plan.preferred_query, plan.objective), plan.budget.scope)


def with_vectors(cube: Cube, method: Method, seed: int) -> Method:
    """Return the method with the cell vectors that it names, or the method itself where it names none."""
    if not isinstance(method, NeedsVectors) or not isinstance(method.vectors, str):
        return method
    from cube2net.vectors.cell_vectors import VECTORS, embed_cells

    kinds = list(VECTORS) if method.vectors == "both" else [method.vectors]
    options = getattr(method, "vector_options", {})
    return method.with_vectors(*(embed_cells(cube, kind, seed=seed, **options.get(kind, {})) for kind in kinds))


def build_network(
    plan: Plan, chosen: Chosen, *, default: bool = False, progress: Progress = silent, cache: NearestCache | None = None
) -> Network:
    """Return the network of what a method chose, in the form of its plan.

    ``default`` says that the form is the default one: objects that a custom method brings without cells are then shown
    as objects. A network that will be large is announced before it is made. ``cache`` holds the neighbours of the same
    query that were computed before; new ones are added.
    """
    cache = {} if cache is None else cache
    cube, query, form, selection = plan.cube, plan.query, plan.form, chosen.selection
    scope = plan.budget.scope
    if default and brings_objects(selection, scope):
        form = replace(form, kind="objects")
    seconds = dict(chosen.seconds)
    with record_seconds(seconds, "links"):
        if form.kind == "cells+objects" and plan.max_nodes is not None:
            selection = take_first_cells(cube, query, selection, plan.max_nodes, chosen.empty_value, scope)
        large = describe_size(cube, query, selection, form, plan.max_nodes, scope)
        if large:
            progress.note(large)
        preferred = len(plan.preferred_query) - len(query)
        room = count_neighbors(query, form, len(selection.cells), plan.max_nodes, preferred)
        check_nodes(*estimate_nodes(query, selection, form, room, scope))
        nearest = _known_nearest(plan, room, cache) if form.kind == "hybrid" else None
        network = assemble(cube, query, selection, form, nearest=nearest, scope=scope)
    limit = describe_limit(query, plan.max_nodes)
    notes = [*([limit] if limit else _notes(plan, network, large)), describe_shared_names(cube.objects, query.shared)]
    return replace(
        network,
        recipe=make_recipe(plan, network, chosen.seed),
        selection=replace(selection, note="; ".join(filter(None, notes))),
        context=make_context(plan, chosen, default=default, cache=cache),
        settings={
            "method": find_name(plan.method, METHODS),
            "parameters": repr(plan.method),
            "objective": objective_name(plan.objective),
            "n_cells": None if plan.sized else plan.budget.n_cells,
            "levels": plan.levels if isinstance(plan.levels, str) else list(plan.levels),
            "n_neighbors": 0 if nearest is None else len(nearest),
            "neighbor_weight": form.neighbor_weight if form.kind == "hybrid" else None,
            "keep_unlinked": form.keep_unlinked,
            "membership_weights": form.membership_weights if form.has_cells else None,
            **network.settings,
            **_describe_view(plan.whole),
            "seed": chosen.seed,
            "empty_value": chosen.empty_value,
            **list_notes(plan),
        },
        seconds=seconds,
    )


def _notes(plan: Plan, network: Network, large: str) -> list[str]:
    """Return the notes on a network: of its method, its limits, and options without effect."""
    scope, query = plan.budget.scope, plan.query
    by = [*list_limits(plan.whole), *(["bans"] if plan.steering.objects("bans") else [])]
    empty = str(plan.whole.settings.get("no_items", ""))
    notes = ["" if empty else network.selection.note, large, empty or describe_scope(query, scope, by)]
    known = [row for row in plan.steering.prefer if row in query.objects]
    if known:
        names = quote_few([format_title(plan.cube, Node("object", row)) for row in known])
        notes.append(f"in the query already, so that preferring changes nothing: {names}")
    return [*notes, "" if empty else describe_missing_links(plan.cube, network, scope)]


def _describe_view(cube: Cube) -> dict[str, Any]:
    """Return through which views a cube is seen, and how many of its objects may be brought, where not all may."""
    marks = cube.bringable
    brought = None if marks is None else [int(marks.sum()), len(marks)]
    return {"views": list(cube.settings.get("views", ())), "may_be_brought": brought}


def _known_nearest(plan: Plan, room: int, cache: NearestCache) -> Array:
    """Return the nearest objects, from the cache if possible: pins and bans of cells do not change them."""
    steering = plan.steering
    key = (room, steering.prefer, *(tuple(steering.objects(which)) for which in ("pins", "bans")))
    found = cache.pop(key) if key in cache else nearest_objects(plan, room, cache)
    cache[key] = found
    for old in list(cache)[:-KNOWN]:
        del cache[old]
    return found


def nearest_objects(plan: Plan, room: int, cache: NearestCache) -> Array:
    """Return the objects nearest to the query and to the preferred objects."""
    links, seeds = plan.cube.links, plan.preferred_query.objects
    return pagerank.find_neighbors(links, plan.query, room, scope=plan.budget.scope, seeds=seeds, rankings=cache)


def list_notes(plan: Plan) -> dict[str, list[str]]:
    """Return how a network was steered, by the names of cells and objects; nothing where it was not."""
    return {name: [format_title(plan.cube, node) for node in nodes] for name, nodes in plan.steering.nodes().items()}


def make_context(
    plan: Plan, chosen: Chosen, *, default: bool = False, cache: NearestCache | None = None
) -> RequestContext:
    """Return the question that a network answers, by which it can be asked again under another steering."""

    def again(steering: Steering, query: Query | None = None) -> Network:
        asked, known = plan, cache
        if query is not None:
            asked, known = plan_network(plan.whole, query, plan.options), None
        other = steer(asked, steering)
        chosen_now = choose(other, seed=chosen.seed, bound=chosen.bounded)
        return build_network(other, chosen_now, default=default, cache=known)

    return RequestContext(
        cube=plan.cube,
        whole=plan.whole,
        worth=chosen.worth,
        budget=plan.budget,
        form=plan.form,
        method=find_name(plan.method, METHODS),
        objective=objective_name(plan.objective),
        steering=plan.steering,
        again=again,
    )
