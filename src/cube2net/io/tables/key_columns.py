"""Detect columns of ids and names by their values: unique or nearly so, and referred to by another table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import SourceError
from cube2net.io.tables.column_types import Rows, read_ids
from cube2net.io.tables.locale_values import clean_texts, guess_value_type, spread_rows
from cube2net.model.corpus import decode, holds_text

MAX_SAMPLED_ROWS = 1_000
MAX_KEY_COLUMNS = 20
"""Number of columns, from the left, in which ids and names are looked for."""
ROWS_PER_BAD_KEY = 50
"""One in so many ids may be empty or come twice; such rows are then reported."""
NO_NAME = (0.0, 0.0)
MIN_NAME_SHARE = 0.8
MAX_NAME_LETTERS = 40
MIN_ROWS_OF_NAMES = 20
"""In fewer rows, names have two words."""
MIN_LABELS_PER_TEXT, MAX_DISTINCT_LABELS = 1.5, 0.5
"""Texts of more parts each, of which a smaller share differs, are lists of labels."""
MIN_DISTINCT_INVERTED_NAMES = 0.95
MIN_TEXT_WORDS, MIN_TEXT_LETTERS, MIN_FILLED_TEXTS, MIN_DISTINCT_TEXTS = 6, 40, 0.5, 0.5
"""Words and letters of a text, on average, and the share of rows with a text and of texts that differ."""
SEVERAL, MAX_LIST_SHARE = r"[;|\n]|,.*,", 0.1
"""What stands between several names in a text, and the share of such texts beyond which a column names nothing."""


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """A column of ids, which is read as a whole only where a sample does not decide."""

    rows: Rows
    name: str

    @cached_property
    def ids(self) -> pa.ChunkedArray:
        """All ids."""
        return read_ids(self.rows, self.name)

    def share(self, values: pa.ChunkedArray | None) -> float:
        """Return which share of values are ids."""
        return 0.0 if values is None else share_in(values, self.ids)

    def has_some(self, values: pa.ChunkedArray | None) -> bool:
        """Return whether some of the values are ids."""
        column = self.rows.table[self.name]
        if values is None or not holds_text(column.type):
            return self.share(values) > 0
        sample = pc.cast(values, column.type).combine_chunks()
        return bool(pc.any(pc.is_in(column, value_set=sample)).as_py()) or self.share(values) > 0


def sample_keys(rows: Rows, name: str) -> pa.ChunkedArray | None:
    """Return ids from all over a column, None where its type holds none."""
    column = rows.table[name]
    part = replace(rows, table=pa.table({name: column.take(spread_rows(len(column), MAX_SAMPLED_ROWS))}))
    try:
        return pc.drop_null(read_ids(part, name))
    except (SourceError, pa.ArrowException):
        return None


def share_in(values: pa.ChunkedArray, ids: pa.ChunkedArray) -> float:
    """Return which share of values are ids."""
    return _mean(pc.is_in(values, value_set=ids)) if len(values) else 0.0


def sample_key_columns(rows: Rows) -> list[pa.ChunkedArray]:
    """Return samples of the first columns of a table that may hold ids."""
    samples = [sample_keys(rows, name) for name in rows.table.column_names[:MAX_KEY_COLUMNS]]
    return [values for values in samples if values is not None and len(values)]


def nearly_unique_keys(rows: Rows, name: str) -> pa.ChunkedArray | None:
    """Return a column of texts or whole numbers as ids where nearly every row has an id of its own, else None."""
    kind = rows.table[name].type
    if not (holds_text(kind) or pa.types.is_integer(kind)):
        return None
    sample = sample_keys(rows, name)
    if (
        sample is None
        or _are_fractions(sample)
        or pc.count_distinct(sample).as_py() < len(sample) - _max_bad_keys(len(sample))
    ):
        return None
    ids = read_ids(rows, name)
    return ids if len(ids) - pc.count_distinct(ids).as_py() <= _max_bad_keys(len(ids)) else None


def _are_fractions(texts: pa.ChunkedArray) -> bool:
    return len(texts) > 0 and bool(pc.all(pc.match_substring_regex(texts, r"^[-+]?[0-9]*[.,][0-9]+$")).as_py())


def is_nearly_unique(rows: Rows, name: str) -> bool:
    """Return whether nearly every row has an id of its own in a column."""
    return nearly_unique_keys(rows, name) is not None


def _max_bad_keys(rows: int) -> int:
    return max(1, rows // ROWS_PER_BAD_KEY)


def is_unique(ids: pa.ChunkedArray) -> bool:
    """Return whether no id is missing or comes twice."""
    return bool(ids.null_count == 0 and pc.count_distinct(ids).as_py() == len(ids))


def reference_share(ids: pa.ChunkedArray, samples: Sequence[pa.ChunkedArray], ends: int) -> float:
    """Return the share of ids among the values of another table's columns, the least of the best ``ends`` columns."""
    shares = sorted((share_in(values, ids) for values in samples), reverse=True)
    return shares[ends - 1] if len(shares) >= ends else 0.0


