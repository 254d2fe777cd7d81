"""What a comparison shows: which network helped, by how much and how surely, in numbers and in one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.display import Shown
from cube2net.errors import InputError, listed
from cube2net.evaluation.statistics import ALL, ENOUGH, Difference, differences, enough, estimate
from cube2net.model.comparison import FLOOR, Comparison, Configuration

NEARLY_ALL = 0.95  # of the objects that are outside the largest label


@dataclass(frozen=True)
class Way:
    """A configuration of a comparison: its mean nodes, score and NMI, nan where it has none.

    ``several`` says that other configurations differ from it in nothing but the number of cells. ``largest_cluster`` is
    the share of the query's objects in the largest cluster; where it is (nearly) all, the configuration is
    ``in_one_cluster`` and its score says nothing. With labels, ``has_links`` says that an object of the query has a
    link in the network.
    """

    configuration: Configuration
    nodes: float
    score: float
    several: bool = False
    nmi: float = math.nan
    largest_cluster: float = math.nan
    in_one_cluster: bool = False
    has_links: bool = True


@dataclass(frozen=True)
class Peer:
    """A configuration that was made as large as the best one, and how much lower it scores: None where nobody can say.

    ``same_size`` says that it became as large, or that it has no size because it failed.
    """

    configuration: Configuration
    nodes: float
    same_size: bool
    difference: Difference | None


@dataclass(frozen=True)
class Finding:
    """What a comparison shows by its first measure, over all models that decide.

    ``differences`` are to the query alone, highest first, of every configuration that could be compared, once for those
    whose networks are the same; ``counts`` are how many configurations each of them stands for. ``top`` is the
    configuration to speak of first: the highest of those surely better than the query alone, else the highest of all;
    the query alone where nothing could be compared with it. ``ways`` are the query alone and the configurations of
    ``differences``, in that order. ``peers`` were made as large as the best one. ``default`` is the configuration that
    a user gets without asking, where it is among those compared. ``shown`` is the one whose network to draw: the best
    where adding helps, else the default, and where none is known the best that is not drawn at random; None where there
    is no such. ``floor`` is the score of the floor on the query alone, nan where it does not stand beside others.
    ``pairs`` are the hidden links that the scores of the task "hidden" are of, None where their number is not known;
    ``enough`` says that these are enough to tell by. ``failed`` and ``uncompared`` configurations have no scores, and
    none that could be compared.
    """

    task: str
    measure: str
    alone: Way
    top: Way
    differences: tuple[Difference, ...]
    counts: tuple[int, ...]
    ways: tuple[Way, ...] = ()
    peers: tuple[Peer, ...] = ()
    default: Way | None = None
    shown: Configuration | None = None
    floor: float = math.nan
    pairs: int | None = None
    enough: bool = True
    runs: int = 1
    failed: int = 0
    uncompared: int = 0

    @property
    def gain(self) -> Difference | None:
        """The gain of the first configuration over the query alone; None where nothing could be compared."""
        return next((each for each in self.differences if each.one == self.top.configuration), None)

    @property
    def helps(self) -> bool:
        """Whether a configuration is surely better than the query alone."""
        return self.gain is not None and self.gain.sure and self.gain.mean > 0

    @property
    def outcome(self) -> Literal["helps", "maybe", "level", "few", "nothing"]:
        """What the comparison shows: it helps, may help, is not higher, or there are too few data."""
        if self.gain is None:
            return "nothing"
        if self.helps:
            return "helps"
        if not self.enough or all(each.runs < 2 for each in self.differences):
            return "few"
        return "maybe" if self.gain.mean > 0 else "level"

    @property
    def best(self) -> Way:
        """The configuration to look at closely: the first where its mean is higher, or the query alone.

        It may be one that was made as large as another.
        """
        return self.top if self.gain and self.gain.mean > 0 else self.alone

    @property
    def above_floor(self) -> bool:
        """Whether the best score is above the floor."""
        return self.best.score > self.floor


def find(comparison: Comparison) -> Finding:
    """Return what a comparison shows.

    Configurations are ranked by their difference to the query alone, over the runs that both have; those made as large
    as another are configurations like others.
    """
    comparison.check_scores()
    alone, default = _alone(comparison), _default(comparison)
    tried = _different(comparison, [config for config in comparison.configurations if config != alone], default)
    found = differences(comparison, [(config, alone) for config in tried])
    found = sorted(found, key=lambda each: (-each.mean, comparison.nodes(each.one), each.one.like, each.one.name))
    better = [each for each in found if each.sure and each.mean > 0]
    top = next(iter(better or found), None)
    best = top.one if top and top.mean > 0 else alone
    compared = {each.one for each in found}
    failed = {config for config in tried if math.isnan(comparison.nodes(config))}
    return Finding(
        task=comparison.task,
        measure=comparison.measures[0],
        alone=_way(comparison, alone),
        top=_way(comparison, top.one if top else alone),
        differences=tuple(found),
        counts=tuple(tried[each.one] for each in found),
        ways=tuple(_way(comparison, config) for config in (alone, *(each.one for each in found))),
        peers=_peers(comparison, best) if best != alone and not best.like else (),
        default=_way(comparison, default) if default else None,
        shown=best if better else _other(comparison, default, found),
        floor=_floor(comparison, alone),
        pairs=comparison.settings.get("pairs") if comparison.task == "hidden" else None,
        enough=enough(comparison),
        runs=len(comparison.seeds),
        failed=len(failed),
        uncompared=sum(count for config, count in tried.items() if config not in compared | failed),
    )


def _alone(comparison: Comparison) -> Configuration:
    """Return the configuration that brings nothing, when it has scores."""
    if all(config.name != "none" for config in comparison.configurations):
        raise InputError(
            "a verdict is over the query alone, and the comparison has no configuration 'none': compare it too"
        )
    alone, models = comparison.alone, comparison.deciding
    if estimate(comparison, alone, resamples=1) is None:
        some = any(estimate(comparison, alone, model, resamples=1) for model in models)
        what = f"no run with scores of all of {listed(models)}" if some else "no score"
        why = "; ".join(comparison.reasons(alone))
        why = why or ("some are missing" if some else f"no trial has a number for {comparison.measures[0]}")
        raise InputError(f"a verdict is over the query alone, and 'none' has {what}: {why}")
    return alone


def _default(comparison: Comparison) -> Configuration | None:
    """Return the configuration that a user gets without asking, where it is known and among those compared."""
    name = comparison.settings.get("default")
    return next((config for config in comparison.configurations if config.name == name), None)


def _different(
    comparison: Comparison, configs: Iterable[Configuration], default: Configuration | None
) -> Mapping[Configuration, int]:
    """Return one configuration for all whose networks are the same in every trial, the first, and how many these are.

    Those made as large as another are often the same for several others: many names, and one try. They come last, and
    the default first.
    """
    alike: dict[tuple[object, ...], list[Configuration]] = {}
    for config in sorted(configs, key=lambda config: (config != default, bool(config.like))):
        trials = [trial for model in comparison.models for trial in comparison.of(config, model)]
        scores = [sorted((name, repr(float(score))) for name, score in trial.scores.items()) for trial in trials]
        same = [
            (trial.model, trial.seed, trial.nodes, trial.links, *own) for trial, own in zip(trials, scores, strict=True)
        ]
        alike.setdefault(tuple(same) or (config,), []).append(config)
    return {group[0]: len(group) for group in alike.values()}


def _way(comparison: Comparison, config: Configuration) -> Way:
    several = sum(other.title == config.title for other in comparison.configurations) > 1
    trials = [trial for model in comparison.deciding for trial in comparison.of(config, model) if comparison.truth]
    truth = np.array(comparison.truth, dtype=np.str_)
    label = _largest_share([truth[truth != ""]])
    cluster = _largest_share(trial.evidence[truth != ""] for trial in trials)
    nmi = _mean_score(comparison, config, measure="NMI") if "NMI" in comparison.measures else math.nan
    in_one, linked = cluster - label >= NEARLY_ALL * (1 - label), any(trial.loose < len(truth) for trial in trials)
    return Way(
        config,
        comparison.nodes(config),
        _mean_score(comparison, config),
        several,
        nmi,
        cluster,
        in_one,
        linked,
    )


def _largest_share(groupings: Iterable[Array]) -> float:
    """Return the share of the largest group, the mean over groupings; nan without any."""
    shares = [np.unique(groups, return_counts=True)[1].max() / len(groups) for groups in groupings if len(groups)]
    return float(np.mean(shares)) if shares else math.nan


def _mean_score(comparison: Comparison, config: Configuration, model: str = ALL, measure: str | None = None) -> float:
    """Return the mean score of a configuration, nan without a run that has it, by every model."""
    known = estimate(comparison, config, model, measure, resamples=1)
    return known.mean if known else math.nan


def _peers(comparison: Comparison, best: Configuration) -> tuple[Peer, ...]:
    """Return the configurations that were made as large as the best one, by name."""
    configs = sorted(comparison.peers(best), key=lambda peer: peer.name)
    apart = {each.other: each for each in differences(comparison, [(best, peer) for peer in configs])}
    nodes = {peer: comparison.nodes(peer) for peer in configs}
    return tuple(
        Peer(peer, nodes[peer], math.isnan(nodes[peer]) or comparison.as_large(peer, best), apart.get(peer))
        for peer in configs
    )


def _other(comparison: Comparison, default: Configuration | None, found: Sequence[Difference]) -> Configuration | None:
    """Return the configuration to show where nothing is surely better: the default, or the best that is not random."""
    if default and default != comparison.alone and not math.isnan(comparison.nodes(default)):
        return default
    known = comparison.settings.get("methods", {})
    chosen = [
        each.one
        for each in found
        if each.one.method != "random" and not str(known.get(each.one.method, "")).startswith("Random(")
    ]
    return next(iter(sorted(chosen, key=lambda config: bool(config.like))), None)


def _floor(comparison: Comparison, alone: Configuration) -> float:
    """Return the score of the floor on the query alone, nan where it decides itself or is not there."""
    beside = FLOOR in comparison.models and FLOOR not in comparison.deciding
    return _mean_score(comparison, alone, FLOOR) if beside else math.nan


# Digits behind the point: three, and more only where what is surely not 0 would read as 0.
DIGITS = (3, 4, 5, 6)


@dataclass(frozen=True)
class Verdict(Shown):
    """A finding, and the sentence that tells it."""

    finding: Finding
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"Verdict({'it helps' if self.helps else 'not surely better'}: {self.sentence})"

    @property
    def best(self) -> Configuration:
        """The configuration to take a closer look at.

        Where adding helps it is the highest of those surely better than the query alone; else the highest of all, which
        may be the query alone. It may be one that was made as large as another.
        """
        return self.finding.best.configuration

    @property
    def helps(self) -> bool:
        """Whether the best one is surely better than the query alone."""
        return self.finding.helps

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences to the query alone, highest first, once for configurations whose networks are the same."""
        return self.finding.differences

    @property
    def peers(self) -> tuple[Difference, ...]:
        """The differences of the best one to configurations that were made as large."""
        return tuple(peer.difference for peer in self.finding.peers if peer.difference)

    @property
    def notes(self) -> dict[Way, str]:
        """A sentence for each network whose clustering puts (nearly) all objects of the query in one cluster."""
        return {way: _say_one_cluster(self.finding, way) for way in self.finding.ways if way.in_one_cluster}

    @property
    def shown(self) -> Configuration | None:
        """The configuration whose network to draw, None where there is none to draw."""
        return self.finding.shown


