from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Links, links_from_pairs
from cube2net.model.query import Query
from cube2net.model.selection import Budget
from cube2net.network.assembly import cut_to_limits, induce_links


def network_of(seed: int, count: int = 25, size: int = 60) -> tuple[Links, nx.Graph]:
    rng = np.random.default_rng(seed)
    links = links_from_pairs(*rng.integers(0, count, (2, size)), rng.random(size), count)
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    for u in range(count):
        row = slice(links.indptr[u], links.indptr[u + 1])
        ends = zip(links.indices[row].tolist(), links.weights[row].tolist(), strict=True)
        graph.add_weighted_edges_from((u, v, weight) for v, weight in ends)
    return links, graph


@given(st.integers(0, 10_000), st.integers(0, 25))
def test_induced_links_are_those_of_the_networkx_subgraph(seed: int, size: int) -> None:
    links, graph = network_of(seed)
    nodes = np.random.default_rng(seed).permutation(25)[:size]
    source, target, weight = induce_links(links, nodes)
    found = {frozenset((u, v)): w for u, v, w in zip(nodes[source], nodes[target], weight, strict=True)}
    below = graph.subgraph(nodes.tolist())
    assert found == {frozenset((u, v)): np.float32(w) for u, v, w in below.edges(data="weight")}
    assert len(found) == len(source) and bool((source < target).all())


def test_no_nodes_have_no_links() -> None:
    links, _ = network_of(0)
    assert [len(ends) for ends in induce_links(links, np.array([], dtype=np.int32))] == [0, 0, 0]


@given(st.integers(0, 10_000), st.integers(0, 25), st.integers(0, 40))
def test_what_fits_a_budget_is_the_longest_start_that_does(seed: int, nodes: int, most: int) -> None:
    links, graph = network_of(seed)
    order = np.random.default_rng(seed).permutation(25)
    query, ranked = Query(np.sort(order[:4])), order[4:]
    fits = [
        end
        for end in range(1, len(ranked) + 1)
        if 4 + end <= nodes and graph.subgraph(order[: 4 + end].tolist()).number_of_edges() <= most
    ]
    kept = cut_to_limits(links, query, ranked, Budget(max_nodes=nodes, max_links=most))
    assert kept.tolist() == ranked[: max(fits, default=0)].tolist()


def test_without_limits_everything_fits() -> None:
    links, _ = network_of(1)
    assert cut_to_limits(links, Query(np.array([0])), np.array([5, 3]), Budget()).tolist() == [5, 3]
