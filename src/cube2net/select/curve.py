"""A learning curve in one line of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

BLOCKS = "▁▂▃▄▅▆▇█"


def drawn(values: Sequence[float], width: int = 24) -> str:
    """Return at most ``width`` blocks, from the lowest value to the highest; a block is the mean of its share.

    >>> drawn([0.0, 0.1, 0.3, 0.7])
    '▁▂▄█'
    >>> drawn([1.0, 1.0])
    '██'
    """
    count = min(width, len(values))
    ends = [len(values) * i // count for i in range(count + 1)] if count else []
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]
    low, high = min(means, default=0.0), max(means, default=0.0)
    if high == low:
        return BLOCKS[-1] * count
    return "".join(BLOCKS[round((value - low) / (high - low) * (len(BLOCKS) - 1))] for value in means)
