"""Tables in memory, beside paths: which of them is what, by their names, their order and their columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cube2net.errors import ParameterError, SourceError, listed, quoted
from cube2net.progress import Progress, silent
from cube2net.records import Corpus
from cube2net.sources.tables.frame_rows import is_frame, names_in
from cube2net.sources.tables.table_choice import RECORDS
from cube2net.sources.tables.table_roles import CALLED, EXPECTED, EXTRAS, LAYOUTS, ROLE_OF, is_whole
from cube2net.sources.tables.table_source import Tables

Table = Any
"""A path, or a frame in memory."""
BESIDE = ("links", *EXTRAS)
ALLOWED = (
    "a path, or a frame: of pandas or Polars, an Arrow table, a DuckDB relation, or whatever hands itself to Arrow"
)


def read_tables(given: Sequence[Table], named: Mapping[str, Any], progress: Progress = silent) -> Corpus:
    """Return the corpus of tables in files and in memory; ``named`` are tables by their roles, and the options.

    A mapping among the tables gives their roles by its keys.
    """
    given, options = list(given), dict(named)
    if len(given) == 1 and _is_roles(given[0]):
        for name, table in given.pop().items():
            role = ROLE_OF.get(str(name).casefold(), RECORDS if name == RECORDS else None)
            if role is None or options.get(role) is not None:
                what = "is given twice" if role else "is no table"
                raise SourceError(f"{quoted(name)} {what}: expected some of {listed([*CALLED, RECORDS])}")
            options[role] = table
    tables = {role: options.pop(role) for role in (*CALLED, RECORDS) if options.get(role) is not None}
    given += [tables.pop(RECORDS)] if RECORDS in tables else []
    column = tables.get("objects")
    if isinstance(column, str) and (len(given) == 1 or set(tables) - set(BESIDE) == {"objects", "items"}):
        given += [tables.pop("items")] if "items" in tables and not Path(column).exists() else []
        if len(given) == 1:
            options["objects"] = tables.pop("objects")
    for name, table in (*tables.items(), *((f"table {place + 1}", table) for place, table in enumerate(given))):
        _check(name, table)
    reader = _reader(options)
    if not any(map(is_frame, (*given, *tables.values()))):
        return _reader({**options, **tables}).read([Path(path) for path in given], progress=progress)
    roles = _roles(given, tables, {"item", "objects"} & set(options))
    places = {id(table): place for place, table in enumerate(given, start=1)}
    said = [f"{role} is table {places[id(table)]}" for role, table in roles.items() if id(table) in places]
    remarks = [f"tables: {', '.join(said)}"] if len(given) > 1 else []
    read = {role: table if is_frame(table) else Path(table) for role, table in roles.items()}
    return reader.read_found(read, remarks=remarks, progress=progress).corpus


def _reader(options: Mapping[str, Any]) -> Tables:
    try:
        return Tables(**options)
    except TypeError as error:
        raise ParameterError(f"source 'tables' cannot be made so: {error}") from None


def _is_roles(thing: object) -> bool:
    """Return whether a thing is a mapping of tables by their roles, and no table itself."""
    return isinstance(thing, Mapping) and not is_frame(thing)


def _check(name: str, table: object) -> None:
    if not (is_frame(table) or (isinstance(table, str | os.PathLike) and os.fspath(table))):
        raise ParameterError(f"{name} is {quoted(table)}, expected {ALLOWED}")


def _roles(given: Sequence[Table], tables: Mapping[str, Table], columns: set[str]) -> dict[str, Table]:
    """Return which table is what: those given by their order, a single one as nodes where there are links for it."""
    if len(given) == 1:
        others = [role for role in tables if role not in BESIDE]
        if others:
            raise SourceError(f"a table is given beside {listed(others)}: name them all, such as nodes=…, links=…")
        return {"nodes" if "links" in tables and not columns else RECORDS: given[0], **tables}
    found = dict(tables)
    if given:
        layout = [role for role in LAYOUTS.get(len(given), ()) if role not in tables]
        if len(layout) < len(given):
            raise SourceError(f"got {len(given)} tables: {EXPECTED}")
        order = [*given[::-1]] if len(given) == 2 and _are_swapped(*given) else given
        found |= dict(zip(layout, order, strict=True))
    if not is_whole(found):
        raise SourceError(f"got {listed(found)}: {EXPECTED}")
    return found


def _are_swapped(nodes: Table, links: Table) -> bool:
    """Return whether of nodes and links the first table has the columns of links and the second one has not."""
    return _has_ends(nodes) and not _has_ends(links)


def _has_ends(table: Table) -> bool:
    plain = {"".join(filter(str.isalnum, name)).casefold() for name in names_in(table)}
    return {"source", "target"} <= plain or {"from", "to"} <= plain or {"src", "dst"} <= plain
