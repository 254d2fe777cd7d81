"""Means with confidence intervals, and paired differences with tests.

Intervals come from a bootstrap of the seeds and of the objects of the query (for links, of its users). All
configurations and models have the same draws, so that differences are paired. Objects that are drawn twice make
clusters look more alike, so the interval of a mean is shifted by the bias of the draws' mean.
``benchmarks/intervals.py`` measures the coverage of the intervals.

The interval of a difference is centred on it; its width is the spread of the draws at the level of Holm's correction.
A difference is significant if its interval excludes 0. Paired tests, which are reported besides, consider the chance of
seeds only, or for links that of users (or objects), each with the mean over seeds and models, because seeds hardly
differ there. Differences that are all 0 have p = 1 and the effect 0. If all differences are equal, the t-test is
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
from cube2net.mining.clustering import AGREEMENT, count_tables
from cube2net.model.comparison import Comparison, Configuration, Trial

ROUNDING = 1e-12
"""Smaller differences are rounding errors."""
MAX_BLOCK_ENTRIES = 2**22
"""Entries of a block of draws."""

Key = tuple[int, str]
"""The seed and the model of a trial."""


class Draws:
    """Bootstrap draws: the scores of trials for every draw of objects, and draws of the seeds.

    Every hidden link of the query is in the rows of both its ends, so that draws of rows vary too little. Deviations of
    scores of the task "hidden" are therefore doubled, or multiplied by √2 for ``differences``, where the effects of the
    ends of a link partly cancel.
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
        self.picks = rng.random((len(comparison.seeds), count))
        distinct = list(dict.fromkeys(trials))
        self.scores: dict[Trial, Array] = {}
        if distinct and comparison.task == "clustering":
            self.scores = _redraw_clusters(comparison, measure, distinct, count, rng)
        elif distinct:
            widening = 1.0 if comparison.task != "hidden" else math.sqrt(2) if differences else 2.0
            self.scores = _redraw_users(comparison, measure, distinct, count, rng, widening)

    def compute_means(self, drawn: Array, keys: Sequence[Key]) -> Array:
        """Return the mean over the models and the drawn seeds, for every draw."""
        rows = average_over_models(drawn, keys)
        picks = (self.picks[: len(rows)] * len(rows)).astype(np.int64)
        means: Array = remove_rounding_errors(np.take_along_axis(rows, picks, axis=0)).mean(axis=0)
        return means

    def compute_spreads(self, drawn: Array, keys: Sequence[Key], mean: float) -> tuple[float, float]:
        """Return the standard error of a mean, for deviations below it and above it.

        It is the standard deviation of the means of the draws, or a larger value on a side where 95 % of them reach
        farther. The variance of draws of n seeds is too small by (n − 1) / n, which is corrected. With one seed both
        are nan.
        """
        count = len({seed for seed, _ in keys})
        if count < 2:
            return math.nan, math.nan
        means = self.compute_means(drawn, keys)
        low, high = np.quantile(means, ENDS)
        spread = float(means.std()) * math.sqrt(count / (count - 1))
        below, above = max(spread, (mean - float(low)) / REACH), max(spread, (float(high) - mean) / REACH)
        return (below if below > ROUNDING else 0.0), (above if above > ROUNDING else 0.0)

    def compute_interval(self, drawn: Array, keys: Sequence[Key], around: float) -> tuple[float, float]:
        """Return the interval of 95 % of the means, from a row of drawn scores for each key.

        It is shifted by the difference between ``around`` and the mean of the draws.
        """
        means = self.compute_means(drawn, keys)
        low, high = np.quantile(means, ENDS) + (around - means.mean())
        return float(low), float(high)


