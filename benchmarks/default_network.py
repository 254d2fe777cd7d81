"""Time of the default network, including its links, and of its largest part, finding the neighbours.

    python benchmarks/default_network.py CUBE [--names FILE.csv] [--objects 116] [--times 9]

The query is the names in a file, or objects drawn from eight cells of the cube. Prints the median and the minimum time
of ``construct(cube, query)`` and of ``find_neighbors``, after a first call that loads compiled code.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.network.pagerank import find_neighbors
from measures.processes import median, turns


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
        "find_neighbors": lambda: find_neighbors(cube.links, query, len(query)),
    }
    for title, work in works.items():
        taken = turns(work, most=asked.times, seconds=60)
        print(f"{title}: median {median(taken) * 1e3:,.0f} ms, minimum {min(taken) * 1e3:,.0f} ms")


def drawn(cube: Cube, count: int) -> Query:
    """Return objects drawn from eight cells, as the members of a few topics are."""
    rng = np.random.default_rng(0)
    cells = rng.choice(len(cube.cells), 8, replace=False)
    pool = np.unique(np.concatenate([cube.cells.members[int(cell)] for cell in cells]))
    return Query(np.sort(rng.choice(pool, min(count, len(pool)), replace=False)))


if __name__ == "__main__":
    main()
