"""The command query as a person meets it: what it prints, what it writes, and what is said of the answer."""

import json
import re
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from cube2net.api.compare import Auto
from cube2net.api.plan import METHODS
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.selection.exact import add_bound
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import OBJECTIVES


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_in_json_with_the_promised_fields(tool, cube: Path, names: Path, method: str) -> None:
    status, out, err = tool("query", cube, "--query", names, "--method", method, "--n-cells", 3, "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    promised = {"method", "n_cells", "objective", "value", "bound", "gap", "cells", "nodes", "links", "query_found"}
    promised |= {
        "form",
        "levels",
        "n_neighbors",
        "neighbor_weight",
        "membership_weights",
        "cell_weight",
        "query_held",
        "query_loose",
    }
    assert promised | {"proven", "note", "keep_unlinked", "left_out", "query_missing", "seconds", "seed"} <= set(answer)
    assert {"weigh", "select", "train", "links"} == set(answer["seconds"]) - {"vectors"}
    assert (answer["method"], answer["n_cells"], answer["query_found"], answer["query_missing"]) == (method, 3, 12, 0)
    for cell in answer["cells"]:
        assert {"labels", "gain", "objects"} <= set(cell)
        assert set(cell["labels"]) == {"city", "trade"}


def test_the_gains_of_the_cells_sum_to_the_value(tool, cube: Path, names: Path) -> None:
    answer = json.loads(tool("query", cube, "--query", names, "--n-cells", 4, "--json")[1])
    assert sum(cell["gain"] for cell in answer["cells"]) == pytest.approx(answer["value"])
    assert len(answer["cells"]) == 4


def test_a_network_is_written_drawn_and_shown(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "n.graphml", tmp_path / "n.png"
    words = (
        "query",
        cube,
        "--query",
        names,
        "--n-cells",
        2,
        "--form",
        "cells+objects",
        "--out",
        out,
        "--draw",
        picture,
    )
    status, said, _ = tool(*words)
    assert status == 0
    assert out.read_text(encoding="utf-8").startswith("<?xml")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "cells chosen by greedy" in said
    assert f"wrote {out}" in said


def test_a_view_of_the_cube_can_be_asked(tool, cube: Path, names: Path) -> None:
    answer = json.loads(tool("query", cube, "--query", names, "--where", "city=Ghent", "--n-cells", 9, "--json")[1])
    assert {cell["labels"]["city"] for cell in answer["cells"]} == {"Ghent", "∗"}
    assert (answer["views"], answer["objects_that_may_be_brought"]) == (["only city: Ghent"], 20)
    assert "views" not in json.loads(tool("query", cube, "--query", names, "--json")[1])


def test_parameters_of_a_method_are_set_by_name(tool, cube: Path, names: Path) -> None:
    few = json.loads(tool("query", cube, "--query", names, "--method", "pagerank", "--set", "top=5", "--json")[1])
    assert few["nodes"] == 12 + 5


def test_parameters_of_an_objective_are_set_by_name_too(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "--objective", "fbeta", "--n-cells", 3, "--json")
    even, wide = (json.loads(tool(*words, "--set", f"beta={beta}")[1])["value"] for beta in (1, 3))
    assert even != wide


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_gives_greedy_a_value(tool, cube: Path, names: Path, objective: str) -> None:
    status, out, err = tool("query", cube, "--query", names, "--objective", objective, "--n-cells", 2, "--json")
    answer = json.loads(out)
    assert (status, err, answer["objective"]) == (0, "", objective)
    assert answer["keep_unlinked"] is (objective != "linked")
    assert answer["value"] == pytest.approx(sum(cell["gain"] for cell in answer["cells"]))


def test_linked_has_parameters_too(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "--objective", "linked", "--n-cells", 2, "--json")
    values = {json.loads(tool(*words, "--set", setting)[1])["value"] for setting in ("reach=0.2", "reach=2")}
    assert len(values) == 2


def test_objects_without_a_link_are_kept_or_left_out_as_asked(tool, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,city\n" + "".join(f"p{i},Ghent\n" for i in range(12)))
    (tmp_path / "links.csv").write_text("source,target\np0,p1\np1,p2\n")
    (tmp_path / "q.txt").write_text("p0\n")
    words = ("build", "tables", tmp_path / "nodes.csv", tmp_path / "links.csv", "--dimension", "city", "--quiet")
    assert tool(*words, "--out", tmp_path / "c")[0] == 0
    ask = ("query", tmp_path / "c", "--query", tmp_path / "q.txt", "--form", "objects")
    said = "9 objects without a link to the network are left out (--keep-unlinked keeps them)"
    assert said in tool(*ask, "--objective", "linked")[1]
    assert said in tool(*ask, "--no-keep-unlinked")[1]
    assert said not in tool(*ask, "--objective", "linked", "--keep-unlinked")[1]


def test_a_query_that_no_cell_helps_says_so_and_is_answered_with_itself(tool, tables: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "born@years", "--quiet")
    assert tool(*words, "--min-objects", 99, "--out", tmp_path / "c")[0] == 0
    (tmp_path / "q.txt").write_text("p0\np3\np10\n")
    ask = ("query", tmp_path / "c", "--query", tmp_path / "q.txt", "--form", "objects", "--out", tmp_path / "n.json")
    status, out, err = tool(*ask)
    assert (status, err) == (0, "")
    assert out.startswith(
        "Network(3 objects, 1 link, 3 in the query)\nnone of the 3 objects of the query is in any cell"
    )
    assert (tmp_path / "n.json").is_file()
    answer = json.loads(tool(*ask, "--json")[1])
    assert (answer["nodes"], answer["value"], answer["cells"]) == (3, None, [])
    assert "so there is nothing to choose from: use the method 'none'" in answer["note"]
    out = tool(*ask[:4])[1]
    assert out.startswith(
        "Network(6 objects, 5 links, 3 in the query)\n"
        "0 cells hold 0 of the 3 objects of the query; 3 neighbours; 1 of the query has neither\n"
        "none of the 3 objects of the query is in any cell"
    )


@pytest.fixture
def upper_bound(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Put a bound of one's own in place of the real one."""
    fake = ModuleType("cube2net.selection.exact")
    fake.bound = 0.9  # type: ignore[attr-defined]
    fake.upper_bound = lambda *args, at_least: max(at_least, fake.bound)  # type: ignore[attr-defined]
    monkeypatch.setattr(import_module(add_bound.__module__), "upper_bound", fake.upper_bound)
    return fake


def test_a_bound_is_shown_when_asked_for(tool, cube: Path, names: Path, upper_bound: ModuleType) -> None:
    words = ("query", cube, "--query", names, "--n-cells", 2, "--form", "objects")
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
    words = ("query", cube, "--query", names, "--n-cells", 1)
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

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
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
    assert (answer["method"], answer["objective"], answer["form"], answer["n_cells"]) == (
        "cube2net",
        "jaccard",
        "objects",
        20,
    )
    status, _, err = tool("query", cube, "--query", names, "--preset", "papper")
    assert status == 2 and err.startswith("cube2net: unknown preset 'papper': choose one of default, paper")


def test_a_value_is_given_only_where_cells_were_chosen(tool, cube: Path, names: Path) -> None:
    assert json.loads(tool("query", cube, "--query", names, "--method", "hops", "--json")[1])["value"] is None


def test_fewer_cells_than_asked_for_are_explained(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "--n-cells", 99)
    assert "not 99: no other cell holds an object of the query" in tool(*words, "--form", "objects")[1]
    assert re.search(r"\n\d+ cells, of 99 at most\n", tool(*words)[1])
    assert "at most" not in tool(*words[:4])[1], "the query decides how many where nobody says"


def test_cells_that_lower_the_value_come_with_what_to_do(tool, cube: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("".join(f"p{i}\n" for i in range(8)))
    told = set()
    for seed in range(6):
        words = ("query", cube, "--query", tmp_path / "names.txt", "--n-cells", 3, "--method", "random", "--seed", seed)
        words += ("--objective", "jaccard")
        status, out, _ = tool(*words)
        assert status == 0
        told.add("-0." in out)
        assert ("cells lower the jaccard: --best-prefix stops at its best, 0." in out) == ("-0." in out)
    assert told == {True, False}


def test_without_options_a_query_is_answered_with_the_network_that_helps(tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names)
    answer = json.loads(tool(*words, "--json")[1])
    said = (
        "method",
        "form",
        "objective",
        "n_cells",
        "levels",
        "n_neighbors",
        "neighbor_weight",
        "keep_unlinked",
        "membership_weights",
    )
    expected = ("greedy", "hybrid", "cover", None, "full+one", 12, None, True, "even")
    assert tuple(answer[name] for name in said) == expected
    assert 0.1 <= answer["cell_weight"] <= 1 and answer["nodes"] == 12 + 12 + len(answer["cells"]) <= 36
    assert (answer["query_held"], answer["query_loose"]) == (12, 0)
    out = tool(*words)[1]
    weight = f"{answer['cell_weight']:.2f}"
    told = f"{len(answer['cells'])} cells, of weight {weight}, hold 12 of the 12 objects of the query; 12 neighbours\n"
    assert told in out and set(answer["agreement"]) == {"lift", "low", "high", "pairs"}
    paper = json.loads(tool(*words, "--form", "objects", "--json")[1])
    expected = ("greedy", "objects", "jaccard", 20, "full", 0, None, True, None)
    assert tuple(paper[name] for name in said) == expected and paper["cell_weight"] is None


def test_parameters_of_the_default_objective_are_set_by_name(tool, cube: Path, names: Path) -> None:
    once, least = (
        json.loads(tool("query", cube, "--query", names, "--set", setting, "--json")[1])
        for setting in ("r=1", "least=9")
    )
    assert (once["objective"], once["value"]) == ("cover", 12.0)
    assert least["cells"] == [] and least["note"] == "no cell serves 9 objects of the query that need it"


@pytest.mark.parametrize("words", ["anneal", "greedy --set by=price", "auto", "cube2net --preset paper"])
def test_a_setting_of_cover_is_refused_where_the_library_would_not_choose_cover(
    tool, cube: Path, names: Path, words: str
) -> None:
    method = words.split()[0]
    status, _, err = tool("query", cube, "--query", names, "--quiet", "--set", "r=2", "--method", *words.split())
    assert status == 2 and err.startswith(f"cube2net: unknown parameter of method {method!r} 'r': choose one of ")


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


def test_names_may_be_given_in_place_of_a_file(tool, cube: Path) -> None:
    by_text = tool("query", cube, "--query", "p0; p2; p4", "--json")[1]
    assert json.loads(by_text)["query_found"] == 3
    status, _, err = tool("query", cube, "--query", "nobody at all")
    assert (status, "not in the cube" in err) == (2, True)
    status, _, err = tool("query", cube, "--query", "missing.csv")
    assert (status, "cannot read the query" in err) == (2, True)