def _redraw_clusters(
    comparison: Comparison, measure: str, trials: Sequence[Trial], resamples: int, rng: np.random.Generator
) -> dict[Trial, Array]:
    """Return the agreement of every trial's clusters with the labels, for every draw of labelled objects."""
    if measure not in AGREEMENT:
        raise unknown_name("measure of clusters", measure, AGREEMENT)
    labelled = np.flatnonzero(np.array([bool(label) for label in comparison.truth], dtype=bool))
    if not len(labelled):
        raise InputError(f"none of the {len(comparison.truth):,} objects of the query has a label to score clusters by")
    names, true = np.unique(np.array(comparison.truth)[labelled], return_inverse=True)
    clusters = []
    for trial in trials:
        if trial.evidence.shape != (len(comparison.truth),):
            raise InputError(
                f"{_describe_trial(trial)} has clusters of shape {trial.evidence.shape}, expected one for each of the "
                f"{len(comparison.truth):,} objects of the query"
            )
        clusters.append(np.unique(trial.evidence[labelled], return_inverse=True)[1])
    shapes = [(int(own.max()) + 1, len(names)) for own in clusters]
    scores = np.empty((len(trials), resamples))
    widest = max(rows * columns for rows, columns in shapes)
    for part, times in _draw_times(rng, resamples, len(labelled), widest, np.float32):
        for row, own, shape in zip(scores, clusters, shapes, strict=True):
            row[part] = AGREEMENT[measure](count_tables(own, true, shape, times))
    return dict(zip(trials, scores, strict=True))


def _redraw_users(
    comparison: Comparison,
    measure: str,
    trials: Sequence[Trial],
    resamples: int,
    rng: np.random.Generator,
    widening: float,
) -> dict[Trial, Array]:
    """Return the mean over users of every trial, for every draw of users; unchanged if no drawn user has a score.

    ``widening`` multiplies the deviations of the means.
    """
    columns = list_user_scores(comparison, trials, measure)
    scores = np.empty((len(trials), resamples))
    for part, times in _draw_times(rng, resamples, len(columns[0]), 1, np.float64):
        for row, own, trial in zip(scores, columns, trials, strict=True):
            there = ~np.isnan(own)
            total, count = np.where(there, own, 0.0) @ times, there.astype(np.float64) @ times
            plain = trial.scores[measure]
            row[part] = plain + widening * np.where(count > 0, total / np.maximum(count, 1.0) - plain, 0.0)
    return dict(zip(trials, scores, strict=True))


