"""How the page says times, bytes, tables, and that the machine was busy."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

# What is put into the words of a section; None where it was not measured.
Values = dict[str, str] | None
UNBROKEN: Any = {"break_long_words": False, "break_on_hyphens": False}
# Other programs that took so many cores, on average, are worth a remark.
BUSY = 0.2


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(0.00042), duration(0.0123), duration(3.21), duration(75)
    ('0.42 ms', '12 ms', '3.2 s', '75 s')
    """
    if seconds >= 9.95:
        return f"{seconds:,.0f} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    milliseconds = 1e3 * seconds
    return f"{milliseconds:.0f} ms" if milliseconds >= 9.95 else f"{milliseconds:.2g} ms"


def bytes_said(count: float) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> bytes_said(4_200_000_000), bytes_said(53_000_000), bytes_said(120_000)
    ('4.2 GB', '53 MB', '0.1 MB')
    """
    if count >= 0.9995e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 9.95e6 else f"{count / 1e6:.1f} MB"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1) -> str:
    """Return a table, its first columns (``texts``) to the left and the others to the right."""
    lines = [header, ["---" if place < texts else "--:" for place in range(len(header))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def wrapped(text: str, width: int = 120) -> str:
    """Return a page with its paragraphs wrapped; tables, headings, lists and pictures stay."""
    blocks = re.split(r"\n{2,}", text.strip())
    return "\n\n".join(
        block if block.startswith(("|", "#", "![", "- ")) else textwrap.fill(" ".join(block.split()), width, **UNBROKEN)
        for block in blocks
    )


def remark(found: Sequence[dict[str, Any]]) -> str:
    """Return a remark where other programs were at work while something was measured, or nothing."""
    busy = [each["conditions"] for each in found if each["conditions"]["others"] >= BUSY]
    if not busy:
        return ""
    most, load = (max(each[name] for each in busy) for name in ("others", "load"))
    return (
        f"*The machine was busy: during {len(busy)} of these {len(found)} measurements other programs took up to "
        f"{most:.1f} cores (load average before, up to {load:.1f}). Times are too long by this, memory is not.*\n\n"
    )
