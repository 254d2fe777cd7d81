"""Building the cube: time, memory and bytes on disk, by size and by stage."""

from __future__ import annotations

import shutil
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import cube2net as c2n
from dblp_like_corpus import open_dblp_like
from measures.literature import corpus_folder, cube_folder, make
from measures.processes import Results, alone

LITTLE = "1GB"


def measure(results: Results, data: Path, sizes: list[int]) -> None:
    """Make the literature of every size and build its cube, each in a process of its own."""
    for papers in sizes:
        results.measure(f"make-{papers:08}", alone_make, data, papers)
        results.measure(f"build-{papers:08}", alone_build, data, papers, None)
    results.measure(f"build-{sizes[-1]:08}-{LITTLE}", alone_build, data, sizes[-1], LITTLE)


def alone_make(data: Path, papers: int) -> dict[str, Any]:
    found = alone(make, data, papers)
    found["memory"].pop("samples")
    folder = corpus_folder(data, papers)
    return {**found, "bytes": sum(path.stat().st_size for path in folder.iterdir())}


def alone_build(data: Path, papers: int, memory: str | None) -> dict[str, Any]:
    found = alone(build, data, papers, memory)
    samples = found["memory"].pop("samples")
    for stage in found["stages"]:
        within = [anon for at, anon in samples if stage["from"] <= at <= stage["until"]]
        stage["anon"] = max(within, default=None)
    return found


def build(data: Path, papers: int, memory: str | None) -> dict[str, Any]:
    """Build a cube into a folder; return what it cost, stage by stage as the build names them."""
    corpus = open_dblp_like(corpus_folder(data, papers))
    marks: list[tuple[str, float, float, float]] = []

    def note(stage: str, done: int = 0, total: int | None = None) -> None:
        if not marks or marks[-1][0] != stage:
            marks.append((stage, time.time(), time.perf_counter(), time.process_time()))

    out = cube_folder(data, papers, memory)
    # A build that was interrupted may leave stages that are not done again: then only a part would be measured.
    shutil.rmtree(out.parent, ignore_errors=True)
    out.parent.mkdir()
    note("start")
    cube = c2n.build(corpus, out=out, progress=note, memory=memory)
    note("end")
    stages = [
        {"stage": name, "from": at, "until": then[1], "seconds": then[2] - clock, "cpu": then[3] - cpu}
        for (name, at, clock, cpu), then in pairwise(marks)
    ]
    return {
        "papers": papers,
        "limit": memory,
        "seconds": marks[-1][2] - marks[0][2],
        "cpu": marks[-1][3] - marks[0][3],
        "stages": stages,
        "bytes": sum(path.stat().st_size for path in out.rglob("*") if path.is_file()),
        "objects": len(cube.objects),
        "mentions": corpus.mentions.num_rows,
        "cells": len(cube.cells),
        "links": cube.links.count,
    }
