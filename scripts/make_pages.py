"""Writes docs/cli.md, the help pages of every command, from the program itself.

python scripts/make_pages.py          write it
python scripts/make_pages.py --check  compare it, and exit with 1 where it differs
"""

from __future__ import annotations

import sys
from pathlib import Path

from typer.testing import CliRunner

from cube2net.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
COMMANDS = ("", "demo", "build", "info", "update", "verify", "query", "compare", "task")
HEAD = """# Command line

These pages are what `cube2net --help` prints; a test compares them. Whatever is refused is one sentence on standard
error and exit status 2. Ctrl-C is obeyed within two seconds, with status 130, and so are SIGTERM (143) and SIGHUP
(129): what was being written is removed, and what a build or a comparison has finished is kept for the same command
to go on. `query --show-missing` ends with status 1 where names are missing and 0 where none is, as `diff` does,
so that a script can ask. Progress goes to standard error, results to standard output.
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
