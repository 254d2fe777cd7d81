"""What is said of a network: what its form allows, how large it will be, and what it is once it is made."""

from __future__ import annotations

from typing import Any

import numpy as np

from cube2net.errors import ParameterError
from cube2net.records import Cube, Form, Network, Query, Selection

# A network that brings more objects than this, and more than so many for each of the query, is announced.
MANY, MANY_EACH = 1_000, 20


def form_of(kind: str, **given: Any) -> Form:
    """Return a form; what was given and means nothing in it is refused."""
    form = Form(kind, **{name: value for name, value in given.items() if value is not None})
    for name in ("membership", "trust"):
        if given.get(name) is not None and not form.has_cells:
            raise ParameterError(f"{name} is about links to cells, and the form 'objects' has no cells as nodes")
    if given.get("trust") is not None and form.kind != "woven" and form.membership != "need":
        raise ParameterError(f"trust weighs memberships by need, got the membership {form.membership!r}")
    for name in ("near", "near_weight"):
        if given.get(name) is not None and kind != "woven":
            raise ParameterError(f"{name} is about the near objects of the form 'woven', got the form {kind!r}")
    return form


def brings_objects(selection: Selection) -> bool:
    """Return whether a selection has objects that no cell of it brought."""
    return not len(selection.cells) and len(selection.objects) > 0


def room_for_near(query: Query, form: Form, cells: int, max_nodes: int | None) -> int:
    """Return how many near objects there are to be: as many as wanted, or as a limit on nodes leaves room for."""
    if form.kind != "woven":
        return 0
    wanted = len(query) if form.near is None else form.near
    return wanted if max_nodes is None else max(0, min(wanted, max_nodes - len(query) - cells))


def said_of_size(cube: Cube, query: Query, selection: Selection, form: Form, max_nodes: int | None) -> str:
    """Return a sentence that says how large a network will be, where that is much more than the query asks for."""
    near = room_for_near(query, form, len(selection.cells), max_nodes)
    brought = len(selection.objects) if form.has_brought else min(near, len(cube.objects) - len(query))
    if brought <= max(MANY, MANY_EACH * len(query)):
        return ""
    cells = f"the {len(selection.cells):,} cells hold" if len(selection.cells) else "the method brings"
    smaller = "m, max_nodes or the form 'woven' makes" if len(selection.cells) else "max_nodes makes"
    if form.kind == "woven":
        cells, smaller = "near asks for up to", "a smaller near makes"
    return f"{cells} {brought:,} objects for a query of {len(query):,}: {smaller} the network smaller"


def said_of_limit(query: Query, max_nodes: int | None) -> str:
    """Return a sentence where a limit on nodes is below the query alone, which always stays whole."""
    if max_nodes is None or max_nodes >= len(query):
        return ""
    return f"the query alone has {len(query):,} nodes, more than max_nodes {max_nodes:,}: nothing is added to it"


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    selection, settings = network.selection, network.settings
    gains = selection.gains(settings["empty_value"]).tolist()
    of_query = network.brought_by.indices[: network.brought_by.indptr[len(network.query)]]
    in_query = np.bincount(of_query, minlength=len(selection.cells)).tolist()
    brought = np.union1d(network.query.objects, selection.objects)
    held = network.brought_by.sizes[: len(network.query)] > 0
    joined = np.zeros(len(network), dtype=bool)
    joined[network.source] = joined[network.target] = True
    return {
        "method": settings["method"],
        "m": settings["m"],
        "objective": settings["objective"],
        "form": network.form,
        "levels": settings["levels"],
        "near": settings["near"],
        "near_weight": settings["near_weight"],
        "keep": settings["keep"],
        "membership": settings["membership"],
        "trust": settings["trust"],
        "value": selection.value if len(selection.cells) else None,
        "bound": selection.bound,
        "gap": selection.gap,
        "proven": None if selection.bound is None else selection.proven,
        "note": selection.note or None,
        "cells": [
            {
                "labels": dict(zip(network.dimensions, labels, strict=True)),
                "gain": gain,
                "objects": size,
                "query_objects": shared,
            }
            for labels, gain, size, shared in zip(
                network.labels, gains, settings["cell_objects"], in_query, strict=True
            )
        ],
        "nodes": len(network),
        "links": len(network.source),
        "left_out": 0 if network.form in ("cells", "woven") else len(brought) - len(network.objects),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "query_held": int(held.sum()),
        "query_loose": int((~joined[: len(network.query)]).sum()),
        "chosen": settings.get("chosen"),
        "tried": settings.get("tried"),
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }
