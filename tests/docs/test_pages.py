"""What we say is what runs: README, help pages and the names that the docs mention."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cube2net

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")])


def test_the_help_pages_in_the_docs_are_those_of_the_program() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_pages.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_session_in_the_readme_gives_the_output_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried >= 7
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere_and_named_functions_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for name in re.findall(r"c2n\.(\w+)", text):
        assert hasattr(cube2net, name), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_docs_have_options_that_exist(page: Path) -> None:
    known = set(re.findall(r"--[a-z-]+", (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")))
    for line in re.findall(r"^\s*\$?\s*(cube2net .*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert set(re.findall(r"(?<!\S)--[a-z-]+", line)) <= known, line


def test_the_version_is_said_once() -> None:
    assert '\ndynamic = ["version"]\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"version: {cube2net.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="make is used on POSIX systems")
def test_the_makefile_names_the_commands_of_the_readme() -> None:
    makefile, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "README.md"))
    for command in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