def link_share(nodes: Rows, links: Rows) -> float:
    """Return how well a table links the rows of another: the lesser share of ids in two of its columns."""
    samples = sample_key_columns(links)
    if len(samples) < 2:
        return 0.0
    columns = [nearly_unique_keys(nodes, name) for name in nodes.table.column_names[:MAX_KEY_COLUMNS]]
    return max((reference_share(ids, samples, 2) for ids in columns if ids is not None), default=0.0)


def name_share(rows: Rows, name: str, *, least_words: int = 2) -> tuple[float, float]:
    """Return which share of a column's texts are different names, and which share of these has no digit.

    Long texts, numbers, dates, web addresses and lists of labels are no names; in a few rows, nor are texts of fewer
    words than ``least_words``.
    """
    column = decode(rows.table[name])
    if not holds_text(column.type) or column.null_count > (1 - MIN_NAME_SHARE) * len(column):
        return NO_NAME
    texts = pc.drop_null(clean_texts(pc.cast(column.take(spread_rows(len(column), MAX_SAMPLED_ROWS)), pa.string())))
    if len(texts) < 2 or pc.mean(pc.utf8_length(texts)).as_py() >= MAX_NAME_LETTERS:
        return NO_NAME
    few = len(texts) < MIN_ROWS_OF_NAMES
    if few and pc.mean(pc.count_substring_regex(texts, r"\pL{2,}")).as_py() < least_words:
        return NO_NAME
    has_word = pc.match_substring_regex(texts, r"\pL{2}")
    is_address = pc.match_substring_regex(texts, r"@|://|^www\.")
    if _mean(pc.and_not(has_word, is_address)) < MIN_NAME_SHARE:
        return NO_NAME
    if _are_label_lists(texts) or guess_value_type(texts, rows.formats):
        return NO_NAME
    distinct = pc.count_distinct(texts).as_py() / len(texts)
    return 0.0 if few and distinct < 1 else distinct, 1 - _mean(pc.match_substring_regex(texts, "[0-9]"))


def mean_words(column: pa.ChunkedArray) -> float:
    """Return the mean number of words of texts, 0 where they are short or often the same."""
    places = spread_rows(len(column), MAX_SAMPLED_ROWS)
    texts = pc.drop_null(pc.cast(column.take(places), pa.string()))
    if len(texts) < 2 or len(texts) < MIN_FILLED_TEXTS * len(places):
        return 0.0
    if pc.mean(pc.utf8_length(texts)).as_py() < MIN_TEXT_LETTERS:
        return 0.0
    if pc.count_distinct(texts).as_py() < MIN_DISTINCT_TEXTS * len(texts):
        return 0.0
    return float(pc.mean(pc.count_substring_regex(texts, r"[\pL]{2,}")).as_py())


def _are_label_lists(texts: pa.ChunkedArray) -> bool:
    """Return whether texts are lists of labels, and not names of the form "last, first"."""
    if _mean(pc.match_substring_regex(texts, SEVERAL)) > MAX_LIST_SHARE:
        return True
    labels = pc.list_flatten(pc.split_pattern_regex(texts, r"\s*[,;|/]\s*"))
    if len(labels) <= MIN_LABELS_PER_TEXT * len(texts):
        return False
    if pc.count_distinct(labels).as_py() >= MAX_DISTINCT_LABELS * len(labels):
        return False
    inverted = pc.all(pc.match_substring_regex(texts, r"^[^,;|/]+, [^,;|/]+$")).as_py()
    distinct = pc.count_distinct(texts).as_py() / len(texts)
    return not (inverted and len(texts) >= MIN_ROWS_OF_NAMES and distinct >= MIN_DISTINCT_INVERTED_NAMES)


def _mean(truths: pa.ChunkedArray) -> float:
    return float(pc.mean(pc.cast(truths, pa.int8())).as_py())
