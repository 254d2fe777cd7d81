"""A network as tensors for PyTorch Geometric: ``Data``, or ``HeteroData`` with a store per kind of node and link."""

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
from cube2net.model.corpus import is_list
from cube2net.model.interfaces import check_call, expect
from cube2net.model.network import GIVEN, NODES, Network
from cube2net.network.attributes import TIMES, compute_label_shares
from cube2net.network.export.plain_tables import choose_format, describe_form, list_ends, list_ids, plain_nodes

if TYPE_CHECKING:
    import scipy.sparse as sp
    from torch_geometric.data import Data, HeteroData

MAX_CATEGORIES = 50
"""Text columns with more values than this are left out of ``x``."""
MAX_LABELS = 500
"""Dimensions of which the nodes have more labels than this are left out of ``x``."""
Shares = tuple[tuple[str, ...], "sp.csr_array"]
"""The labels of a dimension, and the share of every node's items with each of them."""
EMPTY: Mapping[str, Shares] = MappingProxyType({})

# Lists are stored as UserList: loaders of PyTorch Geometric index plain lists with tensors, which fails.


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
        Tensors: ``x``, attributes of objects as numbers, named by ``x_names``: numbers as they are, dates in seconds
        since 1970, categories of up to 50 values as a column each, and of every dimension the share of an object's
        items that has each label; ``edge_index``, ``edge_weight``, ``edge_kind`` (into ``edge_kind_names``),
        ``seed_mask`` (the query), ``kind`` (into ``kind_names``), ``query_links``, and ``y``, the labels of the query
        (into ``label_names``, -1 where there is none). Where ``edge_weight`` is not what the source gave,
        ``edge_given`` is, NaN for memberships. Where links have a time, ``edge_first`` and ``edge_last``: numbers as
        they are, dates in seconds since 1970, and NaN where one is missing. Lists: ``ids``, ``names`` and ``cells``;
        and the ``recipe`` as JSON. Where the source says which way links go, only these ways are there, and memberships
        both ways. Loaders and ``subgraph`` do not index lists: the tensor ``node`` has the position of every node of a
        batch in them, as in ``data.names[batch.node[0]]``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> data = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_pyg()
    >>> data.num_nodes, data.num_edges, int(data.seed_mask.sum())
    (110, 1558, 50)
    """
    expect(Network, network, "network")
    nodes = plain_nodes(network)
    kind_names, kinds = _encode(nodes["kind"].to_pylist())
    label_names, labels = _encode(nodes["label"].to_pylist(), missing="")
    source, target, columns = _list_directions(network)
    link_names, link_kinds = _encode(columns["kind"].to_pylist())
    shares = compute_label_shares(network)
    x_names, x = compute_inputs(_drop_label_columns(network, nodes, shares), shares)
    data: Data = _import_data().Data(
        num_nodes=len(network),
        node=make_tensor(np.arange(len(network)), np.int64),
        x=make_tensor(x, np.float32),
        x_names=UserList(x_names),
        edge_index=make_tensor([source, target], np.int64),
        edge_weight=make_tensor(columns["weight"].to_numpy(), np.float32),
        edge_kind=make_tensor(link_kinds, np.int64),
        edge_kind_names=UserList(link_names),
        seed_mask=make_tensor(network.in_query, np.bool_),
        kind=make_tensor(kinds, np.int64),
        kind_names=UserList(kind_names),
        query_links=make_tensor(nodes["query_links"].to_numpy(), np.int64),
        y=make_tensor(labels, np.int64),
        label_names=UserList(label_names),
        ids=UserList(list_ids(network)),
        names=UserList(nodes["name"].to_pylist()),
        cells=UserList(nodes["cells"].to_pylist()),
        **{f"edge_{name}": values for name, values in _list_link_details(columns).items()},
        **{
            name: UserList(value) if isinstance(value, list) else value
            for name, value in describe_form(network).items()
        },
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
        ``edge_index`` and ``edge_weight``; links between two kinds are in two stores, one per direction.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> data = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_hetero()
    >>> data.node_types, data["cell"].num_nodes
    (['cell', 'object'], 10)
    >>> data.edge_types
    [('cell', 'membership', 'object'), ('object', 'link', 'object'), ('object', 'membership', 'cell')]
    """
    expect(Network, network, "network")
    data: HeteroData = _import_data().HeteroData()
    nodes = plain_nodes(network)
    label_names, labels = _encode(nodes["label"].to_pylist(), missing="")
    shares = compute_label_shares(network)
    attributes = _drop_label_columns(network, nodes, shares)
    kind_names, kinds = _encode([kind or "object" for kind in nodes["kind"].to_pylist()])
    place = np.zeros(len(network), dtype=np.int64)
    ids = list_ids(network)
    for number, kind in enumerate(kind_names):
        at = np.flatnonzero(kinds == number)
        place[at] = np.arange(len(at))
        part = nodes.take(pa.array(at))
        store = data[kind]
        store.num_nodes = len(at)
        part_shares = {name: (names, matrix[at]) for name, (names, matrix) in shares.items()}
        x_names, x = compute_inputs(attributes.take(pa.array(at)), part_shares)
        store.x, store.x_names = make_tensor(x, np.float32), UserList(x_names)
        store.node = make_tensor(np.arange(len(at)), np.int64)
        store.ids, store.names = UserList([ids[row] for row in at]), UserList(part["name"].to_pylist())
        store.cells = UserList(part["cells"].to_pylist())
        store.seed_mask = make_tensor(network.in_query[at], np.bool_)
        store.query_links = make_tensor(part["query_links"].to_numpy(), np.int64)
        store.y = make_tensor(labels[at], np.int64)
    source, target, columns = _list_directions(network)
    link_names, link_kinds = _encode([kind or "link" for kind in columns["kind"].to_pylist()])
    groups = np.stack([kinds[source], link_kinds, kinds[target]], axis=1)
    for a, link, b in sorted(map(tuple, np.unique(groups, axis=0).tolist())):
        at = np.flatnonzero((groups == (a, link, b)).all(axis=1))
        edges = data[kind_names[a], link_names[link], kind_names[b]]
        edges.edge_index = make_tensor([place[source[at]], place[target[at]]], np.int64)
        part = columns.take(pa.array(at))
        edges.edge_weight = make_tensor(part["weight"].to_numpy(), np.float32)
        for name, values in _list_link_details(part).items():
            edges[f"edge_{name}"] = values
    data.label_names = label_names
    for name, value in describe_form(network).items():
        data[name] = value
    if network.recipe is not None:
        data.recipe = network.recipe.to_json()
    return data


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
    for at, column in enumerate(network.nodes.columns):
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


def _list_link_details(links: pa.Table) -> dict[str, Any]:
    """Return the weights and the first and last times of links in the source; NaN for missing ones."""
    details = {}
    for name in (GIVEN, *TIMES):
        if name in links.column_names:
            column = convert_to_seconds(links[name])
            numbers = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan")).to_numpy()
            details[name] = make_tensor(numbers, np.float32 if name == GIVEN else np.float64)
    return details


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
