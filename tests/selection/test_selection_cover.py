"""The objective that counts how often the query is held: by hand, against brute force, and as a law."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.api.plan import weigh
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Method
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Selection
from cube2net.selection.anneal import Anneal
from cube2net.selection.exact import Exact, serve_best
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Cover
from cube2net.selection.random import Random
from cube2net.selection.rl.cube2net import Cube2net

from toys import random_cube, toy_cube


def chosen(cube: Cube, query: Query, objective: Cover, m: int, method: Method | None = None) -> Selection:
    weights = objective.weigh(query, len(cube.objects))
    return (method or Greedy()).select(cube, query, weights=weights, budget=Budget(n_cells=m))


def value_of(cube: Cube, query: Query, cells: Array | list[int], r: int | None) -> int:
    """Return Σ min(r, chosen cells that hold q), cell by cell."""
    held = [sum(q in cube.cells.members[int(cell)] for cell in cells) for q in query.objects.tolist()]
    return sum(count if r is None else min(r, count) for count in held)


# Objects 0 to 3 are the query; 5 and 6 are others.
CUBE = toy_cube([[0, 1, 5], [0, 1, 2, 6], [0, 1], [0, 3, 5], [5, 6]], objects=7)
QUERY = Query(np.array([0, 1, 2, 3]))


def test_the_cell_that_serves_most_comes_first_and_choosing_ends_when_none_serves_enough() -> None:
    found = chosen(CUBE, QUERY, Cover(r=2), 10)
    # Cell 1 serves 0, 1 and 2; cell 0 then 0 and 1, the first of two that serve as many; then 0 and 1 need no more.
    assert found.cells.tolist() == [1, 0] and found.values.tolist() == [3.0, 5.0]
    assert found.objects.tolist() == [0, 1, 2, 5, 6]
    assert chosen(CUBE, QUERY, Cover(r=2, least=1), 10).cells.tolist() == [1, 0, 3]
    assert chosen(CUBE, QUERY, Cover(r=None), 10).cells.tolist() == [1, 0, 2, 3]
    assert chosen(CUBE, QUERY, Cover(r=2), 1).cells.tolist() == [1]


def test_a_query_of_one_object_is_served_by_any_cell_that_holds_it() -> None:
    assert chosen(CUBE, Query(np.array([3])), Cover(), 10).cells.tolist() == [3]


def test_no_cell_that_serves_enough_is_an_answer_that_says_so() -> None:
    found = chosen(CUBE, Query(np.array([2, 3])), Cover(), 10)
    assert found.cells.tolist() == [] and found.value == 0.0
    assert found.note == "no cell serves 2 objects of the query that need it"


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3, None]), st.integers(1, 3), st.integers(0, 6))
def test_greedy_takes_the_first_best_cell_at_every_step(seed: int, r: int | None, least: int, m: int) -> None:
    cube = random_cube(seed)
    query = Query(np.sort(np.random.default_rng(seed).choice(40, 8, replace=False)))
    cells: list[int] = []
    while len(cells) < m:
        now = value_of(cube, query, cells, r)
        gains = {
            cell: value_of(cube, query, [*cells, cell], r) - now for cell in range(len(cube.cells)) if cell not in cells
        }
        best = max(gains, key=lambda cell: (gains[cell], -cell))
        if gains[best] < least:
            break
        cells.append(best)
    found = chosen(cube, query, Cover(r=r, least=least), m)
    assert found.cells.tolist() == cells
    assert found.values.tolist() == [value_of(cube, query, cells[: i + 1], r) for i in range(len(cells))]


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3]), st.integers(1, 4))
def test_exact_is_the_best_of_all_choices_and_no_bound_is_below_it(seed: int, r: int, m: int) -> None:
    cube = random_cube(seed, cells=8)
    query = Query(np.sort(np.random.default_rng(seed).choice(40, 6, replace=False)))
    best = max(value_of(cube, query, list(cells), r) for cells in combinations(range(8), m))
    exact = chosen(cube, query, Cover(r=r), m, Exact())
    assert exact.value == best == value_of(cube, query, exact.cells, r) and exact.proven
    greedy = chosen(cube, query, Cover(r=r, least=1), m)
    assert greedy.value <= best <= (greedy.bound or 0.0)
    assert greedy.value >= (1 - 1 / np.e) * best


def test_a_programme_without_cells_has_nothing_to_choose() -> None:
    cells, bound = serve_best(toy_cube([[5]], objects=6), Cover().weigh(Query(np.array([0, 1])), 6), 3, None)
    assert cells.tolist() == [] and bound == 0.0


def test_a_limit_passes_over_cells_that_do_not_fit() -> None:
    weights = Cover(r=1, least=1).weigh(QUERY, 7)
    found = Greedy().select(CUBE, QUERY, weights=weights, budget=Budget(n_cells=10, max_nodes=4))
    assert found.cells.tolist() == [2]  # all others bring 5 or 6
    assert found.bound is not None and found.bound >= found.value


@pytest.mark.parametrize(("method", "name"), [(Anneal(), "anneal"), (Cube2net(), "cube2net")])
def test_a_method_that_counts_an_object_once_refuses_to_count_repeats(method: Method, name: str) -> None:
    with pytest.raises(ParameterError) as error:
        chosen(CUBE, QUERY, Cover(), 3, method)
    assert str(error.value) == (
        f"the objective 'cover' counts how often an object is held, and the method {name!r} counts it once: "
        "use 'greedy' or 'exact', or another objective"
    )


def test_by_price_and_a_limit_on_nodes_are_refused_where_they_mean_nothing() -> None:
    with pytest.raises(ParameterError, match="by is 'price', and the objective 'cover' has no costs: use by='value'"):
        chosen(CUBE, QUERY, Cover(), 3, Greedy(by="price"))
    weights = Cover().weigh(QUERY, 7)
    with pytest.raises(
        ParameterError, match="max_nodes is 5, and 'exact' can only keep n_cells for the objective 'cover'"
    ):
        Exact().select(CUBE, QUERY, weights=weights, budget=Budget(n_cells=3, max_nodes=5))


def test_random_cells_have_a_value_too() -> None:
    found = chosen(CUBE, QUERY, Cover(), 5, Random())
    assert len(found.cells) == 5 and found.value == value_of(CUBE, QUERY, found.cells, 3)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"r": 0}, "r is 0, expected 1 or more times, or None for every time"),
        ({"least": 0}, "least is 0, expected 1 or more objects of the query"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused(wrong: dict[str, int], text: str) -> None:
    with pytest.raises(ParameterError) as error:
        Cover(**wrong)
    assert str(error.value) == text


def test_objects_without_cells_count_once_each() -> None:
    assert weigh(CUBE, QUERY, "cover").value(np.array([1, 3, 6])) == 2.0


def test_exact_is_never_below_greedy_however_little_time_its_solver_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cube2net.selection.exact.serve_best", lambda *_: (np.empty(0, dtype=np.int64), 99.0))
    found = chosen(CUBE, QUERY, Cover(r=2), 10, Exact(seconds=0.1))
    assert found.value == 6.0 and found.bound == 6.0 and found.proven  # greedy has all that the cells can hold
    found = chosen(CUBE, QUERY, Cover(r=2), 1, Exact(seconds=0.1))
    assert found.cells.tolist() == [1] and found.value == 3.0
