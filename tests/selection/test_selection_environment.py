"""The environments: both checkers pass them, and they say what the cube says."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import CallableObjective, Weights
from cube2net.model.vectors import Vectors
from cube2net.selection.objectives import Coverage, Jaccard
from cube2net.selection.problem import Problem
from cube2net.selection.rl.cpu_trajectories import Trajectories
from cube2net.selection.rl.environment import SelectionEnv, make_env, make_vector_env
from cube2net.selection.rl.episodes import Dynamics, Space

from toys import random_cube, toy_cube

every_preset = pytest.mark.parametrize("preset", ["default", "paper"])
# The action is a point among the cells, and cells do not lie between -1 and 1.
KNOWN = "symmetric and normalized"


@contextmanager
def only_known_warnings() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [str(one.message) for one in caught if KNOWN not in str(one.message)] == []


def question(seed: int = 0, cells: int = 24) -> tuple[Cube, Query, Vectors, Weights]:
    cube = random_cube(seed, cells=cells)
    rng = np.random.default_rng([seed, 1])
    query = Query(np.sort(rng.choice(np.flatnonzero(cube.object_cells.sizes), size=8, replace=False)))
    vectors = Vectors(rng.normal(size=(cells, 10)).astype(np.float32), (0, 10), ("members",))
    return cube, query, vectors, Jaccard().weigh(query, len(cube.objects))


def one(seed: int = 0, **options: Any) -> SelectionEnv:
    cube, query, vectors, weights = question(seed)
    return make_env(cube, query, vectors, **{"weights": weights, "n_cells": 5, **options})


def three_cells(**options: Any) -> SelectionEnv:
    """Return the choice among three cells at 0, 1 and 4, numbered 1, 2 and 3 in the cube."""
    cube = toy_cube([[9], [0, 1, 4], [1, 2, 5], [2, 6, 7]], objects=10)
    query = Query(np.array([0, 1, 2]))
    problem = Problem.of(cube, query, Jaccard().weigh(query, 10))
    line = Space(np.array([[0], [2], [8]], dtype=np.int16), 2.0, 16)
    dynamics = Dynamics(**{"n_cells": 2, "k": 1, "sees_left": False, **options})
    return SelectionEnv(Trajectories(problem, line, dynamics, batch=1))


def act(*numbers: float) -> Array:
    return np.array(numbers, dtype=np.float32)


@every_preset
def test_gymnasium_finds_nothing_wrong(preset: str) -> None:
    with only_known_warnings():
        check_env(one(preset=preset), skip_render_check=True)


def test_it_is_registered_alone_and_side_by_side() -> None:
    cube, query, vectors, weights = question()
    env = gymnasium.make("cube2net/Cells-v0", cube=cube, query=query, vectors=vectors, n_cells=3)
    first = env.unwrapped
    assert isinstance(first, SelectionEnv) and first.trajectories.steps == 3
    options: Any = {"cube": cube, "query": query, "vectors": vectors, "weights": weights, "n_cells": 3}
    many = gymnasium.make_vec("cube2net/Cells-v0", num_envs=2, vectorization_mode="vector_entry_point", **options)
    assert many.reset()[0].shape == (2, *env.reset()[0].shape)


@every_preset
def test_stable_baselines_finds_nothing_wrong(preset: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with only_known_warnings():
        checker.check_env(one(preset=preset))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(gymnasium.wrappers.RescaleAction(one(preset=preset), np.float32(-1), np.float32(1)))


def test_an_agent_of_another_library_learns_in_it() -> None:
    reference = pytest.importorskip("stable_baselines3")
    env = one()
    model = reference.PPO("MlpPolicy", env, n_steps=50, batch_size=50, n_epochs=1, seed=0, device="cpu")
    model.learn(100)
    assert env.trajectories.met == 100
    cube, _, _, weights = question()
    members = [cube.cells.members[int(cell)] for cell in env.best_cells]
    assert weights.value(np.unique(np.concatenate(members))) == env.trajectories.best > 0


def test_it_says_what_was_taken_and_what_that_is_worth() -> None:
    env = three_cells()
    seen, info = env.reset(seed=0)
    assert (seen.tolist(), info) == ([0.0], {"value": 0.0})
    seen, reward, terminated, truncated, info = env.step(act(0.9))
    assert (seen.tolist(), terminated, truncated) == ([1.0], False, False)
    assert reward == pytest.approx(0.5)
    assert info == {"value": 0.5, "cell": 2, "position": 1}
    seen, reward, terminated, truncated, info = env.step(act(0.9))
    assert (seen.tolist(), terminated, truncated) == ([1.0], True, False)
    assert reward == pytest.approx(0.1)
    assert info == {"value": 0.6, "cell": 1, "position": 0}
    assert (env.cells.tolist(), env.best_cells.tolist(), env.trajectories.best) == ([2, 1], [2, 1], 0.6)
    assert env.reset()[1] == {"value": 0.0}
    assert (env.cells.tolist(), env.best_cells.tolist()) == ([], [2, 1])


def test_a_step_that_takes_nothing_says_so() -> None:
    env = three_cells(max_nodes=0)
    env.reset()
    assert env.step(act(0.0))[1:] == (0.0, False, False, {"value": 0.0, "cell": -1, "position": -1})
    env = three_cells(n_cells=5, pass_over=False)
    env.reset()
    infos = [env.step(act(0.0))[4] for _ in range(5)]
    assert [info["cell"] for info in infos] == [1, 2, 3, -1, -1]


@settings(max_examples=25)
@given(st.integers(0, 9999), st.sampled_from(["default", "paper"]), st.integers(1, 8), st.booleans())
def test_an_episode_has_exactly_m_steps_and_its_rewards_add_up(seed: int, preset: str, m: int, dear: bool) -> None:
    cube, query, vectors, weights = question(seed)
    if dear:
        weights = Coverage(price=0.1).weigh(query, len(cube.objects))
    env = make_env(cube, query, vectors, weights=weights, n_cells=m, k=3, preset=preset)
    env.action_space.seed(seed)
    for _ in range(2):
        seen, info = env.reset(seed=seed)
        assert env.observation_space.contains(seen)
        start, total = info["value"], 0.0
        for step in range(m):
            seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
            assert env.observation_space.contains(seen)
            assert (terminated, truncated) == (step == m - 1, False)
            total += reward
        objects = np.unique(np.concatenate([np.empty(0, int)] + [cube.cells.members[int(c)] for c in env.cells]))
        assert info["value"] == pytest.approx(weights.value(objects), abs=1e-12)
        assert total == pytest.approx(info["value"] - start, abs=1e-6)
        assert len(set(env.cells.tolist())) == len(env.cells) <= m


def test_an_action_reaches_from_any_cell_to_any_other() -> None:
    env = one()
    points = env.trajectories.space.points / env.trajectories.space.unit
    assert float(np.abs(points[:, None] - points[None]).max()) <= float(env.action_space.high.min())


@every_preset
def test_side_by_side_they_do_what_each_does_alone(preset: str) -> None:
    cube, query, vectors, weights = question(4)
    options: dict[str, Any] = {"weights": weights, "n_cells": 3, "k": 2, "preset": preset}
    alone = SyncVectorEnv([lambda: make_env(cube, query, vectors, **options)] * 4)
    together = make_vector_env(cube, query, vectors, num_envs=4, **options)
    assert together.metadata["autoreset_mode"] == alone.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    for name in ("num_envs", "single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(together, name) == getattr(alone, name)
    together.action_space.seed(0)
    assert data_equivalence(together.reset(seed=1), alone.reset(seed=1), exact=True)
    over = []
    for _ in range(9):
        actions = together.action_space.sample()
        first, second = together.step(actions), alone.step(actions)
        assert data_equivalence(first, second, exact=True)
        assert [part.dtype for part in first[:4]] == [part.dtype for part in second[:4]]
        assert together.observation_space.contains(first[0])
        over.append(bool(first[2].all()))
    assert over == [False, False, True, False] * 2 + [False]


def test_wrappers_for_many_environments_fit() -> None:
    cube, query, vectors, weights = question(2)
    many = make_vector_env(cube, query, vectors, num_envs=3, weights=weights, n_cells=2)
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(many)
    wrapped.reset(seed=0)
    wrapped.step(np.zeros(many.action_space.shape, dtype=np.float32))
    infos = wrapped.step(np.zeros(many.action_space.shape, dtype=np.float32))[4]
    assert infos["episode"]["l"].tolist() == [2, 2, 2]
    assert infos["episode"]["r"] == pytest.approx(infos["value"], abs=1e-6)
    assert repr(many) == "SelectionVectorEnv(num_envs=3)"
    assert many.best_cells.tolist() == many.trajectories.problem.cells[many.trajectories.cells(0)].tolist()
    many.close()


def test_a_seeded_reset_sets_the_generator_of_the_environment_only() -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]  # noqa: NPY002
    cube, query, vectors, weights = question()
    for env in (one(), make_vector_env(cube, query, vectors, num_envs=2, weights=weights)):
        env.reset(seed=5)
        first = env.np_random.integers(1000, size=5).tolist()
        env.reset(seed=5)
        assert env.np_random.integers(1000, size=5).tolist() == first
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]  # noqa: NPY002


def test_a_function_of_ones_own_pays_at_the_end() -> None:
    cube, query, vectors, _ = question()
    judge = CallableObjective(lambda objects: len(objects) / 7, len(cube.objects))
    env = make_env(cube, query, vectors, weights=judge, n_cells=3)
    with only_known_warnings():
        check_env(env, skip_render_check=True)
    assert env.reset()[1] == {}
    results = [env.step(np.zeros(env.action_space.shape, dtype=np.float32)) for _ in range(3)]
    brought = np.unique(np.concatenate([cube.cells.members[int(cell)] for cell in env.cells]))
    assert [result[1] for result in results] == pytest.approx([0.0, 0.0, len(brought) / 7])
    assert ["value" in result[4] for result in results] == [False, False, True]
    assert results[-1][4]["value"] == len(brought) / 7
    assert env.action_space.shape == (9,)
    assert env.action_space.high[-1] == 5.0
    many = make_vector_env(cube, query, vectors, num_envs=2, weights=judge, n_cells=1)
    assert many.reset()[1] == {}
    infos = many.step(np.zeros(many.action_space.shape, dtype=np.float32))[4]
    assert infos["_value"].tolist() == [True, True]


def test_the_price_is_what_greedy_reaches_and_only_cells_that_may_help_are_there() -> None:
    cube = toy_cube([[0, 1, 4], [9, 8], [1, 2, 5]], objects=10)
    query = Query(np.array([0, 1, 2]))
    vectors = Vectors(np.eye(3, dtype=np.float32), (0, 3), ("members",))
    weights = Jaccard().weigh(query, 10)
    env = make_env(cube, query, vectors, weights=weights, n_cells=2)
    assert env.trajectories.problem.cells.tolist() == [0, 2]
    assert env.trajectories.price == pytest.approx(0.6, abs=1e-7)
    literal = make_env(cube, query, vectors, weights=weights, n_cells=2, preset="paper")
    assert literal.trajectories.problem.cells.tolist() == [0, 1, 2]
    assert literal.trajectories.dynamics == Dynamics(
        n_cells=2, k=1, pass_over=False, whole=True, each_step=True, sees_left=False
    )
    assert (literal.trajectories.price, literal.action_space.shape) == (0.0, (3,))
    assert one(max_nodes=20, k=7, directions=2).trajectories.dynamics == Dynamics(n_cells=5, k=7, max_nodes=12.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_action_that_is_not_finite_is_refused(bad: float) -> None:
    env = three_cells()
    env.reset()
    with pytest.raises(InputError, match=f"^an action is {bad!r}, and 1 of 1 actions are not finite"):
        env.step(act(bad))


def test_wrong_shapes_and_steps_out_of_turn_are_refused() -> None:
    env = three_cells(n_cells=1)
    cube, query, vectors, weights = question()
    many = make_vector_env(cube, query, vectors, num_envs=2, weights=weights, n_cells=1)
    for early in (lambda: env.step(act(0.0)), lambda: many.step(np.zeros((2, 8)))):
        with pytest.raises(
            InputError, match="^the 1 steps of the selections are over, or not begun: reset them first$"
        ):
            early()
    env.reset()
    with pytest.raises(InputError) as caught:
        env.step(act(0.0, 1.0))
    assert str(caught.value) == "an action has shape (2,), expected (1,)"
    env.step(act(0.0))
    with pytest.raises(InputError, match="reset them first"):
        env.step(act(0.0))
    many.reset()
    with pytest.raises(InputError, match=r"^actions have shape \(8,\), expected \(2, 8\)$"):
        many.step(np.zeros(8))
    with pytest.raises(InputError) as caught:
        many.reset(options={"reset_mask": np.array([True, False])})
    assert str(caught.value) == (
        "reset_mask leaves some selections out: they run side by side, and are all reset together"
    )


def test_what_cannot_be_is_refused_by_name() -> None:
    cube, query, vectors, weights = question()
    for options, sentence in (
        ({"n_cells": 0}, "n_cells is 0, expected 1 or more cells"),
        ({"k": 0}, "k is 0, expected a whole number of 1 or more"),
        ({"directions": 0}, "directions is 0, expected a whole number of 1 or more"),
        (
            {"preset": "papers"},
            "unknown preset 'papers': choose one of default, paper, paper-tuned, printed (did you mean 'paper'?)",
        ),
    ):
        with pytest.raises(ParameterError) as caught:
            one(**options)
        assert str(caught.value) == sentence
    with pytest.raises(ParameterError, match="^num_envs is 0, expected 1 or more selections$"):
        make_vector_env(cube, query, vectors, num_envs=0, weights=weights)
    with pytest.raises(InputError, match="^vectors are of 2 cells, and the cube has 24$"):
        make_env(cube, query, vectors.take([0, 1]), weights=weights)
    lonely = toy_cube([[0, 1]], objects=4)
    away = Query(np.array([3]))
    with pytest.raises(
        QueryError, match="^the 1 object of the query is not in any cell, so there is nothing to choose"
    ):
        make_env(lonely, away, vectors.take([0]), weights=Jaccard().weigh(away, 4))


def test_only_this_module_loads_gymnasium_and_it_loads_no_torch() -> None:
    code = (
        "import sys, cube2net.selection.rl.cpu_trajectories, cube2net.selection.rl.cube2net;"
        "print('gymnasium' in sys.modules);"
        "import cube2net.selection.rl.environment; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
