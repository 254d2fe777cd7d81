"""Reshape wide tables: numbered columns of names, texts that are written lists, matrices of links."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import quote_few
from cube2net.io.tables.column_types import Rows, read_ids
from cube2net.io.tables.key_columns import is_unique
from cube2net.io.tables.locale_values import clean_texts, parse_numbers
from cube2net.io.tables.multi_values import are_full_names, is_people_name
from cube2net.model.corpus import decode, holds_text

NUMBERED = re.compile(r"(?P<base>.*?[^\W\d])[ _.(#-]*(?P<number>[0-9]{1,3})\)?")
SEPARATORS = (";", "|", "\n")
WRITTEN_LIST = r"^\s*\[.*\]\s*$"
ENTRY = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s,'\"][^,]*)")
MAX_SAMPLED_ROWS = 1_000
MIN_ENDS = 2
MIN_MATRIX_COLUMNS, MIN_MATRIX_SHARE = 3, 0.9
"""Columns of a matrix, and the share of them that are named as rows are."""


def parse_lists(rows: Rows) -> Rows:
    """Return a table whose columns of written lists, such as ``['Ada', 'Bo']``, are lists of texts."""
    table = rows.table
    for name in table.column_names:
        column = table[name]
        if not pa.types.is_string(column.type) or (lists := _parse_column(column)) is None:
            continue
        table = table.set_column(table.column_names.index(name), name, lists)
    return rows if table is rows.table else replace(rows, table=table)


def _parse_column(column: pa.ChunkedArray) -> pa.Array | None:
    for texts in (column.slice(0, MAX_SAMPLED_ROWS), column):
        if pc.all(pc.match_substring_regex(texts, WRITTEN_LIST)).as_py() is not True:
            return None
    lists = [None if text is None else parse_list(text) for text in column.to_pylist()]
    numbers = all(re.fullmatch(r"[-+0-9.eE]*", entry) for entry in chain.from_iterable(filter(None, lists)))
    return None if numbers else pa.array(lists, pa.list_(pa.string()))


def parse_list(text: str) -> list[str]:
    """Return the entries of a list as JSON, Python or NumPy write it.

    >>> parse_list('["Ada", "Bo"]'), parse_list("['Ada', \\"O'Neil\\"]"), parse_list("[Ada, Bo]"), parse_list("[]")
    (['Ada', 'Bo'], ['Ada', "O'Neil"], ['Ada', 'Bo'], [])
    """
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        found = (next(filter(None, match.groups()), "") for match in ENTRY.finditer(text.strip()[1:-1]))
        entries = [re.sub(r"\\(.)", r"\1", entry) for entry in found]
    return [str(entry).strip() for entry in entries if entry is not None and str(entry).strip()]


def join_numbered_columns(rows: Rows, given: Collection[str], say: Callable[[str], None]) -> Rows:
    """Return a table in which columns of names such as ``Author 1`` and ``Author 2`` are one multi-valued column.

    Columns that are ``given`` a role stay as they are.
    """
    groups: dict[str, list[str]] = {}
    names = rows.table.column_names
    for name in names:
        match = NUMBERED.fullmatch(name)
        groups.setdefault(match["base"] if match else name, []).append(name)
    table = rows.table
    for base, columns in groups.items():
        if len(columns) < 2 or set(columns) & set(given):
            continue
        texts = [decode(table[name]) for name in columns]
        if not all(holds_text(column.type) or pa.types.is_null(column.type) for column in texts):
            continue
        texts = [pc.cast(column, pa.string()) for column in texts]
        if len(texts) == MIN_ENDS and not any(column.null_count for column in texts):
            continue  # the ends of links
        joined = pa.chunked_array([chunk for each in texts for chunk in each.chunks], pa.string())
        sample = pc.drop_null(pc.unique(clean_texts(joined)))[:MAX_SAMPLED_ROWS].to_pylist()
        free = [sign for sign in SEPARATORS if not pc.any(pc.match_substring(joined, sign)).as_py()]
        if not free or not (is_people_name(f"{base}s") or are_full_names(sample)):
            continue
        values = pc.binary_join_element_wise(*map(clean_texts, texts), free[0], null_handling="skip")
        place = table.column_names.index(columns[0])
        table = table.drop_columns(columns).add_column(place, base, pc.if_else(pc.equal(values, ""), None, values))
        say(f"{rows.name}: {quote_few(columns)} are one column {base!r} of several values (guessed)")
    return rows if table is rows.table else replace(rows, table=table)


def matrix_links(rows: Rows, say: Callable[[str], None], *, directed: bool = False) -> Rows | None:
    """Return the links of a matrix, whose columns are named as its rows are; None for another table.

    A link is a number other than 0. Of a symmetric matrix each link is taken once, unless links are ``directed``.
    """
    key, *others = rows.table.column_names
    count = max(len(others), rows.table.num_rows)
    is_square = min(len(others), rows.table.num_rows) >= MIN_MATRIX_COLUMNS and len(others) >= MIN_MATRIX_SHARE * count
    if not (is_square and holds_text(decode(rows.table[key]).type)):
        return None
    ids = read_ids(rows, key)
    row_names = ids.to_pylist()
    if not is_unique(ids) or len(set(row_names) & set(others)) < MIN_MATRIX_SHARE * count:
        return None
    columns = []
    for name in others:
        column = decode(rows.table[name])
        if holds_text(column.type):
            read = parse_numbers(clean_texts(pc.cast(column, pa.string())), rows.formats, 1.0)
            if read is None and column.null_count < len(column):
                return None
            column = pa.nulls(len(column), pa.float64()) if read is None else read.column
        elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            return None
        columns.append(np.asarray(pc.fill_null(pc.cast(column, pa.float64()), 0)))
    weights = np.nan_to_num(np.column_stack(columns))
    if not directed and others == row_names and np.array_equal(weights, weights.T):
        weights = np.triu(weights)
    row, column = np.nonzero(weights)
    say(f"{rows.name} is a matrix of links: its columns are named as its rows are (guessed)")
    table = pa.table(
        {
            "source": pa.chunked_array([ids.combine_chunks().take(pa.array(row))]),
            "target": pa.array(others).take(pa.array(column)),
            "weight": weights[row, column],
        }
    )
    return Rows(
        rows.name, table, lambda some: rows.places([int(row[one]) for one in some]), conventions=rows.conventions
    )
