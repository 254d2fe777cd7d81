"""Time of greedy with pins and bans relative to that without, by turns.

    python benchmarks/steering.py CUBE [--turns 400] [--each 5]

CUBE is a cube of the ACL Anthology, and the query the authors of ``load_labs``. Every other one of the first cells that
greedy chooses is banned. Pinned are the cells it would choose next, or popular ones: those of the others with most
objects of the query. Prints the minimum milliseconds of all turns and their ratio, from the parsing of pins and bans to
the chosen cells and their values.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.api.construct import choose
from cube2net.api.plan import plan_network
from cube2net.model.cube import Cube
from cube2net.model.node_names import Node
from cube2net.model.query import Query
from cube2net.options import NetworkOptions


def nodes(cells: Array) -> list[Node]:
    return [Node("cell", int(cell)) for cell in cells]


def steerings(cube: Cube, query: Query, asked: dict[str, Any], each: int) -> dict[str, dict[str, list[Node]]]:
    """Return pins and bans that change what greedy chooses, by the kind of pins."""
    chosen = c2n.api.construct_by_name(cube, query, **asked).selection.cells
    held = np.bincount(
        np.concatenate([cube.object_cells[int(row)] for row in query.objects]), minlength=len(cube.cells)
    )
    held[chosen] = 0
    popular = np.argsort(-held, kind="stable")[:each]
    following = c2n.api.construct_by_name(cube, query, bans=nodes(chosen), **asked).selection.cells[:each]
    bans = nodes(chosen[: 2 * each : 2])
    return {
        "the next cells": {"pins": nodes(following), "bans": bans},
        "popular cells": {"pins": nodes(popular), "bans": bans},
    }


def seconds(cube: Cube, query: Query, options: dict[str, Any]) -> float:
    begun = time.perf_counter()
    choose(plan_network(cube, query, NetworkOptions(**options)))
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--each", type=int, default=5)
    given = parser.parse_args()
    cube = c2n.open(given.cube)
    query = cube.query(c2n.load_labs(), skip_missing=True)
    print(f"{cube!r}, {len(query)} objects, {given.each} pins and {given.each} bans, {given.turns} turns")
    print("| objective | pinned | without, ms | with, ms | ratio |\n| --- | --- | --: | --: | --: |")
    for objective, form in (("cover", "hybrid"), ("jaccard", "objects")):
        asked = {"objective": objective, "form": form}
        for what, steering in steerings(cube, query, asked, given.each).items():
            turns = [
                (seconds(cube, query, asked), seconds(cube, query, {**asked, **steering})) for _ in range(given.turns)
            ]
            without, steered = (1e3 * min(times) for times in zip(*turns, strict=True))
            print(f"| {objective} | {what} | {without:.2f} | {steered:.2f} | {steered / without:.2f} |", flush=True)


if __name__ == "__main__":
    main()
