"""The best selection with its proof, and bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import InputError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Weights
from cube2net.selection.constraints import Clock, compute_room
from cube2net.selection.duals import Relaxation, tighten
from cube2net.selection.exact import BranchAndBound, Exact, compute_target, unit, upper_bound
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import OBJECTIVES, Coverage, FBeta, Jaccard, Precision
from cube2net.selection.problem import Problem

from toys import random_cube, toy_cube

OBJECTS = 16
counted = [Jaccard(), FBeta(), FBeta(beta=0.7), Precision(), Coverage(price=0), Coverage(price=0.1)]
cubes = st.lists(st.sets(st.integers(0, OBJECTS - 1), min_size=1, max_size=7), min_size=1, max_size=9).map(
    lambda cells: toy_cube([sorted(cell) for cell in cells], objects=OBJECTS)
)
queries = st.sets(st.integers(0, OBJECTS - 1), min_size=1, max_size=6).map(lambda rows: Query(np.array(sorted(rows))))


@st.composite
def worths(draw: st.DrawFn) -> Weights:
    """Return weights of any kind: gains below 0, costs of 0, constants or none, whole numbers or not."""
    unit = draw(st.sampled_from([1.0, 0.3]))
    gain = draw(st.lists(st.integers(-3, 4), min_size=OBJECTS, max_size=OBJECTS))
    cost = draw(st.lists(st.integers(0, 3), min_size=OBJECTS, max_size=OBJECTS))
    gain0, cost0 = draw(st.integers(-2, 2)), draw(st.integers(0, 3))
    return Weights(gain=unit * np.array(gain), cost=unit * np.array(cost), gain0=unit * gain0, cost0=unit * cost0)


def all_values(cube: Cube, query: Query, weights: Weights, m: int, room: float) -> Array:
    """Return the value of every selection of at most m cells within the room, none of them first."""
    held = np.zeros((1, len(cube.objects)), dtype=bool)
    sizes = np.zeros(1, dtype=int)
    for cell in range(len(cube.cells)):
        row = np.isin(np.arange(len(cube.objects)), cube.cells.members[cell])
        held, sizes = np.vstack([held, held | row]), np.concatenate([sizes, sizes + 1])
    outside = ~np.isin(np.arange(len(cube.objects)), query.objects)
    fits = (sizes <= m) & ((held @ outside.astype(float) <= room) | (sizes == 0))
    return np.array([weights.value(np.flatnonzero(row)) for row in held[fits]])


def search(problem: Problem, m: int, room: float, seconds: float | None = None) -> BranchAndBound:
    found = BranchAndBound(problem, m, room, problem.ratio(0.0, 0.0), Clock(seconds))
    found.run()
    return found


@given(cubes, queries, worths() | st.sampled_from(counted), st.integers(1, 5), st.sampled_from([0, 2, 4, 8, math.inf]))
def test_from_nothing_known_the_search_ends_at_the_best_of_all_selections(
    cube: Cube, query: Query, kind: Weights | Jaccard, m: int, room: float
) -> None:
    weights = kind if isinstance(kind, Weights) else kind.weigh(query, OBJECTS)
    best = float(all_values(cube, query, weights, m, room).max())
    problem = Problem.of(cube, query, weights)
    found = search(problem, m, room)
    assert found.bound == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert max(problem.value(found.best), problem.ratio(0.0, 0.0)) == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert len(found.best) <= m
    hurried = search(problem, m, room, seconds=1e-9)
    assert hurried.bound >= best - 1e-12 * max(1.0, abs(best))
    budget = Budget(n_cells=m, max_nodes=None if math.isinf(room) else len(query) + int(room))
    for seconds in (None, 1e-9):
        bound = upper_bound(cube, query, weights, budget, at_least=problem.ratio(0.0, 0.0), seconds=seconds)
        assert bound >= best - 1e-12 * max(1.0, abs(best))


def solved(problem: Problem, m: int, room: float) -> float:
    """Return the best value by Dinkelbach's steps, each a mixed-integer programme over all cells and groups."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    cells, groups = len(problem), len(problem.gain)
    rows, limits = [np.concatenate([np.ones(cells), np.zeros(groups)])], [float(m)]
    rows.append(np.concatenate([np.zeros(cells), problem.nodes]))
    limits.append(room)
    for group in range(groups):
        homes = problem.object_cells[group]
        row = np.zeros(cells + groups)
        row[homes], row[cells + group] = -1.0, 1.0
        rows.append(row)
        limits.append(0.0)
        for cell in homes.tolist():
            row = np.zeros(cells + groups)
            row[cell], row[cells + group] = 1.0, -1.0
            rows.append(row)
            limits.append(0.0)
    value = problem.ratio(0.0, 0.0)
    while True:
        worth = np.concatenate([np.zeros(cells), problem.gain - value * problem.cost])
        answer = milp(-worth, integrality=1, bounds=Bounds(0, 1), constraints=LinearConstraint(rows, -np.inf, limits))
        reached = problem.value(np.flatnonzero(answer.x[:cells] > 0.5))
        if reached <= value * (1 + 1e-9):
            return value
        value = reached


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["jaccard", "fbeta", "coverage"])
def test_a_solver_of_integer_programmes_finds_the_same_value(seed: int, name: str) -> None:
    cube = random_cube(seed, cells=24, objects=60, largest=14)
    query = Query(np.sort(np.random.default_rng(seed).choice(60, size=15, replace=False)))
    weights = OBJECTIVES[name]().weigh(query, 60)  # type: ignore[union-attr]
    room = [math.inf, 25.0][seed % 2]
    problem = Problem.of(cube, query, weights)
    assert search(problem, 5, room).bound == pytest.approx(solved(problem, 5, min(room, 60.0)), rel=1e-9)


