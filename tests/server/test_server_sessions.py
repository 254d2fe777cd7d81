"""An explorer without a cube takes files, says what they hold, and opens the cube that is made of them."""

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from workbook_files import workbook

from cube2net._util import files as atomic_files
from cube2net.api.datasets import load_bundled
from cube2net.apps.server import sessions as cube_maker
from cube2net.apps.server import sessions as uploads
from cube2net.apps.server.sessions import CubeOpener
from cube2net.apps.service.schemas import SESSION_ROUTES
from cube2net.apps.service.validation import read
from server.conftest import PATIENCE, Client

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
    return serve(None, opener=CubeOpener(folder, home))


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
    assert upload(bare, "mitglieder.csv", CLUB.read_bytes()) == (
        200,
        {"name": "mitglieder.csv", "files": ["mitglieder.csv"]},
    )
    seen = bare.answer("tables", {"files": ["mitglieder.csv"]})
    read(SESSION_ROUTES["tables"].answer_type, seen)
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
        "construct", {"request": {"query": [bare.answer("complete", {"text": "jan"})["candidates"][0]["id"]]}}
    )
    assert network["nodes"]["id"]
    (recent,) = bare.answer("start", {})["recent"]
    assert (recent["name"], recent["objects"], recent["files"]) == ("mitglieder-cube", 72, ["mitglieder.csv"])
    assert recent["made"] == int((home / "mitglieder-cube" / "manifest.json").stat().st_mtime)
    assert bare.answer("open", {"recent": "mitglieder-cube"})["cube"] == "mitglieder-cube"


PAPERS = "Title,Authors,Venue\n" + "".join(
    f"Paper {n},Ann {n % 7} # Bo {n % 5},{('ACL', 'KDD', 'VLDB')[n % 7 % 3]}\n" for n in range(40)
)


