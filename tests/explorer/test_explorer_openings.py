"""An explorer without a cube takes files, says what they hold, and opens the cube that is made of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cube2net.api.json_reading import read
from cube2net.api.opening_shapes import OPENINGS
from cube2net.explorer import openings
from cube2net.explorer.openings import Openings
from explorer.conftest import Client

CLUB = Path(__file__).parents[2] / "docs" / "start" / "data" / "mitglieder.csv"
Serve = Callable[..., Client]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that the explorer was started in."""
    place = tmp_path / "home"
    place.mkdir()
    return place


@pytest.fixture
def bare(serve: Serve, tmp_path: Path, home: Path) -> Client:
    """A client of an explorer without a cube."""
    folder = tmp_path / "given"
    folder.mkdir()
    return serve(None, openings=Openings(folder, home))


def upload(client: Client, name: str, content: bytes, **headers: str) -> tuple[int, Any]:
    """Return the status and the answer to a file that is handed over."""
    sent = {"Content_Type": "application/octet-stream"} | headers
    status, _, body = client.send("POST", f"/api/v1/upload?name={quote(name, safe='')}", content, **sent)
    return status, json.loads(body)


def names_in(folder: Path) -> list[str]:
    """Return what a folder holds."""
    return [path.name for path in folder.iterdir()]


def refusal(status: int, answer: Any) -> str:
    """Return the sentence of a refusal."""
    assert status in (400, 404, 409, 413, 415), (status, answer)
    sentence: str = answer["error"]["sentence"]
    return sentence


def test_files_are_looked_at_and_opened_as_a_cube_that_answers(bare: Client, home: Path) -> None:
    start = bare.answer("start", {})
    assert (start["opens"], start["cube"], start["recent"], start["folder"]) == (True, None, [], "home")
    assert refusal(*bare.ask("names", {"text": "Jan"})) == "no cube is open yet: choose a spreadsheet on the page first"
    assert upload(bare, "mitglieder.csv", CLUB.read_bytes()) == (200, {"files": ["mitglieder.csv"]})
    seen = bare.answer("tables", {"files": ["mitglieder.csv"]})
    read(OPENINGS["tables"].answers, seen)
    assert seen["read"]["dimensions"] == ["Stadt", "Branche"]
    assert {one["column"] for one in seen["choices"] if one["chosen"]} == {"Stadt", "Branche"}
    assert names_in(home) == []
    opened = bare.answer("open", {"files": ["mitglieder.csv"], "dimensions": ["Stadt"], "keep": True})
    assert opened == {"cube": "mitglieder-cube", "begin": "", "kept": True}
    assert names_in(home) == ["mitglieder-cube"]
    about = bare.answer("cube", {})
    assert [dimension["name"] for dimension in about["dimensions"]] == ["Stadt"]
    assert about["read"]["files"] == ["mitglieder.csv"]
    network = bare.answer(
        "construct", {"ask": {"query": [bare.answer("complete", {"text": "jan"})["candidates"][0]["id"]]}}
    )
    assert network["nodes"]["id"]
    (recent,) = bare.answer("start", {})["recent"]
    assert (recent["name"], recent["objects"], recent["files"]) == ("mitglieder-cube", 72, ["mitglieder.csv"])
    assert bare.answer("open", {"recent": "mitglieder-cube"})["cube"] == "mitglieder-cube"


def test_another_file_of_the_same_name_is_kept_beside_the_first(bare: Client, home: Path) -> None:
    for rows, name in ((72, "mitglieder-cube"), (39, "mitglieder-cube-2"), (72, "mitglieder-cube")):
        upload(bare, "mitglieder.csv", b"".join(CLUB.read_bytes().splitlines(keepends=True)[: rows + 1]))
        assert bare.answer("open", {"files": ["mitglieder.csv"], "keep": True})["cube"] == name
        assert bare.answer("cube", {})["objects"] == rows
    assert sorted(names_in(home)) == ["mitglieder-cube", "mitglieder-cube-2"]


def test_what_is_not_to_be_kept_leaves_nothing_in_the_folder(bare: Client, home: Path) -> None:
    upload(bare, "mitglieder.csv", CLUB.read_bytes())
    assert bare.answer("open", {"files": ["mitglieder.csv"], "keep": False})["kept"] is False
    assert bare.answer("cube", {})["objects"] == 72
    assert names_in(home) == []


