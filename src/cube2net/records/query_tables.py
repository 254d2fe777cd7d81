"""Objects and labels of a query out of what holds them in columns: frames, series, Arrow, networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cube2net.errors import QueryError, some

OBJECTS, LABELS = ("object", "id", "node"), ("label",)
CELL = "cell"
STREAM = "__arrow_c_stream__"


def asked_of(objects: Any) -> tuple[Any, Any]:
    """Return what lists objects, and what lists their labels, None for none; what is no table is returned as it is.

    A table has a column ``object`` or ``id``, or but one column, and may have one of labels (``label``), in any case.
    The nodes of a network are its objects, without its cells.

    >>> asked_of(pa.table({"Object": ["a", "b"], "Label": ["x", None]}))
    (['a', 'b'], ['x', None])
    >>> asked_of(["a", "b"])
    (['a', 'b'], None)
    """
    if isinstance(objects, Mapping):
        return objects, list(objects.values())
    nodes = getattr(objects, "nodes", None)
    if isinstance(nodes, pa.Table) and hasattr(objects, "in_query"):
        objects = nodes
    ids = getattr(objects, "ids", None)
    if isinstance(ids, pa.Array) and hasattr(objects, "labels"):  # a query of another cube
        return ids, None if objects.labels is None else list(objects.labels)
    table = _table(objects)
    if table is None:
        return _column(objects), None
    names = {str(name).strip().casefold(): name for name in reversed(list(table))}
    chosen = next((names[word] for word in OBJECTS if word in names), None)
    if chosen is None and len(table) == 1:
        chosen = next(iter(table))
    if chosen is None:
        has = some([str(name) for name in table], 20)
        raise QueryError(f"the table of the query has no column 'object' or 'id': it has {has}")
    keys = table[chosen]
    label = next((names[word] for word in LABELS if word in names), None)
    labels = None if label is None or label == chosen else table[label]
    if {"in_query", "query_links", "kind"} <= set(names):  # the nodes of a network
        inside = [row for row, kind in enumerate(table[names["kind"]]) if kind != CELL]
        keys = [keys[row] for row in inside]
        labels = None if labels is None else [labels[row] for row in inside]
        labels = labels if labels and any(labels) else None
    return keys, labels


def _table(thing: Any) -> dict[Any, list[Any]] | None:
    """Return the columns of a table by name, None of what is none."""
    if isinstance(thing, type | str | bytes | list | tuple | dict):
        return None
    if _is_pandas(thing):
        if any(name is not None for name in thing.index.names):
            fresh = [name for name in thing.index.names if name not in thing.columns]
            thing = thing.reset_index(level=fresh) if fresh else thing
        return {name: thing.iloc[:, place].tolist() for place, name in enumerate(thing.columns)}
    if hasattr(thing, "collect") and hasattr(thing, "collect_schema"):
        thing = thing.collect()
    if isinstance(thing, pa.RecordBatch):
        thing = pa.Table.from_batches([thing])
    if not isinstance(thing, pa.Table) and hasattr(thing, STREAM) and not _is_column(thing):
        thing = pa.RecordBatchReader.from_stream(thing).read_all()
    if isinstance(thing, pa.Table):
        return {name: thing[name].to_pylist() for name in thing.column_names}
    return None


def _is_pandas(thing: Any) -> bool:
    kinds = type(thing).__mro__
    return any(one.__name__ == "DataFrame" and one.__module__.partition(".")[0] == "pandas" for one in kinds)


def _is_column(thing: Any) -> bool:
    return isinstance(thing, pa.Array | pa.ChunkedArray) or type(thing).__name__ in ("Series", "Index")


def _column(thing: Any) -> Any:
    """Return the values of a column; one of fractions that are whole, as ids beside missing ones are, as such."""
    if isinstance(thing, pa.Array | pa.ChunkedArray):
        thing = thing.to_pylist()
    elif getattr(thing, "ndim", None) == 1 and hasattr(thing, "tolist"):
        thing = thing.tolist()
    elif type(thing).__name__ == "Series" and hasattr(thing, "to_list"):
        thing = thing.to_list()
    return thing
