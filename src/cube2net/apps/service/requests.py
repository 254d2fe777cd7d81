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
from cube2net.errors import ParameterError, quote, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.interfaces import chooses_cells, options_outside, takes_long
from cube2net.model.node_names import Node as CubeNode
from cube2net.model.node_names import resolve_object
from cube2net.model.query import Query
from cube2net.options import DEFAULTS, OPTIONS, STEERING, is_given
from cube2net.selection.objectives import OBJECTIVES

FIELD_ORDER = tuple(dict.fromkeys([*NetworkRequest.__annotations__, *View.__annotations__]))


@dataclasses.dataclass(frozen=True, eq=False)
class ParsedRequest:
    """A parsed request for a network.

    ``fields`` is its shortest form, without defaults. ``options`` are those of the method and of the network,
    ``objective_options`` those of the objective; ``objective`` is the default one if none is named.
    """

    fields: dict[str, Any]
    query: Query
    method: str
    objective: str
    options: dict[str, Any]
    objective_options: dict[str, Any]

    @cached_property
    def key(self) -> str:
        """The text by which its network is cached."""
        return json.dumps(self.fields)

    @property
    def searches_bound(self) -> bool:
        """Whether an upper bound is asked for that has to be searched; the bound of cover is a by-product."""
        return bool(self.fields.get("bound")) and self.objective != "cover"


def list_methods() -> dict[str, Any]:
    """Return all methods by name, and the one that chooses among them."""
    return {**METHODS, "auto": Auto}


def is_long_method(name: object, options: object = None) -> bool:
    """Return whether a method may take more than a moment with some options; False for an unknown method.

    An option that can slow a fast method down has ``slows`` in the metadata of its field.
    """
    method_class = list_methods().get(WITH_OPTIONS.get(name, (name, {}))[0]) if isinstance(name, str) else None
    slow_options = {
        field.name
        for option_class in ([] if method_class is None else [method_class, *OBJECTIVES.values()])
        for field in dataclasses.fields(option_class)
        if field.metadata.get("slows")
    }
    has_slow_option = isinstance(options, Mapping) and not slow_options.isdisjoint(options)
    return method_class is not None and (has_slow_option or takes_long(method_class))


def apply_view(cube: Cube, view: View) -> Cube:
    """Return the view of a cube that a request names."""
    return view_cube(
        cube,
        roll_up=list(view.get("roll_up", {}).items()),
        where=view.get("where", {}),
        between=view.get("between"),
        kind=view.get("kind", ()),
    )


