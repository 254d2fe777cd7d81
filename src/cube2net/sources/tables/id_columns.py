"""Columns that hold ids, by their values: unique or nearly so, and known in the columns of another table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import SourceError
from cube2net.records.column_kinds import holds_text
from cube2net.sources.tables.column_types import Rows, keys
from cube2net.sources.tables.written_values import spread_rows

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
