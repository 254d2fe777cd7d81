"""What a source hands on: objects, items, who is mentioned where, and links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import SourceError, listed, quoted, some
from cube2net.escaping import counted
from cube2net.records.keys import are_whole
from cube2net.records.limits import check_count
from cube2net.records.link_weights import LIGHTEST
from cube2net.records.spec import DimensionSpec

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
"""Ids are looked at in parts where there are so many, and so few last letters."""
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
        raise SourceError(f"{quoted(error.object)} is no text that a file can hold: it has half a sign") from None


@dataclass(frozen=True, eq=False)
class Corpus:
    """Raw data in one shape, whatever file it came from.

    ``objects(object, name, kind, …attributes)`` are the nodes: a unique id, a readable name, a kind ("author",
    "business"), and whatever else is known of each. ``whole_ids`` says that these ids are whole numbers, written as
    texts here. ``items(item, …attributes, text)`` carry attributes: strings, numbers,
    lists of strings, dates; ``text`` may be absent. ``mentions(item, object)`` says which items mention
    which objects, and ``links(source, target, weight)`` which objects are linked; in both, objects and
    items are given by their row number. A weight is 1e-30 or more, or 0 for a link that is there and has no
    strength. ``links`` may be None: then two objects are linked when an item mentions both. Links may have the
    columns ``kind`` (text), ``time`` (as an attribute of items) and ``item`` (the row of the item that states it), and
    ``directed`` says that they lead from source to target. ``time`` names the attribute of items that says when each
    was, or is empty. ``gone`` are the ids of items that are no more, such as papers that were withdrawn or merged into
    others: an update takes them out of a cube. ``terms(item, term, count)`` may stand in for the text.
    ``labels(attribute, label, full_name, parent)`` holds what is known of an attribute's values. ``dimensions`` is how
    the source would make a cube of itself, and ``dropped`` counts what it left out, by reason. ``source`` says how it
    was read, for a cube to remember: the source's ``name`` and its parameters as they were decided, and no paths.
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
                f"items have no attribute {self.time!r}, said to be their time: they have {listed(self.attributes)}"
            )
        object.__setattr__(self, "gone", _ids(self.gone))
        if len(self.gone):
            both = self.items["item"].filter(pc.is_in(self.items["item"], value_set=self.gone)).to_pylist()
            if both:
                raise SourceError(f"{len(both):,} items are said to be gone, and are there: {some(both)}")
        if self.terms is not None:
            _check(self.terms, TERMS, "terms")
            _within(self.terms, "item", self.items.num_rows, "terms")

    def __repr__(self) -> str:
        links = "links by co-mention" if self.links is None else counted(self.links.num_rows, "link")
        return f"Corpus({counted(self.objects.num_rows, 'object')}, {counted(self.items.num_rows, 'item')}, {links})"

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of what an item carries, besides its id and its text."""
        return tuple(name for name in self.items.column_names if name not in ("item", "text"))

    @property
    def object_attributes(self) -> tuple[str, ...]:
        """The names of what an object carries itself, besides its id, name and kind."""
        return tuple(name for name in self.objects.column_names if name not in OBJECTS)


def _ids(ids: pa.Array | pa.ChunkedArray | Sequence[str]) -> pa.Array:
    """Return ids as one Arrow array of texts, each once, in their order."""
    try:
        texts = ids.cast(pa.string()) if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids, pa.string())
    except (pa.ArrowException, TypeError):
        raise SourceError(f"gone is {ids!r}, expected the ids of items, which are texts") from None
    return pc.drop_null(texts.unique())


def _check(rows: pa.Table, columns: Mapping[str, pa.DataType], what: str) -> None:
    for name, kind in columns.items():
        if name not in rows.column_names:
            raise SourceError(f"{what} have no column {name!r}: they have {listed(rows.column_names)}")
        if rows.schema.field(name).type != kind:
            raise SourceError(f"{what} column {name!r} holds {rows.schema.field(name).type}, expected {kind}")


def _check_details(links: pa.Table, items: int) -> None:
    """Raise where what links say besides their weight is not of the right type."""
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
        raise SourceError(f"{what} name {len(names):,} ids twice or more: {some(names)}")


def _count_distinct(ids: pa.ChunkedArray) -> int:
    """Return how many different ids there are; of very many, those with the same last letter at a time."""
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
