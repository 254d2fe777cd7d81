"""The links of a cube one by one as the source gave them: which way each leads, of what kind and when it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.errors import CubeError, InputError
from cube2net.records.ragged import check_offsets, frozen

DETAILS = {"higher": pa.int32(), "weight": pa.float32()}
FORWARD, KIND, TIME, ITEM = "forward", "kind", "time", "item"
KINDS = pa.dictionary(pa.int32(), pa.string())
MORE = {FORWARD: pa.bool_(), KIND: KINDS, ITEM: pa.int32()}
"""What details may have besides: ``time`` is of any type that a corpus's may be."""


@dataclass(frozen=True, eq=False)
class LinkDetails:
    """A row for every link that the source gave, by its lower end, its higher end, and the order in which they came.

    The rows of lower end ``i`` are ``indptr[i]`` to ``indptr[i + 1]`` of ``rows(higher, weight)``, which may also have
    the columns ``forward`` (whether the link leads from the lower end to the higher), ``kind``, ``time`` and ``item``
    (the item that states it). Links of an object to itself are not among them.
    """

    indptr: Array
    rows: pa.Table

    def __post_init__(self) -> None:
        for name, kind in (DETAILS | MORE).items():
            if name in self.rows.column_names and self.rows.schema.field(name).type != kind:
                raise CubeError(f"a column {name!r} of links holds {self.rows.schema.field(name).type}, not {kind}")
        for name in DETAILS:
            if name not in self.rows.column_names or self.rows[name].null_count:
                raise CubeError(f"links do not all have a {name!r}")
        try:
            check_offsets(self.indptr, self.higher, "a table of links")
        except InputError as error:
            raise CubeError(str(error)) from None
        object.__setattr__(self, "indptr", frozen(self.indptr))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"LinkDetails({len(self):,} links, columns {', '.join(self.rows.column_names)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """What the source says of links besides their ends and weights."""
        return tuple(name for name in self.rows.column_names if name not in DETAILS)

    @property
    def higher(self) -> Array:
        """The higher end of every row."""
        return self.column("higher")

    @property
    def lower(self) -> Array:
        """The lower end of every row."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int32), np.diff(self.indptr))

    def column(self, name: str) -> Array:
        """Return a column as an array; where it is one piece it is not copied."""
        column = self.rows[name]
        found: Array = (column.chunk(0) if column.num_chunks == 1 else column).to_numpy(zero_copy_only=False)
        return found

    def spans(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return where the rows of every pair begin and end; the lower object of a pair comes first.

        >>> rows = pa.table({"higher": pa.array([1, 2, 2, 2], pa.int32()), "weight": pa.array([1.0] * 4, pa.float32())})
        >>> begin, end = LinkDetails(np.array([0, 3, 4, 4]), rows).spans(np.array([0, 1, 0]), np.array([2, 2, 1]))
        >>> begin.tolist(), end.tolist()
        ([1, 3, 0], [3, 4, 1])
        """
        return self._bisected(low, high), self._bisected(low, high + 1)

    def _bisected(self, low: Array, high: Array) -> Array:
        """Return the first row of a lower end whose higher end is not below a wanted one, for each."""
        higher = self.higher
        begin, end = np.array(self.indptr[low]), np.array(self.indptr[low + 1])
        while True:
            open_ = np.flatnonzero(begin < end)
            if len(open_) == 0:
                return begin
            middle = (begin[open_] + end[open_]) // 2
            below = higher[middle] < high[open_]
            begin[open_[below]] = middle[below] + 1
            end[open_[~below]] = middle[~below]
