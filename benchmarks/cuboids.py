"""What the cells of other cuboids of a cube cost, and rolling it up.

    python benchmarks/cuboids.py CUBE [--levels one --levels venue] [--times 9]
    python benchmarks/cuboids.py CUBE --made 300000

Printed are the cells and members of every view, the median and the least processor time to make it when kernels and
files are warm, and how long it takes to ask for it again. Then, for every level above and ∗, what rolling up to it
takes, and how many times as much that is as the floor: looking up the new cell of every membership and counting them,
which nothing that rolls up a cube can do without. With ``--made`` the cube is first built, where it is not there, of so
many made-up papers whose topics have two levels above.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

import cube2net as c2n
from cube2net.model.cube import Cube
from dblp_like_corpus import make_dblp_like

LEVELS = ["year@years/fives@width:5/decades|fives/quarter@width:25", "venue/kind", "topic/group/area"]


def main() -> None:
    """Time every view and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--levels", action="append", help="levels as cuboid takes them; again for another view")
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--made", type=int, help="build the cube of so many made-up papers, if it is not there")
    parser.add_argument("--min-objects", type=int, default=2, help="of that cube")
    given = parser.parse_args()
    if given.made and not given.cube.exists():
        make(given.cube, given.made, given.min_objects)
    cube = c2n.open(given.cube)
    print(f"{cube}, {len(cube.small):,} smaller cells")
    for levels in given.levels or ["one", *(dimension.name for dimension in cube.dimensions)]:
        view = c2n.cube.cuboid(cube, levels)

        def again(levels: str = levels) -> None:
            cube.kept_views.clear()
            c2n.cube.cuboid(cube, levels)

        spent = timed(again, given.times)
        start = time.perf_counter()
        c2n.cube.cuboid(cube, levels)
        kept = 1000 * (time.perf_counter() - start)
        print(
            f"{levels}: {len(view.cells):,} cells, {len(view.cells.members.indices):,} members, "
            f"{statistics.median(spent):.1f} ms ({min(spent):.1f} at least), again {kept:.2f} ms"
        )
    lowest = min(timed(lambda: floor(cube), given.times))
    print(f"floor of rolling up: {lowest:.1f} ms")
    for dimension in cube.dimensions:
        for to in [*(dimension.levels[number].name for number in dimension.at_or_above()[1:]), "∗"]:
            rolled = c2n.cube.roll_up(cube, dimension.name, to)
            spent = timed(lambda name=dimension.name, to=to: c2n.cube.roll_up(cube, name, to), given.times)  # type: ignore[misc]
            print(
                f"{dimension.name} to {to}: {len(rolled.cells):,} cells, {statistics.median(spent):.1f} ms "
                f"({min(spent):.1f} at least, {min(spent) / lowest:.1f} times the floor)"
            )


def timed(work: Callable[[], object], times: int) -> list[float]:
    """Return the processor time of some work, in milliseconds, each time that it is done."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        work()
        spent.append(1000 * (time.process_time() - start))
    return spent


def floor(cube: Cube) -> None:
    """Look up a new cell for every membership, and count these."""
    for cells in (cube.cells, cube.small):
        new = np.arange(len(cells), dtype=np.int32) // 2
        np.bincount(np.repeat(new, cells.members.sizes), minlength=1)


def make(folder: Path, papers: int, min_objects: int) -> None:
    """Build a cube of made-up papers with levels above their topics."""
    corpus = make_dblp_like(papers)
    numbers = [int(topic.rpartition(" ")[2]) for topic in corpus.items["topic"].to_pylist()]
    items = corpus.items
    for name, of in (("group", 8), ("area", 32)):
        items = items.append_column(name, pa.array([f"{name} {number // of}" for number in numbers]))
    c2n.build(replace(corpus, items=items), LEVELS, min_objects=min_objects, out=folder)


if __name__ == "__main__":
    main()
