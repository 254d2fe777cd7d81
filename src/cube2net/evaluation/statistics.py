"""Means with intervals, and paired differences with tests.

An interval holds 95 % of what comes out when the seeds are drawn again, with replacement, and the objects of the query
too (for links its users): the same draws for every configuration and model, so that differences are paired. Objects
that count twice make clusters look more alike than they are, so the interval of a mean is moved until the draws' mean
is the one reported. How often intervals hold the truth, ``benchmarks/intervals.py`` measures.

The interval of a difference lies around it by the spread of these draws, and is as wide as Holm's correction asks: of
several that are compared, one is sure when its interval excludes 0, and nothing else decides. Paired tests beside it
ask whether differences could be chance of seeds alone; for links of users (or objects), each with the mean over seeds
and models, because seeds hardly differ there.
Differences that are all 0 have p = 1 and the effect 0. One and the same difference everywhere leaves the t-test
undefined: p is nan, and the effect infinite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.random import stream
from cube2net._util.statistics import ENDS, LEVEL, REACH, holm, holm_levels
from cube2net.errors import InputError, check_int, unknown_name
from cube2net.kernels.cluster_agreement import AGREEMENT, count_tables
from cube2net.model.comparison import Comparison, Configuration, Trial

# Differences below this are rounding; and how many numbers a block of draws may hold.
ROUNDING = 1e-12
ROOM = 2**22

Key = tuple[int, str]
"""The seed and the model of a trial."""


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
        count = check_int("resamples", resamples, 1)
        self.luck = rng.random((len(comparison.seeds), count))
        own = list(dict.fromkeys(trials))
        self.scores: dict[Trial, Array] = {}
        if own and comparison.task == "clustering":
            self.scores = _redraw_clusters(comparison, measure, own, count, rng)
        elif own:
            wider = 1.0 if comparison.task != "hidden" else math.sqrt(2) if differences else 2.0
            self.scores = _redraw_users(comparison, measure, own, count, rng, wider)

    def means(self, drawn: Array, keys: Sequence[Key]) -> Array:
        """Return the mean over the models and the seeds that come up, one for each draw."""
        rows = average_over_models(drawn, keys)
        picks = (self.luck[: len(rows)] * len(rows)).astype(np.int64)
        means: Array = zero_rounding(np.take_along_axis(rows, picks, axis=0)).mean(axis=0)
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
        raise unknown_name("measure of clusters", measure, AGREEMENT)
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
            row[part] = AGREEMENT[measure](count_tables(own, true, shape, times))
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


def average_over_models(values: Array, keys: Sequence[Key]) -> Array:
    """Return the mean over the models, seed by seed; values and keys are in the order of the seeds."""
    seeds = np.array([seed for seed, _ in keys])
    starts = np.flatnonzero(np.concatenate([[True], seeds[1:] != seeds[:-1]]))
    counts = np.diff(starts, append=len(seeds))
    total: Array = np.add.reduceat(values, starts, axis=0)
    return total / counts.reshape(-1, *[1] * (values.ndim - 1))


def zero_rounding(values: Array | float) -> Array:
    """Return values with 0 for what differs from it by rounding only."""
    return np.where(np.abs(values) < ROUNDING, 0.0, values)


def _of(trial: Trial) -> str:
    return f"the trial of {trial.configuration.name!r} by {trial.model!r} with seed {trial.seed}"


ALL = "all"
"""Every model that decides (for links, not the floor): scores are the mean over these, seed by seed.

