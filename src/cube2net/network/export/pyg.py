"""A network as tensors for PyTorch Geometric: one store for all, or one for every kind of node and of link."""

from __future__ import annotations

import warnings
from collections import UserList
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.packages import require
from cube2net.model.arguments import check_call, expect
from cube2net.model.corpus import is_list
from cube2net.model.network import GIVEN, NODES, Network
from cube2net.network.attributes import TIMES, label_shares
from cube2net.network.export.plain_tables import about, as_text, list_ends, list_ids, plain_nodes

if TYPE_CHECKING:
    import scipy.sparse as sp
    from torch_geometric.data import Data, HeteroData

CATEGORIES = 50
"""A column of texts with more values than this is no category: it has no columns of ``x``."""
SHARES = 500
"""Nor has a dimension of which the nodes have more labels than this."""
Shares = tuple[tuple[str, ...], "sp.csr_array"]
"""The labels of a dimension, and the share of every node's items that has each of them."""
EMPTY: Mapping[str, Shares] = MappingProxyType({})


@check_call
def to_pyg(network: Network) -> Data:
    """Return a PyTorch Geometric ``Data`` whose row i is node i, every link in both directions.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    torch_geometric.data.Data
        Tensors: ``x``, what is known of objects as numbers, named by ``x_names``: numbers as they are, dates in seconds
        since 1970, categories of up to 50 values as a column each, and of every dimension the share of an object's
        items that has each label; ``edge_index``, ``edge_weight``, ``edge_kind`` (into ``edge_kind_names``),
        ``seed_mask`` (the query), ``kind`` (into ``kind_names``), ``query_links``, and ``y``, the labels of the query
        (into ``label_names``, -1 where there is none). Where ``edge_weight`` is not what the source gave,
        ``edge_given`` is, NaN for memberships. Where links have a time, ``edge_first`` and ``edge_last``: numbers as
        they are, dates in seconds since 1970, and NaN where one is missing. Lists: ``ids``, ``names`` and ``cells``;
        and the ``recipe`` as JSON. Where the source says which way links go, only these ways are there, and memberships
        both ways. Loaders and ``subgraph`` leave lists whole: the tensor ``node`` says where a node of a batch stands
        in them, as in ``data.names[batch.node[0]]``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> data = c2n.to_pyg(c2n.construct(c2n.build_cube(planted.corpus), planted.query(0)))
    >>> data.num_nodes, data.num_edges, int(data.seed_mask.sum())
    (110, 1558, 50)
    """
    expect(Network, network, "network")
    pyg = geometric()
    nodes = plain_nodes(network)
    kind_names, kinds = _codes(nodes["kind"].to_pylist())
    label_names, labels = _codes(nodes["label"].to_pylist(), missing="")
    source, target, columns = _both_ways(network)
    link_names, link_kinds = _codes(columns["kind"].to_pylist())
    shares = label_shares(network)
    x_names, x = inputs(_without_labels(network, nodes, shares), shares)
    data: Data = pyg.Data(
        num_nodes=len(network),
        node=tensor(np.arange(len(network)), np.int64),
        x=tensor(x, np.float32),
        x_names=untouched(x_names),
        edge_index=tensor([source, target], np.int64),
        edge_weight=tensor(columns["weight"].to_numpy(), np.float32),
        edge_kind=tensor(link_kinds, np.int64),
        edge_kind_names=untouched(link_names),
        seed_mask=tensor(network.in_query, np.bool_),
        kind=tensor(kinds, np.int64),
        kind_names=untouched(kind_names),
        query_links=tensor(nodes["query_links"].to_numpy(), np.int64),
        y=tensor(labels, np.int64),
        label_names=untouched(label_names),
        ids=untouched(list_ids(network)),
        names=untouched(nodes["name"].to_pylist()),
        cells=untouched(nodes["cells"].to_pylist()),
        **{f"edge_{name}": values for name, values in _told_of_links(columns).items()},
        **{name: untouched(value) if isinstance(value, list) else value for name, value in about(network).items()},
        **({} if network.recipe is None else {"recipe": network.recipe.to_json()}),
    )
    return data


