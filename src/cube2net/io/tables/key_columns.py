"""Columns that hold ids or names, by their values: unique or nearly so, and known in the columns of another table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import SourceError
from cube2net.io.tables.column_types import Rows, keys
from cube2net.io.tables.locale_values import likely_written, present, spread_rows
from cube2net.model.corpus import decoded, holds_text

SAMPLED = 1_000
MOST_COLUMNS = 20
FEW = 50
"""One in so many ids may come twice or be empty, where others refer to the column: it is then told which."""


class Ids:
    """The ids of a table, of which all are only looked at where a few do not tell."""

    def __init__(self, rows: Rows, name: str) -> None:
        self.rows, self.name = rows, name

    @cached_property
    def all(self) -> pa.ChunkedArray:
        """All ids."""
        return keys(self.rows, self.name)

    def share(self, values: pa.ChunkedArray | None) -> float:
        """Return which share of values are ids."""
        return 0.0 if values is None else share_of(values, self.all)

    def has_some(self, values: pa.ChunkedArray | None) -> bool:
        """Return whether some of the values are ids."""
        column = self.rows.table[self.name]
        if values is None or not holds_text(column.type):
            return self.share(values) > 0
        few = pc.cast(values, column.type).combine_chunks()
        return bool(pc.any(pc.is_in(column, value_set=few)).as_py()) or self.share(values) > 0


def sample(rows: Rows, name: str) -> pa.ChunkedArray | None:
    """Return ids spread over a column, None where its type holds none."""
    column = rows.table[name]
    part = replace(rows, table=pa.table({name: column.take(spread_rows(len(column), SAMPLED))}))
    try:
        return pc.drop_null(keys(part, name))
    except (SourceError, pa.ArrowException):
        return None


def share_of(values: pa.ChunkedArray, ids: pa.ChunkedArray) -> float:
    """Return which share of values are ids."""
    if len(values) == 0:
        return 0.0
    return float(pc.mean(pc.cast(pc.is_in(values, value_set=ids), pa.int8())).as_py())


def samples_of(rows: Rows) -> list[pa.ChunkedArray]:
    """Return samples of the first columns of a table that may hold ids."""
    found = [sample(rows, name) for name in rows.table.column_names[:MOST_COLUMNS]]
    return [values for values in found if values is not None and len(values)]


def nearly_unique(rows: Rows, name: str) -> pa.ChunkedArray | None:
    """Return a column as ids where nearly every row has one that comes once, and it is no measure."""
    kind = rows.table[name].type
    if not (holds_text(kind) or pa.types.is_integer(kind)):
        return None
    some = sample(rows, name)
    if some is None or pc.count_distinct(some).as_py() < len(some) - _few(len(some)):
        return None
    ids = keys(rows, name)
    return ids if len(ids) - pc.count_distinct(ids).as_py() <= _few(len(ids)) else None


def _few(rows: int) -> int:
    """Return how many ids may be wrong in a column that is still taken for ids, so that these are told."""
    return max(1, rows // FEW)


def is_unique(ids: pa.ChunkedArray) -> bool:
    """Return whether no id is missing or comes twice."""
    return bool(ids.null_count == 0 and pc.count_distinct(ids).as_py() == len(ids))


def referred(ids: pa.ChunkedArray, samples: Sequence[pa.ChunkedArray], ends: int) -> float:
    """Return how well columns of another table are known here: the least share of as many as are to be ends."""
    shares = sorted((share_of(values, ids) for values in samples), reverse=True)
    return shares[ends - 1] if len(shares) >= ends else 0.0


def linked(nodes: Rows, links: Rows) -> float:
    """Return how well a table links the rows of another: the lesser share of ids in two of its columns."""
    samples = samples_of(links)
    columns = nodes.table.column_names[:MOST_COLUMNS]
    found = [ids for name in columns if (ids := nearly_unique(nodes, name)) is not None] if len(samples) > 1 else []
    return max((referred(ids, samples, 2) for ids in found), default=0.0)


NAMED, MOSTLY_NAMES = 20, 0.8
"""So great a share of the texts of a column of names differ; in fewer rows than so many, names have two words."""
LETTERS = 40
"""Longer texts, on average, are no names."""
LABELS, FEW_LABELS = 1.5, 0.5
"""Texts of more parts each, of which fewer differ, are lists of labels."""
NEARLY_ALL = 0.95
"""Two words with a comma between, of which so many differ, are no two labels but a name turned round."""
NO_NAME = (0.0, 0.0)


def name_share(rows: Rows, name: str, *, least_words: int = 2) -> tuple[float, float]:
    """Return which share of a column's texts are different names, and which of these have no digit.

    Long texts, numbers, dates, addresses of the web and lists of labels are no names; in a few rows, nor are texts of
    fewer words than ``least_words``.
    """
    column = decoded(rows.table[name])
    if not holds_text(column.type) or column.null_count > (1 - MOSTLY_NAMES) * len(column):
        return NO_NAME
    texts = pc.drop_null(present(pc.cast(column.take(spread_rows(len(column), SAMPLED)), pa.string())))
    if len(texts) < 2 or pc.mean(pc.utf8_length(texts)).as_py() >= LETTERS:
        return NO_NAME
    few = len(texts) < NAMED
    if few and pc.mean(pc.count_substring_regex(texts, r"\pL{2,}")).as_py() < least_words:
        return NO_NAME
    worded = pc.and_(
        pc.match_substring_regex(texts, r"\pL{2}"), pc.invert(pc.match_substring_regex(texts, r"@|://|^www\."))
    )
    if _are_lists(texts) or _mean(worded) < MOSTLY_NAMES or likely_written(texts, rows.written):
        return NO_NAME
    different = pc.count_distinct(texts).as_py() / len(texts)
    return 0.0 if few and different < 1 else different, 1 - _mean(pc.match_substring_regex(texts, "[0-9]"))


def _are_lists(texts: pa.ChunkedArray) -> bool:
    """Return whether texts are lists of labels; many that are a last name before a first name are none."""
    labels = pc.list_flatten(pc.split_pattern_regex(texts, r"\s*[,;|/]\s*"))
    if len(labels) <= LABELS * len(texts) or pc.count_distinct(labels).as_py() >= FEW_LABELS * len(labels):
        return False
    turned = pc.all(pc.match_substring_regex(texts, r"^[^,;|/]+, [^,;|/]+$")).as_py()
    return not (turned and len(texts) >= NAMED and pc.count_distinct(texts).as_py() >= NEARLY_ALL * len(texts))


def _mean(truths: pa.ChunkedArray) -> float:
    return float(pc.mean(pc.cast(truths, pa.int8())).as_py())
