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
from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array, Ragged, row_of_entries, transpose
from cube2net.selection.problem import Problem


@dataclass(frozen=True, eq=False)
class Subproblem:
    """A choice of at most m of some cells, beside those that are ``taken``.

    ``cells`` and ``taken`` are positions in the problem that it comes from. Groups have two homes or more: what
    one cell holds alone is summed in its row of ``own``. The three columns of ``own`` and ``sums`` (for groups) are
    gain, cost and nodes; ``base`` holds these of the taken cells and the constants. ``room`` is the highest number
    of nodes.
    """

    cells: Array
    taken: Array
    members: Ragged
    object_cells: Ragged
    sums: Array
    own: Array
    base: Array
    n_cells: int
    room: float

    @classmethod
    def of(cls, problem: Problem, n_cells: int, room: float = math.inf) -> Subproblem:
        """Return the whole choice of a problem; ``room`` is how many objects outside the query may be brought.

        Its groups are the problem's, those of one home among them: ``reduce`` puts these into ``own``.
        """
        cells = len(problem)
        return cls(
            cells=np.arange(cells),
            taken=np.empty(0, dtype=np.int64),
            members=problem.members,
            object_cells=problem.object_cells,
            sums=np.column_stack([problem.gain, problem.cost, problem.nodes]),
            own=np.zeros((cells, 3)),
            base=np.array([problem.gain0, problem.cost0, 0.0]),
            n_cells=n_cells,
            room=room,
        )

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"Subproblem({len(self):,} cells, {len(self.taken):,} taken, {len(self.sums):,} groups)"

    @property
    def totals(self) -> Array:
        """Gain, cost and nodes of every cell by itself, with all that others hold too."""
        row, entries = row_of_entries(self.members), self.members.indices
        shared = [np.bincount(row, column[entries], minlength=len(self)) for column in self.sums.T]
        return self.own + np.column_stack(shared)

    @property
    def loose(self) -> bool:
        """Whether a selection may have no cost, and so the value 0 whatever its gain."""
        return bool(self.base[1] == 0 and (self.base[0] > 0 or (self.totals[:, 1] == 0).any()))

    @property
    def least_cost(self) -> float:
        """The least that the sum below can be where it is above 0; infinite where it never is."""
        costs = self.totals[:, 1]
        least = float(self.base[1]) + (0.0 if len(self.taken) else float(costs.min(initial=math.inf)))
        return least if least > 0 else float(costs[costs > 0].min(initial=math.inf))

    @property
    def too_large(self) -> Array:
        """Which cells bring more nodes than there is room for."""
        return np.asarray(self.totals[:, 2] + self.base[2] > self.room)

    def take(self, chosen: Array) -> tuple[Subproblem, Merged]:
        """Return the choice of the other cells once some, given as a mask, are taken: what they hold is there."""
        there = np.zeros(len(self.sums), dtype=bool)
        there[self.members.indices[chosen[row_of_entries(self.members)]]] = True
        rest = replace(
            self,
            taken=np.concatenate([self.taken, self.cells[chosen]]),
            base=self.base + self.own[chosen].sum(axis=0) + self.sums[there].sum(axis=0),
            n_cells=self.n_cells - int(chosen.sum()),
        )
        return rest.reduce(~chosen, there)

    def drop(self, out: Array) -> tuple[Subproblem, Merged]:
        """Return the choice without some cells, given as a mask."""
        return self.reduce(~out, np.zeros(len(self.sums), dtype=bool))

    def reduce(self, kept: Array, gone: Array) -> tuple[Subproblem, Merged]:
        """Return the choice among the kept cells without the groups that are gone; groups are put together anew."""
        from cube2net.kernels.reductions import group_alike, list_placed_homes

        place = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, np.int32(-1))
        rows = (self.object_cells.indptr, self.object_cells.indices)
        held = ~gone & (
            np.bincount(row_of_entries(self.object_cells)[kept[self.object_cells.indices]], minlength=len(gone)) > 0
        )
        group = np.full(len(gone), -1, dtype=np.int32)
        group[held], first = group_alike(np.flatnonzero(held), *rows, place)
        homes = Ragged(*list_placed_homes(first, *rows, place))
        members = transpose(homes, int(kept.sum()))
        sums = np.column_stack([np.bincount(group[held], column[held], len(first)) for column in self.sums.T])
        single, shared = homes.sizes == 1, homes.sizes > 1
        own = self.own[kept]
        own[homes.indices[homes.indptr[:-1][single]]] += sums[single]
        number = np.where(shared, np.cumsum(shared) - 1, -1)
        group = np.append(number, -1)[group]
        inside = shared[members.indices]
        members = Ragged(
            np.concatenate([[0], np.cumsum(inside)])[members.indptr], number[members.indices[inside]].astype(np.int32)
        )
        homes = transpose(members, int(shared.sum()))
        rest = replace(self, cells=self.cells[kept], members=members, object_cells=homes, sums=sums[shared], own=own)
        return rest, Merged(kept, group, self.object_cells, homes)

    def needless(self, price: float) -> Array:
        """Return which cells a best selection can do without, at this price and at every higher one.

        Useless cells never raise the sum: their own worth and that of their groups worth more than 0 add to 0 at
        most, and a higher price makes everything worth less. For a dominated cell another can be chosen, or is there
        already: it holds every group of the first that is worth more than 0, and beyond the groups of the first only
        such as cost nothing and gain something, at whatever price. Where a cell may be wanted just for its cost
        (``loose``) none is needless.
        """
        from cube2net.kernels.reductions import mark_dominated

        if self.loose:
            return np.zeros(len(self), dtype=bool)
        prices, limited = np.array([1.0, -price, 0.0]), float(math.isfinite(self.room))
        worth, own = self.sums @ prices, self.own @ prices
        above = np.bincount(row_of_entries(self.members), np.maximum(worth, 0.0)[self.members.indices], len(self))
        harmless = (self.sums[:, 0] >= 0) & (self.sums[:, 1] == 0) & (limited * self.sums[:, 2] == 0)
        members, homes = self.members, self.object_cells
        rows = (members.indptr, members.indices, homes.indptr, homes.indices)
        stands_in = mark_dominated(*rows, worth > 0, harmless, own, self.own[:, 1], limited * self.own[:, 2])
        return np.asarray((own + above <= 0) | stands_in)


