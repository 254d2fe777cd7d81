"""Confidence intervals, and Holm's correction for several tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

LEVEL = 0.05


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by the step-down method of Holm (1979); NaN is not counted and stays.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    corrected = list(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        corrected[place] = highest
    return corrected


def holm_levels(p_values: Sequence[float]) -> list[float]:
    """Return the level at which Holm's method decides about each p-value; it rejects those below their level.

    The lowest of n has 0.05 / n, the next 0.05 / (n − 1), and so on, up to the first p-value that is not below its
    level; all higher ones have the same level as this one.

    >>> [round(each, 4) for each in holm_levels([0.001, 0.04, 0.03])]
    [0.0167, 0.025, 0.025]
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    levels = [math.nan] * len(p_values)
    last, own, stopped = -1.0, LEVEL, False
    for rank, (p, place) in enumerate(order):
        if not stopped and p > last:
            last, own = p, LEVEL / (len(order) - rank)
            stopped = p >= own
        levels[place] = own
    return levels


ENDS = (LEVEL / 2, 1 - LEVEL / 2)
"""The quantiles of a 95 % interval."""
REACH = NormalDist().inv_cdf(ENDS[1])
"""The half-width of a 95 % interval in standard deviations, about 1.96."""


def share_interval(found: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a share, given ``found`` of ``count``.

    >>> [round(end, 4) for end in share_interval(10, 20)], share_interval(0, 5)[0], share_interval(5, 5)[1]
    ([0.2993, 0.7007], 0.0, 1.0)
    """
    share, reach = found / count, REACH * REACH / count
    middle = (share + reach / 2) / (1 + reach)
    half = math.sqrt(reach * (share * (1 - share) + reach / 4)) / (1 + reach)
    return (0.0 if found == 0 else max(0.0, middle - half)), (1.0 if found == count else min(1.0, middle + half))
