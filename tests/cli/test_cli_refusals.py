"""How the command line refuses: names, options and places that are wrong, each in one sentence."""

import json
import re
from pathlib import Path

import pytest

import cube2net as c2n
from cube2net.api.plan import METHODS
from cube2net.apps.cli import options
from cube2net.io.sources import SOURCES
from cube2net.options import METHOD_NAMES, OBJECTIVE_NAMES
from cube2net.selection.objectives import OBJECTIVES


def test_the_names_in_the_help_are_the_registries() -> None:
    assert list(METHODS) == list(METHOD_NAMES)
    assert list(OBJECTIVES) == list(OBJECTIVE_NAMES)
    assert [*SOURCES, "bundled"] == list(options.SOURCE_NAMES)


def test_nothing_is_written_when_one_of_two_places_is_wrong(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    status, _, _ = tool("query", cube, "--query", names, "--out", tmp_path / "n.graphml", "--draw", tmp_path / "n.xyz")
    assert (status, (tmp_path / "n.graphml").exists()) == (2, False)


def test_missing_names_stop_are_listed_or_are_skipped(tool, cube: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("Person 1\nPersona 7\nnobody at all\n")
    status, out, err = tool("query", cube, "--query", path)
    assert (status, out) == (2, "")
    assert "query names 2 objects that are not in the cube: 'Persona 7', 'nobody at all'" in err
    assert "did you mean 'Person 7'" in err
    status, out, err = tool("query", cube, "--query", path, "--show-missing")
    assert (status, out.splitlines(), err) == (1, ["Persona 7", "nobody at all"], "")
    answer = json.loads(tool("query", cube, "--query", path, "--skip-missing", "--json")[1])
    assert (answer["query_found"], answer["query_missing"]) == (1, 2)
    path.write_text("Person 1\n")
    assert tool("query", cube, "--query", path, "--show-missing") == (0, "", "")
    assert tool("query", cube, "--query", tmp_path / "none.txt", "--show-missing")[0] == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--method", "ppr"), r"unknown method 'ppr': choose one of .*\('ppr' is 'pagerank' here\)"),
        (("--method", "gredy"), "unknown method 'gredy': choose one of .*did you mean 'greedy'"),
        (("--objective", "jacard"), "unknown objective 'jacard'"),
        (("--form", "cubes"), "unknown form 'cubes': choose one of cells, cells\\+objects, hybrid"),
        (("--n-cells", "-3"), "n_cells is -3, expected 0 or more cells"),
        (("--out", "n.xyz"), "unknown suffix of a network file '.xyz'"),
        (("--method", "hops", "--form", "cells"), "form 'cells' needs a method that chooses cells"),
        (("--method", "hops", "--set", "hops=9"), "hops is 9, expected 1 or 2"),
        (("--set", "depth=9", "--method", "hops"), "unknown parameter of method 'hops' 'depth'"),
        (("--where", "town=Ghent"), "unknown dimension 'town'"),
        (("--where", "city"), "cannot read the condition 'city': write dimension=label"),
        (("--roll-up", "city"), "dimension 'city' has no level above"),
        (("--out", "no/such/folder/n.graphml"), "cannot write"),
        (("--draw", "n.xyz"), "unknown suffix of a picture '.xyz': choose one of .pdf, .png, .svg"),
        (("--max-nodes", "-1"), "max_nodes is -1, expected 0 or more nodes, or None"),
        (
            ("--form", "cells+objects", "--max-links", "20"),
            "max_links limits the form 'objects', got the form 'cells.objects': limit max_n",
        ),
        (("--cell-weight", "2"), "cell_weight is 2.0, expected a number above 0 and up to 1, or None"),
        (("--neighbor-weight", "0"), "neighbor_weight is 0.0, expected a number above 0 and up to 1, or None"),
        (("--levels", "street"), "unknown level 'street': choose one of city, full, one, trade"),
        (("--set", "r=2", "--method", "hops"), "unknown parameter of method 'hops' 'r'"),
        (("--set", "r=0"), "r is 0, expected 1 or more times, or None for every time"),
        (("--method", "anneal", "--objective", "cover"), "the objective 'cover' counts how often an object is held"),
        (("--objective", "fbeta", "--set", "beta=-1"), "beta is -1"),
        (("--seed", "-1", "--method", "random"), "seed is -1"),
        (("--objective", "linked", "--set", "reach=0"), "reach is 0.0, expected a number above 0"),
        (
            ("--set", "by=price", "--form", "objects", "--max-links", "9"),
            "by is 'price', which cannot keep max_links=9: use by='value'",
        ),
    ],
)
def test_a_wrong_option_is_one_sentence_and_status_2(
    tool, cube: Path, names: Path, words: tuple, sentence: str
) -> None:
    status, out, err = tool("query", cube, "--query", names, *words, "--quiet")
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


@pytest.mark.parametrize("option", ["--pin", "--ban", "--prefer"])
def test_who_is_misspelt_is_named_with_whom_is_meant(tool, cube: Path, names: Path, option: str) -> None:
    said = tool("query", cube, "--query", names, option, "Persen 7", "--quiet")
    assert said == (2, "", "cube2net: no object or cell is called 'Persen 7': did you mean 'Person 7'?\n")


def test_a_node_may_be_typed_as_spreadsheets_have_it_and_of_another_level_it_is_said(tool, tmp_path: Path) -> None:
    c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"], out=tmp_path / "cube")
    (tmp_path / "labs.txt").write_text("\n".join(list(c2n.load_labs())[:5]), encoding="utf-8")
    asked = (tmp_path / "cube", "--query", tmp_path / "labs.txt", "--quiet")
    assert tool("query", *asked, "--pin", "ACL/2019", "--ban", "2018, ACL", "--json")[0] == 0
    sentence = (
        "cube2net: the cell '201X · ACL' is at another level: '201X' is of 'decades' and cells are of 'year' "
        "(such cells are there with --levels decades,venue)\n"
    )
    for command, option in (("query", "--pin"), ("query", "--ban"), ("explain", "--node"), ("without", "--node")):
        assert tool(command, *asked, option, "201X · ACL") == (2, "", sentence)
    assert tool("explain", *asked, "--node", "201X · ACL", "--roll-up", "year=decades")[0] == 0
    assert tool("explain", *asked, "--node", "201X · ACL", "--levels", "decades,venue")[0] == 0
