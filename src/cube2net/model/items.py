"""The items of a cube: the objects and cells of each, and their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Ragged
from cube2net.errors import CubeError, ParameterError, Setting, SourceError, quote_few

ROWS = 1 << 18
"""Rows of a batch."""
SAMPLED_ROWS = 1 << 16
"""The number of rows that decide how the texts of a column are kept."""


@dataclass(frozen=True, eq=False)
class ItemAttributes:
    """Rows of attributes that came in parts, one after the other, in the columns of the first part.

    All rows together decide how they are kept, not the parts: texts are plain, or numbers of a dictionary of all texts
    in the order in which they first come, whichever is smaller for the first rows.

    >>> first = ItemAttributes.of(pa.table({"item": ["p1", "p2"], "venue": ["KDD", None], "text": ["so", "so"]}))
    >>> both = first.plus(pa.table({"item": ["p3"], "pages": [12], "venue": ["ACL"]}))
    >>> both.table.to_pylist()
    [{'venue': 'KDD'}, {'venue': None}, {'venue': 'ACL'}]
    """

    parts: tuple[pa.Table, ...]
    written: bool = False
    """Whether the one part there is was kept before, and is as it was."""

    @classmethod
    def of(cls, items: pa.Table) -> ItemAttributes:
        """Return the attributes of items: all columns except ids and texts."""
        return cls((items.select([name for name in items.column_names if name not in ("item", "text")]),))

    def __len__(self) -> int:
        return sum(part.num_rows for part in self.parts)

    def __repr__(self) -> str:
        return f"ItemAttributes({len(self):,} items: {', '.join(self.names)})"

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        return list(self.parts[0].column_names)

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """What every attribute holds: the least that holds the values of all parts."""
        kinds = {name: plain_type(self.parts[0].schema.field(name).type) for name in self.names}
        for part in self.parts[1:]:
            kinds = {name: _join_types(kind, part.schema.field(name).type, name) for name, kind in kinds.items()}
        return kinds

    @cached_property
    def table(self) -> pa.Table:
        """All attributes, one row per item."""
        if self.written:
            return self.parts[0]
        return pa.Table.from_batches(self.batches(), self.schema)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns as they are kept."""
        if self.written:
            return self.parts[0].schema
        texts = pa.dictionary(pa.int32(), pa.string())
        types = {name: pa.list_(texts) if pa.types.is_list(self.types[name]) else texts for name in self._dictionaries}
        return pa.schema([(name, types.get(name, self.types[name])) for name in self.names])

    def plus(self, items: pa.Table) -> ItemAttributes:
        """Return these attributes with those of more items; what only these have is left out, what they lack is empty.

        Values of another type are brought to that of the first where the two do not go together.
        """
        columns = {}
        for name, kind in self.types.items():
            column = items[name] if name in items.column_names else pa.nulls(items.num_rows)
            found = plain_type(column.type)
            if _join_types(kind, found, name) == kind and found != kind:
                try:
                    empty = column.null_count == len(column)
                    column = pa.nulls(len(column), kind) if empty else _plain(column).cast(kind)
                except pa.ArrowException:
                    raise SourceError(
                        f"attribute {name!r} of the new items holds {found}, and {kind} in the cube: "
                        "give it the same type"
                    ) from None
            columns[name] = column
        more = pa.table(columns) if columns else items.select([])
        return ItemAttributes((*self.parts, more)) if len(self) else ItemAttributes((more,))

    def column(self, name: str) -> pa.ChunkedArray:
        """Return one attribute of all items, its texts plain."""
        pieces = [_plain(chunk).cast(self.types[name]) for part in self.parts for chunk in part[name].chunks]
        return pa.chunked_array(pieces, self.types[name])

    def rows(self, numbers: Array) -> pa.Table:
        """Return the attributes of some items, their texts plain."""
        taken = self.table.take(pa.array(numbers))
        columns = {name: _plain(taken[name]).cast(self.types[name]) for name in self.names}
        return pa.table(columns) if columns else taken

    def only(self, mask: Array) -> dict[str, pa.ChunkedArray]:
        """Return the attributes of the items that are marked by name, their texts plain."""
        kept = self.table.filter(pa.array(mask)) if self.names else None
        return {} if kept is None else {name: _plain(kept[name]).cast(self.types[name]) for name in self.names}

    def batches(self, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Yield all rows as they are kept; only those of one batch are in memory at a time."""
        for start in range(0, len(self), rows):
            count = min(rows, len(self) - start)
            pieces = [part.slice(*span) for part, span in zip(self.parts, self._spans(start, count), strict=True)]
            arrays = [self._encode(name, [piece[name] for piece in pieces]) for name in self.names]
            if arrays:
                yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)
            else:
                yield from pa.table({"item": pa.nulls(count)}).select([]).to_batches()

    def _spans(self, start: int, count: int) -> list[tuple[int, int]]:
        """Return the first row and the number of rows in every part, for ``count`` rows from ``start`` on."""
        spans, at = [], 0
        for part in self.parts:
            first = min(max(start - at, 0), part.num_rows)
            spans.append((first, min(max(start + count - at, 0), part.num_rows) - first))
            at += part.num_rows
        return spans

    @cached_property
    def _dictionaries(self) -> dict[str, pa.Array]:
        """The texts of every attribute that is kept by their numbers, in the order in which they come."""
        found = {}
        for name, kind in self.types.items():
            if kind in (pa.string(), pa.list_(pa.string())) and self._repeats(name):
                found[name] = _join_texts([chunk for part in self.parts for chunk in part[name].chunks])
        return found

    def _repeats(self, name: str) -> bool:
        """Return whether the first texts of an attribute take less space as numbers of a dictionary."""
        pieces = [part[name].slice(*span) for part, span in zip(self.parts, self._spans(0, SAMPLED_ROWS), strict=True)]
        texts = pa.chunked_array([_flat(_plain(chunk)) for piece in pieces for chunk in piece.chunks], pa.string())
        once = texts.unique()
        size = pc.sum(pc.binary_length(once)).as_py() or 0
        return bool(size + 4 * len(once) < (pc.sum(pc.binary_length(texts)).as_py() or 0))

    def _encode(self, name: str, pieces: list[pa.ChunkedArray]) -> pa.Array:
        """Return the values of a batch as they are kept, including those under nulls."""
        chunks = [chunk for piece in pieces for chunk in piece.chunks if len(chunk)]
        chunks = [chunk.cast(self.types[name]) if pa.types.is_null(chunk.type) else chunk for chunk in chunks]
        values = self._dictionaries.get(name)
        if values is None:
            return _tidy(pa.concat_arrays([_plain(chunk).cast(self.types[name]) for chunk in chunks]))
        numbers = pa.concat_arrays([_number_values(chunk, values) for chunk in chunks])
        if not pa.types.is_list(numbers.type):
            return pa.DictionaryArray.from_arrays(_tidy(numbers), values)
        numbers = _tidy(numbers)
        texts = pa.DictionaryArray.from_arrays(numbers.values, values)
        mask = numbers.is_null() if numbers.null_count else None
        return pa.ListArray.from_arrays(numbers.offsets, texts, mask=mask)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return a type with texts and lists in their usual form, and without dictionaries.

    >>> plain_type(pa.large_list(pa.dictionary(pa.int8(), pa.large_string())))
    ListType(list<item: string>)
    """
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain_type(kind.value_type))
    return kind


