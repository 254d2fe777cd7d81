"""The command without: what it shows and writes."""

import inspect
import json
from pathlib import Path

import pytest
import typer

import cube2net as c2n
from cube2net.api.cubes import view_cube
from cube2net.apps.cli.app import app
from cube2net.apps.cli.explain import OUTPUT_OPTIONS
from cube2net.apps.cli.query import query as query_command
from cube2net.model.network import Network


def network(cube: Path, names: Path) -> Network:
    return c2n.construct(opened := c2n.open(cube), c2n.read_query(opened, names))


def test_it_shows_who_goes_and_who_comes_and_a_sentence(tool, cube: Path, names: Path) -> None:
    made = network(cube, names)
    cell = " · ".join(made.labels[0])
    status, out, _ = tool("without", cube, "--query", names, "--node", cell, "--quiet")
    change = made.without(made.labels[0])
    assert status == 0 and out.splitlines()[-1] == str(change)
    assert f"⟨{cell}⟩" in out and "leaves" in out and repr(change.network) in out


def test_json_is_the_record(tool, cube: Path, names: Path) -> None:
    made = network(cube, names)
    near = list(made)[len(made.query)]
    status, out, _ = tool("without", cube, "--query", names, "--node", near, "--json")
    assert (status, json.loads(out)) == (0, made.without(near).to_dict())
    status, out, _ = tool("without", cube, "--query", names, "--add", near, "--json")
    assert (status, json.loads(out)["changed"]) == (0, False)


def test_the_network_written_has_the_ban_in_its_recipe(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    made = network(cube, names)
    file = tmp_path / "network.json"
    words = ("--node", " · ".join(made.labels[0]), "--out", file, "--quiet")
    status, out, _ = tool("without", cube, "--query", names, *words)
    assert status == 0 and out.endswith(f"wrote {file}\n")
    status, out, _ = tool("replay", file, "--cube", cube, "--quiet")
    assert (status, out.startswith("identical bytes")) == (0, True)
    again = c2n.replay(file, cube).network
    assert made.labels[0] not in again.labels


def test_nothing_asked_and_nobody_named_are_one_sentence_each(tool, cube: Path, names: Path) -> None:
    asked = ("without", cube, "--query", names, "--quiet")
    sentence = "nothing is asked: name what is left out (--node NAME), or what is put in (--add NAME)"
    assert tool(*asked) == (2, "", f"cube2net: {sentence}\n")
    status, _, err = tool(*asked, "--node", "nobody at all")
    assert (status, err.count("\n")) == (2, 1) and "nobody at all" in err


def test_the_command_has_every_option_of_query_that_makes_the_network() -> None:
    command = typer.main.get_command(app).commands["without"]  # type: ignore[attr-defined]
    names = {parameter.name for parameter in command.params}
    assert set(inspect.signature(query_command).parameters) - names <= OUTPUT_OPTIONS
    assert names & OUTPUT_OPTIONS == {"out", "spreadsheet_safe"}


def test_pins_bans_kinds_and_views_stay_as_they_are(tool, cube: Path, names: Path) -> None:
    opened = c2n.open(cube)
    asked = c2n.read_query(opened, names)
    words = ("without", cube, "--query", names, "--json", "--node", "p9")
    steered = c2n.construct(opened, asked, bans=["p3"], pins=["p5"], options=c2n.NetworkOptions(prefer=["p7"]))
    said = tool(*words, "--ban", "p3", "--pin", "p5", "--prefer", "p7")
    assert (said[0], json.loads(said[1])) == (0, steered.without("p9").to_dict())
    view = view_cube(opened, where={"city": ["Ghent"]})
    seen = c2n.construct(view, asked, max_nodes=16)
    status, out, _ = tool(*words, "--where", "city=Ghent", "--max-nodes", 16)
    limit = {"views": ["only city: Ghent"], "objects_that_may_be_brought": 20}
    assert (status, json.loads(out)) == (0, seen.without("p9").to_dict() | limit)
    shown = tool(*words[:4], "--node", "p9", "--where", "city=Ghent", "--quiet")[1]
    assert shown.startswith("of the cube: only city: Ghent\n20 of its 60 objects may be brought\n")


@pytest.mark.parametrize("limits", [(), ("--where", "city=Ghent")])
def test_a_network_that_query_wrote_can_be_changed(
    tool, cube: Path, names: Path, tmp_path: Path, limits: tuple[str, ...]
) -> None:
    file = tmp_path / "network.graphml"
    assert tool("query", cube, "--query", names, "--n-neighbors", 3, *limits, "--out", file, "--quiet")[0] == 0
    told = tool("without", cube, "--network", file, "--node", "p3", "--json")
    again = tool("without", cube, "--query", names, "--n-neighbors", 3, *limits, "--node", "p3", "--json")
    assert (told[0], json.loads(told[1])) == (0, json.loads(again[1]))
    assert ("views" in json.loads(told[1])) == bool(limits)


def test_how_to_make_a_network_is_refused_beside_one_that_is_made(tool, cube: Path, names: Path) -> None:
    ending = "says how to make a network, and --network has one: leave one of them out"
    given = {
        "--n-neighbors": 4,
        "--n-cells": 3,
        "--pin": "p3",
        "--where": "city=Ghent",
        "--set": "hops=2",
        "--kind": "object",
    }
    for option, value in given.items():
        said = tool("without", cube, "--network", "n.json", "--node", "p1", option, value)
        assert said == (2, "", f"cube2net: {option} {ending}\n")
    which = "cube2net: say which network is meant: give --query FILE, or --network FILE that query wrote\n"
    assert tool("without", cube, "--node", "p1") == (2, "", which)
    assert tool("without", cube, "--node", "p1", "--query", names, "--network", "n.json") == (
        2,
        "",
        "cube2net: --query and --network both say which network is meant: leave one of them out\n",
    )