def test_halves_that_break_the_limit_of_nodes_hold_nothing_and_the_search_ends() -> None:
    cube = toy_cube([[0, 4, 5], [1, 6, 7], [2, 8, 9], [3, 10, 11]], objects=12)
    query = Query(np.arange(4))
    problem = Problem.of(cube, query, Jaccard().weigh(query, 12))
    whole = Relaxation.of(problem, 4, 0.0, 3.0)
    both = whole.take(np.array([True, True, False, False]))
    assert both.problem.base.tolist() == [2.0, 8.0, 4.0]
    assert tighten(both, 0.0, 0.1, lambda: False)[1] == -math.inf
    found = Exact(seconds=None).select(
        cube, query, weights=Jaccard().weigh(query, 12), budget=Budget(n_cells=4, max_nodes=7)
    )
    assert (len(found.cells), found.value, found.proven) == (1, 1 / 6, True)


def test_of_equal_cells_one_is_chosen_and_the_one_that_adds_most_comes_first() -> None:
    cube = toy_cube([[3, 4, 5], [0, 1, 2, 6], [0, 1, 2, 6], [3, 4, 5]], objects=8)
    query = Query(np.arange(6))
    found = Exact().select(cube, query, weights=Jaccard().weigh(query, 8), budget=Budget(n_cells=4))
    assert found.cells.tolist() == [0, 1]
    assert found.values.tolist() == [3 / 6, 6 / 7]
    assert (found.proven, found.note) == (True, "")


def test_where_no_cell_helps_nothing_is_chosen_and_that_is_proven() -> None:
    cube = toy_cube([[0, 1, 2, 3, 4], [5]], objects=6)
    query = Query(np.array([0]))
    for weights, budget in (
        (Coverage(price=0.5).weigh(query, 6), Budget()),
        (Jaccard().weigh(query, 6), Budget(n_cells=0)),
        (Jaccard().weigh(query, 6), Budget(max_nodes=0)),
        (Jaccard().weigh(query, 6), Budget(max_nodes=2)),
    ):
        found = Exact().select(cube, query, weights=weights, budget=budget)
        assert (len(found.cells), found.value, found.bound, found.proven) == (0, 0.0, 0.0, True)


def test_a_cell_may_be_wanted_for_its_cost_alone() -> None:
    # With no cost at all the value is 0, so the gain of the first cell counts only beside the cheapest other one.
    cube = toy_cube([[0], [1], [2]], objects=3)
    weights = Weights(gain=np.array([1.0, 0.0, 0.0]), cost=np.array([0.0, 4.0, 2.0]))
    found = Exact(seconds=None).select(cube, Query(np.array([0])), weights=weights, budget=Budget(n_cells=3))
    assert (sorted(found.cells.tolist()), found.value, found.proven) == ([0, 2], 0.5, True)


def test_what_is_left_keeps_the_value_of_every_choice() -> None:
    cube = random_cube(3, cells=10, objects=30)
    query = Query(np.arange(8))
    problem = Problem.of(cube, query, Jaccard().weigh(query, 30))
    whole = Relaxation.of(problem, 5, 0.1)
    rng = np.random.default_rng(0)
    for _ in range(20):
        taken, out = rng.random((2, len(problem))) < 0.3
        left = whole.take(taken).drop((out & ~taken)[~taken])
        chosen = rng.random(len(left)) < 0.4
        done = left.take(chosen)
        assert sorted(done.problem.taken.tolist()) == sorted([*np.flatnonzero(taken), *left.problem.cells[chosen]])
        assert done.problem.base[0] / done.problem.base[1] == pytest.approx(problem.value(done.problem.taken))
        assert bool((left.problem.totals[:, 1] >= left.problem.own[:, 1]).all())
        assert (
            replace(left, duals=replace(left.duals, fee=0.0)).bound(0.1)
            >= done.problem.base[0] - 0.1 * done.problem.base[1] - 1e-9
            or done.problem.n_cells < 0
        )


def test_the_target_is_reached_by_every_better_selection() -> None:
    for seed in range(20):
        cube = random_cube(seed, cells=8, objects=24)
        query = Query(np.arange(6))
        weights = Jaccard().weigh(query, 24)
        problem = Problem.of(cube, query, weights)
        costs = problem.cost0 + problem.cost.sum()
        for low, high in pairwise(np.unique(all_values(cube, query, weights, 8, math.inf))):
            assert 0 < compute_target(problem, float(low)) <= (high - low) * costs


