"""One table of records becomes a corpus: a row for every mention (paper, author), or lists of objects in a column.

Items, mentions and objects are drawn from it. What differs between the rows of an item becomes several labels of it,
and what is the same wherever an object stands is an attribute of the object, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import Setting, SingleTableError, SourceError, some
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows, attribute, check_column, keys
from cube2net.io.tables.link_columns import are_years
from cube2net.io.tables.list_columns import column_separator, label_separators, list_column, record_column
from cube2net.io.tables.table_corpus import Part, item_corpus
from cube2net.io.tables.table_roles import SPELLINGS, plain
from cube2net.model.corpus import Corpus, check_count, decoded, holds_text, is_list
from cube2net.model.objects import are_whole

SEPARATORS = (";", "|")
"""What parts several objects in one text, where nothing is said of it."""
OFTEN = 0.2
"""The share of texts in which a separator stands, to be taken for one."""
SAMPLED = 10_000
PEOPLE = ("people", "creator", "actor", "cast")
REFERS = 0.8
"""A column whose values are such a share of another's, which are all different, names other rows."""


@dataclass(frozen=True)
class FlatColumns:
    """Which column of a flat table is what; without ``item`` every row is an item of its own.

    >>> print(FlatColumns("authors", item="paper", separator=";", guessed=("objects", "separator")))
    objects='authors' (guessed), parted at ';' (guessed), item='paper' (given)
    """

    objects: str
    item: str | None = None
    name: str | None = None
    text: str | None = None
    separator: str | None = None
    guessed: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = []
        for role in ("objects", "separator", "item", "name", "text"):
            value = getattr(self, role)
            if value is not None:
                how = "guessed" if role in self.guessed else "given"
                shown = "line breaks" if value == "\n" else repr(value)
                said.append(f"{'parted at ' if role == 'separator' else role + '='}{shown} ({how})")
        return ", ".join(said) + ("" if self.item else ", every row an item of its own")


def guess_flat(
    rows: Rows, given: Mapping[str, str], separators: Mapping[str, str], *, by_values: bool = False
) -> FlatColumns:
    """Return which column of a flat table is what: as given, else by their names and what they hold.

    With ``by_values`` any column may hold the objects whose texts are lists of names that come again in other rows.
    """
    names = rows.table.column_names
    for role, name in given.items():
        check_column(rows, role, name)
    objects = given.get("objects") or _objects_column(rows, given)
    if by_values and "objects" not in given and (objects is None or not _holds_several(rows, objects, separators)):
        objects = list_column(rows) or objects
    if objects is None:
        raise _single_table_error(
            rows,
            "columns of its records and of the objects they mention",
            [Setting("item", "paper"), ", ", Setting("objects", "author")],
        )
    separator = separators.get(objects) or _separator(rows, objects)
    if separator is None and (by_values or "objects" in given):
        separator = column_separator(rows, objects, named=True)
    several = separator is not None or is_list(rows.table.schema.field(objects).type)
    free = [name for name in names if name not in (objects, *given.values())]
    item = given.get("item") or _item_column(rows, free, several)
    if item is None and several and by_values:
        item = record_column(rows, objects)
    if item is None and not several:
        if "objects" in given:
            raise SourceError(
                f"{rows.name} needs a column that says what record a row belongs to (",
                Setting("item"),
                f"): it has {some(names, 20)}{_said_of_twice(rows)}",
                parameter="item",
            )
        raise _single_table_error(
            rows, f"column of the records that its rows mention {objects!r} in", [Setting("item", "paper")]
        )
    free = [name for name in free if name != item]
    called = given.get("name") or (None if several else _named(objects, free))
    text = given.get("text") or _spelled(free, SPELLINGS["items"]["text"])
    if text is not None and "text" not in given and not holds_text(rows.table.schema.field(text).type):
        text = None
    roles = {"objects": objects, "item": item, "name": called, "text": text}
    guessed = [role for role, column in roles.items() if column is not None and role not in given]
    guessed += ["separator"] if separator is not None and objects not in separators else []
    return FlatColumns(objects, item, called, text, separator, tuple(guessed))


def _single_table_error(rows: Rows, needed: str, example: Sequence[object]) -> SingleTableError:
    """Return the error for a table that comes without links and has not the columns that records need."""
    return SingleTableError(
        *("one table alone needs links beside it (", Setting("links"), f"), or the {needed} (", *example),
        f"): {rows.name} has {some(rows.table.column_names, 20)}{_said_of_twice(rows)}",
    )


def _said_of_twice(rows: Rows) -> str:
    """Return what helps where a column names other rows, as a partner or a parent does; nothing where none does."""
    columns = {name: pc.cast(column, pa.string()) for name, column in _columns_of_keys(rows.table)}
    for own, ids in columns.items():
        if ids.null_count or len(ids.unique()) < len(ids) or len(ids) < 2:
            continue
        for other, column in columns.items():
            named = column.drop_null()
            if other == own or not len(named) or are_years(rows.table[other]):
                continue
            if pc.mean(pc.is_in(named, value_set=ids.combine_chunks())).as_py() >= REFERS:
                return f"; {other!r} names other rows by their {own!r}: give the table twice, as nodes and as links"
    return ""


