"""Links, names, commands and options in pages and notebooks exist."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cube2net

from page_blocks import GENERATED, ROOT, anchors, blocks, name_of, pages, read_prose
from page_runs import commands

PAGES = [*pages(), *(ROOT / name for name in GENERATED)]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")


def test_the_help_pages_in_the_docs_are_those_of_the_program() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_pages.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name_of)
def test_links_between_pages_lead_to_a_page_and_to_a_heading_of_it(page: Path) -> None:
    for target, heading in LINK.findall(read_prose(page)):
        place = page.parent / target if target else page
        assert place.exists(), target
        assert not heading or heading in anchors(place), f"{target}#{heading}"


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name_of)
def test_names_that_a_page_uses_exist(page: Path) -> None:
    text = read_prose(page)
    for dotted in set(re.findall(r"\bc2n\.([\w.]*\w)", text)):
        value = cube2net
        for name in dotted.split("."):
            assert hasattr(value, name), dotted
            value = getattr(value, name)
    for module, names in re.findall(r"^(?:>>> )?from (cube2net[\w.]*) import (.+)", text, re.MULTILINE):
        for name in re.findall(r"\w+", names):
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def options() -> dict[str, set[str]]:
    """Return the options of each command in the reference; those of the program itself have an empty name."""
    text = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    helps = re.findall(r"^## cube2net(?: (\w+))? --help\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {command: set(re.findall(r"--[a-z-]+", shown)) for command, shown in helps}


def unknown_options(text: str, known: dict[str, set[str]]) -> set[str]:
    """Return the options in a shell line that its commands do not have.

    >>> known = {"": {"--help"}, "suggest": {"--help"}, "query": {"--form"}}
    >>> unknown_options("cube2net suggest a.csv --form x && cube2net query c --form hybrid", known)
    {'--form'}
    """
    wrong: set[str] = set()
    for called in re.findall(r"(?<!\S)cube2net (?![^\s]*/)([^|;&]*)", text):
        command = called.split()[0] if called.split() and not called.startswith("-") else ""
        wrong |= set(re.findall(r"(?<!\S)--[a-z-]+", called)) - known.get(command, known[""])
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_of_a_page_have_options_that_exist(page: Path) -> None:
    known = options()
    shown = [command for block in blocks(page) if block.language == "sh" for command in commands(block)]
    inline = re.findall(r"`(cube2net [^`]*)`", page.read_text(encoding="utf-8"))
    for text in [*(each.text for each in shown if "cube2net" in each.programs and not each.needs_shell), *inline]:
        assert not unknown_options(text, known), text


def test_the_version_is_said_once() -> None:
    assert '\ndynamic = ["version"]\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"version: {cube2net.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="make is used on POSIX systems")
def test_the_makefile_names_the_commands_of_the_readme() -> None:
    makefile, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "README.md"))
    for command in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
