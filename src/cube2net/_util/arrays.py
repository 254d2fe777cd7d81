"""Array types, ragged rows, and helpers over flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cube2net.errors import InputError

Array = npt.NDArray[Any]


def reduce_by_fields(record: Any) -> tuple[Any, ...]:
    """Return the ``__reduce__`` value of a record, which restores it from its fields and checks them again."""
    values = {field.name: getattr(record, field.name) for field in fields(record) if field.init}
    in_memory = {name: np.asarray(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}
    return restore_record, (type(record), in_memory)


def restore_record(kind: type, values: dict[str, Any]) -> Any:
    """Return a record with the given fields."""
    return kind(**values)


def freeze(array: Array) -> Array:
    """Return a read-only view of an array, of the base class if it is mapped from a file."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def check_offsets(indptr: Array, indices: Array, what: str) -> None:
    """Raise unless offsets start at 0, never decrease and end at the number of entries."""
    if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0 or indptr[0] != 0:
        raise InputError(f"{what} has offsets that do not start at 0")
    if int(indptr[-1]) != len(indices):
        raise InputError(f"{what} has {len(indices):,} entries, and its offsets end at {int(indptr[-1]):,}")
    if bool(np.any(indptr[1:] < indptr[:-1])):
        raise InputError(f"{what} has offsets that fall")


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of whole numbers: row ``i`` is ``indices[indptr[i]:indptr[i + 1]]``, ascending.

    >>> rows = Ragged(np.array([0, 2, 2, 3]), np.array([4, 7, 1], dtype=np.int32))
    >>> rows
    Ragged(3 rows, 3 entries)
    >>> rows[0].tolist()
    [4, 7]
    """

    indptr: Array
    indices: Array

    def __post_init__(self) -> None:
        check_offsets(self.indptr, self.indices, "a ragged table")
        object.__setattr__(self, "indptr", freeze(self.indptr))
        object.__setattr__(self, "indices", freeze(self.indices))

    __reduce__ = reduce_by_fields

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> Array:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a ragged table of {len(self):,} rows")
        return self.indices[self.indptr[row] : self.indptr[row + 1]]

    def __repr__(self) -> str:
        return f"Ragged({len(self):,} rows, {len(self.indices):,} entries)"

    @property
    def sizes(self) -> Array:
        """The number of entries of every row."""
        return np.diff(self.indptr)


def make_empty_rows(count: int = 0) -> Ragged:
    """Return rows without entries."""
    return Ragged(np.zeros(count + 1, np.int64), np.empty(0, np.int32))


class LazyRagged(Ragged):
    """Rows that are computed when they are used: a few of them by ``take``, all of them by ``load``.

    ``take(rows)`` returns these rows and, for every entry, the number of cells of the cube that it merges. ``load``
    returns the same for all ``count`` rows and is called once.
    """

    _count: int
    _load: Callable[[], tuple[Ragged, Array]]
    _take: Callable[[Array], tuple[Ragged, Array]] | None

    def __init__(
        self,
        count: int,
        load: Callable[[], tuple[Ragged, Array]],
        take: Callable[[Array], tuple[Ragged, Array]] | None = None,
    ) -> None:
        object.__setattr__(self, "_count", count)
        object.__setattr__(self, "_load", load)
        object.__setattr__(self, "_take", take)

    @cached_property
    def _all_rows(self) -> tuple[Ragged, Array]:
        return self._load()

    @property
    def indptr(self) -> Array:
        """The start of every row; computes all rows."""
        return self._all_rows[0].indptr

    @property
    def indices(self) -> Array:
        """The entries of all rows; computes all rows."""
        return self._all_rows[0].indices

    @property
    def counts(self) -> Array:
        """The number of cells of the cube that every entry merges; computes all rows."""
        return self._all_rows[1]

    def take_counted(self, rows: Array) -> tuple[Ragged, Array]:
        """Return some rows, without computing the others, and their counts."""
        assert self._take is not None, "only all rows can be computed"
        return self._take(np.asarray(rows))

    def __getitem__(self, row: int) -> Array:
        if not self.is_partial or not 0 <= row < len(self):
            return super().__getitem__(row)
        return self.take_counted(np.array([row]))[0].indices

    @property
    def is_partial(self) -> bool:
        """Whether some rows can be computed without the others."""
        return self._take is not None

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"LazyRagged({len(self):,} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Ragged, (self.indptr, self.indices)


@dataclass(frozen=True, eq=False)
class Links:
    """Undirected links stored at both ends: the neighbours of object ``i`` and the weights of these links.

    A link is in the rows of both its objects; there are no self-links.
    """

    indptr: Array
    indices: Array
    weights: Array

    def __post_init__(self) -> None:
        check_offsets(self.indptr, self.indices, "a table of links")
        if len(self.weights) != len(self.indices):
            raise InputError(f"a table of links has {len(self.indices):,} ends and {len(self.weights):,} weights")
        for name in ("indptr", "indices", "weights"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    __reduce__ = reduce_by_fields

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return f"Links({len(self):,} objects, {self.count:,} links)"

    @property
    def rows(self) -> Ragged:
        """The neighbours of every object, without weights."""
        return Ragged(self.indptr, self.indices)

    @property
    def count(self) -> int:
        """The number of links, each counted once."""
        return len(self.indices) // 2

    @property
    def degrees(self) -> Array:
        """The number of links of every object."""
        return np.diff(self.indptr)

    def neighbours(self, row: int) -> Array:
        """Return the objects linked to one object, ascending."""
        return self.indices[self.indptr[row] : self.indptr[row + 1]]


LIGHTEST = 1e-30
"""The smallest weight above 0; quotients of smaller ones overflow in single precision."""
HEAVIEST = float(np.finfo(np.float32).max)
"""The highest weight that a file can hold; higher sums are set to it."""


def to_weights(sums: Array) -> Array:
    """Return sums of weights in single precision, at most ``HEAVIEST``.

    >>> to_weights(np.array([0.5, 1e39])).tolist()
    [0.5, 3.4028234663852886e+38]
    """
    return np.minimum(sums, HEAVIEST).astype(np.float32)


def compute_remainders(sums: Array) -> Array:
    """Return the rounding errors of sums of weights, sums minus weights; 0 for a sum above the highest weight.

    >>> compute_remainders(np.array([16777217.0, 1e39])).tolist()
    [1.0, 0.0]
    """
    return np.minimum(sums, HEAVIEST) - to_weights(sums)


def count_unusable(weights: Array) -> int:
    """Return how many weights are negative, infinite or NaN.

    >>> count_unusable(np.array([0.0, 1.0, -1.0, np.nan, np.inf]))
    3
    """
    return int((~((weights >= 0) & (weights <= HEAVIEST))).sum())


MAX_KEY = 2**62
"""Keys of rows, such as the numbers of labels of all dimensions multiplied, are below this."""


def make_offsets(sizes: Array | Sequence[int]) -> Array:
    """Return the offsets of rows of these sizes.

    >>> make_offsets([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    indptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def compute_offsets(rows: Array, count: int) -> Array:
    """Return the start of each row, given the row of every entry in ascending order.

    >>> compute_offsets(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return make_offsets(np.bincount(rows, minlength=count))


def ragged_from_pairs(rows: Array, entries: Array, count: int) -> Ragged:
    """Return rows of entries from pairs in any order; within a row entries ascend, repeats are dropped.

    >>> ragged_from_pairs(np.array([1, 0, 1, 1]), np.array([5, 3, 2, 5]), 2)[1].tolist()
    [2, 5]
    """
    order = np.lexsort((entries, rows))
    rows, entries = rows[order], entries[order]
    if len(rows):
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (rows[1:] != rows[:-1]) | (entries[1:] != entries[:-1])
        rows, entries = rows[new], entries[new]
    return Ragged(compute_offsets(rows, count), entries.astype(np.int32, copy=False))


def ragged_from_lists(lists: list[list[int]]) -> Ragged:
    """Return rows from a list of lists, in the same order.

    >>> ragged_from_lists([[1, 2], [], [0]])
    Ragged(3 rows, 3 entries)
    """
    return Ragged(make_offsets([len(row) for row in lists]), np.fromiter(chain.from_iterable(lists), np.int32))


def row_of_entries(ragged: Ragged) -> Array:
    """Return the row of every entry.

    >>> row_of_entries(ragged_from_lists([[1, 2], [], [0]])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(ragged), dtype=np.int32), ragged.sizes)


def transpose(ragged: Ragged, count: int) -> Ragged:
    """Return the rows that contain each entry: cell → objects becomes object → cells.

    >>> object_cells = transpose(ragged_from_lists([[0, 2], [2]]), 3)
    >>> [object_cells[i].tolist() for i in range(3)]
    [[0], [], [0, 1]]
    """
    import scipy.sparse as sp

    ones = np.ones(len(ragged.indices), dtype=np.int8)
    index = ragged.indptr.astype(np.int64)
    matrix = sp.csr_array((ones, ragged.indices, index), shape=(len(ragged), count)).tocsc()
    return Ragged(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))


