"""Parse numbers and dates in local formats: decimal commas, thousands, currencies, day first, seconds since 1970.

The format of a column is the one that fits its values. If several formats fit, the other columns of the table decide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.worded_dates import parse_date, parse_season

MIN_PARSED_SHARE, MIN_LIKELY_SHARE = 0.9, 0.7
MAX_SAMPLED_VALUES = 2_000
"""Values of every other column to consider if a column can be read in two ways."""
MAX_FIRST_VALUES = 500
"""Values of a text column from which its type is guessed before all values are parsed."""
INTEGER = r"^[-+]?[0-9]{1,18}$"
NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LEADING_ZERO = r"^-?0[0-9]"
NO_LABEL = r"(?i)^(#?n/?a|n\.a\.|nan|null|unknown|unbekannt|inconnu|desconocido|sconosciuto|--?|–|—|\?|)$"
"""Words and signs for a missing label."""
MISSING = rf"{NO_LABEL}|(?i)^none$"
TWO_LETTER_CODE, MIN_DISTINCT_CODES = "^[A-Z]{2}$", 5
"""In a column of at least this many two-letter codes, NA is a code (of Namibia), not a missing value."""
SPACES = r" '’\x{00a0}\x{2009}\x{202f}"
DECIMAL_COMMA = rf"^[-+]?(([0-9]+|[0-9]{{1,3}}([.{SPACES}][0-9]{{3}})+)(,[0-9]+)?|,[0-9]+)([eE][+-]?[0-9]+)?$"
DECIMAL_POINT = rf"^[-+]?(([0-9]+|[0-9]{{1,3}}([,{SPACES}][0-9]{{3}})+)(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
DECIMAL_PATTERNS = {",": DECIMAL_COMMA, ".": DECIMAL_POINT}
DOTTED_THOUSANDS = r"^[-+]?[0-9]{1,3}(\.[0-9]{3})+$"
CURRENCIES = (
    r"[€$£¥₹₽₩₺₴₪฿]|[A-Z]{1,2}\$|kr\.?|zł|Kč|Rs\.?|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RUB|"
    "TRY|BRL|MXN|ZAR|KRW|HKD|SGD|THB|IDR|PHP|ILS|ARS"
)
UNITS = (
    "%|‰|s|sec|min|mins|minutes|h|hrs?|hours|days?|weeks?|months?|years?|yrs?|mm|cm|m|km|mi|miles|ft|in|g|kg|lbs?|[KMGT]B|"
    "kWh|°C|°F|Std|Tage|Jahre|ans|jours|años|anni"
)
NUMBER_WITH_UNIT = (
    rf"^(?P<minus>[-+]?)\s*(?P<before>{CURRENCIES})?\s*(?P<number>[-+]?[0-9.,{SPACES}]+?)"
    rf"\s*(?P<after>{CURRENCIES}|{UNITS})?$"
)
"""Numbers with a currency or a unit."""
DECADE = r"^['’]?([0-9]{2})?[0-9]0s$"
MIN_DATE_CHARACTERS, MAX_DATE_CHARACTERS = 4, 40
ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9:.]+(Z|[+-][0-9:]+)?)?$"
TIME_OF_DAY = r"(?:[T ,]+[0-9]{1,2}[:.h][0-9]{2}.*)?$"
YEAR_FIRST = rf"^(?P<y>[0-9]{{4}})(?P<mark>[-/.])(?P<m>[0-9]{{1,2}})[-/.](?P<d>[0-9]{{1,2}}){TIME_OF_DAY}"
YEAR_LAST = rf"^(?P<a>[0-9]{{1,2}})(?P<mark>[-/.])(?P<b>[0-9]{{1,2}})[-/.] ?(?P<y>[0-9]{{4}}|[0-9]{{2}}){TIME_OF_DAY}"
TIMESTAMP_NAMES = ("timestamp", "epoch", "unix", "time", "date", "datetime", "created", "updated", "modified", "when")
TIMESTAMP_RANGE = (10**8, 4 * 10**9)
"""From 1973 to 2096, counted in seconds since 1970."""
COMPACT_DATE_RANGE, MIN_COMPACT_DATES = (19_000_101, 21_000_101), 20
"""Range of dates written as one number (20190321), and the distinct values that hardly are valid dates by chance."""
MILLISECOND_RANGE = (10**12, 2 * 10**12)
"""From 2001 to 2033, counted in milliseconds."""


@dataclass(frozen=True, eq=False)
class ParsedValues:
    """Texts parsed as numbers or dates.

    ``kind`` is ``numbers`` or ``dates``, ``unparsed`` the rows that could not be parsed and are missing in ``column``,
    and ``note`` tells how the values were interpreted, if that was a guess.
    """

    column: pa.ChunkedArray
    kind: str
    unparsed: Array
    note: str = ""


def clean_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return trimmed texts, in which words for missing values are missing.

    >>> clean_texts(pa.chunked_array([[" a", "n/a", "-"]])).to_pylist()
    ['a', None, None]
    """
    texts = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.match_substring_regex(texts, MISSING), None, texts)


