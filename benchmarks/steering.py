"""How much slower greedy is with pins and bans than without: both in one run, by turns.

    python benchmarks/steering.py CUBE [--turns 60] [--each 5]

CUBE is a cube of the ACL Anthology. Of the cells that greedy chooses for ``labs`` every other one of the first is
banned, and of the cells that it does not choose those that hold most of the query are pinned: so many of each. Prints,
for two objectives, the median milliseconds and the median ratio of turns, of choosing (steering, weights, greedy) and
of the whole network.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.pipeline.construct import choose
from cube2net.pipeline.planning import plan
from cube2net.records import Cube, Node, Query


def steering(cube: Cube, query: Query, asked: dict[str, Any], each: int) -> dict[str, list[Node]]:
    """Return pins and bans that change what greedy chooses."""
    chosen = c2n.construct(cube, query, **asked).selection.cells
    held = np.bincount(np.concatenate([cube.homes[int(row)] for row in query.objects]), minlength=len(cube.cells))
    held[chosen] = 0
    pins, bans = np.argsort(-held, kind="stable")[:each], chosen[: 2 * each : 2]
    return {word: [Node("cell", int(cell)) for cell in cells] for word, cells in (("pins", pins), ("bans", bans))}


def seconds(make: Callable[[], object]) -> float:
    begun = time.perf_counter()
    make()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--each", type=int, default=5)
    given = parser.parse_args()
    cube = c2n.open_cube(given.cube)
    query = cube.query(c2n.load_labs(), skip_missing=True)
    print(f"{cube!r}, {len(query)} objects, {given.each} pins and {given.each} bans, {given.turns} turns")
    print("| objective | what | without, ms | with, ms | ratio |\n| --- | --- | --: | --: | --: |")
    for objective, form in (("cover", "woven"), ("jaccard", "objects")):
        asked = {"objective": objective, "form": form}
        steered = {**asked, **steering(cube, query, asked, given.each)}

        def chosen(options: dict[str, Any]) -> None:
            choose(plan(cube, query, "greedy", **options))

        def whole(options: dict[str, Any]) -> None:
            c2n.construct(cube, query, "greedy", **options)

        for what, make in (("the choice", chosen), ("the network", whole)):
            turns = [
                (seconds(lambda: make(asked)), seconds(lambda: make(steered)))  # noqa: B023
                for _ in range(given.turns + 3)
            ][3:]
            without, with_ = (1e3 * median(times) for times in zip(*turns, strict=True))
            ratio = median(after / before for before, after in turns)
            print(f"| {objective} | {what} | {without:.2f} | {with_:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
