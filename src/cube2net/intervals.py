"""Intervals that hold what they are of in 95 of 100 cases."""

from __future__ import annotations

import math
from statistics import NormalDist

from cube2net.multiple_tests import LEVEL

ENDS = (LEVEL / 2, 1 - LEVEL / 2)
"""Between these shares of what was drawn 95 % of it lie."""
REACH = NormalDist().inv_cdf(ENDS[1])
"""95 % of a normal variable lie within so many standard deviations, about 1.96."""


def share_interval(found: int, count: int) -> tuple[float, float]:
    """Return the ends of Wilson's interval for a share of which so many of some were found.

    >>> [round(end, 4) for end in share_interval(10, 20)], share_interval(0, 5)[0], share_interval(5, 5)[1]
    ([0.2993, 0.7007], 0.0, 1.0)
    """
    share, reach = found / count, REACH * REACH / count
    middle = (share + reach / 2) / (1 + reach)
    half = math.sqrt(reach * (share * (1 - share) + reach / 4)) / (1 + reach)
    return (0.0 if found == 0 else max(0.0, middle - half)), (1.0 if found == count else min(1.0, middle + half))
