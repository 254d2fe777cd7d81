"""Bounds that any other method can put beside its value."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.errors import InputError, QueryError
from cube2net.records import Budget, Query
from cube2net.select import Exact, Greedy, Jaccard
from cube2net.select.prove.bound import room_of, target_of, unit, upper_bound

from toys import random_cube, toy_cube


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 9999), st.integers(1, 8))
def test_a_bound_is_never_below_the_proven_best(seed: int, m: int) -> None:
    cube = random_cube(seed, cells=30, objects=80, largest=15)
    query = Query(np.sort(np.random.default_rng(seed).choice(80, size=15, replace=False)))
    weights, budget = Jaccard().weigh(query, 80), Budget(m=m)
    best = Exact(seconds=None).select(cube, query, weights=weights, budget=budget).value
    value = Greedy().select(cube, query, weights=weights, budget=budget).value
    bound = upper_bound(cube, query, weights, budget, at_least=value)
    assert best * (1 - 1e-12) <= bound <= 1.0
    assert upper_bound(cube, query, weights, budget, at_least=best) >= best


def test_a_bound_by_hand() -> None:
    cube = toy_cube([[0, 1, 4], [2, 5], [3, 6, 7]], objects=8)
    query = Query(np.arange(4))
    weights = Jaccard().weigh(query, 8)
    assert upper_bound(cube, query, weights, Budget(m=1), at_least=0.0) == 2 / 5
    assert upper_bound(cube, query, weights, Budget(m=2), at_least=0.2) == 3 / 6
    assert upper_bound(cube, query, weights, Budget(m=3), at_least=0.2) == 3 / 6
    assert upper_bound(cube, query, weights, Budget(m=3, max_nodes=5), at_least=0.2) == 2 / 5


def test_a_bound_is_not_below_a_value_that_is_reached() -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0, 1]))
    weights = Jaccard().weigh(query, 3)
    assert upper_bound(cube, query, weights, Budget(), at_least=1.0) == 1.0
    for budget in (Budget(m=0), Budget(max_nodes=0)):
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
    assert target_of(weights(1.0, 1.0), 2 / 7) == 1 / 14  # type: ignore[arg-type]
    assert target_of(weights(3.0, 0.5), 3 * 2 * (1 / 7)) == 3 / 14  # type: ignore[arg-type]
    assert target_of(weights(1.0, 1.0), 0.0) == 0.5  # type: ignore[arg-type]
    # No selection has the price pi / 11, and thirds are not counted in units.
    assert 0 < target_of(weights(1.0, 1.0), np.pi / 11) < 1e-9  # type: ignore[arg-type]
    assert 0 < target_of(weights(1 / 3, 1.0), 1 / 21) < 1e-9  # type: ignore[arg-type]


def test_room_is_what_the_query_leaves_of_max_nodes() -> None:
    query = Query(np.array([0, 1, 2]))
    assert room_of(query, Budget()) == np.inf
    assert room_of(query, Budget(max_nodes=5)) == 2.0
    assert room_of(query, Budget(max_nodes=2)) == -1.0
