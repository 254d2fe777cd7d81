"""The command drill: what it shows, and that its answers can be drilled again."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.apps.cli.app import app, main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drill")
    c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"], out=folder / "cube")
    (folder / "labs.txt").write_text("\n".join(c2n.load_labs()), encoding="utf-8")
    return folder


def run(folder: Path, *words: object) -> str:
    asked = ["drill", str(folder / "cube"), "--query", str(folder / "labs.txt"), *map(str, words)]
    ended = CliRunner().invoke(app, asked)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def refused(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object) -> str:
    asked = ["cube2net", "drill", str(folder / "cube"), "--query", str(folder / "labs.txt"), *map(str, words)]
    monkeypatch.setattr("sys.argv", asked)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_it_shows_a_table_and_a_sentence(folder: Path) -> None:
    shown = run(folder, "-k", 3)
    assert shown.splitlines()[0].strip() == "cells below ⟨∗ · ∗⟩"
    for word in ("rank", "year", "venue", "of the query", "new", "objects", "share", "lift", "bits"):
        assert word in shown.splitlines()[2]
    assert "3 cells below ⟨∗ · ∗⟩ hold " in shown


def test_json_has_cells_that_the_option_takes(folder: Path) -> None:
    record = json.loads(run(folder, "--json"))
    cube = c2n.open(folder / "cube")
    assert record == c2n.drill(cube, list(c2n.load_labs())).to_dict()
    for cell in record["cells"][:3]:
        below = json.loads(run(folder, "--cell", cell["cell"], "--json"))
        assert (below["cell"], below["query_objects"]) == (cell["cell"], cell["query_objects"])


def test_it_keeps_to_the_view_that_is_asked_for(folder: Path) -> None:
    record = json.loads(run(folder, "--where", "kind=workshop", "--roll-up", "year", "--json"))
    assert record["dimensions"] == ["decades", "venue"]
    assert all(cell["labels"][0] in ("201X", "202X", "∗") for cell in record["cells"])


def test_a_cell_with_nothing_to_list_is_one_sentence(folder: Path) -> None:
    assert run(folder, "--cell", "AESPEN") == run(folder, "--cell", "*, AESPEN")
    assert run(folder, "--cell", "*, AESPEN") == "⟨∗ · AESPEN⟩ holds none of the 116 objects of the query\n"


def test_an_unknown_label_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "unknown label of 'venue' or 'kind' 'ACLL'" in refused(folder, monkeypatch, capsys, "--cell", "*, ACLL")
    assert "a cell has a label or ∗ for each of year, venue" in refused(folder, monkeypatch, capsys, "--cell", "a,b,c")
    assert "k is 0, expected 1 or more cells" in refused(folder, monkeypatch, capsys, "-k", 0)
