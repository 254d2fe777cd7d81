"""A single table of records: a row for every mention (paper, author), or lists of objects in a column.

Items, mentions and objects are derived from it. Values that differ between the rows of an item become several labels
of it, and values that are the same in all rows of an object are attributes of the object, too.
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
"""Rows of a table of mentions that is known by its values, and the share of them that mention something new."""
MAX_MENTIONS_OF_RECORD, MAX_DISTINCT_RECORDS = 50, 0.8
"""Mean number of mentions of a record, and number of records by row, in such a table."""
NAMES_OF_SOMEBODY = ("name", "fullname", "displayname", "username", *FIRST_NAMES, *LAST_NAMES)
"""Usual names of columns in a table with a row for everybody."""


@dataclass(frozen=True)
class RecordColumns:
    """The columns of a table of records; without ``item`` every row is an item of its own.

    With ``has_titles`` the values of ``item`` are titles, of which a few may be the same.

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
        how = {True: "guessed", False: "given"}
        parts = [f"{text} ({how[role in self.guessed]})" for role, text in values.items() if text]
        return ", ".join(parts) + ("" if self.item else ", every row an item of its own")


def find_record_columns(rows: Rows, given: Mapping[str, str], separators: Separators) -> RecordColumns | None:
    """Return the columns of a table of records: as given, else by their names and values; None where it is none."""
    for role, name in given.items():
        check_column(rows, role, name)
    objects = given.get("objects") or _objects_by_name(rows, given)
    if "objects" not in given and (objects is None or not _has_lists(rows, objects, separators)):
        objects = _list_column(rows) or objects
    if objects is None:
        return None
    free = [name for name in rows.table.column_names if name not in (objects, *given.values())]
    are_people = "objects" in given or is_people_name(objects) or _item_by_name(rows, free, is_list=False) is None
    marks = to_separators(separators.get(objects)) or find_column_separators(rows, objects, are_people=are_people)
    has_lists = bool(marks) or is_list(rows.table.schema.field(objects).type)
    item = given.get("item") or _item_by_name(rows, free, is_list=has_lists)
    title = _title_column(rows, objects) if item is None and has_lists else None
    if item is None and not has_lists:
        if "objects" not in given:
            return None
        raise SourceError(
            f"{rows.name} needs a column that says what record a row belongs to (",
            Setting("item"),
            f"): it has {quote_few(rows.table.column_names, 20)}",
            parameter="item",
        )
    free = [name for name in free if name not in (item, title)]
    called = given.get("name") or (None if has_lists else _name_of_ids(objects, free))
    text = given.get("text") or find_name(free, ROLE_NAMES["items"]["text"])
    if text is not None and "text" not in given and not holds_text(rows.table.schema.field(text).type):
        text = None
    roles = {"objects": objects, "item": item or title, "name": called, "text": text}
    guessed = [role for role, column in roles.items() if column is not None and role not in given]
    guessed += ["separators"] if marks and objects not in separators else []
    return RecordColumns(objects, item or title, called, text, marks, tuple(guessed), title is not None)


def find_mention_columns(rows: Rows, given: Mapping[str, str], *, by_name: bool) -> RecordColumns | None:
    """Return the columns of a table with a row for every mention, by its values; None where it is none.

    Records and objects both come again, but no two rows mention the same object in the same record. The column of
    objects is named as one of people, or if not ``by_name`` has full names; of the columns of records the one with most
    values is taken.
    """
    names = [name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if name not in given.values()]
    count = rows.table.num_rows
    others = [name for name in names if not (is_number_name(name) or is_time(rows, name))]
    unique = [name for name in others if is_nearly_unique(rows, name)]
    if count < MIN_ROWS_OF_MENTIONS or any(mean_words(rows.table[name]) < MIN_TEXT_WORDS for name in unique):
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
        records = [
            name
            for name, values in codes.items()
            if name != objects
            and count
            <= MAX_MENTIONS_OF_RECORD * distinct[name]
            <= MAX_MENTIONS_OF_RECORD * MAX_DISTINCT_RECORDS * count
            and len(np.unique(values * distinct[objects] + codes[objects])) >= MIN_DISTINCT_MENTIONS * count
        ]
        if records:
            is_code = {name: is_number_name(name) for name in records}
            item = max(records, key=lambda name: (distinct[name], not is_code[name], -names.index(name)))
            return RecordColumns(objects, item, guessed=("objects", "item"))
    return None


def _may_repeat(rows: Rows, name: str) -> bool:
    """Return whether a column may be that of records or of objects: texts, or whole numbers that are named as ids."""
    column = decode(rows.table[name])
    if is_time(rows, name) or column.null_count or not (holds_text(column.type) or pa.types.is_integer(column.type)):
        return False
    is_text = holds_text(column.type) and not guess_value_type(read_ids(rows, name), rows.formats)
    return is_text or is_number_name(name) or normalize_name(name) in ROLE_NAMES["items"]["item"]


def _objects_by_name(rows: Rows, given: Mapping[str, str]) -> str | None:
    """Return the column of objects by its name, maybe in the plural, or the only one of lists."""
    names = [name for name in rows.table.column_names if name not in given.values()]
    letters = {name: normalize_name(name) for name in reversed(names)}
    by_letters = {word.removesuffix("s"): name for name, word in letters.items() if word.endswith("s")}
    by_letters |= {word: name for name, word in letters.items()}
    named = next((by_letters[spelling] for spelling in OBJECT_NAMES if spelling in by_letters), None)
    lists = [name for name in names if is_list(rows.table.schema.field(name).type)]
    return named or (lists[0] if len(lists) == 1 else None)


def _has_lists(rows: Rows, name: str, separators: Separators) -> bool:
    if name in separators or is_list(rows.table.schema.field(name).type):
        return True
    return bool(find_column_separators(rows, name, are_people=True))


def _list_column(rows: Rows) -> str | None:
    """Return the column of several people in a row: one with such a name, else one whose values are such lists.

    In a table that has a row for everybody, it must have such a name.
    """
    names = rows.table.column_names[:MAX_KEY_COLUMNS]
    candidates = [name for name in names if is_people_name(name)]
    if not any(normalize_name(name) in NAMES_OF_SOMEBODY for name in names):
        candidates += [name for name in names if name not in candidates]
    return next((name for name in candidates if find_column_separators(rows, name)), None)


def _item_by_name(rows: Rows, names: list[str], *, is_list: bool) -> str | None:
    """Return the column of the records by its name; where a row is one mention, its values must repeat."""
    spellings = [*ROLE_NAMES["items"]["item"], *(() if is_list else ("title",))]
    candidates = [name for spelling in spellings for name in names if normalize_name(name) == spelling]
    if is_list:
        return candidates[0] if candidates else None
    for name in candidates:
        if pc.count_distinct(decode(rows.table[name])).as_py() < rows.table.num_rows:
            return name
    return None


def _title_column(rows: Rows, objects: str) -> str | None:
    """Return the column of titles beside lists of objects: the first of texts of which nearly all differ."""
    for name in rows.table.column_names[:MAX_KEY_COLUMNS]:
        is_text = name != objects and holds_text(decode(rows.table[name]).type)
        ids = read_ids(rows, name) if is_text and is_nearly_unique(rows, name) else None
        if ids is None or guess_value_type(ids, rows.formats):
            continue
        if pc.count_distinct(ids).as_py() >= MIN_DISTINCT_TITLES * len(ids):
            return str(name)
    return None


def _name_of_ids(objects: str, free: list[str]) -> str | None:
    """Return the column of the names that goes with a column of ids: ``author`` or ``author_name`` with author_id."""
    letters = normalize_name(objects)
    base = letters.removesuffix("id")
    return find_name(free, (f"{base}name", f"{base}fullname", *((base,) if base != letters else ()))) if base else None


