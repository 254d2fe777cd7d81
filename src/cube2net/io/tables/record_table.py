"""Read a single table of records: one row per mention (paper, author), or a column with lists of objects.

Items, mentions and objects are derived from it. If a column has several values in the rows of an item, they become
several labels of the item. If it has the same value in all rows of an object, it is also an attribute of the object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import Setting, SourceError, quote_few
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import (
    Rows,
    Separators,
    check_column,
    make_unused_name,
    read_attribute,
    read_ids,
    split_column,
    to_separators,
)
from cube2net.io.tables.key_columns import MAX_KEY_COLUMNS, MIN_TEXT_WORDS, is_nearly_unique, is_unique, mean_words
from cube2net.io.tables.link_columns import is_number_name, is_time
from cube2net.io.tables.locale_values import clean_texts, guess_value_type
from cube2net.io.tables.multi_values import (
    are_full_names,
    describe_separators,
    find_column_separators,
    find_label_separators,
    is_people_name,
    remove_et_al,
)
from cube2net.io.tables.single_table import FIRST_NAMES, LAST_NAMES
from cube2net.io.tables.table_corpus import Part, build_item_corpus
from cube2net.io.tables.table_roles import ROLE_NAMES, find_name, normalize_name
from cube2net.model.corpus import Corpus, check_count, decode, holds_text, is_list
from cube2net.model.objects import are_whole

OBJECT_NAMES = (
    *(name for name in ROLE_NAMES["mentions"]["object"] if name != "name"),
    "people",
    "creator",
    "actor",
    "cast",
)
MIN_DISTINCT_TITLES = 0.95
ID_ENDING = re.compile(r"[ _-]*ids?$", re.IGNORECASE)
MAX_SAMPLED_NAMES = 1_000
MIN_ROWS_OF_MENTIONS, MIN_DISTINCT_MENTIONS = 20, 0.8
"""Minimum rows of a table of mentions that is detected by its values, and the minimum share of distinct mentions."""
MAX_MENTIONS_OF_RECORD, MAX_DISTINCT_RECORDS = 50, 0.8
"""Maximum mean number of mentions per record, and maximum number of records per row, in such a table."""
PERSON_TABLE_NAMES = ("name", "fullname", "displayname", "username", *FIRST_NAMES, *LAST_NAMES)
"""Usual names of columns in a table with one row per person."""


@dataclass(frozen=True)
class RecordColumns:
    """The columns of a table of records; without ``item`` every row is an item.

    With ``has_titles`` the values of ``item`` are titles, some of which may be equal.

    >>> print(RecordColumns("authors", item="paper", separators=(";",), guessed=("objects", "separators")))
    objects='authors' (guessed), separated by ';' (guessed), item='paper' (given)
    """

    objects: str
    item: str | None = None
    name: str | None = None
    text: str | None = None
    separators: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    has_titles: bool = False

    def __str__(self) -> str:
        values = {"objects": f"objects={self.objects!r}", "separators": ""}
        if self.separators:
            values["separators"] = f"separated by {describe_separators(self.separators)}"
        for role in ("item", "name", "text"):
            values[role] = "" if getattr(self, role) is None else f"{role}={getattr(self, role)!r}"
        sources = {True: "guessed", False: "given"}
        parts = [f"{text} ({sources[role in self.guessed]})" for role, text in values.items() if text]
        return ", ".join(parts) + ("" if self.item else ", every row an item of its own")


def find_record_columns(rows: Rows, given_columns: Mapping[str, str], separators: Separators) -> RecordColumns | None:
    """Return the columns of a table of records, as given or by their names and values; None for another table."""
    for role, name in given_columns.items():
        check_column(rows, role, name)
    objects = given_columns.get("objects") or _find_objects_by_name(rows, given_columns)
    if "objects" not in given_columns and (objects is None or not _has_lists(rows, objects, separators)):
        objects = _find_list_column(rows) or objects
    if objects is None:
        return None
    unassigned = [name for name in rows.table.column_names if name not in (objects, *given_columns.values())]
    are_people = (
        "objects" in given_columns
        or is_people_name(objects)
        or _find_item_by_name(rows, unassigned, is_list=False) is None
    )
    detected_separators = to_separators(separators.get(objects)) or find_column_separators(
        rows, objects, are_people=are_people
    )
    has_lists = bool(detected_separators) or is_list(rows.table.schema.field(objects).type)
    item = given_columns.get("item") or _find_item_by_name(rows, unassigned, is_list=has_lists)
    title = _find_title_column(rows, objects) if item is None and has_lists else None
    if item is None and not has_lists:
        if "objects" not in given_columns:
            return None
        raise SourceError(
            f"{rows.name} needs a column that says what record a row belongs to (",
            Setting("item"),
            f"): it has {quote_few(rows.table.column_names, 20)}",
            parameter="item",
        )
    unassigned = [name for name in unassigned if name not in (item, title)]
    name_column = given_columns.get("name") or (None if has_lists else _find_name_for_ids(objects, unassigned))
    text = given_columns.get("text") or find_name(unassigned, ROLE_NAMES["items"]["text"])
    if text is not None and "text" not in given_columns and not holds_text(rows.table.schema.field(text).type):
        text = None
    roles = {"objects": objects, "item": item or title, "name": name_column, "text": text}
    guessed = [role for role, column in roles.items() if column is not None and role not in given_columns]
    guessed += ["separators"] if detected_separators and objects not in separators else []
    return RecordColumns(
        objects, item or title, name_column, text, detected_separators, tuple(guessed), title is not None
    )


def find_mention_columns(rows: Rows, given_columns: Mapping[str, str], *, by_name: bool) -> RecordColumns | None:
    """Return the columns of a table with one row per mention, by its values; None for another table.

    Records and objects are both repeated, but hardly any pair of them. The column of objects has a name for people if
    ``by_name``, else its values are full names. Of several columns of records, the one with the most values is used.
    """
    names = [name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if name not in given_columns.values()]
    count = rows.table.num_rows
    candidates = [name for name in names if not (is_number_name(name) or is_time(rows, name))]
    unique_columns = [name for name in candidates if is_nearly_unique(rows, name)]
    if count < MIN_ROWS_OF_MENTIONS or any(mean_words(rows.table[name]) < MIN_TEXT_WORDS for name in unique_columns):
        return None
    encoded = {
        name: read_ids(rows, name).combine_chunks().dictionary_encode() for name in names if _may_repeat(rows, name)
    }
    codes = {name: np.asarray(column.indices).astype(np.int64) for name, column in encoded.items()}
    distinct = {name: len(column.dictionary) for name, column in encoded.items()}
    for objects in codes:
        is_named = normalize_name(objects) in OBJECT_NAMES or is_people_name(f"{ID_ENDING.sub('', objects)}s")
        if not (is_named if by_name else are_full_names(encoded[objects].dictionary[:MAX_SAMPLED_NAMES].to_pylist())):
            continue
        record_columns = [
            name
            for name, values in codes.items()
            if name != objects
            and count
            <= MAX_MENTIONS_OF_RECORD * distinct[name]
            <= MAX_MENTIONS_OF_RECORD * MAX_DISTINCT_RECORDS * count
            and len(np.unique(values * distinct[objects] + codes[objects])) >= MIN_DISTINCT_MENTIONS * count
        ]
        if record_columns:
            is_number_column = {name: is_number_name(name) for name in record_columns}
            item = max(
                record_columns, key=lambda name: (distinct[name], not is_number_column[name], -names.index(name))
            )
            return RecordColumns(objects, item, guessed=("objects", "item"))
    return None


def _may_repeat(rows: Rows, name: str) -> bool:
    """Return whether a column may hold records or objects: texts, or whole numbers in a column named like ids."""
    column = decode(rows.table[name])
    if is_time(rows, name) or column.null_count or not (holds_text(column.type) or pa.types.is_integer(column.type)):
        return False
    is_text = holds_text(column.type) and not guess_value_type(read_ids(rows, name), rows.formats)
    return is_text or is_number_name(name) or normalize_name(name) in ROLE_NAMES["items"]["item"]


def _find_objects_by_name(rows: Rows, given_columns: Mapping[str, str]) -> str | None:
    """Return the column of objects by its name, singular or plural, or the only column of lists."""
    names = [name for name in rows.table.column_names if name not in given_columns.values()]
    normalized_names = {name: normalize_name(name) for name in reversed(names)}
    names_by_spelling = {
        normalized.removesuffix("s"): name for name, normalized in normalized_names.items() if normalized.endswith("s")
    }
    names_by_spelling |= {normalized: name for name, normalized in normalized_names.items()}
    by_name = next((names_by_spelling[spelling] for spelling in OBJECT_NAMES if spelling in names_by_spelling), None)
    list_columns = [name for name in names if is_list(rows.table.schema.field(name).type)]
    return by_name or (list_columns[0] if len(list_columns) == 1 else None)


def _has_lists(rows: Rows, name: str, separators: Separators) -> bool:
    if name in separators or is_list(rows.table.schema.field(name).type):
        return True
    return bool(find_column_separators(rows, name, are_people=True))


def _find_list_column(rows: Rows) -> str | None:
    """Return a column with several people per row: by its name, else by its values.

    In a table with one row per person, only the name counts.
    """
    names = rows.table.column_names[:MAX_KEY_COLUMNS]
    candidates = [name for name in names if is_people_name(name)]
    if not any(normalize_name(name) in PERSON_TABLE_NAMES for name in names):
        candidates += [name for name in names if name not in candidates]
    return next((name for name in candidates if find_column_separators(rows, name)), None)


def _find_item_by_name(rows: Rows, names: list[str], *, is_list: bool) -> str | None:
    """Return the column of the records by its name; if a row is one mention, its values must be repeated."""
    spellings = [*ROLE_NAMES["items"]["item"], *(() if is_list else ("title",))]
    candidates = [name for spelling in spellings for name in names if normalize_name(name) == spelling]
    if is_list:
        return candidates[0] if candidates else None
    for name in candidates:
        if pc.count_distinct(decode(rows.table[name])).as_py() < rows.table.num_rows:
            return name
    return None


def _find_title_column(rows: Rows, objects: str) -> str | None:
    """Return the column of titles in a table with lists of objects: the first text column that is nearly unique."""
    for name in rows.table.column_names[:MAX_KEY_COLUMNS]:
        is_text = name != objects and holds_text(decode(rows.table[name]).type)
        ids = read_ids(rows, name) if is_text and is_nearly_unique(rows, name) else None
        if ids is None or guess_value_type(ids, rows.formats):
            continue
        if pc.count_distinct(ids).as_py() >= MIN_DISTINCT_TITLES * len(ids):
            return str(name)
    return None


def _find_name_for_ids(objects: str, candidates: list[str]) -> str | None:
    """Return the column of names that belongs to a column of ids: ``author`` or ``author_name`` for ``author_id``."""
    normalized = normalize_name(objects)
    base = normalized.removesuffix("id")
    return (
        find_name(candidates, (f"{base}name", f"{base}fullname", *((base,) if base != normalized else ())))
        if base
        else None
    )


class RecordTable:
    """Derives objects, items and mentions from the rows of a table of records."""

    def __init__(self, rows: Rows, columns: RecordColumns, separators: Separators, dropped: Dropped) -> None:
        self.rows, self.columns, self.separators, self.dropped = rows, columns, separators, dropped
        ids = self._item_ids()
        encoded_ids = ids.combine_chunks().dictionary_encode()
        self.item_ids = encoded_ids.dictionary
        check_count("items", len(self.item_ids))
        self.row_items = np.asarray(pc.fill_null(encoded_ids.indices, -1)).astype(np.int64)
        """The item of every row, -1 for none."""
        self.mention_rows, object_ids = self._read_mentions()
        encoded_objects = object_ids.dictionary_encode()
        self.object_ids = encoded_objects.dictionary
        self.mention_objects = encoded_objects.indices.to_numpy().astype(np.int64)
        """The object of every mention; ``mention_rows`` are the rows of the mentions."""
        has_item = self.row_items[self.mention_rows] >= 0
        self.mention_rows, self.mention_objects = self.mention_rows[has_item], self.mention_objects[has_item]
        check_count("objects", len(self.object_ids))
        if len(self.mention_rows) == 0:
            raise SourceError(f"no row of {rows.name} mentions an object: {columns.objects!r} is empty in all of them")
        self.first_rows = _find_first_rows(self.row_items, len(self.item_ids))

    def _item_ids(self) -> pa.ChunkedArray:
        name = self.columns.item
        if name is None:
            return pa.chunked_array([pa.array(np.arange(1, self.rows.table.num_rows + 1)).cast(pa.string())])
        ids = read_ids(self.rows, name)
        if self.columns.has_titles:
            return ids if is_unique(ids) else _make_distinct_titles(ids.to_pylist())
        missing = np.flatnonzero(np.asarray(pc.is_null(ids))).tolist()
        self.dropped.drop_rows(
            "records without an id", self.rows.places, missing, lambda _: f"{name!r} is empty, expected an id"
        )
        return ids

    def _read_mentions(self) -> tuple[Array, pa.Array]:
        """Return the row of every mention, and the id of the mentioned object."""
        name = self.columns.objects
        column = self.rows.table[name]
        if holds_text(column.type) and name in self.rows.untyped:
            column = clean_texts(pc.cast(column, pa.string()))
        if self.columns.separators and holds_text(column.type):
            column = split_column(remove_et_al(pc.cast(column, pa.string())), self.columns.separators)
        if is_list(column.type):
            column = column.combine_chunks()
            row = pc.list_parent_indices(column).to_numpy()
            values = Rows(self.rows.name, pa.table({name: pc.list_flatten(column)}), self.rows.places)
        else:
            row = np.arange(len(column), dtype=np.int64)
            values = replace(self.rows, table=pa.table({name: column}))
        ids = read_ids(values, name)
        has_id = pc.is_valid(ids)
        row = row[np.asarray(has_id)].astype(np.int64)
        n_without = len(column) - len(np.unique(row))
        if n_without:
            self.dropped.say(f"{self.rows.name}: {n_without:,} rows mention no object")
        return row, pc.drop_null(ids).combine_chunks()

    def mentions(self) -> Part:
        """Return the mentions: the distinct pairs of item and object."""
        n_objects = len(self.object_ids)
        pairs, first_mentions = np.unique(
            self.row_items[self.mention_rows] * n_objects + self.mention_objects, return_index=True
        )
        item_indices, object_indices = np.divmod(pairs, n_objects)
        table = pa.table(
            {
                "item": self.item_ids.take(pa.array(item_indices)),
                "object": self.object_ids.take(pa.array(object_indices)),
            }
        )
        return self._make_rows(table, self.mention_rows[first_mentions]), {"item": "item", "object": "object"}

    def items(self) -> Part:
        """Return the items with their attributes."""
        columns = {"item": self.item_ids}
        roles, untyped = {"item": "item"}, set()
        for name in self._attribute_names:
            if name in self._object_only_names:
                continue
            column_name = make_unused_name(name, columns)
            if name in self._varying_labels:
                columns[column_name] = self._join_labels(name)
                continue
            columns[column_name] = self.rows.table[name].take(pa.array(self.first_rows))
            untyped |= {column_name} if name in self.rows.untyped else set()
        if self.columns.text is not None:
            roles["text"] = make_unused_name("text", columns)
            columns[roles["text"]] = self.rows.table[self.columns.text].take(pa.array(self.first_rows))
        return self._make_rows(pa.table(columns), self.first_rows, frozenset(untyped)), roles

    def objects(self) -> Part:
        """Return the objects, with the attributes that have one value in all rows of an object."""
        first_rows = self.mention_rows[_find_first_rows(self.mention_objects, len(self.object_ids))]
        columns = {
            "id": self._typed_ids,
            "kind": pa.repeat(pa.scalar(_name_kind(self.columns.objects)), len(first_rows)),
        }
        roles = {"id": "id", "kind": "kind"}
        if self.columns.name is not None:
            columns["name"] = self.rows.table[self.columns.name].take(pa.array(first_rows))
            roles["name"] = "name"
        untyped = set()
        for name in self._varying_names:
            if self._is_constant_by_object(name):
                column_name = make_unused_name(name, columns)
                columns[column_name] = self.rows.table[name].take(pa.array(first_rows))
                untyped |= {column_name} if name in self.rows.untyped else set()
        return self._make_rows(pa.table(columns), first_rows, frozenset(untyped)), roles

    @property
    def _typed_ids(self) -> pa.Array:
        """The ids of the objects, as whole numbers if they are in the table."""
        kind = self.rows.table.schema.field(self.columns.objects).type
        kind = kind.value_type if is_list(kind) or pa.types.is_dictionary(kind) else kind
        are_integers = pa.types.is_signed_integer(kind) or (pa.types.is_floating(kind) and are_whole(self.object_ids))
        return self.object_ids.cast(pa.int64()) if are_integers else self.object_ids

    @property
    def _attribute_names(self) -> list[str]:
        roles = self.columns
        return [
            name
            for name in self.rows.table.column_names
            if name not in (roles.item, roles.objects, roles.name, roles.text)
        ]

    @cached_property
    def _varying_names(self) -> list[str]:
        rows = np.flatnonzero(self.row_items >= 0)
        if len(rows) == len(self.item_ids):
            return []
        return [name for name in self._attribute_names if not self._is_constant_by(name, self.row_items[rows], rows)]

    @cached_property
    def _varying_labels(self) -> dict[str, pa.ChunkedArray]:
        """The columns of labels whose values vary between the rows of an item."""
        labels = {name: self._read_labels(name) for name in self._varying_names}
        return {name: column for name, column in labels.items() if column is not None}

    @property
    def unused_separators(self) -> Separators:
        """The separators of columns that are not split yet."""
        return {name: mark for name, mark in self.separators.items() if name not in self._varying_labels}

    @cached_property
    def _object_only_names(self) -> set[str]:
        """The columns of numbers and times that vary between the rows of an item but not between those of an object."""
        return {
            name
            for name in self._varying_names
            if name not in self._varying_labels and self._is_constant_by_object(name)
        }

    def _is_constant_by_object(self, name: str) -> bool:
        return self._is_constant_by(name, self.mention_objects, self.mention_rows)

    def _read_labels(self, name: str) -> pa.ChunkedArray | None:
        """Return a column of labels, of which an item may have several; None for other columns.

        Whole numbers are labels if they belong to the objects, such as the years of films that a person has seen.
        """
        column = read_attribute(self.rows, name, Dropped(), self.separators.get(name))
        if column is None:
            return None
        is_of_objects = self._is_constant_by_object(name)
        if pa.types.is_boolean(column.type) or (pa.types.is_integer(column.type) and is_of_objects):
            column = column.cast(pa.string())
        are_labels = holds_text(column.type) or is_list(column.type)
        treatment = "are of the objects alone" if is_of_objects else "do not count but for the first"
        treatment = "are several labels of it" if are_labels else treatment
        self.dropped.say(f"{self.rows.name}: values of {name!r} that differ between the rows of an item {treatment}")
        return column if are_labels else None

    def _is_constant_by(self, name: str, owners: Array, rows: Array) -> bool:
        """Return whether a column has one value per owner; ``owners`` are the owners of ``rows``."""
        column = self.rows.table[name].combine_chunks()
        if is_list(column.type):
            column = pa.array([str(value) for value in column.to_pylist()])
        elif not pa.types.is_dictionary(column.type):
            try:
                column = column.dictionary_encode()
            except pa.ArrowNotImplementedError:
                return True
        codes = column.indices if pa.types.is_dictionary(column.type) else column.dictionary_encode().indices
        codes_by_row = np.asarray(pc.fill_null(codes, -1)).astype(np.int64)[rows]
        return bool(np.array_equal(codes_by_row, codes_by_row[_find_first_rows(owners, int(owners.max()) + 1)[owners]]))

    def _join_labels(self, name: str) -> pa.Array:
        """Return the distinct labels of each item in all of its rows, in order."""
        column = self._varying_labels[name]
        if is_list(column.type):
            column = column.combine_chunks()
            row = pc.list_parent_indices(column).to_numpy()
            labels = pc.list_flatten(column)
        else:
            row, labels = np.arange(len(column)), column.combine_chunks()
        encoded = labels.dictionary_encode()
        code = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
        item = self.row_items[row]
        is_kept = (code >= 0) & (item >= 0)
        _, first_indices = np.unique(item[is_kept] * max(len(encoded.dictionary), 1) + code[is_kept], return_index=True)
        first_indices.sort()
        item, code = item[is_kept][first_indices], code[is_kept][first_indices]
        order = np.argsort(item, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=len(self.item_ids)))])
        return pa.ListArray.from_arrays(
            pa.array(ends.astype(np.int32)), encoded.dictionary.take(pa.array(code[order])).cast(pa.string())
        )

    def _make_rows(self, table: pa.Table, source_rows: Array, untyped: frozenset[str] = frozenset()) -> Rows:
        """Return a table with the places of the rows from which it is derived."""
        places = self.rows.places
        return Rows(self.rows.name, table, lambda numbers: places([int(source_rows[row]) for row in numbers]), untyped)


def _find_first_rows(owners: Array, count: int) -> Array:
    """Return the first row of every owner; -1 is no owner.

    >>> _find_first_rows(np.array([0, 0, 2, 1, 2]), 3).tolist()
    [0, 3, 2]
    """
    first_rows = np.zeros(count, dtype=np.int64)
    owned_rows = np.flatnonzero(owners >= 0)[::-1]
    first_rows[owners[owned_rows]] = owned_rows
    return first_rows


def _name_kind(column: str) -> str:
    """Return the kind of objects by the name of their column.

    >>> _name_kind("author_ids"), _name_kind("Authors"), _name_kind("business"), _name_kind("id")
    ('author', 'author', 'business', 'object')
    """
    word = ID_ENDING.sub("", column.strip()).casefold()
    return (word[:-1] if word.endswith("s") and not word.endswith("ss") else word) or "object"


def _make_distinct_titles(titles: Sequence[str | None]) -> pa.ChunkedArray:
    """Return titles as ids; repeated titles have their row number appended, missing ones are replaced by it.

    >>> _make_distinct_titles(["Emma", "Emma", None]).to_pylist()
    ['Emma', 'Emma (row 2)', 'row 3']
    """
    seen_titles: set[str] = set()
    ids = []
    for row, title in enumerate(titles, start=1):
        ids.append(f"row {row}" if title is None else f"{title} (row {row})" if title in seen_titles else title)
        seen_titles.add(title or "")
    return pa.chunked_array([pa.array(ids, pa.string())])


def build_record_corpus(
    rows: Rows,
    columns: RecordColumns,
    separators: Separators,
    links: Part | None,
    dropped: Dropped,
    *,
    directed: bool = False,
) -> Corpus:
    """Return the corpus of a table of records; its ``source`` has the columns and separators."""
    dropped.say(f"columns of {rows.name}: {columns}")
    role_columns = (columns.item, columns.objects, columns.name, columns.text)
    label_separators = find_label_separators(rows, role_columns, separators, dropped)
    attribute_separators = {
        name: mark for name, mark in separators.items() if name != columns.objects
    } | label_separators
    record_table = RecordTable(rows, columns, attribute_separators, dropped)
    parts = record_table.objects(), record_table.items(), record_table.mentions()
    corpus = build_item_corpus(*parts, links, record_table.unused_separators, dropped, directed=directed)
    counts = f"{corpus.items.num_rows:,} records, {corpus.objects.num_rows:,} objects in them"
    dropped.say(f"{rows.name}: {counts}, linked where a record has both")
    roles = {"items.item": columns.item, "mentions.object": columns.objects}
    roles |= {"name": columns.name, "text": columns.text}
    object_separators = columns.separators
    used_separators = (
        {columns.objects: object_separators[0] if len(object_separators) == 1 else list(object_separators)}
        if object_separators
        else {}
    )
    given_roles = {role: name for role, name in roles.items() if name is not None}
    return replace(corpus, source={"columns": given_roles, "separators": used_separators | label_separators})
