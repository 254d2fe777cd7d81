"""The code blocks of a page: what language each is in, on which line it begins, and why it is not run if it is not.

A page is read as CommonMark is, so that a block in a list, or in a directive of the site, is found as well::

    ```python        runs: as doctest where it has >>>, else as plain code, which shows nothing
    ```sh            runs: a command a line, without prompt; `# exits with 1` says that it does
    ```text          is what the command before it printed, or a file to look at; `…` stands for what is left out
    ```json          is data, and so are the others of DATA

``<!-- not run: why -->`` on the line before a block says why it is not run: one of ``KINDS``, maybe with more after a
colon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]

RUN = ("python", "sh")
SHOWN = "text"
DATA = ("json", "sql", "toml", "html", "http", "yaml", "css", "ini")

KINDS = (
    "installs",
    "works on a checkout",
    "takes long",
    "needs files that you download",
    "needs a package that the tests do not have",
    "needs Spark",
    "needs a GPU",
    "needs another machine",
    "an outline",
)
"""What may keep a block from being run; whoever adds a kind should first try to run the block."""

GENERATED = ("docs/reference/cli.md", "docs/reference/api.md")
"""Pages that are written by a script, and compared with what it writes."""

MARK = re.compile(r"<!--\s*not run\b:?(.*?)-->\s*", re.DOTALL)
INDENTED = "indented"
"""Instead of a language, of a block without a fence."""


@dataclass(frozen=True)
class Block:
    """One code block of a page."""

    page: Path
    line: int
    language: str
    text: str
    section: str
    """The heading that it stands under."""
    number: int
    """How many headings stand above it: blocks of one section have the same."""
    why: str | None = None
    """Why it is not run, as its mark says; None without a mark."""

    @property
    def place(self) -> str:
        """The position, for messages."""
        return f"{self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page}:{self.line}"

    @property
    def kind(self) -> str | None:
        """The kind of the reason why it is not run, or None."""
        return None if self.why is None else self.why.partition(":")[0].strip()

    @property
    def runs(self) -> bool:
        """Whether it is run."""
        return self.language in RUN and self.why is None


def pages() -> list[Path]:
    """Return all pages with blocks to run, README first; generated pages are left out."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return top + [page for page in sorted((ROOT / "docs").rglob("*.md")) if name_of(page) not in GENERATED]


def name_of(page: Path) -> str:
    """Return the path of a page from the root of the repository, with slashes."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page in order, including those in directives such as ``{note}``."""
    return list(_read(page, page.read_text(encoding="utf-8"), 0))


def stray_marks(page: Path) -> list[int]:
    """Return the lines of marks that are not directly above a block."""
    lines = page.read_text(encoding="utf-8").splitlines()
    marks = [number for number, line in enumerate(lines) if line.lstrip().startswith("<!-- not run")]
    return [number + 1 for number in marks if not "".join(lines[number + 1 : number + 2]).lstrip().startswith("```")]


def read_prose(page: Path) -> str:
    """Return the text of a page, or of all cells of a notebook."""
    text = page.read_text(encoding="utf-8")
    return text if page.suffix == ".md" else "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page or notebook, as Sphinx and GitHub make them."""
    text = read_prose(page)
    tokens = MarkdownIt("commonmark").parse(text)
    found = set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = "".join(part.content for part in tokens[place + 1].children or ())
            found.add(re.sub(r"[^\w\- ]", "", words.strip().lower().replace(" ", "-")))
    return found


def _read(page: Path, text: str, above: int) -> Iterator[Block]:
    section, number, mark, marked = "", 0, None, -1
    tokens = MarkdownIt("commonmark").parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            section, number = tokens[place + 1].content, number + 1
        elif token.type == "html_block" and token.map and (found := MARK.fullmatch(token.content)):
            mark, marked = found[1].strip(), token.map[1]
        elif token.type in ("fence", "code_block") and token.map:
            line, language = token.map[0] + 1, token.info.strip()
            why = mark if marked == token.map[0] else None
            if language.startswith("{"):
                options = _options(token.content)
                yield from _read(page, "\n" * options + "\n".join(token.content.splitlines()[options:]), above + line)
            else:
                name = language if token.type == "fence" else INDENTED
                yield Block(page, above + line, name, token.content, section, number, why)


def _options(text: str) -> int:
    """Return the number of lines with options of a directive."""
    lines = text.splitlines()
    return next((number for number, line in enumerate(lines) if not re.match(r":[\w-]+:", line)), len(lines))
