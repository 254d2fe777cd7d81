"""What learning contributes to choosing cells: every step from the paper's agent to ours, with and without learning.

    python benchmarks/learning_runs.py OUT [--seeds 5] [--part ladder] [--task areas] [--minutes 30] [--keep]

Every run is one line of OUT/runs.jsonl. Runs that are recorded in any OUT/runs*.jsonl are not repeated, so an
interrupted program continues, and several can share the work if each has its own file and its own seeds
(``--file runs-areas-3.jsonl --seed-from 3 --seeds 1``). Without learning means a learning rate of 0: the same number of
trajectories, drawn from the initial policy. ``--keep`` writes the records of all files to ``learning_scores.jsonl``,
from which ``learning_page.py`` makes the page.

Parts: ``others`` (what other methods reach), ``tuned`` (the preset ``paper-tuned``, with all its updates), ``long``
(five times as many), ``ladder`` (one change after another, from the paper's agent to the default), ``letter`` (the
first step of the ladder), ``switches`` (the default with one thing changed), ``downstream`` (F1 of clustering the query
in these networks), ``theory`` (how near outputs are for near cells, and vectors for near labels), ``calls`` (how often
methods ask for a value) and ``sensitivity`` (H, α, β, γ and T).
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net._util.progress import Stopwatch
from cube2net.mining.downstream import make_clustering_task
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Method
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, QueryObjective, Selection
from cube2net.selection.anneal import Anneal
from cube2net.selection.constraints import evaluate_cells
from cube2net.selection.greedy import Greedy
from cube2net.selection.random import Random
from cube2net.selection.rl import ppo
from cube2net.selection.rl.cube2net import Agent, Cube2net
from cube2net.selection.rl.episodes import PRESETS, Instance, Space, Switch
from cube2net.vectors.cell_vectors import embed_labels
from cube2net.vectors.glove import load_default_words

STORE = Path(__file__).with_name("learning_scores.jsonl")
TASKS = ("areas", "labs")
N_CELLS, UPDATES, LONG = 20, 100, 1500
MODELS = ("deepwalk", "line")
Record = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """A change of the agent: its name, what it does, and the switches it sets beside those before it."""

    name: str
    says: str
    switches: Mapping[str, Switch]


LADDER = (
    Step("paper", "the paper's agent (preset `paper`)", {}),
    Step("epochs", "10 epochs of one batch in place of 40 of 4 mini-batches", {"epochs": 10, "minibatches": 1}),
    Step("vectors", "vectors: dimensions of equal length, centred, spread 1", {"scale": "blocks", "directions": 150}),
    Step("outputs", "linear outputs, tanh inside", {"output_layer": "linear", "hidden_layer": "tanh"}),
    Step(
        "rewards",
        "rewards in units of greedy's value, advantages whitened, gradients clipped",
        {"units": True, "whiten": True, "largest_gradient": 0.5},
    ),
    Step("end", "no value ν(S_T) after the last step", {"end_value": False}),
    Step("directions", "20 principal directions in place of all 150", {"directions": 20}),
    Step(
        "rate",
        "learning rate .005 in place of .0003, σ 1 in place of .5, 128 units in place of 256, γ .9 in place of .99",
        {name: getattr(PRESETS["paper-tuned"], name) for name in ("learning_rate", "spread", "hidden", "discount")},
    ),
    Step("state", "the agent sees what is left to gain, and acts relative to its centre", {"sees_left": True}),
    Step("useful", "only cells that may be in a best selection", {"only_useful": True}),
    Step("k", "the one with most of the query among the k nearest cells (40 %)", {"k": None}),
    Step("price", "the one with the largest gain − price·cost among them, or none", {"at_a_price": True}),
    Step("met", "the best prefix met in place of the plan", {"answer": "met", "whole": False}),
    Step(
        "network",
        "8 directions, 64 units, σ for every direction, other learning rate, σ and γ",
        {
            name: getattr(PRESETS["default"], name)
            for name in ("directions", "hidden", "one_spread", "spread", "discount", "learning_rate")
        },
    ),
    Step("floor", "never below greedy: the default", {"floor": True}),
)
"""From the paper's agent to the default; every step keeps the changes of those before it."""

