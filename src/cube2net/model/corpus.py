"""The corpus that a source hands on: objects, items, mentions, links and topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import LIGHTEST, Array
from cube2net._util.text import format_count
from cube2net.errors import InputError, SourceError, join_names, quote, quote_few
from cube2net.model.dimension import DimensionSpec
from cube2net.model.objects import are_whole
from cube2net.model.tables import Tabular


def is_list(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds lists.

    >>> is_list(pa.large_list(pa.string())), is_list(pa.list_view(pa.string())), is_list(pa.string())
    (True, True, False)
    """
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests) or "list_view" in str(kind)


def holds_text(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def decode(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return a column whose values are written out, where it keeps each of them once.

    >>> decode(pa.array(["a", "b", "a"]).dictionary_encode()).type
    DataType(string)
    """
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
    return column.dictionary_decode()


def texts_of_rows(column: pa.Array) -> tuple[Array, pa.Array]:
    """Return the texts of a column, trimmed and without empty ones, and the row of each; those of a list one by one.

    >>> rows, texts = texts_of_rows(pa.array([["b ", "a"], None, ["", "a"]]))
    >>> rows.tolist(), texts.to_pylist()
    ([0, 0, 2], ['b', 'a', 'a'])
    """
    if is_list(column.type):
        rows, column = pc.list_parent_indices(column).to_numpy().astype(np.int64), pc.list_flatten(column)
    else:
        rows = np.arange(len(column))
    column = decode(column)
    kind = column.type if pa.types.is_large_string(column.type) else pa.string()
    texts = pc.utf8_trim_whitespace(pc.cast(column, kind))
    keep = np.asarray(pc.fill_null(pc.not_equal(texts, ""), False))
    return rows[keep], texts.filter(pa.array(keep))


def distinct_pairs(rows: Array, codes: Array, count: int) -> tuple[Array, Array]:
    """Return pairs of a row and a code below ``count``, ascending and each once.

    >>> [found.tolist() for found in distinct_pairs(np.array([0, 0, 0, 1]), np.array([2, 1, 2, 0]), 3)]
    [[0, 0, 1], [1, 2, 0]]
    """
    width = max(count, 1)
    pairs = rows.astype(np.int64) * width + codes
    if bool(np.any(pairs[1:] <= pairs[:-1])):  # a row with several
        pairs = np.sort(pairs)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    found, code = np.divmod(pairs, width)
    return found, code


MOST = 2**31 - 1
"""The highest number of objects, items, cells, labels of a dimension, and memberships of one network."""
CELLS = "cells, small ones too"


def check_count(what: str, count: int) -> None:
    """Raise an error if there are more of something than a cube can number.

    >>> check_count("objects", 3_000_000_000)
    Traceback (most recent call last):
    cube2net.errors.SourceError: there are 3,000,000,000 objects, and a cube holds up to 2,147,483,647: part them
    """
    if count > MOST:
        raise SourceError(f"there are {count:,} {what}, and a cube holds up to {MOST:,}: part them")


UNKNOWN_OBJECTS = "mentions of unknown objects"
"""What a source says it left out where an item mentions an object that no table lists."""
CITED_ELSEWHERE = "citations of works that are not there"
"""What a source of works says it left out where one cites a work that no file has."""
OBJECTS = {"object": pa.string(), "name": pa.string(), "kind": pa.string()}
MENTIONS = {"item": pa.int32(), "object": pa.int32()}
LINKS = {"source": pa.int32(), "target": pa.int32(), "weight": pa.float32()}
LINK_DETAILS = ("kind", "time", "item")
"""What else a link may say: its kind (a text), its time, and the item that states it (by row)."""
TERMS = {"item": pa.int32(), "term": pa.string(), "count": pa.int32()}
MANY, FEW = 1 << 20, 64
"""From this number of ids on, with at most this number of last letters, ids are compared in parts."""
LABELS = {"attribute": pa.string(), "label": pa.string(), "full_name": pa.string(), "parent": pa.string()}


def table(columns: Mapping[str, pa.DataType], **values: object) -> pa.Table:
    """Return an Arrow table with exactly these columns and types; a column not given is empty.

    >>> table(MENTIONS, item=[0, 0], object=[1, 2]).num_rows
    2
    """
    given = {name: pa.array([], kind) if values.get(name) is None else values[name] for name, kind in columns.items()}
    try:
        return pa.table(given, schema=pa.schema(list(columns.items())))
    except UnicodeEncodeError as error:
        raise SourceError(f"{quote(error.object)} is no text that a file can hold: it has half a sign") from None


@dataclass(frozen=True, eq=False)
class Corpus(Tabular):
    """The data of a source in a common form: items, objects, mentions and links.

    Objects and items are referred to by their row numbers. A corpus reads as the table of its items: ``len(corpus)``,
    ``corpus["year"]``, ``corpus.head()``.

    Attributes
    ----------
    objects
        ``object, name, kind, …``: a unique id, a name and a kind ("author") for each object, and its attributes.
    items
        ``item, …, text``: an id and attributes (strings, numbers, lists of strings, dates) for each item; the text is
        optional.
    mentions
        ``item, object``: which items mention which objects.
    links
        ``source, target, weight`` and optionally ``kind``, ``time`` and ``item`` (the item that states the link).
        Weights are 1e-30 or more, or 0 for a link without strength. If None, two objects are linked if an item mentions
        both.
    terms
        ``item, term, count``: replaces the texts of items.
    labels
        ``attribute, label, full_name, parent``: the full names and parents of the values of attributes.
    dimensions
        The dimensions that the source suggests.
    dropped
        How many records were left out, by reason.
    attribution
        The origin and licence of the data.
    time
        The attribute with the time of an item, empty if there is none.
    directed
        Whether links are directed from source to target.
    whole_ids
        Whether the ids of objects are integers, which are stored as strings here.
    gone
        The ids of items that no longer exist, such as withdrawn papers; an update removes them from a cube.
    source
        The name and parameters of the source, without paths, so that an update reads new files in the same way.
    """

    objects: pa.Table
    items: pa.Table
    mentions: pa.Table
    links: pa.Table | None = None
    terms: pa.Table | None = None
    labels: pa.Table = field(default_factory=lambda: table(LABELS))
    dimensions: tuple[DimensionSpec, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    attribution: str = ""
    time: str = ""
    directed: bool = False
    whole_ids: bool = False
    gone: pa.Array | Sequence[str] = ()
    source: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count("objects", self.objects.num_rows)
        check_count("items", self.items.num_rows)
        _check(self.objects, OBJECTS, "objects")
        _check(self.items, {"item": pa.string()}, "items")
        _check(self.mentions, MENTIONS, "mentions")
        _check(self.labels, LABELS, "labels")
        _unique(self.objects, "object", "objects")
        _unique(self.items, "item", "items")
        if self.whole_ids and not are_whole(self.objects["object"]):
            raise SourceError("the ids of objects are said to be whole numbers, and some are none of 64 bits")
        _within(self.mentions, "item", self.items.num_rows, "mentions")
        _within(self.mentions, "object", self.objects.num_rows, "mentions")
        if self.links is not None:
            _check(self.links, LINKS, "links")
            _within(self.links, "source", self.objects.num_rows, "links")
            _within(self.links, "target", self.objects.num_rows, "links")
            _check_details(self.links, self.items.num_rows)
            weights = self.links["weight"]
            light = pa.scalar(LIGHTEST, pa.float32())
            good = pc.or_(pc.equal(weights, 0), pc.and_(pc.greater_equal(weights, light), pc.is_finite(weights)))
            bad = pc.sum(pc.fill_null(pc.invert(good), True))
            if bad.as_py():
                raise SourceError(
                    f"links have {bad.as_py():,} weights that are negative, missing, not finite or below {LIGHTEST:g}, "
                    "expected 0 or more"
                )
        if self.time and self.time not in self.attributes:
            raise SourceError(
                f"items have no attribute {self.time!r}, said to be their time: they have {join_names(self.attributes)}"
            )
        try:
            ids = self.gone if isinstance(self.gone, pa.Array | pa.ChunkedArray) else pa.array(self.gone, pa.string())
            object.__setattr__(self, "gone", pc.drop_null(ids.cast(pa.string()).unique()))
        except (pa.ArrowException, TypeError):
            raise SourceError(f"gone is {self.gone!r}, expected the ids of items, which are texts") from None
        if len(self.gone):
            both = self.items["item"].filter(pc.is_in(self.items["item"], value_set=self.gone)).to_pylist()
            if both:
                raise SourceError(f"{len(both):,} items are said to be gone, and are there: {quote_few(both)}")
        if self.terms is not None:
            _check(self.terms, TERMS, "terms")
            _within(self.terms, "item", self.items.num_rows, "terms")

    def __repr__(self) -> str:
        links = "links by co-mention" if self.links is None else format_count(self.links.num_rows, "link")
        objects, items = format_count(self.objects.num_rows, "object"), format_count(self.items.num_rows, "item")
        return f"Corpus({objects}, {items}, {links})"

    def to_arrow(self) -> pa.Table:
        """Return the items as an Arrow table."""
        return self.items

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes of items, besides id and text."""
        return tuple(name for name in self.items.column_names if name not in ("item", "text"))

    @property
    def object_attributes(self) -> tuple[str, ...]:
        """The names of the attributes of objects, besides id, name and kind."""
        return tuple(name for name in self.objects.column_names if name not in OBJECTS)


def _check(rows: pa.Table, columns: Mapping[str, pa.DataType], what: str) -> None:
    for name, kind in columns.items():
        if name not in rows.column_names:
            raise SourceError(f"{what} have no column {name!r}: they have {join_names(rows.column_names)}")
        if rows.schema.field(name).type != kind:
            raise SourceError(f"{what} column {name!r} holds {rows.schema.field(name).type}, expected {kind}")


def _check_details(links: pa.Table, items: int) -> None:
    """Raise an error if the kinds, times or items of links have a wrong type."""
    kinds = {name: links.schema.field(name).type for name in LINK_DETAILS if name in links.column_names}
    if "kind" in kinds:
        _check(links, {"kind": pa.string()}, "links")
    if "item" in kinds:
        _check(links, {"item": pa.int32()}, "links")
        _within(links, "item", items, "links")
    time = kinds.get("time")
    if time is not None and not any(
        kind(time) for kind in (pa.types.is_date, pa.types.is_timestamp, pa.types.is_integer)
    ):
        raise SourceError(
            f"links column 'time' holds {time}, expected dates, timestamps or whole numbers such as years"
        )


def _unique(rows: pa.Table, column: str, what: str) -> None:
    if rows[column].null_count:
        raise SourceError(f"{what} have {rows[column].null_count:,} rows without an id in column {column!r}")
    if _count_distinct(rows[column]) != rows.num_rows:
        counts = pc.value_counts(rows[column])
        twice = counts.filter(pc.greater(pc.struct_field(counts, "counts"), 1))
        names = pc.struct_field(twice, "values").to_pylist()
        raise SourceError(f"{what} name {len(names):,} ids twice or more: {quote_few(names)}")


def _count_distinct(ids: pa.ChunkedArray) -> int:
    """Return the number of distinct ids; very many are counted by their last letters, to save memory."""
    if len(ids) < MANY:
        return int(pc.count_distinct(ids).as_py())
    last = pc.utf8_slice_codeunits(ids, -1).dictionary_encode().unify_dictionaries()
    ends = pa.chunked_array([chunk.indices for chunk in last.chunks])
    kinds = len(last.chunk(0).dictionary)
    if kinds > FEW:
        return int(pc.count_distinct(ids).as_py())
    return sum(int(pc.count_distinct(ids.filter(pc.equal(ends, kind))).as_py()) for kind in range(kinds))


def _within(rows: pa.Table, column: str, count: int, what: str) -> None:
    if rows.num_rows == 0:
        return
    if rows[column].null_count:
        raise SourceError(f"{what} have {rows[column].null_count:,} empty entries in column {column!r}")
    ends = pc.min_max(rows[column]).as_py()
    if ends["min"] < 0 or ends["max"] >= count:
        bad = ends["min"] if ends["min"] < 0 else ends["max"]
        raise SourceError(f"{what} column {column!r} points to row {bad:,} of a table of {count:,} rows")


ASSIGNED = {"item": pa.int32(), "topic": pa.int32(), "weight": pa.float32()}
WORDS = {"topic": pa.int32(), "term": pa.string(), "weight": pa.float32()}
NO_TEXT = "no text"


@dataclass(frozen=True, eq=False)
class Topics:
    """Topics with readable names, and the topics of each item.

    ``assigned(item, topic, weight)`` has one or more rows per item, given by row number. ``words(topic, term, weight)``
    are the heaviest terms of each topic in descending order. ``parents`` are the groups of the topics, if they are
    grouped. ``settings`` has what is needed to find them again, and ``model`` is the trained model as a table, if any.
    """

    names: tuple[str, ...]
    assigned: pa.Table
    words: pa.Table
    parents: tuple[str, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    model: pa.Table | None = None

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise InputError("two topics have the same name")
        if self.parents is not None and len(self.parents) != len(self.names):
            raise InputError(f"there are {len(self.names)} topics and {len(self.parents)} parents")
        for rows, columns in ((self.assigned, ASSIGNED), (self.words, WORDS)):
            if dict(zip(rows.schema.names, rows.schema.types, strict=True)) != columns:
                raise InputError(f"a table of topics has columns {rows.schema.names}, expected {list(columns)}")
            ends = pc.min_max(rows["topic"]).as_py()
            if rows.num_rows and not 0 <= ends["min"] <= ends["max"] < len(self.names):
                raise InputError("a table of topics names a topic that does not exist")

    def __repr__(self) -> str:
        return f"Topics({len(self.names)} topics, {self.assigned.num_rows:,} assignments)"
