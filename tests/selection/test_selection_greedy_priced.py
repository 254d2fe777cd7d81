"""Priced greedy: by hand, against the plain loop, and what holds whatever the cells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import take_rows
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Weights
from cube2net.selection.greedy import select_at_price
from cube2net.selection.objectives import Coverage, FBeta, Jaccard, Precision

from toys import random_cube, toy_cube

OBJECTIVE = [Jaccard(), FBeta(), FBeta(beta=0.7), Precision(), Coverage(), Coverage(price=0.1)]


def question(seed: int, objective: int = 0) -> tuple[Cube, Query, Weights]:
    cube = random_cube(seed)
    rng = np.random.default_rng([seed, 1])
    held = np.flatnonzero(cube.object_cells.sizes)
    query = Query(np.sort(rng.choice(held, size=int(rng.integers(1, 9)), replace=False)))
    return cube, query, OBJECTIVE[objective].weigh(query, len(cube.objects))


def plain(cube: Cube, query: Query, weights: Weights, m: int, room: float) -> tuple[list[int], float]:
    """Return what priced greedy chooses among all cells, with sets and every cell tried at every step."""
    sets = [set(cube.cells.members[cell].tolist()) for cell in range(len(cube.cells))]
    inside = set(query.objects.tolist())
    best, value, price = [], weights.value(np.empty(0, int)), 0.0
    while True:
        chosen: list[int] = []
        covered: set[int] = set()
        while len(chosen) < m:
            top, at = 1e-11, -1
            for cell, held in enumerate(sets):
                new = sorted(held - covered)
                gain = float(weights.gain[new].sum() - price * weights.cost[new].sum())
                if cell not in chosen and len((covered | held) - inside) <= room and gain > top + 1e-11:
                    top, at = gain, cell
            if at < 0:
                break
            chosen.append(at)
            covered |= sets[at]
        reached = weights.value(np.array(sorted(covered), dtype=int))
        if reached > value + 1e-12:
            best, value = chosen, reached
        elif price == value:
            return best, value
        price = value


def test_by_hand_a_cell_is_taken_for_its_gain_less_its_priced_cost() -> None:
    # Greedy by value begins with cell 0 (2/4); at the price 2/4 cell 1 pays 3 − 2/2 and cell 0 only 2.
    cube = toy_cube([[0, 1], [0, 1, 2, 4], [3, 5, 6, 7]], objects=8)
    query = Query(np.array([0, 1, 2, 3]))
    weights = Jaccard().weigh(query, 8)
    cells, value = select_at_price(cube, query, weights, 3)
    assert (cells.tolist(), value) == ([1], 3 / 5)
    assert select_at_price(cube, query, weights, 0)[0].tolist() == []
    assert select_at_price(cube, query, weights, 3, max_nodes=0) == (pytest.approx(np.array([0])), 0.5)


def test_of_equal_cells_the_first_is_taken_even_where_sums_are_not_exact() -> None:
    cube = toy_cube([[3], [0, 1, 2]], objects=4)
    query = Query(np.array([0]))
    weights = Weights(gain=np.array([0.1, 0.2, 0.3, 0.6]), cost=np.zeros(4), cost0=1.0)
    assert weights.value(np.array([3])) < weights.value(np.array([0, 1, 2]))
    assert select_at_price(cube, query, weights, 1)[0].tolist() == [0]


def test_cells_that_do_not_pay_are_not_taken() -> None:
    cube = toy_cube([[0, 1, 2, 3, 4]], objects=5)
    query = Query(np.array([0]))
    weights = Coverage(price=0.5).weigh(query, 5)
    cells, value = select_at_price(cube, query, weights, 3)
    assert (cells.tolist(), value) == ([], 0.0)


@given(
    st.integers(0, 9999),
    st.integers(0, len(OBJECTIVE) - 1),
    st.integers(0, 8),
    st.sampled_from([math.inf, 0, 1, 2, 5, 10, 20]),
)
def test_it_equals_the_plain_loop(seed: int, objective: int, m: int, room: float) -> None:
    cube, query, weights = question(seed, objective)
    cells, value = select_at_price(cube, query, weights, m, max_nodes=room)
    expected, best = plain(cube, query, weights, m, room)
    assert value == pytest.approx(best, abs=1e-12)
    assert cells.tolist() == expected


@given(
    st.integers(0, 9999),
    st.integers(0, len(OBJECTIVE) - 1),
    st.integers(0, 8),
    st.sampled_from([math.inf, 0, 1, 2, 5, 10, 20]),
)
def test_the_value_is_that_of_its_cells_never_below_none_and_within_the_room(
    seed: int, objective: int, m: int, room: float
) -> None:
    cube, query, weights = question(seed, objective)
    cells, value = select_at_price(cube, query, weights, m, max_nodes=room)
    brought = np.unique(take_rows(cube.cells.members, cells).indices)
    assert value == weights.value(brought) >= weights.ratio(0.0, 0.0)
    assert len(set(cells.tolist())) == len(cells) <= m
    assert len(np.setdiff1d(brought, query.objects)) <= room
