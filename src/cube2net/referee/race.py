"""Successive halving: all setups are mined in the first run, and the better half of them in each later run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.compiling import Stopwatch, lent
from cube2net.errors import Cube2netError
from cube2net.fingerprints import network_fingerprint
from cube2net.interrupts import Stop
from cube2net.progress import Progress
from cube2net.records import Network, Setup
from cube2net.referee.setups import DEFAULT
from cube2net.referee.trials import Make
from cube2net.threads import cores

FIRST_RUN_SHARE = 0.5
"""The share of the time that the first run may take; setups that were not reached by then are left out."""

MIN_FINALISTS = 2
"""Halving stops at this number of setups."""


@dataclass(frozen=True, eq=False)
class Marks:
    """The score of one network in one run, and what it was computed from (for labels, the cluster of each object)."""

    score: float
    evidence: Array = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, eq=False)
class Race:
    """Setups compared by successive halving; ``marks`` holds every run, ``nodes`` the size of a setup's first network.

    ``make(setup, seed, nodes)`` makes networks and ``mark(network, seed)`` mines them. ``stays`` are the setups that
    take part in every run; the first of them, the query alone, has to be there.
    """

    make: Make
    mark: Callable[[Network, int], Marks]
    stays: tuple[Setup, ...] = (Setup(method="none"), DEFAULT)
    marks: dict[Setup, list[Marks]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    left_out: dict[Setup, str] = field(default_factory=dict)
    spent: list[float] = field(default_factory=list)

    def run(
        self,
        setups: Sequence[Setup],
        seeds: Sequence[int],
        seconds: float,
        progress: Progress,
        watch: Stopwatch | None = None,
    ) -> None:
        """Mine all setups with the first seed, and the better half of them with each later one, within some seconds.

        Setups that stay are always mined once. The time is checked between trials. A later run starts only if it fits
        into the time left, judged by how long its trials took before; a run that is not finished in time is discarded.
        ``watch`` is given where the time runs already.
        """
        running = watch or Stopwatch()
        alive, lasted = list(setups), 0.0
        costs: dict[Setup, float] = {}  # the seconds that each setup took in the last run

        def is_over(number: int, place: int, setup: Setup) -> bool:
            progress("trying networks", number * len(setups) + place, len(seeds) * len(setups))
            limit = seconds if number else seconds * FIRST_RUN_SHARE
            return (number > 0 or setup not in self.stays) and running.seconds > limit

        with ThreadPoolExecutor(cores()) as pool, Stop() as stop:
            timed_mark = stop.heeded(lent(self._timed_mark))

            def submit(network: Network, seed: int) -> Future[tuple[Marks, float]]:
                return pool.submit(timed_mark, network, seed)

            for number, seed in enumerate(seeds):
                if number:
                    alive = self._better_half(alive, costs, lasted, seconds - running.seconds)
                begun, costs = running.seconds, {}
                if not alive or (not self._mine(alive, seed, submit, partial(is_over, number), costs) and number):
                    self._forget(number)
                    break
                lasted = running.seconds - begun
                alive = [setup for setup in alive if setup in costs]
        for setup in setups:
            if setup not in self.marks:
                self.left_out.setdefault(setup, "there was no time to try it")
        self.spent.append(running.seconds)

    def _timed_mark(self, network: Network, seed: int) -> tuple[Marks, float]:
        watch = Stopwatch()
        return self.mark(network, seed), watch.seconds

    def _better_half(
        self, alive: Sequence[Setup], costs: Mapping[Setup, float], lasted: float, left: float
    ) -> list[Setup]:
        """Return the better half of the setups and those that stay; fewer or none where the time left is too short.

        A run takes the share of the last one, which ``lasted`` so long, that its setups had in it.
        """
        ranked, total = [setup for setup in self.ranked if setup in alive], sum(costs.values())
        for count in range(max(MIN_FINALISTS, len(alive) // 2), MIN_FINALISTS - 1, -1):
            kept = [setup for setup in alive if setup in self.stays or setup in ranked[:count]]
            own = [costs[setup] for setup in kept]
            if max(*own, lasted * sum(own) / total if total else 0.0) <= left:
                return kept
        return []

    def _mine(
        self,
        setups: Sequence[Setup],
        seed: int,
        submit: Callable[[Network, int], Future[tuple[Marks, float]]],
        is_over: Callable[[int, Setup], bool],
        costs: dict[Setup, float],
    ) -> bool:
        """Make and mine the networks of setups; return False where the time was over before the last.

        ``costs`` receives the seconds of every setup. As many are mined at a time as there are cores. A setup whose
        network equals that of an earlier one is left out, unless it stays.
        """
        mined: dict[bytes, tuple[str, Future[tuple[Marks, float]]]] = {}
        workers = cores()
        for first in range(0, len(setups), workers):
            waiting: list[tuple[Setup, float, Future[tuple[Marks, float]]]] = []
            stopped = False
            for place, setup in enumerate(setups[first : first + workers], first):
                stopped = is_over(place, setup)
                if stopped:
                    break
                watch = Stopwatch()
                try:
                    network = self._made(setup, seed)
                    same = network_fingerprint(network)
                    if same in mined and setup not in self.stays:
                        raise Cube2netError(f"its network is that of {mined[same][0]!r}")
                except Cube2netError as error:
                    self._leave_out(setup, error)
                    continue
                if same not in mined:
                    mined[same] = setup.name, submit(network, seed)
                waiting.append((setup, watch.seconds, mined[same][1]))
            for setup, making, work in waiting:
                try:
                    marks, marking = work.result()
                except Cube2netError as error:
                    self._leave_out(setup, error)
                    continue
                self.marks.setdefault(setup, []).append(marks)
                costs[setup] = making + marking
            if stopped:
                return False
        return True

    def _leave_out(self, setup: Setup, error: Cube2netError) -> None:
        """Note why a setup cannot be tried; raise where it is the query alone."""
        if setup == self.alone:
            raise error
        self.left_out[setup] = str(error)
        self.marks.pop(setup, None)

    def _made(self, setup: Setup, seed: int) -> Network:
        if setup.like and setup.like not in self.nodes:
            raise Cube2netError(f"there is no network of {setup.like!r} to be as large as")
        network = self.make(setup, seed, self.nodes.get(setup.like))
        self.nodes.setdefault(setup.name, len(network))
        return network

    def _forget(self, runs: int) -> None:
        """Keep the marks of the first runs only."""
        for marks in self.marks.values():
            del marks[runs:]

    @property
    def finalists(self) -> list[Setup]:
        """The setups that have all runs, by their mean score, the highest first."""
        return [setup for setup in self.ranked if len(self.marks[setup]) == self.runs]

    @property
    def runs(self) -> int:
        """How many runs the finalists have."""
        return max(map(len, self.marks.values()))

    @property
    def alone(self) -> Setup:
        """The query without anything beside it."""
        return self.stays[0]

    @property
    def whole(self) -> dict[Setup, list[float]]:
        """The score of every run of every setup."""
        return {setup: [each.score for each in marks] for setup, marks in self.marks.items()}

    @property
    def ranked(self) -> list[Setup]:
        """The setups by their mean score, the highest first, of equals the smaller network."""
        means = {setup: round(float(np.mean(scores)), 9) for setup, scores in self.whole.items()}
        return sorted(means, key=lambda setup: (-means[setup], self.nodes[setup.name]))

    def mean(self, setup: Setup) -> float:
        """Return the mean score of a setup."""
        return float(np.mean(self.whole[setup]))

    def rows(self, measure: str) -> list[dict[str, Any]]:
        """Return what was tried, the best first, and then what was left out and why."""
        tried: list[dict[str, Any]] = [
            {
                "setup": setup.name,
                measure: self.mean(setup),
                "runs": len(self.marks[setup]),
                "nodes": self.nodes[setup.name],
            }
            for setup in self.ranked
        ]
        return tried + [{"setup": setup.name, "reason": reason} for setup, reason in self.left_out.items()]
