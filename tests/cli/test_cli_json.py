"""Every command that can print JSON prints one object of it, and a refusal is the same sentence with it as without."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

import cube2net as c2n
from cube2net.apps.cli.app import app

Tool = Callable[..., tuple[int, str, str]]
FEW = ("--methods", "hops", "--forms", "objects", "--models", "line", "--runs", "1", "--no-as-large", "--workers", "1")
ASKING: dict[str, Sequence[str]] = {
    "query": (),
    "explain": (),
    "without": ("--node", "p1"),
    "drill": (),
    "contrast": (),
    "compare": FEW,
}
"""The commands that take a cube and ``--query``, and what else they need."""
REFUSED = {"explain": "--node", "without": "--node", "drill": "--cell", "describe": "--where"}
"""By command, an option that names something that is not there; others are asked of no cube."""


def read(text: str) -> Any:
    """Return what JSON says; numbers that only Python's reader knows are refused."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def words_of(command: str, cube: Path, names: Path, tables: Path) -> list[object]:
    """Return the words of a command that succeeds."""
    if command in ASKING:
        return [command, cube, "--query", names, *ASKING[command]]
    if command == "describe":
        clusters = names.with_name("clusters.csv")
        clusters.write_text(names.read_text().replace("label", "cluster"))
        return [command, cube, "--clusters", clusters]
    if command == "replay":
        return [command, names.with_name("network.json"), "--cube", cube]
    return [command, cube] if command == "info" else [command, tables / "nodes.csv", tables / "links.csv"]


def commands_with_json() -> list[str]:
    every = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return [name for name, command in every.items() if any("--json" in each.opts for each in command.params)]


@pytest.mark.parametrize("command", commands_with_json())
def test_json_is_one_object_and_nothing_else(tool: Tool, cube: Path, names: Path, tables: Path, command: str) -> None:
    assert tool("query", cube, "--query", names, "--out", names.with_name("network.json"), "--quiet")[0] == 0
    words = words_of(command, cube, names, tables)
    status, out, err = tool(*words, "--json")
    assert (status, isinstance(read(out), dict), "Traceback" in err) == (0, True, False)
    for view in (("--where", "city=Ghent"), ("--roll-up", "trade=*")):
        if command in ASKING or command == "describe":
            assert len(read(tool(*words, *view, "--json")[1])) or command == "compare"


@pytest.mark.parametrize("command", commands_with_json())
def test_a_refusal_is_the_same_sentence_with_json(
    tool: Tool, cube: Path, names: Path, tables: Path, tmp_path: Path, command: str
) -> None:
    nowhere = tmp_path / "nowhere"
    words = words_of(command, nowhere, names, nowhere)
    if command in REFUSED:
        words = [*words_of(command, cube, names, tables), REFUSED[command], "no such thing"]
    words += [] if command == "info" else ["--quiet"]
    plain, told = tool(*words), tool(*words, "--json")
    assert plain[:2] == told[:2] == (2, "") and told[2] == plain[2], (plain, told)
    assert told[2].startswith("cube2net: ") and told[2].count("\n") == 1


def test_ids_are_those_of_the_cube_and_numbers_those_of_the_tables(tool: Tool, tmp_path: Path) -> None:
    nodes = [{"id": i, "name": f"Man {i}", "city": ("Rome", "Oslo")[i % 2], "trade": "abc"[i % 3]} for i in range(60)]
    links = [{"source": i, "target": (i + step) % 60} for i in range(60) for step in (1, 2, 7)]
    c2n.build(c2n.read_tables(nodes, links), ["city", "trade"], min_objects=11, out=tmp_path / "cube")
    (tmp_path / "names.txt").write_text("0\n1\n2\n30\n")
    asked = (tmp_path / "cube", "--query", tmp_path / "names.txt", "--quiet")
    why = read(tool("explain", *asked, "--node", "Man 3", "--json")[1])
    assert why["id"] == 3 and {link["id"] for link in why["links"]} <= {0, 1, 2, 30}
    gone = read(tool("without", *asked, "--node", "Man 3", "--json")[1])
    assert [each["id"] for each in gone["without"]] == [3] and gone["left"]
    assert all(isinstance(each["id"], int) for each in gone["left"] + gone["entered"] if each["kind"] != "cell")
    left = read(tool("drill", *asked, "-k", 1, "--json")[1])
    assert all(isinstance(each["id"], int) for each in left["left"])
    shown = tool("drill", *asked, "-k", 1)[1]
    cell = left["cells"][0]
    line = next(row for row in shown.splitlines() if cell["labels"][0] in row and f"{cell['share']:.1%}" in row)
    assert f"{cell['bits']:.1f}" in line and f"{cell['lift']:.1f}" in line
