"""What is drawn out of one table of records: its objects, its items, and which item mentions which object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import SourceError
from cube2net.records.column_kinds import holds_text, is_list
from cube2net.records.keys import are_whole
from cube2net.records.limits import check_count
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows, attribute, keys
from cube2net.sources.tables.flat_columns import FlatColumns
from cube2net.sources.tables.table_corpus import Part


class FlatParts:
    """Draws objects, items and mentions out of the rows of a flat table."""

    def __init__(self, rows: Rows, columns: FlatColumns, separators: Mapping[str, str], dropped: Dropped) -> None:
        self.rows, self.columns, self.separators, self.dropped = rows, columns, separators, dropped
        ids = self._item_ids()
        encoded = ids.combine_chunks().dictionary_encode()
        self.item_ids = encoded.dictionary
        check_count("items", len(self.item_ids))
        self.item = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
        """The item of every row, -1 for none."""
        self.row, names = self._mentioned()
        mentioned = names.dictionary_encode()
        self.object_ids = mentioned.dictionary
        self.object = mentioned.indices.to_numpy().astype(np.int64)
        """The object of every mention, and in ``row`` the row that it stands in."""
        kept = self.item[self.row] >= 0
        self.row, self.object = self.row[kept], self.object[kept]
        check_count("objects", len(self.object_ids))
        if len(self.row) == 0:
            raise SourceError(f"no row of {rows.name} mentions an object: {columns.objects!r} is empty in all of them")
        self.first = _firsts(self.item, len(self.item_ids))

    def _item_ids(self) -> pa.ChunkedArray:
        name = self.columns.item
        if name is None:
            return pa.chunked_array([pa.array(np.arange(1, self.rows.table.num_rows + 1)).cast(pa.string())])
        ids = keys(self.rows, name)
        missing = np.flatnonzero(np.asarray(pc.is_null(ids))).tolist()
        self.dropped.drop_rows(
            "records without an id", self.rows.places, missing, lambda _: f"{name!r} is empty, expected an id"
        )
        return ids

    def _mentioned(self) -> tuple[Array, pa.Array]:
        """Return the row of every mention, and the id of the object mentioned there."""
        name = self.columns.objects
        column = self.rows.table[name]
        if self.columns.separator is not None and holds_text(column.type):
            column = pc.split_pattern(pc.cast(column, pa.string()), self.columns.separator)
        if is_list(column.type):
            column = column.combine_chunks()
            row = pc.list_parent_indices(column).to_numpy()
            inside = Rows(self.rows.name, pa.table({name: pc.list_flatten(column)}), self.rows.places)
        else:
            row, inside = np.arange(len(column), dtype=np.int64), self.rows
        ids = keys(inside, name)
        has = pc.is_valid(ids)
        row = row[np.asarray(has)].astype(np.int64)
        without = len(column) - len(np.unique(row))
        if without:
            self.dropped.say(f"{self.rows.name}: {without:,} rows mention no object")
        return row, pc.drop_null(ids).combine_chunks()

    def mentions(self) -> Part:
        """Return which item mentions which object, each pair once."""
        width = len(self.object_ids)
        pairs, first = np.unique(self.item[self.row] * width + self.object, return_index=True)
        item, thing = np.divmod(pairs, width)
        table = pa.table({"item": self.item_ids.take(pa.array(item)), "object": self.object_ids.take(pa.array(thing))})
        return self._drawn(table, self.row[first]), {"item": "item", "object": "object"}

    def items(self) -> Part:
        """Return the items with the attributes that their rows say of them."""
        columns = {"item": self.item_ids}
        roles, loose = {"item": "item"}, set()
        for name in self._carried:
            if name in self._only_of_objects:
                continue
            called = _free(name, columns)
            if name in self._several:
                columns[called] = self._united(name)
                continue
            columns[called] = self.rows.table[name].take(pa.array(self.first))
            loose |= {called} if name in self.rows.loose else set()
        if self.columns.text is not None:
            roles["text"] = _free("text", columns)
            columns[roles["text"]] = self.rows.table[self.columns.text].take(pa.array(self.first))
        return self._drawn(pa.table(columns), self.first, frozenset(loose)), roles

    def objects(self) -> Part:
        """Return the objects, with what their rows always say of them."""
        first = self.row[_firsts(self.object, len(self.object_ids))]
        columns = {"id": self._typed_ids, "kind": pa.repeat(pa.scalar(_kind(self.columns.objects)), len(first))}
        roles = {"id": "id", "kind": "kind"}
        if self.columns.name is not None:
            columns["name"] = self.rows.table[self.columns.name].take(pa.array(first))
            roles["name"] = "name"
        loose = set()
        for name in self._differing:
            if self._is_of_objects(name):
                called = _free(name, columns)
                columns[called] = self.rows.table[name].take(pa.array(first))
                loose |= {called} if name in self.rows.loose else set()
        return self._drawn(pa.table(columns), first, frozenset(loose)), roles

    @property
    def _typed_ids(self) -> pa.Array:
        """The ids of the objects, as whole numbers where the table has them so."""
        kind = self.rows.table.schema.field(self.columns.objects).type
        kind = kind.value_type if is_list(kind) or pa.types.is_dictionary(kind) else kind
        whole = pa.types.is_signed_integer(kind) or (pa.types.is_floating(kind) and are_whole(self.object_ids))
        return self.object_ids.cast(pa.int64()) if whole else self.object_ids

    @property
    def _carried(self) -> list[str]:
        roles = self.columns
        return [
            name
            for name in self.rows.table.column_names
            if name not in (roles.item, roles.objects, roles.name, roles.text)
        ]

    @cached_property
    def _differing(self) -> list[str]:
        """The columns whose values differ between the rows of an item."""
        rows = np.flatnonzero(self.item >= 0)
        if len(rows) == len(self.item_ids):
            return []
        return [name for name in self._carried if not self._is_one_of(name, self.item[rows], rows)]

    @cached_property
    def _several(self) -> dict[str, pa.ChunkedArray]:
        """The columns of labels that differ between the rows of an item."""
        labels = {name: self._labels(name) for name in self._differing}
        return {name: column for name, column in labels.items() if column is not None}

    @property
    def not_parted(self) -> dict[str, str]:
        """The separators of columns that are still to be parted."""
        return {name: mark for name, mark in self.separators.items() if name not in self._several}

    @cached_property
    def _only_of_objects(self) -> set[str]:
        """The columns of numbers and times of which an item has several and every object one: nothing of items."""
        return {name for name in self._differing if name not in self._several and self._is_of_objects(name)}

    def _is_of_objects(self, name: str) -> bool:
        return self._is_one_of(name, self.object, self.row)

    def _labels(self, name: str) -> pa.ChunkedArray | None:
        """Return a column of labels, of which an item may have several; None of others, where the first one counts.

        Whole numbers are labels where they are those of the objects, as the years of films that a person has seen.
        """
        made = attribute(self.rows, name, Dropped(), self.separators.get(name))
        if made is None:
            return None
        if pa.types.is_boolean(made.type) or (pa.types.is_integer(made.type) and self._is_of_objects(name)):
            made = made.cast(pa.string())
        labels = holds_text(made.type) or is_list(made.type)
        if labels:
            what = "are several labels of it"
        else:
            what = "are of the objects alone" if self._is_of_objects(name) else "do not count but for the first"
        self.dropped.say(f"{self.rows.name}: values of {name!r} that differ between the rows of an item {what}")
        return made if labels else None

    def _is_one_of(self, name: str, owner: Array, rows: Array) -> bool:
        """Return whether a column holds one value for every owner; ``owner`` owns the rows of the same place."""
        column = self.rows.table[name].combine_chunks()
        if is_list(column.type):
            column = pa.array([str(value) for value in column.to_pylist()])
        elif not pa.types.is_dictionary(column.type):
            try:
                column = column.dictionary_encode()
            except pa.ArrowNotImplementedError:
                return True
        codes = column.indices if pa.types.is_dictionary(column.type) else column.dictionary_encode().indices
        value = np.asarray(pc.fill_null(codes, -1)).astype(np.int64)[rows]
        return bool(np.array_equal(value, value[_firsts(owner, int(owner.max()) + 1)[owner]]))

    def _united(self, name: str) -> pa.Array:
        """Return the labels that all rows of an item give it, each once, in their order."""
        column = self._several[name]
        if is_list(column.type):
            column = column.combine_chunks()
            row = pc.list_parent_indices(column).to_numpy()
            labels = pc.list_flatten(column)
        else:
            row, labels = np.arange(len(column)), column.combine_chunks()
        encoded = labels.dictionary_encode()
        code = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
        item = self.item[row]
        kept = (code >= 0) & (item >= 0)
        _, first = np.unique(item[kept] * max(len(encoded.dictionary), 1) + code[kept], return_index=True)
        first.sort()
        item, code = item[kept][first], code[kept][first]
        order = np.argsort(item, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=len(self.item_ids)))])
        return pa.ListArray.from_arrays(
            pa.array(ends.astype(np.int32)), encoded.dictionary.take(pa.array(code[order])).cast(pa.string())
        )

    def _drawn(self, table: pa.Table, origin: Array, loose: frozenset[str] = frozenset()) -> Rows:
        """Return rows that were drawn from rows of the flat table, whose places they have."""
        places = self.rows.places
        return Rows(self.rows.name, table, lambda some: places([int(origin[row]) for row in some]), loose)


def _firsts(owner: Array, count: int) -> Array:
    """Return the first place of every owner; -1 owns nothing.

    >>> _firsts(np.array([0, 0, 2, 1, 2]), 3).tolist()
    [0, 3, 2]
    """
    first = np.zeros(count, dtype=np.int64)
    places = np.flatnonzero(owner >= 0)[::-1]
    first[owner[places]] = places
    return first


def _kind(column: str) -> str:
    """Return what objects are, by the name of their column.

    >>> _kind("author_ids"), _kind("Authors"), _kind("business"), _kind("id")
    ('author', 'author', 'business', 'object')
    """
    word = re.sub(r"[ _-]*ids?$", "", column.strip(), flags=re.IGNORECASE).casefold()
    return (word[:-1] if word.endswith("s") and not word.endswith("ss") else word) or "object"


def _free(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name += "_"
    return name