def column(seen: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what the answer says about a column."""
    return next(use for use in seen["uses"] if use["column"] == name)


def test_every_column_comes_with_sample_values_and_its_separators(bare: Client) -> None:
    upload(bare, "papers.csv", PAPERS.replace("#", ";").encode())
    seen = bare.answer("tables", {"files": ["papers.csv"]})
    authors, venue = column(seen, "Authors"), column(seen, "Venue")
    assert authors["samples"] == ["Ann 0 ; Bo 0", "Ann 1 ; Bo 1", "Ann 2 ; Bo 2"]
    assert (authors["role"], authors["separators"], authors["can_split"]) == ("mentions.object", [";"], True)
    assert (venue["samples"], venue["separators"], venue["distinct"]) == (["ACL", "KDD", "VLDB"], [], 3)
    assert (seen["items"], seen["read"]["objects"], seen["is_linked"], seen["sheets"]) == (40, 12, True, [])


def test_a_separator_that_is_given_splits_a_column(bare: Client) -> None:
    upload(bare, "papers.csv", PAPERS.encode())
    asked = {
        "files": ["papers.csv"],
        "columns": {"mentions.object": "Authors", "items.item": "Title"},
        "min_objects": 1,
    }
    before = bare.answer("tables", asked)
    assert (column(before, "Authors")["separators"], before["is_linked"]) == ([], False)
    after = bare.answer("tables", asked | {"separators": {"Authors": "#"}})
    assert (column(after, "Authors")["separators"], after["is_linked"]) == (["#"], True)
    assert after["read"]["objects"] == 12
    bare.answer("open", asked | {"separators": {"Authors": "#"}})
    assert bare.answer("cube", {})["objects"] == 12


def test_the_sheet_of_a_workbook_is_chosen(bare: Client) -> None:
    rows = [line.split(",") for line in PAPERS.replace("#", ";").splitlines()]
    few = [["Note", *rows[0][1:]]]  # sheets of the same columns would be read as one table
    few += [[f"Note {n}", f"Cy {n % 3}; Di {n % 2}", "KDD" if n % 2 else "VLDB"] for n in range(12)]
    upload(bare, "book.xlsx", workbook({"About": [["made by us"]], "Papers": rows, "Notes": few}))
    seen = bare.answer("tables", {"files": ["book.xlsx"]})
    assert [(sheet["name"], sheet["rows"], sheet["is_used"]) for sheet in seen["sheets"]] == [
        ("About", None, False),
        ("Papers", 40, True),
        ("Notes", 12, False),
    ]
    assert seen["sheets"][1]["first"] == ["Paper 0", "Ann 0 ; Bo 0", "ACL"]
    other = bare.answer("tables", {"files": ["book.xlsx"], "sheet": "Notes", "dimensions": ["Venue"]})
    assert (other["items"], [sheet["name"] for sheet in other["sheets"] if sheet["is_used"]]) == (12, ["Notes"])


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
    assert upload(bare, "names.txt", b"x\n")[1]["files"] == ["bad.xlsx", "mitglieder.csv", "names.txt"]


@pytest.mark.parametrize("name", ["letter.pdf", "x.exe", "table.ods", "", "..", ".csv", "a" * 300 + ".csv", "a\n.csv"])
def test_only_tables_of_a_plain_name_are_taken(bare: Client, name: str) -> None:
    sentence = refusal(*upload(bare, name, b"a,b\n1,2\n"))
    assert "\n" not in sentence
    assert len(sentence) < 400


@pytest.mark.parametrize("name", ["../../up.csv", "/etc/up.csv", "..\\up.csv", "C:\\x\\up.csv", " up.csv "])
def test_a_name_leads_nowhere_else(bare: Client, tmp_path: Path, name: str) -> None:
    assert upload(bare, name, b"a,b\n1,2\n") == (200, {"name": "up.csv", "files": ["up.csv"]})
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("up.csv")] == ["given/files/up.csv"]
    for asked in (name, "../files/up.csv", "/etc/passwd", str(CLUB)):
        if asked != "up.csv":
            assert "choose a file first" in refusal(*bare.ask("tables", {"files": [asked]}))


def test_who_asks_of_a_cube_is_not_answered_by_another_one(bare: Client) -> None:
    upload(bare, "mitglieder.csv", CLUB.read_bytes())
    bare.answer("open", {"files": ["mitglieder.csv"]})
    checksum = bare.answer("cube", {})["checksum"]
    first = Client(bare.server, {"cube2net-checksum": checksum})
    assert first.answer("complete", {"text": "jan"})["candidates"]
    second = Client(bare.server)
    upload(second, "mitglieder.csv", CLUB.read_bytes())
    second.answer("open", {"files": ["mitglieder.csv"], "dimensions": ["Stadt"]})
    sentence = "another cube was opened in another window: reload the page"
    for name, question in (
        ("names", {"text": "Jan"}),
        ("complete", {"text": "jan"}),
        ("members", {"cells": [["Köln"]]}),
        ("pivot", {"rows": "Stadt", "columns": "Stadt"}),
        ("construct", {"request": {"query": ["x"]}}),
        ("export", {"request": {"query": ["x"]}, "format": ".graphml"}),
    ):
        status, answer = first.ask(name, question)
        assert (status, answer["error"]) == (409, {"sentence": sentence, "kind": "other-cube"}), name
        assert first.ask(name, question, Accept="application/x-ndjson")[0] == 409
    assert second.answer("complete", {"text": "jan"})["candidates"]
    now = second.answer("cube", {})["checksum"]
    assert now != checksum
    assert Client(bare.server, {"cube2net-checksum": now}).answer("complete", {"text": "jan"})["candidates"]
    assert first.answer("start", {})["cube"] == "mitglieder-cube"


def test_only_cubes_of_the_folder_are_opened_by_name(bare: Client, folder: Path) -> None:
    for name in (str(folder), "..", "../given", "."):
        assert refusal(*bare.ask("open", {"recent": name})).startswith("unknown cube of this folder ")


def test_too_much_is_refused_and_not_kept(bare: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 100)
    assert upload(bare, "small.csv", b"x" * 60)[0] == 200
    status, answer = upload(bare, "large.csv", b"x" * 60)
    assert (status, answer["error"]["kind"]) == (413, "large")
    assert upload(bare, "small.csv", b"x" * 90)[0] == 200
    monkeypatch.setattr(uploads, "MAX_FILES", 1)
    assert "which is the most taken at once" in refusal(*upload(bare, "more.csv", b"x"))
    assert sorted(path.name for path in (tmp_path / "given").rglob("*") if path.is_file()) == ["small.csv"]


def test_a_name_has_no_colon_which_some_systems_take_for_a_drive(bare: Client) -> None:
    assert upload(bare, "c:up.csv", b"x")[1] == {"name": "c_up.csv", "files": ["c_up.csv"]}


def remove(client: Client, name: str) -> tuple[int, Any]:
    """Return the status and the answer where a file is to be removed."""
    status, _, body = client.send("DELETE", f"/api/v1/upload?name={quote(name, safe='')}")
    return status, json.loads(body)


def test_files_that_are_removed_make_room_for_others(bare: Client, tmp_path: Path) -> None:
    for number in range(3 * uploads.MAX_FILES):
        assert upload(bare, f"{number}.csv", b"x")[0] == 200
        assert remove(bare, f"{number}.csv") == (200, {"name": f"{number}.csv", "files": []})
    assert refusal(*remove(bare, "../../home")) == "'../../home' does not exist"
    assert names_in(tmp_path / "given" / "files") == names_in(tmp_path / "given" / "parts") == []


def test_files_that_a_page_no_longer_uses_make_room_where_there_is_none(
    bare: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_FILES", 2)
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 100)
    upload(bare, "a.csv", b"x")
    upload(bare, "b.csv", b"x")

    def used(name: str, content: bytes, *uses: str) -> Any:
        said = "".join(f"&uses={one}" for one in uses)
        sent = bare.send("POST", f"/api/v1/upload?name={name}{said}", content, Content_Type="application/octet-stream")
        return json.loads(sent[2])

    assert used("c.csv", b"x", "b.csv")["files"] == ["b.csv", "c.csv"]
    assert "most taken at once" in used("d.csv", b"x", "b.csv", "c.csv")["error"]["sentence"]
    assert used("c.csv", b"x" * 100, "")["files"] == ["c.csv"]
    assert upload(bare, "d.csv", b"x")[0] == 413


def test_a_cube_that_is_opened_leaves_its_own_files_and_nothing_that_was_made_for_others(
    bare: Client, tmp_path: Path, home: Path
) -> None:
    given = tmp_path / "given"
    for number, keep in enumerate((False, False, True)):
        upload(bare, "mitglieder.csv", CLUB.read_bytes())
        upload(bare, "unused.csv", b"x")
        bare.answer("open", {"files": ["mitglieder.csv"], "keep": keep})
        assert bare.answer("start", {})["uploaded"] == ["mitglieder.csv"]
        assert bare.answer("cube", {})["objects"] == 72
        until(lambda: names_in(given / "made") == ([] if keep else [str(number + 1)]))  # noqa: B023
    assert names_in(home) == ["mitglieder-cube"]
    bare.answer("open", {"recent": "mitglieder-cube"})
    assert names_in(given / "files") == []


def until(condition: Callable[[], bool]) -> None:
    """Return when something is so, which it is not before others have noticed something."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it never was so")


