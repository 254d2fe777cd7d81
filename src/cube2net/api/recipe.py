"""Describe how a network was made, as a recipe."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net import __version__
from cube2net.errors import quote
from cube2net.model.cube import get_lineage
from cube2net.model.interfaces import find_name, list_options
from cube2net.model.names import CELL, OBJECT, Node
from cube2net.model.network import Network
from cube2net.model.recipe import FORMAT, Recipe, network_fingerprint
from cube2net.options import OPTIONS, STEERING
from cube2net.selection.objectives import OBJECTIVES, CustomObjective

if TYPE_CHECKING:
    from cube2net.api.plan import Plan

LEFT_OUT = ("save",)
"""Options of methods that say where something is written: not what is chosen."""
FILES = ("policy",)
"""Options of methods that name a file; recipes record only whether there is one."""


def make_recipe(plan: Plan, network: Network, methods: Mapping[str, Any], seed: int) -> Recipe:
    """Return the recipe of the network of a plan."""
    lineage = get_lineage(plan.whole)
    problems: list[str] = []
    method = _describe(plan.method, methods, "method", problems)
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
