"""The best selection there is, with a proof."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows
from cube2net.compiling import load
from cube2net.errors import ParameterError
from cube2net.records import Budget, Cube, Judge, Query, Repeats, Selection, Worth
from cube2net.select.anneal import Anneal, in_order
from cube2net.select.contract import Clock, check, nothing_to_choose, outcome
from cube2net.select.greedy import Greedy
from cube2net.select.marginal_gains import Served, in_order_of_service
from cube2net.select.problem import Problem
from cube2net.select.prove.bound import most_worth, next_price, room_of, target_of
from cube2net.select.prove.duals import Relaxation, tighten


@dataclass(frozen=True, kw_only=True)
class Exact:
    """Find the best selection of at most m cells, and prove that there is no better one.

    Let λ be the best value known, at first that of ``anneal``. A selection S is worth more than λ exactly where
    gain₀ + G(S) − λ·(cost₀ + C(S)) is above 0 (Dinkelbach 1967), so the proof is a bound of 0 on that sum. It is
    found by branch and bound: ``tighten`` bounds the sum and leaves out all cells that no better selection holds;
    if the bound stays above 0, the largest cell that the fractional choice is in doubt about is in for one half of
    the selections, and out for the other half, and so on for the half with the higher bound. A selection that turns
    out to be better raises λ.

    The ``bound`` of the answer holds for all selections of at most m cells that keep ``max_nodes``. It is the
    value itself when the proof was completed in time, and otherwise the highest bound
    of the parts that were not done. Bounds come from sums of weights alone, not from a solver's tolerances, and
    are true up to rounding of the last digits.

    ``cover`` is another problem, with whole numbers for values: SciPy's solver finds the m cells that serve most and
    proves it, cells that serve few included.

    Parameters
    ----------
    seconds
        How long the proof may take; None is no limit. After that the best selection found comes back, with a note.
    """

    chooses_cells: ClassVar[bool] = True
    draws: ClassVar[bool] = False
    counts_repeats: ClassVar[bool] = True

    seconds: float | None = 60.0

    def __post_init__(self) -> None:
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0, or None")

    def select(self, cube: Cube, query: Query, *, weights: Worth, budget: Budget, seed: int = 0) -> Selection:
        """Return the best selection of at most m cells, the cell that adds most first; the seed is for ``anneal``."""
        check(cube, query, weights)
        if isinstance(weights, Judge):
            raise ParameterError(
                f"{weights.name} is a function of the objects, and 'exact' needs weighted counts: "
                "use the method 'anneal' or 'cube2net'"
            )
        if budget.max_links is not None:
            raise ParameterError(
                f"max_links is {budget.max_links!r}, and 'exact' can only keep m and max_nodes: "
                "leave max_links out, or use the method 'anneal' or 'greedy'"
            )
        if isinstance(weights, Repeats):
            nothing = nothing_to_choose(cube, query, weights)
            return self._most_served(cube, weights, budget) if nothing is None else replace(nothing, bound=0.0)
        clock, room = Clock(self.seconds), room_of(query, budget)
        selection = Anneal(restarts=2).select(cube, query, weights=weights, budget=budget, seed=seed)
        if nothing_to_choose(cube, query, weights) is not None or room < 0 or budget.m == 0:
            return replace(selection, bound=selection.value)
        problem = Problem.of(cube, query, weights, at_least=selection.value)
        branching = BranchAndBound(problem, budget.m, room, selection.value, clock)
        branching.run()
        if len(branching.best):
            cells = in_order(cube, weights, problem.cells[branching.best])
            selection = outcome(cube, weights, cells, "best")
        selection = replace(selection, bound=max(branching.bound, selection.value))
        return selection if selection.proven else replace(selection, note=f"not proven within {self.seconds:g} s")

    def _most_served(self, cube: Cube, repeats: Repeats, budget: Budget) -> Selection:
        if budget.max_nodes is not None:
            raise ParameterError(
                f"max_nodes is {budget.max_nodes!r}, and 'exact' can only keep m for the objective 'cover': "
                "use the method 'greedy'"
            )
        cells, bound = serve_best(cube, repeats, budget.m, self.seconds)
        selection = outcome(cube, repeats, in_order_of_service(cube, repeats, cells), budget.prefix)
        greedy = Greedy().select(cube, Query(repeats.objects), weights=replace(repeats, least=1), budget=budget)
        selection = max(selection, greedy, key=lambda each: each.value)  # the solver's time may have been too short
        bound = max(selection.value, min(bound, bound if greedy.bound is None else greedy.bound))
        selection = replace(selection, bound=bound, note="")
        within = "" if self.seconds is None else f" within {self.seconds:g} s"
        return selection if selection.proven else replace(selection, note=f"not proven{within}")


class BranchAndBound:
    """Branch and bound for the best selection of a problem, from a value that is known.

    ``best`` are the positions of the best cells, none while nothing better than that value was met; ``bound`` is an
    upper bound on the value of all selections.
    """

    def __init__(self, problem: Problem, m: int, room: float, price: float, clock: Clock) -> None:
        self._problem, self._m, self._room, self._clock = problem, m, room, clock
        self._price, self._target = price, target_of(problem, price)
        self.best = np.empty(0, dtype=np.int64)
        self.bound = math.inf

    def run(self) -> None:
        """Go on with the part of the highest bound until none is left, or the time is over."""
        whole = Relaxation.of(self._problem, self._m, self._price, self._room)
        waiting = [(-math.inf, 0, whole)]
        parts = 1
        while waiting:
            bound, part = -waiting[0][0], waiting[0][2]
            if bound <= self._price or (parts > 1 and self._clock.over()):
                break
            heapq.heappop(waiting)
            for most, half in self._halves(part, bound, first=parts == 1):
                heapq.heappush(waiting, (-most, parts, half))
                parts += 1
        self.bound = max([self._price, *(-bound for bound, _, _ in waiting)])

    def _halves(self, part: Relaxation, bound: float, *, first: bool) -> list[tuple[float, Relaxation]]:
        """Return two halves of a part with a bound on their values, or none where it holds nothing better."""
        price = self._price
        part, most = tighten(part, price, self._target, self._clock.over)
        if most < self._target or not math.isfinite(part.problem.least_cost):
            return []
        for sure in (0.5, 0.01):
            self._offer(part, sure)
        if len(part) == 0:
            return []
        bound = min(bound, next_price(part, price, most))
        if first:
            bound = min(bound, most_worth(part, price, 0.0, self._clock))
        cell = np.zeros(len(part), dtype=bool)
        cell[_doubtful(part)] = True
        return [(bound, part.taking(cell)), (bound, part.without(cell))]

    def _offer(self, part: Relaxation, sure: float) -> None:
        """Note the selection that a fractional choice is rounded to, if it is the best so far."""
        problem, x = part.problem, part.duals.x
        likely = np.argsort(-x, kind="stable")[: problem.m]
        cells = np.concatenate([problem.taken, problem.cells[likely[x[likely] > sure]]])
        groups = np.unique(take_rows(self._problem.members, cells).indices)
        value = self._problem.value(cells)
        if value > self._price and self._problem.nodes[groups].sum() <= self._room:
            self.best, self._price, self._target = cells, value, target_of(self._problem, value)


def _doubtful(part: Relaxation) -> int:
    """Return the largest cell among those that are neither in nor out, by how far they are from both."""
    problem, x = part.problem, part.duals.x
    doubt = np.minimum(x, 1.0 - x) + 1e-6
    if problem.loose:
        doubt = doubt * (problem.totals[:, 1] > 0)
    return int(np.argmax(doubt * (problem.members.sizes + 1)))


def serve_best(cube: Cube, repeats: Repeats, m: int, seconds: float | None) -> tuple[Array, float]:
    """Return the best m cells or fewer that were found in the time, and a bound on the value of any m.

    It is a whole-number programme (SciPy's HiGHS): maximise Σ y with y_q ≤ r, y_q ≤ the chosen cells that hold q, and
    at most m cells chosen. Values are whole numbers, so the solver's bound is rounded down to one.
    """
    load("scipy.optimize")
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    served = Served(cube, repeats)
    cells, objects = len(served.cells), len(served.left)
    if cells == 0 or m == 0:
        return np.empty(0, dtype=np.int64), 0.0
    ones = np.ones(len(served.homes.indices))
    holds = sparse.csr_array((ones, served.homes.indices, served.homes.indptr), shape=(objects, cells))
    few = sparse.csr_array(np.concatenate([np.ones(cells), np.zeros(objects)])[None, :])
    both = sparse.hstack([-holds, sparse.eye_array(objects)]).tocsr()
    solved = milp(
        np.concatenate([np.zeros(cells), -np.ones(objects)]),
        constraints=[LinearConstraint(both, -np.inf, 0.0), LinearConstraint(few, -np.inf, m)],
        integrality=np.ones(cells + objects),  # sums are whole by themselves, but then the solver prints nothing
        bounds=Bounds(0.0, np.concatenate([np.ones(cells), served.left])),
        options={"mip_rel_gap": 0.0} | ({} if seconds is None else {"time_limit": seconds}),
    )
    known = float(np.sort(served.gains)[::-1][:m].sum())
    bound = known if solved.mip_dual_bound is None else min(known, float(np.floor(-solved.mip_dual_bound + 1e-6)))
    if solved.x is None:
        return np.empty(0, dtype=np.int64), bound
    return served.cells[np.flatnonzero(solved.x[:cells] > 0.5)], bound
