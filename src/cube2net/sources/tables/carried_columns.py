"""What tables say of objects and links besides ids, names and weights, as a corpus carries it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.records.corpus import OBJECTS
from cube2net.records.keys import are_whole
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows, attribute, keys


def has_whole_ids(rows: Rows, column: str, ids: pa.ChunkedArray) -> bool:
    """Return whether ids come from a column of whole numbers: texts that look like such stay texts.

    Fractions that are all whole are such numbers: pandas has them so where an id is missing, or was.
    """
    kind = rows.table.schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind)) and are_whole(ids)


def with_attributes(objects: pa.Table, columns: Iterable[tuple[str, pa.ChunkedArray]]) -> pa.Table:
    """Return objects with attributes; one that is called like what every object has is called ``NAME_attribute``."""
    for name, column in columns:
        called = name
        while called in OBJECTS or called in objects.column_names:
            called += "_attribute"
        objects = objects.append_column(called, column)
    return objects


def link_details(
    rows: Rows, columns: Mapping[str, str], good: Array, dropped: Dropped
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return the kinds and times of the links that are good, where their table has such columns."""
    chosen = pa.array(np.flatnonzero(good))
    found: dict[str, pa.Array | pa.ChunkedArray] = {}
    if "kind" in columns:
        kinds = keys(rows, columns["kind"])
        if kinds.null_count < len(kinds):
            found["kind"] = kinds.take(chosen)
    if "time" in columns:
        times = _times(attribute(rows, columns["time"], dropped))
        if times is None:
            dropped.say(f"{rows.name}: left out {columns['time']!r} (no dates and no whole numbers such as years)")
        else:
            found["time"] = times.take(chosen)
    return found


def _times(column: pa.ChunkedArray | None) -> pa.ChunkedArray | None:
    """Return dates, times or whole numbers, which fractions may stand for; None for anything else."""
    if column is not None and pa.types.is_floating(column.type):
        whole = pc.all(pc.equal(column, pc.floor(column))).as_py()
        column = pc.cast(column, pa.int64(), safe=False) if whole else None
    if column is None or not (pa.types.is_integer(column.type) or pa.types.is_temporal(column.type)):
        return None
    return column
