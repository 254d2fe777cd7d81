"""Graphs in files: GraphML, GEXF and JSON come in as they were written, by us or by others."""

import gzip
import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net._util import xml as safe_xml
from cube2net._util.progress import silent
from cube2net.api import read as reading
from cube2net.api.spreadsheets import sheet_reader
from cube2net.errors import Cube2netError
from cube2net.io import xml_graphs
from cube2net.io.graphs import is_graph_file

KEYS = """<key id="d0" for="node" attr.name="city" attr.type="string"><default>Oslo</default></key>
<key id="d1" for="node" attr.name="age" attr.type="int"/>
<key id="d2" for="edge" attr.name="weight" attr.type="double"/>
<key id="d3" for="all" attr.name="kind" attr.type="string"/>
"""
BODY = """<graph edgedefault="{}">
<node id="ada"><data key="d0">Rome</data><data key="d1">7</data></node>
<node id="b&amp;b"><data key="d3">firm</data></node><node id="eve"><data key="d1"> 9 </data></node>
<edge source="ada" target="b&amp;b"><data key="d2">2.5</data><data key="d3">knows</data></edge>
<edge source="eve" target="ada"/></graph>"""


def graphml(body: str = BODY, direction: str = "directed", keys: str = KEYS) -> str:
    return f'<?xml version="1.0"?>\n<graphml xmlns="g">{keys}{body.replace("{}", direction)}</graphml>'


GEXF = """<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="undirected">
<attributes class="node"><attribute id="0" title="city" type="string"><default>Oslo</default></attribute>
<attribute id="1" title="age" type="integer"/></attributes>
<nodes><node id="ada" label="Ada"><attvalues><attvalue for="0" value="Rome"/><attvalue for="1" value="7"/></attvalues>
<nodes><node id="bob" label="Bob"/></nodes></node><node id="eve"/></nodes>
<edges><edge id="0" source="ada" target="bob" weight="2.5" kind="knows" start="2001-02-03"/>
<edge id="1" source="eve" target="ada"/></edges></graph></gexf>"""


def read(folder: Path, name: str, text: str, **options: Any) -> c2n.Corpus:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return c2n.read_graph(path, **options)


