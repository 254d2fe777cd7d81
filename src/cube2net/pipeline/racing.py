"""Setups mined run by run, and judged by labels: those that fall behind are given up."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cube2net.cores import cores
from cube2net.errors import Cube2netError
from cube2net.interfaces import NodeEmbedder, Progress
from cube2net.kernels.agreement import AGREEMENT, weighed_tables
from cube2net.pipeline.comparing import Maker
from cube2net.pipeline.mining import clustering_miners
from cube2net.records import Network, Query, Setup
from cube2net.records.ragged import Array
from cube2net.referee.trials import Mined, fingerprint

BEHIND = 2.0
"""A setup is given up when its score is behind the best by more than so many standard errors."""

LEVEL = 1.0
"""Setups that are not further behind than this are level with the best, and the smallest network is taken."""


@dataclass(frozen=True, eq=False)
class Race:
    """Setups mined run by run; ``whole`` holds the score of every run, ``parts`` those on every fold.

    ``nodes`` are those of the network of a setup's first run, by its name.
    """

    maker: Maker
    query: Query
    embedding: NodeEmbedder
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
                mined: dict[bytes, Future[Mined]] = {}
                for first in range(0, len(alive), workers):
                    if first and time.perf_counter() - start > seconds:
                        self._forget(max(number, 1))
                        break
                    if progress is not None:
                        progress("choosing by labels", number * len(setups) + first, len(seeds) * len(setups))
                    self._mine(alive[first : first + workers], seed, pool, mined)
                alive = [setup for setup in alive if setup in self.whole and not self._behind(setup)]
                if time.perf_counter() - start > seconds:
                    break
        for setup in setups:
            if setup not in self.whole:
                self.left_out.setdefault(setup, "there was no time to try it")
        self.spent.append(time.perf_counter() - start)

    def _mine(
        self, setups: Sequence[Setup], seed: int, pool: ThreadPoolExecutor, mined: dict[bytes, Future[Mined]]
    ) -> None:
        """Make and mine the networks of some setups; equal ones are mined once."""
        mine = clustering_miners(self.query, {"": self.embedding}).mine
        waiting: list[tuple[Setup, Future[Mined]]] = []
        for setup in setups:
            try:
                network = self._made(setup, seed)
            except Cube2netError as error:
                if setup == self.alone:
                    raise
                self.left_out[setup] = str(error)
                self.whole.pop(setup, None)
                self.parts.pop(setup, None)
                continue
            mark = fingerprint(network)
            if mark not in mined:
                mined[mark] = pool.submit(mine, network, "", seed)
            waiting.append((setup, mined[mark]))
        for setup, work in waiting:
            scores, clusters, _ = work.result()
            self.whole.setdefault(setup, []).append(scores["F1"])
            self.parts.setdefault(setup, []).append(self._by_fold(clusters))

    def _made(self, setup: Setup, seed: int) -> Network:
        if setup.like and setup.like not in self.nodes:
            raise Cube2netError(f"there is no network of {setup.like!r} to be as large as")
        network = self.maker(setup, seed, self.nodes.get(setup.like))
        self.nodes.setdefault(setup.name, len(network))
        return network

    def _forget(self, runs: int) -> None:
        """Keep the scores of the first runs only."""
        for setup in self.whole:
            del self.whole[setup][runs:], self.parts[setup][runs:]

    def _by_fold(self, clusters: Array) -> Array:
        """Return the F1 of clusters on the labels of every fold."""
        labels = np.unique(np.array(self.query.labels), return_inverse=True)[1]
        shape = int(clusters.max()) + 1, int(labels.max()) + 1
        inside = (self.folds[:, None] == np.arange(self.folds.max() + 1)).astype(np.float64)
        return AGREEMENT["F1"](weighed_tables(clusters, labels, shape, inside))

    def _behind(self, setup: Setup) -> bool:
        """Return whether a setup is clearly behind the best; the query alone stays to compare with."""
        racing = self._racing()
        return setup != self.alone and _further(racing[_best(racing)], racing[setup], BEHIND)

    def _racing(self) -> dict[Setup, Array]:
        """Return the scores, runs × folds, of the setups that are not given up: those with all runs."""
        runs = max(map(len, self.parts.values()))
        return {setup: np.array(parts) for setup, parts in self.parts.items() if len(parts) == runs}

    def chosen(self, without: int | None = None) -> Setup:
        """Return the smallest network level with the best, by the labels of all folds or of all but one."""
        racing = self._racing()
        if without is not None:
            racing = {setup: np.delete(parts, without, axis=1) for setup, parts in racing.items()}
        best = racing[_best(racing)]
        level = [setup for setup in racing if not _further(best, racing[setup], LEVEL)]
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
            f"(F1 {score:.3f}, the query alone {base:.3f}; on folds of the labels that were not chosen by, "
            f"{hope:.3f} and {alone:.3f})"
        )


def _best(scores: Mapping[Setup, Array]) -> Setup:
    return max(scores, key=lambda setup: float(scores[setup].mean()))


def _further(best: Array, other: Array, errors: float) -> bool:
    """Return whether scores are behind the best by more than so many standard errors of the difference."""
    apart = (best - other).ravel()
    error = float(apart.std(ddof=1)) / float(np.sqrt(len(apart))) if len(apart) > 1 else 0.0
    return float(apart.mean()) > errors * error
