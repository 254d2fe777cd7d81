"""Choose a network among several setups, by labels that part of the query has, or by its hidden links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from cube2net.array_types import Array
from cube2net.compiling import Stopwatch
from cube2net.confidence import LEVEL, REACH
from cube2net.errors import QueryError
from cube2net.kernels.cluster_agreement import AGREEMENT, weighed_tables
from cube2net.progress import Progress
from cube2net.records import Network, Query, Setup
from cube2net.referee.hidden_runs import HiddenRuns, J
from cube2net.referee.race import Marks, Race
from cube2net.referee.setups import DEFAULT
from cube2net.referee.statistics import ENOUGH
from cube2net.referee.trials import Make, Mine
from cube2net.seeding import stream

RESAMPLES = 200

UNSEEN = 3.0
"""What is not seen among n labels may still be true of three in n: no interval is narrower."""

CHANCE_AUC = 0.5
"""The AUC of scores that do not tell hidden links from pairs without a link."""

FEWEST = 10
"""A query needs so many labels to choose by, and there are no more folds than have as many each, or two."""


def choose_by_labels(
    query: Query, make: Make, mine: Mine, *, folds: int, seeds: Sequence[int], seconds: float, progress: Progress
) -> Network:
    """Return the default network, or one that agrees significantly better with the labels of a query.

    ``mine`` clusters the objects of the query on a network.
    """
    judge = ByLabels(np.unique(np.array(query.labels), return_inverse=True)[1], folds_of(query, folds, seeds[0]))

    def mark(network: Network, seed: int) -> Marks:
        return judge.marks(mine(network, "", seed)[1])

    race = Race(make, mark)
    race.run(candidates(), seeds, seconds, progress)
    return _answer(race, make, judge.chosen(race), judge.sentence(race), "F1", seeds[0])


def choose_by_hidden_links(
    query: Query,
    make: Make,
    runs: HiddenRuns[J],
    *,
    seeds: Sequence[int],
    seconds: float,
    progress: Progress,
) -> Network:
    """Return the network with the highest mean AUC of hidden links of the query; every run hides other links.

    The query alone is a reference and not returned. The default network is returned where too few links can be hidden,
    or where no network finds them better than chance.
    """
    watch, seed = Stopwatch(), seeds[0]
    try:
        hidden = runs.of(seed)[1].hidden
        count = min(len(hidden[0]), len(hidden[2]))
    except QueryError:
        count = 0
    if count < ENOUGH:
        note = f"{count:,} links of the query can be hidden, too few to tell by them: the default, {DEFAULT.name}"
        return _noted(make(DEFAULT, seed, None), note, DEFAULT, [])
    counts: dict[int, int] = {}

    def mark(network: Network, seed: int) -> Marks:
        counts[seed] = len(runs.of(seed)[1].hidden[0])
        return Marks(runs.mine(network, "", seed)[0]["AUC"])

    race = Race(runs.make, mark)
    race.run(candidates(), seeds, seconds, progress, watch)
    best = next((setup for setup in race.finalists if setup != race.alone), race.alone)
    by_chance = race.mean(best) <= CHANCE_AUC and DEFAULT in race.marks
    best = DEFAULT if by_chance else best
    note = _note(race, best, f"{sum(counts[seed] for seed in seeds[: race.runs]):,} hidden links of the query", "AUC")
    if by_chance:
        note += "; no network finds them better than chance, so the default is taken"
    if best.like:
        race.nodes[DEFAULT.name] = len(make(DEFAULT, seed, None))  # as large as the default of the whole cube
    return _answer(race, make, best, note, "AUC", seed)


def _answer(race: Race, make: Make, best: Setup, note: str, measure: str, seed: int) -> Network:
    """Return the network that is chosen, of the whole cube, with what was tried."""
    return _noted(make(best, seed, race.nodes.get(best.like)), note, best, race.rows(measure))


def _noted(network: Network, note: str, chosen: Setup, tried: list[dict[str, object]]) -> Network:
    own = network.selection.note
    return replace(
        network,
        selection=replace(network.selection, note=f"{note}; {own}" if own else note),
        settings={**network.settings, "chosen": chosen.name, "tried": tried},
    )


def candidates() -> list[Setup]:
    """Return the setups that are tried, the query alone first and the default second; all are sized by the query.

    The others differ in what tells the query's objects apart: links only (PageRank), cells only, cells of one label,
    and full cells. None has more neighbours than the default: with more, hidden
    links are found better whether clusters are better or not (twice as many on the demo: AUC +0.02, F1 -0.05).
    """
    one_label = replace(DEFAULT, levels="one")
    return [
        Setup(method="none"),
        DEFAULT,
        Setup(method="pagerank", like=DEFAULT.name),
        replace(DEFAULT, form="cells"),
        one_label,
        replace(one_label, form="cells"),
        replace(DEFAULT, levels="full"),
    ]


def folds_of(query: Query, most: int, seed: int) -> Array:
    """Return the fold of every object of a query, each label spread evenly; -1 for objects without a label."""
    labels = np.array(query.labels or (), dtype=np.str_)
    known = np.flatnonzero(labels != "")
    if len(known) < FEWEST:
        raise QueryError(
            f"'auto' chooses by labels, and {len(known)} objects of the query have one, expected {FEWEST} or more: "
            "give more labels, or none, or choose a method"
        )
    count = max(2, min(most, len(known) // FEWEST))
    order = known[stream(seed, "pipeline", "folds").permutation(len(known))]
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.full(len(labels), -1)
    folds[order] = np.arange(len(order)) % count
    return folds


@dataclass(frozen=True, eq=False)
class ByLabels:
    """Choose by labels that part of a query has: the default, unless another setup is significantly better.

    ``labels`` are numbers for every object of the query, and ``folds`` the fold of each, -1 without a label.
    """

    labels: Array
    folds: Array

    def marks(self, clusters: Array) -> Marks:
        """Return the F1 of clusters on all labels known."""
        return Marks(float(self._f1(clusters, (self.folds[:, None] >= 0).astype(np.float64))[0]), clusters)

    def chosen(self, race: Race, without: int | None = None) -> Setup:
        """Return the setup with the highest F1 of those significantly above the default, or the default.

        A setup is significantly above where the 95 % interval of its paired difference over labelled objects and runs,
        corrected for the number of setups tried (Bonferroni), is above 0; one run decides nothing. The labels of one
        fold can be left out. Where the default could not be made, the query alone takes its place.
        """
        finalists = race.finalists
        reference = DEFAULT if DEFAULT in finalists else race.alone
        if race.runs < 2 or len(finalists) < 2:
            return reference
        times = self._times(np.flatnonzero((self.folds >= 0) & (self.folds != without)))
        scores = {setup: self._scores(race, setup, times) for setup in finalists}
        reach = NormalDist().inv_cdf(1 - LEVEL / 2 / (len(race.marks) - 1))

        def lowest(setup: Setup) -> float:
            apart = scores[setup] - scores[reference]
            variance = apart[:, 1:].mean(axis=0).var() + apart[:, 0].var(ddof=1) / race.runs
            return float(apart[:, 0].mean() - reach * np.sqrt(variance))

        better = [setup for setup in finalists if lowest(setup) > 0]
        return max(better, key=lambda setup: float(scores[setup][:, 0].mean()), default=reference)

    def expected(self, race: Race) -> tuple[float, float, float]:
        """Return what F1 to expect on as many other labels, and its 95 % interval.

        It is the score on the labels known, less what choosing by them flatters: on every fold, the score of what is
        chosen by all labels over that of what is chosen without the fold. The interval has the spread of two samples of
        labels, those known and the others, and of runs, and is not narrower than a few labels can tell.
        """
        best = self.chosen(race)
        folds = np.arange(self.folds.max() + 1)
        inside = (self.folds[:, None] == folds).astype(np.float64)
        own = self._scores(race, best, inside).mean(axis=0)
        apart = [self._scores(race, self.chosen(race, fold), inside[:, [fold]]).mean() for fold in folds]
        hope = race.mean(best) + min(0.0, float(np.mean(np.array(apart) - own)))
        known = np.flatnonzero(self.folds >= 0)
        drawn = self._scores(race, best, self._times(known)[:, 1:]).mean(axis=0)
        scores = race.whole[best]
        between = float(np.var(scores, ddof=1)) / len(scores) if len(scores) > 1 else float(np.var(own)) / len(own)
        wide = max(REACH * float(np.sqrt(2 * (float(np.var(drawn)) + between))), UNSEEN / len(known))
        return hope, max(0.0, hope - wide), min(1.0, hope + wide)

    def sentence(self, race: Race) -> str:
        """Return what was chosen and what that is worth, in one sentence."""
        hope, low, high = self.expected(race)
        note = _note(race, self.chosen(race), f"{int((self.folds >= 0).sum()):,} labels", "F1")
        return f"{note}; on other labels expect {hope:.3f} [{low:.3f}, {high:.3f}]"

    def _scores(self, race: Race, setup: Setup, times: Array) -> Array:
        """Return the F1 of a setup, runs × columns of ``times``."""
        return np.array([self._f1(each.evidence, times) for each in race.marks[setup]])

    def _f1(self, clusters: Array, times: Array) -> Array:
        """Return the F1 of clusters where objects count so many times, a column each."""
        shape = int(clusters.max()) + 1, int(self.labels.max()) + 1
        return np.asarray(AGREEMENT["F1"](weighed_tables(clusters, self.labels, shape, times)))

    def _times(self, objects: Array) -> Array:
        """Return how often every object counts: once in the first column, and in the others as the bootstrap draws."""
        times = np.zeros((len(self.folds), 1 + RESAMPLES))
        times[objects, 0] = 1.0
        shares = np.full(len(objects), 1 / len(objects))
        times[objects, 1:] = stream(0, "referee", "labels").multinomial(len(objects), shares, size=RESAMPLES).T
        return times


def _note(race: Race, best: Setup, basis: str, measure: str) -> str:
    """Return what was chosen by what, and its score beside that of the default and of the query alone."""
    runs = "one run" if race.runs == 1 else f"{race.runs} runs"
    beside = f", the default {race.mean(DEFAULT):.3f}" if best != DEFAULT and DEFAULT in race.marks else ""
    return (
        f"chosen by {basis}: {best.name}, of {len(race.marks)} ways tried in {race.spent[-1]:.0f} s "
        f"({runs}: {measure} {race.mean(best):.3f}{beside}, the query alone {race.mean(race.alone):.3f})"
    )
