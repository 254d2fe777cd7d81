"""Read the labels of an attribute: texts and lists as they are, numbers and dates in bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import Corpus, Topics, decode, distinct_pairs, texts_of_rows

TOPIC = "topic"
NO_CODES = np.empty(0, np.int32)
MAX_BYTES_32_BIT_OFFSETS = 2**31
NUMBER_PATTERN = r"(?i)^[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|nan|inf|infinity)$"
NameBin = Callable[[int, int], str]
"""Returns the name of a bin, given its code and the number of digits."""
BINS_SYNTAX = "days, weeks, months, quarters, years, decades, width:N, quantiles:N or edges:A,B,C"
MIN_DIGITS, MAX_DIGITS = 6, 17
MAX_BINS_FROM_ZERO = 2.0**51
MIN_EXPONENT_NOTATION = 1e21
FINER_THAN_YEARS = ("days", "weeks", "months", "quarters")
"""Bins that need a date; coarser ones need only its year."""
CONTAINED_BINS = {
    "days": {"days", "weeks", "months", "quarters", "years", "decades"},
    "weeks": {"weeks"},
    "months": {"months", "quarters", "years", "decades"},
    "quarters": {"quarters", "years", "decades"},
    "years": {"years", "decades"},
    "decades": {"decades"},
}
"""For bins of dates, the bins that consist of whole ones of them."""
MONTH_PREFIX = r"^\d{4}-(0[1-9]|1[0-2])"
DATE_PATTERN = MONTH_PREFIX + r"-(0[1-9]|[12]\d|3[01])([T ].*)?$"
MONTH_PATTERN, YEAR_PATTERN = MONTH_PREFIX + "$", r"^\d{4}$"


@dataclass(frozen=True, eq=False)
class Column:
    """The labels of an attribute: the item and the label code of every pair, and the names of the codes."""

    items: Array
    codes: Array
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GrownLabels:
    """The labels of a dimension, old and new: the new places of the old ones, and the column of the new items.

    For bins, ``numbers`` are an example of every old bin followed by the new numbers, and ``codes`` are their bins.
    The numbers are days since 1970 if ``are_days``.
    """

    names: tuple[str, ...]
    places: Array
    column: Column
    numbers: Array = field(default_factory=lambda: np.empty(0))
    codes: Array = field(default_factory=lambda: NO_CODES)
    are_days: bool = False


def read_labels(corpus: Corpus, attribute: str) -> Column:
    """Return the labels of an attribute, its texts, sorted."""
    return _encode_texts(_combine_chunks(corpus.items[attribute]))


def read_topics(topics: Topics) -> Column:
    """Return the topics that items have, in their order."""
    codes = topics.assigned["topic"].to_numpy()
    is_used = np.bincount(codes, minlength=len(topics.names)) > 0
    dense_codes = np.cumsum(is_used, dtype=np.int32) - 1
    names = tuple(topics.names[code] for code in np.flatnonzero(is_used).tolist())
    return Column(topics.assigned["item"].to_numpy(), dense_codes[codes], names)


def read_numbers(corpus: Corpus, attribute: str) -> tuple[Array, Array]:
    """Return the items that have a number, and the numbers; dates, also as ISO 8601 texts, count as their year."""
    column = _combine_chunks(corpus.items[attribute])
    try:
        if pa.types.is_temporal(column.type):
            column = pc.year(column)
        column = decode(column)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            texts = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.equal(texts, ""), None, texts)
            column = pc.if_else(
                _match_any(column, DATE_PATTERN, MONTH_PATTERN), pc.utf8_slice_codeunits(column, 0, 4), column
            )
            invalid = column.filter(pc.invert(pc.match_substring_regex(column, NUMBER_PATTERN))).to_pylist()
            if invalid:
                raise _make_value_error(attribute, invalid[0], "a number", len(invalid))
        values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        invalid = [value for value in column.to_pylist() if value is not None]
        if invalid:
            raise _make_value_error(attribute, invalid[0], "a number", len(invalid)) from None
        values = np.full(len(column), np.nan)
    items = np.flatnonzero(np.isfinite(values)).astype(np.int32)
    return items, values[items]


def describe_kind(type_: pa.DataType) -> str:
    """Return the kind of an attribute's values; Arrow types that are interchangeable have one name.
    >>> [describe_kind(kind) for kind in (pa.int16(), pa.large_string(), pa.float64(), pa.bool_())]
    ['whole numbers', 'texts', 'double', 'texts']
    """
    if pa.types.is_dictionary(type_):
        return describe_kind(type_.value_type)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return f"lists of {describe_kind(type_.value_type)}"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_boolean(type_):
        return "texts"
    return "whole numbers" if pa.types.is_integer(type_) else str(type_)


def _make_value_error(attribute: str, value: object, expected: str, count: int) -> SourceError:
    return SourceError(f"attribute {attribute!r} is {value!r} in an item, expected {expected} (in {count:,} items)")


def _encode_texts(column: pa.Array) -> Column:
    items, texts = texts_of_rows(column)
    encoded = texts.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    codes_by_text = np.empty(len(order), dtype=np.int32)
    codes_by_text[order] = np.arange(len(order), dtype=np.int32)
    items, codes = distinct_pairs(items, codes_by_text[encoded.indices.to_numpy(zero_copy_only=False)], len(names))
    return Column(items.astype(np.int32), codes.astype(np.int32), tuple(names[i] for i in order))


def _combine_chunks(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, with 64-bit offsets if 32 bits may not suffice."""
    if column.nbytes >= MAX_BYTES_32_BIT_OFFSETS:
        column = column.cast(_widen_offsets(column.type))
    return column.combine_chunks()


