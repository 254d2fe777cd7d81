"""The command line as a person meets it: what it prints, what it writes, how it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from unittest.mock import ANY

import pyarrow.parquet as pq
import pytest

from cube2net.cli import app, options
from cube2net.cli.signals import STATUS
from cube2net.pipeline import METHODS, Auto
from cube2net.records import Budget, Cube, Query, Selection, Worth
from cube2net.select import OBJECTIVES, Greedy, bounded
from cube2net.sources import SOURCES

CITIES = ("Ghent", "Turin", "Malmö")
PEOPLE = [(f"p{i}", f"Person {i}", CITIES[i % 3], "baker" if i % 4 else "joiner", 1980 + i % 30) for i in range(60)]


def run(*words: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run the command line in this process; return its status and what it wrote."""
    monkeypatch.setattr(sys, "argv", ["cube2net", *map(str, words)])
    status = 0
    try:
        app.main()
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
    subprocess.run([sys.executable, "-m", "cube2net", *command], check=True, capture_output=True)
    return out


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "query.csv"
    path.write_text("object,label\n" + "".join(f"p{i},{'even' if i % 4 == 0 else 'odd'}\n" for i in range(0, 24, 2)))
    return path


def test_the_names_in_the_help_are_the_registries() -> None:
    assert list(METHODS) == list(options.METHOD_NAMES)
    assert list(OBJECTIVES) == list(options.OBJECTIVE_NAMES)
    assert [*SOURCES, "bundled"] == list(options.SOURCE_NAMES)


def test_a_build_says_that_it_took_the_place_of_another_cube(tool, tables: Path, tmp_path: Path) -> None:
    words = ["build", "tables", tables, "--out", tmp_path / "c", "--dimension", "city", "--min-objects", "2", "--quiet"]
    said = "it has taken the place of the cube that was there"
    assert [said in tool(*words)[1] for _ in range(2)] == [False, True]


def test_build_says_what_it_made_and_which_columns_it_guessed(tool, tables: Path, tmp_path: Path) -> None:
    status, out, err = tool("build", "tables", tables / "nodes.csv", tables / "links.csv", "--out", tmp_path / "c")
    assert (status, (tmp_path / "c" / "manifest.json").is_file()) == (0, True)
    assert "Cube(" in out
    assert "guessed" in err
    status, out, err = tool("verify", tmp_path / "c")
    assert (status, "all as they were written" in out) == (0, True)


