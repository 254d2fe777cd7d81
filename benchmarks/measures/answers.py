"""Answers by every method, and how they split into choosing and links."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.network.assembly import induce_links
from measures.literature import person_query
from measures.processes import Results, alone, bare, clocked, median, memory, timed, turns

SIZES = (116, 4236)
CELLS = 20
# As the paper's table III has them, seconds to construct the network, then its nodes and edges (counted twice).
PAPER = {
    116: {
        "one hop": (5, 3_853, 32_882),
        "two hops": (62, 55_724, 540_780),
        "greedy": (3_082, 1_464, 14_892),
        "cube2net": (296, 526, 2_953),
    },
    4236: {
        "one hop": (84, 74_459, 120_803),
        "two hops": (1_128, 434_941, 1_372_892),
        "greedy": (4_194, 10_046, 16_259),
        "cube2net": (314, 6_842, 12_497),
    },
}


def methods() -> dict[str, Any]:
    """Return what is asked, by the name it has on the page; cube2net is learnt anew for every query and done once."""
    hops = c2n.methods.METHODS["hops"]
    return {
        "one hop": hops(),
        "two hops": hops(hops=2),
        "PageRank": "pagerank",
        "greedy": "greedy",
        "anneal": "anneal",
        "cube2net": "cube2net",
    }


def measure(results: Results, cube: Path) -> None:
    """Measure what a fresh process pays once, and the answers to queries of both sizes, each in its own process."""
    results.measure("open", lambda: bare(alone(first, cube, SIZES[0])))
    for size in SIZES:
        results.measure(f"answers-{size:04}", lambda size=size: bare(alone(answers, cube, size)))


def first(folder: Path, size: int) -> dict[str, Any]:
    """Return what it costs to open a cube, to find a query by its ids, and to answer for the first time."""
    before = memory()
    opening, cube = timed(lambda: c2n.open(folder))
    opened = memory()
    rows = person_query(cube, size)
    ids = [str(row) for row in rows]
    fresh = c2n.open(folder)
    finding, query = timed(lambda: fresh.query(ids))
    found = memory()
    if not np.array_equal(query.objects, rows):
        raise SystemExit("the ids of a made-up literature are no longer its row numbers: change the benchmark")
    answering, _ = timed(lambda: c2n.construct(fresh, query, "hops"))
    again, _ = timed(lambda: c2n.construct(fresh, query, "hops"))
    return {
        "size": size,
        "opening": opening,
        "reopening": median(turns(lambda: c2n.open(folder))),
        "finding": finding,
        "finding again": median(turns(lambda: fresh.query(ids))),
        "first": answering,
        "second": again,
        "opened": {name: opened[name] - before[name] for name in ("anon", "file")},
        "found": {name: found[name] - before[name] for name in ("anon", "file")},
        "bytes": sum(path.stat().st_size for path in Path(folder).iterdir()),
        "cube": {"objects": len(cube.objects), "links": cube.links.count, "cells": len(cube.cells)},
    }


def answers(folder: Path, size: int) -> dict[str, Any]:
    """Return the time of every method for one query: medians of several turns."""
    cube = c2n.open(folder)
    rows = person_query(cube, size)
    query = cube.query(rows.tolist())
    found: dict[str, Any] = {}
    for name, method in methods().items():
        found[name] = _answer(
            lambda method=method: c2n.construct(cube, query, method, CELLS, form="objects"), name == "cube2net"
        )
        if name == "one hop":
            nodes = c2n.construct(cube, query, method, CELLS, form="objects").objects
            found["links alone"] = _links(cube, nodes)
    holding = np.unique(np.concatenate([cube.object_cells[int(row)] for row in rows]))
    return {"size": len(rows), "cells": CELLS, "touched": len(holding), "methods": found}


def _answer(work: Callable[[], Any], once: bool) -> dict[str, Any]:
    """Return the medians of an answer; the first turn warms up, unless it takes so long that this is no matter."""
    seconds, cpu, network = clocked(work)
    taken = [(seconds, cpu, network.seconds)]
    if not once:
        if seconds < 1.0:
            taken = []
        while len(taken) < 3 or (len(taken) < 15 and sum(turn[0] for turn in taken) < 4.0):
            seconds, cpu, network = clocked(work)
            taken.append((seconds, cpu, network.seconds))
    parts = [turn[2] for turn in taken]
    names = list(dict.fromkeys(name for part in parts for name in part))
    return {
        "seconds": median([turn[0] for turn in taken]),
        "cpu": median([turn[1] for turn in taken]),
        "turns": len(taken),
        "parts": {name: median([part.get(name, 0.0) for part in parts]) for name in names},
        "nodes": len(network),
        "links": len(network.source),
        "value": network.selection.value,
    }


def _links(cube: Cube, nodes: Any) -> dict[str, Any]:
    turned = [clocked(lambda: induce_links(cube.links, nodes)) for _ in range(10)][1:]
    return {
        "seconds": median([turn[0] for turn in turned]),
        "cpu": median([turn[1] for turn in turned]),
        "turns": len(turned),
        "parts": {},
        "nodes": len(nodes),
        "links": len(turned[0][2][0]),
    }
