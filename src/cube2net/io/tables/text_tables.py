"""Tables of delimited text (CSV, TSV and their kin), every value as text; ragged lines are left out and counted."""

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
from cube2net.io.tables.column_types import Rows, number_repeated
from cube2net.io.tables.dialects import SAMPLE, UNSAID, USUAL, Conventions, Dialect, find_dialect
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

MOST_COLUMNS = 10_000
BYTE_ORDER_MARK = codecs.BOM_UTF8.decode("latin-1")


@dataclass(frozen=True)
class _Text:
    """A file of text: where it is, how much of it may be unpacked, and its encoding."""

    path: Path
    meter: Meter
    encoding: str

    @property
    def name(self) -> str:
        return self.path.name

    def lines(self, above: int = 0) -> Iterator[tuple[int, str]]:
        """Return its lines and their numbers but for those above, one character a byte of UTF-8, without a mark."""
        for number, line in enumerate(read_physical_lines(self.path, self.meter, self.encoding), start=1):
            if number > above:
                yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line

    def start(self, most: int) -> tuple[str, bool]:
        """Return its first characters, and whether these are all."""
        with open_bytes(self.path, self.meter, self.encoding) as file:
            start = file.read(most)
            whole = not file.read(1)
        return start.decode(UTF_8, "ignore").removeprefix("\ufeff"), whole


@dataclass(frozen=True)
class _Header:
    """The names of the columns, those among them that the file does not give, and how many lines end with them."""

    names: list[str]
    unnamed: frozenset[str]
    lines: int


def read_delimited(path: Path, form: str, dropped: Dropped, meter: Meter, conventions: Conventions = UNSAID) -> Rows:
    """Return the rows of a file of delimited text, all columns as text; an empty value is missing.

    How it is written is found where that is not said, and what is not as usual in a file of this form is told.
    """
    text = _Text(path, meter, check_text(path, meter, conventions.encoding))
    start, whole = text.start(SAMPLE)
    dialect = find_dialect(start, form, conventions, whole=whole)
    if conventions.delimiter is not None and dialect.titles:
        _check_header(
            path, start, dialect, find_dialect(start, form, replace(conventions, delimiter=None), whole=whole)
        )
    marked = conventions.encoding is None and text.encoding != UTF_8
    found = [f"encoding={text.encoding!r}"] * marked + dialect.said(USUAL[form], conventions)
    if found:
        dropped.say(f"{path.name}: {', '.join(found)} (guessed)")
    header = _header(text, dialect, dropped)
    ragged = _Ragged()
    table = _parse(text, dialect, header) or _parse(text, dialect, header, ragged)
    if table is None:
        raise SourceError(f"{path.name} cannot be read")
    records = table.num_rows + len(ragged.records)

    @cache
    def one_line_each() -> bool:
        return sum(1 for _ in _line_numbers(text, header.lines)) == int(records)

    def starts() -> Iterator[int]:
        """Return the line on which each record starts; where there are no more lines than records, each line does."""
        return _line_numbers(text, header.lines) if one_line_each() else _starts(text, dialect, header.lines)

    if ragged.records:
        _report(path, starts(), records, ragged, dropped, Setting("delimiter", dialect.delimiter))

    def good() -> Iterator[int]:
        skipped = iter(ragged.records)
        skip = next(skipped, 0)
        for record, line in enumerate(starts(), start=1):
            if record == skip:
                skip = next(skipped, 0)
            else:
                yield line

    if table.num_rows:
        table = table.drop_columns([name for name in header.unnamed if table[name].null_count == table.num_rows])
    known = replace(conventions, delimiter=dialect.delimiter)
    return Rows(path.name, table, make_line_places(path, good), frozenset(table.column_names), known)


def _check_header(path: Path, start: str, said: Dialect, found: Dialect) -> None:
    """Raise where the delimiter that is said leaves a header whole and parts the rows below it in fewer fields."""
    lines = start.splitlines()
    if found.titles >= said.titles or found.delimiter == said.delimiter or said.delimiter in lines[found.titles]:
        return
    if lines[found.titles].count(found.delimiter) > lines[said.titles].count(said.delimiter):
        header = lines[found.titles] if len(lines[found.titles]) <= 200 else f"{lines[found.titles][:200]}…"
        raise SourceError(
            f"{path.name} line {found.titles + 1:,}: ",
            Setting("delimiter", said.delimiter),
            f" does not part the header {header!r}",
            parameter="delimiter",
            value=said.delimiter,
            hint=advise_delimiter(found.delimiter),
        )


