"""What the item index of a cube costs, and what taking items out takes: one table.

    python benchmarks/items.py [--papers 300000] [--cube CUBE] [--taken 5000] [--times 5]

Made-up papers are built into cubes without items, with their index and with their attributes too, in turn, after a
first round that is not counted; with ``--cube`` nothing is built and that cube is asked. The least of the times is:
of building in CPU seconds, of the rest by the clock.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from cube2net._util.random import stream
from cube2net.cube.building.build import build
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.removal import without_items
from cube2net.cube.storage.reader import read
from cube2net.cube.storage.writer import save
from cube2net.model.cube import Cube
from dblp_like_corpus import make_dblp_like


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--papers", type=int, default=300_000)
    parser.add_argument("--cube", type=Path)
    parser.add_argument("--taken", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = options.cube or built(Path(place), options.papers, options.times)
        asked(read(folder), folder, options.taken, options.times)


def built(place: Path, papers: int, times: int) -> Path:
    """Say what building with and without the items takes; return the folder of the cube with all of them."""
    corpus = make_dblp_like(papers)
    seconds: dict[str, list[float]] = {"none": [], "index": [], "all": []}
    for _ in range(times + 1):
        for items in seconds:
            begin = process_time()
            stage = place / f"stage-{items}"
            cube = build(corpus, corpus.dimensions, DuckDB(), items=items, folder=stage)
            save(cube, place / f"cube-{items}", made_in=stage)
            seconds[items].append(process_time() - begin)
            shutil.rmtree(stage)
    least = {items: min(taken[1:]) for items, taken in seconds.items()}
    size = {items: sum(path.stat().st_size for path in (place / f"cube-{items}").iterdir()) for items in seconds}
    print(f"{papers:,} papers, {corpus.mentions.num_rows:,} mentions")
    for items, taken in least.items():
        more = f"{taken / least['none'] - 1:+.1%}"
        print(f"items {items:<6} CPU time of building {taken:.2f} s ({more}), {size[items] / 1e6:.1f} MB")
    return place / "cube-all"


def asked(cube: Cube, folder: Path, taken: int, times: int) -> None:
    """Say how large the index of a cube is, and what taking items out takes."""
    if cube.items is None:
        raise SystemExit(f"{folder} has no item index")
    files = {path.name: path.stat().st_size for path in folder.iterdir()}
    extra = {name: size for name, size in files.items() if name.startswith("items.")}
    index = cube.items()
    rest = sum(files.values()) - sum(extra.values())
    print(f"{cube}, {index}")
    print(f"index {sum(extra.values()) / 1e6:.1f} MB beside {rest / 1e6:.1f} MB; bytes an item:")
    for name, size in sorted(extra.items()):
        print(f"  {name:26} {size / max(len(index), 1):5.1f}")
    gone = stream(0, "benchmarks", "items").choice(len(index), min(taken, len(index)), replace=False)
    print(f"open {shortest(lambda: read(folder), times):.1f} ms, ", end="")
    print(f"and its index {shortest(lambda: _index(read(folder)), times):.1f} ms")
    print(f"without {len(gone):,} items {shortest(lambda: without_items(cube, gone), times):.1f} ms")


def shortest(work: Callable[[], Any], times: int) -> float:
    """Return the least milliseconds that some work takes, after a first time that is not counted."""
    found = []
    for _ in range(times + 1):
        begin = perf_counter()
        work()
        found.append(1e3 * (perf_counter() - begin))
    return min(found[1:])


def _index(cube: Cube) -> object:
    return cube.items() if cube.items is not None else None


if __name__ == "__main__":
    main()
