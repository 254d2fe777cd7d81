"""Detect the delimiter, the quote character and the header row of a delimited text table.

The reading that makes the table most consistent wins: rows with the same number of fields, columns of one type.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from cube2net.errors import ParameterError

SAMPLE_CHARACTERS = 2**16
"""Characters at the start of a table from which its dialect is detected."""
MAX_SAMPLED_RECORDS = 400
MAX_TITLE_ROWS = 20
DEFAULT_DELIMITERS = {"csv": ",", "tsv": "\t", "txt": "\t"}
COMMON_DELIMITERS = (",", ";", "\t", "|")
RARE_DELIMITERS = ("^", "~", ":", " ")
QUOTE_CHARACTERS = ('"', "'")
MIN_ROW_SHARE = 0.8
"""Share of rows that must have the same number of fields."""
MIN_TYPED_SHARE = 0.9
"""Share of filled cells that must be numbers or dates in a typed column."""
MIN_COLUMN_RATIO = 2
"""A delimiter that gives at least this many times as many columns as the narrowest reading is not a decimal comma."""
SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=(.)\"?[\r\n]*$", re.IGNORECASE)
NUMBER_PATTERN = re.compile(
    r"\s*[-+]?[€$£¥]?\s*(\d+|\d{1,3}([.,'’\s\xa0\u202f]\d{3})+)?([.,]\d+)?([eE][-+]?\d+)?\s*[%€$£¥]?\s*"
)
DATE_PATTERN = re.compile(r"\s*(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2})([ T].*)?")
ENCODINGS = ("utf-8", "utf-16", "windows-1252", "latin-1")
DATE_ORDERS = ("dmy", "mdy", "ymd")


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How tables are written, as set by the user; what is None is detected.

    ``decimal`` is the decimal separator and ``dates`` the order of day, month and year (``"dmy"``).
    ``header`` tells whether the first row holds column names, ``sheet`` which sheet of a workbook is read.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
            raise ParameterError(f"delimiter is {delimiter!r}, expected one character such as ';'")
        if self.quote is not None and (self.quote not in QUOTE_CHARACTERS or self.quote == delimiter):
            raise ParameterError(f"quote is {self.quote!r}, expected \" or '")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except (LookupError, UnicodeError, ValueError):
                raise ParameterError(
                    f"encoding is {self.encoding!r}, expected one such as {', '.join(ENCODINGS)}"
                ) from None
        if self.decimal not in (None, ",", "."):
            raise ParameterError(f"decimal is {self.decimal!r}, expected ',' or '.'")
        if self.dates not in (None, *DATE_ORDERS):
            raise ParameterError(f"dates is {self.dates!r}, expected one of {', '.join(DATE_ORDERS)}")


DEFAULT_CONVENTIONS = Conventions()


@dataclass(frozen=True)
class Dialect:
    """How one table is written.

    ``titles`` is the number of lines to skip above the first row, which holds column names if ``header`` and values
    otherwise. ``width`` is the number of fields of the rows, if the header has more or fewer.
    """

    delimiter: str = ","
    quote: str = '"'
    titles: int = 0
    header: bool = True
    width: int | None = None

    def describe_detected(self, default_delimiter: str, conventions: Conventions) -> list[str]:
        """Return the detected settings that differ from the defaults, written as options."""
        options = []
        if self.delimiter != default_delimiter and conventions.delimiter is None:
            options.append(f"delimiter={self.delimiter!r}")
        if self.quote != '"' and conventions.quote is None:
            options.append(f"quote={self.quote!r}")
        if not self.header and conventions.header is None:
            options.append("header=False")
        if self.titles and self.header:
            options.append(f"header on line {self.titles + 1}")
        return options


@dataclass(frozen=True)
class _Reading:
    """A sample read in one dialect, and how well the dialect fits.

    ``row_share`` is the share of rows as wide as the table. Typed columns hold numbers or dates; the values of spaced
    columns all start with a space.
    """

    dialect: Dialect
    columns: int
    row_share: float
    n_typed_columns: int
    n_spaced_columns: int

    @property
    def fits(self) -> bool:
        return self.columns > 1 and self.row_share >= MIN_ROW_SHARE


def find_dialect(
    sample: str, form: str, conventions: Conventions = DEFAULT_CONVENTIONS, *, is_complete: bool = True
) -> Dialect:
    """Return the dialect of a table from a sample; the default delimiter is preferred where several fit equally well.

    ``is_complete`` tells whether the sample is the whole table; otherwise its last record may be cut off.

    >>> find_dialect("Kunden 2024\\n\\nNr.;Umsatz\\n1;3,14\\n2;2,5\\n", "csv")
    Dialect(delimiter=';', quote='"', titles=2, header=True, width=None)
    """
    default_delimiter = conventions.delimiter or DEFAULT_DELIMITERS[form]
    first_line = sample[: sample.find("\n") + 1] or sample
    separator_line = SEPARATOR_LINE.match(first_line.rstrip("\n"))
    if separator_line and conventions.delimiter is None:
        default_delimiter, delimiters = separator_line[1], [separator_line[1]]
    elif conventions.delimiter is not None:
        delimiters = [default_delimiter]
    else:
        delimiters = [
            default_delimiter,
            *(delimiter for delimiter in COMMON_DELIMITERS if delimiter != default_delimiter and delimiter in sample),
        ]
    default_quote = conventions.quote or '"'
    quotes = [default_quote] if conventions.quote or not _has_single_quotes(sample) else [default_quote, "'"]
    table_text = sample.removeprefix(first_line) if separator_line else sample
    readings = [
        _read_sample(table_text, delimiter, quote, form, conventions, is_complete)
        for delimiter in delimiters
        for quote in quotes
    ]
    best = _choose_reading(readings)
    if not best.fits and conventions.delimiter is None and not separator_line:
        rare_delimiters = [
            delimiter
            for delimiter in RARE_DELIMITERS
            if delimiter in table_text and (delimiter != " " or form == "txt")
        ]
        rare_readings = [
            _read_sample(table_text, delimiter, default_quote, form, conventions, is_complete)
            for delimiter in rare_delimiters
        ]
        rare_readings = [
            reading
            for reading in rare_readings
            if reading.fits and reading.row_share == 1 and (form == "txt" or reading.n_typed_columns)
        ]
        best = (
            max(rare_readings, key=lambda reading: (reading.n_typed_columns, reading.columns))
            if rare_readings
            else best
        )
    dialect = best.dialect
    if separator_line:
        dialect = Dialect(dialect.delimiter, dialect.quote, dialect.titles + 1, dialect.header, dialect.width)
    return dialect


def _choose_reading(readings: Sequence[_Reading]) -> _Reading:
    """Return the reading that fits best; on ties the first, which is the default one.

    If some reading splits all lines into equally many fields, readings that skip title lines are disfavoured.
    """
    default = readings[0]
    fitting = [reading for reading in readings if reading.fits]
    if not fitting:
        return (
            max(readings, key=lambda reading: (reading.columns > 1) * reading.row_share)
            if default.columns < 2
            else default
        )
    min_columns = min(reading.columns for reading in fitting)
    has_untitled_reading = any(reading.row_share == 1 and not reading.dialect.titles for reading in fitting)
    return max(
        fitting,
        key=lambda reading: (
            round(reading.row_share, 2) >= 0.98,
            not (has_untitled_reading and reading.dialect.titles),
            reading.n_typed_columns,
            not reading.dialect.titles,
            reading.columns >= MIN_COLUMN_RATIO * min_columns,
            -reading.n_spaced_columns,
        ),
    )


def _has_single_quotes(sample: str) -> bool:
    """Return whether single quotes open and close equally many fields, and double quotes open none."""
    n_opening = len(re.findall(r"(?:^|[,;\t|])\s*'", sample, re.MULTILINE))
    n_closing = len(re.findall(r"'\s*(?:[,;\t|]|\r?$)", sample, re.MULTILINE))
    return n_opening == n_closing > 1 and not re.search(r"(?:^|[,;\t|])\"", sample, re.MULTILINE)


def sample_records(text: str, delimiter: str, quote: str, *, is_complete: bool = True) -> list[tuple[int, list[str]]]:
    """Return the first records of a text, each with the number of lines above it.

    The last record is left out if the text is not complete, because it may be cut off.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)
    records, lines_above = [], 0
    try:
        for record in islice(reader, MAX_SAMPLED_RECORDS + MAX_TITLE_ROWS):
            if record:
                records.append((lines_above, record))
            lines_above = reader.line_num
        if not is_complete and records and len(records) > 1:
            records.pop()
    except csv.Error:
        pass
    return records


