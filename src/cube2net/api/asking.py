"""A question in JSON as the pipeline takes it."""

from __future__ import annotations

from typing import Any

from cube2net import pipeline
from cube2net.api.shapes import Ask, Node, View
from cube2net.records import Cube

PARAMETERS = ("method", "objective", "form", "m", "near", "levels", "max_nodes", "like", "unlike", "bound", "seed")
"""What a question and :func:`cube2net.construct` call by the same name."""


def viewed(cube: Cube, view: View) -> Cube:
    """Return the part of a cube that a question looks at."""
    return pipeline.view_cube(
        cube,
        roll_up=list(view.get("roll_up", {}).items()),
        where=view.get("where", {}),
        between=view.get("between"),
        kind=view.get("kind", ()),
    )


def node_given(node: Node) -> Any:
    """Return a cell or an object as the pipeline takes it: labels, or an id."""
    return tuple(node["cell"]) if "cell" in node else str(node["object"])


def parameters_of(cube: Cube, ask: Ask) -> dict[str, Any]:
    """Return the parameters of :func:`cube2net.construct` that a question means, its cube excepted."""
    given = shortest(ask)
    parameters: dict[str, Any] = {name: given[name] for name in PARAMETERS if name in given}
    for word in ("pins", "bans"):
        parameters[word] = [node_given(node) for node in given.get(word, [])]
    query = cube.query([str(key) for key in ask["query"]], ask.get("labels"))
    return {"query": query, **parameters, **given.get("options", {})}


def shortest(ask: Ask) -> dict[str, Any]:
    """Return a question without what says nothing: empty lists, None, and the cube it was asked of."""
    return {name: value for name, value in ask.items() if name != "cube" and value not in (None, [], {}, "", False)}
