"""Annealing: against trying all selections, never below its starts, and within every limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, QueryObjective, Selection, Weights
from cube2net.selection import anneal as module
from cube2net.selection.anneal import NONE_HELPS, Anneal, order_cells
from cube2net.selection.greedy import Greedy, select_at_price
from cube2net.selection.objectives import Coverage, FBeta, Jaccard, Precision

from toys import random_cube, toy_cube

OBJECTIVE = [Jaccard(), FBeta(), FBeta(beta=0.7), Precision(), Coverage(), Coverage(price=0.1)]
SHORT = Anneal(steps=1_000, restarts=2)
seldom = settings(derandomize=True)


def union(cube: Cube, cells: Any) -> Array:
    return np.unique(np.concatenate([np.empty(0, int)] + [cube.cells.members[int(cell)] for cell in cells]))


def links_among(cube: Cube, objects: Array) -> int:
    inside = set(objects.tolist())
    return sum(n in inside for o in inside for n in cube.links.neighbours(o).tolist()) // 2


def allowed(cube: Cube, query: Query, budget: Budget, cells: Any) -> bool:
    network = np.union1d(query.objects, union(cube, cells))
    nodes = budget.max_nodes is None or len(network) <= budget.max_nodes
    return nodes and (budget.max_links is None or links_among(cube, network) <= budget.max_links)


def best_value(cube: Cube, query: Query, weights: QueryObjective, budget: Budget) -> float:
    """Return the best value of at most m cells within the limits, by trying all; that of none where none fits."""
    picks = (pick for size in range(1, budget.n_cells + 1) for pick in combinations(range(len(cube.cells)), size))
    values = [weights.value(union(cube, pick)) for pick in picks if allowed(cube, query, budget, pick)]
    return max([weights.value(np.empty(0, int)), *values])


def question(seed: int, objective: int = 0, **shape: int) -> tuple[Cube, Query, Weights]:
    cube = random_cube(seed, **shape)
    rng = np.random.default_rng([seed, 1])
    held = np.flatnonzero(cube.object_cells.sizes)
    query = Query(np.sort(rng.choice(held, size=int(rng.integers(1, 9)), replace=False)))
    return cube, query, OBJECTIVE[objective].weigh(query, len(cube.objects))


def counted(worth: Callable[[Array], float], count: int) -> tuple[CallableObjective, list[int]]:
    """Return a judge of a function, and the list of how many objects it was asked about at each call."""
    calls: list[int] = []

    def value(objects: Array) -> float:
        calls.append(len(objects))
        return worth(objects)

    return CallableObjective(value, count), calls


def test_by_hand_the_best_pair_is_found_where_greedy_takes_the_wrong_cell_first() -> None:
    cube = toy_cube([[0, 1, 2, 6], [0, 1, 4], [2, 3, 5]], objects=7)
    query = Query(np.array([0, 1, 2, 3]))
    weights = Jaccard().weigh(query, 7)
    greedy = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=2))
    assert (greedy.cells.tolist(), greedy.value) == ([0, 2], 4 / 6)
    heavy = toy_cube([[0, 1, 2, 6, 7], [0, 1, 4], [2, 3, 5]], objects=8)
    weights = Jaccard().weigh(query, 8)
    selection = SHORT.select(heavy, query, weights=weights, budget=Budget(n_cells=2))
    assert sorted(selection.cells.tolist()) == [1, 2]
    assert selection.value == 4 / 6
    assert repr(selection) == "Selection(2 cells, 6 objects, value 0.6667)"


@seldom
@given(st.integers(0, 9999), st.integers(0, len(OBJECTIVE) - 1), st.integers(1, 4))
def test_it_finds_the_best_selection_of_a_small_cube(seed: int, objective: int, m: int) -> None:
    cube, query, weights = question(seed, objective, cells=9)
    selection = SHORT.select(cube, query, weights=weights, budget=Budget(n_cells=m), seed=seed)
    assert selection.value == pytest.approx(best_value(cube, query, weights, Budget(n_cells=m)), abs=1e-12)


@seldom
@given(
    st.integers(0, 9999),
    st.lists(st.integers(-8, 8), min_size=40, max_size=40),
    st.lists(st.integers(0, 8), min_size=40, max_size=40),
    st.integers(-4, 4),
    st.integers(0, 4),
)
def test_it_finds_the_best_selection_with_any_weights(
    seed: int, gains: list[int], costs: list[int], gain0: int, cost0: int
) -> None:
    cube, query, _ = question(seed, cells=7)
    weights = Weights(gain=np.array(gains) / 4, cost=np.array(costs) / 4, gain0=gain0 / 4, cost0=cost0 / 4)
    selection = SHORT.select(cube, query, weights=weights, budget=Budget(n_cells=3), seed=seed)
    assert selection.value == pytest.approx(best_value(cube, query, weights, Budget(n_cells=3)), abs=1e-12)


maybe = st.none() | st.integers(5, 45)


@seldom
@given(st.integers(0, 9999), st.integers(0, len(OBJECTIVE) - 1), maybe, maybe)
def test_it_finds_the_best_selection_within_the_limits(
    seed: int, objective: int, max_nodes: int | None, max_links: int | None
) -> None:
    cube, query, weights = question(seed, objective, cells=8)
    budget = Budget(n_cells=4, max_nodes=max_nodes, max_links=max_links)
    selection = SHORT.select(cube, query, weights=weights, budget=budget, seed=seed)
    assert len(selection.cells) == 0 or allowed(cube, query, budget, selection.cells)
    assert selection.value == pytest.approx(best_value(cube, query, weights, budget), abs=1e-12)


@seldom
@given(st.integers(0, 9999), st.integers(0, len(OBJECTIVE) - 1), st.integers(0, 12), maybe, maybe)
def test_it_is_never_below_greedy_or_priced_greedy(
    seed: int, objective: int, m: int, max_nodes: int | None, max_links: int | None
) -> None:
    cube, query, weights = question(seed, objective, cells=20)
    budget = Budget(n_cells=m, max_nodes=max_nodes, max_links=max_links)
    found = Anneal(steps=1, restarts=1).select(cube, query, weights=weights, budget=budget, seed=seed)
    for best_prefix in (False, True):
        start = Budget(n_cells=m, max_nodes=max_nodes, max_links=max_links, best_prefix=best_prefix)
        assert found.value >= Greedy().select(cube, query, weights=weights, budget=start).value
    if max_links is None and (max_nodes is None or max_nodes >= len(query)):
        room = math.inf if max_nodes is None else max_nodes - len(query)
        priced = select_at_price(cube, query, weights, m, max_nodes=room)[1]
        assert found.value >= priced - 1e-12


def answer(seed: int, method: Anneal = SHORT, objective: int = 0, **limits: int) -> Selection:
    cube, query, weights = question(3, objective, cells=60, objects=200, largest=20)
    return method.select(cube, query, weights=weights, budget=Budget(n_cells=6, **limits), seed=seed)


def test_the_same_seed_gives_the_same_answer_in_whatever_pieces_it_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [answer(seed, objective=4).cells.tolist() for seed in range(4)]
    assert first == [answer(seed, objective=4).cells.tolist() for seed in range(4)]
    monkeypatch.setattr(module, "CHUNK", 64)
    assert first == [answer(seed, objective=4).cells.tolist() for seed in range(4)]


def test_a_limit_that_does_not_bind_changes_nothing() -> None:
    plain = [answer(seed).cells.tolist() for seed in range(3)]
    assert plain == [answer(seed, max_links=10**6).cells.tolist() for seed in range(3)]


def test_the_cells_stand_in_the_order_that_greedy_would_take_them() -> None:
    cube, _, weights = question(3, cells=60, objects=200, largest=20)
    cells = answer(0).cells.tolist()
    covered: list[int] = []
    for cell in cells:
        values = {other: weights.value(union(cube, [*covered, other])) for other in cells if other not in covered}
        assert values[cell] == max(values.values())
        covered.append(cell)
    assert order_cells(cube, weights, np.array(cells[::-1])).tolist() == cells
    assert order_cells(cube, weights, np.empty(0, np.int64)).tolist() == []


def test_until_the_time_is_over_it_is_never_below_its_starts() -> None:
    cube, query, weights = question(3, cells=60, objects=200, largest=20)
    greedy = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=6, best_prefix=True))
    for seconds in (1e-9, 0.05):
        timed = answer(0, Anneal(seconds=seconds))
        assert timed.value >= greedy.value
        assert timed.value == weights.value(timed.objects)


def test_one_large_cell_gives_way_to_several_small_ones() -> None:
    # Cell 0 holds the whole query and two others; it takes all four small cells to do without the others.
    cube = toy_cube([[0, 1, 2, 3, 4, 5], [0, 6], [1, 6], [2, 6], [3, 6]], objects=7)
    query = Query(np.array([0, 1, 2, 3]))
    weights = Jaccard().weigh(query, 7)
    greedy = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=4, best_prefix=True))
    assert (greedy.cells.tolist(), greedy.value) == ([0], 4 / 6)
    best = Anneal(steps=300, restarts=1).select(cube, query, weights=weights, budget=Budget(n_cells=4))
    assert (best.cells.tolist(), best.value) == ([1, 2, 3, 4], 4 / 5)


def test_where_nothing_helps_nothing_is_chosen_and_a_note_says_so() -> None:
    cube = toy_cube([[0, 1, 2, 3, 4], [0, 5]], objects=6)
    query = Query(np.array([0]))
    # The second: none is worth 5/1, and no object pays for a cost at that price.
    rich = Weights(gain=np.eye(6)[0], cost=np.ones(6), gain0=5.0, cost0=1.0)
    for weights in (Coverage(price=2).weigh(query, 6), rich):
        selection = SHORT.select(cube, query, weights=weights, budget=Budget(n_cells=2))
        assert (len(selection.cells), selection.value) == (0, weights.ratio(0.0, 0.0))
        assert selection.note == NONE_HELPS == "no cells are worth more than none"


def test_when_all_values_are_equal_nothing_is_chosen() -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0, 1]))
    weights = Weights(gain=np.array([1.0, -1.0, 1.0]), cost=np.zeros(3), cost0=2.0)
    assert SHORT.select(cube, query, weights=weights, budget=Budget(n_cells=2)).value == 0.5
    flat = Weights(gain=np.array([1.0, -1.0, 1.0]), cost=np.zeros(3))
    assert len(SHORT.select(cube, query, weights=flat, budget=Budget(n_cells=2)).cells) == 0


@pytest.mark.parametrize("seed", range(8))
def test_a_function_that_is_jaccard_is_annealed_to_the_value_of_jaccard(seed: int) -> None:
    cube, query, weights = question(seed, cells=12)
    judge, calls = counted(weights.value, len(cube.objects))
    selection = Anneal(steps=400).select(cube, query, weights=judge, budget=Budget(n_cells=3), seed=seed)
    assert selection.value == SHORT.select(cube, query, weights=weights, budget=Budget(n_cells=3), seed=seed).value
    assert selection.value == weights.value(selection.objects)
    assert len(calls) <= 400 + 3 + 1


@seldom
@given(st.integers(0, 9999), maybe, maybe, st.integers(1, 30))
def test_a_function_is_asked_no_more_than_steps_and_within_the_limits_only(
    seed: int, max_nodes: int | None, max_links: int | None, steps: int
) -> None:
    cube, query, _ = question(seed, cells=12)
    budget = Budget(n_cells=4, max_nodes=max_nodes, max_links=max_links)
    asked: list[Array] = []

    def spread(objects: Array) -> float:
        asked.append(objects)
        return float(np.sqrt(len(objects)) + len(np.intersect1d(objects, query.objects)))

    selection = Anneal(steps=steps).select(
        cube, query, weights=CallableObjective(spread, len(cube.objects)), budget=budget, seed=seed
    )
    assert len(asked) <= steps + budget.n_cells + 1
    for objects in asked if len(selection.cells) else []:
        network = np.union1d(query.objects, objects)
        assert max_nodes is None or len(network) <= max_nodes or len(objects) == 0
        assert max_links is None or links_among(cube, network) <= max_links or len(objects) == 0
    assert len(selection.cells) == 0 or allowed(cube, query, budget, selection.cells)


def test_a_function_of_anything_is_annealed_to_its_best_on_a_small_cube() -> None:
    cube, query, _ = question(5, cells=8)

    def even(objects: Array) -> float:
        return float((objects % 2 == 0).sum() - (objects % 2 == 1).sum())

    judge, calls = counted(even, len(cube.objects))
    selection = Anneal(steps=2_000).select(cube, query, weights=judge, budget=Budget(n_cells=3))
    # There are only 93 selections of at most 3 of 8 cells: none is asked about twice but for the answer's prefixes.
    assert len(calls) <= 93 + 3 + 1
    assert selection.value == best_value(cube, query, judge, Budget(n_cells=3))


def test_a_function_is_asked_until_the_time_is_over() -> None:
    cube, query, weights = question(5, cells=12)
    judge, calls = counted(weights.value, len(cube.objects))
    selection = Anneal(seconds=0.05).select(cube, query, weights=judge, budget=Budget(n_cells=3))
    assert len(calls) >= 3
    assert selection.value >= select_at_price(cube, query, weights, 3)[1]


def test_the_same_seed_asks_a_function_the_same_questions() -> None:
    cube, query, weights = question(5, cells=12)
    asked = []
    for _ in range(2):
        judge, calls = counted(weights.value, len(cube.objects))
        Anneal(steps=100).select(cube, query, weights=judge, budget=Budget(n_cells=3), seed=4)
        asked.append(calls)
    assert asked[0] == asked[1]


def test_parameters_out_of_their_range_are_refused() -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"steps": 0}, "steps is 0, expected 1 or more steps, or None"),
        ({"steps": 2.5}, "steps is 2.5, expected a whole number of 1 or more steps, or None"),
        ({"restarts": 0}, "restarts is 0, expected 1 or more rounds"),
        ({"seconds": 0.0}, "seconds is 0.0, expected a number above 0, or None"),
        ({"seconds": float("nan")}, "seconds is nan, expected a number above 0, or None"),
    ]
    for parameters, text in bad:
        with pytest.raises(ParameterError) as caught:
            Anneal(**parameters)
        assert str(caught.value) == text