def refusal(folder: Path, name: str, text: str, **options: Any) -> str:
    with pytest.raises(Cube2netError) as refused:
        read(folder, name, text, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("name", ["a.graphml", "a.graphml.gz", "a.xml"])
def test_graphml_gives_typed_attributes_defaults_and_directed_links(tmp_path: Path, name: str) -> None:
    corpus = read(tmp_path, name, graphml())
    assert corpus.objects["object"].to_pylist() == ["ada", "b&b", "eve"]
    assert corpus.objects["kind"].to_pylist() == ["node", "firm", "node"]
    assert corpus.items["city"].to_pylist() == ["Rome", "Oslo", "Oslo"]
    assert corpus.items["age"].to_pylist() == [7, None, 9]
    assert corpus.directed
    assert corpus.links is not None
    assert corpus.links.select(["source", "target", "weight", "kind"]).to_pylist() == [
        {"source": 0, "target": 1, "weight": 2.5, "kind": "knows"},
        {"source": 2, "target": 0, "weight": 1.0, "kind": None},
    ]
    assert not read(tmp_path, name, graphml(direction="undirected")).directed


def test_gexf_gives_names_weights_kinds_and_times(tmp_path: Path) -> None:
    corpus = read(tmp_path, "a.gexf", GEXF)
    assert corpus.objects.select(["object", "name"]).to_pydict() == {
        "object": ["bob", "ada", "eve"],
        "name": ["Bob", "Ada", "eve"],
    }
    assert corpus.items["age"].to_pylist() == [None, 7, None]
    assert corpus.items["city"].to_pylist() == ["Oslo", "Rome", "Oslo"]
    assert corpus.links is not None
    assert sorted(corpus.links["weight"].to_pylist()) == [1.0, 2.5]
    assert {str(time) for time in corpus.links["time"].to_pylist()} == {"2001-02-03", "None"}
    assert not corpus.directed


def test_names_hidden_in_the_graphics_of_yed_are_names(tmp_path: Path) -> None:
    keys = '<key id="d6" for="node" yfiles.type="nodegraphics"/><key id="d0" for="node" attr.name="city"/>'
    label = (
        '<data key="d6"><y:ShapeNode><y:Fill color="#F"/><y:NodeLabel x="1">Ada L.</y:NodeLabel></y:ShapeNode></data>'
    )
    body = (
        f'<graph edgedefault="directed"><node id="n0">{label}<data key="d0">Rome</data></node><node id="n1"/></graph>'
    )
    corpus = read(tmp_path, "a.graphml", graphml(body, keys=keys))
    assert corpus.objects["name"].to_pylist() == ["Ada L.", "n1"]
    assert corpus.attributes == ("city",)


def networkx_of(corpus: c2n.Corpus) -> tuple[dict[str, dict[str, Any]], set[tuple[Any, ...]]]:
    ids = corpus.objects["object"].to_pylist()
    attributes = {row.pop("item"): row for row in corpus.items.to_pylist()}
    assert corpus.links is not None
    ends = corpus.links.to_pylist()
    return attributes, {(*sorted((ids[one["source"]], ids[one["target"]])), one["weight"]) for one in ends}


@pytest.mark.parametrize("ending", ["graphml", "gexf", "json"])
def test_what_networkx_writes_is_read_as_networkx_has_it(tmp_path: Path, ending: str) -> None:
    graph = nx.karate_club_graph()
    graph = nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
    path = tmp_path / f"karate.{ending}"
    if ending == "json":
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")), encoding="utf-8")
    else:
        {"graphml": nx.write_graphml, "gexf": nx.write_gexf}[ending](graph, path)
    got, links = networkx_of(c2n.read_graph(path))
    expected, ends = networkx_of(c2n.from_networkx(graph))
    assert {key: row["club"] for key, row in got.items()} == {key: row["club"] for key, row in expected.items()}
    assert links == ends


@pytest.mark.parametrize("ending", ["graphml", "gexf", "json", "cyjs"])
def test_of_a_written_network_attributes_weights_kinds_and_directions_come_back_and_times_do_not(
    tmp_path: Path, ending: str
) -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", kind="book", time=2020, weight=3)
    graph.add_edge("b", "a", kind="toy", time=2022)
    nx.set_node_attributes(graph, {"a": True, "b": False}, "loyal")
    nx.set_node_attributes(graph, {"a": "Rome", "b": "Oslo"}, "city")
    cube = c2n.build(graph, dimensions=["city"], min_objects=1)
    network = c2n.construct(cube, ["a", "b"], "greedy", n_cells=2, form="cells+objects")
    (path,) = network.save(tmp_path / f"network.{ending}")
    said: list[str] = []
    corpus = c2n.read_graph(path, progress=lambda stage, done, total=None: said.append(stage))
    objects = corpus.objects.to_pylist()
    assert [(one["object"], one["loyal"], one["city"]) for one in objects[:2]] == [
        ("a", True, "Rome"),
        ("b", False, "Oslo"),
    ]
    assert {one["kind"] for one in objects[2:]} == {"cell"}
    assert corpus.links is not None and corpus.directed and "time" not in corpus.links.column_names
    links = [row for row in corpus.links.to_pylist() if row["kind"] != "membership"]
    assert [tuple(row.values()) for row in links] == [(0, 1, 3.0, "book"), (1, 0, 1.0, "toy")]
    assert any("not used of links 'first', 'last', 'given'" in stage for stage in said)


@pytest.fixture(scope="module")
def network() -> c2n.Network:
    planted = c2n.make_planted(objects=200, communities=4)
    return c2n.construct(c2n.build(planted.corpus), planted.query(0))


@pytest.mark.parametrize("ending", ["graphml", "gexf", "json"])
def test_a_network_that_was_written_is_read_back(tmp_path: Path, network: c2n.Network, ending: str) -> None:
    (path,) = network.save(tmp_path / f"network.{ending}")
    corpus = c2n.read_graph(path)
    nodes = network.nodes.to_arrow().to_pydict()
    assert corpus.objects["object"].to_pylist() == nodes["id"]
    assert corpus.objects["name"].to_pylist() == nodes["name"]
    assert corpus.objects["kind"].to_pylist() == nodes["kind"]
    assert corpus.items["query_links"].to_pylist() == nodes["query_links"]
    assert corpus.items["in_query"].to_pylist() == nodes["in_query"]
    assert corpus.links is not None
    place = {key: row for row, key in enumerate(nodes["id"])}
    links = network.links.to_arrow().to_pydict()
    pairs = zip(links["source"], links["target"], strict=True)
    expected = {
        tuple(sorted((place[one], place[other]))): (round(weight, 5), kind)
        for (one, other), weight, kind in zip(pairs, links["weight"], links["kind"], strict=True)
    }
    got = {
        tuple(sorted((row["source"], row["target"]))): (round(row["weight"], 5), row["kind"])
        for row in corpus.links.to_pylist()
    }
    assert got == expected


def test_a_cube_is_built_of_a_file_of_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "karate.graphml"
    nx.write_graphml(nx.karate_club_graph(), path)
    cube = "Cube(club: 2 cells, 34 objects, 78 links)"
    assert repr(c2n.build(path, ["club"])) == cube
    assert repr(c2n.build(path, source="graph", out=tmp_path / "cube", dimensions=["club"])) == cube


def test_json_of_cytoscape_and_of_old_d3_is_read(tmp_path: Path) -> None:
    elements = {
        "nodes": [{"data": {"id": "a", "city": "Rome"}}, {"data": {"id": "b", "city": "Oslo"}}],
        "edges": [{"data": {"id": "e", "source": "a", "target": "b", "weight": 2}}],
    }
    corpus = read(tmp_path, "a.cyjs", json.dumps({"elements": elements}))
    assert (corpus.objects["object"].to_pylist(), corpus.items["city"].to_pylist()) == (["a", "b"], ["Rome", "Oslo"])
    old = {"nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "links": [{"source": 1, "target": 2}]}
    links = read(tmp_path, "a.json", json.dumps(old)).links
    assert links is not None and links["source"].to_pylist() == [1]


def test_whole_numbers_stay_such_in_json(tmp_path: Path) -> None:
    graph = {"nodes": [{"id": 7}, {"id": 9}], "links": [{"source": 7, "target": 9}]}
    corpus = read(tmp_path, "a.json", json.dumps(graph))
    assert corpus.whole_ids
    assert corpus.objects["object"].to_pylist() == ["7", "9"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.graphml", "<html></html>", "a.graphml line 1: the first element is 'html', expected 'graphml' or 'gexf'"),
        ("a.graphml", graphml()[:-60], "a.graphml line 9: not whole XML ("),
        ("a.graphml", "", "a.graphml line 1: not whole XML (no element found)"),
        ("a.graphml", graphml("<graph/>"), "a.graphml holds a graph without nodes, expected one or more"),
        ("a.graphml", graphml("<graph><node/></graph>"), "a.graphml line 6: a node has no 'id'"),
        (
            "a.graphml",
            graphml('<graph><node id="a"/><edge source="a"/></graph>'),
            "a.graphml line 6: an edge has no 'target'",
        ),
        (
            "a.graphml",
            graphml('<graph><node id="a"><data key="x">1</data></node></graph>'),
            "a.graphml line 6: data of a node has the key 'x', which is not declared",
        ),
        (
            "a.graphml",
            '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]><graphml>&x;</graphml>',
            "a.graphml line 1: declarations inside the document type are refused, as entities could read other files",
        ),
        (
            "a.graphml",
            graphml('<graph><node id="a"/><node id="a"/></graph>'),
            "a.graphml node 'a': 'node' is 'a' again",
        ),
        ("a.graphml", graphml("<g>" * 200), "a.graphml line 6: elements are nested more than 100 deep"),
        (
            "a.gexf",
            GEXF.replace('for="0"', 'for="9"'),
            "a.gexf line 4: a node has a value for '9', which is no declared",
        ),
        ("a.json", "{", "a.json is no JSON ("),
        ("a.json", "[]", "a.json holds no graph, expected a JSON object with lists of 'nodes' and 'links'"),
        ("a.json", '{"nodes": [5], "links": []}', "a.json: a node is 5, expected an object with keys such as 'id'"),
        ("a.json", '{"nodes": [{"x": 5}], "links": []}', "a.json: nodes have no 'id', such as {'x': 5}"),
        ("a.json", '{"nodes": [{"id": 5}], "links": [{"source": 5}]}', "a.json: link 1 has no source or no target"),
        ("a.json", '{"nodes": [{"id": 5}], "links": [{"source": 5, "target": {}}]}', "a.json: link 1 has no source or"),
        ("a.json", '{"nodes": [{"id": [5]}], "links": []}', "a.json: the id of a node is [5], expected a text or"),
        ("a.json", '{"nodes": [], "links": []}', "a.json holds a graph without nodes, expected one or more"),
        ("a.txt", "x", "a.txt line 1: not whole XML"),
    ],
)
def test_what_is_no_graph_is_refused_in_one_sentence(tmp_path: Path, name: str, text: str, told: str) -> None:
    assert refusal(tmp_path, name, text).startswith(told)


def test_values_of_another_type_than_declared_are_counted_and_not_the_end(tmp_path: Path) -> None:
    rows = "".join(f'<node id="n{i}"><data key="d1">{i}</data></node>' for i in range(30))
    body = f'<graph>{rows}<node id="x"><data key="d1">old</data></node><edge source="n0" target="n1"/></graph>'
    corpus = read(tmp_path, "a.graphml", graphml(body))
    assert corpus.dropped == {"values of 'age' that are not numbers": 1}
    assert corpus.items["age"].to_pylist() == [*range(30), None]
    assert "expected a number" in refusal(tmp_path, "a.graphml", graphml(body), strict=True)


def test_links_to_nobody_and_of_a_node_to_itself_are_counted(tmp_path: Path) -> None:
    ends = '<edge source="ada" target="nobody"/><edge source="ada" target="ada"/></graph>'
    corpus = read(tmp_path, "a.graphml", graphml(BODY.replace("</graph>", ends)))
    assert corpus.dropped == {"links to unknown nodes": 1, "links of an object to itself": 1}


def test_a_graph_larger_than_a_piece_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_graphs, "ROWS_PER_CHUNK", 7)
    monkeypatch.setattr(safe_xml, "PIECE", 11)
    graph = nx.path_graph(50)
    nx.set_node_attributes(graph, {node: {"late": str(node)} for node in graph if node > 20})
    nx.write_graphml(graph, tmp_path / "path.graphml")
    corpus = c2n.read_graph(tmp_path / "path.graphml")
    assert corpus.items["late"].to_pylist() == [None] * 21 + [str(node) for node in range(21, 50)]
    assert corpus.links is not None and corpus.links.num_rows == 49


