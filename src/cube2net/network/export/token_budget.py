"""Text of whole lines within a budget of tokens.

Every line of every section has its place in one order of importance, and a text is the longest beginning of that order
that fits; its lines then stand by section. So a small budget shows the first of everything, and a large one all of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError, quote

Count = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """Return an estimate of how many tokens a text has: two for every five bytes of UTF-8, rounded up.

    >>> estimate_tokens("Ten bytes!"), estimate_tokens("")
    (4, 0)
    """
    return -(-2 * len(text.encode("utf-8", "replace")) // 5)


@dataclass(frozen=True, eq=False)
class Section:
    """Lines of one kind, one for each of ``rows``, the most important first, each made when it is first wanted.

    ``what`` is what a line is about, as it is counted where it is left out, nothing where it is not. ``weight`` is how
    many lines come in turn with those of other sections: all of them before for infinity, and after for 0.
    """

    what: str
    title: str
    rows: Sequence[Any] | Array
    line: Callable[[Any], str] = str
    weight: float = 1.0
    made: list[str] = field(default_factory=list, init=False, repr=False)

    def lines(self, count: int) -> list[str]:
        """Return the first lines."""
        self.made.extend(map(self.line, self.rows[len(self.made) : count]))
        return self.made[:count]


def fit_text(sections: Sequence[Section], most: int, count: Count) -> str:
    """Return the text of as many lines as have no more than so many tokens, the most important first.

    A budget that has no room for a line gives the line of counts alone, and one below that the empty text. Whatever is
    returned, but the empty text, was counted as it is: a counter need not add up.
    """
    sections = [section for section in sections if len(section.rows)]
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = np.concatenate([np.arange(1, len(each.rows) + 1) / np.float64(each.weight) for each in sections])
    order = np.repeat(np.arange(len(sections)), [len(each.rows) for each in sections])[np.argsort(turns, kind="stable")]

    def text(lines: int) -> str:
        return _join_sections(sections, np.bincount(order[:lines], minlength=len(sections)).tolist())

    def fits(lines: int) -> bool:
        tokens: object = count(text(lines))
        if isinstance(tokens, bool) or not isinstance(tokens, Real) or math.isnan(tokens):
            raise ParameterError(f"the counter gave {quote(tokens)} for a text, expected how many tokens it has")
        return float(tokens) <= most

    if not fits(0):
        return ""
    # What is tried grows with what fits, not with the network.
    low, high = 0, 1
    while high <= len(order) and fits(high):
        low, high = high, 2 * high
    high = min(high, len(order) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return text(low)


def _join_sections(sections: Sequence[Section], shown: Sequence[int]) -> str:
    """Return the first lines of every section; a last line counts what is left out, objects first."""
    blocks = [
        "\n".join([section.title] * bool(section.title) + section.lines(count))
        for section, count in zip(sections, shown, strict=True)
        if count
    ]
    left: Counter[str] = Counter()
    for section, count in sorted(zip(sections, shown, strict=True), key=lambda each: each[0].what != "object"):
        left[section.what] += len(section.rows) - count
    more = [f"{count:,} more {what}{'s' * (count != 1)}" for what, count in left.items() if what and count]
    return "\n\n".join([*blocks, *([f"and {', '.join(more)}"] if more else [])])
