"""The reduced choice: no selection changes its value, and no optimum is lost."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Weights
from cube2net.selection.objectives import OBJECTIVES, Jaccard, Precision
from cube2net.selection.problem import Problem, drop_unaffordable

from toys import random_cube, toy_cube

quarters = st.integers(-8, 8).map(lambda number: number / 4)
OBJECTS = 20


def union(cube: Cube, cells: Array) -> Array:
    return np.unique(np.concatenate([np.empty(0, int)] + [cube.cells.members[int(cell)] for cell in cells]))


@st.composite
def questions(draw: st.DrawFn) -> tuple[Cube, Query, Weights]:
    """Return a random cube and a query with weights of any kind: built in, or quarters of any sign."""
    cube = random_cube(draw(st.integers(0, 999)), cells=draw(st.integers(1, 8)), objects=OBJECTS, largest=7)
    query = Query(np.array(sorted(draw(st.sets(st.integers(0, OBJECTS - 1), min_size=1, max_size=8)))))
    kind = draw(st.sampled_from([*(name for name in OBJECTIVES if name not in ("linked", "cover")), "any"]))
    if kind != "any":
        weights = OBJECTIVES[kind]().weigh(query, OBJECTS)  # type: ignore[union-attr]
        assert isinstance(weights, Weights)
        return cube, query, weights
    rows = st.lists(quarters, min_size=OBJECTS, max_size=OBJECTS)
    gain, cost = np.array(draw(rows)), np.abs(np.array(draw(rows)))
    return cube, query, Weights(gain=gain, cost=cost, gain0=draw(quarters), cost0=abs(draw(quarters)))


def best_value(cube: Cube, weights: Weights, cells: Array, m: int) -> float:
    """Return the best value of at most m of the cells, by trying all."""
    choices = (pick for size in range(m + 1) for pick in combinations(cells.tolist(), size))
    return max(weights.value(union(cube, np.array(pick, dtype=int))) for pick in choices)


def test_only_useful_cells_are_left_and_equal_objects_are_one() -> None:
    cube = toy_cube([[0, 1, 4], [1, 2, 4, 5], [3]], objects=6)
    problem = Problem.of(cube, Query(np.array([0, 1])), Jaccard().weigh(Query(np.array([0, 1])), 6))
    assert repr(problem) == "Problem(2 cells, 3 groups, 4 memberships)"
    assert problem.cells.tolist() == [0, 1]
    assert problem.objects.tolist() == [0, 1, 2, 4, 5]
    assert problem.group.tolist() == [0, 1, 2, 1, 2]
    assert problem.gain.tolist() == [1, 1, 0]
    assert problem.cost.tolist() == [0, 1, 2]
    assert problem.nodes.tolist() == [0, 1, 2]
    assert [problem.object_cells[group].tolist() for group in range(3)] == [[0], [0, 1], [1]]
    assert problem.value(np.array([0])) == 2 / 3
    assert problem.value(np.array([0, 1])) == 2 / 5
    assert problem.value(np.array([], dtype=int)) == 0.0


def test_every_cell_stays_where_asked_for() -> None:
    cube = toy_cube([[0, 1, 4], [1, 2, 4, 5], [3]], objects=6)
    query = Query(np.array([0, 1]))
    assert len(Problem.of(cube, query, Jaccard().weigh(query, 6), every=True)) == 3


def test_a_cell_that_is_worth_just_what_is_known_stays_where_nothing_else_has_a_cost() -> None:
    cube = toy_cube([[0], [0, 1, 2], [1, 2]], objects=3)
    query = Query(np.array([0]))
    for value in (1.0, 1.0 + 1e-15):
        assert Problem.of(cube, query, Precision().weigh(query, 3), at_least=value).cells.tolist() == [0, 1]


@given(questions(), st.data())
def test_any_selection_is_worth_what_its_objects_are_worth(
    question: tuple[Cube, Query, Weights], data: st.DataObject
) -> None:
    cube, query, weights = question
    problem = Problem.of(cube, query, weights)
    picks = data.draw(st.sets(st.integers(0, max(0, len(problem) - 1)))) if len(problem) else set()
    positions = np.array(sorted(picks), dtype=np.int64)
    objects = union(cube, problem.cells[positions])
    assert problem.value(positions) == pytest.approx(weights.value(objects), abs=1e-12)
    groups = np.unique(problem.group[np.searchsorted(problem.objects, objects)])
    assert problem.nodes[groups].sum() == len(np.setdiff1d(objects, query.objects))


@given(questions(), st.integers(0, 3), st.data())
def test_the_optimum_survives_whatever_value_is_known_to_be_reached(
    question: tuple[Cube, Query, Weights], m: int, data: st.DataObject
) -> None:
    cube, query, weights = question
    every = np.arange(len(cube.cells))
    best = best_value(cube, weights, every, m)
    some = data.draw(st.lists(st.sampled_from(every.tolist()), max_size=m, unique=True))
    reached = data.draw(st.sampled_from([best, weights.value(union(cube, np.array(some, dtype=int)))]))
    for parameters in ({}, {"at_least": reached}, {"at_least": reached, "n_cells": m}):
        problem = Problem.of(cube, query, weights, **parameters)
        assert best_value(cube, weights, problem.cells, m) == pytest.approx(best, abs=1e-12)


def test_cells_too_large_for_any_better_selection_are_left_out() -> None:
    cube = toy_cube([[0, 1, 4], [1, 2], list(range(2, 40))], objects=40)
    query = Query(np.array([0, 1, 2]))
    weights = Jaccard().weigh(query, 40)
    assert Problem.of(cube, query, weights, at_least=0.5).cells.tolist() == [0, 1, 2]
    # 38 objects, one of them of the query: at best 3 / (3 + 37)
    assert drop_unaffordable(cube, weights, np.arange(3), 0.5, 2).tolist() == [0, 1]
    assert drop_unaffordable(cube, weights, np.arange(3), 3 / 40, 2).tolist() == [0, 1, 2]
    assert Problem.of(cube, query, weights, at_least=0.5, n_cells=2).cells.tolist() == [0, 1]


def test_cells_that_pay_less_than_what_they_alone_bring_are_left_out() -> None:
    cube = toy_cube([[0, 1, 4], [1, 5, 6, 7, 8, 9, 10], [1, 5, 6, 11, 12, 13]], objects=14)
    query = Query(np.array([0, 1, 2]))
    problem = Problem.of(cube, query, Jaccard().weigh(query, 14))
    assert problem.drop_dear(0.1) is problem
    # at 0.3 the second cell pays 1 and brings four objects alone, 1.2; without it the third brings five
    left = problem.drop_dear(0.3)
    assert (left.cells.tolist(), left.objects.tolist()) == ([0], [0, 1, 4])
    assert left.value(np.array([0])) == problem.value(np.array([0])) == 2 / 4
    assert [left.members[0].tolist(), left.gain.tolist(), left.cost.tolist()] == [[0, 1], [1, 1], [1, 0]]
