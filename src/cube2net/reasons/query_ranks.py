"""How near every object is to a query by links, and in what place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cube2net.array_types import Array
from cube2net.records import Query, Scope


@dataclass(frozen=True, eq=False)
class QueryRanks:
    """The personalised PageRank of every object for a query, and which objects have a place by it.

    Those of the query have none, nor have those that may not come and those that cannot be reached; of equal scores the
    lower object number comes first.

    >>> from cube2net.records.scope import OPEN
    >>> ranks = QueryRanks(np.array([0.5, 0.1, 0.0, 0.4]), Query(np.array([0])), OPEN)
    >>> ranks.count, ranks.rank(3), ranks.rank(1), ranks.rank(2)
    (2, 1, 2, None)
    """

    scores: Array
    query: Query
    scope: Scope

    @cached_property
    def placed(self) -> Array:
        """The scores of the objects that have a place, and 0 for all others."""
        placed = self.scores.copy()
        placed[self.query.objects] = 0.0
        if self.scope.barred is not None:
            placed[self.scope.barred] = 0.0
        return placed

    @cached_property
    def count(self) -> int:
        """How many objects have a place."""
        return int(np.count_nonzero(self.placed))

    def rank(self, row: int) -> int | None:
        """Return the place of an object, from 1; None where it has none."""
        own = self.placed[row]
        if own == 0:
            return None
        return 1 + self._before(self.placed, row)

    def needed(self, row: int) -> int | None:
        """Return how many objects have to be brought until one is among them; those pinned come before all others."""
        if self.placed[row] == 0:
            return None
        others = self.placed
        if len(self.scope.objects):
            others = others.copy()
            others[self.scope.objects] = 0.0
        return 1 + len(self.scope.objects) + self._before(others, row)

    def _before(self, scores: Array, row: int) -> int:
        own = self.placed[row]
        return int((scores > own).sum()) + int((scores[:row] == own).sum())
