"""How a claim of the paper is judged: by intervals and one rule, or by why no interval is needed, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from scipy.stats import t as student

from cube2net._util.arrays import Array
from cube2net._util.statistics import ENDS
from cube2net.evaluation.statistics import Difference

CONFIRMED, CONTRADICTED, UNSURE = "confirmed", "**contradicted**", "cannot tell"
CLOSED, LATER = "cannot be tested here", "not run"
NO_NEED = "no interval is needed"
NBSP = "\N{NO-BREAK SPACE}"
NOWHERE = (math.nan, math.nan)

Side = tuple[float, float]
"""The ends of an interval of what the claim says is above 0."""


def verdict_of(sides: Sequence[Side]) -> str:
    """Return what intervals say of a claim that all of them lie above 0: one that lies below contradicts it."""
    if not sides:
        return LATER
    if all(low > 0 for low, _ in sides):
        return CONFIRMED
    return CONTRADICTED if any(high < 0 for _, high in sides) else UNSURE


@dataclass(frozen=True)
class Claim:
    """What the paper says, its number, ours, and what the verdict follows from.

    ``sides`` are intervals of what is above 0 if the claim holds. ``exact`` says whether it holds where that is certain
    without one, and then ``ours`` says why. ``closed`` is the reason why nothing here could tell. ``short`` is the
    claim in a few words.
    """

    says: str
    theirs: str
    ours: str = "–"
    short: str = ""
    sides: tuple[Side, ...] = ()
    exact: bool | None = None
    closed: str = ""

    def __post_init__(self) -> None:
        if (self.exact is not None) != (NO_NEED in self.ours):
            raise ValueError(f"a claim without intervals says why {NO_NEED}, and no other does: {self.says!r}")

    @property
    def kind(self) -> str:
        """The verdict, one of five."""
        if self.closed:
            return CLOSED
        if self.exact is not None:
            return CONFIRMED if self.exact else CONTRADICTED
        return verdict_of(self.sides)

    @property
    def verdict(self) -> str:
        """The verdict, with the reason where nothing could tell."""
        return f"{CLOSED}: {self.closed}" if self.closed else self.kind

    @property
    def row(self) -> str:
        """The claim as a row of a table."""
        return f"| {self.says} | {self.theirs} | {self.ours} | {self.verdict} |"


def wider(found: Difference, lists: int) -> Difference:
    """Return a difference with its interval widened, where its claim is judged by so many lists of differences."""
    if lists < 2 or math.isnan(found.low):
        return found
    level = found.level / lists
    stretch = NormalDist().inv_cdf(1 - level / 2) / NormalDist().inv_cdf(1 - found.level / 2)
    return replace(
        found,
        low=found.mean - stretch * (found.mean - found.low),
        high=found.mean + stretch * (found.high - found.mean),
        level=level,
    )


def side(found: Difference, sign: int = 1) -> Side:
    """Return the interval of a difference, turned round where the claim is that it lies below 0."""
    return (found.low, found.high) if sign > 0 else (-found.high, -found.low)


def said(found: Difference) -> str:
    """Return a difference with its interval, on one line."""
    text = f"{found.mean:+.3f}"
    text = text if np.isnan(found.low) else f"{text} [{found.low:+.3f}, {found.high:+.3f}]"
    return text.replace("-", "−").replace(" ", NBSP)


@dataclass(frozen=True)
class Ratio:
    """How many times one number is another, the mean over runs (of logarithms), with its interval of 95 %."""

    middle: float
    low: float
    high: float
    runs: int

    @property
    def same(self) -> bool:
        """Whether all of several runs have the same ratio, so that there is nothing to draw an interval from."""
        return self.runs > 1 and self.low == self.high

    def side(self, margin: float = 1.0, sign: int = 1) -> Side:
        """Return the interval of its logarithm above that of a margin, or below it."""
        if math.isnan(self.low):
            return NOWHERE
        low, high = math.log(self.low / margin), math.log(self.high / margin)
        return (low, high) if sign > 0 else (-high, -low)

    def __str__(self) -> str:
        text = short(self.middle)
        text = text if math.isnan(self.low) or self.same else f"{text} [{short(self.low)}, {short(self.high)}]"
        return text.replace(" ", NBSP)


def short(number: float) -> str:
    """Return a ratio in a few digits."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}" if number >= 2 else f"{number:.2f}"


def paired(one: Mapping[int, float], other: Mapping[int, float]) -> Ratio | None:
    """Return the ratio of two numbers over the runs that have both; None where none has."""
    seeds = sorted(one.keys() & other.keys())
    if not seeds:
        return None
    logs = np.log([one[seed] / other[seed] for seed in seeds])
    return _around(logs.mean(), logs.std(ddof=1) / len(logs) ** 0.5 if len(logs) > 1 else math.nan, len(logs) - 1)


def unpaired(one: Sequence[float], other: Sequence[float]) -> Ratio | None:
    """Return the ratio of two numbers whose runs have nothing to do with one another (Welch's interval)."""
    if not one or not other:
        return None
    ones, others = np.log(one), np.log(other)
    error, freedom = _welch(ones, others)
    return replace(_around(ones.mean() - others.mean(), error, freedom), runs=min(len(ones), len(others)))


def gap(one: Sequence[float], other: Sequence[float]) -> Side:
    """Return the interval of a difference of two numbers whose runs have nothing to do with one another (Welch's)."""
    error, freedom = _welch(np.array(one), np.array(other))
    middle, half = float(np.mean(one) - np.mean(other)), student.ppf(ENDS[1], freedom) * error
    return float(middle - half), float(middle + half)


def gap_text(one: Sequence[float], other: Sequence[float]) -> str:
    """Return such a difference with its interval, on one line."""
    low, high = gap(one, other)
    text = f"{np.mean(one) - np.mean(other):+.4f}" + ("" if math.isnan(low) else f" [{low:+.4f}, {high:+.4f}]")
    return text.replace("-", "−").replace(" ", NBSP)


def _welch(ones: Array, others: Array) -> tuple[float, float]:
    """Return the standard error of a difference of means and its degrees of freedom; nan with one run of either."""
    if min(len(ones), len(others)) < 2:
        return math.nan, 1.0
    parts = [float(each.var(ddof=1)) / len(each) for each in (ones, others)]
    weight = sum(part**2 / (len(each) - 1) for part, each in zip(parts, (ones, others), strict=True))
    return sum(parts) ** 0.5, sum(parts) ** 2 / weight if weight > 0 else 1.0


def _around(middle: float, error: float, freedom: float) -> Ratio:
    """Return the ratio of a mean logarithm and its standard error."""
    error = 0.0 if error < 1e-9 else error
    half = student.ppf(ENDS[1], max(freedom, 1)) * error
    ends = (float(np.exp(middle + sign * half)) for sign in (0, -1, 1))
    return Ratio(*ends, runs=round(freedom) + 1)


def mean_text(numbers: Sequence[float]) -> str:
    """Return a mean of runs with its interval; without one where there is one run, or all are the same."""
    mean = float(np.mean(numbers))
    if len(numbers) < 2 or max(numbers) - min(numbers) < 1e-9:
        return f"{mean:.4f}"
    half = student.ppf(ENDS[1], len(numbers) - 1) * np.std(numbers, ddof=1) / len(numbers) ** 0.5
    return f"{mean:.4f} [{max(mean - half, 0.0):.4f}, {mean + half:.4f}]".replace(" ", NBSP)
