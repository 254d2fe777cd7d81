"""Find the table that each file, or sheet of a workbook, holds: as given, by name, or by values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

from cube2net._util.zip_files import Meter, UnpackLimits
from cube2net.errors import SourceError, join_names, quote_few
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.key_columns import (
    MAX_KEY_COLUMNS,
    is_nearly_unique,
    link_share,
    nearly_unique_keys,
    sample_key_columns,
    sample_keys,
    share_in,
)
from cube2net.io.tables.table_roles import columns_by_name, has_id_name
from cube2net.io.tables.workbooks import Sheet, read_workbook, sheet_names
from cube2net.io.text_records import detect_format, is_workbook, strip_endings

RECORDS = "records"
"""The role of a single table until its layout is known."""
LAYOUTS = {2: ("nodes", "links"), 3: ("objects", "items", "mentions"), 4: ("objects", "items", "mentions", "links")}
"""The tables that make a corpus, by their count and in their usual order."""
OPTIONAL_TABLES = ("labels", "terms")
EXPECTED_TABLES = "expected nodes and links, or objects, items and mentions (and links)"
TABLE_NAMES = {
    "nodes": ("nodes", "node", "vertices"),
    "links": ("links", "link", "edges", "edge"),
    "objects": ("objects", "object"),
    "items": ("items", "item"),
    "mentions": ("mentions", "mention"),
    "labels": ("labels", "label"),
    "terms": ("terms", "term"),
}
"""The usual names of files and sheets, by table."""
TABLE_OF_NAME = {spelling: table for table, spellings in TABLE_NAMES.items() for spelling in spellings}
LOCK_PREFIX = "~$"
"""Prefix of the lock files that Excel creates next to open files."""
IGNORED_PREFIXES = (".", LOCK_PREFIX)
MIN_LINK_SHARE, MIN_CERTAIN_LINK_SHARE = 0.5, 0.9
"""Minimum share of ids found in another table to link it, and to decide without names."""
MAX_REPEATED_SHARE = 0.5
"""Maximum share of ids that are repeated on a sheet with other rows."""
MAX_SHEETS = 20
"""Maximum number of sheets that are read to find the data."""


@dataclass(frozen=True)
class SheetSummary:
    """A sheet of a workbook with its first values; ``rows`` is None if it was not read to find the data."""

    name: str
    rows: int | None = None
    first: tuple[str, ...] = ()
    is_used: bool = False


@dataclass(frozen=True)
class FoundTables:
    """The file or sheet of every table, with remarks, and the sheets of a workbook that has several.

    ``unsure`` is None if names or the caller decided. Otherwise the values of nodes and links are compared, and
    ``unsure`` is the error message if they do not decide either (no error if empty).
    """

    files: dict[str, Path | Sheet]
    remarks: list[str] = field(default_factory=list)
    unsure: str | None = None
    sheets: tuple[SheetSummary, ...] = ()


def makes_corpus(tables: Iterable[str]) -> bool:
    """Return whether tables make a corpus; labels and terms are optional."""
    return any(set(tables) - set(OPTIONAL_TABLES) == set(layout) for layout in LAYOUTS.values())


def order_nodes_and_links(nodes: Rows, links: Rows, unsure: str, report: Callable[[str], None]) -> dict[str, Rows]:
    """Return two tables as nodes and links, swapped if their values show it; raise ``unsure`` if nothing decides."""
    may_be_swapped = not _have_clear_names(nodes, links) and link_share(nodes, links) < MIN_LINK_SHARE
    if may_be_swapped and link_share(links, nodes) >= MIN_CERTAIN_LINK_SHARE:
        report(f"by their values nodes are in {links.name}, links are in {nodes.name} (guessed)")
        return {"nodes": links, "links": nodes}
    if unsure and link_share(nodes, links) < MIN_CERTAIN_LINK_SHARE:
        raise SourceError(unsure)
    return {"nodes": nodes, "links": links}


def _have_clear_names(nodes: Rows, links: Rows) -> bool:
    """Return whether column names show which table has the ids and which the ends of links."""
    key = columns_by_name("nodes", nodes.table.column_names).columns.get("id")
    ends = columns_by_name("links", links.table.column_names).columns
    return key is not None and has_id_name("nodes", "id", key) and {"source", "target"} <= set(ends)


@dataclass(frozen=True, kw_only=True)
class TableFinder:
    """Finds tables among files and sheets; ``named`` are files whose table the caller gave.

    With ``names_columns`` the caller named the columns of records, so that a single file holds records.
    """

    named: Mapping[str, Path]
    names_columns: bool
    sheet: str | Mapping[str, str] | None
    conventions: Conventions
    limits: UnpackLimits

    def find(self, paths: Sequence[Path], *, more: bool = False) -> FoundTables:
        """Return the file or sheet of every table; with ``more``, nodes alone are enough."""
        paths, remarks = _remove_lock_files([Path(path) for path in paths])
        if len(paths) == 1 and not paths[0].is_dir():
            found_tables = self._in_file(paths[0], more=more)
            return replace(found_tables, remarks=[*remarks, *found_tables.remarks])
        if self.named and paths:
            raise SourceError(f"paths are given beside {', '.join(self.named)}: name the files one way only")
        folders = [path for path in paths if path.is_dir()]
        if folders and len(paths) > 1:
            raise SourceError(f"{str(folders[0])!r} is a folder among other paths: give it alone, or the files in it")
        if folders:
            return self._in_folder(folders[0])
        files = dict(self.named) or assign_files(paths)
        if not makes_corpus(files) and set(files) != {"links"} and not (more and set(files) == {"nodes"}):
            raise SourceError(f"got {join_names(files) if files else 'no files'}: {EXPECTED_TABLES}")
        if self.named:
            return FoundTables({**files})
        is_by_order = not any(_find_table_in_name(path) for path in paths)
        return FoundTables(
            {**files}, [*remarks, f"files: {_describe_files(files)} (guessed)"], "" if is_by_order else None
        )

    def _in_file(self, path: Path, *, more: bool = False) -> FoundTables:
        """Return the tables of one file: sheets of a workbook, nodes for given links, or a single table."""
        sheets: tuple[SheetSummary, ...] = ()
        if is_workbook(path) and path.is_file():
            if isinstance(self.sheet, Mapping):
                return FoundTables({table: Sheet(path, name) for table, name in self.sheet.items()})
            names = sheet_names(path, Meter(self.limits))
            if len(names) > 1 and self.sheet is None:
                return self._in_sheets(path, names)
            sheets = tuple(SheetSummary(name, is_used=name == self.sheet) for name in names if len(names) > 1)
        supplementary = {table: self.named[table] for table in ("links", *OPTIONAL_TABLES) if table in self.named}
        if {"nodes", "items", "mentions"} & set(self.named):
            raise SourceError(f"paths are given beside {', '.join(self.named)}: name the files one way only")
        table_name = TABLE_OF_NAME.get(strip_endings(path).casefold())
        if table_name in OPTIONAL_TABLES and not self.names_columns and not supplementary:
            raise SourceError(f"got {path.name!r} alone: {EXPECTED_TABLES}")
        is_nodes = not self.names_columns and ("links" in supplementary or (more and table_name == "nodes"))
        return FoundTables({"nodes" if is_nodes else RECORDS: path, **supplementary}, sheets=sheets)

    def _in_folder(self, folder: Path) -> FoundTables:
        """Return the tables of a folder: files named like tables, one workbook, or two files by their values."""
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith(IGNORED_PREFIXES))
        source, unsure = "found", None
        try:
            files = _find_files_by_name(folder, paths)
        except SourceError as error:
            files = {str(number): path for number, path in enumerate(filter(_is_table_file, paths))}
            other_names = quote_few([path.name for path in paths if path not in files.values()], 10)
            if any(map(_find_table_in_name, files.values())):
                raise
            if len(files) == 1 and is_workbook(files["0"]):
                found_tables = self._in_file(files["0"])
                remarks = [f"file: {files['0'].name!r} (found)"] + [f"not read, being no table: {other_names}"] * bool(
                    other_names
                )
                return replace(found_tables, remarks=[*remarks, *found_tables.remarks])
            if len(files) != 2 or any(map(is_workbook, files.values())):
                raise
            files, source, unsure = dict(zip(("nodes", "links"), files.values(), strict=True)), "guessed", str(error)
        remarks = [f"files: {_describe_files(files)} ({source})"]
        if unread_names := [path.name for path in paths if path not in files.values()]:
            remarks.append(f"not read, having no name of a table: {quote_few(unread_names, 10)}")
        return FoundTables({**files}, remarks, unsure)

    def _in_sheets(self, path: Path, names: Sequence[str]) -> FoundTables:
        """Return the sheets of a workbook to read: by their names, else by their values, else by their order."""
        by_name = {
            TABLE_OF_NAME[name.strip().casefold()]: name for name in names if name.strip().casefold() in TABLE_OF_NAME
        }
        if makes_corpus(by_name):
            chosen_sheets, unsure, reason, remarks = by_name, None, "having no name of a table", []
            tables: dict[str, Rows] = {}
            matching_sheets: tuple[str, ...] = ()
        else:
            tables = {name: rows for name in names[:MAX_SHEETS] if (rows := self._read_sheet(path, name)) is not None}
            if not tables:
                raise SourceError(
                    f"{path.name} has no sheet with a table, expected a header and rows in one of "
                    f"{quote_few(names, 10)}"
                )
            chosen_sheets, unsure, reason = _choose_sheets(tables), "", "being empty, a note or another table"
            matching_sheets = _find_matching_sheets(tables, chosen_sheets.get(RECORDS))
            remarks = [f"sheets of {path.name}: {'; '.join(_describe_sheet(name, tables.get(name)) for name in names)}"]
        if RECORDS in chosen_sheets:
            remarks.append(f"sheet={chosen_sheets[RECORDS]!r} (guessed)")
            if matching_sheets:
                joined_sheets = [chosen_sheets[RECORDS], *matching_sheets]
                remarks.append(f"sheets with the same columns are read as one table: {quote_few(joined_sheets, 10)}")
        else:
            remarks.append(
                f"sheets: {', '.join(f'{table}={name!r}' for table, name in chosen_sheets.items())} (guessed)"
            )
        if other_names := [name for name in names if name not in (*chosen_sheets.values(), *matching_sheets)]:
            remarks.append(f"not read, {reason}: {quote_few(other_names, 10)}")
        used_sheets = {*chosen_sheets.values(), *matching_sheets}
        sheets = tuple(_summarize_sheet(name, tables.get(name), is_used=name in used_sheets) for name in names)
        files: dict[str, Path | Sheet] = {
            table: Sheet(path, name, matching_sheets) for table, name in chosen_sheets.items()
        }
        return FoundTables(files, remarks, unsure, sheets)

    def _read_sheet(self, path: Path, name: str) -> Rows | None:
        """Return the rows of a sheet, None if it holds no table, such as a cover."""
        try:
            rows = read_workbook(path, Dropped(), Meter(self.limits), replace(self.conventions, sheet=name))
        except SourceError:
            return None
        return rows if rows.table.num_columns > 1 and rows.table.num_rows else None


def _describe_files(files: Mapping[str, Path]) -> str:
    return ", ".join(f"{table}={path.name!r}" for table, path in files.items())


# Sheets


def _choose_sheets(tables: Mapping[str, Rows]) -> dict[str, str]:
    """Return the sheets to read: nodes and links, objects with items and mentions, or the sheet with the data."""
    if len(tables) > 2 and _refers_to_both(*list(tables.values())[:3]):
        return {table: str(sheet) for table, sheet in assign_files([Path(name) for name in tables]).items()}
    shares = {
        (sheet, other_sheet): link_share(tables[sheet], tables[other_sheet])
        for sheet, other_sheet in permutations(tables, 2)
    }
    for min_share in (MIN_CERTAIN_LINK_SHARE, MIN_LINK_SHARE):
        pairs = [pair for pair, share in shares.items() if share >= min_share]
        if len(pairs) == 1:
            return dict(zip(("nodes", "links"), pairs[0], strict=True))

    def rate(sheet: str) -> tuple[bool, int]:
        rows = tables[sheet]
        return any(
            is_nearly_unique(rows, name) for name in rows.table.column_names[:MAX_KEY_COLUMNS]
        ), rows.table.num_rows

    return {RECORDS: max(tables, key=rate)}


def _find_matching_sheets(tables: Mapping[str, Rows], chosen_sheet: str | None) -> tuple[str, ...]:
    """Return the sheets with the same columns as the chosen one but other rows, such as one sheet per year."""
    if chosen_sheet is None:
        return ()
    rows = tables[chosen_sheet]
    names = rows.table.column_names
    key_columns = (nearly_unique_keys(rows, name) for name in names[:MAX_KEY_COLUMNS])
    ids = next((values for values in key_columns if values is not None), None)

    def is_matching(other: Rows) -> bool:
        if sorted(other.table.column_names) != sorted(names):
            return False
        return ids is None or all(share_in(sample, ids) < MAX_REPEATED_SHARE for sample in sample_key_columns(other))

    return tuple(name for name, other in tables.items() if name != chosen_sheet and is_matching(other))


def _summarize_sheet(name: str, rows: Rows | None, *, is_used: bool = False) -> SheetSummary:
    if rows is None:
        return SheetSummary(name, is_used=is_used)
    first_values = [str(column[0].as_py())[:30] for column in rows.table.columns[:3] if column[0].is_valid]
    return SheetSummary(name, rows.table.num_rows, tuple(first_values), is_used)


def _describe_sheet(name: str, rows: Rows | None) -> str:
    """Return the size of a sheet and its first values, as part of a remark."""
    if rows is None:
        return f"{name!r} (no table)"
    return f"{name!r} ({rows.table.num_rows:,} rows: {', '.join(_summarize_sheet(name, rows).first)}, …)"


def _refers_to_both(objects: Rows, items: Rows, mentions: Rows) -> bool:
    """Return whether two columns of a table hold the ids of two other tables."""
    id_columns = [_find_id_columns(table, mentions) for table in (objects, items)]
    return any(object_column != item_column for object_column in id_columns[0] for item_column in id_columns[1])


def _find_id_columns(table: Rows, mentions: Rows) -> list[str]:
    keys = [nearly_unique_keys(table, name) for name in table.table.column_names[:MAX_KEY_COLUMNS]]
    samples = {name: sample_keys(mentions, name) for name in mentions.table.column_names[:MAX_KEY_COLUMNS]}
    return [
        name
        for name, values in samples.items()
        if values is not None
        and any(ids is not None and share_in(values, ids) >= MIN_CERTAIN_LINK_SHARE for ids in keys)
    ]


# Names of files


def _remove_lock_files(paths: list[Path]) -> tuple[list[Path], list[str]]:
    """Return paths without the lock files of Excel, and a remark about these."""
    locks = [path.name for path in paths if path.name.startswith(LOCK_PREFIX)]
    if paths and len(locks) == len(paths):
        raise SourceError(
            f"{locks[0]!r} is no table: Excel leaves it while a file is open, give "
            f"{locks[0].removeprefix(LOCK_PREFIX)!r} itself"
        )
    remarks = [f"not read, lock files of Excel: {quote_few(locks, 10)}"] * bool(locks)
    return [path for path in paths if path.name not in locks], remarks


def _is_table_file(path: Path) -> bool:
    return detect_format(path) not in (None, "txt") and path.is_file()


def _find_files_by_name(folder: Path, paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files of a folder that are named like a table, such as ``items.csv`` or ``Edges.tsv.gz``.

    Names that only contain such a word do not count, such as ``hidden-links.csv``.
    """
    files: dict[str, Path] = {}
    other_names = []
    for path in sorted(paths, key=lambda path: (is_workbook(path), path)):
        table = TABLE_OF_NAME.get(strip_endings(path).casefold()) if _is_table_file(path) else None
        if table is None or (table in files and is_workbook(path)):
            other_names.append(path.name)
        elif table in files:
            raise SourceError(
                f"{str(folder)!r} holds {files[table].name!r} and {path.name!r}: expected one table of {table}, "
                "remove the other or name the files one by one"
            )
        else:
            files[table] = path
    replaced, replacement = ("nodes", "objects") if {"items", "mentions"} & set(files) else ("objects", "nodes")
    files = {
        replacement if table == replaced and replacement not in files else table: path for table, path in files.items()
    }
    if not makes_corpus(files):
        remark = f"; other names are not known: {quote_few(other_names)}" if other_names else ""
        raise SourceError(
            f"{str(folder)!r} holds {', '.join(files) or 'no table'}: {EXPECTED_TABLES}, "
            f"in files of these names, such as items.csv{remark}"
        )
    return {table: files[table] for table in TABLE_NAMES if table in files}


