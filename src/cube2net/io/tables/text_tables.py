"""Read tables of delimited text (CSV, TSV and similar), every value as text; ragged lines are skipped and counted."""

from __future__ import annotations

import codecs
import csv
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from cube2net._util.zip_files import Meter
from cube2net.errors import Message, Setting, SourceError, first_line
from cube2net.io.dropped import MAX_EXAMPLES, Dropped
from cube2net.io.tables.column_types import Rows, number_repeated_names
from cube2net.io.tables.dialects import (
    DEFAULT_CONVENTIONS,
    DEFAULT_DELIMITERS,
    SAMPLE_CHARACTERS,
    Conventions,
    Dialect,
    find_dialect,
)
from cube2net.io.tables.table_roles import advise_delimiter
from cube2net.io.text_records import (
    BLOCK_BYTES,
    MAX_LINE_BYTES,
    UTF_8,
    check_text,
    make_line_places,
    open_arrow_stream,
    open_bytes,
    read_physical_lines,
)

MAX_COLUMNS = 10_000
BYTE_ORDER_MARK = codecs.BOM_UTF8.decode("latin-1")


@dataclass(frozen=True)
class _Text:
    """A text file: its path, the meter that limits its unpacked size, and its encoding."""

    path: Path
    meter: Meter
    encoding: str

    @property
    def name(self) -> str:
        return self.path.name

    def lines(self, n_skipped: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines after the first ``n_skipped``, decoded as Latin-1, without a byte order mark.

        Every character stands for one byte of UTF-8.
        """
        for number, line in enumerate(read_physical_lines(self.path, self.meter, self.encoding), start=1):
            if number > n_skipped:
                yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line

    def read_start(self, max_characters: int) -> tuple[str, bool]:
        """Return the first characters of the file, and whether these are all of it."""
        with open_bytes(self.path, self.meter, self.encoding) as file:
            content = file.read(max_characters)
            is_complete = not file.read(1)
        return content.decode(UTF_8, "ignore").removeprefix("\ufeff"), is_complete


@dataclass(frozen=True)
class _Header:
    """The names of the columns, those of them that are made up, and the number of lines up to the end of the header."""

    names: list[str]
    unnamed: frozenset[str]
    lines: int


def read_delimited(
    path: Path, form: str, dropped: Dropped, meter: Meter, conventions: Conventions = DEFAULT_CONVENTIONS
) -> Rows:
    """Return the rows of a file of delimited text, all columns as text; an empty value is missing.

    Conventions that are not given are detected, and those that differ from the defaults of the format are reported.
    """
    text = _Text(path, meter, check_text(path, meter, conventions.encoding))
    start, is_complete = text.read_start(SAMPLE_CHARACTERS)
    dialect = find_dialect(start, form, conventions, is_complete=is_complete)
    if conventions.delimiter is not None and dialect.titles:
        _check_header_delimiter(
            path,
            start,
            dialect,
            find_dialect(start, form, replace(conventions, delimiter=None), is_complete=is_complete),
        )
    has_unusual_encoding = conventions.encoding is None and text.encoding != UTF_8
    detected = [f"encoding={text.encoding!r}"] * has_unusual_encoding + dialect.describe_detected(
        DEFAULT_DELIMITERS[form], conventions
    )
    if detected:
        dropped.say(f"{path.name}: {', '.join(detected)} (guessed)")
    header = _read_header(text, dialect, dropped)
    ragged = _Ragged()
    table = _parse(text, dialect, header) or _parse(text, dialect, header, ragged)
    if table is None:
        raise SourceError(f"{path.name} cannot be read")
    records = table.num_rows + len(ragged.records)

    @cache
    def has_one_line_per_record() -> bool:
        return sum(1 for _ in _line_numbers(text, header.lines)) == int(records)

    def find_start_lines() -> Iterator[int]:
        """Return the line on which each record starts: every line, if there are as many lines as records."""
        return (
            _line_numbers(text, header.lines)
            if has_one_line_per_record()
            else _find_record_lines(text, dialect, header.lines)
        )

    if ragged.records:
        _report_ragged(path, find_start_lines(), records, ragged, dropped, Setting("delimiter", dialect.delimiter))

    def find_kept_lines() -> Iterator[int]:
        skipped = iter(ragged.records)
        skip = next(skipped, 0)
        for record, line in enumerate(find_start_lines(), start=1):
            if record == skip:
                skip = next(skipped, 0)
            else:
                yield line

    if table.num_rows:
        table = table.drop_columns([name for name in header.unnamed if table[name].null_count == table.num_rows])
    detected_conventions = replace(conventions, delimiter=dialect.delimiter)
    return Rows(
        path.name, table, make_line_places(path, find_kept_lines), frozenset(table.column_names), detected_conventions
    )


def _check_header_delimiter(path: Path, start: str, given: Dialect, detected: Dialect) -> None:
    """Raise if the given delimiter does not split the header that the detected delimiter splits."""
    lines = start.splitlines()
    if (
        detected.titles >= given.titles
        or detected.delimiter == given.delimiter
        or given.delimiter in lines[detected.titles]
    ):
        return
    if lines[detected.titles].count(detected.delimiter) > lines[given.titles].count(given.delimiter):
        header = lines[detected.titles] if len(lines[detected.titles]) <= 200 else f"{lines[detected.titles][:200]}…"
        raise SourceError(
            f"{path.name} line {detected.titles + 1:,}: ",
            Setting("delimiter", given.delimiter),
            f" does not part the header {header!r}",
            parameter="delimiter",
            value=given.delimiter,
            hint=advise_delimiter(detected.delimiter),
        )


def _read_header(text: _Text, dialect: Dialect, dropped: Dropped) -> _Header:
    """Return the names of the columns: those of the first row, or numbered names if that row holds values."""
    first_record, last_line, open_quote = "", dialect.titles, False
    for number, line in text.lines(dialect.titles):
        first_record += line
        open_quote = _is_quote_open(line, dialect, open_quote)
        last_line = number
        if len(first_record) > MAX_LINE_BYTES or (not open_quote and first_record.strip("\r\n")):
            break
    first_record = first_record.encode("latin-1").decode("utf-8").strip("\r\n")
    try:
        fields = next(csv.reader([first_record], delimiter=dialect.delimiter, quotechar=dialect.quote))
    except (csv.Error, StopIteration):
        where = f"{text.name} line {dialect.titles + 1:,}"
        raise SourceError(f"{where} is not a header, expected the names of the columns") from None
    width = dialect.width or len(fields)
    if width > MAX_COLUMNS:
        raise SourceError(f"{text.name} has {width:,} columns, expected at most {MAX_COLUMNS:,}")
    given_names = [name.strip() for name in fields[:width]] if dialect.header else []
    given_names += [""] * (width - len(given_names))
    names = [name or f"column {number}" for number, name in enumerate(given_names, start=1)]
    names = number_repeated_names(names, dropped, text.name)
    unnamed = frozenset(name for name, given_name in zip(names, given_names, strict=True) if not given_name)
    return _Header(names, unnamed, last_line) if dialect.header else _Header(names, frozenset(), dialect.titles)


@dataclass(frozen=True, eq=False)
class _Ragged:
    """The numbers of the ragged records, and descriptions of the first few."""

    records: array[int] = field(default_factory=lambda: array("q"))
    descriptions: list[str] = field(default_factory=list)

    def add(self, row: Any, n_lines_above: int) -> None:
        self.records.append((row.number or 0) - n_lines_above)
        if len(self.descriptions) < MAX_EXAMPLES:
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            self.descriptions.append(f"has {fields}, expected {row.expected_columns} as in the header")


def _parse(text: _Text, dialect: Dialect, header: _Header, ragged: _Ragged | None = None) -> pa.Table | None:
    """Return the table below the header; without ``ragged``, return None if a record is ragged.

    With ``ragged`` the file is read on one thread, because only then the reader knows the number of a record.
    """
    is_ragged = False

    def handle_ragged_row(row: Any) -> str:
        nonlocal is_ragged
        if ragged is None:
            is_ragged = True
            return "error"
        ragged.add(row, header.lines)
        return "skip"

    kinds = {name: pa.string() for name in header.names}
    convert = pacsv.ConvertOptions(column_types=kinds, strings_can_be_null=True, null_values=[""])
    parse = pacsv.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char=dialect.quote,
        newlines_in_values=True,
        invalid_row_handler=handle_ragged_row,
    )
    for block_bytes in (BLOCK_BYTES, MAX_LINE_BYTES):
        options = pacsv.ReadOptions(
            use_threads=ragged is None, column_names=header.names, block_size=block_bytes, skip_rows=header.lines
        )
        if ragged is not None:
            del ragged.records[:], ragged.descriptions[:]
        try:
            with open_arrow_stream(text.path, text.meter, text.encoding) as stream:
                return pacsv.read_csv(stream, options, parse, convert)
        except SourceError:
            raise
        except (pa.ArrowException, OSError) as error:
            if is_ragged:
                return None
            if next(_line_numbers(text, header.lines), None) is None:
                return pa.table({name: pa.array([], pa.string()) for name in header.names})
            if not any(message in str(error) for message in ("straddling", "Could not skip")):
                raise SourceError(f"{text.name} cannot be read: {first_line(error)}") from None
    raise SourceError(
        f"{text.name} has a row of more than {MAX_LINE_BYTES:,} bytes, expected less",
        hint=Message("is a quote not closed? fields are quoted by ", Setting("quote", dialect.quote)),
    )


def _report_ragged(
    path: Path, start_lines: Iterator[int], records: int, ragged: _Ragged, dropped: Dropped, used: Setting
) -> None:
    lines: dict[int, int] = {}
    first_records = ragged.records[: len(ragged.descriptions)]
    for record, line in enumerate(start_lines, start=1):
        if record in first_records:
            lines[record] = line
            if len(lines) == len(first_records):
                break
    examples = [
        f"{path.name} line {lines.get(record, record):,}: {description}"
        for record, description in zip(first_records, ragged.descriptions, strict=True)
    ]
    n_ragged = len(ragged.records)
    if 2 * n_ragged >= records:
        raise SourceError(
            examples[0],
            hint=Message(f"and so for {n_ragged:,} of {records:,} lines; ", used, " parts them, give another"),
        )
    dropped.drop(f"ragged lines of {path.name}", n_ragged, examples)


def _line_numbers(text: _Text, n_skipped: int) -> Iterator[int]:
    return (number for number, line in text.lines(n_skipped) if line.strip("\r\n"))


def _find_record_lines(text: _Text, dialect: Dialect, n_skipped: int) -> Iterator[int]:
    """Yield the line on which each record below the header starts; empty lines are not records."""
    open_quote = False
    for number, line in text.lines(n_skipped):
        if not open_quote:
            if not line.strip("\r\n"):
                continue
            yield number
        open_quote = _is_quote_open(line, dialect, open_quote)


def _is_quote_open(line: str, dialect: Dialect, inside: bool) -> bool:
    """Return whether a quoted field continues after the line; a quote only opens at the start of a field.

    >>> dialect = Dialect()
    >>> _is_quote_open('a,"b', dialect, False), _is_quote_open('a,b"', dialect, False)
    (True, False)
    >>> _is_quote_open('c""d",e', dialect, True)
    False
    """
    delimiter, quote = dialect.delimiter, dialect.quote
    if quote not in line:
        return inside
    position = 0
    while True:
        if not inside:
            if line.startswith(quote, position):
                inside, position = True, position + 1
            else:
                position = line.find(delimiter, position) + 1
                if position == 0:
                    return False
                continue
        position = line.find(quote, position) + 1
        if position == 0:
            return True
        if line.startswith(quote, position):
            position += 1
        else:
            inside = False
            position = line.find(delimiter, position) + 1
            if position == 0:
                return False
