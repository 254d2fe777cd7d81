"""The few cells that narrow some objects down, against hand and brute force."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import ragged_from_lists
from cube2net.explanation.drill import DrillDown, drill_down

Cells = tuple[list[int], list[list[int]]]
"""How many objects each cell holds, and which of those asked for."""


def narrow(cells: Cells, count: int, whole: int, k: int) -> DrillDown:
    return drill_down(ragged_from_lists(cells[1]), np.array(cells[0], np.int64), count, whole, k)


def value(cells: Cells, chosen: tuple[int, ...], whole: int, count: int) -> float:
    """Return the bits that some cells save, object by object."""
    saved = [0.0] * count
    for cell in chosen:
        for place in cells[1][cell]:
            saved[place] = max(saved[place], math.log2(whole / cells[0][cell]))
    return sum(saved)


def test_three_cells_by_hand() -> None:
    cells = ([32, 8, 8], [[0, 1, 2, 3], [0, 1], [4]])
    found = narrow(cells, 5, 64, 2)
    # The first saves 1 bit for four objects, the second 3 for two, the third 3 for one.
    assert found.cells.tolist() == [1, 2]
    assert (found.bits.tolist(), found.new.tolist()) == ([6.0, 3.0], [2, 1])
    assert found.held.tolist() == [True, True, False, False, True]
    assert narrow(cells, 5, 64, 3).cells.tolist() == [1, 2, 0]
    assert narrow(cells, 5, 64, 3).bits.tolist() == [6.0, 3.0, 2.0]


def test_a_smaller_cell_within_a_listed_one_still_narrows_what_it_holds() -> None:
    found = narrow(([32, 4], [[0, 1, 2, 3, 4, 5, 6, 7], [0]]), 8, 64, 5)
    assert (found.cells.tolist(), found.bits.tolist(), found.new.tolist()) == ([0, 1], [8.0, 3.0], [8, 0])
    assert found.bound == pytest.approx(11.0)


def test_a_cell_as_large_as_the_one_above_saves_nothing() -> None:
    found = narrow(([64], [[0, 1]]), 2, 64, 5)
    assert (len(found.cells), found.bound, found.held.tolist()) == (0, 0.0, [False, False])


def test_of_cells_that_save_the_same_the_first_is_taken() -> None:
    assert narrow(([8, 8, 8], [[0, 1], [0, 1], [0, 1]]), 2, 64, 5).cells.tolist() == [0]


def test_without_cells_there_is_nothing_to_take() -> None:
    found = narrow(([], []), 3, 64, 5)
    assert (len(found.cells), found.bound) == (0, 0.0)


WHOLE = 100
CELLS = st.lists(
    st.tuples(st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True).map(sorted), st.integers(0, WHOLE - 8)),
    min_size=1,
    max_size=7,
)


@given(cells=CELLS, k=st.integers(1, 4))
def test_every_step_adds_most_and_no_choice_passes_the_bound(cells: list[tuple[list[int], int]], k: int) -> None:
    made = ([len(members) + others for members, others in cells], [members for members, _ in cells])
    found = narrow(made, 8, WHOLE, k)
    chosen = tuple(found.cells.tolist())
    for step in range(len(chosen) + 1):
        before = value(made, chosen[:step], WHOLE, 8)
        adds = [value(made, (*chosen[:step], cell), WHOLE, 8) - before for cell in range(len(made[0]))]
        if step < len(chosen):
            assert adds[chosen[step]] == pytest.approx(max(adds)) == pytest.approx(found.bits[step])
        elif len(chosen) < k:
            assert max(adds) == pytest.approx(0)
    best = max(value(made, some, WHOLE, 8) for some in combinations(range(len(made[0])), min(k, len(made[0]))))
    total = value(made, chosen, WHOLE, 8)
    assert total == pytest.approx(found.bits.sum())
    assert (1 - 1 / math.e) * best <= total + 1e-9 and total <= best + 1e-9 and best <= found.bound + 1e-9
