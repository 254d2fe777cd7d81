"""What exact and the bounds promise, against brute force over all selections."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.api.plan import weigh
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, Weights
from cube2net.selection.anneal import Anneal
from cube2net.selection.duals import Relaxation, tighten
from cube2net.selection.exact import Exact, compute_target, upper_bound
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Jaccard
from cube2net.selection.problem import Problem

from toys import random_cube, toy_cube

OBJECTIVE = ("jaccard", "fbeta", "precision", "coverage", "linked", "odd weights")


def question(seed: int, objective: int) -> tuple[Cube, Query, Weights]:
    cube = random_cube(seed, cells=9, objects=24, links=40)
    rng = np.random.default_rng(seed)
    query = Query(np.sort(rng.choice(24, size=6, replace=False)))
    if OBJECTIVE[objective] == "odd weights":
        gain, cost = rng.normal(size=24).round(2), rng.random(24).round(2)
        return cube, query, Weights(gain=gain, cost=cost, gain0=float(rng.normal()), cost0=float(rng.integers(2)))
    weights = weigh(cube, query, OBJECTIVE[objective])
    assert isinstance(weights, Weights)
    return cube, query, weights


def best_of_all(cube: Cube, query: Query, weights: Weights, m: int, max_nodes: int | None = None) -> float:
    """Return the highest value of any selection of at most m cells, none included."""
    best = weights.ratio(0.0, 0.0)
    for size in range(1, m + 1):
        for some in combinations(range(len(cube.cells)), size):
            objects = np.unique(np.concatenate([cube.cells.members[cell] for cell in some]))
            if max_nodes is None or len(np.union1d(objects, query.objects)) <= max_nodes:
                best = max(best, weights.value(objects))
    return best


anything = given(
    st.integers(0, 9999), st.integers(0, len(OBJECTIVE) - 1), st.integers(0, 4), st.none() | st.integers(4, 20)
)


@anything
def test_exact_is_the_best_of_all_selections_and_says_so(
    seed: int, objective: int, m: int, max_nodes: int | None
) -> None:
    cube, query, weights = question(seed, objective)
    budget = Budget(n_cells=m, max_nodes=max_nodes)
    found = Exact(seconds=None).select(cube, query, weights=weights, budget=budget, seed=seed)
    best = best_of_all(cube, query, weights, m, max_nodes)
    assert found.value == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert found.proven
    assert found.bound == pytest.approx(best, rel=1e-9, abs=1e-9)


@anything
def test_no_selection_is_above_the_bound(seed: int, objective: int, m: int, max_nodes: int | None) -> None:
    cube, query, weights = question(seed, objective)
    best = best_of_all(cube, query, weights, m, max_nodes)
    low = weights.ratio(0.0, 0.0)
    bound = upper_bound(cube, query, weights, Budget(n_cells=m, max_nodes=max_nodes), at_least=low)
    assert bound >= best - 1e-9 * max(1.0, abs(best))


@given(st.integers(0, 9999), st.integers(0, 3), st.integers(1, 4), st.floats(0.0, 1.0))
def test_what_is_left_out_is_in_no_better_selection(seed: int, objective: int, m: int, share: float) -> None:
    cube, query, weights = question(seed, objective)
    problem = Problem.of(cube, query, weights)
    best = best_of_all(cube, query, weights, m)
    price = share * best
    left, most = tighten(Relaxation.of(problem, m, price), price, compute_target(problem, price), lambda: False)
    if best > price * (1 + 1e-9) + 1e-12:
        reached = max(
            problem.value(np.concatenate([left.problem.taken, some]).astype(np.int64))
            for size in range(left.problem.n_cells + 1)
            for some in map(np.array, combinations(left.problem.cells.tolist(), size))
        )
        assert reached == pytest.approx(best, rel=1e-9)
        assert most >= -1e-12


def test_three_cells_by_hand() -> None:
    # The first cell alone is worth 3/5; the two small ones together hold the whole query and nothing else.
    cube = toy_cube([[0, 1, 2, 4], [0, 1], [2, 3]], objects=5)
    query = Query(np.array([0, 1, 2, 3]))
    weights = Jaccard().weigh(query, 5)
    one = Exact().select(cube, query, weights=weights, budget=Budget(n_cells=1))
    assert (one.cells.tolist(), one.value, one.bound, one.proven) == ([0], 0.6, 0.6, True)
    two = Exact().select(cube, query, weights=weights, budget=Budget(n_cells=2))
    assert (sorted(two.cells.tolist()), two.value, two.proven) == ([1, 2], 1.0, True)


@settings(max_examples=15)
@given(st.integers(0, 9999))
def test_exact_is_never_beaten(seed: int) -> None:
    cube = random_cube(seed, cells=40, objects=120, largest=20)
    query = Query(np.sort(np.random.default_rng(seed).choice(120, size=20, replace=False)))
    weights, budget = Jaccard().weigh(query, 120), Budget(n_cells=6)
    found = Exact(seconds=None).select(cube, query, weights=weights, budget=budget)
    for method in (Greedy(), Greedy(by="price"), Anneal(steps=2000, restarts=1)):
        assert method.select(cube, query, weights=weights, budget=budget).value <= found.value + 1e-12
    assert found.proven


def test_when_the_time_is_over_the_bound_holds_and_nothing_is_called_proven_that_is_not() -> None:
    cube = random_cube(5, cells=200, objects=400, largest=40)
    query = Query(np.sort(np.random.default_rng(5).choice(400, size=80, replace=False)))
    weights, budget = Jaccard().weigh(query, 400), Budget(n_cells=12)
    short = Exact(seconds=1e-3).select(cube, query, weights=weights, budget=budget)
    longer = Exact(seconds=1.0).select(cube, query, weights=weights, budget=budget)
    assert short.bound is not None
    assert longer.bound is not None
    assert short.bound >= longer.value
    assert longer.bound <= short.bound + 1e-12
    if not short.proven:
        assert short.note == "not proven within 0.001 s"


def test_what_cannot_be_proven_is_refused_in_a_sentence() -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0]))

    def pairs(objects: object) -> float:
        return 1.0

    with pytest.raises(ParameterError) as caught:
        Exact().select(cube, query, weights=CallableObjective(pairs, 3), budget=Budget())
    assert str(caught.value) == (
        "the objective 'pairs' is a function of the objects, and 'exact' needs weighted counts: "
        "use the method 'anneal' or 'cube2net'"
    )
    with pytest.raises(ParameterError) as caught:
        Exact().select(cube, query, weights=Jaccard().weigh(query, 3), budget=Budget(max_links=4))
    assert str(caught.value).startswith("max_links is 4, and 'exact' can only keep n_cells and max_nodes")
    with pytest.raises(ParameterError) as caught:
        Exact(seconds=0)
    assert str(caught.value) == "seconds is 0, expected a number above 0, or None"
    with pytest.raises(ParameterError, match="a bound needs weighted counts"):
        upper_bound(cube, query, CallableObjective(pairs, 3), Budget(), at_least=0.0)