def test_a_value_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_xml, "MAX_VALUE_BYTES", 1000)
    monkeypatch.setattr(safe_xml, "PIECE", 100)
    body = f'<graph><node id="a"><data key="d0">{"x" * 5000}</data></node></graph>'
    assert refusal(tmp_path, "a.graphml", graphml(body)).endswith("a value takes more than 16 MiB")


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)


@given(st.lists(st.tuples(WORDS, st.integers(-(2**39), 2**39), st.booleans()), min_size=2, max_size=8), st.booleans())
def test_any_graph_that_networkx_writes_comes_in_the_same(rows: list[Any], directed: bool) -> None:
    import tempfile

    graph: Any = nx.DiGraph() if directed else nx.Graph()
    for place, (word, number, truth) in enumerate(rows):
        graph.add_node(f"n{place}", word=word, number=number, truth=truth)
    graph.add_edge("n0", "n1", weight=2)
    with tempfile.TemporaryDirectory() as folder:
        nx.write_graphml(graph, f"{folder}/a.graphml")
        corpus = c2n.read_graph(f"{folder}/a.graphml")
    assert corpus.items["number"].to_pylist() == [number for _, number, _ in rows]
    assert corpus.items["truth"].to_pylist() == [truth for *_, truth in rows]
    assert corpus.directed == directed


