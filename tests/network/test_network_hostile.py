"""Every export and picture stays whole with names that break XML, run in spreadsheets or steer terminals."""

import csv
import html
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cube2net._util.text import GUARD, count_formulas, is_formula, strip_guard
from cube2net.errors import ParameterError
from cube2net.model.network import Network
from cube2net.model.tables import Nodes
from cube2net.network.drawing.matplotlib import PICTURES, draw
from cube2net.network.export.registry import EXPORTS, export_network
from cube2net.network.export.xml import escape

from bare_networks import bare_network
from hostile import NAMES, SURROGATE
from network_readers import READERS
from workbook_sheets import parts

COUNT = len(NAMES)


@pytest.fixture(scope="module")
def network() -> Network:
    """Return a network in which every id, name, kind, label of the query and label of a cell is hostile."""
    return bare_network(
        [*((at, at + 1) for at in range(COUNT - 1)), *((at, at + COUNT) for at in range(COUNT))],
        query=COUNT,
        cells=[(name, NAMES[-4]) for name in NAMES],
        labels=NAMES,
        held=[[at] for at in range(COUNT)],
        query_links=[1] * COUNT,
        ids=[f"{name}{at}" for at, name in enumerate(NAMES)],
        names=NAMES,
        kinds=NAMES,
        dimensions=(NAMES[0], NAMES[4]),
    )


@pytest.mark.parametrize("suffix", EXPORTS)
def test_every_export_holds_hostile_names(network: Network, suffix: str, tmp_path: Path) -> None:
    paths = export_network(network, tmp_path / f"net{suffix}")
    if suffix == ".vosviewer.json":
        items = json.loads(paths[0].read_text("utf-8"))["network"]["items"]
        assert [item["label"] for item in items][:COUNT] == NAMES
        assert not any("<" in item["description"] for item in items)
        return
    names = [row["name"] for row in READERS[suffix](paths)[0]][:COUNT]
    if suffix in (".graphml", ".gexf", ".xlsx"):
        assert names == [html.unescape(escape(name)) for name in NAMES]
    else:
        assert names == [name.rstrip("\0") if suffix == ".npz" else name for name in NAMES]
    if suffix == ".xlsx":
        assert b"<f" not in parts(paths[0]).replace(b"<font", b"").replace(b"<fill", b"")


@pytest.mark.parametrize("suffix", EXPORTS)
def test_every_export_holds_columns_of_hostile_names(network: Network, suffix: str, tmp_path: Path) -> None:
    nodes = network.nodes.to_arrow()
    for name in NAMES:
        nodes = nodes.append_column(name, pa.array([name] * len(network)))
    rich = replace(network)
    rich.__dict__["nodes"] = Nodes(nodes, rich._read_graph)
    paths = export_network(rich, tmp_path / f"net{suffix}")
    if suffix == ".parquet":
        assert pq.read_table(paths[0]).equals(nodes)
    elif suffix in (".graphml", ".gexf", ".xlsx", ".json", ".csv"):
        is_xml = suffix in (".graphml", ".gexf", ".xlsx")
        shown = {html.unescape(escape(name)) if is_xml else name for name in NAMES}
        first = READERS[suffix](paths)[0][0]
        assert {name: name for name in shown}.items() <= {name: str(value) for name, value in first.items()}.items()


@pytest.mark.parametrize("suffix", PICTURES)
def test_every_picture_holds_hostile_names(network: Network, suffix: str, tmp_path: Path) -> None:
    path = draw(network, tmp_path / f"net{suffix}", title=f"{SURROGATE}{''.join(NAMES)}")
    assert path.stat().st_size > 1000
    if suffix == ".svg":
        ET.parse(path)


@pytest.mark.parametrize("name", [*NAMES, SURROGATE], ids=ascii)
def test_no_single_name_breaks_a_picture(name: str, network: Network, tmp_path: Path) -> None:
    title = draw(_of_one(name), tmp_path / "net.svg", title=f"{name}{SURROGATE}")
    assert ET.parse(title).getroot().tag.endswith("svg")


def _of_one(name: str) -> Network:
    given = "x" if name == SURROGATE else name
    return bare_network(
        [(0, 1), (0, 2)],
        query=1,
        objects=[0, 1],
        cells=[(given,)],
        labels=[given],
        held=[[0], [0]],
        query_links=[1, 1],
        ids=[given, "b"],
        kinds=[given, "b"],
        dimensions=(given,),
    )


def test_a_csv_keeps_formulas_unless_it_is_asked_to_be_safe(network: Network, tmp_path: Path) -> None:
    plain = [path for end in ("csv", "neo4j.csv") for path in export_network(network, tmp_path / f"plain.{end}")]
    safe = [
        path
        for end in ("csv", "neo4j.csv")
        for path in export_network(network, tmp_path / f"safe.{end}", spreadsheet_safe=True)
    ]
    assert all(map(count_formulas, plain)) and not any(map(count_formulas, safe))
    for one, other in zip(plain, safe, strict=True):
        with one.open(encoding="utf-8", newline="") as file, other.open(encoding="utf-8", newline="") as guarded:
            for row, same in zip(csv.reader(file), csv.reader(guarded), strict=True):
                assert [strip_guard(cell) for cell in same] == row
                assert [GUARD + cell if is_formula(cell) else cell for cell in row] == same


def test_only_csv_files_can_be_made_safe_for_spreadsheets(network: Network, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"spreadsheet_safe guards the cells of a \.csv file, got '\.json'"):
        export_network(network, tmp_path / "net.json", spreadsheet_safe=True)
    with pytest.raises(
        ParameterError, match=r"of a \.csv file, got '\.xlsx' \(a workbook runs no text: leave it out\)$"
    ):
        export_network(network, tmp_path / "net.xlsx", spreadsheet_safe=True)
    assert list(tmp_path.iterdir()) == []
