"""A query from a file: names a line, or a table with the columns object and label."""

from __future__ import annotations

import csv
from pathlib import Path

from cube2net.errors import QueryError, SourceError


def read_query_file(path: Path) -> tuple[list[str], list[str] | None]:
    """Return the objects that a file names, and their labels where it gives them.

    A CSV or TSV file has a column ``object`` and may have a column ``label``; any other file is text
    with one name a line, in which empty lines and lines that begin with ``#`` are passed over.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SourceError(
            f"{path.name} line {line:,}: not UTF-8 text (byte {error.object[error.start]:#04x})"
        ) from None
    except OSError as error:
        raise SourceError(f"cannot read the query {str(path)!r}: {(error.strerror or str(error)).lower()}") from None
    lines = text.splitlines()
    delimiter = _delimiter(path, lines)
    names, labels = _from_table(path, lines, delimiter) if delimiter else (_from_lines(lines), None)
    if not names:
        raise QueryError(f"the query {str(path)!r} is empty: name at least one object")
    return names, labels


def _delimiter(path: Path, lines: list[str]) -> str | None:
    if path.suffix.lower() in (".csv", ".tsv"):
        return "\t" if path.suffix.lower() == ".tsv" else ","
    first = lines[0].strip().lower() if lines else ""
    return "," if first in ("object", "object,label") else None


def _from_lines(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _from_table(path: Path, lines: list[str], delimiter: str) -> tuple[list[str], list[str] | None]:
    reader = csv.DictReader(lines, delimiter=delimiter)
    columns = [column.strip() for column in reader.fieldnames or []]
    reader.fieldnames = columns
    if "object" not in columns:
        raise SourceError(f"{path.name} has no column 'object': it has {', '.join(map(repr, columns)) or 'none'}")
    rows = [row for row in reader if (row["object"] or "").strip()]
    names = [row["object"].strip() for row in rows]
    if "label" not in columns:
        return names, None
    labels = [(row["label"] or "").strip() for row in rows]
    for name, label in zip(names, labels, strict=True):
        if not label:
            raise SourceError(f"{path.name} gives {name!r} no label: give every object one, or drop the column")
    return names, labels