def test_files_that_come_at_the_same_time_have_no_more_room_than_one_after_another(
    bare: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_FILES", 1)
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 100)
    parts = tmp_path / "given" / "parts"

    def begun(name: str) -> Any:
        connection = bare.connect()
        connection.putrequest("POST", f"/api/v1/upload?name={name}")
        for header in (
            ("Authorization", f"Bearer {bare.server.auth.token}"),
            ("Content-Type", "application/octet-stream"),
            ("Content-Length", "60"),
        ):
            connection.putheader(*header)
        connection.endheaders(b"x" * 50)
        return connection

    first = begun("a.csv")
    until(lambda: len(names_in(parts)) == 1)
    assert "1 files are there already" in refusal(*upload(bare, "b.csv", b"x"))
    assert upload(bare, "a.csv", b"y" * 60)[0] == 413
    second = begun("a.csv")
    until(lambda: len(names_in(parts)) == 2)
    second.close()
    until(lambda: len(names_in(parts)) == 1)
    assert upload(bare, "a.csv", b"y" * 50)[0] == 200
    first.send(b"x" * 10)
    assert first.getresponse().status == 200
    first.close()
    assert (tmp_path / "given" / "files" / "a.csv").read_bytes() == b"x" * 60
    assert names_in(parts) == []


def test_a_form_of_another_page_hands_over_nothing(bare: Client) -> None:
    assert upload(bare, "a.csv", b"x", Authorization="")[0] == 401
    assert upload(bare, "a.csv", b"x", Sec_Fetch_Site="cross-site")[0] == 403
    assert upload(bare, "a.csv", b"x", Origin="http://elsewhere.example")[0] == 403
    assert upload(bare, "a.csv", b"x", Content_Type="text/plain")[0] == 415
    assert bare.send("DELETE", "/api/v1/upload?name=a.csv", Sec_Fetch_Site="cross-site")[0] == 403


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


def test_who_goes_away_while_the_cube_is_kept_leaves_nothing_in_the_folder(
    bare: Client, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written beside the place of the cube, and its lock, go with it."""
    written, go_on = threading.Event(), threading.Event()
    sync = atomic_files._sync

    def slow(folder: Path) -> None:
        written.set()
        go_on.wait(PATIENCE)
        sync(folder)

    monkeypatch.setattr(atomic_files, "_sync", slow)
    upload(bare, "mitglieder.csv", CLUB.read_bytes())
    response = bare.open_stream("open", {"files": ["mitglieder.csv"], "keep": True})
    assert written.wait(PATIENCE)
    assert any("building" in name for name in names_in(home))
    response.close()
    until(lambda: names_in(tmp_path / "given" / "made") == [])
    go_on.set()
    until(lambda: names_in(home) == [])
    assert bare.answer("start", {})["recent"] == []


def test_only_the_cube_of_the_example_passes_for_it(tmp_path: Path, folder: Path, planted: Any) -> None:
    corpus = planted.corpus
    names = [tmp_path / f"nlp-papers-cube{end}" for end in ("", "-2", "-3", "-4")]
    assert cube_maker.find_example_folder(tmp_path, corpus) == names[0]
    names[0].mkdir()
    (names[0] / "letter.txt").write_text("no cube")
    names[1].write_text("no folder")
    shutil.copytree(folder, names[2])
    assert cube_maker.find_example_folder(tmp_path, corpus) == names[2]
    assert cube_maker.find_example_folder(tmp_path, load_bundled()) == names[3]
