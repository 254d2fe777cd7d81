"""The rows of one table file, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cube2net.errors import SourceError
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows
from cube2net.sources.tables.dialects import UNSAID, USUAL, Conventions
from cube2net.sources.tables.json_lines import read_jsonlines
from cube2net.sources.tables.parquet import read_parquet
from cube2net.sources.tables.table_roles import format_of
from cube2net.sources.tables.text_tables import read_delimited
from cube2net.sources.tables.workbooks import read_workbook
from cube2net.unpacking import Meter

MAGIC = {
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"BM": "a picture",
    b"RIFF": "a picture, a sound or a film",
    b"%PDF": "a PDF document",
    b"{\\rtf": "a document of a word processor",
    b"PK\x03\x04": "a packed folder or a document",
    b"\xd0\xcf\x11\xe0": "a document or workbook of the time before 2007",
    b"\x1f\x8b": "a packed file",
    b"SQLite format 3": "a database",
    b"PAR1": "a Parquet file, whose name does not end in .parquet",
}
WORKBOOK = b"xl/workbook.xml"
UNPACKED = (b"\x1f\x8b",)
"""How files begin that are unpacked as they are read, whatever they are called."""
TEXTS = (b"%PDF", b"{\\rtf")
"""How files begin that look like text at first."""
LOOKED_AT = 65_536


def no_table(start: bytes) -> str | None:
    """Return what a file is that begins with some bytes, None where it may be a table of text.

    >>> no_table(b"\\x89PNG\\r\\n\\x1a\\n\\x00\\x00"), no_table(b"%PDF-1.7"), no_table(b"BMW;Rome")
    ('a picture', 'a PDF document', None)
    """
    magic = next((magic for magic in MAGIC if start.startswith(magic)), None)
    if magic is None or magic in UNPACKED or (magic not in TEXTS and b"\0" not in start):
        return None
    if start.startswith(b"PK") and b"xl/" in start:
        return "a workbook, whose name does not end in .xlsx"
    return MAGIC[magic]


ALLOWED = "a name that ends in .csv, .tsv, .txt, .jsonl, .ndjson (each also with .gz), .parquet or .xlsx"
DOCUMENTS = (".ods", ".fods", ".numbers", ".xlsb", ".odt", ".docx", ".doc", ".pages", ".rtf", ".pdf")
"""How the names of files end from which a table can be saved anew."""


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
    if form in (*USUAL, "json"):
        _check_text(path)
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
    hint = " (save it as .xlsx or .csv)" if path.suffix.casefold() in DOCUMENTS else ""
    raise SourceError(f"cannot tell the format of {path.name!r}: expected {ALLOWED}{hint}")


def _check_text(path: Path) -> None:
    """Raise where a file that is called one of text is a picture, a document or a workbook by its first bytes."""
    with path.open("rb") as file:
        what = no_table(file.read(LOOKED_AT))
    if what is not None:
        raise SourceError(f"{path.name} is {what}, not a table: expected {ALLOWED}, which holds what its name says")


def as_read(
    columns: Mapping[str, Mapping[str, str]], flat: Mapping[str, Any], said: Mapping[str, Any]
) -> dict[str, Any]:
    """Return how tables were read: which column of each was what, and what was ``said`` of how they are written."""
    named = {f"{role}.{what}": name for role, told in columns.items() for what, name in told.items()}
    found: dict[str, Any] = {"columns": dict(flat.get("columns", {})) | named, **said}
    found["separators"] = said["separators"] | dict(flat.get("separators", {}))
    return {"name": "tables"} | {name: value for name, value in found.items() if value not in ({}, False)}
