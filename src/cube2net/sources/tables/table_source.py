"""Tables of any usual format: nodes and links, or objects, items and mentions, in files or in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cube2net.errors import ParameterError, SourceError, listed, some
from cube2net.progress import Progress, silent
from cube2net.records import Corpus
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows, holds_text
from cube2net.sources.tables.dialects import UNSAID, USUAL, Conventions
from cube2net.sources.tables.flat_table import flat_corpus
from cube2net.sources.tables.frames import frame_rows
from cube2net.sources.tables.json_lines import read_jsonlines
from cube2net.sources.tables.parquet import read_parquet
from cube2net.sources.tables.table_corpus import Part, item_corpus, network_corpus, with_labels_and_terms
from cube2net.sources.tables.table_roles import (
    CALLED,
    EXPECTED,
    EXTRAS,
    ROLE_OF,
    assign,
    base_name,
    check_roles,
    format_of,
    guess_columns,
    is_whole,
    tables_in,
)
from cube2net.sources.tables.text_tables import read_delimited
from cube2net.unpacking import RATIO, TOTAL, Meter, UnpackLimits

RECORDS = "records"
"""What a table is called that comes alone: its rows name records and the objects that these mention."""
ALLOWED = "a name that ends in .csv, .tsv, .txt, .jsonl, .ndjson (each also with .gz) or .parquet"


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Reads a network from tables in CSV, TSV, JSON lines or Parquet.

    Either ``nodes`` and ``links``, and then every node is its own item; or ``objects``, ``items`` and
    ``mentions``, with ``links`` if there are any. ``labels`` (attribute, label, full_name, parent) may say more of
    the values of attributes, and ``terms`` (item, term, count) stand in for texts. Or one table of records alone, with
    a row for every mention or with several objects in a column: then ``item`` and ``objects`` name its columns.
    ``columns`` says which column is what (``{"source": "from", "items.item": "paper"}``); what it does not say is
    guessed among usual spellings, and the guess is said to ``progress``. Links may have a kind and a time, and with
    ``directed`` they lead from source to target. ``separators`` part a text column into several labels (``{"genres":
    "|"}``). A row that cannot be used is counted in ``dropped`` and the first few are said, or stop the reading when
    ``strict``; so does every id that comes twice. ``max_ratio`` and ``max_unpacked`` limit how far packed files may
    swell.
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
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    directed: bool = False
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
        of files with these names; files of other names are passed over, and this is said.
        """
        files, remarks = self._files(paths)
        return self.corpus_of(files, remarks=remarks, progress=progress)

    def corpus_of(
        self, tables: Mapping[str, Any], *, remarks: Sequence[str] = (), progress: Progress = silent
    ) -> Corpus:
        """Return the corpus of tables by what each of them is: paths, or frames in memory."""
        dropped = Dropped(self.strict, progress)
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        for remark in remarks:
            dropped.say(remark)
        rows: dict[str, Rows] = {}
        for number, (role, table) in enumerate(tables.items()):
            progress(f"reading {table.name if isinstance(table, Path) else role}", number, len(tables))
            rows[role] = self._rows(role, table, dropped, meter)
        parts = {role: self._part(role, rows[role], dropped) for role in rows if role != RECORDS}
        if RECORDS in rows:
            corpus = flat_corpus(
                rows[RECORDS],
                item=self.item,
                objects=None if self.objects is None else str(self.objects),
                columns=self.columns,
                separators=self.separators,
                links=parts.get("links"),
                dropped=dropped,
                directed=self.directed,
            )
        elif "nodes" in parts:
            corpus = network_corpus(parts["nodes"], parts["links"], self.separators, dropped, directed=self.directed)
        else:
            needed = parts["objects"], parts["items"], parts["mentions"]
            corpus = item_corpus(*needed, parts.get("links"), self.separators, dropped, directed=self.directed)
        return with_labels_and_terms(corpus, parts, dropped) if {"labels", "terms"} & set(parts) else corpus

    def files_read(self, paths: Sequence[Path] = ()) -> list[Path]:
        """Return the files that would be read."""
        return list(self._files(paths)[0].values())

    def _conventions(self) -> Conventions:
        return Conventions(
            delimiter=self.delimiter,
            quote=self.quote,
            encoding=self.encoding,
            decimal=self.decimal,
            dates=self.dates,
            header=self.header,
        )

    def _rows(self, role: str, table: Any, dropped: Dropped, meter: Meter) -> Rows:
        if isinstance(table, Path):
            return read_rows(table, conventions=self._conventions(), dropped=dropped, meter=meter)
        return frame_rows(table, role, dropped)

    def _part(self, role: str, rows: Rows, dropped: Dropped) -> Part:
        guess = guess_columns(role, rows.table.column_names, self.columns, called=rows.name)
        columns = dict(guess.columns)
        text = columns.get("text")
        if text is not None and "text" not in guess.given and not holds_text(rows.table[text].type):
            del columns["text"]
        dropped.say(str(guess))
        if role not in ("links", "labels") and rows.table.num_rows == 0:
            raise SourceError(f"{rows.name} has a header and no rows, expected {role}")
        return rows, columns

    def _files(self, paths: Sequence[Path]) -> tuple[dict[str, Path], list[str]]:
        """Return which file is what, and what is to be said of that."""
        paths = [Path(path) for path in paths]
        if len(paths) == 1 and not paths[0].is_dir():
            return self._files_beside(paths[0])
        named = {role: Path(path) for role in CALLED if (path := getattr(self, role)) is not None}
        if named and paths:
            raise SourceError(f"paths are given beside {', '.join(named)}: name the files one way only")
        folders = [path for path in paths if path.is_dir()]
        if folders and len(paths) > 1:
            raise SourceError(f"{str(folders[0])!r} is a folder among other paths: give it alone, or the files in it")
        files, others = tables_in(folders[0]) if folders else (named or assign(paths), [])
        if not is_whole(files):
            raise SourceError(f"got {listed(files) if files else 'no files'}: {EXPECTED}")
        said = ", ".join(f"{role}={path.name!r}" for role, path in files.items())
        remarks = [] if named else [f"files: {said} ({'found' if folders else 'guessed'})"]
        if others:
            remarks.append(f"not read, having no name of a table: {some(others, 10)}")
        return files, remarks

    def _files_beside(self, path: Path) -> tuple[dict[str, Path], list[str]]:
        """Return which file is what, where one is given by its path: nodes, if there are links, or records."""
        beside = {role: Path(name) for role in ("links", *EXTRAS) if (name := getattr(self, role)) is not None}
        if any(getattr(self, role) is not None for role in ("nodes", "items", "mentions")):
            named = ", ".join(role for role in CALLED if getattr(self, role) is not None)
            raise SourceError(f"paths are given beside {named}: name the files one way only")
        columns = self.objects is not None or self.item is not None
        if not columns and not beside and ROLE_OF.get(base_name(path).casefold()) in ("nodes", "links", *EXTRAS):
            assign([path])
        is_flat = "links" not in beside or columns
        return {RECORDS if is_flat else "nodes": path, **beside}, []


def read_rows(
    path: Path, *, conventions: Conventions = UNSAID, dropped: Dropped | None = None, meter: Meter | None = None
) -> Rows:
    """Return the rows of a CSV, TSV, JSON lines or Parquet file, told apart by the end of its name.

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
    raise SourceError(f"cannot tell the format of {path.name!r}: expected {ALLOWED}")
