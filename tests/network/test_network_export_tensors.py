"""Tensors have every column of nodes and links, as numbers with their names."""

import datetime as dt

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.model.query import Query
from cube2net.network.export.graphs import compute_inputs, to_hetero, to_pyg

from rich_networks import ARROWS, citing_authors, rich_network


def test_pyg_has_attributes_as_numbers_with_their_names() -> None:
    data = to_pyg(rich_network())
    assert data.validate() and data.is_undirected()
    columns = dict(zip(data.x_names, data.x.T.tolist(), strict=True))
    assert columns["papers"] == [3.0, 0.0, float(2**40), 0.0]
    assert columns["active"] == [1.0, 0.0, 0.0, 0.0]
    assert columns["kind of city=a"] == [1.0, 0.0, 1.0, 0.0]
    assert columns["tags=x"] == [1.0, 0.0, 0.0, 0.0] == columns["tags=y; z"]
    assert not any(name.startswith(("name", "label", "id", "nothing")) for name in data.x_names)


def test_pyg_gives_directed_links_one_way_and_memberships_both() -> None:
    data = to_pyg(rich_network(directed=True))
    pairs = {(data.ids[a], data.ids[b]) for a, b in data.edge_index.T.tolist()}
    assert pairs == {*ARROWS, ("cell:x", "ada")} and data.validate()


def test_texts_of_many_values_are_no_category() -> None:
    names, values = compute_inputs(pa.table({"id": list(range(60)), "city": [f"city {at}" for at in range(60)]}))
    assert names == [] and values.shape == (60, 0)


def test_hetero_data_has_a_store_for_every_kind() -> None:
    network = rich_network(directed=True)
    data = to_hetero(network)
    assert data.validate()
    assert data.node_types == ["author", "cell"]
    assert data.edge_types == [
        ("author", "link", "author"),
        ("author", "membership", "cell"),
        ("cell", "membership", "author"),
    ]
    assert data["author"].ids == ["ada", "bob & co", "eve"] and data["cell"].ids == ["cell:x"]
    assert data["author"].y.tolist() == [0, -1, -1] and data.label_names == ["red"]
    links = data["author", "link", "author"]
    assert sorted(map(tuple, links.edge_index.T.tolist())) == [(0, 1), (1, 0), (2, 1)]
    assert data["author", "membership", "cell"].edge_index.tolist() == [[0], [0]]
    assert "papers" in data["author"].x_names and data["author"].x.shape == (3, len(data["author"].x_names))


def test_tensors_have_shares_of_labels_and_times_of_links() -> None:
    network = c2n.construct(citing_authors(), Query(np.array([0, 1, 2])), "greedy", n_cells=2, form="cells+objects")
    data = to_pyg(network)
    assert data.validate() and data.ids[:3] == [7, 8, 9]
    columns = dict(zip(data.x_names, data.x.T.tolist(), strict=True))
    assert columns["papers"][:3] == [3.0, 0.0, 5.0] and columns["items"][:3] == [1.0, 2.0, 2.0]
    assert columns["venue:ACL"][:3] == [1.0, 0.5, 0.5] and columns["venue:KDD"][:3] == [0.0, 0.5, 0.5]
    assert "venue=ACL" not in columns
    first = dict(zip(map(tuple, data.edge_index.T.tolist()), data.edge_first.tolist(), strict=True))
    assert first[0, 1] == dt.datetime(2015, 1, 1, tzinfo=dt.UTC).timestamp() and np.isnan(first[2, 1])
    hetero = to_hetero(network)
    assert hetero.validate()
    assert ("author", "cites", "author") in hetero.edge_types and ("editor", "thanks", "author") in hetero.edge_types
    editor = dict(zip(hetero["editor"].x_names, hetero["editor"].x[0].tolist(), strict=True))
    assert editor["venue:KDD"] == 0.5 and editor["papers"] == 5.0
    links = hetero["author", "cites", "author"]
    assert not links.edge_first.isnan().any()


