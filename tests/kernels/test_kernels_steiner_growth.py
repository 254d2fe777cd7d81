"""Growing moats and nearest paths against plain Python twins, on random networks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cube2net.kernels.subgraphs import both_ends
from cube2net.kernels.trees import grow, join_nearest, search

from forests import NONE, SEEDS, N, problem


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
