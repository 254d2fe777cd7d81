"""Whether a policy learned on past queries helps with new ones.

    python benchmarks/learning_reuse.py CUBE OUT [--seeds 5] [--seed-from 0] [--only reuse]
    python benchmarks/learning_reuse.py CUBE OUT --keep

Every run is a line of a file in OUT, one for each part and first seed; runs that are there are not repeated. ``--keep``
runs nothing and writes the lines of all files to ``learning_reuse.jsonl``, from which ``learning_page.py`` makes its
tables. ``reuse`` is for the cube of the package's papers, ``newcomers`` for that of the whole ACL Anthology.

- ``reuse``: a policy that has learned other queries, on a new one, beside a fresh one.
- ``newcomers``: a function that can only be asked, not counted: which cells hold the people who will join a
  community? Past communities are learned, and a new one gets a few calls; annealing gets as many.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from choices import neighbourhood
from cube2net._util.arrays import Array, take_rows
from cube2net._util.progress import Stopwatch
from cube2net._util.random import stream
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, QueryObjective
from cube2net.selection.anneal import Anneal
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Jaccard
from cube2net.selection.rl.cube2net import Agent, Cube2net
from cube2net.selection.rl.episodes import Instance, Space

STORE = Path(__file__).with_name("learning_reuse.jsonl")
M, UPDATES, TRAJECTORIES = 20, 40, 40
AT = (1, 5, 10, 20)
LEARNING_UPDATES = 640
"""Updates on past communities; each has as many calls as there are trajectories."""
PAST, NEW = 12, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("out", type=Path, help="folder of the runs")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seed-from", type=int, default=0)
    parser.add_argument("--only", choices=["reuse", "newcomers"])
    parser.add_argument("--keep", action="store_true", help="copy the runs to the repository")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.keep:
        lines = {line for path in asked.out.glob("*.jsonl") for line in path.read_text().splitlines()}
        STORE.write_text("".join(line + "\n" for line in sorted(lines)))
        return
    cube = c2n.open(asked.cube)
    for name, part in (("reuse", reuse), ("newcomers", newcomers)):
        path = asked.out / f"{name}-{asked.seed_from}.jsonl"
        done = len(path.read_text().splitlines()) if path.exists() else 0
        for seed in range(asked.seed_from + done, asked.seed_from + asked.seeds) if asked.only in (None, name) else ():
            watch = Stopwatch()
            record = {"part": name, "seed": seed, **part(cube, seed), "seconds": round(watch.seconds, 1)}
            with path.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(record, flush=True)


def learned(
    cube: Cube, query: Query, weights: QueryObjective, vectors: list[Array], seed: int, **options: Any
) -> Array:
    """Return the best value after every update."""
    method = Cube2net(updates=UPDATES, patience=UPDATES, trajectories=TRAJECTORIES, **options)
    instance = Instance.of(cube, query, weights, Budget(n_cells=M), method.settings)
    space = Space.of(vectors, directions=method.settings.directions)
    agent = Agent(method, method.settings, [instance], space, seed)
    return np.array([best for _, best in agent.learn().curve])


def reuse(cube: Cube, seed: int) -> dict[str, Any]:
    """Learn twelve queries in turn, and go on with eight others; k is small, so that the policy has to know where.

    Returned is the best value after some updates as a share of greedy's, by agent and new query.
    """
    words = c2n.api.embed_cells(cube, "words")
    queries = [drawn_query(cube, number) for number in range(PAST + NEW)]
    worths = [Jaccard().weigh(query, len(cube.objects)) for query in queries]
    base = Cube2net(k=16, updates=240).with_vectors(words)
    policy = base.fit(cube, queries[:PAST], weights=worths[:PAST], budget=Budget(n_cells=M), seed=seed).policy
    shares: dict[str, list[list[float]]] = {"fresh": [], "learned": []}
    for query, weights in zip(queries[PAST:], worths[PAST:], strict=True):
        greedy = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=M)).value
        for name, start in (("fresh", None), ("learned", policy)):
            line = learned(cube, query, weights, [words.values], seed, k=16, policy=start)
            shares[name].append([round(float(line[at - 1] / greedy), 5) for at in AT])
    return {"shares": shares}


def drawn_query(cube: Cube, number: int) -> Query:
    rng = stream(number, "benchmarks", "learning")
    return neighbourhood(cube, int(np.exp(rng.uniform(np.log(30), np.log(300)))), rng)


def newcomers(cube: Cube, seed: int) -> dict[str, Any]:
    """A query is a community of the 2010s; wanted are those who link to it and came only in the 2020s.

    A call says how well the objects brought match them (jaccard). At the time of asking that is only known
    of past communities, or by asking around: so calls are dear. Returned is the value reached, by way and community.
    """
    words = c2n.api.embed_cells(cube, "words")
    tasks = communities(cube, 40)
    past, new = tasks[:32], tasks[32:]
    base = Cube2net(updates=LEARNING_UPDATES, trajectories=TRAJECTORIES).with_vectors(words)
    queries, judges = [query for query, _ in past], [judge for _, judge in past]
    knowing = base.fit(cube, queries, weights=judges, budget=Budget(n_cells=M), seed=seed)
    found = ways(cube, base, knowing, seed)
    return {"values": {name: [round(way(query, judge), 5) for query, judge in new] for name, way in found.items()}}


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
