"""The verdict of a comparison: which network helps, by how much and with what confidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.display import Shown
from cube2net.errors import InputError, join_names
from cube2net.evaluation.statistics import ALL, MIN_PAIRS, Difference, differences, estimate, has_enough_pairs
from cube2net.model.comparison import FLOOR, Comparison, Configuration

ONE_CLUSTER_SHARE = 0.95
"""Share of the objects outside the largest label from which on the largest cluster counts as nearly all objects."""


@dataclass(frozen=True)
class ConfigurationResult:
    """The mean nodes, score and NMI of a configuration, nan where it has none.

    ``has_variants`` is set if another configuration differs from it in the number of cells only. ``largest_cluster`` is
    the share of the query's objects in the largest cluster; if that is nearly all, the configuration is
    ``in_one_cluster`` and its score is not informative. ``has_links`` is set if an object of the query has a link in
    the network.
    """

    configuration: Configuration
    nodes: float
    score: float
    has_variants: bool = False
    nmi: float = math.nan
    largest_cluster: float = math.nan
    in_one_cluster: bool = False
    has_links: bool = True


@dataclass(frozen=True)
class Baseline:
    """A baseline of the size of the best network, and the difference of the best to it; None if not comparable.

    ``same_size`` is set if it reached that size, or has no size because it failed.
    """

    configuration: Configuration
    nodes: float
    same_size: bool
    difference: Difference | None


@dataclass(frozen=True)
class Verdict(Shown):
    """The result of a comparison by its first measure, over all models that decide.

    ``differences`` are to the query alone, highest first, one for all configurations whose networks are equal;
    ``counts`` are how many configurations each stands for. ``top`` is the first of those significantly better than the
    query alone, else the highest of all, or the query alone if nothing could be compared. ``results`` are those of the
    query alone and of ``differences``, in that order. ``default`` is the result of the default network, if compared.
    ``shown`` is the configuration to draw: the best where adding helps, else the default or the best that is not
    random. ``floor`` is the score of the popularity recommender on the query alone, nan if it is among the models that
    decide. ``pairs`` is the number of hidden links; ``enough`` is set if they suffice. ``failed`` and ``uncompared``
    count configurations without scores, and without comparable ones.
    """

    task: str
    measure: str
    alone: ConfigurationResult
    top: ConfigurationResult
    differences: tuple[Difference, ...]
    counts: tuple[int, ...]
    results: tuple[ConfigurationResult, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    default: ConfigurationResult | None = None
    shown: Configuration | None = None
    floor: float = math.nan
    pairs: int | None = None
    enough: bool = True
    runs: int = 1
    failed: int = 0
    uncompared: int = 0

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"Verdict({'it helps' if self.helps else 'not significantly better'}: {self.sentence})"

    @property
    def sentence(self) -> str:
        """The verdict as one sentence."""
        return "; ".join(_describe(self))

    @property
    def gain(self) -> Difference | None:
        """The gain of ``top`` over the query alone; None if nothing could be compared."""
        return next((each for each in self.differences if each.one == self.top.configuration), None)

    @property
    def helps(self) -> bool:
        """Whether a configuration is significantly better than the query alone."""
        return self.gain is not None and self.gain.is_significant and self.gain.mean > 0

    @property
    def outcome(self) -> Literal["helps", "maybe", "level", "few", "nothing"]:
        """Whether a network helps, may help or is not better, or why that cannot be decided."""
        if self.gain is None:
            return "nothing"
        if self.helps:
            return "helps"
        if not self.enough or all(each.runs < 2 for each in self.differences):
            return "few"
        return "maybe" if self.gain.mean > 0 else "level"

    @property
    def best_result(self) -> ConfigurationResult:
        """The result of the best configuration."""
        return self.top if self.gain and self.gain.mean > 0 else self.alone

    @property
    def best(self) -> Configuration:
        """The first configuration if its mean is higher than that of the query alone, else the query alone.

        It may be a baseline.
        """
        return self.best_result.configuration

    @property
    def is_above_floor(self) -> bool:
        """Whether the best score is above the floor."""
        return self.best_result.score > self.floor

    @property
    def baseline_differences(self) -> tuple[Difference, ...]:
        """The differences of the best configuration to baselines of its size."""
        return tuple(baseline.difference for baseline in self.baselines if baseline.difference)

    @property
    def notes(self) -> dict[ConfigurationResult, str]:
        """A sentence for each network whose clustering puts nearly all objects of the query in one cluster."""
        return {result: _describe_one_cluster(self, result) for result in self.results if result.in_one_cluster}


def judge_comparison(comparison: Comparison) -> Verdict:
    """Return the verdict of a comparison.

    Configurations are ranked by their difference to the query alone, over the runs that both have. The comparison's
    settings have the name of the ``default`` configuration, and the number of hidden links, ``pairs``.

    Raises
    ------
    InputError
        The comparison has no scores of the query alone.
    """
    comparison.check_scores()
    alone, default = _find_alone(comparison), _find_default(comparison)
    others = [config for config in comparison.configurations if config != alone]
    tried = _count_equal_networks(comparison, others, default)
    ranked = differences(comparison, [(config, alone) for config in tried])
    ranked = sorted(ranked, key=lambda each: (-each.mean, comparison.nodes(each.one), each.one.like, each.one.name))
    better = [each for each in ranked if each.is_significant and each.mean > 0]
    top = next(iter(better or ranked), None)
    best = top.one if top and top.mean > 0 else alone
    failed = {config for config in tried if math.isnan(comparison.nodes(config))}
    compared = failed | {each.one for each in ranked}
    return Verdict(
        task=comparison.task,
        measure=comparison.measures[0],
        alone=_summarize(comparison, alone),
        top=_summarize(comparison, top.one if top else alone),
        differences=tuple(ranked),
        counts=tuple(tried[each.one] for each in ranked),
        results=tuple(_summarize(comparison, config) for config in (alone, *(each.one for each in ranked))),
        baselines=_find_baselines(comparison, best) if best != alone and not best.like else (),
        default=_summarize(comparison, default) if default else None,
        shown=best if better else _choose_shown(comparison, default, ranked),
        floor=_find_floor(comparison, alone),
        pairs=comparison.settings.get("pairs") if comparison.task == "hidden" else None,
        enough=has_enough_pairs(comparison),
        runs=len(comparison.seeds),
        failed=len(failed),
        uncompared=sum(count for config, count in tried.items() if config not in compared),
    )


def _find_alone(comparison: Comparison) -> Configuration:
    """Return the configuration of the query alone, which must have scores."""
    if all(config.name != "none" for config in comparison.configurations):
        raise InputError("a verdict needs the query alone, which the comparison does not have: compare 'none' too")
    alone = comparison.alone
    if estimate(comparison, alone, resamples=1) is None:
        reason = "; ".join(comparison.reasons(alone)) or f"trials or their {comparison.measures[0]} are missing"
        models = join_names(comparison.deciding)
        raise InputError(f"a verdict needs the query alone, and 'none' has no run with scores of {models}: {reason}")
    return alone


def _find_default(comparison: Comparison) -> Configuration | None:
    name = comparison.settings.get("default")
    return next((config for config in comparison.configurations if config.name == name), None)


def _count_equal_networks(
    comparison: Comparison, configs: Iterable[Configuration], default: Configuration | None
) -> Mapping[Configuration, int]:
    """Return the first of all configurations whose networks are equal in every trial, and how many these are.

    Baselines, which are often equal for several configurations, come last, and the default first.
    """
    groups: dict[tuple[object, ...], list[Configuration]] = {}
    for config in sorted(configs, key=lambda config: (config != default, bool(config.like))):
        trials = [trial for model in comparison.models for trial in comparison.of(config, model)]
        key = [
            (trial.model, trial.seed, trial.nodes, trial.links, repr(sorted(map(_as_floats, trial.scores.items()))))
            for trial in trials
        ]
        groups.setdefault(tuple(key) or (config,), []).append(config)
    return {group[0]: len(group) for group in groups.values()}


def _as_floats(item: tuple[str, float]) -> tuple[str, float]:
    return item[0], float(item[1])


def _summarize(comparison: Comparison, config: Configuration) -> ConfigurationResult:
    trials = [trial for model in comparison.deciding for trial in comparison.of(config, model) if comparison.truth]
    truth = np.array(comparison.truth, dtype=np.str_)
    label_share = _compute_largest_share([truth[truth != ""]])
    cluster_share = _compute_largest_share(trial.evidence[truth != ""] for trial in trials)
    return ConfigurationResult(
        config,
        comparison.nodes(config),
        _compute_mean_score(comparison, config),
        has_variants=sum(other.title == config.title for other in comparison.configurations) > 1,
        nmi=_compute_mean_score(comparison, config, measure="NMI") if "NMI" in comparison.measures else math.nan,
        largest_cluster=cluster_share,
        in_one_cluster=cluster_share - label_share >= ONE_CLUSTER_SHARE * (1 - label_share),
        has_links=any(trial.loose < len(truth) for trial in trials),
    )


def _compute_largest_share(groupings: Iterable[Array]) -> float:
    """Return the share of the largest group, the mean over groupings; nan without any."""
    shares = [np.unique(groups, return_counts=True)[1].max() / len(groups) for groups in groupings if len(groups)]
    return float(np.mean(shares)) if shares else math.nan


def _compute_mean_score(
    comparison: Comparison, config: Configuration, model: str = ALL, measure: str | None = None
) -> float:
    mean = estimate(comparison, config, model, measure, resamples=1)
    return mean.mean if mean else math.nan


def _find_baselines(comparison: Comparison, best: Configuration) -> tuple[Baseline, ...]:
    """Return the baselines made as large as the best configuration, by name."""
    configs = sorted(comparison.peers(best), key=lambda config: config.name)
    by_baseline = {each.other: each for each in differences(comparison, [(best, config) for config in configs])}
    nodes = {config: comparison.nodes(config) for config in configs}
    return tuple(
        Baseline(
            config,
            nodes[config],
            math.isnan(nodes[config]) or comparison.as_large(config, best),
            by_baseline.get(config),
        )
        for config in configs
    )


def _choose_shown(
    comparison: Comparison, default: Configuration | None, ranked: Sequence[Difference]
) -> Configuration | None:
    """Return the configuration to show where none is better: the default, or the best that is not random."""
    if default and default != comparison.alone and not math.isnan(comparison.nodes(default)):
        return default
    chosen = [each.one for each in ranked if each.one.method != "random"]
    return next(iter(sorted(chosen, key=lambda config: bool(config.like))), None)


def _find_floor(comparison: Comparison, alone: Configuration) -> float:
    is_apart = FLOOR in comparison.models and FLOOR not in comparison.deciding
    return _compute_mean_score(comparison, alone, FLOOR) if is_apart else math.nan


DIGITS = (3, 4, 5, 6)
"""Digits of numbers: the first that write nothing significant as 0."""


def _describe(verdict: Verdict) -> Iterator[str]:
    """Yield the parts of the sentence, the most important first."""
    gain = verdict.gain
    has_floor = not math.isnan(verdict.floor)
    floor = f"{FLOOR} on the query alone: {verdict.measure} {_format_number(verdict.floor)}"
    if gain and verdict.helps:
        first = f"{_name(verdict.best_result)} helps: {verdict.measure} {_format_gain(gain)} over the query alone"
        first += _format_size(verdict.best_result)
    elif verdict.outcome == "maybe" and gain:
        first = (
            f"no network tested is significantly better than the query alone, {_format_score(verdict, verdict.alone)} "
            f"(95 % confidence): {_name_best(verdict)} has {_format_gain(gain)} over it"
        )
        first += _format_size(verdict.best_result)
    else:
        first = _describe_no_gain(verdict, gain)
    yield first + (f"; the best score is not above {floor}" if has_floor and not verdict.is_above_floor else "")
    if gain and verdict.helps:
        yield from map(_describe_baseline, verdict.baselines)
    default, first_two = verdict.default, (verdict.alone.configuration, verdict.top.configuration)
    if default and default.configuration not in first_two:
        yield _describe_default(verdict, default)
    if verdict.uncompared:
        plural = "s" * (verdict.uncompared > 1)
        yield f"{verdict.uncompared:,} configuration{plural} could not be compared: no run has scores by every model"
    described = tuple(dict.fromkeys((verdict.top, verdict.alone)))
    yield from (note for result, note in verdict.notes.items() if result in described)
    if not math.isnan(verdict.alone.nmi):
        yield "NMI: " + ", ".join(f"{_name(result)} {_format_number(result.nmi)}" for result in described)
    if verdict.task == "hidden" and verdict.enough:
        yield _describe_hidden_links(verdict)
    if has_floor and verdict.is_above_floor:
        yield floor


def _describe_no_gain(verdict: Verdict, gain: Difference | None) -> str:
    """Return the sentence if no configuration has a higher mean, or too little is known."""
    score, own, best = _format_score(verdict, verdict.alone), _format_score(verdict, verdict.top), _name_best(verdict)
    if gain is None:
        failed = f" ({verdict.failed:,} tried and failed)" if verdict.failed else ""
        return f"there is nothing to compare the query alone with: {score}{failed}"
    if not verdict.enough:
        few = "1 hidden link is" if verdict.pairs == 1 else f"{verdict.pairs:,} hidden links are"
        return (
            f"{few} too few to tell whether adding helps (at least {MIN_PAIRS} are needed): {best} has {own}, "
            f"the query alone {score}"
        )
    if all(each.runs < 2 for each in verdict.differences):
        return (
            f"one run cannot tell whether adding helps: {best} has {own}, the query alone {score} "
            "(compare 2 runs or more)"
        )
    if not gain.is_significant:
        return (
            f"no network tested is better than the query alone, {score}: {best} has no significant difference, "
            f"{_format_gain(gain)}"
        )
    distance = _format_distance(gain.mean, gain.low, gain.high)
    if len(verdict.differences) > 1 and all(each.is_significant for each in verdict.differences):
        every = _count_configurations(verdict, "other ")
        return f"adding nothing is best here: {score}; all {every} hurt, {_name(verdict.top)} least: {distance}"
    return f"adding nothing is best here: {score}; {_name_best(verdict, 'other ')} is {distance}"


def _describe_one_cluster(verdict: Verdict, result: ConfigurationResult) -> str:
    """Return why the score of a clustering with (nearly) one cluster is not informative."""
    is_alone = result.configuration == verdict.alone.configuration
    no_links = "the query has no links" if is_alone else f"{_name(result)}: no object of the query has a link"
    objects = "every object" if result.largest_cluster == 1 else "nearly every object"
    return (
        f"{_name(result) if result.has_links else no_links}: {objects} is in one cluster, so its {verdict.measure} of "
        f"{_format_number(result.score)} is not informative; compare by NMI"
    )


def _describe_baseline(baseline: Baseline) -> str:
    """Return how a baseline compares with the best configuration: its score minus the best one's."""
    size = "the same size" if baseline.same_size else f"its {_format_nodes(baseline.nodes)} nodes"
    name, each = f"{baseline.configuration.method} at {size}", baseline.difference
    if each is None:
        return f"{name} {'failed' if math.isnan(baseline.nodes) else 'could not be compared'}"
    if each.is_significant:
        return f"{name}: {_format_distance(-each.mean, -each.high, -each.low)}"
    return f"{name}: no significant difference, {_format_signed(-each.mean, -each.high, -each.low)}"


