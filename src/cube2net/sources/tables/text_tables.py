"""Tables of text: CSV and TSV files with every value as text, and JSON lines read by columns.

Ragged lines, and lines that are no objects, are left out with their line numbers.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.json as pajson

from cube2net.errors import SourceError, first_line, some
from cube2net.sources.io.dropped import SHOWN, Dropped
from cube2net.sources.io.text_records import (
    BLOCK,
    LONGEST,
    arrow_stream,
    check_text,
    line_places,
    numbered,
    open_bytes,
    physical_lines,
    too_long,
)
from cube2net.sources.tables.column_types import Rows, columns_of
from cube2net.unpacking import Meter

MOST_COLUMNS = 10_000
BYTE_ORDER_MARK = codecs.BOM_UTF8.decode("latin-1")
DEEP = 1000
KEY = re.compile(rb'"([^"]*)"\s*:')
MANY_KEYS = 100
SAMPLED = 64
START = 4096


def read_delimited(path: Path, delimiter: str, dropped: Dropped, meter: Meter) -> Rows:
    """Return the rows of a file with a header, all columns as text; an empty value is missing."""
    check_text(path, meter)
    names = _header(path, delimiter, meter)
    ragged = _Ragged()
    table = _parse(path, delimiter, names, meter) or _parse(path, delimiter, names, meter, ragged)
    if table is None:
        raise SourceError(f"{path.name} cannot be read")
    records = table.num_rows + len(ragged.records)

    @cache
    def one_line_each() -> bool:
        return sum(1 for _ in _line_numbers(path, meter)) == int(records)

    def starts() -> Iterator[int]:
        """Return the line on which each record starts; where there are no more lines than records, each line does."""
        return _line_numbers(path, meter) if one_line_each() else _starts(path, delimiter, meter)

    if ragged.records:
        _report(path, starts(), records, ragged, dropped)

    def good() -> Iterator[int]:
        skipped = iter(ragged.records)
        skip = next(skipped, 0)
        for record, line in enumerate(starts(), start=1):
            if record == skip:
                skip = next(skipped, 0)
            elif record > 1:
                yield line

    return Rows(path.name, table.slice(1), line_places(path, good), frozenset(names))


def _header(path: Path, delimiter: str, meter: Meter) -> list[str]:
    text, open_quote = "", False
    for line in _unmarked_lines(path, meter):
        text += line
        open_quote = _still_open(line, delimiter, open_quote)
        if len(text) > LONGEST or (not open_quote and text.strip("\r\n")):
            break
    text = text.encode("latin-1").decode("utf-8").strip("\r\n")
    try:
        fields = next(csv.reader([text], delimiter=delimiter))
    except (csv.Error, StopIteration):
        raise SourceError(f"{path.name} line 1 is not a header, expected the names of the columns") from None
    if len(fields) > MOST_COLUMNS:
        raise SourceError(f"{path.name} has {len(fields):,} columns, expected at most {MOST_COLUMNS:,}")
    names = [name.strip() or f"column {number}" for number, name in enumerate(fields, start=1)]
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise SourceError(f"{path.name} names columns twice: {some(twice)}")
    return names


@dataclass(frozen=True, eq=False)
class _Ragged:
    """The numbers of the ragged records, and what is wrong with the first few."""

    records: array[int] = field(default_factory=lambda: array("q"))
    wrong: list[str] = field(default_factory=list)

    def add(self, row: Any) -> None:
        self.records.append(row.number or 0)
        if len(self.wrong) < SHOWN:
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            self.wrong.append(f"has {fields}, expected {row.expected_columns} as in the header")


def _parse(
    path: Path, delimiter: str, names: list[str], meter: Meter, ragged: _Ragged | None = None
) -> pa.Table | None:
    """Return the table, its header as the first row; without ``ragged``, None where a record is ragged.

    The reader only knows the number of a record when it reads on one thread.
    """
    stopped = False

    def note(row: Any) -> str:
        nonlocal stopped
        if ragged is None:
            stopped = True
            return "error"
        ragged.add(row)
        return "skip"

    convert = pacsv.ConvertOptions(
        column_types={name: pa.string() for name in names}, strings_can_be_null=True, null_values=[""]
    )
    parse = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note)
    for block in (BLOCK, LONGEST):
        options = pacsv.ReadOptions(use_threads=ragged is None, column_names=names, block_size=block)
        if ragged is not None:
            del ragged.records[:], ragged.wrong[:]
        try:
            with arrow_stream(path, meter) as stream:
                return pacsv.read_csv(stream, options, parse, convert)
        except SourceError:
            raise
        except (pa.ArrowException, OSError) as error:
            if stopped:
                return None
            if "straddling" not in str(error):
                raise SourceError(f"{path.name} cannot be read: {first_line(error)}") from None
    raise SourceError(f"{path.name} has a row of more than {LONGEST:,} bytes, expected less (is a quote not closed?)")


def _report(path: Path, starts: Iterator[int], records: int, ragged: _Ragged, dropped: Dropped) -> None:
    lines: dict[int, int] = {}
    first = ragged.records[: len(ragged.wrong)]
    for record, line in enumerate(starts, start=1):
        if record in first:
            lines[record] = line
            if len(lines) == len(first):
                break
    shown = [
        f"{path.name} line {lines.get(record, record):,}: {wrong}"
        for record, wrong in zip(first, ragged.wrong, strict=True)
    ]
    many = len(ragged.records)
    if first[0] == 1:
        raise SourceError(shown[0])
    if 2 * many >= records - 1:
        raise SourceError(f"{shown[0]} (and so for {many:,} of {records - 1:,} lines)")
    dropped.drop(f"ragged lines of {path.name}", many, shown)


def _line_numbers(path: Path, meter: Meter) -> Iterator[int]:
    return (number for number, line in enumerate(physical_lines(path, meter), start=1) if line.strip("\r\n"))


def _starts(path: Path, delimiter: str, meter: Meter) -> Iterator[int]:
    """Return the line on which each record starts, the header first; empty lines are no records."""
    open_quote = False
    for number, line in enumerate(_unmarked_lines(path, meter), start=1):
        if not open_quote:
            if not line.strip("\r\n"):
                continue
            yield number
        open_quote = _still_open(line, delimiter, open_quote)


def _unmarked_lines(path: Path, meter: Meter) -> Iterator[str]:
    lines = physical_lines(path, meter)
    yield next(lines, "").removeprefix(BYTE_ORDER_MARK)
    yield from lines


def _still_open(line: str, delimiter: str, inside: bool) -> bool:
    """Return whether a quoted field goes on after the line; a quote only opens where a field starts.

    >>> _still_open('a,"b', ",", False), _still_open('a,b"', ",", False), _still_open('c""d",e', ",", True)
    (True, False, False)
    """
    if '"' not in line:
        return inside
    at = 0
    while True:
        if not inside:
            if line.startswith('"', at):
                inside, at = True, at + 1
            else:
                at = line.find(delimiter, at) + 1
                if at == 0:
                    return False
                continue
        at = line.find('"', at) + 1
        if at == 0:
            return True
        if line.startswith('"', at):
            at += 1
        else:
            inside = False
            at = line.find(delimiter, at) + 1
            if at == 0:
                return False


def read_jsonlines(path: Path, dropped: Dropped, meter: Meter) -> Rows:
    """Return the rows of a file with one JSON object a line; a key that is not there is missing."""
    check_text(path, meter)
    count = _plain_lines(path, meter)
    table = None if count is None else _fast(path, meter)
    if table is not None and table.num_rows == count and table.num_columns:
        return Rows(path.name, table, line_places(path, lambda: (line for line, _ in _lines(path, meter))))
    return _slow(path, dropped, meter)


def _lines(path: Path, meter: Meter) -> Iterator[tuple[int, bytes]]:
    with open_bytes(path, meter) as file:
        for number, line in numbered(file):
            if line is None:
                raise too_long(path, number)
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
            with arrow_stream(path, meter) as stream:
                table = pajson.read_json(stream, pajson.ReadOptions(block_size=BLOCK), parse)
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
            shown += [f"{path.name} line {number:,}: {error}"] if bad <= SHOWN else []
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
    arrays, loose, left_out = columns_of(columns)
    if left_out:
        dropped.say(f"{path.name}: left out columns with fields inside: {some(left_out, 20)}")
    if not arrays:
        raise SourceError(f"{path.name} has no columns, expected one JSON object a line with keys such as 'id'")
    return Rows(path.name, pa.table(arrays), line_places(path, lambda: lines), frozenset(loose))


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
