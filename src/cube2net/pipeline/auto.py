"""The way to make a network, chosen by labels that part of the query has."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cube2net.cores import cores
from cube2net.errors import Cube2netError, ParameterError, QueryError, whole_number
from cube2net.interfaces import Progress
from cube2net.kernels.agreement import AGREEMENT, weighed_tables
from cube2net.pipeline.comparing import COMPARED, Maker
from cube2net.pipeline.mining import embeddings_named, known_labels, mine_clusters
from cube2net.records import Cube, Network, Query, Setup
from cube2net.records.ragged import Array
from cube2net.seeding import stream

FEWEST = 10
"""A fold has so many labels at least, and so has a query that anything can be chosen for."""

BEHIND = 2.0
"""A setup is given up when its score is behind the best by more than so many standard errors."""

LEVEL = 1.0
"""Setups that are not further behind than this are level with the best, and the smallest network is taken."""


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Choose method, objective, form and number of cells by how well clusters agree with the labels known.

    The setups of :func:`candidates`, the query alone first, are mined run by run: the query is embedded, clustered and
    scored (F1) on the objects that have a label. After every run those that are clearly behind are given up; it ends
    after ``runs`` runs or ``seconds``, whichever is first, but the query alone is always tried. Of the setups whose
    score, over the folds of the labels and the runs, is within a standard error of the best one, the smallest network
    is taken. What that is worth on other labels is told by cross-validation: the choice is made anew without every
    fold, and scored on it.
    """

    seconds: float = 60.0
    runs: int = 5
    folds: int = 5
    embedding: str = "deepwalk"

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", whole_number("runs", self.runs, 1))
        object.__setattr__(self, "folds", whole_number("folds", self.folds, 2))
        if not 0 < self.seconds < float("inf"):
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0")
        embeddings_named([self.embedding])

    def construct(self, cube: Cube, query: Query, *, seed: int = 0, progress: Progress | None = None) -> Network:
        """Return the network of the best setup; ``settings["tried"]`` has all, the best first."""
        folds = folds_of(query, self.folds, seed)
        race = Race(Maker(cube, query, COMPARED), query, self.embedding, folds)
        race.run(candidates(), range(seed, seed + self.runs), self.seconds, progress)
        best = race.chosen()
        network = race.maker(best, seed, race.nodes.get(best.like))
        note = race.sentence()
        own = network.selection.note
        return replace(
            network,
            selection=replace(network.selection, note=f"{note}; {own}" if own else note),
            settings={**network.settings, "chosen": best.name, "tried": race.rows()},
        )


def candidates() -> list[Setup]:
    """Return the setups that are tried, small networks first."""
    cells = [
        Setup(method="anneal", objective=objective, form=form, m=20)
        for form in ("cells", "woven")
        for objective in ("jaccard", "coverage", "linked")
    ]
    many = [
        Setup(method="greedy", objective="coverage", form=form, m=m)
        for m in (50, 100, 300)
        for form in ("cells", "woven")
    ]
    objects = [
        Setup(method="anneal", objective=objective, form=form, m=20)
        for objective in ("jaccard", "linked")
        for form in ("objects", "both")
    ]
    near = [Setup(method="pagerank", like=setup.name) for setup in (cells[0], cells[3], objects[0])]
    return [Setup(method="none"), *cells, *near[:2], *many, *objects, near[2], Setup(method="pagerank")]


