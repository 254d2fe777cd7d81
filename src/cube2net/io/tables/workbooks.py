"""Sheets of workbooks; those of .xlsx are read from their XML: texts, numbers, dates by their style, results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.spelling import suggest_name
from cube2net._util.xml import Workbook, open_workbook, parse_part, read_shared_texts
from cube2net._util.zip_files import Gauge, Meter
from cube2net.errors import Message, Setting, SourceError, quote_few
from cube2net.io.dropped import Dropped
from cube2net.io.tables import other_workbooks
from cube2net.io.tables.column_types import Rows, make_columns, make_unused_name, number_repeated_names
from cube2net.io.tables.dialects import DEFAULT_CONVENTIONS, Conventions, find_header
from cube2net.io.text_records import detect_format

MOST_ROWS, MOST_COLUMNS = 2**20, 2**14
LAST_DAY = 2_958_465
DAY_FORMATS = {*range(14, 18), 22, *range(27, 37), *range(50, 59)}
NOT_SHOWN = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\\.|_.")
PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})$")
Cell = str | int | float | bool | date | datetime


class Sheet(NamedTuple):
    """One sheet of a workbook, and further ones with the same columns."""

    path: Path
    name: str
    others: tuple[str, ...] = ()


def sheet_names(path: Path, meter: Meter) -> list[str]:
    """Return the names of the sheets of a workbook that are not hidden."""
    if detect_format(path) == "xls":
        return other_workbooks.list_sheets(path, meter)
    with open_workbook(path, meter) as book:
        return list(book.sheets)


def read_workbook(path: Path, dropped: Dropped, meter: Meter, conventions: Conventions = DEFAULT_CONVENTIONS) -> Rows:
    """Return the rows of one sheet, by default the first; cells keep their types, and an empty one is missing."""
    sheets = sheet_names(path, meter)
    sheet = conventions.sheet or sheets[0]
    if sheet not in sheets:
        likely = suggest_name(sheet, sheets)
        raise SourceError(
            f"{path.name} has no sheet {sheet!r}: it has {quote_few(sheets, 20)}",
            parameter="sheet",
            value=sheet,
            allowed=sheets,
            hint=Message("did you mean ", Setting("sheet", likely), "?") if likely else None,
        )
    if conventions.sheet is None and len(sheets) > 1:
        dropped.say(f"{path.name}: sheet={sheet!r} of {len(sheets)} (guessed)")
    name = path.name if len(sheets) == 1 else f"{path.name} sheet {sheet!r}"
    if detect_format(path) == "xls":
        gauge = meter.gauge(path)
        return _table(name, other_workbooks.read_sheet(path, sheet, gauge), gauge, dropped, conventions)
    with open_workbook(path, meter) as book:
        grid = _Grid(book, read_shared_texts(book), _day_styles(book))
        parse_part(book, book.sheets[sheet], grid.start, grid.end, grid.text)
    filled = [(number, row) for number, row in zip(grid.numbers, grid.rows, strict=True) if row]
    return _table(name, filled, book.gauge, dropped, conventions)


def stack_sheets(name: str, sheets: Mapping[str, Rows]) -> Rows:
    """Return the rows of sheets with the same columns as one table, with a column that has the name of the sheet."""
    parts = list(sheets.values())
    names = parts[0].table.column_names
    called = make_unused_name("sheet", names)
    mixed = {column for column in names if len({part.table[column].type for part in parts}) > 1}
    tables = []
    for sheet, part in sheets.items():
        table = part.table.select(names)
        for column in mixed:
            table = table.set_column(names.index(column), column, pc.cast(table[column], pa.string()))
        tables.append(table.append_column(called, pa.array([sheet] * table.num_rows, pa.string())))
    ends = np.cumsum([part.table.num_rows for part in parts])

    def places(some: Sequence[int]) -> list[str]:
        of = np.searchsorted(ends, some, side="right").tolist()
        return [
            parts[at].places([row - int(ends[at]) + parts[at].table.num_rows])[0]
            for at, row in zip(of, some, strict=True)
        ]

    untyped = frozenset({called, *mixed}).union(*(part.untyped for part in parts))
    return Rows(name, pa.concat_tables(tables), places, untyped, parts[0].conventions)


def _day_styles(book: Workbook) -> set[int]:
    if "xl/styles.xml" not in book.archive.namelist():
        return set()
    formats, styles = set(DAY_FORMATS), set[int]()
    state = {"in": False, "count": 0}

    def start(tag: str, given: dict[str, str]) -> None:
        if tag == "numFmt" and is_day_format(given.get("formatCode", "")):
            formats.add(_whole(given.get("numFmtId")))
        elif tag == "cellXfs":
            state["in"] = True
        elif tag == "xf" and state["in"]:
            if _whole(given.get("numFmtId")) in formats:
                styles.add(int(state["count"]))
            state["count"] += 1

    def end(tag: str) -> None:
        if tag == "cellXfs":
            state["in"] = False

    parse_part(book, "xl/styles.xml", start, end)
    return styles


def is_day_format(code: str) -> bool:
    """Return whether a format shows days or years; times alone, colours and quoted words are none.

    >>> is_day_format("dd/mm/yyyy"), is_day_format("[h]:mm"), is_day_format('0.00" days"'), is_day_format("[Red]0")
    (True, False, False, False)
    """
    shown = NOT_SHOWN.sub("", code.split(";")[0]).casefold()
    return "y" in shown or "d" in shown


def _whole(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else -1


class _Grid:
    """The cells of a sheet, by row and column, as they come out of its XML."""

    def __init__(self, book: Workbook, shared: Sequence[str], days: set[int]) -> None:
        self.book, self.shared, self.days = book, shared, days
        self.rows: list[dict[int, Cell]] = []
        self.numbers: list[int] = []
        self.row = self.column = 0
        self.kind = self.style = ""
        self.pieces: list[str] = []
        self.collects = self.silent = False

    def start(self, tag: str, given: dict[str, str]) -> None:
        if tag == "row":
            said = given.get("r")
            self.row = _whole(said) if said is not None else self.row + 1
            self.column = 0
            if not 1 <= self.row <= MOST_ROWS or (self.numbers and self.row <= self.numbers[-1]):
                raise SourceError(f"{self.book.path.name}: a row is numbered {said!r}, expected them in order")
            self.rows.append({})
            self.numbers.append(self.row)
        elif tag == "c":
            if not self.rows:
                raise SourceError(f"{self.book.path.name}: a cell stands outside of all rows")
            said = given.get("r")
            self.column = column_number(said) if said is not None else self.column + 1
            if not 1 <= self.column <= MOST_COLUMNS:
                raise SourceError(f"{self.book.path.name}: a cell stands at {said!r}, expected a place such as 'B7'")
            self.kind, self.style = given.get("t", "n"), given.get("s", "")
            self.pieces.clear()
        elif tag == "rPh":
            self.silent = True
        else:
            self.collects = tag in ("v", "t")

    def end(self, tag: str) -> None:
        if tag in ("v", "t"):
            self.collects = False
        elif tag == "rPh":
            self.silent = False
        elif tag == "c" and self.pieces:
            value = self._value("".join(self.pieces))
            if value is not None:
                self.rows[-1][self.column] = value

    def text(self, piece: str) -> None:
        if self.collects and not self.silent:
            self.pieces.append(piece)

    def _value(self, text: str) -> Cell | None:
        if self.kind in ("str", "inlineStr"):
            return text.strip() or None
        if self.kind == "s":
            place = _whole(text.strip())
            if not 0 <= place < len(self.shared):
                raise SourceError(f"{self.book.path.name} row {self.row:,}: a cell points to text {text!r}, not there")
            return self.shared[place].strip() or None
        if self.kind == "b":
            return text.strip() in ("1", "true")
        if self.kind == "e":
            return None
        if self.kind == "d":
            return text.strip()
        return self._number(text.strip())

    def _number(self, text: str) -> Cell | None:
        try:
            number: int | float = int(text) if text.lstrip("-").isdecimal() and len(text) < 19 else float(text)
        except ValueError:
            return text or None
        if number != number or number in (float("inf"), float("-inf")):
            return None
        if _whole(self.style) in self.days and 1 <= number <= LAST_DAY:
            return day_of(number, self.book.from_1904)
        return int(number) if number == int(number) and abs(number) < 2**53 else number


def day_of(number: float, from_1904: bool = False) -> date | datetime:
    """Return the day, or the day and time, that a workbook counts; it has a 29th of February in 1900, which was none.

    >>> str(day_of(38773)), str(day_of(38773.5)), str(day_of(1))
    ('2006-02-25', '2006-02-25 12:00:00', '1900-01-01')
    """
    start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30 if number >= 60 else 31)
    seconds = round((number - int(number)) * 86_400)
    when = start + timedelta(days=int(number), seconds=seconds)
    return when if seconds else when.date()


def column_number(place: str) -> int:
    """Return the number of the column that a cell stands in, 0 where that is no place.

    >>> column_number("A1"), column_number("AB7"), column_number("1A")
    (1, 28, 0)
    """
    found = PLACE.match(place)
    return column_of_letters(found[1]) if found else 0


@cache
def column_of_letters(letters: str) -> int:
    """Return the number of the column that one to three letters name; at most 18,278 are kept.

    >>> column_of_letters("A"), column_of_letters("ZZZ")
    (1, 18278)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _table(
    name: str, filled: list[other_workbooks.Row], gauge: Gauge, dropped: Dropped, conventions: Conventions
) -> Rows:
    if not filled:
        raise SourceError(f"{name} is empty, expected a header and rows")
    width = max(max(row) for _, row in filled)
    gauge.check(8 * width * len(filled))
    if width > 10_000:
        raise SourceError(f"{name} has {width:,} columns, expected at most 10,000")
    start, header = find_header([[_shown(row.get(at)) for at in range(1, width + 1)] for _, row in filled[:400]])
    header = conventions.header if conventions.header is not None else header
    found = [f"header on row {filled[start][0]}"] * (header and filled[start][0] > 1) + ["header=False"] * (not header)
    if found and conventions.header is None:
        dropped.say(f"{name}: {', '.join(found)} (guessed)")
    first = filled[start][1] if header else {}
    body = filled[start + 1 if header else start :]
    used = sorted(set(first) | {at for _, row in body for at in row})
    labels = number_repeated_names([_shown(first.get(at)).strip() or f"column {at}" for at in used], dropped, name)
    names = dict(zip(used, labels, strict=True))
    values = {label: _alike([row.get(at) for _, row in body]) for at, label in names.items()}
    arrays, _, _ = make_columns(values)
    numbers = [number for number, _ in body]
    untyped = frozenset(label for label, array in arrays.items() if pa.types.is_string(array.type))
    known = Conventions(decimal=conventions.decimal, dates=conventions.dates)
    return Rows(name, pa.table(arrays), lambda some: [f"{name} row {numbers[row]:,}" for row in some], untyped, known)


def _alike(values: list[Cell | None]) -> list[Cell | None]:
    """Return the values of a column, days as times where some have one."""
    if any(isinstance(value, datetime) for value in values):
        return [datetime(value.year, value.month, value.day) if type(value) is date else value for value in values]
    return values


def _shown(value: Any) -> str:
    return "" if value is None else str(value)
