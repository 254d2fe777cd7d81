"""How long the default network takes, links included, beside its largest part, the neighbours.

    python benchmarks/default_network.py CUBE [--names FILE.csv] [--objects 116] [--times 9]

The query is the names of a file, or so many objects drawn from eight cells of the cube. Prints the median and the least
time of ``construct(cube, query)`` in one process, after a first call that loads compiled code, and of ``nearest``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.network.pagerank import find_neighbors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--names", type=Path)
    parser.add_argument("--objects", type=int, default=116)
    parser.add_argument("--times", type=int, default=9)
    asked = parser.parse_args()
    cube = c2n.open(asked.cube)
    query = c2n.read_query(cube, asked.names, skip_missing=True) if asked.names else drawn(cube, asked.objects)
    network = c2n.construct(cube, query)
    print(f"{cube}\n{network}")
    works: dict[str, Callable[[], object]] = {
        "construct(cube, query)": lambda: c2n.construct(cube, query),
        "nearest": lambda: find_neighbors(cube.links, query, len(query)),
    }
    for title, work in works.items():
        spent = [timed(work) for _ in range(asked.times)]
        print(f"{title}: median {statistics.median(spent) * 1e3:,.0f} ms, least {min(spent) * 1e3:,.0f} ms")


def drawn(cube: Cube, count: int) -> Query:
    """Return objects drawn from eight cells, as the members of a few topics are."""
    rng = np.random.default_rng(0)
    cells = rng.choice(len(cube.cells), 8, replace=False)
    pool = np.unique(np.concatenate([cube.cells.members[int(cell)] for cell in cells]))
    return Query(np.sort(rng.choice(pool, min(count, len(pool)), replace=False)))


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