def _widen_offsets(kind: pa.DataType) -> pa.DataType:
    """Return a type of texts or lists with 64-bit offsets; any other type unchanged."""
    if pa.types.is_string(kind):
        return pa.large_string()
    return pa.large_list(_widen_offsets(kind.value_type)) if pa.types.is_list(kind) else kind


def label_by_name(old_names: tuple[str, ...], column: Column) -> GrownLabels:
    """Return the known labels and those of a column, sorted by name."""
    return order_labels(tuple(sorted({*old_names, *column.names})), old_names, column)


def order_labels(names: tuple[str, ...], old_names: tuple[str, ...], column: Column) -> GrownLabels:
    """Return the known labels and those of a column, in the order of ``names``."""
    if not old_names:
        return GrownLabels(names, NO_CODES, column)
    codes_by_name = {name: code for code, name in enumerate(names)}
    places = np.array([codes_by_name[name] for name in old_names], dtype=np.int32)
    codes = np.array([codes_by_name[name] for name in column.names], dtype=np.int32)[column.codes]
    return GrownLabels(names, places, Column(column.items, codes, names))


def label_by_bins(corpus: Corpus, attribute: str, bins: str, old_examples: Array) -> GrownLabels:
    """Return the bins of an attribute's numbers; ``old_examples`` holds an example of each old bin."""
    parse_bins(bins)
    are_days = bins in FINER_THAN_YEARS
    items, new_numbers = (
        read_days(_combine_chunks(corpus.items[attribute]), attribute, bins)
        if are_days
        else read_numbers(corpus, attribute)
    )
    numbers = np.concatenate([old_examples, new_numbers])
    codes, names = bin_numbers(numbers, bins, f"attribute {attribute!r}", are_days=are_days)
    return GrownLabels(
        names, codes[: len(old_examples)], Column(items, codes[len(old_examples) :], names), numbers, codes, are_days
    )


def pick_examples(values: Array, codes: Array, bin_count: int) -> Array:
    """Return a number of every bin, its first fraction or else its first number, which reproduce the bins' names.

    >>> pick_examples(np.array([4.0, 7.0, 4.5, 1.0, 4.25]), np.array([1, 2, 1, 0, 1]), 3).tolist()
    [1.0, 4.5, 7.0]
    """
    examples = np.empty(bin_count)
    for rows in (np.arange(len(values)), np.flatnonzero(values != np.floor(values))):
        examples[codes[rows[::-1]]] = values[rows[::-1]]
    return examples


def bin_numbers(
    values: Array, bins: str, subject: str = "a number", *, are_days: bool = False
) -> tuple[Array, tuple[str, ...]]:
    """Return the bin of every number, and the labels of the used bins from low to high.

    Fractions in a label have six digits, and more if two labels, or the two ends of one, would be equal. If the numbers
    are days since 1970, bins of a year or more are those of their years.

    >>> codes, labels = bin_numbers(np.array([1999, 2003, 2008]), "decades")
    >>> codes.tolist(), labels
    ([0, 1, 1], ('199X', '200X'))
    """
    numbers = np.asarray(values, dtype=np.float64)
    assign_bins = parse_bins(bins)
    if are_days and bins not in FINER_THAN_YEARS:
        numbers = convert_to_years(numbers)
    try:
        codes, name_bin = assign_bins(numbers)
    except OverflowError:
        largest = float(numbers[np.argmax(np.abs(numbers))])
        raise SourceError(
            f"{subject} is {largest!r}, too large for the bins {bins!r}: use width:N with a larger N, quantiles:N or "
            "edges:A,B,C"
        ) from None
    used_codes, dense_codes = np.unique(codes, return_inverse=True)
    labels: tuple[str, ...] = ()
    for digits in range(MIN_DIGITS, MAX_DIGITS + 1):
        labels = tuple(name_bin(code, digits) for code in used_codes.tolist())
        if len(set(labels)) == len(labels) and not any(map(_is_flat, labels)):
            break
    return dense_codes.astype(np.int32), labels


