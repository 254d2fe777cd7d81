"""Every export keeps every column of nodes and links, whatever its type, and the direction of links."""

import csv
import datetime as dt
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cube2net as c2n
from cube2net.arrays import ragged_from_lists
from cube2net.cube import DuckDB, build, save
from cube2net.network.export import EXPORTS, to_igraph, to_networkx, write
from cube2net.network.export_tables import ends_of
from cube2net.network.plain_columns import plain_table
from cube2net.network.pyg import inputs, to_hetero, to_pyg
from cube2net.network.xml_formats import GEXF_KINDS
from cube2net.records import Corpus, Cube, DimensionSpec, Network, Objects, Query, Selection
from cube2net.records.corpus import MENTIONS, OBJECTS, table

from toys import sent

ATTRIBUTES = {
    "papers": pa.array([3, None, 2**40, 0], pa.int64()),
    "small": pa.array([1, -2, None, None], pa.int8()),
    "share": pa.array([0.1, float("nan"), None, 1e-7], pa.float32()),
    "height": pa.array([1.5, None, -0.25, None], pa.float64()),
    "city": pa.array(['Zoë "Z" <&>', "Rome\n", None, None]),
    "kind of city": pa.array(["a", "b", "a", None]).dictionary_encode(),
    "active": pa.array([True, False, None, None]),
    "born": pa.array([dt.date(1912, 6, 23), None, dt.date(2006, 2, 25), None]),
    "seen": pa.array([dt.datetime(2020, 1, 2, 3, 4, 5, 500_000), None, None, None], pa.timestamp("us")),
    "tags": pa.array([["x", "y; z"], [], None, None]),
    "plain tags": pa.array([["x", "y"], [], None, None]),
    "nothing": pa.nulls(4),
}
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
    {"small": -2, "city": "Rome\n", "kind of city": "b", "active": False, "tags": [], "plain tags": []},
    {"papers": 2**40, "height": -0.25, "kind of city": "a", "born": "2006-02-25"},
    {"papers": 0, "share": 1e-7},
]
LINKS = [{"time": 2015, "note": "a, b"}, {"note": "c"}, {}]


def rich_network(*, whole: bool = False, directed: bool = False) -> Network:
    """Return three objects and a cell with columns of every type; ids are numbers and links directed where asked."""
    ids: list[Any] = [7, 2**40, -3, -4] if whole else ["ada", "bob & co", "eve", "cell:x"]
    bare = Network(
        query=Query(np.array([0, 1]), labels=("red", "")),
        selection=Selection(np.array([0, 1, 2]), 0.5, cells=np.array([0]), values=np.array([0.5])),
        objects=np.array([0, 1, 2], dtype=np.int32),
        cells=np.array([0], dtype=np.int32),
        source=np.array([0, 2, 3], dtype=np.int32),
        target=np.array([1, 1, 0], dtype=np.int32),
        weight=np.array([4.0, 0.5, 0.1], dtype=np.float32),
        brought_by=ragged_from_lists([[0], [], []]),
        query_links=np.array([1, 2, 1], dtype=np.int32),
        names=Objects.of(
            pa.table({"object": ["ada", "bob & co", "eve"], "name": ["A", "B", "E"], "kind": ["author"] * 3})
        ),
        dimensions=("city",),
        labels=(("x",),),
        form="both",
    )
    nodes, links = bare.nodes.set_column(0, "id", pa.array(ids)), bare.links
    for name, column in ATTRIBUTES.items():
        nodes = nodes.append_column(name, column)
    for number, end in enumerate((bare.source, bare.target)):
        links = links.set_column(number, ("source", "target")[number], nodes["id"].take(pa.array(end)))
    links = links.append_column("time", pa.array([2015, None, None], pa.int64()))
    links = links.append_column("note", pa.array(["a, b", "c", None]))
    if directed:
        links = links.append_column("forward", pa.array([3.0, 1.0, None], pa.float32()))
        links = links.append_column("backward", pa.array([1.0, 0.0, None], pa.float32()))
    bare.__dict__.update(nodes=nodes, links=links)
    return bare