def verdict_of(comparison: Comparison) -> Verdict:
    """Return which network helped, by how much, and how sure that is, in one sentence and in numbers.

    That is by the first measure of the comparison, over all models that decide. Nothing is said to differ that is not
    sure to. For links the floor does not decide: its score on the query alone ends the sentence. Of the settings,
    ``default`` is the name of the configuration that a user gets without asking, of which the sentence speaks too; for
    hidden links ``pairs`` is how many there are, of which fewer than 30 are too few to tell.
    """
    found = find(comparison)
    return Verdict(found, sentence(found))


def sentence(found: Finding) -> str:
    """Return a finding in words."""
    return "; ".join(_parts(found))


def _parts(found: Finding) -> Iterator[str]:
    """Yield the parts of the sentence, what is to be known first first."""
    gain, spoken_of = found.gain, tuple(dict.fromkeys((found.top, found.alone)))
    floor = "" if math.isnan(found.floor) else f"{FLOOR} on the query alone: {found.measure} {_number(found.floor)}"
    under = f"not above {floor}" if floor and not found.above_floor else ""
    if gain and found.helps:
        said = f"{_title(found.best)} helps: {found.measure} {_gain(gain)} over the query alone{_size(found.best)}"
        yield f"{said}, {under}" if under else said
        yield from map(_beside, found.peers)
    elif gain and gain.mean > 0 and any(each.runs > 1 for each in found.differences) and found.enough:
        best = f"{_best_of(found)} has {_gain(gain)} over it{_size(found.best)}"
        said = f"nothing tried is surely better than the query alone, {_score(found, found.alone)}: {best}"
        yield f"{said}, {under}" if under else said
    else:
        yield _level(found, gain) if gain else _nothing(found)
        if under:
            who = (
                "other models are"
                if found.best.configuration == found.alone.configuration
                else f"{_title(found.best)} is"
            )
            yield f"{who} {under}"
    if found.default and found.default.configuration not in (found.alone.configuration, found.top.configuration):
        yield _of_the_default(found, found.default)
    if found.uncompared:
        lost = found.uncompared
        yield f"{lost:,} way{'s' * (lost > 1)} could not be compared, for want of runs by every model"
    yield from (_say_one_cluster(found, way) for way in found.ways if way.in_one_cluster and way in spoken_of)
    if not math.isnan(found.alone.nmi):
        yield "NMI: " + ", ".join(f"{_title(way)} {_number(way.nmi)}" for way in spoken_of)
    if found.task == "hidden" and found.enough:
        yield _what_is_scored(found)
    if found.above_floor:
        yield floor


