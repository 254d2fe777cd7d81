"""What views of a cube let come, on the command line."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest


@pytest.mark.parametrize("method", ["none", "hops", "hops 2", "pagerank", "steiner", "greedy"])
def test_a_view_limits_what_every_method_brings_and_says_so(
    tool, cube: Path, names: Path, method: str, tmp_path: Path
) -> None:
    words = ("query", cube, "--query", names, "--method", method, "--where", "city=Ghent", "--quiet")
    status, said, err = tool(*words, "--out", tmp_path / "view.parquet")
    assert (status, err) == (0, "")
    assert "of the cube: only city: Ghent\n20 of its 60 objects may be brought\n" in said
    nodes = pq.read_table(tmp_path / "view.nodes.parquet").to_pylist()
    others = [node["id"] for node in nodes if not node["in_query"] and node["kind"] != "cell"]
    assert {int(row[1:]) % 3 for row in others} <= {0} and bool(others) == (method != "none")
    assert sum(node["in_query"] for node in nodes) == 12


def test_a_kind_of_objects_limits_what_is_brought(tool, tmp_path: Path) -> None:
    rows = [f"n{i},{('Rome', 'Oslo')[i % 2]},{('man', 'ship', 'port')[i % 3]}" for i in range(60)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,city,kind", *rows]) + "\n")
    links = [f"n{i},n{(i + step) % 60}" for i in range(60) for step in (1, 2, 7)]
    (tmp_path / "links.csv").write_text("\n".join(["from,to", *links]) + "\n")
    (tmp_path / "names.txt").write_text("n0\nn1\nn2\n")
    tables = (tmp_path / "nodes.csv", tmp_path / "links.csv")
    build = ("build", "tables", *tables, "--dimension", "city", "--min-objects", 1, "--quiet")
    assert tool(*build, "--out", tmp_path / "cube")[0] == 0
    words = ("query", tmp_path / "cube", "--query", tmp_path / "names.txt", "--quiet", "--method")
    for method in ("hops", "pagerank", "greedy"):
        out = tmp_path / f"{method}.parquet"
        status, said, err = tool(*words, method, "--kind", "ship", "--kind", "port", "--out", out)
        assert (status, err) == (0, "")
        assert "of the cube: only objects of kind ship, port are brought\n40 of its 60 objects may be" in said
        nodes = pq.read_table(tmp_path / f"{method}.nodes.parquet").to_pylist()
        assert {node["kind"] for node in nodes if not node["in_query"]} - {"cell"} == {"ship", "port"}
    said = tool(*words, "hops", "--kind", "ship", "--where", "city=Oslo", "--where", "city=Rome")[1]
    assert "20 of its 60 objects may be brought" in said
    status, _, err = tool(*words, "hops", "--kind", "shp")
    refused = "unknown kind 'shp': choose one of man, port, ship (did you mean 'ship'?)"
    assert (status, err) == (2, f"cube2net: {refused}\n")


@pytest.fixture
def clusters(names: Path) -> Path:
    path = names.with_name("clusters.csv")
    path.write_text(names.read_text().replace("label", "cluster"))
    return path


def view_commands(cube: Path, names: Path, clusters: Path) -> list[tuple[object, ...]]:
    asked = ("--query", names)
    commands = [("contrast", cube, *asked), ("describe", cube, "--clusters", clusters), ("drill", cube, *asked)]
    return [*commands, ("explain", cube, *asked), ("without", cube, *asked, "--node", "p1")]


def test_every_command_says_of_which_part_of_the_cube_it_speaks(tool, cube: Path, names: Path, clusters: Path) -> None:
    for words in view_commands(cube, names, clusters):
        status, said, err = tool(*words, "--where", "city=Ghent", "--quiet")
        assert (status, err) == (0, "") and said.startswith("of the cube: only city: Ghent\n"), words[0]
        brings = words[0] in ("explain", "without")
        assert ("20 of its 60 objects may be brought" in said) == brings, words[0]
        told = json.loads(tool(*words, "--where", "city=Ghent", "--json")[1])
        assert told["views"] == ["only city: Ghent"] and ("objects_that_may_be_brought" in told) == brings
        assert "views" not in json.loads(tool(*words, "--json")[1]), words[0]


def test_names_left_out_are_said_where_nothing_is_brought_too(tool, cube: Path, names: Path, clusters: Path) -> None:
    for file in (names, clusters):
        file.write_text(file.read_text() + "nobody,even\n")
    for words in view_commands(cube, names, clusters)[:3]:
        assert "not in the cube: 'nobody'" in tool(*words)[2]
        said = tool(*words, "--skip-missing", "--quiet")[1]
        assert "left out, being unknown or the name of several objects: 1 ('nobody')\n" in said
        assert json.loads(tool(*words, "--skip-missing", "--json")[1])["missing"] == ["nobody"]
