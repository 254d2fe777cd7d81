"""Tables of any usual format: nodes and links, or objects, items and mentions, in files, in a folder or in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cube2net._util.progress import Progress, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import ParameterError, SourceError, listed, quoted
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.find_tables import RECORDS, FoundTables, TableFinder, by_their_values
from cube2net.io.tables.flat_table import flat_corpus, guess_flat
from cube2net.io.tables.frames import frame_rows, is_frame, names_in
from cube2net.io.tables.list_columns import label_separators
from cube2net.io.tables.read_rows import as_read, read_rows
from cube2net.io.tables.single_table import (
    SingleTable,
    first_row_is_data,
    names_other_rows,
    single_table,
    without_totals,
)
from cube2net.io.tables.table_corpus import (
    Part,
    item_corpus,
    links_corpus,
    more_links,
    network_corpus,
    with_labels_and_terms,
)
from cube2net.io.tables.table_roles import (
    CALLED,
    EXPECTED,
    EXTRAS,
    LAYOUTS,
    ROLE_OF,
    TableRoles,
    base_name,
    check_roles,
    format_of,
    found_roles,
    is_whole,
    plain,
)
from cube2net.io.tables.value_roles import are_links_by_name, are_links_by_values, roles_of
from cube2net.io.tables.workbooks import Sheet
from cube2net.model.corpus import Corpus, holds_text
from cube2net.model.objects import Objects

CONVENTIONS = ("delimiter", "quote", "encoding", "decimal", "dates", "header")
FLAT_ROLES = ("item", "items.item", "object", "mentions.object")


@dataclass(frozen=True, eq=False)
class TableReading:
    """The corpus of some tables, and the roles that their columns have."""

    corpus: Corpus
    roles: TableRoles


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Reads a network from tables: CSV and other delimited text, Excel, JSON lines or Parquet.

    Either ``nodes`` and ``links``, and then every node is its own item; or ``objects``, ``items`` and
    ``mentions``, with ``links`` if there are any. ``labels`` (attribute, label, full_name, parent) may say more of
    the values of attributes, and ``terms`` (item, term, count) stand in for texts. Or one table of records alone, with
    a row for every mention or with several objects in a column: then ``item`` and ``objects`` name its columns.
    ``columns`` says which column is what (``{"source": "from", "items.item": "paper"}``); what it does not say is
    guessed by names and values, and the guess is said to ``progress``, but for ``usual`` columns of the same spelling,
    which are taken where a table has them. So is how texts are written, unless ``delimiter``,
    ``quote``, ``encoding``, ``decimal`` (``","``), ``dates`` (``"dmy"``) and ``header`` say it;
    ``sheet`` says which sheet of a workbook is read, or which is what (``{"nodes": "Customers"}``). Links may have a
    kind and a time, and with ``directed`` they lead from source to target. ``separators`` part a text column into
    several labels (``{"genres": "|"}``). With ``alone`` one table without links or records is read as nodes, linked by
    the columns that name other rows, if any. A row that cannot be used is counted in ``dropped`` and the first few are
    said, or stop the reading when ``strict``; so does every id that comes twice. ``max_ratio`` and ``max_unpacked``
    limit how far packed files may swell.
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
    separators: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    sheet: str | Mapping[str, str] | None = None
    directed: bool = False
    alone: bool = False
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        check_roles(self.columns)
        for name, separator in self.separators.items():
            if not separator:
                raise ParameterError(f"the separator of {name!r} is {separator!r}, expected a text such as '|'")
        self._conventions()

    def read(self, paths: Sequence[Path] = (), *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files; paths are told apart by their names, else by their order.

        Two paths are nodes and links; three are objects, items and mentions; a fourth is links. One path is a folder
        of files with these names, a workbook with such sheets, or a table of links or records; what has other names
        is passed over, and this is said.
        """
        return self.read_with_roles(paths, progress=progress).corpus

    def read_with_roles(self, paths: Sequence[Path] = (), *, progress: Progress = silent) -> TableReading:
        """Return the corpus of the files, and the roles of their columns."""
        found = self._files(paths)
        return self.read_found(found.files, remarks=found.remarks, progress=progress, unsure=found.unsure)

    def read_more(self, paths: Sequence[Path] = (), *, known: Objects, progress: Progress = silent) -> Corpus:
        """Return the corpus of files that may name ``known`` objects; nodes alone and links alone make one, too."""
        found = self._files(paths, more=True)
        reading = self.read_found(
            found.files, remarks=found.remarks, known=known, progress=progress, unsure=found.unsure
        )
        return reading.corpus

    def read_found(
        self,
        tables: Mapping[str, Any],
        *,
        remarks: Sequence[str] = (),
        known: Objects | None = None,
        progress: Progress = silent,
        unsure: str | None = None,
    ) -> TableReading:
        """Return the corpus and the roles of tables by what each of them is: paths, sheets, or frames in memory.

        Where only their order says which are nodes and which links, that is ``unsure``, and the values decide; where
        that is not empty it is the refusal of tables of which the values do not tell.
        """
        dropped = Dropped(self.strict, progress)
        for remark in remarks:
            dropped.say(remark)
        rows, single = self._detect(tables, dropped, known, unsure)
        tabled = {role: table for role, table in rows.items() if role != RECORDS}
        parts, not_used = self._parts(tabled, {} if single is None else single.columns, dropped)
        separators = dict(self.separators)
        if known is None and (part := parts.get("nodes", parts.get("items"))) is not None:
            separators |= label_separators(part[0], part[1].values(), separators, dropped)
        corpus = self._corpus(parts, rows.get(RECORDS), separators, dropped, known)
        said = {"separators": separators, "directed": self.directed}
        said |= {name: getattr(self, name) for name in CONVENTIONS if getattr(self, name) is not None}
        columns = {role: part[1] for role, part in parts.items()}
        source = as_read(columns, corpus.source, said)
        roles = found_roles(source["columns"], not_used) if single is None else single.roles(columns)
        return TableReading(replace(corpus, source=source), roles)

    def _detect(
        self, tables: Mapping[str, Any], dropped: Dropped, known: Objects | None, unsure: str | None
    ) -> tuple[dict[str, Rows], SingleTable | None]:
        """Return the rows of every table by what it is, and the parts of a single table of nodes, if it is one."""
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        rows: dict[str, Rows] = {}
        for number, (role, table) in enumerate(tables.items()):
            dropped.progress(f"reading {table.name if isinstance(table, Path) else role}", number, len(tables))
            rows[role] = self._rows(role, table, dropped, meter)
            if self.alone and role in (RECORDS, "nodes", "links"):
                rows[role] = without_totals(rows[role], dropped)
        if unsure is not None and {"nodes", "links"} <= set(rows):
            rows |= by_their_values(rows["nodes"], rows["links"], unsure, dropped.say)
        if RECORDS not in rows:
            return rows, None
        if "links" not in rows and self._are_links(rows[RECORDS], tables[RECORDS]):
            dropped.say(f"{rows[RECORDS].name} is taken for links alone (guessed)")
            rows["links"] = rows.pop(RECORDS)
        elif known is not None and not self._are_records(rows[RECORDS]):
            dropped.say(f"{rows[RECORDS].name} is taken for nodes alone (guessed)")
            rows["nodes"] = rows.pop(RECORDS)
        elif self._are_alone(rows):
            single = single_table(rows.pop(RECORDS), self.columns, dropped.say)
            return rows | single.tables, single
        return rows, None

    def _corpus(
        self,
        parts: Mapping[str, Part],
        records: Rows | None,
        separators: Mapping[str, str],
        dropped: Dropped,
        known: Objects | None,
    ) -> Corpus:
        """Return the corpus of tables whose columns have roles, or of one table of records."""
        if records is not None:
            corpus = flat_corpus(
                records,
                item=self.item,
                objects=None if self.objects is None else str(self.objects),
                columns=self._columns({RECORDS: records}),
                separators=self.separators,
                links=parts.get("links"),
                dropped=dropped,
                directed=self.directed,
                by_values=self.alone,
            )
        elif "nodes" in parts:
            both = parts["nodes"], parts.get("links")
            corpus = network_corpus(*both, separators, dropped, directed=self.directed, known=known)
        elif "items" in parts:
            needed = parts["objects"], parts["items"], parts["mentions"]
            corpus = item_corpus(*needed, parts.get("links"), separators, dropped, directed=self.directed, known=known)
        elif known is not None:
            corpus = more_links(parts["links"], known, dropped, directed=self.directed)
        else:
            corpus = links_corpus(parts["links"], dropped, directed=self.directed)
        return with_labels_and_terms(corpus, parts, dropped) if {"labels", "terms"} & set(parts) else corpus

    def files_read(self, paths: Sequence[Path] = ()) -> list[Path]:
        """Return the files that would be read."""
        paths = [Path(path) for path in paths]
        if len(paths) == 1 and format_of(paths[0]) == "xlsx" and paths[0].is_file():
            return [*paths, *(Path(path) for role in ("links", *EXTRAS) if (path := getattr(self, role)) is not None)]
        files = self._files(paths).files.values()
        return list(dict.fromkeys(file.path if isinstance(file, Sheet) else file for file in files))

    def _columns(self, tables: Mapping[str, Rows]) -> dict[str, str]:
        """Return which column is what, as given, and as usual where a table has these columns."""
        usual = {}
        for role, rows in tables.items():
            for key, name in self.usual.items():
                is_of = key.startswith(f"{role}.") or (role == RECORDS and key in (*FLAT_ROLES, "name", "text"))
                if is_of and name in rows.table.column_names and key.split(".")[-1] not in self.columns:
                    usual[key] = name
        return usual | dict(self.columns)

    def _before(self, rows: Rows) -> str | None:
        """Return what a table that came alone is by its usual columns."""
        for role, keys in {RECORDS: ("mentions.object",), "links": ("links.source", "links.target")}.items():
            if all(self.usual.get(key) in rows.table.column_names for key in keys):
                return role
        return "nodes" if self.usual.get("nodes.id") in rows.table.column_names else None

    def _conventions(self, role: str = "") -> Conventions:
        return Conventions(
            delimiter=self.delimiter,
            quote=self.quote,
            encoding=self.encoding,
            decimal=self.decimal,
            dates=self.dates,
            header=self.header,
            sheet=self.sheet.get(role) if isinstance(self.sheet, Mapping) else self.sheet,
        )

    def _rows(self, role: str, table: Any, dropped: Dropped, meter: Meter) -> Rows:
        if not isinstance(table, Path | Sheet):
            return frame_rows(table, role, dropped)
        of_sheet = isinstance(table, Sheet)
        path = table.path if isinstance(table, Sheet) else table
        named = replace(self._conventions(), sheet=table.name) if of_sheet else self._conventions(role)
        read = partial(read_rows, path, dropped=dropped, meter=meter)
        rows = read(conventions=named)
        if self.alone and self.header is None and first_row_is_data(rows):
            dropped.say(f"{rows.name}: its first row is no header, for what stands there comes again below (guessed)")
            rows = read(conventions=replace(named, header=False))
        return rows

    @property
    def _names_records(self) -> bool:
        """Whether it was said which columns of a table hold records and what they mention."""
        return self.item is not None or self.objects is not None or bool(set(FLAT_ROLES) & set(self.columns))

    def _are_records(self, rows: Rows) -> bool:
        """Return whether a table that came alone can hold records and what they mention."""
        if self._names_records:
            return True
        if before := self._before(rows):
            return before == RECORDS
        try:
            guess_flat(rows, {}, self.separators, by_values=self.alone)
        except SourceError:
            return False
        return True

    def _are_links(self, rows: Rows, table: Any) -> bool:
        """Return whether a table that came alone holds links: by its names, or where it can hold no records."""
        if self._names_records:
            return False
        if before := self._before(rows):
            return before == "links" and not self.alone
        called = base_name(table) if isinstance(table, Path) else ""
        by_name = are_links_by_name(rows, called, self.columns, nodes_first=self.alone)
        return by_name or (not self._are_records(rows) and are_links_by_values(rows))

    def _are_alone(self, rows: Mapping[str, Rows]) -> bool:
        """Return whether a table of records is rather one of nodes alone, which may name each other."""
        if not self.alone or "links" in rows or self._names_records:
            return False
        if {"nodes.id", "nodes.name", "id"} & set(self.columns):
            return True
        return names_other_rows(rows[RECORDS]) or not self._are_records(rows[RECORDS])

    def _parts(
        self, tables: Mapping[str, Rows], found: Mapping[str, str], dropped: Dropped
    ) -> tuple[dict[str, Part], tuple[str, ...]]:
        """Return the tables with the columns that have a role, and the columns of links that have none."""
        parts: dict[str, Part] = {}
        not_used: tuple[str, ...] = ()
        given = self._columns(tables)
        for role, told in roles_of(tables, {**given, **found}, self.separators).items():
            said_so = tuple(each for each in told.given if f"{role}.{each}" in given or each in given)
            guess = replace(told, given=said_so)
            rows, columns = tables[role], dict(guess.columns)
            text = columns.get("text")
            if text is not None and "text" not in guess.given and not holds_text(rows.table[text].type):
                del columns["text"]
            for said in (str(guess), *guess.remarks):
                dropped.say(said)
            if role not in ("links", "labels") and rows.table.num_rows == 0:
                raise SourceError(f"{rows.name} has a header and no rows, expected {role}")
            parts[role] = rows, columns
            not_used += guess.left if role == "links" else ()
        return parts, not_used

    def _files(self, paths: Sequence[Path], *, more: bool = False) -> FoundTables:
        """Return which file, or sheet of one, is what, and what is to be said of that; ``more`` goes with others."""
        finder = TableFinder(
            named={role: Path(path) for role in CALLED if (path := getattr(self, role)) is not None},
            names_columns=self.objects is not None or self.item is not None,
            sheet=self.sheet,
            alone=self.alone,
            conventions=self._conventions(),
            limits=UnpackLimits(self.max_ratio, self.max_unpacked),
        )
        return finder.find(paths, more=more)


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
    words = {plain(name) for name in names_in(table)}
    return any(set(ends) <= words for ends in (("source", "target"), ("from", "to"), ("src", "dst")))
