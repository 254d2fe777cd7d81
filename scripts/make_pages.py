"""Write docs/reference/cli.md (the help of each command), docs/reference/api.md (public names) and the manual page.

python scripts/make_pages.py          write them
python scripts/make_pages.py --check  compare them, and exit with 1 if one differs
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

This page is the output of `cube2net COMMAND --help`; a test compares them. Results go to standard output, progress and
errors to standard error. An error is one sentence, also with `--json`; invalid syntax also shows the usage. Exit
statuses:

| status | meaning |
| --- | --- |
| 0 | success, and all output was written |
| 1 | a negative answer, as from `diff`: `query --show-missing` found missing names, `replay` found a difference |
| 2 | an error: one sentence says why, and nothing is left half-written |
| 3 | output could not be written because standard output is closed or its disk is full; files are complete |
| 130, 143, 129 | Ctrl-C, SIGTERM, SIGHUP: the command stops within two seconds and leaves nothing half-written |
| 141 | the reader of the output ended, for example `head` |

If a build or comparison is interrupted, the same command continues from what was finished. If standard error is closed
or full, messages are lost, but the status is the same.

Names from data, files and arguments can contain characters that control a terminal: colours, cursor movements, line
ends, changes of direction, invisible characters. Tables, progress and errors show them escaped, such as `\\x1b`, and
shorten very long names. With `--json` they are written as JSON escapes, so `query --show-missing --json` gives missing
names exactly.
"""


API_HEAD = """# Public names

`import cube2net as c2n` provides these names. This page is made from `src/cube2net/__init__.pyi`;
`help(c2n.construct)` shows a whole docstring. Other names are in modules: methods in `c2n.methods`, views of cubes in
`c2n.cube`, types in `c2n.model`, further functions in `c2n.api`. [The glossary](glossary.md) defines the words.
"""


MODULES = {
    "methods": "Methods, objectives and forms, by name and as classes.",
    "cube": "Views of a cube: rolled up, sliced, at other levels, limited in time; engines and files.",
    "model": "The types of data and results: immutable, and validated when created.",
    "api": "Further functions, from raw data to a network and a verdict.",
    "model.interfaces": "The extension points: any object with the right method works.",
    "errors": "The exceptions of cube2net.",
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
    """Return the public names by purpose, each with the first line of its docstring."""
    parts = [API_HEAD]
    for title, names in public_names():
        rows = [f"| `{name}` | {first_line(name)} |" for name in names]
        parts.append("\n".join([f"## {title}", "", "| name | |", "| --- | --- |", *rows]) + "\n")
    return "\n".join(parts)


def public_names() -> Iterator[tuple[str, list[str]]]:
    """Yield the titles and names of the list of public names."""
    stub = Path(cube2net.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    for part in re.split(r"\n\n# ", stub)[1:]:
        title, _, lines = part.partition("\n")
        yield title, re.findall(r"\b(\w+) as \1\b", lines)


def first_line(name: str) -> str:
    """Return the first line of the docstring of a public name."""
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
