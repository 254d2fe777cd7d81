"""Networks and cubes as tables of Arrow and frames of pandas and Polars."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net._util.arrow import to_pandas, to_polars
from cube2net.cube.cuboids import cuboid
from cube2net.errors import MissingPackageError
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.recipe import Recipe

from toys import toy_cube


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus)


@pytest.fixture(scope="module")
def network(cube: Cube) -> Network:
    return c2n.construct(cube, c2n.make_planted(objects=200, communities=4, noise=0).query(0))


def test_a_network_is_two_tables_by_name_with_its_recipe(network: Network) -> None:
    nodes, links = network.to_arrow()
    assert network.to_arrow().nodes.equals(nodes) and network.to_arrow().links.equals(links)
    assert nodes.equals(network.nodes.to_arrow()) and links.equals(network.links.to_arrow())
    for table in (nodes, links):
        assert Recipe.from_json(table.schema.metadata[b"cube2net.recipe"]) == network.recipe


def test_frames_hold_the_same_rows(network: Network) -> None:
    frames, polar = network.to_pandas(), network.to_polars()
    assert isinstance(frames.nodes, pd.DataFrame) and isinstance(polar.links, pl.DataFrame)
    for table, frame, other in zip(network.to_arrow(), frames, polar, strict=True):
        assert list(frame.columns) == other.columns == table.column_names
        rows = table.to_pylist()
        assert other.to_dicts() == rows
        for name in table.column_names:
            known = [row[name] is not None for row in rows]
            assert frame[name].notna().tolist() == known
            assert frame[name][known].tolist() == [row[name] for row in rows if row[name] is not None]


def test_columns_keep_their_types_where_values_are_missing() -> None:
    table = pa.table(
        {
            "id": pa.array([2**53 + 1, 7], pa.int64()),
            "papers": pa.array([2**53 + 1, None], pa.int64()),
            "small": pa.array([None, 3], pa.int8()),
            "active": pa.array([True, None]),
            "share": pa.array([0.5, None]),
            "born": pa.array([None, 0], pa.date32()).cast(pa.timestamp("ms")),
            "tags": pa.array([["a"], None]),
        }
    )
    frame = to_pandas(table)
    types = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert types["id"] == "int64" and types["papers"] == "Int64" and types["small"] == "Int8"
    assert types["active"] == "boolean" and types["share"] == "float64" and types["born"].startswith("datetime64")
    assert frame["papers"][0] == 2**53 + 1 and frame["papers"][1] is pd.NA
    assert frame["tags"].tolist() == [["a"], None]
    assert to_polars(table)["papers"].to_list() == [2**53 + 1, None]


def test_an_empty_table_is_an_empty_frame_with_its_columns() -> None:
    frame = to_pandas(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.list_(pa.string()))}))
    assert list(frame.columns) == ["a", "b"] and len(frame) == 0


def test_a_row_a_cell_says_its_labels_and_how_many_objects_it_has(cube: Cube) -> None:
    frame = cube.to_pandas()
    assert list(frame.columns) == ["cell", "decade", "venue", "topic", "objects"]
    assert len(frame) == len(cube.cells) and str(frame["venue"].dtype) == "category"
    for row in frame.itertuples(index=False):
        assert (row.decade, row.venue, row.topic) == cube.cell(row.cell)
        assert row.objects == len(cube.cells.members[row.cell])
    assert cube.to_arrow().to_pylist() == frame.to_dict("records")


def test_all_labels_together_are_a_star(cube: Cube) -> None:
    view = cuboid(cube, "one")
    table = view.to_arrow()
    assert [tuple(row.values())[1:-1] for row in table.to_pylist()] == [view.cell(at) for at in range(len(view.cells))]
    assert "∗" in table["venue"].to_pylist()


def test_a_dimension_called_like_another_column_is_told_apart() -> None:
    cube = toy_cube([[0, 1], [1]], objects=2)
    level = cube.dimensions[0].levels[0]
    object.__setattr__(level, "name", "objects")
    assert cube.to_arrow().to_pylist() == [
        {"cell": 0, "objects_dimension": "label 0", "objects": 2},
        {"cell": 1, "objects_dimension": "label 1", "objects": 1},
    ]


@pytest.mark.parametrize(
    ("call", "package", "text"),
    [
        (
            lambda network: network.to_pandas(),
            "pandas",
            "a frame of pandas needs the package 'pandas': pip install pandas",
        ),
        (
            lambda network: network.to_polars(),
            "polars",
            "a frame of Polars needs the package 'polars': pip install polars",
        ),
    ],
)
def test_a_missing_package_says_how_to_get_it(
    call: Any, package: str, text: str, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError) as error:
        call(network)
    assert str(error.value) == text
    assert network.to_arrow().nodes.num_rows == len(network)


def test_frames_are_loaded_only_when_one_is_asked_for() -> None:
    program = (
        "import sys, cube2net as c2n; planted = c2n.make_planted(objects=60, communities=2, noise=0);"
        "cube = c2n.build(planted.corpus, min_objects=1); cube.to_arrow();"
        "c2n.construct(cube, planted.query(0)).to_arrow(); print('polars' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"


def test_ids_of_a_network_are_in_the_order_of_its_arrays(network: Network) -> None:
    frame = network.to_pandas().links
    ids = np.array(list(network))
    assert frame["source"].tolist() == ids[network.source].tolist()


def test_a_network_and_a_cube_have_what_makes_other_forms_of_them(cube: Cube, network: Network, tmp_path: Path) -> None:
    assert network.to_networkx().number_of_nodes() == network.to_igraph().vcount() == len(network)
    if find_spec("torch_geometric") is not None:
        assert network.to_pyg().num_nodes == len(network)
    cube.save(tmp_path / "cube")
    assert repr(c2n.open(tmp_path / "cube")) == repr(cube)


def test_a_plot_with_a_path_writes_a_file(network: Network, tmp_path: Path) -> None:
    network.plot(tmp_path / "x.svg")
    assert "<svg" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_a_network_iterates_over_the_ids_of_its_nodes(network: Network) -> None:
    assert list(network) == network.nodes.to_arrow()["id"].to_pylist()
    assert next(iter(network)) in network and len(list(network)) == len(network)
