"""What is left of a choice among cells once those are out that no better selection holds.

At a price λ a group of objects is worth w = gain − λ·cost, and a selection is worth more than λ exactly where
gain₀ − λ·cost₀ + Σ w over the groups it holds is above 0. ``kernels.presolve`` bounds that sum from above for
all selections, and for those that hold one given cell, or do not. A cell is out for good when the bound with it
is below the target: a selection that holds it is not better. It is in for good when the bound without it is.
Fewer cells hold fewer groups that they share, so what is left is smaller in every way, and bounded more tightly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries, transpose
from cube2net.records import Ragged
from cube2net.select.problem import Problem

# Steps between two looks at the bound; how many looks may change little; what is little, as shares of bound and cells.
STEPS, PATIENCE, LITTLE, FEW = 100, 2, 0.02, 0.1
PACE = 0.5


@dataclass(frozen=True, eq=False)
class Remains:
    """A choice of at most m of some cells, beside those that are ``taken``, and the best credits and shares so far.

    ``cells`` and ``taken`` are positions in the problem that it comes from. Groups have two homes or more: what
    one cell holds alone is summed in its row of ``own``. The three columns of ``own`` and ``sums`` (for groups) are
    gain, cost and nodes; ``base`` holds these of the taken cells and the constants. ``room`` is the highest number
    of nodes. ``x`` and ``y`` are a fractional choice of cells and groups; ``fee`` is a price on nodes.
    """

    cells: Array
    taken: Array
    members: Ragged
    homes: Ragged
    sums: Array
    own: Array
    base: Array
    m: int
    room: float
    credit: Array
    share: Array
    x: Array
    y: Array
    rent: float = 0.0
    fee: float = 0.0

    @classmethod
    def of(cls, problem: Problem, m: int, price: float, room: float = math.inf) -> Remains:
        """Return the whole choice of a problem; ``room`` is how many objects outside the query may be brought."""
        cells = len(problem)
        worth = problem.gain - price * problem.cost
        share = np.maximum(-worth, 0.0) / np.maximum(problem.homes.sizes, 1)
        sums = np.column_stack([problem.gain, problem.cost, problem.nodes])
        whole = cls(
            cells=np.arange(cells),
            taken=np.empty(0, dtype=np.int64),
            members=problem.members,
            homes=problem.homes,
            sums=sums,
            own=np.zeros((cells, 3)),
            base=np.array([problem.gain0, problem.cost0, 0.0]),
            m=m,
            room=room,
            credit=np.maximum(worth, 0.0) / 2,
            share=np.repeat(share, problem.homes.sizes),
            x=np.zeros(cells),
            y=(worth > 0) * 1.0,
        )
        return whole._rebuilt(whole.totals[:, 2] <= room, np.zeros(len(sums), dtype=bool))

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"Remains({len(self):,} cells, {len(self.taken):,} taken, {len(self.sums):,} groups)"

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

    def without(self, out: Array) -> Remains:
        """Return the choice without some cells, given as a mask."""
        return self._rebuilt(~out, np.zeros(len(self.sums), dtype=bool)) if bool(out.any()) else self

    def taking(self, chosen: Array) -> Remains:
        """Return the choice of the other cells once some, given as a mask, are taken: what they hold is there."""
        if not bool(chosen.any()):
            return self
        there = np.zeros(len(self.sums), dtype=bool)
        there[self.members.indices[chosen[row_of_entries(self.members)]]] = True
        rest = replace(
            self,
            taken=np.concatenate([self.taken, self.cells[chosen]]),
            base=self.base + self.own[chosen].sum(axis=0) + self.sums[there].sum(axis=0),
            m=self.m - int(chosen.sum()),
        )
        return rest._rebuilt(~chosen, there)

    def _rebuilt(self, kept: Array, gone: Array) -> Remains:
        """Return the choice among the kept cells without the groups that are gone; groups are put together anew."""
        from cube2net.kernels.fold import alike, placed_homes, turned
        from cube2net.kernels.presolve import carry

        place = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, np.int32(-1))
        rows = (self.homes.indptr, self.homes.indices)
        held = ~gone & (np.bincount(row_of_entries(self.homes)[kept[self.homes.indices]], minlength=len(gone)) > 0)
        group = np.full(len(gone), -1, dtype=np.int32)
        group[held], first = alike(np.flatnonzero(held), *rows, place)
        groups = len(first)
        homes = Ragged(*placed_homes(first, *rows, place))
        members = Ragged(*turned(homes.indptr, homes.indices, int(kept.sum())))
        sums = np.column_stack([np.bincount(group[held], column[held], groups) for column in self.sums.T])
        single, shared = homes.sizes == 1, homes.sizes > 1
        own = self.own[kept]
        own[homes.indices[homes.indptr[:-1][single]]] += sums[single]
        number = np.where(shared, np.cumsum(shared) - 1, -1)
        group = np.append(number, -1)[group]
        held = group >= 0
        inside = shared[members.indices]
        members = Ragged(
            np.concatenate([[0], np.cumsum(inside)])[members.indptr], number[members.indices[inside]].astype(np.int32)
        )
        groups = int(shared.sum())
        homes = transpose(members, groups)
        share = carry(group, self.homes.indptr, self.homes.indices, kept, self.share, homes.indptr, len(homes.indices))
        y = np.zeros(groups)
        y[group[held]] = self.y[held]
        return replace(
            self,
            cells=self.cells[kept],
            members=members,
            homes=homes,
            sums=sums[shared],
            own=own,
            credit=np.bincount(group[held], self.credit[held], groups),
            share=share,
            x=self.x[kept],
            y=y,
        )

    def priced(self, price: float) -> tuple[Array, Array, float]:
        """Return the worth of the groups, what each cell is worth of its own, and the constant, at a price."""
        prices = np.array([1.0, -price, -self.fee])
        constant = float(self.base @ prices) + (self.fee * self.room if self.fee > 0 else 0.0)
        return self.sums @ prices, self.own @ prices, constant

    def bound(self, price: float) -> float:
        """Return an upper bound on Σ gain − λ·Σ cost with the constants, by the credits and shares so far."""
        from cube2net.kernels.presolve import settle

        worth, own, constant = self.priced(price)
        rest, alone = settle(self.homes.indptr, self.homes.indices, worth, own, self.credit.copy(), self.share.copy())
        return constant + float(rest) + float(np.sort(np.maximum(alone, 0.0))[::-1][: self.m].sum())

    def improved(self, price: float, steps: int) -> Remains:
        """Return the same choice with better credits and shares (in most cases; the bound may rise a little)."""
        from cube2net.kernels.presolve import improve

        prices = np.array([1.0, -price, 0.0])
        worth = np.concatenate([self.own @ prices, self.sums @ prices])
        nodes = np.concatenate([self.own[:, 2], self.sums[:, 2]])
        above = worth[len(self) :][worth[len(self) :] > 0]
        pace = PACE * float(above.mean()) if len(above) else 1.0
        x, credit, share = np.concatenate([self.x, self.y]), self.credit.copy(), self.share.copy()
        room = self.room - float(self.base[2])
        rows = (self.homes.indptr, self.homes.indices)
        rent, fee = improve(*rows, worth, nodes, self.m, room, steps, pace, x, credit, share, self.rent, self.fee)
        cells, groups = x[: len(self)], x[len(self) :]
        return replace(self, x=cells, y=groups, credit=credit, share=share, rent=float(rent), fee=float(fee))

    def decided(self, price: float, target: float) -> tuple[float, Array, Array]:
        """Return the bound, and which cells are out and which are in for every selection of ``target`` or more."""
        from cube2net.kernels.presolve import settle, with_each

        worth, own, constant = self.priced(price)
        credit, share = self.credit.copy(), self.share.copy()
        rows = (self.homes.indptr, self.homes.indices)
        rest, alone = settle(*rows, worth, own, credit, share)
        order = np.concatenate([np.sort(np.maximum(alone, 0.0))[::-1], np.zeros(self.m + 1)])
        bound = constant + float(rest) + float(order[: self.m].sum())
        rent = float(order[self.m - 1]) if self.m > 0 else math.inf
        members = (self.members.indptr, self.members.indices)
        if self.m > 0:
            falls = with_each(*members, *rows, worth, credit, share, alone - rent)
            out = bound - falls < target
        else:
            out = np.ones(len(self), dtype=bool)
        without = bound - np.maximum(0.0, alone - float(order[self.m]))
        return bound, out, without < target

    def needless(self, price: float) -> Array:
        """Return which cells a best selection can do without, at this price and at every higher one.

        Useless cells never raise the sum: their own worth and that of their groups worth more than 0 add to 0 at
        most, and a higher price makes everything worth less. For a dominated cell another can be chosen, or is there
        already: it holds every group of the first that is worth more than 0, and beyond the groups of the first only
        such as cost nothing and gain something, at whatever price. Where a cell may be wanted just for its cost
        (``loose``) none is needless.
        """
        from cube2net.kernels.presolve import dominated

        if self.loose:
            return np.zeros(len(self), dtype=bool)
        prices, limited = np.array([1.0, -price, 0.0]), float(math.isfinite(self.room))
        worth, own = self.sums @ prices, self.own @ prices
        above = np.bincount(row_of_entries(self.members), np.maximum(worth, 0.0)[self.members.indices], len(self))
        harmless = (self.sums[:, 0] >= 0) & (self.sums[:, 1] == 0) & (limited * self.sums[:, 2] == 0)
        members, homes = self.members, self.homes
        rows = (members.indptr, members.indices, homes.indptr, homes.indices)
        stands_in = dominated(*rows, worth > 0, harmless, own, self.own[:, 1], limited * self.own[:, 2])
        return np.asarray((own + above <= 0) | stands_in)


def tighten(left: Remains, price: float, target: float, over: Callable[[], bool]) -> tuple[Remains, float]:
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
            if left.m < 0 or left.base[2] > left.room:
                return left, -math.inf
            left = left.without(left.needless(price) | (left.totals[:, 2] + left.base[2] > left.room))
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
