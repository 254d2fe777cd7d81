"""Tables of any usual format: nodes and links, or objects, items and mentions, in files or in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cube2net.errors import ParameterError, SourceError, listed, some
from cube2net.progress import Progress, silent
from cube2net.records import Corpus
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows, holds_text
from cube2net.sources.tables.dialects import UNSAID, USUAL, Conventions
from cube2net.sources.tables.json_lines import read_jsonlines
from cube2net.sources.tables.parquet import read_parquet
from cube2net.sources.tables.table_corpus import (
    Part,
    item_corpus,
    links_corpus,
    network_corpus,
    with_labels_and_terms,
)
from cube2net.sources.tables.table_roles import (
    CALLED,
    EXPECTED,
    ROLE_OF,
    assign,
    check_roles,
    format_of,
    is_whole,
    tables_in,
)
from cube2net.sources.tables.text_tables import read_delimited
from cube2net.sources.tables.value_roles import role_alone, roles_of
from cube2net.sources.tables.workbooks import read_workbook, sheet_names
from cube2net.unpacking import RATIO, TOTAL, Meter, UnpackLimits

ALLOWED = "a name that ends in .csv, .tsv, .txt, .jsonl, .ndjson (each also with .gz), .parquet or .xlsx"
ALONE = "table"
"""What one table is before it is known what it holds."""


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Reads a network from tables: CSV and other delimited text, Excel, JSON lines or Parquet.

    Either ``nodes`` and ``links``, and then every node is its own item; or ``objects``, ``items`` and
    ``mentions``, with ``links`` if there are any. ``labels`` (attribute, label, full_name, parent) may say more of
    the values of attributes, and ``terms`` (item, term, count) stand in for texts. ``columns`` says which column is
    what (``{"source": "from", "items.item": "paper"}``); what it does not say is guessed by names and values, and the
    guess is said to ``progress``. So is how texts are written, unless ``delimiter``, ``quote``, ``encoding``,
    ``decimal`` (``","``), ``dates`` (``"dmy"``) and ``header`` say it; ``sheet`` says which sheet of a workbook is
    read, or which is what (``{"nodes": "Customers"}``). ``separators`` part a text column into several labels
    (``{"genres": "|"}``). A row that cannot be used is counted in ``dropped`` and the first few are said, or stop the
    reading when ``strict``; so does every id that comes twice. ``max_ratio`` and ``max_unpacked`` limit how far packed
    files may swell.
    """

    nodes: str | Path | None = None
    links: str | Path | None = None
    objects: str | Path | None = None
    items: str | Path | None = None
    mentions: str | Path | None = None
    labels: str | Path | None = None
    terms: str | Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    separators: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    sheet: str | Mapping[str, str] | None = None
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
        of files with these names, a workbook with sheets of these names, or links alone; what has other names is
        passed over, and this is said.
        """
        dropped = Dropped(self.strict, progress)
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        files, remarks = self._files(paths, meter)
        for remark in remarks:
            dropped.say(remark)
        tables: dict[str, Rows] = {}
        for number, (role, (path, sheet)) in enumerate(files.items()):
            progress(f"reading {path.name}", number, len(files))
            tables[role] = read_rows(path, conventions=self._conventions(role, sheet), dropped=dropped, meter=meter)
        if ALONE in tables:
            tables = self._alone(tables[ALONE], files[ALONE][0], dropped)
        parts = self._parts(tables, dropped)
        if "nodes" in parts:
            corpus = network_corpus(parts["nodes"], parts["links"], self.separators, dropped)
        elif "items" in parts:
            needed = parts["objects"], parts["items"], parts["mentions"]
            corpus = item_corpus(*needed, parts.get("links"), self.separators, dropped)
        else:
            corpus = links_corpus(parts["links"], dropped)
        return with_labels_and_terms(corpus, parts, dropped) if {"labels", "terms"} & set(parts) else corpus

    def files_read(self, paths: Sequence[Path] = ()) -> list[Path]:
        """Return the files that would be read."""
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        return list(dict.fromkeys(path for path, _ in self._files(paths, meter)[0].values()))

    def _conventions(self, role: str = "", sheet: str | None = None) -> Conventions:
        named = self.sheet if isinstance(self.sheet, str) else (self.sheet or {}).get(role)
        return Conventions(
            delimiter=self.delimiter,
            quote=self.quote,
            encoding=self.encoding,
            decimal=self.decimal,
            dates=self.dates,
            header=self.header,
            sheet=sheet or named,
        )

    def _alone(self, rows: Rows, path: Path, dropped: Dropped) -> dict[str, Rows]:
        """Return a table that came alone as what it is; only links make a network by themselves."""
        role = role_alone(rows, path, self.columns)
        if role != "links":
            raise SourceError(
                f"got {rows.name} alone, which holds no links: {EXPECTED}; give the table of links beside it, with the "
                "ids of two nodes in a row, or say which of its columns are linked "
                "(columns={'source': …, 'target': …})"
            )
        dropped.say(f"{rows.name} is taken for links alone (guessed)")
        return {role: rows}

    def _parts(self, tables: Mapping[str, Rows], dropped: Dropped) -> dict[str, Part]:
        parts: dict[str, Part] = {}
        for role, guess in roles_of(tables, self.columns).items():
            rows, columns = tables[role], dict(guess.columns)
            text = columns.get("text")
            if text is not None and "text" not in guess.given and not holds_text(rows.table[text].type):
                del columns["text"]
            dropped.say(str(guess))
            if role not in ("links", "labels") and rows.table.num_rows == 0:
                raise SourceError(f"{rows.name} has a header and no rows, expected {role}")
            parts[role] = rows, columns
        return parts

    def _files(self, paths: Sequence[Path], meter: Meter) -> tuple[dict[str, tuple[Path, str | None]], list[str]]:
        """Return which file, or sheet of one, is what, and what is to be said of that."""
        paths = [Path(path) for path in paths]
        named = {role: Path(path) for role in CALLED if (path := getattr(self, role)) is not None}
        if named and paths:
            raise SourceError(f"paths are given beside {', '.join(named)}: name the files one way only")
        folders = [path for path in paths if path.is_dir()]
        if folders and len(paths) > 1:
            raise SourceError(f"{str(folders[0])!r} is a folder among other paths: give it alone, or the files in it")
        if len(paths) == 1 and not folders:
            if format_of(paths[0]) == "xlsx" and paths[0].is_file() and not isinstance(self.sheet, str):
                return self._sheets(paths[0], meter)
            return {ALONE: (paths[0], None)}, []
        files, others = tables_in(folders[0]) if folders else (named or assign(paths), [])
        if not is_whole(files) and set(files) != {"links"}:
            raise SourceError(f"got {listed(files) if files else 'no files'}: {EXPECTED}")
        said = ", ".join(f"{role}={path.name!r}" for role, path in files.items())
        remarks = [] if named else [f"files: {said} ({'found' if folders else 'guessed'})"]
        if others:
            remarks.append(f"not read, having no name of a table: {some(others, 10)}")
        return {role: (path, None) for role, path in files.items()}, remarks

    def _sheets(self, path: Path, meter: Meter) -> tuple[dict[str, tuple[Path, str | None]], list[str]]:
        """Return which sheet of a workbook is what: as given, else as they are called or follow each other."""
        if isinstance(self.sheet, Mapping):
            return {role: (path, name) for role, name in self.sheet.items()}, []
        names = sheet_names(path, meter)
        if len(names) == 1:
            return {ALONE: (path, names[0])}, []
        called = {ROLE_OF[name.strip().casefold()]: name for name in names if name.strip().casefold() in ROLE_OF}
        if not is_whole(called):
            try:
                called = {role: str(sheet) for role, sheet in assign([Path(name) for name in names]).items()}
            except SourceError:
                raise SourceError(
                    f"{path.name} has the sheets {some(names, 10)}: {EXPECTED}, each called so; or say which is what "
                    f"(sheet={{'nodes': {names[0]!r}, 'links': {names[1]!r}}})"
                ) from None
        said = ", ".join(f"{role}={name!r}" for role, name in called.items())
        others = [name for name in names if name not in called.values()]
        remarks = [f"sheets: {said} (guessed)"]
        if others:
            remarks.append(f"not read, having no name of a table: {some(others, 10)}")
        return {role: (path, name) for role, name in called.items()}, remarks


def read_rows(
    path: Path, *, conventions: Conventions = UNSAID, dropped: Dropped | None = None, meter: Meter | None = None
) -> Rows:
    """Return the rows of a file of delimited text, JSON lines, Parquet or a workbook, told by the end of its name.

    The ``meter`` says how much may be unpacked.
    """
    dropped, meter = dropped or Dropped(), meter or Meter()
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, expected a table file: {ALLOWED}")
    if not path.exists():
        raise SourceError(f"there is no file {str(path)!r}: check the path")
    if not path.is_file():
        raise SourceError(f"{str(path)!r} is a pipe or device, expected a file, for it is read more than once: save it")
    form = format_of(path)
    if form in USUAL:
        return read_delimited(path, form, dropped, meter, conventions)
    if form == "json":
        return read_jsonlines(path, dropped, meter)
    if form == "parquet":
        return read_parquet(path, meter)
    if form == "xlsx":
        return read_workbook(path, dropped, meter, conventions)
    if form == "xls":
        raise SourceError(f"{path.name!r} is a workbook of the time before 2007: save it as .xlsx or .csv")
    raise SourceError(f"cannot tell the format of {path.name!r}: expected {ALLOWED}")
