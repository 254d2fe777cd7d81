"""The command update: a cube grows, as a person sees it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.apps.cli.app import app, main


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
    grown = c2n.open(cube)
    assert f"{cube}: {grown}" in ended.output and len(grown.objects) == 90
    assert "added: 30 items, 30 objects, 0 cells, 29 links" in ended.output
    whole = [write_nodes(tmp_path / "nodes2.csv", range(90)), tmp_path / "links2.csv"]
    lines = [f"n{number},n{number + 1}" for number in range(89) if number != 59]
    whole[1].write_text("\n".join(["source,target", *lines]) + "\n", encoding="utf-8")
    built = c2n.build(c2n.read_tables(*whole), ["city", "year@decades"])
    assert grown.cells.labels.tolist() == built.cells.labels.tolist()
    assert grown.cells.members.indices.tolist() == built.cells.members.indices.tolist()
    assert grown.links.indices.tolist() == built.links.indices.tolist()
    assert c2n.open(cube).verify()


def test_an_item_that_the_cube_has_is_refused_in_one_sentence_or_left_out(
    cube: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = c2n.open(cube).cells.members.indices.tolist()
    again = [str(tmp_path / "nodes.csv"), str(tmp_path / "links.csv")]
    monkeypatch.setattr("sys.argv", ["cube2net", "update", str(cube), *again, "--source", "tables", "--quiet"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.count("\n") == 1 and said.startswith("cube2net: ")
    assert c2n.open(cube).cells.members.indices.tolist() == before


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
    words = ["update", str(tmp_path / "cube"), *short, "--source", "tables", "--quiet"]
    write("more/mentions.csv", *mentions, "2,a7")
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code != 0
    assert "1 mentions of the new items name objects that the new tables do not list" in str(ended.exception)
    write("more/mentions.csv", *mentions)
    ended = CliRunner().invoke(app, words)
    assert "added: 1 items, 0 objects, 0 cells, 0 links" in ended.output
    assert c2n.open(tmp_path / "cube").objects.table["name"].to_pylist() == ids


def papers(folder: Path, rows: list[tuple[str, int, str, str]]) -> list[str]:
    """Write papers (id, year, venue, authors) as three tables, and return their paths."""
    folder.mkdir()
    authors = sorted({author for *_, names in rows for author in names})
    tables = {
        "objects.csv": ["object,name", *(f"{author},{author.upper()}" for author in authors)],
        "items.csv": ["item,year,venue", *(f"{item},{year},{venue}" for item, year, venue, _ in rows)],
        "mentions.csv": ["item,object", *(f"{item},{author}" for item, _, _, names in rows for author in names)],
    }
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(folder / name) for name in tables]


DIMENSIONS = ["--dimension", "year@decades", "--dimension", "venue", "--min-objects", "1", "--quiet"]
FIRST = [("p1", 2001, "KDD", "ab"), ("p2", 2002, "ACL", "bc"), ("p3", 2012, "ACL", "ac"), ("p4", 2013, "KDD", "de")]


def test_items_are_replaced_and_removed_on_the_command_line(tmp_path: Path) -> None:
    cube = tmp_path / "cube"
    words = ["build", "tables", *papers(tmp_path / "first", FIRST), *DIMENSIONS, "--out", str(cube)]
    assert CliRunner().invoke(app, words).exit_code == 0
    (tmp_path / "withdrawn.txt").write_text("p4\n\nunknown\n")
    again = [("p2", 2002, "ACL", "bc"), ("p3", 2015, "KDD", "ac"), ("p5", 2016, "KDD", "ab")]
    more = papers(tmp_path / "again", again)
    words = ["update", str(cube), *more, "--source", "tables", "--replace", "--remove", str(tmp_path / "withdrawn.txt")]
    ended = CliRunner().invoke(app, [*words, "--quiet"])
    assert ended.exit_code == 0, ended.output
    assert "added: 0 items, -2 objects, -1 cells, -1 links" in ended.output
    assert "items: 1 new, 1 replaced, 1 removed, 1 unchanged" in ended.output
    whole = papers(tmp_path / "whole", [*FIRST[:2], *again[1:]])
    assert (
        CliRunner().invoke(app, ["build", "tables", *whole, *DIMENSIONS, "--out", str(tmp_path / "w")]).exit_code == 0
    )
    before = {path.name: path.read_bytes() for path in cube.iterdir()}
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "w").iterdir()}
    ended = CliRunner().invoke(app, [*words, "--quiet"])
    assert "items: 0 new, 0 replaced, 0 removed, 3 unchanged" in ended.output
    assert before == {path.name: path.read_bytes() for path in cube.iterdir()}
    (tmp_path / "withdrawn.txt").write_text("p1\n")
    ended = CliRunner().invoke(app, ["update", str(cube), "--remove", str(tmp_path / "withdrawn.txt"), "--quiet"])
    assert ended.exit_code == 0 and "1 removed" in ended.output
    assert c2n.open(cube).settings["items"] == 3


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ([], "4 of the new items are in the cube already: 'p1', 'p2', 'p3'"),
        (["--source", "tables", "--skip-known", "--replace"], "skip_known leaves items out that the cube has, and"),
        (["--remove", "odd.bin"], "'odd.bin' is no text in UTF-8, expected the ids of items, one a line"),
        (["--remove", "empty.txt"], "there is nothing to do: give new data, or ids of items to remove"),
    ],
)
def test_an_update_that_cannot_be_is_one_sentence(
    more: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    files = papers(tmp_path / "first", FIRST)
    assert CliRunner().invoke(app, ["build", "tables", *files, *DIMENSIONS, "--out", "cube"]).exit_code == 0
    Path("odd.bin").write_bytes(b"\xff\xfe\x00")
    Path("empty.txt").write_text("\n")
    paths = files if "--source" in more or not more else []
    monkeypatch.setattr("sys.argv", ["cube2net", "update", "cube", *paths, *more, "--quiet"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and sentence in capsys.readouterr().err


def weights_of(cube: Path) -> list[float]:
    weights: list[float] = c2n.open(cube).links.weights.tolist()
    return weights


def test_the_same_tables_again_with_replace_leave_every_byte(cube: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in cube.iterdir()}
    again = [str(tmp_path / "nodes.csv"), str(tmp_path / "links.csv"), "--source", "tables", "--quiet"]
    for _ in range(2):
        ended = CliRunner().invoke(app, ["update", str(cube), *again, "--replace"])
        assert "items: 0 new, 0 replaced, 0 removed, 60 unchanged" in ended.output
        assert "links: 0 new, 0 replaced, 59 unchanged" in ended.output
        assert before == {path.name: path.read_bytes() for path in cube.iterdir()}


def test_a_link_that_comes_again_is_replaced_or_gets_heavier_and_either_is_said(cube: Path, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("source,target,weight\nn0,n1,4\nn2,n1,1\nn0,n9,2\n")
    again = [str(tmp_path / "nodes.csv"), str(tmp_path / "links.csv"), "--source", "tables", "--quiet"]
    ended = CliRunner().invoke(app, ["update", str(cube), *again, "--replace"])
    assert "added: 0 items, 0 objects, 0 cells, 1 links" in ended.output
    assert "links: 1 new, 1 replaced, 1 unchanged" in ended.output
    assert sorted(set(weights_of(cube))) == [1.0, 2.0, 4.0]
    ended = CliRunner().invoke(app, ["update", str(cube), *again, "--skip-known"])
    assert "links: 3 existing links got heavier (--replace would replace them)" in ended.output
    assert sorted(set(weights_of(cube))) == [1.0, 2.0, 4.0, 8.0]


def test_new_links_alone_are_added_between_objects_that_the_cube_has(cube: Path, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("source,target\nn0,n7\nn3,n9\nn3,x\n")
    for paths in (["--set", f"links={tmp_path / 'more.csv'}"], [str(tmp_path / "more.csv")]):
        ended = CliRunner().invoke(app, ["update", str(cube), *paths, "--source", "tables", "--replace", "--quiet"])
        assert ended.exit_code == 0, ended.output
        new = 2 if "--set" in paths else 0
        assert f"added: 0 items, 0 objects, 0 cells, {new} links" in ended.output
        assert f"links: {new} new, 0 replaced, {2 - new} unchanged" in ended.output
    grown = c2n.open(cube)
    assert len(grown.objects) == 60 and grown.settings["items"] == 60 and grown.links.count == 61


def test_changed_nodes_alone_are_replaced_and_their_links_stay(cube: Path, tmp_path: Path) -> None:
    (tmp_path / "changed.csv").write_text("id,city,year\nn0,Bern,2000\nn1,Oslo,2001\nn99,Oslo,2001\n")
    words = ["update", str(cube), str(tmp_path / "changed.csv"), "--source", "tables", "--replace", "--quiet"]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, ended.output
    assert "items: 1 new, 1 replaced, 0 removed, 1 unchanged" in ended.output
    grown = c2n.open(cube)
    assert grown.links.count == 59 and len(grown.objects) == 61
    assert grown.objects.attributes["city"].to_pylist()[0] == "Bern"


def test_a_new_node_may_be_linked_to_one_that_the_new_tables_do_not_list(cube: Path, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,city,year\nn99,Oslo,2001\n")
    (tmp_path / "l.csv").write_text("source,target\nn99,n5\nn5,n7\n")
    files = [str(tmp_path / "n.csv"), "--set", f"links={tmp_path / 'l.csv'}", "--source", "tables", "--quiet"]
    before = c2n.open(cube)
    ended = CliRunner().invoke(app, ["update", str(cube), *files])
    assert "added: 1 items, 1 objects, 0 cells, 2 links" in ended.output
    grown = c2n.open(cube)
    assert grown.objects.table.slice(0, 60).equals(before.objects.table)
    assert grown.objects.attributes.slice(0, 60).equals(before.objects.attributes)


def test_an_update_reads_as_the_cube_was_read(tmp_path: Path) -> None:
    nodes = ["nr;Firma;title;Stadt", *(f"k{i};Firma {i};Herr {i};{'Ulm' if i % 2 else 'Bern'}" for i in range(6))]
    (tmp_path / "kunden.csv").write_text("\n".join(nodes) + "\n")
    (tmp_path / "wege.csv").write_text("von;an;Menge;Preis\nk0;k1;3;70\nk2;k3;4;80\n")
    (tmp_path / "neu.csv").write_text("nr;title;Firma;Stadt\nk9;Frau 9;Firma 9;Ulm\n")
    (tmp_path / "mehr.csv").write_text("Preis;von;an;Menge\n90;k9;k1;5\n")
    cube, columns = tmp_path / "cube", "columns=nodes.id:nr,name:Firma,source:von,target:an,weight:Menge"
    words = ["build", "tables", str(tmp_path / "kunden.csv"), "--links", str(tmp_path / "wege.csv"), "--set", columns]
    words += ["--set", "directed=true", "--dimension", "Stadt", "--min-objects", "1", "--out", str(cube), "--quiet"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert str(tmp_path) not in (cube / "manifest.json").read_text()
    for file in ("neu.csv", "mehr.csv"):
        ended = CliRunner().invoke(app, ["update", str(cube), str(tmp_path / file)])
        assert ended.exit_code == 0, ended.output
        assert "read as the cube was: tables, columns nodes.id='nr', nodes.name='Firma'" in ended.stderr
    grown = c2n.open(cube)
    assert grown.objects.table["name"].to_pylist()[-1] == "Firma 9"
    assert sorted(grown.links.weights.tolist()) == [3.0, 3.0, 4.0, 4.0, 5.0, 5.0]
    said = CliRunner().invoke(app, ["info", str(cube)]).output
    assert "source: tables, columns nodes.id='nr'" in said and "directed" in said


def test_columns_of_another_update_are_those_given_and_a_missing_usual_one_is_guessed(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,label,city\n" + "".join(f"n{i},N{i},Rome\n" for i in range(4)))
    (tmp_path / "links.csv").write_text("source,target,n\nn0,n1,2\n")
    words = ["build", "tables", str(nodes), str(tmp_path / "links.csv"), "--set", "columns=weight:n"]
    words += ["--dimension", "city", "--min-objects", "1", "--out", str(tmp_path / "cube"), "--quiet"]
    assert CliRunner().invoke(app, words).exit_code == 0
    for head, more in (("from,to,weight", []), ("source,target,n,m", ["--set", "columns=weight:m"])):
        row = "n2,n3,7" if "from" in head else "n1,n3,1,6"
        (tmp_path / "links.csv").write_text(f"{head}\n{row}\n")
        ended = CliRunner().invoke(app, ["update", str(tmp_path / "cube"), str(tmp_path / "links.csv"), *more])
        assert ended.exit_code == 0, ended.output
    assert sorted(set(weights_of(tmp_path / "cube"))) == [2.0, 6.0, 7.0]


def test_a_cube_that_does_not_know_its_source_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus, out=tmp_path / "cube")
    nodes = write_nodes(tmp_path / "nodes.csv", range(3))
    monkeypatch.setattr("sys.argv", ["cube2net", "update", str(tmp_path / "cube"), str(nodes), "--quiet"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "the kind of the files is unknown: add --source, such as --source tables" in capsys.readouterr().err
