"""The prize-collecting Steiner tree, by hand and against the cheapest tree there is."""

from __future__ import annotations

import dataclasses
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import links_from_pairs
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Weights
from cube2net.network.steiner import Steiner, find_cheapest_trees

from toys import toy_cube

Pairs = list[tuple[int, int]]


def brought(cube: Cube, query: list[int], method: Steiner, **limits: int) -> list[int]:
    count = len(cube.objects)
    weights = Weights(gain=np.zeros(count), cost=np.ones(count), cost0=1.0)
    chosen = method.select(cube, Query(np.array(query)), weights=weights, budget=Budget(**limits))
    assert chosen.value == weights.value(chosen.objects) and len(chosen.cells) == 0
    return [int(o) for o in chosen.objects]


def network(pairs: Pairs, objects: int) -> Cube:
    return toy_cube([[0]], objects=objects, links=pairs)


def weighed(pairs: Pairs, weights: list[float], objects: int) -> Cube:
    ends = np.array(pairs)
    links = links_from_pairs(ends[:, 0], ends[:, 1], np.array(weights), objects)
    return dataclasses.replace(network(pairs, objects), links=links)


def least(graph: nx.Graph, query: list[int], prize: float) -> float:
    """Return the least that trees can cost, one for each connected part, by trying every set of nodes."""
    price = 0.0
    for part in map(sorted, nx.connected_components(graph)):
        inside = [node for node in query if node in part]
        if not inside:
            continue
        best = prize * (len(inside) - 1)
        for bits in range(1, 1 << len(part)):
            tree = graph.subgraph([node for at, node in enumerate(part) if bits >> at & 1])
            missed = prize * sum(node not in tree for node in inside)
            if missed < best and nx.is_connected(tree):
                cost = sum(data.get("cost", 1.0) for *_, data in nx.minimum_spanning_edges(tree, weight="cost"))
                best = min(best, missed + cost)
        price += best
    return price


@st.composite
def queries(draw: st.DrawFn, tree: bool = False, most: int = 8) -> tuple[int, Pairs, list[int]]:
    """Return a number of objects, links among them that make a tree or not, and a query."""
    count = draw(st.integers(2, most))
    pairs = [(draw(st.integers(0, i - 1)), i) for i in range(1, count)]
    if not tree:
        pairs = draw(st.lists(st.sampled_from(pairs), unique=True)) + draw(
            st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=6)
        )
        pairs = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    query = draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True))
    return count, pairs, sorted(query)


def graph_of(count: int, pairs: Pairs) -> nx.Graph:
    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(count))
    return graph


def test_the_object_between_is_brought_when_the_prize_is_worth_it() -> None:
    path = network([(0, 1), (1, 2)], 3)
    assert brought(path, [0, 2], Steiner(prize=2.5)) == [1]
    assert brought(path, [0, 2], Steiner(prize=1.5)) == []


def test_one_hub_is_brought_rather_than_three_paths() -> None:
    star = [(0, 4), (1, 4), (2, 4), (3, 4)]
    paths = [(0, 5), (5, 1), (1, 6), (6, 2), (2, 7), (7, 3)]
    assert brought(network(star + paths, 8), [0, 1, 2, 3], Steiner()) == [4]


def test_query_objects_that_are_linked_bring_nothing() -> None:
    assert brought(network([(0, 1), (1, 2), (0, 3), (3, 2)], 4), [0, 1, 2], Steiner(prize=math.inf)) == []


def test_what_cannot_be_reached_stays_alone() -> None:
    assert brought(network([(0, 1), (1, 2), (3, 4)], 6), [0, 2, 3, 5], Steiner(prize=math.inf)) == [1]


def test_every_connected_part_gets_a_tree() -> None:
    assert brought(network([(0, 1), (1, 2), (3, 4), (4, 5)], 6), [0, 2, 3, 5], Steiner()) == [1, 4]


def test_an_object_too_far_is_left_alone_and_infinity_joins_it() -> None:
    chain = network([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], 6)
    assert brought(chain, [0, 2, 5], Steiner(prize=2.5)) == [1]
    assert brought(chain, [0, 2, 5], Steiner(prize=math.inf)) == [1, 3, 4]


def test_strong_links_are_cheap_and_links_without_weight_are_not_used() -> None:
    square = [(0, 1), (1, 3), (0, 2), (2, 3)]
    assert brought(weighed(square, [1, 1, 4, 4], 4), [0, 3], Steiner(cost="weight")) == [2]
    assert brought(weighed(square, [4, 4, 1, 1], 4), [0, 3], Steiner(cost="weight")) == [1]
    assert brought(weighed(square, [1, 0, 1, 0], 4), [0, 3], Steiner(cost="weight", prize=math.inf)) == []


def test_a_unit_of_weight_changes_nothing() -> None:
    pairs = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (4, 5)]
    for unit in (0.01, 1.0, 100.0):
        cube = weighed(pairs, [unit * weight for weight in (1, 2, 2, 3, 1, 1)], 6)
        assert brought(cube, [0, 3, 5], Steiner(cost="weight", prize=4.0)) == [2, 4]


