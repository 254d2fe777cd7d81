"""Write the manual page man/cube2net.1 from the help of the commands.

python scripts/make_man.py          write it
python scripts/make_man.py --check  compare it, and exit with 1 if it differs

A wheel installs it in share/man/man1, where `man` finds it if the bin folder of the environment is on the PATH.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

import cube2net
from cube2net.apps.cli.app import app

OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
MANUAL = Path(__file__).parents[1] / "man" / "cube2net.1"
STATUSES = {
    "0": "Success, and all output was written.",
    "1": "A negative answer, as from diff(1): query --show-missing found missing names, replay found a difference.",
    "2": "An error: one sentence on standard error says why, and nothing is left half-written.",
    "3": "Output could not be written: standard output is closed or its disk is full. Files are complete.",
    "129, 130, 143": "SIGHUP, Ctrl-C, SIGTERM: the command stops within two seconds and leaves nothing half-written.",
    "141": "The reader of the output ended, for example head(1).",
}
ENVIRONMENT = {
    "NUMBA_CACHE_DIR": "Folder for compiled code; by default beside the package if it is writable.",
    "XDG_CACHE_HOME": "Folder for the list of checked cubes, cube2net/sound-cubes.json; by default ~/.cache.",
    "JAVA_HOME": "The Java for --engine spark; by default the one on the PATH.",
}
EXAMPLE = (
    "cube2net build tables people.csv friendships.csv --dimension city/state --out cube",
    "cube2net query cube --query names.txt --out network.graphml",
    "cube2net explore cube --query names.txt",
)
ABOUT = (
    "A cube organises the objects of a large network by their attributes: build reads raw data and writes a cube to a "
    "folder. query makes a small network around the objects that you name; compare tests whether it helps the next "
    "step. cube2net COMMAND --help shows the same text for each command."
)


def escaped(text: str) -> str:
    """Escape a text for troff, in ASCII.

    >>> print(escaped("for --roll-up field='well-known' · b"))
    for \\-\\-roll\\-up field=\\(aqwell-known\\(aq \\[u00B7] b
    """
    text = text.replace("\\", "\\e")
    text = OPTION.sub(lambda found: found[0].replace("-", "\\-"), text)
    text = text.replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    text = "".join(sign if ord(sign) < 128 else f"\\[u{ord(sign):04X}]" for sign in text)
    return f"\\&{text}" if text.startswith(".") else text


def manual() -> str:
    """Return the text of the page."""
    root = typer.main.get_command(app)
    top = root.make_context("cube2net", [], resilient_parsing=True)
    commands: dict[str, Any] = root.commands  # type: ignore[attr-defined]
    lines = [
        '.\\" Made by scripts/make_man.py from the program: change that.',
        f'.TH CUBE2NET 1 "" "cube2net {cube2net.__version__}" "User Commands"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"cube2net \\- {escaped('small networks around the objects you care about, chosen from a data cube')}",
        ".SH SYNOPSIS",
        ".B cube2net",
        "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGS\\fR]...",
        ".SH DESCRIPTION",
        escaped(ABOUT),
        ".SH OPTIONS",
        *parameters(root, top),
        ".SH COMMANDS",
    ]
    for name, command in commands.items():
        context = command.make_context(name, [], parent=top, resilient_parsing=True)
        lines += [f".SS cube2net {name}", *usage(name, command, context)]
        for paragraph in (command.help or "").split("\n\n"):
            lines += [".PP", escaped(" ".join(paragraph.split()))]
        lines += parameters(command, context)
    lines += [".SH EXIT STATUS", *described(STATUSES), ".SH ENVIRONMENT", *described(ENVIRONMENT)]
    lines += [".SH EXAMPLES", ".nf", *map(escaped, EXAMPLE), ".fi"]
    lines += [".SH NOTES", "Nothing is sent anywhere: cube2net reads and writes files, and needs no network."]
    return "\n".join(lines) + "\n"


def usage(name: str, command: Any, context: Any) -> list[str]:
    """Return the synopsis of a command."""
    pieces = [escaped(piece) for piece in command.collect_usage_pieces(context)]
    return [f"\\fBcube2net {name}\\fR " + " ".join(f"\\fI{piece}\\fR" for piece in pieces)]


def parameters(command: Any, context: Any) -> Iterator[str]:
    """Yield the parameters of a command with their help."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and not (context.parent and parameter.name == "help"):
            signs, said = record
            yield from (".TP", f"\\fB{escaped(signs)}\\fR", escaped(" ".join(said.split())))


def described(entries: dict[str, str]) -> Iterator[str]:
    """Yield words with their descriptions."""
    for word, meaning in entries.items():
        yield from (".TP", f"\\fB{escaped(word)}\\fR", escaped(meaning))


def main() -> None:
    """Write or compare the page."""
    text = manual()
    if "--check" not in sys.argv:
        MANUAL.parent.mkdir(exist_ok=True)
        MANUAL.write_text(text, encoding="utf-8")
    elif not MANUAL.is_file() or MANUAL.read_text(encoding="utf-8") != text:
        raise SystemExit("man/cube2net.1 differs from the program: run python scripts/make_man.py")


if __name__ == "__main__":
    main()
