"""The same on real data, the whole ACL Anthology: read, topics, cube, greedy and the plain loop, the shell, peers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from measures import race
from measures.answers import CELLS
from measures.processes import Results, alone, bare, median, timed, turns


def measure(results: Results, raw: Path, data: Path) -> None:
    """Build the Anthology's cube and ask it for the authors of ``labs.csv``."""
    archives = sorted((raw / "acl").glob("acl-anthology-*.tar.xz"))
    labs = raw / "acl" / "labs.csv"
    if not archives or not labs.is_file():
        raise SystemExit(f"{raw / 'acl'} has no acl-anthology-*.tar.xz or no labs.csv")
    folder = data / "cube-acl"
    results.measure("anthology-build", lambda: bare(alone(build, archives[-1], folder)))
    results.measure("anthology-answers", lambda: bare(alone(answers, folder, labs)))
    cube = c2n.open(folder)
    asked = c2n.read_query(cube, labs, skip_missing=True)
    race.measure(results, folder, data, {len(asked): np.array(asked.objects)}, "-anthology")


def build(archive: Path, folder: Path) -> dict[str, Any]:
    """Return the seconds of reading, of the topics and of the cube."""
    reading, corpus = timed(lambda: c2n.api.read_acl(archive))
    finding, topics = timed(lambda: c2n.api.find_topics(corpus, seed=0, workers=0))
    building = [timed(lambda: c2n.build(corpus, topics=topics))[0] for _ in range(3)]
    cube = c2n.build(corpus, topics=topics, out=folder)
    return {
        "archive": archive.name,
        "items": corpus.items.num_rows,
        "objects": len(cube.objects),
        "links": cube.links.count,
        "cells": len(cube.cells),
        "dimensions": [dimension.name for dimension in cube.dimensions],
        "reading": reading,
        "topics": finding,
        "building": median(building),
    }


def answers(folder: Path, labs: Path) -> dict[str, Any]:
    """Return the seconds of opening, of greedy and of the plain loop over all cells, and of the shell."""
    cube = c2n.open(folder)
    query = c2n.read_query(cube, labs, skip_missing=True)
    networks = [c2n.construct(cube, query, "greedy", CELLS, form="objects") for _ in range(10)]
    chosen = networks[0].selection
    plain, cells = timed(lambda: plain_greedy(cube, query, CELLS))
    tool = str(Path(sys.executable).with_name("cube2net"))
    command = [tool, "query", str(folder), "--query", str(labs), "--json"]

    def shell(*words: str) -> float:
        return median(turns(lambda: subprocess.run(words, check=True, capture_output=True), most=5, seconds=10))

    return {
        "query": len(query),
        "opening": median(turns(lambda: c2n.open(folder))),
        "greedy": median([network.seconds["weigh"] + network.seconds["select"] for network in networks[1:]]),
        "value": chosen.value,
        "plain": plain,
        "same": cells == chosen.cells.tolist(),
        "help": shell(tool, "--help"),
        "shell": shell(*command),
    }


def plain_greedy(cube: Cube, query: Query, m: int) -> list[int]:
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
