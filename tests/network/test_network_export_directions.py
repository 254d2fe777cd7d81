"""Every export keeps the direction of links, and what is said of each way."""

import csv
import json
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pytest

import cube2net as c2n
from cube2net.network.export.graphs import to_hetero, to_igraph, to_networkx, to_pyg
from cube2net.network.export.plain_tables import list_ends
from cube2net.network.export.registry import export_network

from rich_networks import ARROWS, both_ways, rich_network
from toys import sent


@pytest.mark.filterwarnings("ignore:Could not add vertex ids:RuntimeWarning")
def test_a_directed_source_makes_directed_graphs_with_memberships_from_objects_to_cells(tmp_path: Path) -> None:
    network = rich_network(directed=True)
    for suffix in (".graphml", ".gexf", ".json"):
        export_network(network, tmp_path / f"net{suffix}")
    graphs = [
        to_networkx(network),
        nx.read_graphml(tmp_path / "net.graphml"),
        nx.read_gexf(tmp_path / "net.gexf"),
        nx.node_link_graph(json.loads((tmp_path / "net.json").read_text("utf-8")), edges="links"),
    ]
    for graph in graphs:
        assert graph.is_directed()
        assert {(a, b): data["weight"] for a, b, data in graph.edges(data=True)} == ARROWS
        assert graph.edges["bob & co", "ada"]["given"] == 1.0 and "given" not in graph.edges["ada", "cell:x"]
    for other in (to_igraph(network), igraph.Graph.Read_GraphML(str(tmp_path / "net.graphml"))):
        ids = other.vs["id"]
        assert other.is_directed()
        assert {(ids[edge.source], ids[edge.target]): edge["weight"] for edge in other.es} == ARROWS


def test_the_two_ways_of_a_link_share_out_its_weight() -> None:
    network = rich_network(directed=True)
    ends = list_ends(network)
    total = np.zeros((4, 4))
    np.add.at(total, (ends.source, ends.target), ends.columns["weight"].to_numpy())
    own = np.zeros((4, 4))
    np.add.at(own, (network.source, network.target), network.weight)
    assert np.allclose(total + total.T, own + own.T)


@pytest.mark.parametrize("travelled", [False, True])
def test_a_directed_link_has_the_kind_and_time_of_its_own_way(travelled: bool, tmp_path: Path) -> None:
    network = sent(both_ways()) if travelled else both_ways()
    ways = {(1, 2): ("book", 2020), (2, 1): ("toy", 2022), (3, 2): ("link", 2021)}
    graph = to_networkx(network)
    arrows = {(a, b): data for a, b, data in graph.edges.data()}
    links = {ends: data for ends, data in arrows.items() if data["kind"] != "membership"}
    assert {ends: (data["kind"], data["first"]) for ends, data in links.items()} == ways
    assert {ends: (data["kind"], data["last"]) for ends, data in links.items()} == ways
    assert all("first" not in data for data in arrows.values() if data["kind"] == "membership")
    export_network(network, tmp_path / "net.graphml")
    again = nx.read_graphml(tmp_path / "net.graphml", node_type=int)
    assert {(a, b): (d["kind"], d["first"]) for a, b, d in again.edges.data() if "first" in d} == ways
    export_network(network, tmp_path / "net.neo4j.csv")
    with (tmp_path / "net.links.neo4j.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row[":TYPE"] != "membership"]
    found = {(int(row[":START_ID"]), int(row[":END_ID"])): (row[":TYPE"], int(row["first:long"])) for row in rows}
    assert found == ways
    data = to_pyg(network)
    kinds = [data.edge_kind_names[number] for number in data.edge_kind.tolist()]
    ends = [(data.ids[a], data.ids[b]) for a, b in data.edge_index.T.tolist()]
    arcs = dict(zip(ends, zip(kinds, data.edge_first.tolist(), data.edge_last.tolist(), strict=True), strict=True))
    assert {pair: arc for pair, arc in arcs.items() if arc[0] != "membership"} == {
        pair: (kind, time, time) for pair, (kind, time) in ways.items()
    }
    assert ("node", "toy", "node") in to_hetero(network).edge_types
    assert to_hetero(network)["node", "toy", "node"].edge_last.tolist() == [2022]
    joined = {frozenset((row["source"], row["target"])): row["kind"] for row in network.links.to_arrow().to_pylist()}
    assert joined[frozenset((1, 2))] == "book|toy"


def test_a_directed_link_without_weight_keeps_its_way() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from("abc", city="Rome")
    graph.add_weighted_edges_from([("b", "a", 0.0), ("c", "b", 2.0), ("b", "c", 0.0)])
    cube = c2n.build(c2n.from_networkx(graph), ["city"], min_objects=1)
    made = c2n.construct(cube, ["a", "b", "c"], "hops", form="objects").to_networkx()
    weights = {(source, target): weight for source, target, weight in made.edges(data="weight")}
    assert weights == {("b", "a"): 0.0, ("c", "b"): 2.0, ("b", "c"): 0.0}