SWITCHES = (
    Step("k = 1", "the nearest cell", {"k": 1}),
    Step("k = 16", "the best of 16", {"k": 16}),
    Step("k = 64", "the best of 64", {"k": 64}),
    Step("no price", "the best by gain", {"at_a_price": False}),
    Step("no price, k = 16", "the best of 16 by gain", {"at_a_price": False, "k": 16}),
    Step("plan", "the plan of the policy", {"answer": "plan"}),
)
"""The default with one thing changed; without the floor, which would hide it."""


def main() -> None:
    """Make the runs that are missing, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="where cubes and runs go")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds")
    parser.add_argument("--seed-from", type=int, default=0, help="the first seed")
    parser.add_argument("--file", default="runs.jsonl", help="file in OUT that new runs are added to")
    parser.add_argument("--part", action="append", choices=[*PARTS])
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after the run that ends then")
    parser.add_argument("--keep", action="store_true", help="copy the runs to the repository")
    options = parser.parse_args()
    runs = Runs(options.out, options.file, options.minutes)
    seeds = range(options.seed_from, options.seed_from + options.seeds)
    for part in options.part or PARTS:
        for name in options.task or TASKS:
            PARTS[part](runs, load_task(name, options.out), seeds)
    if options.keep:
        records = sorted(runs.records.values(), key=lambda record: [str(part) for part in identify(record)])
        lines = (json.dumps(thin(record), ensure_ascii=False) + "\n" for record in records)
        STORE.write_text("".join(lines), encoding="utf-8")


def thin(record: Record) -> Record:
    """Return a record with 30 points of its learning curve, where one is drawn, and none elsewhere."""
    record = dict(record)
    curve = record.pop("curve", [])
    if record["part"] == "tuned":
        record["curve"] = curve[:: max(1, len(curve) // 30)]
    return record


class Runs:
    """The recorded runs of all files of a folder, and the file that new ones are added to."""

    def __init__(self, out: Path, file: str, minutes: float) -> None:
        self.minutes, self.watch = minutes, Stopwatch()
        self.path = out / file
        out.mkdir(parents=True, exist_ok=True)
        lines = [line for path in sorted(out.glob("runs*.jsonl")) for line in path.read_text("utf-8").splitlines()]
        self.records = {identify(record): record for record in map(json.loads, lines)}

    def add(self, make: Any, **about: Any) -> Record:
        """Return the record of a run, made by a function where it is missing."""
        key = identify(about)
        if key not in self.records:
            if self.watch.seconds > 60 * self.minutes:
                raise SystemExit("the time is over: run it again to continue")
            watch = Stopwatch()
            record = {**about, **make(), "seconds": round(watch.seconds, 1)}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
            print({name: value for name, value in record.items() if name not in ("curve", "cells")}, flush=True)
            self.records[key] = record
        return self.records[key]


def identify(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells a run from the others."""
    return tuple(record.get(name) for name in ("part", "task", "step", "learns", "model", "seed"))


@dataclass(frozen=True, eq=False)
class Task:
    """A labelled query on its cube, and what its selections are worth."""

    name: str
    cube: Cube
    query: Query
    weights: QueryObjective

    @cache  # noqa: B019
    def vectors(self, scale: str) -> Array:
        """Return the cell vectors of words."""
        return c2n.api.embed_cells(self.cube, "words", scale=scale).values


def load_task(name: str, out: Path) -> Task:
    """Return a task on the papers of the package; its cube is built once."""
    folder = out / "cubes" / name
    if not folder.exists():
        corpus = c2n.load_bundled(without_sigs=c2n.api.AREA_SIGS if name == "areas" else ())
        c2n.build(corpus, ["decade=year@decades", "venue", "topic"], out=folder)
    cube = c2n.open(folder)
    query = cube.query(c2n.load_areas() if name == "areas" else c2n.load_labs())
    return Task(name, cube, query, c2n.api.weigh(cube, query, "jaccard"))


