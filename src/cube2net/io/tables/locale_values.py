"""Numbers and dates as people write them: decimal commas, thousands, currencies, days first, seconds since 1970.

How a column is written is decided by what makes all its values consistent, and where that leaves two ways, by the other
columns of its table.
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
"""So many values of every other column are looked at where a column can be read in two ways."""
MAX_FIRST_VALUES = 500
"""So many values of a column of text are looked at first."""
INTEGER = r"^[-+]?[0-9]{1,18}$"
NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LEADING_ZERO = r"^-?0[0-9]"
NO_LABEL = r"(?i)^(#?n/?a|n\.a\.|nan|null|unknown|unbekannt|inconnu|desconocido|sconosciuto|--?|–|—|\?|)$"
"""What says in a column of labels that there is none."""
MISSING = rf"{NO_LABEL}|(?i)^none$"
TWO_LETTER_CODE, MIN_DISTINCT_CODES = "^[A-Z]{2}$", 5
"""In a column of so many codes of two letters, NA is one of them, such as that of Namibia."""
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
"""Numbers with the sign of a currency or a unit."""
MIN_DATE_CHARACTERS, MAX_DATE_CHARACTERS = 4, 40
ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9:.]+(Z|[+-][0-9:]+)?)?$"
TIME_OF_DAY = r"(?:[T ,]+[0-9]{1,2}[:.h][0-9]{2}.*)?$"
YEAR_FIRST = rf"^(?P<y>[0-9]{{4}})(?P<mark>[-/.])(?P<m>[0-9]{{1,2}})[-/.](?P<d>[0-9]{{1,2}}){TIME_OF_DAY}"
YEAR_LAST = rf"^(?P<a>[0-9]{{1,2}})(?P<mark>[-/.])(?P<b>[0-9]{{1,2}})[-/.] ?(?P<y>[0-9]{{4}}|[0-9]{{2}}){TIME_OF_DAY}"
TIMESTAMP_NAMES = ("timestamp", "epoch", "unix", "time", "date", "datetime", "created", "updated", "modified", "when")
TIMESTAMP_RANGE = (10**8, 4 * 10**9)
"""From 1973 to 2096, counted in seconds since 1970."""
COMPACT_DATE_RANGE, MIN_COMPACT_DATES = (19_000_101, 21_000_101), 20
"""Range of days written as one number, and how many different ones hardly are in the calendar by chance."""
MILLISECOND_RANGE = (10**12, 2 * 10**12)
"""From 2001 to 2033, counted in milliseconds."""


@dataclass(frozen=True, eq=False)
class ParsedValues:
    """Texts as numbers or dates: the column, which rows did not fit and are missing there, and how it was read."""

    column: pa.ChunkedArray
    what: str
    unfit: Array
    way: str = ""


def clean_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts without the space around them; what says that there is none is missing.

    >>> clean_texts(pa.chunked_array([[" a", "n/a", "-"]])).to_pylist()
    ['a', None, None]
    """
    texts = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.match_substring_regex(texts, MISSING), None, texts)


