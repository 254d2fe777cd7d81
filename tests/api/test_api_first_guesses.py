"""What users of pandas, scikit-learn and NetworkX write first works, or the error names what they mean."""

import copy
import io
import pickle
from pathlib import Path

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.model.contrast import Description

NAMES = [f"n{number}" for number in range(24)]
PEOPLE = pd.DataFrame(
    {"id": NAMES, "city": ["Rome", "Oslo"] * 12, "trade": ["cook"] * 12 + ["smith"] * 12, "age": range(20, 44)}
)
EDGES = pd.DataFrame({"source": NAMES[:-1] + NAMES[:-2], "target": NAMES[1:] + NAMES[2:]})
QUERY = NAMES[:4]


def test_every_first_guess_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("nodes.csv", index=False)
    EDGES.to_csv("links.csv", index=False)
    graph = nx.from_pandas_edgelist(EDGES)
    nx.set_node_attributes(graph, PEOPLE.set_index("id").to_dict("index"))
    cubes = {
        "frames": c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1),
        "links second": c2n.build(PEOPLE, EDGES, dimensions=["city", "trade"], min_objects=1),
        "files": c2n.build("nodes.csv", "links.csv", dimensions=["city", "trade"], min_objects=1),
        "one file by name": c2n.build("nodes.csv", links="links.csv", dimensions=["city", "trade"], min_objects=1),
        "graph": c2n.build(graph, ["city", "trade"], min_objects=1),
    }
    counts = {name: (len(cube.cells), len(cube.objects), cube.links.count) for name, cube in cubes.items()}
    assert set(counts.values()) == {(4, 24, 45)}, counts
    cube = cubes["frames"]
    cube.save("cube")
    assert repr(c2n.open("cube")) == repr(cube)
    queries = (QUERY, pd.Series(QUERY), PEOPLE.head(4), cube.query(QUERY))
    assert {tuple(c2n.construct(cube, query)) for query in queries} == {tuple(c2n.construct(cube, QUERY))}
    assert len(c2n.construct(cube, "n1").query) == 1
    network = c2n.construct(cube, QUERY, method="greedy", seed=0)
    assert len(network) == len(list(network)) == len(network.nodes) and "n1" in network
    assert network.to_networkx().number_of_nodes() == network.to_igraph().vcount() == network.to_scipy().shape[0]
    frames = (network.to_pandas(), network.to_polars(), network.to_arrow())
    assert {len(nodes) for nodes, _ in frames} == {len(network)}
    assert [path.name for path in network.save("network.graphml")] == ["network.graphml"]
    assert str(network.explain("n2")) == str(c2n.explain(network, "n2"))
    assert len(cube.describe()) == 2 and [dimension.name for dimension in cube.dimensions] == ["city", "trade"]
    assert c2n.suggest(PEOPLE).dimensions and c2n.contrast(cube, QUERY) and c2n.drill(cube, QUERY)
    assert len(c2n.compare(cube, NAMES[:8], runs=2).to_pandas())


def test_cells_are_a_frame() -> None:
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    assert cube.cells.to_pandas().equals(cube.to_pandas())
    assert list(cube.cells.to_pandas().columns) == ["cell", "city", "trade", "objects"]
    assert cube.cells.to_arrow()["objects"].to_pylist() == [6] * 4
    assert list(cube.objects.to_pandas().columns[:2]) == ["id", "name"] and len(cube.objects.to_pandas()) == 24


def test_a_network_equals_one_with_the_same_nodes_links_and_recipe() -> None:
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    network, again = c2n.construct(cube, QUERY), c2n.construct(cube, QUERY)
    stored = io.BytesIO()
    joblib.dump(network, stored)
    stored.seek(0)
    for other in (again, pickle.loads(pickle.dumps(network)), copy.deepcopy(network), joblib.load(stored)):
        assert other == network and hash(other) == hash(network)
    assert network != c2n.construct(cube, QUERY, method="none") and network != c2n.construct(cube, QUERY[:3])
    assert network != "network"
    assert isinstance(pickle.loads(pickle.dumps(cube)).to_arrow(), pa.Table)


def test_a_wrong_first_guess_names_what_is_meant() -> None:
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    network = c2n.construct(cube, QUERY)
    guesses = {
        "cube.construct": (lambda: cube.construct, "cube2net.construct(cube, …)"),  # type: ignore[attr-defined]
        "cube.drill": (lambda: cube.drill, "cube2net.drill(cube, …)"),  # type: ignore[attr-defined]
        "network.add_edge": (lambda: network.add_edge, "network.to_networkx()"),  # type: ignore[attr-defined]
        "network.draw": (lambda: network.draw, "'plot'"),  # type: ignore[attr-defined]
        "load_network": (lambda: c2n.load_network, "'replay'"),  # type: ignore[attr-defined]
        "load": (lambda: c2n.load, "'open'"),  # type: ignore[attr-defined]
        "edges=": (lambda: c2n.build(PEOPLE, edges=EDGES), "'links'"),
        "cube.groupby": (lambda: cube.groupby, "cube2net.cube.roll_up(cube, …)"),  # type: ignore[attr-defined]
        "cube.n_cells": (lambda: cube.n_cells, "len(cube.cells)"),  # type: ignore[attr-defined]
        "cube.dims": (lambda: cube.dims, "'dimensions'"),  # type: ignore[attr-defined]
        "network.neighbours": (lambda: network.neighbours, "network.neighbors"),  # type: ignore[attr-defined]
        "get_data_home": (lambda: c2n.get_data_home, "'load_bundled'"),  # type: ignore[attr-defined]
        "network.write_gexf": (lambda: network.write_gexf, "'save'"),  # type: ignore[attr-defined]
        "pagerank": (lambda: c2n.pagerank, "construct(cube, query, method='pagerank')"),  # type: ignore[attr-defined]
        "plot": (lambda: c2n.plot, "network.plot()"),  # type: ignore[attr-defined]
        "Greedy": (lambda: c2n.Greedy, "'methods.Greedy'"),  # type: ignore[attr-defined]
        "compare labels=": (lambda: c2n.compare(cube, QUERY, labels=QUERY), "query=cube.query(objects, labels)"),  # type: ignore[call-arg]
        "read_csv": (lambda: c2n.read_csv, "'read_tables'"),  # type: ignore[attr-defined]
        "network.to_df": (lambda: network.to_df, "'to_pandas'"),  # type: ignore[attr-defined]
        "cube.columns": (lambda: cube.columns, "'dimensions'"),  # type: ignore[attr-defined]
        "cube.keys": (lambda: cube.keys, "list(cube)"),  # type: ignore[attr-defined]
        "cube.copy": (lambda: cube.copy, "copy.copy(cube)"),  # type: ignore[attr-defined]
        "cube.loc": (lambda: cube.loc, "cube2net.cube.dice(cube, …)"),  # type: ignore[attr-defined]
    }
    unclear = {}
    for name, (call, meant) in guesses.items():
        with pytest.raises((AttributeError, c2n.Cube2netError)) as error:
            call()
        if f"(did you mean {meant}?)" not in str(error.value):
            unclear[name] = str(error.value)
    assert not unclear


