"""A choice among cells in plain Python, beside which the slots of annealing and its moves are tested."""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Ragged, links_from_pairs, ragged_from_lists, transpose
from cube2net.kernels import annealing
from cube2net.kernels.annealing import SwapProblem, SwapState

GAIN0, COST0, COMMON = 0.5, 3.0, np.array([0.0, 0.25, 1.0])


class Plain:
    """A choice among cells with lists and sets; weights are quarters, so that all sums are exact."""

    def __init__(self, seed: int, *, cells: int = 9, groups: int = 24, linked: bool = True) -> None:
        rng = np.random.default_rng(seed)
        self.sets = [
            set(rng.choice(groups, size=int(rng.integers(1, 8)), replace=False).tolist()) for _ in range(cells)
        ]
        self.worth = np.column_stack([rng.integers(-2, 9, groups) / 4, rng.integers(0, 9, groups) / 4, np.ones(groups)])
        self.worth[rng.random(groups) < 0.5] = COMMON
        self.groups = groups
        # The objects of group g are 2g and 2g + 1; the last five objects are those of the query.
        self.query = list(range(2 * groups, 2 * groups + 5))
        ends = rng.integers(0, 2 * groups + 5, size=(150, 2))
        self.links = links_from_pairs(ends[:, 0], ends[:, 1], np.ones(150), 2 * groups + 5)
        self.linked = linked
        self.key = [self.total([cell], 0) - self.total([cell], 1) / 2 for cell in range(cells)]
        pays = self.worth[:, 0] - self.worth[:, 1] / 2
        self.targets = [group for group in sorted(self.covered(list(range(cells)))) if pays[group] > 0]
        self.odds = np.cumsum(pays[self.targets])

    def covered(self, cells: list[int]) -> set[int]:
        return set().union(*(self.sets[cell] for cell in cells))

    def total(self, cells: list[int], column: int) -> float:
        return float(sum(self.worth[group, column] for group in self.covered(cells)))

    def value(self, cells: list[int]) -> float:
        return (GAIN0 + self.total(cells, 0)) / (COST0 + self.total(cells, 1))

    def link_count(self, cells: list[int]) -> int:
        network = {*self.query, *(o for group in self.covered(cells) for o in (2 * group, 2 * group + 1))}
        return sum(n in network for o in network for n in self.links.neighbours(o).tolist()) // 2

    def choice(self) -> SwapProblem:
        members = ragged_from_lists([sorted(held) for held in self.sets])
        homes = transpose(members, self.groups)
        plain = (self.worth == COMMON).all(axis=1)
        entries, starts = annealing.plain_last(members.indptr, members.indices, plain)
        none = Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))
        objects = ragged_from_lists([[2 * g, 2 * g + 1] for g in range(self.groups)]) if self.linked else none
        links = Ragged(self.links.indptr, self.links.indices) if self.linked else none
        return SwapProblem(
            members.indptr,
            entries,
            homes.indptr,
            homes.indices,
            self.worth,
            np.array([[self.total([cell], column) for column in range(3)] for cell in range(len(self.sets))]),
            np.array(self.targets, dtype=np.int64),
            self.odds,
            np.array(self.key),
            objects.indptr,
            objects.indices,
            links.indptr,
            links.indices,
            starts,
            COMMON,
        )

    def state(self, slots: int, seed: int = 0) -> SwapState:
        present = np.zeros(2 * self.groups + 5 if self.linked else 0, np.int8)
        present[self.query if self.linked else []] = 1
        return SwapState(
            chosen=np.zeros(slots, np.int64),
            slot=np.full(len(self.sets), -1, np.int64),
            covers=np.zeros(self.groups, np.int32),
            owner=np.zeros(self.groups, np.int32),
            tag=np.zeros(self.groups, np.uint8),
            alone=np.zeros((slots, 3)),
            sums=np.array([GAIN0, COST0, 0.0, self.link_count([]) if self.linked else 0.0]),
            value=np.zeros(2),
            filled=np.zeros(2, np.int64),
            best=np.zeros(slots, np.int64),
            shared=np.zeros((slots + 1, 3)),
            odds=np.zeros(slots + 1),
            counts=np.zeros((2, slots + 2), np.int64),
            present=present,
            random=np.array([seed], np.uint64),
        )

    def assert_recounted(self, state: SwapState, cells: list[int]) -> None:
        """Assert that the state is what a recount of the cells in its slots gives."""
        count = int(state.filled[0])
        assert state.chosen[:count].tolist() == cells
        assert state.slot.tolist() == [cells.index(c) if c in cells else -1 for c in range(len(self.sets))]
        for group in range(self.groups):
            slots = [slot for slot, cell in enumerate(cells) if group in self.sets[cell]]
            assert (state.covers[group], state.owner[group]) == (len(slots), sum(slots))
            assert state.tag[group] == (0 if not slots else 1 + (slots[0] if len(slots) == 1 else len(state.best)))
        assert state.sums[:3].tolist() == [
            start + self.total(cells, column) for column, start in enumerate((GAIN0, COST0, 0.0))
        ]
        assert not self.linked or state.sums[3] == self.link_count(cells)
        for slot in range(count):
            rest = cells[:slot] + cells[slot + 1 :]
            assert state.alone[slot].tolist() == [self.total(cells, c) - self.total(rest, c) for c in range(3)]
        assert not state.alone[count:].any()