def clean_labels(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return labels without the space around them; what says that there is none is missing.

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


def spread_rows(count: int, most: int) -> pa.Array:
    """Return the numbers of at most so many rows, spread evenly from the first row to the last; none of no rows.

    >>> spread_rows(9, 3).to_pylist(), spread_rows(2, 3).to_pylist(), spread_rows(0, 3).to_pylist()
    ([0, 4, 8], [0, 1], [])
    """
    return pa.array(np.unique(np.linspace(0, max(count - 1, 0), most, dtype=np.int64))[:count])


def guess_value_type(column: pa.ChunkedArray, table: TableFormats) -> str:
    """Return whether values spread over a column are ``numbers`` or ``dates``, mostly, or neither (an empty text).

    This look spares going through all of a long column.
    """
    texts = clean_texts(column.take(spread_rows(len(column), MAX_FIRST_VALUES)))
    if parse_numbers(texts, table, MIN_LIKELY_SHARE) is not None:
        return "numbers"
    return "dates" if parse_dates(texts, table, MIN_LIKELY_SHARE) is not None or texts.null_count == len(texts) else ""


def parse_numbers(texts: pa.ChunkedArray, table: TableFormats, share: float = MIN_PARSED_SHARE) -> ParsedValues | None:
    """Return texts as numbers, None where most are none; ``table`` decides where they can be read in two ways.

    >>> table = TableFormats(pa.table({}), (), Conventions())
    >>> parse_numbers(pa.chunked_array([["1.234,5", "3,14"]]), table).column.to_pylist()
    [1234.5, 3.14]
    """
    count = len(texts) - texts.null_count
    if count == 0:
        return None
    said = table.conventions.decimal
    plain = pc.match_substring_regex(texts, NUMBER)
    as_plain = 0 if said == "," else _count_matches(plain)
    bare, sign, fits = texts, "", dict[str, int]()
    if as_plain < count:
        bare, sign = _strip_sign(texts, count)
        fits = {
            mark: _count_matches(pc.match_substring_regex(bare, DECIMAL_PATTERNS[mark]))
            for mark in DECIMAL_PATTERNS
            if said in (None, mark)
        }
    most = max(fits.values(), default=0)
    if as_plain and as_plain >= max(share * count, most):
        thousands = _are_thousands(texts.slice(0, MAX_FIRST_VALUES)) and _are_thousands(texts)
        if said is None and thousands and table.decimal == ",":
            return _parse_decimals(texts, ",", "decimal=','")
        return (
            None
            if _is_padded(texts)
            else ParsedValues(_cast_numbers(pc.if_else(plain, texts, None)), "numbers", _find_unparsed(plain))
        )
    if most < share * count or _is_padded(bare):
        return None
    likely = [mark for mark, times in fits.items() if times == most]
    mark = likely[0] if len(likely) == 1 else table.decimal or "."
    return _parse_decimals(
        bare, mark, ", ".join([f"decimal={mark!r}"] * (not said) + [f"{sign!r} left out"] * bool(sign))
    )


def _count_matches(matches: pa.ChunkedArray) -> int:
    return int(pc.sum(matches).as_py() or 0)


def _is_padded(texts: pa.ChunkedArray) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, LEADING_ZERO)).as_py())


def _are_thousands(texts: pa.ChunkedArray) -> bool:
    """Return whether a point stands before groups of three digits in all values that have one, and some have."""
    marked = texts.filter(pc.invert(pc.match_substring_regex(texts, INTEGER)))
    marked = pc.drop_null(marked)
    return len(marked) > 0 and bool(pc.all(pc.match_substring_regex(marked, DOTTED_THOUSANDS)).as_py())


def _strip_sign(texts: pa.ChunkedArray, count: int) -> tuple[pa.ChunkedArray, str]:
    """Return texts without the currency or unit that most of them have, and which this is; empty where they have none.

    Numbers in other currencies or units stay as they are, and so are no numbers.
    """
    parts = pc.extract_regex(texts, NUMBER_WITH_UNIT)
    before, number, after = (pc.struct_field(parts, name) for name in ("before", "number", "after"))
    signs = pc.binary_join_element_wise(before, after, "")
    counts = {each["values"]: each["counts"] for each in pc.value_counts(pc.drop_null(signs)).to_pylist()}
    sign = max((one for one in counts if one), key=counts.__getitem__, default="")
    if not sign or 2 * counts[sign] < count:
        return texts, ""
    bare = pc.binary_join_element_wise(pc.struct_field(parts, "minus"), number, "")
    return pc.if_else(pc.is_in(signs, value_set=pa.array([sign, ""])), bare, texts), sign


def _parse_decimals(texts: pa.ChunkedArray, mark: str, way: str) -> ParsedValues:
    fits = pc.match_substring_regex(texts, DECIMAL_PATTERNS[mark])
    other = "." if mark == "," else ","
    bare = pc.replace_substring_regex(pc.if_else(fits, texts, None), rf"[{other}{SPACES}]|^\+", "")
    numbers = pc.replace_substring(bare, ",", ".")
    return ParsedValues(_cast_numbers(numbers), "numbers", _find_unparsed(fits), way)


