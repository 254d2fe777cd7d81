"""The same question while the graph grows around it: the answer stays, and what of time and memory?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from dblp_like_corpus import make_dblp_like, open_dblp_like
from measures.answers import CELLS
from measures.literature import BASE_SEED, beside, corpus_folder, make, marked, person_query
from measures.processes import Results, alone, bare, clocked, median, memory, result_of, timed, worker

BASE = 100_000
QUERY = 116
KINDS = {"one hop": "hops", "PageRank": "pagerank", "greedy": "greedy", "anneal": "anneal"}
TINY = 2_000
ROUNDS, BURST = 15, 5
_READY: dict[str, Any] = {}


def measure(results: Results, data: Path, sizes: list[int]) -> None:
    """Ask a literature of 100,000 papers, alone and beside each of the others; all of them take turns."""
    for other in (0, *sizes):
        results.measure(f"grown-build-{other:08}", lambda other=other: bare(alone(grow, data, other)))
    name = "-".join(map(str, ("grown", 0, *sizes)))
    results.measure(name, answers, [data / f"grown-{other}" / "cube" for other in (0, *sizes)], data / "cube-tiny")


def grown(results: Results) -> dict[str, Any] | None:
    """Return what was measured, of the most graphs."""
    found = results.named("grown-0-")
    return max(found, key=lambda each: len(each["rows"])) if found else None


def grow(data: Path, other: int) -> dict[str, Any]:
    """Build the cube of the base literature beside another."""
    make(data, BASE, BASE_SEED)
    base = open_dblp_like(corpus_folder(data, BASE, BASE_SEED))
    corpus = marked(base) if other == 0 else beside(base, open_dblp_like(corpus_folder(data, other)))
    out = data / f"grown-{other}" / "cube"
    shutil.rmtree(out.parent, ignore_errors=True)
    out.parent.mkdir()
    seconds, _ = timed(lambda: c2n.build(corpus, out=out))
    if not (data / "cube-tiny").exists():
        c2n.build(make_dblp_like(TINY), out=data / "cube-tiny")
    return {"papers": corpus.items.num_rows, "seconds": seconds}


def answers(folders: list[Path], tiny: Path) -> dict[str, Any]:
    """Return the answers of every kind from every graph, each from a process of its own; the query is rows of the base.

    The machine is faster at one moment than at another. So the graphs take turns, and a turn is a few answers in a row,
    of which the median counts.
    """
    rows = person_query(c2n.open(folders[0]), QUERY)
    found = [about(folder) for folder in folders]
    for kind, method in KINDS.items():
        with ExitStack() as stack:
            pools = [stack.enter_context(worker()) for _ in folders]
            ready = [
                result_of(pool.submit(prepare, folder, tiny, rows, method))
                for pool, folder in zip(pools, folders, strict=True)
            ]
            asked, opened = (
                [[result_of(pool.submit(turn)) for pool in pools] for _ in range(ROUNDS)] for turn in (ask, reopen)
            )
        for number, row in enumerate(found):
            seconds, cpus = ([turn[number][name] for turn in asked] for name in ("seconds", "cpu"))
            times = {"seconds": median(seconds), "cpu": median(cpus), "turns": ROUNDS}
            row["kinds"][kind] = {**ready[number]["answer"], **times}
            row["openings"] += [turn[number] for turn in opened]
            row["opens"].append(ready[number]["opened"])
    for row in found:
        row["opening"], row["opened"] = median(row.pop("openings")), int(median(row.pop("opens")))
    return {"rows": found}


def about(folder: Path) -> dict[str, Any]:
    """Return how large a cube is."""
    cube = c2n.open(folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    counts = {"objects": len(cube.objects), "graph": cube.links.count, "cells": len(cube.cells), "bytes": size}
    return {**counts, "kinds": {}, "openings": [], "opens": []}


def prepare(folder: Path, tiny: Path, rows: Array, method: str) -> dict[str, Any]:
    """Open a cube in this process and ask it once; return how much memory was touched by each, and the answer.

    The compiled kernels are loaded before by asking a tiny cube. Touched is the most that was in memory at any time
    during a piece of work, own pages and mapped ones, less what was there before.
    """
    small = c2n.open(tiny)
    c2n.construct(small, small.query(person_query(small, 20).tolist()), method, CELLS, form="objects")
    opened, cube = touched(lambda: c2n.open(folder))
    query = cube.query(rows.tolist())
    first, network = touched(lambda: c2n.construct(cube, query, method, CELLS, form="objects"))
    _READY.update(folder=folder, ask=lambda: c2n.construct(cube, query, method, CELLS, form="objects"))
    sizes = {"nodes": len(network), "links": len(network.source)}
    return {"opened": opened, "answer": {"touched": first, **sizes, "found": np.sort(network.objects).tolist()}}


def ask() -> dict[str, float]:
    """Take a turn: ask what was prepared a few times."""
    taken = [clocked(_READY["request"]) for _ in range(BURST)]
    return {"seconds": median([seconds for seconds, _, _ in taken]), "cpu": median([cpu for _, cpu, _ in taken])}


def reopen() -> float:
    """Take a turn: open the cube a few times."""
    return median([timed(lambda: c2n.open(_READY["folder"]))[0] for _ in range(BURST)])


def touched(work: Callable[[], Any]) -> tuple[int, Any]:
    """Return how far the memory of this process rose during a piece of work, and what that gave."""
    Path("/proc/self/clear_refs").write_text("5")
    before = memory()
    result = work()
    return memory()["peak"] - before["anon"] - before["file"] - before["shared"], result
