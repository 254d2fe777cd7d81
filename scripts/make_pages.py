"""Writes pages of docs/reference that the program tells: cli.md, the help of every command, and api.md, public names.

The manual, man/cube2net.1, is written along with them.

python scripts/make_pages.py          write them
python scripts/make_pages.py --check  compare them, and exit with 1 where one differs
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

import cube2net
import make_man
from cube2net.apps.cli.app import app

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
COMMANDS = (
    *("", "demo", "suggest", "build", "info", "update", "verify"),
    *("query", "replay", "explain", "without", "drill", "contrast", "describe", "compare", "task", "explore", "mcp"),
)
HEAD = """# Command line

These pages are what `cube2net --help` prints; a test compares them. Whatever is refused is one sentence on standard
error, also with `--json`; a command that cannot be read as one is shown with its usage. Progress goes
to standard error, results to standard output. How a command ends:

| status | what it means |
| --- | --- |
| 0 | done, and all that it had to say was delivered |
| 1 | as `diff` does, for scripts to ask: `query --show-missing` found names that are missing, `replay` a difference |
| 2 | refused: one sentence says why, and nothing was left half-written |
| 3 | what it had to say could not be written: standard output is closed, or its disk is full; files are whole |
| 130, 143, 129 | Ctrl-C, SIGTERM, SIGHUP: obeyed within two seconds, and nothing is left half-written |
| 141 | the reader of its output has left, as `head` does; nothing is said |

What a build or a comparison had finished when it was interrupted is kept, for the same command to go on from there.
Where standard error is closed or full, progress and sentences are lost and the status stays what it is.

Names come from data, files and arguments, and some hold signs that steer a terminal: colours, cursor moves, line ends,
signs that turn the direction of writing or cannot be seen. They are shown as Python writes them, such as `\\x1b`, in
tables, lines, progress and errors alike, and cut where they are very long. In `--json` they are written by number,
which is the same value: `query --show-missing --json` gives missing names to the letter.
"""


API_HEAD = """# Public names

`import cube2net as c2n` has these names, and keeps them. They stand in `src/cube2net/__init__.pyi`, from which this
page is made; `help(c2n.construct)` says more of each. Other names are in modules:
`c2n.methods` has the methods, `c2n.cube` views of cubes, `c2n.model` the types, `c2n.api` further functions.
[The glossary](glossary.md) defines the words.
"""
MODULES = {
    "methods": "Methods, objectives and forms, by name and as classes.",
    "cube": "A cube from other sides: rolled up, sliced, at other levels, of a time; and how it is made and kept.",
    "model": "The types of data and results: frozen, and checked when made.",
    "api": "Further functions, from raw data to a network and a verdict.",
    "model.interfaces": "The extension points: anything with the right method fits.",
    "errors": "What cube2net refuses, as a tree.",
}


def cli_page() -> str:
    """Return the help pages of all commands."""
    parts = [HEAD]
    for command in COMMANDS:
        words = [command, "--help"] if command else ["--help"]
        result = CliRunner().invoke(app, words, prog_name="cube2net", env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"})
        if result.exit_code:
            raise SystemExit(f"cube2net {' '.join(words)} failed: {result.output}")
        lines = "\n".join(line.rstrip() for line in result.output.strip().splitlines())
        parts.append(f"## {' '.join(['cube2net', *words])}\n\n```\n{lines}\n```\n")
    return "\n".join(parts)


def api_page() -> str:
    """Return the public names by what they are for, each with the first line that is said of it."""
    parts = [API_HEAD]
    for title, names in public_names():
        rows = [f"| `{name}` | {first_line(name)} |" for name in names]
        parts.append("\n".join([f"## {title}", "", "| name | |", "| --- | --- |", *rows]) + "\n")
    return "\n".join(parts)


def public_names() -> Iterator[tuple[str, list[str]]]:
    """Give the titles and names of the list of public names."""
    stub = Path(cube2net.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    for part in re.split(r"\n\n# ", stub)[1:]:
        title, _, lines = part.partition("\n")
        yield title, re.findall(r"\b(\w+) as \1\b", lines)


def first_line(name: str) -> str:
    """Return what is said of a public name, in one line."""
    thing = getattr(cube2net, name)
    if not callable(thing):
        return f"{', '.join(f'`{key}`' for key in thing)}"
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")


def main() -> None:
    """Write or compare the pages."""
    for name, text in (("cli.md", cli_page()), ("api.md", api_page())):
        page = REFERENCE / name
        if "--check" not in sys.argv:
            page.write_text(text, encoding="utf-8")
        elif not page.is_file() or page.read_text(encoding="utf-8") != text:
            raise SystemExit(f"docs/reference/{name} differs from the program: run python scripts/make_pages.py")
    make_man.main()


if __name__ == "__main__":
    main()
