"""Read queries, and pairs of names, from files, bytes and pasted text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cube2net._util.files import temporary_folder
from cube2net.errors import QueryError, SourceError, describe_os_error, join_names, quote_few, unknown_name
from cube2net.io.tables.column_types import read_ids
from cube2net.io.tables.dialects import (
    DEFAULT_CONVENTIONS,
    DEFAULT_DELIMITERS,
    SAMPLE_CHARACTERS,
    Conventions,
    find_dialect,
)
from cube2net.io.tables.read_rows import MAGIC, WORKBOOK, read_rows
from cube2net.io.tables.table_roles import ROLE_NAMES, normalize_name
from cube2net.io.text_records import CONTROL_BYTES, UTF_16, UTF_16_MARKS, detect_format, guess_encoding
from cube2net.model.query import LABEL, LABELS, NAME_SEPARATORS, AreKnown, ReadNames, choose_known_column, split_names

MAX_QUERY_BYTES = 64 * 2**20
ROW_FORMATS = ("json", "parquet", "xlsx", "xls")
TEXT_FORMATS = ("csv", "tsv")
LABEL_NAMES = (
    *LABELS,
    *("class", "group", "category", "gruppe", "klasse", "kategorie", "groupe", "classe", "grupo", "clase"),
)
EXPECTED_FILES = "a list of names (.txt) or a table (.csv, .tsv, .xlsx, .parquet, .jsonl)"
WHOLE_LINES = ""
"""Given as the column if every line is a name."""
MIN_TABLE_COLUMNS = 3
"""The fewest cells in every line by which lines are read as a table, whatever the name of the file."""


class QueryTable(NamedTuple):
    """A small table: its header, and its rows with their line numbers, or row numbers (``unit``)."""

    name: str
    header: list[str]
    rows: list[tuple[int, list[str]]]
    unit: str = "line"

    def column(self, place: int) -> list[str]:
        """Return the cells of a column, an empty text where a row has none."""
        return [_get_cell(row, place) for _, row in self.rows]


def read_query_file(
    path: Path, are_known: AreKnown | None = None, first: str = LABEL
) -> tuple[list[str], list[str] | None]:
    """Return the objects that a file names, and their labels if it has any.

    A table (CSV and other delimited text, a workbook, Parquet, JSON lines) has a column ``object`` and may have a
    column ``label`` or ``cluster`` (of both the ``first`` counts), in any case and among others; so has any file whose
    first line begins with ``object``. Without one, its objects are in a column named as ids or names usually are, in
    the column most of whose values are known, or in its only one. An object without a label has an empty one.
    Any other file has one name a line, or several that a separator divides, as in :func:`split_names`; empty lines and
    lines that begin with ``#`` are skipped.
    """
    path = Path(path)
    description = "query" if first == LABEL else f"file of the {first}s"
    if detect_format(path) in ROW_FORMATS:
        names, labels = _find_names(_read_row_table(path), are_known, first)
    else:
        text = _read_text_file(path, description)
        if detect_format(path) in TEXT_FORMATS or _begins_with_object(text):
            names, labels = _find_names(_parse_table(path, text), are_known, first)
        else:
            lines = _split_names(text)
            names, labels = split_names(lines, are_known) if are_known else lines, None
    if not names:
        raise QueryError(f"the {description} {str(path)!r} is empty: name at least one object")
    return names, labels


def read_pairs_file(path: Path) -> list[tuple[str, str]]:
    """Return the links that a table names: its columns ``source`` and ``target``, among others."""
    path = Path(path)
    is_text = detect_format(path) not in ROW_FORMATS
    table = _parse_table(path, _read_text_file(path, "links")) if is_text else _read_row_table(path)
    column_names = [column.lower() for column in table.header]
    for end in ("source", "target"):
        if end not in column_names:
            raise SourceError(f"{table.name} has no column {end!r}: it has {quote_few(table.header, 20) or 'none'}")
    pairs = []
    for number, row in table.rows:
        pair = _get_cell(row, column_names.index("source")), _get_cell(row, column_names.index("target"))
        if not all(pair):
            raise SourceError(f"{table.name} {table.unit} {number:,}: a link needs a source and a target, got {pair!r}")
        pairs.append(pair)
    return pairs


def read_query_bytes(content: bytes, name: str, are_known: AreKnown, column: str | None = None) -> ReadNames:
    """Return what a file names that is given as bytes and a name; it is read as by :func:`read_query_file`.

    Without a ``column`` of the objects it is the one most of whose values are known.
    """
    path = Path(_safe_name(name))
    if not content.strip():
        raise QueryError(f"{path.name} is empty: expected {EXPECTED_FILES}")
    if content.startswith(b"PK") and WORKBOOK in content:
        path = path.with_suffix(".xlsx")
    if detect_format(path) in ROW_FORMATS:
        with temporary_folder() as folder:
            copy = folder / path.name
            copy.write_bytes(content)
            return _read_names(_read_row_table(copy), are_known, column)
    if (description := _describe_binary(content)) is not None:
        raise SourceError(f"{path.name} is {description}: expected {EXPECTED_FILES}")
    return read_text(_decode(path.name, content), are_known, column, path=path)


def read_text(text: str, are_known: AreKnown, column: str | None = None, *, path: Path = Path("the text")) -> ReadNames:
    """Return the names in a pasted text or in the text of a file.

    It is read as one name a line and as a table; unless its first line begins with ``object``, the reading with more
    known names is taken. Lines of several names are split (:func:`split_names`). The first row of a table may be
    data: then the column of the objects is the one that is known best, and of two columns the other has the labels.
    """
    lines = _split_names(text)
    if column == WHOLE_LINES:
        return ReadNames(lines, None, _find_header(path, text), WHOLE_LINES)
    if _begins_with_object(text):
        return _read_names(_parse_table(path, text), are_known, column)
    if column is not None:
        return _read_names(_restore_header(_parse_table(path, text), are_known), are_known, column)
    if not any(mark in text for mark in NAME_SEPARATORS):
        return ReadNames(lines)
    names = split_names(lines, are_known)
    if len(lines) == 1 and len(names) > 1:
        return ReadNames(names)
    try:
        table = _restore_header(_parse_table(path, text), are_known)
    except SourceError:
        return ReadNames(names)
    is_regular = (
        len(table.rows) > 0 and len(table.header) > 1 and {len(row) for _, row in table.rows} == {len(table.header)}
    )
    if len(names) > len(lines) and (
        all(are_known(names)) or (not is_regular and sum(are_known(names)) > _count_known(table, are_known))
    ):
        return ReadNames(names)
    known_lines, known_cells = sum(are_known(lines)), _count_known(table, are_known)
    if len(table.header) < 2 or (known_lines and known_lines >= known_cells):
        return ReadNames(lines)
    if detect_format(path) in TEXT_FORMATS or (is_regular and len(table.header) >= MIN_TABLE_COLUMNS) or known_cells:
        return _read_names(table, are_known, None)
    return ReadNames(lines)


# Text


def _read_text_file(path: Path, description: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_QUERY_BYTES + 1)
    except OSError as error:
        raise SourceError(f"cannot read the {description} {str(path)!r}: {describe_os_error(error)}") from None
    if len(content) > MAX_QUERY_BYTES:
        raise SourceError(
            f"the {description} {str(path)!r} takes more than {MAX_QUERY_BYTES:,} bytes, expected names of objects"
        )
    return _decode(path.name, content)


def _decode(name: str, content: bytes) -> str:
    """Return bytes as text: UTF-16 where they are marked so, UTF-8, or as guessed where nothing is UTF-8."""
    try:
        return content.decode(UTF_16 if content.startswith(UTF_16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError as error:
        decoded_bytes = error.object[: error.start]
        if decoded_bytes.isascii() and error.end < len(error.object) and not CONTROL_BYTES.search(content):
            try:
                return content.decode(guess_encoding(content))
            except UnicodeDecodeError:
                pass
        line, invalid_byte = decoded_bytes.count(b"\n") + 1, f"byte {error.object[error.start]:#04x}"
        raise SourceError(
            f"{name} line {line:,}: not {error.encoding.upper()} text ({invalid_byte}): save it in UTF-8"
        ) from None


def _describe_binary(content: bytes) -> str | None:
    """Return what kind of file begins with some bytes, None where it is text."""
    has_control_bytes = CONTROL_BYTES.search(content) is not None
    kind = next((kind for magic, kind in MAGIC.items() if content.startswith(magic)), None)
    if kind is None:
        return "no text" if has_control_bytes and not content.startswith(UTF_16_MARKS) else None
    if has_control_bytes or content.startswith((b"%PDF", b"{\\rtf")):
        return kind
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return kind
    return None


def _begins_with_object(text: str) -> bool:
    first_line = text.partition("\n")[0]
    return any(first_line.partition(mark)[0].strip().strip("\"'").lower() == "object" for mark in NAME_SEPARATORS)


def _split_names(text: str) -> list[str]:
    """Return the names of a text, one a line, without comments."""
    lines = [line.strip() for line in text.split("\n")]
    return [line for line in lines if line and not line.startswith("#")]


# Tables


def _parse_table(path: Path, text: str) -> QueryTable:
    format_name = detected if (detected := detect_format(path)) in DEFAULT_DELIMITERS else "csv"
    is_single = text.lstrip().partition("\n")[0].strip().strip("\"'").lower() == "object"
    conventions = (
        Conventions(delimiter=DEFAULT_DELIMITERS[format_name]) if is_single else DEFAULT_CONVENTIONS
    )  # other marks are part of the names
    dialect = find_dialect(
        text[:SAMPLE_CHARACTERS], format_name, conventions, is_complete=len(text) <= SAMPLE_CHARACTERS
    )
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


def _read_row_table(path: Path) -> QueryTable:
    """Return a workbook, Parquet file or JSON lines as a table of texts."""
    rows = read_rows(path)
    columns = {}
    for name in rows.table.column_names:
        try:
            columns[name] = [value or "" for value in read_ids(rows, name).to_pylist()]
        except SourceError:
            continue
    body = [(number, list(row)) for number, row in enumerate(zip(*columns.values(), strict=True), start=1)]
    return QueryTable(rows.name, list(columns), body, "row")


def _find_names(
    table: QueryTable, are_known: AreKnown | None, first: str, place: int | None = None
) -> tuple[list[str], list[str] | None]:
    """Return the objects and labels of a table; ``place`` is that of the column of objects, if the caller knows it."""
    column_names = [column.lower() for column in table.header]
    place = _find_object_column(table, are_known) if place is None else place
    if place is None:
        raise SourceError(
            f"{table.name} has no column 'object': it has {quote_few(table.header, 20) or 'none'} "
            "(rename the column of the objects)"
        )
    if (
        "object" not in column_names
        and len(column_names) == 1
        and are_known is not None
        and any(are_known(table.header))
    ):
        table = table._replace(rows=[(1, table.header), *table.rows])
    named_rows = [(name, row) for name, (_, row) in zip(table.column(place), table.rows, strict=True) if name]
    names = [name for name, _ in named_rows]
    groups = (first, *(LABELS if "object" in column_names else LABEL_NAMES))
    label_column = next(
        (column_names.index(group) for group in groups if group in column_names and column_names.index(group) != place),
        None,
    )
    if label_column is None:
        return names, None
    labels = [_get_cell(row, label_column) for _, row in named_rows]
    if names and not any(labels):
        label_name = table.header[label_column]
        raise SourceError(f"{table.name} has a column {label_name!r} and no label in it: give some, or drop the column")
    return names, labels


def _find_object_column(table: QueryTable, are_known: AreKnown | None) -> int | None:
    """Return the place of the column of objects: ``object``, the best known one, or one named as ids are, if any."""
    if "object" in (columns := [column.lower() for column in table.header]):
        return columns.index("object")
    if len(table.header) == 1:
        return 0
    names = [normalize_name(column) for column in table.header]
    usual_places = [names.index(spelling) for spelling in ROLE_NAMES["objects"]["id"] if spelling in names]
    if are_known is None:
        return usual_places[0] if usual_places else None
    columns_of_names = [[name for name in table.column(place) if name] for place in range(len(names))]
    return choose_known_column(columns_of_names, usual_places, lambda values: sum(are_known(values)))


def _get_cell(row: list[str], place: int) -> str:
    return row[place] if place < len(row) else ""


def _find_header(path: Path, text: str) -> Sequence[str]:
    try:
        return _parse_table(path, text).header
    except SourceError:
        return ()


def _restore_header(table: QueryTable, are_known: AreKnown) -> QueryTable:
    """Return a table with an invented header where its first row is data."""
    place = _find_object_column(table, are_known)
    if place is None or not any(are_known([table.header[place]])):
        return table
    header = [LABEL if len(table.header) == 2 else f"column {number + 1}" for number in range(len(table.header))]
    header[place] = "object"
    return table._replace(header=header, rows=[(1, table.header), *table.rows])


def _count_known(table: QueryTable, are_known: AreKnown) -> int:
    place = _find_object_column(table, are_known)
    return 0 if place is None else sum(are_known([name for name in table.column(place) if name]))


def _read_names(table: QueryTable, are_known: AreKnown, column: str | None) -> ReadNames:
    if not table.header:
        raise QueryError(f"{table.name} is empty: expected {EXPECTED_FILES}")
    if column is not None and column not in table.header:
        raise unknown_name(f"column of {table.name}", column, table.header)
    place = _find_object_column(table, are_known) if column is None else table.header.index(column)
    if not table.rows and (len(table.header) > 1 or not any(are_known(table.header))):
        raise QueryError(f"{table.name} has a header ({join_names(table.header)}) and no row below it: expected names")
    if place is None:
        return ReadNames([], None, table.header)
    names, labels = _find_names(table, are_known, LABEL, place)
    return ReadNames(names, labels, table.header if len(table.header) > 1 else (), table.header[place])


def _safe_name(name: str) -> str:
    """Return the last part of a file's name, without characters that some file systems refuse.

    >>> _safe_name("C:\\\\lists\\\\../my list?.CSV")
    'my list_.CSV'
    """
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w .()+-]", "_", last)[-100:].strip(" .") or "the file"
