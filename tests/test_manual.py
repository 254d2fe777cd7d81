"""The manual is that of the program, and troff has nothing to say against it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import make_man
from cube2net.apps.cli.app import app

GROFF, MAN = shutil.which("groff"), shutil.which("man")


def test_the_manual_is_that_of_the_program() -> None:
    command = [sys.executable, make_man.__file__, "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_manual_has_every_command_and_every_option_that_is_not_hidden() -> None:
    text = make_man.manual().replace("\\-", "-")
    root = typer.main.get_command(app)
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        _, _, rest = text.partition(f"\n.SS cube2net {name}\n")
        part = rest.partition("\n.S")[0]
        for option in command.params:
            if option.opts[0].startswith("-") and not option.hidden and option.name != "help":
                assert f"\\fB{option.opts[0]}" in part, (name, option.opts)


@pytest.mark.parametrize("text", ["a\\nb", ".TH first", "'br first", "∗ · … ⟨", "a ^ ~ ` b"])
def test_no_text_of_the_program_is_taken_for_a_command_of_troff(text: str) -> None:
    escaped = make_man.escaped(text)
    assert escaped.isascii() and not escaped.startswith((".", "'"))
    if GROFF is not None:
        shown = subprocess.run(
            [GROFF, "-man", "-ww", "-Tutf8", "-P-cbou"],
            input=f".TH X 1\n.SH N\n{escaped}\n",
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        )
        assert (shown.stderr, text in shown.stdout) == ("", True)


@pytest.mark.skipif(GROFF is None, reason="groff is not installed")
def test_troff_warns_of_nothing_in_the_manual() -> None:
    command = [str(GROFF), "-mandoc", "-ww", "-Tutf8", str(make_man.MANUAL)]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.skipif(MAN is None, reason="man is not installed")
def test_man_finds_the_page_where_a_wheel_puts_it(tmp_path: Path) -> None:
    place = tmp_path / "share" / "man" / "man1"
    place.mkdir(parents=True)
    shutil.copyfile(make_man.MANUAL, place / "cube2net.1")
    command = [str(MAN), "-M", str(tmp_path / "share" / "man"), "-P", "cat", "cube2net"]
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100"}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False, encoding="utf-8")
    assert ended.returncode == 0, ended.stderr
    assert "cube2net query" in ended.stdout and "--install-completion" in ended.stdout