def _say_one_cluster(found: Finding, way: Way) -> str:
    """Return why the score of a configuration says nothing: its clustering puts (nearly) all objects in one cluster."""
    who, is_alone = _title(way), way.configuration == found.alone.configuration
    no_links = "the query has no links" if is_alone else f"{who}: no object of the query has a link"
    many = "every object" if way.largest_cluster == 1 else "nearly every object"
    nothing = f"so its {found.measure} of {_number(way.score)} says nothing; compare by NMI"
    return f"{who if way.has_links else no_links}: {many} is in one cluster, {nothing}"


def _nothing(found: Finding) -> str:
    """Return the sentence when no configuration could be compared with the query alone."""
    failed = f" ({found.failed:,} tried and failed)" if found.failed else ""
    return f"there is nothing to compare the query alone with: {_score(found, found.alone)}{failed}"


def _level(found: Finding, gain: Difference) -> str:
    """Return the sentence when nothing can tell, or no configuration has a higher mean than the query alone."""
    score, own, best = _score(found, found.alone), _score(found, found.top), _best_of(found)
    if not found.enough:
        few = "1 hidden link of the query is" if found.pairs == 1 else f"{found.pairs:,} hidden links of the query are"
        return (
            f"{few} too few to tell whether adding helps ({ENOUGH} or more can): {best} has {own}, "
            f"the query alone {score}"
        )
    if all(each.runs < 2 for each in found.differences):
        return (
            f"one run cannot tell whether adding helps: {best} has {own}, the query alone {score} "
            "(compare 2 runs or more)"
        )
    if not gain.sure:
        return f"nothing tried is better than the query alone, {score}: {best} makes no sure difference, {_gain(gain)}"
    apart = _apart(gain.mean, gain.low, gain.high)
    if len(found.differences) > 1 and all(each.sure for each in found.differences):
        ways = _ways(found, "other ")
        every = f"both {ways.removeprefix('2 ')}" if ways == "2 other ways" else f"all {ways}"
        return f"adding nothing is best here: {score}; {every} hurt, {_title(found.top)} least: {apart}"
    return f"adding nothing is best here: {score}; {_best_of(found, 'other ')} is {apart}"