def _header(text: _Text, dialect: Dialect, dropped: Dropped) -> _Header:
    """Return the names of the columns: those of the first row, or numbers where that holds values."""
    first, ends, open_quote = "", dialect.titles, False
    for number, line in text.lines(dialect.titles):
        first += line
        open_quote = _still_open(line, dialect, open_quote)
        ends = number
        if len(first) > MAX_LINE_BYTES or (not open_quote and first.strip("\r\n")):
            break
    first = first.encode("latin-1").decode("utf-8").strip("\r\n")
    try:
        fields = next(csv.reader([first], delimiter=dialect.delimiter, quotechar=dialect.quote))
    except (csv.Error, StopIteration):
        place = f"{text.name} line {dialect.titles + 1:,}"
        raise SourceError(f"{place} is not a header, expected the names of the columns") from None
    width = dialect.width or len(fields)
    if width > MOST_COLUMNS:
        raise SourceError(f"{text.name} has {width:,} columns, expected at most {MOST_COLUMNS:,}")
    given = [name.strip() for name in fields[:width]] if dialect.header else []
    given += [""] * (width - len(given))
    names = [name or f"column {number}" for number, name in enumerate(given, start=1)]
    names = number_repeated(names, dropped, text.name)
    unnamed = frozenset(name for name, said in zip(names, given, strict=True) if not said)
    return _Header(names, unnamed, ends) if dialect.header else _Header(names, frozenset(), dialect.titles)


@dataclass(frozen=True, eq=False)
class _Ragged:
    """The numbers of the ragged records, and what is wrong with the first few."""

    records: array[int] = field(default_factory=lambda: array("q"))
    wrong: list[str] = field(default_factory=list)

    def add(self, row: Any, above: int) -> None:
        self.records.append((row.number or 0) - above)
        if len(self.wrong) < MAX_EXAMPLES:
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            self.wrong.append(f"has {fields}, expected {row.expected_columns} as in the header")


def _parse(text: _Text, dialect: Dialect, header: _Header, ragged: _Ragged | None = None) -> pa.Table | None:
    """Return the table below the header; without ``ragged``, None where a record is ragged.

    The reader only knows the number of a record when it reads on one thread.
    """
    stopped = False

    def note(row: Any) -> str:
        nonlocal stopped
        if ragged is None:
            stopped = True
            return "error"
        ragged.add(row, header.lines)
        return "skip"

    kinds = {name: pa.string() for name in header.names}
    convert = pacsv.ConvertOptions(column_types=kinds, strings_can_be_null=True, null_values=[""])
    parse = pacsv.ParseOptions(
        delimiter=dialect.delimiter, quote_char=dialect.quote, newlines_in_values=True, invalid_row_handler=note
    )
    for block in (BLOCK_BYTES, MAX_LINE_BYTES):
        options = pacsv.ReadOptions(
            use_threads=ragged is None, column_names=header.names, block_size=block, skip_rows=header.lines
        )
        if ragged is not None:
            del ragged.records[:], ragged.wrong[:]
        try:
            with open_arrow_stream(text.path, text.meter, text.encoding) as stream:
                return pacsv.read_csv(stream, options, parse, convert)
        except SourceError:
            raise
        except (pa.ArrowException, OSError) as error:
            if stopped:
                return None
            if next(_line_numbers(text, header.lines), None) is None:
                return pa.table({name: pa.array([], pa.string()) for name in header.names})
            if not any(known in str(error) for known in ("straddling", "Could not skip")):
                raise SourceError(f"{text.name} cannot be read: {first_line(error)}") from None
    raise SourceError(
        f"{text.name} has a row of more than {MAX_LINE_BYTES:,} bytes, expected less",
        hint=Message("is a quote not closed? fields are quoted by ", Setting("quote", dialect.quote)),
    )


def _report(path: Path, starts: Iterator[int], records: int, ragged: _Ragged, dropped: Dropped, used: Setting) -> None:
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
    if 2 * many >= records:
        raise SourceError(
            shown[0],
            hint=Message(f"and so for {many:,} of {records:,} lines; ", used, " parts them, give another"),
        )
    dropped.drop(f"ragged lines of {path.name}", many, shown)


def _line_numbers(text: _Text, above: int) -> Iterator[int]:
    return (number for number, line in text.lines(above) if line.strip("\r\n"))


def _starts(text: _Text, dialect: Dialect, above: int) -> Iterator[int]:
    """Return the line on which each record below the header starts; empty lines are no records."""
    open_quote = False
    for number, line in text.lines(above):
        if not open_quote:
            if not line.strip("\r\n"):
                continue
            yield number
        open_quote = _still_open(line, dialect, open_quote)


def _still_open(line: str, dialect: Dialect, inside: bool) -> bool:
    """Return whether a quoted field goes on after the line; a quote only opens where a field starts.

    >>> usual = Dialect()
    >>> _still_open('a,"b', usual, False), _still_open('a,b"', usual, False), _still_open('c""d",e', usual, True)
    (True, False, False)
    """
    delimiter, quote = dialect.delimiter, dialect.quote
    if quote not in line:
        return inside
    at = 0
    while True:
        if not inside:
            if line.startswith(quote, at):
                inside, at = True, at + 1
            else:
                at = line.find(delimiter, at) + 1
                if at == 0:
                    return False
                continue
        at = line.find(quote, at) + 1
        if at == 0:
            return True
        if line.startswith(quote, at):
            at += 1
        else:
            inside = False
            at = line.find(delimiter, at) + 1
            if at == 0:
                return False
