"""How often the referee's intervals of 95 % hold the truth, where the truth is known: one table.

    python benchmarks/intervals.py [--cases 100] [--objects 116] [--runs 10] [--labels 4]

Every case is a query drawn anew: each object has its own chance to be put into the right cluster, the same in all
runs, and is put into any one otherwise. The chances of one setup are around a level, those of the other, for the same
objects, 0.1 higher. The truth is the score, and the difference, of endlessly many objects.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import beta

from cube2net.kernels.agreement import AGREEMENT
from cube2net.records import Comparison, Setup, Trial
from cube2net.records.ragged import Array
from cube2net.referee.statistics import differences, estimate
from cube2net.seeding import stream

LEVELS = (0.3, 0.5, 0.7, 0.85)
MORE = 0.1
ONE, OTHER = Setup(method="greedy"), Setup(method="none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--objects", type=int, default=116)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--labels", type=int, default=4)
    parser.add_argument("--resamples", type=int, default=300)
    options = parser.parse_args()
    print(f"{options.objects} objects, {options.labels} labels, {options.runs} runs, {options.cases} cases")
    print(f"{'measure':8} {'right':>6} {'truth':>6} {'found':>6} {'held':>6} {'difference':>11} {'held':>6}")
    for measure in AGREEMENT:
        for level in LEVELS:
            low, high = (true_score(measure, share, options.labels) for share in (level, level + MORE))
            rng = stream(0, "benchmarks", f"intervals {measure} {level}")
            held, means = np.zeros(2), []
            for _ in range(options.cases):
                found = case(rng, level, measure, options)
                own = estimate(found, OTHER, measure=measure, resamples=options.resamples)
                (apart,) = differences(found, [(ONE, OTHER)], measure=measure, resamples=options.resamples)
                assert own is not None
                means.append(own.mean)
                held += own.low <= low <= own.high, apart.low <= high - low <= apart.high
            shares = [f"{share:5.0f} %" for share in 100 * held / options.cases]
            found_mean = np.mean(means)
            print(f"{measure:8} {level:6.2f} {low:6.3f} {found_mean:6.3f} {shares[0]} {high - low:11.3f} {shares[1]}")


def true_score(measure: str, share: float, labels: int) -> float:
    """Return the score when a share of endlessly many objects is right and the others are anywhere."""
    table = np.eye(labels) * share / labels + np.full((labels, labels), (1 - share) / labels**2)
    return float(AGREEMENT[measure](table))


def case(rng: np.random.Generator, level: float, measure: str, options: argparse.Namespace) -> Comparison:
    """Return runs of two setups on a query drawn anew."""
    own = np.arange(options.objects) % options.labels
    luck = rng.random(options.objects)
    trials = []
    for setup, share in ((OTHER, level), (ONE, level + MORE)):
        chances = beta.ppf(luck, 2 * share, 2 * (1 - share))
        for seed in range(options.runs):
            anywhere = rng.integers(0, options.labels, options.objects)
            found = np.where(rng.random(options.objects) < chances, own, anywhere)
            trials.append(Trial(setup, "any", seed, {measure: score(measure, found, own, options.labels)}, found))
    return Comparison("clustering", (measure,), tuple(trials), truth=tuple(str(label) for label in own))


def score(measure: str, found: Array, own: Array, labels: int) -> float:
    table = np.bincount(found * labels + own, minlength=labels**2).reshape(labels, labels).astype(np.float64)
    return float(AGREEMENT[measure](table))


if __name__ == "__main__":
    main()
