"""Bounds on what a choice among cells can be worth, from prices on what cells share.

At a price λ a group of objects is worth w = gain − λ·cost, and a selection is worth more than λ exactly where
gain₀ − λ·cost₀ + Σ w over the groups it holds is above 0. ``kernels.dual_bounds`` bounds that sum from above for
all selections, and for those that hold one given cell, or do not. A cell is out for good when the bound with it
is below the target: a selection that holds it is not better. It is in for good when the bound without it is.
Fewer cells hold fewer groups that they share, so what is left is smaller in every way, and bounded more tightly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.select.exact.subproblem import Merged, Subproblem
from cube2net.select.problem import Problem

# Steps between two looks at the bound; how many looks may change little; what is little, as shares of bound and cells.
STEPS, PATIENCE, LITTLE, FEW = 100, 2, 0.02, 0.1
PACE = 0.5


@dataclass(frozen=True, eq=False)
class Duals:
    """The best credits and shares so far, and the fractional choice ``x`` of cells and ``y`` of groups beside them.

    ``rent`` is a price on cells, ``fee`` one on nodes.
    """

    credit: Array
    share: Array
    x: Array
    y: Array
    rent: float = 0.0
    fee: float = 0.0

    @classmethod
    def of(cls, problem: Problem, price: float) -> Duals:
        """Return what to begin with: half of a worth above 0 is credit, and one below 0 is shared equally."""
        worth = problem.gain - price * problem.cost
        share = np.maximum(-worth, 0.0) / np.maximum(problem.homes.sizes, 1)
        return cls(
            credit=np.maximum(worth, 0.0) / 2,
            share=np.repeat(share, problem.homes.sizes),
            x=np.zeros(len(problem)),
            y=(worth > 0) * 1.0,
        )

    def carried(self, merged: Merged) -> Duals:
        """Return the same for a choice that was reduced: those of groups that were put together are added up."""
        from cube2net.kernels.dual_bounds import carry

        kept, group, before, after = merged.kept, merged.group, merged.before, merged.after
        held, groups = group >= 0, len(after)
        y = np.zeros(groups)
        y[group[held]] = self.y[held]
        return Duals(
            credit=np.bincount(group[held], self.credit[held], groups),
            share=carry(group, before.indptr, before.indices, kept, self.share, after.indptr, len(after.indices)),
            x=self.x[kept],
            y=y,
            rent=self.rent,
            fee=self.fee,
        )


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A subproblem and its duals so far; what is left out of the one is left out of the other."""

    problem: Subproblem
    duals: Duals

    @classmethod
    def of(cls, problem: Problem, m: int, price: float, room: float = math.inf) -> Relaxation:
        """Return the whole choice of a problem; ``room`` is how many objects outside the query may be brought."""
        whole = Subproblem.of(problem, m, room)
        rest, merged = whole.without(whole.too_large)
        return cls(rest, Duals.of(problem, price).carried(merged))

    def __len__(self) -> int:
        return len(self.problem)

    def __repr__(self) -> str:
        return f"Relaxation of {self.problem}"

    def without(self, out: Array) -> Relaxation:
        """Return the choice without some cells, given as a mask."""
        return self._carried(*self.problem.without(out)) if bool(out.any()) else self

    def taking(self, chosen: Array) -> Relaxation:
        """Return the choice of the other cells once some, given as a mask, are taken."""
        return self._carried(*self.problem.taking(chosen)) if bool(chosen.any()) else self

    def _carried(self, rest: Subproblem, merged: Merged) -> Relaxation:
        return Relaxation(rest, self.duals.carried(merged))

    def _settled(self, price: float) -> tuple[Array, Array, Array, float, Array]:
        """Return the worth of the groups, credits and shares that keep their rules, and what bounds are made of.

        These are what is there whatever is chosen, and what every cell is worth alone.
        """
        from cube2net.kernels.dual_bounds import settle

        problem, fee = self.problem, self.duals.fee
        prices = np.array([1.0, -price, -fee])
        constant = float(problem.base @ prices) + (fee * problem.room if fee > 0 else 0.0)
        worth, own = problem.sums @ prices, problem.own @ prices
        credit, share = self.duals.credit.copy(), self.duals.share.copy()
        rest, alone = settle(problem.homes.indptr, problem.homes.indices, worth, own, credit, share)
        return worth, credit, share, constant + float(rest), alone

    def bound(self, price: float) -> float:
        """Return an upper bound on Σ gain − λ·Σ cost with the constants, by the credits and shares so far."""
        *_, rest, alone = self._settled(price)
        return rest + float(np.sort(np.maximum(alone, 0.0))[::-1][: self.problem.m].sum())

    def improved(self, price: float, steps: int) -> Relaxation:
        """Return the same choice with better credits and shares (in most cases; the bound may rise a little)."""
        from cube2net.kernels.dual_bounds import improve

        problem, duals = self.problem, self.duals
        prices = np.array([1.0, -price, 0.0])
        worth = np.concatenate([problem.own @ prices, problem.sums @ prices])
        nodes = np.concatenate([problem.own[:, 2], problem.sums[:, 2]])
        above = worth[len(self) :][worth[len(self) :] > 0]
        pace = PACE * float(above.mean()) if len(above) else 1.0
        x, credit, share = np.concatenate([duals.x, duals.y]), duals.credit.copy(), duals.share.copy()
        room = problem.room - float(problem.base[2])
        rows = (problem.homes.indptr, problem.homes.indices)
        rent, fee = improve(*rows, worth, nodes, problem.m, room, steps, pace, x, credit, share, duals.rent, duals.fee)
        cells, groups = x[: len(self)], x[len(self) :]
        return Relaxation(problem, Duals(credit, share, cells, groups, float(rent), float(fee)))

    def decided(self, price: float, target: float) -> tuple[float, Array, Array]:
        """Return the bound, and which cells are out and which are in for every selection of ``target`` or more."""
        from cube2net.kernels.dual_bounds import with_each

        problem, m = self.problem, self.problem.m
        worth, credit, share, rest, alone = self._settled(price)
        order = np.concatenate([np.sort(np.maximum(alone, 0.0))[::-1], np.zeros(m + 1)])
        bound = rest + float(order[:m].sum())
        rent = float(order[m - 1]) if m > 0 else math.inf
        rows = (problem.members.indptr, problem.members.indices, problem.homes.indptr, problem.homes.indices)
        if m > 0:
            falls = with_each(*rows, worth, credit, share, alone - rent)
            out = bound - falls < target
        else:
            out = np.ones(len(self), dtype=bool)
        without = bound - np.maximum(0.0, alone - float(order[m]))
        return bound, out, without < target


