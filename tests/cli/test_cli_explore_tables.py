"""explore makes the cube of a spreadsheet, says what was read, keeps it beside the file, and uses it again."""

import http.client
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cli.test_cli_explore import PATIENCE, exploring
from cube2net._util.files import can_write
from cube2net.api.spreadsheets import build_from_reading, cube_beside, identify_reading, read_spreadsheet, sheet_reader

CLUB = Path(__file__).parents[2] / "docs" / "start" / "data" / "mitglieder.csv"
Tool = Callable[..., tuple[int, str, str]]


@pytest.fixture
def club(tmp_path: Path) -> Path:
    """A club's members as a German Excel saves them."""
    path = tmp_path / "mitglieder.csv"
    path.write_bytes(CLUB.read_bytes())
    return path


def cube_of(address: re.Match[str]) -> dict[str, Any]:
    """Return what the server says of its cube."""
    connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=PATIENCE)
    connection.request("GET", "/api/v1/cube", headers={"Authorization": f"Bearer {address[2]}"})
    found: dict[str, Any] = json.loads(connection.getresponse().read())
    return found


def test_a_spreadsheet_becomes_a_cube_beside_it_that_is_used_until_the_file_changes(club: Path) -> None:
    with exploring(club, "--no-browser", "--quiet") as (_, address):
        first = cube_of(address)
    assert [dimension["name"] for dimension in first["dimensions"]] == ["Stadt", "Branche"]
    assert (first["objects"], first["name"]) == (72, "mitglieder-cube")
    assert first["links"] > 72
    assert first["cells"] > 10
    taken = {column["column"]: column["what"] for column in first["read"]["columns"]}
    assert taken["Stadt"] == taken["Branche"] == "dimension"
    assert taken["Name"] == "identifier"
    assert any("'Kennt'" in line for line in first["read"]["said"])
    with exploring(club, "--no-browser", "--quiet") as (_, address):
        assert cube_of(address)["checksum"] == first["checksum"]
    club.write_bytes(club.read_bytes() + "Neu;Mitglied;Neu GmbH;Köln;Bau;2024;60,50;\r\n".encode("cp1252"))
    with exploring(club, "--no-browser", "--quiet") as (_, address):
        assert cube_of(address)["objects"] == 73
    assert [path.name for path in club.parent.iterdir() if path.is_dir()] == ["mitglieder-cube"]


def test_options_go_before_what_is_guessed(club: Path) -> None:
    words = ("--dimension", "Eintritt@decades", "--min-objects", "5", "--set", "columns=nodes.name:Firma")
    with exploring(club, "--no-browser", "--quiet", *words) as (_, address):
        found = cube_of(address)
    assert [dimension["name"] for dimension in found["dimensions"]] == ["Eintritt"]
    assert (found["read"]["min_objects"], found["read"]["reason"]) == (5, "as was asked")


def test_a_folder_that_is_something_else_is_left_as_it_is(club: Path) -> None:
    other = club.parent / "mitglieder-cube"
    other.mkdir()
    (other / "letter.txt").write_text("dear reader")
    reader = sheet_reader([club])
    assert cube_beside([club], identify_reading(reader, [club])) == (
        club.parent / "mitglieder-cube-2",
        None,
    )


