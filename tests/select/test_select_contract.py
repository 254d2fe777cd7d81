"""What every method that chooses cells promises, run over all of them."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from cube2net.errors import InputError, QueryError
from cube2net.interfaces import Method
from cube2net.records import Budget, Cube, Query, Selection, Weights
from cube2net.records.ragged import Array
from cube2net.select import OBJECTIVES, Greedy, Jaccard, Random

from toys import random_cube, toy_cube

SELECTORS: dict[str, Method] = {"random": Random(), "greedy": Greedy(), "greedy among all": Greedy(among="all")}
BUDGETS = [
    Budget(m=0),
    Budget(m=1),
    Budget(m=5),
    Budget(m=50),
    Budget(m=5, prefix="best"),
    Budget(m=6, max_nodes=20),
    Budget(m=6, max_links=25),
    Budget(m=6, max_nodes=25, max_links=40, prefix="best"),
    Budget(m=6, max_nodes=0),
    Budget(m=6, max_links=0),
]
CASES = [(seed, budget, objective) for seed, budget, objective in product(range(3), BUDGETS, OBJECTIVES)]
every_selector = pytest.mark.parametrize("name", SELECTORS)


@cache
def ask(name: str, seed: int, budget: Budget, objective: str) -> tuple[Cube, Query, Weights, Selection]:
    cube = random_cube(seed, cells=15)
    rng = np.random.default_rng(seed)
    query = Query(np.sort(rng.choice(len(cube.objects), size=8, replace=False)))
    weights = OBJECTIVES[objective]().weigh(query, len(cube.objects))
    return cube, query, weights, SELECTORS[name].select(cube, query, weights=weights, budget=budget, seed=seed)


def union(cube: Cube, cells: Array) -> Array:
    return np.unique(np.concatenate([np.empty(0, int)] + [cube.cells.members[int(cell)] for cell in cells]))


def links_among(cube: Cube, objects: Array) -> int:
    inside = set(objects.tolist())
    return sum(n in inside for o in inside for n in cube.links.neighbours(o).tolist()) // 2


@every_selector
def test_it_is_a_method(name: str) -> None:
    assert isinstance(SELECTORS[name], Method)


@every_selector
def test_it_chooses_at_most_m_cells_and_none_twice(name: str) -> None:
    for case in CASES:
        cells = ask(name, *case)[3].cells.tolist()
        assert len(cells) == len(set(cells)) <= case[1].m


@every_selector
def test_its_objects_are_the_members_of_its_cells(name: str) -> None:
    for case in CASES:
        cube, _, _, selection = ask(name, *case)
        assert selection.objects.tolist() == union(cube, selection.cells).tolist()


@every_selector
def test_its_values_are_those_of_the_prefixes_and_its_value_the_last(name: str) -> None:
    for case in CASES:
        cube, _, weights, selection = ask(name, *case)
        prefixes = [weights.value(union(cube, selection.cells[:i])) for i in range(len(selection.cells) + 1)]
        assert selection.values.tolist() == pytest.approx(prefixes[1:], abs=1e-14)
        assert selection.value == pytest.approx(prefixes[-1], abs=1e-14)


@every_selector
def test_the_same_seed_gives_the_same_answer(name: str) -> None:
    for case in CASES:
        first, second = ask(name, *case)[3], ask.__wrapped__(name, *case)[3]
        assert first.cells.tolist() == second.cells.tolist()
        assert first.values.tolist() == second.values.tolist()


@every_selector
def test_it_never_moves_the_global_generator(name: str) -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]  # noqa: NPY002
    ask.__wrapped__(name, 0, Budget(m=5), "jaccard")
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]  # noqa: NPY002


@every_selector
def test_the_network_stays_within_the_limits_once_any_cell_is_chosen(name: str) -> None:
    for case in CASES:
        cube, query, _, selection = ask(name, *case)
        network = np.union1d(query.objects, selection.objects)
        budget = case[1]
        if len(selection.cells) and budget.max_nodes is not None:
            assert len(network) <= budget.max_nodes
        if len(selection.cells) and budget.max_links is not None:
            assert links_among(cube, network) <= budget.max_links


@every_selector
def test_the_best_prefix_is_never_below_any_prefix(name: str) -> None:
    for seed, objective in product(range(6), OBJECTIVES):
        whole = ask(name, seed, Budget(m=10), objective)[3]
        _, _, weights, best = ask(name, seed, Budget(m=10, prefix="best"), objective)
        assert best.value == max([weights.ratio(0, 0), *whole.values.tolist()])
        assert best.cells.tolist() == whole.cells[: len(best.cells)].tolist()
        assert all(value < best.value for value in best.values[:-1])


@every_selector
def test_when_no_cell_fits_nothing_is_chosen(name: str) -> None:
    cube = toy_cube([[0, 1, 2], [1, 2, 3]], objects=5, links=[(0, 1)])
    query = Query(np.array([0, 1]))
    weights = Jaccard().weigh(query, 5)
    for budget in (Budget(max_nodes=2), Budget(max_nodes=0), Budget(max_links=0)):
        selection = SELECTORS[name].select(cube, query, weights=weights, budget=budget)
        assert (len(selection.cells), len(selection.objects), selection.value) == (0, 0, 0.0)


@every_selector
def test_a_query_in_no_cell_says_what_to_do(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=5)
    advice = (
        " in any cell, so there is nothing to choose from: use the method 'none', 'hops' or 'pagerank', "
        "a cube rolled up (--roll-up), or one built with a smaller min_objects (--min-objects)"
    )
    for rows, start in (([3, 4], "none of the 2 objects of the query is"), ([4], "the 1 object of the query is not")):
        query = Query(np.array(rows))
        with pytest.raises(QueryError) as caught:
            SELECTORS[name].select(cube, query, weights=Jaccard().weigh(query, 5), budget=Budget())
        assert str(caught.value) == start + advice


@every_selector
def test_weights_and_queries_of_another_cube_are_refused(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query, far = Query(np.array([0])), Query(np.array([0, 3]))
    with pytest.raises(InputError) as caught:
        SELECTORS[name].select(cube, query, weights=Jaccard().weigh(query, 4), budget=Budget())
    assert str(caught.value) == "the weights are for 4 objects, and the cube has 3"
    with pytest.raises(QueryError) as caught:
        SELECTORS[name].select(cube, far, weights=Jaccard().weigh(far, 4), budget=Budget())
    assert str(caught.value) == "query names row 3, and the cube has only 3 objects"