def _join_types(first: pa.DataType, second: pa.DataType, name: str) -> pa.DataType:
    """Return the type that holds the values of both, or else the first's."""
    both = [pa.schema([(name, plain_type(kind))]) for kind in (first, second)]
    try:
        return plain_type(pa.unify_schemas(both, promote_options="permissive").field(0).type)
    except pa.ArrowException:
        return both[0].field(0).type


def _plain(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return values without dictionaries, and texts and lists in their usual form."""
    return values.cast(plain_type(values.type))


def _flat(chunk: pa.Array) -> pa.Array:
    """Return the texts of a column of texts or of lists of them."""
    return chunk.flatten() if pa.types.is_list(chunk.type) or pa.types.is_large_list(chunk.type) else chunk


def _join_texts(chunks: list[pa.Array]) -> pa.Array:
    """Return every text of some chunks once, in the order in which they come."""
    found = []
    for chunk in map(_flat, chunks):
        if pa.types.is_dictionary(chunk.type):
            once = chunk.dictionary.take(pc.drop_null(chunk.indices.unique()))
        else:
            once = chunk.unique()
        found.append(once.cast(pa.string()))
    return pc.drop_null(pa.chunked_array(found, pa.string()).unique())


def _number_values(chunk: pa.Array, values: pa.Array) -> pa.Array:
    """Return the numbers of texts, or lists of numbers, among the values of a dictionary."""
    if pa.types.is_list(chunk.type) or pa.types.is_large_list(chunk.type):
        lists = chunk.take(pa.array(np.arange(len(chunk))))
        mask = lists.is_null() if lists.null_count else None
        offsets = lists.offsets.cast(pa.int32())
        return pa.ListArray.from_arrays(offsets, _number_values(lists.values, values), mask=mask)
    if pa.types.is_dictionary(chunk.type):
        return _number_values(chunk.dictionary, values).take(chunk.indices)
    return pc.index_in(chunk.cast(pa.string()), value_set=values)


def _tidy(values: pa.Array) -> pa.Array:
    """Return the same values with nothing under nulls, so that equal values have equal bytes."""
    return values.take(pa.array(np.arange(len(values))))


@dataclass(frozen=True, eq=False)
class ItemIndex:
    """Items by number, in their original order: the objects that each mentions, and the cells that it is in.

    Numbers of cells below ``len(cube.cells)`` refer to ``cube.cells``; higher ones, minus that length, to
    ``cube.small``. An item is in a cell if it has all labels of the cell and mentions an object. ``derived`` says
    whether links come from these items: two objects are linked if an item mentions both. ``load`` returns the ids of
    items.

    If the cube has them, ``load_attributes`` returns the attributes of the items, ``topics`` are the numbers of their
    topics in the ledger, and ``texts`` are 64-bit hashes of the texts the topics were found in. ``gone`` marks removed
    items, which mention nothing.
    """

    objects: Ragged
    cells: Ragged
    derived: bool
    load: Callable[[], pa.ChunkedArray]
    load_attributes: Callable[[], ItemAttributes] | None = None
    topics: Ragged | None = None
    texts: Array | None = None
    gone: Array | None = None

    def __post_init__(self) -> None:
        if len(self.objects) != len(self.cells):
            raise CubeError(f"{len(self.objects):,} items mention objects and {len(self.cells):,} are in cells")
        for part in (self.topics, self.texts):
            if part is not None and len(part) != len(self):
                raise CubeError(f"{len(self):,} items have topics or texts of {len(part):,}")

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        return f"ItemIndex({len(self):,} items, {len(self.objects.indices):,} mentions)"

    @cached_property
    def ids(self) -> pa.ChunkedArray:
        """The ids of all items."""
        ids = self.load()
        if len(ids) != len(self):
            raise CubeError(f"{len(self):,} items have {len(ids):,} ids")
        return ids

    @cached_property
    def kept_attributes(self) -> ItemAttributes:
        """The stored attributes of all items."""
        if self.load_attributes is None:
            raise CubeError(
                "the cube does not keep the attributes of its items: build it again to have them",
                hint=Setting("items", "all"),
            )
        found = self.load_attributes()
        if len(found) != len(self):
            raise CubeError(f"{len(self):,} items have attributes of {len(found):,}")
        return found

    @property
    def attributes(self) -> pa.Table:
        """The attributes of all items, one row each, without ids and texts."""
        return self.kept_attributes.table

    def newly(self, gone: Array) -> int:
        """Return the number of marked items that were not removed before."""
        return int((gone if self.gone is None else gone & ~self.gone).sum())

    def find(self, ids: Sequence[str]) -> Array:
        """Return the numbers of items by id."""
        wanted = pa.array(dict.fromkeys(ids), pa.string())
        hits = pc.index_in(self.ids, value_set=wanted)
        rows = np.flatnonzero(np.asarray(pc.is_valid(hits)))
        known = dict(zip(self.ids.take(pa.array(rows)).to_pylist(), rows.tolist(), strict=True))
        lost = [text for text in wanted.to_pylist() if text not in known]
        if lost:
            plural = "1 item is" if len(lost) == 1 else f"{len(lost):,} items are"
            raise ParameterError(f"{plural} not in the cube: {quote_few(lost)}")
        return np.array([known[text] for text in ids], dtype=np.int64)

    def mentioning(self, objects: Sequence[int] | Array, least: int = 1) -> Array:
        """Return the items that mention at least a number of the given objects, ascending."""
        rows = self.objects
        wanted = np.asarray(objects, dtype=np.int64)
        highest = max(int(rows.indices.max(initial=-1)), int(wanted.max(initial=-1)))
        asked = np.zeros(highest + 1, dtype=bool)
        asked[wanted] = True
        before = np.zeros(len(rows.indices) + 1, dtype=np.int64)
        np.cumsum(asked[rows.indices], out=before[1:])
        return np.flatnonzero(before[rows.indptr[1:]] - before[rows.indptr[:-1]] >= least)
