"""Text of whole lines within a budget of tokens.

Every line of every section has its place in one order of importance, and a text is the longest beginning of that order
that fits; its lines then stand by section. So a small budget shows the first of everything, and a large one all of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from cube2net.errors import ParameterError, quoted

Count = Callable[[str], int]
BYTES = (5, 2)
"""So many bytes of UTF-8 are taken for so many tokens where nobody counts better."""


def estimated_tokens(text: str) -> int:
    """Return an estimate of how many tokens a text has: two for every five bytes of UTF-8, rounded up.

    >>> estimated_tokens("Ten bytes!"), estimated_tokens("")
    (4, 0)
    """
    return -(-BYTES[1] * len(text.encode("utf-8", "replace")) // BYTES[0])


@dataclass(frozen=True, eq=False)
class Section:
    """Lines of one kind, the most important first, each made when it is first wanted.

    ``what`` is what a line is about, as it is counted where it is left out, nothing where it is not. ``weight`` is how
    many lines come in turn with those of other sections: all of them before for infinity, and after for 0.
    """

    what: str
    title: str
    count: int
    line: Callable[[int], str]
    weight: float


def longest_text(sections: Sequence[Section], most: int, count: Count) -> str:
    """Return the text of as many lines as have no more than so many tokens, the most important first.

    A budget that has no room for a line gives the line of counts alone, and one below that the empty text. Whatever is
    returned, but the empty text, was counted as it is: a counter need not add up.
    """
    page = _Page(sections)

    def fits(lines: int) -> bool:
        return _counted(count, page.text(lines)) <= most

    if not fits(0):
        return ""
    # What is tried grows with what fits, not with the network.
    low, high = 0, 1
    while high <= len(page) and fits(high):
        low, high = high, 2 * high
    high = min(high, len(page) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return page.text(low)


def _counted(count: Count, text: str) -> float:
    said: object = count(text)
    if isinstance(said, bool) or not isinstance(said, Real) or math.isnan(said):
        raise ParameterError(f"the counter gave {quoted(said)} for a text, expected how many tokens it has")
    return float(said)


class _Page:
    """The lines of all sections in one order of importance, and the text of the first of them."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = [section for section in sections if section.count]
        self.made: list[list[str]] = [[] for _ in self.sections]
        with np.errstate(divide="ignore", invalid="ignore"):
            turns = np.concatenate([np.arange(1, each.count + 1) / np.float64(each.weight) for each in self.sections])
        of = np.repeat(np.arange(len(self.sections)), [each.count for each in self.sections])
        self.of = of[np.argsort(turns, kind="stable")]

    def __len__(self) -> int:
        return len(self.of)

    def text(self, lines: int) -> str:
        """Return the text of the first lines by importance; what is left out is counted in its last line."""
        blocks, left = [], []
        for number, shown in enumerate(np.bincount(self.of[:lines], minlength=len(self.sections)).tolist()):
            section, made = self.sections[number], self.made[number]
            made.extend(map(section.line, range(len(made), shown)))
            if shown:
                blocks.append("\n".join([section.title] * bool(section.title) + made[:shown]))
            if section.what:
                left.append((section.what, section.count - shown))
        more = [f"{count:,} more {what}{'s' * (count != 1)}" for what, count in _added(left).items() if count]
        return "\n\n".join([*blocks, *([f"and {', '.join(more)}"] if more else [])])


def _added(counts: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return how many there are of each, objects first.

    >>> _added([("cell", 2), ("object", 3), ("object", 1)])
    {'object': 4, 'cell': 2}
    """
    added: Counter[str] = Counter()
    for what, count in sorted(counts, key=lambda each: each[0] != "object"):
        added[what] += count
    return dict(added)