@settings(max_examples=15)
@given(st.integers(0, 9999), st.integers(1, 8))
def test_a_bound_is_never_below_the_proven_best(seed: int, m: int) -> None:
    cube = random_cube(seed, cells=30, objects=80, largest=15)
    query = Query(np.sort(np.random.default_rng(seed).choice(80, size=15, replace=False)))
    weights, budget = Jaccard().weigh(query, 80), Budget(n_cells=m)
    best = Exact(seconds=None).select(cube, query, weights=weights, budget=budget).value
    value = Greedy().select(cube, query, weights=weights, budget=budget).value
    bound = upper_bound(cube, query, weights, budget, at_least=value)
    assert best * (1 - 1e-12) <= bound <= 1.0
    assert upper_bound(cube, query, weights, budget, at_least=best) >= best


def test_a_bound_by_hand() -> None:
    cube = toy_cube([[0, 1, 4], [2, 5], [3, 6, 7]], objects=8)
    query = Query(np.arange(4))
    weights = Jaccard().weigh(query, 8)
    assert upper_bound(cube, query, weights, Budget(n_cells=1), at_least=0.0) == 2 / 5
    assert upper_bound(cube, query, weights, Budget(n_cells=2), at_least=0.2) == 3 / 6
    assert upper_bound(cube, query, weights, Budget(n_cells=3), at_least=0.2) == 3 / 6
    assert upper_bound(cube, query, weights, Budget(n_cells=3, max_nodes=5), at_least=0.2) == 2 / 5


def test_a_bound_is_not_below_a_value_that_is_reached() -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0, 1]))
    weights = Jaccard().weigh(query, 3)
    assert upper_bound(cube, query, weights, Budget(), at_least=1.0) == 1.0
    for budget in (Budget(n_cells=0), Budget(max_nodes=0)):
        assert upper_bound(cube, query, weights, budget, at_least=0.25) == 0.25


def test_a_limit_on_links_leaves_the_bound_as_it_is() -> None:
    cube = toy_cube([[0, 1, 2], [1, 2, 3]], objects=4, links=[(0, 1), (1, 2)])
    query = Query(np.array([0, 1]))
    weights = Jaccard().weigh(query, 4)
    few, many = Budget(max_links=0), Budget()
    bounds = [upper_bound(cube, query, weights, budget, at_least=0.0) for budget in (few, many)]
    assert bounds == [2 / 3, 2 / 3]


def test_weights_and_queries_of_another_cube_are_refused() -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query, far = Query(np.array([0])), Query(np.array([0, 3]))
    with pytest.raises(InputError, match="the weights are for 4 objects, and the cube has 3"):
        upper_bound(cube, query, Jaccard().weigh(query, 4), Budget(), at_least=0.0)
    with pytest.raises(QueryError, match="query names row 3, and the cube has only 3 objects"):
        upper_bound(cube, far, Jaccard().weigh(query, 3), Budget(), at_least=0.0)


def test_a_unit_divides_all_values() -> None:
    assert unit(np.array([2.0, 6.0, -4.0, 0.0])) == 2.0
    assert unit(np.array([3 / 1024, 5 / 1024])) == 1 / 1024
    assert unit(np.array([1.0, 1 / 3])) == 0.0
    assert unit(np.array([2.0**60, 1.0])) == 0.0


def test_the_target_is_half_a_step_where_values_come_in_steps_and_almost_nothing_elsewhere() -> None:
    def weights(gain: float, cost: float) -> SimpleNamespace:
        return SimpleNamespace(gain=np.array([gain]), cost=np.array([cost]), gain0=0.0, cost0=7 * cost)

    # A price of 2/7 is above 0 by sevenths of a gain only; 2/14 is 1/7.
    assert compute_target(weights(1.0, 1.0), 2 / 7) == 1 / 14  # type: ignore[arg-type]
    assert compute_target(weights(3.0, 0.5), 3 * 2 * (1 / 7)) == 3 / 14  # type: ignore[arg-type]
    assert compute_target(weights(1.0, 1.0), 0.0) == 0.5  # type: ignore[arg-type]
    # No selection has the price pi / 11, and thirds are not counted in units.
    assert 0 < compute_target(weights(1.0, 1.0), np.pi / 11) < 1e-9  # type: ignore[arg-type]
    assert 0 < compute_target(weights(1 / 3, 1.0), 1 / 21) < 1e-9  # type: ignore[arg-type]


def test_room_is_what_the_query_leaves_of_max_nodes() -> None:
    query, cube = Query(np.array([0, 1, 2])), random_cube(0)
    assert compute_room(cube, query, Budget()) == np.inf
    assert compute_room(cube, query, Budget(max_nodes=5)) == 2.0
    assert compute_room(cube, query, Budget(max_nodes=2)) == -1.0