def _beside(peer: Peer) -> str:
    """Return how a configuration made as large as the best one compares with it: its score less the best one's."""
    at = "the same size" if peer.same_size else f"its {_whole(peer.nodes)} nodes"
    who, each = f"{peer.configuration.method} at {at}", peer.difference
    if each is None:
        return f"{who} {'failed' if math.isnan(peer.nodes) else 'could not be compared'}"
    if each.sure:
        return f"{who}: {_apart(-each.mean, -each.high, -each.low)}"
    return f"{who}: no sure difference, {_signed(-each.mean, -each.high, -each.low)}"


def _of_the_default(found: Finding, default: Way) -> str:
    """Return how the default compares with the query alone."""
    who = f"the default, {_title(default)}"
    each = next((each for each in found.differences if each.one == default.configuration), None)
    if each is None:
        return f"{who}, {'failed' if math.isnan(default.nodes) else 'could not be compared'}"
    if each.sure:
        return f"{who}: {_apart(each.mean, each.low, each.high)} than the query alone"
    if math.isnan(each.low):
        return f"{who}, has {_score(found, default)}"
    return f"{who}: no sure difference to the query alone, {_gain(each)}"


def _what_is_scored(found: Finding) -> str:
    """Return what the score is of, where its name does not say it."""
    many = f"{found.pairs:,} " if found.pairs else ""
    each = ", other ones in every run" if found.runs > 1 else ""
    return f"{found.measure} is of {many}hidden links of the query found again{each}"


