"""A workbook of a network opens in spreadsheets with texts as texts, and carries a recipe of any length."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from workbook_files import unzipped, workbook, zipped

import cube2net as c2n
from cube2net.errors import InputError
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.read_rows import read_rows
from cube2net.model.network import Network
from cube2net.model.tables import Nodes
from cube2net.network.export import xlsx
from cube2net.network.export.recipes import read_recipe
from cube2net.network.export.registry import export_network
from cube2net.network.export.xlsx import MAX_TEXT_UNITS, RECIPE_PIECE_LETTERS

from rich_networks import rich_network
from workbook_sheets import parts, sheets, titles


@pytest.fixture(scope="module")
def cube() -> c2n.Cube:
    return c2n.build(c2n.make_planted(objects=8_000, communities=4, noise=0, seed=1).corpus)


@pytest.fixture(scope="module")
def network(cube: c2n.Cube) -> Network:
    return c2n.construct(cube, range(0, 8_000, 2), n_cells=3, options=c2n.NetworkOptions(n_neighbors=0))


def with_column(name: str, values: list[Any]) -> Network:
    """Return a network of four nodes with one column more."""
    rich = rich_network()
    rich.__dict__["nodes"] = Nodes(rich.nodes.to_arrow().append_column(name, pa.array(values)), rich._read_graph)
    return rich


def test_a_recipe_longer_than_a_field_is_read_back_whole(network: Network, cube: c2n.Cube, tmp_path: Path) -> None:
    (path,) = export_network(network, tmp_path / "net.xlsx")
    assert network.recipe is not None
    pieces = [row["text"] for row in sheets(path)["recipe"] if row["entry"] == "recipe"]
    assert len(pieces) > 1 and max(map(len, pieces)) == RECIPE_PIECE_LETTERS < MAX_TEXT_UNITS
    assert "".join(pieces) == network.recipe.to_json()
    assert read_recipe(path) == network.recipe
    assert c2n.replay(path, cube).same


def test_the_last_sheet_tells_the_form_the_dimensions_and_the_cells(network: Network, tmp_path: Path) -> None:
    (path,) = export_network(network, tmp_path / "net.xlsx")
    found = sheets(path)
    assert list(found) == ["nodes", "links", "recipe"]
    rows = [(row["entry"], row["text"]) for row in found["recipe"] if row["entry"] != "recipe"]
    chosen = [f"⟨{' · '.join(labels)}⟩" for labels in network.labels]
    assert rows == [
        ("form", "hybrid"),
        *(("dimension", name) for name in network.dimensions),
        *(("cell", title) for title in chosen),
    ]
    assert len(chosen) == 3
    for row, ranks in zip(found["nodes"], network.nodes.to_arrow()["cells"].to_pylist(), strict=True):
        assert (row["cells"] or "") == "; ".join(chosen[rank - 1] for rank in ranks)


def saved_anew(path: Path) -> None:
    """Save a workbook as Excel does, with texts that fields share."""
    rows = {name: [list(lines[0]), *(list(line.values()) for line in lines)] for name, lines in sheets(path).items()}
    path.write_bytes(workbook(rows))


def test_a_recipe_is_still_there_when_a_spreadsheet_has_saved_the_file(
    network: Network, cube: c2n.Cube, tmp_path: Path
) -> None:
    (path,) = export_network(network, tmp_path / "net.xlsx")
    saved_anew(path)
    assert read_recipe(path) == network.recipe
    (difference,) = c2n.replay(path, cube).differences
    assert difference.startswith("net.xlsx differs from byte ")


@pytest.mark.parametrize("sheet", ["nodes", "links"])
def test_more_rows_than_a_sheet_holds_are_refused_and_nothing_is_written(
    sheet: str, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = len(network.nodes if sheet == "nodes" else network.links) + 1
    if sheet == "nodes":
        network = replace(
            network, **{name: getattr(network, name)[:5] for name in ("source", "target", "weight")}, given=None
        )
    monkeypatch.setattr(xlsx, "MAX_ROWS", rows - 1)
    with pytest.raises(InputError) as error:
        export_network(network, tmp_path / "net.xlsx")
    assert str(error.value) == (
        f"the sheet '{sheet}' would have {rows:,} rows, and a workbook holds {rows - 1:,}: "
        "write .csv or .parquet instead"
    )
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(xlsx, "MAX_ROWS", rows)
    export_network(network, tmp_path / "net.xlsx")
    assert len(sheets(tmp_path / "net.xlsx")[sheet]) == rows - 1


def test_a_sheet_holds_as_many_rows_as_excel_knows() -> None:
    assert xlsx.MAX_ROWS == 1_048_576 and xlsx.MAX_COLUMNS == 16_384


def test_a_text_like_a_formula_stays_a_text(tmp_path: Path) -> None:
    texts = ["=1+1", "+SUM(A1)", "-2", '@cmd|" /C calc"!A0']
    (path,) = export_network(with_column("note", texts), tmp_path / "net.xlsx")
    assert [row["note"] for row in sheets(path)["nodes"]] == texts
    assert b"<f>" not in parts(path) and b"<f " not in parts(path)
    assert b'<c t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>' in parts(path)


def test_numbers_dates_and_truths_are_of_their_kinds(tmp_path: Path) -> None:
    (path,) = export_network(rich_network(), tmp_path / "net.xlsx")
    first = sheets(path)["nodes"][0]
    assert first["born"] == dt.date(1912, 6, 23) and first["seen"] == dt.datetime(2020, 1, 2, 3, 4, 5, 500_000)
    assert (first["papers"], first["share"], first["in_query"], first["nothing"]) == (3, 0.1, True, None)
    assert sheets(path)["links"][2]["weight"] == 0.1


def test_what_a_spreadsheet_cannot_count_is_a_text(tmp_path: Path) -> None:
    numbers = [10**15 - 1, 10**15, -(10**15), 2**63 - 1]
    (path,) = export_network(with_column("number", numbers), tmp_path / "net.xlsx")
    assert [row["number"] for row in sheets(path)["nodes"]] == [numbers[0], *map(str, numbers[1:])]
    days = [dt.date(1900, 2, 28), dt.date(1900, 3, 1), None, dt.date(1066, 10, 14)]
    (path,) = export_network(with_column("day", days), tmp_path / "net.xlsx")
    assert [row["day"] for row in sheets(path)["nodes"]] == ["1900-02-28", days[1], None, "1066-10-14"]
    there = dt.timezone(dt.timedelta(hours=2))
    times = [dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=there), None, None, None]
    (path,) = export_network(with_column("time", times), tmp_path / "net.xlsx")
    assert sheets(path)["nodes"][0]["time"] == "2020-01-02T03:04:05+02:00"


def test_a_text_that_is_longer_than_a_field_says_that_it_is_cut(tmp_path: Path) -> None:
    texts = ["a" * MAX_TEXT_UNITS, "a" * (MAX_TEXT_UNITS + 1), "𝒂" * MAX_TEXT_UNITS, ""]
    (path,) = export_network(with_column("note", texts), tmp_path / "net.xlsx")
    found = [row["note"] for row in sheets(path)["nodes"]]
    assert found == [texts[0], "a" * (MAX_TEXT_UNITS - 1) + "…", "𝒂" * ((MAX_TEXT_UNITS - 1) // 2) + "…", None]
    assert all(len(text.encode("utf-16-le")) <= 2 * MAX_TEXT_UNITS for text in found[:3])


def test_lists_have_semicolons_between_unless_a_value_has_one(tmp_path: Path) -> None:
    (path,) = export_network(rich_network(), tmp_path / "net.xlsx")
    rows = sheets(path)["nodes"]
    assert [row["plain tags"] for row in rows] == ["x; y", None, None, None]
    assert [row["tags"] for row in rows] == ['["x", "y; z"]', "[]", None, None]


def test_our_own_reader_finds_nodes_and_links_beside_the_recipe(network: Network, tmp_path: Path) -> None:
    (path,) = export_network(network, tmp_path / "net.xlsx")
    corpus = c2n.read_tables(path)
    assert corpus.objects.num_rows == len(network) and corpus.links.num_rows == len(network.source)
    rows = read_rows(path, conventions=Conventions(sheet="nodes")).table
    assert rows["id"].to_pylist() == list(network)
    assert set(titles(path)) >= {title for held in rows["cells"].to_pylist() if held for title in held.split("; ")}


def test_every_part_has_the_same_time_and_system(network: Network, tmp_path: Path) -> None:
    (path,) = export_network(network, tmp_path / "net.xlsx")
    with zipfile.ZipFile(path) as archive:
        assert {(part.date_time, part.create_system) for part in archive.infolist()} == {((1980, 1, 1, 0, 0, 0), 3)}


HOLLOW = "xl/worksheets/sheet3.xml"


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        (HOLLOW, b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "a document type declaration is refused"),
        (HOLLOW, b"<worksheet><row>", "not whole XML"),
        (HOLLOW, b"<worksheet>" + bytes(40 * 2**20), "unpacks to more than 100 times its size"),
        (HOLLOW, b"<worksheet/>", "holds no recipe"),
        (HOLLOW, b"<worksheet><c><v>recipe</v></c></worksheet>", "holds no recipe"),
        (HOLLOW, b"<worksheet><row><c><v>recipe</v></c><c><v>{</v></c></row></worksheet>", "a recipe is JSON, got"),
        ("xl/workbook.xml", b"<workbook/>", "has no sheet to read"),
    ],
    ids=["entity", "cut", "bomb", "empty", "stray", "no JSON", "no sheets"],
)
def test_a_hostile_or_hollow_workbook_is_refused_in_one_sentence(
    part: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (path,) = export_network(rich_network(), tmp_path / "net.xlsx")
    path.write_bytes(zipped(unzipped(path.read_bytes()) | {part: content}))
    with pytest.raises(InputError) as error:
        read_recipe(path)
    text = str(error.value)
    assert message in text and "\n" not in text and text.count("net.xlsx") == 1


def test_columns_are_as_wide_as_what_they_show_and_no_wider_than_a_screen(tmp_path: Path) -> None:
    (path,) = export_network(with_column("remark", ["short", "x" * 20, "y" * 4_000, None]), tmp_path / "net.xlsx")
    sheet = unzipped(path.read_bytes())["xl/worksheets/sheet1.xml"].decode()
    names = list(sheets(path)["nodes"][0])
    widths = dict(zip(names, map(int, re.findall(r'<col [^>]*width="(\d+)"', sheet)), strict=True))
    assert widths["remark"] == 48
    assert widths["in_query"] == len("in_query") + 2
    assert sheet.index("<cols>") < sheet.index("<sheetData>")
