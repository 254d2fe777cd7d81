"""Whether a policy learned on past queries helps with new ones.

    python benchmarks/learning_reuse.py CUBE [--seeds 5] [--only reuse]

- ``reuse``: a policy that has learned other queries, on a new one, beside a fresh one.
- ``newcomers``: a function that can only be asked, not counted: which cells hold the people who will join a
  community? Past communities are learned, and a new one gets a few calls; annealing gets as many.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from choices import neighbourhood
from cube2net._util.arrays import Array, take_rows
from cube2net._util.random import stream
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, QueryObjective
from cube2net.selection.anneal import Anneal
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Jaccard
from cube2net.selection.rl.cube2net import Agent, Cube2net
from cube2net.selection.rl.episodes import Instance, Space

M, UPDATES, TRAJECTORIES = 20, 40, 40
AT = (1, 5, 10, 20, 40)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["reuse", "newcomers"])
    asked = parser.parse_args()
    cube = c2n.open(asked.cube)
    if asked.only != "newcomers":
        reuse(cube, asked.seeds)
    if asked.only != "reuse":
        newcomers(cube, asked.seeds)


def learned(
    cube: Cube, query: Query, weights: QueryObjective, vectors: list[Array], seed: int, **options: Any
) -> Array:
    """Return the best value after every update."""
    method = Cube2net(updates=UPDATES, patience=UPDATES, trajectories=TRAJECTORIES, **options)
    instance = Instance.of(cube, query, weights, Budget(n_cells=M), method.settings)
    space = Space.of(vectors, directions=method.settings.directions)
    agent = Agent(method, method.settings, [instance], space, seed)
    return np.array([best for _, best in agent.learn().curve])


def reuse(cube: Cube, seeds: int) -> None:
    """Learn twelve queries in turn, and go on with eight others; k is small, so that the policy has to know where."""
    words = c2n.api.embed_cells(cube, "words")
    queries = [drawn_query(cube, number) for number in range(20)]
    worths = [Jaccard().weigh(query, len(cube.objects)) for query in queries]
    print(
        f"\nreuse: best value after updates {AT[:4]} as a share of greedy's, k = 16, 8 new queries, "
        "mean of the seeds [and range]"
    )
    shares: dict[str, list[list[float]]] = {"fresh": [], "learned 12 others": []}
    for seed in range(seeds):
        base = Cube2net(k=16, updates=240).with_vectors(words)
        policy = base.fit(cube, queries[:12], weights=worths[:12], budget=Budget(n_cells=M), seed=seed).policy
        for query, weights in zip(queries[12:], worths[12:], strict=True):
            greedy = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=M)).value
            for name, start in (("fresh", None), ("learned 12 others", policy)):
                line = learned(cube, query, weights, [words.values], seed, k=16, policy=start)
                shares[name].append([line[at - 1] / greedy for at in AT[:4]])
    for name, rows in shares.items():
        means = np.array(rows).reshape(seeds, -1, len(AT) - 1).mean(axis=1)
        ends = zip(means.mean(axis=0), means.min(axis=0), means.max(axis=0), strict=True)
        print(
            f"  {name:18s} " + "  ".join(f"{mean:.3f} [{low:.3f}, {high:.3f}]" for mean, low, high in ends), flush=True
        )


def drawn_query(cube: Cube, number: int) -> Query:
    rng = stream(number, "benchmarks", "learning")
    return neighbourhood(cube, int(np.exp(rng.uniform(np.log(30), np.log(300)))), rng)


def newcomers(cube: Cube, seeds: int) -> None:
    """A query is a community of the 2010s; wanted are those who link to it and came only in the 2020s.

    A call says how well the objects brought match them (jaccard). At the time of asking that is only known
    of past communities, or by asking around: so calls are dear.
    """
    words = c2n.api.embed_cells(cube, "words")
    tasks = communities(cube, 40)
    past, new = tasks[:32], tasks[32:]
    print("\nnewcomers: value reached with so many calls for each of 8 new communities, mean of the seeds [and range]")
    results: dict[str, list[float]] = {}
    for seed in range(seeds):
        base = Cube2net(updates=640, trajectories=TRAJECTORIES).with_vectors(words)
        queries, judges = [query for query, _ in past], [judge for _, judge in past]
        knowing = base.fit(cube, queries, weights=judges, budget=Budget(n_cells=M), seed=seed)
        for name, way in ways(cube, base, knowing, seed).items():
            results.setdefault(name, []).append(float(np.mean([way(query, judge) for query, judge in new])))
    for name, values in results.items():
        print(f"  {name:46s} {np.mean(values):.4f} [{min(values):.4f}, {max(values):.4f}]", flush=True)


def ways(
    cube: Cube, fresh: Cube2net, knowing: Cube2net, seed: int
) -> dict[str, Callable[[Query, CallableObjective], float]]:
    """Return ways to choose cells for a community with a given number of calls of its judge."""

    def greedy(query: Query, judge: CallableObjective) -> float:
        weights = Jaccard().weigh(query, len(cube.objects))
        return judge.value(
            Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=M, best_prefix=True)).objects
        )

    def agent(method: Cube2net, updates: int) -> Callable[[Query, CallableObjective], float]:
        return lambda query, judge: tried(cube, query, judge, replace(method, updates=updates), seed)

    def anneal(calls: int) -> Callable[[Query, CallableObjective], float]:
        method = Anneal(steps=calls, restarts=1)
        return lambda query, judge: method.select(cube, query, weights=judge, budget=Budget(n_cells=M), seed=seed).value

    return {
        "greedy by jaccard with the query, 1 call": greedy,
        "cube2net that learned 32 past ones, 1 call": agent(knowing, 0),
        "cube2net that learned 32 past ones, 41 calls": agent(knowing, 1),
        "cube2net fresh, 41 calls": agent(fresh, 1),
        **{f"anneal, {calls} calls": anneal(calls) for calls in (41, 100, 200, 400, 1000)},
    }


def tried(cube: Cube, query: Query, judge: CallableObjective, method: Cube2net, seed: int) -> float:
    """Return the best value that the agent itself met: greedy's cells, the usual floor, are not counted."""
    preset = method.settings
    instance = Instance.of(cube, query, judge, Budget(n_cells=M), preset)
    vectors = method.vectors if isinstance(method.vectors, tuple) else ()
    agent = Agent(method, preset, [instance], Space.of([one.values for one in vectors], directions=8), seed)
    agent.learn()
    return agent.trainings[0].best


