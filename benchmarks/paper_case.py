"""The paper's case study on our data: cells as in its Table IV, close-ups as in Figure 4, and its first actions."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from close_ups import CloseUp, close_ups
from cube2net.mining.node_embeddings import EMBEDDINGS
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.selection.rl.cube2net import Cube2net
from cube2net.selection.rl.episodes import PRESETS

LOOKS, FIRST, ACTIONS = 3, 5, 2_000
CASES: dict[str, Any] = {"CubeGreedy": "greedy", "cube2net": Cube2net()}


def case_of(cube: Cube, query: Query) -> dict[str, Any]:
    """Return what the page says of the first query beside its scores, in plain values."""
    network = c2n.construct(cube, query, "exact", n_cells=20, form="objects", objective="jaccard")
    return {
        "dimensions": [dimension.name for dimension in cube.dimensions],
        "objects": len(cube.objects),
        "query": len(query),
        "cells": take_first_cells(cube, query),
        "best": {"value": round(network.selection.value, 5), "proven": network.selection.proven},
        "letter": first_actions(cube),
        "twice": sorted(name for name, count in Counter(names_of(cube, query)).items() if count > 1),
    }


def names_of(cube: Cube, query: Query) -> list[str]:
    """Return the names of a query's objects, which unlike ids may stand twice."""
    names: list[str] = c2n.construct(cube, query, "none", form="objects").nodes.to_arrow()["name"].to_pylist()
    return names


def take_first_cells(cube: Cube, query: Query) -> list[list[Any]]:
    """Return the first cells that are chosen: method, rank, labels, how many objects, how many of the query."""
    rows = []
    for title, method in CASES.items():
        network = c2n.construct(cube, query, method, n_cells=20, form="objects", objective="jaccard")
        for rank, cell in enumerate(network.selection.cells[:FIRST].tolist(), 1):
            members = cube.cells.members[cell]
            inside = len(np.intersect1d(members, query.objects))
            rows.append([title, rank, list(cube.cell(cell)), len(members), inside])
    return rows


def first_actions(cube: Cube) -> dict[str, Any]:
    """Return which cells the first actions of the paper's agent can reach, and how long its vectors are."""
    values = c2n.api.embed_cells(cube, "words", scale="none").values.astype(np.float64)
    rng = np.random.default_rng(0)
    actions = rng.normal(0.5, PRESETS["paper"].spread, size=(ACTIONS, values.shape[1]))
    nearest = ((values**2).sum(1) - 2 * actions @ values.T).argmin(1)
    bounds = range(0, values.shape[1] + 1, values.shape[1] // len(cube.dimensions))
    lengths = [float(np.linalg.norm(values[:, first:last], axis=1).mean()) for first, last in pairwise(bounds)]
    return {
        "lengths": {each.name: round(one, 1) for each, one in zip(cube.dimensions, lengths, strict=True)},
        "actions": ACTIONS,
        "spread": PRESETS["paper"].spread,
        "reached": len(np.unique(nearest)),
        "cells": len(values),
    }


def pictures(cube: Cube, query: Query, folder: Path) -> None:
    """Draw the pair that cube2net's network draws closer, and the pair that it draws apart."""
    network, alone = (c2n.construct(cube, query, method, form="objects") for method in (Cube2net(), "none"))
    embedding = EMBEDDINGS["deepwalk"]()
    before, after = (
        np.stack([embedding.embed(one, seed=seed)[: len(query)] for seed in range(LOOKS)]) for one in (alone, network)
    )
    for found in close_ups(network, before, after, query.labels, most=18):
        print(found, draw(found, folder / f"paper-{found.kind}.png"))


def draw(found: CloseUp, path: Path) -> Path:
    """Draw the pair, what both are linked to between them, and what one is linked to outside."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    network, (one, other) = found.network, found.pair
    names, labels, ids = (network.nodes.to_arrow()[column].to_pylist() for column in ("name", "label", "id"))
    often = Counter(names[node] for node in found.nodes)
    names = [
        f"{name} ({id_})" if often[name] > 1 and name != id_ else name for name, id_ in zip(names, ids, strict=True)
    ]
    linked = {frozenset(ends) for ends in zip(network.source.tolist(), network.target.tolist(), strict=True)}
    shared = [node for node in found.nodes[2:] if node in found.shared]
    sides = [
        [node for node in found.nodes[2:] if node not in found.shared and frozenset((node, end)) in linked]
        for end in found.pair
    ]
    places = {one: (-1.0, 0.0), other: (1.0, 0.0)}
    for nodes, x in ((shared, 0.0), (sides[0], -2.2), (sides[1], 2.2)):
        for number, node in enumerate(nodes):
            places[node] = (x, 0.5 * (number - (len(nodes) - 1) / 2) + (0.25 if x == 0.0 and len(nodes) % 2 else 0.0))
    known = sorted({label for label in labels[: len(network.query)] if label})
    colours = dict(zip(known, ("#1f6f8b", "#b3541e", "#2e7d32", "#7b3fa0"), strict=False))
    figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for a, b in (sorted(pair) for pair in linked if pair <= places.keys() and len(pair) == 2):
        inside = b < len(network.query)
        axis.plot(*zip(places[a], places[b], strict=True), color="#888888", linewidth=2.4 if inside else 0.8, zorder=1)
    for node, (x, y) in places.items():
        fill = colours.get(labels[node], "white") if node < len(network.query) else "white"
        axis.scatter([x], [y], s=150 if node in found.pair else 60, color=fill, edgecolor="#444444", zorder=2)
        side = {True: "left", False: "right"}[x > 0] if abs(x) > 1.5 else "center"
        away = (0.12 if x > 0 else -0.12) if abs(x) > 1.5 else 0.0
        weight = "bold" if node in found.pair else "normal"
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        up = 0.0 if away else 0.17
        axis.text(x + away, y + up, names[node], ha=side, va="center", fontsize=8, weight=weight, bbox=behind)
    said = {"closer": "Drawn closer: same institution", "apart": "Drawn apart: different institutions"}[found.kind]
    axis.set_title(f"{said}; cosine {found.before:+.2f} → {found.after:+.2f}", fontsize=10)
    for label, colour in colours.items():
        axis.scatter([], [], color=colour, label=label)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    axis.set_xlim(-4.0, 4.0)
    axis.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
