"""Every method that chooses cells, beside the best value known: one table.

    python benchmarks/choices.py CUBE LABS.csv AREAS.csv --out FOLDER [--seeds 10] [--queries 20] [--exact 20]

The queries are the two files and neighbourhoods drawn at random: the authors met first when going out from a
random link of the network, 10 to 2,000 of them. Every query is asked with m = 20 and 50, jaccard and linked. The
best value known is the best that any run of any method reached; it is proven where ``exact`` closed the gap within
its seconds. Runs are kept in FOLDER/runs.jsonl, seed by seed: an interrupted benchmark goes on where it stopped, and
``--table`` only prints. ``--part 0 --parts 2`` and ``--part 1 --parts 2`` share the work of one folder.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.random import stream
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Method
from cube2net.model.query import Query
from cube2net.model.selection import Budget
from cube2net.selection.anneal import Anneal
from cube2net.selection.exact import Exact
from cube2net.selection.greedy import Greedy
from cube2net.selection.rl.cube2net import Cube2net

SEEDED = ("anneal", "cube2net")
OBJECTIVES = ("jaccard", "linked")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("labs", type=Path)
    parser.add_argument("areas", type=Path)
    parser.add_argument("--out", type=Path, default=Path("bench-choices"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--exact", type=float, default=20.0, help="seconds for a proof; 0 leaves it out")
    parser.add_argument("--part", type=int, default=0, help="this one of so many parts of the queries")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="only print the table of the runs kept")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    kept = asked.out / "runs.jsonl"
    runs = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    if not asked.table:
        cube = c2n.open(asked.cube)
        done = {key(run) for run in runs}
        with kept.open("a") as file:
            for run in measured(cube, queries(cube, asked), asked, done):
                runs.append(run)
                file.write(json.dumps(run) + "\n")
                file.flush()
    print(table(runs))


def queries(cube: Cube, asked: argparse.Namespace) -> dict[str, Query]:
    """Return the queries by name, the two of the files first."""
    found = {path.stem: c2n.read_query(cube, path, skip_missing=True) for path in (asked.labs, asked.areas)}
    for number in range(asked.queries):
        rng = stream(number, "benchmarks", "choices")
        size = int(np.exp(rng.uniform(np.log(10), np.log(2000))))
        found[f"random {number + 1}"] = neighbourhood(cube, size, rng)
    return found


def neighbourhood(cube: Cube, size: int, rng: np.random.Generator) -> Query:
    """Return the objects met first when going out from both ends of a random link, step by step."""
    homes = cube.object_cells.sizes > 0
    while True:
        start = int(rng.integers(len(cube.objects)))
        if cube.links.degrees[start] == 0:
            continue
        order = [start, int(rng.choice(cube.links.neighbours(start)))]
        met = set(order)
        for one in order:
            if len(order) >= 3 * size:
                break
            for other in cube.links.neighbours(one).tolist():
                if other not in met:
                    met.add(other)
                    order.append(other)
        inside = [one for one in order if homes[one]][:size]
        if len(inside) == size:
            return Query(np.sort(np.array(inside)))


def measured(
    cube: Cube, asked_for: dict[str, Query], asked: argparse.Namespace, done: set[tuple[Any, ...]]
) -> Iterator[dict[str, Any]]:
    """Yield one record for every run that is not done yet."""
    words = c2n.api.embed_cells(cube, "words")
    cases = [
        (name, query, objective, c2n.api.weigh(cube, query, objective))
        for name, query in list(asked_for.items())[asked.part :: asked.parts]
        for objective in OBJECTIVES
    ]
    for seed in range(asked.seeds):
        for name, query, objective, weights in cases:
            for m in (20, 50):
                for method, chooser in methods(words, asked).items():
                    run = {"query": name, "objects": len(query), "objective": objective, "m": m}
                    run = {**run, "method": method, "seed": seed}
                    if key(run) in done or (seed > 0 and method not in SEEDED):
                        continue
                    start = time.perf_counter()
                    found = chooser.select(cube, query, weights=weights, budget=Budget(n_cells=m), seed=seed)
                    seconds = time.perf_counter() - start
                    sizes = {"cells": len(found.cells), "brought": len(found.objects)}
                    ends = {"value": found.value, "bound": found.bound, "proven": found.proven}
                    yield {**run, **ends, **sizes, "seconds": seconds}


def methods(words: Any, asked: argparse.Namespace) -> dict[str, Method]:
    """Return every method by name."""
    return {
        "greedy": Greedy(),
        "greedy by price": Greedy(by="price"),
        "anneal": Anneal(),
        "cube2net": Cube2net().with_vectors(words),
        **({"exact": Exact(seconds=asked.exact)} if asked.exact else {}),
    }


def key(run: dict[str, Any]) -> tuple[Any, ...]:
    return (run["query"], run["objective"], run["m"], run["method"], run["seed"])


def table(runs: list[dict[str, Any]]) -> str:
    """Return the share of the best value known, and seconds, of every method: the lowest and the mean of its seeds."""
    cases: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        cases[run["query"], run["objects"], run["objective"], run["m"]][run["method"]].append(run)
    names = ["greedy", "greedy by price", "anneal", "cube2net"]
    lines = [
        "| query | objects | objective | m | best known | " + " | ".join(names) + " | seconds: anneal, cube2net |",
        "| --- | --: | --- | --: | --: | " + " | ".join("--:" for _ in names) + " | --: |",
    ]
    worst: dict[str, list[float]] = defaultdict(list)
    for (name, objects, objective, m), found in cases.items():
        best = max(run["value"] for group in found.values() for run in group)
        proven = any(run["proven"] for group in found.values() for run in group)
        bounds = [run["bound"] for group in found.values() for run in group if run["bound"] is not None]
        gap = "" if proven or not bounds else f" (≤ {min(bounds):.4f})"
        shares = []
        for method in names:
            got = [run["value"] / best for run in found.get(method, [])]
            worst[method] += got
            one = f"{min(got):.3f}" if got else "–"
            shares.append(f"{one} / {statistics.mean(got):.3f}" if len(got) > 1 else one)
        times = [statistics.mean(run["seconds"] for run in found[method]) for method in SEEDED if method in found]
        lines.append(
            f"| {name} | {objects:,} | {objective} | {m} | {best:.4f}{' proven' if proven else gap} | "
            + " | ".join(shares)
            + " | "
            + ", ".join(f"{second:.1f}" for second in times)
            + " |"
        )
    lines.append("")
    for method, got in worst.items():
        lines.append(
            f"{method}: lowest {min(got):.4f}, mean {statistics.mean(got):.4f} of the best known, {len(got):,} runs; "
            f"{sum(one < 0.995 for one in got)} below 0.995, {sum(one < 0.97 for one in got)} below 0.97"
        )
    below = sum(
        run["value"] < group["greedy"][0]["value"] - 1e-12
        for group in cases.values()
        for method in SEEDED
        for run in group.get(method, [])
    )
    lines.append(f"runs of anneal and cube2net below greedy: {below}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
