"""Every export keeps every column of nodes and links, whatever its type."""

import csv
import datetime as dt
import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import cube2net as c2n
from cube2net.cube.storage.writer import save
from cube2net.model.query import Query
from cube2net.network.export.graphs import to_igraph, to_networkx
from cube2net.network.export.registry import EXPORTS, export_network
from cube2net.network.export.xml import GEXF_KINDS

from network_readers import READERS, list_expected, read_back, sort_links
from rich_networks import ATTRIBUTES, LINKS, citing_authors, rich_network

EXPECTED = [
    {
        "papers": 3,
        "small": 1,
        "share": 0.1,
        "height": 1.5,
        "city": 'Zoë "Z" <&>',
        "kind of city": "a",
        "active": True,
        "born": "1912-06-23",
        "seen": "2020-01-02T03:04:05.5",
        "tags": ["x", "y; z"],
        "plain tags": ["x", "y"],
    },
    {"small": -2, "city": "Rome\n", "kind of city": "b", "active": False},
    {"papers": 2**40, "height": -0.25, "kind of city": "a", "born": "2006-02-25"},
    {"papers": 0, "share": 1e-7},
]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("suffix", READERS)
def test_every_column_of_every_type_reads_back_and_what_is_missing_is_absent(
    suffix: str, whole: bool, tmp_path: Path
) -> None:
    network = rich_network(whole=whole)
    nodes, links = read_back(export_network(network, tmp_path / f"net{suffix}"), network)
    assert (nodes, links) == list_expected(network)
    assert [{name: row[name] for name in ATTRIBUTES if name in row} for row in nodes] == EXPECTED
    own = list(network)
    assert links == sort_links(
        {"source": own[a], "target": own[b], "weight": weight, "kind": kind, **data}
        for a, b, weight, kind, data in zip(
            network.source, network.target, [4.0, 0.5, 0.1], ["link", "link", "membership"], LINKS, strict=True
        )
    )


def test_graphml_keeps_whole_numbers_as_ids_in_an_attribute(tmp_path: Path) -> None:
    export_network(rich_network(whole=True), tmp_path / "net.graphml")
    graph = nx.read_graphml(tmp_path / "net.graphml")
    assert [data["id"] for _, data in graph.nodes(data=True)] == [7, 2**40, -3, -4]


def test_graphml_and_gexf_type_every_attribute(tmp_path: Path) -> None:
    for suffix in (".graphml", ".gexf"):
        export_network(rich_network(), tmp_path / f"net{suffix}")
    for name, kind in {
        "papers": "long",
        "small": "int",
        "share": "double",
        "active": "boolean",
        "born": "string",
    }.items():
        assert f'attr.name="{name}" attr.type="{kind}"' in (tmp_path / "net.graphml").read_text("utf-8")
        assert f'title="{name}" type="{GEXF_KINDS.get(kind, kind)}"' in (tmp_path / "net.gexf").read_text("utf-8")


def test_neo4j_headers_say_what_each_column_is(tmp_path: Path) -> None:
    nodes, links = export_network(rich_network(directed=True), tmp_path / "net.neo4j.csv")
    assert nodes.name == "net.nodes.neo4j.csv" and links.name == "net.links.neo4j.csv"
    assert nodes.read_text("utf-8").splitlines()[0] == (
        "id:ID,:LABEL,name:string,kind:string,in_query:boolean,label:string,cells:int[],query_links:int,papers:long,"
        "small:int,share:double,height:double,city:string,kind of city:string,active:boolean,born:string,seen:string,"
        "tags:string,plain tags:string[],nothing:string"
    )
    assert links.read_text("utf-8").splitlines() == [
        ":START_ID,:END_ID,:TYPE,weight:double,kind:string,time:long,note:string,given:double",
        'ada,bob & co,link,3.0,link,2015,"a, b",3.0',
        'bob & co,ada,link,1.0,link,2015,"a, b",1.0',
        "eve,bob & co,link,0.5,link,,c,1.0",
        "ada,cell:x,membership,0.1,membership,,,",
    ]


