"""The best selection there is, with a proof."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace

import numpy as np

from cube2net.arrays import take_rows
from cube2net.errors import ParameterError
from cube2net.records import Budget, Cube, Judge, Query, Repeats, Selection, Worth
from cube2net.select.anneal import Anneal, in_order
from cube2net.select.bound import most_worth, next_price, room_of, target_of
from cube2net.select.clock import Clock
from cube2net.select.greedy import Greedy
from cube2net.select.outcome import check, nothing_to_choose, outcome
from cube2net.select.presolve import Remains, tighten
from cube2net.select.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Exact:
    """Find the best selection of at most m cells, and prove that there is no better one.

    Let λ be the best value known, at first that of ``anneal``. A selection S is worth more than λ exactly where
    gain₀ + G(S) − λ·(cost₀ + C(S)) is above 0 (Dinkelbach 1967), so the proof is a bound of 0 on that sum. It is
    found by branch and bound: ``presolve`` bounds the sum and leaves out all cells that no better selection holds;
    if the bound stays above 0, the largest cell that the fractional choice is in doubt about is in for one half of
    the selections, and out for the other half, and so on for the half with the higher bound. A selection that turns
    out to be better raises λ.

    The ``bound`` of the answer holds for all selections of at most m cells that keep ``max_nodes``. It is the
    value itself when the proof was completed within ``seconds`` (None is no limit), and otherwise the highest bound
    of the parts that were not done. Bounds come from sums of weights alone, not from a solver's tolerances, and
    are true up to rounding of the last digits.

    ``cover`` is another problem, with whole numbers for values: SciPy's solver finds the m cells that serve most and
    proves it, cells that serve few included.
    """

    chooses_cells = counts_repeats = True
    draws = False

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
        found = Anneal(restarts=2).select(cube, query, weights=weights, budget=budget, seed=seed)
        if nothing_to_choose(cube, query, weights) is not None or room < 0 or budget.m == 0:
            return replace(found, bound=found.value)
        problem = Problem.of(cube, query, weights, at_least=found.value)
        search = Search(problem, budget.m, room, found.value, clock)
        search.run()
        if len(search.best):
            cells = in_order(cube, weights, problem.cells[search.best])
            found = outcome(cube, weights, cells, "best")
        found = replace(found, bound=max(search.bound, found.value))
        return found if found.proven else replace(found, note=f"not proven within {self.seconds:g} s")

    def _most_served(self, cube: Cube, repeats: Repeats, budget: Budget) -> Selection:
        from cube2net.select.repeated import in_order_of_service, serve_best

        if budget.max_nodes is not None:
            raise ParameterError(
                f"max_nodes is {budget.max_nodes!r}, and 'exact' can only keep m for the objective 'cover': "
                "use the method 'greedy'"
            )
        cells, bound = serve_best(cube, repeats, budget.m, self.seconds)
        found = outcome(cube, repeats, in_order_of_service(cube, repeats, cells), budget.prefix)
        greedy = Greedy().select(cube, Query(repeats.objects), weights=replace(repeats, least=1), budget=budget)
        found = max(found, greedy, key=lambda each: each.value)  # the solver's time may have been too short
        bound = max(found.value, min(bound, bound if greedy.bound is None else greedy.bound))
        found = replace(found, bound=bound, note="")
        within = "" if self.seconds is None else f" within {self.seconds:g} s"
        return found if found.proven else replace(found, note=f"not proven{within}")


class Search:
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
        whole = Remains.of(self._problem, self._m, self._price, self._room)
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

    def _halves(self, part: Remains, bound: float, *, first: bool) -> list[tuple[float, Remains]]:
        """Return two halves of a part with a bound on their values, or none where it holds nothing better."""
        price = self._price
        part, most = tighten(part, price, self._target, self._clock.over)
        if most < self._target or not math.isfinite(part.least_cost):
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

    def _offer(self, part: Remains, sure: float) -> None:
        """Note the selection that a fractional choice is rounded to, if it is the best so far."""
        likely = np.argsort(-part.x, kind="stable")[: part.m]
        cells = np.concatenate([part.taken, part.cells[likely[part.x[likely] > sure]]])
        groups = np.unique(take_rows(self._problem.members, cells).indices)
        value = self._problem.value(cells)
        if value > self._price and self._problem.nodes[groups].sum() <= self._room:
            self.best, self._price, self._target = cells, value, target_of(self._problem, value)


def _doubtful(part: Remains) -> int:
    """Return the largest cell among those that are neither in nor out, by how far they are from both."""
    doubt = np.minimum(part.x, 1.0 - part.x) + 1e-6
    if part.loose:
        doubt = doubt * (part.totals[:, 1] > 0)
    return int(np.argmax(doubt * (part.members.sizes + 1)))
