"""Cells that a real kernel runs, and what a notebook that is not trusted keeps of the HTML they show."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

PAGE_BUILT = (Path(__file__).parents[2] / "src" / "cube2net" / "page" / "widget.js").is_file()
"""Whether there is a page to show."""

TAGS = {"div", "p", "b", "code", "table", "thead", "tbody", "tr", "th", "td", "img", "progress"}
"""What our pages are made of; JupyterLab's sanitizer keeps all of these, and no svg, style or script."""

ATTRIBUTES = {"*": {"class", "style"}, "img": {"src", "alt", "width"}, "progress": {"value", "max"}}
"""The attributes that it keeps on these tags, as far as we use them: no roles, no handlers."""

LENGTH = r"(0|[0-9.]+(px|%))"
STYLES = {
    "margin": rf"({LENGTH} ?){{1,4}}",
    "padding": rf"({LENGTH} ?){{1,4}}",
    "max-width": LENGTH,
    "height": "auto",
    "overflow": "auto",
    "opacity": r"0\.\d+",
    "text-align": "left|right",
    "white-space": "nowrap",
    "border-collapse": "collapse",
    "border-bottom": "1px solid",
}
"""The styles that it keeps, with the values that it lets through; it knows neither ``inherit`` nor ``currentColor``."""


class Kept(HTMLParser):
    """Reads HTML, and notes what a notebook that is not trusted would take out."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lost: list[str] = []
        self.texts: list[str] = []
        self.sources: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Hold a tag against what is kept."""
        if tag not in TAGS:
            self.lost.append(f"<{tag}>")
        if tag != "img":
            self.open.append(tag)
        for name, value in attrs:
            if name not in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()):
                self.lost.append(f"{tag} {name}")
            if name == "style":
                for each in filter(None, (value or "").split(";")):
                    word, _, said = each.partition(":")
                    if not re.fullmatch(STYLES.get(word.strip(), "(?!)"), said.strip()):
                        self.lost.append(f"{tag} {each}")
            if name == "src":
                self.sources.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        """Hold an end against its beginning."""
        if not self.open or self.open.pop() != tag:
            self.lost.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Note what nobody wrote."""
        self.lost.append(f"<!--{data}-->")

    @property
    def text(self) -> str:
        """All texts in their order."""
        return " ".join(" ".join(self.texts).split())


def ran(cells: list[str], folder: Path) -> list[Any]:
    """Return the outputs of cells that a kernel runs in a folder, whether or not code is compiled for it."""
    return [list(filter(_is_shown, cell.outputs)) for cell in ran_notebook(cells, folder).cells]


def _is_shown(output: Any) -> bool:
    """Return whether an output is not the line that code is compiled, as it is once on a machine."""
    return not (output.get("name") == "stderr" and output["text"].startswith("cube2net: preparing compiled code"))


def ran_notebook(cells: list[str], folder: Path) -> Any:
    """Return the notebook of cells that a kernel ran in a folder."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook
