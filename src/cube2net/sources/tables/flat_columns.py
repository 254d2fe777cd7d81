"""Which column of one table of records is what: what a row is, whom it mentions, and what parts several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import Setting, SingleTableError, SourceError, some
from cube2net.records.column_kinds import decoded, holds_text, is_list
from cube2net.sources.tables.column_types import Rows, check_column
from cube2net.sources.tables.link_columns import are_years
from cube2net.sources.tables.list_columns import column_separator, list_column, record_column
from cube2net.sources.tables.table_roles import SPELLINGS

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


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _spelled(names: list[str], spellings: Any, *, plural: bool = False) -> str | None:
    """Return the column that bears the first of some spellings, maybe in the plural."""
    known = {_plain(name): name for name in reversed(names)}
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
    candidates = [name for spelling in spellings for name in names if _plain(name) == spelling]
    if several:
        return candidates[0] if candidates else None
    for name in candidates:
        if pc.count_distinct(decoded(rows.table[name])).as_py() < rows.table.num_rows:
            return name
    return None


def _named(objects: str, free: list[str]) -> str | None:
    """Return the column of the names that goes with a column of ids: ``author`` or ``author_name`` with author_id."""
    plain = _plain(objects)
    base = plain.removesuffix("id")
    wanted = (f"{base}name", f"{base}fullname", *((base,) if base != plain else ()))
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
