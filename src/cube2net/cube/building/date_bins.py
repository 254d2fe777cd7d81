"""Dates as numbers of days, and the days, weeks, months and quarters that they lie in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import SourceError
from cube2net.records.column_kinds import decoded

FINER = ("days", "weeks", "months", "quarters")
"""Bins that need a date; coarser ones look at its year alone."""
HOLD = {
    "days": {"days", "weeks", "months", "quarters", "years", "decades"},
    "weeks": {"weeks"},
    "months": {"months", "quarters", "years", "decades"},
    "quarters": {"quarters", "years", "decades"},
    "years": {"years", "decades"},
    "decades": {"decades"},
}
"""Bins of dates, and those that hold whole ones of them, whatever the data."""
MONTH = r"^\d{4}-(0[1-9]|1[0-2])"
DATE = MONTH + r"-(0[1-9]|[12]\d|3[01])([T ].*)?$"
MONTH_ALONE, YEAR_ALONE = MONTH + "$", r"^\d{4}$"
EXAMPLE = "a date such as 2019-03-05"


def is_date_text(texts: pa.Array) -> pa.Array:
    """Return which texts are dates, or months, as ISO 8601 writes them."""
    return pc.or_kleene(pc.match_substring_regex(texts, DATE), pc.match_substring_regex(texts, MONTH_ALONE))


def read_days(column: pa.Array, attribute: str, bins: str) -> tuple[Array, Array]:
    """Return the items that have a date, and the dates as days since 1970.

    A text is a date as ISO 8601 writes it; one that says less than the bins need (``2019`` for months) is none.
    """
    column = decoded(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return _read_texts(column, attribute, bins)
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = pc.local_timestamp(column)
    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type) or pa.types.is_null(column.type)):
        raise SourceError(
            f"attribute {attribute!r} holds {column.type}, expected dates for the bins {bins!r}: give it dates, or use "
            "years, decades, width:N, quantiles:N or edges:A,B,C"
        )
    days = pc.cast(pc.cast(column, pa.date32(), safe=False), pa.int32())
    items = np.flatnonzero(np.asarray(pc.is_valid(days))).astype(np.int32)
    return items, days.drop_null().to_numpy(zero_copy_only=False).astype(np.float64)


def _read_texts(column: pa.Array, attribute: str, bins: str) -> tuple[Array, Array]:
    texts = pc.utf8_trim_whitespace(column)
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    whole = pc.match_substring_regex(texts, DATE)
    part = pc.or_kleene(pc.match_substring_regex(texts, MONTH_ALONE), pc.match_substring_regex(texts, YEAR_ALONE))
    bad = texts.filter(pc.invert(pc.or_kleene(whole, part)))
    if len(bad):
        raise _no_dates(attribute, bad[0].as_py(), len(bad))
    if bins in ("months", "quarters"):
        whole = pc.or_kleene(whole, pc.match_substring_regex(texts, MONTH_ALONE))
    kept = np.asarray(pc.fill_null(whole, False))
    encoded = pc.utf8_slice_codeunits(texts.filter(pa.array(kept)), 0, 10).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    days = np.empty(len(names), np.float64)
    for place, name in enumerate(names):
        try:
            days[place] = np.datetime64(name, "D").astype(np.int64)
        except ValueError:
            code = np.asarray(encoded.indices) == place
            raise _no_dates(attribute, name, int(code.sum())) from None
    return np.flatnonzero(kept).astype(np.int32), days[np.asarray(encoded.indices)]


def _no_dates(attribute: str, text: str, count: int) -> SourceError:
    return SourceError(f"attribute {attribute!r} is {text!r} in an item, expected {EXAMPLE} (in {count:,} items)")


def years_of(days: Array) -> Array:
    """Return the years of days since 1970.

    >>> years_of(np.array([0.0, -1.0, 365.0])).tolist()
    [1970.0, 1969.0, 1971.0]
    """
    return _dates(days).astype("datetime64[Y]").astype(np.float64) + 1970


def bin_days(days: Array, bins: str) -> tuple[Array, Callable[[int, int], str]]:
    """Return the bin of every day since 1970, numbered from early to late, and what gives the name of one.

    >>> days = np.array([np.datetime64(text, "D").astype(float) for text in ("2019-12-29", "2019-12-30", "2020-01-02")])
    >>> [[name(code, 6) for code in codes] for codes, name in (bin_days(days, bins) for bins in FINER)]
    [['2019-12-29', '2019-12-30', '2020-01-02'], ['2019-W52', '2020-W01', '2020-W01'], \
['2019-12', '2019-12', '2020-01'], ['2019-Q4', '2019-Q4', '2020-Q1']]
    """
    if bins == "weeks":  # from Monday; 1970 began on a Thursday
        steps = np.floor((days + 3) / 7).astype(np.int64)
    elif bins == "days":
        steps = np.floor(days).astype(np.int64)
    else:
        steps = _dates(days).astype("datetime64[M]").astype(np.int64) // (3 if bins == "quarters" else 1)
    used, codes = np.unique(steps, return_inverse=True)
    return codes.ravel(), lambda code, digits: NAMES[bins](int(used[code]))


def _week(step: int) -> str:
    thursday = np.datetime64(step * 7, "D")  # a week is of the year that its Thursday is of
    year = thursday.astype("datetime64[Y]")
    return f"{year}-W{int((thursday - year.astype('datetime64[D]')).astype(np.int64)) // 7 + 1:02d}"


def _quarter(step: int) -> str:
    return f"{np.datetime64(step // 4, 'Y')}-Q{step % 4 + 1}"


NAMES: dict[str, Callable[[int], str]] = {
    "days": lambda step: str(np.datetime64(step, "D")),
    "weeks": _week,
    "months": lambda step: str(np.datetime64(step, "M")),
    "quarters": _quarter,
}


def _dates(days: Array) -> Array:
    return np.floor(days).astype(np.int64).astype("datetime64[D]")
