"""Rows of different lengths in two flat arrays, and the links of a network in three."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError
from cube2net.records.pickling import travel_by_fields


def frozen(array: Array) -> Array:
    """Return a view of the array that cannot be written to, a plain one where the array is mapped from a file."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def check_offsets(indptr: Array, indices: Array, what: str) -> None:
    """Raise unless the offsets start at 0, never fall and end at the number of entries."""
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
        object.__setattr__(self, "indptr", frozen(self.indptr))
        object.__setattr__(self, "indices", frozen(self.indices))

    __reduce__ = travel_by_fields

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


class LazyRagged(Ragged):
    """Rows that are computed when they are used: a few of them by ``take``, all of them by ``load``.

    ``take(rows)`` returns these rows and, for every entry, how many cells of the cube it stands for. ``load`` returns
    the same for all ``count`` rows; it is called once.
    """

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
    def _loaded(self) -> tuple[Ragged, Array]:
        return self._load()

    @property
    def indptr(self) -> Array:
        """Where every row begins; computes all rows."""
        return self._loaded[0].indptr

    @property
    def indices(self) -> Array:
        """The entries of all rows; computes them."""
        return self._loaded[0].indices

    @property
    def counts(self) -> Array:
        """How many cells of the cube every entry stands for; computes all rows."""
        return self._loaded[1]

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

    _count: int
    _load: Callable[[], tuple[Ragged, Array]]
    _take: Callable[[Array], tuple[Ragged, Array]] | None


@dataclass(frozen=True, eq=False)
class Links:
    """Undirected links kept on both ends: the neighbours of object ``i`` and the weights beside them.

    A link between two objects stands in both of their rows; there are no self-links. ``count`` is
    the number of undirected links, each counted once.
    """

    indptr: Array
    indices: Array
    weights: Array

    def __post_init__(self) -> None:
        check_offsets(self.indptr, self.indices, "a table of links")
        if len(self.weights) != len(self.indices):
            raise InputError(f"a table of links has {len(self.indices):,} ends and {len(self.weights):,} weights")
        for name in ("indptr", "indices", "weights"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    __reduce__ = travel_by_fields

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return f"Links({len(self):,} objects, {self.count:,} links)"

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
