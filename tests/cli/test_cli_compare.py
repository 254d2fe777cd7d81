"""The commands compare and task, and what query has new: as a person meets them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from cube2net.api import cubes
from cube2net.api.build import build
from cube2net.api.compare import COMPARED, JOURNAL, WRITTEN
from cube2net.api.construct import construct
from cube2net.api.plan import METHODS
from cube2net.api.query import read_query
from cube2net.api.read import read_tables
from cube2net.apps.cli import options
from cube2net.errors import ParameterError
from cube2net.io.reviews.movies import Movies
from cube2net.io.reviews.yelp import Yelp
from cube2net.mining.node_embeddings import EMBEDDINGS
from cube2net.mining.recommenders import RECOMMENDERS
from cube2net.model.comparison import TASKS
from cube2net.options import FORMS, MEMBERSHIP_WEIGHTS, METHOD_NAMES

Tool = Callable[..., tuple[int, str, str]]

CITIES = ("Ghent", "Turin", "Malmö")
FILES = ["report.html", "trials.csv", "scores.csv", "costs.csv", "results.json"]
FEW = ("--methods", "none,greedy", "--methods", "hops 2", "--objectives", "jaccard", "--forms", "cells")
SHORT = (*FEW, "--n-cells", 3, "--models", "deepwalk", "--quiet")


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty people of three cities, who know others of their city and of their age."""
    folder = tmp_path_factory.mktemp("people")
    rows = [f"p{i},{CITIES[i % 3]},{'baker' if i % 4 else 'joiner'}" for i in range(60)]
    (folder / "nodes.csv").write_text("\n".join(["id,city,trade", *rows]) + "\n", encoding="utf-8")
    ends = [(i, (i + step) % 60) for i in range(60) for step in (1, 3, 6)]
    links = [f"p{a},p{b}" for a, b in ends]
    (folder / "links.csv").write_text("\n".join(["source,target", *links]) + "\n", encoding="utf-8")
    corpus = read_tables(folder / "nodes.csv", folder / "links.csv")
    build(corpus, ["city", "trade"], min_objects=2, out=folder / "cube")
    return folder / "cube"


