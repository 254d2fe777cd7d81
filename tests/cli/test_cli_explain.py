"""The command explain tells in a shell what the library tells, of objects, cells and the whole."""

import inspect
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import cube2net as c2n
from cube2net.api.query import read_query
from cube2net.apps.cli.app import app
from cube2net.apps.cli.explain import OUTPUT_OPTIONS
from cube2net.apps.cli.query import query as query_command


@dataclass(frozen=True)
class Place:
    cube: Path
    query: Path
    cell: str
    near: str


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("explain")
    planted = c2n.make_planted(objects=200, communities=4, noise=0.1, seed=1)
    cube = c2n.build(planted.corpus, out=folder / "cube")
    query = folder / "query.csv"
    query.write_text("object\n" + "\n".join(planted.query(0)[:20]) + "\n", encoding="utf-8")
    network = c2n.construct(cube, list(planted.query(0)[:20]))
    return Place(folder / "cube", query, " · ".join(network.labels[0]), list(network)[25])


def ran(place: Place, *words: str, query: bool = True) -> Result:
    asked = ["--query", str(place.query)] if query else []
    return CliRunner().invoke(app, ["explain", str(place.cube), *asked, *words, "--quiet"])


def test_objects_cells_and_the_whole_are_told_as_the_library_tells_them(place: Place) -> None:
    cube = c2n.open(place.cube)
    network = c2n.construct(cube, read_query(cube, place.query))
    for node in (place.cell, place.near, None):
        words = [] if node is None else ["--node", node]
        found = c2n.explain(network, node)
        shown, told = ran(place, *words), ran(place, *words, "--json")
        assert (shown.exit_code, told.exit_code) == (0, 0), shown.output + told.output
        assert shown.stdout.replace("\n", "").endswith(found.sentence)
        assert json.loads(told.stdout) == json.loads(json.dumps(found.to_dict()))


def test_options_of_query_make_the_network_that_is_explained(place: Place) -> None:
    told = ran(place, "--node", place.near, "--method", "hops", "--set", "hops=2", "--json")
    assert json.loads(told.stdout)["came"] == "hops"
    told = ran(place, "--node", place.near, "--form", "objects", "--n-cells", "2", "--ban", place.near, "--json")
    assert json.loads(told.stdout)["miss"]["obstacle"] == "it is banned"


def test_the_command_has_every_option_of_query_that_makes_the_network() -> None:
    command = typer.main.get_command(app).commands["explain"]  # type: ignore[attr-defined]
    names = {parameter.name for parameter in command.params}
    assert set(inspect.signature(query_command).parameters) - names <= OUTPUT_OPTIONS
    assert not names & OUTPUT_OPTIONS


def test_a_network_that_query_wrote_can_be_explained(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "network.graphml"
    made = CliRunner().invoke(
        app,
        ["query", str(place.cube), "--query", str(place.query), "--n-neighbors", "3", "--out", str(file), "--quiet"],
    )
    assert made.exit_code == 0
    told = ran(place, "--network", str(file), "--node", place.near, "--json", query=False)
    miss = json.loads(told.stdout)
    assert miss["present"] or miss["miss"]["now"] == 3
    both = ran(place, "--network", str(file), "--n-neighbors", "4", query=False)
    assert (both.exit_code, type(both.exception).__name__) != (0, "NoneType")
    assert "--n-neighbors says how to make a network, and --network has one" in str(both.exception)


@pytest.mark.parametrize(
    ("words", "query", "said"),
    [
        ([], False, "say which network is meant: give --query FILE, or --network FILE that query wrote"),
        (["--network", "x.json"], True, "say which network is meant"),
        (["--node", "nobody at all"], True, "'nobody at all'"),
        (["--node", "⟨1 · 2 · 3⟩"], True, "unknown label of 'decade' '1'"),
    ],
)
def test_what_cannot_be_explained_is_one_sentence(place: Place, words: list[str], query: bool, said: str) -> None:
    ended = ran(place, *words, query=query)
    assert ended.exit_code != 0 and said in str(ended.exception)


def test_kinds_and_times_of_given_links_are_shown_where_there_are_any(place: Place, tmp_path: Path) -> None:
    people = [{"id": name, "city": "Rome"} for name in "abcd"]
    links = [{"source": "a", "target": each, "kind": "pays", "time": 2003} for each in "bc"]
    c2n.build(c2n.read_tables(people, links), ["city"], min_objects=1, out=tmp_path / "cube")
    (tmp_path / "query.txt").write_text("b\nc\n")
    words = ["explain", str(tmp_path / "cube"), "--query", str(tmp_path / "query.txt"), "--node", "a", "--quiet"]
    shown = CliRunner().invoke(app, words).stdout
    assert "when" in shown and shown.count("pays") >= 2 and shown.count("2003") >= 2
    assert "when" not in ran(place, "--node", place.near).stdout
