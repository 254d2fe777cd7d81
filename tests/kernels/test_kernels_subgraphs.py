"""What finds the part of a network around a query against plain Python twins, on random networks."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Links, freeze, links_from_pairs
from cube2net.kernels.small_work import HUB
from cube2net.kernels.subgraphs import (
    FEW,
    both_ends,
    expand,
    find_links_among,
    find_neighbourhood,
    hash_object,
    hop,
    induce,
    insert_objects,
    look_up,
    make_keys,
    mark_needed,
)

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
        low, high, entries = find_links_among(indptr, indices, nodes)
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
            nodes, low, high, _ = find_neighbourhood(indptr, indices, query, ALL, 20, 100, spare)
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


def run(links: Links, front: list[int], fan_out: int, known: list[int]) -> dict[int, int]:
    rows, out = np.array(front, np.int32), np.array(known, np.int32)
    most = sum(len(links.neighbours(one)) for one in front)
    counts = []
    for keys in (np.empty(0, np.int32), make_keys(most + len(known), 10**9)):
        size = len(keys) or len(links)
        marks, hits = np.zeros(size, np.uint8), np.zeros(size, np.int32)
        insert_objects(keys, marks, out, 1, 0)
        found = hop(links.indptr, links.indices, links.weights, rows, fan_out, most, keys, marks, hits)
        assert len(set(found.tolist())) == len(found) == int((hits > 0).sum())
        everyone = np.arange(len(links), dtype=np.int32)
        state = look_up(keys, marks, everyone)
        assert np.flatnonzero(state == 1).tolist() == sorted(set(known))
        assert np.flatnonzero(state == 2).tolist() == sorted(found.tolist())
        marks[marks == 2] = 0
        none = np.zeros(0, np.int32)
        again = hop(links.indptr, links.indices, links.weights, rows, fan_out, most, keys, marks, none)
        assert again.tolist() == found.tolist()
        counts.append(dict(zip(found.tolist(), look_up(keys, hits, found).tolist(), strict=True)))
    assert list(counts[0].items()) == list(counts[1].items())
    return counts[0]


def twin(links: Links, front: list[int], fan_out: int, known: list[int]) -> dict[int, int]:
    hits: dict[int, int] = {}
    for one in front:
        start = int(links.indptr[one])
        new = [(-float(links.weights[start + k]), v) for k, v in enumerate(links.neighbours(one).tolist())]
        new = sorted((weight, v) for weight, v in new if v not in known)
        for _, v in new[:fan_out] if fan_out else new:
            hits[v] = hits.get(v, 0) + 1
    return hits


@given(st.integers(0, 10_000), st.integers(0, 4), st.integers(0, 80))
def test_a_hop_finds_what_the_plain_loop_finds(seed: int, fan_out: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, count).astype(float)
    links = links_from_pairs(*rng.integers(0, 15, (2, count)), weight, 15)
    front = rng.permutation(15)[: rng.integers(0, 6)].tolist()
    known = front + rng.integers(0, 15, 2).tolist()
    assert run(links, front, fan_out, known) == twin(links, front, fan_out, known)


def test_the_cap_takes_the_heaviest_links_and_of_equal_ones_the_lower_number() -> None:
    links = links_from_pairs(np.zeros(5, int), np.arange(1, 6), np.array([1.0, 2.0, 9.0, 2.0, 2.0]), 6)
    assert run(links, [0], 2, [0]) == {2: 1, 3: 1}
    assert run(links, [0], 2, [0, 3]) == {2: 1, 4: 1}
    assert run(links, [0], 4, [0]) == {2: 1, 3: 1, 4: 1, 5: 1}
    assert run(links, [0], 0, [0]) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1}


def run_induce(links: Links, nodes: list[int]) -> list[tuple[int, int, float]]:
    rows = np.array(nodes, np.int32)
    room = sum(len(links.neighbours(node)) for node in nodes)
    keys = make_keys(len(nodes), len(links))
    place, mark = np.zeros(len(keys) or len(links), np.int32), np.zeros(2 * len(keys), np.uint8)
    insert_objects(keys, place, rows, 1, 1)
    source, target, weight = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
    count = induce(links.indptr, links.indices, links.weights, rows, keys, place, mark, source, target, weight)
    return list(zip(source[:count].tolist(), target[:count].tolist(), weight[:count].tolist(), strict=True))


def twin_induce(links: Links, nodes: list[int]) -> list[tuple[int, int, float]]:
    found = []
    for i, one in enumerate(nodes):
        start = int(links.indptr[one])
        for k, other in enumerate(links.neighbours(one).tolist()):
            if other in nodes and nodes.index(other) > i:
                found.append((i, nodes.index(other), float(links.weights[start + k])))
    return found


@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(0, 60))
def test_links_among_nodes_are_those_of_the_plain_loop(seed: int, wanted: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    links = links_from_pairs(*rng.integers(0, 20, (2, count)), rng.random(count), 20)
    nodes = rng.permutation(20)[:wanted].tolist()
    assert run_induce(links, nodes) == twin_induce(links, nodes)


@given(st.integers(0, 10_000), st.integers(0, 20))
def test_links_among_few_of_many_objects_are_those_of_the_plain_loop(seed: int, wanted: int) -> None:
    rng = np.random.default_rng(seed)
    many = 21 * FEW
    links = links_from_pairs(*rng.integers(0, 30, (2, 200)), rng.random(200), many)
    nodes = rng.permutation(30)[:wanted].tolist()
    assert wanted * FEW < many
    assert run_induce(links, nodes) == twin_induce(links, nodes)


def test_a_hub_that_is_searched_gives_the_links_of_one_that_is_read() -> None:
    size = HUB * 4
    hub = links_from_pairs(np.zeros(size, int), np.arange(1, size + 1), np.arange(1.0, size + 1), size + 2)
    assert run_induce(hub, [0, 7, size + 1]) == [(0, 1, 7.0)] == twin_induce(hub, [0, 7, size + 1])
    assert run_induce(hub, [size, 0, 1]) == [(0, 1, float(size)), (1, 2, 1.0)] == twin_induce(hub, [size, 0, 1])
    assert run_induce(hub, [size + 1, 0]) == []


OBJECTS = st.lists(st.integers(0, 2**31 - 1), max_size=40, unique=True)


@given(OBJECTS, OBJECTS)
def test_a_table_of_few_gives_what_a_dictionary_gives(kept: list[int], asked: list[int]) -> None:
    keys = make_keys(len(kept), 2**31)
    values = np.zeros(len(keys), np.int32)
    insert_objects(keys, values, np.array(kept, np.int32), 1, 1)
    plain = {v: i for i, v in enumerate(kept, start=1)}
    assert look_up(keys, values, np.array([*kept, *asked], np.int32)).tolist() == [
        plain.get(v, 0) for v in [*kept, *asked]
    ]
    assert sorted(keys[keys >= 0].tolist()) == sorted(kept)


@pytest.mark.parametrize("step", [0, 3])
def test_a_table_of_many_has_a_place_for_every_object(step: int) -> None:
    keys = make_keys(2, 2 * FEW)
    values = np.zeros(9, np.int32)
    insert_objects(keys, values, np.array([5, 2], np.int32), 4, step)
    assert len(keys) == 0
    assert values.tolist() == [0, 0, 4 + step, 0, 0, 4, 0, 0, 0]
    assert look_up(keys, values, np.array([2, 3], np.int32)).tolist() == [4 + step, 0]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 1000])
def test_half_of_a_table_or_more_stays_free(count: int) -> None:
    size = len(make_keys(count, 10**9))
    assert size >= 2 * count and size > count and size & (size - 1) == 0


def test_objects_side_by_side_are_spread_over_the_table() -> None:
    places = {int(hash_object(v, 1 << 12)) for v in range(1 << 11)}
    assert len(places) > 0.9 * (1 << 11)
