"""Networks with columns of every type, of nodes and links, some of them directed, for tests of exports."""

import datetime as dt
from typing import Any

import networkx as nx
import pyarrow as pa

import cube2net as c2n
from cube2net.cube.building.build import build
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.model.corpus import MENTIONS, OBJECTS, Corpus, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.network import Network
from cube2net.model.tables import ArrowTable, Nodes

from bare_networks import bare_network

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
LINKS = [{"time": 2015, "note": "a, b"}, {"note": "c"}, {}]


def rich_network(*, whole: bool = False, directed: bool = False) -> Network:
    """Return three objects and a cell with columns of every type; ids are numbers and links directed where asked."""
    ids: list[Any] = [7, 2**40, -3, -4] if whole else ["ada", "bob & co", "eve", "cell:x"]
    bare = bare_network(
        [(0, 1), (2, 1), (3, 0)],
        query=2,
        objects=[0, 1, 2],
        cells=[("x",)],
        labels=["red", ""],
        weights=[4.0, 0.5, 0.1],
        held=[[0], [], []],
        query_links=[1, 2, 1],
        ids=["ada", "bob & co", "eve"],
        names=["A", "B", "E"],
        kinds=["author"] * 3,
        dimensions=("city",),
    )
    nodes, links = bare.nodes.to_arrow().set_column(0, "id", pa.array(ids)), bare.links.to_arrow()
    for name, column in ATTRIBUTES.items():
        nodes = nodes.append_column(name, column)
    for number, end in enumerate((bare.source, bare.target)):
        links = links.set_column(number, ("source", "target")[number], nodes["id"].take(pa.array(end)))
    links = links.append_column("time", pa.array([2015, None, None], pa.int64()))
    links = links.append_column("note", pa.array(["a, b", "c", None]))
    if directed:
        links = links.append_column("forward", pa.array([3.0, 1.0, None], pa.float32()))
        links = links.append_column("backward", pa.array([1.0, 0.0, None], pa.float32()))
    bare.__dict__.update(nodes=Nodes(nodes, bare._read_graph), links=ArrowTable(links))
    return bare


ARROWS = {("ada", "bob & co"): 3.0, ("bob & co", "ada"): 1.0, ("eve", "bob & co"): 0.5, ("ada", "cell:x"): 0.1}


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


def both_ways() -> c2n.Network:
    """Return a network in which what leads there and what leads back are of other kinds and times."""
    graph = nx.DiGraph()
    graph.add_edge(1, 2, kind="book", time=2020, weight=3)
    graph.add_edge(2, 1, kind="toy", time=2022)
    graph.add_edge(3, 2, time=2021)
    nx.set_node_attributes(graph, {1: "Rome", 2: "Rome", 3: "Oslo"}, "city")
    cube = c2n.build(graph, dimensions=["city"], min_objects=1)
    return c2n.construct(cube, [1, 2, 3], "greedy", n_cells=2, form="cells+objects")
