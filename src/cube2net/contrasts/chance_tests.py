"""How likely shares of two sides differ by chance alone, and how far apart they may be."""

from __future__ import annotations

import math

import numpy as np

from cube2net.array_types import Array
from cube2net.confidence import LEVEL, share_interval


def log_factorials(most: int) -> Array:
    """Return log n! for every n up to a number."""
    found = np.zeros(most + 1)
    np.cumsum(np.log(np.arange(1, most + 1)), out=found[1:])
    return found


def exact_chances(ones: Array, twos: Array, first: Array, second: Array) -> Array:
    """Return the chance of each table by Fisher's exact test, two-sided: ones of first against twos of second.

    >>> exact_chances(*(np.array([n]) for n in (3, 0, 3, 3))).round(3).tolist()
    [0.1]
    """
    from cube2net.kernels.exact_tests import two_sided

    shape = np.shape(ones)
    ones, twos, first, second = (
        np.ascontiguousarray(np.broadcast_to(part, shape), np.int64) for part in (ones, twos, first, second)
    )
    chances = np.empty(shape)
    two_sided(ones, twos, first, second, log_factorials(int((first + second).max(initial=0))), chances)
    return chances


def least_chances(first: int, second: int) -> Array:
    """Return, for every number of objects that a cell may hold of two sides, the least chance that it can have.

    That is where all of them are on one side, as far as there are so many. It follows from the numbers alone, so a cell
    that can never be sure need not be tested, and does not make others less sure (Tarone 1990).

    >>> least_chances(3, 3).round(3).tolist()
    [1.0, 1.0, 0.4, 0.1, 0.4, 1.0, 1.0]
    """
    held = np.arange(first + second + 1)
    low, high = np.maximum(0, held - second), np.minimum(held, first)
    return np.minimum(
        exact_chances(low, held - low, np.array(first), np.array(second)),
        exact_chances(high, held - high, np.array(first), np.array(second)),
    )


def may_be_sure(least: Array, level: float = LEVEL) -> Array:
    """Return which tests can be sure at all beside the others of them that can, by the least chance of each.

    Of K tests one is sure at ``level`` / K: the fewest K are taken of which no more than K tests come as low as that.

    >>> may_be_sure(np.array([0.001, 0.02, 0.03, 0.04, 0.2])).tolist()
    [True, True, False, False, False]
    """
    ascending = np.sort(least)
    low, high = 1, max(1, len(least))
    while low < high:
        middle = (low + high) // 2
        if int(np.searchsorted(ascending, level / middle, side="right")) <= middle:
            high = middle
        else:
            low = middle + 1
    return np.asarray(least <= level / low)


def difference_interval(ones: int, first: int, twos: int, second: int) -> tuple[float, float]:
    """Return the 95 % interval of the share of one side less that of the other, by Newcombe's hybrid of two scores.

    >>> low, high = difference_interval(56, 70, 48, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    one, two = ones / first, twos / second
    (low, high), (other_low, other_high) = share_interval(ones, first), share_interval(twos, second)
    apart = one - two
    return apart - math.hypot(one - low, other_high - two), apart + math.hypot(high - one, two - other_low)