def test_a_folder_of_tables_makes_the_cube_of_its_files_and_grows_by_another(
    tool, tables: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("nodes.csv", "links.csv"):
        (data / name).write_bytes((tables / name).read_bytes())
    (data / "labels.csv").write_text("attribute,label,full_name,parent\ncity,Ghent,Gent,Flanders\n", encoding="utf-8")
    (data / "README.txt").write_text("nothing", encoding="utf-8")
    words = ("--dimension", "city/region", "--min-objects", 2)
    status, out, err = tool("build", "tables", data, *words, "--out", data / "cube")
    assert status == 0 and "Cube(city: 3 cells, 60 objects, 102 links)" in out
    assert "files: nodes='nodes.csv', links='links.csv', labels='labels.csv' (found)" in err
    assert "not read, having no name of a table: 'README.txt'" in err
    about = json.loads(tool("info", data / "cube", "--json")[1])
    assert [(entry["name"], entry["examples"][0]) for entry in about["dimensions"]][1] == ("region", "Flanders")
    more = tmp_path / "more"
    more.mkdir()
    (more / "nodes.csv").write_text("id,name,city,trade,born\nx1,New One,Ghent,baker,1950\n", encoding="utf-8")
    (more / "links.csv").write_text("source,target\n", encoding="utf-8")
    status, out, _ = tool("update", data / "cube", more, "--source", "tables", "--quiet")
    assert (status, "added: 1 items, 1 objects, 0 cells, 0 links" in out) == (0, True)
    (more / "nodes.csv").unlink()
    status, _, err = tool("update", data / "cube", more, "--source", "tables", "--quiet")
    assert (status, err.count("\n")) == (2, 1) and "holds links: expected nodes and links" in err


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


def test_info_and_query_say_what_travels_and_that_methods_take_links_as_undirected(tool, tmp_path: Path) -> None:
    nodes, links, query = tmp_path / "nodes.csv", tmp_path / "links.csv", tmp_path / "query.txt"
    nodes.write_text("id,city,born\n1,Rome,1815\n2,Oslo,1900\n3,Rome,1950\n")
    links.write_text("source,target,type,year\n1,2,cites,2001\n2,1,knows,2003\n3,1,cites,2005\n")
    query.write_text("1\n2\n")
    cubes = {way: tmp_path / f"cube {way}" for way in ("true", "false")}
    for way, folder in cubes.items():
        build = ("build", "tables", nodes, links, "--dimension", "city", "--min-objects", "1", "--out", folder)
        assert tool(*build, "--set", f"directed={way}")[0] == 0
    _, out, _ = tool("info", cubes["true"])
    assert "objects carry city, born (0.00 MB)" in out
    assert "links say their direction, kind, time; methods take links as undirected" in out
    about = json.loads(tool("info", cubes["false"], "--json")[1])
    assert (about["ids"], about["attributes"]["names"], about["links_say"]) == (
        "texts",
        ["city", "born"],
        ["kind", "time"],
    )
    said = "links have a direction: the method took them as undirected"
    assert said in tool("query", cubes["true"], "--query", query, "--method", "hops")[1]
    assert said not in tool("query", cubes["false"], "--query", query, "--method", "hops")[1]
    given = ("--source", "tables", "--skip-known")  # the direction is remembered unless another is given
    more = tool("update", cubes["true"], nodes, links, *given, "--set", "directed=false")
    assert more[0] == 2
    assert "have none (--set directed=True gives one)" in more[2]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_in_json_with_the_promised_fields(tool, cube: Path, names: Path, method: str) -> None:
    status, out, err = tool("query", cube, "--query", names, "--method", method, "-m", 3, "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    promised = {"method", "m", "objective", "value", "bound", "gap", "cells", "nodes", "links", "query_found"}
    promised |= {"form", "levels", "near", "near_weight", "membership", "trust", "query_held", "query_loose"}
    assert promised | {"proven", "note", "keep", "left_out", "query_missing", "seconds", "seed"} <= set(answer)
    assert {"weigh", "select", "train", "links"} == set(answer["seconds"]) - {"vectors"}
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
    assert (answer["views"], answer["objects_that_may_be_brought"]) == (["only city in ['Ghent']"], 20)
    assert "views" not in json.loads(tool("query", cube, "--query", names, "--json")[1])


@pytest.mark.parametrize("method", ["none", "hops", "hops 2", "pagerank", "steiner", "greedy"])
def test_a_view_limits_what_every_method_brings_and_says_so(
    tool, cube: Path, names: Path, method: str, tmp_path: Path
) -> None:
    words = ("query", cube, "--query", names, "--method", method, "--where", "city=Ghent", "--quiet")
    status, said, err = tool(*words, "--out", tmp_path / "view.parquet")
    assert (status, err) == (0, "")
    assert "of the cube: only city in ['Ghent']\n20 of its 60 objects may be brought\n" in said
    nodes = pq.read_table(tmp_path / "view.nodes.parquet").to_pylist()
    others = [node["id"] for node in nodes if not node["in_query"] and node["kind"] != "cell"]
    assert {CITIES[int(row[1:]) % 3] for row in others} <= {"Ghent"} and bool(others) == (method != "none")
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


def test_parameters_of_a_method_are_set_by_name(tool, cube: Path, names: Path) -> None:
    few = json.loads(tool("query", cube, "--query", names, "--method", "pagerank", "--set", "top=5", "--json")[1])
    assert few["nodes"] == 12 + 5


def test_parameters_of_an_objective_are_set_by_name_too(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "--objective", "fbeta", "-m", 3, "--json")
    even, wide = (json.loads(tool(*words, "--set", f"beta={beta}")[1])["value"] for beta in (1, 3))
    assert even != wide


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_gives_greedy_a_value(tool, cube: Path, names: Path, objective: str) -> None:
    status, out, err = tool("query", cube, "--query", names, "--objective", objective, "-m", 2, "--json")
    answer = json.loads(out)
    assert (status, err, answer["objective"]) == (0, "", objective)
    assert answer["keep"] == ("linked" if objective == "linked" else "all")
    assert answer["value"] == pytest.approx(sum(cell["gain"] for cell in answer["cells"]))


def test_linked_has_parameters_too(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "--objective", "linked", "-m", 2, "--json")
    values = {json.loads(tool(*words, "--set", setting)[1])["value"] for setting in ("reach=0.2", "reach=2")}
    assert len(values) == 2


def test_objects_without_a_link_are_kept_or_left_out_as_asked(tool, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,city\n" + "".join(f"p{i},Ghent\n" for i in range(12)))
    (tmp_path / "links.csv").write_text("source,target\np0,p1\np1,p2\n")
    (tmp_path / "q.txt").write_text("p0\n")
    words = ("build", "tables", tmp_path / "nodes.csv", tmp_path / "links.csv", "--dimension", "city", "--quiet")
    assert tool(*words, "--out", tmp_path / "c")[0] == 0
    ask = ("query", tmp_path / "c", "--query", tmp_path / "q.txt", "--form", "objects")
    said = "9 objects without a link to the network are left out (--keep all keeps them)"
    assert said in tool(*ask, "--objective", "linked")[1]
    assert said in tool(*ask, "--keep", "linked")[1]
    assert said not in tool(*ask, "--objective", "linked", "--keep", "all")[1]


def test_a_query_that_no_cell_helps_says_so_and_is_answered_with_itself(tool, tables: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "born@years", "--quiet")
    assert tool(*words, "--min-objects", 99, "--out", tmp_path / "c")[0] == 0
    (tmp_path / "q.txt").write_text("p0\np3\np10\n")
    ask = ("query", tmp_path / "c", "--query", tmp_path / "q.txt", "--form", "objects", "--out", tmp_path / "n.json")
    status, out, err = tool(*ask)
    assert (status, err) == (0, "")
    assert out.startswith(
        "Network(3 objects, 1 links, 3 in the query)\nnone of the 3 objects of the query is in any cell"
    )
    assert (tmp_path / "n.json").is_file()
    answer = json.loads(tool(*ask, "--json")[1])
    assert (answer["nodes"], answer["value"], answer["cells"]) == (3, None, [])
    assert "so there is nothing to choose from: use the method 'none'" in answer["note"]
    out = tool(*ask[:4])[1]
    assert out.startswith(
        "Network(6 objects, 5 links, 3 in the query)\n"
        "0 cells hold 0 of the 3 objects of the query; 3 near objects; 1 of the query has neither\n"
        "none of the 3 objects of the query is in any cell"
    )


@pytest.fixture
def upper_bound(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Put a bound of one's own in place of the real one."""
    fake = ModuleType("cube2net.select.prove.exact")
    fake.bound = 0.9  # type: ignore[attr-defined]
    fake.upper_bound = lambda *args, at_least: max(at_least, fake.bound)  # type: ignore[attr-defined]
    monkeypatch.setattr(import_module(bounded.__module__), "upper_bound", fake.upper_bound)
    return fake


def test_a_bound_is_shown_when_asked_for(tool, cube: Path, names: Path, upper_bound: ModuleType) -> None:
    words = ("query", cube, "--query", names, "-m", 2, "--form", "objects")
    assert "possible" not in tool(*words)[1]
    answer = json.loads(tool(*words, "--bound", "--json")[1])
    assert (answer["bound"], answer["proven"], "bound" in answer["seconds"]) == (0.9, False, True)
    assert re.search(r"at most 0\.9000 is possible: within \d\d\.\d % of the best", tool(*words, "--bound")[1])
    upper_bound.bound = 0.0  # type: ignore[attr-defined]
    assert "proven best: no choice within the limits is worth more" in tool(*words, "--bound")[1]
    assert json.loads(tool(*words, "--bound", "--json")[1])["proven"] is True
    said = tool(*words, "--bound", "--max-links", 900)[1]
    assert "no bound: max_links cannot be taken into account" in said


def test_a_choice_for_cover_comes_with_its_bound(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "-m", 1)
    answer = json.loads(tool(*words, "--json")[1])
    assert (answer["objective"], answer["bound"], answer["proven"]) == ("cover", answer["value"], True)
    assert f", cover {answer['value']:.0f}\n" in tool(*words)[1]
    assert "proven best: no choice within the limits is worth more" in tool(*words)[1]


@dataclass(frozen=True, kw_only=True)
class Searcher(Greedy):
    """Greedy with the parameters of a method that searches."""

    seconds: float | None = None
    preset: str = "default"
    device: str = "cpu"

    def select(self, cube: Cube, query: Query, *, weights: Worth, budget: Budget, seed: int = 0) -> Selection:
        found = super().select(cube, query, weights=weights, budget=budget, seed=seed)
        return replace(found, note=f"{self.seconds} {self.preset} {self.device}")


def test_seconds_preset_and_device_are_parameters_of_the_method(
    tool, cube: Path, names: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS, "searcher", Searcher)
    words = ("query", cube, "--query", names, "--method", "searcher", "--json")
    assert json.loads(tool(*words)[1])["note"] == "None default cpu"
    options = ("--seconds", 2.5, "--preset", "paper", "--device", "cuda")
    assert json.loads(tool(*words, *options)[1])["note"] == "2.5 paper cuda"
    settings = ("--set", "seconds=2.5", "--set", "preset=paper", "--set", "device=cuda")
    assert json.loads(tool(*words, *settings)[1])["note"] == "2.5 paper cuda"
    status, _, err = tool(*words, "--seconds", 2.5, "--set", "seconds=3")
    assert (status, err) == (2, "cube2net: seconds is given twice, by --seconds and by --set seconds=3\n")


@pytest.mark.parametrize("option", ["seconds", "preset", "device"])
def test_a_method_without_such_a_parameter_names_those_that_have_it(
    tool, cube: Path, names: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS, "searcher", Searcher)
    kinds = {**METHODS, "auto": Auto}
    takers = [name for name, kind in kinds.items() if option in {field.name for field in fields(kind)}]
    status, _, err = tool("query", cube, "--query", names, "--method", "greedy", f"--{option}", 5)
    assert (status, err) == (2, f"cube2net: method 'greedy' takes no --{option}: choose one of {', '.join(takers)}\n")


def test_a_preset_alone_asks_for_the_method_that_has_presets_and_gives_the_papers_network(
    tool, cube: Path, names: Path
) -> None:
    words = ("query", cube, "--query", names, "--preset", "paper", "--set", "updates=1", "--set", "trajectories=4")
    answer = json.loads(tool(*words, "--json")[1])
    assert (answer["method"], answer["objective"], answer["form"], answer["m"]) == (
        "cube2net",
        "jaccard",
        "objects",
        20,
    )
    status, _, err = tool("query", cube, "--query", names, "--preset", "papper")
    assert status == 2 and err.startswith("cube2net: unknown preset 'papper': choose one of default, paper")


def test_a_value_is_given_only_where_cells_were_chosen(tool, cube: Path, names: Path) -> None:
    assert json.loads(tool("query", cube, "--query", names, "--method", "hops", "--json")[1])["value"] is None


def test_nothing_is_written_when_one_of_two_places_is_wrong(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    status, _, _ = tool("query", cube, "--query", names, "--out", tmp_path / "n.graphml", "--draw", tmp_path / "n.xyz")
    assert (status, (tmp_path / "n.graphml").exists()) == (2, False)


def test_a_cube_is_built_with_its_items_or_without(tool, tables: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "city", "--quiet")
    for option, index, attributes in (
        ((), True, True),
        (("--items", "index"), True, False),
        (("--no-items",), False, False),
    ):
        assert tool(*words, *option, "--out", tmp_path / "cube")[0] == 0
        assert (tmp_path / "cube" / "items.arrow").exists() == index
        assert (tmp_path / "cube" / "items.attributes.arrow").exists() == attributes
        said = tool("info", tmp_path / "cube")[1]
        assert ("(of items: index 0.00 MB" in said, "attributes 0.00 MB)" in said) == (index, attributes)
    status, _, err = tool(*words, "--items", "some", "--out", tmp_path / "cube")
    assert (status, "unknown kind of items 'some': choose one of all, index, none" in err) == (2, True)


def test_a_cube_without_cells_is_said_to_have_none(tool, tables: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "city", "--quiet")
    status, out, _ = tool(*words, "--min-objects", 999, "--out", tmp_path / "c")
    assert (status, "60 of 60 objects are in no cell, for a cell needs 999 objects" in out) == (0, True)


def test_fewer_cells_than_asked_for_are_explained(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "-m", 99)
    assert "not 99: no other cell holds an object of the query" in tool(*words, "--form", "objects")[1]
    assert "\n6 cells, of 99 at most\n" in tool(*words)[1]
    assert "at most" not in tool(*words[:4])[1], "the query decides how many where nobody says"


def test_levels_above_are_used_by_their_names(tool, tables: Path, names: Path, tmp_path: Path) -> None:
    words = ["build", "tables", tables / "nodes.csv", tables / "links.csv", "--min-objects", 1, "--quiet"]
    for path in ("born@years/decades/century=born@width:100", "born@years/fives@width:5", "born@years/trade"):
        words += ["--dimension", path]
    assert tool(*words, "--out", tmp_path / "c") == (0, ANY, "")
    about = json.loads(tool("info", tmp_path / "c", "--json")[1])
    levels = [(entry["name"], entry["above"]) for entry in about["dimensions"]]
    assert levels == [
        ("born", None),
        ("decades", "born"),
        ("century", "decades"),
        ("fives", "born"),
        ("trade", "born"),
    ]
    shown = tool("info", tmp_path / "c")[1]
    assert "  ↑ decades" in shown and "  ↑   ↑ century" in shown and "  ↑ fives" in shown

    def labels(*options: str) -> set[tuple[str, ...]]:
        status, out, err = tool("query", tmp_path / "c", "--query", names, "--method", "random", *options, "--json")
        assert (status, err) == (0, "")
        return {(*cell["labels"], *cell["labels"].values()) for cell in json.loads(out)["cells"]}

    assert {label[:3] for _, label in labels("--where", "decades=198X")} == {"198"}
    assert labels("--roll-up", "born=decades", "--where", "decades=198X") == {("decades", "198X")}
    assert {label for _, label in labels("--roll-up", "born=century")} <= {"1900–1999", "2000–2099"}
    assert labels("--roll-up", "born=fives", "--roll-up", "fives=*") == {("fives", "∗")}

    def refusal(*options: str) -> str:
        status, _, err = tool("query", tmp_path / "c", "--query", names, *options)
        assert status == 2
        return err

    assert refusal("--roll-up", "born") == (
        "cube2net: dimension 'born' has 'decades', 'fives' and 'trade' above it: name the one to roll up to "
        "(--roll-up DIMENSION=LEVEL)\n"
    )
    assert "only ∗ (--roll-up DIMENSION=∗)" in refusal("--roll-up", "born=fives", "--roll-up", "fives")
    assert "'decades' is a level above 'born': roll 'born' up first (--roll-up)" in refusal("--roll-up", "decades")
    assert "unknown level above 'born' 'city': choose one of century, decades, fives" in refusal(
        "--roll-up", "born=city"
    )


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
        (("--max-nodes", "-1"), "max_nodes is -1, expected 0 or more nodes, or None"),
        (
            ("--form", "both", "--max-links", "20"),
            "max_links limits the form 'objects', got the form 'both': limit max_n",
        ),
        (("--trust", "2"), "trust is 2.0, expected a number above 0 and up to 1, or None"),
        (("--near-weight", "0"), "near_weight is 0.0, expected a number above 0 and up to 1, or None"),
        (("--levels", "street"), "unknown level 'street': choose one of city, full, one, trade"),
        (("--set", "r=2", "--method", "hops"), "unknown parameter of method 'hops' 'r'"),
        (("--set", "r=0"), "r is 0, expected 1 or more times, or None for every time"),
        (("--method", "anneal", "--objective", "cover"), "the objective 'cover' counts how often an object is held"),
        (("--objective", "fbeta", "--set", "beta=-1"), "beta is -1"),
        (("--seed", "-1", "--method", "random"), "seed is -1"),
        (("--keep", "some"), "unknown keep 'some': choose one of all, linked"),
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


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)]


@pytest.mark.parametrize(("sent", "status"), SIGNALS)
def test_ctrl_c_and_kill_in_the_middle_of_a_build_leave_the_old_cube(
    cube: Path, tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    fifo = tmp_path / "papers.txt"
    os.mkfifo(fifo)
    before = {path.name: path.read_bytes() for path in cube.iterdir()}
    command = [sys.executable, "-m", "cube2net", "build", "aminer", str(fifo)]
    process = subprocess.Popen(
        [*command, "--out", str(cube)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in STATUS],  # noqa: PLW1509
    )
    with fifo.open("wb", buffering=0) as pipe:
        pipe.write(b"#*A paper\n#@Ann\n#t2001\n#cKDD\n#index1\n\n")
        time.sleep(0.2)
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in err
    assert ("interrupted, nothing was left half-written\n" in err) == (status > 0), "nothing was finished by then"
    assert {path.name: path.read_bytes() for path in cube.iterdir()} == before
    assert [path.name for path in cube.parent.iterdir()] == [cube.name]


def test_what_only_spark_can_do_needs_the_engine_spark(tool, tmp_path: Path) -> None:
    for words, sentence in (
        (["--memory", "much"], "memory is 'much', expected a number and a unit, such as 512MB or 4GB"),
        (["--topic-model", "spark-lda"], "topics by 'spark-lda' are learned on Spark: add --engine spark"),
        (["--topic-model", "lsa"], "unknown topic model 'lsa': choose one of lda, spark-lda (did you mean 'lda'?)"),
        (["--staging", "s3a://b/f"], "--staging is for the engine 'spark', and the engine is 'duckdb'"),
    ):
        status, _, err = tool("build", "bundled", "--out", tmp_path / "cube", *words)
        assert status == 2
        assert sentence in err
    assert list(tmp_path.iterdir()) == []


def test_cells_that_lower_the_value_come_with_what_to_do(tool, cube: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("".join(f"p{i}\n" for i in range(8)))
    told = set()
    for seed in range(6):
        words = ("query", cube, "--query", tmp_path / "names.txt", "-m", 3, "--method", "random", "--seed", seed)
        words += ("--objective", "jaccard")
        status, out, _ = tool(*words)
        assert status == 0
        told.add("-0." in out)
        assert ("cells lower the jaccard: --prefix best stops at its best, 0." in out) == ("-0." in out)
    assert told == {True, False}


def test_without_options_a_query_is_answered_with_the_network_that_helps(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names)
    answer = json.loads(tool(*words, "--json")[1])
    said = ("method", "form", "objective", "m", "levels", "near", "near_weight", "keep", "membership")
    expected = ("greedy", "woven", "cover", None, "full", 12, None, "all", "need")
    assert tuple(answer[name] for name in said) == expected
    assert 0.1 <= answer["trust"] <= 1 and answer["nodes"] == 12 + 12 + len(answer["cells"]) <= 36
    assert (answer["query_held"], answer["query_loose"]) == (12, 0)
    out = tool(*words)[1]
    assert "6 cells, trusted 1.00, hold 12 of the 12 objects of the query; 12 near objects\n" in out
    paper = json.loads(tool(*words, "--form", "objects", "--json")[1])
    expected = ("greedy", "objects", "jaccard", 20, "full", 0, None, "all", None)
    assert tuple(paper[name] for name in said) == expected and paper["trust"] is None


def test_parameters_of_the_default_objective_are_set_by_name(tool, cube: Path, names: Path) -> None:
    once, least = (
        json.loads(tool("query", cube, "--query", names, "--set", setting, "--json")[1])
        for setting in ("r=1", "least=9")
    )
    assert (once["objective"], once["value"]) == ("cover", 12.0)
    assert least["cells"] == [] and least["note"] == "no cell serves 9 objects of the query that need it"


def test_cells_of_one_label_are_asked_for_by_levels(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    graph, picture = tmp_path / "n.graphml", tmp_path / "n.svg"
    words = ("query", cube, "--query", names, "--levels", "one")
    answer = json.loads(tool(*words, "--out", graph, "--draw", picture, "--json")[1])
    assert answer["levels"] == "one" and len(answer["cells"]) == 5
    assert all(list(cell["labels"].values()).count("∗") == 1 for cell in answer["cells"])
    text = graph.read_text(encoding="utf-8")
    assert "Ghent · ∗" in text and "∗ · baker" in text
    assert picture.stat().st_size > 0
    shown = tool(*words)[1]
    assert re.search(r"∗ +baker", shown) and re.search(r"Ghent +∗", shown)
    both = json.loads(tool(*words, "--levels", "full", "--json")[1])
    assert both["levels"] == ["one", "full"]
    assert {list(cell["labels"].values()).count("∗") for cell in both["cells"]} == {0, 1}


def test_a_window_of_time_limits_what_is_shown_and_asked(tool, tmp_path: Path) -> None:
    rows = [f"n{i},{('Rome', 'Oslo')[i % 2]},{2000 + i % 20}" for i in range(60)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,city,year", *rows]) + "\n")
    (tmp_path / "links.csv").write_text("\n".join(["from,to", *(f"n{i},n{i + 1}" for i in range(59))]) + "\n")
    words = (
        "build",
        "tables",
        tmp_path / "nodes.csv",
        tmp_path / "links.csv",
        "--dimension",
        "city",
        "--min-objects",
        1,
    )
    assert tool(*words, "--dimension", "year@years", "--quiet", "--out", tmp_path / "cube")[0] == 0
    (tmp_path / "names.txt").write_text("n0\nn1\nn2\n")
    status, out, _ = tool("info", tmp_path / "cube", "--between", "2000..2004", "--json")
    about = json.loads(out)
    assert (status, about["items"], about["cells"], about["objects"]) == (0, 15, 5, 60)
    assert about["views"] == ["only items of year 2000..2004, and links of what these mention"]
    assert about["views"][0] in tool("info", tmp_path / "cube", "--between", "2000..2004")[1]
    query = ("query", tmp_path / "cube", "--query", tmp_path / "names.txt", "--form", "objects", "--json", "--quiet")
    assert tool(*query, "--between", "2000..2004")[0] == 0
    status, _, err = tool(*query, "--between", "2004..2000")
    assert (status, err) == (2, "cube2net: the window '2004..2000' ends before it begins\n")
    assert tool(*words, "--dimension", "year@years", "--quiet", "--out", tmp_path / "bare", "--items", "index")[0] == 0
    status, _, err = tool("info", tmp_path / "bare", "--between", "2000..2004")
    assert (status, "build it again to have them (--items all)" in err) == (2, True)
