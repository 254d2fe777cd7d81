"""What finds the part of a network around a query against plain Python twins, on random networks."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from cube2net._util.arrays import freeze
from cube2net.kernels.subgraphs import both_ends, expand, links_among, mark_needed, neighbourhood

from forests import SEEDS, N, graph_of, problem, random_links, some_query

ALL = np.zeros(0, dtype=bool)
"""Marks of no object: all may be found."""


@pytest.mark.parametrize("reach", [0, 1, 2, 20])
def test_expanding_finds_what_the_distances_say(reach: int) -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        query = some_query(seed)
        away = nx.multi_source_dijkstra_path_length(graph_of(indptr, indices), query.tolist())
        found = expand(indptr, indices, query, ALL, reach, 100)
        assert found[: len(query)].tolist() == query.tolist()
        assert sorted(found.tolist()) == sorted(node for node, hops in away.items() if hops <= reach)
        assert [away[node] for node in found.tolist()] == sorted(away[node] for node in found.tolist())


@pytest.mark.parametrize("reach", [1, 3, 20])
def test_expanding_leads_around_what_is_barred_and_through_the_query(reach: int) -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        query = some_query(seed)
        forbidden = np.random.default_rng(seed).random(len(indptr) - 1) < 0.4
        graph = graph_of(indptr, indices)
        graph.remove_nodes_from(set(np.flatnonzero(forbidden).tolist()) - set(query.tolist()))
        away = nx.multi_source_dijkstra_path_length(graph, query.tolist())
        found = expand(indptr, indices, query, forbidden, reach, 100)
        assert sorted(found.tolist()) == sorted(node for node, hops in away.items() if hops <= reach)


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
        found = expand(indptr, indices, query, ALL, 20, most).tolist()
        assert set(found[: len(inner)]) == inner
        last = found[len(inner) :]
        assert len(set(last)) == len(last) == min(room, len(ring)) and set(last) <= ring
        assert sorted((back[node] for node in last), reverse=True) == sorted(back.values(), reverse=True)[: len(last)]


def test_links_among_nodes_stand_once_each() -> None:
    for seed in SEEDS:
        indptr, indices = random_links(seed)
        nodes = freeze(np.random.default_rng(seed).permutation(N)[:7].astype(np.int32))
        low, high, entries = links_among(indptr, indices, nodes)
        pairs = {frozenset((int(nodes[a]), int(nodes[b]))) for a, b in zip(low, high, strict=True)}
        twin = {frozenset(pair) for pair in graph_of(indptr, indices).subgraph(nodes.tolist()).edges}
        assert len(pairs) == len(low) and pairs == twin and bool((low < high).all())
        assert indices[entries].tolist() == nodes[high].tolist()


def test_a_node_goes_only_when_a_neighbour_that_stays_has_its_links() -> None:
    for seed in SEEDS:
        low, high, _, _, graph = problem(seed)
        indptr, others, _ = both_ends(N, low, high)
        left = mark_needed(indptr, others, 4)
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
            nodes, low, high, _ = neighbourhood(indptr, indices, query, ALL, 20, 100, spare)
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
