"""Scores when seeds and objects are drawn again, with replacement, as the bootstrap does.

The draws are the same for every trial of a comparison: what differs between two setups is then theirs, not the draws'.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cube2net.array_types import Array
from cube2net.confidence import ENDS, REACH
from cube2net.errors import InputError, unknown, whole_number
from cube2net.kernels.cluster_agreement import AGREEMENT, weighed_tables
from cube2net.records import Comparison, Trial
from cube2net.seeding import stream

# Differences below this are rounding; and how many numbers a block of draws may hold.
ROUNDING = 1e-12
ROOM = 2**22

Key = tuple[int, str]
"""The seed and the miner of a trial."""


class Draws:
    """Scores of trials when objects are drawn again, one for each draw, and draws of the seeds.

    Every hidden link of the query stands in the rows of both its ends, so that rows drawn alone vary less than other
    objects would make them. Scores of the task "hidden" are moved twice as far, or where they are for ``differences``,
    in which what the ends do to a link cancels in part, √2 times: as far as if a link stood in one row.
    """

    def __init__(
        self,
        comparison: Comparison,
        measure: str,
        trials: Iterable[Trial],
        resamples: int,
        seed: int,
        *,
        differences: bool = False,
    ) -> None:
        rng = stream(seed, "referee", "bootstrap")
        count = whole_number("resamples", resamples, 1)
        self.luck = rng.random((len(comparison.seeds), count))
        own = list(dict.fromkeys(trials))
        self.scores: dict[Trial, Array] = {}
        if own and comparison.task == "clustering":
            self.scores = _redraw_clusters(comparison, measure, own, count, rng)
        elif own:
            wider = 1.0 if comparison.task != "hidden" else math.sqrt(2) if differences else 2.0
            self.scores = _redraw_users(comparison, measure, own, count, rng, wider)

    def means(self, drawn: Array, keys: Sequence[Key]) -> Array:
        """Return the mean over the miners and the seeds that come up, one for each draw."""
        rows = over_miners(drawn, keys)
        picks = (self.luck[: len(rows)] * len(rows)).astype(np.int64)
        means: Array = settled(np.take_along_axis(rows, picks, axis=0)).mean(axis=0)
        return means

    def spreads(self, drawn: Array, keys: Sequence[Key], mean: float) -> tuple[float, float]:
        """Return how far a mean may be off by chance, as standard deviations below it and above.

        That is the deviation of the means of the draws, or where 95 % of them reach further on a side, what they say
        there. Draws of few seeds vary less than seeds do, by (n − 1) / n of the variance, which is made up for. With
        one seed nothing is known, and both are nan.
        """
        count = len({seed for seed, _ in keys})
        if count < 2:
            return math.nan, math.nan
        means = self.means(drawn, keys)
        low, high = np.quantile(means, ENDS)
        spread = float(means.std()) * math.sqrt(count / (count - 1))
        below, above = max(spread, (mean - float(low)) / REACH), max(spread, (float(high) - mean) / REACH)
        return (below if below > ROUNDING else 0.0), (above if above > ROUNDING else 0.0)

    def interval(self, drawn: Array, keys: Sequence[Key], around: float) -> tuple[float, float]:
        """Return what 95 % of the means lie between, from a row of drawn scores for each key.

        The interval is moved by how far the mean of the draws is from the number that it is to lie around.
        """
        means = self.means(drawn, keys)
        low, high = np.quantile(means, ENDS) + (around - means.mean())
        return float(low), float(high)


def _redraw_clusters(
    comparison: Comparison, measure: str, trials: Sequence[Trial], resamples: int, rng: np.random.Generator
) -> dict[Trial, Array]:
    """Return the agreement of the clusters of every trial with the labels, for every draw of labelled objects."""
    if measure not in AGREEMENT:
        raise unknown("measure of clusters", measure, AGREEMENT)
    labelled = np.flatnonzero(np.array([bool(label) for label in comparison.truth], dtype=bool))
    if not len(labelled):
        raise InputError(f"none of the {len(comparison.truth):,} objects of the query has a label to score clusters by")
    names, true = np.unique(np.array(comparison.truth)[labelled], return_inverse=True)
    found = []
    for trial in trials:
        if trial.evidence.shape != (len(comparison.truth),):
            raise InputError(
                f"{_of(trial)} has clusters of shape {trial.evidence.shape}, expected one for each of the "
                f"{len(comparison.truth):,} objects of the query"
            )
        found.append(np.unique(trial.evidence[labelled], return_inverse=True)[1])
    shapes = [(int(own.max()) + 1, len(names)) for own in found]
    scores = np.empty((len(trials), resamples))
    widest = max(rows * columns for rows, columns in shapes)
    for part, times in _times(rng, resamples, len(labelled), widest, np.float32):
        for row, own, shape in zip(scores, found, shapes, strict=True):
            row[part] = AGREEMENT[measure](weighed_tables(own, true, shape, times))
    return dict(zip(trials, scores, strict=True))


def _redraw_users(
    comparison: Comparison,
    measure: str,
    trials: Sequence[Trial],
    resamples: int,
    rng: np.random.Generator,
    wider: float,
) -> dict[Trial, Array]:
    """Return the mean over users of every trial, for every draw of users; a draw of none with a score changes none.

    ``wider`` is by how much more the means vary than these draws do.
    """
    columns = user_scores(comparison, trials, measure)
    scores = np.empty((len(trials), resamples))
    for part, times in _times(rng, resamples, len(columns[0]), 1, np.float64):
        for row, own, trial in zip(scores, columns, trials, strict=True):
            there = ~np.isnan(own)
            total, count = np.where(there, own, 0.0) @ times, there.astype(np.float64) @ times
            plain = trial.scores[measure]
            row[part] = plain + wider * np.where(count > 0, total / np.maximum(count, 1.0) - plain, 0.0)
    return dict(zip(trials, scores, strict=True))


def _times(
    rng: np.random.Generator, resamples: int, count: int, width: int, kind: type
) -> Iterator[tuple[slice, Array]]:
    """Yield how often every object is drawn, objects × draws, a block of draws at a time."""
    block = max(1, ROOM // max(count, width))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        yield slice(start, start + size), np.ascontiguousarray(times.T, dtype=kind)


def user_scores(comparison: Comparison, trials: Sequence[Trial], measure: str) -> list[Array]:
    """Return the measure's score of every user, trial by trial."""
    users = len(trials[0].evidence)
    for trial in trials:
        if trial.evidence.shape != (users, len(comparison.measures)) or not users:
            raise InputError(
                f"{_of(trial)} has scores of shape {trial.evidence.shape}, expected the same users in all trials "
                f"({users:,}) and the {len(comparison.measures)} measures of the comparison"
            )
    column = comparison.measures.index(measure)
    return [np.asarray(trial.evidence[:, column], dtype=np.float64) for trial in trials]


def over_miners(values: Array, keys: Sequence[Key]) -> Array:
    """Return the mean over the miners, seed by seed; values and keys are in the order of the seeds."""
    seeds = np.array([seed for seed, _ in keys])
    starts = np.flatnonzero(np.concatenate([[True], seeds[1:] != seeds[:-1]]))
    counts = np.diff(starts, append=len(seeds))
    total: Array = np.add.reduceat(values, starts, axis=0)
    return total / counts.reshape(-1, *[1] * (values.ndim - 1))


def settled(values: Array | float) -> Array:
    """Return values with 0 for what differs from it by rounding only."""
    return np.where(np.abs(values) < ROUNDING, 0.0, values)


def _of(trial: Trial) -> str:
    return f"the trial of {trial.setup.name!r} by {trial.miner!r} with seed {trial.seed}"
