"""Networks read as graphs of NetworkX, tables as data frames of pandas, and cubes by the names of their dimensions."""

import copy
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.model.tables import GRAPH_READERS, Nodes
from cube2net.network import networkx_backend

NAMES = [f"n{number}" for number in range(24)]
PEOPLE = pd.DataFrame({"id": NAMES, "city": ["Rome", "Oslo"] * 12, "trade": ["cook"] * 12 + ["smith"] * 12})
EDGES = pd.DataFrame({"source": NAMES[:-1] + NAMES[:-2], "target": NAMES[1:] + NAMES[2:], "weight": range(1, 46)})
CUBE = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
DIRECTED = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1, directed=True)


@pytest.fixture(params=["undirected", "directed"])
def network(request: pytest.FixtureRequest) -> c2n.Network:
    return c2n.construct(DIRECTED if request.param == "directed" else CUBE, NAMES[:4])


def test_a_network_answers_as_its_networkx_graph(network: c2n.Network) -> None:
    graph = network.to_networkx()
    assert dict(network.nodes(data=True)) == dict(graph.nodes(data=True)) == dict(network.nodes.items())
    assert list(network.nodes) == list(network) == list(graph) == list(network.nodes.keys())
    assert list(network.edges(data=True)) == list(graph.edges(data=True))
    assert dict(network.degree(weight="weight")) == dict(graph.degree(weight="weight"))
    assert network["n1"] == graph["n1"] and network.nodes["n1"] == graph.nodes["n1"]
    assert list(network.neighbors("n1")) == list(graph.neighbors("n1"))
    assert network.has_edge("n1", "n2") and not network.has_node("x") and "x" not in network and [] not in network
    assert network.is_directed() == graph.is_directed()
    assert list(network.subgraph(NAMES[:3]).edges) == list(graph.subgraph(NAMES[:3]).edges)
    assert network.nodes.data("kind") == graph.nodes.data("kind") and network.nodes.get("x") is None
    with pytest.raises(KeyError, match="x"):
        network["x"]


def test_every_reader_of_a_graph_is_one_of_the_network(network: c2n.Network) -> None:
    kind = type(network.to_networkx())
    missing = [name for name in dir(kind) if not name.startswith("_") and name not in dir(network)]
    changing = ("add_", "remove_", "clear", "update", "to_directed_class", "to_undirected_class", "name")
    assert [name for name in missing if not name.startswith(changing) and not name.endswith("_factory")] == []
    assert {name for name in GRAPH_READERS.split() if hasattr(nx.DiGraph(), name)} == set(GRAPH_READERS.split())


def test_networkx_reads_a_network(network: c2n.Network) -> None:
    graph = network.to_networkx()
    again = type(graph)(network)
    assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
    assert {(*edge[:2], edge[2]["weight"]) for edge in again.edges(data=True)} == {
        (*edge[:2], edge[2]["weight"]) for edge in graph.edges(data=True)
    }
    assert nx.pagerank(network) == nx.pagerank(graph)
    assert nx.shortest_path(network, "n0", "n3") == nx.shortest_path(graph, "n0", "n3")
    assert set(nx.ego_graph(network, "n0")) == set(nx.ego_graph(graph, "n0"))
    assert np.array_equal(nx.to_numpy_array(network), nx.to_numpy_array(graph))
    assert nx.to_pandas_edgelist(network)["weight"].sum() == nx.to_pandas_edgelist(graph)["weight"].sum()


def test_a_network_is_not_changed_through_its_graph(network: c2n.Network) -> None:
    with pytest.raises(TypeError, match=r"a network does not change: .* network.to_networkx\(\) returns"):
        network.nodes["n0"]["age"] = 3
    with pytest.raises(TypeError, match="a network does not change"):
        next(iter(network.adj["n0"].values()))["weight"] = 3.0
    with pytest.raises(nx.NetworkXError, match="Frozen"):
        network.subgraph(["n0"]).add_node("x")
    changed = network.copy()
    changed.add_edge("n0", "x")
    changed.nodes["n0"]["age"] = 3
    assert "x" in changed and "x" not in network and "age" not in network.nodes["n0"]


def test_what_makes_a_network_empty_names_the_graph(network: c2n.Network) -> None:
    with pytest.raises(TypeError, match=r"give the function the graph that network\.to_networkx\(\) returns"):
        nx.create_empty_copy(network)
    assert nx.create_empty_copy(network.to_networkx()).number_of_nodes() == len(network)


