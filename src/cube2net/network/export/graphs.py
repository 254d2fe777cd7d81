"""A network as a graph of NetworkX, igraph or SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.packages import require
from cube2net.model.interfaces import check_call, expect
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


@check_call
def to_networkx(network: Network) -> networkx.Graph:
    """Return a NetworkX graph: nodes are ids with every attribute, links carry ``weight``, ``kind`` and all others.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    networkx.Graph
        Nodes have ``name``, ``kind``, ``in_query``, ``label``, ``cells`` (the ranks of the chosen cells that hold them,
        from 1), ``query_links`` and the attributes of their objects, without those that are missing. Where the source
        says which way links go it is a ``DiGraph``, with memberships from objects to cells. The graph has the
        ``recipe``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
    >>> print(network.to_networkx())
    Graph with 110 nodes and 779 edges
    """
    expect(Network, network, "network")
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


@check_call
def to_igraph(network: Network) -> igraph.Graph:
    """Return an igraph graph: vertex i is node i with every attribute, edges carry ``weight``, ``kind`` and all others.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    igraph.Graph
        Vertices have the columns of ``network.nodes`` as attributes, None where one is missing. Undirected, unless the
        source says which way links go. The graph has the ``recipe``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> graph = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_igraph()
    >>> graph.vcount(), graph.ecount(), graph.vs[0]["id"]
    (110, 779, 'o1')
    """
    expect(Network, network, "network")
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


@check_call
def to_scipy(network: Network) -> sp.csr_array:
    """Return the symmetric adjacency of a network: row and column i are node i, every link on both ends.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    scipy.sparse.csr_array
        The weights of the links, as floats of 32 bits.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> matrix = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_scipy()
    >>> matrix.shape, matrix.nnz
    ((110, 110), 1558)
    """
    import scipy.sparse as sp

    expect(Network, network, "network")
    ends = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    weights = np.concatenate([network.weight, network.weight]).astype(np.float32)
    return sp.coo_array((weights, ends), shape=(len(network), len(network))).tocsr()
