"""The answer in one sentence: did it help, by how much, at what size, and would something simpler have done as well."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cube2net.errors import InputError, listed
from cube2net.records import Comparison, Setup
from cube2net.records.comparison import FLOOR
from cube2net.referee.statistics import ALL, ENOUGH, Difference, differences, enough, estimate

# Digits behind the point: three, and more only where what is surely not 0 would read as 0.
DIGITS = (3, 4, 5, 6)


@dataclass(frozen=True)
class Verdict:
    """A sentence, and what it rests on.

    ``best`` is the setup to take a closer look at: where adding helps, the highest of those surely better than the
    query alone; else the highest of all, which may be the query alone. It may be one that was made as large as another.
    ``helps`` says whether it is surely better. ``differences`` are to the query alone, highest first, of every setup
    that could be compared, once for those whose networks are the same; ``peers`` of the best one to setups that were
    made as large. ``shown`` is the setup whose network to draw: the best where adding helps, else the default, and
    where none is known the best that is not drawn at random; None where there is no such.
    """

    sentence: str
    best: Setup
    helps: bool
    differences: tuple[Difference, ...]
    peers: tuple[Difference, ...]
    shown: Setup | None = None


def verdict_of(comparison: Comparison) -> Verdict:
    """Return the verdict on a comparison, by its first measure over all miners that decide.

    Setups are ranked by their difference to the query alone, over the runs that both have; those made as large as
    another are setups like others. Nothing is said to differ that is not sure to. For links the floor does not decide:
    its score on the query alone ends the sentence. Of the settings, ``default`` is the name of the setup that a user
    gets without asking, of which the sentence speaks too; for hidden links ``pairs`` is how many there are, of which
    fewer than 30 are too few to tell.
    """
    comparison.check_scores()
    alone, default = _alone(comparison), _default(comparison)
    tried = _different(comparison, [setup for setup in comparison.setups if setup != alone], default)
    found = differences(comparison, [(setup, alone) for setup in tried])
    found = sorted(found, key=lambda each: (-each.mean, comparison.nodes(each.one), each.one.like, each.one.name))
    better = [each for each in found if each.sure and each.mean > 0]
    top = next(iter(better or found), None)
    best = top.one if top and top.mean > 0 else alone
    peers = sorted(comparison.peers(best), key=lambda peer: peer.name) if best != alone and not best.like else []
    near = differences(comparison, [(best, peer) for peer in peers])
    floor, above = _floor(comparison, best)
    under = f", not above {floor}" if floor and not above else ""
    score = _score(comparison, alone)
    if better:
        gain = f"{_title(comparison, best)} helps: {better[0].measure} {_gain(better[0])} over the query alone"
        parts = [f"{gain}{_size(comparison, best)}{under}", *_beside(comparison, best, peers, near)]
    elif top and top.mean > 0 and any(each.runs > 1 for each in found) and enough(comparison):
        said = f"{_best_of(comparison, found, tried)} has {_gain(top)} over it{_size(comparison, best)}"
        parts = [f"nothing tried is surely better than the query alone, {score}: {said}{under}"]
    else:
        failed = sum(math.isnan(comparison.nodes(setup)) for setup in tried)
        said = f"there is nothing to compare the query alone with: {score}"
        said += f" ({failed:,} tried and failed)" if failed else ""
        parts = [_level(comparison, found, tried) if found else said]
        who = "other miners are" if best == alone else f"{_title(comparison, best)} is"
        parts += [f"{who}{under.removeprefix(',')}"] if under else []
    if default and default not in (alone, top.one if top else None):
        parts += _beside_it(comparison, default, found)
    parts += _left_out(comparison, tried, found)
    parts += _judged(comparison) if enough(comparison) else []
    shown = best if better else _other(comparison, default, found)
    return Verdict("; ".join(parts + [floor] * above), best, bool(better), tuple(found), tuple(near), shown)


def _default(comparison: Comparison) -> Setup | None:
    """Return the setup that a user gets without asking, where it is known and among those compared."""
    name = comparison.settings.get("default")
    return next((setup for setup in comparison.setups if setup.name == name), None)


def _other(comparison: Comparison, default: Setup | None, found: Sequence[Difference]) -> Setup | None:
    """Return the setup to show where nothing is surely better: the default, or the best that is not random."""
    if default and default != comparison.alone and not math.isnan(comparison.nodes(default)):
        return default
    known = comparison.settings.get("methods", {})
    chosen = [
        each.one
        for each in found
        if each.one.method != "random" and not str(known.get(each.one.method, "")).startswith("Random(")
    ]
    return next(iter(sorted(chosen, key=lambda setup: bool(setup.like))), None)


def _beside_it(comparison: Comparison, default: Setup, found: Sequence[Difference]) -> list[str]:
    """Return how the default compares with the query alone."""
    who = f"the default, {_title(comparison, default)}"
    each = next((each for each in found if each.one == default), None)
    if each is None:
        return [f"{who}, failed" if math.isnan(comparison.nodes(default)) else f"{who}, could not be compared"]
    if each.sure:
        return [f"{who}: {_apart(each.mean, each.low, each.high)} than the query alone"]
    if math.isnan(each.low):
        return [f"{who}, has {_score(comparison, default)}"]
    return [f"{who}: no sure difference to the query alone, {_gain(each)}"]


def _judged(comparison: Comparison) -> list[str]:
    """Return what the score is of, where its name does not say it."""
    if comparison.task != "hidden":
        return []
    pairs = comparison.settings.get("pairs")
    each = ", other ones in every run" if len(comparison.seeds) > 1 else ""
    many = f"{pairs:,} " if pairs else ""
    return [f"{comparison.measures[0]} is of {many}hidden links of the query found again{each}"]


def _alone(comparison: Comparison) -> Setup:
    """Return the setup that brings nothing, when it has scores."""
    if all(setup.name != "none" for setup in comparison.setups):
        raise InputError("a verdict is over the query alone, and the comparison has no setup 'none': compare it too")
    alone, miners = comparison.alone, comparison.deciding
    if estimate(comparison, alone, resamples=1) is None:
        some = any(estimate(comparison, alone, miner, resamples=1) for miner in miners)
        what = f"no run with scores of all of {listed(miners)}" if some else "no score"
        why = "; ".join(comparison.reasons(alone))
        why = why or ("some are missing" if some else f"no trial has a number for {comparison.measures[0]}")
        raise InputError(f"a verdict is over the query alone, and 'none' has {what}: {why}")
    return alone


def _different(comparison: Comparison, setups: Iterable[Setup], default: Setup | None) -> dict[Setup, int]:
    """Return one setup for all whose networks are the same in every trial, the first, and how many these are.

    Those made as large as another are often the same for several others: many names, and one try. They come last, and
    the default first.
    """
    alike: dict[tuple[object, ...], list[Setup]] = {}
    for setup in sorted(setups, key=lambda setup: (setup != default, bool(setup.like))):
        trials = [trial for miner in comparison.miners for trial in comparison.of(setup, miner)]
        scores = [sorted((name, repr(float(score))) for name, score in trial.scores.items()) for trial in trials]
        same = [
            (trial.miner, trial.seed, trial.nodes, trial.links, *own) for trial, own in zip(trials, scores, strict=True)
        ]
        alike.setdefault(tuple(same) or (setup,), []).append(setup)
    return {group[0]: len(group) for group in alike.values()}


def _floor(comparison: Comparison, best: Setup) -> tuple[str, bool]:
    """Return the floor's score on the query alone, in words, and whether the best one's is above; nothing without."""
    if FLOOR in comparison.deciding or FLOOR not in comparison.miners:
        return "", False
    floor, own = estimate(comparison, comparison.alone, FLOOR, resamples=1), estimate(comparison, best, resamples=1)
    if floor is None or own is None:
        return "", False
    return f"{FLOOR} on the query alone: {_score(comparison, comparison.alone, FLOOR)}", own.mean > floor.mean


def _level(comparison: Comparison, found: Sequence[Difference], tried: Mapping[Setup, int]) -> str:
    """Return the sentence when nothing can tell, or no setup has a higher mean than the query alone."""
    top, score = found[0], _score(comparison, comparison.alone)
    if not enough(comparison):
        pairs = comparison.settings["pairs"]
        few = "1 hidden link of the query is" if pairs == 1 else f"{pairs:,} hidden links of the query are"
        return (
            f"{few} too few to tell whether adding helps ({ENOUGH} or more can): "
            f"{_best_of(comparison, found, tried)} has {_score(comparison, top.one)}, the query alone {score}"
        )
    if all(each.runs < 2 for each in found):
        return (
            f"one run cannot tell whether adding helps: {_best_of(comparison, found, tried)} has "
            f"{_score(comparison, top.one)}, the query alone {score} (compare 2 runs or more)"
        )
    if not top.sure:
        return (
            f"nothing tried is better than the query alone, {score}: {_best_of(comparison, found, tried)} "
            f"makes no sure difference, {_gain(top)}"
        )
    apart = _apart(top.mean, top.low, top.high)
    if len(found) > 1 and all(each.sure for each in found):
        ways = _ways(found, tried, "other ")
        every = f"both {ways.removeprefix('2 ')}" if ways == "2 other ways" else f"all {ways}"
        title = _title(comparison, top.one)
        return f"adding nothing is best here: {score}; {every} hurt, {title} least: {apart}"
    return f"adding nothing is best here: {score}; {_best_of(comparison, found, tried, 'other ')} is {apart}"


def _beside(comparison: Comparison, best: Setup, peers: Sequence[Setup], near: Sequence[Difference]) -> list[str]:
    """Return how setups made as large as the best one compare with it: theirs less its."""
    told = {each.other: each for each in near}
    parts = []
    for peer in peers:
        nodes = comparison.nodes(peer)
        same = math.isnan(nodes) or comparison.as_large(peer, best)
        who = f"{peer.method} at the same size" if same else f"{peer.method} at its {_whole(nodes)} nodes"
        each = told.get(peer)
        if each is None:
            parts.append(f"{who} {'failed' if math.isnan(nodes) else 'could not be compared'}")
        elif each.sure:
            parts.append(f"{who}: {_apart(-each.mean, -each.high, -each.low)}")
        else:
            parts.append(f"{who}: no sure difference, {_signed(-each.mean, -each.high, -each.low)}")
    return parts


def _left_out(comparison: Comparison, tried: Mapping[Setup, int], found: Sequence[Difference]) -> list[str]:
    """Return how many setups have scores, and none that could be compared with the query alone."""
    told = {each.one for each in found}
    lost = sum(many for setup, many in tried.items() if setup not in told and not math.isnan(comparison.nodes(setup)))
    return [f"{lost:,} way{'s' * (lost > 1)} could not be compared, for want of runs by every miner"] if lost else []


def _best_of(comparison: Comparison, found: Sequence[Difference], tried: Mapping[Setup, int], other: str = "") -> str:
    title = _title(comparison, found[0].one)
    ways = _ways(found, tried, other)
    if len(found) > 1:
        return f"the best of {ways}, {title},"
    return f"the only {other}way, {title}," if tried[found[0].one] == 1 else f"the one network of {ways}, {title},"


def _ways(found: Sequence[Difference], tried: Mapping[Setup, int], other: str) -> str:
    """Return how many setups were compared, and how many networks that are where some make the same."""
    ways = sum(tried[each.one] for each in found)
    apart = f" ({len(found):,} different networks)" if 1 < len(found) < ways else ""
    return f"{ways:,} {other}ways{apart}"


def _title(comparison: Comparison, setup: Setup) -> str:
    """Return the setup in words, with its number of cells where others differ from it in nothing else."""
    if setup.like:
        return f"{setup.method} at {_whole(comparison.nodes(setup))} nodes"
    alike = [other for other in comparison.setups if other.title == setup.title]
    return setup.title if len(alike) == 1 else setup.name


def _score(comparison: Comparison, setup: Setup, miner: str = ALL) -> str:
    found = estimate(comparison, setup, miner, resamples=1)
    return f"{comparison.measures[0]} {_numbers(*[found.mean] * 3)[0]}" if found else "no score"


def _size(comparison: Comparison, setup: Setup) -> str:
    """Return how large the network is, where the setup's title does not say it."""
    return "" if setup.like else f", at {_whole(comparison.nodes(setup))} nodes"


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


def _numbers(mean: float, low: float, high: float) -> list[str]:
    """Return a mean and its interval with as many digits as they need.

    >>> _numbers(0.0123, -0.0001, 0.02), _numbers(0.0006, 0.0002, 0.001)
    (['0.012', '0.000', '0.020'], ['0.0006', '0.0002', '0.0010'])
    """
    values = (mean, low, high)
    digits = next((d for d in DIGITS if low * high <= 0 or all(round(value, d) for value in values)), DIGITS[-1])
    rounded = [round(value, digits) for value in values]
    return [f"{'−' if value < 0 else ''}{abs(value):.{digits}f}" for value in rounded]
