"""Choosing the configuration of a network without trying any: what past queries of the same cube teach.

    python benchmarks/learning_configurations.py OUT [--cube areas] [--queries 100] [--from 0] [--file tried-0.jsonl]
    python benchmarks/learning_configurations.py OUT --report

``auto`` tries the configurations of ``list_candidates`` on every query, by hidden links. Here they are tried on many
queries of one cube: neighbourhoods drawn at random on the ACL Anthology (``areas``), communities on planted corpora
(``planted``, where the right communities are known and clusters can be scored too). Every try is a line of
OUT/tried*.jsonl. Two draws of hidden links are what ``auto`` sees, two others judge the choice. ``--report`` learns
from them: a linear model of the AUC of every configuration, given numbers that cost milliseconds to compute for a
query, from all configurations of every past query (surrogate) or from the one it chose itself (bandit).
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from choices import neighbourhood
from cube2net._util.progress import Stopwatch
from cube2net._util.random import stream
from cube2net.api.compare import BY_NAME, hidden_runs, maker
from cube2net.errors import Cube2netError
from cube2net.evaluation.auto import list_candidates
from cube2net.evaluation.trials import Make, Mine
from cube2net.mining.downstream import make_clustering_task
from cube2net.model.cube import Cube
from cube2net.model.query import Query

DRAWS, SEEN = 4, 2
"""Draws of hidden links, and how many of them ``auto`` sees."""
Record = dict[str, Any]


def main() -> None:
    """Try configurations on queries, or report what can be learned from that."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="where cubes and tries go")
    parser.add_argument("--cube", choices=CUBES, default="areas")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first query")
    parser.add_argument("--file", default="tried.jsonl", help="file in OUT that new tries are added to")
    options = parser.parse_args()
    lines = [line for path in sorted(options.out.glob("tried*.jsonl")) for line in path.read_text().splitlines()]
    done = {(record["cube"], record["query"]) for record in map(json.loads, lines)}
    for number in range(options.first, options.first + options.queries):
        if (options.cube, number) in done:
            continue
        cube, query = CUBES[options.cube](options.out, number)
        record = {"cube": options.cube, "query": number, **try_configurations(cube, query)}
        with (options.out / options.file).open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(record, flush=True)


def draw_neighbourhood(out: Path, number: int) -> tuple[Cube, Query]:
    """Return the cube of the ladder's task ``areas``, and authors around a random link."""
    cube = c2n.open(out / "cubes" / "areas")
    rng = stream(number, "benchmarks", "configurations")
    return cube, neighbourhood(cube, int(np.exp(rng.uniform(np.log(30), np.log(600)))), rng)


def draw_communities(out: Path, number: int) -> tuple[Cube, Query]:
    """Return one of 16 planted cubes, which differ in noise and links, and some of its communities, labelled."""
    rng = stream(number, "benchmarks", "configurations")
    kind = number % 16
    noise, within, links = (0.1, 0.3, 0.5, 0.7)[kind % 4], (0.5, 0.9)[kind // 4 % 2], (2.0, 8.0)[kind // 8]
    made = c2n.make_planted(objects=2_000, communities=20, noise=noise, within=within, links=links, seed=kind)
    folder = out / "cubes" / f"configurations-{kind}"
    cube = c2n.open(folder) if folder.exists() else c2n.build(made.corpus, made.corpus.dimensions)
    chosen = rng.choice(20, size=int(rng.integers(2, 7)), replace=False).tolist()
    share = rng.uniform(0.3, 1.0)
    labels = {name: str(each) for each in chosen for name in made.query(each) if rng.random() < share}
    return cube, cube.query(labels)


CUBES: dict[str, Callable[[Path, int], tuple[Cube, Query]]] = {
    "areas": draw_neighbourhood,
    "planted": draw_communities,
}


def try_configurations(cube: Cube, query: Query) -> Record:
    """Return the AUC of every configuration in every draw of hidden links, and F1 where the query has labels."""
    watch = Stopwatch()
    features = compute_features(cube, query)
    record: Record = {"features": features, "looked": round(watch.seconds, 4)}
    runs = hidden_runs(cube, query, BY_NAME, ("deepwalk",))
    watch = Stopwatch()
    record["auc"] = score(runs.make, runs.mine, "AUC", range(DRAWS))
    record["seconds"] = round(watch.seconds / DRAWS, 2)
    if query.labels is not None:
        mine = make_clustering_task(query, ("deepwalk",)).mine
        record["f1"] = score(maker(cube, query), mine, "F1", range(SEEN))
    return record


def score(make: Make, mine: Mine, measure: str, seeds: Sequence[int]) -> dict[str, list[float]]:
    """Return the scores of every configuration that has one for every seed."""
    scores: dict[str, list[float]] = {}
    for seed in seeds:
        nodes: dict[str, int] = {}
        for config in list_candidates():
            try:
                network = make(config, seed, nodes.get(config.like))
                nodes[config.name] = len(network)
                scores.setdefault(config.name, []).append(round(mine(network, "deepwalk", seed)[0][measure], 5))
            except Cube2netError:
                continue
    return {name: each for name, each in scores.items() if len(each) == len(seeds)}


def compute_features(cube: Cube, query: Query) -> dict[str, float]:
    """Return numbers about a query that take milliseconds: its size, its links, and how its objects lie in cells."""
    objects = query.objects
    inside = np.zeros(len(cube.objects), dtype=bool)
    inside[objects] = True
    degrees = cube.links.degrees[objects]
    linked = [int(inside[cube.links.neighbours(int(each))].sum()) for each in objects]
    members = cube.cells.members
    found = np.add.reduceat(np.append(inside[members.indices], False), members.indptr[:-1])
    sizes = members.sizes
    touched = found > 0
    shared = found[found > 1]
    return {
        "objects": math.log(len(objects)),
        "degree": math.log1p(float(degrees.mean())),
        "links inside": math.log1p(float(np.mean(linked))),
        "without links inside": float(np.mean(np.array(linked) == 0)),
        "share of links inside": float(np.sum(linked) / max(1, degrees.sum())),
        "cells for an object": math.log1p(float(found.sum() / len(objects))),
        "cells touched": math.log(max(1, int(touched.sum()))),
        "in shared cells": float(shared.sum() / max(1, found.sum())),
        "largest share of a cell": float((found / np.maximum(1, sizes)).max()),
        "share of touched cells": float(found.sum() / max(1, sizes[touched].sum())),
    }


if __name__ == "__main__":
    main()
