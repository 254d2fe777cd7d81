"""The best selection there is, with a proof; and how much any choice can be worth, a bound found much faster."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from cube2net._util.arrays import Array, take_rows
from cube2net._util.progress import import_modules
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import (
    OPEN,
    Budget,
    CallableObjective,
    CoverObjective,
    QueryObjective,
    Scope,
    Selection,
    Weights,
)
from cube2net.selection.anneal import Anneal, order_cells
from cube2net.selection.constraints import Clock, check, compute_room, evaluate_cells, explain_no_choice
from cube2net.selection.duals import Relaxation, tighten
from cube2net.selection.greedy import Greedy, Served, order_by_service, select_at_price
from cube2net.selection.problem import Problem

# How often the price is raised; how near, as shares, two prices and two values are the same.
RAISES, NEAR, EQUAL = 6, 1e-4, 1e-10
# How fine a number may be, in binary digits after the point, for sums to be counted in units; what rounding changes.
FINEST, DIGITS = 20, 4e-16


def add_bound(cube: Cube, query: Query, weights: QueryObjective, budget: Budget, selection: Selection) -> Selection:
    """Return the selection with the best bound known, or with a note that says why there is none."""
    reason = ""
    if budget.n_cells == 0 and not len(selection.cells) and not len(selection.objects):
        return replace(selection, bound=selection.value)
    if not len(selection.cells) and not len(budget.scope.cells):
        reason = "no cells were chosen"
    elif isinstance(weights, CoverObjective):
        return selection
    elif isinstance(weights, CallableObjective):
        reason = f"{weights.name} is a function, and only its values are known"
    elif budget.max_links is not None:
        reason = "max_links cannot be taken into account"
    elif not selection.proven:
        bound = upper_bound(cube, query, weights, budget, at_least=selection.value)
        return replace(selection, bound=bound if selection.bound is None else min(bound, selection.bound))
    if not reason:
        return selection
    return replace(selection, note="; ".join(filter(None, (selection.note, f"no bound: {reason}"))))


def upper_bound(
    cube: Cube, query: Query, weights: QueryObjective, budget: Budget, *, at_least: float, seconds: float | None = 20.0
) -> float:
    """Return a number that no selection of at most m cells is worth more than, ``max_nodes`` kept.

    ``at_least`` is the value of a selection; the bound is not below it. For a price λ, let U(λ) bound
    gain₀ + G(S) − λ·(cost₀ + C(S)) from above for all selections S (see ``duals``: the optimum of a linear
    programme, or a little more). Where U(λ) ≤ 0, no selection is worth more than λ. So λ starts at the best value
    known and rises, to the ratio of the programme's fractional choice, until U(λ) is 0 or nearly so, and then to
    the next λ at which it is not above 0. Cells that no better selection holds are left out on the way, which makes
    the bound lower than that of the programme for all cells. When the time is over the bound so far is returned.

    ``max_links`` is not looked at: what holds for all selections holds for those with few links.
    """
    if not isinstance(weights, Weights):
        who = (
            f"{weights.name} is a function of the objects"
            if isinstance(weights, CallableObjective)
            else "'cover' counts repeats"
        )
        raise ParameterError(
            f"{who}, and a bound needs weighted counts: leave the bound out, or use an objective that counts"
        )
    check(cube, query, weights)
    clock, room, scope = Clock(seconds), compute_room(cube, query, budget), budget.scope
    problem = Problem.of(cube, query, weights, scope=scope)
    price = max(at_least, problem.ratio(0.0, 0.0))
    if room < 0 or len(problem) == 0 or budget.n_cells == 0:
        return price
    price = max(price, select_at_price(cube, query, weights, budget.n_cells, max_nodes=room, scope=scope)[1])
    problem = Problem.of(cube, query, weights, at_least=price, scope=scope)
    if len(problem) == 0:
        return price
    left = Relaxation.of(problem, budget.n_cells, price, room)
    return most_worth(left, price, compute_target(problem, price), clock)


def most_worth(left: Relaxation, price: float, target: float, clock: Clock) -> float:
    """Return an upper bound on the value of the selections of a choice, or the price where it is below that."""
    lowest = math.inf
    for _ in range(RAISES):
        left, most = tighten(left, price, target, clock.over)
        if most < max(target, 0.0) or len(left) == 0:
            least = price if most < max(target, 0.0) else max(price, alone(left))
            return min(lowest, least)
        lowest = min(lowest, next_price(left, price, most))
        raised = price + most / fractional_cost(left)
        if clock.over() or lowest - price <= NEAR * abs(price) or not price < raised < lowest:
            break
        price, target = raised, 0.0
    return lowest


def next_price(left: Relaxation, price: float, most: float) -> float:
    """Return a price at which the bound is not above 0 by the credits and shares so far, by halving.

    A sum of at most ``most`` above, with a sum of at least ``least_cost`` below, is worth ``most / least_cost`` more
    than the price at the most: that is where it starts.
    """
    low, high = price, price + most / left.problem.least_cost
    fine = NEAR / 10 * max(abs(price), high - price)
    while high - low > fine and low < (low + high) / 2 < high:
        middle = (low + high) / 2
        low, high = (low, middle) if left.bound(middle) <= 0 else (middle, high)
    return high


def alone(left: Relaxation) -> float:
    """Return the value of the cells that are taken."""
    gain, cost, _ = left.problem.base
    return float(gain / cost) if cost > 0 else 0.0


def fractional_cost(left: Relaxation) -> float:
    """Return the sum below of the fractional choice."""
    problem, duals = left.problem, left.duals
    cost = float(problem.base[1] + problem.own[:, 1] @ duals.x + problem.sums[:, 1] @ duals.y)
    return max(cost, problem.least_cost)


def compute_target(problem: Problem, price: float) -> float:
    """Return what Σ gain − price·Σ cost with the constants reaches for every selection worth more than the price.

    Let all gains be whole multiples of s and all costs of t (units that are powers of two, or multiples of such),
    and the price (a/b)·(s/t) with whole a and b. The sum is then a multiple of s/b: above 0 it is s/b at the
    least. Half of that is returned, which leaves room for rounding. For other weights it is so little that a
    value above the price by less than that is the same value.

    >>> import types
    >>> jaccard = types.SimpleNamespace(gain=np.array([1.0, 0.0]), cost=np.array([0.0, 3.0]), gain0=0.0, cost0=5.0)
    >>> compute_target(jaccard, 2 / 8)
    0.125
    """
    gains = np.append(problem.gain, problem.gain0)
    costs = np.append(problem.cost, problem.cost0)
    s, t = unit(gains), unit(costs)
    if s > 0 and t > 0:
        ratio, most = price * t / s, max(1, round(float(costs.sum()) / t))
        fraction = Fraction(ratio).limit_denominator(most)
        if abs(float(fraction) - ratio) <= DIGITS * abs(ratio) and max(1.0, abs(ratio)) * most**2 * DIGITS < 0.5:
            return s / fraction.denominator / 2
    least = float(costs[costs > 0].min(initial=math.inf))
    return max(EQUAL * abs(price) * (least if math.isfinite(least) else 1.0), EQUAL / 100 * float(np.abs(gains).max()))


def unit(values: Array) -> float:
    """Return the largest number that all values are whole multiples of; 0 where they are not so for a power of two.

    >>> unit(np.array([0.75, 3.0, 0.0])), unit(np.array([0.1, 1.0])), unit(np.zeros(3))
    (0.75, 0.0, 1.0)
    """
    if not bool(values.any()):
        return 1.0
    scaled = values * 2.0**FINEST
    if not bool((scaled == np.round(scaled)).all()) or float(np.abs(scaled).sum()) >= 2.0**52:
        return 0.0
    return float(np.gcd.reduce(np.abs(scaled).astype(np.int64))) / 2.0**FINEST


@dataclass(frozen=True, kw_only=True)
class Exact:
    """Find the best selection of at most m cells, and prove that it is optimal.

    Let λ be the best known value, at first that of ``anneal``. A selection S has a higher value if and only if
    gain₀ + G(S) − λ·(cost₀ + C(S)) > 0 (Dinkelbach 1967), so an upper bound of 0 on this sum is a proof. It is found by
    branch and bound: ``tighten`` bounds the sum and removes cells that are in no better selection. If the bound stays
    above 0, the largest cell with a fractional value is included in one half of the selections and excluded from the
    other; the half with the higher bound is searched first. A better selection raises λ.

    The ``bound`` of the result holds for all selections of at most m cells within ``max_nodes``. It equals the value if
    the proof is complete, and otherwise is the highest bound of the unfinished parts. Bounds are computed from sums of
    weights, without a solver's tolerances, and are correct up to rounding.

    For ``cover``, SciPy's integer programming solver finds and proves the best m cells.

    Parameters
    ----------
    seconds
        The time limit of the proof, or None. After that, the best selection found is returned with a note.
    """

    chooses_cells: ClassVar[bool] = True
    draws: ClassVar[bool] = False
    counts_repeats: ClassVar[bool] = True

    seconds: float | None = 60.0

    def __post_init__(self) -> None:
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0, or None")

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the best selection of at most m cells, those that add most first; ``seed`` is used by ``anneal``."""
        check(cube, query, weights)
        if isinstance(weights, CallableObjective):
            raise ParameterError(
                f"{weights.name} is a function of the objects, and 'exact' needs weighted counts: "
                "use the method 'anneal' or 'cube2net'"
            )
        if budget.max_links is not None:
            raise ParameterError(
                f"max_links is {budget.max_links!r}, and 'exact' can only keep n_cells and max_nodes: "
                "leave max_links out, or use the method 'anneal' or 'greedy'"
            )
        if isinstance(weights, CoverObjective):
            nothing = explain_no_choice(cube, query, weights, budget.scope)
            return (
                self._most_served(cube, weights, budget) if nothing is None else replace(nothing, bound=nothing.value)
            )
        clock, room, scope = Clock(self.seconds), compute_room(cube, query, budget), budget.scope
        selection = Anneal(restarts=2).select(cube, query, weights=weights, budget=budget, seed=seed)
        if explain_no_choice(cube, query, weights) is not None or room < 0 or budget.n_cells == 0:
            return replace(selection, bound=selection.value)
        problem = Problem.of(cube, query, weights, at_least=selection.value, scope=scope)
        if len(problem) == 0:
            return replace(selection, bound=selection.value)
        branching = BranchAndBound(problem, budget.n_cells, room, selection.value, clock)
        branching.run()
        if len(branching.best):
            cells = order_cells(cube, weights, problem.cells[branching.best])
            selection = evaluate_cells(cube, weights, cells, best_prefix=True)
        selection = replace(selection, bound=max(branching.bound, selection.value))
        return selection if selection.proven else replace(selection, note=f"not proven within {self.seconds:g} s")

    def _most_served(self, cube: Cube, repeats: CoverObjective, budget: Budget) -> Selection:
        if budget.max_nodes is not None:
            raise ParameterError(
                f"max_nodes is {budget.max_nodes!r}, and 'exact' can only keep n_cells for the objective 'cover': "
                "use the method 'greedy'"
            )
        cells, bound = serve_best(cube, repeats, budget.n_cells, self.seconds, budget.scope)
        selection = evaluate_cells(cube, repeats, order_by_service(cube, repeats, cells), budget.best_prefix)
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

    def __init__(self, problem: Problem, n_cells: int, room: float, price: float, clock: Clock) -> None:
        self._problem, self._m, self._room, self._clock = problem, n_cells, room, clock
        self._price, self._target = price, compute_target(problem, price)
        self.best = np.empty(0, dtype=np.int64)
        self.bound = math.inf

    def run(self) -> None:
        """Go on with the part of the highest bound until none is left, or the time is over."""
        root = Relaxation.of(self._problem, self._m, self._price, self._room)
        waiting = [(-math.inf, 0, root)]
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
        return [(bound, part.take(cell)), (bound, part.drop(cell))]

    def _offer(self, part: Relaxation, sure: float) -> None:
        """Note the selection that a fractional choice is rounded to, if it is the best so far."""
        problem, x = part.problem, part.duals.x
        likely = np.argsort(-x, kind="stable")[: problem.n_cells]
        cells = np.concatenate([problem.taken, problem.cells[likely[x[likely] > sure]]])
        groups = np.unique(take_rows(self._problem.members, cells).indices)
        value = self._problem.value(cells)
        if value > self._price and self._problem.nodes[groups].sum() <= self._room:
            self.best, self._price, self._target = cells, value, compute_target(self._problem, value)