def _read_sample(
    sample: str, delimiter: str, quote: str, form: str, conventions: Conventions, is_complete: bool
) -> _Reading:
    records = sample_records(sample.removeprefix("\ufeff"), delimiter, quote, is_complete=is_complete)
    if not records:
        return _Reading(Dialect(delimiter, quote), 0, 0.0, 0, 0)
    rows = [row for _, row in records]
    widths = Counter(map(len, rows))
    usual_width = widths.most_common(1)[0][0]
    start = 0 if conventions.header is False else _find_first_row(rows, usual_width, widths[usual_width], form)
    width = len(rows[start])
    below = rows[start + 1 :]
    padded_width = _find_padded_width(rows[start], below, usual_width)
    header = conventions.header if conventions.header is not None else not _all_numbers(rows[start:])
    columns = padded_width or width
    regular_rows = [row for row in below if len(row) == columns]
    row_share = len(regular_rows) / len(below) if below else 1.0
    n_typed_columns = (
        sum(_is_typed([row[column] for row in regular_rows]) for column in range(min(columns, 100)))
        if regular_rows
        else 0
    )
    n_spaced_columns = (
        sum(all(row[column][:1] == " " for row in regular_rows) for column in range(1, min(columns, 100)))
        if regular_rows
        else 0
    )
    dialect = Dialect(delimiter, quote, records[start][0] if start else 0, header, padded_width)
    return _Reading(dialect, columns, row_share, n_typed_columns, n_spaced_columns)