def is_bins(text: str) -> bool:
    """Return whether a text names bins.

    >>> is_bins("decades"), is_bins("state")
    (True, False)
    """
    return text in (*FINER_THAN_YEARS, "years", "decades") or text.partition(":")[0] in ("width", "quantiles", "edges")


def parse_bins(text: str) -> Callable[[Array], tuple[Array, NameBin]]:
    """Return the function that puts numbers, or days since 1970, into the bins that a text describes."""
    kind, _, argument = text.partition(":")
    try:
        if text in FINER_THAN_YEARS:
            return partial(bin_days, bins=text)
        if text == "years":
            return partial(_bin_by_width, width=1.0)
        if text == "decades":
            return _bin_by_decade
        if kind == "width" and 0 < float(argument) < np.inf:
            return partial(_bin_by_width, width=float(argument))
        if kind == "quantiles" and int(argument) >= 1:
            return partial(_bin_by_quantiles, parts=int(argument))
        if kind == "edges":
            edges = np.array([float(edge) for edge in argument.split(",")])
            if bool(np.all(edges[1:] > edges[:-1])) and bool(np.isfinite(edges).all()):
                return partial(_bin_by_edges, edges=edges)
    except ValueError:
        pass
    raise ParameterError(f"cannot read the bins {text!r}: write {BINS_SYNTAX}")


def _count_steps(values: Array, width: float) -> Array:
    """Return the number of widths below every number; a tolerance puts 0.3 into the bin of width 0.1 that it starts."""
    with np.errstate(over="ignore"):
        steps = np.floor(values / width + (0.0 if width.is_integer() else 1e-9))
    if np.abs(steps).max(initial=0) > MAX_BINS_FROM_ZERO:
        raise OverflowError
    return steps


def _bin_by_decade(values: Array) -> tuple[Array, NameBin]:
    used_steps, codes = np.unique(_count_steps(values, 10.0), return_inverse=True)
    return codes, lambda code, digits: f"{int(used_steps[code])}X"


def _bin_by_width(values: Array, width: float) -> tuple[Array, NameBin]:
    used_steps, codes = np.unique(_count_steps(values, width), return_inverse=True)

    def name_bin(code: int, digits: int) -> str:
        step = float(used_steps[code])
        return _name_span(step * width, (step + 1) * width, width.is_integer(), digits)

    return codes, name_bin


def _bin_by_quantiles(values: Array, parts: int) -> tuple[Array, NameBin]:
    if len(values) == 0:
        return np.empty(0, np.int64), lambda code, digits: ""
    low, high = float(values.min()), float(values.max())
    parts = min(parts, len(values))  # with as many parts as values every value has its own bin: more add nothing
    with np.errstate(over="ignore", invalid="ignore"):
        inner_edges = np.unique(np.quantile(values, np.arange(1, parts) / parts))
    inner_edges = inner_edges[(inner_edges > low) & (inner_edges <= high)]
    all_edges = np.concatenate([[low], inner_edges, [high]])
    are_whole = bool(np.all(values == np.floor(values)))

    def name_bin(code: int, digits: int) -> str:
        return _name_span(
            float(all_edges[code]), float(all_edges[code + 1]), are_whole, digits, is_closed=code == len(inner_edges)
        )

    return np.searchsorted(inner_edges, values, side="right"), name_bin


def _bin_by_edges(values: Array, edges: Array) -> tuple[Array, NameBin]:
    are_whole = bool(np.all(edges == np.floor(edges)) and np.all(values == np.floor(values)))

    def name_bin(code: int, digits: int) -> str:
        if code == 0:
            return f"below {_format_number(float(edges[0]), digits)}"
        if code == len(edges):
            return f"{_format_number(float(edges[-1]), digits)} and above"
        return _name_span(float(edges[code - 1]), float(edges[code]), are_whole, digits)

    return np.searchsorted(edges, values, side="right"), name_bin