def labelled(path: Path, count: int = 30, every: int = 1) -> Path:
    """Write a query of people, every so many of them with their city."""
    rows = [f"p{i},{CITIES[i % 3] if i % every == 0 else ''}" for i in range(count)]
    path.write_text("\n".join(["object,label", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def names(tmp_path: Path) -> Path:
    return labelled(tmp_path / "query.csv")


# Names


def test_the_names_in_the_help_of_compare_and_task_are_the_registries(tool: Tool) -> None:
    assert list(options.EMBEDDING_NAMES) == list(EMBEDDINGS)
    assert list(options.RECOMMENDER_NAMES) == list(RECOMMENDERS)
    assert options.TASK_NAMES == TASKS
    assert {*METHOD_NAMES, "hops 2"} == set(COMPARED)
    said = {name: " ".join(tool(name, "--help")[1].split()) for name in ("compare", "task", "query")}
    for command, wanted in {
        "compare": [*TASKS, *FORMS, *EMBEDDINGS, *RECOMMENDERS, *COMPARED],
        "query": ["auto", *FORMS, *MEMBERSHIP_WEIGHTS],
        "task": ["yelp", "movies", *tasks_of(Movies), *tasks_of(Yelp)],
    }.items():
        assert [name for name in wanted if not re.search(rf"\b{re.escape(name)}\b", said[command])] == []


def tasks_of(source: type) -> list[str]:
    """Return the names of the tasks that a source has, by what it says of an unknown one."""
    with pytest.raises(ParameterError) as caught:
        source().read_task([Path("none")], "no such task")
    return str(caught.value).partition("choose one of ")[2].split(", ")


# compare


def test_compare_says_the_verdict_first_and_then_the_best_networks(tool: Tool, cube: Path, names: Path) -> None:
    words = ("compare", cube, "--query", names, *SHORT, "--runs", 2)
    status, out, err = tool(*words, "--no-as-large")
    assert (status, err) == (0, "")
    told = json.loads(tool(*words, "--no-as-large", "--json")[1])
    assert out.startswith(told["verdict"]["sentence"] + "\n\nthe best of the networks tried")
    rows = [line.split("  ")[0].strip() for line in out.splitlines() if re.search(r"\[[+-]", line)]
    assert rows == [found["one"].removesuffix(" · n_cells 3") for found in told["differences"]]
    assert {config["name"] for config in told["configurations"]} == {
        "none",
        "greedy · jaccard · cells · n_cells 3",
        "hops 2",
    }
    assert (told["task"], told["models"], told["seeds"]) == ("clustering", ["deepwalk"], [0, 1])


def test_a_query_without_links_is_told_to_be_in_one_cluster_and_nmi_tells_its_networks_apart(
    tool: Tool, cube: Path, tmp_path: Path
) -> None:
    apart = tmp_path / "apart.csv"
    rows = [f"p{i},{CITIES[i % 3]}" for i in range(0, 60, 4)]
    apart.write_text("\n".join(["object,label", *rows]) + "\n", encoding="utf-8")
    words = ("compare", cube, "--query", apart, *SHORT, "--runs", 2, "--no-as-large")
    told = json.loads(tool(*words, "--json")[1])
    (flag,) = told["degenerate"]
    assert (flag["configuration"], flag["largest_cluster"], flag["has_links"]) == ("none", 1.0, False)
    assert flag["note"] in told["verdict"]["sentence"]
    assert re.fullmatch(
        r"the query has no links: every object is in one cluster, so its F1 of 0\.\d{3} is not "
        r"informative; compare by NMI",
        flag["note"],
    )
    out = tool(*words)[1]
    assert out.count(flag["note"]) == 1
    (header,) = [line for line in out.splitlines() if line.split()[:1] == ["network"]]
    assert " ".join(header.split()) == "network nodes F1 NMI F1 difference 95 % interval p"
    (alone,) = [line for line in out.splitlines() if line.strip().startswith("the query alone ")]
    assert re.fullmatch(r"the query alone +15 +0\.\d{3} +0\.000 +– +– +– *", alone.strip())
    assert max(map(len, out.split("the best of the networks tried")[1].splitlines())) <= 110


def test_the_number_of_cells_is_told_where_there_are_several(tool: Tool, cube: Path, names: Path) -> None:
    out = tool("compare", cube, "--query", names, *SHORT, "--n-cells", 2, "--runs", 1, "--no-as-large")[1]
    assert "greedy · jaccard · cells · n_cells 3" in out and "greedy · jaccard · cells · n_cells 2" in out
    assert out.startswith("one run cannot tell whether adding helps: ")


def test_json_of_a_single_run_is_json_to_the_letter(tool: Tool, cube: Path, names: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    status, out, err = tool("compare", cube, "--query", names, *SHORT, "--runs", 1, "--json")
    assert (status, err, json.loads(out, parse_constant=refuse)["seeds"]) == (0, "", [0])


def test_out_writes_a_report_and_says_so_and_more_runs_go_on_where_it_stopped(
    tool: Tool, cube: Path, names: Path, tmp_path: Path
) -> None:
    words = ("compare", cube, "--query", names, *SHORT, "--out", tmp_path / "my report")
    status, out, _ = tool(*words, "--runs", 2)
    assert status == 0
    written = [Path(line.removeprefix("wrote ")) for line in out.splitlines() if line.startswith("wrote ")]
    assert written == [tmp_path / "my report" / name for name in [*FILES, "cells.csv"]]
    assert out.splitlines()[0] in written[0].read_text(encoding="utf-8")
    journal = tmp_path / "my report" / JOURNAL
    before = journal.read_bytes()
    assert len(before.splitlines()) == 1 + 5 * 2  # none, greedy, PageRank and hops as large as it, hops 2
    assert tool(*words, "--runs", 2)[0] == 0 and journal.read_bytes() == before
    assert tool(*words, "--runs", 3)[0] == 0
    after = journal.read_bytes()
    assert after.startswith(before) and len(after.splitlines()) == 1 + 5 * 3
    told = json.loads((tmp_path / "my report" / "results.json").read_text(encoding="utf-8"))
    assert told["seeds"] == [0, 1, 2]


def test_a_folder_of_other_files_is_refused_before_anything_is_made(
    tool: Tool, cube: Path, names: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    words = ("compare", cube, "--query", names, *SHORT, "--runs", 1, "--no-as-large", "--out", folder)
    (folder / "thesis.tex").write_text("mine", encoding="utf-8")
    status, out, err = tool(*words)
    assert (status, out) == (2, "")
    assert err == (
        f"cube2net: {str(folder)!r} holds other files than a comparison's: 'thesis.tex' "
        "(choose another folder, or empty it)\n"
    )
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


def test_a_comparison_goes_on_beside_notes_and_what_a_killed_one_left(
    tool: Tool, cube: Path, names: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    words = ("compare", cube, "--query", names, *SHORT, "--no-as-large", "--out", folder)
    for name in (".DS_Store", ".report.html.0badcafe.part"):
        (folder / name).write_text("", encoding="utf-8")
    assert tool(*words, "--runs", 1)[0] == 0
    assert {path.name for path in folder.iterdir() if not path.name.startswith(".")} <= set(WRITTEN)
    (folder / "my notes.txt").write_text("mine", encoding="utf-8")
    before = (folder / JOURNAL).read_bytes()
    assert tool(*words, "--runs", 2)[0] == 0
    assert (folder / JOURNAL).read_bytes().startswith(before)
    (folder / JOURNAL).unlink()
    assert tool(*words, "--runs", 1)[0] == 2


def test_the_command_in_the_report_can_be_pasted_and_does_it_again(tool: Tool, cube: Path, tmp_path: Path) -> None:
    odd = tmp_path / 'o\'my $HOME & "more"'
    odd.mkdir()
    query = labelled(odd / "my query;.csv", 20)
    words = ("compare", cube, "--query", query, *SHORT, "--runs", 1, "--no-as-large", "--out", odd / "r *")
    assert tool(*words)[0] == 0
    told = json.loads((odd / "r *" / "results.json").read_text(encoding="utf-8"))
    assert shlex.split(told["command"]) == ["cube2net", *map(str, words)]
    journal = (odd / "r *" / JOURNAL).read_bytes()
    status, out, _ = tool(*shlex.split(told["command"])[1:])
    assert (status, out.startswith(told["verdict"]["sentence"])) == (0, True)
    assert (odd / "r *" / JOURNAL).read_bytes() == journal


def test_a_view_of_the_cube_can_be_compared(tool: Tool, cube: Path, names: Path) -> None:
    words = ("compare", cube, "--query", names, *SHORT, "--runs", 1, "--no-as-large", "--where", "trade=baker")
    told = json.loads(tool(*words, "--json")[1])
    assert "3 cells" in told["settings"]["cube"]
    status, said, _ = tool(*words)
    assert status == 0
    assert said.startswith("of the cube: only trade: baker\n45 of its 60 objects may be brought\n")
    status, _, err = tool(*words, "--kind", "bakr")
    assert (status, "unknown kind 'bakr': choose one of" in err) == (2, True)


def test_a_method_that_cannot_answer_is_told_under_the_table(
    tool: Tool, cube: Path, names: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unlucky:
        chooses_cells = False

        def select(self, *args: object, **options: object) -> None:
            raise RuntimeError("out of luck")

    monkeypatch.setitem(METHODS, "hops", Unlucky)
    out = tool("compare", cube, "--query", names, *SHORT, "--methods", "hops", "--runs", 2)[1]
    assert "hops: RuntimeError: out of luck" in out.splitlines()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--task", "cluster"),
            "unknown task 'cluster': choose one of clustering, hidden, links .did you mean 'clustering'",
        ),
        (("--task", "cluster", "--models", "line"), "unknown task 'cluster'"),
        (("--models", "ease"), "unknown embedding 'ease': choose one of deepwalk, line, node2vec"),
        (
            ("--baselines", "hops", "--no-as-large"),
            "baselines are the networks made as large, and --no-as-large leaves them",
        ),
        (("--methods", "gredy"), "unknown method 'gredy': choose one of anneal, .*did you mean 'greedy'"),
        (("--methods", " ,"), "--methods is ' ,', expected one or more names with commas"),
        (("--models", ""), "--models is '', expected one or more names with commas"),
        (("--forms", ""), "--forms is '', expected one or more names with commas"),
        (("--models", "walk"), "unknown embedding 'walk': choose one of deepwalk, line, node2vec"),
        (("--objectives", "link"), "unknown objective 'link'"),
        (("--forms", "all"), "unknown form 'all': choose one of cells, cells\\+objects, hybrid, objects"),
        (("--task", "links"), "the task 'links' needs the hidden links that are to be found again"),
        (("--task", "links", "--hidden", "none.csv"), "cannot read the links 'none.csv': no such file or directory"),
        (("--runs", "0"), "runs is 0, expected a whole number of 1 or more"),
        (("--n-cells", "0"), "n_cells is 0, expected a whole number of 1 or more"),
        (("--seed", "-1"), "seed is -1, expected a whole number of 0 or more"),
        (("--query", "none.csv"), "cannot read the query 'none.csv': no such file or directory"),
        (("--where", "town=Ghent"), "unknown dimension 'town'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_option_of_compare_is_one_sentence_and_status_2(
    tool: Tool, cube: Path, names: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    status, out, err = tool("compare", cube, "--query", names, "--out", tmp_path / "r", "--quiet", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert re.match(f"cube2net: {sentence}", err), err
    assert not (tmp_path / "r").exists()


def test_a_negative_number_of_workers_is_one_sentence_and_status_2(tool: Tool, cube: Path, names: Path) -> None:
    status, out, err = tool("compare", cube, "--query", names, *SHORT, "--workers", -1)
    assert (status, out, err.startswith("cube2net: workers is -1, expected a whole number of ")) == (2, "", True)


def test_clustering_without_labels_is_one_sentence_and_status_2(tool: Tool, cube: Path, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("p0\np1\np2\n")
    words = ("compare", cube, "--query", tmp_path / "q.txt", *SHORT, "--out", tmp_path / "r")
    status, out, err = tool(*words, "--task", "clustering")
    assert (status, out) == (2, "")
    assert err == (
        "cube2net: clustering is judged by labels, and the query has 0 different labels, expected 2 or more: "
        "give them in the column label, beside object\n"
    )


def test_the_folder_of_another_comparison_is_one_sentence_and_left_as_it_is(
    tool: Tool, cube: Path, names: Path, tmp_path: Path
) -> None:
    words = (*SHORT, "--runs", 1, "--no-as-large", "--out", tmp_path / "r")
    assert tool("compare", cube, "--query", names, *words)[0] == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()}
    status, out, err = tool("compare", cube, "--query", labelled(tmp_path / "other.csv", 24), *words)
    assert (status, out) == (2, "")
    assert re.match(r"cube2net: .* holds the trials of another comparison \(it differs in query\): choose", err)
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()} == before


def test_compare_takes_levels_near_objects_and_memberships(tool: Tool, cube: Path, names: Path) -> None:
    words = ("compare", cube, "--query", names, "--methods", "greedy", "--objectives", "cover", "--forms", "hybrid")
    words += (
        "--levels",
        "one",
        "--levels",
        "full",
        "--n-neighbors",
        0,
        "--n-neighbors",
        5,
        "--membership-weights",
        "even,share",
    )
    words += ("--models", "deepwalk", "--runs", 1, "--no-as-large", "--quiet", "--json")
    status, out, err = tool(*words)
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert [config["name"] for config in told["configurations"]] == [
        "none",
        *(
            f"greedy · cover · hybrid{levels} · n_neighbors {near} · membership_weights {membership_weights}"
            for levels in (" · levels one", " · levels full")
            for near in (0, 5)
            for membership_weights in ("even", "share")
        ),
    ]
    assert told["settings"]["levels"] == ["one", "full"] and told["settings"]["membership_weights"] == ["even", "share"]


# task


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four films of two sorts with texts, and thirty people who rated two of three."""
    folder = tmp_path_factory.mktemp("films")
    sorts = ("robots in space with lasers and ships", "family at home about love and loss")
    dat = [f"{film}::Film {film} ({1996 + film})::Sci-Fi|Drama" for film in range(24)]
    rated = [f"{u}::{f}::5::{1000 + u * 37 + f}" for f in range(24) for u in range(30) if (u + f) % 3]
    texts = [{"title": f"Film {film}", "year": 1996 + film, "extract": f"{sorts[film % 2]} " * 3} for film in range(24)]
    (folder / "movies.dat").write_text("\n".join(dat) + "\n", encoding="utf-8")
    (folder / "ratings.dat").write_text("\n".join(rated) + "\n", encoding="utf-8")
    (folder / "movies-2000s.json").write_text(json.dumps(texts), encoding="utf-8")
    return folder


def test_a_task_is_a_cube_a_query_and_hidden_links_and_the_command_it_shows_compares_it(
    tool: Tool, films: Path, tmp_path: Path
) -> None:
    place = tmp_path / "new" / "my task"
    status, out, err = tool("task", "movies", films, "--name", "scifi00", "--out", place, "--topics", 2, "--quiet")
    assert (status, err) == (0, "")
    said, command = out.splitlines()
    assert said.startswith(f"{place}: Cube(decade × genre × topic: ")
    assert sorted(path.name for path in place.iterdir()) == ["cube", "hidden.csv", "query.csv"]
    hidden = (place / "hidden.csv").read_text(encoding="utf-8").splitlines()
    asked = (place / "query.csv").read_text(encoding="utf-8").splitlines()
    assert hidden[0] == "source,target" and asked[0] == "object" and len(hidden) > 10
    assert {end for line in hidden[1:] for end in line.split(",")} <= set(asked[1:])

    words = shlex.split(command)
    assert words[:2] == ["cube2net", "compare"]
    few = ("--models", "popularity,ease", *FEW, "--n-cells", 2, "--runs", 2, "--no-as-large", "--quiet")
    status, out, err = tool(*words[1:], *few, "--out", place / "report")
    assert (status, err) == (0, "")
    told = json.loads((place / "report" / "results.json").read_text(encoding="utf-8"))
    assert out.startswith(told["verdict"]["sentence"])
    assert (told["task"], told["measures"][0], told["models"]) == ("links", "P@5", ["popularity", "ease"])

    links = cubes.open(place / "cube")
    user = links.objects.find(["user:1"]).rows[0]
    known = int(next(row for row in links.links.neighbours(int(user))))
    film = links.objects.table["object"][known].as_py()
    (tmp_path / "known.csv").write_text(f"source,target\n{film},user:1\n")
    (tmp_path / "q.csv").write_text(f"object\n{film}\nuser:1\n")
    bad = ("compare", place / "cube", "--query", tmp_path / "q.csv", "--task", "links", "--quiet")
    status, out, err = tool(*bad, "--hidden", tmp_path / "known.csv")
    assert (status, out) == (2, "")
    assert err == ("cube2net: 1 of 1 hidden links are in the cube: build it without them, as the command task does\n")
    (tmp_path / "known.csv").write_text("source,target\nfilm:4,nobody\n")
    status, out, err = tool(*bad, "--hidden", tmp_path / "known.csv")
    assert (status, err) == (2, "cube2net: known.csv names 1 objects that are not in the cube: 'nobody'\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("movies", "--name", "scify"), "unknown task 'scify': choose one of drama10, scifi00"),
        (("acl", "--name", "scifi00"), "unknown source of tasks 'acl': choose one of movies, yelp"),
        (("movies", "--name", "scifi00", "--seed", "-1"), "seed is -1, expected a whole number of 0 or more"),
    ],
)
def test_a_wrong_task_is_one_sentence_and_status_2(
    tool: Tool, films: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    source, *options = words
    status, out, err = tool("task", source, films, *options, "--out", tmp_path / "t", "--quiet")
    assert (status, out, (tmp_path / "t").exists()) == (2, "", False)
    assert err.startswith(f"cube2net: {sentence}")


# query


def test_auto_chooses_by_part_of_the_labels_and_shows_what_it_tried(tool: Tool, cube: Path, tmp_path: Path) -> None:
    query = labelled(tmp_path / "half.csv", 40, every=2)
    words = ("query", cube, "--query", query, "--method", "auto", "--set", "runs=1", "--quiet")
    status, out, err = tool(*words)
    assert (status, err) == (0, "")
    assert "chosen by 20 labels: " in out and "what was tried" in out
    answer = json.loads(tool(*words, "--seconds", 0.001, "--json")[1])
    assert answer["chosen"] in {row["configuration"] for row in answer["tried"] if "F1" in row}
    assert "there was no time to try it" in {row.get("reason") for row in answer["tried"]}
    assert "there was no time to try it" in tool(*words, "--seconds", 0.001)[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--method", "auto", "--seconds", "0"), "seconds is 0.0, expected a number above 0"),
        (("--method", "auto", "--set", "embedding=walk"), "unknown embedding 'walk': choose one of deepwalk, line, no"),
        (
            ("--method", "auto", "--objective", "linked"),
            "'auto' chooses what to bring by itself, and objective is 'link",
        ),
        (("--method", "auto", "--max-nodes", "40"), "'auto' chooses what to bring by itself, and max_nodes is 40: lea"),
        (("--method", "auto", "--set", "depth=2"), "unknown parameter of method 'auto' 'depth': choose one of "),
        (
            ("--form", "cells", "--n-neighbors", "3"),
            "n_neighbors is about the neighbours of the form 'hybrid', got the form 'cell",
        ),
        (
            ("--form", "objects", "--n-neighbors", "3"),
            "n_neighbors is about the neighbours of the form 'hybrid', got the form 'obj",
        ),
        (
            ("--method", "hops", "--n-neighbors", "3"),
            "n_neighbors is about the neighbours of the form 'hybrid', got the form 'obj",
        ),
        (
            ("--form", "objects", "--membership-weights", "even"),
            "membership_weights is about links to cells, and the form 'objects' has no cells as nodes",
        ),
        (("--form", "hybrid", "--n-neighbors", "-1"), "n_neighbors is -1, expected 0 or more objects, or None"),
        (
            ("--form", "cells", "--membership-weights", "all"),
            "unknown membership_weights 'all': choose one of even, share, unit",
        ),
        (("--form", "hybrid", "--method", "hops"), "the form 'hybrid' needs a method that chooses cells"),
        (("--max-links", "40"), "max_links limits the form 'objects', got the form 'hybrid': limit max_nodes instead"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_option_of_query_is_one_sentence_and_status_2(
    tool: Tool, cube: Path, names: Path, words: tuple[str, ...], sentence: str
) -> None:
    status, out, err = tool("query", cube, "--query", names, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"cube2net: {sentence}")


def test_auto_without_enough_labels_is_one_sentence_and_status_2(tool: Tool, cube: Path, tmp_path: Path) -> None:
    query = labelled(tmp_path / "few.csv", 30, every=5)
    status, out, err = tool("query", cube, "--query", query, "--method", "auto")
    assert (status, out) == (2, "")
    assert err.startswith("cube2net: 'auto' chooses by labels, and 6 objects of the query have one, expected 10 or")


def test_a_name_with_options_means_the_same_everywhere(tool: Tool, cube: Path, names: Path) -> None:
    two = json.loads(tool("query", cube, "--query", names, "--method", "hops 2", "--json")[1])
    set_ = json.loads(tool("query", cube, "--query", names, "--method", "hops", "--set", "hops=2", "--json")[1])
    opened = cubes.open(cube)
    built = construct(opened, read_query(opened, names), "hops 2")
    assert two["method"] == "hops" and two["nodes"] == set_["nodes"] == len(built)


def test_a_hybrid_network_has_cells_and_as_many_near_objects_as_asked(tool: Tool, cube: Path, names: Path) -> None:
    words = ("query", cube, "--query", names, "--n-cells", 2, "--form", "hybrid", "--json")
    for chosen, nodes, membership_weights in (
        ((), 30 + 2 + 30, "even"),
        (("--n-neighbors", 3, "--membership-weights", "share"), 30 + 2 + 3, "share"),
        (("--n-neighbors", 0), 30 + 2, "even"),
        (("--max-nodes", 40), 30 + 2 + 8, "even"),
    ):
        status, out, err = tool(*words, *chosen)
        answer = json.loads(out)
        assert (status, err, answer["nodes"], answer["membership_weights"]) == (0, "", nodes, membership_weights)
        assert (answer["form"], len(answer["cells"]), answer["left_out"]) == ("hybrid", 2, 0)
