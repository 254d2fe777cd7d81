"""Writes man/cube2net.1, the manual that the program tells: every command with what it takes, and how it ends.

python scripts/make_man.py          write it
python scripts/make_man.py --check  compare it, and exit with 1 where it differs

A wheel holds it under share/man/man1, where `man` finds it when the environment's bin is on the PATH.
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
    "0": "Done, and all that it had to say was delivered.",
    "1": "As diff(1) does, for scripts to ask: query --show-missing found names that are missing, replay a difference.",
    "2": "Refused: one sentence on standard error says why, and nothing was left half-written.",
    "3": "What it had to say could not be written: standard output is closed, or its disk is full. Files are whole.",
    "129, 130, 143": "SIGHUP, Ctrl-C, SIGTERM: obeyed within two seconds, and nothing is left half-written.",
    "141": "The reader of its output has left, as head(1) does.",
}
ENVIRONMENT = {
    "NUMBA_CACHE_DIR": "Where compiled code is kept for later starts; without, beside the package where that can be.",
    "XDG_CACHE_HOME": "Where cubes that were found whole are noted, in cube2net/sound-cubes.json; without, ~/.cache.",
    "JAVA_HOME": "The Java that --engine spark runs on; without, the one on the PATH.",
}
EXAMPLE = (
    "cube2net build tables people.csv friendships.csv --dimension city/state --out cube",
    "cube2net query cube --query names.txt --out network.graphml",
    "cube2net explore cube --query names.txt",
)
ABOUT = (
    "A cube organises the objects of a large network by their attributes, once: build reads raw data and writes it to "
    "a folder. query then makes a small network around the objects that you name; compare says whether it helps the "
    "next step. cube2net COMMAND --help says of each command what stands here."
)


def escaped(text: str) -> str:
    """Return a text as troff reads it: in ASCII, with signs that mean something to troff taken literally.

    >>> print(escaped("for --roll-up field='well-known' · b"))
    for \\-\\-roll\\-up field=\\(aqwell-known\\(aq \\[u00B7] b
    """
    text = text.replace("\\", "\\e")
    text = OPTION.sub(lambda found: found[0].replace("-", "\\-"), text)
    text = text.replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    text = "".join(sign if ord(sign) < 128 else f"\\[u{ord(sign):04X}]" for sign in text)
    return f"\\&{text}" if text.startswith(".") else text


def manual() -> str:
    """Return the whole page."""
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
    """Return how a command is typed."""
    pieces = [escaped(piece) for piece in command.collect_usage_pieces(context)]
    return [f"\\fBcube2net {name}\\fR " + " ".join(f"\\fI{piece}\\fR" for piece in pieces)]


def parameters(command: Any, context: Any) -> Iterator[str]:
    """Give what a command takes, each with what is said of it."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and not (context.parent and parameter.name == "help"):
            signs, said = record
            yield from (".TP", f"\\fB{escaped(signs)}\\fR", escaped(" ".join(said.split())))


def described(entries: dict[str, str]) -> Iterator[str]:
    """Give words, each with what it means."""
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