@check_call
def to_hetero(network: Network) -> HeteroData:
    """Return a PyTorch Geometric ``HeteroData``: a store for every kind of node, and one for every kind of link.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    torch_geometric.data.HeteroData
        Stores of nodes, such as ``data["author"]`` and ``data["cell"]``, have ``x`` with ``x_names`` (only what their
        kind has), ``ids``, ``names``, ``node``, ``seed_mask``, ``query_links`` and ``y``, as :func:`to_pyg` has them.
        Stores of links, such as ``data["author", "link", "author"]`` and ``data["author", "membership", "cell"]``, have
        ``edge_index`` and ``edge_weight``; links between two kinds stand in both directions, as two stores.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> data = c2n.to_hetero(c2n.construct(c2n.build_cube(planted.corpus), planted.query(0)))
    >>> data.node_types, data["cell"].num_nodes
    (['cell', 'object'], 10)
    >>> data.edge_types
    [('cell', 'membership', 'object'), ('object', 'link', 'object'), ('object', 'membership', 'cell')]
    """
    expect(Network, network, "network")
    data: HeteroData = geometric().HeteroData()
    nodes = plain_nodes(network)
    label_names, labels = _codes(nodes["label"].to_pylist(), missing="")
    shares = label_shares(network)
    told = _without_labels(network, nodes, shares)
    kinds = [kind or "object" for kind in nodes["kind"].to_pylist()]
    kind_names, of_node = _codes(kinds)
    place = np.zeros(len(network), dtype=np.int64)
    ids = list_ids(network)
    for number, kind in enumerate(kind_names):
        at = np.flatnonzero(of_node == number)
        place[at] = np.arange(len(at))
        part = nodes.take(pa.array(at))
        store = data[kind]
        store.num_nodes = len(at)
        own = {name: (names, found[at]) for name, (names, found) in shares.items()}
        x_names, x = inputs(told.take(pa.array(at)), own)
        store.x, store.x_names = tensor(x, np.float32), untouched(x_names)
        store.node = tensor(np.arange(len(at)), np.int64)
        store.ids, store.names = untouched([ids[row] for row in at]), untouched(part["name"].to_pylist())
        store.cells = untouched(part["cells"].to_pylist())
        store.seed_mask = tensor(network.in_query[at], np.bool_)
        store.query_links = tensor(part["query_links"].to_numpy(), np.int64)
        store.y = tensor(labels[at], np.int64)
    source, target, columns = _both_ways(network)
    link_names, of_link = _codes([kind or "link" for kind in columns["kind"].to_pylist()])
    groups = np.stack([of_node[source], of_link, of_node[target]], axis=1)
    for a, link, b in sorted(map(tuple, np.unique(groups, axis=0).tolist())):
        at = np.flatnonzero((groups == (a, link, b)).all(axis=1))
        edges = data[kind_names[a], link_names[link], kind_names[b]]
        edges.edge_index = tensor([place[source[at]], place[target[at]]], np.int64)
        part = columns.take(pa.array(at))
        edges.edge_weight = tensor(part["weight"].to_numpy(), np.float32)
        for name, values in _told_of_links(part).items():
            edges[f"edge_{name}"] = values
    data.label_names = label_names
    for name, value in about(network).items():
        data[name] = value
    if network.recipe is not None:
        data.recipe = network.recipe.to_json()
    return data