def learn(task: Task, method: Cube2net, seed: int, *, learns: bool = True, n_cells: int = N_CELLS) -> Record:
    """Return what one run of an agent found: its answer, the best selection met, and its learning curve."""
    if not learns:
        # Steps of size 0: one epoch is as good as forty.
        method = Cube2net(
            preset=method.preset,
            updates=method.updates,
            patience=method.patience,
            switches={**(method.switches or {}), "learning_rate": 0.0, "epochs": 1, "minibatches": 1},
        )
    preset = method.settings
    instance = Instance.of(task.cube, task.query, task.weights, Budget(n_cells=n_cells), preset)
    space = Space.of([task.vectors(preset.scale)], directions=preset.directions)
    agent = Agent(method, preset, [instance], space, seed)
    means, bests = np.array(agent.learn().curve).T
    training = agent.trainings[0]
    floor = instance.start if preset.floor else 0.0
    cells = instance.greedy.cells if floor > training.best else instance.problem.cells[training.best_cells]
    return {
        "value": round(max(training.best, floor), 6),
        "met": round(float(bests[-1]), 6),
        "curve": [round(float(mean), 5) for mean in means],
        "cells": cells.tolist(),
    }


def run_tuned(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Run the preset ``paper-tuned`` with all its updates."""
    for seed in seeds:
        for learns in (True, False):
            step = Step("paper-tuned", "", {})
            run_step(runs, task, "tuned", step, Cube2net(preset="paper-tuned"), seed, learns)


def run_long(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Run the preset ``paper-tuned`` five times as long."""
    for seed in seeds:
        step = Step(f"paper-tuned, {LONG:,} updates", "", {})
        run_step(runs, task, "tuned", step, Cube2net(preset="paper-tuned", updates=LONG), seed, True)


def run_ladder(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Run every step of the ladder but the first, which takes longer than all others together."""
    for seed in seeds:
        for step, method in [*climb()][1:]:
            for learns in (True, False):
                run_step(runs, task, "ladder", step, method, seed, learns)


def run_letter(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Run the first step of the ladder, the paper's agent."""
    step, method = next(climb())
    for seed in seeds:
        for learns in (True, False):
            run_step(runs, task, "ladder", step, method, seed, learns)


def climb() -> Iterator[tuple[Step, Cube2net]]:
    """Yield every step of the ladder with its agent."""
    switches: dict[str, Switch] = {}
    for step in LADDER:
        switches |= step.switches
        yield step, Cube2net(preset="paper", updates=UPDATES, switches=dict(switches))


def run_switches(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Run the default with one thing changed."""
    for seed in seeds:
        for step in SWITCHES:
            method = Cube2net(updates=UPDATES, patience=UPDATES, switches={**step.switches, "floor": False})
            for learns in (True, False):
                run_step(runs, task, "switches", step, method, seed, learns)


def run_step(runs: Runs, task: Task, part: str, step: Step, method: Cube2net, seed: int, learns: bool) -> None:
    runs.add(
        lambda: learn(task, method, seed, learns=learns),
        part=part,
        task=task.name,
        step=step.name,
        learns=learns,
        seed=seed,
    )


@dataclass(frozen=True, kw_only=True)
class Given:
    """A method that chooses given cells."""

    cells: tuple[int, ...]

    def select(self, cube: Cube, query: Query, *, weights: Any, budget: Budget, seed: int = 0) -> Selection:
        """Return the selection of the cells."""
        return evaluate_cells(cube, weights, np.array(self.cells, dtype=np.int64))


def run_others(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Choose cells by other methods; those that draw nothing once."""
    for name, method in {
        "random": Random(),
        "greedy": Greedy(),
        "greedy by price": Greedy(by="price"),
        "anneal": Anneal(),
    }.items():
        for seed in seeds if method.draws else (0,):

            def choose(method: Method = method, seed: int = seed) -> Record:
                budget = Budget(n_cells=N_CELLS)
                found = method.select(task.cube, task.query, weights=task.weights, budget=budget, seed=seed)
                return {"value": round(found.value, 6), "cells": found.cells.tolist()}

            runs.add(choose, part="others", task=task.name, step=name, seed=seed)


def run_downstream(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Cluster the query in the networks of agents and of other methods, and on its own links."""
    mine = make_clustering_task(task.query, MODELS).mine
    wanted = [("tuned", "paper-tuned"), *(("ladder", step.name) for step in LADDER)]
    for seed in seeds:
        chosen: dict[str, Record | None] = {"none": None}
        for name in ("random", "greedy", "anneal"):
            chosen[name] = runs.records.get(("others", task.name, name, None, None, seed if name != "greedy" else 0))
        for part, name in wanted:
            for learns, title in ((True, f"{name}, learned"), (False, f"{name}, not learned")):
                chosen[title] = runs.records.get((part, task.name, name, learns, None, seed))
        for title, record in chosen.items():
            if title == "none":
                network = c2n.construct(task.cube, task.query, "none")
            elif record is not None:
                method = Given(cells=tuple(record["cells"]))
                network = c2n.construct(task.cube, task.query, method, N_CELLS, form="objects", objective="jaccard")
            else:
                continue
            for model in MODELS:

                def score(network: Network = network, model: str = model, seed: int = seed) -> Record:
                    return {"f1": round(mine(network, model, seed)[0]["F1"], 5), "nodes": len(network)}

                runs.add(score, part="downstream", task=task.name, step=title, model=model, seed=seed)


def run_sensitivity(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Change one number of the preset ``paper-tuned`` at a time; only on the larger query."""
    if task.name != "areas":
        return
    changes: dict[str, tuple[Any, ...]] = {
        "hidden": (32, 128, 512),
        "trajectories": (10, 40, 160),
        "epochs": (3, 10, 30),
        "discount": (0.5, 0.9, 0.99, 1.0),
        "n_cells": (5, 10, 20, 40),
    }
    for seed in seeds[:3]:
        for name, values in changes.items():
            for value in values:
                number = value if name == "n_cells" else N_CELLS
                switches = {} if name == "n_cells" else {name: value}
                method = Cube2net(preset="paper-tuned", updates=100, switches=switches)

                def run(method: Cube2net = method, number: int = number, seed: int = seed) -> Record:
                    budget = Budget(n_cells=number)
                    greedy = Greedy().select(task.cube, task.query, weights=task.weights, budget=budget)
                    found = learn(task, method, seed, n_cells=number)
                    return {"value": found["value"], "greedy": round(greedy.value, 6)}

                runs.add(run, part="sensitivity", task=task.name, step=f"{name} {value}", seed=seed)


def run_theory(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Measure how near outputs and gradients are for near cells, and the vectors of labels for near words."""
    for seed in seeds:
        runs.add(
            lambda seed=seed: measure_nearness(task, seed), part="theory", task=task.name, step="outputs", seed=seed
        )
    runs.add(lambda: measure_labels(task), part="theory", task=task.name, step="labels", seed=0)


def measure_nearness(task: Task, seed: int) -> Record:
    """Return the largest η and ζ of a trained policy, over pairs of a cell and its nearest one, in 200 states.

    η is the squared change of an output over the squared distance of the cells, ζ that of the gradient by all weights.
    """
    import torch

    method = Cube2net(preset="paper-tuned")
    preset = method.settings
    instance = Instance.of(task.cube, task.query, task.weights, Budget(n_cells=N_CELLS), preset)
    space = Space.of([task.vectors(preset.scale)], directions=preset.directions)
    trained = Agent(replace(method, updates=20), replace(preset, updates=20), [instance], space, seed).learn()
    points = space.points / space.unit
    settings = ppo.Settings(**preset.ppo)  # type: ignore[arg-type]
    policy = ppo.Policy(points.shape[1], points.shape[1], settings, torch.Generator().manual_seed(0))
    policy.load_state_dict({name: torch.from_numpy(array) for name, array in trained.arrays.items()})
    policy = policy.double()
    rng = np.random.default_rng(seed)
    eta: dict[str, list[float]] = {"actor": [], "critic": []}
    zeta: dict[str, list[float]] = {"actor": [], "critic": []}
    while len(eta["actor"]) < 200:
        chosen = rng.choice(len(points), size=rng.integers(1, N_CELLS))
        cell = int(rng.integers(len(points)))
        gaps = ((points - points[cell]) ** 2).sum(axis=1)
        gaps[gaps == 0] = np.inf
        other = int(gaps.argmin())
        state = points[chosen].sum(axis=0)
        for name in eta:
            outputs, gradients = zip(
                *(differentiate(policy, torch.from_numpy(state + points[at]), name) for at in (cell, other)),
                strict=True,
            )
            eta[name].append(float((outputs[0] - outputs[1]).square().sum()) / gaps[other])
            zeta[name].append(float((gradients[0] - gradients[1]).square().sum()) / gaps[other])
    return {
        "eta": {name: [round(float(np.median(each)), 5), round(max(each), 5)] for name, each in eta.items()},
        "zeta": {name: [round(float(np.median(each)), 3), round(max(each), 3)] for name, each in zeta.items()},
    }


def differentiate(policy: ppo.Policy, state: Any, name: str) -> tuple[Any, Any]:
    """Return an output of a policy, and the gradient of its sum by all weights."""
    import torch

    policy.zero_grad()
    output = policy(state[None])[0 if name == "actor" else 1]
    output.sum().backward()
    gradients = [weight.grad.flatten() for weight in policy.parameters() if weight.grad is not None]
    return output.detach(), torch.cat(gradients).clone()


def measure_labels(task: Task) -> Record:
    """Return how many pairs of labels of a dimension break the paper's bound, for sums of words and for means."""
    table = load_default_words()
    pairs, sums, means = 0, 0, 0
    for dimension in task.cube.dimensions[1:]:
        texts = [
            full or label
            for label, full in zip(dimension.labels, dimension.full_names or dimension.labels, strict=True)
        ]
        labels = [
            embed_labels(words, table).values.astype(float)
            for words in (re.findall(r"\w+", text) for text in texts)
            if words
        ]
        for number, one in enumerate(labels):
            for other in labels[:number]:
                gaps = float(((one[:, None] - other[None]) ** 2).sum()) * (1 + 1e-9)
                pairs += 1
                sums += float(((one.sum(axis=0) - other.sum(axis=0)) ** 2).sum()) > gaps
                means += float(((one.mean(axis=0) - other.mean(axis=0)) ** 2).sum()) > gaps
    return {"pairs": pairs, "sums": sums, "means": means}


def run_calls(runs: Runs, task: Task, seeds: Sequence[int]) -> None:
    """Count how often methods call a function, on drawn cubes of several sizes; once."""
    if task.name != TASKS[0]:
        return
    for communities in (8, 32, 128):
        planted = c2n.make_planted(objects=50 * communities, communities=communities, noise=0.2)
        folder = runs.path.parent / "cubes" / f"planted-{communities}"
        if not folder.exists():
            c2n.build(planted.corpus, planted.corpus.dimensions, out=folder)
        cube = c2n.open(folder)
        query = cube.query([name for number in range(4) for name in planted.query(number)])
        vectors = c2n.api.embed_cells(cube, "words")
        methods: dict[str, Method] = {
            "random": Random(),
            "greedy": Greedy(),
            "anneal": Anneal(),
            "cube2net paper, one update": Cube2net(preset="paper", updates=1, epochs=1).with_vectors(vectors),
            "cube2net, one update": Cube2net(updates=1, epochs=1, floor=False).with_vectors(vectors),
        }
        for n_cells in (5, 10, 20):
            for name, method in methods.items():
                runs.add(
                    lambda cube=cube, query=query, method=method, n_cells=n_cells: {
                        "n": len(cube.cells),
                        "m": n_cells,
                        "calls": count_calls(cube, query, method, n_cells),
                    },
                    part="calls",
                    step=f"{name}, m {n_cells}, {communities} communities",
                    seed=0,
                )


def count_calls(cube: Cube, query: Query, method: Method, n_cells: int) -> int:
    """Return how often a method calls the function that says what a selection is worth."""
    calls = []

    def value(objects: Array) -> float:
        calls.append(len(objects))
        return len(np.intersect1d(objects, query.objects)) / len(np.union1d(objects, query.objects))

    method.select(cube, query, weights=CallableObjective(value, len(cube.objects)), budget=Budget(n_cells=n_cells))
    return len(calls)


PARTS = {
    "others": run_others,
    "tuned": run_tuned,
    "long": run_long,
    "ladder": run_ladder,
    "switches": run_switches,
    "letter": run_letter,
    "downstream": run_downstream,
    "theory": run_theory,
    "calls": run_calls,
    "sensitivity": run_sensitivity,
}


if __name__ == "__main__":
    main()
