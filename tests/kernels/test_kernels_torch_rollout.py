"""Selections in tensors against the compiled ones in arrays: the same cells from the same points."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, ragged_from_lists, transpose
from cube2net.errors import ParameterError
from cube2net.kernels import coverage
from cube2net.kernels.rollout import numba_rollout, torch_rollout


@dataclass
class Case:
    """Cells at random points with random groups, and points to go to."""

    points: Array
    members_indptr: Array
    members: Array
    homes_indptr: Array
    homes: Array
    gain: Array
    cost: Array
    nodes: Array

    @classmethod
    def at_random(cls, seed: int, cells: int, groups: int, *, span: int = 4, directions: int = 3) -> Case:
        rng = np.random.default_rng(seed)
        rows = [sorted(set(rng.integers(0, groups, rng.integers(0, 6)).tolist())) for _ in range(cells)]
        members = ragged_from_lists(rows)
        homes = transpose(members, groups)
        return cls(
            rng.integers(-span, span + 1, (cells, directions)).astype(np.int16),
            members.indptr,
            members.indices,
            homes.indptr,
            homes.indices,
            rng.integers(-500, 3 * 1024, groups) / 1024,
            rng.integers(0, 3, groups).astype(np.float64),
            rng.integers(0, 3, groups).astype(np.float64),
        )

    def tables(self) -> torch_rollout.CellTables:
        return torch_rollout.tables(**vars(self))


class Compiled:
    """The state of ``numba_rollout`` for a batch."""

    def __init__(self, case: Case, batch: int, room: float) -> None:
        self.case = case
        cells, groups = len(case.points), len(case.gain)
        self.covers = np.zeros((batch, groups), dtype=np.int32)
        first = coverage.compute_residuals(
            np.arange(cells), case.members_indptr, case.members, self.covers[0], case.gain, case.cost
        )
        self.gains, self.costs = (np.tile(part, (batch, 1)) for part in first)
        self.free = np.ones((batch, cells), dtype=np.bool_)
        self.above, self.below, self.room = np.zeros(batch), np.zeros(batch), np.full(batch, room)
        self.far = np.empty((batch, cells), dtype=np.int32)

    def take(self, points: Array, k: int, price: float, pass_over: bool) -> Array:
        case = self.case
        chosen = np.empty(len(points), dtype=np.int64)
        numba_rollout.step(
            points,
            np.ascontiguousarray(case.points.T),
            k,
            price,
            pass_over,
            case.members_indptr,
            case.members,
            case.homes_indptr,
            case.homes,
            case.gain,
            case.cost,
            case.nodes,
            self.covers,
            self.gains,
            self.costs,
            self.free,
            self.above,
            self.below,
            self.room,
            self.far,
            0,
            len(points),
            chosen,
        )
        return chosen


@given(
    st.integers(0, 10**6),
    st.integers(1, 90),
    st.integers(1, 40),
    st.integers(1, 100),
    st.integers(0, 2**24),
    st.booleans(),
    st.sampled_from([math.inf, -1.0, 0.0, 3.0, 9.0]),
)
def test_tensors_and_arrays_take_the_same_cells_and_are_left_with_the_same_sums(
    seed: int, cells: int, groups: int, k: int, price: int, pass_over: bool, room: float
) -> None:
    case = Case.at_random(seed, cells, groups)
    steps, batch = 5, 4
    points = np.random.default_rng(seed + 1).integers(-6, 7, (steps, batch, 3)).astype(np.int16)
    tables = case.tables()
    state = torch_rollout.start(tables, batch)
    torch_rollout.restart(tables, state, room)
    plain = torch_rollout.Plain(tables, state, k)
    taken = plain.take(torch.from_numpy(points), torch.tensor(price), pass_over=pass_over, limited=room < math.inf)
    arrays = Compiled(case, batch, room)
    expected = [arrays.take(at, k, price * 2.0**-24, pass_over) for at in points]
    np.testing.assert_array_equal(taken, expected)

    unit = 2.0**-tables.bits
    left = state.left.numpy()[:, :cells]
    np.testing.assert_array_equal(left >> 32 > torch_rollout.TAKEN, arrays.free)
    np.testing.assert_array_equal(((left >> 32) + np.where(arrays.free, 0, torch_rollout.LOST)) * unit, arrays.gains)
    np.testing.assert_array_equal((left & 0xFFFFFFFF) * unit, arrays.costs)
    np.testing.assert_array_equal(state.above.numpy() * unit, arrays.above)
    np.testing.assert_array_equal(state.below.numpy() * unit, arrays.below)
    np.testing.assert_array_equal(state.gone.numpy(), (~arrays.free).sum(1))
    if room < math.inf:
        np.testing.assert_array_equal(state.room.numpy(), arrays.room)

    centre, weights = np.empty((batch, 3)), np.empty(batch)
    spots = case.points.astype(np.float32) / np.float32(3.0)
    numba_rollout.centres(spots, price * 2.0**-24, arrays.gains, arrays.costs, arrays.free, 0, batch, centre, weights)
    ours = torch_rollout.centres(tables, state.left, torch.from_numpy(spots), torch.tensor(price))
    np.testing.assert_allclose(ours[0], centre, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours[1], weights, rtol=1e-14)


def test_near_cells_are_compared_by_what_they_add_and_the_far_best_is_left() -> None:
    rows = ragged_from_lists([[0], [0, 1], [2, 3, 4]])
    homes = transpose(rows, 5)
    tables = torch_rollout.tables(
        np.array([[0], [1], [9]], dtype=np.int16),
        rows.indptr,
        rows.indices,
        homes.indptr,
        homes.indices,
        np.ones(5),
        np.zeros(5),
        np.ones(5),
    )
    state = torch_rollout.start(tables, 1)
    torch_rollout.restart(tables, state)
    points = torch.zeros((3, 1, 1), dtype=torch.int16)
    taken = torch_rollout.Plain(tables, state, 2).take(points, torch.tensor(0), pass_over=False, limited=False)
    # Cell 1 adds two groups; then cell 0 adds nothing and cell 2, among the two nearest now, three; then cell 0.
    assert taken.flatten().tolist() == [1, 2, 0]
    assert state.above.tolist() == [5]


def test_weights_keep_the_binary_places_they_have() -> None:
    whole, quarter = np.array([1.0, 3.0]), np.array([0.25, 2.0])
    assert torch_rollout.binary_places(whole, whole) == 0
    assert torch_rollout.binary_places(whole, quarter) == 2
    assert torch_rollout.binary_places(np.array([1 / 1024]), whole) == 10
    # A third has no last binary place: as many as sums of 29 bits let us keep.
    assert torch_rollout.binary_places(np.array([1 / 3]), np.array([100.0])) == 22


def test_weights_too_large_for_29_bits_are_refused() -> None:
    with pytest.raises(ParameterError, match="the weights sum to 1,073,741,824, expected less than 536,870,912"):
        torch_rollout.binary_places(np.array([2.0**30]), np.array([1.0]))


def test_prices_are_whole_steps_and_those_too_high_are_refused() -> None:
    assert torch_rollout.price_in_steps(2.0**-24 * 5.5) == 5
    with pytest.raises(ParameterError, match="price is 256.0, expected a number below 256"):
        torch_rollout.price_in_steps(256.0)


def test_actions_become_the_nearest_steps_of_the_grid_halves_to_even() -> None:
    plain = torch_rollout.Plain(Case.at_random(0, 3, 3).tables(), None, 1)  # type: ignore[arg-type]
    actions = torch.tensor([[0.25, 0.75, -9.0]])
    assert plain.aim(actions, None, 2.0, 5).tolist() == [[0, 2, -5]]
    centre = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    assert plain.aim(actions, centre, 2.0, 5).tolist() == [[2, 2, -5]]
