"""How near every object is to a query by links, and in what place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cube2net.array_types import Array
from cube2net.records import Query, Scope

STEP, SEEN, LEAST = 12, 4, 8
"""Numbers of near objects are tried in steps of such a part, up to so many times as many as there are, or the least."""


@dataclass(frozen=True, eq=False)
class QueryRanks:
    """The personalised PageRank of every object for a query, and which objects have a place by it.

    Those of the query have none, nor have those that may not come and those that cannot be reached; of equal scores the
    lower object number comes first. ``nearest(count)`` are the objects that a network of so many near ones has.

    >>> from cube2net.records.scope import OPEN
    >>> ranks = QueryRanks(np.array([0.5, 0.1, 0.0, 0.4]), Query(np.array([0])), OPEN, nearest=lambda count: ())
    >>> ranks.count, ranks.rank(3), ranks.rank(1), ranks.rank(2)
    (2, 1, 2, None)
    """

    scores: Array
    query: Query
    scope: Scope
    nearest: Callable[[int], Sequence[int] | Array]
    kept: dict[int, Sequence[int] | Array] = field(default_factory=dict, init=False, repr=False)

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

    def enough(self, row: int, now: int) -> tuple[int, bool]:
        """Return how many near objects, more than now, one object is among, and whether that was seen.

        The walk that finds near objects goes only as far as it must: close to its end some change places. So the object
        is looked for among a few more than are needed, in steps of a twelfth that are kept for the next object; far
        from the query, where no step is tried, it is the exact place.
        """
        needed = max(self.needed(row) or 0, now + 1)
        size = max(now, LEAST)
        while size <= SEEN * max(now, LEAST):
            if size > needed:
                if size not in self.kept:
                    self.kept[size] = self.nearest(size)
                if row in self.kept[size]:
                    return size, True
            size += size // STEP + 1
        return needed, False

    def _before(self, scores: Array, row: int) -> int:
        own = self.placed[row]
        return int((scores > own).sum()) + int((scores[:row] == own).sum())