def test_a_file_that_cannot_be_read_is_refused_and_the_cube_before_stays(bare: Client) -> None:
    upload(bare, "mitglieder.csv", CLUB.read_bytes())
    bare.answer("open", {"files": ["mitglieder.csv"]})
    checksum = bare.answer("cube", {})["checksum"]
    upload(bare, "bad.xlsx", b"no workbook at all")
    assert refusal(*bare.ask("open", {"files": ["bad.xlsx"]})).startswith("bad.xlsx ")
    assert refusal(*bare.ask("tables", {"files": ["bad.xlsx"]})).startswith("bad.xlsx ")
    assert bare.answer("cube", {})["checksum"] == checksum
    assert set(upload(bare, "names.txt", b"x\n")[1]["files"]) == {"mitglieder.csv", "bad.xlsx", "names.txt"}


@pytest.mark.parametrize("name", ["letter.pdf", "x.exe", "table.ods", "", "..", ".csv", "a" * 300 + ".csv", "a\n.csv"])
def test_only_tables_of_a_plain_name_are_taken(bare: Client, name: str) -> None:
    sentence = refusal(*upload(bare, name, b"a,b\n1,2\n"))
    assert "\n" not in sentence
    assert len(sentence) < 400


@pytest.mark.parametrize("name", ["../../up.csv", "/etc/up.csv", "..\\up.csv", "C:\\x\\up.csv"])
def test_a_name_leads_nowhere_else(bare: Client, tmp_path: Path, name: str) -> None:
    assert upload(bare, name, b"a,b\n1,2\n") == (200, {"files": ["up.csv"]})
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("up.csv")] == ["given/files/up.csv"]
    for asked in (name, "../files/up.csv", "/etc/passwd", str(CLUB)):
        if asked != "up.csv":
            assert "choose a file first" in refusal(*bare.ask("tables", {"files": [asked]}))


def test_only_cubes_of_the_folder_are_opened_by_name(bare: Client, folder: Path) -> None:
    for name in (str(folder), "..", "../given", "."):
        assert refusal(*bare.ask("open", {"recent": name})).startswith("unknown cube of this folder ")


def test_too_much_is_refused_and_not_kept(bare: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openings, "MOST_UPLOADED", 100)
    assert upload(bare, "small.csv", b"x" * 60)[0] == 200
    status, answer = upload(bare, "large.csv", b"x" * 60)
    assert (status, answer["error"]["kind"]) == (413, "large")
    assert upload(bare, "small.csv", b"x" * 90)[0] == 200
    monkeypatch.setattr(openings, "MOST_FILES", 1)
    assert "which is the most taken at once" in refusal(*upload(bare, "more.csv", b"x"))
    assert sorted(path.name for path in (tmp_path / "given").rglob("*") if path.is_file()) == ["small.csv"]


def test_a_form_of_another_page_hands_over_nothing(bare: Client) -> None:
    assert upload(bare, "a.csv", b"x", Authorization="")[0] == 401
    assert upload(bare, "a.csv", b"x", Sec_Fetch_Site="cross-site")[0] == 403
    assert upload(bare, "a.csv", b"x", Origin="http://elsewhere.example")[0] == 403
    assert upload(bare, "a.csv", b"x", Content_Type="text/plain")[0] == 415


def test_an_explorer_with_its_cube_opens_no_other(client: Client) -> None:
    assert client.answer("start", {})["opens"] is False
    sentence = "this explorer was started with its cube: start it without a name to open others"
    assert refusal(*client.ask("open", {"example": True})) == sentence
    assert refusal(*client.ask("tables", {"files": ["x.csv"]})) == sentence
    assert refusal(*upload(client, "a.csv", b"x")) == sentence


def test_who_goes_away_stops_the_making(bare: Client, home: Path) -> None:
    response = bare.open_stream("open", {"example": True, "keep": True})
    assert json.loads(response.readline())["progress"]
    response.close()
    upload(bare, "mitglieder.csv", CLUB.read_bytes())
    assert bare.answer("open", {"files": ["mitglieder.csv"]})["cube"] == "mitglieder-cube"
    assert names_in(home) == []
