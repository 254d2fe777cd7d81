"""What the item index of a cube costs, and what taking items out takes: one table.

    python benchmarks/items.py [--papers 300000] [--cube CUBE] [--taken 5000] [--times 5]

Made-up papers are built into cubes with and without the index, in turn, after a first pair that is not counted; with
``--cube`` nothing is built and that cube is asked. The least of the times is told: of building in CPU seconds,
of the rest by the clock.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import cube2net as c2n
from cube2net import cube as cubes
from cube2net.records import Cube
from cube2net.seeding import stream


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--papers", type=int, default=300_000)
    parser.add_argument("--cube", type=Path)
    parser.add_argument("--taken", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = options.cube or built(Path(place), options.papers, options.times)
        asked(cubes.read(folder), folder, options.taken, options.times)


def built(place: Path, papers: int, times: int) -> Path:
    """Say what building with and without the index takes; return the folder of the cube with it."""
    corpus = c2n.pipeline.make_dblp_like(papers)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(times + 1):
        for items in (False, True):
            begin = process_time()
            stage = place / f"stage-{items}"
            cube = cubes.build(corpus, corpus.dimensions, cubes.DuckDB(), items=items, folder=stage)
            cubes.save(cube, place / f"cube-{items}", made_in=stage)
            seconds[items].append(process_time() - begin)
            shutil.rmtree(stage)
    plain, whole = (min(seconds[items][1:]) for items in (False, True))
    print(f"{papers:,} papers, {corpus.mentions.num_rows:,} mentions")
    print(f"CPU time of building without {plain:.2f} s, with {whole:.2f} s ({whole / plain - 1:+.1%})")
    return place / "cube-True"


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
    print(f"open {shortest(lambda: cubes.read(folder), times):.1f} ms, ", end="")
    print(f"and its index {shortest(lambda: _index(cubes.read(folder)), times):.1f} ms")
    print(f"without {len(gone):,} items {shortest(lambda: cubes.without_items(cube, gone), times):.1f} ms")


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
