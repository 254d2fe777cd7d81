"""What somebody would pick today for the same answers: each in the form that suits it, on the same links.

Every contestant is a class that takes the folder of a cube and a folder to work in, makes its own form of the links
once, and then has some of three verbs: ``hops(rows, k)`` gives the network of all objects within k steps with all links
among them in the contestant's own form, ``plain`` turns that into arrays (not timed), and ``pagerank(rows, top)``
gives the best objects outside the query, or every object's score. An object's number is always its row in the cube.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.model.cube import Cube

DAMPING = 0.85
Plain = tuple[Array, Array, Array]


def ends_of(cube: Cube) -> tuple[Array, Array]:
    """Return both ends of every entry of the links: each link stands there twice."""
    rows = np.repeat(np.arange(len(cube.links), dtype=np.int32), cube.links.degrees)
    return rows, np.asarray(cube.links.indices)


def links_once(cube: Cube) -> tuple[Array, Array, Array]:
    """Return every link once, from the lower row to the higher, with its weight."""
    rows, ends = ends_of(cube)
    lower = rows < ends
    return rows[lower], ends[lower], np.asarray(cube.links.weights)[lower]


class Ours:
    """cube2net: the cube's own files, mapped; nothing is made."""

    needs: tuple[str, ...] = ()
    note = '`construct(cube, query, "hops")`, one thread; `"pagerank"`, all cores'
    tolerance: float | None = None

    def __init__(self, cube: Path, work: Path) -> None:
        self.cube = c2n.open(cube)

    def hops(self, rows: Array, k: int) -> Any:
        """Return all objects within k steps and the links among them."""
        return c2n.construct(self.cube, self.cube.query(rows.tolist()), c2n.methods.METHODS["hops"](hops=k))

    def plain(self, network: Any) -> Plain:
        """Return the nodes, and both ends of every link once."""
        return network.objects, network.objects[network.source], network.objects[network.target]

    def pagerank(self, rows: Array, top: int) -> Any:
        """Return the best objects, or the score of every object."""
        given = {} if self.tolerance is None else {"tolerance": self.tolerance}
        method = c2n.methods.METHODS["pagerank"](top=top, **given)
        return c2n.construct(self.cube, self.cube.query(rows.tolist()), method).selection.objects


class OursTight(Ours):
    """cube2net asked for scores as exact as the others'."""

    note = "the same with `tolerance=1e-6`"
    tolerance = 1e-6


class IGraph:
    """igraph: ``neighborhood`` one step at a time, then ``induced_subgraph``."""

    needs: tuple[str, ...] = ("igraph",)
    note = "`neighborhood`, one step at a time, and `induced_subgraph`; `personalized_pagerank`"

    def __init__(self, cube: Path, work: Path) -> None:
        import igraph

        links = c2n.open(cube)
        low, high, weight = links_once(links)
        self.graph = igraph.Graph(n=len(links.objects), edges=np.stack([low, high], axis=1))
        self.graph.es["weight"] = weight.astype(np.float64)

    def hops(self, rows: Array, k: int) -> Any:
        """Return all objects within k steps and the links among them."""
        near, front = set(rows.tolist()), rows.tolist()
        for _ in range(k):
            reached = set().union(*self.graph.neighborhood(front, order=1))
            front = list(reached - near)
            near |= reached
        chosen = sorted(near)
        return chosen, self.graph.induced_subgraph(chosen)

    def plain(self, found: Any) -> Plain:
        """Return the nodes, and both ends of every link once."""
        nodes, graph = found
        ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        numbers = np.array(nodes)
        return numbers, numbers[ends[:, 0]], numbers[ends[:, 1]]

    def pagerank(self, rows: Array, top: int) -> Any:
        """Return the best objects, or the score of every object."""
        return self.graph.personalized_pagerank(reset_vertices=rows.tolist(), weights="weight", damping=DAMPING)


class NetworkX:
    """NetworkX: the union of the neighbours, one step at a time, then ``subgraph`` copied."""

    needs: tuple[str, ...] = ("networkx",)
    note = "neighbours by `graph[object]`, one step at a time, and `subgraph(…).copy()`"
    # A copy of more links takes minutes, and some 450 bytes for each of them.
    most_links = 5_000_000

    def __init__(self, cube: Path, work: Path) -> None:
        import networkx as nx

        links = c2n.open(cube)
        low, high, weight = links_once(links)
        gc.disable()
        self.graph = nx.Graph()
        self.graph.add_nodes_from(range(len(links.objects)))
        for begin in range(0, len(low), 1_000_000):
            part = slice(begin, begin + 1_000_000)
            ends = low[part].tolist(), high[part].tolist(), weight[part].tolist()
            self.graph.add_weighted_edges_from(zip(*ends, strict=True))
        gc.freeze()
        gc.enable()

    def hops(self, rows: Array, k: int) -> Any:
        """Return all objects within k steps and the links among them."""
        near, front = set(rows.tolist()), set(rows.tolist())
        for _ in range(k):
            front = set().union(*(self.graph[node] for node in front)) - near
            near |= front
        return self.graph.subgraph(near).copy()

    def plain(self, graph: Any) -> Plain:
        """Return the nodes, and both ends of every link once."""
        ends = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
        return np.array(graph.nodes), ends[:, 0], ends[:, 1]


