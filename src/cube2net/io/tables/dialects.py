"""How a table of text is written: what parts its fields, what quotes them, and where its header stands.

All of it is found by what makes the table consistent: rows of the same number of fields, columns of the same kind.
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

SAMPLE = 2**16
"""So many characters of a table are looked at."""
MOST_RECORDS = 400
MOST_TITLES = 20
USUAL = {"csv": ",", "tsv": "\t", "txt": "\t"}
MARKS = (",", ";", "\t", "|")
RARE = ("^", "~", ":", " ")
QUOTES = ('"', "'")
VIABLE = 0.8
MOSTLY = 0.9
TWICE = 2
"""What parts rows into so many times as many columns is no decimal comma."""
SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=(.)\"?[\r\n]*$", re.IGNORECASE)
LIKE_A_NUMBER = re.compile(
    r"\s*[-+]?[€$£¥]?\s*(\d+|\d{1,3}([.,'’\s\xa0\u202f]\d{3})+)?([.,]\d+)?([eE][-+]?\d+)?\s*[%€$£¥]?\s*"
)
LIKE_A_DATE = re.compile(r"\s*(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2})([ T].*)?")
ENCODINGS = ("utf-8", "utf-16", "windows-1252", "latin-1")
ORDERS = ("dmy", "mdy", "ymd")


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How tables are written, as far as that is said; what is None is found by what makes a table consistent.

    ``decimal`` is the mark before the fractions of numbers and ``dates`` the order of day, month and year (``"dmy"``).
    ``header`` says whether the first row names the columns, ``sheet`` which sheet of a workbook is read.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        mark = self.delimiter
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\r\n'):
            raise ParameterError(f"delimiter is {mark!r}, expected one character such as ';'")
        if self.quote is not None and (self.quote not in QUOTES or self.quote == mark):
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
        if self.dates not in (None, *ORDERS):
            raise ParameterError(f"dates is {self.dates!r}, expected one of {', '.join(ORDERS)}")


UNSAID = Conventions()


@dataclass(frozen=True)
class Dialect:
    """How one table is written.

    ``titles`` lines stand above its first row, which is a header of names or, without ``header``, a row of values.
    ``width`` is the number of fields of its rows where the header has more or fewer.
    """

    delimiter: str = ","
    quote: str = '"'
    titles: int = 0
    header: bool = True
    width: int | None = None

    def said(self, usual: str, given: Conventions) -> list[str]:
        """Return what was found and is not as usual, as options that would say it."""
        found = []
        if self.delimiter != usual and given.delimiter is None:
            found.append(f"delimiter={self.delimiter!r}")
        if self.quote != '"' and given.quote is None:
            found.append(f"quote={self.quote!r}")
        if not self.header and given.header is None:
            found.append("header=False")
        if self.titles and self.header:
            found.append(f"header on line {self.titles + 1}")
        return found


@dataclass(frozen=True)
class _Reading:
    """A sample as one dialect reads it, and how well that fits."""

    dialect: Dialect
    columns: int
    share: float
    typed: int
    spaced: int

    @property
    def fits(self) -> bool:
        return self.columns > 1 and self.share >= VIABLE


def find_dialect(sample: str, form: str, given: Conventions = UNSAID, *, whole: bool = True) -> Dialect:
    """Return how a table is written, of which a sample is given; a mark that was usual is kept where it fits as well.

    >>> find_dialect("Kunden 2024\\n\\nNr.;Umsatz\\n1;3,14\\n2;2,5\\n", "csv")
    Dialect(delimiter=';', quote='"', titles=2, header=True, width=None)
    """
    usual = given.delimiter or USUAL[form]
    first = sample[: sample.find("\n") + 1] or sample
    named = SEPARATOR_LINE.match(first.rstrip("\n"))
    if named and given.delimiter is None:
        usual, marks = named[1], [named[1]]
    elif given.delimiter is not None:
        marks = [usual]
    else:
        marks = [usual, *(mark for mark in MARKS if mark != usual and mark in sample)]
    plain = given.quote or '"'
    quotes = [plain] if given.quote or not _has_single_quotes(sample) else [plain, "'"]
    below = sample.removeprefix(first) if named else sample
    readings = [_read(below, mark, quote, form, given, whole) for mark in marks for quote in quotes]
    best = _best(readings)
    if not best.fits and given.delimiter is None and not named:
        rare = [mark for mark in RARE if mark in below and (mark != " " or form == "txt")]
        others = [_read(below, mark, plain, form, given, whole) for mark in rare]
        others = [other for other in others if other.fits and other.share == 1 and (form == "txt" or other.typed)]
        best = max(others, key=lambda other: (other.typed, other.columns)) if others else best
    found = best.dialect
    if named:
        found = Dialect(found.delimiter, found.quote, found.titles + 1, found.header, found.width)
    return found


def _best(readings: Sequence[_Reading]) -> _Reading:
    """Return the reading that fits best; the first of those that fit alike, which is the usual one.

    Where one parts all lines alike, the first is no title.
    """
    usual = readings[0]
    fitting = [reading for reading in readings if reading.fits]
    if not fitting:
        return max(readings, key=lambda reading: (reading.columns > 1) * reading.share) if usual.columns < 2 else usual
    fewest = min(reading.columns for reading in fitting)
    whole = any(reading.share == 1 and not reading.dialect.titles for reading in fitting)
    return max(
        fitting,
        key=lambda way: (
            round(way.share, 2) >= 0.98,
            not (whole and way.dialect.titles),
            way.typed,
            not way.dialect.titles,
            way.columns >= TWICE * fewest,
            -way.spaced,
        ),
    )


def _has_single_quotes(sample: str) -> bool:
    """Return whether single quotes open and close fields, as often the one as the other, and double ones none."""
    opened = len(re.findall(r"(?:^|[,;\t|])\s*'", sample, re.MULTILINE))
    closed = len(re.findall(r"'\s*(?:[,;\t|]|\r?$)", sample, re.MULTILINE))
    return opened == closed > 1 and not re.search(r"(?:^|[,;\t|])\"", sample, re.MULTILINE)


def sampled(text: str, delimiter: str, quote: str, *, whole: bool = True) -> list[tuple[int, list[str]]]:
    """Return the first records of a text and the number of lines above each; what may be cut off is left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)
    records, above = [], 0
    try:
        for record in islice(reader, MOST_RECORDS + MOST_TITLES):
            if record:
                records.append((above, record))
            above = reader.line_num
        if not whole and records and len(records) > 1:
            records.pop()
    except csv.Error:
        pass
    return records


