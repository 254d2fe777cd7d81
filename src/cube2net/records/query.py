"""The objects a user cares about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.errors import QueryError, quoted
from cube2net.escaping import counted
from cube2net.records.pickling import travel_by_fields
from cube2net.records.ragged import frozen
from cube2net.showing import Shown


@dataclass(frozen=True, eq=False)
class Query(Shown):
    """Objects by row number, ascending and distinct, with a label each where the user gave one.

    ``ids`` are those of the objects, where they were given by id or name: in another cube the rows have others.
    ``shared`` are those of the names given that are the id of one object, which was taken, and the name of others
    that are as well linked or better.

    >>> Query(np.array([4, 9]), labels=("KDD", "ACL"))
    Query(2 objects, 2 labels)
    """

    objects: Array
    labels: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    ids: pa.Array | None = None
    shared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = _rows(self.objects)
        if len(rows) == 0:
            raise QueryError("the query is empty: name at least one object")
        if bool(np.any(rows[1:] <= rows[:-1])):
            raise QueryError("the rows of a query must ascend without repeats")
        if self.labels is not None and len(self.labels) != len(rows):
            raise QueryError(f"the query has {len(rows):,} objects and {len(self.labels):,} labels")
        if self.ids is not None and len(self.ids) != len(rows):
            raise QueryError(f"the query has {len(rows):,} objects and {len(self.ids):,} ids")
        object.__setattr__(self, "objects", frozen(rows))

    __reduce__ = travel_by_fields

    def __len__(self) -> int:
        return len(self.objects)

    def others(self, count: int) -> Query:
        """Return all other objects of a cube that has so many.

        >>> Query(np.array([1, 3])).others(5).objects.tolist()
        [0, 2, 4]
        """
        rest = np.setdiff1d(np.arange(count, dtype=np.int32), self.objects)
        if not len(rest):
            raise QueryError("the query has all objects of the cube: there are no others to tell it from")
        return Query(rest)

    def __repr__(self) -> str:
        labels = f", {counted(len(set(self.labels)), 'label')}" if self.labels is not None else ""
        missing = f", {len(self.missing)} missing" if self.missing else ""
        return f"Query({counted(len(self), 'object')}{labels}{missing})"


def _rows(given: object) -> Array:
    """Return row numbers as an array of 32 bits, which are refused where they are none or do not fit."""
    try:
        rows = np.asarray(given)
    except ValueError:
        rows = np.empty(())
    if rows.ndim == 1 and len(rows) == 0:
        return rows.astype(np.int32)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.max() > np.iinfo(np.int32).max or rows.min() < 0:
        raise QueryError(f"the rows of a query are whole numbers from 0 to 2,147,483,647, got {quoted(given)}")
    return rows.astype(np.int32, copy=False)