def _find_first_row(rows: Sequence[Sequence[str]], usual_width: int, n_usual_rows: int, form: str) -> int:
    """Return the index of the first row of the table, after titles, comments and empty rows.

    A title is a row with fewer fields than nearly all others, or one in which only the first fields are filled while
    a header follows. Columns on the left that are empty in all rows are ignored.
    """
    start = 0
    first_column = min((column for row in rows for column, cell in enumerate(row) if cell.strip()), default=0)
    is_regular = usual_width > 1 and n_usual_rows >= max(
        2, MIN_ROW_SHARE * (len(rows) - MAX_TITLE_ROWS // 4), 0.5 * len(rows)
    )
    while start < min(len(rows) - 1, MAX_TITLE_ROWS):
        row = rows[start]
        filled = [column for column, cell in enumerate(row) if cell.strip()]
        is_comment = form == "txt" and row[0].lstrip()[:1] in ("#", "%")
        is_narrow = (
            is_regular and len(row) < usual_width and not _find_padded_width(row, rows[start + 1 :], usual_width)
        )
        max_title_cells = 1 if usual_width < 5 else 2
        is_title_like = (
            is_regular
            and usual_width > 2
            and filled == list(range(first_column, first_column + len(filled)))
            and len(filled) <= max_title_cells
        )
        is_above_header = is_title_like and _is_header(rows[start + 1 :], usual_width, max_title_cells)
        if not (is_comment or is_narrow or is_above_header or (not filled and len(row) > 1 and is_regular)):
            break
        start += 1
    return start


def find_header(rows: Sequence[Sequence[str]]) -> tuple[int, bool]:
    """Return the index of the first row of the table in a sheet, and whether that row is a header.

    All rows of a sheet are padded to the same width.

    >>> find_header([["Customers 2024", "", ""], ["", "", ""], ["id", "city", "year"], ["a", "Rome", "1999"]])
    (2, True)
    """
    filled_counts = Counter(sum(bool(cell.strip()) for cell in row) for row in rows)
    usual_filled = max(filled_counts, key=lambda filled: (filled_counts[filled], filled))
    start = 0
    while start < min(len(rows) - 1, MAX_TITLE_ROWS):
        row = [cell.strip() for cell in rows[start]]
        if sum(map(bool, row)) > max(1, usual_filled // 2) or usual_filled < 2 or (usual_filled == 2 and not row[0]):
            break
        start += 1
    start = 0 if start == min(len(rows) - 1, MAX_TITLE_ROWS) else start
    width = max((column + 1 for row in rows[start:] for column, cell in enumerate(row) if cell.strip()), default=0)
    return start, not _all_numbers([row[:width] for row in rows[start:]])


def _is_header(rows: Sequence[Sequence[str]], usual_width: int, max_title_cells: int) -> bool:
    """Return whether the first row with more filled cells than a title is a header of the whole table."""
    for row in rows[:MAX_TITLE_ROWS]:
        cells = [cell.strip() for cell in row if cell.strip()]
        if len(cells) > max_title_cells:
            return len(row) == usual_width and len(cells) > max(2, usual_width // 2) and not any(map(_is_number, cells))
    return False


def _find_padded_width(header: Sequence[str], rows: Sequence[Sequence[str]], usual_width: int) -> int | None:
    """Return the width of the rows if header and rows differ only by empty fields at the end, else None."""
    width = len(header)
    if not rows or usual_width < 2 or width == usual_width or width < 2:
        return None
    if width > usual_width:
        return None if any(cell.strip() for cell in header[usual_width:]) else usual_width
    return None if any(cell.strip() for row in rows for cell in row[width:]) else usual_width


def _all_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row holds only numbers, like the rows below it, and so is not a header."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    return all(_is_number(cell) for row in rows[:MAX_TITLE_ROWS] for cell in row) and not _is_scale(rows[0])


def _is_scale(row: Sequence[str]) -> bool:
    """Return whether the numbers of a row increase by one, such as years that head columns."""
    steps = {float(b.replace(",", ".")) - float(a.replace(",", ".")) for a, b in pairwise(row)}
    return len(row) > 2 and steps == {1.0}


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"\s*[-+]?\d+([.,]\d+)?\s*", cell) is not None


def _is_typed(values: Sequence[str]) -> bool:
    filled = [value for value in values if value.strip()]
    n_typed = sum(bool(NUMBER_PATTERN.fullmatch(value) or DATE_PATTERN.fullmatch(value)) for value in filled)
    return bool(filled) and n_typed >= MIN_TYPED_SHARE * len(filled)