class PyG:
    """PyTorch Geometric: ``k_hop_subgraph`` over all ends of links."""

    needs: tuple[str, ...] = ("torch_geometric.utils",)
    note = "`k_hop_subgraph`, torch on all cores"

    def __init__(self, cube: Path, work: Path) -> None:
        import torch

        links = c2n.open(cube)
        self.count = len(links.objects)
        self.edges = torch.from_numpy(np.stack(ends_of(links)).astype(np.int64))

    def hops(self, rows: Array, k: int) -> Any:
        """Return all objects within k steps and the links among them."""
        import torch
        from torch_geometric.utils import k_hop_subgraph

        start = torch.from_numpy(rows.astype(np.int64))
        nodes, ends, _, _ = k_hop_subgraph(start, k, self.edges, relabel_nodes=True, num_nodes=self.count)
        return nodes, ends

    def plain(self, found: Any) -> Plain:
        """Return the nodes, and both ends of every link once."""
        nodes, ends = (part.numpy() for part in found)
        once = ends[0] < ends[1]
        return nodes, nodes[ends[0][once]], nodes[ends[1][once]]


class SQL:
    """DuckDB: a recursive query over a table of links in a file of its own, then a join for the links."""

    needs: tuple[str, ...] = ("duckdb", "pyarrow")
    note = "`WITH RECURSIVE` over a sorted table of links in a DuckDB file; all cores"
    REACH = """
        CREATE OR REPLACE TEMP TABLE near AS
        WITH RECURSIVE reach(object, step) AS (
            SELECT object, 0 FROM asked
            UNION
            SELECT links.target, reach.step + 1 FROM reach JOIN links ON links.source = reach.object
            WHERE reach.step < {}
        )
        SELECT DISTINCT object FROM reach"""
    LINKS = """
        SELECT links.source, links.target, links.weight FROM links
        JOIN near AS one ON one.object = links.source JOIN near AS other ON other.object = links.target
        WHERE links.source < links.target"""

    def __init__(self, cube: Path, work: Path) -> None:
        import duckdb
        import pyarrow as pa

        links = c2n.open(cube)
        source, target = ends_of(links)
        ends = pa.table({"source": source, "target": target, "weight": np.asarray(links.links.weights)})
        self.file = work / "links.duckdb"
        self.file.unlink(missing_ok=True)
        with duckdb.connect(str(self.file)) as connection:
            connection.register("ends", ends)
            connection.execute("CREATE TABLE links AS SELECT * FROM ends ORDER BY source, target")
        self.connection = duckdb.connect(str(self.file))

    def hops(self, rows: Array, k: int) -> Any:
        """Return all objects within k steps and the links among them."""
        import pyarrow as pa

        self.connection.register("asked", pa.table({"object": rows.astype(np.int32)}))
        self.connection.execute(self.REACH.format(k))
        nodes = self.connection.sql("SELECT object FROM near").to_arrow_table()
        return nodes, self.connection.sql(self.LINKS).to_arrow_table()

    def plain(self, found: Any) -> Plain:
        """Return the nodes, and both ends of every link once."""
        nodes, links = found
        return nodes["object"].to_numpy(), links["source"].to_numpy(), links["target"].to_numpy()


class SkNetwork:
    """scikit-network: PageRank of everything by one of its solvers."""

    needs: tuple[str, ...] = ("sknetwork.ranking", "scipy.sparse")
    note = '`PageRank(solver="piteration")`, its default'
    solver = "piteration"

    def __init__(self, cube: Path, work: Path) -> None:
        self.matrix = matrix_of(c2n.open(cube))

    def pagerank(self, rows: Array, top: int) -> Any:
        """Return the best objects, or the score of every object."""
        from sknetwork.ranking import PageRank

        start = np.zeros(self.matrix.shape[0])
        start[rows] = 1.0 / len(rows)
        return PageRank(damping_factor=DAMPING, solver=self.solver).fit_predict(self.matrix, weights=start)


class SkNetworkDiteration(SkNetwork):
    """scikit-network with its solver for quick, rough scores."""

    note = '`PageRank(solver="diteration")`'
    solver = "diteration"


def matrix_of(cube: Cube) -> Any:
    """Return the links as a SciPy matrix of numbers in double precision."""
    import scipy.sparse as sp

    links = cube.links
    parts = (np.asarray(links.weights, np.float64), np.asarray(links.indices), np.asarray(links.indptr, np.int32))
    return sp.csr_matrix(parts, shape=(len(links), len(links)))


CONTESTANTS: dict[str, Any] = {
    "cube2net": Ours,
    "cube2net, tight": OursTight,
    "igraph": IGraph,
    "PyG": PyG,
    "DuckDB": SQL,
    "scikit-network": SkNetwork,
    "scikit-network, diteration": SkNetworkDiteration,
    "NetworkX": NetworkX,
}