def test_where_nothing_can_be_written_the_cube_is_kept_until_the_end(
    club: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cube2net.apps.cli import explore

    monkeypatch.setattr(explore, "can_write", lambda folder: False)
    options: dict[str, Any] = {"settings": [], "dimensions": [], "min_objects": None, "seed": 0, "quiet": True}
    with explore.cube_of_tables([club], **options) as cube:
        assert cube.origin is not None
        place = cube.origin.folder
        assert place.exists()
        assert club.parent not in place.parents
    assert not place.exists()
    assert "cannot write beside mitglieder.csv: the cube is deleted when this command ends" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write_is_known(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert not can_write(tmp_path)
    tmp_path.chmod(0o700)


def test_a_graph_and_nodes_with_links_are_explored_likewise(tmp_path: Path) -> None:
    nodes = ["id,city"] + [f"p{i},{'Oslo' if i % 2 else 'Rome'}" for i in range(30)]
    links = ["source,target"] + [f"p{i},p{(i + 2) % 30}" for i in range(30)]
    (tmp_path / "nodes.csv").write_text("\n".join(nodes))
    (tmp_path / "links.csv").write_text("\n".join(links))
    paths = [tmp_path / "nodes.csv", tmp_path / "links.csv"]
    reading = read_spreadsheet(sheet_reader(paths), paths)
    assert (reading.record()["links"], reading.record()["dimensions"], reading.min_objects) == (30, ["city"], 2)
    cube = build_from_reading(reading, tmp_path / "cube")
    c2n.construct(cube, ["p0", "p2"]).save(tmp_path / "some.graphml")
    graph = [tmp_path / "some.graphml"]
    assert type(sheet_reader(graph)).__name__ == "Graph"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("bild.png", b"\x89PNG\r\n", "cannot tell the format of 'bild.png': expected a name that ends in .csv"),
        ("leer.csv", b"", "leer.csv is empty"),
        ("kopf.csv", b"Name;Stadt\r\n", "kopf.csv has a header and no rows"),
        ("alt.xls", b"\xd0\xcf\x11\xe0", ".*alt.xls"),
        ("namen.csv", b"Name\r\nEva\r\nMax\r\n", "found no dimensions for a cube: "),
    ],
)
def test_what_cannot_be_explored_is_refused_in_one_sentence(
    tmp_path: Path, tool: Tool, name: str, content: bytes, sentence: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    status, _, err = tool("explore", path, "--no-browser", "--quiet")
    assert status == 2
    assert re.search(f"^cube2net: {sentence}", err.splitlines()[-1]), err
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_options_of_tables_are_refused_beside_a_cube(cube: Path, tool: Tool) -> None:
    status, _, err = tool("explore", cube, "--no-browser", "--dimension", "city")
    assert status == 2
    assert err == f"cube2net: --dimension is for tables, and {str(cube)!r} is a cube already\n"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["mitgleider.csv"], "mitglieder.csv"),
        (["mitglieder"], "mitglieder.csv"),
        (["mitglieder.xlsx"], "mitglieder.csv"),
        (["umsatz.xlsx"], None),
        (["nowhere/mitglieder.csv"], None),
        (["mitglieder.csv", "kennt"], None),
    ],
)
def test_a_spreadsheet_that_is_not_there_is_said_with_the_nearest_name(
    club: Path, tool: Tool, typed: list[str], meant: str | None
) -> None:
    status, _, err = tool("explore", *(club.parent / name for name in typed), "--no-browser")
    hint = "check the path" if meant is None else f"did you mean {str(club.parent / meant)!r}?"
    assert (status, err) == (2, f"cube2net: there is no file {str(club.parent / typed[-1])!r}: {hint}\n")


def test_a_cube_that_is_not_there_is_said_to_be_none(club: Path, tool: Tool) -> None:
    status, _, err = tool("explore", club.parent / "papers", "--no-browser")
    assert status == 2
    assert "make one with 'cube2net build'" in err


def test_nothing_at_all_is_not_said_to_be_a_cube_already(club: Path, tool: Tool) -> None:
    status, _, err = tool("explore", club.parent / "papers", "--no-browser", "--dimension", "city")
    assert status == 2
    assert err == f"cube2net: {str(club.parent / 'papers')!r} does not exist: make one with 'cube2net build'\n"


def test_a_parameter_that_the_source_of_a_file_lacks_is_refused_by_the_name_of_the_source(
    club: Path, tool: Tool
) -> None:
    status, _, err = tool("explore", club, "--no-browser", "--set", "colums=name:Firma")
    assert status == 2
    assert err.startswith("cube2net: unknown parameter of source 'tables' 'colums': choose one of columns, dates, ")


def test_a_single_table_is_read_everywhere_as_explore_reads_it(club: Path, tool: Tool) -> None:
    out = ("--out", club.parent / "cube", "--min-objects", "2", "--quiet")
    status, _, _ = tool("suggest", club, "--quiet")
    assert status == 0
    status, told, _ = tool("build", "tables", club, *out)
    assert (status, "72 objects, 108 links" in told) == (0, True)