def test_networkx_and_igraph_have_the_types_of_python() -> None:
    network = rich_network(whole=True)
    graph, other = to_networkx(network), to_igraph(network)
    assert list(graph) == other.vs["id"] == [7, 2**40, -3, -4]
    assert graph.nodes[7]["born"] == dt.date(1912, 6, 23) and other.vs[0]["seen"].microsecond == 500_000
    assert "papers" not in graph.nodes[2**40] and other.vs[1]["papers"] is None
    assert (
        graph.nodes[7]["tags"] == ["x", "y; z"]
        and graph.nodes[2**40]["tags"] == []
        and other.es["time"] == [2015, None, None]
    )
    assert not graph.is_directed() and not other.is_directed()


def test_tables_keep_the_links_as_the_network_has_them(tmp_path: Path) -> None:
    paths = export_network(rich_network(directed=True), tmp_path / "net.csv")
    with paths[1].open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["source", "target", "weight", "kind", "time", "note", "forward", "backward"]
    assert lines[1] == ["ada", "bob & co", "4.0", "link", "2015", "a, b", "3.0", "1.0"]


def test_vosviewer_gets_items_links_and_clusters(tmp_path: Path) -> None:
    (path,) = export_network(rich_network(), tmp_path / "net.vosviewer.json")
    whole = json.loads(path.read_text("utf-8"))["network"]
    assert whole["clusters"] == [
        {"cluster": number, "label": label}
        for number, label in enumerate(["red", "query", "other objects", "cells"], 1)
    ]
    assert [item["cluster"] for item in whole["items"]] == [1, 2, 3, 4]
    first = whole["items"][0]
    assert (first["id"], first["label"]) == ("ada", "A")
    assert first["weights"] == {"Links": 2, "Total link strength": 4.1, "Query links": 1}
    assert first["scores"] == {"papers": 3, "small": 1, "share": 0.1, "height": 1.5}
    assert 'city: Zoë "Z" &lt;&amp;&gt;; ' in first["description"]
    assert whole["links"][0] == {"source_id": "ada", "target_id": "bob & co", "strength": 4.0}
    assert all(link["strength"] >= 0 for link in whole["links"])


def test_what_a_source_says_of_objects_and_links_comes_out() -> None:
    network = c2n.construct(citing_authors(), Query(np.array([0, 1, 2])), "greedy", n_cells=2, form="cells+objects")
    graph = to_networkx(network)
    assert graph.is_directed() and set(graph) >= {7, 8, 9}
    assert graph.nodes[7]["papers"] == 3 and "papers" not in graph.nodes[8] and graph.nodes[9]["kind"] == "editor"
    arrows = {(a, b): data for a, b, data in graph.edges(data=True) if data["kind"] != "membership"}
    assert {ends: data["given"] for ends, data in arrows.items()} == {(7, 8): 3.0, (8, 7): 1.0, (9, 8): 2.0}
    assert arrows[7, 8]["kind"] == "cites" and arrows[9, 8]["kind"] == "thanks" and "first" not in arrows[9, 8]
    assert arrows[7, 8]["first"] == arrows[7, 8]["last"] == dt.date(2015, 1, 1)
    assert arrows[8, 7]["first"] == arrows[8, 7]["last"] == dt.date(2016, 1, 1)


@pytest.mark.parametrize("suffix", EXPORTS)
def test_what_a_source_says_is_made_again_to_the_byte(suffix: str, tmp_path: Path) -> None:
    save(citing_authors(), tmp_path / "cube")
    cube = c2n.open(tmp_path / "cube")
    network = c2n.construct(cube, Query(np.array([0, 1])), "greedy", n_cells=2, form="cells+objects")
    export_network(network, tmp_path / f"net{suffix}")
    assert c2n.replay(tmp_path / f"net{suffix}").differences == ()
