"""How long the questions about a network take: why, what if, where and against whom, warm, on one cube.

    python benchmarks/why.py CUBE [--times 15]

CUBE is the folder of the bundled papers' cube (``cube2net demo`` makes one). The query is that of the 116 authors of
``load_labs``; contrasted are 116 authors of one area and 116 of another, and the 5,000 that most cells hold and the
next 5,000. Beside what is asked of a network stands how long it takes to make that network. Every piece of work is done
once before it is timed; then all are done in turn, again and again, so that what else the machine does falls on all
alike, and questions about nodes are about another node each time. Printed are the median and the least time by the
clock, the median of the processor's, and what it may take. Choosing with ten pins and bans is told as a ratio to
choosing without, of the least times of the processor; once with the cells by number, and once by their labels, which
have to be looked up. What the installed version does not have is left out and named.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.names import Node
from cube2net.model.network import Network
from cube2net.model.query import Query

SIDE, MANY = 116, 5_000
STEERED = 5
"""So many cells are pinned and so many banned."""
MOST = {"explain": 20.0, "without": 20.0, "with_": 20.0, "drill": 200.0, "contrast": 200.0}
"""Milliseconds that each may take, by the name of its function."""
RATIO = 1.2

Work = dict[str, Callable[[], object]]


def main() -> None:
    """Time everything in turn and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cube")
    parser.add_argument("--times", type=int, default=15)
    given = parser.parse_args()
    cube = c2n.open(given.cube)
    network = c2n.construct(cube, c2n.load_labs())
    print(f"{cube}\n{network}\n")
    work = {name: done for name, done in questions(cube, network).items() if has(name)}
    work |= choices(cube) if has("without") else {}
    clock, processor = timed(work, given.times)
    print(f"{'':46} {'median':>10} {'minimum':>10} {'CPU':>10} {'limit':>10}")
    for name in work:
        most = MOST.get(name.partition(":")[0]) if f"{MANY:,}" not in name else None
        print(
            f"{name:46} {statistics.median(clock[name]):7.1f} ms {min(clock[name]):7.1f} ms "
            f"{statistics.median(processor[name]):7.1f} ms {'' if most is None else f'{most:7.0f} ms'}"
        )
    for objective in ("cover", "jaccard"):
        for named in ("number", "labels"):
            free, steered = f"greedy, {objective}", f"greedy, {objective}, ten pins and bans by {named}"
            if steered in work:
                ratio = min(processor[steered]) / min(processor[free])
                print(f"{steered}: {ratio:.2f} times as long as without (at most {RATIO})")
    missing = sorted({name.partition(":")[0] for name in questions(cube, network) if not has(name)})
    if missing:
        print(f"not in this version: {', '.join(missing)}")


def has(name: str) -> bool:
    """Return whether the package has the function that a piece of work is named after."""
    return hasattr(c2n, name.partition(":")[0])


def questions(cube: Cube, network: Network) -> Work:
    """Return what may be asked of a network and of a cube."""
    query, inside = network.query.objects, network.objects
    others = np.random.default_rng(0).permutation(np.setdiff1d(np.flatnonzero(cube.links.degrees), inside))
    named = {
        "an object of the query": cube.objects.ids(query).to_pylist(),
        "a neighbour": cube.objects.ids(np.setdiff1d(inside, query)).to_pylist(),
        "an object that is not there": cube.objects.ids(others).to_pylist(),
        "a cell": list(map(cube.cell, network.selection.cells.tolist())),
    }
    areas = c2n.load_areas()
    one, two = (
        cube.query([name for name, label in areas.items() if label == area][:SIDE])
        for area in ("machine translation", "dialogue")
    )
    busy = np.argsort(-cube.object_cells.sizes, kind="stable").astype(np.int32)
    most, next_most = (Query(np.sort(busy[start : start + MANY])) for start in (0, MANY))
    labs = cube.query(c2n.load_labs())
    first = c2n.drill(cube, labs, k=1).cells[0]
    return {
        "construct: the network": lambda: c2n.construct(cube, labs),
        **{f"explain: {what}": in_turn(partial(c2n.explain, network), nodes) for what, nodes in named.items()},
        **{
            f"without: {what}": in_turn(network.without, nodes)
            for what, nodes in named.items()
            if "not there" not in what
        },
        "with_: an object": in_turn(network.including, named["an object that is not there"]),
        "drill: the whole cube": lambda: c2n.drill(cube, labs),
        f"drill: {first}": lambda: c2n.drill(cube, labs, first),
        f"contrast: {SIDE} against {SIDE}": lambda: c2n.contrast(cube, one, two),
        f"contrast: {MANY:,} against {MANY:,}": lambda: c2n.contrast(cube, most, next_most),
        "to_text: 4,000 tokens": network.to_text,
    }


def in_turn(ask: Callable[[Any], object], nodes: Sequence[Any]) -> Callable[[], object]:
    """Return what asks about another node each time, so that nothing is known from the time before."""
    left = cycle(nodes)
    return lambda: ask(next(left))


def choices(cube: Cube) -> Work:
    """Return choosing cells by greedy, without steering and with ten pins and bans, for two objectives."""
    labs = cube.query(c2n.load_labs())
    work: Work = {}
    for objective in ("cover", "jaccard"):
        asked: dict[str, Any] = {"method": "greedy", "objective": objective, "form": "cells"}
        free = c2n.api.construct_by_name(cube, labs, **asked).selection.cells.tolist()
        pins, bans = free[STEERED : 2 * STEERED], free[:STEERED]
        work[f"greedy, {objective}"] = partial(c2n.api.construct_by_name, cube, labs, **asked)
        for named, name in {"number": partial(Node, "cell"), "labels": cube.cell}.items():
            steering: dict[str, Any] = {"pins": list(map(name, pins)), "bans": list(map(name, bans))}
            work[f"greedy, {objective}, ten pins and bans by {named}"] = partial(
                c2n.construct, cube, labs, **asked, **steering
            )
    return work


def timed(work: Work, times: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return the milliseconds by the clock and of the processor that each piece of work took each time."""
    for done in work.values():
        done()
    clock: dict[str, list[float]] = {name: [] for name in work}
    processor: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(times):
        for name, done in work.items():
            begin, spent = time.perf_counter(), time.process_time()
            done()
            clock[name].append(1e3 * (time.perf_counter() - begin))
            processor[name].append(1e3 * (time.process_time() - spent))
    return clock, processor


if __name__ == "__main__":
    main()