def take_rows(ragged: Ragged, rows: Array) -> Ragged:
    """Return some rows, in the given order.

    >>> take_rows(ragged_from_lists([[1, 2], [], [0]]), np.array([2, 0])).indices.tolist()
    [0, 1, 2]
    """
    if isinstance(ragged, LazyRagged) and ragged.is_partial:
        return ragged.take_counted(rows)[0]
    sizes = ragged.indptr[rows + 1] - ragged.indptr[rows]
    indptr = make_offsets(sizes)
    start = np.repeat(ragged.indptr[rows] - indptr[:-1], sizes)
    return Ragged(indptr, ragged.indices[start + np.arange(indptr[-1])])


def join_rows(first: Ragged, second: Ragged) -> Ragged:
    """Return the rows of one table followed by those of another.

    >>> join_rows(ragged_from_lists([[1, 2]]), ragged_from_lists([[], [0]])).indptr.tolist()
    [0, 2, 2, 3]
    """
    indptr = np.concatenate([first.indptr, second.indptr[1:] + first.indptr[-1]])
    return Ragged(indptr, np.concatenate([first.indices, second.indices]))


def find_distinct(numbers: Array) -> Array:
    """Return the distinct integers in ascending order; several times faster than ``np.unique`` for large arrays.

    >>> find_distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ascending = np.sort(numbers)
    new = np.ones(len(ascending), dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    return np.asarray(ascending[new])


def group_rows(labels: Array) -> tuple[Array, Array]:
    """Return the first place of each distinct row, in ascending order of rows, and the group of every row.

    >>> [part.tolist() for part in group_rows(np.array([[1, 0], [0, 5], [1, 0]]))]
    [[1, 0], [1, 0, 1]]
    """
    _, first, group = np.unique(make_row_keys(labels), return_index=True, return_inverse=True)
    return first, group


def make_row_keys(labels: Array, most: int = MAX_KEY) -> Array:
    """Return an integer key of every row, in the order of rows; keys are below ``most`` or the number of rows.

    >>> rows = np.array([[1, 0], [0, 5], [1, 0]])
    >>> make_row_keys(rows).tolist(), make_row_keys(rows, most=3).tolist()
    ([6, 5, 6], [1, 0, 1])
    """
    keys, room = np.zeros(len(labels), np.int64), 1
    for column in labels.T:
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        if room * (high - low + 1) >= MAX_KEY:
            _, keys = np.unique(keys, return_inverse=True)
            room = len(keys)
        room *= high - low + 1
        keys = keys * (high - low + 1) + (column - low)
    return keys if room <= most else np.unique(keys, return_inverse=True)[1]


def merge_links(source: Array, target: Array, weight: Array, count: int) -> tuple[Array, Array, Array]:
    """Return every link once, from the lower object to the higher, ascending.

    The weights of repeated links are added in double precision, up to ``HEAVIEST``; self-links are dropped.

    >>> low, high, total = merge_links(np.array([2, 0, 0]), np.array([0, 2, 1]), np.array([1.0, 2.0, 5.0]), 3)
    >>> low.tolist(), high.tolist(), total.tolist()
    ([0, 0], [1, 2], [5.0, 3.0])
    """
    low, high, total = sum_links(source, target, weight, count)
    return low, high, to_weights(total)


def sum_links(source: Array, target: Array, weight: Array, count: int) -> tuple[Array, Array, Array]:
    """Return the result of :func:`merge_links` with weights in double precision."""
    apart = source != target
    source, target, weight = source[apart], target[apart], weight[apart]
    pairs = np.minimum(source, target).astype(np.int64) * count + np.maximum(source, target)
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    total = np.add.reduceat(weight[order].astype(np.float64), first) if len(first) else np.empty(0)
    low, high = np.divmod(pairs[first], max(count, 1))
    return low.astype(np.int32), high.astype(np.int32), total


def links_from_pairs(source: Array, target: Array, weight: Array, count: int) -> Links:
    """Return undirected links stored at both ends; repeated links add their weights, self-links are dropped.

    >>> links = links_from_pairs(np.array([0, 1, 2]), np.array([1, 0, 2]), np.ones(3), 3)
    >>> links, links.weights.tolist()
    (Links(3 objects, 1 links), [2.0, 2.0])
    """
    import scipy.sparse as sp

    low, high, total = merge_links(source, target, weight, count)
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    both = sp.coo_array((np.concatenate([total, total]), (rows, columns)), shape=(count, count)).tocsr()
    both.sort_indices()
    return Links(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)


def flatten_texts(texts: pa.ChunkedArray) -> tuple[Array, Array]:
    """Return the offsets of texts in their concatenated bytes, and these bytes.

    >>> starts, signs = flatten_texts(pa.chunked_array([["ab"], ["", "c"]]))
    >>> starts.tolist(), signs.tobytes()
    ([0, 2, 2, 3], b'abc')
    """
    long = pa.large_string()
    joined = pa.concat_arrays([chunk.cast(long) for chunk in texts.chunks] or [pa.array([], long)])
    _, places, signs = joined.buffers()
    starts = np.frombuffer(places, np.int64, len(joined) + 1, 8 * joined.offset) if places else np.zeros(1, np.int64)
    return starts, np.frombuffer(signs or b"", np.uint8)
