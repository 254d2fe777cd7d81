"""Greedy by value and at a price, against plain loops over all cells with sets."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, take_rows
from cube2net.api.plan import weigh
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.interfaces import LinkObjective, Objective
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, CoverObjective, Weights
from cube2net.selection.constraints import untouched_may_help
from cube2net.selection.greedy import BY, Greedy, select_at_price
from cube2net.selection.objectives import OBJECTIVES, Coverage, FBeta, Jaccard, Linked, Precision

from toys import random_cube, toy_cube

OBJECTIVE: list[Objective | LinkObjective] = [
    Jaccard(),
    FBeta(),
    FBeta(beta=0.7),
    Precision(),
    Coverage(),
    Coverage(price=0.1),
    Coverage(price=0),
]
OBJECTIVE += [Linked(), Linked(reach=0.3)]


def links_among(cube: Cube, objects: set[int]) -> int:
    return sum(n in objects for o in objects for n in cube.links.neighbours(o).tolist()) // 2


def naive(cube: Cube, query: Query, weights: Weights, budget: Budget, among: str) -> tuple[list[int], list[float]]:
    """Return the cells and values of the greedy loop that tries every cell at every step, with sets."""
    sets = [set(cube.cells.members[cell].tolist()) for cell in range(len(cube.cells))]
    cells = [cell for cell, held in enumerate(sets) if among == "all" or any(weights.gain[o] > 0 for o in held)]
    chosen: list[int] = []
    values: list[float] = []
    covered: set[int] = set()
    while len(chosen) < budget.n_cells:
        best: tuple[float, int] | None = None
        for cell in cells:
            network = covered | sets[cell] | set(query.objects.tolist())
            if cell in chosen or (budget.max_nodes is not None and len(network) > budget.max_nodes):
                continue
            if budget.max_links is not None and links_among(cube, network) > budget.max_links:
                continue
            value = weights.value(np.array(sorted(covered | sets[cell]), dtype=int))
            if best is None or value > best[0] + 1e-11:
                best = (value, cell)
        if best is None:
            break
        covered |= sets[best[1]]
        chosen.append(best[1])
        values.append(best[0])
    return chosen, values


def question(seed: int, objective: int = 0, **shape: int) -> tuple[Cube, Query, Weights]:
    cube = random_cube(seed, **shape)
    rng = np.random.default_rng([seed, 1])
    held = np.flatnonzero(cube.object_cells.sizes)
    query = Query(np.sort(rng.choice(held, size=int(rng.integers(1, 9)), replace=False)))
    return cube, query, weighed(cube, query, objective)


def weighed(cube: Cube, query: Query, objective: int) -> Weights:
    weights = weigh(cube, query, OBJECTIVE[objective])
    assert isinstance(weights, Weights)
    return weights


def check_agreement(cube: Cube, query: Query, weights: Weights, budget: Budget, among: str) -> None:
    selection = Greedy(among=among).select(cube, query, weights=weights, budget=budget)
    cells, values = naive(cube, query, weights, budget, among)
    assert selection.cells.tolist() == cells
    assert selection.values.tolist() == pytest.approx(values, abs=1e-13)


def test_it_takes_the_best_cell_of_what_is_left() -> None:
    cube = toy_cube([[0, 1, 4], [0, 1], [2, 5], [2, 3, 6, 7, 8], [6, 7]], objects=9)
    query = Query(np.array([0, 1, 2, 3]))
    selection = Greedy().select(cube, query, weights=Jaccard().weigh(query, 9), budget=Budget(n_cells=10))
    assert selection.cells.tolist() == [1, 2, 0, 3]
    assert selection.values.tolist() == [2 / 4, 3 / 5, 3 / 6, 4 / 9]
    assert selection.objects.tolist() == list(range(9))
    assert repr(selection) == "Selection(4 cells, 9 objects, value 0.4444)"


def test_best_prefix_stops_where_the_value_was_highest() -> None:
    cube = toy_cube([[0, 1, 4], [0, 1], [2, 5], [2, 3, 6, 7, 8], [6, 7]], objects=9)
    query = Query(np.array([0, 1, 2, 3]))
    weights = Jaccard().weigh(query, 9)
    selection = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=10, best_prefix=True))
    assert (selection.cells.tolist(), selection.value) == ([1, 2], 0.6)


def test_best_prefix_may_be_nothing() -> None:
    cube = toy_cube([[0, 1, 2, 3, 4]], objects=5)
    query = Query(np.array([0]))
    weights = Coverage(price=0.5).weigh(query, 5)
    selection = Greedy().select(cube, query, weights=weights, budget=Budget(best_prefix=True))
    assert (len(selection.cells), len(selection.objects), selection.value) == (0, 0, 0.0)


def test_equals_go_to_the_lowest_number_even_where_sums_are_not_exact() -> None:
    cube = toy_cube([[9], [1, 2, 3, 8], [0, 4, 5, 6], [2, 3, 7, 8]], objects=10)
    query = Query(np.array([0, 7, 8]))
    weights = Coverage(price=0.1).weigh(query, 10)
    assert len({weights.value(cube.cells.members[cell]) for cell in (1, 2)}) == 2
    assert Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=3)).cells.tolist() == [3, 2, 1]
    one = Query(np.array([0, 8]))
    weights = Coverage(price=0.1).weigh(one, 10)
    assert Greedy().select(cube, one, weights=weights, budget=Budget(n_cells=1)).cells.tolist() == [1]


@pytest.mark.parametrize("objective", range(len(OBJECTIVE)), ids=[repr(objective) for objective in OBJECTIVE])
@pytest.mark.parametrize("among", ["touched", "all"])
def test_it_equals_the_plain_loop_over_all_cells(objective: int, among: str) -> None:
    for seed in range(12):
        check_agreement(*question(seed, objective), Budget(n_cells=15), among)


sets_of_objects = st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=8)


@given(
    cells=sets_of_objects,
    objects=st.sets(st.integers(0, 9), min_size=1),
    objective=st.integers(0, len(OBJECTIVE) - 1),
    m=st.integers(0, 9),
    among=st.sampled_from(["touched", "all"]),
)
def test_it_equals_the_plain_loop_on_any_cells(
    cells: list[set[int]], objects: set[int], objective: int, m: int, among: str
) -> None:
    cube = toy_cube([sorted(cell) for cell in cells], objects=10)
    if objects & set().union(*cells):
        query = Query(np.array(sorted(objects)))
        check_agreement(cube, query, weighed(cube, query, objective), Budget(n_cells=m), among)


maybe = st.none() | st.integers(0, 45)


@given(
    seed=st.integers(0, 999),
    objective=st.integers(0, len(OBJECTIVE) - 1),
    max_nodes=maybe,
    max_links=maybe,
    among=st.sampled_from(["touched", "all"]),
)
def test_it_equals_the_plain_loop_under_limits(
    seed: int, objective: int, max_nodes: int | None, max_links: int | None, among: str
) -> None:
    check_agreement(*question(seed, objective), Budget(n_cells=8, max_nodes=max_nodes, max_links=max_links), among)


@given(st.integers(0, 9999), st.integers(0, len(OBJECTIVE) - 1))
def test_while_the_value_rises_touched_cells_are_all_one_needs(seed: int, objective: int) -> None:
    cube, query, weights = question(seed, objective, cells=30, largest=4)
    touched = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=30))
    every = Greedy(among="all").select(cube, query, weights=weights, budget=Budget(n_cells=30))
    rising = np.diff(every.values, prepend=weights.ratio(0, 0)) > 1e-12
    length = int(np.argmin(rising)) if not rising.all() else len(rising)
    assert touched.cells[:length].tolist() == every.cells[:length].tolist()
    assert touched.values.max(initial=0.0) == pytest.approx(every.values.max(initial=0.0), abs=1e-13)


def test_an_untouched_cell_is_taken_only_among_all() -> None:
    cube = toy_cube([[0, 1], [1, 2, 3, 4], [5]], objects=6)
    query = Query(np.array([0, 1]))
    weights = Jaccard().weigh(query, 6)
    assert Greedy().select(cube, query, weights=weights, budget=Budget()).cells.tolist() == [0, 1]
    every = Greedy(among="all").select(cube, query, weights=weights, budget=Budget())
    assert every.cells.tolist() == [0, 2, 1]


def test_all_cells_are_tried_where_an_untouched_one_may_help() -> None:
    cube = toy_cube([[0, 1], [2], [3]], objects=4)
    query = Query(np.array([0]))
    below_zero = Weights(gain=np.array([1.0, -3.0, 0.0, 0.0]), cost=np.array([0.0, 0.0, 1.0, 2.0]), cost0=1.0, gain0=-1)
    free = Weights(gain=np.array([1.0, 0.0, 0.0, 0.0]), cost=np.array([0.0, 0.0, 4.0, 2.0]))
    for weights, cells in ((below_zero, [2, 1, 0]), (free, [0, 2, 1])):
        assert untouched_may_help(weights)
        assert Greedy().select(cube, query, weights=weights, budget=Budget()).cells.tolist() == cells
        check_agreement(cube, query, weights, Budget(), "all")


@pytest.mark.parametrize("name", OBJECTIVES)
def test_no_built_in_objective_needs_untouched_cells(name: str) -> None:
    weights = weigh(toy_cube([[0]], objects=5, links=[(0, 1), (1, 3)]), Query(np.array([0, 2])), name)
    if name == "cover":
        assert isinstance(weights, CoverObjective), "only cells that hold an object of the query count"
    else:
        assert isinstance(weights, Weights) and not untouched_may_help(weights)


@given(
    cells=sets_of_objects,
    gains=st.lists(st.integers(-2, 2), min_size=10, max_size=10),
    costs=st.lists(st.integers(0, 2), min_size=10, max_size=10),
    gain0=st.integers(-2, 2),
    cost0=st.integers(0, 2),
)
def test_with_any_weights_a_step_up_is_never_missed(
    cells: list[set[int]], gains: list[int], costs: list[int], gain0: int, cost0: int
) -> None:
    weights = Weights(gain=np.array(gains), cost=np.array(costs), gain0=float(gain0), cost0=float(cost0))
    cube = toy_cube([sorted(cell) for cell in cells], objects=10)
    query = Query(np.array([min(cells[0])]))
    first = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=1))
    best = max(weights.value(cube.cells.members[cell]) for cell in range(len(cells)))
    if best > weights.ratio(0, 0):
        assert first.value == best


@pytest.mark.parametrize("objective", range(len(OBJECTIVE)), ids=[repr(objective) for objective in OBJECTIVE])
@pytest.mark.parametrize(
    "budget", [Budget(n_cells=9), Budget(n_cells=9, max_nodes=25, max_links=40)], ids=["free", "limits"]
)
def test_a_function_that_says_what_the_weights_say_chooses_the_same_cells(objective: int, budget: Budget) -> None:
    for seed in range(4):
        cube, query, weights = question(seed, objective, cells=25, largest=6)
        held = set(coverage_of(cube, query.objects))
        judge = CallableObjective(weights.value, len(cube.objects))
        by_calls = Greedy(among="all").select(cube, query, weights=judge, budget=budget)
        by_counts = Greedy(among="all").select(cube, query, weights=weights, budget=budget)
        assert by_calls.cells.tolist() == by_counts.cells.tolist()
        assert by_calls.values.tolist() == pytest.approx(by_counts.values.tolist(), abs=1e-13)
        assert set(Greedy().select(cube, query, weights=judge, budget=budget).cells.tolist()) <= held


def coverage_of(cube: Cube, objects: Array) -> list[int]:
    """Return the cells that hold one of the objects."""
    return [cell for cell in range(len(cube.cells)) if np.isin(cube.cells.members[cell], objects).any()]


def test_a_function_is_called_once_for_every_cell_left_that_holds_an_object_of_the_query() -> None:
    cube = toy_cube([[0, 1], [1, 2], [2, 3], [4, 5]], objects=6)
    query = Query(np.array([1, 2]))
    for among, cells in (("touched", 3), ("all", 4)):
        calls: list[tuple[int, ...]] = []

        def mine(objects: Array, calls: list[tuple[int, ...]] = calls) -> float:
            calls.append(tuple(objects.tolist()))
            return float(len(objects))

        Greedy(among=among).select(cube, query, weights=CallableObjective(mine, 6), budget=Budget(n_cells=2))
        tried, prefixes = cells + (cells - 1), 3
        assert len(calls) == tried + prefixes
        assert all(list(call) == sorted(set(call)) for call in calls)


def test_fewer_cells_than_asked_for_are_explained() -> None:
    cube = toy_cube([[0, 1], [1, 2], [3]], objects=5, links=[(1, 2), (2, 3)])
    query = Query(np.array([0, 1]))
    jaccard, linked = weigh(cube, query), weigh(cube, query, "linked")
    for greedy, weights, budget, note in (
        (Greedy(), jaccard, Budget(), "2 cells, not 20: no other cell holds an object of the query"),
        (Greedy(), jaccard, Budget(n_cells=2), ""),
        (Greedy(), jaccard, Budget(best_prefix=True), ""),
        (
            Greedy(),
            jaccard,
            Budget(max_nodes=2),
            "1 cell, not 20: no other cell holds an object of the query and fits the limits",
        ),
        (
            Greedy(),
            jaccard,
            Budget(max_nodes=1),
            "0 cells, not 20: no cell holds an object of the query and fits the limits",
        ),
        (Greedy(), linked, Budget(), "3 cells, not 20: no other cell holds an object with a gain"),
        (Greedy(among="all"), jaccard, Budget(), "3 cells, not 20: no other cell is in the cube"),
    ):
        assert greedy.select(cube, query, weights=weights, budget=budget).note == note


@given(st.integers(0, 9999), st.integers(0, len(OBJECTIVE) - 1), st.none() | st.integers(0, 30))
def test_by_price_it_selects_at_the_best_price(seed: int, objective: int, max_nodes: int | None) -> None:
    cube, query, weights = question(seed, objective, cells=20)
    selection = Greedy(by="price").select(cube, query, weights=weights, budget=Budget(n_cells=4, max_nodes=max_nodes))
    if max_nodes is not None and max_nodes < len(query):
        assert len(selection.cells) == 0
        return
    room = math.inf if max_nodes is None else max_nodes - len(query)
    cells, value = select_at_price(cube, query, weights, 4, max_nodes=room)
    assert selection.cells.tolist() == cells.tolist()
    assert selection.value == pytest.approx(value, abs=1e-12)
    assert selection.value >= weights.ratio(0, 0)


def test_by_price_may_be_worth_more_than_by_value() -> None:
    cube = toy_cube([[0, 4, 6, 8], [2, 4, 5], [2, 3, 6, 7], [2, 6]], objects=9)
    query = Query(np.arange(5))
    weights = Jaccard().weigh(query, 9)
    by_value, by_price = (Greedy(by=by).select(cube, query, weights=weights, budget=Budget(n_cells=2)) for by in BY)
    assert (by_value.cells.tolist(), by_value.value) == ([1, 0], 3 / 8)
    assert (by_price.cells.tolist(), by_price.value) == ([0, 2], 4 / 8)


def test_unknown_parameters_and_those_that_do_not_go_together_are_refused() -> None:
    for wrong, sentence in (
        ({"among": "touch"}, "unknown among 'touch': choose one of all, touched (did you mean 'touched'?)"),
        ({"by": "prize"}, "unknown by 'prize': choose one of price, value (did you mean 'price'?)"),
        (
            {"by": "price", "among": "all"},
            "among is 'all', and by 'price' only cells that may help are candidates: use by='value'",
        ),
    ):
        with pytest.raises(ParameterError) as caught:
            Greedy(**wrong)
        assert str(caught.value) == sentence


def test_by_price_says_which_questions_it_does_not_take() -> None:
    cube, query, weights = question(0)
    greedy = Greedy(by="price")
    with pytest.raises(ParameterError) as caught:
        greedy.select(cube, query, weights=weights, budget=Budget(max_links=5_000))
    assert str(caught.value) == "by is 'price', which cannot keep max_links=5,000: use by='value'"
    with pytest.raises(ParameterError) as caught:
        greedy.select(cube, query, weights=CallableObjective(len, len(cube.objects)), budget=Budget())
    assert str(caught.value) == (
        "by is 'price', and the objective 'len' is a function without gains and costs: use by='value'"
    )


def test_importing_select_does_not_load_the_compiler() -> None:
    code = "import sys, cube2net.selection; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def select_plainly(cube: Cube, query: Query, weights: Weights, m: int, room: float) -> tuple[list[int], float]:
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
    expected, best = select_plainly(cube, query, weights, m, room)
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
