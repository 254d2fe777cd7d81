"""Small random networks, forests and queries for the tests of what is done with"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from cube2net._util.arrays import freeze, links_from_pairs
from cube2net.kernels.subgraphs import find_links_among
from cube2net.kernels.trees import span_forest

SEEDS = range(25)
N = 11
NONE = np.empty(0, np.int32)


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
    return freeze(np.sort(rng.choice(count, int(rng.integers(1, 6)), replace=False)).astype(np.int32))


def problem(seed: int) -> tuple[Any, Any, Any, Any, nx.Graph]:
    """Return links with costs of their own, prizes for some nodes, and the same as a graph."""
    rng = np.random.default_rng(seed)
    indptr, indices = random_links(seed)
    low, high, _ = find_links_among(indptr, indices, freeze(np.arange(N, dtype=np.int32)))
    cost = rng.uniform(0.5, 2.0, len(low))
    prize = np.where(rng.random(N) < 0.5, rng.uniform(0.1, 3.0, N), 0.0)
    graph = nx.Graph()
    graph.add_nodes_from(range(N))
    for link, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        graph.add_edge(a, b, link=link, cost=float(cost[link]))
    return low, high, cost, prize, graph


def forest(seed: int) -> tuple[Any, Any, Any, Any, nx.Graph]:
    """Return the links of a random forest with their costs, worths for its nodes, and the forest as a graph."""
    rng = np.random.default_rng(seed + 500)
    low, high, cost, _, graph = problem(seed)
    kept = span_forest(N, low, high, rng.permutation(len(low)))
    left = set(kept.tolist())
    graph.remove_edges_from([(a, b) for a, b, link in graph.edges(data="link") if link not in left])
    return low[kept], high[kept], cost[kept], rng.uniform(-2.0, 2.5, N), graph


def value(tree: nx.Graph, worth: Any) -> float:
    return float(sum(worth[node] for node in tree)) - float(sum(cost for *_, cost in tree.edges(data="cost")))
