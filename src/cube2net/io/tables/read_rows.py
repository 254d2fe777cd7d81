"""The rows of one table file, whatever its format."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as pajson

from cube2net._util.zip_files import Meter
from cube2net.errors import SourceError, quote_few
from cube2net.io.dropped import MAX_EXAMPLES, Dropped, Places
from cube2net.io.tables.column_types import Rows, make_columns
from cube2net.io.tables.dialects import DEFAULT_CONVENTIONS, DEFAULT_DELIMITERS, Conventions
from cube2net.io.tables.frames import columns_of_records
from cube2net.io.tables.parquet import read_parquet
from cube2net.io.tables.text_tables import read_delimited
from cube2net.io.tables.workbooks import read_workbook
from cube2net.io.text_records import (
    BLANK_BYTES,
    BLOCK_BYTES,
    check_text,
    detect_format,
    long_line_error,
    make_line_places,
    number_lines,
    open_arrow_stream,
    open_bytes,
    read_whole,
)

DEEP = 1000
KEY = re.compile(rb'"([^"]*)"\s*:')
MANY_KEYS = 100
SAMPLED = 64
MAX_LIST_BYTES = 512 * 2**20
START = 4096


def read_jsonlines(path: Path, dropped: Dropped, meter: Meter) -> Rows:
    """Return the rows of a file with one JSON object a line, or a list of them; a key that is not there is missing."""
    check_text(path, meter)
    with open_bytes(path, meter) as file:
        if file.peek(1).strip(BLANK_BYTES).startswith(b"["):
            return _read_list(path, file, dropped, meter)
    count = _plain_lines(path, meter)
    table = None if count is None else _fast(path, meter)
    if table is not None and table.num_rows == count and table.num_columns:
        return Rows(path.name, table, make_line_places(path, lambda: (line for line, _ in _lines(path, meter))))
    return _slow(path, dropped, meter)


def _read_list(path: Path, file: io.BufferedReader, dropped: Dropped, meter: Meter) -> Rows:
    whole = read_whole(file, MAX_LIST_BYTES)
    if whole is None:
        raise SourceError(f"{path.name} is a list of more than {MAX_LIST_BYTES:,} bytes: write one object a line")
    meter.gauge(path).take(len(whole))
    try:
        records = json.loads(whole.strip(BLANK_BYTES))
    except (ValueError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise SourceError(
            f"{path.name} is not JSON ({why}): expected a list of objects, or one object a line"
        ) from None
    return _rows(
        path, columns_of_records(records), dropped, lambda some: [f"{path.name} row {at + 1:,}" for at in some]
    )


def _rows(path: Path, columns: dict[str, list[Any]], dropped: Dropped, places: Places) -> Rows:
    arrays, untyped, left_out = make_columns(columns)
    if left_out:
        dropped.say(f"{path.name}: left out columns with fields inside: {quote_few(left_out, 20)}")
    if not arrays:
        raise SourceError(f"{path.name} has no columns, expected one JSON object a line with keys such as 'id'")
    return Rows(path.name, pa.table(arrays), places, frozenset(untyped))


def _lines(path: Path, meter: Meter) -> Iterator[tuple[int, bytes]]:
    with open_bytes(path, meter) as file:
        for number, line in number_lines(file):
            if line is None:
                raise long_line_error(path, number)
            yield number, line


def _plain_lines(path: Path, meter: Meter) -> int | None:
    """Return the number of lines, or None where the fast reader is not to be used.

    It is for lines that are braced, not nested too deep, and of the same few keys: a column is made for each.
    """
    count, widest, keys = 0, 0, set[bytes]()
    for _, line in _lines(path, meter):
        if line[0] != 0x7B or line[-1] != 0x7D:
            return None
        if len(line) > DEEP and line.count(b"[") + line.count(b"{") > DEEP:
            return None
        if count % SAMPLED == 0:
            found = KEY.findall(line[:START])
            keys.update(found)
            widest = max(widest, len(found))
            if len(keys) > MANY_KEYS + 4 * widest:
                return None
        count += 1
    return count


def _fast(path: Path, meter: Meter) -> pa.Table | None:
    """Return the table as Arrow reads it, or None where it refuses; text that looks like a time stays text."""
    texts: dict[str, pa.DataType] = {}
    for _ in range(2):
        parse = pajson.ParseOptions(explicit_schema=pa.schema(list(texts.items())))
        try:
            with open_arrow_stream(path, meter) as stream:
                table = pajson.read_json(stream, pajson.ReadOptions(block_size=BLOCK_BYTES), parse)
        except SourceError:
            raise
        except (pa.ArrowException, ValueError, OSError):
            return None
        for column in table.schema:
            if pa.types.is_timestamp(column.type):
                texts[column.name] = pa.string()
            elif pa.types.is_list(column.type) and pa.types.is_timestamp(column.type.value_type):
                texts[column.name] = pa.list_(pa.string())
        if not any(table.schema.field(name).type != kind for name, kind in texts.items()):
            break
    return table


def _slow(path: Path, dropped: Dropped, meter: Meter) -> Rows:
    """Return the rows read one line at a time: some lines are bad, or the kinds of a column's values differ."""
    columns: dict[str, list[Any]] = {}
    lines: list[int] = []
    bad, shown = 0, list[str]()
    gauge = meter.gauge(path)
    gauge.take(gauge.size or 0)
    for number, line in _lines(path, meter):
        try:
            record = _record(line)
        except ValueError as error:
            bad += 1
            shown += [f"{path.name} line {number:,}: {error}"] if bad <= MAX_EXAMPLES else []
            continue
        for key, value in record.items():
            values = columns.setdefault(key, [])
            values += [None] * (len(lines) - len(values))
            values.append(value)
        lines.append(number)
        gauge.check(8 * len(columns) * len(lines))
    for values in columns.values():
        values.extend([None] * (len(lines) - len(values)))
    if bad and bad >= len(lines):
        raise SourceError(f"{shown[0]} (and so for {bad:,} of {bad + len(lines):,} lines)")
    dropped.drop(f"lines of {path.name} that are no JSON objects", bad, shown)
    return _rows(path, columns, dropped, make_line_places(path, lambda: lines))