Only seeds count in which a configuration has a score of every one of them: a mean over fewer is a mean of something
else.
"""
RESAMPLES = 1000

ENOUGH = 30
"""So many hidden links there have to be to tell by them whether a network helps."""


@dataclass(frozen=True)
class Estimate:
    """The mean of a score over runs, with its 95 % interval."""

    mean: float
    low: float
    high: float
    runs: int


Estimates = Mapping[tuple[Configuration, str, str], Estimate]
"""The estimates of a comparison by configuration, model and measure."""


@dataclass(frozen=True)
class Difference:
    """The score of one configuration minus that of another, over common runs, with the interval that decides.

    The interval holds 1 − ``level`` of what chance makes of it: 95 % where one difference was asked for, and more as
    Holm corrects for several. ``p_value``, ``t_test`` and ``wilcoxon`` are p-values, corrected by Holm within the list
    they were asked in: by the bootstrap's spread, over runs and objects, and by the paired tests over runs (for links:
    users, for hidden links: objects). ``effect`` is Cohen's d of paired differences, their mean in standard deviations.
    The interval and these four are nan where nothing can be said: with fewer than two runs, or too few hidden links.
    """

    one: Configuration
    other: Configuration
    model: str
    measure: str
    mean: float
    low: float
    high: float
    t_test: float
    wilcoxon: float
    effect: float
    runs: int
    p_value: float = math.nan
    level: float = LEVEL

    @property
    def is_significant(self) -> bool:
        """Whether the interval excludes 0, which is to say that ``p_value`` is below 0.05.

        That asks for both at once, other runs and other objects. The paired tests ask for other runs only, and stand
        beside: with few runs and many configurations they can exclude nothing, however large a difference is
        (Wilcoxon's p is never below 0.002 in ten runs), and with many runs they find differences that other objects
        would not show.
        """
        return self.low > 0 or self.high < 0


def estimate(
    comparison: Comparison,
    config: Configuration,
    model: str = ALL,
    measure: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate | None:
    """Return the mean score of a configuration and its interval; None without a run that has it, by every model."""
    found = estimates(comparison, measure, configs=[config], models=[model], resamples=resamples, seed=seed)
    return found.get((config, model))


def estimates(
    comparison: Comparison,
    measure: str | None = None,
    *,
    configs: Sequence[Configuration] | None = None,
    models: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[tuple[Configuration, str], Estimate]:
    """Return the estimates by configuration and model (every model and ``ALL``), computed together."""
    wanted = [*comparison.models, ALL] if models is None else list(models)
    measure = _checked(comparison, wanted, measure)
    asked = {
        (config, model): trials
        for config in (comparison.configurations if configs is None else configs)
        for model in wanted
        if (trials := _trials(comparison, config, model, measure))
    }
    used = (trial for trials in asked.values() for trial in trials.values())
    draws = Draws(comparison, measure, used, resamples, seed)
    found = {}
    for question, trials in asked.items():
        keys = sorted(trials)
        plain = average_over_models(np.array([trials[key].scores[measure] for key in keys]), keys)
        mean = float(plain.mean())
        low, high = draws.interval(np.stack([draws.scores[trials[key]] for key in keys]), keys, around=mean)
        found[question] = Estimate(mean, max(low, 0.0), min(high, 1.0), len(plain))
    return found


def all_estimates(comparison: Comparison, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimates:
    """Return the mean and interval of every configuration, model (``ALL`` too) and measure that has scores."""
    return {
        (config, model, measure): found
        for measure in comparison.measures
        for (config, model), found in estimates(comparison, measure, resamples=resamples, seed=seed).items()
    }


def list_shown_models(comparison: Comparison) -> list[str]:
    """Return the models to show, first what decides: all that do together, or the only one."""
    if len(comparison.deciding) > 1:
        return [ALL, *comparison.models]
    return list(dict.fromkeys([*comparison.deciding, *comparison.models]))


def differences(
    comparison: Comparison,
    pairs: Sequence[tuple[Configuration, Configuration]],
    model: str = ALL,
    measure: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Difference]:
    """Return how much the first of each pair scores above the second; pairs without common runs are left out.

    Over all models a run is common to two configurations when both have the scores of every model that decides.
    """
    measure = _checked(comparison, [model], measure)
    trials = {config: _trials(comparison, config, model, measure) for pair in pairs for config in pair}
    common = [(one, other, sorted(trials[one].keys() & trials[other].keys())) for one, other in pairs]
    common = [(one, other, keys) for one, other, keys in common if keys]
    used = (trials[config][key] for one, other, keys in common for config in (one, other) for key in keys)
    draws = Draws(comparison, measure, used, resamples, seed, differences=True)
    decidable = enough(comparison)
    found, spreads = [], []
    for one, other, keys in common:
        two = [(trials[one][key], trials[other][key]) for key in keys]
        plain = average_over_models(np.array([a.scores[measure] - b.scores[measure] for a, b in two]), keys)
        mean = float(zero_rounding(plain).mean())
        units = plain if comparison.task == "clustering" else _by_user(comparison, two, measure)
        drawn = np.stack([draws.scores[a] - draws.scores[b] for a, b in two])
        known = decidable and len(units) > 1
        spreads.append(draws.spreads(drawn, keys, mean) if known else (math.nan, math.nan))
        tests = _tests(units) if decidable and len(plain) > 1 else (math.nan, math.nan, math.nan)
        p_value = _p_value(mean, *spreads[-1])
        found.append(Difference(one, other, model, measure, mean, math.nan, math.nan, *tests, len(plain), p_value))
    levels = holm_levels([each.p_value for each in found])
    tests_of = ("p_value", "t_test", "wilcoxon")
    corrected = zip(*(holm([getattr(each, name) for each in found]) for name in tests_of), strict=True)
    return [
        replace(_reaching(each, level, *spread), **dict(zip(tests_of, values, strict=True)))
        for each, level, spread, values in zip(found, levels, spreads, corrected, strict=True)
    ]


def enough(comparison: Comparison) -> bool:
    """Return whether there is enough to tell differences by: for the task "hidden", 30 hidden links or more."""
    return comparison.task != "hidden" or comparison.settings.get("pairs", ENOUGH) >= ENOUGH


def _p_value(mean: float, below: float, above: float) -> float:
    """Return how likely a mean as far from 0 is by chance, two-sided, by its spread on the side where 0 is."""
    spread = below if mean > 0 else above
    if spread == 0:
        return 1.0 if abs(mean) <= ROUNDING else 0.0
    return math.erfc(abs(mean) / spread / math.sqrt(2))


def _reaching(found: Difference, level: float, below: float, above: float) -> Difference:
    """Return a difference with the interval of a level, by its spreads."""
    if math.isnan(level):
        return found
    reach = NormalDist().inv_cdf(1 - level / 2)
    return replace(found, low=found.mean - reach * below, high=found.mean + reach * above, level=level)


def _by_user(comparison: Comparison, pairs: Sequence[tuple[Trial, Trial]], measure: str) -> Array:
    """Return the difference of every user, the mean over seeds and models; users without a score are dropped."""
    ones = np.stack(user_scores(comparison, [one for one, _ in pairs], measure))
    others = np.stack(user_scores(comparison, [other for _, other in pairs], measure))
    apart = ones - others
    there = ~np.isnan(apart)
    some = there.any(axis=0)
    means: Array = np.where(there, apart, 0.0).sum(axis=0)[some] / there.sum(axis=0)[some]
    return means


def _tests(units: Array) -> tuple[float, float, float]:
    """Return the p-values of the paired t-test and of Wilcoxon's signed ranks, two-sided, and the effect size."""
    from scipy import stats

    units = zero_rounding(units)
    if len(units) < 2:
        return math.nan, math.nan, math.nan
    if not units.any():
        return 1.0, 1.0, 0.0
    mean, spread = float(units.mean()), float(units.std(ddof=1))
    wilcoxon = float(stats.wilcoxon(units.round(12)).pvalue)
    if spread <= ROUNDING:
        return math.nan, wilcoxon, math.copysign(math.inf, mean)
    effect = mean / spread
    t_test = 2 * float(stats.t.sf(abs(effect) * math.sqrt(len(units)), len(units) - 1))
    return t_test, wilcoxon, effect


def _checked(comparison: Comparison, models: Sequence[str], measure: str | None) -> str:
    """Return the measure asked for, or the first, when it and the models are there."""
    for model in models:
        if model != ALL and model not in comparison.models:
            raise unknown_name("model", model, [ALL, *comparison.models])
    if measure is not None and measure not in comparison.measures:
        raise unknown_name("measure", measure, comparison.measures)
    return comparison.measures[0] if measure is None else measure


def _trials(comparison: Comparison, config: Configuration, model: str, measure: str) -> dict[Key, Trial]:
    """Return the trials of a configuration that have the score, by seed and model, for seeds that all models have."""
    models = comparison.deciding if model == ALL else (model,)
    trials = [trial for each in models for trial in comparison.of(config, each)]
    trials = [trial for trial in trials if not math.isnan(trial.scores.get(measure, math.nan))]
    had = Counter(trial.seed for trial in trials)
    return {(trial.seed, trial.model): trial for trial in trials if had[trial.seed] == len(models)}