def test_tensors_take_whole_numbers_that_fractions_cannot_hold() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", time=2**53 + 1)
    graph.add_edge("b", "c", time=2**60 + 1)
    nx.set_node_attributes(graph, {"a": 2**53 + 1, "b": -(2**62) - 1, "c": 5}, "number")
    nx.set_node_attributes(graph, dict.fromkeys(graph, "Rome"), "city")
    cube = c2n.build(graph, dimensions=["city"], min_objects=1)
    network = c2n.construct(cube, ["a", "b", "c"], "none")
    assert network.nodes.to_arrow()["number"].to_pylist() == [2**53 + 1, -(2**62) - 1, 5]
    data, hetero = to_pyg(network), to_hetero(network)
    assert data.x[:, data.x_names.index("number")].tolist() == [2.0**53, -(2.0**62), 5.0]
    assert data.edge_last.tolist() == [2.0**53, 2.0**60] == hetero["node", "link", "node"].edge_first.tolist()


def test_tensors_have_times_that_are_far_away() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", time=dt.datetime(9000, 1, 1, 0, 0, 0, 1))
    nx.set_node_attributes(graph, dict.fromkeys(graph, "Rome"), "city")
    cube = c2n.build(graph, dimensions=["city"], min_objects=1)
    data = to_pyg(c2n.construct(cube, ["a", "b"], "none"))
    assert data.edge_first.tolist() == [dt.datetime(9000, 1, 1, tzinfo=dt.UTC).timestamp()]


def test_loaders_take_tensors_as_they_are_and_node_says_who_is_in_a_batch() -> None:
    torch = pytest.importorskip("torch")
    from torch_geometric.loader import NodeLoader
    from torch_geometric.sampler import BaseSampler, SamplerOutput

    class Alone(BaseSampler):
        """Samples the nodes asked for, without links."""

        def sample_from_nodes(self, index, **kwargs):
            none = torch.empty(0, dtype=torch.long)
            return SamplerOutput(index.node, none, none, none, metadata=(index.input_id, index.time))

        def sample_from_edges(self, index, **kwargs):
            raise NotImplementedError

    network = c2n.construct(citing_authors(), Query(np.array([0, 1, 2])), "greedy", n_cells=2, form="cells+objects")
    data = to_pyg(network)
    wanted = torch.arange(data.num_nodes - 1, -1, -1)
    parts = list(NodeLoader(data, node_sampler=Alone(), input_nodes=wanted, batch_size=2))
    assert [batch.names[at] for batch in parts for at in batch.node] == data.names[::-1]
    assert torch.equal(torch.cat([batch.x for batch in parts]), data.x.flip(0))
    part = data.subgraph(torch.tensor([1, 3]))
    assert [part.ids[at] for at in part.node] == [data.ids[1], data.ids[3]] and part.num_nodes == 2
    assert not [name for name in data.node_attrs() if not isinstance(data[name], torch.Tensor)]


def test_names_of_columns_as_many_as_nodes_are_no_attribute_of_nodes() -> None:
    network = rich_network()
    for store in [to_pyg(network), *to_hetero(network).node_stores]:
        lists = {name for name in ("x_names", "ids", "names", "cells") if store.is_node_attr(name)}
        assert not lists and store.node.tolist() == list(range(store.num_nodes))
        assert store.ids == list(store.ids) and list(store.ids) == store.ids


def test_a_date_is_one_number_of_tensors() -> None:
    days = pd.date_range("2019-01-21", periods=20)
    people = pd.DataFrame({"id": range(20), "city": ["Rome", "Oslo"] * 10, "signup": days, "born": days.date})
    people.loc[3, "signup"] = None
    knows = pd.DataFrame({"source": range(19), "target": range(1, 20)})
    cube = c2n.build(people, links=knows, dimensions=["city"])
    network = c2n.construct(cube, [0, 3, 4], "greedy", n_cells=1)
    data = to_pyg(network)
    rows = [list(network).index(key) for key in (0, 3, 4)]
    assert [name for name in data.x_names if not name.startswith(("city", "items"))] == ["signup", "born"]
    columns = dict(zip(data.x_names, data.x.numpy().T, strict=True))
    first = dt.datetime(2019, 1, 21, tzinfo=dt.UTC).timestamp()
    assert np.allclose(columns["signup"][rows], [first, 0, first + 4 * 86_400], atol=128, rtol=0)
    assert np.allclose(columns["born"][rows], [first, first + 3 * 86_400, first + 4 * 86_400], atol=128, rtol=0)