def clean_labels(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return trimmed labels, in which words for missing labels are missing.

    >>> clean_labels(pa.chunked_array([["a ", "NA", "none"]])).to_pylist()
    ['a', None, 'none']
    >>> clean_labels(pa.chunked_array([["NO", "NA", "SE", "DK", "DE", "FR"]]))[1].as_py()
    'NA'
    """
    texts = pc.utf8_trim_whitespace(column)
    missing = pc.match_substring_regex(texts, NO_LABEL)
    if pc.any(pc.and_(missing, pc.equal(texts, "NA"))).as_py():
        others = pc.unique(texts.filter(pc.invert(missing)))
        if len(others) >= MIN_DISTINCT_CODES and pc.all(pc.match_substring_regex(others, TWO_LETTER_CODE)).as_py():
            missing = pc.and_(missing, pc.not_equal(texts, "NA"))
    return pc.if_else(missing, None, texts)


def spread_rows(count: int, max_rows: int) -> pa.Array:
    """Return at most ``max_rows`` row numbers, spread evenly from the first row to the last.

    >>> spread_rows(9, 3).to_pylist(), spread_rows(2, 3).to_pylist(), spread_rows(0, 3).to_pylist()
    ([0, 4, 8], [0, 1], [])
    """
    return pa.array(np.unique(np.linspace(0, max(count - 1, 0), max_rows, dtype=np.int64))[:count])


def guess_value_type(column: pa.ChunkedArray, table: TableFormats) -> str:
    """Return whether a sample of a column is mostly ``numbers`` or ``dates``, or neither (an empty text).

    This avoids parsing all values of a long column.
    """
    texts = clean_texts(column.take(spread_rows(len(column), MAX_FIRST_VALUES)))
    if parse_numbers(texts, table, MIN_LIKELY_SHARE) is not None:
        return "numbers"
    return "dates" if parse_dates(texts, table, MIN_LIKELY_SHARE) is not None or texts.null_count == len(texts) else ""


def parse_numbers(texts: pa.ChunkedArray, table: TableFormats, share: float = MIN_PARSED_SHARE) -> ParsedValues | None:
    """Return texts as numbers, None if most are not; ``table`` decides if they can be read in two ways.

    >>> table = TableFormats(pa.table({}), (), Conventions())
    >>> parse_numbers(pa.chunked_array([["1.234,5", "3,14"]]), table).column.to_pylist()
    [1234.5, 3.14]
    """
    count = len(texts) - texts.null_count
    if count == 0:
        return None
    given_decimal = table.conventions.decimal
    is_plain = pc.match_substring_regex(texts, NUMBER)
    n_plain = 0 if given_decimal == "," else _count_matches(is_plain)
    bare_texts, unit, n_matches = texts, "", dict[str, int]()
    if n_plain < count:
        bare_texts, unit = _strip_sign(texts, count)
        n_matches = {
            mark: _count_matches(pc.match_substring_regex(bare_texts, DECIMAL_PATTERNS[mark]))
            for mark in DECIMAL_PATTERNS
            if given_decimal in (None, mark)
        }
    max_matches = max(n_matches.values(), default=0)
    if n_plain and n_plain >= max(share * count, max_matches):
        are_thousands = _are_thousands(texts.slice(0, MAX_FIRST_VALUES)) and _are_thousands(texts)
        if given_decimal is None and are_thousands and table.decimal == ",":
            return _parse_decimals(texts, ",", "decimal=','")
        return (
            None
            if _is_padded(texts)
            else ParsedValues(_cast_numbers(pc.if_else(is_plain, texts, None)), "numbers", _find_unparsed(is_plain))
        )
    if max_matches < share * count or _is_padded(bare_texts):
        return None
    likely_marks = [mark for mark, n_texts in n_matches.items() if n_texts == max_matches]
    mark = likely_marks[0] if len(likely_marks) == 1 else table.decimal or "."
    return _parse_decimals(
        bare_texts, mark, ", ".join([f"decimal={mark!r}"] * (not given_decimal) + [f"{unit!r} left out"] * bool(unit))
    )


def _count_matches(matches: pa.ChunkedArray) -> int:
    return int(pc.sum(matches).as_py() or 0)


def _is_padded(texts: pa.ChunkedArray) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, LEADING_ZERO)).as_py())


def _are_thousands(texts: pa.ChunkedArray) -> bool:
    """Return whether all values with a point, of which there are some, have groups of three digits after it."""
    non_integers = texts.filter(pc.invert(pc.match_substring_regex(texts, INTEGER)))
    non_integers = pc.drop_null(non_integers)
    return len(non_integers) > 0 and bool(pc.all(pc.match_substring_regex(non_integers, DOTTED_THOUSANDS)).as_py())


def _strip_sign(texts: pa.ChunkedArray, count: int) -> tuple[pa.ChunkedArray, str]:
    """Return texts without their most frequent currency or unit, and that unit (empty if most have none).

    Texts with another currency or unit are left as they are, and so do not parse as numbers.
    """
    parts = pc.extract_regex(texts, NUMBER_WITH_UNIT)
    prefix, number, suffix = (pc.struct_field(parts, name) for name in ("before", "number", "after"))
    units = pc.binary_join_element_wise(prefix, suffix, "")
    counts = {each["values"]: each["counts"] for each in pc.value_counts(pc.drop_null(units)).to_pylist()}
    unit = max((candidate for candidate in counts if candidate), key=counts.__getitem__, default="")
    if not unit or 2 * counts[unit] < count:
        return texts, ""
    if unit == "s" and _count_matches(pc.match_substring_regex(texts, DECADE)) == count:
        return texts, ""  # 1990s, and not 1990 seconds
    bare_texts = pc.binary_join_element_wise(pc.struct_field(parts, "minus"), number, "")
    return pc.if_else(pc.is_in(units, value_set=pa.array([unit, ""])), bare_texts, texts), unit


def _parse_decimals(texts: pa.ChunkedArray, mark: str, note: str) -> ParsedValues:
    matches = pc.match_substring_regex(texts, DECIMAL_PATTERNS[mark])
    thousands_mark = "." if mark == "," else ","
    bare_texts = pc.replace_substring_regex(pc.if_else(matches, texts, None), rf"[{thousands_mark}{SPACES}]|^\+", "")
    numbers = pc.replace_substring(bare_texts, ",", ".")
    return ParsedValues(_cast_numbers(numbers), "numbers", _find_unparsed(matches), note)


def _cast_numbers(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    if pc.all(pc.match_substring_regex(numbers, INTEGER)).as_py():
        return pc.cast(numbers, pa.int64())
    return replace_infinite(pc.cast(numbers, pa.float64()))


def replace_infinite(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers, with infinite ones and NaN as missing values."""
    return pc.if_else(pc.is_finite(column), column, None)


def _find_unparsed(matches: pa.ChunkedArray) -> Array:
    return np.flatnonzero(np.asarray(pc.fill_null(pc.invert(matches), False)))


# Dates


def parse_dates(texts: pa.ChunkedArray, table: TableFormats, share: float = MIN_PARSED_SHARE) -> ParsedValues | None:
    """Return texts as dates, None if most are not; ``table`` decides whether days or months come first.

    >>> table = TableFormats(pa.table({}), (), Conventions())
    >>> [str(day) for day in parse_dates(pa.chunked_array([["02/25/2006", "03/04/2006"]]), table).column.to_pylist()]
    ['2006-02-25', '2006-03-04']
    """
    count = len(texts) - texts.null_count
    if count == 0:
        return None
    given_order = table.conventions.dates
    if given_order in (None, "ymd"):
        iso_dates = _parse_iso_dates(texts)
        if iso_dates is not None:
            return ParsedValues(iso_dates, "dates", np.empty(0, np.int64))
        date_parts = _extract_parts(texts, YEAR_FIRST, "ymd")
        days, is_valid = _make_days(date_parts["y"], date_parts["m"], date_parts["d"])
        if is_valid.sum() >= share * count:
            return _make_dates(texts, days, is_valid, "")
    if given_order == "ymd":
        return None
    return _parse_year_last(texts, share * count, table) or (
        None if given_order else _parse_worded_dates(texts, share * count)
    )


def _parse_iso_dates(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return texts as dates if all are in ISO format, which is fast; None otherwise."""
    if not pc.all(pc.match_substring_regex(texts, ISO_DATE)).as_py():
        return None
    try:
        return pc.cast(pc.utf8_slice_codeunits(texts, 0, 10), pa.date32())
    except pa.ArrowInvalid:
        return None


def _parse_year_last(texts: pa.ChunkedArray, min_valid: float, table: TableFormats) -> ParsedValues | None:
    date_parts = _extract_parts(texts, YEAR_LAST, "aby")
    marks = pc.struct_field(pc.extract_regex(texts, YEAR_LAST), "mark")
    year = date_parts["y"]
    if len(pc.unique(pc.drop_null(marks))) != 1:
        return None
    mark = pc.drop_null(marks)[0].as_py()
    is_two_digit = (year >= 0) & (year < 100)
    if is_two_digit.any() and mark == "-":
        return None
    year = np.where(is_two_digit, year + np.where(year < 70, 2000, 1900), year)
    orders = {
        "dmy": _make_days(year, date_parts["b"], date_parts["a"]),
        "mdy": _make_days(year, date_parts["a"], date_parts["b"]),
    }
    given_order = table.conventions.dates
    n_valid = {order: int(is_valid.sum()) for order, (_, is_valid) in orders.items() if given_order in (None, order)}
    if max(n_valid.values()) < min_valid:
        return None
    order = max(n_valid, key=n_valid.__getitem__)
    note = f"dates={order!r}"
    if len(set(n_valid.values())) < len(n_valid):
        order = "dmy" if mark != "/" else table.order
        note = f"dates={order!r}, though its days could be months"
    days, is_valid = orders[order]
    return _make_dates(texts, days, is_valid, "" if given_order else note)


def _parse_worded_dates(texts: pa.ChunkedArray, min_valid: float) -> ParsedValues | None:
    """Return texts with names of months, weeks or seasons as dates, or seasons as their first years."""
    length = pc.utf8_length(texts)
    may_be_date = pc.and_(pc.greater_equal(length, MIN_DATE_CHARACTERS), pc.less_equal(length, MAX_DATE_CHARACTERS))
    may_be_date = pc.and_(may_be_date, pc.match_substring_regex(texts, "[0-9]{2}"))
    is_year = pc.match_substring_regex(texts, "^[0-9]*$")
    if _count_matches(may_be_date) < min_valid or _count_matches(is_year) >= min_valid:
        return None
    encoded = texts.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    for parse, kind, note in (
        (parse_season, pa.int64(), "seasons by their first year"),
        (parse_date, pa.date32(), "dates by their first day"),
    ):
        column = pa.array([parse(value) for value in values], kind).take(encoded.indices)
        if len(column) - column.null_count >= min_valid:
            unparsed = np.flatnonzero(np.asarray(pc.is_null(column)) & ~np.asarray(pc.is_null(encoded)))
            return ParsedValues(pa.chunked_array([column]), "dates", unparsed, note)
    return None


def _extract_parts(texts: pa.ChunkedArray, pattern: str, names: str) -> dict[str, Array]:
    """Return the groups of a date pattern as numbers, -1 where a text does not match."""
    parts = pc.extract_regex(texts, pattern)
    return {
        name: np.asarray(pc.fill_null(pc.cast(pc.struct_field(parts, name), pa.int32()), -1)).astype(np.int64)
        for name in names
    }


def _make_days(year: Array, month: Array, day: Array) -> tuple[Array, Array]:
    """Return dates, and which of them are valid."""
    is_plausible = (year >= 0) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = np.where(is_plausible, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(is_plausible, day - 1, 0)
    return days, is_plausible & (days.astype("datetime64[M]") == months)


def _make_dates(texts: pa.ChunkedArray, days: Array, is_valid: Array, note: str) -> ParsedValues:
    column = pa.chunked_array([pa.array(days, pa.date32(), mask=~is_valid)])
    unparsed = np.flatnonzero(~is_valid & ~np.asarray(pc.is_null(texts)))
    return ParsedValues(column, "dates", unparsed, note)


def _split_compact_dates(numbers: pa.ChunkedArray) -> tuple[Array, Array, Array]:
    integers = np.asarray(pc.fill_null(numbers, 0)).astype(np.int64)
    return integers // 10_000, integers // 100 % 100, integers % 100


def parse_timestamps(name: str, numbers: pa.ChunkedArray) -> ParsedValues | None:
    """Return whole numbers as dates, if the name and range of the column show that they are seconds since 1970.

    Milliseconds are recognised by their range alone, and numbers such as 20190321 by being valid dates.

    >>> parse_timestamps("created_at", pa.chunked_array([[1140825600, 1140912000]])).column.to_pylist()[0].isoformat()
    '2006-02-25'
    """
    if not pa.types.is_integer(numbers.type) or numbers.null_count == len(numbers):
        return None
    low, high = (int(pc.min_max(numbers)[end].as_py()) for end in ("min", "max"))
    words = name.casefold().replace("-", "_").replace(" ", "_").split("_")
    has_timestamp_name = (
        bool(set(words) & set(TIMESTAMP_NAMES)) or words[-1] in ("ts", "at") or name.casefold().endswith("timestamp")
    )
    if COMPACT_DATE_RANGE[0] <= low and high < COMPACT_DATE_RANGE[1]:
        days, is_valid = _make_days(*_split_compact_dates(numbers))
        is_certain = has_timestamp_name or pc.count_distinct(numbers).as_py() >= MIN_COMPACT_DATES
        is_missing = np.asarray(pc.is_null(numbers))
        texts = pc.cast(numbers, pa.string())
        return (
            _make_dates(texts, days, is_valid, "year, month and day together")
            if is_certain and (is_valid | is_missing).all()
            else None
        )
    if low < TIMESTAMP_RANGE[0]:
        return None
    for unit_name, unit in (("seconds", 1), ("milliseconds", 1000)):
        is_in_range = TIMESTAMP_RANGE[0] * unit <= low and high < TIMESTAMP_RANGE[1] * unit
        is_certain = unit == 1000 and MILLISECOND_RANGE[0] <= low and high < MILLISECOND_RANGE[1]
        if is_in_range and (has_timestamp_name or (is_certain and words[-1] != "id")):
            days = pc.cast(pc.divide(numbers, 86_400 * unit), pa.int32())
            return ParsedValues(pc.cast(days, pa.date32()), "dates", np.empty(0, np.int64), f"{unit_name} since 1970")
    return None


# The other columns


class TableFormats:
    """How numbers and dates are written in a table, inferred from its untyped columns."""

    def __init__(self, table: pa.Table, untyped: Iterable[str], conventions: Conventions) -> None:
        self.table, self.untyped, self.conventions = table, untyped, conventions
        self._decimal: str | None = None
        self._order = ""

    @property
    def decimal(self) -> str | None:
        """The decimal separator, if unambiguous columns agree on it or the delimiter suggests it."""
        if self._decimal is None:
            n_comma_columns = n_point_columns = 0
            for texts in self._samples():
                count = len(texts)
                as_commas, as_points = (
                    pc.match_substring_regex(texts, pattern) for pattern in (DECIMAL_COMMA, DECIMAL_POINT)
                )
                if _count_matches(as_commas) >= MIN_PARSED_SHARE * count and _count_matches(pc.invert(as_points)) > 0:
                    n_comma_columns += 1
                elif _count_matches(as_points) >= MIN_PARSED_SHARE * count and _count_matches(pc.invert(as_commas)) > 0:
                    n_point_columns += 1
            guess = "," if self.conventions.delimiter == ";" else ""
            self._decimal = (
                "," if n_comma_columns > n_point_columns else "." if n_point_columns > n_comma_columns else guess
            )
        return self._decimal or None

    @property
    def order(self) -> str:
        """Whether days or months come first in dates with slashes."""
        if not self._order:
            evidence = {"dmy": 0, "mdy": 0}
            for texts in self._samples():
                date_parts = _extract_parts(texts, YEAR_LAST, "ab")
                evidence["dmy"] += int((date_parts["a"] > 12).sum())
                evidence["mdy"] += int((date_parts["b"] > 12).sum())
            default_order = "dmy" if self.decimal == "," else "mdy"
            self._order = (
                default_order if evidence["dmy"] == evidence["mdy"] else max(evidence, key=evidence.__getitem__)
            )
        return self._order

    def _samples(self) -> Iterable[pa.ChunkedArray]:
        for name in sorted(self.untyped):
            texts = pc.drop_null(clean_texts(self.table[name].slice(0, MAX_SAMPLED_VALUES)))
            if len(texts):
                yield texts
