"""The network of a question, and places for its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cube2net import pipeline
from cube2net.api.asking import shortest
from cube2net.api.network_shapes import (
    ConstructQuestion,
    LayoutAnswer,
    LayoutQuestion,
    NetworkAnswer,
    NodeColumns,
    Role,
)
from cube2net.progress import Progress
from cube2net.records import Network
from cube2net.records.cell_titles import cell_title

if TYPE_CHECKING:
    from cube2net.api.desk import Desk


def construct(desk: Desk, question: ConstructQuestion, progress: Progress) -> NetworkAnswer:
    """Return the network of a question."""
    network = desk.network(question["ask"], progress)
    summary = pipeline.summary(network)
    pinned = {tuple(pin["cell"]) for pin in question["ask"].get("pins", []) if "cell" in pin}
    bound, gap, proven = summary["bound"], summary["gap"], summary["proven"]
    return {
        "ask": shortest(question["ask"]),  # type: ignore[typeddict-item]
        "fingerprint": network.recipe.made["checksum"] if network.recipe else "",
        "sentence": str(network),
        "note": summary["note"] or "",
        "certificate": "" if bound is None else pipeline.certificate(bound, gap, bool(proven)),
        "value": summary["value"],
        "bound": bound,
        "proven": proven,
        "nodes": _nodes(network),
        "links": {
            "source": network.source.tolist(),
            "target": network.target.tolist(),
            "weight": network.weight.tolist(),
        },
        "cells": [
            {
                "labels": list(labels),
                "title": cell_title(labels),
                "gain": told["gain"],
                "objects": told["objects"],
                "query_objects": told["query_objects"],
                "share": told["query_objects"] / len(network.query),
                "pinned": labels in pinned,
            }
            for labels, told in zip(network.labels, summary["cells"], strict=True)
        ],
        "dimensions": list(network.dimensions),
        "prices": [],
        "summary": summary,
        "seconds": dict(network.seconds),
    }


def layout(desk: Desk, question: LayoutQuestion, progress: Progress) -> LayoutAnswer:
    """Return places for the nodes of a question's network."""
    return {"places": pipeline.layout_network(desk.network(question["ask"], progress)).tolist()}


def _nodes(network: Network) -> NodeColumns:
    table = network.nodes
    others: Role = "near" if network.form == "woven" else "brought"
    roles: list[Role] = ["query"] * len(network.query)
    roles += [others] * (len(network.objects) - len(network.query))
    roles += ["cell"] * len(network.cells)
    cells = dict(zip(network.selection.cells.tolist(), network.labels, strict=True))
    labels: list[list[str] | None] = [None] * len(network.objects)
    labels += [list(cells[number]) for number in network.cells.tolist()]
    return {
        "id": table["id"].to_pylist(),
        "name": table["name"].to_pylist(),
        "kind": table["kind"].to_pylist(),
        "role": roles,
        "label": table["label"].to_pylist(),
        "query_links": table["query_links"].to_pylist(),
        "cells": table["cells"].to_pylist(),
        "labels": labels,
    }