def folds_of(query: Query, most: int, seed: int) -> Array:
    """Return the fold of every object of a query, each label spread evenly; -1 for objects without a label."""
    labels = np.array(query.labels or (), dtype=np.str_)
    known_labels(query)
    known = np.flatnonzero(labels != "")
    if len(known) < FEWEST:
        raise QueryError(
            f"'auto' chooses by labels, and {len(known)} objects of the query have one, expected {FEWEST} or more: "
            "give more labels, or choose a method"
        )
    count = max(2, min(most, len(known) // FEWEST))
    order = known[stream(seed, "pipeline", "folds").permutation(len(known))]
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.full(len(labels), -1)
    folds[order] = np.arange(len(order)) % count
    return folds


@dataclass(frozen=True, eq=False)
class Race:
    """Setups mined run by run; ``whole`` holds the score of every run, ``parts`` those on every fold."""

    maker: Maker
    query: Query
    embedding: str
    folds: Array
    whole: dict[Setup, list[float]] = field(default_factory=dict)
    parts: dict[Setup, list[Array]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    left_out: dict[Setup, str] = field(default_factory=dict)
    spent: list[float] = field(default_factory=list)

    def run(self, setups: Sequence[Setup], seeds: Sequence[int], seconds: float, progress: Progress | None) -> None:
        """Mine the setups with one seed after another, until the time is over."""
        start = time.perf_counter()
        alive = list(setups)
        workers = cores()
        with ThreadPoolExecutor(workers) as pool:
            for number, seed in enumerate(seeds):
                for first in range(0, len(alive), workers):
                    if first and time.perf_counter() - start > seconds:
                        break
                    if progress is not None:
                        progress("choosing by labels", number * len(setups) + first, len(seeds) * len(setups))
                    self._mine(alive[first : first + workers], seed, pool)
                alive = [setup for setup in alive if setup in self.whole and not self._behind(setup)]
                if time.perf_counter() - start > seconds:
                    break
        for setup in setups:
            if setup not in self.whole:
                self.left_out.setdefault(setup, "there was no time to try it")
        self.spent.append(time.perf_counter() - start)

    def _mine(self, setups: Sequence[Setup], seed: int, pool: ThreadPoolExecutor) -> None:
        made: list[tuple[Setup, Network]] = []
        for setup in setups:
            try:
                network = self.maker(setup, seed, self.nodes.get(setup.like))
            except Cube2netError as error:
                self.left_out[setup] = str(error)
                continue
            self.nodes[setup.name] = len(network)
            made.append((setup, network))
        mine = mine_clusters(self.query, embeddings_named([self.embedding]))
        for (setup, _), found in zip(
            made, pool.map(lambda pair: mine(pair[1], self.embedding, seed), made), strict=True
        ):
            self.whole.setdefault(setup, []).append(found[0]["F1"])
            self.parts.setdefault(setup, []).append(self._by_fold(found[1]))

    def _by_fold(self, clusters: Array) -> Array:
        """Return the F1 of clusters on the labels of every fold."""
        labels = np.unique(np.array(self.query.labels), return_inverse=True)[1]
        shape = int(clusters.max()) + 1, int(labels.max()) + 1
        inside = (self.folds[:, None] == np.arange(self.folds.max() + 1)).astype(np.float64)
        return AGREEMENT["F1"](weighed_tables(clusters, labels, shape, inside))

    def _behind(self, setup: Setup) -> bool:
        """Return whether a setup is clearly behind the best; the query alone stays to compare with."""
        best = self.ranked[0]
        if setup in (best, self.alone) or len(self.whole[setup]) < len(self.whole[best]):
            return False
        return _further(np.array(self.parts[best]), np.array(self.parts[setup]), BEHIND)

    def chosen(self, without: int | None = None) -> Setup:
        """Return the smallest network level with the best, by the labels of all folds or of all but one."""
        runs = max(map(len, self.parts.values()))
        known = {setup: np.array(parts) for setup, parts in self.parts.items() if len(parts) == runs}
        if without is not None:
            known = {setup: np.delete(parts, without, axis=1) for setup, parts in known.items()}
        best = max(known, key=lambda setup: float(known[setup].mean()))
        level = [setup for setup in known if not _further(known[best], known[setup], LEVEL)]
        return min(level, key=lambda setup: self.nodes[setup.name])

    @property
    def alone(self) -> Setup:
        """The query without anything beside it."""
        return Setup(method="none")

    @property
    def ranked(self) -> list[Setup]:
        """The setups by their mean score, the highest first, of equals the smaller network."""
        means = {setup: round(float(np.mean(scores)), 9) for setup, scores in self.whole.items()}
        return sorted(means, key=lambda setup: (-means[setup], self.nodes[setup.name]))

    def expected(self) -> tuple[float, float]:
        """Return the mean score on every fold of what is chosen without it, and that of the query alone."""
        folds = range(int(self.folds.max()) + 1)
        found = [float(np.mean(self.parts[self.chosen(fold)], axis=0)[fold]) for fold in folds]
        return float(np.mean(found)), float(np.mean(self.parts[self.alone]))

    def rows(self) -> list[dict[str, Any]]:
        """Return what was tried, the best first, and then what was left out and why."""
        tried: list[dict[str, Any]] = [
            {
                "setup": setup.name,
                "F1": float(np.mean(self.whole[setup])),
                "runs": len(self.whole[setup]),
                "nodes": self.nodes[setup.name],
            }
            for setup in self.ranked
        ]
        return tried + [{"setup": setup.name, "reason": reason} for setup, reason in self.left_out.items()]

    def sentence(self) -> str:
        """Return what was chosen and what that is worth, in one sentence."""
        best = self.chosen()
        score, base = float(np.mean(self.whole[best])), float(np.mean(self.whole[self.alone]))
        hope, alone = self.expected()
        known = int((self.folds >= 0).sum())
        return (
            f"chosen by {known:,} labels: {best.name}, of {len(self.whole)} ways tried in {self.spent[-1]:.0f} s "
            f"(F1 {score:.3f}, the query alone {base:.3f}; on labels not chosen by, {hope:.3f} and {alone:.3f})"
        )


def _further(best: Array, other: Array, errors: float) -> bool:
    """Return whether scores are behind the best by more than so many standard errors of the difference."""
    apart = (best - other).ravel()
    error = float(apart.std(ddof=1)) / float(np.sqrt(len(apart))) if len(apart) > 1 else 0.0
    return float(apart.mean()) > errors * error
