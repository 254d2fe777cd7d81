"""Does ``auto`` choose well? Half of the labels are given, and its choice is judged by the other half.

    python benchmarks/auto.py DATA OUT [--only labs] [--splits 3] [--seconds 60]

OUT is the folder of ``benchmarks/results.py``: the networks of fixed setups are not mined again but taken from its
trials (DeepWalk, the last five of ten runs; ``auto`` chooses by the first five). The best fixed setup is the best on
the very labels that judge, which nobody could know before: being level with it is all that can be asked for.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import cube2net as c2n
from cube2net.mine import METRICS
from cube2net.pipeline.mining import clustering_miners
from cube2net.records import Comparison, Network, Query, Setup, Trial
from cube2net.referee.statistics import differences
from results import TASKS, there

EMBEDDING = "deepwalk"
JUDGED = range(5, 10)
AUTO = Setup(method="auto")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    print("| task | split | chosen | F1 held out | the query alone | best fixed | auto over the best fixed |")
    print("| --- " * 7 + "|", flush=True)
    for task in TASKS:
        if (asked.only and task.name not in asked.only) or not there(task, asked.out):
            continue
        cube, query, options = task.load(asked.data, asked.out)
        if options["task"] != "clustering":
            continue
        known = c2n.read_comparison(asked.out / task.name, query)
        for split in range(asked.splits):
            given, judged = halves(query, split)
            network = c2n.construct(cube, given, c2n.Auto(seconds=asked.seconds))
            row(task.name, split, network, known, judged)


def halves(query: Query, split: int) -> tuple[Query, tuple[str, ...]]:
    """Return the query with half of its labels, and the labels of the other half."""
    labels = query.labels or ()
    mine = np.random.default_rng(split).permutation(len(labels)) < len(labels) // 2
    given = tuple(label if own else "" for label, own in zip(labels, mine, strict=True))
    return replace(query, labels=given), tuple("" if own else label for label, own in zip(labels, mine, strict=True))


def row(name: str, split: int, network: Network, known: Comparison, judged: tuple[str, ...]) -> None:
    """Print how a choice does on the labels that judge, beside the query alone and the best fixed setup."""
    mine = clustering_miners(replace(network.query, labels=judged), [EMBEDDING]).mine
    own = [Trial(AUTO, EMBEDDING, seed, *mine(network, EMBEDDING, seed)[:2]) for seed in JUDGED]
    fixed = [
        rescored(trial, judged)
        for setup in known.setups
        for trial in known.of(setup, EMBEDDING)
        if trial.seed in JUDGED and not setup.like
    ]
    both = Comparison("clustering", tuple(METRICS), (*own, *fixed), judged)
    means = {setup: mean(both.of(setup, EMBEDDING)) for setup in both.setups}
    best = max((setup for setup in means if setup != AUTO), key=lambda setup: means[setup])
    (found,) = differences(both, [(AUTO, best)])
    print(
        f"| {name} | {split} | {network.settings['chosen']} | {means[AUTO]:.3f} | {means[both.alone]:.3f} "
        f"| {means[best]:.3f} ({best.name}, of {len(means) - 1}) "
        f"| {found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}] |",
        flush=True,
    )


def rescored(trial: Trial, judged: Sequence[str]) -> Trial:
    """Return the trial with the scores of the labels that judge."""
    there = np.array(judged) != ""
    truth = np.array(judged)[there]
    return replace(trial, scores={name: metric(trial.evidence[there], truth) for name, metric in METRICS.items()})


def mean(trials: Sequence[Trial]) -> float:
    return float(np.mean([trial.scores["F1"] for trial in trials]))


if __name__ == "__main__":
    main()
