"""Cells drawn at random: the baseline that every other method must beat."""

from __future__ import annotations

from dataclasses import dataclass

from cube2net.records import Budget, Cube, Query, Selection, Weights
from cube2net.seeding import stream
from cube2net.select.limits import Limits
from cube2net.select.outcome import check, outcome


@dataclass(frozen=True, kw_only=True)
class Random:
    """Draw m cells, all equally likely and none twice, whatever the query (the paper's CubeRandom)."""

    def select(self, cube: Cube, query: Query, *, weights: Weights, budget: Budget, seed: int = 0) -> Selection:
        """Return m cells of the cube in random order; a cell that would break a limit is passed over."""
        check(cube, query, weights)
        order = stream(seed, "select", "random").permutation(len(cube.cells))
        places = Limits(cube, query, budget).admit(order, budget.m)
        return outcome(cube, weights, order[places], budget.prefix)
