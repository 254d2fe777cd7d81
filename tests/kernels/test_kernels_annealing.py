"""Annealing, step by step, against plain Python on sets that draws the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels import annealing as kernels

from slot_twin import COMMON, COST0, GAIN0, Plain

MASK = 2**64 - 1


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
    plain.assert_recounted(state, cells)
    assert state.best[: state.filled[1]].tolist() == best
    assert state.value.tolist() == [plain.value(cells), plain.value(best)]
    assert plain.total(cells, 2) <= room
    assert not plain.linked or plain.link_count(cells) <= links or not cells


steps_of_state = st.lists(st.tuples(st.sampled_from(["put", "swap", "drop"]), st.integers(0, 99)), max_size=12)


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
    kernels.weigh(choice, state, 2)
    assert state.shared[:3].tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 2]]
    kernels.take(choice, state, 0)
    kernels.close(choice, state, 0)
    plain.assert_recounted(state, [1])
    assert state.alone[0].tolist() == [1, 1, 1]


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
            kernels.take(choice, state, slot)
            kernels.close(choice, state, slot)
            cells[slot] = cells[-1]
            cells.pop()
        elif what == "swap" and cells and cell not in cells:
            kernels.take(choice, state, slot)
            kernels.put(choice, state, cell, slot)
            cells[slot] = cell
        elif what == "put" and len(cells) < 5 and cell not in cells:
            kernels.put(choice, state, cell, len(cells))
            state.filled[0] += 1
            cells.append(cell)
        plain.assert_recounted(state, cells)


@given(st.integers(0, 10**6), st.sets(st.integers(0, 8), max_size=5), st.integers(0, 8))
def test_one_look_at_a_cell_tells_its_value_in_every_slot(seed: int, some: set[int], cell: int) -> None:
    plain, cells = Plain(seed, linked=False), sorted(some - {cell})
    choice, state = plain.choice(), plain.state(5)
    kernels.start(choice, state, np.array(cells, dtype=np.int64), 0.0)
    kernels.weigh(choice, state, cell)
    for column in range(3):
        now = plain.total(cells, column)
        assert state.shared[len(cells), column] == plain.total([*cells, cell], column) - now
        for slot in range(len(cells)):
            swapped = plain.total([*cells[:slot], cell, *cells[slot + 1 :]], column)
            alone, shared = state.alone[slot, column], state.shared[slot, column]
            assert swapped == now + state.shared[len(cells), column] - alone + shared


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


def test_cost_that_is_rounding_only_is_no_cost() -> None:
    assert kernels.ratio(1.0, 1e-17, 1e-12) == 0.0
    assert kernels.ratio(1.0, 0.0, 0.0) == 0.0
    assert kernels.ratio(1.0, 2.0, 1e-12) == 0.5
