"""How much any choice of cells can be worth: a bound that is found much faster than a proof."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError
from cube2net.records import Budget, Cube, Judge, Query, Repeats, Selection, Weights, Worth
from cube2net.select.contract import Clock, check
from cube2net.select.greedy import priced_greedy
from cube2net.select.problem import Problem
from cube2net.select.prove.duals import Relaxation, tighten

# How often the price is raised; how near, as shares, two prices and two values are the same.
RAISES, NEAR, EQUAL = 6, 1e-4, 1e-10
# How fine a number may be, in binary digits after the point, for sums to be counted in units; what rounding changes.
FINEST, DIGITS = 20, 4e-16


def bounded(cube: Cube, query: Query, weights: Worth, budget: Budget, selection: Selection) -> Selection:
    """Return the selection with the best bound known, or with a note that says why there is none."""
    reason = ""
    if len(selection.cells) == 0:
        reason = "no cells were chosen"
    elif isinstance(weights, Repeats):
        return selection
    elif isinstance(weights, Judge):
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
    cube: Cube, query: Query, weights: Worth, budget: Budget, *, at_least: float, seconds: float | None = 20.0
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
        who = f"{weights.name} is a function of the objects" if isinstance(weights, Judge) else "'cover' counts repeats"
        raise ParameterError(
            f"{who}, and a bound needs weighted counts: leave the bound out, or use an objective that counts"
        )
    check(cube, query, weights)
    clock, room = Clock(seconds), room_of(query, budget)
    problem = Problem.of(cube, query, weights)
    price = max(at_least, problem.ratio(0.0, 0.0))
    if room < 0 or len(problem) == 0 or budget.m == 0:
        return price
    price = max(price, priced_greedy(problem, budget.m, max_nodes=room)[1])
    problem = Problem.of(cube, query, weights, at_least=price)
    left = Relaxation.of(problem, budget.m, price, room)
    return most_worth(left, price, target_of(problem, price), clock)


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


def room_of(query: Query, budget: Budget) -> float:
    """Return how many objects outside the query may be brought; below 0 where even the query has too many."""
    return math.inf if budget.max_nodes is None else float(budget.max_nodes - len(query))


def target_of(problem: Problem, price: float) -> float:
    """Return what Σ gain − price·Σ cost with the constants reaches for every selection worth more than the price.

    Let all gains be whole multiples of s and all costs of t (units that are powers of two, or multiples of such),
    and the price (a/b)·(s/t) with whole a and b. The sum is then a multiple of s/b: above 0 it is s/b at the
    least. Half of that is returned, which leaves room for rounding. For other weights it is so little that a
    value above the price by less than that is the same value.

    >>> import types
    >>> jaccard = types.SimpleNamespace(gain=np.array([1.0, 0.0]), cost=np.array([0.0, 3.0]), gain0=0.0, cost0=5.0)
    >>> target_of(jaccard, 2 / 8)
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
    whole = values * 2.0**FINEST
    if not bool((whole == np.round(whole)).all()) or float(np.abs(whole).sum()) >= 2.0**52:
        return 0.0
    return float(np.gcd.reduce(np.abs(whole).astype(np.int64))) / 2.0**FINEST
