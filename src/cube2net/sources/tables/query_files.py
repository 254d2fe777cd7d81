"""A query from a file: names a line, or a table with the columns object and label; and links from a table."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from cube2net.errors import QueryError, SourceError, some
from cube2net.sources.io.text_records import read_whole

LIMIT = 64 * 2**20


def read_query_file(path: Path) -> tuple[list[str], list[str] | None]:
    """Return the objects that a file names, and their labels where it gives them.

    A CSV or TSV file has a column ``object`` and may have a column ``label``, in any case and among others;
    so has any file whose first line begins with ``object``. An object whose label is left empty has none. Any
    other file is text with one name a line, in which empty lines and lines that begin with ``#`` are passed over.
    """
    path = Path(path)
    text = _text(path, "query")
    delimiter = _delimiter(path, text)
    names, labels = _from_table(path, text, delimiter) if delimiter else (_from_lines(text), None)
    if not names:
        raise QueryError(f"the query {str(path)!r} is empty: name at least one object")
    return names, labels


def read_pairs_file(path: Path) -> list[tuple[str, str]]:
    """Return the links that a table names: its columns ``source`` and ``target``, among others."""
    path = Path(path)
    text = _text(path, "links")
    (_, header), *rows = _rows(path, text, "\t" if path.suffix.lower() == ".tsv" else ",") or [(1, [])]
    columns = [column.lower() for column in header]
    for wanted in ("source", "target"):
        if wanted not in columns:
            raise SourceError(f"{path.name} has no column {wanted!r}: it has {some(header, 20) or 'none'}")
    pairs = []
    for line, row in rows:
        pair = _cell(row, columns.index("source")), _cell(row, columns.index("target"))
        if not all(pair):
            raise SourceError(f"{path.name} line {line:,}: a link needs a source and a target, got {pair!r}")
        pairs.append(pair)
    return pairs


def _text(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            whole = read_whole(file, LIMIT)
        if whole is None:
            raise SourceError(f"the {what} {str(path)!r} takes more than {LIMIT:,} bytes, expected names of objects")
        return whole.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SourceError(
            f"{path.name} line {line:,}: not UTF-8 text (byte {error.object[error.start]:#04x})"
        ) from None
    except OSError as error:
        raise SourceError(f"cannot read the {what} {str(path)!r}: {(error.strerror or str(error)).lower()}") from None


def _delimiter(path: Path, text: str) -> str | None:
    if path.suffix.lower() in (".csv", ".tsv"):
        return "\t" if path.suffix.lower() == ".tsv" else ","
    first = text.partition("\n")[0]
    for delimiter in (",", "\t"):
        if first.partition(delimiter)[0].strip().strip('"').lower() == "object":
            return delimiter
    return None


def _from_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.split("\n")]
    return [line for line in lines if line and not line.startswith("#")]


def _from_table(path: Path, text: str, delimiter: str) -> tuple[list[str], list[str] | None]:
    (_, header), *rows = _rows(path, text, delimiter) or [(1, [])]
    columns = [column.lower() for column in header]
    if "object" not in columns:
        raise SourceError(f"{path.name} has no column 'object': it has {some(header, 20) or 'none'}")
    named = [(name, row) for _, row in rows if (name := _cell(row, columns.index("object")))]
    names = [name for name, _ in named]
    if "label" not in columns:
        return names, None
    labels = [_cell(row, columns.index("label")) for _, row in named]
    if names and not any(labels):
        raise SourceError(f"{path.name} has a column 'label' and no label in it: give some, or drop the column")
    return names, labels


def _rows(path: Path, text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the cells of every row that is not empty, without the space around them, and the line it ends on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, cells) for row in reader if any(cells := [cell.strip() for cell in row])]
    except csv.Error as error:
        raise SourceError(
            f"{path.name} line {reader.line_num:,}: cannot be read as a table ({error}): check the quotes"
        ) from None


def _cell(row: list[str], place: int) -> str:
    return row[place] if place < len(row) else ""
