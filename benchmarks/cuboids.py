"""What the cells of other cuboids of a cube cost.

    python benchmarks/cuboids.py CUBE [--levels one --levels venue] [--times 9]

Printed are the cells and members of every view, the median and the least processor time to make it when kernels and
files are warm, and how long it takes to ask for it again.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import cube2net as c2n


def main() -> None:
    """Time every view and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--levels", action="append", help="levels as cuboid takes them; again for another view")
    parser.add_argument("--times", type=int, default=9)
    given = parser.parse_args()
    cube = c2n.open_cube(given.cube)
    print(f"{cube}, {len(cube.small):,} smaller cells")
    for levels in given.levels or ["one", *(dimension.name for dimension in cube.dimensions)]:
        view = c2n.cube.cuboid(cube, levels)
        spent = []
        for _ in range(given.times):
            cube.kept_views.clear()
            start = time.process_time()
            view = c2n.cube.cuboid(cube, levels)
            spent.append(1000 * (time.process_time() - start))
        start = time.perf_counter()
        c2n.cube.cuboid(cube, levels)
        again = 1000 * (time.perf_counter() - start)
        print(
            f"{levels}: {len(view.cells):,} cells, {len(view.cells.members.indices):,} members, "
            f"{statistics.median(spent):.1f} ms ({min(spent):.1f} at least), again {again:.2f} ms"
        )


if __name__ == "__main__":
    main()