@dataclass(frozen=True, eq=False)
class Merged:
    """What became of cells and groups when a choice was reduced: what numbers beside them are carried along with.

    ``kept`` is the mask of the cells that are left, ``group`` the new number of every old group, −1 where it is gone
    or in one home only; ``before`` and ``after`` are the homes of the old and the new groups.
    """

    kept: Array
    group: Array
    before: Ragged
    after: Ragged


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
        share = np.maximum(-worth, 0.0) / np.maximum(problem.object_cells.sizes, 1)
        return cls(
            credit=np.maximum(worth, 0.0) / 2,
            share=np.repeat(share, problem.object_cells.sizes),
            x=np.zeros(len(problem)),
            y=(worth > 0) * 1.0,
        )

    def carry(self, merged: Merged) -> Duals:
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
    def of(cls, problem: Problem, n_cells: int, price: float, room: float = math.inf) -> Relaxation:
        """Return the whole choice of a problem; ``room`` is how many objects outside the query may be brought."""
        full = Subproblem.of(problem, n_cells, room)
        rest, merged = full.drop(full.too_large)
        return cls(rest, Duals.of(problem, price).carry(merged))

    def __len__(self) -> int:
        return len(self.problem)

    def __repr__(self) -> str:
        return f"Relaxation of {self.problem}"

    def drop(self, out: Array) -> Relaxation:
        """Return the choice without some cells, given as a mask."""
        return self._carry(*self.problem.drop(out)) if bool(out.any()) else self

    def take(self, chosen: Array) -> Relaxation:
        """Return the choice of the other cells once some, given as a mask, are taken."""
        return self._carry(*self.problem.take(chosen)) if bool(chosen.any()) else self

    def _carry(self, rest: Subproblem, merged: Merged) -> Relaxation:
        return Relaxation(rest, self.duals.carry(merged))

    def _settle(self, price: float) -> tuple[Array, Array, Array, float, Array]:
        """Return the worth of the groups, credits and shares that keep their rules, and what bounds are made of.

        These are what is there whatever is chosen, and what every cell is worth alone.
        """
        from cube2net.kernels.dual_bounds import settle

        problem, fee = self.problem, self.duals.fee
        prices = np.array([1.0, -price, -fee])
        constant = float(problem.base @ prices) + (fee * problem.room if fee > 0 else 0.0)
        worth, own = problem.sums @ prices, problem.own @ prices
        credit, share = self.duals.credit.copy(), self.duals.share.copy()
        rest, alone = settle(problem.object_cells.indptr, problem.object_cells.indices, worth, own, credit, share)
        return worth, credit, share, constant + float(rest), alone

    def bound(self, price: float) -> float:
        """Return an upper bound on Σ gain − λ·Σ cost with the constants, by the credits and shares so far."""
        *_, rest, alone = self._settle(price)
        return rest + float(np.sort(np.maximum(alone, 0.0))[::-1][: self.problem.n_cells].sum())

    def improve(self, price: float, steps: int) -> Relaxation:
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
        rows = (problem.object_cells.indptr, problem.object_cells.indices)
        rent, fee = improve(
            *rows, worth, nodes, problem.n_cells, room, steps, pace, x, credit, share, duals.rent, duals.fee
        )
        cells, groups = x[: len(self)], x[len(self) :]
        return Relaxation(problem, Duals(credit, share, cells, groups, float(rent), float(fee)))

    def decide(self, price: float, target: float) -> tuple[float, Array, Array]:
        """Return the bound, and which cells are out and which are in for every selection of ``target`` or more."""
        from cube2net.kernels.dual_bounds import with_each

        problem, n_cells = self.problem, self.problem.n_cells
        worth, credit, share, rest, alone = self._settle(price)
        order = np.concatenate([np.sort(np.maximum(alone, 0.0))[::-1], np.zeros(n_cells + 1)])
        bound = rest + float(order[:n_cells].sum())
        rent = float(order[n_cells - 1]) if n_cells > 0 else math.inf
        rows = (
            problem.members.indptr,
            problem.members.indices,
            problem.object_cells.indptr,
            problem.object_cells.indices,
        )
        if n_cells > 0:
            falls = with_each(*rows, worth, credit, share, alone - rent)
            out = bound - falls < target
        else:
            out = np.ones(len(self), dtype=bool)
        without = bound - np.maximum(0.0, alone - float(order[n_cells]))
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
            left = left.take(into).drop(out[~into])
            problem = left.problem
            if problem.n_cells < 0 or problem.base[2] > problem.room:
                return left, -math.inf
            left = left.drop(problem.needless(price) | problem.too_large)
        if done or stale >= PATIENCE or (len(left) == 0 and best < math.inf):
            return left, best
        left = left.improve(price, STEPS)
        bound, out, into = left.decide(price, target)
        little = not best - bound > LITTLE * (best - target)
        best = min(best, bound)
        if best < target or bool((out & into).any()):
            return left, best if best < target else -math.inf
        changed, done = int(out.sum() + into.sum()), over()
        many = changed >= FEW * max(1, len(left))
        stale = stale + 1 if little and not many else 0
        shrink = changed > 0 and (many or bool(into.any()) or stale >= PATIENCE or done)
