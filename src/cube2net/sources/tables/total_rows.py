"""Rows at the end of a table that are no rows of it but sum them up: ``Summe;;;68.386.072,90``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.records.column_kinds import decoded, holds_text
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows, keys
from cube2net.sources.tables.locale_values import as_numbers, likely_written, present

REASON = "total rows"
WORDS = (
    *("summe", "gesamt", "gesamtsumme", "endsumme", "zwischensumme", "insgesamt", "ergebnis", "gesamtergebnis"),
    *("total", "totals", "subtotal", "sum", "grandtotal", "totale", "totaal", "suma", "somme", "totaux", "totalt"),
    *("razem", "celkem"),
)
"""What a total is called, in some languages."""
BESIDE = ("grand", "general", "général", "générale", "generale", "der", "die", "von", "of", "all", "alle", "aller")
"""What may stand beside such a word, as numbers and signs may."""
MOST_ROWS = 3
"""So many rows at the end may be totals."""
FEW_FILLED = 0.5
"""No more of the columns have a value in a row that is mostly empty."""
LEAST_ADDED, SURELY_ADDED = 2, 5
"""So many numbers add up to one below them; so many do not by chance."""
EXACTLY, ROUNDED = 1e-9, 1e-3
"""How far a sum may be off, as a share of it: by what numbers in a computer are, and by rounding of what was added."""
DIGITS = 6


def without_totals(rows: Rows, dropped: Dropped) -> Rows:
    """Return a table without the last rows that sum up the others, which are counted and said.

    Such a row is called a total and is mostly empty, or holds the sum of a column and is either. A row that is none
    of this is never left out.
    """
    kept = _filled_rows(rows)
    totals: list[int] = []
    while len(totals) < MOST_ROWS and len(kept) > LEAST_ADDED and _is_total(rows, kept):
        totals.append(int(kept[-1]))
        kept = kept[:-1]
    if not totals:
        return rows
    dropped.drop_rows(REASON, rows.places, totals[::-1], lambda row: f"{_shown(rows, row)} sums up the rows above")
    left = np.setdiff1d(np.arange(rows.table.num_rows), totals)
    places = rows.places
    return replace(
        rows, table=rows.table.take(pa.array(left)), places=lambda some: places([int(left[row]) for row in some])
    )


def _filled_rows(rows: Rows) -> Array:
    """Return the rows that hold anything."""
    filled = np.zeros(rows.table.num_rows, dtype=bool)
    for column in rows.table.columns:
        filled |= np.asarray(pc.is_valid(column))
    return np.flatnonzero(filled)


def _is_total(rows: Rows, kept: Array) -> bool:
    """Return whether the last of some rows sums up those before it."""
    last = int(kept[-1])
    values = {name: text for name in rows.table.column_names if (text := _text(rows, name, last))}
    if not values:
        return False
    used = [name for name in rows.table.column_names if rows.table[name].null_count < rows.table.num_rows]
    empty = len(values) <= FEW_FILLED * len(used)
    first = next(iter(values))
    called = _begins_with_total(values[first]) and _is_once(rows, first, last)
    if not (empty or called):
        return False
    sure = called and is_called_total(values[first])
    if sure and empty:
        return True
    added = max(_added(rows, name, kept) for name in values)
    return added >= (LEAST_ADDED if sure or (called and empty) else SURELY_ADDED)


def is_called_total(text: str) -> bool:
    """Return whether a text says that it stands before a total, and nothing more than a number or a date.

    >>> is_called_total("Summe:"), is_called_total("Gesamt 2024"), is_called_total("Total Bikes Ltd")
    (True, True, False)
    """
    words = _words(text)
    return bool(words) and any(word in WORDS for word in words) and set(words) <= {*WORDS, *BESIDE}


def _begins_with_total(text: str) -> bool:
    return any(word in WORDS for word in _words(text)[:2])


def _words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", text)]


def _is_once(rows: Rows, name: str, row: int) -> bool:
    """Return whether the value of a row comes in no other one: what comes again is a label of rows."""
    column = keys(rows, name) if holds_text(decoded(rows.table[name]).type) else None
    return column is not None and (pc.sum(pc.equal(column, column[row])).as_py() or 0) == 1


def _text(rows: Rows, name: str, row: int) -> str:
    value = decoded(rows.table[name].slice(row, 1))[0].as_py()
    return "" if value is None else str(value).strip()


def _shown(rows: Rows, row: int) -> str:
    return repr("; ".join(text for name in rows.table.column_names if (text := _text(rows, name, row)))[:60])


def _added(rows: Rows, name: str, kept: Sequence[int] | Array) -> int:
    """Return how many numbers of a column, none of them nought, add up to that of the last row; 0 where they do not."""
    column = decoded(rows.table[name]).take(pa.array(kept))
    if holds_text(column.type):
        texts = pc.cast(column, pa.string())
        read = as_numbers(present(texts), rows.written) if likely_written(texts, rows.written) == "numbers" else None
        if read is None:
            return 0
        column = read.column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return 0
    numbers = np.asarray(pc.fill_null(pc.cast(column, pa.float64(), safe=False), np.nan))
    total, others = float(numbers[-1]), numbers[:-1][np.isfinite(numbers[:-1])]
    others = others[others != 0]
    if not np.isfinite(total) or len(others) < LEAST_ADDED or total == 0:
        return 0
    off, whole = abs(float(others.sum()) - total), float(np.abs(others).sum())
    rounding = 0.5 * _unit(others) * len(others)
    return len(others) if off <= max(EXACTLY * whole, min(rounding, ROUNDED * abs(total))) else 0


def _unit(numbers: Array) -> float:
    """Return the least step in which numbers are written: 1, 0.1, 0.01, …"""
    for digits in range(DIGITS):
        if np.allclose(numbers, np.round(numbers, digits), rtol=1e-12, atol=1e-9):
            return float(10.0**-digits)
    return float(10.0**-DIGITS)
