"""A network chosen among several ways to make one, by labels that part of the query has, or by its hidden links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.compiling import Stopwatch
from cube2net.errors import QueryError
from cube2net.intervals import REACH
from cube2net.kernels.cluster_agreement import AGREEMENT, weighed_tables
from cube2net.progress import Progress
from cube2net.records import Network, Query, Setup
from cube2net.referee.hidden_runs import HiddenRuns, J
from cube2net.referee.race import Marks, Race, best_of, further
from cube2net.referee.setups import DEFAULT
from cube2net.referee.statistics import ENOUGH
from cube2net.referee.trials import Make, Mine
from cube2net.seeding import stream

LEVEL = 1.0
"""Setups that are not further behind the best than so many standard errors are level with it."""

MARGIN = 0.01
"""By so much another network has to be above the default to be taken without labels."""

BOTH_ENDS = 2.0**0.5
"""A hidden link stands in the scores of both its ends, so that these vary less than they should."""

RESAMPLES = 200

UNSEEN = 3.0
"""What is not seen among n labels may still be true of three in n: no interval is narrower."""


FEWEST = 10
"""A query needs so many labels to choose by, and there are no more folds than have as many each, or two."""


def choose_by_labels(
    query: Query, make: Make, mine: Mine, *, folds: int, seeds: Sequence[int], seconds: float, progress: Progress
) -> Network:
    """Return the network that does best on the labels of a query; ``mine`` clusters its objects."""
    judge = ByLabels(np.unique(np.array(query.labels), return_inverse=True)[1], folds_of(query, folds, seeds[0]))

    def mark(network: Network, seed: int) -> Marks:
        return judge.marks(mine(network, "", seed)[1])

    race = Race(make, mark)
    race.run(candidates(query), seeds, seconds, progress)
    return _answer(race, make, judge, "F1", seeds[0])


def choose_by_hidden_links(
    query: Query,
    make: Make,
    runs: HiddenRuns[J],
    *,
    seeds: Sequence[int],
    seconds: float,
    progress: Progress,
) -> Network:
    """Return the network on which the query's own hidden links are found best, or the default.

    The links that the first seed hides are those of all runs, which differ in how networks are mined.
    """
    watch, seed = Stopwatch(), seeds[0]
    try:
        make_without, judges = runs.of(seed)
        pairs = len(judges.hidden[0])
        too_few = min(pairs, len(judges.hidden[2]))
    except QueryError:
        too_few = 0
    if too_few < ENOUGH:
        note = f"{too_few:,} links of the query can be hidden, too few to tell by them: the default, {DEFAULT.name}"
        return _noted(make(DEFAULT, seed, None), note, DEFAULT, [])

    def mark(network: Network, seed: int) -> Marks:
        scores, evidence, _ = judges.mine(network, "", seed)
        return Marks(scores["AUC"], evidence[:, 0])

    race = Race(make_without, mark, (Setup(method="none"), DEFAULT))
    race.run(candidates(query), seeds, seconds, progress, watch)
    judge = ByHiddenLinks(DEFAULT, pairs)
    if judge.chosen(race).like:
        race.nodes[DEFAULT.name] = len(make(DEFAULT, seed, None))  # as large as the default of the whole cube
    return _answer(race, make, judge, "AUC", seed)


def _answer(race: Race, make: Make, judge: ByLabels | ByHiddenLinks, measure: str, seed: int) -> Network:
    """Return the network that is chosen, of the whole cube, with what was tried."""
    best = judge.chosen(race)
    return _noted(make(best, seed, race.nodes.get(best.like)), judge.sentence(race), best, race.rows(measure))


def _noted(network: Network, note: str, chosen: Setup, tried: list[dict[str, object]]) -> Network:
    own = network.selection.note
    return replace(
        network,
        selection=replace(network.selection, note=f"{note}; {own}" if own else note),
        settings={**network.settings, "chosen": chosen.name, "tried": tried},
    )


def candidates(query: Query) -> list[Setup]:
    """Return the setups that are tried, the query alone first and the default second; all are sized by the query."""
    cells = replace(DEFAULT, form="cells")
    as_large = [Setup(method=method, like=DEFAULT.name) for method in ("pagerank", "hops")]
    return [
        Setup(method="none"),
        DEFAULT,
        as_large[0],
        cells,
        replace(DEFAULT, levels="one"),
        replace(cells, levels="one"),
        replace(DEFAULT, near=2 * len(query)),
        replace(DEFAULT, membership="even"),
        replace(cells, membership="even"),
        as_large[1],
        Setup(method="anneal", objective="linked", form="woven", m=20),
        Setup(method="anneal", objective="jaccard", form="cells", m=20),
        Setup(method="anneal", objective="jaccard", form="objects", m=20),
        Setup(method="pagerank"),
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
    """Choose by labels that part of a query has: the smallest network level with the best.

    ``labels`` are numbers for every object of the query, and ``folds`` the fold of each, -1 without a label.
    """

    labels: Array
    folds: Array

    def marks(self, clusters: Array) -> Marks:
        """Return the F1 of clusters on all labels known, and on the labels of every fold."""
        known = self.folds >= 0
        inside = (self.folds[:, None] == np.arange(self.folds.max() + 1)).astype(np.float64)
        scores = self._f1(clusters, np.column_stack([known.astype(np.float64), inside]))
        return Marks(float(scores[0]), scores[1:], clusters)

    def chosen(self, race: Race, without: int | None = None) -> Setup:
        """Return the smallest network level with the best, by the labels of all folds or of all but one."""
        racing = race.racing()
        if without is not None:
            racing = {setup: np.delete(parts, without, axis=1) for setup, parts in racing.items()}
        best = racing[best_of(racing)]
        level = [setup for setup in racing if not further(best, racing[setup], LEVEL)]
        return min(level, key=lambda setup: race.nodes[setup.name])

    def expected(self, race: Race, seed: int = 0) -> tuple[float, float, float]:
        """Return what F1 to expect on as many other labels, and its 95 % interval.

        It is the score on the labels known, less what choosing by them flatters: on every fold, the score of what is
        chosen by all labels over that of what is chosen without the fold. The interval has the spread of two samples of
        labels, those known and the others, and of runs, and is not narrower than a few labels can tell.
        """
        best = self.chosen(race)
        own = np.mean([each.parts for each in race.marks[best]], axis=0)
        folds = range(int(self.folds.max()) + 1)
        apart = [np.mean([each.parts[fold] for each in race.marks[self.chosen(race, fold)]]) for fold in folds]
        hope = race.mean(best) + min(0.0, float(np.mean(np.array(apart) - own)))
        rng = stream(seed, "referee", "labels")
        known = np.flatnonzero(self.folds >= 0)
        times = np.zeros((len(self.folds), RESAMPLES))
        times[known] = rng.multinomial(len(known), np.full(len(known), 1 / len(known)), size=RESAMPLES).T
        drawn = np.mean([self._f1(each.evidence, times) for each in race.marks[best]], axis=0)
        scores = race.whole[best]
        between = float(np.var(scores, ddof=1)) / len(scores) if len(scores) > 1 else float(np.var(own)) / len(own)
        wide = max(REACH * float(np.sqrt(2 * (float(np.var(drawn)) + between))), UNSEEN / len(known))
        return hope, max(0.0, hope - wide), min(1.0, hope + wide)

    def sentence(self, race: Race) -> str:
        """Return what was chosen and what that is worth, in one sentence."""
        best = self.chosen(race)
        hope, low, high = self.expected(race)
        known = int((self.folds >= 0).sum())
        return (
            f"chosen by {known:,} labels: {best.name}, of {len(race.marks)} ways tried in {race.spent[-1]:.0f} s "
            f"({_runs(race)}: F1 {race.mean(best):.3f}, the query alone {race.mean(race.alone):.3f}); on other labels "
            f"expect {hope:.3f} [{low:.3f}, {high:.3f}]"
        )

    def _f1(self, clusters: Array, times: Array) -> Array:
        """Return the F1 of clusters where objects count so many times, a column each."""
        shape = int(clusters.max()) + 1, int(self.labels.max()) + 1
        return np.asarray(AGREEMENT["F1"](weighed_tables(clusters, self.labels, shape, times)))


@dataclass(frozen=True)
class ByHiddenLinks:
    """Choose without labels, by how well hidden links of the query are found again: the default, or what is better.

    Another network is taken where its AUC is above that of the ``default`` by more than 0.01, and by more than twice
    the standard error of their difference over objects and runs.
    """

    default: Setup
    pairs: int

    def chosen(self, race: Race) -> Setup:
        """Return the best of the networks that are surely above the default, or the default itself."""
        racing = race.racing()
        if self.default not in racing:
            return race.ranked[0] if self.default in race.left_out else self.default
        own = racing[self.default]
        above = {
            setup: scores
            for setup, scores in racing.items()
            if float((scores - own).mean()) > MARGIN and further(scores, own, BOTH_ENDS * 2 * LEVEL)
        }
        return best_of(above) if above else self.default

    def sentence(self, race: Race) -> str:
        """Return what was chosen and by what, in one sentence."""
        best = self.chosen(race)
        other = best != self.default and self.default in race.marks
        beside = f", the default {race.mean(self.default):.3f}" if other else ""
        return (
            f"chosen by {self.pairs:,} hidden links of the query: {best.name}, of {len(race.marks)} ways tried in "
            f"{race.spent[-1]:.0f} s ({_runs(race)}: AUC {race.mean(best):.3f}{beside}, the query alone "
            f"{race.mean(race.alone):.3f})"
        )


def _runs(race: Race) -> str:
    return "one run" if race.runs == 1 else f"{race.runs} runs"
