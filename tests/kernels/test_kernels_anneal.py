"""Annealing, step by step, against plain Python on sets that draws the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.arrays import links_from_pairs, ragged_from_lists, transpose
from cube2net.kernels import anneal as kernels
from cube2net.kernels import slots
from cube2net.kernels.slots import Choice, State
from cube2net.records import Ragged

MASK = 2**64 - 1
GAIN0, COST0, COMMON = 0.5, 3.0, np.array([0.0, 0.25, 1.0])
steps_of_state = st.lists(st.tuples(st.sampled_from(["put", "swap", "drop"]), st.integers(0, 99)), max_size=12)
quick = settings(deadline=None, max_examples=60)


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

    def choice(self) -> Choice:
        members = ragged_from_lists([sorted(held) for held in self.sets])
        homes = transpose(members, self.groups)
        plain = (self.worth == COMMON).all(axis=1)
        entries, starts = slots.plain_last(members.indptr, members.indices, plain)
        none = Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))
        objects = ragged_from_lists([[2 * g, 2 * g + 1] for g in range(self.groups)]) if self.linked else none
        links = Ragged(self.links.indptr, self.links.indices) if self.linked else none
        return Choice(
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

    def state(self, slots: int, seed: int = 0) -> State:
        present = np.zeros(2 * self.groups + 5 if self.linked else 0, np.int8)
        present[self.query if self.linked else []] = 1
        return State(
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

    def check(self, state: State, cells: list[int]) -> None:
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


def draws(seed: int) -> Iterator[float]:
    """Yield what splitmix64 gives, by whole numbers without an end."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        bits = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
        yield ((bits ^ (bits >> 31)) >> 11) / 2**53


def plain_propose(plain: Plain, cells: list[int], draw: Iterator[float]) -> int:
    """Return a home of a group that pays and is not covered, or any cell; as a rule the best of three by their key."""
    homes = list(range(len(plain.sets)))
    if plain.targets and next(draw) < kernels.AIMED:
        for _ in range(kernels.AGAIN):
            at = next(draw) * plain.odds[-1]
            group = next(group for group, odds in zip(plain.targets, plain.odds, strict=True) if odds > at)
            if group not in plain.covered(cells):
                break
        homes = [cell for cell, held in enumerate(plain.sets) if group in held]
    tries = kernels.TRIES if next(draw) < kernels.KEYED else 1
    drawn = [homes[int(next(draw) * len(homes))] for _ in range(tries)]
    return max(drawn, key=lambda cell: plain.key[cell])


def plain_decide(
    plain: Plain, cells: list[int], cell: int, most: int, room: float, heat: float, draw: Iterator[float]
) -> int:
    """Return the slot that the cell goes to, or −1, drawn by exp(value / heat)."""
    ways = [[*cells[:slot], cell, *cells[slot + 1 :]] for slot in range(len(cells))] + [[*cells, cell]]
    values = [plain.value(way) if plain.total(way, 2) <= room and len(way) <= most else -math.inf for way in ways]
    top = max(*values, plain.value(cells))
    odds = [math.exp((value - top) / heat) if (value - top) / heat > -kernels.FARTHEST else 0.0 for value in values]
    stay = math.exp((plain.value(cells) - top) / heat)
    left = next(draw) * (stay + sum(odds)) - stay
    if left < 0:
        return -1
    for slot, odd in enumerate(odds):
        left -= odd
        if left < 0:
            return slot
    return -1


def plain_cool(
    plain: Plain, cells: list[int], steps: int, hot: float, cold: float, most: int, room: float, links: float, seed: int
) -> tuple[list[int], list[int]]:
    """Return the cells at the end of a cooling, and the best."""
    draw, cells, best = draws(seed), list(cells), list(cells)
    for step in range(steps):
        heat = hot * (cold / hot) ** (step // kernels.SMOOTH * kernels.SMOOTH / steps)
        changed = list(cells)
        if cells and next(draw) < kernels.DROPS:
            slot = int(next(draw) * len(cells))
            changed[slot] = changed[-1]
            changed.pop()
            fall = plain.value(changed) - plain.value(cells)
            if next(draw) >= math.exp(min(0.0, fall) / heat):
                continue
        else:
            cell = plain_propose(plain, cells, draw)
            if cell in cells:
                continue
            slot = plain_decide(plain, cells, cell, most, room, heat, draw)
            if slot < 0:
                continue
            changed[slot : slot + 1] = [cell]
            if plain.linked and plain.link_count(changed) > links:
                continue
        cells = changed
        if plain.value(cells) > plain.value(best) * (1 + 1e-12):
            best = list(cells)
    return cells, best


def test_the_numbers_drawn_are_those_of_splitmix64() -> None:
    for seed in (0, 1, 2**63 - 1, MASK):
        random, twin = np.array([seed], np.uint64), draws(seed)
        assert [kernels.draw(random) for _ in range(5)] == [next(twin) for _ in range(5)]


def test_three_cells_by_hand() -> None:
    plain = Plain(0, linked=False)
    plain.sets = [{0, 1}, {1, 2}, {3}]
    plain.worth[:4] = [[1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 2, 2]]
    choice, state = plain.choice(), plain.state(3)
    lost = kernels.start(choice, state, np.array([0, 1]), 0.0)
    assert state.sums.tolist() == [GAIN0 + 2, COST0 + 1, 1, 0]
    assert state.alone[:2].tolist() == [[1, 0, 0], [0, 1, 1]]
    assert state.value.tolist() == [2.5 / 4] * 2
    assert lost == ((2.5 / 4 - 1.5 / 4) + (2.5 / 4 - 2.5 / 3)) / 2
    slots.weigh(choice, state, 2)
    assert state.shared[:3].tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 2]]
    slots.take(choice, state, 0)
    slots.close(choice, state, 0)
    plain.check(state, [1])
    assert state.alone[0].tolist() == [1, 1, 1]


