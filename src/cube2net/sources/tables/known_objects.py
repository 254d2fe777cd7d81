"""Objects that a cube has: tables that are added to it may name them without listing them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.records import Objects
from cube2net.records.corpus import OBJECTS, table
from cube2net.sources.tables.column_types import Rows, keys


def referred_objects(known: Objects | None, listed: pa.ChunkedArray, columns: Sequence[tuple[Rows, str]]) -> pa.Table:
    """Return the known objects that columns of ids name and that are not listed, as they are known.

    >>> known = Objects.of(table(OBJECTS, object=["a", "b"], name=["Ada", "Bob"], kind=["x", "x"]))
    >>> rows = Rows("links", pa.table({"to": ["b", "c", "a"]}), lambda rows: [])
    >>> referred_objects(known, pa.chunked_array([["a"]]), [(rows, "to")])["name"].to_pylist()
    ['Bob']
    """
    if known is None:
        return table(OBJECTS)
    named = pa.chunked_array([chunk for rows, name in columns for chunk in keys(rows, name).chunks], pa.string())
    named = pc.drop_null(pc.unique(named))
    missing = named.filter(pc.invert(pc.is_in(named, value_set=listed)))
    rows = known.table.select(list(OBJECTS))
    return rows.filter(pc.is_in(rows["object"], value_set=missing))


def with_referred(objects: pa.Table, referred: pa.Table) -> pa.Table:
    """Return objects and then those that are only referred to, of which no attribute is said."""
    return pa.concat_tables([objects, referred], promote_options="default") if referred.num_rows else objects


def with_ids(listed: pa.ChunkedArray, referred: pa.Table) -> pa.ChunkedArray:
    """Return the ids of objects that are listed, and then of those that are only referred to."""
    return pa.chunked_array([*listed.chunks, *referred["object"].chunks], pa.string())
