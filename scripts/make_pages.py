"""Writes docs/cli.md, the help pages of every command, from the program itself.

python scripts/make_pages.py          write it
python scripts/make_pages.py --check  compare it, and exit with 1 where it differs
"""

from __future__ import annotations

import sys
from pathlib import Path

from typer.testing import CliRunner

from cube2net.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
COMMANDS = ("", "demo", "build", "info", "update", "verify", "query", "compare", "task")
HEAD = """# Command line

These pages are what `cube2net --help` prints; a test compares them. Whatever is refused is one sentence on standard
error, also with `--json`; a command that cannot be read as one is shown with its usage. Progress goes
to standard error, results to standard output. How a command ends:

| status | what it means |
| --- | --- |
| 0 | done, and all that it had to say was delivered |
| 1 | `query --show-missing`: there are names that are missing (as `diff` does, so that a script can ask) |
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


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for command in COMMANDS:
        words = [command, "--help"] if command else ["--help"]
        result = CliRunner().invoke(app, words, prog_name="cube2net", env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"})
        if result.exit_code:
            raise SystemExit(f"cube2net {' '.join(words)} failed: {result.output}")
        lines = "\n".join(line.rstrip() for line in result.output.strip().splitlines())
        parts.append(f"## {' '.join(['cube2net', *words])}\n\n```\n{lines}\n```\n")
    return "\n".join(parts)


def main() -> None:
    """Write or compare the page."""
    text = page()
    if "--check" in sys.argv:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
            raise SystemExit("docs/cli.md differs from the program: run python scripts/make_pages.py")
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