def test_the_backend_gives_functions_of_networkx_the_graph_of_a_network(network: c2n.Network, tmp_path: Path) -> None:
    """Through the entry point that pyproject.toml names, in a process of its own."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"]["networkx.backends"]
    assert points == {network.__networkx_backend__: networkx_backend.__name__}
    folder = tmp_path / "backend-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: backend\nVersion: 1\n")
    lines = [f"{name} = {module}\n" for name, module in points.items()]
    (folder / "entry_points.txt").write_text("".join(["[networkx.backends]\n", *lines]))
    (tmp_path / "network.pickle").write_bytes(pickle.dumps(network))
    program = (
        "import pickle, sys, warnings, networkx as nx\n"
        "network = pickle.load(open('network.pickle', 'rb'))\n"
        "graph = network.to_networkx()\n"
        "for call in (nx.complement, nx.compose_all, nx.relabel_nodes, nx.pagerank, nx.ego_graph):\n"
        "    more = {nx.relabel_nodes: [{'n0': 'x'}], nx.ego_graph: ['n1']}.get(call, [])\n"
        "    first, own = ([network] * 2, [graph] * 2) if call is nx.compose_all else (network, graph)\n"
        "    found, meant = call(first, *more), call(own, *more)\n"
        "    assert type(found) is type(meant) and list(found) == list(meant), call\n"
        "assert type(nx.complement(network)) is type(graph)\n"
        "assert nx.pagerank(graph, backend='cube2net') == nx.pagerank(graph)\n"
        "try:\n"
        "    nx.set_node_attributes(network, {'n0': 1}, 'age')\n"
        "except TypeError:\n"
        "    print('read only')\n"
    )
    source = Path(c2n.__file__).parents[1]
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"import sys; sys.path[:0] = {[str(source), str(tmp_path)]}\n{program}"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (ended.stdout, ended.returncode) == ("read only\n", 0), ended.stderr


def test_tables_read_as_their_data_frames() -> None:
    network = c2n.construct(CUBE, NAMES[:4])
    nodes, links = network.to_pandas()
    for table, frame in ((network.nodes, nodes), (network.links, links), (CUBE.cells, CUBE.to_pandas())):
        assert table.head(2).equals(frame.head(2)) and table.shape == frame.shape and len(table) == len(frame)
        assert list(table.columns) == list(frame.columns) == pa.table(table).column_names
        assert pl.DataFrame(table).height == len(frame)
    assert network.nodes["name"].tolist() == nodes["name"].tolist() == network.nodes.name.tolist()
    assert network.nodes[["id", "kind"]].equals(nodes[["id", "kind"]])
    assert network.nodes[nodes["kind"] == "cell"].equals(network.nodes.query("kind == 'cell'"))
    assert pd.DataFrame(network.links)["weight"].tolist() == [row["weight"] for row in network.links]
    assert network.links[0] == next(iter(network.links)) and network.links[-1]["source"] == links["source"].iloc[-1]
    assert pd.DataFrame(CUBE.cells)["city"].tolist() == CUBE.cells["city"].tolist()
    assert ("Rome", "cook") in CUBE.cells and ("Rome", "x") not in CUBE.cells and "city" in CUBE.cells
    assert CUBE.cells["Rome", "cook"] == CUBE.cells[CUBE.find_cell(("Rome", "cook"))]
    assert list(CUBE.objects) == NAMES and CUBE.objects["n1"]["city"] == "Oslo" and "x" not in CUBE.objects
    assert CUBE.objects["city"].tolist() == PEOPLE["city"].tolist() and f"{len(nodes)} rows" in str(
        network.nodes._repr_html_()
    )
    with pytest.raises(AttributeError, match="'ArrowTable' object has no attribute 'zzz'"):
        network.links.zzz  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(KeyError, match="zzz"):
        network.nodes["zzz"]


def test_a_node_called_as_a_column_is_a_node() -> None:
    graph = nx.Graph([("name", "kind"), ("kind", "id"), ("id", "name")])
    nx.set_node_attributes(graph, "x", "group")
    network = c2n.construct(c2n.build(graph, ["group"], min_objects=1), ["name", "kind"])
    assert network.nodes["name"]["in_query"] and set(network.nodes["kind"]) >= {"name", "kind"}


def test_whole_numbers_are_ids_of_nodes_and_objects() -> None:
    people = PEOPLE.assign(id=range(24))
    pairs = [(number, number + 1) for number in range(23)]
    cube = c2n.build(people, links=pairs, dimensions=["city"], min_objects=1)
    network = c2n.construct(cube, people["id"].head(3))
    assert 2 in network and network.nodes[2]["city"] == "Rome" and 1 in network[2] and "2" not in network
    assert cube.objects[2]["id"] == 2 and 2 in cube.objects and "2" not in cube.objects and 99 not in cube.objects


def test_a_cube_lists_its_dimensions_and_counts_its_cells() -> None:
    assert CUBE.head(2).equals(CUBE.to_pandas().head(2)) and CUBE.shape == (4, 4)
    assert list(CUBE) == ["city", "trade"] and len(CUBE) == len(CUBE.cells) == 4 and bool(CUBE)
    assert "city" in CUBE and "town" not in CUBE
    assert list(CUBE["city"]) == ["Oslo", "Rome"] and len(CUBE["city"]) == 2 and "Rome" in CUBE["city"]
    with pytest.raises(c2n.Cube2netError, match=r"'n1' is an object of the cube: ask `… in cube\.objects`"):
        _ = "n1" in CUBE


def test_what_lists_objects_is_a_query() -> None:
    network, graph = c2n.construct(CUBE, NAMES[:4]), nx.path_graph(NAMES[:4])
    assert list(CUBE.query(NAMES[:4])) == NAMES[:4] and list(CUBE.query([0, 1])) == [0, 1]
    assert CUBE.query(NAMES[:4])[1:3] == ["n1", "n2"] and CUBE.query(NAMES[:4])[0] == "n0"
    for given in (network.query, list(network.query), graph, graph.nodes, graph.nodes(), set(NAMES[:4])):
        assert CUBE.query(given).objects.tolist() == [0, 1, 2, 3]
    inside = [row for row, name in enumerate(NAMES) if name in network]
    assert CUBE.query(network).objects.tolist() == CUBE.query(network.nodes).objects.tolist() == inside
    assert len(CUBE.query(CUBE.objects)) == 24


def test_a_comparison_reads_as_its_data_frame() -> None:
    comparison = c2n.compare(CUBE, NAMES[:8], methods=["none", "pagerank"], models=["line"], runs=2)
    frame = comparison.to_pandas()
    assert len(comparison) == len(comparison.trials) == len(frame) and comparison.head().equals(frame.head())
    assert comparison["method"].tolist() == [trial.configuration.method for trial in comparison.trials]
    assert comparison.groupby("method").size().equals(frame.groupby("method").size())  # type: ignore[attr-defined]


def test_pairs_of_any_kind_are_links_and_one_text_is_a_dimension() -> None:
    graph = nx.path_graph(NAMES)
    nx.set_edge_attributes(graph, 2.0, "weight")
    pairs = list(graph.edges)
    unweighted = (pairs, graph.edges, set(pairs), (pair for pair in pairs), zip(*zip(*pairs, strict=True), strict=True))
    weighted = (graph, graph.edges.data("weight"), graph.edges(data=True))
    for number, links in enumerate((*unweighted, np.array(pairs), *weighted)):
        cube = c2n.build(PEOPLE, dimensions="city", links=links, min_objects=1)
        assert (list(cube), cube.links.count) == (["city"], 23), links
        assert set(cube.links.weights.tolist()) == ({1.0} if number < 6 else {2.0})


def test_a_network_is_data_for_another_cube() -> None:
    network = c2n.construct(CUBE, NAMES[:4])
    assert len(c2n.build(network, ["city"], min_objects=1).objects) == len(network)


def test_tables_travel() -> None:
    network = c2n.construct(CUBE, NAMES[:4])
    for nodes in (pickle.loads(pickle.dumps(network.nodes)), copy.deepcopy(network.nodes)):
        assert isinstance(nodes, Nodes) and nodes.to_arrow().equals(network.nodes.to_arrow())
        assert nodes["n1"] == network.nodes["n1"]


def test_without_networkx_and_pandas_a_network_has_its_ids_and_arrow_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    network = c2n.construct(CUBE, NAMES[:4])
    for package in ("networkx", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    assert "n1" in network and len(network.nodes) == network.nodes.to_arrow().num_rows
    assert network.nodes._repr_html_() is None and CUBE.objects["n1"]["city"] == "Oslo"
    for call in (lambda: network["n1"], lambda: network.edges, lambda: network.nodes["n1"]):
        with pytest.raises(c2n.Cube2netError, match="needs the package 'networkx'"):
            call()
    with pytest.raises(c2n.Cube2netError, match="needs the package 'pandas'"):
        network.nodes["name"]
    with pytest.raises(AttributeError, match="'Nodes' object has no attribute 'head'"):
        network.nodes.head()
