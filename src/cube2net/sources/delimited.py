"""CSV and TSV files: every value as text, ragged lines left out with their line numbers."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from cube2net.errors import SourceError, some
from cube2net.sources.faults import SHOWN, Faults, Rows
from cube2net.sources.textfile import BLOCK, check_text, is_packed, line_places, physical_lines

LARGEST_BLOCK = 2**31 - 1
BYTE_ORDER_MARK = codecs.BOM_UTF8.decode("latin-1")


def read_delimited(path: Path, delimiter: str, faults: Faults) -> Rows:
    """Return the rows of a file with a header, all columns as text; an empty value is missing."""
    check_text(path)
    names = _header(path, delimiter)
    table, ragged = _parse(path, delimiter, names, threads=True)
    if ragged:
        table, ragged = _parse(path, delimiter, names, threads=False)
    records = table.num_rows + len(ragged)

    @cache
    def one_line_each() -> bool:
        return sum(1 for _ in _line_numbers(path)) == int(records)

    def starts() -> Iterator[int]:
        """Return the line on which each record starts; where there are no more lines than records, each line does."""
        return _line_numbers(path) if one_line_each() else _starts(path, delimiter)

    if ragged:
        _report(path, starts(), records, ragged, faults)
    skipped = {record for record, _ in ragged}

    def good() -> Iterator[int]:
        for record, line in enumerate(starts(), start=1):
            if record > 1 and record not in skipped:
                yield line

    return Rows(path.name, table.slice(1), line_places(path, good), frozenset(names))


def _header(path: Path, delimiter: str) -> list[str]:
    text, open_quote = "", False
    for line in _lines(path):
        text += line
        open_quote = _still_open(line, delimiter, open_quote)
        if not open_quote and text.strip("\r\n"):
            break
    text = text.encode("latin-1").decode("utf-8").strip("\r\n")
    try:
        fields = next(csv.reader([text], delimiter=delimiter))
    except (csv.Error, StopIteration):
        raise SourceError(f"{path.name} line 1 is not a header, expected the names of the columns") from None
    names = [name.strip() or f"column {number}" for number, name in enumerate(fields, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SourceError(f"{path.name} names columns twice: {some(twice)}")
    return names


def _parse(path: Path, delimiter: str, names: list[str], *, threads: bool) -> tuple[pa.Table, list[tuple[int, str]]]:
    """Return the table, its header as the first row, and the ragged records with what is wrong with them.

    The reader only knows the number of a record when it reads on one thread.
    """
    ragged: list[tuple[int, str]] = []

    def note(row: Any) -> str:
        fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
        ragged.append((row.number or 0, f"has {fields}, expected {row.expected_columns} as in the header"))
        return "skip"

    convert = pacsv.ConvertOptions(
        column_types={name: pa.string() for name in names}, strings_can_be_null=True, null_values=[""]
    )
    parse = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note)
    whole = max(BLOCK, min(LARGEST_BLOCK, path.stat().st_size * (20 if is_packed(path) else 1)))
    for block in (BLOCK, whole):
        options = pacsv.ReadOptions(use_threads=threads, column_names=names, block_size=block)
        ragged.clear()
        try:
            with pa.input_stream(str(path), compression="gzip" if is_packed(path) else None) as stream:
                return pacsv.read_csv(stream, options, parse, convert), ragged
        except (pa.ArrowException, OSError) as error:
            if block == whole or "straddling" not in str(error):
                raise SourceError(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None
    raise SourceError(f"{path.name} cannot be read")


def _report(path: Path, starts: Iterator[int], records: int, ragged: list[tuple[int, str]], faults: Faults) -> None:
    lines: dict[int, int] = {}
    wanted = {record for record, _ in ragged[:SHOWN]}
    for record, line in enumerate(starts, start=1):
        if record in wanted:
            lines[record] = line
            if len(lines) == len(wanted):
                break
    shown = [f"{path.name} line {lines.get(record, record):,}: {wrong}" for record, wrong in ragged[:SHOWN]]
    if ragged[0][0] == 1:
        raise SourceError(shown[0])
    if 2 * len(ragged) >= records - 1:
        raise SourceError(f"{shown[0]} (and so for {len(ragged):,} of {records - 1:,} lines)")
    faults.drop(f"ragged lines of {path.name}", len(ragged), shown)


def _line_numbers(path: Path) -> Iterator[int]:
    return (number for number, line in enumerate(physical_lines(path), start=1) if line.strip("\r\n"))


def _starts(path: Path, delimiter: str) -> Iterator[int]:
    """Return the line on which each record starts, the header first; empty lines are no records."""
    open_quote = False
    for number, line in enumerate(_lines(path), start=1):
        if not open_quote:
            if not line.strip("\r\n"):
                continue
            yield number
        open_quote = _still_open(line, delimiter, open_quote)


def _lines(path: Path) -> Iterator[str]:
    lines = physical_lines(path)
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
