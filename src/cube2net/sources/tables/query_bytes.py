"""A query that somebody hands over, as the bytes of a file or as a text: its names, or the columns to choose from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cube2net.atomic_files import temporary_folder
from cube2net.errors import QueryError, SourceError, listed, unknown
from cube2net.records.query_tables import LABEL, ReadNames
from cube2net.sources.io.text_records import NO_TEXT, UTF_16_MARKS
from cube2net.sources.tables.file_signatures import MAGIC, WORKBOOK
from cube2net.sources.tables.query_files import (
    DELIMITERS,
    FORMED,
    TEXTS,
    Known,
    QueryTable,
    begins_with_object,
    column_of_objects,
    decoded,
    formed_table,
    from_lines,
    from_table,
    parsed_table,
)
from cube2net.sources.tables.table_roles import format_of

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
