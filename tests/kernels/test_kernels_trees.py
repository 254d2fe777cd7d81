"""Every kernel of trees against a plain Python twin, on random networks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cube2net.arrays import links_from_pairs
from cube2net.kernels import trees
from cube2net.records.ragged import frozen

SEEDS = range(25)
N = 11


def random_links(seed: int, count: int = N, links: int = 18) -> tuple[Any, Any]:
    """Return the rows of a random network, as a cube keeps them: not to be written to."""
    rng = np.random.default_rng(seed)
    made = links_from_pairs(rng.integers(0, count, links), rng.integers(0, count, links), np.ones(links), count)
    return made.indptr, made.indices


def graph_of(indptr: Any, indices: Any) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(indptr) - 1))
    graph.add_edges_from((i, int(j)) for i in range(len(indptr) - 1) for j in indices[indptr[i] : indptr[i + 1]])
    return graph


def some_query(seed: int, count: int = N) -> Any:
    rng = np.random.default_rng(seed + 1000)
    return frozen(np.sort(rng.choice(count, int(rng.integers(1, 6)), replace=False)).astype(np.int32))


def problem(seed: int) -> tuple[Any, Any, Any, Any, nx.Graph]:
    """Return links with costs of their own, prizes for some nodes, and the same as a graph."""
    rng = np.random.default_rng(seed)
    indptr, indices = random_links(seed)
    low, high, _ = trees.links_among(indptr, indices, frozen(np.arange(N, dtype=np.int32)))
    cost = rng.uniform(0.5, 2.0, len(low))
    prize = np.where(rng.random(N) < 0.5, rng.uniform(0.1, 3.0, N), 0.0)
    graph = nx.Graph()
    graph.add_nodes_from(range(N))
    for link, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        graph.add_edge(a, b, link=link, cost=float(cost[link]))
    return low, high, cost, prize, graph


@pytest.mark.parametrize("reach", [0, 1, 2, 20])
def test_expanding_finds_what_the_distances_say(reach: int) -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        query = some_query(seed)
        away = nx.multi_source_dijkstra_path_length(graph_of(indptr, indices), query.tolist())
        found = trees.expand(indptr, indices, query, reach, 100)
        assert found[: len(query)].tolist() == query.tolist()
        assert sorted(found.tolist()) == sorted(node for node, hops in away.items() if hops <= reach)
        assert [away[node] for node in found.tolist()] == sorted(away[node] for node in found.tolist())


@pytest.mark.parametrize("most", [0, 1, 3, 6])
def test_a_ring_that_does_not_fit_gives_those_with_most_links_back(most: int) -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        graph, query = graph_of(indptr, indices), some_query(seed)
        inner, room = set(query.tolist()), most
        ring = {b for a in inner for b in graph[a]} - inner
        while ring and len(ring) <= room:
            inner, room = inner | ring, room - len(ring)
            ring = {b for a in inner for b in graph[a]} - inner
        back = {node: len(set(graph[node]) & inner) for node in ring}
        found = trees.expand(indptr, indices, query, 20, most).tolist()
        assert set(found[: len(inner)]) == inner
        last = found[len(inner) :]
        assert len(set(last)) == len(last) == min(room, len(ring)) and set(last) <= ring
        assert sorted((back[node] for node in last), reverse=True) == sorted(back.values(), reverse=True)[: len(last)]


def test_links_among_nodes_stand_once_each() -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        nodes = frozen(np.random.default_rng(seed).permutation(N)[:7].astype(np.int32))
        low, high, entries = trees.links_among(indptr, indices, nodes)
        pairs = {frozenset((int(nodes[a]), int(nodes[b]))) for a, b in zip(low, high, strict=True)}
        twin = {frozenset(pair) for pair in graph_of(indptr, indices).subgraph(nodes.tolist()).edges}
        assert len(pairs) == len(low) and pairs == twin and bool((low < high).all())
        assert indices[entries].tolist() == nodes[high].tolist()


def test_both_ends_and_search_give_shortest_paths_and_parts() -> None:
    for seed in SEEDS:
        low, high, _, _, graph = problem(seed)
        ends = trees.both_ends(N, low, high)
        assert [sorted(ends[1][ends[0][i] : ends[0][i + 1]].tolist()) for i in range(N)] == [
            sorted(graph[i]) for i in range(N)
        ]
        first = seed % N
        order, parent, above, part = trees.search(*ends, first)
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


def test_a_node_goes_only_when_a_neighbour_that_stays_has_its_links() -> None:
    for seed in SEEDS:
        low, high, _, _, graph = problem(seed)
        indptr, others, _ = trees.both_ends(N, low, high)
        left = trees.needed(indptr, others, 4)
        gone = set(np.flatnonzero(~left).tolist())
        twin = graph.copy()
        for node in range(N):  # the same in sets
            for other in list(graph[node]):
                if node in twin and other in twin and other >= 4 and set(twin[other]) <= set(twin[node]) | {node}:
                    twin.remove_node(other)
        assert gone == set(graph) - set(twin)
        assert not gone & set(range(4))


def test_the_nodes_left_join_the_first_ones_as_briefly_as_all() -> None:
    for seed in range(12):
        indptr, indices = random_links(seed, count=9, links=14)
        query = some_query(seed, count=9)
        sizes = []
        for spare in (False, True):
            nodes, low, high, _ = trees.around(indptr, indices, query, 20, 100, spare)
            graph = nx.Graph()
            graph.add_nodes_from(range(len(nodes)))
            graph.add_edges_from(zip(low.tolist(), high.tolist(), strict=True))
            reached = nx.node_connected_component(graph, 0) & set(range(len(query)))
            rest = [node for node in graph if node >= len(query)]
            sizes.append(
                next(
                    size
                    for size in range(len(rest) + 1)
                    for brought in itertools.combinations(rest, size)
                    if reached <= nx.node_connected_component(graph.subgraph([*range(len(query)), *brought]), 0)
                )
            )
        assert sizes[0] == sizes[1]


def test_spanning_takes_the_lightest_links() -> None:
    for seed in SEEDS:
        low, high, cost, _, graph = problem(seed)
        kept = trees.spanning(N, low, high, np.argsort(cost))
        twin = {data["link"] for *_, data in nx.minimum_spanning_edges(graph, weight="cost")}
        assert set(kept.tolist()) == twin


def forest(seed: int) -> tuple[Any, Any, Any, Any, nx.Graph]:
    """Return the links of a random forest with their costs, worths for its nodes, and the forest as a graph."""
    rng = np.random.default_rng(seed + 500)
    low, high, cost, _, graph = problem(seed)
    kept = trees.spanning(N, low, high, rng.permutation(len(low)))
    left = set(kept.tolist())
    graph.remove_edges_from([(a, b) for a, b, link in graph.edges(data="link") if link not in left])
    return low[kept], high[kept], cost[kept], rng.uniform(-2.0, 2.5, N), graph


def value(tree: nx.Graph, worth: Any) -> float:
    return float(sum(worth[node] for node in tree)) - float(sum(cost for *_, cost in tree.edges(data="cost")))


def test_no_connected_subtree_is_worth_more_than_the_best() -> None:
    for seed in range(8):
        low, high, cost, worth, graph = forest(seed)
        order, parent, up = trees.rooted(N, low, high, cost)
        keep, best = trees.best_subtrees(order, parent, worth, up, np.zeros(N, np.int32), 1)
        top = 0.0
        for bits in range(1, 1 << N):
            piece = graph.subgraph([node for node in range(N) if bits >> node & 1])
            if piece.number_of_edges() == len(piece) - 1:  # in a forest: it is connected
                top = max(top, value(piece, worth))
        assert best[0] == pytest.approx(top)
        assert value(graph.subgraph(np.flatnonzero(keep).tolist()), worth) == pytest.approx(top)


def test_every_group_of_trees_has_its_own_best_subtree() -> None:
    order, parent, up = trees.rooted(6, np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([1.0, 1.0, 1.0]))
    worth = np.array([2.5, 0.0, 3.0, 1.0, 0.5, -1.0])
    keep, best = trees.best_subtrees(order, parent, worth, up, np.array([0, 0, 0, 1, 1, 2], np.int32), 3)
    assert keep.tolist() == [True, True, True, True, False, False]
    assert best.tolist() == [3.5, 1.0, 0.0]


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


@pytest.mark.parametrize("room", [0, 1, 3])
def test_trimming_cuts_what_loses_least_for_each_node_spared(room: int) -> None:
    for seed in SEEDS:
        low, high, cost, worth, graph = forest(seed)
        other = worth < 0.5
        order, parent, up = trees.rooted(N, low, high, cost)
        keep = trees.trim(order, parent, worth, up, other, room)
        assert set(np.flatnonzero(keep).tolist()) == trimmed(graph, worth, other, room)


def test_what_fits_has_no_more_nodes_or_links_than_allowed() -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        low, high, cost, worth, _ = forest(seed)
        nodes, other = np.arange(N, dtype=np.int32), worth < 1.0
        tree = trees.rooted(N, low, high, cost)
        least = len(trees.links_among(indptr, indices, nodes[~other])[0])
        for room, links in itertools.product((0, 2, N), (-1, least, least + 4)):
            keep = trees.fit(indptr, indices, nodes, tree, worth, other, room, links)
            alone = trees.trim(*tree[:2], worth, tree[2], other, 0)
            assert bool(keep[~other].all())
            assert (keep & other).sum() <= max(room, (alone & other).sum())
            assert links < 0 or len(trees.links_among(indptr, indices, nodes[keep])[0]) <= links


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
        ends = trees.both_ends(N, low, high)
        part = trees.search(*ends, 0)[3]
        tight = trees.grow(*ends, low, high, cost, prize, part)
        assert tight.tolist() == moats(graph, prize)


def test_two_moats_meet_half_way_and_a_spent_one_is_reached_by_the_other() -> None:
    low, high, cost = np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.array([2.0, 2.0])
    ends = trees.both_ends(3, low, high)
    part = np.zeros(3, np.int32)
    for ends_with, tight in (((2.0, 2.0), [0, 1]), ((1.0, 9.0), []), ((1.0, 1.0), [])):
        prize = np.array([ends_with[0], 0.0, ends_with[1]])
        assert sorted(trees.grow(*ends, low, high, cost, prize, part).tolist()) == tight


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
        ends = trees.both_ends(N, low, high)
        wanted = np.random.default_rng(seed + 9).integers(0, 3, N).astype(np.int8)
        start = np.array(sorted(min(part) for part in nx.connected_components(graph)))
        links = trees.join_nearest(*ends, cost, start, wanted, limit).tolist()
        assert len(links) == len(set(links)) and set(links) == nearest(graph, start.tolist(), wanted, limit)


def test_no_nodes_make_no_trees() -> None:
    none = np.empty(0, np.int32)
    ends = trees.both_ends(0, none, none)
    assert [len(column) for column in trees.search(*ends, 0)] == [0, 0, 0, 0]
    assert len(trees.spanning(0, none, none, np.empty(0, np.int64))) == 0
