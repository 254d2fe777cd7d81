"""What an attribute is, by its values: an id, a text, labels, numbers, years, dates, or nothing that tells apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.propose.item_samples import ItemLabels, read_texts, read_values
from cube2net.records.column_kinds import decoded

YEARS = (1500, 2100)
MOSTLY = 0.9
UNIQUE = 0.95
"""An attribute of which more values are different is an id, or a name of its own for nearly every item."""
HALF = 0.5
FEW_NUMBERS = 10
"""Whole numbers of which there are so few at most, such as stars or marks, are labels."""
FEW_ITEMS = 20
"""Of so few items nothing is told from all values being different."""
TEXT_WORDS, TEXT_SIGNS = 7, 40
"""Values that have so many words and signs on average, and are mostly different, are texts."""
ID_NAME = re.compile(r"(?:^|[\W_])(?:id|ids|key|uuid|guid|doi|isbn|issn|nr|no|num|number|nummer|code)\W*$", re.I)
SKEWED = 0.5
"""Bins of one width of which one would hold more of the items do not tell them apart: they are cut by shares."""
LEAST_BINS, MOST_BINS = 5, 16
LEAST_WRITTEN, MOST_WRITTEN = 1.0, 1e15
"""Numbers from the one to the other are written with two digits behind the point at most."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What was found of an attribute in a sample, and its labels or its items' numbers where it has some.

    Of dates, the numbers are their years, and ``days`` are those since 1970.
    """

    name: str
    kind: str
    distinct: int
    filled: float
    reason: str = ""
    labels: ItemLabels | None = None
    items: Array | None = None
    numbers: Array | None = None
    days: Array | None = None
    length: float = 0.0


def look_at(name: str, column: pa.Array) -> Seen:
    """Return what an attribute is.

    >>> look_at("state", pa.array(["NY", "CA"] * 20)).kind, look_at("sold in", pa.array([1999, 2004] * 20)).kind
    ('labels', 'years')
    """
    kind = column.type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_null(kind) or len(column) == column.null_count:
        return Seen(name, "constant", 0, 0.0, "has no value")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _of_lists(name, column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _of_dates(name, column)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _of_numbers(name, column)
    if pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_boolean(value):
        return _of_texts(name, column)
    return Seen(name, "unusable", 0, 0.0, f"holds {kind}, which is neither labels, numbers nor dates")


def _of_lists(name: str, column: pa.Array) -> Seen:
    labels = read_texts(column)
    items = len(np.unique(labels.items))
    filled = items / max(1, len(column))
    if labels.count < 2:
        return Seen(name, "constant", labels.count, filled, "has one value only")
    each = len(labels.codes) / items
    return Seen(
        name, "several labels", labels.count, filled, f"has {labels.count:,} labels, {each:.1f} on an item", labels
    )


def _of_texts(name: str, column: pa.Array) -> Seen:
    labels = read_texts(column)
    count, distinct = len(labels.codes), labels.count
    filled = count / max(1, len(column))
    if distinct < 2:
        return Seen(name, "constant", distinct, filled, "has one value only" if distinct else "has no value")
    signs, words = _lengths(column)
    if words >= TEXT_WORDS and signs >= TEXT_SIGNS and distinct > HALF * count:
        return Seen(name, "text", distinct, filled, f"is text, {words:.0f} words on average", length=words)
    if distinct >= UNIQUE * count and count > FEW_ITEMS:
        kind = "id" if words < 1.5 else "nearly unique"
        return Seen(name, kind, distinct, filled, "has another value on nearly every item")
    if distinct > HALF * count and count > FEW_ITEMS:
        return Seen(name, "nearly unique", distinct, filled, f"has {distinct:,} values on {count:,} items")
    return Seen(name, "labels", distinct, filled, f"has {distinct:,} labels", labels, length=signs)


def _lengths(column: pa.Array) -> tuple[float, float]:
    """Return how many signs and words a value has on average, looking at the first few thousand."""
    column = decoded(column)
    texts = pc.drop_null(column[:5_000] if column.null_count < HALF * len(column) else pc.drop_null(column)[:5_000])
    texts = pc.utf8_trim_whitespace(pc.cast(texts, pa.large_string()))
    if len(texts) == 0:
        return 0.0, 0.0
    words = pc.list_value_length(pc.utf8_split_whitespace(texts))
    return float(pc.mean(pc.utf8_length(texts)).as_py()), float(pc.mean(words).as_py())


def _of_dates(name: str, column: pa.Array) -> Seen:
    items, years = read_values(column)
    days = pc.cast(pc.cast(column, pa.date32()), pa.int32()).to_numpy(zero_copy_only=False)[items]
    filled, distinct = len(items) / max(1, len(column)), len(np.unique(days))
    if distinct < 2:
        return Seen(name, "constant", distinct, filled, "has one value only")
    span = f"holds dates, {days.min().astype('M8[D]')} to {days.max().astype('M8[D]')}"
    return Seen(name, "dates", distinct, filled, span, items=items, numbers=years, days=days)


def _of_numbers(name: str, column: pa.Array) -> Seen:
    items, values = read_values(column)
    filled = len(items) / max(1, len(column))
    different = np.unique(values)
    distinct = len(different)
    if distinct < 2:
        return Seen(name, "constant", distinct, filled, "has one value only" if distinct else "has no value")
    span = f"{number_in_words(different[0])} to {number_in_words(different[-1])}"
    if _are_years(name, values):
        years = f"holds years, {_exactly(different[0])} to {_exactly(different[-1])}"
        return Seen(name, "years", distinct, filled, years, items=items, numbers=values)
    whole = bool(np.all(different == np.floor(different)))
    if whole and distinct <= FEW_NUMBERS:
        labels = ItemLabels(items, np.searchsorted(different, values), distinct)
        return Seen(name, "few numbers", distinct, filled, f"has {distinct:,} whole numbers, {span}", labels)
    if whole and distinct >= UNIQUE * len(values) and len(values) > FEW_ITEMS:
        running = different[-1] - different[0] < 2 * len(values)
        if running or ID_NAME.search(name):
            return Seen(name, "id", distinct, filled, "has another whole number on nearly every item")
    return Seen(name, "numbers", distinct, filled, f"has numbers, {span}", items=items, numbers=values)


def _are_years(name: str, values: Array) -> bool:
    inside = (values >= YEARS[0]) & (values <= YEARS[1]) & (values == np.floor(values))
    return bool(inside.mean() >= MOSTLY if "year" in name.casefold() else inside.all())


def bins_for(values: Array) -> str:
    """Return bins that cut numbers: five to a dozen of one round width, or quarters where most lie in one of them.

    >>> bins_for(np.arange(18.0, 66.0)), bins_for(2.0 ** np.arange(20.0))
    ('width:5', 'quantiles:4')
    """
    low, high = np.quantile(values, [0.02, 0.98]).tolist()
    if high > low:
        width = _round_width((high - low) / LEAST_BINS)
        steps = np.floor(values / width)
        _, counts = np.unique(steps, return_counts=True)
        if len(counts) <= MOST_BINS and counts.max() <= SKEWED * len(values):
            return f"width:{_exactly(width)}"
    return "quantiles:4"


def _round_width(width: float) -> float:
    """Return the largest of …, 0.5, 1, 2, 5, 10, … that is no more than a width."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(max(step for step in (1.0, 2.0, 5.0) if step * power <= width * (1 + 1e-9)) * power)


def number_in_words(value: float) -> str:
    """Return a number as people write it: thousands apart, and no more digits than tell something.

    >>> [number_in_words(value) for value in (68386072.9, 7191.43, 1200, 0.000125, 1e21, 5.1)]
    ['68,386,072.9', '7,191.43', '1,200', '0.000125', '1e+21', '5.1']
    """
    if not LEAST_WRITTEN <= abs(value) < MOST_WRITTEN:
        return _exactly(value)
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _exactly(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"
