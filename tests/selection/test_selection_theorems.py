"""What the paper proves or counts: near cells have near outputs, near labels near vectors, and q is asked so often."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Method
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective
from cube2net.selection.anneal import Anneal
from cube2net.selection.greedy import Greedy
from cube2net.selection.rl import ppo
from cube2net.selection.rl.cube2net import Cube2net

SLOPES = {"sigmoid": 1 / 4, "tanh": 1.0, "linear": 1.0}
"""The steepest that an activation is."""


def make_policy(hidden_layer: str, output_layer: str) -> ppo.Policy:
    settings = ppo.Settings(hidden=16, hidden_layer=hidden_layer, output_layer=output_layer)
    policy = ppo.Policy(5, 5, settings, torch.Generator().manual_seed(0))
    with torch.no_grad():
        policy.mean[2].weight.mul_(100)  # the last layer starts near 0
    return policy.double()


def bound_slope(policy: ppo.Policy, output: str, hidden_layer: str, output_layer: str) -> float:
    """Return a bound on how much an output changes with the state: the product of the norms of its layers."""
    layers = [policy.shared[0], *(policy.mean if output == "mean" else policy.worth)[::2]]
    norms = [float(torch.linalg.matrix_norm(layer.weight.detach(), 2)) for layer in layers]
    return float(np.prod(norms)) * SLOPES[hidden_layer] ** 2 * SLOPES[output_layer]


@pytest.mark.parametrize("output", ["mean", "worth"])
@pytest.mark.parametrize(("hidden_layer", "output_layer"), [("sigmoid", "sigmoid"), ("tanh", "linear")])
def test_outputs_and_gradients_of_near_cells_are_near(output: str, hidden_layer: str, output_layer: str) -> None:
    policy = make_policy(hidden_layer, output_layer)
    slope = bound_slope(policy, output, hidden_layer, output_layer)
    rng = np.random.default_rng(0)
    apart = []
    for distance in (1e-1, 1e-3, 1e-5):
        for _ in range(10):
            state, cell, step = (torch.tensor(rng.normal(size=5)) for _ in range(3))
            other = cell + distance * step / step.norm()
            one, two = (compute_output(policy, state + each, output) for each in (cell, other))
            assert float((one[0] - two[0]).norm()) <= slope * distance * (1 + 1e-9)
            apart.append(float((one[1] - two[1]).norm()) / distance)
    # ζ: the gradients too come as near to each other as the cells do, however near these are.
    assert max(apart[-10:]) <= 2 * max(apart[:-10])


def compute_output(policy: ppo.Policy, state: Tensor, output: str) -> tuple[Tensor, Tensor]:
    """Return an output of the policy and the gradient of its sum by the weights."""
    policy.zero_grad()
    mean, worth = policy(state[None])
    found = mean[0] if output == "mean" else worth
    found.sum().backward()
    gradients = [weight.grad.flatten() for weight in policy.parameters() if weight.grad is not None]
    return found.detach(), torch.cat(gradients).clone()


def test_outputs_are_not_as_near_as_the_square_of_a_distance() -> None:
    # The paper's balls are of squared distances ξ: |f − f′| ≤ ηξ then fails for every η, and |f − f′|² ≤ ηξ holds.
    policy = make_policy("tanh", "linear")
    state, step = torch.zeros(5, dtype=torch.float64), torch.eye(5, dtype=torch.float64)[0]
    ratios = []
    for xi in (1e-2, 1e-4, 1e-6):
        gap = float((policy(state[None])[0] - policy((state + xi**0.5 * step)[None])[0]).norm().detach())
        ratios.append((gap / xi, gap**2 / xi))
    assert ratios[2][0] > 5 * ratios[1][0] > 25 * ratios[0][0]
    assert ratios[2][1] == pytest.approx(ratios[1][1], rel=0.01)


words = arrays(np.float64, st.tuples(st.integers(1, 4), st.just(3)), elements=st.floats(-9, 9))


def sum_gaps(one: Array, other: Array) -> Array:
    """Return the squared distances of all words of a label from all words of another."""
    return ((one[:, None] - other[None]) ** 2).sum(axis=2)


def test_the_theorem_of_cell_vectors_fails_for_a_label_of_two_equal_words_and_an_unknown_one() -> None:
    one, other = np.array([[1.0, 0.0], [1.0, 0.0]]), np.zeros((1, 2))
    assert ((one.sum(axis=0) - other.sum(axis=0)) ** 2).sum() == 4 > sum_gaps(one, other).sum() == 2


@given(words, words)
def test_the_theorem_of_cell_vectors_holds_for_means_of_words(one: Array, other: Array) -> None:
    gap = float(((one.mean(axis=0) - other.mean(axis=0)) ** 2).sum())
    assert gap <= float(sum_gaps(one, other).mean()) * (1 + 1e-9) + 1e-9


@cache
def make_planted(communities: int) -> tuple[Cube, Query]:
    made = c2n.make_planted(objects=50 * communities, communities=communities, noise=0.2)
    cube = c2n.build(made.corpus)
    return cube, cube.query(made.query(0))


def count_calls(cube: Cube, query: Query, method: Method, n_cells: int) -> int:
    """Return how often a method calls a function that is asked what selections are worth."""
    calls = []

    def value(objects: Array) -> float:
        calls.append(len(objects))
        return len(np.intersect1d(objects, query.objects)) / len(np.union1d(objects, query.objects))

    judge = CallableObjective(value, len(cube.objects))
    method.select(cube, query, weights=judge, budget=Budget(n_cells=n_cells))
    return len(calls)


@pytest.mark.parametrize("n_cells", [2, 4])
def test_greedy_asks_for_every_cell_left_at_every_step(n_cells: int) -> None:
    cube, query = make_planted(6)
    candidates = sum(bool(np.isin(query.objects, cube.cells.members[cell]).any()) for cell in range(len(cube.cells)))
    asked = sum(candidates - step for step in range(n_cells))
    assert asked <= count_calls(cube, query, Greedy(), n_cells) <= asked + n_cells + 2


@pytest.mark.parametrize(
    ("method", "most"),
    [
        (Anneal(steps=30), 30),
        (Cube2net(trajectories=3, updates=2, epochs=1, floor=False), 3 * 2),
        (Cube2net(preset="paper", trajectories=3, updates=2, epochs=1), 3 * 2 * 4),
    ],
    ids=["anneal", "default", "paper"],
)
def test_what_annealing_and_agents_ask_has_a_limit_without_the_number_of_cells(method: Method, most: int) -> None:
    for communities in (4, 12):
        cube, query = make_planted(communities)
        if isinstance(method, Cube2net):
            method = method.with_vectors(c2n.api.embed_cells(cube, "words"))
        # Beside the search: the start, the plan, and the value of every prefix of the answer.
        assert count_calls(cube, query, method, 4) <= most + 3 * 4 + 2
