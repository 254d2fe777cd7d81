"""The answer in one sentence: did it help, by how much, at what size, and would something simpler have done as well."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from cube2net.records import Comparison, Setup
from cube2net.records.comparison import FLOOR
from cube2net.referee.finding import Finding, Peer, Way, find
from cube2net.referee.statistics import ENOUGH, Difference
from cube2net.showing import Shown

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
    def best(self) -> Setup:
        """The setup to take a closer look at.

        Where adding helps it is the highest of those surely better than the query alone; else the highest of all, which
        may be the query alone. It may be one that was made as large as another.
        """
        return self.finding.best.setup

    @property
    def helps(self) -> bool:
        """Whether the best one is surely better than the query alone."""
        return self.finding.helps

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences to the query alone, highest first, once for setups whose networks are the same."""
        return self.finding.differences

    @property
    def peers(self) -> tuple[Difference, ...]:
        """The differences of the best one to setups that were made as large."""
        return tuple(peer.difference for peer in self.finding.peers if peer.difference)

    @property
    def notes(self) -> dict[Way, str]:
        """A sentence for each network whose clustering puts (nearly) all objects of the query in one cluster."""
        return {way: _say_one_cluster(self.finding, way) for way in self.finding.ways if way.in_one_cluster}

    @property
    def shown(self) -> Setup | None:
        """The setup whose network to draw, None where there is none to draw."""
        return self.finding.shown


def verdict_of(comparison: Comparison) -> Verdict:
    """Return which network helped, by how much, and how sure that is, in one sentence and in numbers.

    That is by the first measure of the comparison, over all miners that decide. Nothing is said to differ that is not
    sure to. For links the floor does not decide: its score on the query alone ends the sentence. Of the settings,
    ``default`` is the name of the setup that a user gets without asking, of which the sentence speaks too; for hidden
    links ``pairs`` is how many there are, of which fewer than 30 are too few to tell.
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
            who = "other miners are" if found.best.setup == found.alone.setup else f"{_title(found.best)} is"
            yield f"{who} {under}"
    if found.default and found.default.setup not in (found.alone.setup, found.top.setup):
        yield _of_the_default(found, found.default)
    if found.uncompared:
        lost = found.uncompared
        yield f"{lost:,} way{'s' * (lost > 1)} could not be compared, for want of runs by every miner"
    yield from (_say_one_cluster(found, way) for way in found.ways if way.in_one_cluster and way in spoken_of)
    if not math.isnan(found.alone.nmi):
        yield "NMI: " + ", ".join(f"{_title(way)} {_number(way.nmi)}" for way in spoken_of)
    if found.task == "hidden" and found.enough:
        yield _what_is_scored(found)
    if found.above_floor:
        yield floor


def _say_one_cluster(found: Finding, way: Way) -> str:
    """Return why the score of a setup says nothing: its clustering puts (nearly) all objects in one cluster."""
    who, is_alone = _title(way), way.setup == found.alone.setup
    no_links = "the query has no links" if is_alone else f"{who}: no object of the query has a link"
    many = "every object" if way.largest_cluster == 1 else "nearly every object"
    nothing = f"so its {found.measure} of {_number(way.score)} says nothing; compare by NMI"
    return f"{who if way.has_links else no_links}: {many} is in one cluster, {nothing}"


def _nothing(found: Finding) -> str:
    """Return the sentence when no setup could be compared with the query alone."""
    failed = f" ({found.failed:,} tried and failed)" if found.failed else ""
    return f"there is nothing to compare the query alone with: {_score(found, found.alone)}{failed}"


def _level(found: Finding, gain: Difference) -> str:
    """Return the sentence when nothing can tell, or no setup has a higher mean than the query alone."""
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
    """Return how a setup made as large as the best one compares with it: its score less the best one's."""
    at = "the same size" if peer.same_size else f"its {_whole(peer.nodes)} nodes"
    who, each = f"{peer.setup.method} at {at}", peer.difference
    if each is None:
        return f"{who} {'failed' if math.isnan(peer.nodes) else 'could not be compared'}"
    if each.sure:
        return f"{who}: {_apart(-each.mean, -each.high, -each.low)}"
    return f"{who}: no sure difference, {_signed(-each.mean, -each.high, -each.low)}"


def _of_the_default(found: Finding, default: Way) -> str:
    """Return how the default compares with the query alone."""
    who = f"the default, {_title(default)}"
    each = next((each for each in found.differences if each.one == default.setup), None)
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
    """Return how many setups were compared, and how many networks that are where some make the same."""
    ways, networks = sum(found.counts), len(found.differences)
    apart = f" ({networks:,} different networks)" if 1 < networks < ways else ""
    return f"{ways:,} {other}ways{apart}"


def _title(way: Way) -> str:
    """Return a setup in words, with its number of cells where others differ from it in nothing else."""
    if way.setup.name == "none":
        return "the query alone"
    if way.setup.like and not math.isnan(way.nodes):
        return f"{way.setup.method} at {_whole(way.nodes)} nodes"
    return way.setup.name if way.several else way.setup.title


def _score(found: Finding, way: Way) -> str:
    return "no score" if math.isnan(way.score) else f"{found.measure} {_number(way.score)}"


def _size(way: Way) -> str:
    """Return how large the network is, where the setup's title does not say it."""
    return "" if way.setup.like else f", at {_whole(way.nodes)} nodes"


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
