"""The command suggest: what it proposes, what it prints, and that what it prints builds."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.apps.cli.app import app, main


def write(folder: Path, count: int = 900, *, topics: bool = False) -> Path:
    """Write a network whose firms lie in cities of states, with years, stars, a serial number and maybe a text."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    words = [f"word{number}" for number in range(50)]
    header = ["id", "city", "the state/land", "founded", "serial", *(["text"] * topics)]
    lines = [",".join(header)]
    for row in range(count):
        city = int(rng.integers(20))
        text = [" ".join(rng.choice(words, 10))] * topics
        lines.append(",".join([f"n{row}", f"c{city}", f"s{city // 5}", str(1950 + rng.integers(60)), f"X{row}", *text]))
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ends = rng.integers(count, size=(2 * count, 2))
    links = ["source,target", *(f"n{one},n{two}" for one, two in ends if one != two)]
    (folder / "links.csv").write_text("\n".join(links) + "\n", encoding="utf-8")
    return folder


def run(*words: object) -> str:
    ended = CliRunner().invoke(app, list(map(str, words)))
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object) -> str:
    monkeypatch.setattr("sys.argv", ["cube2net", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("topics", [False, True])
def test_the_command_and_the_python_that_are_printed_build_the_cube_that_is_proposed(tmp_path, monkeypatch, topics):
    folder = write(tmp_path / "my data", topics=topics)
    monkeypatch.chdir(tmp_path)
    shown = run("suggest", folder, "--quiet", "--min-objects", 8)
    about = json.loads(run("suggest", "tables", folder, "--quiet", "--json", "--min-objects", 8))
    command = next(line for line in shown.splitlines() if line.startswith("cube2net build "))
    assert command == about["command"]
    words = shlex.split(command)
    assert words[:4] == ["cube2net", "build", "tables", str(folder)]
    run(*words[1:], "--quiet")
    cube = c2n.open("cube")
    assert [c2n.DimensionSpec.parse(spec).name for spec in about["dimensions"]] == [
        dimension.levels[0].name for dimension in cube.dimensions
    ]
    if topics:
        assert cube.settings["topics"]["count"] == about["topics"] == 10
    else:
        best = about["proposals"][0]
        assert (len(cube.cells), len(cube.small)) == (best["cells"], best["dead"])
        assert float((cube.object_cells.sizes > 0).mean()) == pytest.approx(best["share"])
    made: dict[str, object] = {}
    exec("\n".join(about["python"]), made)
    assert str(made["cube"]) == str(cube)


def test_build_without_dimensions_builds_what_suggest_proposes(tmp_path):
    folder = write(tmp_path / "data")
    about = json.loads(run("suggest", folder, "--quiet", "--json"))
    run("build", "tables", folder, "--out", tmp_path / "cube", "--quiet")
    assert c2n.open(tmp_path / "cube").settings["dimensions"] == about["dimensions"]


def test_what_is_shown_says_what_everything_is_and_why(tmp_path):
    shown = run("suggest", write(tmp_path / "data"), "--quiet")
    for sentence in (
        "looked at 900 of 900 items",
        "levels: city → the state/land (all of 900 items)",
        "serial has another value on nearly every item: it tells no groups apart",
        "founded holds years, 1950 to 2009",
        "objects in cells",
        "proposed: ",
        "  corpus = c2n.read_source('tables', ",
    ):
        assert sentence in shown
    assert "no chance" not in shown, "links by chance say nothing of attributes"
    assert "hidden half held" not in shown


def test_a_query_adds_what_is_held_of_it(tmp_path):
    folder = write(tmp_path / "data")
    corpus = c2n.read_tables(folder)
    query = [row["item"] for row in corpus.items.to_pylist() if row["city"] in ("c3", "c4")]
    (tmp_path / "query.txt").write_text("\n".join(query) + "\n", encoding="utf-8")
    words = ["suggest", folder, "--query", tmp_path / "query.txt", "--splits", 3, "--quiet"]
    about = json.loads(run(*words, "--json"))
    assert about["alone"][0]["dimensions"] == ['city/"the state/land"'] and about["alone"][0]["held"]["mean"] > 0.9
    assert "hidden half held" in run(*words)


def test_parameters_of_the_source_are_in_the_command(tmp_path):
    folder = write(tmp_path / "data")
    words = ["--set", "columns=name:serial", "--strict", "--seed", "3"]
    about = json.loads(run("suggest", folder, *words, "--json", "--quiet"))
    assert shlex.split(about["command"])[-5:] == words
    assert "columns={'name': 'serial'}, strict=True)" in about["python"][1] and "seed=3" in about["python"][2]


def test_the_bundled_papers_need_no_path():
    about = json.loads(run("suggest", "bundled", "--quiet", "--json"))
    assert about["items"] == 39_833 and about["topics"] == 100
    assert about["command"].startswith("cube2net build bundled --dimension ")
    assert about["python"][-2] == "corpus = c2n.load_bundled()"


def test_where_nothing_can_be_proposed_this_is_said(tmp_path, monkeypatch, capsys):
    (tmp_path / "nodes.csv").write_text("id,city\na,Rome\nb,Oslo\nc,Rome\nd,Oslo\n", encoding="utf-8")
    (tmp_path / "links.csv").write_text("source,target\na,b\n", encoding="utf-8")
    shown = run("suggest", tmp_path, "--quiet", "--min-objects", 10)
    assert "nothing to propose: no attribute makes two cells of 10 objects: with 2 in a cell city would" in shown
    assert "(--min-objects 2)" in shown and "cube2net build" not in shown
    words = ["build", "tables", tmp_path, "--min-objects", 10, "--out", tmp_path / "cube", "--quiet"]
    said = refused(monkeypatch, capsys, *words)
    assert said.startswith("cube2net: found no dimensions for a cube: no attribute makes two cells of 10 objects")
    assert "(--min-objects 2)" in said and said.count("\n") == 1
    assert not (tmp_path / "cube").exists()


def test_bad_words_are_refused_in_one_sentence(tmp_path, monkeypatch, capsys):
    assert "needs a path to read" in refused(monkeypatch, capsys, "suggest", "--quiet")
    assert "there is no file" in refused(monkeypatch, capsys, "suggest", tmp_path / "none.csv", tmp_path / "no.csv")
