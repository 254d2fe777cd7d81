"""Growing selections: by hand on three cells, and what holds on any cube whatever the actions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import InputError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Weights
from cube2net.selection.objectives import Coverage, FBeta, Jaccard, Precision
from cube2net.selection.problem import Problem
from cube2net.selection.rl.cpu_trajectories import PRICE_STEP, Trajectories
from cube2net.selection.rl.episodes import Dynamics, Space

from toys import random_cube, toy_cube

OBJECTIVE = [Jaccard(), FBeta(beta=0.5), Precision(), Coverage(), Coverage(price=0.1)]
QUERY = Query(np.array([0, 1, 2]))
# Three cells on a line at 0, 1 and 4, half a unit to a step of the grid.
LINE = Space(np.array([[0], [2], [8]], dtype=np.int16), 2.0, 16)


def three(**options: Any) -> Trajectories:
    """Return selections among three cells of a query of three objects."""
    dynamics = Dynamics(
        **{"n_cells": 2, "k": 1, **{name: options.pop(name) for name in [*options] if name in DYNAMICS}}
    )
    return Trajectories(problem_of_three(), LINE, dynamics, **{"batch": 1, **options})


DYNAMICS = ("n_cells", "k", "pass_over", "whole", "each_step", "sees_left", "own_price", "max_nodes")


def problem_of_three() -> Problem:
    cube = toy_cube([[0, 1, 4], [1, 2, 5], [2, 6, 7]], objects=8)
    return Problem.of(cube, QUERY, Jaccard().weigh(QUERY, 8), every=True)


def question(seed: int, objective: int = 0) -> tuple[Cube, Weights, Problem, Space]:
    cube = random_cube(seed, cells=10)
    rng = np.random.default_rng([seed, 1])
    query = Query(np.sort(rng.choice(len(cube.objects), size=8, replace=False)))
    weights = OBJECTIVE[objective].weigh(query, len(cube.objects))
    problem = Problem.of(cube, query, weights, every=True)
    return cube, weights, problem, Space.of([rng.normal(size=(len(problem), 4))], directions=3)


def union(cube: Cube, cells: Array) -> Array:
    return np.unique(np.concatenate([np.empty(0, int)] + [cube.cells.members[int(cell)] for cell in cells]))


def run(game: Trajectories, seed: int) -> tuple[list[Array], list[Array], list[Array]]:
    """Return what is seen, the rewards and the values of one episode of random actions."""
    rng = np.random.default_rng([seed, 2])
    seen, rewards, values = [game.reset()], [], [game.values]
    for _ in range(game.steps):
        now, reward = game.step(rng.normal(size=(game.batch, game.actions)).astype(np.float32))
        seen.append(now)
        rewards.append(reward)
        values.append(game.values)
    return seen, rewards, values


def test_the_nearest_cell_is_taken_and_its_gain_is_the_reward() -> None:
    game = three(sees_left=False, pass_over=False, batch=2, n_cells=3)
    assert (game.steps, game.observations, game.actions) == (3, 1, 1)
    assert game.reset().tolist() == [[0.0], [0.0]]
    seen, rewards = game.step(np.array([[0.2], [9999.0]], dtype=np.float32))
    assert game.last_positions.tolist() == [0, 2]
    assert seen.tolist() == [[0.0], [4.0]]
    assert rewards.tolist() == [np.float32(2 / 4), np.float32(1 / 5)]
    seen, rewards = game.step(np.array([[0.2], [9999.0]], dtype=np.float32))
    assert game.last_positions.tolist() == [1, 1]
    assert seen.tolist() == [[1.0], [5.0]]
    assert game.values.tolist() == [3 / 5, 2 / 6]
    assert (game.best, game.best_cells.tolist(), game.met) == (0.6, [0, 1], 4)
    game.step(np.array([[0.2], [0.2]], dtype=np.float32))
    assert [game.cells(row).tolist() for row in (0, 1)] == [[0, 1, 2], [2, 1, 0]]
    assert game.values.tolist() == [3 / 7, 3 / 7]
    assert (game.best, game.best_cells.tolist(), game.met) == (0.6, [0, 1], 6)


def test_what_is_left_is_seen_and_actions_are_offsets_from_its_centre() -> None:
    game = three(price=0.5)
    # At the price of 1/2 the cells add 3/2, 3/2 and 0: their centre is half way between the first two.
    assert game.reset().tolist() == [[0.0, 0.5, -1.0, 1.0]]
    # Both are as near as the nearest, both add as much: the first is taken. The second then adds 1/2.
    seen, rewards = game.step(np.array([[0.0]], dtype=np.float32))
    assert (game.last_positions.tolist(), rewards.tolist()) == ([0], [0.5])
    assert seen.tolist() == [[0.0, 1.0, 0.0, np.float32(0.5 / 3)]]
    # Near 1 + 3 lies the third, which adds nothing.
    seen, rewards = game.step(np.array([[3.0]], dtype=np.float32))
    assert (game.last_positions.tolist(), rewards.tolist(), game.cells(0).tolist()) == ([-1], [0.0], [0])
    assert seen.tolist() == [[0.0, 1.0, 1.0, np.float32(0.5 / 3)]]


def test_the_best_of_the_k_nearest_at_the_price_is_taken() -> None:
    for k, price, cell in ((1, 0.0, 2), (2, 0.0, 1), (3, 0.0, 0), (99, 0.0, 0), (2, -5.0, 2)):
        game = three(k=k, price=price, sees_left=False, pass_over=False)
        game.reset()
        game.step(np.array([[4.0]], dtype=np.float32))
        assert game.last_positions.tolist() == [cell]


def test_an_agent_may_set_its_own_price_as_a_factor_of_the_going_one() -> None:
    game = three(price=0.5, own_price=True, sees_left=False, batch=5)
    assert (game.actions, game.observations) == (2, 1)
    game.reset()
    # The third cell adds 1 − 2·price. At e⁻⁹⁹ the price is that of e⁻⁵, and at e⁹⁹ that of e⁵.
    game.step(np.array([[4.0, 0.0], [4.0, -0.1], [4.0, 0.1], [4.0, -99.0], [4.0, 99.0]], dtype=np.float32))
    assert game.last_positions.tolist() == [-1, 2, -1, 2, -1]
    assert game.price == 0.5
    with pytest.raises(InputError, match="^an action is nan, and 1 of 5 actions are not finite"):
        game.step(np.array([[0.0, math.nan], *[[0.0, 0.0]] * 4], dtype=np.float32))


@given(
    seed=st.integers(0, 9999),
    objective=st.integers(0, len(OBJECTIVE) - 1),
    k=st.integers(1, 12),
    m=st.integers(1, 13),
    price=st.floats(-0.5, 0.5),
    pass_over=st.booleans(),
    sees_left=st.booleans(),
)
def test_values_are_those_of_the_cells_together(
    seed: int, objective: int, k: int, m: int, price: float, pass_over: bool, sees_left: bool
) -> None:
    cube, weights, problem, space = question(seed, objective)
    dynamics = Dynamics(n_cells=m, k=k, pass_over=pass_over, sees_left=sees_left)
    game = Trajectories(problem, space, dynamics, batch=3, price=price, unit_reward=0.25)
    for episode in range(2):
        seen, rewards, values = run(game, seed + episode)
        for row in range(3):
            cells = game.cells(row).tolist()
            assert len(set(cells)) == len(cells) == (len(cells) if pass_over else min(m, len(problem)))
            assert game.values[row] == pytest.approx(weights.value(union(cube, problem.cells[cells])), abs=1e-12)
            added = float(np.sum(rewards, axis=0)[row]) * 0.25
            assert added == pytest.approx(game.values[row] - weights.ratio(0.0, 0.0), abs=1e-6)
        assert all(one.shape == (3, game.observations) and one.dtype == np.float32 for one in seen)
        assert all(bool(np.isfinite(one).all()) for one in seen)
        assert game.best >= max(float(one.max()) for one in values[1:])


@given(st.integers(0, 9999), st.integers(0, len(OBJECTIVE) - 1))
def test_the_best_is_the_best_selection_ever_met(seed: int, objective: int) -> None:
    cube, weights, problem, space = question(seed, objective)
    game = Trajectories(problem, space, Dynamics(n_cells=6, k=3, pass_over=False), batch=4)
    met = [run(game, seed + episode)[2][1:] for episode in range(3)]
    assert game.best == max(float(values.max()) for episode in met for values in episode)
    assert game.met == 3 * 6 * 4
    assert game.best == pytest.approx(weights.value(union(cube, problem.cells[game.best_cells])), abs=1e-12)


def test_where_only_whole_selections_count_the_best_has_all_its_cells() -> None:
    _, _, problem, space = question(3, 0)
    game = Trajectories(problem, space, Dynamics(n_cells=6, k=3, pass_over=False, whole=True), batch=4)
    ends = [float(run(game, episode)[2][-1].max()) for episode in range(3)]
    assert (game.best, len(game.best_cells), game.met) == (max(ends), 6, 3 * 4)


@given(st.integers(0, 9999), st.integers(0, 30))
def test_no_more_objects_come_in_than_there_is_room_for(seed: int, room: int) -> None:
    cube, weights, problem, space = question(seed)
    game = Trajectories(problem, space, Dynamics(n_cells=8, k=2, pass_over=False, max_nodes=room), batch=3)
    run(game, seed)
    for row in range(3):
        brought = union(cube, problem.cells[game.cells(row)])
        assert int((weights.gain[brought] == 0).sum()) <= room


def test_a_cell_that_does_not_fit_makes_room_for_the_next_near_one() -> None:
    game = three(sees_left=False, pass_over=False, max_nodes=1)
    game.reset()
    game.step(np.array([[4.0]], dtype=np.float32))
    assert game.last_positions.tolist() == [1]
    game.step(np.array([[4.0]], dtype=np.float32))
    assert (game.last_positions.tolist(), game.cells(0).tolist()) == ([-1], [1])


@pytest.mark.parametrize("sees_left", [True, False])
def test_what_was_returned_is_never_changed_and_changing_it_changes_nothing(sees_left: bool) -> None:
    _, _, problem, space = question(5)
    dynamics = Dynamics(n_cells=6, k=2, sees_left=sees_left)
    kept, spoiled = Trajectories(problem, space, dynamics, batch=2), Trajectories(problem, space, dynamics, batch=2)
    rng = np.random.default_rng(0)
    returned, copies = [], []
    for _ in range(2):
        now, other = kept.reset(), spoiled.reset()
        for _ in range(6):
            returned.append(now)
            copies.append(now.copy())
            for array in (other, spoiled.values, spoiled.last_positions, spoiled.cells(0)):
                array.fill(7)
            actions = rng.normal(size=(2, 3)).astype(np.float32)
            now, rewards = kept.step(actions)
            returned.append(rewards)
            copies.append(rewards.copy())
            other, others = spoiled.step(actions)
            assert (now.tolist(), rewards.tolist()) == (other.tolist(), others.tolist())
    assert all(map(np.array_equal, returned, copies))
    assert not any(np.shares_memory(a, b) for i, a in enumerate(returned) for b in returned[:i])


def test_resetting_in_the_middle_begins_anew() -> None:
    _, _, problem, space = question(8)
    game, fresh = (Trajectories(problem, space, Dynamics(n_cells=5, k=2), batch=2) for _ in range(2))
    game.reset()
    game.step(np.ones((2, 3), dtype=np.float32))
    for first, second in zip(run(game, 1), run(fresh, 1), strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_function_is_called_once_for_every_selection_at_its_end() -> None:
    asked: list[list[int]] = []

    def value(cells: Array) -> float:
        asked.append(cells.tolist())
        return float(10 * len(cells) + cells[0])

    game = three(batch=2, function=value, sees_left=False, pass_over=False, unit_reward=2.0)
    game.reset()
    assert np.isnan(game.values).all()
    _, rewards = game.step(np.array([[0.0], [1.0]], dtype=np.float32))
    assert (rewards.tolist(), asked, game.best, game.met) == ([0.0, 0.0], [], -math.inf, 0)
    _, rewards = game.step(np.array([[1.0], [4.0]], dtype=np.float32))
    assert asked == [[0, 1], [1, 2]]
    assert (rewards.tolist(), game.values.tolist()) == ([10.0, 10.5], [20.0, 21.0])
    assert (game.best, game.best_cells.tolist(), game.met) == (21.0, [1, 2], 2)


def test_a_function_called_after_every_step_pays_what_the_step_added() -> None:
    def value(cells: Array) -> float:
        return 7.0 + float(cells.sum()) if len(cells) else 5.0

    game = three(batch=2, function=value, sees_left=False, pass_over=False, whole=True, each_step=True)
    game.reset()
    assert game.values.tolist() == [5.0, 5.0]
    _, rewards = game.step(np.array([[0.0], [1.0]], dtype=np.float32))
    assert (rewards.tolist(), game.met) == ([2.0, 3.0], 0)
    _, rewards = game.step(np.array([[1.0], [4.0]], dtype=np.float32))
    assert (rewards.tolist(), game.best, game.met) == ([1.0, 2.0], 10.0, 2)


@pytest.mark.parametrize("price", [0.0, 0.1498, 1 / 3, 7.25, -0.3, 1e-9])
def test_prices_are_multiples_of_a_power_of_two_and_never_higher_than_asked(price: float) -> None:
    game = three(price=price)
    assert (game.price / PRICE_STEP).is_integer()
    assert price - PRICE_STEP < game.price <= price
    game.set_price(0.5)
    assert game.price == 0.5


def test_one_cell_no_cell_and_more_steps_than_cells_are_no_trouble() -> None:
    cube = toy_cube([[0, 1]], objects=4)
    query = Query(np.array([0]))
    one = Problem.of(cube, query, Jaccard().weigh(query, 4))
    none = Problem.of(cube, Query(np.array([3])), Jaccard().weigh(Query(np.array([3])), 4))
    for problem, cells in ((one, [0]), (none, [])):
        space = Space.of([np.zeros((len(problem), 2))])
        for sees_left in (True, False):
            dynamics = Dynamics(n_cells=4, k=9, pass_over=False, sees_left=sees_left)
            game = Trajectories(problem, space, dynamics, batch=2)
            seen, rewards, _ = run(game, 0)
            assert game.cells(1).tolist() == cells
            assert (game.best, game.best_cells.tolist()) == (0.5 if cells else 0.0, cells)
            assert bool(np.isfinite(seen).all())
            assert float(np.sum(rewards)) == (1.0 if cells else 0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("sees_left", [True, False])
def test_an_action_that_is_not_finite_is_refused_and_nothing_is_taken(bad: float, sees_left: bool) -> None:
    game = three(batch=3, sees_left=sees_left)
    game.reset()
    with pytest.raises(InputError) as caught:
        game.step(np.array([[0.0], [bad], [1.0]], dtype=np.float32))
    assert str(caught.value) == (
        f"an action is {bad!r}, and 1 of 3 actions are not finite: learn in smaller steps (learning_rate)"
    )
    assert not game.over
    assert [len(game.cells(row)) for row in range(3)] == [0, 0, 0]


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 1), (2, 2), (3, 1), (2, 1, 1)])
def test_actions_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    game = three(batch=2)
    game.reset()
    with pytest.raises(InputError) as caught:
        game.step(np.zeros(shape))
    assert str(caught.value) == f"actions have shape {shape}, expected (2, 1)"


def test_a_step_before_the_first_or_after_the_last_is_refused() -> None:
    game = three()
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            game.step(np.zeros((1, 1)))
        assert str(caught.value) == "the 2 steps of the selections are over, or not begun: reset them first"
        run(game, 0)
        assert game.over


def test_what_cannot_be_is_refused_by_name() -> None:
    for options, sentence in (
        ({"k": 0}, "k is 0, expected 1 or more cells"),
        ({"n_cells": 2.5}, "n_cells is 2.5, expected a whole number of 0 or more cells"),
        ({"max_nodes": math.nan}, "max_nodes is nan, expected a number of objects"),
        ({"batch": 0}, "batch is 0, expected 1 or more selections"),
        ({"unit_reward": 0.0}, "unit_reward is 0.0, expected a finite number above 0"),
        ({"unit_reward": math.nan}, "unit_reward is nan, expected a finite number above 0"),
        ({"price": math.inf}, "price is inf, expected a finite number"),
    ):
        with pytest.raises(ParameterError) as caught:
            three(**options)
        assert str(caught.value) == sentence
    with pytest.raises(InputError) as other:
        Trajectories(problem_of_three(), LINE.take(np.array([0, 1])), Dynamics(n_cells=1, k=1), batch=1)
    assert str(other.value) == "the space has 2 cells and the problem 3: take the problem's cells of it"