def _draw_times(
    rng: np.random.Generator, resamples: int, count: int, width: int, kind: type
) -> Iterator[tuple[slice, Array]]:
    """Yield how often every object is drawn, objects × draws, in blocks of draws."""
    block = max(1, MAX_BLOCK_ENTRIES // max(count, width))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        yield slice(start, start + size), np.ascontiguousarray(times.T, dtype=kind)


def list_user_scores(comparison: Comparison, trials: Sequence[Trial], measure: str) -> list[Array]:
    """Return the scores of all users by a measure, for every trial."""
    users = len(trials[0].evidence)
    for trial in trials:
        if trial.evidence.shape != (users, len(comparison.measures)) or not users:
            raise InputError(
                f"{_describe_trial(trial)} has scores of shape {trial.evidence.shape}, expected the same users in all "
                f"trials ({users:,}) and the {len(comparison.measures)} measures of the comparison"
            )
    column = comparison.measures.index(measure)
    return [np.asarray(trial.evidence[:, column], dtype=np.float64) for trial in trials]


def average_over_models(values: Array, keys: Sequence[Key]) -> Array:
    """Return the mean over the models for every seed; values and keys are in the order of the seeds."""
    seeds = np.array([seed for seed, _ in keys])
    starts = np.flatnonzero(np.concatenate([[True], seeds[1:] != seeds[:-1]]))
    counts = np.diff(starts, append=len(seeds))
    total: Array = np.add.reduceat(values, starts, axis=0)
    return total / counts.reshape(-1, *[1] * (values.ndim - 1))


def remove_rounding_errors(values: Array | float) -> Array:
    """Return values with 0 in place of rounding errors."""
    return np.where(np.abs(values) < ROUNDING, 0.0, values)


def _describe_trial(trial: Trial) -> str:
    return f"the trial of {trial.configuration.name!r} by {trial.model!r} with seed {trial.seed}"


ALL = "all"
"""All models that decide (for links, not the floor): scores are their means for every seed.

Only seeds count in which a configuration has a score by each of these models.
"""
RESAMPLES = 1000
MIN_PAIRS = 30
"""Hidden links that are needed to decide whether a network helps."""


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
    """The score of one configuration minus that of another, over common runs, with a confidence interval.

    The confidence is 1 − ``level``: 95 % for a single difference, and more with Holm's correction for several.
    ``p_value``, ``t_test`` and ``wilcoxon`` are p-values, corrected by Holm for all differences computed together: from
    the bootstrap over runs and objects, and from the paired tests over runs (for links: users, for hidden links:
    objects). ``effect`` is Cohen's d of the paired differences. The interval and these four are nan with fewer than two
    runs or too few hidden links.
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
        """Whether the interval excludes 0, that is ``p_value`` is below 0.05.

        This considers other runs and other objects. The paired tests consider other runs only: with few runs and many
        configurations they cannot be significant (Wilcoxon's p is at least 0.002 in ten runs), and with many runs they
        find differences that other objects would not show.
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
    """Return the mean score of a configuration and its interval; None without a run with scores by every model."""
    return estimates(comparison, measure, configs=[config], models=[model], resamples=resamples, seed=seed).get(
        (config, model)
    )


def estimates(
    comparison: Comparison,
    measure: str | None = None,
    *,
    configs: Sequence[Configuration] | None = None,
    models: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[tuple[Configuration, str], Estimate]:
    """Return the estimates by configuration and model (by default every model and ``ALL``)."""
    wanted = [*comparison.models, ALL] if models is None else list(models)
    measure = _check_measure(comparison, wanted, measure)
    selected = {
        (config, model): trials
        for config in (comparison.configurations if configs is None else configs)
        for model in wanted
        if (trials := _trials(comparison, config, model, measure))
    }
    used = (trial for trials in selected.values() for trial in trials.values())
    draws = Draws(comparison, measure, used, resamples, seed)
    result = {}
    for key, trials in selected.items():
        keys = sorted(trials)
        plain = average_over_models(np.array([trials[key].scores[measure] for key in keys]), keys)
        mean = float(plain.mean())
        low, high = draws.compute_interval(np.stack([draws.scores[trials[key]] for key in keys]), keys, around=mean)
        result[key] = Estimate(mean, max(low, 0.0), min(high, 1.0), len(plain))
    return result


def compute_all_estimates(comparison: Comparison, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimates:
    """Return the mean and interval of every configuration, model (``ALL`` too) and measure that has scores."""
    return {
        (config, model, measure): result
        for measure in comparison.measures
        for (config, model), result in estimates(comparison, measure, resamples=resamples, seed=seed).items()
    }


def list_shown_models(comparison: Comparison) -> list[str]:
    """Return the models to show; first ``ALL`` if several decide, or the one that does."""
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
    """Return the difference between the scores of each pair, first minus second; pairs without common runs are omitted.

    Parameters
    ----------
    comparison
        The trials.
    pairs
        Pairs of configurations.
    model
        A model, or ``ALL``; then a run is common to two configurations if both have scores by every model that decides.
    measure
        By default the first one.
    resamples, seed
        The number of bootstrap draws, and their seed.

    Returns
    -------
    list of Difference
        In the order of the pairs; p-values and levels are corrected for their number.
    """
    measure = _check_measure(comparison, [model], measure)
    trials = {config: _trials(comparison, config, model, measure) for pair in pairs for config in pair}
    common = [(one, other, sorted(trials[one].keys() & trials[other].keys())) for one, other in pairs]
    common = [(one, other, keys) for one, other, keys in common if keys]
    used = (trials[config][key] for one, other, keys in common for config in (one, other) for key in keys)
    draws = Draws(comparison, measure, used, resamples, seed, differences=True)
    decidable = has_enough_pairs(comparison)
    result, spreads = [], []
    for one, other, keys in common:
        two = [(trials[one][key], trials[other][key]) for key in keys]
        plain = average_over_models(np.array([a.scores[measure] - b.scores[measure] for a, b in two]), keys)
        mean = float(remove_rounding_errors(plain).mean())
        units = plain if comparison.task == "clustering" else _average_users(comparison, two, measure)
        drawn = np.stack([draws.scores[a] - draws.scores[b] for a, b in two])
        has_spread = decidable and len(units) > 1
        spreads.append(draws.compute_spreads(drawn, keys, mean) if has_spread else (math.nan, math.nan))
        p_values = _run_tests(units) if decidable and len(plain) > 1 else (math.nan, math.nan, math.nan)
        p_value = _compute_p_value(mean, *spreads[-1])
        result.append(Difference(one, other, model, measure, mean, math.nan, math.nan, *p_values, len(plain), p_value))
    levels = holm_levels([each.p_value for each in result])
    tests = ("p_value", "t_test", "wilcoxon")
    corrected = zip(*(holm([getattr(each, name) for each in result]) for name in tests), strict=True)
    return [
        replace(_set_interval(each, level, *spread), **dict(zip(tests, values, strict=True)))
        for each, level, spread, values in zip(result, levels, spreads, corrected, strict=True)
    ]


def has_enough_pairs(comparison: Comparison) -> bool:
    """Return whether differences can be significant: for the task "hidden", with 30 hidden links or more."""
    return comparison.task != "hidden" or comparison.settings.get("pairs", MIN_PAIRS) >= MIN_PAIRS


def _compute_p_value(mean: float, below: float, above: float) -> float:
    """Return the two-sided p-value of a mean, by its standard error on the side of 0."""
    spread = below if mean > 0 else above
    if spread == 0:
        return 1.0 if abs(mean) <= ROUNDING else 0.0
    return math.erfc(abs(mean) / spread / math.sqrt(2))


def _set_interval(each: Difference, level: float, below: float, above: float) -> Difference:
    """Return a difference with the interval of a level, given its standard errors."""
    if math.isnan(level):
        return each
    reach = NormalDist().inv_cdf(1 - level / 2)
    return replace(each, low=each.mean - reach * below, high=each.mean + reach * above, level=level)


def _average_users(comparison: Comparison, pairs: Sequence[tuple[Trial, Trial]], measure: str) -> Array:
    """Return the mean difference of every user over seeds and models; users without a score are dropped."""
    ones = np.stack(list_user_scores(comparison, [one for one, _ in pairs], measure))
    others = np.stack(list_user_scores(comparison, [other for _, other in pairs], measure))
    apart = ones - others
    there = ~np.isnan(apart)
    some = there.any(axis=0)
    means: Array = np.where(there, apart, 0.0).sum(axis=0)[some] / there.sum(axis=0)[some]
    return means


def _run_tests(units: Array) -> tuple[float, float, float]:
    """Return the two-sided p-values of the paired t-test and of Wilcoxon's signed-rank test, and the effect size."""
    from scipy import stats

    units = remove_rounding_errors(units)
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


def _check_measure(comparison: Comparison, models: Sequence[str], measure: str | None) -> str:
    """Return a measure, by default the first; raise if it or one of the models is unknown."""
    for model in models:
        if model != ALL and model not in comparison.models:
            raise unknown_name("model", model, [ALL, *comparison.models])
    if measure is not None and measure not in comparison.measures:
        raise unknown_name("measure", measure, comparison.measures)
    return comparison.measures[0] if measure is None else measure


def _trials(comparison: Comparison, config: Configuration, model: str, measure: str) -> dict[Key, Trial]:
    """Return the trials of a configuration that have the score, by seed and model, for seeds with all models."""
    models = comparison.deciding if model == ALL else (model,)
    trials = [trial for each in models for trial in comparison.of(config, each)]
    trials = [trial for trial in trials if not math.isnan(trial.scores.get(measure, math.nan))]
    models_of_seed = Counter(trial.seed for trial in trials)
    return {(trial.seed, trial.model): trial for trial in trials if models_of_seed[trial.seed] == len(models)}
