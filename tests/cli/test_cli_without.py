"""The command without: what it shows and writes."""

import json
from pathlib import Path

import cube2net as c2n
from cube2net.records import Network


def network(cube: Path, names: Path) -> Network:
    return c2n.construct(opened := c2n.open_cube(cube), c2n.read_query(opened, names))


def test_it_shows_who_goes_and_who_comes_and_a_sentence(tool, cube: Path, names: Path) -> None:
    made = network(cube, names)
    cell = " · ".join(made.labels[0])
    status, out, _ = tool("without", cube, "--query", names, "--node", cell, "--quiet")
    change = c2n.without(made, made.labels[0])
    assert status == 0 and out.splitlines()[-1] == str(change)
    assert f"⟨{cell}⟩" in out and "leaves" in out and repr(change.network) in out


def test_json_is_the_record(tool, cube: Path, names: Path) -> None:
    made = network(cube, names)
    near = made.nodes["id"][len(made.query)].as_py()
    status, out, _ = tool("without", cube, "--query", names, "--node", near, "--json")
    assert (status, json.loads(out)) == (0, c2n.without(made, near).to_dict())
    status, out, _ = tool("without", cube, "--query", names, "--add", near, "--json")
    assert (status, json.loads(out)["changed"]) == (0, False)


def test_the_network_written_has_the_ban_in_its_recipe(tool, cube: Path, names: Path, tmp_path: Path) -> None:
    made = network(cube, names)
    file = tmp_path / "network.json"
    words = ("--node", " · ".join(made.labels[0]), "--out", file, "--quiet")
    status, out, _ = tool("without", cube, "--query", names, *words)
    assert status == 0 and out.endswith(f"wrote {file}\n")
    status, out, _ = tool("replay", file, "--cube", cube, "--quiet")
    assert (status, out.startswith("the same to the byte")) == (0, True)
    again = c2n.replay(file, cube).network
    assert made.labels[0] not in again.labels


def test_nothing_asked_and_nobody_named_are_one_sentence_each(tool, cube: Path, names: Path) -> None:
    asked = ("without", cube, "--query", names, "--quiet")
    sentence = "nothing is asked: name what is left out (--node NAME), or what is put in (--add NAME)"
    assert tool(*asked) == (2, "", f"cube2net: {sentence}\n")
    status, _, err = tool(*asked, "--node", "nobody at all")
    assert (status, err.count("\n")) == (2, 1) and "nobody at all" in err