def _read(sample: str, delimiter: str, quote: str, form: str, given: Conventions, whole: bool) -> _Reading:
    records = sampled(sample.removeprefix("\ufeff"), delimiter, quote, whole=whole)
    if not records:
        return _Reading(Dialect(delimiter, quote), 0, 0.0, 0, 0)
    rows = [row for _, row in records]
    widths = Counter(map(len, rows))
    usual = widths.most_common(1)[0][0]
    start = 0 if given.header is False else _start(rows, usual, widths[usual], form)
    width = len(rows[start])
    below = rows[start + 1 :]
    padded = _padded(rows[start], below, usual)
    header = given.header if given.header is not None else not _all_numbers(rows[start:])
    columns = padded or width
    good = [row for row in below if len(row) == columns]
    share = len(good) / len(below) if below else 1.0
    typed = sum(_is_typed([row[place] for row in good]) for place in range(min(columns, 100))) if good else 0
    spaced = sum(all(row[place][:1] == " " for row in good) for place in range(1, min(columns, 100))) if good else 0
    dialect = Dialect(delimiter, quote, records[start][0] if start else 0, header, padded)
    return _Reading(dialect, columns, share, typed, spaced)


def _start(rows: Sequence[Sequence[str]], usual: int, times: int, form: str) -> int:
    """Return where the table starts: after titles, remarks and rows without a value.

    A title is a row of fewer fields than nearly all rows have, or one whose first fields alone are filled where the
    next rows are full. Columns on the left that are empty in all rows do not count.
    """
    start = 0
    left = min((place for row in rows for place, cell in enumerate(row) if cell.strip()), default=0)
    steady = usual > 1 and times >= max(2, VIABLE * (len(rows) - MOST_TITLES // 4), 0.5 * len(rows))
    while start < min(len(rows) - 1, MOST_TITLES):
        row = rows[start]
        filled = [place for place, cell in enumerate(row) if cell.strip()]
        remark = form == "txt" and row[0].lstrip()[:1] in ("#", "%")
        narrow = steady and len(row) < usual and not _padded(row, rows[start + 1 :], usual)
        most = 1 if usual < 5 else 2
        lonely = steady and usual > 2 and filled == list(range(left, left + len(filled))) and len(filled) <= most
        full = lonely and _is_header(rows[start + 1 :], usual, most)
        if not (remark or narrow or full or (not filled and len(row) > 1 and steady)):
            break
        start += 1
    return start


def find_header(rows: Sequence[Sequence[str]]) -> tuple[int, bool]:
    """Return the row that starts the table of a sheet, all of whose rows are as wide, and whether it is a header.

    >>> find_header([["Customers 2024", "", ""], ["", "", ""], ["id", "city", "year"], ["a", "Rome", "1999"]])
    (2, True)
    """
    full = Counter(sum(bool(cell.strip()) for cell in row) for row in rows)
    usual = max(full, key=lambda filled: (full[filled], filled))
    start = 0
    while start < min(len(rows) - 1, MOST_TITLES):
        row = [cell.strip() for cell in rows[start]]
        if sum(map(bool, row)) > max(1, usual // 2) or usual < 2 or (usual == 2 and not row[0]):
            break
        start += 1
    start = 0 if start == min(len(rows) - 1, MOST_TITLES) else start
    width = max((at + 1 for row in rows[start:] for at, cell in enumerate(row) if cell.strip()), default=0)
    return start, not _all_numbers([row[:width] for row in rows[start:]])


def _is_header(rows: Sequence[Sequence[str]], usual: int, most: int) -> bool:
    """Return whether the next row that has more than a title's fields names all columns."""
    for row in rows[:MOST_TITLES]:
        filled = [cell.strip() for cell in row if cell.strip()]
        if len(filled) > most:
            return len(row) == usual and len(filled) > max(2, usual // 2) and not any(map(_is_number, filled))
    return False


def _padded(header: Sequence[str], rows: Sequence[Sequence[str]], usual: int) -> int | None:
    """Return the width of the rows where they differ from the header in nothing but empty fields at the end."""
    width = len(header)
    if not rows or usual < 2 or width == usual or width < 2:
        return None
    if width > usual:
        return None if any(cell.strip() for cell in header[usual:]) else usual
    return None if any(cell.strip() for row in rows for cell in row[width:]) else usual


def _all_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row holds nothing but numbers, as those below it do, so that it names nothing."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    return all(_is_number(cell) for row in rows[:MOST_TITLES] for cell in row) and not _is_a_scale(rows[0])


def _is_a_scale(row: Sequence[str]) -> bool:
    """Return whether numbers follow each other by one, as the years above columns do."""
    steps = {float(b.replace(",", ".")) - float(a.replace(",", ".")) for a, b in pairwise(row)}
    return len(row) > 2 and steps == {1.0}


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"\s*[-+]?\d+([.,]\d+)?\s*", cell) is not None


def _is_typed(values: Sequence[str]) -> bool:
    filled = [value for value in values if value.strip()]
    fitting = sum(bool(LIKE_A_NUMBER.fullmatch(value) or LIKE_A_DATE.fullmatch(value)) for value in filled)
    return bool(filled) and fitting >= MOSTLY * len(filled)