def _record(line: bytes) -> dict[str, Any]:
    shown = line[:40].decode("utf-8", "replace") + ("…" if len(line) > 40 else "")
    try:
        record = json.loads(line)
        if b"\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{shown!r} holds half a character, expected valid escapes") from None
    except (ValueError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"{shown!r} is not JSON ({why})") from None
    if not isinstance(record, dict):
        raise ValueError(f'{shown!r} is not a JSON object, expected something like {{"id": "a"}}')
    return record


MAGIC = {
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"BM": "a picture",
    b"RIFF": "a picture, a sound or a film",
    b"%PDF": "a PDF document",
    b"{\\rtf": "a document of a word processor",
    b"<!DOCTYPE": "a web page",
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"PK\x03\x04": "a packed folder or a document",
    b"\xd0\xcf\x11\xe0": "a document or workbook of the time before 2007",
    b"\x1f\x8b": "a packed file",
    b"SQLite format 3": "a database",
    b"PAR1": "a Parquet file, whose name does not end in .parquet",
}
WORKBOOK = b"xl/workbook.xml"
UNPACKED = (b"\x1f\x8b",)
"""How files begin that are unpacked as they are read, whatever they are called."""
TEXTS = (b"%PDF", b"{\\rtf", b"<!DOCTYPE", b"<!doctype", b"<html")
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


ALLOWED = (
    "a name that ends in .csv, .tsv, .txt, .jsonl, .ndjson (each also with .gz, .xz or .bz2), .parquet, .xlsx, .xls, "
    ".xlsb or .ods"
)
DOCUMENTS = (".fods", ".numbers", ".odt", ".docx", ".doc", ".pages", ".rtf", ".pdf")
"""How the names of files end from which a table can be saved anew."""


def read_rows(
    path: Path,
    *,
    conventions: Conventions = DEFAULT_CONVENTIONS,
    dropped: Dropped | None = None,
    meter: Meter | None = None,
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
    form = detect_format(path)
    if form in (*DEFAULT_DELIMITERS, "json"):
        _check_text(path)
    if form in DEFAULT_DELIMITERS:
        return read_delimited(path, form, dropped, meter, conventions)
    if form == "json":
        return read_jsonlines(path, dropped, meter)
    if form == "parquet":
        return read_parquet(path, meter)
    if form in ("xlsx", "xls"):
        return read_workbook(path, dropped, meter, conventions)
    hint = " (save it as .xlsx or .csv)" if path.suffix.casefold() in DOCUMENTS else ""
    raise SourceError(f"cannot tell the format of {path.name!r}: expected {ALLOWED}{hint}")


def _check_text(path: Path) -> None:
    """Raise where a file that is called one of text is a picture, a document or a workbook by its first bytes."""
    with path.open("rb") as file:
        start = file.read(LOOKED_AT)
    what = no_table(start)
    from cube2net.io.bibliography.reference_formats import recognize_tagged

    if what is None and (export := recognize_tagged(start.decode("utf-8", "replace"))):
        raise SourceError(f"{path.name} is a citation export ({export}), not a table: read it as references")
    if what is not None:
        raise SourceError(f"{path.name} is {what}, not a table: expected {ALLOWED}, which holds what its name says")
