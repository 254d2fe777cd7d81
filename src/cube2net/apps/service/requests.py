"""Parse a request for a network."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from cube2net.api.compare import Auto
from cube2net.api.cubes import view_cube
from cube2net.api.plan import METHODS, WITH_OPTIONS, default_form, default_levels, default_objective
from cube2net.apps.service.schemas import FURTHER_OPTIONS, Id, NetworkRequest, Node, View
from cube2net.errors import ParameterError, quoted, unknown
from cube2net.model.cube import Cube
from cube2net.model.interfaces import chooses_cells, options_outside, takes_long
from cube2net.model.names import Node as CubeNode
from cube2net.model.names import object_node
from cube2net.model.query import Query
from cube2net.options import DEFAULTS, OPTIONS, STEERING, is_given
from cube2net.selection.objectives import OBJECTIVES

ORDER = tuple(dict.fromkeys([*NetworkRequest.__annotations__, *View.__annotations__]))


@dataclasses.dataclass(frozen=True, eq=False)
class ParsedRequest:
    """A request that was read once: its shortest words, and the query that it names."""

    words: dict[str, Any]
    query: Query

    @cached_property
    def key(self) -> str:
        """The text by which its network is remembered."""
        return json.dumps(self.words)


def methods() -> dict[str, Any]:
    """Return all methods by name, and the one that chooses among them."""
    return {**METHODS, "auto": Auto}


def is_long(named: object, options: object = None) -> bool:
    """Return whether the method of a name may take more than a moment, with some options; not one that nobody knows.

    An option that can make a short method long says so: its field has ``slows`` in its metadata.
    """
    kind = methods().get(WITH_OPTIONS.get(named, (named, {}))[0]) if isinstance(named, str) else None
    slowing = {
        field.name
        for each in ([] if kind is None else [kind, *OBJECTIVES.values()])
        for field in dataclasses.fields(each)
        if field.metadata.get("slows")
    }
    slowed = isinstance(options, Mapping) and not slowing.isdisjoint(options)
    return kind is not None and (slowed or takes_long(kind))


def viewed(cube: Cube, view: View) -> Cube:
    """Return the part of a cube that a request looks at."""
    return view_cube(
        cube,
        roll_up=list(view.get("roll_up", {}).items()),
        where=view.get("where", {}),
        between=view.get("between"),
        kind=view.get("kind", ()),
    )


def view_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request says of the part of the cube, in its shortest words.

    >>> view_of({"query": ["o1"], "where": {"venue": []}, "between": None, "kind": ["author"]})
    {'kind': ['author']}
    """
    found: dict[str, Any] = {
        "where": {name: labels for name, labels in sorted((body.get("where") or {}).items()) if labels},
        "roll_up": dict(body.get("roll_up") or {}),
        "between": body.get("between"),
        "kind": body.get("kind"),
    }
    return {name: value for name, value in found.items() if value}


def node_given(cube: Cube, node: Node) -> Any:
    """Return a cell or an object as the pipeline takes it: labels, or the object itself."""
    return tuple(node["cell"]) if "cell" in node else object_node(cube, str(node["object"]))


def node_words(cube: Cube, node: CubeNode) -> Node:
    """Return a cell or an object of a cube as a request has it."""
    if node.is_cell:
        return {"cell": list(cube.cell(node.number))}
    return {"object": cube.objects.ids(np.array([node.number])).to_pylist()[0]}


def query_words(cube: Cube, query: Query) -> dict[str, Any]:
    """Return a query as a request has it: ids, and labels where it has such."""
    words: dict[str, Any] = {"query": cube.objects.ids(query.objects).to_pylist()}
    return words if query.labels is None else words | {"labels": list(query.labels)}


def query_of(cube: Cube, ids: list[Id], labels: list[str] | None = None) -> Query:
    """Return the query of some ids; that one is the name of others too is not told, for no person gave it."""
    if labels is not None and len(labels) != len(ids):
        raise ParameterError(f"labels has {len(labels):,} entries, expected one for each of {len(ids):,} objects")
    return dataclasses.replace(cube.query([str(key) for key in ids], labels), shared=())


def parameters_of(cube: Cube, request: ParsedRequest) -> dict[str, Any]:
    """Return the parameters of :func:`cube2net.construct` that a request means, its cube excepted."""
    words = request.words
    parameters: dict[str, Any] = {"query": request.query}
    for name, option in OPTIONS.items():
        value = words.get(name) if option.is_field else None
        if value is not None and name in STEERING:
            nodes: list[Node] = value if option.kind == "nodes" else [{"object": key} for key in value]
            parameters[name] = [node_given(cube, node) for node in nodes]
        elif value is not None:
            parameters[name] = value
    method, own, worth = split_options(words)
    if worth:
        parameters["objective"] = OBJECTIVES[objective_named(words, method)](**worth)
    return {**parameters, **own}


