"""The best cell, again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.errors import unknown
from cube2net.records import Budget, Cube, Query, Selection, Weights
from cube2net.records.ragged import Array
from cube2net.select.limits import Limits
from cube2net.select.outcome import check, outcome

AMONG = ("touched", "all")
DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Greedy:
    """Add, at every step, the cell that raises the objective most, or lowers it least.

    There are exactly m steps, as in the paper, even when the value falls (``Budget(prefix="best")`` cuts it
    where it was highest). Among equals the cell of the lowest number is taken. Values that agree to 12 digits
    are equal: beyond that, sums of weights depend on the order of adding.

    ``among="touched"`` looks only at cells that hold an object with a positive gain (in the paper's
    objective: an object of the query), and stops early when they run out. ``among="all"`` looks at every cell
    at every step: the paper's CubeGreedy to the letter.

    *While the value rises both choose the same cells.* Let a selection have the value G / C, and let a cell
    that is not touched add the gain −a ≤ 0 and the cost b ≥ 0. Where G ≥ 0 and C > 0, its value
    (G − a) / (C + b) is at most G / C; where costs are nil (b = 0) the same holds for any G; and a
    selection without cost is worth 0, which (0 − a) / b does not exceed. So a step that raises the value
    takes a touched cell. That covers every built-in objective; for weights with which G could be below 0, or
    above 0 without a cost (``untouched_may_help``), all cells are looked at.

    *When the value must fall*, a small untouched cell may lower it less than any touched one, and then the two
    differ. Such a cell brings objects that are worth nothing and no object of the query: it only pads a
    selection up to m cells, so it is not the default.
    """

    among: str = "touched"

    def __post_init__(self) -> None:
        if self.among not in AMONG:
            raise unknown("among", self.among, AMONG)

    def select(self, cube: Cube, query: Query, *, weights: Weights, budget: Budget, seed: int = 0) -> Selection:
        """Return at most m cells in the order chosen; a cell that would break a limit is passed over.

        The seed is not used. The cost follows the members of the cells looked at: what each cell would still
        add is summed once, and then only lowered as its members become covered.
        """
        from cube2net.kernels import coverage

        check(cube, query, weights)
        members, homes = cube.cells.members, cube.homes
        limits = Limits(cube, query, budget)
        left = self._candidates(cube, weights)
        covers = np.zeros(len(cube.objects), dtype=np.int32)
        gains, costs = np.zeros(len(cube.cells)), np.zeros(len(cube.cells))
        gains[left], costs[left] = coverage.residuals(
            left, members.indptr, members.indices, covers, weights.gain, weights.cost
        )
        above, below = float(weights.gain0), float(weights.cost0)
        chosen: list[int] = []
        while len(chosen) < budget.m and len(left):
            order = best_first(coverage.values(left, gains, costs, above, below), only_first=not limits.any)
            taken = limits.admit(left[order], 1)
            if len(taken) == 0:
                break
            cell = int(left[order[taken[0]]])
            left = np.delete(left, order[: taken[0] + 1])
            above, below = above + float(gains[cell]), below + float(costs[cell])
            coverage.add(
                cell,
                members.indptr,
                members.indices,
                homes.indptr,
                homes.indices,
                covers,
                weights.gain,
                weights.cost,
                gains,
                costs,
            )
            chosen.append(cell)
        return outcome(cube, weights, np.array(chosen, dtype=np.int64), budget.prefix)

    def _candidates(self, cube: Cube, weights: Weights) -> Array:
        from cube2net.kernels import coverage

        if self.among == "all" or untouched_may_help(weights):
            return np.arange(len(cube.cells))
        worth = np.flatnonzero(weights.gain > 0)
        return np.asarray(coverage.touched(worth, cube.homes.indptr, cube.homes.indices, len(cube.cells)))


def best_first(worth: Array, *, only_first: bool = False) -> Array:
    """Return the places of the values from high to low, the earlier first among equals.

    >>> best_first(np.array([0.1, 0.3, 0.1 + 0.2, 0.5])).tolist()
    [3, 1, 2, 0]
    """
    largest = float(np.abs(worth).max(initial=0.0))
    worth = np.round(worth / largest, DIGITS) if largest > 0 else worth
    return worth.argmax(axis=0, keepdims=True) if only_first else np.argsort(-worth, kind="stable")


def untouched_may_help(weights: Weights) -> bool:
    """Return whether a cell without any positive gain could raise the value of some selection.

    It cannot when the sum above is never below 0 or nothing has a cost, and a positive sum above always
    has a cost below it.

    >>> untouched_may_help(Weights(gain=np.array([1.0, 0.0]), cost=np.array([0.0, 1.0]), cost0=1.0))
    False
    >>> untouched_may_help(Weights(gain=np.array([1.0, -2.0]), cost=np.array([0.0, 1.0]), cost0=1.0))
    True
    """
    gain, cost = weights.gain, weights.cost
    if not bool(cost.any()):
        return False
    below_zero = weights.gain0 + float(gain[gain < 0].sum()) < 0
    free = weights.cost0 == 0 and (weights.gain0 > 0 or bool((cost[gain > 0] == 0).any()))
    return below_zero or free