def normalize_view(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that name a view of the cube, without empty ones.

    >>> normalize_view({"query": ["o1"], "where": {"venue": []}, "between": None, "kind": ["author"]})
    {'kind': ['author']}
    """
    view: dict[str, Any] = {
        "where": {name: labels for name, labels in sorted((body.get("where") or {}).items()) if labels},
        "roll_up": dict(body.get("roll_up") or {}),
        "between": body.get("between"),
        "kind": body.get("kind"),
    }
    return {name: value for name, value in view.items() if value}


def resolve_node(cube: Cube, node: Node) -> Any:
    """Return the labels of a cell, or the row of an object."""
    return tuple(node["cell"]) if "cell" in node else resolve_object(cube, str(node["object"]))


def describe_node(cube: Cube, node: CubeNode) -> Node:
    """Return a cell or an object of a cube as JSON."""
    if node.is_cell:
        return {"cell": list(cube.cell(node.number))}
    return {"object": cube.objects.ids(np.array([node.number])).to_pylist()[0]}


def describe_query(cube: Cube, query: Query) -> dict[str, Any]:
    """Return a query as JSON: ids, and labels if it has any."""
    fields: dict[str, Any] = {"query": cube.objects.ids(query.objects).to_pylist()}
    return fields if query.labels is None else fields | {"labels": list(query.labels)}


def resolve_query(cube: Cube, ids: list[Id], labels: list[str] | None = None) -> Query:
    """Return the query of some ids; ids that are also names of other objects are not reported."""
    if labels is not None and len(labels) != len(ids):
        raise ParameterError(f"labels has {len(labels):,} entries, expected one for each of {len(ids):,} objects")
    return dataclasses.replace(cube.query([str(key) for key in ids], labels), shared=())


def make_parameters(cube: Cube, request: ParsedRequest) -> dict[str, Any]:
    """Return the parameters of :func:`cube2net.construct` for a request, except the cube."""
    parameters: dict[str, Any] = {"query": request.query}
    for name, option in OPTIONS.items():
        value = request.fields.get(name) if option.is_field else None
        if value is not None and name in STEERING:
            nodes: list[Node] = value if option.kind == "nodes" else [{"object": key} for key in value]
            parameters[name] = [resolve_node(cube, node) for node in nodes]
        elif value is not None:
            parameters[name] = value
    if request.objective_options:
        parameters["objective"] = OBJECTIVES[request.objective](**request.objective_options)
    return {**parameters, **request.options}


def split_options(request: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the name of the method, the options of the method and the network, and those of the objective.

    Unknown options, and options that name a file, are refused.
    """
    requested_method = request.get("method") or DEFAULTS["method"]
    method, _ = WITH_OPTIONS.get(requested_method, (requested_method, {}))
    method_classes = list_methods()
    if method not in method_classes:
        raise unknown_name("method", requested_method, [*method_classes, *WITH_OPTIONS])
    allowed = [*options_outside(method_classes[method]), *FURTHER_OPTIONS]
    options: dict[str, Any] = {}
    objective_options: dict[str, Any] = {}
    objective_option_names: list[str] = []
    if chooses_cells(method_classes[method]):
        objective = _find_objective(request, method)
        if objective not in OBJECTIVES:
            raise unknown_name("objective", objective, OBJECTIVES)
        objective_option_names = [name for name in options_outside(OBJECTIVES[objective]) if name not in allowed]
    for name, value in (request.get("options") or {}).items():
        if name not in (*allowed, *objective_option_names):
            raise unknown_name(f"option of the method {quote(method)}", name, [*allowed, *objective_option_names])
        (options if name in allowed else objective_options)[name] = value
    r = request.get("r")
    if r is not None:
        if "r" not in objective_option_names:
            raise ParameterError(f"r is {r!r}, and only the objective 'cover' has one: leave it out, or ask for cover")
        objective_options["r"] = r
    return method, options, objective_options


def _find_objective(request: Mapping[str, Any], method: str) -> str:
    return str(request.get("objective") or _find_defaults(request, method)[1])


def _find_defaults(request: Mapping[str, Any], method: str) -> tuple[str, str]:
    """Return the default form and objective of a method with its options."""
    if method == "auto":
        return "", ""
    method_class = list_methods()[method]
    allowed = options_outside(method_class)
    options = dict(WITH_OPTIONS.get(request.get("method", ""), ("", {}))[1])
    options |= {name: value for name, value in (request.get("options") or {}).items() if name in allowed}
    try:
        selector = method_class(**options)
    except TypeError as error:
        raise ParameterError(f"the options do not fit the method {method!r}: {error}") from None
    return default_form(selector), default_objective(selector, request.get("form"))


def parse_request(cube: Cube, request: NetworkRequest) -> ParsedRequest:
    """Resolve the names of a request and reduce it to its shortest form.

    Requests that mean the same have the same form: ids are those of the cube, each once, defaults are left out, and
    lists keep their order.
    """
    fields: dict[str, Any] = {
        name: value
        for name, value in request.items()
        if value not in (None, [], {}, "")
        and name not in ("cube", "labels", *View.__annotations__)
        and (name not in OPTIONS or is_given(name, value))
    }
    query, query_fields = _resolve_query(cube, request["query"], request.get("labels"))
    fields |= query_fields | normalize_view(request)
    if isinstance(fields.get("levels"), list) and len(fields["levels"]) == 1:
        fields["levels"] = fields["levels"][0]
    method = split_options(fields)[0]
    form, objective = _find_defaults(fields, method)
    levels = default_levels(fields.get("objective", objective), fields.get("form", form))
    for name, default in (("levels", levels), ("form", form), ("objective", objective)):
        if name in fields and fields[name] == default:
            del fields[name]
    defaults = _list_defaults(list_methods()[method]) | (_list_defaults(OBJECTIVES[objective]) if objective else {})
    defaults |= {name: DEFAULTS[name] for name in FURTHER_OPTIONS}
    defaults |= WITH_OPTIONS.get(fields.get("method", ""), ("", {}))[1]
    options = {
        name: value
        for name, value in sorted((fields.pop("options", None) or {}).items())
        if name not in defaults
        or value != defaults[name]
        or isinstance(value, bool) != isinstance(defaults[name], bool)
    }
    fields |= {"options": options} if options else {}
    ordered = {name: fields[name] for name in FIELD_ORDER if name in fields}
    _, method_options, objective_options = split_options(ordered)
    return ParsedRequest(
        ordered, query, method, str(ordered.get("objective") or objective), method_options, objective_options
    )


def _list_defaults(option_class: type) -> dict[str, Any]:
    """Return the options of a method or an objective with their defaults."""
    return {
        field.name: field.default
        for field in dataclasses.fields(option_class)
        if field.default is not dataclasses.MISSING and not field.metadata.get("handed")
    }


def list_options(method_class: type) -> dict[str, Any]:
    """Return the options of a method that a request may set, with their defaults."""
    allowed = options_outside(method_class)
    return {name: value for name, value in _list_defaults(method_class).items() if name in allowed}


def _resolve_query(cube: Cube, ids: list[Id], labels: list[str] | None) -> tuple[Query, dict[str, Any]]:
    """Return the query of some ids, and its fields: ids of the cube, each once and in order, and labels if any."""
    query = resolve_query(cube, ids, labels)
    if not any(query.labels or ()):
        query = dataclasses.replace(query, labels=None)
    keys, unique_ids = [str(key) for key in ids], cube.objects.ids(query.objects).to_pylist()
    row_by_id = dict(zip(map(str, unique_ids), query.objects.tolist(), strict=True))
    rows = [row_by_id[key] for key in keys] if row_by_id.keys() >= set(keys) else cube.objects.find(keys).rows.tolist()
    unique_rows = list(dict.fromkeys(rows))
    id_by_row = dict(zip(query.objects.tolist(), unique_ids, strict=True))
    fields: dict[str, Any] = {"query": [id_by_row[row] for row in unique_rows]}
    if query.labels is not None:
        label_by_row = dict(zip(query.objects.tolist(), query.labels, strict=True))
        fields["labels"] = [label_by_row[row] for row in unique_rows]
    return query, fields