@pytest.mark.parametrize(
    ("name", "text", "is_graph"),
    [
        ("a.json", '{"directed": false, "nodes": [{"id": 1}], "links": []}', True),
        ("a.json", '\n{\n  "edges": [],\n  "nodes": [\n', True),
        ("a.json", '{"elements": {"nodes": []}}', True),
        ("a.json.gz", '{"nodes": [{"id": 1}], "links": []}', True),
        ("a.json", '{"nodes": ' + "[" * 3_000, True),
        ("a.json", '{"id": 1, "nodes": 3}\n{"id": 2, "nodes": 4}\n', False),
        ("a.json", '{"id": 1, "links": [2]}\n{"id": 2, "links": [1]}\n', False),
        ("a.json", '[{"id": 1, "nodes": [2]}]', False),
        ("a.csv", "id,nodes", False),
        ("a.GEXF", "", True),
        ("none.json", None, False),
    ],
)
def test_json_is_a_graph_where_it_begins_as_one(tmp_path: Path, name: str, text: str | None, is_graph: bool) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert is_graph_file(path) is is_graph


def test_every_reader_takes_json_with_nodes_for_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"nodes": [{"id": "x"}, {"id": "y"}], "links": [{"source": "x", "target": "y"}]}')
    assert type(sheet_reader([path])).__name__ == "Graph"
    assert reading.resolve_corpus(path, {}, silent, c2n.network).objects["object"].to_pylist() == ["x", "y"]
