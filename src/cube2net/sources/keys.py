"""Ids, weights and pairs: columns that say which rows of which table belong together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import SourceError
from cube2net.records.link_weights import LIGHTEST
from cube2net.sources.attributes import NUMBER, is_text
from cube2net.sources.faults import Faults, Rows

HEAVIEST = 1e30
EXACT = 2.0**53


def keys(rows: Rows, name: str) -> pa.ChunkedArray:
    """Return a column as ids: trimmed text, whole numbers as text, an empty id is missing."""
    column = rows.table[name]
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_finite(column), pc.cast(column, pa.float64()), None)
        whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), EXACT))
        if pc.all(whole).as_py() is not False:
            column = pc.cast(column, pa.int64())
    if not (is_text(column.type) or _is_simple(column.type) or pa.types.is_date(column.type)):
        raise SourceError(f"{rows.name} column {name!r} holds {column.type}, expected text or whole numbers")
    texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _is_simple(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind))


def unique_keys(rows: Rows, name: str, what: str, faults: Faults) -> tuple[Rows, pa.ChunkedArray]:
    """Return the rows that have an id, and their ids; an id that comes twice is an error."""
    ids = keys(rows, name)
    missing = np.flatnonzero(np.asarray(pc.is_null(ids)))
    faults.drop_rows(f"{what} without an id", rows, missing.tolist(), lambda row: f"{name!r} is empty, expected an id")
    if pc.count_distinct(ids).as_py() != len(ids) - ids.null_count:
        raise _twice(rows, name, ids)
    if len(missing) == len(ids):
        raise SourceError(f"{rows.name} has no {what}, expected one row for each")
    if len(missing):
        has = pc.is_valid(ids)
        left = np.flatnonzero(np.asarray(has))
        places = rows.places
        rows = Rows(
            rows.name, rows.table.filter(has), lambda some: places([int(left[row]) for row in some]), rows.loose
        )
        ids = ids.filter(has)
    return rows, ids


def _twice(rows: Rows, name: str, ids: pa.ChunkedArray) -> SourceError:
    counts = pc.value_counts(pc.drop_null(ids))
    again = counts.filter(pc.greater(pc.struct_field(counts, "counts"), 1))
    value = again[0]["values"].as_py()
    first, second = np.flatnonzero(np.asarray(pc.fill_null(pc.equal(ids, value), False)))[:2].tolist()
    one, two = rows.places([first, second])
    others = f"; {len(again):,} ids come twice or more" if len(again) > 1 else ""
    return SourceError(f"{two}: {name!r} is {value!r} again (as in {one}), expected every id once{others}")


def find(rows: Rows, name: str, ids: pa.ChunkedArray) -> tuple[Array, pa.ChunkedArray]:
    """Return the row of every id in a column among known ids (-1 unknown, -2 missing), and the column's ids."""
    wanted = keys(rows, name)
    found = np.asarray(pc.fill_null(pc.index_in(wanted, value_set=ids), -1)).astype(np.int64)
    found[np.asarray(pc.is_null(wanted))] = -2
    return found, wanted


def weights(rows: Rows, name: str) -> Array:
    """Return a column as weights, NaN where it is neither 0 nor a number from 1e-30 to 1e30."""
    column = rows.table[name]
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if is_text(column.type):
        texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
        column = pc.if_else(pc.match_substring_regex(texts, NUMBER), texts, None)
    elif not (_is_simple(column.type) or pa.types.is_decimal(column.type)):
        raise SourceError(f"{rows.name} column {name!r} holds {column.type}, expected numbers of 0 or more")
    values = np.array(pc.cast(column, pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    values[~((values == 0) | ((values >= LIGHTEST) & (values <= HEAVIEST)))] = np.nan
    return values
