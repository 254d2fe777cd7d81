"""Time of explanations of objects and cells, in the network and not.

    python benchmarks/explanations.py [--cube CUBE] [--turns 15]

The query is the authors of ``load_labs``; the cube of the bundled papers is built unless a folder is given. Every
explanation is of another object or cell; medians are printed. *First* is the first explanation of a network, which
prepares what the others reuse.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.node_names import Node
from cube2net.network.pagerank import compute_scores
from measures.processes import timed

FORMS: dict[str, dict[str, Any]] = {"hybrid": {}, "objects": {"form": "objects"}, "pagerank": {"method": "pagerank"}}

COLUMNS = ("first", "object in it", "nearly in it", "far away", "chosen cell", "other cell", "whole network")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cube", type=Path)
    parser.add_argument("--turns", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = asked.cube or Path(folder) / "cube"
        if asked.cube is None:
            c2n.build(c2n.load_bundled(), out=place)
        cube = c2n.open(place)
        print("| network | " + " | ".join(COLUMNS) + " |")
        print("| --- " + "| --: " * len(COLUMNS) + "|")
        for title, options in FORMS.items():
            network = c2n.api.construct_by_name(cube, cube.query(c2n.load_labs()), **options)
            row = " | ".join(f"{found:.1f} ms" if found else "" for found in measured(cube, network, asked.turns))
            print(f"| {title} | {row} |", flush=True)


def measured(cube: Cube, network: Network, turns: int) -> list[float | None]:
    """Return milliseconds: of the first explanation, and the medians of every kind."""
    rng = np.random.default_rng(0)
    inside, cells = network.objects[len(network.query) :], network.selection.cells
    outside = np.setdiff1d(np.flatnonzero(cube.links.degrees), network.objects)
    free = np.setdiff1d(np.arange(len(cube.cells)), cells)
    score = compute_scores(cube.links, network.query.objects, tolerance=1e-6)
    missed = outside[np.argsort(-score[outside], kind="stable")[: len(inside)]]
    kinds = [("object", inside), ("object", missed), ("object", outside), ("cell", cells), ("cell", free)]
    drawn = [
        [Node(kind, int(row)) for row in rng.choice(rows, min(turns, len(rows)), replace=False)] for kind, rows in kinds
    ]
    c2n.explain(c2n.construct(cube, network.query), Node("object", int(network.query.objects[0])))  # kernels compiled
    first = spent(network, drawn[0][:1])
    return [first, *(spent(network, nodes) for nodes in drawn), spent(network, [None] * turns)]


def spent(network: Network, nodes: Sequence[Node | None]) -> float | None:
    """Return the median time of the explanations of some nodes, in milliseconds."""
    taken = [1000 * timed(lambda node=node: c2n.explain(network, node))[0] for node in nodes]
    return statistics.median(taken) if taken else None


if __name__ == "__main__":
    main()
