"""The commands contrast and describe: what they show, write and refuse."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.apps.cli.app import app, main

from toys import two_communities


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a cube, two queries, one of both with labels, and clusters."""
    place = tmp_path_factory.mktemp("contrast")
    cube, query = two_communities(30)
    cube.save(place / "cube")
    ids = [] if query.ids is None else query.ids.to_pylist()
    pairs = list(zip(ids, query.labels or (), strict=True))
    for name in ("group 0", "group 1"):
        (place / f"{name}.txt").write_text("\n".join(key for key, label in pairs if label == name))
    (place / "both.csv").write_text("object,label\n" + "\n".join(f"{key},{label}" for key, label in pairs))
    (place / "clusters.csv").write_text("object,cluster\n" + "\n".join(f"{key},{label[-1]}" for key, label in pairs))
    return place


def run(*words: object) -> str:
    ended = CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "140"})
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object) -> str:
    monkeypatch.setattr("sys.argv", ["cube2net", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    return capsys.readouterr().err.strip().splitlines()[-1].removeprefix("cube2net: ")


def test_two_files_are_told_apart_in_a_table_and_a_sentence(folder: Path) -> None:
    ask = ["contrast", folder / "cube", "--query", folder / "group 0.txt", "--against", folder / "group 1.txt"]
    shown = run(*ask, "--n-cells", 3)
    assert "group 0 against group 1" in shown and "difference, 95 %" in shown
    assert "group 0 (30 objects) differs from group 1 (30 objects) in ⟨" in shown
    assert "optimal for this number of cells" in shown and "cells tested" in shown
    cube = c2n.open(folder / "cube")
    queries = [c2n.read_query(cube, folder / f"group {number}.txt") for number in (0, 1)]
    found = c2n.contrast(cube, *queries, 3, names=("group 0", "group 1"))
    assert json.loads(run(*ask, "--n-cells", 3, "--json")) == json.loads(json.dumps(found.to_dict()))


def test_the_network_of_both_is_written_and_drawn(folder: Path, tmp_path: Path) -> None:
    files = [tmp_path / "n.graphml", tmp_path / "n.png"]
    shown = run("contrast", folder / "cube", "--query", folder / "both.csv", "--out", files[0], "--draw", files[1])
    assert all(f"wrote {path}" in shown.replace("\n", "") and path.stat().st_size for path in files)
    assert run("replay", files[0], "--cube", folder / "cube").startswith("identical bytes")


def test_labels_and_clusters_are_each_told_from_the_rest(folder: Path) -> None:
    labels = json.loads(run("contrast", folder / "cube", "--query", folder / "both.csv", "--json"))
    clusters = json.loads(run("describe", folder / "cube", "--clusters", folder / "clusters.csv", "--json"))
    names = [[group["sides"][0]["name"] for group in found["groups"]] for found in (labels, clusters)]
    assert names == [["group 0", "group 1"], ["cluster 0", "cluster 1"]]
    for one, other in zip(labels["groups"], clusters["groups"], strict=True):
        assert [cell["labels"] for cell in one["cells"]] == [cell["labels"] for cell in other["cells"]]
    shown = run("describe", folder / "cube", "--clusters", folder / "clusters.csv", "--roll-up", "venue=*")
    assert "cluster 1 (30 objects) differs from the rest (30 objects) in ⟨" in shown


def test_what_is_refused_is_said_in_options(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: object) -> str:
        return refused(monkeypatch, capsys, *words)

    query, cube = folder / "group 0.txt", folder / "cube"
    assert said("describe", cube, "--clusters", query) == (
        "group 0.txt has no column 'cluster': it needs the columns object,cluster"
    )
    assert said("contrast", cube, "--query", query, "--against", query, "--alpha", 2) == (
        "alpha is 2.0, expected a number above 0 and up to 1"
    )


@pytest.mark.parametrize("command", ["contrast", "describe"])
def test_no_cells_at_all_cannot_be_asked_for(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--query", folder / "both.csv"] if command == "contrast" else ["--clusters", folder / "clusters.csv"]
    said = refused(monkeypatch, capsys, command, folder / "cube", *given, "--n-cells", 0)
    assert said == "n_cells is 0, expected 1 or more cells"


def test_the_network_of_a_contrast_can_be_explained_with_the_items_behind_its_links(
    folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "n.graphml"
    run("contrast", folder / "cube", "--query", folder / "both.csv", "--out", file)
    one = (folder / "group 0.txt").read_text().splitlines()[0]
    told = json.loads(run("explain", folder / "cube", "--network", file, "--node", one, "--json"))
    assert "the cube does not keep its items" not in told["note"]
    whole = run("explain", folder / "cube", "--network", file)
    assert "chosen to separate objects and not by the objective cover, which is" in whole.replace("\n", " ")


def test_a_file_against_itself_is_called_as_it_is(folder: Path) -> None:
    file = folder / "group 0.txt"
    shown = run("contrast", folder / "cube", "--query", file, "--against", file)
    said = "group 0 and group 0 (again) are the same 30 objects: there is nothing to contrast"
    assert shown == f"{said}\n"


def test_cells_above_the_level_are_not_called_significant(folder: Path) -> None:
    ask = ["contrast", folder / "cube", "--query", folder / "group 0.txt", "--against", folder / "group 1.txt"]
    loose, strict = (run(*ask, "--alpha", alpha) for alpha in (1, 0.05))
    assert "significant at the level 1" in loose
    assert " significant, " in strict
    assert json.loads(run(*ask, "--alpha", 1, "--json"))["alpha"] == 1


def test_groups_stand_apart_by_one_empty_line_and_none_is_at_the_end(folder: Path) -> None:
    shown = run("contrast", folder / "cube", "--query", folder / "both.csv", "--n-cells", 1)
    assert not shown.endswith("\n\n") and "\n\n\n" not in shown


def test_a_file_of_clusters_that_cannot_be_read_is_called_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.txt").write_text("")
    for name, said in (("none.csv", "cannot read the file of the clusters"), ("empty.txt", "the file of the clusters")):
        ask = ["describe", folder / "cube", "--clusters", tmp_path / name]
        assert refused(monkeypatch, capsys, *ask).startswith(f"{said} '")
