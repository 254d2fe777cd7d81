"""Text of complete lines within a budget of tokens.

All lines of all sections have one order of importance; a text has the longest prefix of this order that fits, arranged
by section. So a small budget shows the first lines of every section.
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
    """Lines of one kind, one for each of ``rows``, the most important first; lines are made when needed.

    ``what`` is the noun by which omitted lines are counted, empty if they are not. ``weight`` is the number of lines in
    turn with other sections: for infinity all lines come first, for 0 last.
    """

    what: str
    title: str
    rows: Sequence[Any] | Array
    line: Callable[[Any], str] = str
    weight: float = 1.0
    cache: list[str] = field(default_factory=list, init=False, repr=False)

    def lines(self, count: int) -> list[str]:
        """Return the first lines."""
        self.cache.extend(map(self.line, self.rows[len(self.cache) : count]))
        return self.cache[:count]


def fit_text(sections: Sequence[Section], most: int, count: Count) -> str:
    """Return the longest text of at most ``most`` tokens, the most important lines first.

    If no line fits, the text is the line of counts, or empty. Complete texts are counted, so counts need not be
    additive.
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
    # Lengths are doubled, so that the cost depends on the text and not on the network.
    low, high = 0, 1
    while high <= len(order) and fits(high):
        low, high = high, 2 * high
    high = min(high, len(order) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return text(low)


def _join_sections(sections: Sequence[Section], shown: Sequence[int]) -> str:
    """Return the first lines of every section, and a last line with the counts of omitted ones."""
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
