"""Sums of cells that are kept up, against sums over sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, Ragged
from cube2net.kernels import coverage
from cube2net.model.cube import Cube
from cube2net.model.selection import CoverObjective
from cube2net.selection.greedy import Served, Sums

from toys import random_cube


@given(st.integers(0, 10**6), st.lists(st.integers(0, 11), max_size=6, unique=True), st.booleans())
def test_sums_are_those_of_the_members_that_no_chosen_cell_holds(seed: int, chosen: list[int], dense: bool) -> None:
    cube, rng = random_cube(seed), np.random.default_rng(seed)
    terms = np.tile([-0.25, 1.0], (40, 1))
    rows = np.sort(rng.choice(40, size=int(rng.integers(0, 12)), replace=False))
    terms[rows] = rng.integers(-4, 9, (len(rows), 2)) / 4
    cells = np.flatnonzero(rng.random(12) < 0.8)
    given_terms = (None, terms) if dense else (rows, terms[rows])
    sums = Sums(cube.cells.members, cube.object_cells, cells, *given_terms, (-0.25, 1.0))
    covered: set[int] = set()
    for cell in [None, *chosen]:
        if cell is not None:
            sums.add(cell)
            covered |= set(cube.cells.members[cell].tolist())
        for other in cells.tolist():
            left = [o for o in cube.cells.members[other].tolist() if o not in covered]
            assert sums.of[other].tolist() == terms[left].sum(axis=0).tolist()


def test_the_best_cell_is_the_first_of_those_that_agree_to_twelve_digits() -> None:
    sums = np.array([[1.0, 4.0], [1.0 + 1e-14, 4.0], [2.0, 9.0], [5.0, -3.0]])
    assert coverage.best_value(np.array([2, 0, 1]), sums, 0.0, 0.0, 1e12) == 1
    assert coverage.best_value(np.array([2, 3]), sums, 0.0, 3.0, 1e12) == 0
    assert coverage.best_value(np.array([3]), sums, 0.0, 0.0, 1e12) == 0


@pytest.mark.parametrize(("room", "place"), [(9.0, 1), (3.0, 2), (0.5, -1)])
def test_the_largest_sum_that_fits_is_found(room: float, place: int) -> None:
    sums = np.array([[7.0, 1.0], [5.0, 4.0], [3.0, 1.0], [0.0, 0.0]])
    taken = np.array([True, False, False, False])
    assert coverage.best_sum(np.arange(4), sums, taken, room, 1e-9) == place


def taken(cube: Cube, worth: Array, size: Array, most: int, room: float) -> list[int]:
    """Return what greedy on sums takes, with every cell tried at every step."""
    sets = [set(cube.cells.members[cell].tolist()) for cell in range(len(cube.cells))]
    chosen: list[int] = []
    covered: set[int] = set()
    while len(chosen) < most:
        sums = [sum(worth[o] for o in held - covered) for held in sets]
        fits = [sum(size[o] for o in covered | held) <= room for held in sets]
        left = [cell for cell in range(len(sets)) if cell not in chosen and fits[cell] and sums[cell] > 0]
        if not left:
            break
        chosen.append(max(left, key=lambda cell: (sums[cell], -cell)))
        covered |= sets[chosen[-1]]
    return chosen


@given(st.integers(0, 10**6), st.integers(0, 9), st.none() | st.integers(0, 40))
def test_the_best_cells_are_taken_while_they_pay(seed: int, most: int, room: int | None) -> None:
    cube = random_cube(seed)
    rng = np.random.default_rng(seed)
    worth, size = rng.integers(-4, 5, 40) / 4, rng.integers(0, 3, 40).astype(float)
    left = math.inf if room is None else float(room)
    every = np.arange(len(cube.cells))
    sums = Sums(cube.cells.members, cube.object_cells, every, None, np.column_stack([worth, size]))
    assert sums.take_by_sum(every, most, left).tolist() == taken(cube, worth, size, most, left)


def test_no_cells_are_taken_from_none() -> None:
    none = Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))
    every = np.empty(0, np.int64)
    assert len(Sums(none, none, every, None, np.empty((0, 2))).take_by_sum(every, 3)) == 0
    assert len(Sums(none, none, every, None, np.empty((0, 2))).take_by_value(every, 0.0, 1.0, 3)) == 0


@given(st.integers(0, 10**6), st.lists(st.integers(0, 11), max_size=8, unique=True), st.integers(1, 3))
def test_serving_keeps_up_what_every_cell_would_serve(seed: int, cells: list[int], most: int) -> None:
    cube = random_cube(seed)
    everyone = np.arange(40)
    served = Served(cube, CoverObjective(everyone, count=40, most=most))
    held = np.zeros(40, dtype=np.int64)
    homes = np.array([sum(o in cube.cells.members[cell] for cell in range(12)) for o in everyone])
    for cell in cells:
        needing = [o for o in cube.cells.members[cell].tolist() if held[o] < min(most, homes[o])]
        held[needing] += 1
        assert served.take(served.cells.tolist().index(cell)) == len(needing)
        left = np.minimum(most, homes) - held
        assert served.left.tolist() == left.tolist()
        wanted = [int((left[cube.cells.members[other]] > 0).sum()) for other in served.cells.tolist()]
        assert served.gains.tolist() == wanted
