"""Truths stay truths: through corpus, cube, network, exports and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cube2net as c2n

LOYAL = [True, False, None, True, False, True] * 10
CITIES = ["Rome", "Oslo", "Bern"] * 20
NODES: dict[str, list[Any]] = {"id": [f"n{i}" for i in range(60)], "loyal": LOYAL, "city": CITIES}
LINKS = {"source": [f"n{i}" for i in range(59)], "target": [f"n{i}" for i in range(1, 60)]}


def graph_of() -> nx.Graph:
    graph = nx.Graph(list(zip(LINKS["source"], LINKS["target"], strict=True)))
    nx.set_node_attributes(graph, dict(zip(NODES["id"], CITIES, strict=True)), "city")
    known = {key: value for key, value in zip(NODES["id"], LOYAL, strict=True) if value is not None}
    nx.set_node_attributes(graph, known, "loyal")
    return graph


DOORS = {
    "pandas": lambda: {"nodes": pd.DataFrame(NODES), "links": pd.DataFrame(LINKS)},
    "nullable": lambda: {"nodes": pd.DataFrame(NODES).astype({"loyal": "boolean"}), "links": pd.DataFrame(LINKS)},
    "polars": lambda: {"nodes": pl.DataFrame(NODES), "links": pl.DataFrame(LINKS)},
    "arrow": lambda: {"nodes": pa.table(NODES), "links": pa.table(LINKS)},
    "networkx": graph_of,
}


@pytest.mark.parametrize("door", DOORS)
def test_truths_are_truths_from_the_data_to_the_network_and_labels_in_between(door: str, tmp_path: Path) -> None:
    cube = c2n.build(DOORS[door](), ["loyal", "city"], min_objects=1)
    assert cube.dimensions[0].labels == ("false", "true")
    assert cube.find_cell(["true", "Rome"]) >= 0
    assert cube.objects.attributes.schema.field("loyal").type == pa.bool_()
    assert cube.items is not None and cube.items().kept_attributes.table["loyal"].to_pylist() == LOYAL
    cube.save(tmp_path / "cube")
    network = c2n.construct(c2n.open(tmp_path / "cube"), ["n0", "n1", "n2"], "none")
    assert network.nodes.to_arrow()["loyal"].to_pylist() == [True, False, None]
    graph = network.to_networkx()
    assert graph.nodes["n0"]["loyal"] is True and "loyal" not in graph.nodes["n2"]
    assert network.to_pandas().nodes["loyal"].dtype == "boolean"
    for suffix in (".graphml", ".gexf", ".json", ".cyjs"):
        network.save(tmp_path / f"net{suffix}")
        again = c2n.read_graph(tmp_path / f"net{suffix}")
        assert again.objects["loyal"].to_pylist() == [True, False, None], suffix
    for name in ("net.parquet", "net.xlsx"):
        network.save(tmp_path / name)
    for names in (("net.nodes.parquet", "net.links.parquet"), ("net.xlsx",)):
        again = c2n.read_tables(*(tmp_path / name for name in names))
        assert again.objects["loyal"].to_pylist() == [True, False, None]


def test_truths_are_suggested_as_labels() -> None:
    found = c2n.suggest(c2n.read_tables(nodes=pd.DataFrame(NODES), links=pd.DataFrame(LINKS)))
    kinds = {row["attribute"]: row["kind"] for row in found.table.to_pylist()}
    assert kinds["loyal"] == "labels"


def test_tensors_have_a_truth_as_one_number() -> None:
    cube = c2n.build(DOORS["arrow"](), ["city"], min_objects=1)
    data = c2n.construct(cube, ["n0", "n1", "n2"], "none").to_pyg()
    assert data.x[:, data.x_names.index("loyal")].tolist() == [1.0, 0.0, 0.0]


def test_truths_of_a_record_that_differ_are_several_labels_of_it() -> None:
    rows = pd.DataFrame({"paper": [1, 1, 2], "author": ["a", "b", "a"], "new": [True, False, True]})
    corpus = c2n.read_tables(rows, item="paper", objects="author")
    assert corpus.items["new"].to_pylist() == [["true", "false"], ["true"]]


def test_truths_and_texts_that_say_them_go_together_in_an_update(tmp_path: Path) -> None:
    texts = ["true", "false"] * 5
    old = pd.DataFrame({"id": [f"n{i}" for i in range(10)], "loyal": texts})
    new = pd.DataFrame({"id": [f"m{i}" for i in range(10)], "loyal": [True, False] * 5})
    links = {
        "n": pd.DataFrame({"source": ["n0"], "target": ["n1"]}),
        "m": pd.DataFrame({"source": ["m0"], "target": ["m1"]}),
    }
    for first, second, one, other in ((old, new, "n", "m"), (new, old, "m", "n")):
        cube = c2n.build(first, links=links[one], dimensions=["loyal"], min_objects=1)
        folder = tmp_path / one
        cube.save(folder)
        c2n.update(folder, c2n.read_tables(nodes=second, links=links[other]))
        more = c2n.open(folder)
        assert [len(members) for members in (more.cells.members[0], more.cells.members[1])] == [10, 10]
        assert more.objects.attributes["loyal"].to_pylist() == texts * 2


def test_whole_numbers_without_a_sign_are_whole_numbers_where_they_fit() -> None:
    ids = pa.array(["a", "b"])
    for values, kind in (([1, 2**63 - 1], pa.int64()), ([None, None], None), ([1, 2**63], pa.float64())):
        nodes = pa.table({"id": ids, "x": [1, 2], "size": pa.array(values, pa.uint64())})
        corpus = c2n.read_tables(nodes=nodes, links=pa.table({"source": ["a"], "target": ["b"]}))
        assert (corpus.objects.schema.field("size").type if kind else None) == kind
        assert kind is not None or "size" not in corpus.objects.column_names
        assert kind != pa.int64() or corpus.objects["size"].to_pylist() == values