def tighten(left: Relaxation, price: float, target: float, over: Callable[[], bool]) -> tuple[Relaxation, float]:
    """Return what is left of a choice, and a bound on Σ gain − price·Σ cost with the constants.

    It ends when the bound is below ``target`` (no selection reaches it; −∞ where that is all one knows), when looks in
    succession change little, or when the time is ``over``.
    """
    best, stale = math.inf, -1
    into = out = np.zeros(len(left), dtype=bool)
    shrink, done = True, False
    while True:
        if shrink:
            left = left.taking(into).without(out[~into])
            problem = left.problem
            if problem.m < 0 or problem.base[2] > problem.room:
                return left, -math.inf
            left = left.without(problem.needless(price) | problem.too_large)
        if done or stale >= PATIENCE or (len(left) == 0 and best < math.inf):
            return left, best
        left = left.improved(price, STEPS)
        bound, out, into = left.decided(price, target)
        little = not best - bound > LITTLE * (best - target)
        best = min(best, bound)
        if best < target or bool((out & into).any()):
            return left, best if best < target else -math.inf
        changed, done = int(out.sum() + into.sum()), over()
        many = changed >= FEW * max(1, len(left))
        stale = stale + 1 if little and not many else 0
        shrink = changed > 0 and (many or bool(into.any()) or stale >= PATIENCE or done)