def test_the_form_of_the_paper_is_named() -> None:
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    with pytest.raises(c2n.Cube2netError, match="'paper' is 'objects' here"):
        c2n.construct(cube, QUERY, form="paper")  # type: ignore[arg-type]


def test_a_corpus_is_the_table_of_its_items() -> None:
    corpus = c2n.read_tables(PEOPLE, links=EDGES)
    assert len(corpus) == len(corpus.to_pandas()) == 24 and list(corpus["city"].head(2)) == ["Rome", "Oslo"]
    assert corpus.head(3).equals(corpus.to_pandas().head(3)) and "trade" in corpus
    assert pickle.loads(pickle.dumps(corpus)).items.equals(corpus.items)
    assert len(c2n.build(corpus, ["city"], min_objects=1).cells) == 2


def test_the_name_of_a_file_is_a_query_unless_an_object_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    for name in ("names.txt", "n9"):
        Path(name).write_text("n0\nn1\n")
    assert c2n.construct(cube, "names.txt") == c2n.construct(cube, ["n0", "n1"])
    assert c2n.construct(cube, "n9") == c2n.construct(cube, ["n9"])
    assert c2n.CubeEmbedding(cube).fit_transform("names.txt").shape[0] == 2
    assert (
        len(c2n.construct(cube, "; ".join(NAMES * 20)).query) == len(c2n.read_query(cube, "; ".join(NAMES * 20))) == 24
    )
    with pytest.raises(c2n.Cube2netError, match="not in the cube: 'other.txt'"):
        c2n.construct(cube, "other.txt")


def test_labels_of_all_objects_are_matched_to_those_of_the_query() -> None:
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    trades = PEOPLE.set_index("id")["trade"]
    names = ["n20", "n1", "n2", "n21"]
    expected = ("cook", "cook", "smith", "smith")
    for labels in (trades, trades.to_dict(), trades.loc[names[::-1]], trades.loc[names].to_list()):
        assert cube.query(names, labels).labels == expected
    with pytest.raises(c2n.Cube2netError, match="the labels name no object of the query"):
        cube.query(names, {"nobody": "cook"})


def test_an_attribute_like_no_other_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="^module 'cube2net' has no attribute 'zzz'$"):
        c2n.zzz  # noqa: B018
    with pytest.raises(AttributeError, match=r"^'Cube' object has no attribute 'zzz'$"):
        c2n.build(PEOPLE, links=EDGES, dimensions=["city"], min_objects=1).zzz  # type: ignore[attr-defined]  # noqa: B018


def test_a_list_of_columns_leads_to_dimensions() -> None:
    with pytest.raises(c2n.Cube2netError, match="dimensions=… names the columns to organise by"):
        c2n.build(PEOPLE, links=EDGES, columns=["city", "trade"])


def test_results_are_frames_and_columns_of_objects_are_queries() -> None:
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    frame = c2n.contrast(cube, NAMES[:12]).to_pandas()
    assert frame.iloc[0, :4].tolist() == [("∗", "cook"), "the query", 12, 0]
    assert frame.iloc[1, :4].tolist() == [("∗", "smith"), "all others", 0, 12]
    assert list(c2n.contrast(cube, NAMES[::2][:2], NAMES[2::2][:2]).to_pandas().columns) == list(frame.columns)
    sides = c2n.contrast(cube, {"n0": "one", "n1": "two", "n2": "one", "n3": "two", "n13": "three"})
    assert isinstance(sides, Description) and list(sides.to_pandas().columns) == ["group", *frame.columns]
    embedding = c2n.CubeEmbedding(cube)
    flat = embedding.fit_transform(QUERY)
    for column in (np.array(QUERY)[:, None], [[name] for name in QUERY], pd.DataFrame({"name": QUERY})):
        assert np.array_equal(embedding.fit_transform(column), flat)
    with pytest.raises(c2n.Cube2netError, match="does not have 1 object of the query: 'n23'"):
        embedding.transform(["n23"])


def test_a_cube_gives_its_dimensions_by_name() -> None:
    cube = c2n.build(PEOPLE, links=EDGES, dimensions=["city", "trade"], min_objects=1)
    assert sorted(cube["city"].labels) == ["Oslo", "Rome"]
    with pytest.raises(c2n.Cube2netError, match="unknown dimension 'cty'.*did you mean 'city'"):
        cube["cty"]