def assign_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files by table: by their names if possible, else by their order.

    Labels and terms are recognised only by name, if the other files make a corpus.

    >>> {table: path.name for table, path in assign_files([Path("knows_edges.csv"), Path("people.csv")]).items()}
    {'nodes': 'people.csv', 'links': 'knows_edges.csv'}
    """
    optional_files: dict[str, Path] = {}
    for path in paths:
        table = _find_table_in_name(path)
        if table in OPTIONAL_TABLES:
            if table in optional_files:
                raise SourceError(
                    f"{optional_files[table].name!r} and {path.name!r} are both called {table}: give one of them"
                )
            optional_files[table] = path
    main_files = [path for path in paths if path not in optional_files.values()]
    layout = LAYOUTS.get(len(main_files), ())
    if not layout or (
        len(paths) in LAYOUTS and {_find_table_in_name(path, layout) for path in main_files} != set(layout)
    ):
        optional_files, main_files = {}, list(paths)
    if len(main_files) not in LAYOUTS:
        raise SourceError(f"got {len(main_files)} file{'s' if len(main_files) != 1 else ''}: {EXPECTED_TABLES}")
    layout = LAYOUTS[len(main_files)]
    assigned: dict[str, Path] = {}
    for path in main_files:
        table = _find_table_in_name(path, layout)
        if table is None or table in OPTIONAL_TABLES:
            continue
        if table not in layout or table in assigned:
            raise SourceError(f"cannot place {path.name!r} among {len(main_files)} files: {EXPECTED_TABLES}")
        assigned[table] = path
    unassigned = iter([path for path in main_files if path not in assigned.values()])
    return {table: assigned[table] if table in assigned else next(unassigned) for table in layout} | optional_files


def _find_table_in_name(path: Path, layout: Sequence[str] = ()) -> str | None:
    """Return the table that a word in a file name stands for; nodes and objects are what the ``layout`` has of them."""
    words = set(re.split(r"[^a-z]+", path.name.casefold()))
    table = next((table for table, spellings in TABLE_NAMES.items() if words & set(spellings)), None)
    if table == "nodes" and "objects" in layout:
        return "objects"
    return "nodes" if table == "objects" and "nodes" in layout else table
