"""Escaping for CSV, XML, HTML, Markdown and JSON, and counts in words."""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

BEGIN = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
GUARD = "'"
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
_MARKS = re.compile(r"[\\`*~\[<]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_FIRST = re.compile(r"^(?:([#+=:>-])|(\d{1,9})([.)]))")


def is_formula(text: str) -> bool:
    r"""Return whether a spreadsheet may take a cell for a formula: it begins with = + - or @, a tab or a line end.

    Numbers are not formulas.

    >>> [is_formula(text) for text in ("=1+1", " @SUM(A1)", "-cmd", "\tx", "-1.5", "a=b", "")]
    [True, True, True, True, False, False, False]
    """
    return text[:1] in ("\t", "\r", "\n") or (
        text.lstrip()[:1] in BEGIN and text.strip() != "" and not _NUMBER.fullmatch(text)
    )


def guard_formula(cell: object) -> object:
    """Return a cell with an apostrophe before it if a spreadsheet may take it for a formula.

    >>> guard_formula("=1+1"), guard_formula("Ghent"), guard_formula(-2)
    ("'=1+1", 'Ghent', -2)
    """
    return GUARD + cell if isinstance(cell, str) and is_formula(cell) else cell


def strip_guard(text: str) -> str:
    """Return the text of a guarded cell without its apostrophe; other texts unchanged.

    >>> strip_guard("'=1+1"), strip_guard("'s Gravenhage")
    ('=1+1', "'s Gravenhage")
    """
    return text[len(GUARD) :] if text.startswith(GUARD) and is_formula(text[len(GUARD) :]) else text


def write_rows(file: TextIO, rows: Iterable[Sequence[object]], *, spreadsheet_safe: bool = False) -> None:
    r"""Write rows as CSV; with ``spreadsheet_safe``, cells that look like formulas get an apostrophe.

    >>> import sys
    >>> write_rows(sys.stdout, [("name", "n"), ("=1+1", 2)], spreadsheet_safe=True)
    name,n
    '=1+1,2
    """
    writer = csv.writer(_Lines(file), lineterminator="\r\n")
    writer.writerows((map(guard_formula, row) for row in rows) if spreadsheet_safe else rows)


class _Lines:
    """Ends lines with a line feed; the writer is told ``\\r\\n``, so that it quotes cells with a carriage return."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, line: str) -> int:
        """Write one line."""
        return self.file.write(line[:-2] + "\n")


def count_formulas(path: Path) -> int:
    """Return how many cells of a CSV file a spreadsheet may take for formulas."""
    with limit_fields(2**31 - 1), path.open(encoding="utf-8", newline="") as file:
        return sum(is_formula(cell) for row in csv.reader(file) for cell in row)


@contextmanager
def limit_fields(length: int) -> Iterator[None]:
    """Set the most characters that Python's reader of CSV accepts in a field, and restore the limit at the end."""
    before = csv.field_size_limit(length)
    try:
        yield
    finally:
        csv.field_size_limit(before)


class _Replacements(dict[int, str | int]):
    """For ``str.translate``: replaces characters that XML 1.0 or HTML cannot hold by U+FFFD."""

    def __missing__(self, code: int) -> str | int:
        lost = unicodedata.category(chr(code)) in ("Cc", "Cs") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
        self[code] = 0xFFFD if lost else code
        return self[code]


_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"}
_REPLACEMENTS = _Replacements({**_PICTURES, 0x7F: "\u2421", **{ord(sign): ord(sign) for sign in "\t\n\r"}})


def replace_controls(text: str) -> str:
    r"""Return a text that XML and HTML can hold: control characters become their symbols; line ends and tabs stay.

    >>> print(replace_controls("a\x01b"), ascii(replace_controls("c\ud800\x9b\ufffed")))
    a␁b 'c\ufffd\ufffd\ufffdd'
    """
    return text.translate(_REPLACEMENTS)


def shorten(text: str, most: int) -> str:
    """Return a text on one line, cut to ``most`` letters.

    >>> shorten("a  long\\nname indeed", 12)
    'a long name…'
    """
    line = join_lines(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def join_lines(text: str) -> str:
    """Return a text on one line, with symbols for control characters and without invisible characters.

    >>> join_lines("a\\x1b b\\u202e\\nc")
    'a␛ b c'
    """
    line = " ".join(replace_controls(text).split())
    return line if line.isprintable() else "".join(sign for sign in line if unicodedata.category(sign) != "Cf")


def escape_markdown(text: str, most: int = 120) -> str:
    r"""Return a text on one line with backslashes before the special characters of Markdown, cut to ``most`` letters.

    Control characters become their symbols, and invisible characters are left out.

    >>> print(*map(escape_markdown, ["a\n# b\x1b *c* [d](e) f_g", "1. x", "- y"]), escape_markdown("abcd", 3))
    a # b␛ \*c\* \[d](e) f_g 1\. x \- y abc…
    """
    line = " ".join(replace_controls(text).split())
    if not line.isprintable():
        line = "".join(sign if sign.isprintable() else _lost(sign) for sign in line)
    if len(line) > most:
        line = line[:most].rstrip() + "…"
    return _FIRST.sub(r"\2\\\1\3", _MARKS.sub(r"\\\g<0>", line))


def _lost(sign: str) -> str:
    """Return the replacement of an unprintable character: nothing for a format character, else U+FFFD."""
    return "" if unicodedata.category(sign) == "Cf" else "\ufffd"


def replace_infinite(value: object) -> object:
    """Return a value with None in place of infinite numbers and NaN, which JSON does not have.

    >>> replace_infinite({"bound": float("inf"), "gains": [0.5, float("nan")]})
    {'bound': None, 'gains': [0.5, None]}
    """
    if isinstance(value, dict):
        return {key: replace_infinite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [replace_infinite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def format_count(count: int, what: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1.

    >>> format_count(1, "cell"), format_count(2300, "object")
    ('1 cell', '2,300 objects')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"
