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
from cube2net.sources.tables.table_corpus import Part, item_corpus, network_corpus, with_labels_and_terms
from cube2net.sources.tables.table_roles import (
    CALLED,
    EXPECTED,
    assign,
    check_roles,
    format_of,
    guess_columns,
    is_whole,
    tables_in,
)
from cube2net.sources.tables.text_tables import read_delimited
from cube2net.unpacking import RATIO, TOTAL, Meter, UnpackLimits

ALLOWED = "a name that ends in .csv, .tsv, .txt, .jsonl, .ndjson (each also with .gz) or .parquet"


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Reads a network from tables in CSV, TSV, JSON lines or Parquet.

    Either ``nodes`` and ``links``, and then every node is its own item; or ``objects``, ``items`` and
    ``mentions``, with ``links`` if there are any. ``labels`` (attribute, label, full_name, parent) may say more of
    the values of attributes, and ``terms`` (item, term, count) stand in for texts. ``columns`` says which column is
    what (``{"source": "from", "items.item": "paper"}``); what it does not say is guessed among usual spellings, and
    the guess is said to ``progress``. ``separators`` part a text column into several labels (``{"genres": "|"}``). A
    row that cannot be used is counted in ``dropped`` and the first few are said, or stop the reading when ``strict``;
    so does every id that comes twice. ``max_ratio`` and ``max_unpacked`` limit how far packed files may swell.
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
        dropped = Dropped(self.strict, progress)
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        files, remarks = self._files(paths)
        for remark in remarks:
            dropped.say(remark)
        parts: dict[str, Part] = {}
        for number, (role, path) in enumerate(files.items()):
            progress(f"reading {path.name}", number, len(files))
            parts[role] = self._part(role, path, dropped, meter)
        if "nodes" in parts:
            corpus = network_corpus(parts["nodes"], parts["links"], self.separators, dropped)
        else:
            needed = parts["objects"], parts["items"], parts["mentions"]
            corpus = item_corpus(*needed, parts.get("links"), self.separators, dropped)
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

    def _part(self, role: str, path: Path, dropped: Dropped, meter: Meter) -> Part:
        rows = read_rows(path, conventions=self._conventions(), dropped=dropped, meter=meter)
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
