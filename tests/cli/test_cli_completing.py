"""The tab key: shells are offered commands, options, values and paths, and nothing that takes long is loaded for it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.apps.cli.app import app
from cube2net.apps.cli.options import SOURCE_NAMES

BASH = shutil.which("bash")
HEAVY = ("numpy", "pyarrow", "duckdb", "numba", "scipy", "sklearn", "torch")
COUNTED = f"""
import atexit, os, sys

atexit.register(lambda: print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr))
sys.argv = ["cube2net"]
from cube2net.__main__ import main
main()
"""


def offered(words: str, **environment: str) -> list[str]:
    """Return what the tab key offers behind some words, as bash asks for it."""
    asked = {"COMP_WORDS": f"cube2net {words}", "COMP_CWORD": str(words.count(" ") + 1)}
    env = {"_CUBE2NET_COMPLETE": "complete_bash", **asked, **environment}
    result = CliRunner().invoke(app, [], prog_name="cube2net", env=env)
    assert result.exit_code == 0, result.output
    return result.output.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("que", ["query"]),
        ("query cube --obj", ["--objective"]),
        ("query cube --method gr", ["greedy"]),
        ("query cube --method ", [*c2n.methods.METHODS, "auto"]),
        ("query cube --objective ", [*c2n.methods.OBJECTIVES]),
        ("query cube --form ", [*c2n.methods.FORMS]),
        ("query cube --membership-weights sh", ["share"]),
        ("query cube --preset p", ["paper"]),
        ("explain cube --method a", ["anneal", "auto"]),
        ("build ", [*SOURCE_NAMES]),
        ("build tables --engine ", ["duckdb", "spark"]),
        ("update cube --source ope", ["openalex"]),
        ("compare cube --forms cells,", ["cells,objects", "cells,cells+objects", "cells,hybrid"]),
        ("compare cube --task h", ["hidden"]),
        ("compare cube --models i", ["itemknn"]),
    ],
)
def test_the_tab_key_offers_what_the_command_takes(words: str, names: list[str]) -> None:
    assert sorted(offered(words)) == sorted(names)


@pytest.mark.parametrize("words", ["info ", "query cube --query ", "query cube --out ", "build tables "])
def test_a_path_is_left_to_the_shell(words: str) -> None:
    assert offered(words) == []


def test_every_command_is_offered() -> None:
    assert offered("") == list(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return a folder that has as much of a cube as the tab key reads."""
    told = ["year@years/decades", "decade=year@decades", "venue/kind", "'odd; name'", "$(rm)", "venue/publisher"]
    (tmp_path / "manifest.json").write_text(json.dumps({"settings": {"dimensions": told}}), encoding="utf-8")
    return tmp_path


def test_the_dimensions_of_a_cube_are_offered_where_their_names_are_plain(cube: Path) -> None:
    assert offered(f"query {cube} --roll-up ") == ["year", "decade", "venue"]
    assert offered(f"query {cube} --levels ") == ["full", "one", "full+one", "year", "decade", "venue"]
    assert offered(f"query {cube} --levels venue,") == ["venue,year", "venue,decade"]


@pytest.mark.parametrize("text", ["", "[]", '{"settings": {"dimensions": 3}}', '{"settings": {"dimensions": [3]}}'])
def test_a_folder_that_is_no_cube_offers_nothing(cube: Path, text: str) -> None:
    (cube / "manifest.json").write_text(text, encoding="utf-8")
    assert offered(f"query {cube} --roll-up ") == []
    (cube / "manifest.json").unlink()
    assert offered(f"query {cube} --roll-up ") == []


def test_the_tab_key_loads_nothing_that_takes_long(cube: Path) -> None:
    asked = {"COMP_WORDS": f"cube2net query {cube} --roll-up ye", "COMP_CWORD": "4"}
    env = {**os.environ, **asked, "_CUBE2NET_COMPLETE": "complete_bash"}
    ended = subprocess.run([sys.executable, "-c", COUNTED], env=env, capture_output=True, text=True, check=False)
    assert (ended.stdout.split(), ended.stderr.strip()) == (["year"], "[]")


IN_BASH = """
eval "$(_CUBE2NET_COMPLETE=source_bash cube2net)"
complete -p cube2net
COMP_WORDS=(cube2net query cube --method gr) COMP_CWORD=4
_cube2net_completion cube2net
echo "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_bash_takes_the_script_that_the_program_gives_it(tmp_path: Path) -> None:
    (tmp_path / "cube2net").write_text(f'#!/bin/sh\nexec {sys.executable} -m cube2net "$@"\n', encoding="utf-8")
    (tmp_path / "cube2net").chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run([str(BASH), "--norc", "-c", IN_BASH], env=env, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == ["complete -o default -F _cube2net_completion cube2net", "greedy"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_every_shell_has_a_script(shell: str) -> None:
    env = {"_CUBE2NET_COMPLETE": f"source_{shell}"}
    result = CliRunner().invoke(app, [], prog_name="cube2net", env=env)
    assert result.exit_code == 0 and f"complete_{shell}" in result.output
