"""The figures of the house on the whole ACL Anthology: build, open, greedy against the naive loop, the shell.

    python benchmarks/figures.py ARCHIVE LABS.csv [--cube FOLDER]

ARCHIVE is the Anthology's tar.xz (or its folder). Reading it and finding its topics takes minutes and is not
timed against a figure; everything after that is. Run ``benchmarks/extraction.py`` on the cube it leaves for
one hop and PageRank beside their peers.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.records import Budget, Cube, Query
from cube2net.select import Greedy
from cube2net.select.objective import Jaccard

CELLS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("labs", type=Path)
    parser.add_argument("--cube", type=Path, default=Path("bench-cube"))
    asked = parser.parse_args()

    read, corpus = timed(lambda: c2n.read_acl(asked.archive))
    print(f"read      {read:8.1f} s   {corpus}")
    found, topics = timed(lambda: c2n.find_topics(corpus, seed=0, workers=0))
    print(f"topics    {found:8.1f} s   {topics}")
    builds = [timed(lambda: c2n.build_cube(corpus, topics=topics))[0] for _ in range(3)]
    cube = c2n.build_cube(corpus, topics=topics, out=asked.cube)
    print(f"cube      {statistics.median(builds):8.2f} s   {cube} (figure: 2 s)")
    opened = [timed(lambda: c2n.open_cube(asked.cube))[0] for _ in range(9)]
    print(f"open      {statistics.median(opened) * 1e3:8.1f} ms  (figure: 20 ms)")

    query = c2n.read_query(cube, asked.labs)
    weights = Jaccard().weigh(query, len(cube.objects))
    Greedy().select(cube, query, weights=weights, budget=Budget(m=CELLS))
    ours = [timed(lambda: Greedy().select(cube, query, weights=weights, budget=Budget(m=CELLS)))[0] for _ in range(9)]
    quick = Greedy().select(cube, query, weights=weights, budget=Budget(m=CELLS))
    slow, chosen = timed(lambda: naive_greedy(cube, query, CELLS))
    same = "the same cells" if chosen == quick.cells.tolist() else "OTHER CELLS"
    ratio = slow / statistics.median(ours)
    print(f"greedy    {statistics.median(ours) * 1e3:8.1f} ms  jaccard {quick.value:.4f}, m={CELLS} (figure: 50 ms)")
    print(f"naive     {slow:8.2f} s   {same}, {ratio:,.0f} × slower (figure: 100 ×)")

    tool = str(Path(sys.executable).with_name("cube2net"))
    runs = [timed(lambda: subprocess.run([tool, "--help"], check=True, capture_output=True))[0] for _ in range(5)]
    print(f"--help    {statistics.median(runs):8.2f} s   (figure: 0.3 s)")
    command = [tool, "query", str(asked.cube), "--query", str(asked.labs), "--json"]
    runs = [timed(lambda: subprocess.run(command, check=True, capture_output=True))[0] for _ in range(5)]
    print(f"shell     {statistics.median(runs):8.2f} s   one query, start to finish (figure: 2 s)")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a piece of work took, and what it gave."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def naive_greedy(cube: Cube, query: Query, m: int) -> list[int]:
    """Return the cells of the plain loop: at every step the union of every cell with what is chosen."""
    asked = set(query.objects.tolist())
    cells = [set(cube.cells.members[cell].tolist()) for cell in range(len(cube.cells))]
    held: set[int] = set()
    chosen: list[int] = []
    for _ in range(m):
        values = np.full(len(cells), -1.0)
        for number, members in enumerate(cells):
            if number not in chosen:
                union = held | members
                values[number] = len(union & asked) / len(union | asked)
        best = int(values.argmax())
        chosen.append(best)
        held |= cells[best]
    return chosen


if __name__ == "__main__":
    main()
