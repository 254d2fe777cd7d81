"""Cells drawn at random: the baseline that every other method must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cube2net._util.random import stream
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.selection.constraints import Limits, check, evaluate_cells, explain_no_choice


@dataclass(frozen=True, kw_only=True)
class Random:
    """Draw m distinct cells uniformly at random, whatever the query (the paper's CubeRandom)."""

    chooses_cells: ClassVar[bool] = True
    draws: ClassVar[bool] = True
    counts_repeats: ClassVar[bool] = False
    heeds_objective: ClassVar[bool] = False
    takes_long: ClassVar[bool] = False

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return m cells of the cube in random order; cells that would exceed a limit are skipped."""
        check(cube, query, weights)
        nothing = explain_no_choice(cube, query, weights, budget.scope)
        if nothing is not None:
            return nothing
        order = stream(seed, "select", "random").permutation(len(cube.cells))
        if len(budget.scope.forbidden_cells):
            order = order[np.isin(order, budget.scope.forbidden_cells, invert=True)]
        limits = Limits(cube, query, budget)
        cells = order[limits.admit(order, budget.n_cells)]
        lacks = "may be chosen" if len(budget.scope.forbidden_cells) else "is in the cube"
        return evaluate_cells(cube, weights, cells, budget.best_prefix, note=limits.note(len(cells), lacks))
