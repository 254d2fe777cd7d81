"""Small comparisons and networks made by hand, for the tests of the evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import ragged_from_lists
from cube2net.evaluation.report.page import environment
from cube2net.evaluation.report.tables import Layout, Table
from cube2net.mining.clustering import METRICS
from cube2net.model.comparison import Comparison, Configuration, Trial
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection

TINY: dict[str, Any] = {
    "methods": ["none", "greedy", "pagerank"],
    "objectives": ["linked"],
    "forms": ["cells"],
    "n_cells": 3,
    "models": ["deepwalk"],
    "runs": 2,
}
"""What a comparison needs to be over soon."""

TRUTH = ("x",) * 6 + ("y",) * 6
ALONE = Configuration(method="none")
GREEDY = [Configuration(method="greedy", objective="linked", form="cells", n_cells=m) for m in (10, 20)]
PEER = Configuration(method="pagerank", like=GREEDY[1].name)
EXACT = Configuration(method="exact", objective="linked", form="cells", n_cells=20)
WHY = "no proof within 60 seconds: raise the limit or choose 'anneal' </script><b>&"


def plain(comparison: Comparison) -> list[str]:
    """Return all that the trials of a comparison hold, as texts."""
    return [repr((vars(trial), trial.evidence.tolist())) for trial in comparison.trials]


def clustering(
    *, wrong: Mapping[Configuration, int] | None = None, seeds: int = 4, models: Sequence[str] = ("deepwalk", "line")
) -> Comparison:
    """Return a comparison in which every configuration puts so many of twelve objects into the wrong cluster.

    By default greedy is right, the query alone and PageRank are not, and exact fails. A seed takes other objects.
    """
    mistakes = wrong or {ALONE: 4, GREEDY[0]: 2, GREEDY[1]: 0, PEER: 3}
    trials = [
        _clustered(config, model, seed, count)
        for config, count in mistakes.items()
        for model in models
        for seed in range(seeds)
    ]
    if wrong is None:
        trials += [Trial(EXACT, model, seed, reason=WHY) for model in models for seed in range(seeds)]
    return Comparison("clustering", tuple(METRICS), tuple(trials), TRUTH, {"seed": 0, "n_cells": [10, 20]})


def _clustered(config: Configuration, model: str, seed: int, wrong: int) -> Trial:
    found = np.repeat([0, 1], 6)
    places = (np.arange(wrong) * 5 + seed) % len(TRUTH)
    found[places] = 1 - found[places]
    return Trial(
        config,
        model,
        seed,
        {name: metric(found, TRUTH) for name, metric in METRICS.items()},
        found,
        nodes=12 + config.n_cells + 20 * bool(config.like),
        links=30 + config.n_cells,
        loose=2 if config == ALONE else 0,
        value=0.5 if config.objective else None,
        seconds={"weigh": 0.5, "select": 0.25, "train": 1.0, "links": 0.125, "mine": 2.0 if model == "line" else 4.0},
    )


def in_one_cluster(
    config: Configuration, *, objects: int = 12, elsewhere: int = 0, loose: int | None = None
) -> Comparison:
    """Return a comparison where one configuration has a single cluster but for the first objects; others are right.

    Without a number all objects of the query are loose in the network of the configuration.
    """
    truth = tuple("xy"[2 * place // objects] for place in range(objects))
    trials = []
    for trial in clustering(wrong={ALONE: 4, GREEDY[1]: 0, PEER: 3}).trials:
        found, unlinked = np.repeat([0, 1], objects // 2), trial.loose
        if trial.configuration == config:
            found, unlinked = np.where(np.arange(objects) < elsewhere, 1, 0), objects if loose is None else loose
        elif trial.configuration != GREEDY[1]:
            found[(np.arange(objects // 3) * 5 + trial.seed) % objects] ^= 1
        scores = {name: metric(found, truth) for name, metric in METRICS.items()}
        trials.append(replace(trial, evidence=found, scores=scores, loose=unlinked))
    return Comparison("clustering", tuple(METRICS), tuple(trials), truth)


def hidden_links(
    *,
    configs: Sequence[Configuration] = (ALONE, GREEDY[1], PEER),
    seeds: int = 3,
    models: Mapping[str, float] | None = None,
) -> Comparison:
    """Return a comparison of link prediction, with precision and recall at 1 and 5 and AUC for twenty users.

    Models have a score on the query alone, and every further configuration has 0.1 more.
    """
    measures = ("P@5", "P@1", "R@5", "R@1", "AUC")
    trials = []
    for number, config in enumerate(configs):
        for seed in range(seeds):
            for model, base in (models or {"softimpute": 0.2}).items():
                rng = np.random.default_rng([number, seed])
                users = np.clip(rng.normal(base + 0.1 * number, 0.05, (20, 5)), 0, 1)
                scores = dict(zip(measures, users.mean(axis=0).tolist(), strict=True))
                seconds = {"select": 0.1, "links": 0.01, "mine": 1.0 + number}
                trials.append(Trial(config, model, seed, scores, users, 40 + config.n_cells, 90, 1, None, seconds))
    return Comparison("links", measures, tuple(trials))


def found_again(
    scores: Mapping[Configuration, float] | None = None,
    *,
    pairs: int | None = 412,
    objects: int = 60,
    **settings: object,
) -> Comparison:
    """Return a comparison by hidden links, in which every object is around the score of its configuration."""
    trials = []
    for config, score in (scores or {ALONE: 0.6, GREEDY[1]: 0.8, PEER: 0.7}).items():
        for model in ("deepwalk", "line"):
            for seed in range(3):
                rows = np.random.default_rng(seed).normal(score, 0.05, (objects, 1))
                rows += score - rows.mean()
                trials.append(Trial(config, model, seed, {"AUC": score}, rows, 40 + config.n_cells, 90, 1))
    known = {} if pairs is None else {"pairs": pairs}
    return Comparison("hidden", ("AUC",), tuple(trials), settings={**known, **settings})


def network(
    links: Sequence[tuple[int, int]],
    labels: Sequence[str],
    *,
    others: int = 0,
    cells: Sequence[tuple[str, ...]] = (),
    names: Mapping[int, str] | None = None,
) -> Network:
    """Return a network: a query with a label each, other objects, and cells as nodes, linked as asked.

    Objects are named 'o0', 'o1', …, unless ``names`` has another name.
    """
    count = len(labels) + others
    called = [(names or {}).get(node, f"o{node}") for node in range(count)]
    table = pa.table({"object": [f"id{node}" for node in range(count)], "name": called, "kind": ["thing"] * count})
    ends = np.array(links, dtype=np.int32).reshape(-1, 2)
    held: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        if max(a, b) >= count:
            held[min(a, b)].append(max(a, b) - count)
    into = np.zeros(count, dtype=np.int32)
    for a, b in links:
        for end, other in ((a, b), (b, a)):
            if end < count and other < len(labels):
                into[end] += 1
    number = np.arange(len(cells), dtype=np.int32)
    return Network(
        query=Query(np.arange(len(labels)), tuple(labels)),
        selection=Selection(np.arange(count), 0.5, number, np.linspace(0.1, 0.5, len(cells))),
        objects=np.arange(count, dtype=np.int32),
        cells=number,
        source=ends[:, 0],
        target=ends[:, 1],
        weight=np.ones(len(ends), dtype=np.float32),
        brought_by=ragged_from_lists([sorted(row) for row in held]),
        query_links=into,
        names=Objects.of(table),
        dimensions=("decade", "venue") if cells else (),
        labels=tuple(cells),
        form="cells+objects" if cells else "objects",
    )


def html_table(table: Table) -> str:
    """Return the HTML of a table."""
    made = environment().get_template("table.html").make_module()
    return str(made.table(Layout(table)))  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Failing:
    """A method of one's own that raises, or selects the first cell."""

    fails: bool = True

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        if self.fails:
            raise RuntimeError("out of luck")
        return Selection(np.array([0]), weights.value(np.array([0])))