def _best_of(found: Finding, other: str = "") -> str:
    ways, title = _ways(found, other), _title(found.top)
    if len(found.differences) > 1:
        return f"the best of {ways}, {title},"
    return f"the only {other}way, {title}," if found.counts[0] == 1 else f"the one network of {ways}, {title},"


def _ways(found: Finding, other: str) -> str:
    """Return how many configurations were compared, and how many networks that are where some make the same."""
    ways, networks = sum(found.counts), len(found.differences)
    apart = f" ({networks:,} different networks)" if 1 < networks < ways else ""
    return f"{ways:,} {other}ways{apart}"


def _title(way: Way) -> str:
    """Return a configuration in words, with its number of cells where others differ from it in nothing else."""
    if way.configuration.name == "none":
        return "the query alone"
    if way.configuration.like and not math.isnan(way.nodes):
        return f"{way.configuration.method} at {_whole(way.nodes)} nodes"
    return way.configuration.name if way.several else way.configuration.title


def _score(found: Finding, way: Way) -> str:
    return "no score" if math.isnan(way.score) else f"{found.measure} {_number(way.score)}"


def _size(way: Way) -> str:
    """Return how large the network is, where the configuration's title does not say it."""
    return "" if way.configuration.like else f", at {_whole(way.nodes)} nodes"


def _whole(nodes: float) -> str:
    return f"{int(nodes + 0.5):,}"


def _gain(each: Difference) -> str:
    return _signed(each.mean, each.low, each.high)


def _signed(*values: float) -> str:
    mean, low, high = _numbers(*values)
    ends = "(no interval)" if math.isnan(values[1]) else f"[{low}, {high}]"
    return f"{mean if mean.startswith('−') else f'+{mean}'} {ends}"


def _apart(mean: float, low: float, high: float) -> str:
    """Return how far one is from the other, in words.

    >>> _apart(-0.05, -0.07, -0.03)
    '0.050 lower [0.030, 0.070]'
    """
    if mean < 0:
        mean, low, high, way = -mean, -high, -low, "lower"
    else:
        way = "higher"
    numbers = _numbers(mean, low, high)
    return f"{numbers[0]} {way} [{numbers[1]}, {numbers[2]}]"


def _number(score: float) -> str:
    return _numbers(score, score, score)[0]


def _numbers(mean: float, low: float, high: float) -> list[str]:
    """Return a mean and its interval with as many digits as they need.

    >>> _numbers(0.0123, -0.0001, 0.02), _numbers(0.0006, 0.0002, 0.001)
    (['0.012', '0.000', '0.020'], ['0.0006', '0.0002', '0.0010'])
    """
    values = (mean, low, high)
    digits = next((d for d in DIGITS if low * high <= 0 or all(round(value, d) for value in values)), DIGITS[-1])
    rounded = [round(value, digits) for value in values]
    return [f"{'−' if value < 0 else ''}{abs(value):.{digits}f}" for value in rounded]
