"""A network as a graph of NetworkX, igraph or PyTorch Geometric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.array_types import Array
from cube2net.extras import require
from cube2net.network.table_formats import LINK_KINDS, about, distinct, rows, texts
from cube2net.records import Network

if TYPE_CHECKING:
    import igraph
    import networkx
    from torch_geometric.data import Data

ADVICE = "rename them in the source"


def to_networkx(network: Network) -> networkx.Graph:
    """Return a NetworkX graph: nodes are ids with every attribute, links carry ``weight`` and ``kind``.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    networkx.Graph
        Nodes have ``name``, ``kind``, ``in_query``, ``label``, ``cells`` (the ranks of the chosen cells that hold them,
        from 1) and ``query_links``; the kind of a link is ``"link"`` or ``"membership"``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> network = c2n.construct(c2n.build_cube(planted.corpus), planted.query(0))
    >>> print(c2n.to_networkx(network))
    Graph with 104 nodes and 422 edges
    """
    require("a NetworkX graph", "networkx")
    import networkx

    columns = network.nodes.column_names[1:]
    ids = distinct(texts(network.nodes, "id"), ADVICE)
    graph = networkx.Graph(**about(network))
    graph.add_nodes_from((key, dict(zip(columns, row, strict=True))) for key, *row in rows(network.nodes))
    kinds = network.links["kind"].to_pylist()
    graph.add_edges_from(
        (ids[source], ids[target], {"weight": weight, "kind": kind})
        for source, target, weight, kind in zip(
            network.source, network.target, network.weight.tolist(), kinds, strict=True
        )
    )
    return graph


def to_igraph(network: Network) -> igraph.Graph:
    """Return an igraph graph: vertex i is node i with every attribute, edges carry ``weight`` and ``kind``.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    igraph.Graph
        Undirected; vertices have the columns of ``network.nodes`` as attributes.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> graph = c2n.to_igraph(c2n.construct(c2n.build_cube(planted.corpus), planted.query(0)))
    >>> graph.vcount(), graph.ecount(), graph.vs[0]["id"]
    (104, 422, 'o1')
    """
    require("an igraph graph", "igraph")
    import igraph

    columns = zip(*rows(network.nodes), strict=True)
    return igraph.Graph(
        n=len(network),
        edges=np.column_stack([network.source, network.target]).tolist(),
        directed=False,
        graph_attrs=about(network),
        vertex_attrs={name: list(column) for name, column in zip(network.nodes.column_names, columns, strict=True)},
        edge_attrs={"weight": network.weight.tolist(), "kind": network.links["kind"].to_pylist()},
    )


def to_pyg(network: Network) -> Data:
    """Return a PyTorch Geometric ``Data`` whose row i is node i, every link in both directions.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    torch_geometric.data.Data
        Tensors: ``edge_index``, ``edge_weight``, ``edge_kind`` (into ``edge_kind_names``), ``seed_mask`` (the query),
        ``kind`` (into ``kind_names``), ``query_links``, and ``y``, the labels of the query (into ``label_names``, -1
        where there is none). Lists: ``ids``, ``names`` and ``cells``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> data = c2n.to_pyg(c2n.construct(c2n.build_cube(planted.corpus), planted.query(0)))
    >>> data.num_nodes, data.num_edges, int(data.seed_mask.sum())
    (104, 844, 50)
    """
    require("a PyTorch Geometric graph", "torch", "torch_geometric")
    import torch
    from torch_geometric.data import Data

    def tensor(values: Any, kind: Any) -> Any:
        return torch.from_numpy(np.array(values, dtype=kind))

    nodes = network.nodes
    kind_names, kinds = _codes(texts(nodes, "kind"))
    label_names, labels = _codes(texts(nodes, "label"), missing="")
    link_kinds = [LINK_KINDS.index(kind) for kind in network.links["kind"].to_pylist()]
    return Data(
        num_nodes=len(network),
        edge_index=tensor([[*network.source, *network.target], [*network.target, *network.source]], np.int64),
        edge_weight=tensor(np.tile(network.weight, 2), np.float32),
        edge_kind=tensor(np.tile(link_kinds, 2), np.int64),
        edge_kind_names=list(LINK_KINDS),
        seed_mask=tensor(network.in_query, np.bool_),
        kind=tensor(kinds, np.int64),
        kind_names=kind_names,
        query_links=tensor(nodes["query_links"].to_numpy(), np.int64),
        y=tensor(labels, np.int64),
        label_names=label_names,
        ids=texts(nodes, "id"),
        names=texts(nodes, "name"),
        cells=nodes["cells"].to_pylist(),
        **about(network),
    )


def _codes(values: list[str], missing: str | None = None) -> tuple[list[str], Array]:
    names = sorted(set(values) - {missing})
    code = {name: number for number, name in enumerate(names)}
    return names, np.array([code.get(value, -1) for value in values], dtype=np.int64)
