"""The objects a user cares about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.errors import QueryError
from cube2net.records.ragged import Array, frozen


@dataclass(frozen=True, eq=False)
class Query:
    """Objects by row number, ascending and distinct, with a label each where the user gave one.

    >>> Query(np.array([4, 9]), labels=("KDD", "ACL"))
    Query(2 objects, 2 labels)
    """

    objects: Array
    labels: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = np.asarray(self.objects, dtype=np.int32)
        if rows.ndim != 1 or len(rows) == 0:
            raise QueryError("the query is empty: name at least one object")
        if bool(np.any(rows[1:] <= rows[:-1])) or rows[0] < 0:
            raise QueryError("the rows of a query must ascend without repeats")
        if self.labels is not None and len(self.labels) != len(rows):
            raise QueryError(f"the query has {len(rows):,} objects and {len(self.labels):,} labels")
        object.__setattr__(self, "objects", frozen(rows))

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        labels = f", {len(set(self.labels))} labels" if self.labels is not None else ""
        missing = f", {len(self.missing)} missing" if self.missing else ""
        return f"Query({len(self):,} objects{labels}{missing})"
