"""Does ``auto`` choose well, and does what it promises hold?

    python benchmarks/auto.py DATA OUT [--only labs] [--halves 20] [--runs 2]

OUT is the folder of ``benchmarks/results.py`` (its cubes and queries are used). *With labels*: for every one of
``--halves`` random halves of the labels, the choice is made by one half, as ``methods.Auto`` makes it but without a
clock, and judged by the other half in runs that it was not made by; the interval of its note should hold that score.
Every network is clustered once for a seed, whatever labels judge it. *Without labels*: the choice by hidden links, for
three draws of what is hidden, and the F1 of what was chosen beside the default's and the query's.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net._util.progress import silent
from cube2net.api.compare import maker as make_maker
from cube2net.evaluation.auto import ByLabels, Race, assign_folds, list_candidates
from cube2net.evaluation.configurations import DEFAULT
from cube2net.mining.clustering import METRICS
from cube2net.model.cube import Cube
from cube2net.model.network import Network, network_fingerprint
from cube2net.model.query import Query
from results import TASKS

EMBEDDING, FOLDS = "deepwalk", 5
JUDGED = range(10, 13)
"""Seeds of the runs that judge; choices are made by the first ones."""

Clusters = Callable[[Network, int], Array]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--halves", type=int, default=20)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=3)
    asked = parser.parse_args()
    for task in TASKS:
        if asked.only and task.name not in asked.only:
            continue
        cube, query, options = task.load(asked.data, asked.out)
        if options["task"] != "clustering":
            continue
        clusters = clustered(query)
        by_labels(task.name, cube, query, clusters, asked.halves, asked.runs)
        without_labels(task.name, cube, query, clusters, asked.draws, asked.runs)


def clustered(query: Query) -> Clusters:
    """Return what clusters the query on a network, with a seed; each once."""
    count = len(set(query.labels or ()))
    kept: dict[tuple[bytes, int], Array] = {}

    def clusters(network: Network, seed: int) -> Array:
        key = network_fingerprint(network), seed
        if key not in kept:
            kept[key] = c2n.api.cluster_query(network, EMBEDDING, count, seed=seed).labels
        return kept[key]

    return clusters


def by_labels(name: str, cube: Cube, query: Query, clusters: Clusters, halves: int, runs: int) -> None:
    """Print how often the score on the other half of the labels is in the interval that was stated."""
    labels = np.array(query.labels)
    numbers = np.unique(labels, return_inverse=True)[1]
    maker = make_maker(cube, query)
    inside, gained, chosen = 0, [], []
    for half in range(halves):
        mine = np.random.default_rng(half).permutation(len(labels)) < len(labels) // 2
        folds = assign_folds(replace(query, labels=tuple(np.where(mine, labels, "").tolist())), FOLDS, half)
        judge = ByLabels(numbers, folds)

        def evaluate(network: Network, seed: int, judge: ByLabels = judge) -> object:
            return judge.compute_scores(clusters(network, seed))

        race = Race(maker, evaluate)  # type: ignore[arg-type]
        race.run(list_candidates(), range(runs), float("inf"), silent)
        best = judge.choose(race)
        _, low, high = judge.estimate_f1(race)
        scores = {
            config: np.mean(
                [f1(clusters(maker(config, seed, race.nodes.get(config.like)), seed), labels, ~mine) for seed in JUDGED]
            )
            for config in {best, DEFAULT, race.alone}
        }
        inside += bool(low <= scores[best] <= high)
        gained.append((scores[best], scores[DEFAULT], scores[race.alone]))
        chosen.append(best.name)
    means = np.mean(gained, axis=0)
    often = max(set(chosen), key=chosen.count)
    print(
        f"{name}, by half of the labels: in the stated interval in {inside} of {halves}; F1 on the other half "
        f"{means[0]:.3f}, the default {means[1]:.3f}, the query alone {means[2]:.3f}; most often {often} "
        f"({chosen.count(often)} of {halves})",
        flush=True,
    )


def without_labels(name: str, cube: Cube, query: Query, clusters: Clusters, draws: int, runs: int) -> None:
    """Print what is chosen by hidden links, and the F1 of that."""
    labels = np.array(query.labels)
    everyone = labels != ""
    method = c2n.methods.Auto(runs=runs, seconds=10_000.0, embedding=EMBEDDING)
    scores = {
        title: np.mean([f1(clusters(network, seed), labels, everyone) for seed in JUDGED])
        for title, network in (("default", c2n.construct(cube, query)), ("alone", c2n.construct(cube, query, "none")))
    }
    for seed in range(draws):
        network = c2n.construct(cube, replace(query, labels=None), method, seed=seed)
        own = np.mean([f1(clusters(network, run), labels, everyone) for run in JUDGED])
        print(
            f"{name}, without labels, draw {seed}: {network.settings['chosen']}, F1 {own:.3f}, the default "
            f"{scores['default']:.3f}, the query alone {scores['alone']:.3f}",
            flush=True,
        )


def f1(clusters: Array, labels: Array, judged: Array) -> float:
    return float(METRICS["F1"](clusters[judged], labels[judged]))


if __name__ == "__main__":
    main()
