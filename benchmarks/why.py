"""Times of questions about a network: explain, what if, drill and contrast, warm, on one cube.

    python benchmarks/why.py CUBE [--times 15]

CUBE is the cube of the bundled papers (``cube2net demo`` makes one). The query is the 116 authors of ``load_labs``.
Contrasts are between 116 authors of two areas each, and between the 5,000 objects in most cells and the next 5,000.
Every question is asked once before it is timed; then all are asked in turn, each time about another node, so that
other load on the machine affects all alike. Prints the median and minimum of the wall-clock time and the median of the
processor time.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query
from measures.processes import clocked

SIDE, MANY = 116, 5_000
LIMITS_MS = {"explain": 20.0, "without": 20.0, "including": 20.0, "drill": 200.0, "contrast": 200.0}

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
    work = questions(cube, network)
    clock, processor = time_in_turn(work, given.times)
    print(f"{'':46} {'median':>10} {'minimum':>10} {'CPU':>10} {'limit':>10}")
    for name in work:
        limit = LIMITS_MS.get(name.partition(":")[0]) if f"{MANY:,}" not in name else None
        print(
            f"{name:46} {statistics.median(clock[name]):7.1f} ms {min(clock[name]):7.1f} ms "
            f"{statistics.median(processor[name]):7.1f} ms {'' if limit is None else f'{limit:7.0f} ms'}"
        )


def questions(cube: Cube, network: Network) -> Work:
    """Return the questions by name."""
    query, inside = network.query.objects, network.objects
    others = np.random.default_rng(0).permutation(np.setdiff1d(np.flatnonzero(cube.links.degrees), inside))
    named = {
        "an object of the query": cube.objects.ids(query).to_pylist(),
        "a neighbour": cube.objects.ids(np.setdiff1d(inside, query)).to_pylist(),
        "an object that is not there": cube.objects.ids(others).to_pylist(),
        "a cell": list(network.labels),
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
        "including: an object": in_turn(network.including, named["an object that is not there"]),
        "drill: the whole cube": lambda: c2n.drill(cube, labs),
        f"drill: {first}": lambda: c2n.drill(cube, labs, first),
        f"contrast: {SIDE} against {SIDE}": lambda: c2n.contrast(cube, one, two),
        f"contrast: {MANY:,} against {MANY:,}": lambda: c2n.contrast(cube, most, next_most),
        "to_text: 4,000 tokens": network.to_text,
    }


def in_turn(ask: Callable[[Any], object], nodes: Sequence[Any]) -> Callable[[], object]:
    """Return a function that asks about another node each time, so that no answer is cached."""
    left = cycle(nodes)
    return lambda: ask(next(left))


def time_in_turn(work: Work, times: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return the milliseconds of wall-clock and processor time of each piece of work."""
    for ask in work.values():
        ask()
    clock: dict[str, list[float]] = {name: [] for name in work}
    processor: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(times):
        for name, ask in work.items():
            seconds, cpu_seconds, _ = clocked(ask)
            clock[name].append(1e3 * seconds)
            processor[name].append(1e3 * cpu_seconds)
    return clock, processor


if __name__ == "__main__":
    main()
