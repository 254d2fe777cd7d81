"""The network of a question, and places for its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cube2net import pipeline
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
    request = desk.request(question["ask"])
    network = desk.network(request, progress)
    about: Any = pipeline.summary(network)
    pins: Any = question["ask"].get("pins") or []
    pinned = {tuple(pin["cell"]) for pin in pins if "cell" in pin}
    prices = pipeline.prices(network, progress=progress) if question.get("prices") else ()
    return {
        "ask": desk.sealed_words(request),  # type: ignore[typeddict-item]
        "fingerprint": network.recipe.made["checksum"] if network.recipe else "",
        "sentence": pipeline.said_of_network(network, about),
        "note": about["note"] or "",
        "certificate": pipeline.certificate_of(about),
        "value": about["value"],
        "bound": about["bound"],
        "proven": about["proven"],
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
            for labels, told in zip(network.labels, about["cells"], strict=True)
        ],
        "dimensions": list(network.dimensions),
        "prices": [
            {"kind": each.kind, "title": each.title, "price": each.price, "sentence": each.sentence} for each in prices
        ],
        "summary": about,
        "seconds": dict(network.seconds),
    }


def layout(desk: Desk, question: LayoutQuestion, progress: Progress) -> LayoutAnswer:
    """Return places for the nodes of a question's network."""
    network = desk.network(question["ask"], progress)
    return {"places": pipeline.layout_network(network, start=question.get("start")).tolist()}


def _nodes(network: Network) -> NodeColumns:
    table = network.nodes
    others: Role = "near" if network.form == "woven" else "brought"
    steering = None if network.question is None else network.question.steering
    pinned = set() if steering is None else set(steering.objects("pins"))
    roles: list[Role] = ["query"] * len(network.query)
    roles += ["pinned" if row in pinned else others for row in network.objects[len(network.query) :].tolist()]
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
