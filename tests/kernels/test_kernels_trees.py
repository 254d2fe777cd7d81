"""Trees in a network against plain Python twins, on random networks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from cube2net.kernels.subgraphs import both_ends
from cube2net.kernels.trees import best_subtrees, root_forest, search, span_forest

from forests import NONE, SEEDS, N, forest, problem, value


def test_both_ends_and_search_give_shortest_paths_and_parts() -> None:
    for seed in SEEDS:
        low, high, _, _, graph = problem(seed)
        ends = both_ends(N, low, high)
        assert [sorted(ends[1][ends[0][i] : ends[0][i + 1]].tolist()) for i in range(N)] == [
            sorted(graph[i]) for i in range(N)
        ]
        first = seed % N
        order, parent, above, part = search(*ends, np.array([first], np.int32))
        assert sorted(order.tolist()) == list(range(N)) and order[0] == first
        away = nx.single_source_shortest_path_length(graph, first)
        for node in order.tolist():
            if parent[node] >= 0:
                assert {node, int(parent[node])} == {int(low[above[node]]), int(high[above[node]])}
                assert node not in away or away[node] == away[int(parent[node])] + 1
        groups: dict[int, set[int]] = {}
        for node in range(N):
            groups.setdefault(int(part[node]), set()).add(node)
        assert sorted(map(sorted, groups.values())) == sorted(map(sorted, nx.connected_components(graph)))


def test_spanning_takes_the_lightest_links() -> None:
    for seed in SEEDS:
        low, high, cost, _, graph = problem(seed)
        kept = span_forest(N, low, high, np.argsort(cost))
        twin = {data["link"] for *_, data in nx.minimum_spanning_edges(graph, weight="cost")}
        assert set(kept.tolist()) == twin


def test_no_connected_subtree_is_worth_more_than_the_best() -> None:
    for seed in range(8):
        low, high, cost, worth, graph = forest(seed)
        order, parent, up = root_forest(N, low, high, cost, NONE)
        keep, best = best_subtrees(order, parent, worth, up, np.zeros(N, np.int32), 1)
        top = 0.0
        for bits in range(1, 1 << N):
            piece = graph.subgraph([node for node in range(N) if bits >> node & 1])
            if piece.number_of_edges() == len(piece) - 1:  # in a forest: it is connected
                top = max(top, value(piece, worth))
        assert best[0] == pytest.approx(top)
        assert value(graph.subgraph(np.flatnonzero(keep).tolist()), worth) == pytest.approx(top)


def test_every_group_of_trees_has_its_own_best_subtree() -> None:
    order, parent, up = root_forest(6, np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([1.0, 1.0, 1.0]), NONE)
    worth = np.array([2.5, 0.0, 3.0, 1.0, 0.5, -1.0])
    keep, best = best_subtrees(order, parent, worth, up, np.array([0, 0, 0, 1, 1, 2], np.int32), 3)
    assert keep.tolist() == [True, True, True, True, False, False]
    assert best.tolist() == [3.5, 1.0, 0.0]


def test_no_nodes_make_no_trees() -> None:
    none = np.empty(0, np.int32)
    ends = both_ends(0, none, none)
    assert [len(column) for column in search(*ends, NONE)] == [0, 0, 0, 0]
    assert len(span_forest(0, none, none, np.empty(0, np.int64))) == 0
