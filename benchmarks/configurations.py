"""F1 of the default network beside others, on the labelled tasks.

    python benchmarks/configurations.py DATA OUT [--runs 3] [--only labs3]

DATA and OUT are those of ``benchmarks/tasks.py``. Without ``--only`` the tasks are those on which settings may be
chosen, never ``labs2`` and ``areas2``. Prints F1 by DeepWalk and LINE, means over runs, and how the weight of cells was
estimated.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.mining.downstream import make_clustering_task
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from tasks import CHOSEN_ON, TASKS

EMBEDDINGS = ("deepwalk", "line")
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "query alone": {"method": "none"},
    "PageRank": {"method": "pagerank"},
    "default": {},
    "full cells": {"levels": "full"},
    "single-label cells": {"levels": "one"},
    "no neighbours": {"form": "cells"},
}
"""Options of ``construct``; PageRank has as many nodes as the default network."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", action="append", choices=list(TASKS))
    asked = parser.parse_args()
    columns = [*CONFIGURATIONS, "cell weight", "lift"]
    print(f"| task | objects | {' | '.join(columns)} |")
    print("| --- " * (2 + len(columns)) + "|", flush=True)
    for name in asked.only or CHOSEN_ON:
        cube, query, _ = TASKS[name](asked.data, asked.out)
        print(describe_task(name, cube, query, asked.runs), flush=True)


def describe_task(name: str, cube: Cube, query: Query, runs: int) -> str:
    """Return the row of a task."""
    judge = make_clustering_task(query, EMBEDDINGS)
    default = c2n.construct(cube, query)
    cells = []
    for options in CONFIGURATIONS.values():
        size = {"max_nodes": len(default)} if options.get("method") == "pagerank" else {}
        network = c2n.api.construct_by_name(cube, query, **options, **size)
        means = [np.mean([judge.mine(network, each, seed)[0]["F1"] for seed in range(runs)]) for each in EMBEDDINGS]
        cells.append(" / ".join(f"{mean:.3f}" for mean in means))
    agreement = default.settings["agreement"] or {"lift": np.nan, "low": np.nan, "high": np.nan}
    lift = f"{agreement['lift']:.2f} [{agreement['low']:.2f}, {agreement['high']:.2f}]"
    return f"| `{name}` | {len(query):,} | {' | '.join(cells)} | {default.settings['cell_weight']:.2f} | {lift} |"


if __name__ == "__main__":
    main()
