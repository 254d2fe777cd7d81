"""Every kernel of the rollout against plain Python, and the promises that hold whatever the cells."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, freeze
from cube2net.kernels import coverage
from cube2net.kernels.rollout import numba_rollout
from cube2net.model.cube import Cube

from toys import toy_cube

OBJECTS = 12
HIGHEST = 2**31 - 1
cubes = st.lists(st.sets(st.integers(0, OBJECTS - 1)), min_size=1, max_size=8).map(
    lambda cells: toy_cube([sorted(cell) for cell in cells], objects=OBJECTS)
)
quarters = st.lists(st.integers(-8, 8), min_size=OBJECTS, max_size=OBJECTS).map(lambda row: freeze(np.array(row) / 4))
prices = st.integers(-4, 8).map(lambda number: number / 8)
whole = st.sampled_from([0, 1, 5, 6, 1023, 1024, 2**20, 2**21 - 1, 2**21, 2**30, HIGHEST - 1, HIGHEST])
whole |= st.integers(0, HIGHEST)


def near(point: list[int], points: list[list[int]]) -> list[int]:
    """Return squared distances, by the book."""
    return [sum((a - b) ** 2 for a, b in zip(point, other, strict=True)) for other in points]


def plain_best(far: list[int], k: int, worth: list[float], free: list[bool]) -> int:
    """Return the best free cell that is no farther than the k-th nearest free one; the first among equals."""
    left = [cell for cell in range(len(far)) if free[cell]]
    if not left:
        return -1
    reach = sorted(far[cell] for cell in left)[min(k, len(left)) - 1]
    return max((cell for cell in left if far[cell] <= reach), key=lambda cell: (worth[cell], -cell))


def best_near(
    point: list[int], points: list[list[int]], k: int, price: float, gains: Array, costs: Array, free: list[bool]
) -> int:
    turned = np.ascontiguousarray(np.array(points, dtype=np.int16).reshape(-1, len(point)).T)
    room = np.empty(len(points), dtype=np.int32)
    return int(
        numba_rollout.best_near(
            np.array(point, dtype=np.int16), turned, k, price, gains, costs, np.array(free, dtype=np.bool_), room
        )
    )


def test_squared_distances_are_whole_and_exact_up_to_the_last_bit() -> None:
    far = np.empty(3, dtype=np.int32)
    turned = np.array([[0, 3, -11585], [0, 4, 0]], dtype=np.int16)
    numba_rollout.distances(np.array([0, 0], dtype=np.int16), turned, far)
    assert far.tolist() == [0, 25, 11585**2]
    numba_rollout.distances(np.array([23170, 0], dtype=np.int16), turned, far)
    assert far.tolist() == [23170**2, 23167**2 + 16, 34755**2]


@given(st.data(), st.integers(1, 4), st.integers(0, 6))
def test_distances_equal_those_of_plain_whole_numbers(data: st.DataObject, directions: int, cells: int) -> None:
    part = st.integers(-5000, 5000)
    row = st.lists(part, min_size=directions, max_size=directions)
    point = data.draw(row)
    points = data.draw(st.lists(row, min_size=cells, max_size=cells))
    far = np.full(cells, -7, dtype=np.int32)
    turned = np.ascontiguousarray(np.array(points, dtype=np.int16).reshape(cells, directions).T)
    numba_rollout.distances(np.array(point, dtype=np.int16), turned, far)
    assert far.tolist() == near(point, points)


@given(st.lists(whole, min_size=1, max_size=40), st.integers(1, 60))
def test_the_kth_smallest_is_that_of_the_sorted_numbers(numbers: list[int], k: int) -> None:
    found = numba_rollout.kth_smallest(np.array(numbers, dtype=np.int32), k)
    assert found == sorted(numbers)[min(k, len(numbers)) - 1]


def test_near_a_point_the_best_at_the_price_is_taken_and_the_first_among_equals() -> None:
    points = [[0], [1], [2], [9], [9]]
    gains, costs = np.array([1.0, 2.0, 3.0, 9.0, 9.0]), np.array([0.0, 0.0, 4.0, 0.0, 0.0])
    free = [True] * 5
    assert best_near([0], points, 1, 0.0, gains, costs, free) == 0
    assert best_near([0], points, 2, 0.0, gains, costs, free) == 1
    assert best_near([0], points, 3, 0.0, gains, costs, free) == 2
    assert best_near([0], points, 3, 0.5, gains, costs, free) == 1
    assert best_near([0], points, 4, 0.0, gains, costs, free) == 3
    assert best_near([0], points, 4, 0.0, gains, costs, [True, True, True, False, True]) == 4
    assert best_near([0], points, 1, 0.0, gains, costs, [False, True, True, True, True]) == 1
    assert best_near([0], points, 99, 0.0, gains, costs, [True, False, False, False, False]) == 0
    assert best_near([0], points, 1, 0.0, gains, costs, [False] * 5) == -1
    assert best_near([0], [], 1, 0.0, np.empty(0), np.empty(0), []) == -1


@given(st.data(), st.integers(1, 9), st.integers(1, 12), prices)
def test_the_best_near_cell_equals_that_of_a_sorted_list(data: st.DataObject, cells: int, k: int, price: float) -> None:
    row = st.lists(st.integers(-3, 3), min_size=2, max_size=2)
    point, points = data.draw(row), data.draw(st.lists(row, min_size=cells, max_size=cells))
    some = st.lists(st.integers(-3, 3), min_size=cells, max_size=cells).map(lambda numbers: np.array(numbers) / 2)
    gains, costs = data.draw(some), data.draw(some)
    free = data.draw(st.lists(st.booleans(), min_size=cells, max_size=cells))
    worth = (gains - price * costs).tolist()
    expected = plain_best(near(point, points), k, worth, free)
    assert best_near(point, points, k, price, gains, costs, free) == expected


class Batch:
    """The arrays of some selections side by side, and the kernels that change them."""

    def __init__(self, cube: Cube, gain: Array, cost: Array, *, rows: int, room: float = math.inf) -> None:
        self.cube, self.gain, self.cost = cube, gain, cost
        cells, self.rows = len(cube.cells), rows
        self.members = (cube.cells.members.indptr, cube.cells.members.indices)
        self.nodes = np.arange(OBJECTS, dtype=np.float64) % 3
        self.points = np.array([[7 * cell % 5, cell % 3] for cell in range(cells)], dtype=np.int16)
        self.covers = np.zeros((rows, OBJECTS), dtype=np.int32)
        first = coverage.compute_residuals(np.arange(cells), *self.members, self.covers[0], gain, cost)
        self.gains, self.costs = (np.repeat(part[None], rows, axis=0) for part in first)
        self.free = np.ones((rows, cells), dtype=np.bool_)
        self.above, self.below, self.room = np.zeros(rows), np.zeros(rows), np.full(rows, room)
        self.far = np.empty((rows, cells), dtype=np.int32)
        self.chosen = np.full(rows, -9)

    def step(
        self, points: Array, k: int, price: float, *, pass_over: bool = False, first: int = 0, last: int | None = None
    ) -> list[int]:
        numba_rollout.step(
            points.astype(np.int16),
            np.ascontiguousarray(self.points.T),
            k,
            price,
            pass_over,
            *self.members,
            self.cube.object_cells.indptr,
            self.cube.object_cells.indices,
            self.gain,
            self.cost,
            self.nodes,
            self.covers,
            self.gains,
            self.costs,
            self.free,
            self.above,
            self.below,
            self.room,
            self.far,
            first,
            self.rows if last is None else last,
            self.chosen,
        )
        return self.chosen.tolist()  # type: ignore[no-any-return]

    def state(self, row: int) -> list[list[float]]:
        parts = (self.covers, self.gains, self.costs, self.free, self.above, self.below, self.room, self.chosen)
        return [np.atleast_1d(part[row]).tolist() for part in parts]


class Plain:
    """One selection, with sets."""

    def __init__(self, batch: Batch, room: float) -> None:
        cube = batch.cube
        self.batch, self.room = batch, room
        self.sets = [set(cube.cells.members[cell].tolist()) for cell in range(len(cube.cells))]
        self.chosen: list[int] = []
        self.free = [True] * len(self.sets)

    def covered(self) -> set[int]:
        return set().union(*(self.sets[cell] for cell in self.chosen))

    def adds(self, weight: Array) -> list[float]:
        return [float(sum(weight[o] for o in cell - self.covered())) for cell in self.sets]

    def step(self, point: list[int], k: int, price: float, pass_over: bool) -> int:
        far = near(point, self.batch.points.tolist())
        pairs = zip(self.adds(self.batch.gain), self.adds(self.batch.cost), strict=True)
        worth = [gain - price * cost for gain, cost in pairs]
        while True:
            cell = plain_best(far, k, worth, self.free)
            if cell < 0 or (pass_over and worth[cell] <= 0):
                return -1
            self.free[cell] = False
            if self.adds(self.batch.nodes)[cell] <= self.room:
                self.room -= self.adds(self.batch.nodes)[cell]
                self.chosen.append(cell)
                return cell


@given(
    cubes,
    quarters,
    quarters,
    prices,
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([math.inf, 0.0, 3.0, 7.0, -1.0]),
    st.lists(st.lists(st.integers(-6, 6), min_size=4, max_size=4), max_size=10),
)
def test_steps_equal_those_with_sets_and_sums_equal_a_recount(
    cube: Cube,
    gain: Array,
    cost: Array,
    price: float,
    k: int,
    pass_over: bool,
    room: float,
    actions: list[list[int]],
) -> None:
    batch = Batch(cube, gain, cost, rows=2, room=room)
    plain = [Plain(batch, room), Plain(batch, room)]
    for action in actions:
        points = [action[:2], action[2:]]
        taken = batch.step(np.array(points), k, price, pass_over=pass_over)
        assert taken == [one.step(point, k, price, pass_over) for one, point in zip(plain, points, strict=True)]
        for row, one in enumerate(plain):
            covered = one.covered()
            assert batch.covers[row].tolist() == [
                sum(o in one.sets[cell] for cell in one.chosen) for o in range(OBJECTS)
            ]
            assert batch.above[row] == sum(gain[o] for o in covered)
            assert batch.below[row] == sum(cost[o] for o in covered)
            assert (batch.gains[row].tolist(), batch.costs[row].tolist()) == (one.adds(gain), one.adds(cost))
            assert (batch.free[row].tolist(), batch.room[row]) == (one.free, one.room)
            if one.chosen:
                assert sum(batch.nodes[o] for o in covered) <= room


@given(cubes, quarters, quarters, prices, st.integers(1, 9))
def test_no_cell_is_taken_twice_and_when_all_are_taken_a_step_takes_none(
    cube: Cube, gain: Array, cost: Array, price: float, k: int
) -> None:
    batch = Batch(cube, gain, cost, rows=1)
    taken = [batch.step(np.array([[1, 1]]), k, price)[0] for _ in range(len(cube.cells) + 2)]
    assert sorted(taken[:-2]) == list(range(len(cube.cells)))
    assert taken[-2:] == [-1, -1]


@given(cubes, quarters, quarters, prices, st.integers(1, 9))
def test_rows_do_not_depend_on_other_rows(cube: Cube, gain: Array, cost: Array, price: float, k: int) -> None:
    points = np.array([[0, 0], [4, 2], [-3, 1]])
    whole_batch, parts = Batch(cube, gain, cost, rows=3), Batch(cube, gain, cost, rows=3)
    before = parts.state(0)
    for _ in range(3):
        whole_batch.step(points, k, price)
        parts.step(points, k, price, first=1, last=2)
        parts.step(points, k, price, first=2, last=3)
    assert parts.state(0) == before
    assert [parts.state(row) for row in (1, 2)] == [whole_batch.state(row) for row in (1, 2)]


@given(cubes, quarters, quarters, prices, st.lists(st.booleans(), min_size=8, max_size=8))
def test_the_centre_is_the_mean_of_free_cells_weighted_by_what_they_add(
    cube: Cube, gain: Array, cost: Array, price: float, free: list[bool]
) -> None:
    batch = Batch(cube, gain, cost, rows=2)
    cells = len(cube.cells)
    batch.free[1] = free[:cells]
    points = batch.points.astype(np.float32)
    out, left = np.full((2, 2), 9.0), np.full(2, 9.0)
    numba_rollout.centres(points, price, batch.gains, batch.costs, batch.free, 0, 2, out, left)
    for row in range(2):
        worth = [max(0.0, float(batch.gains[row, cell] - price * batch.costs[row, cell])) for cell in range(cells)]
        worth = [number * bool(batch.free[row, cell]) for cell, number in enumerate(worth)]
        assert left[row] == sum(worth)
        mean = [sum(w * float(points[cell, i]) for cell, w in enumerate(worth)) for i in range(2)]
        assert out[row].tolist() == [number / sum(worth) if sum(worth) else 0.0 for number in mean]
