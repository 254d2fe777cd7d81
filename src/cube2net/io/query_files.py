"""Read queries and pairs of names from files or bytes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cube2net._util.files import temporary_folder
from cube2net.errors import QueryError, SourceError, listed, some, unknown
from cube2net.io.tables.column_types import keys
from cube2net.io.tables.dialects import SAMPLE, UNSAID, USUAL, Conventions, find_dialect
from cube2net.io.tables.read_rows import MAGIC, WORKBOOK, read_rows
from cube2net.io.tables.table_roles import SPELLINGS, format_of, plain
from cube2net.io.text_records import NO_TEXT, UTF_16, UTF_16_MARKS, WINDOWS, read_whole
from cube2net.model.query import LABEL, LABELS, ReadNames, best_known

LIMIT = 64 * 2**20
FORMED = ("json", "parquet", "xlsx", "xls")
TEXTS = ("csv", "tsv")
DELIMITERS = (",", "\t", ";", "|")
OWN_GROUPS = LABELS
GROUPS = (
    *OWN_GROUPS,
    *("class", "group", "category", "gruppe", "klasse", "kategorie", "groupe", "classe", "grupo", "clase"),
)
Known = Callable[[Sequence[str]], Sequence[bool]]


class QueryTable(NamedTuple):
    """A small table: its header, and its rows, each with the line or row that it stands on."""

    name: str
    header: list[str]
    rows: list[tuple[int, list[str]]]
    word: str = "line"

    def column(self, place: int) -> list[str]:
        """Return the cells of a column, an empty text where a row has none."""
        return [_cell(row, place) for _, row in self.rows]


def read_query_file(path: Path, known: Known | None = None, first: str = LABEL) -> tuple[list[str], list[str] | None]:
    """Return the objects that a file names, and their labels where it gives them.

    A table (CSV and other delimited text, a workbook, Parquet, JSON lines) has a column ``object`` and may have a
    column ``label`` or ``cluster`` (of both the ``first`` counts), in any case and among others; so has any file whose
    first line begins with ``object``. Without one, its objects are in a column called as ids or names usually are, in
    the column most of whose values are ``known``, or in its only one. An object whose label is left empty has none.
    Any other file is text with one name a line, in which empty lines and lines that begin with ``#`` are passed over.
    """
    path = Path(path)
    what = "query" if first == LABEL else f"file of the {first}s"
    form = format_of(path)
    if form in FORMED:
        names, labels = from_table(formed_table(path), known, first)
    else:
        text = _text(path, what)
        delimited = form in TEXTS or begins_with_object(text)
        names, labels = from_table(parsed_table(path, text), known, first) if delimited else (from_lines(text), None)
    if not names:
        raise QueryError(f"the {what} {str(path)!r} is empty: name at least one object")
    return names, labels


def read_pairs_file(path: Path) -> list[tuple[str, str]]:
    """Return the links that a table names: its columns ``source`` and ``target``, among others."""
    path = Path(path)
    table = formed_table(path) if format_of(path) in FORMED else parsed_table(path, _text(path, "links"))
    columns = [column.lower() for column in table.header]
    for wanted in ("source", "target"):
        if wanted not in columns:
            raise SourceError(f"{table.name} has no column {wanted!r}: it has {some(table.header, 20) or 'none'}")
    pairs = []
    for line, row in table.rows:
        pair = _cell(row, columns.index("source")), _cell(row, columns.index("target"))
        if not all(pair):
            raise SourceError(f"{table.name} {table.word} {line:,}: a link needs a source and a target, got {pair!r}")
        pairs.append(pair)
    return pairs


def _text(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            whole = read_whole(file, LIMIT)
    except OSError as error:
        raise SourceError(f"cannot read the {what} {str(path)!r}: {(error.strerror or str(error)).lower()}") from None
    if whole is None:
        raise SourceError(f"the {what} {str(path)!r} takes more than {LIMIT:,} bytes, expected names of objects")
    return decoded(path.name, whole)


def decoded(name: str, whole: bytes) -> str:
    """Return bytes as text: UTF-16 where they are marked so, UTF-8, or Windows-1252 where nothing else is UTF-8."""
    try:
        return whole.decode(UTF_16 if whole.startswith(UTF_16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        if before.isascii() and error.end < len(error.object) and not NO_TEXT.search(whole):
            try:
                return whole.decode(WINDOWS)
            except UnicodeDecodeError:
                pass
        line, wrong = before.count(b"\n") + 1, f"byte {error.object[error.start]:#04x}"
        raise SourceError(
            f"{name} line {line:,}: not {error.encoding.upper()} text ({wrong}): save it in UTF-8"
        ) from None


def begins_with_object(text: str) -> bool:
    """Return whether a text begins with the header of a table of objects."""
    first = text.partition("\n")[0]
    return any(first.partition(mark)[0].strip().strip("\"'").lower() == "object" for mark in (",", "\t", ";", "|"))


def from_lines(text: str) -> list[str]:
    """Return the names of a text, one a line, without remarks."""
    lines = [line.strip() for line in text.split("\n")]
    return [line for line in lines if line and not line.startswith("#")]


def from_table(
    table: QueryTable, known: Known | None, first: str, place: int | None = None
) -> tuple[list[str], list[str] | None]:
    """Return the objects and labels of a table; ``place`` is that of the column of objects, where somebody says it."""
    columns = [column.lower() for column in table.header]
    place = column_of_objects(table, known) if place is None else place
    if place is None:
        raise SourceError(
            f"{table.name} has no column 'object': it has {some(table.header, 20) or 'none'} "
            "(give the column of the objects that name)"
        )
    if "object" not in columns and len(columns) == 1 and known is not None and any(known(table.header)):
        table = table._replace(rows=[(1, table.header), *table.rows])
    named = [(name, row) for name, (_, row) in zip(table.column(place), table.rows, strict=True) if name]
    names = [name for name, _ in named]
    groups = (first, *(OWN_GROUPS if "object" in columns else GROUPS))
    label = next((columns.index(group) for group in groups if group in columns and columns.index(group) != place), None)
    if label is None:
        return names, None
    labels = [_cell(row, label) for _, row in named]
    if names and not any(labels):
        title = table.header[label]
        raise SourceError(f"{table.name} has a column {title!r} and no label in it: give some, or drop the column")
    return names, labels


def column_of_objects(table: QueryTable, known: Known | None) -> int | None:
    """Return the place of the column that names objects: by its values where these are known, else by its name.

    A column ``object`` is always the one; None stands for nobody can tell.
    """
    if "object" in (words := [column.lower() for column in table.header]):
        return words.index("object")
    if len(table.header) == 1:
        return 0
    names = [plain(column) for column in table.header]
    usual = [names.index(spelling) for spelling in SPELLINGS["objects"]["id"] if spelling in names]
    if known is None:
        return usual[0] if usual else None
    columns = [[name for name in table.column(place) if name] for place in range(len(names))]
    return best_known(columns, usual, lambda values: sum(known(values)))


def parsed_table(path: Path, text: str) -> QueryTable:
    """Return delimited text as a table, without the space around its cells and the rows that are empty."""
    form = found if (found := format_of(path)) in USUAL else "csv"
    alone = text.lstrip().partition("\n")[0].strip().strip("\"'").lower() == "object"
    given = Conventions(delimiter=USUAL[form]) if alone else UNSAID  # one column: other marks are part of the names
    dialect = find_dialect(text[:SAMPLE], form, given, whole=len(text) <= SAMPLE)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True
    )
    rows = []
    try:
        for row in reader:
            if reader.line_num > dialect.titles and any(cells := [cell.strip() for cell in row]):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise SourceError(
            f"{path.name} line {reader.line_num:,}: cannot be read as a table ({error}): check the quotes"
        ) from None
    return QueryTable(path.name, rows[0][1] if rows else [], rows[1:])


def formed_table(path: Path) -> QueryTable:
    """Return a workbook, Parquet file or JSON lines as a table of texts."""
    rows = read_rows(path)
    columns = {}
    for name in rows.table.column_names:
        try:
            columns[name] = [value or "" for value in keys(rows, name).to_pylist()]
        except SourceError:
            continue
    body = [(number, list(row)) for number, row in enumerate(zip(*columns.values(), strict=True), start=1)]
    return QueryTable(rows.name, list(columns), body, "row")


def _cell(row: list[str], place: int) -> str:
    return row[place] if place < len(row) else ""


TAKEN = "a list of names (.txt) or a table (.csv, .tsv, .xlsx, .parquet, .jsonl)"
WHOLE_LINES = ""
"""In place of a column: every line is a name."""
ALIKE = 3
"""Lines with so many cells each are the rows of a table, whatever the file is called."""


def read_query_bytes(content: bytes, name: str, known: Known, column: str | None = None) -> ReadNames:
    """Return what a file names that is at hand as bytes under a name; nothing of it stays on the disk.

    It is read as :func:`read_query_file` reads it. A ``column`` says where the names are; without one that is the one
    whose values are ``known``.
    """
    path = Path(_plain(name))
    if not content.strip():
        raise QueryError(f"{path.name} is empty: expected {TAKEN}")
    if content.startswith(b"PK") and WORKBOOK in content:
        path = path.with_suffix(".xlsx")
    form = format_of(path)
    if form in FORMED:
        with temporary_folder() as folder:
            held = folder / path.name
            held.write_bytes(content)
            return _of_table(formed_table(held), known, column)
    what = next((said for magic, said in MAGIC.items() if content.startswith(magic)), None)
    if what is None and NO_TEXT.search(content) and not content.startswith(UTF_16_MARKS):
        what = "no text"
    if what is not None and (what == "no text" or _is_binary(content)):
        raise SourceError(f"{path.name} is {what}: expected {TAKEN}")
    return read_text(decoded(path.name, content), known, column, path=path)


def read_text(text: str, known: Known, column: str | None = None, *, path: Path = Path("the text")) -> ReadNames:
    """Return what a text names that somebody pasted, or that a file holds.

    It is read as names, one a line, and as a table; where its first line does not begin with ``object``, as the one in
    which more names are ``known``. The first row of a table may be data: then the column of the objects is the one that
    is known best, and of two columns the other has the labels.
    """
    lines = from_lines(text)
    if column == WHOLE_LINES:
        return ReadNames(lines, None, _columns(path, text), WHOLE_LINES)
    if begins_with_object(text):
        return _of_table(parsed_table(path, text), known, column)
    if column is not None:
        return _of_table(_headed(parsed_table(path, text), known), known, column)
    if not any(mark in text for mark in DELIMITERS):
        return ReadNames(lines)
    try:
        table = _headed(parsed_table(path, text), known)
    except SourceError:
        return ReadNames(lines)
    of_lines = sum(known(lines))
    if len(table.header) < 2 or (of_lines and of_lines >= _known_in(table, known)):
        return ReadNames(lines)
    alike = len(table.rows) > 0 and {len(row) for _, row in table.rows} == {len(table.header)}
    if format_of(path) in TEXTS or (alike and len(table.header) >= ALIKE) or _known_in(table, known):
        return _of_table(table, known, None)
    return ReadNames(lines)


def _columns(path: Path, text: str) -> Sequence[str]:
    try:
        return parsed_table(path, text).header
    except SourceError:
        return ()


def _headed(table: QueryTable, known: Known) -> QueryTable:
    """Return a table whose first row is a header: made up where that row is data."""
    place = column_of_objects(table, known)
    if place is None or not any(known([table.header[place]])):
        return table
    header = [LABEL if len(table.header) == 2 else f"column {at + 1}" for at in range(len(table.header))]
    header[place] = "object"
    return table._replace(header=header, rows=[(1, table.header), *table.rows])


def _known_in(table: QueryTable, known: Known) -> int:
    place = column_of_objects(table, known)
    return 0 if place is None else sum(known([name for name in table.column(place) if name]))


def _of_table(table: QueryTable, known: Known, column: str | None) -> ReadNames:
    if not table.header:
        raise QueryError(f"{table.name} is empty: expected {TAKEN}")
    if column is not None:
        if column not in table.header:
            raise unknown(f"column of {table.name}", column, table.header)
        place: int | None = table.header.index(column)
    else:
        place = column_of_objects(table, known)
    if not table.rows and (len(table.header) > 1 or not any(known(table.header))):
        raise QueryError(f"{table.name} has a header ({listed(table.header)}) and no row below it: expected names")
    if place is None:
        return ReadNames([], None, table.header)
    names, labels = from_table(table, known, LABEL, place)
    return ReadNames(names, labels, table.header if len(table.header) > 1 else (), table.header[place])


def _is_binary(content: bytes) -> bool:
    """Return whether bytes that begin as those of some format are no text after all."""
    return content.startswith((b"%PDF", b"{\\rtf")) or NO_TEXT.search(content) is not None or not _is_text(content)


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _plain(name: str) -> str:
    """Return the last part of a file's name, without signs that no file system takes.

    >>> _plain("C:\\\\lists\\\\../my list?.CSV")
    'my list_.CSV'
    """
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w .()+-]", "_", last)[-100:].strip(" .") or "the file"
