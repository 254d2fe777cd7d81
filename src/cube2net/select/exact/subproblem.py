"""What is left of a choice among cells once some are taken and others are out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries, transpose
from cube2net.records import Ragged
from cube2net.select.problem import Problem


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
    homes: Ragged
    sums: Array
    own: Array
    base: Array
    m: int
    room: float

    @classmethod
    def of(cls, problem: Problem, m: int, room: float = math.inf) -> Subproblem:
        """Return the whole choice of a problem; ``room`` is how many objects outside the query may be brought.

        Its groups are the problem's, those of one home among them: ``reduced`` puts these into ``own``.
        """
        cells = len(problem)
        return cls(
            cells=np.arange(cells),
            taken=np.empty(0, dtype=np.int64),
            members=problem.members,
            homes=problem.homes,
            sums=np.column_stack([problem.gain, problem.cost, problem.nodes]),
            own=np.zeros((cells, 3)),
            base=np.array([problem.gain0, problem.cost0, 0.0]),
            m=m,
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

    def taking(self, chosen: Array) -> tuple[Subproblem, Merged]:
        """Return the choice of the other cells once some, given as a mask, are taken: what they hold is there."""
        there = np.zeros(len(self.sums), dtype=bool)
        there[self.members.indices[chosen[row_of_entries(self.members)]]] = True
        rest = replace(
            self,
            taken=np.concatenate([self.taken, self.cells[chosen]]),
            base=self.base + self.own[chosen].sum(axis=0) + self.sums[there].sum(axis=0),
            m=self.m - int(chosen.sum()),
        )
        return rest.reduced(~chosen, there)

    def without(self, out: Array) -> tuple[Subproblem, Merged]:
        """Return the choice without some cells, given as a mask."""
        return self.reduced(~out, np.zeros(len(self.sums), dtype=bool))

    def reduced(self, kept: Array, gone: Array) -> tuple[Subproblem, Merged]:
        """Return the choice among the kept cells without the groups that are gone; groups are put together anew."""
        from cube2net.kernels.reductions import alike, placed_homes, turned

        place = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, np.int32(-1))
        rows = (self.homes.indptr, self.homes.indices)
        held = ~gone & (np.bincount(row_of_entries(self.homes)[kept[self.homes.indices]], minlength=len(gone)) > 0)
        group = np.full(len(gone), -1, dtype=np.int32)
        group[held], first = alike(np.flatnonzero(held), *rows, place)
        homes = Ragged(*placed_homes(first, *rows, place))
        members = Ragged(*turned(homes.indptr, homes.indices, int(kept.sum())))
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
        rest = replace(self, cells=self.cells[kept], members=members, homes=homes, sums=sums[shared], own=own)
        return rest, Merged(kept, group, self.homes, homes)

    def needless(self, price: float) -> Array:
        """Return which cells a best selection can do without, at this price and at every higher one.

        Useless cells never raise the sum: their own worth and that of their groups worth more than 0 add to 0 at
        most, and a higher price makes everything worth less. For a dominated cell another can be chosen, or is there
        already: it holds every group of the first that is worth more than 0, and beyond the groups of the first only
        such as cost nothing and gain something, at whatever price. Where a cell may be wanted just for its cost
        (``loose``) none is needless.
        """
        from cube2net.kernels.reductions import dominated

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
