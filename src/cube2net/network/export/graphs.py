"""A network as a graph of NetworkX, igraph or SciPy, or as tensors of PyTorch Geometric.

These are ``Data``, or ``HeteroData`` with a store per kind of node and link.
"""

from __future__ import annotations

import warnings
from collections import UserList
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.packages import require
from cube2net.model.corpus import is_list
from cube2net.model.network import GIVEN, NODES, Network
from cube2net.network.attributes import TIMES, compute_label_shares
from cube2net.network.export.plain_tables import (
    choose_format,
    describe_form,
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
    from torch_geometric.data import Data, HeteroData

MAX_CATEGORIES = 50
"""Text columns with more values than this are left out of ``x``."""
MAX_LABELS = 500
"""Dimensions of which the nodes have more labels than this are left out of ``x``."""
Shares = tuple[tuple[str, ...], "sp.csr_array"]
"""The labels of a dimension, and the share of every node's items with each of them."""
EMPTY: Mapping[str, Shares] = MappingProxyType({})


class FixedAttributes(dict[str, Any]):
    """The attributes of a node or link in a graph that cannot be changed."""

    def __setitem__(self, name: str, value: object) -> None:
        raise TypeError("a network does not change: set attributes in the graph that network.to_networkx() returns")


def to_networkx(network: Network, *, is_fixed: bool = False) -> networkx.Graph:
    """Return a NetworkX graph; see :meth:`cube2net.Network.to_networkx`. A fixed one cannot be changed."""
    require("a NetworkX graph", "networkx")
    import networkx

    ids, ends = require_distinct(list_ids(network)), list_ends(network)
    graph = (networkx.DiGraph if ends.directed else networkx.Graph)(**describe_with_recipe(network))
    nodes = with_dates(network.nodes.to_arrow(), plain_nodes(network).drop_columns(["id"]))
    if is_fixed:
        graph.node_attr_dict_factory = graph.edge_attr_dict_factory = FixedAttributes
    graph.add_nodes_from(zip(ids, iterate_records(nodes), strict=True))
    links = with_dates(ends.table, ends.columns)
    pairs = zip(ends.source, ends.target, iterate_records(links), strict=True)
    graph.add_edges_from((ids[source], ids[target], link) for source, target, link in pairs)
    return networkx.freeze(graph) if is_fixed else graph


def to_igraph(network: Network) -> igraph.Graph:
    """Return an igraph graph; see :meth:`cube2net.Network.to_igraph`."""
    require("an igraph graph", "igraph")
    import igraph

    ends, nodes = list_ends(network), with_dates(network.nodes.to_arrow(), plain_nodes(network).drop_columns(["id"]))
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


# Lists are stored as UserList: loaders of PyTorch Geometric index plain lists with tensors, which fails.


def to_pyg(network: Network) -> Data:
    """Return ``Data`` of PyTorch Geometric; see :meth:`cube2net.Network.to_pyg`."""
    geometric = _import_data()
    kind_names, kinds = _encode(network.nodes.to_arrow()["kind"].fill_null("").to_pylist())
    source, target, columns = _list_directions(network)
    link_names, link_kinds = _encode(columns["kind"].to_pylist())
    (nodes,) = _make_node_stores(network, [np.arange(len(network))])
    lists = {"edge_kind_names": link_names, "kind_names": kind_names, "label_names": _encode_labels(network)[0]}
    about = lists | describe_form(network)
    data: Data = geometric.Data(
        **nodes,
        kind=make_tensor(kinds, np.int64),
        edge_index=make_tensor([source, target], np.int64),
        edge_kind=make_tensor(link_kinds, np.int64),
        **_make_link_tensors(columns),
        **{name: UserList(value) if isinstance(value, list) else value for name, value in about.items()},
        **({} if network.recipe is None else {"recipe": network.recipe.to_json()}),
    )
    return data


def to_hetero(network: Network) -> HeteroData:
    """Return ``HeteroData`` of PyTorch Geometric; see :meth:`cube2net.Network.to_hetero`."""
    data: HeteroData = _import_data().HeteroData()
    kind_names, kinds = _encode([kind or "object" for kind in network.nodes.to_arrow()["kind"].to_pylist()])
    groups = [np.flatnonzero(kinds == number) for number in range(len(kind_names))]
    for kind, store in zip(kind_names, _make_node_stores(network, groups), strict=True):
        data[kind].update(store)
    place = np.zeros(len(network), dtype=np.int64)
    for rows in groups:
        place[rows] = np.arange(len(rows))
    source, target, columns = _list_directions(network)
    link_names, link_kinds = _encode([kind or "link" for kind in columns["kind"].to_pylist()])
    triples = np.stack([kinds[source], link_kinds, kinds[target]], axis=1)
    for a, link, b in sorted(map(tuple, np.unique(triples, axis=0).tolist())):
        at = np.flatnonzero((triples == (a, link, b)).all(axis=1))
        ends = make_tensor([place[source[at]], place[target[at]]], np.int64)
        tensors = _make_link_tensors(columns.take(pa.array(at)))
        data[kind_names[a], link_names[link], kind_names[b]].update({"edge_index": ends, **tensors})
    data.label_names = _encode_labels(network)[0]
    for name, value in describe_form(network).items():
        data[name] = value
    if network.recipe is not None:
        data.recipe = network.recipe.to_json()
    return data


def _make_node_stores(network: Network, groups: Sequence[Array]) -> Iterator[dict[str, Any]]:
    """Yield the tensors and lists of each group of nodes."""
    nodes, shares, ids = plain_nodes(network), compute_label_shares(network), list_ids(network)
    attributes, labels = _drop_label_columns(network, nodes, shares), _encode_labels(network)[1]
    for rows in groups:
        part = nodes.take(pa.array(rows))
        part_shares = {name: (names, matrix[rows]) for name, (names, matrix) in shares.items()}
        x_names, x = compute_inputs(attributes.take(pa.array(rows)), part_shares)
        yield {
            "num_nodes": len(rows),
            "x": make_tensor(x, np.float32),
            "x_names": UserList(x_names),
            "node": make_tensor(np.arange(len(rows)), np.int64),
            "ids": UserList([ids[row] for row in rows.tolist()]),
            "names": UserList(part["name"].to_pylist()),
            "cells": UserList(part["cells"].to_pylist()),
            "seed_mask": make_tensor(network.in_query[rows], np.bool_),
            "query_links": make_tensor(part["query_links"].to_numpy(), np.int64),
            "y": make_tensor(labels[rows], np.int64),
        }


def compute_inputs(nodes: pa.Table, shares: Mapping[str, Shares] = EMPTY) -> tuple[list[str], Array]:
    """Return the attributes of nodes as numbers: the names of the columns, and a matrix with a row per node.

    Numbers and booleans are used as they are and dates in seconds since 1970; missing ones are 0. Categories of up to
    50 values, and lists of such, are one-hot encoded; texts of more values are left out. Of every dimension in
    ``shares`` each label that a node has is a column. Nothing is scaled.

    >>> names, values = compute_inputs(pa.table({"id": ["a", "b"], "papers": [3, None], "city": ["Rome", "Ghent"]}))
    >>> names, values.tolist()
    (['papers', 'city=Ghent', 'city=Rome'], [[3.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    """
    names: list[str] = []
    columns: list[Array] = []
    for name in nodes.column_names:
        if name in NODES:
            continue
        column = convert_to_seconds(nodes[name]).combine_chunks()
        kind = column.type
        if not is_list(kind) and not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
            names.append(name)
            columns.append(pc.fill_null(column.cast(pa.float64(), safe=False), 0.0).to_numpy(zero_copy_only=False))
            continue
        values = pc.list_flatten(column) if is_list(kind) else column
        parents = pc.list_parent_indices(column) if is_list(kind) else pa.array(np.arange(len(column)))
        rows = np.asarray(parents)[np.asarray(pc.is_valid(values))]
        texts = list(map(choose_format(values.type), values.drop_null().to_pylist()))
        categories = sorted(set(texts))
        if len(categories) > MAX_CATEGORIES:
            continue
        code = {category: number for number, category in enumerate(categories)}
        hot = np.zeros((len(column), len(categories)))
        hot[rows, [code[text] for text in texts]] = 1
        names += [f"{name}={category}" for category in categories]
        columns += list(hot.T)
    for name, (labels, matrix) in shares.items():
        used = np.unique(matrix.indices)
        if len(used) <= MAX_LABELS:
            names += [f"{name}:{labels[number]}" for number in used.tolist()]
            columns += list(matrix[:, used].toarray().T)
    return names, np.stack(columns, axis=1) if columns else np.zeros((nodes.num_rows, 0))


def _drop_label_columns(network: Network, nodes: pa.Table, shares: Mapping[str, Shares]) -> pa.Table:
    """Return plain nodes with dates as dates, without the commonest labels, which the shares make redundant."""
    attributes = network.names.attributes.column_names
    for at, column in enumerate(network.nodes.to_arrow().columns):
        if _is_date(column):
            nodes = nodes.set_column(at, nodes.column_names[at], column)
    return nodes.drop_columns([name for name in shares if name in nodes.column_names and name not in attributes])


def _list_directions(network: Network) -> tuple[Array, Array, pa.Table]:
    """Return links for message passing: undirected ones and memberships in both directions."""
    ends = list_ends(network)
    member = np.maximum(ends.source, ends.target) >= len(network.objects)
    reversed_rows = np.flatnonzero(member) if ends.directed else np.arange(len(ends.source))
    order = np.concatenate([np.arange(len(ends.source)), reversed_rows])
    source = np.concatenate([ends.source, ends.target[reversed_rows]])
    target = np.concatenate([ends.target, ends.source[reversed_rows]])
    return source, target, ends.table.take(pa.array(order))


def _make_link_tensors(links: pa.Table) -> dict[str, Any]:
    """Return the weights of links, those in the source, and the first and last times; NaN for missing ones."""
    tensors = {"edge_weight": make_tensor(links["weight"].to_numpy(), np.float32)}
    for name in (GIVEN, *TIMES):
        if name in links.column_names:
            column = convert_to_seconds(links[name])
            numbers = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan")).to_numpy()
            tensors[f"edge_{name}"] = make_tensor(numbers, np.float32 if name == GIVEN else np.float64)
    return tensors


def convert_to_seconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates and times as seconds since 1970, and other columns unchanged.

    >>> convert_to_seconds(pa.chunked_array([pa.array([86_400], pa.timestamp("s"))])).to_pylist()
    [86400.0]
    """
    if not _is_date(column):
        return column
    return pc.divide(column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)


def _is_date(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_date(column.type) or pa.types.is_timestamp(column.type))


def _import_data() -> Any:
    """Import ``torch_geometric.data`` without tqdm's warning that widgets are missing."""
    require("a PyTorch Geometric graph", "torch", "torch_geometric")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        from torch_geometric import data
    return data


def make_tensor(values: Any, kind: Any) -> Any:
    """Return values as a tensor of a NumPy type."""
    import torch

    return torch.from_numpy(np.array(values, dtype=kind))


def _encode(values: Sequence[str], missing: str | None = None) -> tuple[list[str], Array]:
    names = sorted(set(values) - {missing})
    code = {name: number for number, name in enumerate(names)}
    return names, np.array([code.get(value, -1) for value in values], dtype=np.int64)


def _encode_labels(network: Network) -> tuple[list[str], Array]:
    return _encode(network.nodes.to_arrow()["label"].fill_null("").to_pylist(), missing="")
