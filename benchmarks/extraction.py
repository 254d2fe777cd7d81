"""Extraction beside its peers: one hop with its links, and personalised PageRank, as ratios in one run.

    python benchmarks/extraction.py CUBE QUERY.csv [--repeats 9] [--top 500]

CUBE is a folder made by ``cube2net build`` and QUERY.csv has a column ``object``. Everybody gets the same links
and weights, already in the form that suits them; building that form is not timed. The contestants take turns,
and the median counts. Ours is timed with the choice of the top objects, the others without.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import cube2net as c2n
from cube2net.network import Hops, PageRank, assemble
from cube2net.network.pagerank import best
from cube2net.records import Budget, Cube, Query, Weights

DAMPING = 0.85
Run = Callable[[], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("query", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--top", type=int, default=500)
    asked = parser.parse_args()
    cube = c2n.open_cube(asked.cube)
    query = c2n.read_query(cube, asked.query, skip_missing=True)
    print(f"{cube}\n{query}\n")
    one_hop(cube, query, asked.repeats)
    print()
    pagerank(cube, query, asked.repeats, asked.top)


def one_hop(cube: Cube, query: Query, repeats: int) -> None:
    """Print the time of every way to the network of all objects one step from the query."""
    no_weights = Weights(np.zeros(len(cube.objects)), np.ones(len(cube.objects)))
    ends, rows, lower = pairs(cube)
    seeds = query.objects.tolist()

    def ours() -> tuple[int, int]:
        network = assemble(cube, query, Hops().select(cube, query, weights=no_weights, budget=Budget()))
        return len(network), len(network.source)

    def with_igraph() -> Run:
        graph = igraph_of(cube)

        def run() -> tuple[int, int]:
            near = set().union(*graph.neighborhood(seeds, order=1))
            cut = graph.induced_subgraph(sorted(near))
            return cut.vcount(), cut.ecount()

        return run

    def with_networkx() -> Run:
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(range(len(cube.objects)))
        weights = np.asarray(cube.links.weights)[lower].tolist()
        graph.add_weighted_edges_from(zip(rows[lower].tolist(), ends[lower].tolist(), weights, strict=True))

        def run() -> tuple[int, int]:
            near = set(seeds).union(*(graph[seed] for seed in seeds))
            cut = graph.subgraph(near).copy()
            return cut.number_of_nodes(), cut.number_of_edges()

        return run

    def with_pyg() -> Run:
        import torch
        from torch_geometric.utils import k_hop_subgraph

        edges = torch.from_numpy(np.stack([rows, ends]).astype(np.int64))
        start = torch.tensor(seeds)

        def run() -> tuple[int, int]:
            near, cut, _, _ = k_hop_subgraph(start, 1, edges, relabel_nodes=True, num_nodes=len(cube.objects))
            return len(near), cut.shape[1] // 2

        return run

    runs = {"cube2net": ours}
    runs |= made({"igraph": with_igraph, "NetworkX": with_networkx, "PyG k_hop_subgraph": with_pyg})
    times, answers = race(runs, repeats)
    table("one hop with its links", times, {name: f"{n:,} nodes, {m:,} links" for name, (n, m) in answers.items()})


def pagerank(cube: Cube, query: Query, repeats: int, top: int) -> None:
    """Print the time of every personalised PageRank, and how many of the exact top objects it finds."""
    no_weights = Weights(np.zeros(len(cube.objects)), np.ones(len(cube.objects)))
    links, seeds = cube.links, query.objects
    start = np.zeros(len(links))
    start[seeds] = 1.0 / len(seeds)
    parts = (np.asarray(links.weights, dtype=np.float64), np.asarray(links.indices), np.asarray(links.indptr, np.int32))
    matrix = sp.csr_matrix(parts, shape=(len(links), len(links)))

    def ours() -> Any:
        return PageRank(top=top).select(cube, query, weights=no_weights, budget=Budget()).objects

    def with_igraph() -> Run:
        graph = igraph_of(cube)
        rows = seeds.tolist()
        return lambda: graph.personalized_pagerank(reset_vertices=rows, weights="weight", damping=DAMPING)

    def with_sknetwork(solver: str) -> Callable[[], Run]:
        def prepare() -> Run:
            from sknetwork.ranking import PageRank as Peer

            return lambda: Peer(damping_factor=DAMPING, solver=solver).fit_predict(matrix, weights=start)

        return prepare

    peers = {"igraph": with_igraph}
    peers |= {f"scikit-network {solver}": with_sknetwork(solver) for solver in ("piteration", "diteration")}
    times, answers = race({"cube2net": ours} | made(peers), repeats)
    exact = outside(solve(matrix, start), seeds, top)
    shares = {}
    for name, answer in answers.items():
        chosen = answer if name == "cube2net" else outside(np.array(answer, dtype=np.float64), seeds, top)
        shares[name] = f"{len(np.intersect1d(chosen, exact)) / len(exact):.1%} of the exact top {len(exact)}"
    table(f"personalised PageRank, top {top}", times, shares)


def solve(matrix: Any, start: Any) -> Any:
    """Return the exact scores by plain iteration to machine precision."""
    strength = np.asarray(matrix.sum(axis=1)).ravel()
    step = matrix @ sp.diags(np.divide(DAMPING, strength, out=np.zeros_like(strength), where=strength > 0))
    scores = start
    for _ in range(1000):
        new = step @ scores
        new += (1.0 - new.sum()) * start
        if np.abs(new - scores).sum() < 1e-14:
            break
        scores = new
    return scores


def outside(scores: Any, seeds: Any, top: int) -> Any:
    """Return the best objects that are not in the query."""
    scores = scores.copy()
    scores[seeds] = 0.0
    return best(scores, top)


def pairs(cube: Cube) -> tuple[Any, Any, Any]:
    """Return both ends of every link, and which entries to take for each link to come once."""
    ends = np.asarray(cube.links.indices)
    rows = np.repeat(np.arange(len(cube.links)), cube.links.degrees)
    return ends, rows, rows < ends


def igraph_of(cube: Cube) -> Any:
    """Return the cube's links as an igraph graph."""
    import igraph

    ends, rows, lower = pairs(cube)
    graph = igraph.Graph(n=len(cube.objects), edges=np.stack([rows[lower], ends[lower]], axis=1))
    graph.es["weight"] = np.asarray(cube.links.weights, dtype=np.float64)[lower]
    return graph


def made(peers: dict[str, Callable[[], Run]]) -> dict[str, Run]:
    """Return the peers made ready; a missing one is said and left out."""
    ready = {}
    for name, prepare in peers.items():
        try:
            ready[name] = prepare()
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return ready


def race(runs: dict[str, Run], repeats: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Return the times of everybody, taking turns, after one turn to warm up, and everybody's answer."""
    answers = {name: run() for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return times, answers


def table(title: str, times: dict[str, list[float]], notes: dict[str, str]) -> None:
    """Print median, fastest and ratio to ours."""
    own = statistics.median(times["cube2net"])
    print(f"{title:34}{'median':>11}{'fastest':>11}{'ratio':>8}")
    for name, taken in times.items():
        middle = statistics.median(taken)
        line = f"  {name:32}{middle * 1e3:8.1f} ms{min(taken) * 1e3:8.1f} ms{middle / own:7.1f}×"
        print(f"{line}  {notes[name]}")


if __name__ == "__main__":
    main()