def _describe_default(verdict: Verdict, default: ConfigurationResult) -> str:
    name = f"the default, {_name(default)}"
    each = next((each for each in verdict.differences if each.one == default.configuration), None)
    if each is None:
        return f"{name}, {'failed' if math.isnan(default.nodes) else 'could not be compared'}"
    if each.is_significant:
        return f"{name}: {_format_distance(each.mean, each.low, each.high)} than the query alone"
    if math.isnan(each.low):
        return f"{name}, has {_format_score(verdict, default)}"
    return f"{name}: no significant difference to the query alone, {_format_gain(each)}"


def _describe_hidden_links(verdict: Verdict) -> str:
    count = f"{verdict.pairs:,} " if verdict.pairs else ""
    each = ", different ones in each run" if verdict.runs > 1 else ""
    return f"{verdict.measure} for {count}hidden links of the query{each}"


def _name_best(verdict: Verdict, other: str = "") -> str:
    configs, name = _count_configurations(verdict, other), _name(verdict.top)
    if len(verdict.differences) > 1:
        return f"the best of {configs}, {name},"
    return f"the only {other}network, {name}," if verdict.counts == (1,) else f"the one network of {configs}, {name},"


def _count_configurations(verdict: Verdict, other: str) -> str:
    """Return how many configurations were compared, and how many networks if some are equal."""
    configs, networks = sum(verdict.counts), len(verdict.differences)
    different = f" ({networks:,} different networks)" if 1 < networks < configs else ""
    return f"{configs:,} {other}configurations{different}"


