"""The command line as a person meets it: what it prints, what it writes, how it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cube2net import cli
from cube2net.pipeline import METHODS
from cube2net.select import OBJECTIVES
from cube2net.sources import SOURCES

CITIES = ("Ghent", "Turin", "Malmö")
PEOPLE = [(f"p{i}", f"Person {i}", CITIES[i % 3], "baker" if i % 4 else "joiner", 1980 + i % 30) for i in range(60)]


def run(*words: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run the command line in this process; return its status and what it wrote."""
    monkeypatch.setattr(sys, "argv", ["cube2net", *map(str, words)])
    status = 0
    try:
        cli.main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def tool(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return lambda *words: run(*words, capsys=capsys, monkeypatch=monkeypatch)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    rows = ["id,name,city,trade,born", *(",".join(map(str, person)) for person in PEOPLE)]
    (folder / "nodes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ends = [(i, (i * 7 + 3) % 60) for i in range(60)] + [(i, (i + 3) % 60) for i in range(60)]
    links = ["source,target,weight", *(f"p{a},p{b},{1 + a % 3}" for a, b in ends if a != b)]
    (folder / "links.csv").write_text("\n".join(links) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def cube(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cubes") / "people"
    command = ["build", "tables", str(tables / "nodes.csv"), str(tables / "links.csv"), "--out", str(out)]
    command += ["--dimension", "city", "--dimension", "trade", "--min-objects", "2"]
    subprocess.run([sys.executable, "-m", "cube2net.cli", *command], check=True, capture_output=True)
    return out


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "query.csv"
    path.write_text("object,label\n" + "".join(f"p{i},{'even' if i % 4 == 0 else 'odd'}\n" for i in range(0, 24, 2)))
    return path


def test_the_names_in_the_help_are_the_registries() -> None:
    assert list(METHODS) == list(cli.METHOD_NAMES)
    assert list(OBJECTIVES) == list(cli.OBJECTIVE_NAMES)
    assert [*SOURCES, "bundled"] == list(cli.SOURCE_NAMES)


def test_build_says_what_it_made_and_which_columns_it_guessed(tool, tables: Path, tmp_path: Path) -> None:
    status, out, err = tool("build", "tables", tables / "nodes.csv", tables / "links.csv", "--out", tmp_path / "c")
    assert (status, (tmp_path / "c" / "manifest.json").is_file()) == (0, True)
    assert "Cube(" in out
    assert "guessed" in err
    status, out, err = tool("verify", tmp_path / "c")
    assert (status, "all as they were written" in out) == (0, True)


def test_info_tells_dimensions_counts_and_what_was_left_out(tool, cube: Path) -> None:
    status, out, _ = tool("info", cube)
    assert status == 0
    for word in ("city", "trade", "Ghent", "objects", "links", "left out", "min_objects"):
        assert word in out
    status, out, _ = tool("info", cube, "--json")
    about = json.loads(out)
    assert (about["objects"], about["cells"], [entry["name"] for entry in about["dimensions"]]) == (
        60,
        6,
        ["city", "trade"],
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_in_json_with_the_promised_fields(tool, cube: Path, names: Path, method: str) -> None:
    status, out, err = tool("query", cube, "--query", names, "--method", method, "-m", 3, "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    promised = {"method", "m", "objective", "value", "bound", "gap", "cells", "nodes", "links", "query_found"}
    assert promised | {"query_missing", "seconds", "seed"} <= set(answer)
    assert set(answer["seconds"]) == {"select", "train", "links"}
    assert (answer["method"], answer["m"], answer["query_found"], answer["query_missing"]) == (method, 3, 12, 0)
    for cell in answer["cells"]:
        assert {"labels", "gain", "objects"} <= set(cell)
        assert set(cell["labels"]) == {"city", "trade"}


def test_the_gains_of_the_cells_sum_to_the_value(tool, cube: Path, names: Path) -> None:
    answer = json.loads(tool("query", cube, "--query", names, "-m", 4, "--json")[1])
    assert sum(cell["gain"] for cell in answer["cells"]) == pytest.approx(answer["value"])
    assert len(answer["cells"]) == 4


def test_a_network_is_written_drawn_and_shown(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "n.graphml", tmp_path / "n.png"
    words = ("query", cube, "--query", names, "-m", 2, "--form", "both", "--out", out, "--draw", picture)
    status, said, _ = tool(*words)
    assert status == 0
    assert out.read_text(encoding="utf-8").startswith("<?xml")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "cells chosen by greedy" in said
    assert f"wrote {out}" in said


def test_a_view_of_the_cube_can_be_asked(tool, cube: Path, names: Path) -> None:
    answer = json.loads(tool("query", cube, "--query", names, "--where", "city=Ghent", "-m", 9, "--json")[1])
    assert {cell["labels"]["city"] for cell in answer["cells"]} == {"Ghent"}


def test_parameters_of_a_method_are_set_by_name(tool, cube: Path, names: Path) -> None:
    few = json.loads(tool("query", cube, "--query", names, "--method", "pagerank", "--set", "top=5", "--json")[1])
    assert few["nodes"] == 12 + 5


def test_parameters_of_an_objective_are_set_by_name_too(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "--objective", "fbeta", "-m", 3, "--json")
    even, wide = (json.loads(tool(*words, "--set", f"beta={beta}")[1])["value"] for beta in (1, 3))
    assert even != wide


def test_a_value_is_given_only_where_cells_were_chosen(tool, cube: Path, names: Path) -> None:
    assert json.loads(tool("query", cube, "--query", names, "--method", "hops", "--json")[1])["value"] is None


def test_nothing_is_written_when_one_of_two_places_is_wrong(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    status, _, _ = tool("query", cube, "--query", names, "--out", tmp_path / "n.graphml", "--draw", tmp_path / "n.xyz")
    assert (status, (tmp_path / "n.graphml").exists()) == (2, False)


def test_a_cube_without_cells_is_said_to_have_none(tool, tables: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "city", "--quiet")
    status, out, _ = tool(*words, "--min-objects", 999, "--out", tmp_path / "c")
    assert (status, "60 of 60 objects are in no cell, for a cell needs 999 objects" in out) == (0, True)


def test_fewer_cells_than_asked_for_are_explained(tool, cube: Path, names: Path) -> None:
    assert "not 99: no other cell holds an object of the query" in tool("query", cube, "--query", names, "-m", 99)[1]


def test_a_level_above_is_named_as_one(tool, tables: Path, names: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "born@years/decades")
    assert tool(*words, "--min-objects", 1, "--out", tmp_path / "c", "--quiet")[0] == 0
    status, _, err = tool("query", tmp_path / "c", "--query", names, "--where", "decades=198X")
    assert (status, "'decades' is a level above 'born': roll 'born' up first (--roll-up)" in err) == (2, True)
    rolled = tool("query", tmp_path / "c", "--query", names, "--roll-up", "born", "--where", "decades=198X", "--json")
    assert {cell["labels"]["decades"] for cell in json.loads(rolled[1])["cells"]} == {"198X"}


def test_topics_are_found_in_texts_and_roll_up_to_groups(tool, tmp_path: Path) -> None:
    sorts = ("grammar of trees and parsers", "audio of speech signals", "votes of elections", "cells of tissue")
    nodes = ["id,text", *(f"n{i},{sorts[i % 4]} number{i % 4} word{i % 4}" for i in range(120))]
    (tmp_path / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (tmp_path / "links.csv").write_text("source,target\n" + "".join(f"n{i},n{i + 4}\n" for i in range(116)))
    (tmp_path / "q.txt").write_text("n0\nn4\nn8\n")
    words = ("build", "tables", tmp_path / "nodes.csv", tmp_path / "links.csv", "--dimension", "topic", "--quiet")
    status, _, err = tool(*words, "--topics", 4, "--topic-groups", 2, "--out", tmp_path / "c")
    assert (status, err) == (0, "")
    about = json.loads(tool("info", tmp_path / "c", "--json")[1])
    assert [(entry["name"], entry["labels"]) for entry in about["dimensions"]] == [("topic", 4), ("topic group", 2)]
    assert len(about["topic_words"]) == 4
    rolled = json.loads(tool("query", tmp_path / "c", "--query", tmp_path / "q.txt", "--roll-up", "topic", "--json")[1])
    assert set(rolled["cells"][0]["labels"]) == {"topic group"}


def test_missing_names_stop_are_listed_or_are_skipped(tool, cube: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("Person 1\nPersona 7\nnobody at all\n")
    status, out, err = tool("query", cube, "--query", path)
    assert (status, out) == (2, "")
    assert "query names 2 objects that are not in the cube: 'Persona 7', 'nobody at all'" in err
    assert "did you mean 'Person 7'" in err
    assert tool("query", cube, "--query", path, "--show-missing")[1].split("\n")[:2] == ["Persona 7", "nobody at all"]
    answer = json.loads(tool("query", cube, "--query", path, "--skip-missing", "--json")[1])
    assert (answer["query_found"], answer["query_missing"]) == (1, 2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--method", "gredy"), "unknown method 'gredy': choose one of .*did you mean 'greedy'"),
        (("--objective", "jacard"), "unknown objective 'jacard'"),
        (("--form", "cubes"), "unknown form 'cubes': choose one of both, cells, objects"),
        (("-m", "-3"), "m is -3, expected 0 or more cells"),
        (("--out", "n.xyz"), "unknown suffix of a network file '.xyz'"),
        (("--method", "hops", "--form", "cells"), "form 'cells' needs a method that chooses cells"),
        (("--method", "hops", "--set", "hops=9"), "hops is 9, expected 1 or 2"),
        (("--set", "depth=9", "--method", "hops"), "unknown parameter of method 'hops' 'depth'"),
        (("--where", "town=Ghent"), "unknown dimension 'town'"),
        (("--where", "city"), "cannot read the condition 'city': write dimension=label"),
        (("--roll-up", "city"), "dimension 'city' has no level above"),
        (("--out", "no/such/folder/n.graphml"), "cannot write"),
        (("--draw", "n.xyz"), "unknown suffix of a picture '.xyz': choose one of .pdf, .png, .svg"),
        (("--form", "both", "--max-nodes", "20"), "limit the form 'objects', got the form 'both': limit m instead"),
        (("--objective", "fbeta", "--set", "beta=-1"), "beta is -1"),
        (("--seed", "-1", "--method", "random"), "seed is -1"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_status_2(
    tool, cube: Path, names: Path, words: tuple, sentence: str
) -> None:
    status, out, err = tool("query", cube, "--query", names, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("cube2net: ")
    assert re.search(sentence, err), err


def test_a_wrong_place_is_one_sentence_and_status_2(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    for words in (
        ("info", tmp_path / "none"),
        ("verify", tmp_path),
        ("query", tmp_path, "--query", names),
        ("query", cube, "--query", tmp_path / "none.csv"),
        ("build", "tables", tmp_path / "none.csv", tmp_path / "links.csv", "--out", tmp_path / "c"),
        ("build", "tabels", tmp_path / "none.csv", "--out", tmp_path / "c"),
        ("build", "tables", "--out", tmp_path / "c"),
        ("build", "bundled", tmp_path, "--out", tmp_path / "c"),
        ("build", "acl", tmp_path / "none.tar.xz", "--out", tmp_path / "c"),
    ):
        status, out, err = tool(*words)
        assert (status, out) == (2, ""), words
        assert "Traceback" not in err
        assert err.splitlines()[-1].startswith("cube2net: "), words
        assert not (tmp_path / "c").exists()


def test_a_damaged_cube_is_named_at_opening_or_by_verify(tool, tables: Path, tmp_path: Path) -> None:
    tool("build", "tables", tables / "nodes.csv", tables / "links.csv", "--out", tmp_path / "c", "--quiet")
    weights = tmp_path / "c" / "links.weights.npy"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    status, _, err = tool("verify", tmp_path / "c")
    assert (status, "links.weights.npy was changed" in err) == (2, True)
    weights.write_bytes(content[:-8])
    status, _, err = tool("info", tmp_path / "c")
    assert (status, "is damaged: links.weights.npy has" in err) == (2, True)


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_ctrl_c_and_kill_in_the_middle_of_a_build_leave_the_old_cube(
    cube: Path, tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    fifo = tmp_path / "nodes.csv"
    os.mkfifo(fifo)
    (tmp_path / "links.csv").write_text("source,target\n")
    before = {path.name: path.read_bytes() for path in cube.iterdir()}
    command = [sys.executable, "-m", "cube2net.cli", "build", "tables", str(fifo), str(tmp_path / "links.csv")]
    process = subprocess.Popen([*command, "--out", str(cube)], stderr=subprocess.PIPE, text=True)
    with fifo.open("wb", buffering=0) as pipe:
        pipe.write(b"id,city\n1,Ghent\n")
        time.sleep(0.2)
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in err
    assert ("interrupted, nothing was left half-written" in err) == (status == 130)
    assert {path.name: path.read_bytes() for path in cube.iterdir()} == before
    assert [path.name for path in cube.parent.iterdir()] == [cube.name]
