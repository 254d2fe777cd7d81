"""The same file gives the same cube, or is refused alike, in Python, on the command line and in the page."""

import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import cube2net as c2n
from cube2net._util.progress import silent
from cube2net.api.spreadsheets import sheet_source
from cube2net.apps.server.sessions import build_answer
from cube2net.errors import Cube2netError, Setting
from cube2net.model.cube import Cube

EXPORTS = Path(__file__).parents[1] / "io" / "exports"
DATA = Path(os.environ.get("CUBE2NET_DATA", ""))
TOOL_NAME = "cube2net: "


def summarize(cube: Cube) -> tuple[object, ...]:
    dimensions = [level.name for dimension in cube.dimensions for level in dimension.levels]
    sizes = [len(cube.cells), len(cube.small), len(cube.objects), len(cube.links.indices)]
    topics = cube.settings.get("topics") or {}
    return dimensions, sizes, cube.settings["min_objects"], topics.get("count")


def describe_refusal(message: str) -> str:
    """Return why a file is refused, without the remedy: each front end names it in its own spelling."""
    return message.removeprefix(TOOL_NAME).partition(" (")[0].strip()


def build_everywhere(path: Path, tool: Callable[..., tuple[int, str, str]], folder: Path) -> list[object]:
    """Return what a file gives in Python, on the command line and in the page: a summary, or why it is refused."""

    def build_in_python() -> Cube:
        return c2n.build(path)

    def build_by_command() -> Cube:
        out = folder / "cube"
        status, _, err = tool("build", sheet_source([path]), path, "--out", out, "--quiet")
        if status:
            raise Cube2netError(err)
        return c2n.open(out)

    def build_in_page() -> Cube:
        body = {"paths": [str(path)], "made": str(folder)}
        return c2n.open(build_answer("build", body, silent)["folder"])

    outcomes: list[object] = []
    for build in (build_in_python, build_by_command, build_in_page):
        try:
            outcomes.append(summarize(build()))
        except Cube2netError as error:
            outcomes.append(describe_refusal(str(error)))
    return outcomes


@pytest.mark.parametrize("name", ["scopus.ris", "library.bib", "wos_tagged.txt", "pubmed.nbib", "zotero.rdf"])
def test_an_export_gives_the_same_in_python_on_the_command_line_and_in_the_page(name: str, tool, tmp_path) -> None:
    python, command, page = build_everywhere(EXPORTS / name, tool, tmp_path)
    assert python == command == page


def test_a_table_with_texts_gives_the_same_topics_everywhere(tool, tmp_path: Path) -> None:
    sports = [("ball goal team", "park"), ("wave boat sail", "harbour"), ("snow ski slope", "mountain")]
    rows = [f"n{row},{sports[row % 3][1]} {row % 5},{' '.join([sports[row % 3][0]] * 4)}" for row in range(90)]
    path = tmp_path / "clubs.csv"
    path.write_text("\n".join(["id,place,description", *rows]), encoding="utf-8")
    python, command, page = build_everywhere(path, tool, tmp_path / "made")
    assert python == command == page
    assert python[2] < 10, "cells of a small table may be smaller"


def test_a_file_that_gives_no_cube_is_refused_for_the_same_reason_everywhere(tool, tmp_path: Path) -> None:
    path = tmp_path / "alone.csv"
    path.write_text("id\n" + "\n".join(f"n{row}" for row in range(30)), encoding="utf-8")
    python, command, page = build_everywhere(path, tool, tmp_path / "made")
    assert isinstance(python, str)
    assert python == command == page


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CUBE2NET_DATA"), reason="CUBE2NET_DATA names no folder of files to read")
def test_every_file_at_hand_yields_the_same_cube_with_links_everywhere_or_a_sentence(tool, tmp_path: Path) -> None:
    files = [path for part in ("exports", "messy") for path in sorted((DATA / part).rglob("*")) if path.is_file()]
    failures = []
    for number, file_path in enumerate(files):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = file_path
        if file_path.suffix == ".xz":
            path = folder / file_path.stem
            path.write_bytes(lzma.decompress(file_path.read_bytes()))
        outcomes = build_everywhere(path, tool, folder)
        if outcomes.count(outcomes[0]) < 3:
            failures.append((path.name, *outcomes))
        notes: list[str] = []
        try:
            cube = c2n.build(path, progress=lambda stage, done, total=None, notes=notes: notes.append(stage))
        except Cube2netError as error:
            if not any(isinstance(part, Setting) for part in error.message.parts) or "\n" in str(error):
                failures.append((path.name, str(error)))
        else:
            if not len(cube.links.indices) and not any(note.startswith("no links") for note in notes):
                failures.append((path.name, str(cube)))
    assert files and failures == []