@quick
@given(st.integers(0, 10**6), steps_of_state, st.booleans())
def test_what_is_kept_up_equals_a_recount_whatever_comes_and_goes(
    seed: int, steps: list[tuple[str, int]], linked: bool
) -> None:
    plain = Plain(seed, linked=linked)
    choice, state = plain.choice(), plain.state(5)
    cells: list[int] = []
    for what, number in steps:
        cell, slot = number % len(plain.sets), number % max(1, len(cells))
        if what == "drop" and cells:
            slots.take(choice, state, slot)
            slots.close(choice, state, slot)
            cells[slot] = cells[-1]
            cells.pop()
        elif what == "swap" and cells and cell not in cells:
            slots.take(choice, state, slot)
            slots.put(choice, state, cell, slot)
            cells[slot] = cell
        elif what == "put" and len(cells) < 5 and cell not in cells:
            slots.put(choice, state, cell, len(cells))
            state.filled[0] += 1
            cells.append(cell)
        plain.check(state, cells)


@quick
@given(st.integers(0, 10**6), st.sets(st.integers(0, 8), max_size=5), st.integers(0, 8))
def test_one_look_at_a_cell_tells_its_value_in_every_slot(seed: int, some: set[int], cell: int) -> None:
    plain, cells = Plain(seed, linked=False), sorted(some - {cell})
    choice, state = plain.choice(), plain.state(5)
    kernels.start(choice, state, np.array(cells, dtype=np.int64), 0.0)
    slots.weigh(choice, state, cell)
    for column in range(3):
        now = plain.total(cells, column)
        assert state.shared[len(cells), column] == plain.total([*cells, cell], column) - now
        for slot in range(len(cells)):
            swapped = plain.total([*cells[:slot], cell, *cells[slot + 1 :]], column)
            alone, shared = state.alone[slot, column], state.shared[slot, column]
            assert swapped == now + state.shared[len(cells), column] - alone + shared


@quick
@given(st.integers(0, 10**6), st.sets(st.integers(0, 8), max_size=5))
def test_cells_are_proposed_and_placed_as_plain_python_does(seed: int, some: set[int]) -> None:
    plain, cells = Plain(seed), sorted(some)
    choice, state, draw = plain.choice(), plain.state(5, seed), draws(seed)
    kernels.start(choice, state, np.array(cells, dtype=np.int64), 0.0)
    for room, heat in ((math.inf, 0.1), (9.0, 0.5), (0.0, 1.0)):
        cell = kernels.propose(choice, state)
        assert cell == plain_propose(plain, cells, draw)
        if cell not in cells:
            slots.weigh(choice, state, cell)
            slot = kernels.decide(state, room, 0.0, heat)
            assert slot == plain_decide(plain, cells, cell, 5, room, heat, draw)


@quick
@given(st.integers(0, 10**6))
def test_plain_groups_come_last_in_their_rows_and_none_is_lost(seed: int) -> None:
    plain = Plain(seed)
    choice = plain.choice()
    for cell, held in enumerate(plain.sets):
        first, start, end = choice.members_indptr[cell], choice.plain[cell], choice.members_indptr[cell + 1]
        row = choice.members_indices[first:end].tolist()
        common = [bool((plain.worth[group] == COMMON).all()) for group in row]
        assert set(row) == held
        assert common == [False] * int(start - first) + [True] * int(end - start)


def test_without_a_group_that_pays_any_cell_is_proposed() -> None:
    plain = Plain(1)
    plain.targets, plain.odds = [], np.empty(0)
    choice, state = plain.choice(), plain.state(2, 5)
    assert {kernels.propose(choice, state) for _ in range(300)} == set(range(len(plain.sets)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("room", "links"), [(math.inf, math.inf), (9.0, math.inf), (math.inf, 60.0), (12.0, 70.0)])
def test_a_cooling_ends_where_plain_python_ends(seed: int, room: float, links: float) -> None:
    plain = Plain(seed, linked=math.isfinite(links))
    choice, state = plain.choice(), plain.state(4, seed)
    kernels.start(choice, state, np.empty(0, np.int64), 0.0)
    # in two parts: a cooling may be interrupted anywhere
    for first, last in ((0, 128), (128, 300)):
        kernels.cool(choice, state, first, last, 300, 0.2, 0.005, room, links, 0.0)
    cells, best = plain_cool(plain, [], 300, 0.2, 0.005, 4, room, links, seed)
    plain.check(state, cells)
    assert state.best[: state.filled[1]].tolist() == best
    assert state.value.tolist() == [plain.value(cells), plain.value(best)]
    assert plain.total(cells, 2) <= room
    assert not plain.linked or plain.link_count(cells) <= links or not cells


def test_cost_that_is_rounding_only_is_no_cost() -> None:
    assert slots.ratio(1.0, 1e-17, 1e-12) == 0.0
    assert slots.ratio(1.0, 0.0, 0.0) == 0.0
    assert slots.ratio(1.0, 2.0, 1e-12) == 0.5