def _cast_numbers(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    if pc.all(pc.match_substring_regex(numbers, INTEGER)).as_py():
        return pc.cast(numbers, pa.int64())
    return replace_infinite(pc.cast(numbers, pa.float64()))


def replace_infinite(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers, of which those that are not finite are missing."""
    return pc.if_else(pc.is_finite(column), column, None)


def _find_unparsed(fits: pa.ChunkedArray) -> Array:
    return np.flatnonzero(np.asarray(pc.fill_null(pc.invert(fits), False)))


# Dates


def parse_dates(texts: pa.ChunkedArray, table: TableFormats, share: float = MIN_PARSED_SHARE) -> ParsedValues | None:
    """Return texts as dates, None where most are none; ``table`` decides whether days or months stand first.

    >>> table = TableFormats(pa.table({}), (), Conventions())
    >>> [str(day) for day in parse_dates(pa.chunked_array([["02/25/2006", "03/04/2006"]]), table).column.to_pylist()]
    ['2006-02-25', '2006-03-04']
    """
    count = len(texts) - texts.null_count
    if count == 0:
        return None
    said = table.conventions.dates
    if said in (None, "ymd"):
        plain = _parse_iso_dates(texts)
        if plain is not None:
            return ParsedValues(plain, "dates", np.empty(0, np.int64))
        found = _extract_parts(texts, YEAR_FIRST, "ymd")
        days, good = _make_days(found["y"], found["m"], found["d"])
        if good.sum() >= share * count:
            return _make_dates(texts, days, good, "")
    if said == "ymd":
        return None
    return _parse_year_last(texts, share * count, table) or (
        None if said else _parse_worded_dates(texts, share * count)
    )


def _parse_iso_dates(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return texts as dates, where all are written as ISO says; this is fast."""
    if not pc.all(pc.match_substring_regex(texts, ISO_DATE)).as_py():
        return None
    try:
        return pc.cast(pc.utf8_slice_codeunits(texts, 0, 10), pa.date32())
    except pa.ArrowInvalid:
        return None


def _parse_year_last(texts: pa.ChunkedArray, enough: float, table: TableFormats) -> ParsedValues | None:
    found = _extract_parts(texts, YEAR_LAST, "aby")
    marks = pc.struct_field(pc.extract_regex(texts, YEAR_LAST), "mark")
    year = found["y"]
    if len(pc.unique(pc.drop_null(marks))) != 1:
        return None
    mark = pc.drop_null(marks)[0].as_py()
    short = (year >= 0) & (year < 100)
    if short.any() and mark == "-":
        return None
    year = np.where(short, year + np.where(year < 70, 2000, 1900), year)
    orders = {"dmy": _make_days(year, found["b"], found["a"]), "mdy": _make_days(year, found["a"], found["b"])}
    said = table.conventions.dates
    fits = {order: int(good.sum()) for order, (_, good) in orders.items() if said in (None, order)}
    if max(fits.values()) < enough:
        return None
    order = max(fits, key=fits.__getitem__)
    way = f"dates={order!r}"
    if len(set(fits.values())) < len(fits):
        order = "dmy" if mark != "/" else table.order
        way = f"dates={order!r}, though its days could be months"
    days, good = orders[order]
    return _make_dates(texts, days, good, "" if said else way)


def _parse_worded_dates(texts: pa.ChunkedArray, enough: float) -> ParsedValues | None:
    """Return texts with names of months, or of months, weeks and seasons alone, as dates or as years of seasons."""
    length = pc.utf8_length(texts)
    may_be = pc.and_(pc.greater_equal(length, MIN_DATE_CHARACTERS), pc.less_equal(length, MAX_DATE_CHARACTERS))
    may_be = pc.and_(may_be, pc.match_substring_regex(texts, "[0-9]{2}"))
    is_year = pc.match_substring_regex(texts, "^[0-9]*$")
    if _count_matches(may_be) < enough or _count_matches(is_year) >= enough:
        return None
    encoded = texts.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    for parse, kind, way in (
        (parse_season, pa.int64(), "seasons by their first year"),
        (parse_date, pa.date32(), "dates by their first day"),
    ):
        column = pa.array([parse(value) for value in values], kind).take(encoded.indices)
        if len(column) - column.null_count >= enough:
            unfit = np.flatnonzero(np.asarray(pc.is_null(column)) & ~np.asarray(pc.is_null(encoded)))
            return ParsedValues(pa.chunked_array([column]), "dates", unfit, way)
    return None


def _extract_parts(texts: pa.ChunkedArray, pattern: str, names: str) -> dict[str, Array]:
    """Return the numbers of a date, -1 where a text is none."""
    parts = pc.extract_regex(texts, pattern)
    return {
        name: np.asarray(pc.fill_null(pc.cast(pc.struct_field(parts, name), pa.int32()), -1)).astype(np.int64)
        for name in names
    }


def _make_days(year: Array, month: Array, day: Array) -> tuple[Array, Array]:
    """Return dates, and which of them are in the calendar."""
    likely = (year >= 0) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = np.where(likely, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(likely, day - 1, 0)
    return days, likely & (days.astype("datetime64[M]") == months)


def _make_dates(texts: pa.ChunkedArray, days: Array, good: Array, way: str) -> ParsedValues:
    column = pa.chunked_array([pa.array(days, pa.date32(), mask=~good)])
    unfit = np.flatnonzero(~good & ~np.asarray(pc.is_null(texts)))
    return ParsedValues(column, "dates", unfit, way)


def _split_compact_dates(numbers: pa.ChunkedArray) -> tuple[Array, Array, Array]:
    whole = np.asarray(pc.fill_null(numbers, 0)).astype(np.int64)
    return whole // 10_000, whole // 100 % 100, whole % 100


def parse_timestamps(name: str, numbers: pa.ChunkedArray) -> ParsedValues | None:
    """Return whole numbers as dates, where their column's name and range say that they count seconds since 1970.

    Milliseconds of these decades are known by their range alone, and days such as 20190321 by the calendar.

    >>> parse_timestamps("created_at", pa.chunked_array([[1140825600, 1140912000]])).column.to_pylist()[0].isoformat()
    '2006-02-25'
    """
    if not pa.types.is_integer(numbers.type) or numbers.null_count == len(numbers):
        return None
    low, high = (int(pc.min_max(numbers)[end].as_py()) for end in ("min", "max"))
    words = name.casefold().replace("-", "_").replace(" ", "_").split("_")
    named = (
        bool(set(words) & set(TIMESTAMP_NAMES)) or words[-1] in ("ts", "at") or name.casefold().endswith("timestamp")
    )
    if COMPACT_DATE_RANGE[0] <= low and high < COMPACT_DATE_RANGE[1]:
        days, good = _make_days(*_split_compact_dates(numbers))
        surely = named or pc.count_distinct(numbers).as_py() >= MIN_COMPACT_DATES
        missing = np.asarray(pc.is_null(numbers))
        texts = pc.cast(numbers, pa.string())
        return (
            _make_dates(texts, days, good, "year, month and day together")
            if surely and (good | missing).all()
            else None
        )
    if low < TIMESTAMP_RANGE[0]:
        return None
    for way, unit in (("seconds", 1), ("milliseconds", 1000)):
        inside = TIMESTAMP_RANGE[0] * unit <= low and high < TIMESTAMP_RANGE[1] * unit
        surely = unit == 1000 and MILLISECOND_RANGE[0] <= low and high < MILLISECOND_RANGE[1]
        if inside and (named or (surely and words[-1] != "id")):
            days = pc.cast(pc.divide(numbers, 86_400 * unit), pa.int32())
            return ParsedValues(pc.cast(days, pa.date32()), "dates", np.empty(0, np.int64), f"{way} since 1970")
    return None


# The other columns


class TableFormats:
    """What the columns of text in a table say of how numbers and dates are written in it."""

    def __init__(self, table: pa.Table, loose: Iterable[str], conventions: Conventions) -> None:
        self.table, self.loose, self.conventions = table, loose, conventions
        self._decimal: str | None = None
        self._order = ""

    @property
    def decimal(self) -> str | None:
        """The mark before fractions, where columns that leave no doubt agree, or the delimiter suggests it."""
        if self._decimal is None:
            commas = points = 0
            for texts in self._samples():
                count = len(texts)
                as_commas, as_points = (pc.match_substring_regex(texts, way) for way in (DECIMAL_COMMA, DECIMAL_POINT))
                if _count_matches(as_commas) >= MIN_PARSED_SHARE * count and _count_matches(pc.invert(as_points)) > 0:
                    commas += 1
                elif _count_matches(as_points) >= MIN_PARSED_SHARE * count and _count_matches(pc.invert(as_commas)) > 0:
                    points += 1
            guess = "," if self.conventions.delimiter == ";" else ""
            self._decimal = "," if commas > points else "." if points > commas else guess
        return self._decimal or None

    @property
    def order(self) -> str:
        """Whether days or months stand first in dates with slashes."""
        if not self._order:
            proofs = {"dmy": 0, "mdy": 0}
            for texts in self._samples():
                found = _extract_parts(texts, YEAR_LAST, "ab")
                proofs["dmy"] += int((found["a"] > 12).sum())
                proofs["mdy"] += int((found["b"] > 12).sum())
            usual = "dmy" if self.decimal == "," else "mdy"
            self._order = usual if proofs["dmy"] == proofs["mdy"] else max(proofs, key=proofs.__getitem__)
        return self._order

    def _samples(self) -> Iterable[pa.ChunkedArray]:
        for name in sorted(self.loose):
            texts = pc.drop_null(clean_texts(self.table[name].slice(0, MAX_SAMPLED_VALUES)))
            if len(texts):
                yield texts
