"""The answer in one sentence: did it help, by how much, at what size, and would something simpler have done as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cube2net.errors import InputError
from cube2net.records import Comparison, Setup
from cube2net.referee.statistics import Difference, differences, estimate

# Digits behind the point: three, and more only where what is surely not 0 would read as 0.
DIGITS = (3, 4, 5, 6)


@dataclass(frozen=True)
class Verdict:
    """A sentence, and what it rests on.

    ``best`` is the setup to take a closer look at: where adding helps, the highest of those surely better than the
    query alone; else the highest of all, which may be the query alone. ``helps`` says whether it is surely better.
    ``differences`` are of every setup to the query alone, highest first; ``peers`` of the best one to setups that were
    made as large.
    """

    sentence: str
    best: Setup
    helps: bool
    differences: tuple[Difference, ...]
    peers: tuple[Difference, ...]


def verdict(comparison: Comparison) -> Verdict:
    """Return the verdict on a comparison, by its first measure over all miners.

    Setups are ranked by their difference to the query alone, over the runs that both have. Those made as large as
    another are compared with that one only. Nothing is said to differ that is not sure to.
    """
    alone = _alone(comparison)
    others = [setup for setup in comparison.setups if setup != alone and not setup.like]
    found = differences(comparison, [(setup, alone) for setup in others])
    found = sorted(found, key=lambda each: (-each.mean, _nodes(comparison, each.one), each.one.name))
    better = [each for each in found if each.sure and each.mean > 0]
    top = next(iter(better or found), None)
    best = top.one if top and top.mean > 0 else alone
    peers = sorted(comparison.peers(best), key=lambda peer: peer.name) if best != alone else []
    near = differences(comparison, [(best, peer) for peer in peers])
    if top is None:
        failed = f" ({len(others):,} tried and failed)" if others else ""
        sentence = f"there is nothing to compare the query alone with: {_score(comparison, alone)}{failed}"
    elif better:
        title = _title(comparison, best)
        parts = [f"{title} helps: {top.measure} {_gain(top)} over the query alone, {_size(comparison, best)}"]
        sentence = "; ".join(parts + _beside(peers, near))
    elif all(each.runs < 2 for each in found):
        sentence = (
            f"one run cannot tell whether adding helps: {_best_of(comparison, found)} has "
            f"{_score(comparison, top.one)}, the query alone {_score(comparison, alone)} (compare 2 runs or more)"
        )
    elif top.mean > 0:
        sentence = (
            f"nothing tried is surely better than the query alone, {_score(comparison, alone)}: "
            f"{_best_of(comparison, found)} has {_gain(top)} over it, {_size(comparison, best)}"
        )
    else:
        sentence = _nothing(comparison, alone, found)
    return Verdict(sentence, best, bool(better), tuple(found), tuple(near))


def _alone(comparison: Comparison) -> Setup:
    """Return the setup that brings nothing, when it has scores."""
    if all(setup.name != "none" for setup in comparison.setups):
        raise InputError("a verdict is over the query alone, and the comparison has no setup 'none': compare it too")
    if estimate(comparison, comparison.alone, resamples=1) is None:
        why = "; ".join(comparison.reasons(comparison.alone)) or f"no trial has a number for {comparison.measures[0]}"
        raise InputError(f"a verdict is over the query alone, and 'none' has no score: {why}")
    return comparison.alone


def _nothing(comparison: Comparison, alone: Setup, found: Sequence[Difference]) -> str:
    """Return the sentence when no setup has a higher mean than the query alone."""
    top, score = found[0], _score(comparison, alone)
    if not top.sure:
        return (
            f"nothing tried is better than the query alone, {score}: {_best_of(comparison, found)} "
            f"makes no difference, {_gain(top)}"
        )
    apart = _apart(top.mean, top.low, top.high)
    if len(found) > 1 and all(each.sure for each in found):
        every = "both" if len(found) == 2 else f"all {len(found):,}"
        title = _title(comparison, top.one)
        return f"adding nothing is best here: {score}; {every} other ways hurt, {title} least: {apart}"
    return f"adding nothing is best here: {score}; {_best_of(comparison, found, 'other ')} is {apart}"


def _beside(peers: Sequence[Setup], near: Sequence[Difference]) -> list[str]:
    """Return how setups as large as the best one compare with it; those that do not differ share a sentence."""
    told = {each.other: each for each in near}
    level = [peer.method for peer in peers if peer in told and not told[peer].sure]
    parts = [f"{' and '.join(level)} at the same size: no difference"] if level else []
    for peer in peers:
        if peer not in told:
            parts.append(f"{peer.method} at the same size failed")
        elif told[peer].sure:
            each = told[peer]
            parts.append(f"{peer.method} at the same size: {_apart(-each.mean, -each.high, -each.low)}")
    return parts


def _best_of(comparison: Comparison, found: Sequence[Difference], other: str = "") -> str:
    title = _title(comparison, found[0].one)
    return f"the best of {len(found):,} {other}ways, {title}," if len(found) > 1 else f"the only {other}way, {title},"


def _title(comparison: Comparison, setup: Setup) -> str:
    """Return the setup in words, with its number of cells where others differ from it in nothing else."""
    alike = [other for other in comparison.setups if other.title == setup.title]
    return setup.title if len(alike) == 1 else setup.name


def _score(comparison: Comparison, setup: Setup) -> str:
    found = estimate(comparison, setup, resamples=1)
    return f"{comparison.measures[0]} {_numbers(*[found.mean] * 3)[0]}" if found else "no score"


def _size(comparison: Comparison, setup: Setup) -> str:
    return f"at {int(_nodes(comparison, setup) + 0.5):,} nodes"


def _nodes(comparison: Comparison, setup: Setup) -> float:
    return float(np.mean([trial.nodes for miner in comparison.miners for trial in comparison.of(setup, miner)]))


def _gain(each: Difference) -> str:
    mean, low, high = _numbers(each.mean, each.low, each.high)
    return f"{mean if mean.startswith('−') else f'+{mean}'} [{low}, {high}]"


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
