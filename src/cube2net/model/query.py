"""Queries: what a caller may give, the keys in it, and the rows of a cube that these name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Links, freeze, reduce_by_fields
from cube2net._util.display import Shown
from cube2net._util.text import format_count
from cube2net.errors import Cube2netError, Message, QueryError, Setting, quote, quote_few
from cube2net.model.corpus import MOST
from cube2net.model.dimension import Dimension
from cube2net.model.items import ItemIndex
from cube2net.model.objects import Objects, is_text
from cube2net.model.tables import Tabular


@dataclass(frozen=True, eq=False)
class Query(Shown):
    """The objects of interest, as ascending row numbers, with optional labels.

    :meth:`Cube.query` looks up ids and names.

    Attributes
    ----------
    objects
        Row numbers of the cube, ascending and distinct.
    labels
        One label per object, or None.
    missing
        The names that were not found.
    ids
        The ids of the objects, if they were given by id or name.
    shared
        Names that are the id of one object, which was used, and also the name of another object with as many links.

    Examples
    --------
    >>> Query(np.array([4, 9]), labels=("KDD", "ACL"))
    Query(2 objects, 2 labels)
    """

    objects: Array
    labels: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    ids: pa.Array | None = None
    shared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = _rows(self.objects)
        if len(rows) == 0:
            raise QueryError("the query is empty: name at least one object")
        if bool(np.any(rows[1:] <= rows[:-1])):
            raise QueryError("the rows of a query must ascend without repeats")
        if self.labels is not None and len(self.labels) != len(rows):
            raise QueryError(f"the query has {len(rows):,} objects and {len(self.labels):,} labels")
        if self.ids is not None and len(self.ids) != len(rows):
            raise QueryError(f"the query has {len(rows):,} objects and {len(self.ids):,} ids")
        object.__setattr__(self, "objects", freeze(rows))

    __reduce__ = reduce_by_fields

    def __len__(self) -> int:
        return len(self.objects)

    def __iter__(self) -> Iterator[str | int]:
        """Iterate over the ids, or over the rows of objects that were given by row."""
        return iter((self.objects if self.ids is None else self.ids).tolist())

    def __getitem__(self, key: int | slice) -> Any:
        """Return the id (or row) at a position, or several, in ascending order of rows."""
        return [*self][key]

    def others(self, count: int) -> Query:
        """Return a query of all other objects of a cube.

        Parameters
        ----------
        count
            The number of objects of the cube.

        Examples
        --------
        >>> Query(np.array([1, 3])).others(5).objects.tolist()
        [0, 2, 4]
        """
        rest = np.setdiff1d(np.arange(count, dtype=np.int32), self.objects)
        if not len(rest):
            raise QueryError("the query has all objects of the cube: there are no others to tell it from")
        return Query(rest)

    def __repr__(self) -> str:
        labels = f", {format_count(len(set(self.labels)), 'label')}" if self.labels is not None else ""
        missing = f", {len(self.missing)} missing" if self.missing else ""
        return f"Query({format_count(len(self), 'object')}{labels}{missing})"


def _rows(given: object) -> Array:
    """Return row numbers as an array of 32 bits; raise an error if they are none or do not fit."""
    try:
        rows = np.asarray(given)
    except ValueError:
        rows = np.empty(())
    if rows.ndim == 1 and len(rows) == 0:
        return rows.astype(np.int32)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.max() > np.iinfo(np.int32).max or rows.min() < 0:
        raise QueryError(f"the rows of a query are whole numbers from 0 to 2,147,483,647, got {quote(given)}")
    return rows.astype(np.int32, copy=False)


OBJECTS = ("object", "id", "node")
"""Names of a column of objects."""
LABEL, CLUSTER = "label", "cluster"
LABELS = (LABEL, CLUSTER)
NODES = {"in_query", "query_links", "kind"}
"""Columns that the nodes of a network have."""
UNKNOWN, SEVERAL = -1, -2
"""The rows of a value that names no object, and of one that names several."""
Find = Callable[[Sequence[Any]], list[int]]
"""Gives the row of each of the first of some values, or UNKNOWN or SEVERAL."""
Labels = Sequence[Any] | Mapping[Any, Any]
"""One label per object of a query, or labels by object."""


def is_series(thing: Any) -> bool:
    """Return whether something is a series or an index of pandas or Polars; neither is loaded to see it."""
    return _is_instance(thing, ("pandas", "polars"), ("Series", "Index"))


def _is_instance(thing: Any, packages: Sequence[str], classes: Sequence[str]) -> bool:
    kinds = type(thing).__mro__
    return any(kind.__name__ in classes and kind.__module__.partition(".")[0] in packages for kind in kinds)


def _read_series(series: Any, find: Find | None, texts: bool) -> tuple[list[Any], list[Any] | None]:
    """Return the objects that a series lists, and their labels or None.

    Whole numbers are ids, never rows; ``texts`` says that ids are texts. If the values name nothing and the index names
    objects, texts are labels of these, and numbers, such as counts, are refused.
    """
    values = [normalize_key(value) for value in series.to_list()]
    keys = [str(value) if texts and is_row(value) else value for value in values]
    present = [value for value in values if not is_missing(value)]
    if find is None or not present:
        return keys, None
    index = _list_index(series)
    by_index = [] if index is None else find(index)
    is_index_known = bool(by_index) and sum(row != UNKNOWN for row in by_index) > len(by_index) / 2
    if all(isinstance(value, str) for value in present):
        if is_index_known and all(row == UNKNOWN for row in find(keys)):
            return list(index or ()), keys
    elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        rows = find(keys)
        if is_index_known and rows != by_index:
            raise QueryError(
                f"the query is a series of numbers ({quote_few(present)}) whose index names objects: give "
                f"series.index, series.to_dict() where the numbers are labels, or series.to_list() where they are ids"
            )
        if texts and all(map(is_row, present)) and all(row == UNKNOWN for row in rows):
            kind = "a series" if type(series).__name__ == "Series" else "an index"
            raise QueryError(
                f"the query is {kind} of whole numbers ({quote_few(present)}), and the ids of this cube are "
                f"texts: give ids or names, or row numbers as a list"
            )
    return keys, None


def _list_index(series: Any) -> list[Any] | None:
    """Return the index of a series where that may name objects: it holds texts, or has a name."""
    index: Any = getattr(series, "index", None)
    is_plain = is_series(index) and getattr(index, "nlevels", 1) == 1
    if not is_plain or str(series.name).strip().casefold() in OBJECTS:
        return None
    names: list[Any] = index.to_list()
    return names if index.name is not None or all(isinstance(name, str) for name in names) else None


NAME_SEPARATORS = (";", "\t", "|", ",")
AreKnown = Callable[[Sequence[str]], Sequence[bool]]
"""Tells of each name whether the cube has such an object."""


def split_names(lines: Sequence[str], are_known: AreKnown) -> list[str]:
    """Return the names in lines of text, splitting a line that is no name itself where its parts are known names.

    One known part is enough; with commas, which names may contain, two or more than half must be known. Parts that are
    still unknown are split at other separators.

    >>> people = ("Ann Ek", "Bo Ott", "Lee, Cy")
    >>> split_names(["Ann Ek; Bo Ot", "Lee, Cy", "Ott, Bo"], lambda names: [name in people for name in names])
    ['Ann Ek', 'Bo Ot', 'Lee, Cy', 'Ott, Bo']
    >>> split_names(['"Bo Ott", "Ann Ek"; Lee, Cy'], lambda names: [name in people for name in names])
    ['Bo Ott', 'Ann Ek', 'Lee, Cy']
    """
    names = list(lines)
    for separator in 2 * NAME_SEPARATORS:
        names = _split_at(separator, names, are_known)
    return names


def _split_at(separator: str, names: list[str], are_known: AreKnown) -> list[str]:
    """Return names, each unknown one replaced by its parts if enough of these are known."""
    parts = {name: [*filter(None, map(_bare_part, name.split(separator)))] for name in names if separator in name}
    if not parts:
        return names
    texts = list(dict.fromkeys(chain(parts, *parts.values())))
    known = {text for text, is_known in zip(texts, are_known(texts), strict=True) if is_known}

    def split(name: str) -> list[str]:
        found = parts.get(name, [])
        count = sum(part in known for part in found)
        least = len(found) / 2 if separator == "," else 0
        return found if name not in known and (count > 1 or count > least) else [name]

    return [part for name in names for part in split(name)]


def _bare_part(part: str) -> str:
    """Return a part of a line without spaces and quotes around it."""
    part = part.strip()
    is_quoted = part.count('"') == 2 and part[0] == part[-1] == '"'
    return part[1:-1].strip() if is_quoted else part


class ReadNames(NamedTuple):
    """What a file or text names: names, labels where it gives them, its columns, and the one that was read.

    ``column`` is None if lines were read, or if it is unclear which column has the names: then there are none.
    """

    names: list[str]
    labels: list[str] | None = None
    columns: Sequence[str] = ()
    column: str | None = None


def parse_query(
    objects: Any, find: Find | None = None, *, texts: bool = False, clusters: bool = False
) -> tuple[Any, Any]:
    """Return the objects that something lists, and their labels or None; what is no table is returned unchanged.

    A table has a column ``object`` or ``id``, or a single column, or one that :func:`choose_known_column` finds; it may
    have labels (``label`` or ``cluster``, in capitals or not). A mapping of names to lists is a table. The nodes of a
    network are its objects, without its cells. Whole numbers of a table or a series are ids, never rows; ``texts`` says
    that ids are texts. With ``clusters`` that column is preferred to ``label``, the only other column is accepted, and
    a table without one is refused.

    >>> parse_query(pa.table({"Object": ["a", "b"], "Label": ["x", None]}))
    (['a', 'b'], ['x', None])
    >>> parse_query(["a", "b"])
    (['a', 'b'], None)
    """
    objects = _get_table(objects)
    if isinstance(objects, Set):  # as are the nodes of a NetworkX graph, beside a mapping
        return list(objects), None
    if isinstance(objects, Mapping) and not (objects and all(map(_is_listing, objects.values()))):
        return objects, list(objects.values())
    ids = getattr(objects, "ids", None)
    if isinstance(ids, pa.Array) and hasattr(objects, "labels"):  # a query of another cube
        return ids, None if objects.labels is None else list(objects.labels)
    table = _table(objects)
    if table is None:
        listed = is_series(objects) and not clusters
        return _read_series(objects, find, texts) if listed else (_list_column(objects), None)
    names = {str(name).strip().casefold(): name for name in reversed(list(table))}
    chosen = _choose_column(table, names, find)
    keys = [normalize_key(key) for key in table[chosen]]
    if texts:
        keys = [str(key) if is_row(key) else key for key in keys]
    label = _choose_labels(table, names, chosen, clusters)
    labels = None if label is None else table[label]
    if NODES.issubset(names):  # the nodes of a network
        inside = [row for row, kind in enumerate(table[names["kind"]]) if kind != "cell"]
        keys = [keys[row] for row in inside]
        labels = None if labels is None else [labels[row] for row in inside]
        labels = labels if labels and any(labels) else None
    return keys, labels


def _get_table(thing: Any) -> Any:
    """Return the Arrow table of a record, or that of the nodes of a network; anything else unchanged."""
    nodes = getattr(thing, "nodes", None)
    table = nodes if isinstance(nodes, Tabular) else thing
    return table.to_arrow() if isinstance(table, Tabular) else thing


def gives_ids(objects: Any) -> bool:
    """Return whether something lists objects by their ids, as a query, a network and its nodes do.

    >>> gives_ids(["Wei Li"]), gives_ids(pa.table({"id": ["a"], "kind": ["x"], "in_query": [True], "query_links": [0]}))
    (False, True)
    """
    if isinstance(getattr(objects, "ids", None), pa.Array):
        return True
    if isinstance(objects, type | str | bytes | list | tuple) or hasattr(objects, "collect_schema"):
        return False
    table = _get_table(objects)
    names = table.column_names if isinstance(table, pa.Table) else getattr(table, "columns", ())
    return NODES.issubset(name for name in (() if callable(names) else names) if isinstance(name, str))


def choose_known_column(
    columns: Sequence[Sequence[Any]], usual: Sequence[int], count_known: Callable[[Sequence[Any]], int]
) -> int | None:
    """Return the column with most known values; of equal ones a usual one, or else the first.

    If no value is known it is the first usual one, or None.

    >>> columns = [["x", "y"], ["a", "b"], ["a", "b"]]
    >>> choose_known_column(columns, [2], lambda values: sum(value in "ab" for value in values))
    2
    """
    counts = [count_known(values) for values in columns]
    best = max(counts, default=0)
    if best == 0:
        return usual[0] if usual else None
    return next((place for place in usual if counts[place] == best), counts.index(best))


def _choose_column(table: Mapping[Any, list[Any]], names: Mapping[str, Any], find: Find | None) -> Any:
    """Return the name of the column of objects."""
    columns, given = list(table), [names[word] for word in OBJECTS if word in names]
    if OBJECTS[0] in names or len(table) == 1:
        return given[0] if given else columns[0]
    if find is not None:

        def count_known(values: Sequence[Any]) -> int:
            return sum(row != UNKNOWN for row in find(values))

        if not given or not count_known(table[given[0]]):
            place = choose_known_column(list(table.values()), [columns.index(name) for name in given], count_known)
            if place is not None:
                return columns[place]
    if given:
        return given[0]
    has = quote_few([str(name) for name in table], 20)
    tried = "" if find is None else ", and the cube knows no value of any of these"
    raise QueryError(f"the table of the query has no column 'object' or 'id': it has {has}{tried}")


def _choose_labels(table: Mapping[Any, list[Any]], names: Mapping[str, Any], chosen: Any, clusters: bool) -> Any:
    """Return the name of the column of labels, or of clusters where these are wanted; None for none."""
    words = (CLUSTER, *LABELS) if clusters else LABELS
    label = next((names[word] for word in words if word in names and names[word] != chosen), None)
    if label is not None or not clusters:
        return label
    others = [name for name in table if name != chosen]
    if len(others) == 1:
        return others[0]
    has = quote_few([str(name) for name in table], 20)
    lacks = f"has no column {CLUSTER!r}" if others else "needs a column of objects and one of clusters"
    raise QueryError(f"the table of the clusters {lacks}: it has {has}")


def _is_listing(thing: Any) -> bool:
    is_array = getattr(thing, "ndim", None) == 1 and hasattr(thing, "tolist")
    return isinstance(thing, list | tuple) or _is_column(thing) or is_array


def _table(thing: Any) -> dict[Any, list[Any]] | None:
    """Return the columns of a table by name, None if it is none."""
    if isinstance(thing, Mapping):
        columns = {name: list(_list_column(values)) for name, values in thing.items()}
        if len(set(map(len, columns.values()))) > 1:
            sizes = quote_few([f"{name}: {len(values):,}" for name, values in columns.items()], 20)
            raise QueryError(f"the columns of the query's table are not of one length: {sizes}")
        return columns
    if isinstance(thing, type | str | bytes | list | tuple):
        return None
    if _is_instance(thing, ("pandas",), ("DataFrame",)):
        if any(name is not None for name in thing.index.names):
            fresh = [name for name in thing.index.names if name not in thing.columns]
            thing = thing.reset_index(level=fresh) if fresh else thing
        return {name: thing.iloc[:, place].tolist() for place, name in enumerate(thing.columns)}
    if hasattr(thing, "collect") and hasattr(thing, "collect_schema"):
        thing = thing.collect()
    if isinstance(thing, pa.RecordBatch):
        thing = pa.Table.from_batches([thing])
    if not isinstance(thing, pa.Table) and hasattr(thing, "__arrow_c_stream__") and not _is_column(thing):
        thing = pa.RecordBatchReader.from_stream(thing).read_all()
    if isinstance(thing, pa.Table):
        return {name: thing[name].to_pylist() for name in thing.column_names}
    return None


def _is_column(thing: Any) -> bool:
    return isinstance(thing, pa.Array | pa.ChunkedArray) or is_series(thing)


def _list_column(thing: Any) -> Any:
    """Return the values of a column as a list, and anything else unchanged."""
    if isinstance(thing, pa.Array | pa.ChunkedArray):
        return thing.to_pylist()
    if getattr(thing, "ndim", None) == 1 and hasattr(thing, "tolist"):
        return thing.tolist()
    return thing.to_list() if type(thing).__name__ == "Series" and hasattr(thing, "to_list") else thing


SKIP_MISSING = Message(Setting("skip_missing", True, "cube.query"), " leaves them out")


def list_keys(objects: object) -> list[Any]:
    """Return the objects of a query as a list, with texts and whole numbers of NumPy and Arrow as those of Python.

    >>> list_keys(pa.array(["a", "b"])), list_keys(range(2))
    (['a', 'b'], [0, 1])
    """
    return [normalize_key(value) for value in _to_list(objects, "a query is a list of objects")]


def list_labels(labels: Any, keys: Sequence[Any]) -> list[str]:
    """Return the label of every key as a text, empty where there is none; labels may be given by key.

    >>> list_labels({"b": "red", "c": "blue"}, ["a", "b"])
    ['', 'red']
    """
    if is_series(labels) and (index := _list_index(labels)) is not None:
        labels = dict(zip(index, labels.to_list(), strict=True))
    if isinstance(labels, Mapping):
        if not any(key in labels for key in keys):
            raise QueryError(f"the labels name no object of the query: they are labels of {quote_few([*labels])}")
        labels = [labels.get(key) for key in keys]
    texts = [label_text(label) for label in _to_list(labels, "labels of a query are a list")]
    if len(texts) != len(keys):
        raise QueryError(f"the query has {len(keys):,} objects and {len(texts):,} labels")
    for key, text in zip(keys, texts, strict=True):
        if not is_text(text):
            raise QueryError(f"query gives {quote(key)} the label {quote(text)}, which no file can hold")
    return texts


def label_text(label: object) -> str:
    """Return a label as a text, empty where there is none: None, and what a table has in an empty field.

    >>> [label_text(label) for label in ("a", 3, None, float("nan"))]
    ['a', '3', '', '']
    """
    if isinstance(label, int) and label.bit_length() > 1000:
        return quote(label)
    return "" if is_missing(label) else str(label)


def is_missing(value: object) -> bool:
    """Return whether a value stands for a missing one in a list or table."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def is_row(key: object) -> bool:
    """Return whether a key is a row number."""
    return isinstance(key, int) and not isinstance(key, bool)