def attributes(row: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a node as it was read, lists and truths as they were."""
    found = {name: row[name] for name in ATTRIBUTES if name in row and row[name] not in (None, "")}
    for name in ("tags", "plain tags"):
        if isinstance(found.get(name), str):
            found[name] = json.loads(found[name])
    return found


def told(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("time", "note") if row.get(name) is not None}


Whole = tuple[list[Any], list[dict[str, Any]], list[tuple[Any, Any, float, dict[str, Any]]]]


def of_graph(graph: nx.Graph) -> Whole:
    nodes = dict(graph.nodes(data=True))
    links = [(a, b, data["weight"], told(data)) for a, b, data in graph.edges(data=True)]
    return list(nodes), [attributes(data) for data in nodes.values()], links


def of_csv(lines: list[dict[str, str]]) -> list[dict[str, Any]]:
    numbers = {"papers": int, "small": int, "share": float, "height": float, "time": int}
    made = []
    for line in lines:
        row: dict[str, Any] = {name: numbers.get(name, str)(text) for name, text in line.items() if text != ""}
        if "active" in row:
            row["active"] = {"true": True, "false": False}[row["active"]]
        made.append(row)
    return made


def read_csv(paths: list[Path]) -> Whole:
    tables = []
    for path in paths[:2]:
        with path.open(encoding="utf-8", newline="") as file:
            tables.append(of_csv(list(csv.DictReader(file))))
    nodes, links = tables
    return (
        [row["id"] for row in nodes],
        [attributes(row) for row in nodes],
        [(row["source"], row["target"], float(row["weight"]), told(row)) for row in links],
    )


def read_neo4j(paths: list[Path]) -> Whole:
    tables = []
    for path in paths[:2]:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        tables.append(of_csv([{name.rpartition(":")[0] or name: text for name, text in row.items()} for row in lines]))
    nodes, links = tables
    for row in nodes:
        if "plain tags" in row:
            row["plain tags"] = row["plain tags"].split(";")
    for row, line in zip(nodes, EXPECTED, strict=True):
        if line.get("plain tags") == []:  # Neo4j writes an empty list and none alike
            row["plain tags"] = []
    return (
        [row["id"] for row in nodes],
        [attributes(row) for row in nodes],
        [(row[":START_ID"], row[":END_ID"], float(row["weight"]), told(row)) for row in links],
    )


def read_parquet(paths: list[Path]) -> Whole:
    nodes, links = (plain_table(pq.read_table(path)).to_pylist() for path in paths)
    return (
        [row["id"] for row in nodes],
        [attributes(row) for row in nodes],
        [(row["source"], row["target"], row["weight"], told(row)) for row in links],
    )


def read_npz(paths: list[Path]) -> Whole:
    with np.load(paths[0]) as file:
        arrays = {name: file[name] for name in file.files}

    def column(name: str) -> list[Any]:
        if f"{name}_indptr" in arrays:
            starts, flat = arrays[f"{name}_indptr"], arrays[f"{name}_indices"].tolist()
            values: list[Any] = [flat[a:b] for a, b in pairwise(starts)]
        else:
            values = arrays[name].tolist()
        missing = arrays.get(f"{name}.missing", np.zeros(len(values), bool))
        return [None if gone else value for value, gone in zip(values, missing, strict=True)]

    ids = arrays["id"].tolist()
    nodes = [dict(zip(ATTRIBUTES, row, strict=True)) for row in zip(*map(column, ATTRIBUTES), strict=True)]
    ends = [arrays[f"link.{name}"].tolist() for name in ("source", "target")]
    weights = plain_table(pa.table({"w": pa.array(arrays["link.weight"])}))["w"].to_pylist()
    links = [
        (ids[a], ids[b], weight, told({"time": time, "note": note}))
        for a, b, weight, time, note in zip(*ends, weights, column("link.time"), column("link.note"), strict=True)
    ]
    return ids, [attributes(row) for row in nodes], links


def read_cyjs(paths: list[Path]) -> Whole:
    elements = json.loads(paths[0].read_text("utf-8"))["elements"]
    nodes = [node["data"] for node in elements["nodes"]]
    links = [link["data"] for link in elements["edges"]]
    return (
        [row["id"] for row in nodes],
        [attributes(row) for row in nodes],
        [(row["source"], row["target"], row["weight"], told(row)) for row in links],
    )


READERS = {
    ".graphml": lambda paths: of_graph(nx.read_graphml(paths[0])),
    ".gexf": lambda paths: of_graph(nx.read_gexf(paths[0])),
    ".csv": read_csv,
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".json": lambda paths: of_graph(nx.node_link_graph(json.loads(paths[0].read_text("utf-8")), edges="links")),
    ".cyjs": read_cyjs,
    ".neo4j.csv": read_neo4j,
}


def unordered(links: list[tuple[Any, Any, float, dict[str, Any]]]) -> list[Any]:
    return sorted((*sorted((str(a), str(b))), weight, sorted(data.items())) for a, b, weight, data in links)


def test_every_format_has_a_reader_here() -> None:
    assert {*READERS, ".vosviewer.json"} == {*EXPORTS}


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("suffix", READERS)
def test_every_column_of_every_type_reads_back_and_what_is_missing_is_absent(
    suffix: str, whole: bool, tmp_path: Path
) -> None:
    network = rich_network(whole=whole)
    ids, nodes, links = READERS[suffix](write(network, tmp_path / f"net{suffix}"))
    own = network.nodes["id"].to_pylist()
    assert list(map(str, ids)) == list(map(str, own))
    if suffix in (".json", ".parquet", ".npz"):
        assert ids == own
    assert nodes == EXPECTED
    expected = [
        (own[a], own[b], weight, data)
        for a, b, weight, data in zip(network.source, network.target, [4.0, 0.5, 0.1], LINKS, strict=True)
    ]
    assert unordered(links) == unordered(expected)


def test_graphml_keeps_whole_numbers_as_ids_in_an_attribute(tmp_path: Path) -> None:
    write(rich_network(whole=True), tmp_path / "net.graphml")
    graph = nx.read_graphml(tmp_path / "net.graphml")
    assert [data["id"] for _, data in graph.nodes(data=True)] == [7, 2**40, -3, -4]


def test_graphml_and_gexf_type_every_attribute(tmp_path: Path) -> None:
    for suffix in (".graphml", ".gexf"):
        write(rich_network(), tmp_path / f"net{suffix}")
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
    nodes, links = write(rich_network(directed=True), tmp_path / "net.neo4j.csv")
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
    assert graph.nodes[7]["tags"] == ["x", "y; z"] and other.es["time"] == [2015, None, None]
    assert not graph.is_directed() and not other.is_directed()


ARROWS = {("ada", "bob & co"): 3.0, ("bob & co", "ada"): 1.0, ("eve", "bob & co"): 0.5, ("ada", "cell:x"): 0.1}


@pytest.mark.filterwarnings("ignore:Could not add vertex ids:RuntimeWarning")
def test_a_directed_source_makes_directed_graphs_with_memberships_from_objects_to_cells(tmp_path: Path) -> None:
    network = rich_network(directed=True)
    for suffix in (".graphml", ".gexf", ".json"):
        write(network, tmp_path / f"net{suffix}")
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
    ends = ends_of(network)
    total = np.zeros((4, 4))
    np.add.at(total, (ends.source, ends.target), ends.columns["weight"].to_numpy())
    own = np.zeros((4, 4))
    np.add.at(own, (network.source, network.target), network.weight)
    assert np.allclose(total + total.T, own + own.T)


def test_tables_keep_the_links_as_the_network_has_them(tmp_path: Path) -> None:
    paths = write(rich_network(directed=True), tmp_path / "net.csv")
    with paths[1].open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["source", "target", "weight", "kind", "time", "note", "forward", "backward"]
    assert lines[1] == ["ada", "bob & co", "4.0", "link", "2015", "a, b", "3.0", "1.0"]


def test_vosviewer_gets_items_links_and_clusters(tmp_path: Path) -> None:
    (path,) = write(rich_network(), tmp_path / "net.vosviewer.json")
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
    names, values = inputs(pa.table({"id": list(range(60)), "city": [f"city {at}" for at in range(60)]}))
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


def citing_authors() -> Cube:
    """Return three authors with whole numbers as ids, attributes, and links that have a way, a kind and a date."""
    objects = table(OBJECTS, object=["7", "8", "9"], name=["Ada", "Bob", "Eve"], kind=["author", "author", "editor"])
    objects = objects.append_column("papers", pa.array([3, None, 5]))
    objects = objects.append_column("born", pa.array([dt.date(1912, 6, 23), None, None]))
    mentions = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    links = pa.table(
        {
            "source": pa.array([0, 1, 2], pa.int32()),
            "target": pa.array([1, 0, 1], pa.int32()),
            "weight": pa.array([3.0, 1.0, 2.0], pa.float32()),
            "kind": ["cites", "cites", "thanks"],
            "time": pa.array([dt.date(2015, 1, 1), dt.date(2016, 1, 1), None]),
        }
    )
    corpus = Corpus(
        objects=objects,
        items=pa.table({"item": ["p0", "p1", "p2"], "venue": [["ACL"], ["KDD"], ["ACL"]]}),
        mentions=table(MENTIONS, item=[item for item, _ in mentions], object=[row for _, row in mentions]),
        links=links,
        directed=True,
        whole_ids=True,
    )
    return build(corpus, [DimensionSpec.parse("venue")], DuckDB(), min_objects=1, items=True)


def test_what_a_source_says_of_objects_and_links_comes_out() -> None:
    network = c2n.construct(citing_authors(), Query(np.array([0, 1, 2])), "greedy", m=2, form="both")
    graph = to_networkx(network)
    assert graph.is_directed() and set(graph) >= {7, 8, 9}
    assert graph.nodes[7]["papers"] == 3 and "papers" not in graph.nodes[8] and graph.nodes[9]["kind"] == "editor"
    arrows = {(a, b): data for a, b, data in graph.edges(data=True) if data["kind"] != "membership"}
    assert {ends: data["given"] for ends, data in arrows.items()} == {(7, 8): 3.0, (8, 7): 1.0, (9, 8): 2.0}
    assert arrows[7, 8]["kind"] == "cites" and arrows[9, 8]["kind"] == "thanks" and "first" not in arrows[9, 8]
    assert arrows[7, 8]["first"] == arrows[7, 8]["last"] == dt.date(2015, 1, 1)
    assert arrows[8, 7]["first"] == arrows[8, 7]["last"] == dt.date(2016, 1, 1)


def both_ways() -> c2n.Network:
    """Return a network in which what leads there and what leads back are of other kinds and times."""
    graph = nx.DiGraph()
    graph.add_edge(1, 2, kind="book", time=2020, weight=3)
    graph.add_edge(2, 1, kind="toy", time=2022)
    graph.add_edge(3, 2, time=2021)
    nx.set_node_attributes(graph, {1: "Rome", 2: "Rome", 3: "Oslo"}, "city")
    cube = c2n.build_cube(graph, dimensions=["city"], min_objects=1)
    return c2n.construct(cube, [1, 2, 3], "greedy", m=2, form="both")


@pytest.mark.parametrize("travelled", [False, True])
def test_a_directed_link_has_the_kind_and_time_of_its_own_way(travelled: bool, tmp_path: Path) -> None:
    network = sent(both_ways()) if travelled else both_ways()
    ways = {(1, 2): ("book", 2020), (2, 1): ("toy", 2022), (3, 2): ("link", 2021)}
    graph = to_networkx(network)
    told = {(a, b): data for a, b, data in graph.edges.data()}
    links = {ends: data for ends, data in told.items() if data["kind"] != "membership"}
    assert {ends: (data["kind"], data["first"]) for ends, data in links.items()} == ways
    assert {ends: (data["kind"], data["last"]) for ends, data in links.items()} == ways
    assert all("first" not in data for data in told.values() if data["kind"] == "membership")
    write(network, tmp_path / "net.graphml")
    again = nx.read_graphml(tmp_path / "net.graphml", node_type=int)
    assert {(a, b): (d["kind"], d["first"]) for a, b, d in again.edges.data() if "first" in d} == ways
    write(network, tmp_path / "net.neo4j.csv")
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
    joined = {frozenset((row["source"], row["target"])): row["kind"] for row in network.links.to_pylist()}
    assert joined[frozenset((1, 2))] == "book|toy"


@pytest.mark.parametrize("suffix", EXPORTS)
def test_what_a_source_says_is_made_again_to_the_byte(suffix: str, tmp_path: Path) -> None:
    save(citing_authors(), tmp_path / "cube")
    network = c2n.construct(c2n.open_cube(tmp_path / "cube"), Query(np.array([0, 1])), "greedy", m=2, form="both")
    write(network, tmp_path / f"net{suffix}")
    assert c2n.replay(tmp_path / f"net{suffix}").differences == ()


def test_tensors_have_shares_of_labels_and_times_of_links() -> None:
    network = c2n.construct(citing_authors(), Query(np.array([0, 1, 2])), "greedy", m=2, form="both")
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
    cube = c2n.build_cube(graph, dimensions=["city"], min_objects=1)
    network = c2n.construct(cube, ["a", "b", "c"], "none")
    assert network.nodes["number"].to_pylist() == [2**53 + 1, -(2**62) - 1, 5]
    data, hetero = to_pyg(network), to_hetero(network)
    assert data.x[:, data.x_names.index("number")].tolist() == [2.0**53, -(2.0**62), 5.0]
    assert data.edge_last.tolist() == [2.0**53, 2.0**60] == hetero["node", "link", "node"].edge_first.tolist()


def test_tensors_have_times_that_are_far_away() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", time=dt.datetime(9000, 1, 1, 0, 0, 0, 1))
    nx.set_node_attributes(graph, dict.fromkeys(graph, "Rome"), "city")
    cube = c2n.build_cube(graph, dimensions=["city"], min_objects=1)
    data = to_pyg(c2n.construct(cube, ["a", "b"], "none"))
    assert data.edge_first.tolist() == [dt.datetime(9000, 1, 1, tzinfo=dt.UTC).timestamp()]


def test_a_directed_link_without_weight_keeps_its_way() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from("abc", city="Rome")
    graph.add_weighted_edges_from([("b", "a", 0.0), ("c", "b", 2.0), ("b", "c", 0.0)])
    cube = c2n.build_cube(c2n.from_networkx(graph), ["city"], min_objects=1)
    made = c2n.to_networkx(c2n.construct(cube, ["a", "b", "c"], "hops", form="objects"))
    weights = {(source, target): weight for source, target, weight in made.edges(data="weight")}
    assert weights == {("b", "a"): 0.0, ("c", "b"): 2.0, ("b", "c"): 0.0}
