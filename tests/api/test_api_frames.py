"""What stands in a frame names objects as it does in a query: NumPy's numbers, series, indexes and whole frames."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import cube2net as c2n
from cube2net.errors import InputError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.network import Network


@pytest.fixture(scope="module")
def cube() -> Cube:
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"item": range(300), "year": 2000 + rng.integers(0, 4, 300), "topic": rng.integers(0, 3, 300)})
    mentions = pd.DataFrame({"item": np.repeat(np.arange(300), 3), "object": 100 + rng.integers(0, 60, 900)})
    objects = pd.DataFrame({"object": range(100, 160), "name": [f"Person {at}" for at in range(60)]})
    tables = {"objects": objects, "items": items, "mentions": mentions.drop_duplicates()}
    return c2n.build(**tables, dimensions=["year", "topic"], min_objects=1)


@pytest.fixture(scope="module")
def network(cube: Cube) -> Network:
    return c2n.construct(cube, list(range(100, 120)), form="objects", n_cells=3)


@pytest.mark.parametrize("given", [np.int64(150), 150.0, np.float64(150), pd.Series([150]).iloc[0], "150"])
def test_a_number_of_a_frame_names_an_object_as_in_a_query(cube: Cube, network: Network, given: Any) -> None:
    assert cube.objects.whole
    assert c2n.explain(network, given).to_dict()["id"] == 150
    for change in (network.without, network.including):
        assert str(change(given)) == str(change(150))
    plain = c2n.construct(cube, [100, 101], pins=150, bans=[151])
    also = c2n.construct(cube, [100, 101], pins=given, bans=[np.int64(151)])
    assert also.settings == plain.settings and also.objects.tolist() == plain.objects.tolist()


@pytest.mark.parametrize(
    "given",
    [
        np.array([150, 151]),
        np.array([150.0, 151.0]),
        pd.Series([150, 151], index=[7, 8]),
        pd.Index([150, 151]),
        pd.DataFrame({"name": ["a", "b"], "id": [150, 151]}),
        pd.DataFrame({"person": [150, 151]}),
        pd.DataFrame({"score": [1, 2]}, index=pd.Index([150, 151], name="object")),
        {"id": [150, 151]},
        {150: "x", 151: "y"},
    ],
)
def test_series_indexes_and_frames_list_objects_as_in_a_query(cube: Cube, network: Network, given: Any) -> None:
    plain = c2n.construct(cube, [100, 101], bans=[150, 151])
    assert c2n.construct(cube, [100, 101], bans=given).settings == plain.settings
    assert c2n.construct(cube, [100, 101], options=c2n.NetworkOptions(prefer=given)).settings != plain.settings
    assert str(network.without(given)) == str(network.without([150, 151]))


def test_a_query_lists_its_objects(cube: Cube, network: Network) -> None:
    assert str(network.including(cube.query([150, 151]))) == str(network.including([150, 151]))


def test_an_array_of_labels_lists_cells(cube: Cube) -> None:
    cells = [cube.cell(0), cube.cell(1)]
    assert c2n.construct(cube, [100, 101], pins=np.array(cells)).labels[:2] == tuple(cells)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (float("nan"), "nan names neither a cell nor an object: give an id or a name, or the labels of a cell"),
        (None, "None names neither a cell nor an object"),
        (150.5, "150.5 names neither a cell nor an object"),
        (True, "True names neither a cell nor an object"),
        (pd.DataFrame({"a": [1], "b": [2]}), r"a b 0 1 2 names neither"),
    ],
)
def test_what_names_nothing_is_refused_in_one_sentence(cube: Cube, network: Network, given: Any, sentence: str) -> None:
    if given is not None:
        with pytest.raises(QueryError, match=f"^{sentence}"):
            c2n.explain(network, given)
    if not isinstance(given, pd.DataFrame):
        with pytest.raises(QueryError, match=f"^{sentence}"):
            network.without([given])
        with pytest.raises(QueryError, match=f"^{sentence}"):
            c2n.construct(cube, [100], bans=np.array([given], dtype=object))
    if given is not None:
        with pytest.raises(InputError):
            c2n.construct(cube, [100], bans=given)


def test_two_tables_are_nodes_and_links_however_they_are_given(tmp_path: Path) -> None:
    nodes = pd.DataFrame({"id": range(4), "city": ["Rome", "Oslo"] * 2})
    links = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    paths = [tmp_path / "nodes.csv", tmp_path / "links.csv"]
    nodes.to_csv(paths[0], index=False)
    links.to_csv(paths[1], index=False)
    options = {"min_objects": 1}
    cubes = [
        c2n.build(nodes, links, **options),
        c2n.build([nodes, links], **options),
        c2n.build(nodes, links=links, **options),
        c2n.build(nodes, links=[(0, 1), (1, 2)], **options),
        c2n.build(nodes, links=[(0, 1, 0.5), (1, 2, 2)], **options),
        c2n.build(nodes, links=nx.path_graph(3), **options),
        c2n.build(*paths, **options),
        c2n.build(*map(str, paths), **options),
        c2n.build(paths, **options),
        c2n.build(paths, source="tables", **options),
        c2n.build(paths, source="tables", out=tmp_path / "cube", **options),
        c2n.build(tmp_path, source="tables", **options),
    ]
    assert {str(cube) for cube in cubes} == {"Cube(city: 2 cells, 4 objects, 2 links)"}


def test_links_of_odd_lengths_are_refused() -> None:
    with pytest.raises(InputError, match=r"^links are \[\(0,\)\], expected pairs, or triples with a weight$"):
        c2n.build(pd.DataFrame({"id": [0], "city": ["Rome"]}), links=[(0,)])


def test_the_path_of_a_file_is_a_query(cube: Cube, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("100\n101\n")
    assert str(c2n.construct(cube, tmp_path / "names.txt")) == str(c2n.construct(cube, [100, 101]))


def test_a_cube_is_updated_by_tables_that_name_its_objects(tmp_path: Path) -> None:
    nodes = pd.DataFrame({"id": range(4), "city": ["Rome", "Oslo"] * 2})
    cube = c2n.build(nodes, links=[(0, 1)], min_objects=1, out=tmp_path / "cube")
    more = pd.DataFrame({"id": [4], "city": ["Rome"]})
    assert str(c2n.update(cube, more, links=[(4, 0), (2, 3)])) == "Cube(city: 2 cells, 5 objects, 3 links)"
    (tmp_path / "links.csv").write_text("source,target\n0,3\n")
    grown = c2n.update(tmp_path / "cube", links=tmp_path / "links.csv")
    assert str(grown) == "Cube(city: 2 cells, 5 objects, 4 links)"
    with pytest.raises(InputError, match=r"^the cube was not opened from a folder: save it with cube\.save"):
        c2n.update(c2n.build(nodes, min_objects=1), more)


def test_one_cell_is_no_plural() -> None:
    people = pd.DataFrame({"id": range(12), "city": ["Rome"] * 12})
    knows = pd.DataFrame({"source": range(11), "target": range(1, 12)})
    cube = c2n.build(people, links=knows, dimensions=["city"], min_objects=1)
    assert str(cube) == "Cube(city: 1 cell, 12 objects, 11 links)"
    assert "12 objects in 1 cell of" in cube._repr_html_()
    network = c2n.construct(cube, [1, 2])
    assert ", 1 cell, " in str(network) and ", 1 cell, " in network.plot().alt


def test_one_of_a_thing_is_no_plural() -> None:
    papers = pd.DataFrame({"paper": ["p1", "p1"], "author": ["ann", "bob"], "year": [1999, 1999]})
    corpus = c2n.read_tables(papers, item="paper", objects="author")
    assert str(corpus) == "Corpus(2 objects, 1 item, links by co-mention)"
    cube = c2n.build(corpus, ["year"], min_objects=1)
    assert str(cube) == "Cube(year: 1 cell, 2 objects, 1 link)"
    assert str(cube.query({"ann": "a"})) == "Query(1 object, 1 label)"
    assert str(c2n.construct(cube, ["ann"], "none")) == "Network(1 object, 0 links, 1 in the query)"