def _check_kinds(keys: Sequence[Any]) -> None:
    """Raise if a key is missing, or is neither a text nor a whole number."""
    wrong = [key for key in keys if not (isinstance(key, str) or is_row(key))]
    if wrong and all(map(is_missing, wrong)):
        missing = _count(len(wrong), "of them is missing", "of them are missing")
        raise QueryError(f"query lists {len(keys):,} objects, and {missing}", parameter="query", hint=SKIP_MISSING)
    if wrong:
        objects = _count(len(wrong), "object that is", "objects that are")
        is_mask = all(isinstance(key, bool) for key in keys)
        hint = " (a mask? give what it keeps, such as frame[mask])" if is_mask else ""
        raise QueryError(f"query has {objects} neither a text nor a whole number: {quote_few(wrong)}{hint}")


def _count(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def normalize_key(value: Any) -> Any:
    """Return a value that may name an object as Python's text or whole number; whole floats become whole numbers.

    A UUID becomes its text.
    """
    if type(value) in (str, int, bool):
        return value
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if isinstance(value, str | UUID):
        return str(value)
    if type(value).__name__ == "bool":  # NumPy's
        return bool(value)
    whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else value


def _to_list(values: object, what: str) -> list[Any]:
    """Return the values of an iterable as a list; of a mapping its keys."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | bytearray):
        try:
            return list(values)
        except TypeError:  # an array of no dimensions
            pass
    raise QueryError(f"{what}, got {quote(values)}")


MOSTLY_MISSING = 0.9
"""From this share of missing names on, an attribute that has them is looked for."""
MAX_COMPARED = 100
"""The most row numbers or missing names that are compared with ids or attributes."""
MAX_SHOWN = 3
"""The most ambiguous names that are listed with the ids of their objects."""
MAX_LOOKED_UP = 10_000
"""The most values of a column that are looked up to see whether they name objects."""


def find_rows(
    objects: Objects,
    keys: Sequence[Any],
    skip_missing: bool,
    describe_items: Callable[[Sequence[str]], str] | None = None,
) -> tuple[Array, tuple[str, ...]]:
    """Return the row of every key, -1 if it is missing, and the missing keys, an error without ``skip_missing``.

    Texts are ids or names. Whole numbers are ids if all ids of the cube are, and rows otherwise. ``describe_items``
    returns the end of a sentence about missing names that items have.
    """
    if not skip_missing:
        _check_kinds(keys)
    if not objects.whole and all(map(is_row, keys)):
        _check_not_ids(objects, keys)
        count = len(objects)
        outside = [key for key in keys if not 0 <= key < count]
        if outside and not skip_missing:
            rows_outside = f"{format_count(len(outside), 'row')} that the cube does not have: {quote_few(outside)}"
            raise QueryError(f"query names {rows_outside} (it has {count:,} objects)")
        rows = np.array([key if 0 <= key < count else -1 for key in keys], dtype=np.int64)
        return rows, tuple(map(quote, outside))
    named = [place for place, key in enumerate(keys) if isinstance(key, str) or is_row(key)]
    texts = [_text(keys[place]) for place in named]
    found = objects.find(texts)
    lost = found.missing + found.ambiguous
    if lost and not skip_missing:
        numbers = {text: keys[place] for text, place in zip(texts, named, strict=True) if is_row(keys[place])}
        count = len(set(texts))
        sentence = _describe_missing(objects, found.missing, found.ambiguous, numbers if objects.whole else {}, count)
        where: Message | str = ""
        if len(found.missing) >= MOSTLY_MISSING * count:
            where = _find_attribute(objects, found.missing)
        if not where and len(found.missing) == count and describe_items is not None:
            where = describe_items(found.missing)
        raise QueryError(sentence, where, parameter="query", value=lost)
    rows = np.full(len(keys), -1, dtype=np.int64)
    rows[named] = found.rows
    others = set(range(len(keys))).difference(named)
    return rows, lost + tuple(quote(keys[place]) for place in sorted(others))


def list_shared_names(objects: Objects, links: Links, keys: Sequence[Any], rows: Array) -> tuple[str, ...]:
    """Return the given texts that are the id of one object and the name of others with as many links or more.

    One of these others may well be meant.
    """
    named = [place for place, key in enumerate(keys) if isinstance(key, str)]
    texts = [_text(keys[place]) for place in named]
    own = dict(zip(texts, rows[named].tolist(), strict=True))

    def linked(row: int) -> int:
        return int(links.indptr[row + 1] - links.indptr[row])

    bearers = objects.also_called(texts, rows[named])
    return tuple(text for text, others in bearers.items() if max(map(linked, others)) >= linked(own[text]))


def describe_shared_names(objects: Objects, shared: Sequence[str]) -> str:
    """Return a remark on names that were taken as ids although other objects have them too; empty if there are none."""
    if not shared:
        return ""
    first = list(shared[:MAX_SHOWN])
    others = objects.also_called(first, objects.find(first).rows)
    ids = [quote_few(objects.ids(np.array(others.get(name, []), dtype=np.int64)).to_pylist()) for name in first]
    named = ", ".join(f"{quote(name)} (others: {each})" for name, each in zip(first, ids, strict=True) if each)
    more = f" and {len(shared) - MAX_SHOWN:,} more" if len(shared) > MAX_SHOWN else ""
    taken = "name of the query is ambiguous; the object with this id was taken"
    if len(shared) > 1:
        taken = "names of the query are ambiguous; the objects with these ids were taken"
    return f"{len(shared):,} {taken}: {named}{more}; use ids to choose others"


def find_known_rows(objects: Objects, values: Sequence[Any]) -> list[int]:
    """Return the rows of the first values, -1 for those that name no object and -2 for those that name several.

    Whole numbers are ids if all ids of the cube are; otherwise they name no object.
    """
    keys = [normalize_key(value) for value in values[:MAX_LOOKED_UP]]
    named = [place for place, key in enumerate(keys) if isinstance(key, str) or (objects.whole and is_row(key))]
    texts = [_text(keys[place]) for place in named]
    found = objects.find(texts)
    several = set(found.ambiguous)
    rows = [UNKNOWN] * len(keys)
    for place, text, row in zip(named, texts, found.rows.tolist(), strict=True):
        rows[place] = SEVERAL if text in several else row
    return rows


def _check_not_ids(objects: Objects, keys: Sequence[int]) -> None:
    """Raise an error if row numbers may be meant as ids: one of the first is also the id of another object."""
    texts = {str(key): key for key in keys[:MAX_COMPARED] if abs(key) < MOST}
    for text, row in objects.has_ids(list(texts)).items():
        if row != texts[text]:
            raise QueryError(
                f"query gives {text}, a row number where ids are texts, and the cube has an object {text!r}: "
                f"give ids as texts, such as {text!r}, and rows as Query(rows)"
            )


def _describe_missing(
    objects: Objects, missing: tuple[str, ...], ambiguous: tuple[str, ...], numbers: Mapping[str, int], asked: int
) -> Message:
    """Return a message about missing and ambiguous names among those asked for.

    ``numbers`` are the keys given as numbers, by their texts. No similar names are suggested for numbers.
    """
    parts: list[object] = []
    if missing:
        near = [(key, objects.near(key)) for key in missing[:3] if not key.isdigit()]
        hints = ", ".join(f"{quote(names[0])} for {quote(key)}" for key, names in near if names)
        plural = _count(len(missing), "object that is", "objects that are")
        parts.append(
            f"query names {plural} not in the cube: {quote_few([numbers.get(key, key) for key in missing])}"
            + (f" (did you mean {hints}?)" if hints else "")
        )
        if 3 < len(missing) < asked:
            parts += [" (", SKIP_MISSING, ")"]
    if ambiguous:
        plural = _count(len(ambiguous), "name that several objects bear", "names that several objects bear")
        ids = quote_few(objects.bearers(ambiguous[0]))
        parts += ["; "] if missing else []
        parts.append(f"query gives {plural}: {quote_few(ambiguous)} (use an id, for {quote(ambiguous[0])} {ids})")
    return Message(*parts)


def _find_attribute(objects: Objects, missing: Sequence[str]) -> Message | str:
    """Return the attribute of objects that has most of the missing names, as the end of a sentence."""
    wanted = pa.array(list(filter(is_text, missing[:MAX_COMPARED])), pa.string())
    for name in objects.attributes.column_names:
        column = objects.attributes[name]
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            held = pc.sum(pc.is_in(wanted, value_set=pc.cast(column, pa.string()).combine_chunks())).as_py() or 0
            if len(wanted) and held > 0.5 * len(wanted):
                column_of = name.removesuffix("_attribute")
                return Message(
                    f"; the attribute {name!r} of objects has them, and they are names once the cube is built with ",
                    Setting("columns", {"name": column_of}),
                )
    return ""


def describe_items(
    dimensions: Sequence[Dimension], items: Callable[[], ItemIndex] | None, missing: Sequence[str]
) -> str:
    """Return the attribute of items that has all missing names, as the end of a sentence.

    It is empty if there is none, or if the cube does not keep the attributes of items.
    """
    wanted = set(missing)
    end = "has them, and a query names objects"
    for dimension in dimensions:
        for level in dimension.levels:
            if wanted <= set(level.labels):
                return f"; the attribute {level.name!r} of items {end}"
    texts = pa.array(list(filter(is_text, missing)), pa.string())
    if items is None or len(texts) < len(missing):
        return ""
    with suppress(Cube2netError):
        index = items()
        table = pa.table({}) if index.load_attributes is None else index.kept_attributes.table
        for name in table.column_names:
            kind = table[name].type
            if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
                held = pc.is_in(texts, value_set=pc.cast(table[name], pa.string()).combine_chunks())
                if pc.all(held).as_py():
                    return f"; the attribute {name!r} of items {end}"
    return ""


def _text(key: str | int) -> str:
    return key.strip() if isinstance(key, str) else quote(key)
