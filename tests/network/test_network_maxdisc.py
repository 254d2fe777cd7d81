"""Discrepancy maximisation, by hand and against the best connected piece there is."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.errors import ParameterError
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Weights
from cube2net.network.maxdisc import TREES, MaxDisc

from toys import toy_cube

Pairs = list[tuple[int, int]]
every_tree = pytest.mark.parametrize("tree", sorted(TREES))


def brought(pairs: Pairs, count: int, query: list[int], method: MaxDisc, seed: int = 0, **limits: int) -> list[int]:
    weights = Weights(gain=np.zeros(count), cost=np.ones(count), cost0=1.0)
    cube = toy_cube([[0]], objects=count, links=pairs)
    chosen = method.select(cube, Query(np.array(query)), weights=weights, budget=Budget(**limits), seed=seed)
    assert chosen.value == weights.value(chosen.objects) and len(chosen.cells) == 0
    return [int(o) for o in chosen.objects]


def graph_of(pairs: Pairs, count: int) -> nx.Graph:
    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(count))
    return graph


def discrepancy(graph: nx.Graph, query: list[int], chosen: list[int], alpha: float) -> float:
    """Return the highest discrepancy of a connected part of the query and what was brought."""
    parts = nx.connected_components(graph.subgraph([*query, *chosen]))
    return max(sum(alpha if node in query else -1.0 for node in part) for part in parts)


def highest(graph: nx.Graph, query: list[int], alpha: float) -> float:
    """Return the highest discrepancy of any connected set of nodes, by trying all."""
    nodes = sorted(graph)
    near = {node: sum(1 << other for other in graph[node]) for node in nodes}
    best = -math.inf
    for bits in range(1, 1 << len(nodes)):
        worth = sum(alpha if node in query else -1.0 for node in nodes if bits >> node & 1)
        if worth <= best:
            continue
        reached = bits & -bits
        while True:
            wider = reached
            for node in nodes:
                if reached >> node & 1:
                    wider |= near[node] & bits
            if wider == reached:
                break
            reached = wider
        if reached == bits:
            best = worth
    return best


@st.composite
def queries(draw: st.DrawFn, tree: bool) -> tuple[int, Pairs, list[int]]:
    """Return a number of objects, links among them that make a tree or not, and a query."""
    count = draw(st.integers(2, 9))
    pairs = [(draw(st.integers(0, i - 1)), i) for i in range(1, count)]
    if not tree:
        numbers = st.integers(0, count - 1)
        pairs += [pair for pair in draw(st.lists(st.tuples(numbers, numbers), max_size=8)) if pair[0] != pair[1]]
    return count, pairs, sorted(draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True)))


@every_tree
def test_a_connector_is_brought_when_two_of_the_query_outweigh_it(tree: str) -> None:
    path = [(0, 1), (1, 2)]
    assert brought(path, 3, [0, 2], MaxDisc(alpha=2.0, tree=tree)) == [1]
    assert brought(path, 3, [0, 2], MaxDisc(alpha=0.5, tree=tree)) == []


@every_tree
def test_a_hub_between_three_is_brought_and_a_dead_end_is_not(tree: str) -> None:
    assert brought([(0, 3), (1, 3), (2, 3), (3, 4), (0, 5)], 6, [0, 1, 2], MaxDisc(tree=tree)) == [3]


def test_only_the_best_piece_is_brought() -> None:
    four, three = [(0, 7), (1, 7), (2, 7), (3, 7)], [(4, 8), (5, 8), (6, 8)]
    assert brought(four + three, 9, list(range(7)), MaxDisc()) == [7]


@every_tree
@given(case=queries(tree=True), alpha=st.sampled_from([0.5, 1.0, 1.7, 3.0, 20.0]))
def test_on_a_tree_nothing_is_better(tree: str, case: tuple[int, Pairs, list[int]], alpha: float) -> None:
    count, pairs, query = case
    chosen = brought(pairs, count, query, MaxDisc(alpha=alpha, tree=tree, tries=2))
    graph = graph_of(pairs, count)
    assert discrepancy(graph, query, chosen, alpha) == pytest.approx(highest(graph, query, alpha))


@every_tree
@given(case=queries(tree=False), alpha=st.sampled_from([0.5, 1.0, 1.7, 3.0]))
def test_what_is_brought_is_one_piece_and_never_better_than_the_best(
    tree: str, case: tuple[int, Pairs, list[int]], alpha: float
) -> None:
    count, pairs, query = case
    chosen = brought(pairs, count, query, MaxDisc(alpha=alpha, tree=tree, tries=4))
    graph = graph_of(pairs, count)
    assert discrepancy(graph, query, chosen, alpha) <= highest(graph, query, alpha) + 1e-9
    whole = graph.subgraph([*query, *chosen])
    assert not chosen or set(chosen) <= nx.node_connected_component(whole, chosen[0])


@given(case=queries(tree=False), alpha=st.sampled_from([0.5, 1.0, 1.7, 3.0]))
def test_smart_trees_are_never_worse_than_the_largest_piece_of_the_query(
    case: tuple[int, Pairs, list[int]], alpha: float
) -> None:
    count, pairs, query = case
    chosen = brought(pairs, count, query, MaxDisc(alpha=alpha, tries=3))
    graph = graph_of(pairs, count)
    assert discrepancy(graph, query, chosen, alpha) >= discrepancy(graph, query, [], alpha)


def test_smart_trees_find_the_best_on_nearly_all_small_networks() -> None:
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pairs = [(int(a), int(b)) for a, b in rng.integers(0, 10, (16, 2)) if a != b]
        query = sorted(rng.choice(10, 5, replace=False).tolist())
        graph = graph_of(pairs, 10)
        chosen = brought(pairs, 10, query, MaxDisc(alpha=1.5))
        found += discrepancy(graph, query, chosen, 1.5) == pytest.approx(highest(graph, query, 1.5))
    assert found >= 38


@every_tree
@settings(max_examples=25)
@given(case=queries(tree=True))
def test_a_larger_alpha_never_brings_a_worse_discrepancy(tree: str, case: tuple[int, Pairs, list[int]]) -> None:
    count, pairs, query = case
    graph = graph_of(pairs, count)
    seen = -math.inf
    for alpha in (0.5, 1.0, 2.0, 4.0):
        chosen = brought(pairs, count, query, MaxDisc(alpha=alpha, tree=tree, tries=2))
        now = discrepancy(graph, query, chosen, alpha)
        assert now >= seen
        seen = now


def test_more_smart_trees_are_never_worse() -> None:
    graph = nx.connected_watts_strogatz_graph(80, 4, 0.3, seed=4)
    query = sorted(np.random.default_rng(4).choice(80, 25, replace=False).tolist())
    seen = -math.inf
    for tries in (1, 2, 4, 8, 16):
        chosen = brought(list(graph.edges), 80, query, MaxDisc(alpha=2.0, tries=tries))
        now = discrepancy(graph, query, chosen, 2.0)
        assert now >= seen
        seen = now


def test_nothing_that_could_pay_lies_beyond_the_reach() -> None:
    # two groups of five, five others in between: one more query object on each side than the way is long
    groups = [(0, i) for i in range(1, 5)] + [(5, i) for i in range(6, 10)]
    way = [(0, 10), (10, 11), (11, 12), (12, 13), (13, 14), (14, 5)]
    assert brought(groups + way, 15, list(range(10)), MaxDisc(alpha=1.1)) == [10, 11, 12, 13, 14]
    assert brought(groups + way, 15, list(range(10)), MaxDisc(alpha=1.1, reach=2)) == []
    assert brought(groups + way, 15, list(range(10)), MaxDisc(alpha=1.1, most=3)) == []


@every_tree
def test_another_seed_may_change_the_answer_and_the_same_seed_may_not(tree: str) -> None:
    graph = nx.connected_watts_strogatz_graph(60, 4, 0.4, seed=1)
    query = list(range(0, 60, 4))
    answers = [
        brought(list(graph.edges), 60, query, MaxDisc(alpha=2.0, tree=tree, tries=1), seed) for seed in (0, 0, 1, 2, 3)
    ]
    assert answers[0] == answers[1]
    if tree != "smart":  # whose first tree is not drawn
        assert len({tuple(answer) for answer in answers}) > 1


@every_tree
@pytest.mark.parametrize("alpha", [100.0, 1e17, 1e308, np.float64(1e308), 10**400])
def test_an_alpha_beyond_all_bounds_joins_all_it_can_by_few(tree: str, alpha: float) -> None:
    pairs = [(0, 5), (5, 1), (1, 6), (6, 7), (7, 2), (2, 3), (3, 8), (4, 9)]
    assert brought(pairs, 10, [0, 1, 2, 3, 4], MaxDisc(alpha=alpha, tree=tree)) == [5, 6, 7]
    limited = brought(pairs, 10, [0, 1, 2, 3, 4], MaxDisc(alpha=alpha, tree=tree), max_nodes=7)
    assert limited in ([5], [6, 7])


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_a_limit_keeps_the_connectors_worth_most(room: int) -> None:
    # 8 joins four of the query, 9 two more, and 10 one more
    pairs = [(0, 8), (1, 8), (2, 8), (3, 8), (3, 9), (4, 9), (5, 9), (5, 10), (6, 10)]
    chosen = brought(pairs, 11, list(range(7)), MaxDisc(alpha=2.0), max_nodes=7 + room)
    assert chosen == [8, 9, 10][:room]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ({"alpha": 0.0}, "alpha is 0.0, expected a number above 0"),
        ({"alpha": math.inf}, "alpha is inf, expected a number above 0"),
        ({"tree": "bsf"}, "unknown tree 'bsf': choose one of bfs, smart, spanning (did you mean 'bfs'?)"),
        ({"tries": 0}, "tries is 0, expected 1 or more trees"),
        ({"reach": -1}, "reach is -1, expected 0 or more hops, or None for all that can pay"),
        ({"most": -1}, "most is -1, expected 0 or more objects"),
        ({"tries": 1.5}, "tries is 1.5, expected a whole number of 1 or more trees"),
        ({"tries": True}, "tries is True, expected a whole number of 1 or more trees"),
        ({"reach": "2"}, "reach is '2', expected a whole number of 0 or more hops, or None for all that can pay"),
        ({"most": 10**20}, "most is 100000000000000000000, expected 0 to 4,611,686,018,427,387,904 objects"),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_allowed(made: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError) as error:
        MaxDisc(**made)  # type: ignore[arg-type]
    assert str(error.value) == says
