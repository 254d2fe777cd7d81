"""Columns of two tables in one, whatever their types are, as long as these go together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import SourceError
from cube2net.records.column_kinds import decoded


def join_columns(first: pa.ChunkedArray, second: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """Return the values of one column and then those of another; their types may differ in width.

    Truths beside texts are the texts ``true`` and ``false``.

    >>> join_columns(pa.chunked_array([[1]], pa.int8()), pa.chunked_array([[2.5]]), "a column").to_pylist()
    [1.0, 2.5]
    """
    first, second = decoded(first), decoded(second)
    if {first.type, second.type} == {pa.bool_(), pa.string()}:
        first, second = first.cast(pa.string()), second.cast(pa.string())
    parts = [pa.table({"column": column}) for column in (first, second)]
    try:
        return pa.concat_tables(parts, promote_options="permissive")["column"]
    except pa.ArrowException:
        raise SourceError(
            f"{what} holds {first.type} first and {second.type} in the new data: give both the same type"
        ) from None


def join_attributes(known: pa.Table, count: int, new: pa.Table, rows: Array) -> pa.Table:
    """Return the attributes of ``count`` objects and of new ones, of which the ``rows`` are given.

    Of an object that both tables have, a value of the new one holds where there is one. A table has no columns where
    nothing is known.

    >>> old, new = pa.table({"city": ["Rome", "Oslo"]}), pa.table({"city": [None, "Bern"], "age": [7, 8]})
    >>> join_attributes(old, 2, new, np.array([0, 2])).to_pydict()
    {'city': ['Rome', 'Oslo', 'Bern'], 'age': [7, None, 8]}
    """
    total = max(count, int(rows.max(initial=-1)) + 1)
    joined = {}
    for name in dict.fromkeys([*known.column_names, *new.column_names]):
        first = known[name] if name in known.column_names else _nothing(count, new[name].type)
        second = new[name] if name in new.column_names else _nothing(len(rows), known[name].type)
        place = np.full(total, -1, np.int64)
        place[:count] = np.arange(count)
        there = np.asarray(pc.is_valid(second))
        place[rows[there]] = count + np.flatnonzero(there)
        column = join_columns(first, second, f"the attribute {name!r} of objects")
        joined[name] = column.take(pa.array(place, mask=place < 0))
    return pa.table(joined)


def _nothing(count: int, kind: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(count, kind)])
