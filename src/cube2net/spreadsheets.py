"""Rows as CSV that every reader takes apart again, and the guard against cells that spreadsheets run as formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

BEGIN = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
GUARD = "'"
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


def is_formula(text: str) -> bool:
    r"""Return whether a spreadsheet may run a cell: it begins with = + - or @, or with a tab or line end before them.

    Numbers are no formulas.

    >>> [is_formula(text) for text in ("=1+1", " @SUM(A1)", "-cmd", "\tx", "-1.5", "a=b", "")]
    [True, True, True, True, False, False, False]
    """
    return text[:1] in ("\t", "\r", "\n") or (
        text.lstrip()[:1] in BEGIN and text.strip() != "" and not _NUMBER.fullmatch(text)
    )


def guarded(cell: object) -> object:
    """Return a cell as a spreadsheet shows it and does not run it: with an apostrophe before a formula.

    >>> guarded("=1+1"), guarded("Ghent"), guarded(-2)
    ("'=1+1", 'Ghent', -2)
    """
    return GUARD + cell if isinstance(cell, str) and is_formula(cell) else cell


def unguarded(text: str) -> str:
    """Return the text that a guarded cell stands for; any other as it is.

    >>> unguarded("'=1+1"), unguarded("'s Gravenhage")
    ('=1+1', "'s Gravenhage")
    """
    return text[len(GUARD) :] if text.startswith(GUARD) and is_formula(text[len(GUARD) :]) else text


def write_rows(file: TextIO, rows: Iterable[Sequence[object]], *, spreadsheet_safe: bool = False) -> None:
    r"""Write rows as CSV, a line each; where asked, cells that a spreadsheet would run are guarded.

    >>> import sys
    >>> write_rows(sys.stdout, [("name", "n"), ("=1+1", 2)], spreadsheet_safe=True)
    name,n
    '=1+1,2
    """
    writer = csv.writer(_Lines(file), lineterminator="\r\n")
    writer.writerows((map(guarded, row) for row in rows) if spreadsheet_safe else rows)


class _Lines:
    """Ends every line with a line feed alone; the writer is told otherwise, so that it quotes cells with a return."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, line: str) -> int:
        """Write one line."""
        return self.file.write(line[:-2] + "\n")


def formulas_in(path: Path) -> int:
    """Return how many cells of a CSV file a spreadsheet may run."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return sum(is_formula(cell) for row in csv.reader(file) for cell in row)
    finally:
        csv.field_size_limit(limit)
