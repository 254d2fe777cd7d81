"""Trees cut down to a number of nodes: against cuts one by one, and against the best there is."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cube2net.kernels.subgraphs import links_among
from cube2net.kernels.trees import GONE, OPEN, TAKEN, fit, per_other, regrow, trim

from forests import SEEDS, N, forest, random_links, value


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
        least = len(links_among(indptr, indices, nodes[~other])[0])
        for room, links in itertools.product((0, 2, N), (-1, least, least + 4)):
            keep = fit(indptr, indices, nodes, low, high, cost, worth, other, room, links)
            assert bool(keep[~other].all())
            assert (keep & other).sum() <= room
            assert links < 0 or len(links_among(indptr, indices, nodes[keep])[0]) <= links
