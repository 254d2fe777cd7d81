"""A network as a graph of NetworkX, igraph or SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.packages import require
from cube2net.model.network import Network
from cube2net.network.export.plain_tables import (
    describe_with_recipe,
    iterate_records,
    list_ends,
    list_ids,
    plain_nodes,
    require_distinct,
    with_dates,
)

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse as sp


def to_networkx(network: Network) -> networkx.Graph:
    """Return a NetworkX graph; see :meth:`cube2net.Network.to_networkx`."""
    require("a NetworkX graph", "networkx")
    import networkx

    ids, ends = require_distinct(list_ids(network)), list_ends(network)
    graph = (networkx.DiGraph if ends.directed else networkx.Graph)(**describe_with_recipe(network))
    nodes = with_dates(network.nodes, plain_nodes(network).drop_columns(["id"]))
    graph.add_nodes_from(zip(ids, iterate_records(nodes), strict=True))
    links = with_dates(ends.table, ends.columns)
    pairs = zip(ends.source, ends.target, iterate_records(links), strict=True)
    graph.add_edges_from((ids[source], ids[target], link) for source, target, link in pairs)
    return graph


def to_igraph(network: Network) -> igraph.Graph:
    """Return an igraph graph; see :meth:`cube2net.Network.to_igraph`."""
    require("an igraph graph", "igraph")
    import igraph

    ends, nodes = list_ends(network), with_dates(network.nodes, plain_nodes(network).drop_columns(["id"]))
    links = with_dates(ends.table, ends.columns)
    return igraph.Graph(
        n=len(network),
        edges=np.column_stack([ends.source, ends.target]).tolist(),
        directed=ends.directed,
        graph_attrs=describe_with_recipe(network),
        vertex_attrs={"id": list_ids(network), **{name: nodes[name].to_pylist() for name in nodes.column_names}},
        edge_attrs={name: links[name].to_pylist() for name in links.column_names},
    )


def to_scipy(network: Network) -> sp.csr_array:
    """Return the symmetric adjacency matrix; see :meth:`cube2net.Network.to_scipy`."""
    import scipy.sparse as sp

    ends = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    weights = np.concatenate([network.weight, network.weight]).astype(np.float32)
    return sp.coo_array((weights, ends), shape=(len(network), len(network))).tocsr()
