"""The |Q| objects nearest to a query, exactly separated or by approximate scores: time and accuracy.

    python benchmarks/nearest_objects.py CUBE [CUBE …] [--names FILE.csv] [--sizes 116,1820] [--queries 4] [--turns 5]

FILE.csv has the objects of a query in its first column, below a header. Without it, queries are drawn as by
``performance.py``. *told apart* is the default of ``find_neighbors``, *tolerance* is ``slack=None``; both take turns,
and medians are printed. Exact objects are those of scores with a tolerance of 1e-6. *apart* is the score of the best
missing object relative to the worst returned one, minus 1. *floor* is the time to read the links of the query and of
the found objects once and to add one number per end, at the speed of this machine.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from pathlib import Path

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array, Links
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.network.pagerank import compute_scores, find_neighbors, select_highest
from measures.limits import fetch, machine_speeds
from measures.literature import person_query
from measures.processes import timed

EXACT = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cubes", type=Path, nargs="+")
    parser.add_argument("--names", type=Path, action="append", default=[])
    parser.add_argument("--sizes", default="116,1820")
    parser.add_argument("--queries", type=int, default=4)
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args()
    speeds = machine_speeds()
    print("| cube | query | told apart | tolerance | ratio | floor | same, told apart | same, tolerance | apart |")
    print("| --- " + "| --: " * 8 + "|")
    for folder in asked.cubes:
        cube = c2n.open(folder)
        for label, query in queries(cube, asked.names, [int(size) for size in asked.sizes.split(",")], asked.queries):
            row = measured(cube.links, query, asked.turns, speeds)
            print(f"| {folder.name}, {len(cube.links):,} objects | {label} | {row} |", flush=True)


def queries(cube: Cube, names: list[Path], sizes: list[int], number: int) -> list[tuple[str, Query]]:
    """Return queries with their titles."""
    if names:
        found = []
        for path in names:
            with path.open(encoding="utf-8", newline="") as lines:
                first = [row[0] for row in csv.reader(lines) if row][1:]
            found.append((path.stem, cube.query(first)))
        return [(f"{stem}, {len(query):,}", query) for stem, query in found]
    return [
        (f"{size:,}, {seed}", Query(person_query(cube, size, seed).astype(np.int32)))
        for size in sizes
        for seed in range(number)
    ]


def measured(links: Links, query: Query, turns: int, speeds: dict[str, object]) -> str:
    """Return the cells of a row of the table."""
    exact = compute_scores(links, query.objects, tolerance=EXACT)
    exact[query.objects] = 0.0
    wanted = select_highest(exact, len(query))
    ways = {"told apart": {}, "tolerance": {"slack": None}}
    found = {name: find_neighbors(links, query, len(query), **how) for name, how in ways.items()}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(turns):
        for name, how in ways.items():
            taken[name].append(timed(lambda how=how: find_neighbors(links, query, len(query), **how))[0])
    seconds = [statistics.median(times) for times in taken.values()]
    same = [len(np.intersect1d(wanted, rows)) / max(len(wanted), 1) for rows in found.values()]
    told = found["told apart"]
    missing = np.setdiff1d(wanted, told)
    apart = exact[missing].max() / exact[told].min() - 1 if len(missing) else 0.0
    floor = least(links, np.union1d(query.objects, told), speeds)
    return (
        f"{1000 * seconds[0]:.0f} ms | {1000 * seconds[1]:.0f} ms | {seconds[1] / seconds[0]:.1f} × "
        f"| {1000 * floor:.2f} ms | {same[0]:.3f} | {same[1]:.3f} | {apart:.1%}"
    )


def least(links: Links, rows: Array, speeds: dict[str, object]) -> float:
    """Return the time to read the links of some rows once and to add one number per end."""
    ends = int((links.indptr[rows + 1] - links.indptr[rows]).sum())
    rows_found = len(rows) * (fetch(speeds, links.indptr.nbytes) + fetch(speeds, links.indices.nbytes))
    return 8 * ends / float(speeds["stream"]) + rows_found + ends * fetch(speeds, 4 * len(links))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
