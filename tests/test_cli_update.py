"""The command update: a cube grows, as a person sees it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.cli.app import app, main


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
    assert "added: 30 items, 30 objects, 0 cells, 29 links" in ended.output
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


def test_a_mention_is_never_lost_because_its_object_is_not_listed_again(tmp_path: Path) -> None:
    def write(name: str, *rows: str) -> str:
        (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
        return str(tmp_path / name)

    ids = [f"a{i}" for i in range(3)]
    first = [
        write("objects.csv", "object,name", *(f"{i},{i}" for i in ids)),
        write("items.csv", "item,venue", "1,KDD"),
        write("mentions.csv", "item,object", *(f"1,{i}" for i in ids)),
    ]
    words = ["build", "tables", *first, "--dimension", "venue", "--min-objects", "1", "--quiet"]
    assert CliRunner().invoke(app, [*words, "--out", str(tmp_path / "cube")]).exit_code == 0
    (tmp_path / "more").mkdir()
    items, mentions = write("more/items.csv", "item,venue", "2,KDD"), ("item,object", "2,a0", "2,a1")
    short = [write("more/objects.csv", "object,name", "a0,a0"), items, write("more/mentions.csv", *mentions)]
    ended = CliRunner().invoke(app, ["update", str(tmp_path / "cube"), *short, "--source", "tables", "--quiet"])
    assert ended.exit_code != 0
    assert "1 mentions of the new items name objects that the new tables do not list" in str(ended.exception)
    write("more/objects.csv", "object,name", "a0,a0", "a1,a1")
    ended = CliRunner().invoke(app, ["update", str(tmp_path / "cube"), *short, "--source", "tables", "--quiet"])
    assert "added: 1 items, 0 objects, 0 cells, 0 links" in ended.output
