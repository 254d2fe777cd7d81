"""Read networks from tables: nodes and links; objects, items and mentions; or a single table of any kind.

Reading takes three steps: detect which table each file, sheet or frame is, assign roles to columns, build the corpus.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.progress import Progress, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import Message, ParameterError, Placeholder, Setting, SourceError, join_names, quote
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows, Separators
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.find_tables import (
    EXPECTED_TABLES,
    LAYOUTS,
    OPTIONAL_TABLES,
    RECORDS,
    TABLE_NAMES,
    TABLE_OF_NAME,
    FoundTables,
    SheetSummary,
    TableFinder,
    makes_corpus,
    order_nodes_and_links,
)
from cube2net.io.tables.frames import frame_rows, is_frame, names_in
from cube2net.io.tables.multi_values import check_separators, find_label_separators
from cube2net.io.tables.read_rows import read_rows
from cube2net.io.tables.record_table import (
    RecordColumns,
    build_record_corpus,
    find_mention_columns,
    find_record_columns,
)
from cube2net.io.tables.single_table import (
    SingleTable,
    drop_totals,
    has_references,
    is_first_row_data,
    split_single_table,
)
from cube2net.io.tables.table_corpus import (
    Part,
    add_labels_and_terms,
    build_item_corpus,
    build_links_among_known,
    build_links_corpus,
    build_network_corpus,
)
from cube2net.io.tables.table_roles import TableRoles, check_roles, normalize_name
from cube2net.io.tables.value_roles import are_links_by_name, are_links_by_values, assign_roles
from cube2net.io.tables.wide_tables import join_numbered_columns, matrix_links, parse_lists
from cube2net.io.tables.workbooks import Sheet, stack_sheets
from cube2net.io.text_records import is_workbook, strip_endings
from cube2net.model.corpus import Corpus, holds_text
from cube2net.model.objects import Objects

CONVENTION_NAMES = ("delimiter", "quote", "encoding", "decimal", "dates", "header")
RECORD_ROLES = ("item", "items.item", "object", "mentions.object")


@dataclass(frozen=True, eq=False)
class TableReading:
    """The corpus of some tables, the roles of their columns, and a problem to report to the user, if any.

    ``rows`` are the tables as read, and ``sheets`` those of a workbook with several sheets.
    """

    corpus: Corpus
    roles: TableRoles
    problem: Message | None = None
    rows: Mapping[str, Rows] = field(default_factory=dict)
    sheets: tuple[SheetSummary, ...] = ()


@dataclass(frozen=True, eq=False)
class DetectedTables:
    """The rows of each table, with ``single`` if one table was split into nodes and links, and ``records`` for records.

    ``read`` are the tables before they were split.
    """

    rows: Mapping[str, Rows]
    read: Mapping[str, Rows]
    single: SingleTable | None = None
    records: RecordColumns | None = None


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Reads a network from tables: CSV and other delimited text, workbooks, JSON lines or Parquet.

    Parameters
    ----------
    nodes, links
        Files of a network, in which every node is its own item.
    objects, items, mentions
        Files of items that mention objects, with ``links`` if there are any. Of a single table of records, ``objects``
        and ``item`` name the columns.
    labels, terms
        Names and parents of labels (attribute, label, full_name, parent), and counts of terms instead of texts
        (item, term, count).
    columns
        Columns by role, ``{"source": "from", "items.item": "paper"}``. Other roles are guessed from names and values,
        and the guess is remarked; ``usual`` are columns to take where a table has them.
    separators
        Separators of multi-valued columns, ``{"genres": "|", "authors": [",", " and "]}``. Where none is given they
        are found in the values; ``",,"`` is every second comma ("Last, F., Last, F.").
    delimiter, quote, encoding, decimal, dates, header
        How texts are written, such as ``decimal=","`` and ``dates="dmy"``; found where not given.
    sheet
        The sheet of a workbook, or the sheet of each table (``{"nodes": "Customers"}``).
    directed
        Whether links are directed from source to target.
    strict
        Whether to stop at a row that cannot be used, instead of counting it in ``dropped``.
    max_ratio, max_unpacked
        Limits of the size of unpacked files.
    """

    nodes: str | Path | None = None
    links: str | Path | None = None
    objects: str | Path | None = None
    items: str | Path | None = None
    mentions: str | Path | None = None
    labels: str | Path | None = None
    terms: str | Path | None = None
    item: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    separators: Separators = field(default_factory=dict)
    usual: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    sheet: str | Mapping[str, str] | None = None
    directed: bool = False
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        check_roles(self.columns)
        check_separators(self.separators)
        self._make_conventions()

    def read(self, paths: Sequence[Path] = (), *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files.

        Two paths are nodes and links; three are objects, items and mentions; a fourth is links. Names of files decide
        before their order. One path is a folder, a workbook or a single table.
        """
        return self.read_with_roles(paths, progress=progress).corpus

    def read_with_roles(self, paths: Sequence[Path] = (), *, progress: Progress = silent) -> TableReading:
        """Return the corpus of the files, and the roles of their columns."""
        return self.read_found(self._find_files(paths), progress=progress)

    def read_more(self, paths: Sequence[Path] = (), *, known: Objects, progress: Progress = silent) -> Corpus:
        """Return the corpus of files that may name ``known`` objects; nodes alone and links alone make one, too."""
        return self.read_found(self._find_files(paths, more=True), known=known, progress=progress).corpus

    def read_found(
        self, found: FoundTables, *, known: Objects | None = None, progress: Progress = silent
    ) -> TableReading:
        """Return the corpus and the column roles of files, sheets or frames whose tables are known."""
        dropped = Dropped(self.strict, progress)
        for remark in found.remarks:
            dropped.say(remark)
        detected = self._detect(found, dropped, known)
        parts, unused_columns = self._assign_roles(detected, dropped)
        separators = dict(self.separators)
        if known is None and (main_part := parts.get("nodes", parts.get("items"))) is not None:
            separators |= find_label_separators(main_part[0], main_part[1].values(), separators, dropped)
        corpus = self._build_corpus(detected, parts, separators, dropped, known)
        columns = {
            f"{table}.{role}": name
            for table, (_, columns_by_role) in parts.items()
            for role, name in columns_by_role.items()
        }
        source = self._describe_source(columns, corpus.source, separators)
        if detected.single is not None:
            roles = detected.single.roles(parts["nodes"][1])
        else:
            roles = TableRoles.from_columns(source["columns"], unused_columns)
        problem = None if known is not None else find_problem(corpus, roles)
        if problem is not None:
            dropped.say(str(problem))
        return TableReading(replace(corpus, source=source), roles, problem, detected.read, found.sheets)

    def _describe_source(
        self, columns: Mapping[str, str], source: Mapping[str, Any], separators: Separators
    ) -> dict[str, Any]:
        """Return the settings with which further tables can be read in the same way."""
        description = {
            "columns": {**source.get("columns", {}), **columns},
            "separators": {**separators, **source.get("separators", {})},
            "directed": self.directed,
            **{name: getattr(self, name) for name in CONVENTION_NAMES if getattr(self, name) is not None},
        }
        return {"name": "tables"} | {name: value for name, value in description.items() if value not in ({}, False)}

    # Detect

    def _detect(self, found: FoundTables, dropped: Dropped, known: Objects | None) -> DetectedTables:
        """Return the rows of every table; a single table holds links, records or nodes."""
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        rows: dict[str, Rows] = {}
        for n_read, (table, file) in enumerate(found.files.items()):
            dropped.progress(f"reading {file.name if isinstance(file, Path) else table}", n_read, len(found.files))
            rows[table] = parse_lists(self._read_rows(table, file, dropped, meter))
            if table in (RECORDS, "nodes", "links"):
                rows[table] = drop_totals(rows[table], dropped)
        if found.unsure is not None and {"nodes", "links"} <= set(rows):
            rows |= order_nodes_and_links(rows["nodes"], rows["links"], found.unsure, dropped.say)
        read_rows_by_table = dict(rows)
        if RECORDS not in rows:
            return DetectedTables(rows, read_rows_by_table)
        single_rows = rows.pop(RECORDS)
        if single_rows.table.num_rows == 0:
            raise SourceError(f"{single_rows.name} has a header and no rows, expected one row or more")
        has_links = "links" in rows
        if not has_links and self.objects is None and self.item is None and not self.columns:
            links = matrix_links(single_rows, dropped.say, directed=self.directed)
            if links is not None:
                return DetectedTables(rows | {"links": links}, read_rows_by_table)
        given_names = {*self.columns.values(), *self.separators, str(self.objects), str(self.item)}
        single_rows = join_numbered_columns(single_rows, given_names, dropped.say)
        layout, records = self._detect_layout(single_rows, found.files[RECORDS], has_links=has_links)
        if layout == RECORDS:
            return DetectedTables(rows | {RECORDS: single_rows}, read_rows_by_table, records=records)
        if layout == "links":
            dropped.say(f"{single_rows.name} is taken for links alone (guessed)")
            return DetectedTables(rows | {"links": single_rows}, read_rows_by_table)
        if known is not None or has_links:
            dropped.say(f"{single_rows.name} is taken for nodes alone (guessed)")
            return DetectedTables(rows | {"nodes": single_rows}, read_rows_by_table)
        single_table = split_single_table(single_rows, self.columns, dropped.say)
        return DetectedTables(rows | single_table.tables, read_rows_by_table, single_table)

    def _detect_layout(self, rows: Rows, file: Any, *, has_links: bool) -> tuple[str, RecordColumns | None]:
        """Return whether a single table holds ``records``, ``links`` or ``nodes``, and the columns of records."""
        given_by_role = self._find_columns_by_role({RECORDS: rows})
        objects = None if self.objects is None else str(self.objects)
        candidates = {
            "item": self.item or given_by_role.get("items.item", given_by_role.get("item")),
            "objects": objects or given_by_role.get("mentions.object", given_by_role.get("object")),
            "name": given_by_role.get("name"),
            "text": given_by_role.get("text"),
        }
        given_columns = {role: name for role, name in candidates.items() if name is not None}
        if self.item or set(RECORD_ROLES) & set(self.columns) or "objects" in given_columns:
            columns = find_record_columns(rows, given_columns, self.separators)
            if columns is None:
                raise SourceError(
                    f"{rows.name} needs a column of the objects that a record mentions (", Setting("objects"), ")"
                )
            return RECORDS, columns
        if {"nodes.id", "nodes.name", "id"} & set(self._find_columns_by_role({"nodes": rows})):
            return "nodes", None
        file_name = strip_endings(file) if isinstance(file, Path) else ""
        if not has_links and are_links_by_name(rows, file_name, self._find_columns_by_role({"links": rows})):
            return "links", None
        columns = find_record_columns(rows, given_columns, self.separators)
        columns = columns or find_mention_columns(rows, given_columns, by_name=True)
        if columns is None and not has_links and are_links_by_values(rows):
            return "links", None
        columns = columns or find_mention_columns(rows, given_columns, by_name=False)
        return ("nodes", None) if columns is None or has_references(rows) else (RECORDS, columns)

    def _find_columns_by_role(self, tables: Mapping[str, Rows]) -> dict[str, str]:
        """Return the columns by role: the given ones, and the usual ones that the tables have."""
        usual_columns = {}
        for table, rows in tables.items():
            for role, name in self.usual.items():
                is_of_table = role.startswith(f"{table}.") or (
                    table == RECORDS and role in (*RECORD_ROLES, "name", "text")
                )
                if is_of_table and name in rows.table.column_names and role.split(".")[-1] not in self.columns:
                    usual_columns[role] = name
        return usual_columns | dict(self.columns)

    def _make_conventions(self, table: str = "") -> Conventions:
        sheet = self.sheet.get(table) if isinstance(self.sheet, Mapping) else self.sheet
        return Conventions(sheet=sheet, **{name: getattr(self, name) for name in CONVENTION_NAMES})

    def _read_rows(self, table: str, file: Any, dropped: Dropped, meter: Meter) -> Rows:
        if not isinstance(file, Path | Sheet):
            return frame_rows(file, table, dropped)
        conventions = self._make_conventions(table)
        if isinstance(file, Sheet) and file.others:
            sheets = (file._replace(name=name, others=()) for name in (file.name, *file.others))
            return stack_sheets(
                file.path.name, {sheet.name: self._read_rows(table, sheet, dropped, meter) for sheet in sheets}
            )
        if isinstance(file, Sheet):
            file, conventions = file.path, replace(conventions, sheet=file.name)
        rows = read_rows(file, conventions=conventions, dropped=dropped, meter=meter)
        if table == RECORDS and self.header is None and is_first_row_data(rows):
            dropped.say(f"{rows.name}: its first row is no header, for its values come again below (guessed)")
            rows = read_rows(file, conventions=replace(conventions, header=False), dropped=dropped, meter=meter)
        return rows

    # Assign roles

    def _assign_roles(self, detected: DetectedTables, dropped: Dropped) -> tuple[dict[str, Part], tuple[str, ...]]:
        """Return the tables with their columns by role, and the columns of links without a role."""
        parts: dict[str, Part] = {}
        unused_columns: tuple[str, ...] = ()
        tables = {table: rows for table, rows in detected.rows.items() if table != RECORDS}
        given_columns = self._find_columns_by_role(tables)
        single_columns = {} if detected.single is None else detected.single.columns
        for table, table_columns in assign_roles(tables, {**given_columns, **single_columns}, self.separators).items():
            given_roles = tuple(
                role for role in table_columns.given if f"{table}.{role}" in given_columns or role in given_columns
            )
            rows, columns = tables[table], dict(table_columns.columns)
            text = columns.get("text")
            if text is not None and "text" not in given_roles and not holds_text(rows.table[text].type):
                del columns["text"]
            for remark in (str(replace(table_columns, given=given_roles)), *table_columns.remarks):
                dropped.say(remark)
            if table not in ("links", "labels") and rows.table.num_rows == 0:
                raise SourceError(f"{rows.name} has a header and no rows, expected {table}")
            parts[table] = rows, columns
            unused_columns += table_columns.unused if table == "links" else ()
        return parts, unused_columns

    # Build the corpus

    def _build_corpus(
        self,
        detected: DetectedTables,
        parts: Mapping[str, Part],
        separators: Separators,
        dropped: Dropped,
        known: Objects | None,
    ) -> Corpus:
        links, directed = parts.get("links"), self.directed
        if detected.records is not None:
            rows = detected.rows[RECORDS]
            corpus = build_record_corpus(rows, detected.records, self.separators, links, dropped, directed=directed)
        elif "nodes" in parts:
            corpus = build_network_corpus(parts["nodes"], links, separators, dropped, directed=directed, known=known)
        elif "items" in parts:
            tables = parts["objects"], parts["items"], parts["mentions"]
            corpus = build_item_corpus(*tables, links, separators, dropped, directed=directed, known=known)
        elif known is not None:
            corpus = build_links_among_known(parts["links"], known, dropped, directed=directed)
        else:
            corpus = build_links_corpus(parts["links"], separators, dropped, directed=directed)
        return add_labels_and_terms(corpus, parts, dropped) if set(OPTIONAL_TABLES) & set(parts) else corpus

    # Files

    def files_read(self, paths: Sequence[Path] = ()) -> list[Path]:
        """Return the files that would be read."""
        paths = [Path(path) for path in paths]
        if len(paths) == 1 and is_workbook(paths[0]) and paths[0].is_file():
            supplementary = (getattr(self, table) for table in ("links", *OPTIONAL_TABLES))
            return [*paths, *(Path(path) for path in supplementary if path is not None)]
        files = self._find_files(paths).files.values()
        return list(dict.fromkeys(file.path if isinstance(file, Sheet) else file for file in files))

    def _find_files(self, paths: Sequence[Path], *, more: bool = False) -> FoundTables:
        finder = TableFinder(
            named={table: Path(path) for table in TABLE_NAMES if (path := getattr(self, table)) is not None},
            names_columns=self.objects is not None or self.item is not None,
            sheet=self.sheet,
            conventions=self._make_conventions(),
            limits=UnpackLimits(self.max_ratio, self.max_unpacked),
        )
        return finder.find(paths, more=more)


def find_problem(corpus: Corpus, roles: TableRoles) -> Message | None:
    """Return why nothing in a corpus is linked and what to do about it; None if something is linked."""
    if corpus.links is not None:
        if corpus.links.num_rows:
            return None
        if roles.layout == "single":
            return Message(
                "no links: no column names other rows, or several people; objects of the same cells are still "
                "together. If a column does, name it: ",
                Setting("columns", {"links.target": Placeholder("COLUMN")}),
                " or ",
                Setting("objects", Placeholder("COLUMN")),
            )
        return Message("no links: the table of links has no row that can be used")
    if corpus.mentions.num_rows and np.bincount(corpus.mentions["item"].to_numpy()).max() > 1:
        return None
    objects = next((column.column for column in roles.columns if column.role == "mentions.object"), "COLUMN")
    return Message(
        f"no links: every record has a single value in {objects!r}. If it holds several, name what separates them: ",
        Setting("separators", {objects: ";"}),
    )


Table = Any
"""A path, or a frame in memory."""
SUPPLEMENTARY_TABLES = ("links", *OPTIONAL_TABLES)
EXPECTED_TABLE = (
    "a path, or a frame: of pandas or Polars, an Arrow table, a DuckDB relation, or anything that exports Arrow data"
)


def read_tables(
    given: Sequence[Table], named: Mapping[str, Any], progress: Progress = silent, known: Objects | None = None
) -> Corpus:
    """Return the corpus of tables in files and in memory; ``named`` are tables by role, and options.

    The keys of a mapping of tables are their roles. Tables may name ``known`` objects without listing them.
    """
    given, options = list(given), dict(named)
    if len(given) == 1 and _is_table_mapping(given[0]):
        for name, table in given.pop().items():
            role = TABLE_OF_NAME.get(str(name).casefold(), RECORDS if name == RECORDS else None)
            if role is None or options.get(role) is not None:
                problem = "is given twice" if role else "is no table"
                raise SourceError(f"{quote(name)} {problem}: expected some of {join_names([*TABLE_NAMES, RECORDS])}")
            options[role] = table
    tables = {role: options.pop(role) for role in (*TABLE_NAMES, RECORDS) if options.get(role) is not None}
    given += [tables.pop(RECORDS)] if RECORDS in tables else []
    objects = tables.get("objects")
    if isinstance(objects, str) and (
        len(given) == 1 or set(tables) - set(SUPPLEMENTARY_TABLES) == {"objects", "items"}
    ):
        given += [tables.pop("items")] if "items" in tables and not Path(objects).exists() else []
        if len(given) == 1:
            options["objects"] = tables.pop("objects")
    for name, table in (*tables.items(), *((f"table {number + 1}", table) for number, table in enumerate(given))):
        _check_table(name, table)
    reader = _make_reader(options)
    if not any(map(is_frame, (*given, *tables.values()))):
        reader, paths = _make_reader({**options, **tables}), [Path(path) for path in given]
        return (
            reader.read(paths, progress=progress)
            if known is None
            else reader.read_more(paths, known=known, progress=progress)
        )
    roles = _assign_table_roles(given, tables, {"item", "objects"} & set(options))
    places = {id(table): number for number, table in enumerate(given, start=1)}
    order = [f"{role} is table {places[id(table)]}" for role, table in roles.items() if id(table) in places]
    remarks = [f"tables: {', '.join(order)}"] if len(given) > 1 else []
    read = {role: table if is_frame(table) else Path(table) for role, table in roles.items()}
    return reader.read_found(FoundTables(read, remarks), known=known, progress=progress).corpus


def _make_reader(options: Mapping[str, Any]) -> Tables:
    try:
        return Tables(**options)
    except TypeError as error:
        raise ParameterError(f"source 'tables' cannot be made so: {error}") from None


def _is_table_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and not is_frame(value)


def _check_table(name: str, table: object) -> None:
    if not (is_frame(table) or (isinstance(table, str | os.PathLike) and os.fspath(table))):
        raise ParameterError(f"{name} is {quote(table)}, expected {EXPECTED_TABLE}")


def _assign_table_roles(
    unassigned: Sequence[Table], tables: Mapping[str, Table], column_settings: set[str]
) -> dict[str, Table]:
    """Return the tables by role: unnamed ones by their order, a single one as nodes if there are links for it."""
    if len(unassigned) == 1:
        other_roles = [role for role in tables if role not in SUPPLEMENTARY_TABLES]
        if other_roles:
            raise SourceError(
                f"a table is given beside {join_names(other_roles)}: name them all, such as nodes=…, links=…"
            )
        return {"nodes" if "links" in tables and not column_settings else RECORDS: unassigned[0], **tables}
    tables_by_role = dict(tables)
    if unassigned:
        layout = [role for role in LAYOUTS.get(len(unassigned), ()) if role not in tables]
        if len(layout) < len(unassigned):
            raise SourceError(f"got {len(unassigned)} tables: {EXPECTED_TABLES}")
        order = [*unassigned[::-1]] if len(unassigned) == 2 and _are_swapped(*unassigned) else unassigned
        tables_by_role |= dict(zip(layout, order, strict=True))
    if not makes_corpus(tables_by_role) and set(tables_by_role) != {"links"}:
        raise SourceError(f"got {join_names(tables_by_role)}: {EXPECTED_TABLES}")
    return tables_by_role


def _are_swapped(nodes: Table, links: Table) -> bool:
    """Return whether the first of two tables has the columns of links and the second does not."""
    return _has_link_ends(nodes) and not _has_link_ends(links)


def _has_link_ends(table: Table) -> bool:
    names = {normalize_name(name) for name in names_in(table)}
    return any(set(end_names) <= names for end_names in (("source", "target"), ("from", "to"), ("src", "dst")))
