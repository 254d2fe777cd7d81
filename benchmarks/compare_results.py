"""Compare the default network with that of another checkout.

    python benchmarks/compare_results.py OUT OTHER

Both are folders of ``benchmarks/results.py`` made with the same seeds. Prints for each task the mean scores of both
default networks and the mean difference with its 95 % interval. Runs are paired by seed; the score of a run is the mean
over embeddings (for films, recommenders), and the interval is that of the t-distribution over runs.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy import stats

DEFAULT = "greedy · cover · hybrid"
MEASURES = ("F1", "P@5")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("other", type=Path)
    asked = parser.parse_args()
    print("| task | runs | other | default | difference |\n| --- | --- | --- | --- | --- |")
    means = []
    for path in sorted(asked.out.glob("*/trials.csv")):
        beside = asked.other / path.parent.name / path.name
        if path.parent.name.endswith("-hidden") or not beside.exists():
            continue
        measure, ours = read_scores(path)
        theirs = read_scores(beside)[1]
        seeds = sorted(ours.keys() & theirs.keys())
        one, two = (np.array([scores[seed] for seed in seeds]) for scores in (ours, theirs))
        low, high = stats.t.interval(0.95, len(seeds) - 1, (one - two).mean(), stats.sem(one - two))
        difference = f"{(one - two).mean():+.3f} [{low:+.3f}, {high:+.3f}]"
        marked = f"**{difference}**" if low > 0 or high < 0 else difference
        print(f"| `{path.parent.name}` ({measure}) | {len(seeds)} | {two.mean():.3f} | {one.mean():.3f} | {marked} |")
        if measure == "F1":
            means.append((two.mean(), one.mean()))
    other, own = np.mean(means, axis=0)
    print(f"| mean F1 of {len(means)} tasks | | {other:.3f} | {own:.3f} | {own - other:+.3f} |")


def read_scores(path: Path) -> tuple[str, dict[int, float]]:
    """Return the main measure of a task, and the mean score of the default network by seed."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["configuration"] == DEFAULT]
    measure = next(name for name in MEASURES if rows[0].get(name))
    seeds = sorted({int(row["seed"]) for row in rows})
    return measure, {
        seed: float(np.mean([float(row[measure]) for row in rows if int(row["seed"]) == seed])) for seed in seeds
    }


if __name__ == "__main__":
    main()
