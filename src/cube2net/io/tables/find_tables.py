"""Which files, or sheets of a workbook, are read, and which of them is what: by what is said, by names, by values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

from cube2net._util.zip_files import Meter, UnpackLimits
from cube2net.errors import Setting, SourceError, listed, some
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.key_columns import MOST_COLUMNS, linked, nearly_unique, sample, share_of
from cube2net.io.tables.table_roles import (
    EXPECTED,
    EXTRAS,
    ROLE_OF,
    assign,
    base_name,
    format_of,
    is_called,
    is_sure,
    is_whole,
    named_columns,
    tables_in,
    unnamed_tables,
)
from cube2net.io.tables.workbooks import Sheet, read_workbook, sheet_names

RECORDS = "records"
"""What a table is called that comes alone: its rows name records and the objects that these mention."""
NO_LINKS = "being empty or a note, or naming no rows of another sheet in two columns"
"""Why sheets beside one that comes alone are not read."""
MOST, SURELY = 0.5, 0.9
LOCK = "~$"
"""How the names begin of the files that Excel leaves beside those it has open."""


@dataclass(frozen=True)
class FoundTables:
    """Which file or sheet is what, what is to be said of that, and whether the values are to decide."""

    files: dict[str, Path | Sheet]
    remarks: list[str] = field(default_factory=list)
    unsure: str | None = None

    def after(self, remarks: list[str]) -> FoundTables:
        """Return the same, said after other remarks."""
        return replace(self, remarks=[*remarks, *self.remarks])


def without_locks(paths: list[Path]) -> tuple[list[Path], list[str]]:
    """Return paths but for those that only say that a file is open, and the names of these; refused where all are."""
    kept = [path for path in paths if not path.name.startswith(LOCK)]
    if paths and not kept:
        name = paths[0].name
        raise SourceError(
            f"{name!r} is no table: Excel leaves it while a file is open, give {name.removeprefix(LOCK)!r} itself"
        )
    return kept, [path.name for path in paths if path.name.startswith(LOCK)]


def are_named(nodes: Rows, links: Rows) -> bool:
    """Return whether the names of columns say which table has the ids and which the ends of links."""
    ids = named_columns("nodes", nodes.table.column_names).columns.get("id")
    ends = named_columns("links", links.table.column_names).columns
    return ids is not None and is_sure("nodes", "id", ids) and {"source", "target"} <= set(ends)


def are_swapped(nodes: Rows, links: Rows) -> bool:
    """Return whether values say that the nodes are the links, and the links the nodes."""
    if are_named(nodes, links) or linked(nodes, links) >= MOST:
        return False
    return linked(links, nodes) >= SURELY


def by_their_values(nodes: Rows, links: Rows, unsure: str, say: Callable[[str], None]) -> dict[str, Rows]:
    """Return which of two tables are nodes and which links; refused with ``unsure``, if any, where nothing tells."""
    if not are_swapped(nodes, links):
        if unsure and linked(nodes, links) < SURELY:
            raise SourceError(unsure)
        return {"nodes": nodes, "links": links}
    say(f"by their values nodes are in {links.name}, links are in {nodes.name} (guessed)")
    return {"nodes": links, "links": nodes}


def the_pair(tables: Mapping[str, Rows]) -> dict[str, str]:
    """Return which table is the nodes and which the links among some, nothing where no such pair is or several are."""
    found = [(one, other) for one, other in permutations(tables, 2) if linked(tables[one], tables[other]) >= SURELY]
    return dict(zip(("nodes", "links"), found[0], strict=True)) if len(found) == 1 else {}


def one_alone(tables: Mapping[str, Rows]) -> dict[str, str]:
    """Return the first of some tables alone, or as nodes where the rows of just one other link many of its rows."""
    if not tables:
        return {}
    first, *others = tables
    linking = [other for other in others if linked(tables[first], tables[other]) >= MOST]
    return {"nodes": first, "links": linking[0]} if len(linking) == 1 else {RECORDS: first}


def mentions_both(objects: Rows, items: Rows, mentions: Rows) -> bool:
    """Return whether a table has the ids of two others in two columns."""
    known = [_columns_of_ids(table, mentions) for table in (objects, items)]
    return any(one != other for one in known[0] for other in known[1])


def _columns_of_ids(table: Rows, mentions: Rows) -> list[str]:
    found = [nearly_unique(table, name) for name in table.table.column_names[:MOST_COLUMNS]]
    samples = {name: sample(mentions, name) for name in mentions.table.column_names[:MOST_COLUMNS]}
    return [
        name
        for name, values in samples.items()
        if values is not None and any(ids is not None and share_of(values, ids) >= SURELY for ids in found)
    ]


MOST_SHEETS = 20
"""So many sheets of a workbook are looked at where no name tells which is what."""


@dataclass(frozen=True, kw_only=True)
class TableFinder:
    """Finds tables: ``named`` files by what they are, and what else was said of them.

    With ``names_columns`` the columns of records are known; with ``alone`` one table may be all there is.
    """

    named: Mapping[str, Path]
    names_columns: bool
    sheet: str | Mapping[str, str] | None
    alone: bool
    conventions: Conventions
    limits: UnpackLimits

    def find(self, paths: Sequence[Path], *, more: bool = False) -> FoundTables:
        """Return which file, or sheet of one, is what, and what is to be said of that; ``more`` goes with others."""
        paths, locks = without_locks([Path(path) for path in paths])
        passed = [f"not read, for it only says that a file is open: {some(locks, 10)}"] * bool(locks)
        if len(paths) == 1 and not paths[0].is_dir():
            if format_of(paths[0]) == "xlsx" and paths[0].is_file() and not isinstance(self.sheet, str):
                return self._sheets(paths[0]).after(passed)
            return self._files_beside(paths[0], more=more).after(passed)
        named = dict(self.named)
        if named and paths:
            raise SourceError(f"paths are given beside {', '.join(named)}: name the files one way only")
        folders = [path for path in paths if path.is_dir()]
        if folders and len(paths) > 1:
            raise SourceError(f"{str(folders[0])!r} is a folder among other paths: give it alone, or the files in it")
        if folders:
            return self._folder(folders[0])
        files = named or assign(paths)
        if not is_whole(files) and set(files) != {"links"} and not (more and set(files) == {"nodes"}):
            raise SourceError(f"got {listed(files) if files else 'no files'}: {EXPECTED}")
        said = ", ".join(f"{role}={path.name!r}" for role, path in files.items())
        if named:
            return FoundTables({**files})
        by_order = not any(is_called(path) for path in paths)
        return FoundTables({**files}, [*passed, f"files: {said} (guessed)"], "" if by_order else None)

    def _folder(self, folder: Path) -> FoundTables:
        """Return which file of a folder is what: by their names, or where there are two tables, by their values."""
        way, unsure = "found", None
        try:
            files, others = tables_in(folder)
        except SourceError as error:
            unnamed, others = unnamed_tables(folder)
            if len(unnamed) == 1 and format_of(unnamed[0]) == "xlsx":
                passed = [f"not read, being no table: {some(others, 10)}"] * bool(others)
                return self._sheets(unnamed[0]).after([f"file: {unnamed[0].name!r} (found)", *passed])
            if len(unnamed) != 2 or any(format_of(path) == "xlsx" for path in unnamed):
                raise
            files, way, unsure = dict(zip(("nodes", "links"), unnamed, strict=True)), "guessed", str(error)
        said = ", ".join(f"{role}={path.name!r}" for role, path in files.items())
        remarks = [f"files: {said} ({way})"]
        if others:
            remarks.append(f"not read, having no name of a table: {some(others, 10)}")
        return FoundTables({**files}, remarks, unsure)

    def _sheets(self, path: Path) -> FoundTables:
        """Return which sheet of a workbook is what: as given, else as they are called, by values, or by their order."""
        if isinstance(self.sheet, Mapping):
            return FoundTables({role: Sheet(path, name) for role, name in self.sheet.items()})
        names = sheet_names(path, Meter(self.limits))
        if len(names) == 1:
            return self._files_beside(path)
        called = {ROLE_OF[name.strip().casefold()]: name for name in names if name.strip().casefold() in ROLE_OF}
        unsure, why = None, "having no name of a table"
        if not is_whole(called):
            called, unsure, why = self._sheets_by_values(path, names), "", "being no such tables"
        said = f"sheets: {', '.join(f'{role}={name!r}' for role, name in called.items())}"
        others = [name for name in names if name not in called.values()]
        if RECORDS in called:
            said, why = f"sheet: {called[RECORDS]!r}", NO_LINKS
        remarks = [f"{said} (guessed)"]
        if others:
            remarks.append(f"not read, {why}: {some(others, 10)}")
        return FoundTables({role: Sheet(path, name) for role, name in called.items()}, remarks, unsure)

    def _sheets_by_values(self, path: Path, names: Sequence[str]) -> dict[str, str]:
        """Return which sheet is what by their order, once those that are no tables are left out, or by their values."""
        looked_at = names[:MOST_SHEETS] if self.alone or len(names) > 2 else []
        tables = {name: rows for name in looked_at if (rows := self._sheet_rows(path, name)) is not None}
        left = list(tables) if looked_at else list(names)
        if len(tables) > 2 and mentions_both(*list(tables.values())[:3]):
            tables = {}
        if found := the_pair(tables) or (one_alone(tables) if self.alone else {}):
            return found
        try:
            return {role: str(sheet) for role, sheet in assign([Path(name) for name in left]).items()}
        except SourceError:
            one, two = (left if len(left) > 1 else names)[:2]
            raise SourceError(
                f"{path.name} has the sheets {some(names, 10)}: {EXPECTED}, each called so; or say which is what",
                parameter="sheet",
                hint=Setting("sheet", {"nodes": one, "links": two}),
            ) from None

    def _sheet_rows(self, path: Path, name: str) -> Rows | None:
        """Return the rows of a sheet, None where that holds no table, as a cover does not."""
        try:
            rows = read_workbook(path, Dropped(), Meter(self.limits), replace(self.conventions, sheet=name))
        except SourceError:
            return None
        return rows if rows.table.num_columns > 1 and rows.table.num_rows else None

    def _files_beside(self, path: Path, *, more: bool = False) -> FoundTables:
        """Return which file is what, where one is given by its path: nodes, if there are links, or records."""
        beside = {role: self.named[role] for role in ("links", *EXTRAS) if role in self.named}
        if {"nodes", "items", "mentions"} & set(self.named):
            raise SourceError(f"paths are given beside {', '.join(self.named)}: name the files one way only")
        columns = self.names_columns
        called = ROLE_OF.get(base_name(path).casefold())
        if more and called == "nodes" and not columns:
            return FoundTables({called: path, **beside})
        if not columns and not beside and called in (*["nodes"] * (not self.alone), *EXTRAS):
            raise SourceError(
                f"got {path.name!r} alone: {EXPECTED}; give the links beside it, a table with two ids in a row",
                parameter="links",
                hint=Setting("links"),
            )
        is_flat = "links" not in beside or columns
        return FoundTables({RECORDS if is_flat else "nodes": path, **beside})