def split_options(request: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the method's own name, the options of it and of the network, and those of the objective.

    An option that neither knows, or that names a file, is refused.
    """
    named = request.get("method") or DEFAULTS["method"]
    method, _ = WITH_OPTIONS.get(named, (named, {}))
    kinds = methods()
    if method not in kinds:
        raise unknown("method", named, [*kinds, *WITH_OPTIONS])
    allowed = [*options_outside(kinds[method]), *FURTHER_OPTIONS]
    own: dict[str, Any] = {}
    worth: dict[str, Any] = {}
    of_objective: list[str] = []
    if chooses_cells(kinds[method]):
        objective = objective_named(request, method)
        if objective not in OBJECTIVES:
            raise unknown("objective", objective, OBJECTIVES)
        of_objective = [name for name in options_outside(OBJECTIVES[objective]) if name not in allowed]
    for name, value in (request.get("options") or {}).items():
        if name not in (*allowed, *of_objective):
            raise unknown(f"option of the method {quoted(method)}", name, [*allowed, *of_objective])
        (own if name in allowed else worth)[name] = value
    r = request.get("r")
    if r is not None:
        if "r" not in of_objective:
            raise ParameterError(f"r is {r!r}, and only the objective 'cover' has one: leave it out, or ask for cover")
        worth["r"] = r
    return method, own, worth


def objective_named(request: Mapping[str, Any], method: str) -> str:
    """Return the name of the objective of a request, the default where it names none."""
    return str(request.get("objective") or _defaults(request, method)[1])


def searches_bound(request: Mapping[str, Any]) -> bool:
    """Return whether an upper bound is asked for that has to be searched; that of cover is known anyway."""
    return bool(request.get("bound")) and objective_named(request, split_options(request)[0]) != "cover"


def _defaults(request: Mapping[str, Any], method: str) -> tuple[str, str]:
    """Return the form and the objective of a request that names none."""
    kind = methods()[method]
    if method == "auto":
        return "", ""
    allowed = options_outside(kind)
    own = dict(WITH_OPTIONS.get(request.get("method", ""), ("", {}))[1])
    own |= {name: value for name, value in (request.get("options") or {}).items() if name in allowed}
    try:
        chooser = kind(**own)
    except TypeError as error:
        raise ParameterError(f"method {method!r} cannot be made so: {error}") from None
    return default_form(chooser), default_objective(chooser, request.get("form"))


def parse_request(cube: Cube, request: NetworkRequest) -> ParsedRequest:
    """Return a request with its shortest words: without what is so anyway, and the cube that it was asked of.

    The same request in other words gives the same: ids are those of the cube, each once; lists keep their order.
    """
    given: dict[str, Any] = {name: value for name, value in request.items() if value is not None and name != "cube"}
    given = {name: value for name, value in given.items() if value not in ([], {}, "")}
    given = {name: value for name, value in given.items() if name not in OPTIONS or is_given(name, value)}
    given.pop("labels", None)
    query, named = _resolve_query(cube, request["query"], request.get("labels"))
    given |= named
    for name in View.__annotations__:
        given.pop(name, None)
    given |= view_of(request)
    if isinstance(given.get("levels"), list) and len(given["levels"]) == 1:
        given["levels"] = given["levels"][0]
    method = split_options(given)[0]
    form, objective = _defaults(given, method)
    usual_levels = default_levels(given.get("objective", objective), given.get("form", form))
    if given.get("levels") == usual_levels:
        del given["levels"]
    if given.get("form") == form:
        del given["form"]
    if given.get("objective") == objective:
        del given["objective"]
    usual = _usual(methods()[method]) | (_usual(OBJECTIVES[objective]) if objective else {})
    usual |= {name: DEFAULTS[name] for name in FURTHER_OPTIONS} | WITH_OPTIONS.get(given.get("method", ""), ("", {}))[1]
    options = {
        name: value
        for name, value in sorted((given.pop("options", None) or {}).items())
        if name not in usual or value != usual[name] or isinstance(value, bool) != isinstance(usual[name], bool)
    }
    given |= {"options": options} if options else {}
    return ParsedRequest({name: given[name] for name in ORDER if name in given}, query)


def _usual(kind: type) -> dict[str, Any]:
    """Return the options of a method or an objective with what they are without a word."""
    return {
        field.name: field.default
        for field in dataclasses.fields(kind)
        if field.default is not dataclasses.MISSING and not field.metadata.get("handed")
    }


def options_shown(kind: type) -> dict[str, Any]:
    """Return the options of a method that may be set from outside, with what they are without a word."""
    outside = options_outside(kind)
    return {name: value for name, value in _usual(kind).items() if name in outside}


def _resolve_query(cube: Cube, ids: list[Id], labels: list[str] | None) -> tuple[Query, dict[str, Any]]:
    """Return the query of some ids, and its words: ids as the cube has them, each once, as ordered, and any labels."""
    query = query_of(cube, ids, labels)
    if not any(query.labels or ()):
        query = dataclasses.replace(query, labels=None)
    keys, own = [str(key) for key in ids], cube.objects.ids(query.objects).to_pylist()
    row = dict(zip(map(str, own), query.objects.tolist(), strict=True))
    rows = [row[key] for key in keys] if row.keys() >= set(keys) else cube.objects.find(keys).rows.tolist()
    places = list(dict.fromkeys(rows))
    id_of = dict(zip(query.objects.tolist(), own, strict=True))
    words: dict[str, Any] = {"query": [id_of[place] for place in places]}
    if query.labels is not None:
        label = dict(zip(query.objects.tolist(), query.labels, strict=True))
        words["labels"] = [label[place] for place in places]
    return query, words
