"""Which columns of links are weights and times, by values where no name tells; those that are not used are said."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import some
from cube2net.records.column_kinds import decoded, holds_text
from cube2net.sources.tables.column_types import Rows, keys
from cube2net.sources.tables.id_columns import MOST_COLUMNS, sample, share_of
from cube2net.sources.tables.table_roles import SPELLINGS, Guess, plain
from cube2net.sources.tables.written_values import as_clock, as_dates, as_numbers, present

ROLES = tuple(SPELLINGS["links"])
SAMPLED = 1_000
YEARS = (1500, 2100)
ALIKE = 0.1
"""So great a share of each end of links alone stands on the other side, too."""
MANY = 20
"""So many whole numbers that only rise count the links, or are their ids."""
NUMBERED = ("id", "nr", "no", "key", "code")
WORD = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+")


def with_link_columns(guess: Guess, rows: Rows) -> Guess:
    """Return a guess with the one column of numbers as the weight and the one of dates as the time.

    Of several none is taken: that is remarked, as are all columns that are not used.
    """
    if rows.table.num_rows == 0:
        return guess
    columns, remarks = dict(guess.columns), list(guess.remarks)
    fitting = {"time": is_time, "weight": is_weight}
    for role, fits in fitting.items():
        if role in columns or role in guess.given:
            continue
        others = {spelling for other in ROLES if other != role for spelling in SPELLINGS["links"][other]}
        free = [name for name in guess.left if name not in columns.values() and plain(name) not in others]
        likely = [name for name in free if fits(rows, name)]
        if len(likely) == 1:
            columns[role] = likely[0]
        elif likely:
            which = f"columns={{'links.{role}': {likely[0]!r}}}"
            remarks.append(f"{rows.name}: {some(likely)} could each be the {role}, so none is (say which: {which})")
    left = tuple(name for name in guess.left if name not in columns.values())
    if left:
        use = next((role for role in fitting if fitting[role](rows, left[0])), "kind")
        say = f"columns={{'links.{use}': {left[0]!r}}}"
        remarks.append(f"columns of links not used: {some(left, 20)} (each may be weight, kind or time: {say})")
    order = [role for role in ROLES if role in columns]
    return replace(guess, columns={role: columns[role] for role in order}, left=left, remarks=tuple(remarks))


def is_weight(rows: Rows, name: str) -> bool:
    """Return whether a column holds numbers that weigh: neither years nor ids, and no count of the rows."""
    column = _sample(rows, name)
    if holds_text(column.type):
        read = as_numbers(present(pc.cast(column, pa.string())), rows.written)
        if read is None:
            return False
        column = read.column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return False
    if as_clock(name, column) is not None:
        return False
    values = pc.drop_null(pc.cast(column, pa.float64(), safe=False)).to_numpy()
    if len(values) == 0 or not np.isfinite(values).all() or values.min() < 0:
        return False
    years = (values >= YEARS[0]) & (values <= YEARS[1]) & (values == np.floor(values))
    return not (years.all() or _numbers_rows(name, values))


def are_years(column: pa.ChunkedArray) -> bool:
    """Return whether all values are whole numbers that years are; rows that are counted have such numbers too."""
    if not pa.types.is_integer(column.type) or column.null_count == len(column):
        return False
    ends = pc.min_max(column)
    return bool(ends["min"].as_py() >= YEARS[0] and ends["max"].as_py() <= YEARS[1])


def _numbers_rows(name: str, values: Array) -> bool:
    """Return whether whole numbers are ids by the name of their column, or rise from row to row."""
    if (values != np.floor(values)).any():
        return False
    if is_numbering(name):
        return True
    steps = np.diff(values)
    counts = len(values) > 2 and values[0] in (0, 1) and bool((steps == 1).all())
    return counts or (len(values) >= MANY and bool((steps > 0).all()))


def is_numbering(name: str) -> bool:
    """Return whether a column is called one of numbers that stand for something, as ids do.

    >>> is_numbering("Kd-Nr"), is_numbering("Kundennummer"), is_numbering("Menge")
    (True, True, False)
    """
    words = [plain(word) for word in WORD.findall(name)]
    return bool(words) and (words[-1] in NUMBERED or words[-1].endswith(("nr", "nummer", "number")))


def is_time(rows: Rows, name: str) -> bool:
    """Return whether a column holds dates, as the table writes them, or seconds since 1970."""
    column = _sample(rows, name)
    if pa.types.is_temporal(column.type):
        return bool(pa.types.is_date(column.type) or pa.types.is_timestamp(column.type))
    if holds_text(column.type):
        texts = present(pc.cast(column, pa.string()))
        if as_dates(texts, rows.written) is not None:
            return True
        read = as_numbers(texts, rows.written) if name in rows.loose else None
        if read is None:
            return False
        column = read.column
    return pa.types.is_integer(column.type) and as_clock(name, pc.cast(column, pa.int64(), safe=False)) is not None


def _sample(rows: Rows, name: str) -> pa.ChunkedArray:
    return decoded(rows.table[name].slice(0, SAMPLED))


# Links alone


def two_ends(rows: Rows) -> tuple[str, str] | None:
    """Return the two columns whose values stand on both sides: the first two, else those that share most."""
    free = [name for name in rows.table.column_names[:MOST_COLUMNS] if _may_be_an_end(rows, name)]
    if len(free) < 2:
        return None
    samples = {name: sample(rows, name) for name in free}
    every = {name: keys(rows, name) for name in free}

    def shared(pair: tuple[str, str]) -> float:
        sides = ((samples[one], every[other]) for one, other in (pair, pair[::-1]))
        return min(0.0 if values is None else share_of(values, ids) for values, ids in sides)

    first = tuple(rows.table.column_names[:2])
    pairs = sorted(combinations(free, 2), key=lambda pair: pair != first)
    best = pairs[0] if pairs[0] == first and shared(pairs[0]) >= ALIKE else max(pairs, key=shared)
    return best if shared(best) >= ALIKE else None


def _may_be_an_end(rows: Rows, name: str) -> bool:
    column = _sample(rows, name)
    if not (holds_text(column.type) or pa.types.is_integer(column.type)) or is_time(rows, name):
        return False
    read = as_numbers(present(pc.cast(column, pa.string())), rows.written)
    return read is None or bool(pa.types.is_integer(read.column.type))
