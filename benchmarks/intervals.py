"""How often the 95 % intervals of the evaluation contain the truth, if the truth is known: a table.

    python benchmarks/intervals.py [--cases 100] [--objects 116] [--runs 10] [--labels 4]

Each case is a random query: an object is assigned to the right cluster with a probability of its own, the same in all
runs, and otherwise to a random one. The probabilities of the second configuration are 0.1 higher for the same objects.
The truth is the score, and the difference, for infinitely many objects.

For hidden links, each case has objects of eight groups with vectors around the centre of their group, with errors of
their own and of the run, and links within groups. One configuration has no information about three in ten objects. The
truth is the mean over all cases.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import beta

from cube2net._util.arrays import Array
from cube2net._util.random import stream
from cube2net.evaluation.statistics import differences, estimate
from cube2net.mining.clustering import AGREEMENT
from cube2net.mining.link_prediction import rank_pairs
from cube2net.model.comparison import Comparison, Configuration, Trial

LEVELS = (0.3, 0.5, 0.7, 0.85)
MORE = 0.1
ONE, OTHER = Configuration(method="greedy"), Configuration(method="none")


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
    print(f"{'hidden links':>18} {'mean':>6} {'held':>6} {'difference':>11} {'held':>6}")
    for objects, links in ((options.objects, 0), (options.objects, 60), (300, 200), (150, 900)):
        rng = stream(0, "benchmarks", f"intervals hidden {objects} {links}")
        cases = [hidden_case(rng, objects, links, options.runs) for _ in range(options.cases)]
        owns = [estimate(found, OTHER, resamples=options.resamples) for found in cases]
        aparts = [differences(found, [(ONE, OTHER)], resamples=options.resamples)[0] for found in cases]
        mean, apart = np.mean([own.mean for own in owns if own]), np.mean([each.mean for each in aparts])
        held_means = 100 * np.mean([own.low <= mean <= own.high for own in owns if own])
        held_aparts = 100 * np.mean([each.low <= apart <= each.high for each in aparts])
        what = f"{objects}, {links or 'one each'}"
        print(f"{what:>18} {mean:6.3f} {held_means:5.0f} % {apart:10.3f} {held_aparts:5.0f} %")


def true_score(measure: str, share: float, labels: int) -> float:
    """Return the score for infinitely many objects, a share of them right and the others random."""
    table = np.eye(labels) * share / labels + np.full((labels, labels), (1 - share) / labels**2)
    return float(AGREEMENT[measure](table))


def case(rng: np.random.Generator, level: float, measure: str, options: argparse.Namespace) -> Comparison:
    """Return runs of two configurations on a random query."""
    own = np.arange(options.objects) % options.labels
    luck = rng.random(options.objects)
    trials = []
    for config, share in ((OTHER, level), (ONE, level + MORE)):
        chances = beta.ppf(luck, 2 * share, 2 * (1 - share))
        for seed in range(options.runs):
            anywhere = rng.integers(0, options.labels, options.objects)
            found = np.where(rng.random(options.objects) < chances, own, anywhere)
            trials.append(Trial(config, "any", seed, {measure: score(measure, found, own, options.labels)}, found))
    return Comparison("clustering", (measure,), tuple(trials), truth=tuple(str(label) for label in own))


def hidden_case(rng: np.random.Generator, objects: int, links: int, runs: int) -> Comparison:
    """Return runs of two configurations on random hidden links; without a number, each object has one."""
    groups, size = 8, 16
    own = rng.integers(0, groups, objects)
    if links:
        ends = rng.integers(0, objects, (40 * links, 2))
        inside = (own[ends[:, 0]] == own[ends[:, 1]]) | (rng.random(len(ends)) < 0.05)
        hidden = np.unique(np.sort(ends[inside & (ends[:, 0] != ends[:, 1])], axis=1), axis=0)
        hidden = rng.permutation(hidden)[:links]
    else:
        order = np.lexsort((rng.random(objects), own))[: objects // 2 * 2].reshape(-1, 2)
        hidden = order[own[order[:, 0]] == own[order[:, 1]]]
    unlinked = rng.integers(0, objects, (4 * len(hidden), 2))
    unlinked = unlinked[unlinked[:, 0] != unlinked[:, 1]][: 3 * len(hidden)]
    centres, errors = rng.normal(size=(groups, size)), rng.normal(size=(objects, size))
    worse, unknown = np.exp(0.5 * rng.normal(size=objects)), rng.random(objects) < 0.3
    trials = []
    for config, much in ((OTHER, 4.0), (ONE, 1.2)):
        amount = 1.2 * worse * np.where(unknown, much, 1.0)
        for seed in range(runs):
            luck = 0.95 * errors + 0.3 * rng.normal(size=errors.shape)
            found = rank_pairs(centres[own] + amount[:, None] * luck, tuple(hidden.T), tuple(unlinked.T))
            trials.append(Trial(config, "any", seed, {"AUC": found.mean}, found.auc[:, None]))
    return Comparison("hidden", ("AUC",), tuple(trials))


def score(measure: str, found: Array, own: Array, labels: int) -> float:
    table = np.bincount(found * labels + own, minlength=labels**2).reshape(labels, labels).astype(np.float64)
    return float(AGREEMENT[measure](table))


if __name__ == "__main__":
    main()
