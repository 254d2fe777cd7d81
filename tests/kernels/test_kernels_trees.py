"""Trees in a network against plain Python twins, on random networks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Links, links_from_pairs
from cube2net.kernels.subgraphs import both_ends, find_links_among
from cube2net.kernels.trees import (
    GONE,
    OPEN,
    TAKEN,
    best_subtrees,
    fit,
    grow,
    join_nearest,
    per_other,
    reach,
    regrow,
    root_forest,
    search,
    span_forest,
    trim,
)

from forests import NONE, SEEDS, N, forest, problem, random_links, value


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


def trimmed(graph: nx.Graph, worth: Any, other: Any, room: int) -> set[int]:
    """Return what stays after cutting links one by one, each time with every cut tried."""
    graph = graph.copy()
    while (need := sum(bool(other[node]) for node in graph) - room) > 0:
        cuts = []
        for a, b in graph.edges:
            split = graph.copy()
            split.remove_edge(a, b)
            for end, rest in ((a, b), (b, a)):
                gone = nx.node_connected_component(split, end)
                freed = sum(bool(other[node]) for node in gone)
                lost = value(graph, worth) - value(graph.subgraph(set(graph) - gone), worth)
                if freed:
                    cuts.append((lost / min(freed, need), gone))
                assert rest not in gone
        if not cuts:
            break
        graph.remove_nodes_from(min(cuts, key=lambda cut: cut[0])[1])
    return set(graph)


def best_of(graph: nx.Graph, worth: Any, other: Any, room: int) -> float:
    """Return the most that one connected piece of every tree, or none, can be worth, by trying all."""
    tops = [0.0] * (room + 1)  # for so many other nodes or fewer
    for tree in nx.connected_components(graph):
        nodes = sorted(tree)
        alone = [0.0] * (room + 1)
        for bits in range(1, 1 << len(nodes)):
            piece = [node for at, node in enumerate(nodes) if bits >> at & 1]
            size = sum(bool(other[node]) for node in piece)
            part = graph.subgraph(piece)
            if size <= room and part.number_of_edges() == len(piece) - 1:
                alone[size] = max(alone[size], value(part, worth))
        tops = [max(tops[size - taken] + alone[taken] for taken in range(size + 1)) for size in range(room + 1)]
    return max(tops)


@pytest.mark.parametrize("room", [0, 1, 3])
def test_what_stays_is_within_the_room_and_one_piece_of_every_tree(room: int) -> None:
    for seed in SEEDS:
        low, high, cost, worth, graph = forest(seed)
        other = worth < 0.5
        keep = trim(low, high, cost, worth, other, room)
        assert (keep & other).sum() <= room
        stays = set(np.flatnonzero(keep).tolist())
        for tree in nx.connected_components(graph):
            assert not stays & tree or nx.is_connected(graph.subgraph(stays & tree))


@pytest.mark.parametrize("room", [0, 1, 2, 3, 5])
def test_trimming_is_as_good_as_cutting_one_by_one_and_nearly_the_best(room: int) -> None:
    ours = theirs = top = 0.0
    for seed in range(12):
        low, high, cost, worth, graph = forest(seed)
        other = worth < 0.5
        room_here = min(room, int(other.sum()) - 1)
        keep = trim(low, high, cost, worth, other, room_here)
        found = value(graph.subgraph(np.flatnonzero(keep).tolist()), worth)
        best = best_of(graph, worth, other, room_here)
        assert found <= best + 1e-9
        ours, top = ours + found, top + best
        theirs += value(graph.subgraph(trimmed(graph, worth, other, room_here)), worth)
    assert ours >= theirs and ours >= 0.98 * top


def test_nothing_goes_when_there_is_room_for_all() -> None:
    low, high, cost, worth, _ = forest(3)
    assert bool(trim(low, high, cost, worth, worth < 0.5, N).all())


def test_a_tree_may_be_cut_on_both_sides_of_what_stays() -> None:
    # the path 0 - 1 - … - 8, with others at odd places: the middle is worth most
    low, high = np.arange(8, dtype=np.int32), np.arange(1, 9, dtype=np.int32)
    worth = np.array([2.0, 0.0, 2.0, 0.0, 9.0, 0.0, 8.0, 0.0, 2.0])
    other = np.arange(9) % 2 == 1
    kept = [np.flatnonzero(trim(low, high, np.ones(8), worth, other, room)).tolist() for room in (0, 1)]
    assert kept == [[4], [4, 5, 6]]


def test_many_branches_that_are_worth_the_same_fill_the_room() -> None:
    # 0 is joined to 500 others, each with one of the query behind it
    arms = 500
    low = np.concatenate([np.zeros(arms), np.arange(1, arms + 1)]).astype(np.int32)
    high = np.arange(1, 2 * arms + 1, dtype=np.int32)
    other = (np.arange(2 * arms + 1) > 0) & (np.arange(2 * arms + 1) <= arms)
    keep = trim(low, high, np.ones(2 * arms), np.where(other, 0.0, 3.0), other, 200)
    assert (keep & other).sum() == 200 and keep.sum() == 401


def regrown(parent: Any, worth: Any, other: Any, room: int, state: Any) -> int:
    """Take, again and again, the branch that is worth most for each other node, with every one tried."""
    count, left = len(parent), room
    while True:
        ways = []
        for bits in range(1, 1 << count):
            piece = [node for node in range(count) if bits >> node & 1]
            heads = [node for node in piece if parent[node] not in piece]
            size = sum(bool(other[node]) for node in piece)
            fresh = all(state[node] != TAKEN for node in piece) and len(heads) == 1 and size <= left
            if fresh and parent[heads[0]] >= 0 and state[parent[heads[0]]] == TAKEN:
                ways.append((per_other(sum(worth[node] for node in piece), size), -len(piece), piece))
        if not ways or max(ways)[0] <= 0:
            return room - left
        for node in max(ways)[2]:
            state[node] = TAKEN
            left -= int(other[node])


def test_with_room_enough_growing_takes_the_best_branch_for_each_other_node_next() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        parent = np.array([-1, *(rng.integers(0, node) for node in range(1, 8))], np.int32)
        worth, other = rng.uniform(-1.0, 2.0, 8), rng.random(8) < 0.6
        state = np.full(8, OPEN, np.int8)
        state[0] = TAKEN
        twin = state.copy()
        taken = regrow(np.arange(8, dtype=np.int32), parent, worth, other, 8, state)
        assert taken == regrown(parent, worth, other, 8, twin)
        assert (state == TAKEN).tolist() == (twin == TAKEN).tolist()


def test_a_branch_that_does_not_fit_stays_out_with_all_below_it() -> None:
    parent = np.array([-1, 0, 1, 2, 0], np.int32)
    state = np.array([TAKEN, OPEN, OPEN, OPEN, OPEN], np.int8)
    worth, other = np.array([0.0, -1.0, -1.0, 9.0, 1.0]), np.array([False, True, True, False, True])
    assert regrow(np.array([0, 1, 4, 2, 3], np.int32), parent, worth, other, 1, state) == 1
    assert state[4] == TAKEN and state[3] == GONE and TAKEN not in state[1:3].tolist()


def test_what_fits_has_no_more_nodes_or_links_than_allowed() -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        low, high, cost, worth, _ = forest(seed)
        nodes, other = np.arange(N, dtype=np.int32), worth < 1.0
        least = len(find_links_among(indptr, indices, nodes[~other])[0])
        for room, links in itertools.product((0, 2, N), (-1, least, least + 4)):
            keep = fit(indptr, indices, nodes, low, high, cost, worth, other, room, links)
            assert bool(keep[~other].all())
            assert (keep & other).sum() <= room
            assert links < 0 or len(find_links_among(indptr, indices, nodes[keep])[0]) <= links


def moats(graph: nx.Graph, prize: Any) -> list[int]:
    """Return the links that get tight, in order, by looking at every link and cluster at every event."""
    cluster = {node: frozenset([node]) for node in graph}
    left = {cluster[node]: float(prize[node]) for node in graph}
    load = dict.fromkeys(graph, 0.0)
    tight: list[int] = []
    done: set[frozenset[int]] = set()
    while True:
        for part in nx.connected_components(graph):
            if sum(left[c] > 1e-12 for c in {cluster[node] for node in part}) < 2:
                done |= {cluster[node] for node in part}
        growing = {c for c in left if left[c] > 1e-12 and c not in done}
        events: list[tuple[float, str, Any]] = [(left[c], "spent", c) for c in growing]
        for a, b, data in graph.edges(data=True):
            speed = (cluster[a] in growing) + (cluster[b] in growing)
            if cluster[a] != cluster[b] and speed:
                events.append(((data["cost"] - load[a] - load[b]) / speed, "tight", (a, b, data["link"])))
        if not events:
            return tight
        wait, kind, what = min(events, key=lambda event: event[0])
        for c in growing:
            left[c] -= wait
            for node in c:
                load[node] += wait
        if kind == "spent":
            left[what] = 0.0
            continue
        a, b, link = what
        tight.append(link)
        whole = cluster[a] | cluster[b]
        left[whole] = max(0.0, left.pop(cluster[a])) + max(0.0, left.pop(cluster[b]))
        for node in whole:
            cluster[node] = whole


def test_the_moats_get_tight_in_the_order_of_a_step_by_step_simulation() -> None:
    for seed in range(40):
        low, high, cost, prize, graph = problem(seed)
        ends = both_ends(N, low, high)
        part = search(*ends, NONE)[3]
        tight = grow(*ends, low, high, cost, prize, part)
        assert tight.tolist() == moats(graph, prize)


def test_two_moats_meet_half_way_and_a_spent_one_is_reached_by_the_other() -> None:
    low, high, cost = np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.array([2.0, 2.0])
    ends = both_ends(3, low, high)
    part = np.zeros(3, np.int32)
    for ends_with, tight in (((2.0, 2.0), [0, 1]), ((1.0, 9.0), []), ((1.0, 1.0), [])):
        prize = np.array([ends_with[0], 0.0, ends_with[1]])
        assert sorted(grow(*ends, low, high, cost, prize, part).tolist()) == tight


def nearest(graph: nx.Graph, start: list[int], wanted: Any, limit: float) -> set[int]:
    """Return the links of trees that take in the nearest wanted node, with all distances anew each time."""
    inside, links = set(start), set()
    while True:
        far, paths = nx.multi_source_dijkstra(graph, inside, weight="cost")
        near = [
            (way, node)
            for node, way in far.items()
            if node not in inside and (wanted[node] == 2 or (wanted[node] == 1 and way < limit))
        ]
        if not near:
            return links
        path = paths[min(near)[1]]
        links |= {graph[a][b]["link"] for a, b in itertools.pairwise(path)}
        inside |= set(path)


@pytest.mark.parametrize("limit", [0.8, 1.5, math.inf])
def test_the_nearest_wanted_node_is_joined_next(limit: float) -> None:
    for seed in SEEDS:
        low, high, cost, _, graph = problem(seed)
        ends = both_ends(N, low, high)
        wanted = np.random.default_rng(seed + 9).integers(0, 3, N).astype(np.int8)
        start = np.array(sorted(min(part) for part in nx.connected_components(graph)))
        links = join_nearest(*ends, cost, start, wanted, limit).tolist()
        assert len(links) == len(set(links)) and set(links) == nearest(graph, start.tolist(), wanted, limit)


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