def _doubtful(part: Relaxation) -> int:
    """Return the largest cell among those that are neither in nor out, by how far they are from both."""
    problem, x = part.problem, part.duals.x
    doubt = np.minimum(x, 1.0 - x) + 1e-6
    if problem.loose:
        doubt = doubt * (problem.totals[:, 1] > 0)
    return int(np.argmax(doubt * (problem.members.sizes + 1)))


def serve_best(
    cube: Cube, repeats: CoverObjective, n_cells: int, seconds: float | None, scope: Scope = OPEN
) -> tuple[Array, float]:
    """Return the best m cells or fewer that were found in the time, and a bound on the value of any m.

    It is a whole-number programme (SciPy's HiGHS): maximise Σ y with y_q ≤ r, y_q ≤ the chosen cells that hold q, and
    at most m cells chosen. Values are whole numbers, so the solver's bound is rounded down to one.
    """
    import_modules("scipy.optimize")
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    served = Served(cube, repeats, scope)
    cells, objects = len(served.cells), len(served.left)
    if cells == 0 or n_cells == 0:
        return np.empty(0, dtype=np.int64), repeats.value0
    ones = np.ones(len(served.object_cells.indices))
    holds = sparse.csr_array((ones, served.object_cells.indices, served.object_cells.indptr), shape=(objects, cells))
    few = sparse.csr_array(np.concatenate([np.ones(cells), np.zeros(objects)])[None, :])
    both = sparse.hstack([-holds, sparse.eye_array(objects)]).tocsr()
    solved = milp(
        np.concatenate([np.zeros(cells), -np.ones(objects)]),
        constraints=[LinearConstraint(both, -np.inf, 0.0), LinearConstraint(few, -np.inf, n_cells)],
        integrality=np.ones(cells + objects),  # sums are whole by themselves, but then the solver prints nothing
        bounds=Bounds(0.0, np.concatenate([1.0 - served.taken, served.left])),
        options={"mip_rel_gap": 0.0} | ({} if seconds is None else {"time_limit": seconds}),
    )
    simple_bound = served.bound(0.0, n_cells)
    bound = (
        simple_bound
        if solved.mip_dual_bound is None
        else min(simple_bound, float(np.floor(-solved.mip_dual_bound + 1e-6)))
    )
    bound += repeats.value0
    if solved.x is None:
        return np.empty(0, dtype=np.int64), bound
    return served.cells[np.flatnonzero(solved.x[:cells] > 0.5)], bound