def _name(result: ConfigurationResult) -> str:
    """Return the name of a configuration, with its number of cells only if others differ in nothing else."""
    config = result.configuration
    if config.name == "none":
        return "the query alone"
    if config.like and not math.isnan(result.nodes):
        return f"{config.method} at {_format_nodes(result.nodes)} nodes"
    return config.name if result.has_variants else config.title


def _format_score(verdict: Verdict, result: ConfigurationResult) -> str:
    return "no score" if math.isnan(result.score) else f"{verdict.measure} {_format_number(result.score)}"


def _format_size(result: ConfigurationResult) -> str:
    """Return the size of a network unless its name contains it."""
    return "" if result.configuration.like else f", at {_format_nodes(result.nodes)} nodes"


def _format_nodes(nodes: float) -> str:
    return f"{int(nodes + 0.5):,}"


def _format_gain(each: Difference) -> str:
    return _format_signed(each.mean, each.low, each.high)


def _format_signed(mean: float, low: float, high: float) -> str:
    texts = _format_numbers(mean, low, high, plus="+")
    return f"{texts[0]} {'(no interval)' if math.isnan(low) else f'[{texts[1]}, {texts[2]}]'}"


def _format_distance(mean: float, low: float, high: float) -> str:
    """Return a difference in words.

    >>> _format_distance(-0.05, -0.07, -0.03)
    '0.050 lower [0.030, 0.070]'
    """
    word = "lower" if mean < 0 else "higher"
    numbers = _format_numbers(-mean, -high, -low) if mean < 0 else _format_numbers(mean, low, high)
    return f"{numbers[0]} {word} [{numbers[1]}, {numbers[2]}]"


def _format_number(score: float) -> str:
    return _format_numbers(score, score, score)[0]


def _format_numbers(mean: float, low: float, high: float, plus: str = "") -> list[str]:
    """Return a mean and its interval with as many digits as needed; ``plus`` precedes a mean that is not negative.

    >>> _format_numbers(0.0123, -0.0001, 0.02), _format_numbers(0.0006, 0.0002, 0.001)
    (['0.012', '0.000', '0.020'], ['0.0006', '0.0002', '0.0010'])
    """
    values = (mean, low, high)
    digits = next((d for d in DIGITS if low * high <= 0 or all(round(value, d) for value in values)), DIGITS[-1])
    rounded = [round(value, digits) for value in values]
    signs = ["−" if value < 0 else positive for value, positive in zip(rounded, (plus, "", ""), strict=True)]
    return [f"{sign}{abs(value):.{digits}f}" for sign, value in zip(signs, rounded, strict=True)]
