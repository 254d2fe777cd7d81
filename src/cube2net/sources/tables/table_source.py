"""Tables of any usual format: nodes and links, or objects, items and mentions, in files or in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cube2net.errors import ParameterError, SourceError, listed, some
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, Objects
from cube2net.records.column_kinds import holds_text
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows
from cube2net.sources.tables.dialects import Conventions
from cube2net.sources.tables.flat_table import flat_corpus, guess_flat
from cube2net.sources.tables.frame_rows import frame_rows
from cube2net.sources.tables.lone_table import first_row_is_data, lone_table, names_other_rows
from cube2net.sources.tables.read_rows import as_read, read_rows
from cube2net.sources.tables.table_choice import (
    NO_LINKS,
    RECORDS,
    FoundTables,
    by_their_values,
    mentions_both,
    one_alone,
    the_pair,
    without_locks,
)
from cube2net.sources.tables.table_corpus import (
    Part,
    item_corpus,
    links_corpus,
    more_links,
    network_corpus,
    with_labels_and_terms,
)
from cube2net.sources.tables.table_roles import (
    CALLED,
    EXPECTED,
    EXTRAS,
    ROLE_OF,
    assign,
    base_name,
    check_roles,
    format_of,
    is_called,
    is_whole,
    tables_in,
    unnamed_tables,
)
from cube2net.sources.tables.value_roles import are_links_by_name, are_links_by_values, roles_of
from cube2net.sources.tables.workbooks import Sheet, read_workbook, sheet_names
from cube2net.unpacking import RATIO, TOTAL, Meter, UnpackLimits

MOST_SHEETS = 20
"""So many sheets of a workbook are looked at where no name tells which is what."""
CONVENTIONS = ("delimiter", "quote", "encoding", "decimal", "dates", "header")
FLAT_ROLES = ("item", "items.item", "object", "mentions.object")


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
        found = self._files(paths)
        return self.corpus_of(found.files, remarks=found.remarks, progress=progress, unsure=found.unsure)

    def read_more(self, paths: Sequence[Path] = (), *, known: Objects, progress: Progress = silent) -> Corpus:
        """Return the corpus of files that may name ``known`` objects; nodes alone and links alone make one, too."""
        found = self._files(paths, more=True)
        return self.corpus_of(found.files, remarks=found.remarks, known=known, progress=progress, unsure=found.unsure)

    def corpus_of(
        self,
        tables: Mapping[str, Any],
        *,
        remarks: Sequence[str] = (),
        known: Objects | None = None,
        progress: Progress = silent,
        unsure: str | None = None,
    ) -> Corpus:
        """Return the corpus of tables by what each of them is: paths, sheets, or frames in memory.

        Where only their order says which are nodes and which links, that is ``unsure``, and the values decide; where
        that is not empty it is the refusal of tables of which the values do not tell.
        """
        dropped = Dropped(self.strict, progress)
        meter = self._meter()
        for remark in remarks:
            dropped.say(remark)
        rows: dict[str, Rows] = {}
        for number, (role, table) in enumerate(tables.items()):
            progress(f"reading {table.name if isinstance(table, Path) else role}", number, len(tables))
            rows[role] = self._rows(role, table, dropped, meter)
        if unsure is not None and {"nodes", "links"} <= set(rows):
            rows |= by_their_values(rows["nodes"], rows["links"], unsure, dropped.say)
        if RECORDS in rows and "links" not in rows and self._are_links(rows[RECORDS], tables[RECORDS]):
            dropped.say(f"{rows[RECORDS].name} is taken for links alone (guessed)")
            rows["links"] = rows.pop(RECORDS)
        elif RECORDS in rows and known is not None and not self._are_records(rows[RECORDS]):
            dropped.say(f"{rows[RECORDS].name} is taken for nodes alone (guessed)")
            rows["nodes"] = rows.pop(RECORDS)
        columns: Mapping[str, str] = {}
        if RECORDS in rows and self._are_alone(rows):
            found = lone_table(rows.pop(RECORDS), self.columns, dropped.say)
            rows, columns = rows | found.tables, found.columns
        parts = self._parts({role: table for role, table in rows.items() if role != RECORDS}, columns, dropped)
        if RECORDS in rows:
            corpus = flat_corpus(
                rows[RECORDS],
                item=self.item,
                objects=None if self.objects is None else str(self.objects),
                columns=self._columns({RECORDS: rows[RECORDS]}),
                separators=self.separators,
                links=parts.get("links"),
                dropped=dropped,
                directed=self.directed,
            )
        elif "nodes" in parts:
            both = parts["nodes"], parts.get("links")
            corpus = network_corpus(*both, self.separators, dropped, directed=self.directed, known=known)
        elif "items" in parts:
            needed = parts["objects"], parts["items"], parts["mentions"]
            corpus = item_corpus(
                *needed, parts.get("links"), self.separators, dropped, directed=self.directed, known=known
            )
        elif known is not None:
            corpus = more_links(parts["links"], known, dropped, directed=self.directed)
        else:
            corpus = links_corpus(parts["links"], dropped, directed=self.directed)
        if {"labels", "terms"} & set(parts):
            corpus = with_labels_and_terms(corpus, parts, dropped)
        said = {"separators": dict(self.separators), "directed": self.directed}
        said |= {name: getattr(self, name) for name in CONVENTIONS if getattr(self, name) is not None}
        return replace(corpus, source=as_read({role: part[1] for role, part in parts.items()}, corpus.source, said))

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
            guess_flat(rows, {}, self.separators)
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
        return names_other_rows(rows[RECORDS]) or not self._are_records(rows[RECORDS])

    def _parts(self, tables: Mapping[str, Rows], found: Mapping[str, str], dropped: Dropped) -> dict[str, Part]:
        parts: dict[str, Part] = {}
        for role, guess in roles_of(tables, {**self._columns(tables), **found}, self.separators).items():
            rows, columns = tables[role], dict(guess.columns)
            text = columns.get("text")
            if text is not None and "text" not in guess.given and not holds_text(rows.table[text].type):
                del columns["text"]
            for said in (str(guess), *guess.remarks):
                dropped.say(said)
            if role not in ("links", "labels") and rows.table.num_rows == 0:
                raise SourceError(f"{rows.name} has a header and no rows, expected {role}")
            parts[role] = rows, columns
        return parts

    def _files(self, paths: Sequence[Path], *, more: bool = False) -> FoundTables:
        """Return which file, or sheet of one, is what, and what is to be said of that; ``more`` goes with others."""
        paths, locks = without_locks([Path(path) for path in paths])
        passed = [f"not read, for it only says that a file is open: {some(locks, 10)}"] * bool(locks)
        if len(paths) == 1 and not paths[0].is_dir():
            if format_of(paths[0]) == "xlsx" and paths[0].is_file() and not isinstance(self.sheet, str):
                return self._sheets(paths[0]).after(passed)
            return self._files_beside(paths[0], more=more).after(passed)
        named = {role: Path(path) for role in CALLED if (path := getattr(self, role)) is not None}
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
        names = sheet_names(path, self._meter())
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
                f"{path.name} has the sheets {some(names, 10)}: {EXPECTED}, each called so; or say which is what "
                f"(sheet={{'nodes': {one!r}, 'links': {two!r}}})"
            ) from None

    def _sheet_rows(self, path: Path, name: str) -> Rows | None:
        """Return the rows of a sheet, None where that holds no table, as a cover does not."""
        try:
            rows = read_workbook(path, Dropped(), self._meter(), replace(self._conventions(), sheet=name))
        except SourceError:
            return None
        return rows if rows.table.num_columns > 1 and rows.table.num_rows else None

    def _meter(self) -> Meter:
        return Meter(UnpackLimits(self.max_ratio, self.max_unpacked))

    def _files_beside(self, path: Path, *, more: bool = False) -> FoundTables:
        """Return which file is what, where one is given by its path: nodes, if there are links, or records."""
        beside = {role: Path(name) for role in ("links", *EXTRAS) if (name := getattr(self, role)) is not None}
        if any(getattr(self, role) is not None for role in ("nodes", "items", "mentions")):
            named = ", ".join(role for role in CALLED if getattr(self, role) is not None)
            raise SourceError(f"paths are given beside {named}: name the files one way only")
        columns = self.objects is not None or self.item is not None
        called = ROLE_OF.get(base_name(path).casefold())
        if more and called == "nodes" and not columns:
            return FoundTables({called: path, **beside})
        if not columns and not beside and called in (*["nodes"] * (not self.alone), *EXTRAS):
            raise SourceError(
                f"got {path.name!r} alone: {EXPECTED}; "
                "give the links beside it, a table with two ids in a row (links=…)"
            )
        is_flat = "links" not in beside or columns
        return FoundTables({RECORDS if is_flat else "nodes": path, **beside})
