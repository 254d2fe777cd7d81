"""How many of each kind there may be.

Objects, items, cells and the labels of a dimension have numbers of 32 bits: there are at most 2,147,483,647 of each.
Mentions, links and memberships are counted in 64 bits: there are as many as the disk holds. A combination of labels is
one number of 64 bits, so the numbers of labels of all dimensions, multiplied, stay below 2⁶².
"""

from __future__ import annotations

from cube2net.errors import SourceError

MOST = 2**31 - 1
"""The highest number of objects, items, cells, labels of a dimension, and memberships of one network."""
CELLS = "cells, small ones too"
MOST_KEYS = 2**62
"""The numbers of labels of all dimensions, multiplied, are below this."""


def check_count(what: str, count: int) -> None:
    """Raise where there are more of something than its numbers can tell apart.

    >>> check_count("objects", 3_000_000_000)
    Traceback (most recent call last):
    cube2net.errors.SourceError: there are 3,000,000,000 objects, and a cube holds up to 2,147,483,647: part them
    """
    if count > MOST:
        raise SourceError(f"there are {count:,} {what}, and a cube holds up to {MOST:,}: part them")
