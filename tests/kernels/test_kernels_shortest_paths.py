"""Shortest paths are those of NetworkX, and of several the heaviest are told."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Links, links_from_pairs
from cube2net.kernels.trees import reach


def reached(
    links: Links, start: int, goals: list[int], steps: int = 4, ends: int = 10**9
) -> tuple[int, list[int], list[float], list[int]]:
    """Return the steps, the goals met, and for each how heavy its heaviest path is and how many paths there are."""
    count = len(links)
    mark = np.zeros(count, np.uint8)
    mark[goals] = 1
    mark[start] = 0
    seen, heaviest, ways = np.zeros(count, np.uint8), np.empty(count), np.empty(count)
    before = np.empty(count, np.int32)
    rows = (links.indptr, links.indices, links.weights)
    far, met = reach(start, mark, *rows, steps, ends, seen, heaviest, ways, before)
    for goal in met.tolist():
        line, weight = [goal], 0.0
        while before[line[-1]] >= 0:
            at = before[line[-1]]
            place = links.indptr[at] + np.searchsorted(links.neighbours(at), line[-1])
            weight += float(links.weights[place])
            line.append(int(at))
        assert line[-1] == start and len(line) == far + 1
        assert weight == pytest.approx(float(heaviest[goal]))
    return far, met.tolist(), heaviest[met].tolist(), ways[met].astype(int).tolist()


def test_the_heavier_of_two_paths_is_told_and_both_are_counted() -> None:
    links = links_from_pairs(np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3]), np.array([1.0, 2.0, 5.0, 1.0]), 4)
    assert reached(links, 0, [3]) == (2, [3], [6.0], [2])


def test_the_start_is_no_goal_and_what_is_too_far_or_too_dear_is_not_found() -> None:
    path = links_from_pairs(np.arange(5), np.arange(1, 6), np.ones(5), 6)
    assert reached(path, 0, [0, 4]) == (4, [4], [4.0], [1])
    assert reached(path, 0, [5]) == (0, [], [], [])
    assert reached(path, 0, [5], steps=5) == (5, [5], [5.0], [1])
    assert reached(path, 0, [4], ends=2) == (-1, [], [], [])
    assert reached(links_from_pairs(np.array([0]), np.array([1]), np.ones(1), 3), 2, [0]) == (0, [], [], [])


pairs = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(1, 5)), max_size=40)


@given(pairs, st.integers(0, 11), st.sets(st.integers(0, 11), min_size=1, max_size=3))
def test_paths_are_those_of_networkx(ends: list[tuple[int, int, int]], start: int, goals: set[int]) -> None:
    source, target, weight = (np.array([end[part] for end in ends], dtype=np.int64) for part in range(3))
    links = links_from_pairs(source, target, weight.astype(float), 12)
    graph = nx.Graph()
    graph.add_nodes_from(range(12))
    for row in range(12):
        begin, end = links.indptr[row], links.indptr[row + 1]
        pairs = zip(links.indices[begin:end].tolist(), links.weights[begin:end].tolist(), strict=True)
        graph.add_weighted_edges_from((row, other, heavy) for other, heavy in pairs)
    lengths = nx.single_source_shortest_path_length(graph, start)
    others = {goal: lengths[goal] for goal in goals - {start} if lengths.get(goal, 9) <= 4}
    far, met, heaviest, ways = reached(links, start, sorted(goals))
    if not others:
        assert (far, met) == (0, [])
        return
    assert far == min(others.values()) and met == sorted(goal for goal, length in others.items() if length == far)
    for goal, heavy, count in zip(met, heaviest, ways, strict=True):
        paths = list(nx.all_shortest_paths(graph, start, goal))
        assert count == len(paths)
        assert heavy == pytest.approx(max(nx.path_weight(graph, path, "weight") for path in paths))
