"""Objects and labels of a query out of what holds them in columns: frames, series, Arrow, networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from cube2net.errors import QueryError, some
from cube2net.records.keys import is_row, key_of
from cube2net.records.query_series import OBJECTS, UNKNOWN, Find, asked_in_series, is_series

LABEL, CLUSTER = "label", "cluster"
LABELS = (LABEL, CLUSTER)
CELL = "cell"
NODES = {"in_query", "query_links", "kind"}
"""Columns that the nodes of a network have."""
STREAM = "__arrow_c_stream__"
Count = Callable[[Sequence[Any]], int]
"""Gives how many of some values name objects."""


class ReadNames(NamedTuple):
    """What a file or text names: names, labels where it gives them, its columns, and the one that was read.

    ``column`` is None where lines were read, and where nobody can tell which column has the names: then there are none.
    """

    names: list[str]
    labels: list[str] | None = None
    columns: Sequence[str] = ()
    column: str | None = None


def asked_of(objects: Any, find: Find | None = None, *, texts: bool = False, clusters: bool = False) -> tuple[Any, Any]:
    """Return what lists objects, and what lists their labels, None for none; what is no table is returned as it is.

    A table has a column ``object`` or ``id``, or but one column, or else one whose values are known, as
    :func:`best_known` finds it; it may have one of labels (``label`` or ``cluster``), in any case. A mapping of names
    to lists is a table too. The nodes of a network are its objects, without its cells. Whole numbers of a table and of
    a series are ids, never rows: ``texts`` says that ids are texts. ``clusters`` are what is wanted: that column comes
    before ``label``, the only other one will do, and a table without any is refused.

    >>> asked_of(pa.table({"Object": ["a", "b"], "Label": ["x", None]}))
    (['a', 'b'], ['x', None])
    >>> asked_of(["a", "b"])
    (['a', 'b'], None)
    """
    if isinstance(objects, Mapping) and not _has_columns(objects):
        return objects, list(objects.values())
    nodes = getattr(objects, "nodes", None)
    if isinstance(nodes, pa.Table) and hasattr(objects, "in_query"):
        objects = nodes
    ids = getattr(objects, "ids", None)
    if isinstance(ids, pa.Array) and hasattr(objects, "labels"):  # a query of another cube
        return ids, None if objects.labels is None else list(objects.labels)
    table = _table(objects)
    if table is None:
        listed = is_series(objects) and not clusters
        return asked_in_series(objects, find, texts) if listed else (_column(objects), None)
    names = {str(name).strip().casefold(): name for name in reversed(list(table))}
    chosen = _chosen(table, names, None if find is None else partial(_count, find))
    keys = [key_of(key) for key in table[chosen]]
    if texts:
        keys = [str(key) if is_row(key) else key for key in keys]
    label = _label(table, names, chosen, clusters)
    labels = None if label is None else table[label]
    if NODES.issubset(names):  # the nodes of a network
        inside = [row for row, kind in enumerate(table[names["kind"]]) if kind != CELL]
        keys = [keys[row] for row in inside]
        labels = None if labels is None else [labels[row] for row in inside]
        labels = labels if labels and any(labels) else None
    return keys, labels


def gives_ids(objects: Any) -> bool:
    """Return whether what lists objects has their ids, as a query, a network and the nodes of one have.

    >>> gives_ids(["Wei Li"]), gives_ids(pa.table({"id": ["a"], "kind": ["x"], "in_query": [True], "query_links": [0]}))
    (False, True)
    """
    if isinstance(getattr(objects, "ids", None), pa.Array):
        return True
    if isinstance(objects, type | str | bytes | list | tuple) or hasattr(objects, "collect_schema"):
        return False
    table = getattr(objects, "nodes", objects)
    names = table.column_names if isinstance(table, pa.Table) else getattr(table, "columns", ())
    return NODES.issubset(name for name in (() if callable(names) else names) if isinstance(name, str))


def best_known(columns: Sequence[Sequence[Any]], usual: Sequence[int], count_known: Count) -> int | None:
    """Return the column most of whose values are known, of several that are even one that is usual, or the first.

    Where nothing is known it is the first that is usual, or None.

    >>> best_known([["x", "y"], ["a", "b"], ["a", "b"]], [2], lambda values: sum(value in "ab" for value in values))
    2
    """
    counts = [count_known(values) for values in columns]
    best = max(counts, default=0)
    if best == 0:
        return usual[0] if usual else None
    return next((place for place in usual if counts[place] == best), counts.index(best))


def _count(find: Find, values: Sequence[Any]) -> int:
    return sum(row != UNKNOWN for row in find(values))


def _chosen(table: Mapping[Any, list[Any]], names: Mapping[str, Any], count_known: Count | None) -> Any:
    """Return the name of the column of objects."""
    given = [names[word] for word in OBJECTS if word in names]
    if OBJECTS[0] in names or len(table) == 1:
        return given[0] if given else next(iter(table))
    if count_known is None or (given and count_known(table[given[0]])):
        place = None
    else:
        columns = list(table)
        place = best_known(list(table.values()), [columns.index(name) for name in given], count_known)
    if place is not None:
        return list(table)[place]
    if given:
        return given[0]
    has = some([str(name) for name in table], 20)
    tried = "" if count_known is None else ", and the cube knows no value of any of these"
    raise QueryError(f"the table of the query has no column 'object' or 'id': it has {has}{tried}")


def _label(table: Mapping[Any, list[Any]], names: Mapping[str, Any], chosen: Any, clusters: bool) -> Any:
    """Return the name of the column of labels, or of clusters where these are wanted; None for none."""
    words = (CLUSTER, *LABELS) if clusters else LABELS
    label = next((names[word] for word in words if word in names and names[word] != chosen), None)
    if label is not None or not clusters:
        return label
    others = [name for name in table if name != chosen]
    if len(others) == 1:
        return others[0]
    has = some([str(name) for name in table], 20)
    lacks = f"has no column {CLUSTER!r}" if others else "needs a column of objects and one of clusters"
    raise QueryError(f"the table of the clusters {lacks}: it has {has}")


def _has_columns(mapping: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is a table: a list, an array or a series for every name."""
    return bool(mapping) and all(isinstance(one, list | tuple) or _is_listing(one) for one in mapping.values())


def _is_listing(thing: Any) -> bool:
    return _is_column(thing) or (getattr(thing, "ndim", None) == 1 and hasattr(thing, "tolist"))


def _table(thing: Any) -> dict[Any, list[Any]] | None:
    """Return the columns of a table by name, None of what is none."""
    if isinstance(thing, Mapping):
        columns = {name: list(_column(values)) for name, values in thing.items()}
        if len(set(map(len, columns.values()))) > 1:
            sizes = some([f"{name}: {len(values):,}" for name, values in columns.items()], 20)
            raise QueryError(f"the columns of the query's table are not of one length: {sizes}")
        return columns
    if isinstance(thing, type | str | bytes | list | tuple):
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
    return isinstance(thing, pa.Array | pa.ChunkedArray) or is_series(thing)


def _column(thing: Any) -> Any:
    """Return the values of a column; one of fractions that are whole, as ids beside missing ones are, as such."""
    if isinstance(thing, pa.Array | pa.ChunkedArray):
        thing = thing.to_pylist()
    elif getattr(thing, "ndim", None) == 1 and hasattr(thing, "tolist"):
        thing = thing.tolist()
    elif type(thing).__name__ == "Series" and hasattr(thing, "to_list"):
        thing = thing.to_list()
    return thing
