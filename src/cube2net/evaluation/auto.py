"""Choose among configurations by successive halving, by labels or by hidden links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, Stop, Stopwatch, cores, share_compile_time
from cube2net._util.random import stream
from cube2net._util.statistics import LEVEL, REACH
from cube2net.errors import Cube2netError, QueryError
from cube2net.evaluation.configurations import DEFAULT
from cube2net.evaluation.hidden_links import HiddenRuns
from cube2net.evaluation.statistics import MIN_PAIRS
from cube2net.evaluation.trials import Make, Mine
from cube2net.mining.clustering import AGREEMENT, count_tables
from cube2net.model.comparison import Configuration
from cube2net.model.network import Network, network_fingerprint
from cube2net.model.query import Query

FIRST_RUN_SHARE = 0.5
"""Share of the time for the first run; configurations that are not reached by then are left out."""

MIN_FINALISTS = 2
"""Halving stops at this number of configurations."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The score of one network in one run, and what it was computed from (for labels, the cluster of each object)."""

    score: float
    evidence: Array = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, eq=False)
class Race:
    """Configurations compared by successive halving; ``scores`` holds every run, ``nodes`` the size of its network.

    ``make(configuration, seed, nodes)`` makes networks and ``evaluate(network, seed)`` scores them. ``always_run`` take
    part in every run; the first of them is the query alone.
    """

    make: Make
    evaluate: Callable[[Network, int], Scores]
    always_run: tuple[Configuration, ...] = (Configuration(method="none"), DEFAULT)
    scores: dict[Configuration, list[Scores]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    left_out: dict[Configuration, str] = field(default_factory=dict)
    spent: list[float] = field(default_factory=list)

    def run(
        self,
        configs: Sequence[Configuration],
        seeds: Sequence[int],
        seconds: float,
        progress: Progress,
        watch: Stopwatch | None = None,
    ) -> None:
        """Evaluate all configurations with the first seed and the better half with each later one, within ``seconds``.

        Those of ``always_run`` are mined at least once. The time is checked between trials. A later run starts only if
        the estimate from the seconds of the last run fits into the time left; a run that is not finished in time is
        discarded. ``watch`` is a stopwatch that is already running.
        """
        running = watch or Stopwatch()
        alive, duration = list(configs), 0.0
        costs: dict[Configuration, float] = {}  # seconds of each configuration in the last run

        def is_over(number: int, place: int, config: Configuration) -> bool:
            progress("trying networks", number * len(configs) + place, len(seeds) * len(configs))
            limit = seconds if number else seconds * FIRST_RUN_SHARE
            return (number > 0 or config not in self.always_run) and running.seconds > limit

        with ThreadPoolExecutor(cores()) as pool, Stop() as stop:
            evaluate_timed = stop.wrap(share_compile_time(self._evaluate_timed))

            def submit(network: Network, seed: int) -> Future[tuple[Scores, float]]:
                return pool.submit(evaluate_timed, network, seed)

            for number, seed in enumerate(seeds):
                if number:
                    alive = self._select_better_half(alive, costs, duration, seconds - running.seconds)
                begun, costs = running.seconds, {}
                if not alive or (not self._mine(alive, seed, submit, partial(is_over, number), costs) and number):
                    self._forget(number)
                    break
                duration = running.seconds - begun
                alive = [config for config in alive if config in costs]
        for config in configs:
            if config not in self.scores:
                self.left_out.setdefault(config, "there was no time to try it")
        self.spent.append(running.seconds)

    def _evaluate_timed(self, network: Network, seed: int) -> tuple[Scores, float]:
        watch = Stopwatch()
        return self.evaluate(network, seed), watch.seconds

    def _select_better_half(
        self, alive: Sequence[Configuration], costs: Mapping[Configuration, float], duration: float, left: float
    ) -> list[Configuration]:
        """Return the better half and ``always_run``; fewer or none if the time left is too short.

        The seconds of a run are estimated by the share of its configurations in the ``duration`` of the last one.
        """
        ranked, total = [config for config in self.ranking if config in alive], sum(costs.values())
        for count in range(max(MIN_FINALISTS, len(alive) // 2), MIN_FINALISTS - 1, -1):
            better = [config for config in alive if config in self.always_run or config in ranked[:count]]
            seconds = [costs[config] for config in better]
            if max(*seconds, duration * sum(seconds) / total if total else 0.0) <= left:
                return better
        return []

    def _mine(
        self,
        configs: Sequence[Configuration],
        seed: int,
        submit: Callable[[Network, int], Future[tuple[Scores, float]]],
        is_over: Callable[[int, Configuration], bool],
        costs: dict[Configuration, float],
    ) -> bool:
        """Make and mine the networks of configurations; return False if the time was over before the last.

        ``costs`` receives the seconds of every configuration. As many are mined at a time as there are cores. A
        configuration whose network equals that of an earlier one is left out, unless it is one of ``always_run``.
        """
        mined: dict[bytes, tuple[str, Future[tuple[Scores, float]]]] = {}
        workers = cores()
        for first in range(0, len(configs), workers):
            waiting: list[tuple[Configuration, float, Future[tuple[Scores, float]]]] = []
            stopped = False
            for place, config in enumerate(configs[first : first + workers], first):
                stopped = is_over(place, config)
                if stopped:
                    break
                watch = Stopwatch()
                try:
                    network = self._make_network(config, seed)
                    fingerprint = network_fingerprint(network)
                    if fingerprint in mined and config not in self.always_run:
                        raise Cube2netError(f"its network is that of {mined[fingerprint][0]!r}")
                except Cube2netError as error:
                    self._leave_out(config, error)
                    continue
                if fingerprint not in mined:
                    mined[fingerprint] = config.name, submit(network, seed)
                waiting.append((config, watch.seconds, mined[fingerprint][1]))
            for config, making, work in waiting:
                try:
                    scores, mining = work.result()
                except Cube2netError as error:
                    self._leave_out(config, error)
                    continue
                self.scores.setdefault(config, []).append(scores)
                costs[config] = making + mining
            if stopped:
                return False
        return True

    def _leave_out(self, config: Configuration, error: Cube2netError) -> None:
        """Record why a configuration cannot be evaluated; raise if it is the query alone."""
        if config == self.alone:
            raise error
        self.left_out[config] = str(error)
        self.scores.pop(config, None)

    def _make_network(self, config: Configuration, seed: int) -> Network:
        if config.like and config.like not in self.nodes:
            raise Cube2netError(f"there is no network of {config.like!r} to be as large as")
        network = self.make(config, seed, self.nodes.get(config.like))
        self.nodes.setdefault(config.name, len(network))
        return network

    def _forget(self, runs: int) -> None:
        """Keep the scores of the first runs only."""
        for scores in self.scores.values():
            del scores[runs:]

    @property
    def finalists(self) -> list[Configuration]:
        """The configurations with all runs, by their mean score, highest first."""
        return [config for config in self.ranking if len(self.scores[config]) == self.runs]

    @property
    def runs(self) -> int:
        """The number of runs of the finalists."""
        return max(map(len, self.scores.values()))

    @property
    def alone(self) -> Configuration:
        """The configuration of the query alone."""
        return self.always_run[0]

    @property
    def scores_by_run(self) -> dict[Configuration, list[float]]:
        """The score of every run of every configuration."""
        return {config: [each.score for each in scores] for config, scores in self.scores.items()}

    @property
    def ranking(self) -> list[Configuration]:
        """The configurations by their mean score, highest first; of equal ones the smaller network first."""
        means = {config: round(float(np.mean(scores)), 9) for config, scores in self.scores_by_run.items()}
        return sorted(means, key=lambda config: (-means[config], self.nodes[config.name]))

    def mean(self, config: Configuration) -> float:
        """Return the mean score of a configuration."""
        return float(np.mean(self.scores_by_run[config]))

    def list_rows(self, measure: str) -> list[dict[str, Any]]:
        """Return the configurations with scores, best first, then those left out with the reason."""
        tried: list[dict[str, Any]] = [
            {
                "configuration": config.name,
                measure: self.mean(config),
                "runs": len(self.scores[config]),
                "nodes": self.nodes[config.name],
            }
            for config in self.ranking
        ]
        return tried + [{"configuration": config.name, "reason": reason} for config, reason in self.left_out.items()]


RESAMPLES = 200
RULE_OF_THREE = 3.0
"""A rate of 0 among n labels has the 95 % limit 3 / n: intervals are not narrower on either side."""

CHANCE_AUC = 0.5
"""The AUC of scores that do not tell hidden links from pairs without a link."""

MIN_AUC_GAIN = 0.02
"""Least gain of AUC over the default: in experiments, smaller gains did not raise F1."""

MIN_LABELS = 10
"""Labels that a query needs, and that a fold has; there are two folds at least."""


def choose_by_labels(
    query: Query, make: Make, mine: Mine, *, folds: int, seeds: Sequence[int], seconds: float, progress: Progress
) -> Network:
    """Return the default network, or one that agrees significantly better with the labels of a query.

    ``mine`` clusters the objects of the query on a network.
    """
    judge = ByLabels(np.unique(np.array(query.labels), return_inverse=True)[1], assign_folds(query, folds, seeds[0]))

    def evaluate(network: Network, seed: int) -> Scores:
        return judge.compute_scores(mine(network, "", seed)[1])

    race = Race(make, evaluate)
    race.run(list_candidates(), seeds, seconds, progress)
    return _make_answer(race, make, judge.choose(race), judge.describe(race), "F1", seeds[0])


def choose_by_hidden_links(
    query: Query,
    make: Make,
    runs: HiddenRuns,
    *,
    seeds: Sequence[int],
    seconds: float,
    progress: Progress,
) -> Network:
    """Return the default network, or one that finds hidden links of the query better; every run hides other links.

    Another network must have an AUC above chance and, in two or more runs, above that of the default in every run and
    by more than ``MIN_AUC_GAIN`` on average; of several, the one with the highest AUC is returned. The query alone is a
    reference and is not returned. The default is also returned if too few links can be hidden.
    """
    watch, seed = Stopwatch(), seeds[0]
    try:
        hidden = runs.prepare(seed)[1].hidden
        count = min(len(hidden[0]), len(hidden[2]))
    except QueryError:
        count = 0
    if count < MIN_PAIRS:
        note = f"{count:,} links of the query can be hidden, too few to tell by them: the default, {DEFAULT.name}"
        return _add_note(make(DEFAULT, seed, None), note, DEFAULT, [])
    counts: dict[int, int] = {}

    def evaluate(network: Network, seed: int) -> Scores:
        counts[seed] = len(runs.prepare(seed)[1].hidden[0])
        return Scores(runs.mine(network, "", seed)[0]["AUC"])

    race = Race(runs.make, evaluate)
    race.run(list_candidates(), seeds, seconds, progress, watch)
    others = [config for config in race.finalists if config not in (race.alone, DEFAULT)]
    best = next((config for config in others if _is_better(race, config)), DEFAULT)
    if DEFAULT not in race.scores:
        best = next(iter(others), race.alone)
    note = _describe_choice(
        race, best, f"{sum(counts[seed] for seed in seeds[: race.runs]):,} hidden links of the query", "AUC"
    )
    if best == DEFAULT and others:
        note += f"; no other network finds them significantly better, by more than {MIN_AUC_GAIN}"
    if best.like:
        race.nodes[DEFAULT.name] = len(make(DEFAULT, seed, None))  # as large as the default of the whole cube
    return _make_answer(race, make, best, note, "AUC", seed)


def _is_better(race: Race, config: Configuration) -> bool:
    gains = np.subtract(race.scores_by_run[config], race.scores_by_run[DEFAULT])
    is_surely_higher = len(gains) > 1 and bool(gains.min() > 0 and gains.mean() > MIN_AUC_GAIN)
    return is_surely_higher and race.mean(config) > CHANCE_AUC


def _make_answer(race: Race, make: Make, best: Configuration, note: str, measure: str, seed: int) -> Network:
    """Return the chosen network, made from the complete cube, with the configurations that were tried."""
    return _add_note(make(best, seed, race.nodes.get(best.like)), note, best, race.list_rows(measure))


def _add_note(network: Network, note: str, chosen: Configuration, tried: list[dict[str, object]]) -> Network:
    own = network.selection.note
    return replace(
        network,
        selection=replace(network.selection, note=f"{note}; {own}" if own else note),
        settings={**network.settings, "chosen": chosen.name, "tried": tried},
    )


def list_candidates() -> list[Configuration]:
    """Return the configurations tried, the query alone first and the default second; the query sets all sizes.

    The others use links only (PageRank), cells only, cells of one label, or full cells. None has more neighbours than
    the default: more neighbours help to find hidden links even if clusters get worse (twice as many on the demo: AUC
    +0.02, F1 -0.05).
    """
    one_label = replace(DEFAULT, levels="one")
    return [
        Configuration(method="none"),
        DEFAULT,
        Configuration(method="pagerank", like=DEFAULT.name),
        replace(DEFAULT, form="cells"),
        one_label,
        replace(one_label, form="cells"),
        replace(DEFAULT, levels="full"),
    ]


def assign_folds(query: Query, most: int, seed: int) -> Array:
    """Return the fold of every object of a query, stratified by label; -1 for objects without a label."""
    labels = np.array(query.labels or (), dtype=np.str_)
    labelled = np.flatnonzero(labels != "")
    if len(labelled) < MIN_LABELS:
        raise QueryError(
            f"'auto' chooses by labels, and {len(labelled)} objects of the query have one, expected {MIN_LABELS} or "
            "more: give more labels, or none, or choose a method"
        )
    count = max(2, min(most, len(labelled) // MIN_LABELS))
    order = labelled[stream(seed, "pipeline", "folds").permutation(len(labelled))]
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.full(len(labels), -1)
    folds[order] = np.arange(len(order)) % count
    return folds


@dataclass(frozen=True, eq=False)
class ByLabels:
    """Choose by labels: the default, unless another configuration is significantly better.

    ``labels`` has a number for every object of the query, and ``folds`` its fold, -1 without a label.
    """

    labels: Array
    folds: Array

    def compute_scores(self, clusters: Array) -> Scores:
        """Return the F1 of clusters on all labels."""
        return Scores(float(self._compute_f1(clusters, (self.folds[:, None] >= 0).astype(np.float64))[0]), clusters)

    def choose(self, race: Race, without: int | None = None) -> Configuration:
        """Return the configuration with the highest F1 of those significantly above the default, or the default.

        A configuration is significantly better if the 95 % interval of its paired difference over labelled objects and
        runs, corrected for the number of configurations (Bonferroni), is above 0; one run is not sufficient. The labels
        of one fold can be left out. If the default failed, the query alone takes its place.
        """
        finalists = race.finalists
        reference = DEFAULT if DEFAULT in finalists else race.alone
        if race.runs < 2 or len(finalists) < 2:
            return reference
        times = self._draw_times(np.flatnonzero((self.folds >= 0) & (self.folds != without)))
        scores = {config: self._compute_scores(race, config, times) for config in finalists}
        reach = NormalDist().inv_cdf(1 - LEVEL / 2 / (len(race.scores) - 1))

        def lowest(config: Configuration) -> float:
            apart = scores[config] - scores[reference]
            variance = apart[:, 1:].mean(axis=0).var() + apart[:, 0].var(ddof=1) / race.runs
            return float(apart[:, 0].mean() - reach * np.sqrt(variance))

        better = [config for config in finalists if lowest(config) > 0]
        return max(better, key=lambda config: float(scores[config][:, 0].mean()), default=reference)

    def estimate_f1(self, race: Race) -> tuple[float, float, float]:
        """Return an estimate of F1 on as many other labels, and its 95 % interval.

        It is the score on the given labels minus its optimism: on every fold, the score of the choice by all labels
        minus that of the choice without the fold. The interval accounts for two samples of labels, the given ones and
        the others, and for runs, and is not narrower than the number of labels allows.
        """
        best = self.choose(race)
        folds = np.arange(self.folds.max() + 1)
        inside = (self.folds[:, None] == folds).astype(np.float64)
        by_fold = self._compute_scores(race, best, inside).mean(axis=0)
        held_out = [self._compute_scores(race, self.choose(race, fold), inside[:, [fold]]).mean() for fold in folds]
        estimate = race.mean(best) + min(0.0, float(np.mean(np.array(held_out) - by_fold)))
        labelled = np.flatnonzero(self.folds >= 0)
        drawn = self._compute_scores(race, best, self._draw_times(labelled)[:, 1:]).mean(axis=0)
        scores = race.scores_by_run[best]
        variance = (
            float(np.var(scores, ddof=1)) / len(scores) if len(scores) > 1 else float(np.var(by_fold)) / len(folds)
        )
        half = max(REACH * float(np.sqrt(2 * (float(np.var(drawn)) + variance))), RULE_OF_THREE / len(labelled))
        return estimate, max(0.0, estimate - half), min(1.0, estimate + half)

    def describe(self, race: Race) -> str:
        """Return the chosen configuration and its estimated F1 as a sentence."""
        estimate, low, high = self.estimate_f1(race)
        note = _describe_choice(race, self.choose(race), f"{int((self.folds >= 0).sum()):,} labels", "F1")
        return f"{note}; on other labels expect {estimate:.3f} [{low:.3f}, {high:.3f}]"

    def _compute_scores(self, race: Race, config: Configuration, times: Array) -> Array:
        """Return the F1 of a configuration, runs × columns of ``times``."""
        return np.array([self._compute_f1(each.evidence, times) for each in race.scores[config]])

    def _compute_f1(self, clusters: Array, times: Array) -> Array:
        """Return the F1 of clusters for every column of ``times``, the numbers of times that objects count."""
        shape = int(clusters.max()) + 1, int(self.labels.max()) + 1
        return np.asarray(AGREEMENT["F1"](count_tables(clusters, self.labels, shape, times)))

    def _draw_times(self, objects: Array) -> Array:
        """Return how often every object counts: once in the first column, and bootstrap draws in the others."""
        times = np.zeros((len(self.folds), 1 + RESAMPLES))
        times[objects, 0] = 1.0
        shares = np.full(len(objects), 1 / len(objects))
        times[objects, 1:] = stream(0, "referee", "labels").multinomial(len(objects), shares, size=RESAMPLES).T
        return times


def _describe_choice(race: Race, best: Configuration, basis: str, measure: str) -> str:
    """Return the chosen configuration and its score, with those of the default and of the query alone."""
    runs = "one run" if race.runs == 1 else f"{race.runs} runs"
    default = f", the default {race.mean(DEFAULT):.3f}" if best != DEFAULT and DEFAULT in race.scores else ""
    return (
        f"chosen by {basis}: {best.name}, of {len(race.scores)} configurations tried in {race.spent[-1]:.0f} s "
        f"({runs}: {measure} {race.mean(best):.3f}{default}, the query alone {race.mean(race.alone):.3f})"
    )
