"""Every kernel against plain sets, and the promises that hold whatever the cells."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, freeze
from cube2net.kernels import coverage
from cube2net.kernels.coverage import NO_LIMIT, bring, bring_first
from cube2net.model.cube import Cube

from toys import random_cube, toy_cube

OBJECTS = 12
cubes = st.lists(st.sets(st.integers(0, OBJECTS - 1)), min_size=1, max_size=8).map(
    lambda cells: toy_cube([sorted(cell) for cell in cells], objects=OBJECTS)
)
quarters = st.lists(st.integers(-40, 40), min_size=OBJECTS, max_size=OBJECTS).map(lambda row: freeze(np.array(row) / 4))
steps = st.lists(st.integers(0, 7), max_size=10)


class State:
    """The arrays of one selection, and the kernels that change them."""

    def __init__(self, cube: Cube, gain: Array, cost: Array) -> None:
        self.members = (cube.cells.members.indptr, cube.cells.members.indices)
        self.object_cells = (cube.object_cells.indptr, cube.object_cells.indices)
        self.weights = (gain, cost)
        self.covers = np.zeros(len(cube.objects), dtype=np.int32)
        self.gains, self.costs = coverage.compute_residuals(
            np.arange(len(cube.cells)), *self.members, self.covers, gain, cost
        )

    def add(self, cell: int) -> None:
        coverage.add(cell, *self.members, *self.object_cells, self.covers, *self.weights, self.gains, self.costs)

    def remove(self, cell: int) -> None:
        coverage.remove(cell, *self.members, *self.object_cells, self.covers, *self.weights, self.gains, self.costs)

    def everything(self) -> list[list[float]]:
        return [self.covers.tolist(), self.gains.tolist(), self.costs.tolist()]


def plain_residuals(cube: Cube, chosen: list[int], weight: Array) -> list[float]:
    """Return the weight of what every cell holds beyond the chosen ones, by sets."""
    sets = [set(cube.cells.members[cell].tolist()) for cell in range(len(cube.cells))]
    covered = set().union(*(sets[cell] for cell in chosen))
    return [float(sum(weight[o] for o in cell - covered)) for cell in sets]


def by_hand() -> State:
    gain = freeze(np.array([1.0, 1.0, 0.0, 0.0, 1.0]))
    return State(toy_cube([[0, 1, 2], [1, 2, 3], [4]], objects=5), gain, freeze(1.0 - gain))


def test_adding_a_cell_leaves_others_what_it_does_not_hold() -> None:
    state = by_hand()
    assert state.everything() == [[0] * 5, [2, 1, 1], [1, 2, 0]]
    state.add(0)
    assert state.everything() == [[1, 1, 1, 0, 0], [0, 0, 1], [0, 1, 0]]
    state.add(1)
    assert state.everything() == [[1, 2, 2, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_removing_a_cell_keeps_what_another_chosen_cell_holds_covered() -> None:
    state = by_hand()
    state.add(0)
    state.add(1)
    state.remove(0)
    assert state.everything() == [[0, 1, 1, 1, 0], [1, 0, 1], [0, 0, 0]]


@given(cubes, quarters, quarters, steps)
def test_residual_sums_equal_set_arithmetic(cube: Cube, gain: Array, cost: Array, cells: list[int]) -> None:
    state = State(cube, gain, cost)
    chosen: list[int] = []
    for step in cells:
        cell = step % len(cube.cells)
        if cell in chosen:
            state.remove(cell)
            chosen.remove(cell)
        else:
            state.add(cell)
            chosen.append(cell)
        assert state.gains.tolist() == plain_residuals(cube, chosen, gain)
        assert state.costs.tolist() == plain_residuals(cube, chosen, cost)
        assert state.covers.tolist() == [
            sum(o in cube.cells.members[cell] for cell in chosen) for o in range(len(cube.objects))
        ]


@given(cubes, quarters, quarters, steps)
def test_residuals_asked_afresh_equal_residuals_kept_up(cube: Cube, gain: Array, cost: Array, cells: list[int]) -> None:
    state = State(cube, gain, cost)
    for step in cells:
        state.add(step % len(cube.cells))
    asked = np.arange(len(cube.cells))[::-1].copy()
    gains, costs = coverage.compute_residuals(asked, *state.members, state.covers, gain, cost)
    assert gains.tolist() == state.gains[asked].tolist()
    assert costs.tolist() == state.costs[asked].tolist()


@given(cubes, quarters, quarters, steps)
def test_growing_gives_what_each_cell_adds_to_those_before(
    cube: Cube, gain: Array, cost: Array, cells: list[int]
) -> None:
    chosen = [step % len(cube.cells) for step in cells]
    members = cube.cells.members
    covers = np.zeros(len(cube.objects), dtype=np.int32)
    gains, costs = coverage.grow(np.array(chosen, dtype=np.int64), members.indptr, members.indices, covers, gain, cost)
    assert gains.tolist() == [plain_residuals(cube, chosen[:i], gain)[cell] for i, cell in enumerate(chosen)]
    assert costs.tolist() == [plain_residuals(cube, chosen[:i], cost)[cell] for i, cell in enumerate(chosen)]
    assert covers.sum() == sum(len(members[cell]) for cell in chosen)


@given(cubes, st.sets(st.integers(0, OBJECTS - 1)))
def test_touched_cells_are_those_that_hold_one_of_the_objects(cube: Cube, objects: set[int]) -> None:
    found = coverage.find_touched_cells(
        np.array(sorted(objects), dtype=np.int64), cube.object_cells.indptr, cube.object_cells.indices, len(cube.cells)
    )
    plain = [cell for cell in range(len(cube.cells)) if objects & set(cube.cells.members[cell].tolist())]
    assert found.tolist() == plain


def test_values_are_the_sums_with_each_cell_and_zero_without_any_cost() -> None:
    gains, costs = np.array([2.0, 1.0, -1.0]), np.array([1.0, 0.0, 3.0])
    assert coverage.compute_values(np.array([2, 0]), gains, costs, 1.0, 1.0).tolist() == [0.0, 1.5]
    assert coverage.compute_values(np.arange(3), gains, costs, 1.0, 0.0).tolist() == [3.0, 0.0, 0.0]


def plain_links(cube: Cube, objects: set[int]) -> int:
    """Return how many links join two of the objects, each once."""
    ends = {(o, n) for o in objects for n in cube.links.neighbours(o).tolist() if n in objects}
    return len(ends) // 2


def plain_first(
    cube: Cube, start: set[int], order: list[int], want: int, nodes: int, links: int
) -> tuple[list[int], set[int]]:
    """Return the places that fit one after the other, and all the objects then in."""
    places: list[int] = []
    inside = set(start)
    for place, cell in enumerate(order):
        trial = inside | set(cube.cells.members[cell].tolist())
        brought = plain_links(cube, trial) - plain_links(cube, start)
        if len(places) < want and len(trial) - len(start) <= nodes and brought <= links:
            places.append(place)
            inside = trial
    return places, inside


def test_a_link_counts_once_whether_it_joins_new_objects_or_leads_to_old_ones() -> None:
    links = toy_cube([[0]], objects=5, links=[(0, 1), (1, 2), (2, 3), (0, 2), (3, 4)]).links
    present = np.array([1, 0, 0, 0, 0], dtype=np.int8)
    found = bring(np.array([0, 1, 2]), present, links.indptr, links.indices, NO_LIMIT, 10)
    assert found == (2, 3)
    assert present.tolist() == [1, 1, 1, 0, 0]


def test_what_does_not_fit_changes_nothing() -> None:
    links = toy_cube([[0]], objects=5, links=[(0, 1), (1, 2), (2, 3), (0, 2), (3, 4)]).links
    for nodes, most in ((1, 10), (5, 2), (5, 0)):
        present = np.array([1, 0, 0, 0, 0], dtype=np.int8)
        found = bring(np.array([0, 1, 2]), present, links.indptr, links.indices, nodes, most)
        assert found == (-1, -1)
        assert present.tolist() == [1, 0, 0, 0, 0]


limits = st.one_of(st.just(NO_LIMIT), st.integers(0, 40))


@given(st.integers(0, 999), st.integers(0, 6), limits, limits)
def test_the_first_cells_that_fit_are_those_that_sets_give(seed: int, want: int, nodes: int, links: int) -> None:
    cube = random_cube(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(cube.cells))
    start = set(rng.choice(len(cube.objects), size=5, replace=False).tolist())
    present = np.zeros(len(cube.objects), dtype=np.int8)
    present[list(start)] = 1
    members = cube.cells.members
    places, new, brought = bring_first(
        order, want, members.indptr, members.indices, present, cube.links.indptr, cube.links.indices, nodes, links
    )
    expected, inside = plain_first(cube, start, order.tolist(), want, nodes, links)
    assert places.tolist() == expected
    assert set(np.flatnonzero(present).tolist()) == inside
    assert new == len(inside) - len(start)
    if links != NO_LIMIT:
        assert brought == plain_links(cube, inside) - plain_links(cube, start)
