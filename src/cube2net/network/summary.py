"""What a network is, as values that JSON can carry, and sentences about its size, limits, scope and bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cube2net._util.arrays import Array, Ragged, take_rows
from cube2net._util.text import counted
from cube2net.errors import listed
from cube2net.model.cube import Cube
from cube2net.model.network import Form, Network
from cube2net.model.query import Query
from cube2net.model.selection import OPEN, Scope, Selection
from cube2net.network.assembly import may_come, pinned, room_for_near

MANY_OBJECTS, MANY_OBJECTS_EACH = 1_000, 20
"""A network that brings more objects, and more for each of the query, is announced."""


def summarize(network: Network) -> dict[str, Any]:
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
        "agreement": settings["agreement"],
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
            for labels, gain, size, shared in zip(network.labels, gains, network.cell_objects, in_query, strict=True)
        ],
        "nodes": len(network),
        "links": len(network.source),
        "left_out": 0 if network.form in ("cells", "woven") else len(brought) - len(network.objects),
        "directed": settings.get("directed", False),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "query_held": int(held.sum()),
        "query_loose": int((~joined[: len(network.query)]).sum()),
        "chosen": settings.get("chosen"),
        "tried": settings.get("tried"),
        **{word: settings.get(word, []) for word in ("pins", "bans", "like", "unlike")},
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }


def certificate(bound: float, gap: float, proven: bool, *, whole: bool = False) -> str:
    """Return the sentence for an upper bound; its numbers are rounded up, so that they stay true.

    >>> certificate(0.12341, 0.0228, False)
    'at most 0.1235 is possible: within 2.3 % of the best'
    >>> certificate(348.0, 0.0517, False, whole=True)
    'at most 348 is possible: within 5.2 % of the best'
    >>> certificate(0.1234, 0.0, True)
    'proven best: no choice within the limits is worth more'
    """
    if proven:
        return "proven best: no choice within the limits is worth more"
    most, share = math.ceil(bound * 1e4 - 1e-6) / 1e4, math.ceil(gap * 1e3 - 1e-6) / 10
    said = f"{bound:,.0f}" if whole else f"{most:.4f}"
    return f"at most {said} is possible" + (f": within {max(share, 0.1):.1f} % of the best" if share < 100 else "")


def certificate_of(about: Mapping[str, Any]) -> str:
    """Return how far from the best possible a choice of cells is, where that is known."""
    if about["bound"] is None or not about["cells"]:
        return ""
    return certificate(about["bound"], about["gap"], about["proven"], whole=about["objective"] == "cover")


def said_of_network(network: Network, about: Mapping[str, Any]) -> str:
    """Return what is in a network and why it is good, in one sentence."""
    count, cells = len(network.query), len(network.selection.cells)
    others = len(network.objects) - count
    nodes = [f"{counted(count, 'object')} of the query"]
    if others and network.form == "woven":
        nodes.append(counted(others, "near object"))
    elif others:
        by = f" that {counted(cells, 'cell')} bring{'s' * (cells == 1)}" if cells and not len(network.cells) else ""
        nodes.append(f"{others:,} more{by}")
    nodes += [counted(len(network.cells), "cell")] if len(network.cells) else []
    listed = f"{', '.join(nodes[:-1])}{' and ' if nodes[1:] else ''}{nodes[-1]}"
    said = [f"{listed}, {counted(len(network.source), 'link')}"]
    if cells:
        hold = "the cells hold" if cells > 1 else "the cell holds"
        said.append(f"{hold} {about['query_held']:,} of the {count:,}, {about['objective']} {_worth(about)}")
    return "; ".join(filter(None, [*said, certificate_of(about)]))


def _worth(about: Mapping[str, Any]) -> str:
    return f"{about['value']:,.0f}" if about["objective"] == "cover" else f"{about['value']:.4f}"


def describe_missing_links(cube: Cube, network: Network, scope: Scope) -> str:
    """Return why no link joins the objects of a network, as far as that can be told; nothing where one does."""
    if len(network.source) or len(network.objects) < 2:
        return ""
    others = np.unique(take_rows(Ragged(cube.links.indptr, cube.links.indices), network.objects).indices)
    if not len(others):
        return "no link joins these objects: the cube has none that leads to one of them"
    own, theirs = (_kinds(cube, rows) for rows in (network.objects, others))
    if own & theirs:
        return "no link joins these objects"
    said = f"{listed(sorted(own))} objects are linked only to {listed(sorted(theirs))} objects"
    barred = scope.barred is not None and bool(scope.barred[others].all())
    return f"no link joins these objects: {said}{', and none of these may be brought' if barred else ''}"


def _kinds(cube: Cube, rows: Array) -> set[str]:
    return set(cube.objects.table["kind"].take(rows).drop_null().unique().to_pylist())


def describe_size(
    cube: Cube, query: Query, selection: Selection, form: Form, max_nodes: int | None, scope: Scope = OPEN
) -> str:
    """Return a sentence that says how large a network will be, where that is much more than the query asks for."""
    near = room_for_near(query, form, len(selection.cells), max_nodes)
    others = len(cube.objects) - len(query) if scope.barred is None else int((~scope.barred).sum())
    brought = len(may_come(selection.objects, scope)) if form.has_brought else min(near, others)
    if brought <= max(MANY_OBJECTS, MANY_OBJECTS_EACH * len(query)):
        return ""
    cells = f"the {len(selection.cells):,} cells hold" if len(selection.cells) else "the method brings"
    smaller = "m, max_nodes or the form 'woven' makes" if len(selection.cells) else "max_nodes makes"
    if form.kind == "woven":
        cells, smaller = "near asks for up to", "a smaller near makes"
    return f"{cells} {brought:,} objects for a query of {len(query):,}: {smaller} the network smaller"


def describe_limit(query: Query, max_nodes: int | None) -> str:
    """Return a sentence where a limit on nodes is below the query alone, which always stays whole."""
    if max_nodes is None or max_nodes >= len(query):
        return ""
    return f"the query alone has {len(query):,} nodes, more than max_nodes {max_nodes:,}: nothing is added to it"


def describe_scope(query: Query, scope: Scope, by: Sequence[str] = ("where", "between", "kind", "bans")) -> str:
    """Return a sentence where nobody may be brought to a query; ``by`` are the words that say so."""
    if scope.barred is None or len(pinned(query, scope)):
        return ""
    if int((~scope.barred).sum()) > int((~scope.barred[query.objects]).sum()):
        return ""
    words = " and ".join(filter(None, [", ".join(by[:-1]), *by[-1:]]))
    return f"no object is brought: none outside the query is allowed by {words}"
