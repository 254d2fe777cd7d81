"""The command update: a cube grows, as a person sees it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.cli import app, main


def write_nodes(path: Path, numbers: range) -> Path:
    rows = [f"n{number},{'Oslo' if number % 2 else 'Rome'},{2000 + number % 20}" for number in numbers]
    path.write_text("\n".join(["id,city,year", *rows]) + "\n", encoding="utf-8")
    return path


def write_links(path: Path, numbers: range) -> Path:
    rows = [f"n{number},n{number + 1}" for number in numbers]
    path.write_text("\n".join(["source,target", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    nodes, links = write_nodes(tmp_path / "nodes.csv", range(60)), write_links(tmp_path / "links.csv", range(59))
    words = ["build", "tables", str(nodes), str(links), "--dimension", "city", "--dimension", "year@decades", "--quiet"]
    assert CliRunner().invoke(app, [*words, "--out", str(tmp_path / "cube")]).exit_code == 0
    return tmp_path / "cube"


def test_a_cube_updated_on_the_command_line_is_the_one_built_of_all(cube: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    nodes = write_nodes(tmp_path / "more" / "nodes.csv", range(60, 90))
    more = [nodes, write_links(tmp_path / "more" / "links.csv", range(60, 89))]
    words = ["update", str(cube), *map(str, more), "--source", "tables", "--quiet"]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, ended.output
    grown = c2n.open_cube(cube)
    assert f"{cube}: {grown}" in ended.output and len(grown.objects) == 90
    whole = [write_nodes(tmp_path / "nodes2.csv", range(90)), tmp_path / "links2.csv"]
    lines = [f"n{number},n{number + 1}" for number in range(89) if number != 59]
    whole[1].write_text("\n".join(["source,target", *lines]) + "\n", encoding="utf-8")
    built = c2n.build_cube(c2n.read_tables(*whole), ["city", "year@decades"])
    assert grown.cells.labels.tolist() == built.cells.labels.tolist()
    assert grown.cells.members.indices.tolist() == built.cells.members.indices.tolist()
    assert grown.links.indices.tolist() == built.links.indices.tolist()
    assert c2n.verify_cube(cube)


def test_an_item_that_the_cube_has_is_refused_in_one_sentence_or_left_out(
    cube: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = c2n.open_cube(cube).cells.members.indices.tolist()
    again = [str(tmp_path / "nodes.csv"), str(tmp_path / "links.csv")]
    monkeypatch.setattr("sys.argv", ["cube2net", "update", str(cube), *again, "--source", "tables", "--quiet"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.count("\n") == 1 and said.startswith("cube2net: ")
    assert c2n.open_cube(cube).cells.members.indices.tolist() == before