def _columns_of_keys(table: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    """Return the columns of texts and whole numbers, which may be ids."""
    kinds = {name: table.schema.field(name).type for name in table.column_names}
    wanted = [name for name, kind in kinds.items() if holds_text(kind) or pa.types.is_integer(kind)]
    return [(name, table[name]) for name in wanted]


def _holds_several(rows: Rows, name: str, separators: Mapping[str, str]) -> bool:
    """Return whether a column holds lists, or texts that something parts."""
    if name in separators or is_list(rows.table.schema.field(name).type) or _separator(rows, name) is not None:
        return True
    return column_separator(rows, name, named=True) is not None


def _spelled(names: list[str], spellings: Any, *, plural: bool = False) -> str | None:
    """Return the column that bears the first of some spellings, maybe in the plural."""
    known = {plain(name): name for name in reversed(names)}
    if plural:
        known = {plain.removesuffix("s"): name for plain, name in known.items() if plain.endswith("s")} | known
    return next((known[spelling] for spelling in spellings if spelling in known), None)


def _objects_column(rows: Rows, given: Mapping[str, str]) -> str | None:
    names = [name for name in rows.table.column_names if name not in given.values()]
    spellings = [*(word for word in SPELLINGS["mentions"]["object"] if word != "name"), *PEOPLE]
    found = _spelled(names, spellings, plural=True)
    lists = [name for name in names if is_list(rows.table.schema.field(name).type)]
    return found or (lists[0] if len(lists) == 1 else None)


def _item_column(rows: Rows, names: list[str], several: bool) -> str | None:
    """Return the column of the records: the first by name whose values repeat, where a row is one mention."""
    spellings = [*SPELLINGS["items"]["item"], *(() if several else ("title",))]
    candidates = [name for spelling in spellings for name in names if plain(name) == spelling]
    if several:
        return candidates[0] if candidates else None
    for name in candidates:
        if pc.count_distinct(decoded(rows.table[name])).as_py() < rows.table.num_rows:
            return name
    return None


def _named(objects: str, free: list[str]) -> str | None:
    """Return the column of the names that goes with a column of ids: ``author`` or ``author_name`` with author_id."""
    letters = plain(objects)
    base = letters.removesuffix("id")
    wanted = (f"{base}name", f"{base}fullname", *((base,) if base != letters else ()))
    return _spelled(free, wanted) if base else None


def _separator(rows: Rows, name: str) -> str | None:
    column = rows.table[name]
    if not holds_text(column.type):
        return None
    sample = pc.drop_null(column.slice(0, SAMPLED))
    for mark in SEPARATORS:
        share = pc.sum(pc.match_substring(sample, mark)).as_py() or 0
        if len(sample) and share >= OFTEN * len(sample):
            return mark
    return None


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


def flat_corpus(
    rows: Rows,
    *,
    item: str | None,
    objects: str | None,
    columns: Mapping[str, str],
    separators: Mapping[str, str],
    links: Part | None,
    dropped: Dropped,
    directed: bool = False,
    by_values: bool = False,
) -> Corpus:
    """Return the corpus of one table of records; ``item`` and ``objects`` name its columns, else they are guessed.

    They are guessed by their names, and ``by_values`` also by what they hold.
    """
    if rows.table.num_rows == 0:
        raise SourceError(f"{rows.name} has a header and no rows, expected records")
    given = {"item": item or columns.get("items.item", columns.get("item")), "text": columns.get("text")}
    given |= {"objects": objects or columns.get("mentions.object", columns.get("object")), "name": columns.get("name")}
    named = {role: name for role, name in given.items() if name is not None}
    found = guess_flat(rows, named, separators, by_values=by_values)
    dropped.say(f"columns of {rows.name}: {found}")
    if "objects" in named and found.separator is None and _is_one_a_row(rows, found):
        dropped.say(
            f"{rows.name}: {found.objects!r} is not parted, so that a row has one object and nothing is linked "
            f"(say what parts it: separators={{{found.objects!r}: ';'}})"
        )
    others = {name: mark for name, mark in separators.items() if name != found.objects}
    labels = label_separators(rows, (found.item, found.objects, found.name, found.text), separators, dropped)
    others |= labels
    flat = FlatParts(rows, found, others, dropped)
    parts = flat.objects(), flat.items(), flat.mentions()
    corpus = item_corpus(*parts, links, flat.not_parted, dropped, directed=directed)
    if by_values:
        rows_and_objects = f"{corpus.items.num_rows:,} records, {corpus.objects.num_rows:,} objects in them"
        dropped.say(f"{rows.name}: {rows_and_objects}, linked where a record has both")
    read = {"items.item": found.item, "mentions.object": found.objects, "name": found.name, "text": found.text}
    parted = {} if found.separator is None else {found.objects: found.separator}
    said = {role: name for role, name in read.items() if name is not None}
    return replace(corpus, source={"columns": said, "separators": parted | labels})


def _is_one_a_row(rows: Rows, columns: FlatColumns) -> bool:
    """Return whether no two rows are one record, so that texts that are not parted link nothing."""
    if is_list(rows.table.schema.field(columns.objects).type) or columns.item is None:
        return False
    return bool(pc.count_distinct(decoded(rows.table[columns.item])).as_py() == rows.table.num_rows)