class RecordTable:
    """Derives objects, items and mentions from the rows of a table of records."""

    def __init__(self, rows: Rows, columns: RecordColumns, separators: Separators, dropped: Dropped) -> None:
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
        ids = read_ids(self.rows, name)
        if self.columns.has_titles:
            return ids if is_unique(ids) else _distinct_titles(ids.to_pylist())
        missing = np.flatnonzero(np.asarray(pc.is_null(ids))).tolist()
        self.dropped.drop_rows(
            "records without an id", self.rows.places, missing, lambda _: f"{name!r} is empty, expected an id"
        )
        return ids

    def _mentioned(self) -> tuple[Array, pa.Array]:
        """Return the row of every mention, and the id of the object mentioned there."""
        name = self.columns.objects
        column = self.rows.table[name]
        if holds_text(column.type) and name in self.rows.untyped:
            column = clean_texts(pc.cast(column, pa.string()))
        if self.columns.separators and holds_text(column.type):
            column = split_column(remove_et_al(pc.cast(column, pa.string())), self.columns.separators)
        if is_list(column.type):
            column = column.combine_chunks()
            row = pc.list_parent_indices(column).to_numpy()
            inside = Rows(self.rows.name, pa.table({name: pc.list_flatten(column)}), self.rows.places)
        else:
            row = np.arange(len(column), dtype=np.int64)
            inside = replace(self.rows, table=pa.table({name: column}))
        ids = read_ids(inside, name)
        has = pc.is_valid(ids)
        row = row[np.asarray(has)].astype(np.int64)
        without = len(column) - len(np.unique(row))
        if without:
            self.dropped.say(f"{self.rows.name}: {without:,} rows mention no object")
        return row, pc.drop_null(ids).combine_chunks()

    def mentions(self) -> Part:
        """Return the mentions, each pair of item and object once."""
        width = len(self.object_ids)
        pairs, first = np.unique(self.item[self.row] * width + self.object, return_index=True)
        item, thing = np.divmod(pairs, width)
        table = pa.table({"item": self.item_ids.take(pa.array(item)), "object": self.object_ids.take(pa.array(thing))})
        return self._derived(table, self.row[first]), {"item": "item", "object": "object"}

    def items(self) -> Part:
        """Return the items with their attributes."""
        columns = {"item": self.item_ids}
        roles, untyped = {"item": "item"}, set()
        for name in self._carried:
            if name in self._only_of_objects:
                continue
            called = make_unused_name(name, columns)
            if name in self._several:
                columns[called] = self._join_labels(name)
                continue
            columns[called] = self.rows.table[name].take(pa.array(self.first))
            untyped |= {called} if name in self.rows.untyped else set()
        if self.columns.text is not None:
            roles["text"] = make_unused_name("text", columns)
            columns[roles["text"]] = self.rows.table[self.columns.text].take(pa.array(self.first))
        return self._derived(pa.table(columns), self.first, frozenset(untyped)), roles

    def objects(self) -> Part:
        """Return the objects, with the attributes that are the same in all of their rows."""
        first = self.row[_firsts(self.object, len(self.object_ids))]
        columns = {"id": self._typed_ids, "kind": pa.repeat(pa.scalar(_kind(self.columns.objects)), len(first))}
        roles = {"id": "id", "kind": "kind"}
        if self.columns.name is not None:
            columns["name"] = self.rows.table[self.columns.name].take(pa.array(first))
            roles["name"] = "name"
        untyped = set()
        for name in self._differing:
            if self._is_of_objects(name):
                called = make_unused_name(name, columns)
                columns[called] = self.rows.table[name].take(pa.array(first))
                untyped |= {called} if name in self.rows.untyped else set()
        return self._derived(pa.table(columns), first, frozenset(untyped)), roles

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
    def unused_separators(self) -> Separators:
        """The separators of columns that are still to be split."""
        return {name: mark for name, mark in self.separators.items() if name not in self._several}

    @cached_property
    def _only_of_objects(self) -> set[str]:
        """The columns of numbers and times of which an item has several values and every object one."""
        return {name for name in self._differing if name not in self._several and self._is_of_objects(name)}

    def _is_of_objects(self, name: str) -> bool:
        return self._is_one_of(name, self.object, self.row)

    def _labels(self, name: str) -> pa.ChunkedArray | None:
        """Return a column of labels, of which an item may have several; None for other columns.

        Whole numbers are labels where they belong to the objects, as the years of films that a person has seen.
        """
        column = read_attribute(self.rows, name, Dropped(), self.separators.get(name))
        if column is None:
            return None
        is_of_objects = self._is_of_objects(name)
        if pa.types.is_boolean(column.type) or (pa.types.is_integer(column.type) and is_of_objects):
            column = column.cast(pa.string())
        are_labels = holds_text(column.type) or is_list(column.type)
        what = "are of the objects alone" if is_of_objects else "do not count but for the first"
        what = "are several labels of it" if are_labels else what
        self.dropped.say(f"{self.rows.name}: values of {name!r} that differ between the rows of an item {what}")
        return column if are_labels else None

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

    def _join_labels(self, name: str) -> pa.Array:
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

    def _derived(self, table: pa.Table, origin: Array, untyped: frozenset[str] = frozenset()) -> Rows:
        """Return a table with the places of the rows that it is derived from."""
        places = self.rows.places
        return Rows(self.rows.name, table, lambda some: places([int(origin[row]) for row in some]), untyped)


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
    word = ID_ENDING.sub("", column.strip()).casefold()
    return (word[:-1] if word.endswith("s") and not word.endswith("ss") else word) or "object"


def _distinct_titles(titles: Sequence[str | None]) -> pa.ChunkedArray:
    """Return titles as ids: one that comes again has its row behind it, and a missing one is its row.

    >>> _distinct_titles(["Emma", "Emma", None]).to_pylist()
    ['Emma', 'Emma (row 2)', 'row 3']
    """
    seen: set[str] = set()
    ids = []
    for row, title in enumerate(titles, start=1):
        ids.append(f"row {row}" if title is None else f"{title} (row {row})" if title in seen else title)
        seen.add(title or "")
    return pa.chunked_array([pa.array(ids, pa.string())])


def record_corpus(
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
    left_out = (columns.item, columns.objects, columns.name, columns.text)
    labels = find_label_separators(rows, left_out, separators, dropped)
    others = {name: mark for name, mark in separators.items() if name != columns.objects} | labels
    derived = RecordTable(rows, columns, others, dropped)
    parts = derived.objects(), derived.items(), derived.mentions()
    corpus = build_item_corpus(*parts, links, derived.unused_separators, dropped, directed=directed)
    counts = f"{corpus.items.num_rows:,} records, {corpus.objects.num_rows:,} objects in them"
    dropped.say(f"{rows.name}: {counts}, linked where a record has both")
    roles = {"items.item": columns.item, "mentions.object": columns.objects}
    roles |= {"name": columns.name, "text": columns.text}
    marks = columns.separators
    used = {columns.objects: marks[0] if len(marks) == 1 else list(marks)} if marks else {}
    named = {role: name for role, name in roles.items() if name is not None}
    return replace(corpus, source={"columns": named, "separators": used | labels})
