"""Trajectories in tensors see, earn and keep what those in arrays do."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from cube2net.errors import ParameterError
from cube2net.model.query import Query
from cube2net.selection.objectives import Jaccard
from cube2net.selection.problem import Problem
from cube2net.selection.rl import ppo
from cube2net.selection.rl.cpu_trajectories import Trajectories
from cube2net.selection.rl.episodes import Dynamics, Space
from cube2net.selection.rl.gpu_trajectories import GpuTrajectories, usable

from toys import random_cube

STEPS, BATCH = 5, 6


def chances(seed: int, **dynamics: object) -> tuple[Problem, Space, Dynamics]:
    """Return a random choice among cells, their points, and the dynamics of the game."""
    cube = random_cube(seed, cells=30, objects=60, largest=12)
    query = Query(np.arange(0, 60, 5))
    problem = Problem.of(cube, query, Jaccard().weigh(query, len(cube.objects)))
    space = Space.of([np.random.default_rng(seed).normal(size=(len(cube.cells), 6))], directions=3)
    return problem, space.take(problem.cells), Dynamics(**{"n_cells": STEPS, "k": 4, **dynamics})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "dynamics",
    [
        {},
        {"k": 1, "pass_over": False, "sees_left": False},
        {"k": 1000},
        {"max_nodes": 14.0},
        {"max_nodes": 0.0, "pass_over": False},
    ],
    ids=str,
)
def test_tensors_see_and_earn_what_arrays_do(seed: int, dynamics: dict[str, object]) -> None:
    problem, space, game = chances(seed, **dynamics)
    options = {"batch": BATCH, "price": 0.11, "unit_reward": 0.2}
    arrays = Trajectories(problem, space, game, **options)  # type: ignore[arg-type]
    tensors = GpuTrajectories(problem, space, game, device="cpu", **options)  # type: ignore[arg-type]
    assert (tensors.steps, tensors.observations, tensors.actions) == (
        arrays.steps,
        arrays.observations,
        arrays.actions,
    )
    rng = np.random.default_rng(seed)
    for price in (0.11, 0.25):
        arrays.set_price(price)
        tensors.set_price(price)
        assert tensors.price == arrays.price
        np.testing.assert_allclose(tensors.reset(), arrays.reset(), rtol=1e-6, atol=1e-6)
        for _ in range(STEPS):
            actions = rng.normal(size=(BATCH, space.directions)).astype(np.float32)
            seen, earned = arrays.step(actions)
            seen_there, earned_there = tensors.step(torch.from_numpy(actions))
            np.testing.assert_allclose(seen_there, seen, rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(earned_there, earned)
            assert seen_there.dtype == earned_there.dtype == torch.float32
            for row in range(BATCH):
                assert tensors.cells(row).tolist() == arrays.cells(row).tolist()
            assert (tensors.best, tensors.met) == (arrays.best, arrays.met)
            assert tensors.best_cells.tolist() == arrays.best_cells.tolist()


def test_the_best_is_kept_when_an_episode_is_broken_off() -> None:
    problem, space, dynamics = chances(1)
    game = GpuTrajectories(problem, space, dynamics, batch=BATCH, device="cpu")
    assert (game.best, game.best_cells.tolist()) == (-math.inf, [])
    game.reset()
    game.step(torch.zeros((BATCH, game.actions)))
    game.reset()
    assert len(game.best_cells) == 1
    assert game.best == problem.value(game.best_cells)


def test_a_policy_learns_from_tensors_as_from_arrays() -> None:
    problem, space, dynamics = chances(2, n_cells=3, k=2)
    settings = ppo.Settings(epochs=2, hidden=8)
    tensors = GpuTrajectories(problem, space, dynamics, batch=8, device="cpu")
    arrays = Trajectories(problem, space, dynamics, batch=8)
    curves = []
    for game in (tensors, arrays):
        policy, generator = ppo.start(game, settings, seed=0)
        capture = tensors.capture(generator)
        updates = ppo.train(game, policy, settings, generator, updates=3, capture=capture)
        curves.append([update.mean_return for update in updates])
    assert curves[0] == pytest.approx(curves[1], rel=0.02)
    assert tensors.best == problem.value(tensors.best_cells)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_said_so() -> None:
    with pytest.raises(ParameterError, match="device is 'cuda', and torch sees no GPU here: use 'cpu'"):
        usable("cuda")