def communities(cube: Cube, count: int) -> list[tuple[Query, CallableObjective]]:
    """Return communities of the 2010s, and judges that know who joined each."""
    decades = cube.dimensions[0].levels[0].labels
    active = {}
    for decade in ("200X", "201X", "202X"):
        number = decades.index(decade) if decade in decades else -1
        cells = np.flatnonzero(cube.cells.labels[:, 0] == number)
        active[decade] = np.zeros(len(cube.objects), dtype=bool)
        active[decade][take_rows(cube.cells.members, cells).indices] = True
    fresh = active["202X"] & ~active["201X"] & ~active["200X"]
    found: list[tuple[Query, CallableObjective]] = []
    number = 0
    while len(found) < count:
        rng = stream(number, "benchmarks", "newcomers")
        number += 1
        around = neighbourhood(cube, int(np.exp(rng.uniform(np.log(100), np.log(900)))), rng).objects
        inside = around[active["201X"][around]]
        if len(inside) < 20:
            continue
        near = np.unique(np.concatenate([cube.links.neighbours(int(one)) for one in inside]))
        joined = near[fresh[near]]
        if len(joined) >= 20:
            found.append((Query(inside), CallableObjective(matching(joined), len(cube.objects))))
    return found


def matching(wanted: Array) -> Callable[[Array], float]:
    def jaccard_with_those_who_joined(objects: Array) -> float:
        return len(np.intersect1d(objects, wanted)) / len(np.union1d(objects, wanted))

    return jaccard_with_those_who_joined


if __name__ == "__main__":
    main()