@given(queries(tree=True), st.sampled_from([0.7, 1.5, 2.5, 4.0, math.inf]))
def test_on_a_tree_nothing_is_cheaper(case: tuple[int, Pairs, list[int]], prize: float) -> None:
    count, pairs, query = case
    graph = graph_of(count, pairs)
    chosen = brought(network(pairs, count), query, Steiner(prize=prize))
    bound = min(prize, 100.0)
    within = graph.subgraph([*query, *chosen])
    # the rest of the query pays its prize, so the best tree within costs what the best of all does
    inner = min(
        least(within.subgraph(part), query, bound) + bound * sum(node not in part for node in query)
        for part in nx.connected_components(within)
    )
    assert inner == pytest.approx(least(graph, query, bound))


@given(queries(tree=True), st.sampled_from([0.7, 1.5, 4.0]), st.integers(0, 99))
def test_on_a_tree_with_costs_nothing_is_cheaper(case: tuple[int, Pairs, list[int]], prize: float, seed: int) -> None:
    count, pairs, query = case
    found, best = cost_of(count, pairs, query, prize, seed)
    assert found == pytest.approx(best)


@given(queries(), st.sampled_from([0.7, 1.5, 4.0, 100.0]), st.integers(0, 99))
def test_the_trees_cost_at_most_twice_the_least_possible(
    case: tuple[int, Pairs, list[int]], prize: float, seed: int
) -> None:
    count, pairs, query = case
    found, best = cost_of(count, pairs, query, prize, seed)
    assert best - 1e-9 <= found <= 2 * best + 1e-9


def cost_of(count: int, pairs: Pairs, query: list[int], prize: float, seed: int) -> tuple[float, float]:
    """Return what the trees found cost under random costs of links, and the least that trees can."""
    low = np.array([a for a, _ in pairs], dtype=np.int32)
    high = np.array([b for _, b in pairs], dtype=np.int32)
    cost = np.random.default_rng(seed).uniform(0.2, 2.0, len(pairs))
    prizes = np.where(np.isin(np.arange(count), query), prize, 0.0)
    links = find_cheapest_trees(low, high, cost, prizes)
    graph = graph_of(count, pairs)
    for (a, b), price in zip(pairs, cost.tolist(), strict=True):
        graph[a][b]["cost"] = price
    forest = nx.Graph([pairs[link] for link in links])
    assert not forest or nx.is_forest(forest)
    total = float(cost[links].sum())
    for part in nx.connected_components(graph):
        inside = [node for node in query if node in part]
        joined = [node for node in inside if node in forest]
        assert nx.number_connected_components(forest.subgraph(part)) <= 1 if set(forest) & part else True
        total += prize * (len(inside) - max(len(joined), min(1, len(inside))))
    return total, least(graph, query, prize)


def test_all_joined_it_costs_no_more_than_the_trees_of_networkx_do() -> None:
    ours = theirs = 0
    for seed in range(30):
        graph = nx.connected_watts_strogatz_graph(60, 4, 0.3, seed=seed)
        query = sorted(np.random.default_rng(seed).choice(60, 12, replace=False).tolist())
        chosen = brought(network(list(graph.edges), 60), query, Steiner(prize=math.inf))
        assert nx.is_connected(graph.subgraph([*query, *chosen]))
        ours += len(chosen)
        tree = nx.approximation.steiner_tree(graph, query, method="mehlhorn")
        theirs += len(tree) - len(query)
        assert len(chosen) + len(query) - 1 <= 1.25 * tree.number_of_edges()
    assert ours <= theirs


@pytest.mark.parametrize("room", [0, 1, 2, 3, 5, 50])
def test_a_limit_keeps_the_branches_worth_most(room: int) -> None:
    # 0 - 1 - 2 - 3 are joined through 10, 11 and 12; 4 hangs behind 13 and 14
    pairs = [(0, 10), (10, 1), (1, 11), (11, 2), (2, 12), (12, 3), (3, 13), (13, 14), (14, 4)]
    cube = network(pairs, 15)
    chosen = brought(cube, [0, 1, 2, 3, 4], Steiner(prize=5.0), max_nodes=5 + room)
    assert len(chosen) == min(room, 5)
    if room == 3:
        assert chosen == [10, 11, 12]


def test_looking_at_no_objects_but_the_query_brings_none() -> None:
    assert brought(network([(0, 1), (1, 2)], 3), [0, 2], Steiner(most=0)) == []


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ({"prize": 0.0}, "prize is 0.0, expected a number above 0 (infinity joins all it can)"),
        ({"prize": math.nan}, "prize is nan, expected a number above 0 (infinity joins all it can)"),
        ({"cost": "unti"}, "unknown cost 'unti': choose one of unit, weight (did you mean 'unit'?)"),
        ({"most": -1}, "most is -1, expected 0 or more objects"),
        ({"most": 1e5}, "most is 100000.0, expected a whole number of 0 or more objects"),
        ({"most": 10**20}, "most is 100000000000000000000, expected 0 to 4,611,686,018,427,387,904 objects"),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_allowed(made: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError) as error:
        Steiner(**made)  # type: ignore[arg-type]
    assert str(error.value) == says