def _name_span(low: float, high: float, are_whole: bool, digits: int, *, is_closed: bool = False) -> str:
    """Return the name of low ≤ x < high (or ≤ high if closed); of whole numbers, the last one inside is named."""
    if are_whole:
        low, high = float(np.ceil(low)), float(np.floor(high) if is_closed else np.ceil(high) - 1)
    return (
        _format_number(low, digits) if high <= low else f"{_format_number(low, digits)}–{_format_number(high, digits)}"
    )


def _is_flat(label: str) -> bool:
    low, dash, high = label.partition("–")
    return bool(dash) and low == high


def _format_number(value: float, digits: int) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < MIN_EXPONENT_NOTATION else f"{value:.{digits}g}"


def _match_any(texts: pa.Array, *patterns: str) -> pa.Array:
    return pc.match_substring_regex(texts, "|".join(patterns))


def read_days(column: pa.Array, attribute: str, bins: str) -> tuple[Array, Array]:
    """Return the items that have a date, and the dates as days since 1970.

    Texts are dates in ISO 8601; one that is less precise than the bins (``2019`` for months) counts as missing.
    """
    column = decode(column)
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
    invalid = texts.filter(pc.invert(_match_any(texts, DATE_PATTERN, MONTH_PATTERN, YEAR_PATTERN)))
    if len(invalid):
        raise _make_value_error(attribute, invalid[0].as_py(), "a date such as 2019-03-05", len(invalid))
    is_precise = (
        _match_any(texts, DATE_PATTERN, MONTH_PATTERN)
        if bins in ("months", "quarters")
        else _match_any(texts, DATE_PATTERN)
    )
    is_kept = np.asarray(pc.fill_null(is_precise, False))
    encoded = pc.utf8_slice_codeunits(texts.filter(pa.array(is_kept)), 0, 10).dictionary_encode()
    distinct_texts = encoded.dictionary.to_pylist()
    days = np.empty(len(distinct_texts), np.float64)
    for number, name in enumerate(distinct_texts):
        try:
            days[number] = np.datetime64(name, "D").astype(np.int64)
        except ValueError:
            has_name = np.asarray(encoded.indices) == number
            raise _make_value_error(attribute, name, "a date such as 2019-03-05", int(has_name.sum())) from None
    return np.flatnonzero(is_kept).astype(np.int32), days[np.asarray(encoded.indices)]


def convert_to_years(days: Array) -> Array:
    """Return the years of days since 1970.

    >>> convert_to_years(np.array([0.0, -1.0, 365.0])).tolist()
    [1970.0, 1969.0, 1971.0]
    """
    return _convert_to_dates(days).astype("datetime64[Y]").astype(np.float64) + 1970


def bin_days(days: Array, bins: str) -> tuple[Array, Callable[[int, int], str]]:
    """Return the bin of every day since 1970, numbered from early to late, and a function that names a bin.

    >>> days = np.array([np.datetime64(text, "D").astype(float) for text in ("2019-12-29", "2019-12-30", "2020-01-02")])
    >>> [[name(code, 6) for code in codes] for codes, name in (bin_days(days, bins) for bins in FINER_THAN_YEARS)]
    [['2019-12-29', '2019-12-30', '2020-01-02'], ['2019-W52', '2020-W01', '2020-W01'], \
['2019-12', '2019-12', '2020-01'], ['2019-Q4', '2019-Q4', '2020-Q1']]
    """
    if bins == "weeks":  # from Monday; 1970 began on a Thursday
        steps = np.floor((days + 3) / 7).astype(np.int64)
    elif bins == "days":
        steps = np.floor(days).astype(np.int64)
    else:
        steps = _convert_to_dates(days).astype("datetime64[M]").astype(np.int64) // (3 if bins == "quarters" else 1)
    used_steps, codes = np.unique(steps, return_inverse=True)
    return codes.ravel(), lambda code, digits: STEP_NAMES[bins](int(used_steps[code]))


def _name_week(step: int) -> str:
    thursday = np.datetime64(step * 7, "D")  # a week is of the year that its Thursday is of
    year = thursday.astype("datetime64[Y]")
    return f"{year}-W{int((thursday - year.astype('datetime64[D]')).astype(np.int64)) // 7 + 1:02d}"


def _name_quarter(step: int) -> str:
    return f"{np.datetime64(step // 4, 'Y')}-Q{step % 4 + 1}"


STEP_NAMES: dict[str, Callable[[int], str]] = {
    "days": lambda step: str(np.datetime64(step, "D")),
    "weeks": _name_week,
    "months": lambda step: str(np.datetime64(step, "M")),
    "quarters": _name_quarter,
}


def _convert_to_dates(days: Array) -> Array:
    return np.floor(days).astype(np.int64).astype("datetime64[D]")