def inputs(nodes: pa.Table, shares: Mapping[str, Shares] = EMPTY) -> tuple[list[str], Array]:
    """Return what is known of nodes as numbers, a row a node: the names of the columns, and the columns.

    Numbers and truths stand as they are, and dates in seconds since 1970, 0 where one is missing; a category of up to
    50 values has a column for each, which is 1 where a node has it, and so has a list of such. Texts of more values
    have none. Of every dimension in ``shares`` each label that a node has is a column. Nothing is scaled.

    >>> names, values = inputs(pa.table({"id": ["a", "b"], "papers": [3, None], "city": ["Rome", "Ghent"]}))
    >>> names, values.tolist()
    (['papers', 'city=Ghent', 'city=Rome'], [[3.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    """
    names: list[str] = []
    columns: list[Array] = []
    for name in nodes.column_names:
        if name in NODES:
            continue
        column = as_seconds(nodes[name]).combine_chunks()
        kind = column.type
        if not is_list(kind) and not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
            names.append(name)
            columns.append(pc.fill_null(column.cast(pa.float64(), safe=False), 0.0).to_numpy(zero_copy_only=False))
            continue
        values = pc.list_flatten(column) if is_list(kind) else column
        parents = pc.list_parent_indices(column) if is_list(kind) else pa.array(np.arange(len(column)))
        known = np.asarray(pc.is_valid(values))
        at = np.asarray(parents)[known]
        found = list(map(as_text(values.type), values.drop_null().to_pylist()))
        categories = sorted(set(found))
        if len(categories) > CATEGORIES:
            continue
        code = {category: number for number, category in enumerate(categories)}
        hot = np.zeros((len(column), len(categories)))
        hot[at, [code[value] for value in found]] = 1
        names += [f"{name}={category}" for category in categories]
        columns += list(hot.T)
    for name, (labels, found) in shares.items():
        used = np.unique(found.indices)
        if len(used) <= SHARES:
            names += [f"{name}:{labels[number]}" for number in used.tolist()]
            columns += list(found[:, used].toarray().T)
    return names, np.stack(columns, axis=1) if columns else np.zeros((nodes.num_rows, 0))


def _without_labels(network: Network, nodes: pa.Table, shares: Mapping[str, Shares]) -> pa.Table:
    """Return plain nodes without the labels that most of their items have, of which the shares tell more.

    Dates are dates again, which are texts in plain tables.
    """
    attributes = network.names.attributes.column_names
    for at, column in enumerate(network.nodes.columns):
        if _is_date(column):
            nodes = nodes.set_column(at, nodes.column_names[at], column)
    return nodes.drop_columns([name for name in shares if name in nodes.column_names and name not in attributes])


def _both_ways(network: Network) -> tuple[Array, Array, pa.Table]:
    """Return links for passing messages: in both directions, but for directed ones that are no memberships."""
    ends = list_ends(network)
    member = np.maximum(ends.source, ends.target) >= len(network.objects)
    again = np.flatnonzero(member) if ends.directed else np.arange(len(ends.source))
    order = np.concatenate([np.arange(len(ends.source)), again])
    source = np.concatenate([ends.source, ends.target[again]])
    target = np.concatenate([ends.target, ends.source[again]])
    return source, target, ends.table.take(pa.array(order))


def _told_of_links(links: pa.Table) -> dict[str, Any]:
    """Return what the source gave of links, and when they are first and last, where it says so; NaN where not."""
    found = {}
    for name in (GIVEN, *TIMES):
        if name in links.column_names:
            column = as_seconds(links[name])
            numbers = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan")).to_numpy()
            found[name] = tensor(numbers, np.float32 if name == GIVEN else np.float64)
    return found


def as_seconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates and times as seconds since 1970, and other columns as they are.

    >>> as_seconds(pa.chunked_array([pa.array([86_400], pa.timestamp("s"))])).to_pylist()
    [86400.0]
    """
    if not _is_date(column):
        return column
    return pc.divide(column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)


def _is_date(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_date(column.type) or pa.types.is_timestamp(column.type))


def geometric() -> Any:
    """Return PyTorch Geometric's module of data; what it loads for bars of its own asks for no widgets here."""
    require("a PyTorch Geometric graph", "torch", "torch_geometric")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        from torch_geometric import data
    return data


def untouched(values: Sequence[Any]) -> UserList[Any]:
    """Return a list that PyTorch Geometric takes for no attribute of nodes or links, however long it is.

    Its loaders select among those by tensors of numbers, and refuse lists.
    """
    return UserList(values)


def tensor(values: Any, kind: Any) -> Any:
    """Return values as a tensor of a kind of NumPy's."""
    import torch

    return torch.from_numpy(np.array(values, dtype=kind))


def _codes(values: Sequence[str], missing: str | None = None) -> tuple[list[str], Array]:
    names = sorted(set(values) - {missing})
    code = {name: number for number, name in enumerate(names)}
    return names, np.array([code.get(value, -1) for value in values], dtype=np.int64)
