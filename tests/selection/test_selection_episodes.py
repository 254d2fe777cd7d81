"""Cells as points with whole coordinates: what distances, signs and odd vectors do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import InputError, ParameterError
from cube2net.selection.rl.episodes import MAX_SQUARED_DISTANCE, Space

LIMITS = np.iinfo(np.int16)


def normal(cells: int, columns: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(cells, columns))


def far_apart(space: Space) -> int:
    """Return the largest squared distance that an action and a cell can have."""
    corner = space.points.astype(np.int64)
    return int(((np.abs(corner) + space.reach) ** 2).sum(axis=1).max(initial=0))


@given(
    st.integers(0, 9999),
    st.integers(0, 12),
    st.integers(0, 40),
    st.none() | st.integers(1, 50),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_squared_distances_fit_32_bits(
    seed: int, cells: int, columns: int, directions: int | None, size: float
) -> None:
    space = Space.of([size * normal(cells, columns, seed)], directions=directions)
    assert space.points.dtype == np.int16
    assert len(space) == cells
    assert 1 <= space.directions <= max(1, columns)
    assert space.reach <= LIMITS.max
    assert far_apart(space) <= MAX_SQUARED_DISTANCE


def test_cells_as_far_out_as_can_be_in_every_direction_still_fit() -> None:
    for columns in (1, 2, 8, 150, 2000):
        space = Space.of([np.array([np.ones(columns), -np.ones(columns)])], directions=None)
        assert far_apart(space) <= MAX_SQUARED_DISTANCE
        assert int(np.abs(space.points).max()) == pytest.approx(space.reach / 2, abs=1)


def test_without_directions_vectors_stay_as_they_are_but_for_the_grid() -> None:
    vectors = normal(20, 6)
    space = Space.of([vectors[:, :4], vectors[:, 4:]], directions=None)
    assert space.directions == 6
    assert np.abs(space.points / space.unit - vectors).max() <= 0.5001 / space.unit
    assert np.abs(space.on_grid(vectors.astype(np.float32)).astype(int) - space.points).max() <= 1


def test_points_are_the_principal_directions_with_a_spread_of_one() -> None:
    vectors = normal(300, 5) * np.array([5.0, 0.1, 3.0, 0.2, 1.0]) + 7.0
    space = Space.of([vectors], directions=3)
    points = space.points / space.unit
    assert points.std() == pytest.approx(1.0, abs=0.01)
    assert np.abs(points.mean(axis=0)).max() < 0.01
    spreads = points.std(axis=0)
    assert spreads[0] > spreads[1] > spreads[2]
    singular = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False)[:3]
    assert (spreads / spreads[0]).tolist() == pytest.approx((singular / singular[0]).tolist(), abs=0.01)


def test_matrices_of_different_size_weigh_the_same() -> None:
    one, two = normal(50, 3, 1), normal(50, 3, 2)
    apart = Space.of([one, two], directions=6)
    scaled = Space.of([1000.0 * one, 0.01 * two], directions=6)
    assert np.abs(apart.points.astype(int) - scaled.points).max() <= 1


@pytest.mark.parametrize("flip", [(-1.0, 1.0, 1.0), (1.0, -1.0, -1.0)])
@pytest.mark.parametrize("digit", [1e-15, -1e-15])
def test_the_points_do_not_depend_on_the_sign_or_the_last_digit_of_an_eigenvector(
    flip: tuple[float, ...], digit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = normal(30, 3)
    # Two columns that are each other's opposite: an eigenvector's two largest parts are equal but for rounding.
    vectors[:, 1] = -vectors[:, 0]
    before = Space.of([vectors], directions=3)
    solve = np.linalg.eigh

    def turned_about(matrix: Array) -> tuple[Array, Array]:
        values, columns = solve(matrix)
        return values, columns * np.array(flip) * (1 + digit * np.array([[1], [-1], [1]]))

    monkeypatch.setattr(np.linalg, "eigh", turned_about)
    assert np.abs(Space.of([vectors], directions=3).points.astype(int) - before.points).max() <= 1


def test_more_directions_than_columns_are_as_many_as_columns() -> None:
    assert Space.of([normal(9, 3)], directions=8).directions == 3
    assert Space.of([normal(2, 1), normal(2, 2)], directions=8).directions == 3


def test_directions_in_which_nothing_differs_are_nought() -> None:
    vectors = np.outer(np.arange(6.0), [1.0, 2.0, -1.0])
    space = Space.of([vectors], directions=3)
    assert not space.points[:, 1:].any()
    assert len(np.unique(space.points[:, 0])) == 6


@pytest.mark.parametrize("directions", [None, 1, 8])
@pytest.mark.parametrize("vectors", [np.zeros((4, 3)), np.full((4, 3), 0.1), np.full((4, 2), 1e-200)])
def test_cells_that_are_all_the_same_are_at_one_point(directions: int | None, vectors: Array) -> None:
    space = Space.of([vectors], directions=directions)
    assert len(np.unique(space.points, axis=0)) == 1
    assert bool(np.isfinite(space.unit))
    assert space.on_grid(np.zeros((1, space.directions))).tolist() == [[0] * space.directions]
    if directions is not None:
        assert not space.points.any()


@pytest.mark.parametrize("directions", [None, 4])
def test_vectors_without_columns_or_without_cells_have_one_direction(directions: int | None) -> None:
    blank = Space.of([np.zeros((3, 0)), np.zeros((3, 0))], directions=directions)
    assert blank.points.tolist() == [[0], [0], [0]]
    none = Space.of([np.zeros((0, 6))], directions=directions)
    assert (len(none), none.directions) == (0, 6 if directions is None else 4)
    assert repr(none) == f"Space(0 cells, {none.directions} directions)"


def test_taking_cells_keeps_the_grid() -> None:
    space = Space.of([normal(10, 4)], directions=2)
    few = space.take(np.array([7, 2]))
    assert few.points.tolist() == space.points[[7, 2]].tolist()
    assert (few.unit, few.reach, few.directions) == (space.unit, space.reach, 2)
    assert len(space.take(np.empty(0, dtype=np.int64))) == 0


def test_points_cannot_be_written_to() -> None:
    space = Space.of([normal(10, 4)])
    for one in (space, space.take(np.array([1]))):
        with pytest.raises(ValueError, match="read-only"):
            one.points[0, 0] = 1


def test_actions_are_cut_off_at_twice_the_farthest_cell() -> None:
    space = Space(np.array([[0, 4]], dtype=np.int16), 2.0, 8)
    actions = np.array([[1.3, -1.2], [4.1, -4.0], [99.0, -3e38]], dtype=np.float32)
    assert space.on_grid(actions).tolist() == [[3, -2], [8, -8], [8, -8]]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_actions_that_are_not_finite_are_refused(bad: float) -> None:
    space = Space.of([normal(10, 4)], directions=2)
    with pytest.raises(InputError) as caught:
        space.on_grid(np.array([[0.0, 1.0], [bad, bad], [1.0, bad]], dtype=np.float32))
    assert str(caught.value) == (
        f"an action is {bad!r}, and 2 of 3 actions are not finite: learn in smaller steps (learning_rate)"
    )


def test_vectors_that_are_no_matrices_are_refused_by_name() -> None:
    for vectors, shapes in (
        ([], "[]"),
        ([np.zeros(3)], "[(3,)]"),
        ([np.zeros((3, 2)), np.zeros((4, 2))], "[(3, 2), (4, 2)]"),
    ):
        with pytest.raises(InputError) as caught:
            Space.of(vectors)
        assert str(caught.value) == (
            f"cell vectors have the shapes {shapes}, expected matrices with one row for every cell"
        )
    with pytest.raises(InputError, match="^cell vectors are not finite: no distance can be told$"):
        Space.of([np.array([[1.0, math.nan]])], directions=None)
    for directions, sentence in ((0, "0, expected 1 or more directions, or none"), (2.0, "2.0, expected a whole")):
        with pytest.raises(ParameterError, match=f"^directions is {sentence}"):
            Space.of([normal(3, 3)], directions=directions)  # type: ignore[arg-type]
