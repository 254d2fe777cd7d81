"""The same question while the graph grows around it: the answer stays, and what of time and memory?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.records.ragged import Array
from measures.answers import CELLS
from measures.literature import BASE_SEED, beside, corpus_folder, make, marked, person_query
from measures.processes import Results, alone, bare, clocked, median, memory, timed, turns

BASE = 100_000
QUERY = 116
KINDS = {"one hop": "hops", "PageRank": "pagerank", "greedy": "greedy", "anneal": "anneal"}
TINY = 2_000


def measure(results: Results, data: Path, sizes: list[int]) -> None:
    """Ask a literature of 100,000 papers, alone and beside each of the others."""
    for other in (0, *sizes):
        results.measure(f"grown-build-{other:08}", lambda other=other: bare(alone(grow, data, other)))
        results.measure(f"grown-{other:08}", answers, data / f"grown-{other}" / "cube", data)


def grow(data: Path, other: int) -> dict[str, Any]:
    """Build the cube of the base literature beside another."""
    make(data, BASE, BASE_SEED)
    base = c2n.open_dblp_like(corpus_folder(data, BASE, BASE_SEED))
    corpus = marked(base) if other == 0 else beside(base, c2n.open_dblp_like(corpus_folder(data, other)))
    out = data / f"grown-{other}" / "cube"
    shutil.rmtree(out.parent, ignore_errors=True)
    out.parent.mkdir()
    seconds, _ = timed(lambda: c2n.build_cube(corpus, out=out))
    if not (data / "cube-tiny").exists():
        c2n.build_cube(c2n.make_dblp_like(TINY), out=data / "cube-tiny")
    return {"papers": corpus.items.num_rows, "seconds": seconds}


def answers(folder: Path, data: Path) -> dict[str, Any]:
    """Return the answers of every kind, each from a process of its own; the query is rows of the base."""
    rows = person_query(c2n.open_cube(data / "grown-0" / "cube"), QUERY)
    found = {kind: bare(alone(ask, folder, data / "cube-tiny", rows, method)) for kind, method in KINDS.items()}
    last = list(found.values())[-1]
    return {
        **{name: last[name] for name in ("objects", "graph", "cells", "bytes")},
        "opening": median([each["opening"] for each in found.values()]),
        "opened": int(median([each["opened"] for each in found.values()])),
        "kinds": {kind: each["answer"] for kind, each in found.items()},
    }


def ask(folder: Path, tiny: Path, rows: Array, method: str) -> dict[str, Any]:
    """Return the time of an answer, and how much memory was touched to get it for the first time.

    The compiled kernels are loaded before by asking a tiny cube. Touched is the most that was in memory at any time
    during a piece of work, own pages and mapped ones, less what was there before.
    """
    small = c2n.open_cube(tiny)
    c2n.construct(small, small.query(person_query(small, 20).tolist()), method, CELLS)
    opened, cube = touched(lambda: c2n.open_cube(folder))
    query = cube.query(rows.tolist())
    first, network = touched(lambda: c2n.construct(cube, query, method, CELLS))
    taken: list[float] = []
    cpus: list[float] = []
    while len(taken) < 3 or (len(taken) < 40 and sum(taken) < 2.0):
        seconds, cpu, _ = clocked(lambda: c2n.construct(cube, query, method, CELLS))
        taken.append(seconds)
        cpus.append(cpu)
    return {
        "objects": len(cube.objects),
        "graph": cube.links.count,
        "cells": len(cube.cells),
        "bytes": sum(path.stat().st_size for path in folder.iterdir()),
        "opening": median(turns(lambda: c2n.open_cube(folder))),
        "opened": opened,
        "answer": {
            "seconds": median(taken),
            "cpu": median(cpus),
            "turns": len(taken),
            "touched": first,
            "nodes": len(network),
            "links": len(network.source),
            "found": np.sort(network.objects).tolist(),
        },
    }


def touched(work: Callable[[], Any]) -> tuple[int, Any]:
    """Return how far the memory of this process rose during a piece of work, and what that gave."""
    Path("/proc/self/clear_refs").write_text("5")
    before = memory()
    result = work()
    return memory()["peak"] - before["anon"] - before["file"] - before["shared"], result
