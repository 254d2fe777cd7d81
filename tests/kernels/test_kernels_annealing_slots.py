"""What is kept up while cells come and go, against a recount."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels import annealing as kernels

from slot_twin import COMMON, COST0, GAIN0, Plain

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
