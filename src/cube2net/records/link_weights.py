"""What a link may weigh: nothing, or a number that sums, products and quotients of a few of its like stay numbers."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array

LIGHTEST = 1e-30
"""A weight is 0 or at least this: with less, quotients of two weights are no numbers in single precision."""
HEAVIEST = float(np.finfo(np.float32).max)
"""The highest weight that a file can hold; sums above it are this."""


def as_weights(sums: Array) -> Array:
    """Return sums of weights in single precision, in which a file holds them, none above the highest there is.

    >>> as_weights(np.array([0.5, 1e39])).tolist()
    [0.5, 3.4028234663852886e+38]
    """
    return np.minimum(sums, HEAVIEST).astype(np.float32)


def left_over(sums: Array) -> Array:
    """Return what sums have that their weights lack for being rounded; a sum above the highest weight has nothing.

    >>> left_over(np.array([16777217.0, 1e39])).tolist()
    [1.0, 0.0]
    """
    return np.minimum(sums, HEAVIEST) - as_weights(sums)


def count_unusable(weights: Array) -> int:
    """Return how many weights are negative or no finite numbers.

    >>> count_unusable(np.array([0.0, 1.0, -1.0, np.nan, np.inf]))
    3
    """
    return int((~((weights >= 0) & (weights <= HEAVIEST))).sum())
