"""What every method that chooses cells promises, run over all of them."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from cube2net._util.arrays import Array
from cube2net.api.plan import weigh
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Method, NeedsVectors
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CoverObjective, QueryObjective, Selection, Weights
from cube2net.selection.anneal import Anneal
from cube2net.selection.exact import Exact
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import OBJECTIVES, Cover, CustomObjective, Jaccard
from cube2net.selection.random import Random
from cube2net.selection.rl.cube2net import Cube2net
from cube2net.vectors.cell_vectors import embed_cells

from toys import random_cube, toy_cube

SELECTORS: dict[str, Method] = {
    "random": Random(),
    "greedy": Greedy(),
    "greedy among all": Greedy(among="all"),
    "greedy by price": Greedy(by="price"),
    "anneal": Anneal(steps=200, restarts=1),
    "exact": Exact(),
    "cube2net": Cube2net(trajectories=4, updates=2, epochs=1, k=3),
    "cube2net paper": Cube2net(preset="paper", trajectories=4, updates=1, epochs=1),
}
# Those that refuse max_links, and those that refuse a function of one's own: each with a sentence.
NO_MAX_LINKS = ("greedy by price", "exact")
NO_FUNCTION = ("greedy by price", "exact")
# Those that can count how often an object is held, and those that cannot, with what they say.
COUNT_REPEATS = ("random", "greedy", "greedy among all", "exact")
COUNT_ONCE = {
    "greedy by price": "by is 'price', and the objective 'cover' has no costs: use by='value'",
    **{
        name: f"the objective 'cover' counts how often an object is held, and the method {method!r} counts it once: "
        "use 'greedy' or 'exact', or another objective"
        for name, method in (("anneal", "anneal"), ("cube2net", "cube2net"), ("cube2net paper", "cube2net"))
    },
}
BUDGETS = [
    Budget(n_cells=0),
    Budget(n_cells=1),
    Budget(n_cells=5),
    Budget(n_cells=50),
    Budget(n_cells=5, best_prefix=True),
    Budget(n_cells=6, max_nodes=20),
    Budget(n_cells=6, max_links=25),
    Budget(n_cells=6, max_nodes=25, max_links=40, best_prefix=True),
    Budget(n_cells=6, max_nodes=0),
    Budget(n_cells=6, max_links=0),
]
OWN = "a function"
every_selector = pytest.mark.parametrize("name", SELECTORS)
with_function = pytest.mark.parametrize("name", [name for name in SELECTORS if name not in NO_FUNCTION])
Case = tuple[int, Budget, str]


def pairs(objects: Array, query: Query) -> float:
    """Return a value that no counts add up to: pairs of neighbouring rows, for the objects and with the query."""
    return (len(np.intersect1d(objects, objects + 1)) + 3 * len(np.intersect1d(objects, query.objects))) / 50


def cases(name: str, seeds: int = 3) -> list[Case]:
    """Return the questions that a method takes."""
    objectives = [objective for objective in OBJECTIVES if objective != "cover" or name in COUNT_REPEATS]
    objectives += [] if name in NO_FUNCTION else [OWN]
    budgets = [budget for budget in BUDGETS if budget.max_links is None or name not in NO_MAX_LINKS]
    asked = product(range(seeds), budgets, objectives)
    # Exact proves what is best for cover within m cells, and refuses other limits.
    return [case for case in asked if (name, case[2]) != ("exact", "cover") or case[1].max_nodes is None]


def choose(name: str, cube: Cube, query: Query, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
    """Return what a method selects, with cell vectors in its hands where it needs them."""
    method = SELECTORS[name]
    if isinstance(method, NeedsVectors):
        method = method.with_vectors(embed_cells(cube, "members", seed=seed))
    return method.select(cube, query, weights=weights, budget=budget, seed=seed)


@cache
def ask(name: str, seed: int, budget: Budget, objective: str) -> tuple[Cube, Query, QueryObjective, Selection]:
    cube = random_cube(seed, cells=15)
    rng = np.random.default_rng(seed)
    query = Query(np.sort(rng.choice(len(cube.objects), size=8, replace=False)))
    weights = weigh(cube, query, pairs if objective == OWN else objective)
    return cube, query, weights, choose(name, cube, query, weights, budget, seed=seed)


def union(cube: Cube, cells: Array) -> Array:
    return np.unique(np.concatenate([np.empty(0, int)] + [cube.cells.members[int(cell)] for cell in cells]))


def value_of(cube: Cube, weights: QueryObjective, cells: Array) -> float:
    """Return the value of cells, from the objects that they bring or from how often they hold the query."""
    if isinstance(weights, CoverObjective):
        held = [np.isin(weights.objects, cube.cells.members[int(cell)]) for cell in cells]
        return weights.total(np.sum(held, axis=0, dtype=np.int64) if held else np.zeros(len(weights.objects)))
    return weights.value(union(cube, cells))


def links_among(cube: Cube, objects: Array) -> int:
    inside = set(objects.tolist())
    return sum(n in inside for o in inside for n in cube.links.neighbours(o).tolist()) // 2


@every_selector
def test_it_is_a_method(name: str) -> None:
    assert isinstance(SELECTORS[name], Method)


@every_selector
def test_it_chooses_at_most_m_cells_and_none_twice(name: str) -> None:
    for case in cases(name):
        cells = ask(name, *case)[3].cells.tolist()
        assert len(cells) == len(set(cells)) <= case[1].n_cells


@every_selector
def test_its_objects_are_the_members_of_its_cells(name: str) -> None:
    for case in cases(name):
        cube, _, _, selection = ask(name, *case)
        assert selection.objects.tolist() == union(cube, selection.cells).tolist()


@every_selector
def test_its_values_are_those_of_the_prefixes_and_its_value_the_last(name: str) -> None:
    for case in cases(name):
        cube, _, weights, selection = ask(name, *case)
        prefixes = [value_of(cube, weights, selection.cells[:i]) for i in range(len(selection.cells) + 1)]
        assert selection.values.tolist() == pytest.approx(prefixes[1:], abs=1e-14)
        assert selection.value == pytest.approx(prefixes[-1], abs=1e-14)


@every_selector
def test_the_same_seed_gives_the_same_answer(name: str) -> None:
    for case in cases(name):
        first, second = ask(name, *case)[3], ask.__wrapped__(name, *case)[3]
        assert first.cells.tolist() == second.cells.tolist()
        assert first.values.tolist() == second.values.tolist()


@every_selector
def test_it_never_moves_the_global_generator(name: str) -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]  # noqa: NPY002
    ask.__wrapped__(name, 0, Budget(n_cells=5), "jaccard")
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]  # noqa: NPY002


@every_selector
def test_the_network_stays_within_the_limits_once_any_cell_is_chosen(name: str) -> None:
    for case in cases(name):
        cube, query, _, selection = ask(name, *case)
        network = np.union1d(query.objects, selection.objects)
        budget = case[1]
        if len(selection.cells) and budget.max_nodes is not None:
            assert len(network) <= budget.max_nodes
        if len(selection.cells) and budget.max_links is not None:
            assert links_among(cube, network) <= budget.max_links


@every_selector
def test_the_best_prefix_is_never_below_any_prefix(name: str) -> None:
    for seed, objective in {(seed, objective) for seed, _, objective in cases(name, seeds=6)}:
        whole = ask(name, seed, Budget(n_cells=10), objective)[3]
        _, _, weights, best = ask(name, seed, Budget(n_cells=10, best_prefix=True), objective)
        assert best.value == max([weights.value(np.empty(0, int)), *whole.values.tolist()])
        assert best.cells.tolist() == whole.cells[: len(best.cells)].tolist()
        assert all(value < best.value for value in best.values[:-1])


@every_selector
def test_no_cells_are_worth_what_no_objects_are_worth(name: str) -> None:
    for case in cases(name):
        _, _, weights, selection = ask(name, *case)
        if len(selection.cells) == 0:
            assert selection.value == weights.value(np.empty(0, int))


@every_selector
def test_when_no_cell_fits_nothing_is_chosen(name: str) -> None:
    cube = toy_cube([[0, 1, 2], [1, 2, 3]], objects=5, links=[(0, 1)])
    query = Query(np.array([0, 1]))
    weights = Jaccard().weigh(query, 5)
    for budget in (Budget(max_nodes=2), Budget(max_nodes=0), Budget(max_links=0)):
        if budget.max_links is None or name not in NO_MAX_LINKS:
            selection = choose(name, cube, query, weights, budget)
            assert (len(selection.cells), len(selection.objects), selection.value) == (0, 0, 0.0)


@pytest.mark.parametrize("name", NO_MAX_LINKS)
def test_a_limit_of_links_that_it_cannot_keep_is_refused(name: str) -> None:
    cube, query, weights, _ = ask(name, 0, Budget(n_cells=1), "jaccard")
    with pytest.raises(ParameterError, match="max_links"):
        choose(name, cube, query, weights, Budget(max_links=9))


@every_selector
def test_a_query_in_no_cell_is_answered_with_nothing_and_a_note_that_says_what_to_do(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=5)
    advice = (
        " in any cell, so there is nothing to choose from: use the method 'none', 'hops' or 'pagerank', "
        "a cube rolled up (roll_up), or one built with a smaller min_objects (min_objects=2)"
    )
    for rows, start in (([3, 4], "none of the 2 objects of the query is"), ([4], "the 1 object of the query is not")):
        query = Query(np.array(rows))
        own, cover = [CustomObjective(pairs)] * (name not in NO_FUNCTION), [Cover()] * (name in COUNT_REPEATS)
        for objective in (Jaccard(), *own, *cover):
            selection = choose(name, cube, query, objective.weigh(query, 5), Budget())
            assert (len(selection.cells), len(selection.objects), selection.value) == (0, 0, 0.0)
            assert selection.note == start + advice


@every_selector
def test_an_objective_without_any_gain_is_answered_with_nothing_and_a_note(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=5)
    for gain in (np.zeros(5), np.array([0.0, 0.0, 0.0, 1.0, 1.0])):
        weights = Weights(gain=gain, cost=np.ones(5), gain0=0.5, cost0=2.0)
        selection = choose(name, cube, Query(np.array([0])), weights, Budget())
        assert (len(selection.cells), selection.value) == (0, 0.25)
        assert selection.note == (
            "no cell holds an object that the objective gives a gain, so there is nothing to choose from: "
            "use another objective, or the method 'none'"
        )


@every_selector
def test_cells_of_near_objects_are_a_choice_even_where_no_cell_holds_the_query(name: str) -> None:
    cube = toy_cube([[1, 2], [2, 3]], objects=5, links=[(0, 1), (1, 2)])
    query = Query(np.array([0]))
    selection = choose(name, cube, query, weigh(cube, query, "linked"), Budget(n_cells=2))
    assert len(selection.cells) > 0
    assert selection.value > 0


@every_selector
def test_weights_and_queries_of_another_cube_are_refused(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query, far = Query(np.array([0])), Query(np.array([0, 3]))
    for objective in (Jaccard(), CustomObjective(pairs)):
        with pytest.raises(InputError) as caught:
            choose(name, cube, query, objective.weigh(query, 4), Budget())
        assert str(caught.value) == "the weights are for 4 objects, and the cube has 3"
    with pytest.raises(QueryError) as refused:
        choose(name, cube, far, Jaccard().weigh(far, 4), Budget())
    assert str(refused.value) == "query names row 3, and the cube has only 3 objects"


def nan_for_some(objects: Array, query: Query) -> float:
    return float("nan") if len(objects) > 1 else 0.0


def broken(objects: Array, query: Query) -> float:
    raise KeyError("a mistake inside")


@with_function
def test_what_a_function_must_not_give_is_refused_by_its_name(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0, 1]))
    with pytest.raises(InputError, match=r"^the objective 'nan_for_some' gave nan for [23] objects, expected a finite"):
        choose(name, cube, query, CustomObjective(nan_for_some).weigh(query, 3), Budget())


@with_function
def test_an_exception_inside_a_function_comes_out_as_it_is(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0, 1]))
    with pytest.raises(KeyError, match="a mistake inside"):
        choose(name, cube, query, CustomObjective(broken).weigh(query, 3), Budget())


@pytest.mark.parametrize("name", NO_FUNCTION)
def test_a_function_that_it_cannot_use_is_refused(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0, 1]))
    with pytest.raises(ParameterError, match="the objective 'pairs' is a function"):
        choose(name, cube, query, CustomObjective(pairs).weigh(query, 3), Budget())


@every_selector
def test_it_says_what_it_can_do(name: str) -> None:
    method: Any = SELECTORS[name]
    assert method.chooses_cells
    assert method.draws == (name in ("random", "anneal", "cube2net", "cube2net paper"))
    assert method.counts_repeats == (name in COUNT_REPEATS and name != "random")  # which only has a value for them


def test_every_method_counts_repeats_or_says_that_it_cannot() -> None:
    assert sorted([*COUNT_REPEATS, *COUNT_ONCE]) == sorted(SELECTORS)


@pytest.mark.parametrize("name", COUNT_ONCE)
def test_an_objective_that_counts_repeats_is_refused_with_a_sentence(name: str) -> None:
    cube = toy_cube([[0, 1], [1, 2]], objects=3)
    query = Query(np.array([0, 1]))
    with pytest.raises(ParameterError) as caught:
        choose(name, cube, query, Cover().weigh(query, 3), Budget())
    assert str(caught.value) == COUNT_ONCE[name]


@pytest.mark.parametrize("name", COUNT_REPEATS)
def test_cells_for_repeats_never_lower_the_value_and_no_bound_is_below_it(name: str) -> None:
    for case in cases(name):
        if case[2] == "cover":
            selection = ask(name, *case)[3]
            assert (selection.gains() >= 0).all()
            assert selection.bound is None or selection.bound >= selection.value
