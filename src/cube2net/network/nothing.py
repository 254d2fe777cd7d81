"""The query alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.records import Budget, Cube, Query, Selection, Worth


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """Bring nothing: the network is the query and its own links (the paper's NoCube)."""

    chooses_cells = draws = False

    def select(self, cube: Cube, query: Query, *, weights: Worth, budget: Budget, seed: int = 0) -> Selection:
        """Return a selection of no objects; the seed and the budget change nothing."""
        none = np.empty(0, dtype=np.int32)
        return Selection(none, weights.value(none))
