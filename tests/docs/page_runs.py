"""Run the blocks of a page in order, in their own folder, and compare the shown output with the real one."""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cube2net.apps.cli import app

from page_blocks import ROOT, SHOWN, Block

HARMLESS = ("cat", "cp", "head", "ls", "mkdir")
"""Commands of the system that a page may use."""

NOT_EVERYWHERE = ("curl", "jq")
"""Commands that are run where they are there."""

ALLOWED = ("cube2net", "python", *NOT_EVERYWHERE, *HARMLESS)

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
EXITS = re.compile(r"#.*\bexits with (\d+)")
SIGNS = set("();<>|&")
ADDRESS = re.compile(r"https?://\S+token=\S+")


class PageError(AssertionError):
    """A command of a page fails."""


@dataclass(frozen=True)
class Command:
    """One command of a block, and its expected exit status."""

    text: str
    line: int
    status: int = 0

    @property
    def words(self) -> list[str]:
        """Its words without the comment; operators of the shell are separate words."""
        return _words(self.text)

    @property
    def needs_shell(self) -> bool:
        """Whether it needs a shell, for pipes, redirection or variables."""
        return "$" in self.text or any(set(word) <= SIGNS for word in self.words)

    @property
    def programs(self) -> list[str]:
        """The programs that it starts."""
        found, first = [], True
        for word in self.words:
            if set(word) <= SIGNS:
                first = word in ("|", "&&", "||", ";", "(")
            elif first and not re.match(r"\w+=", word):
                found.append(word)
                first = False
        return found


def _words(text: str) -> list[str]:
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    reader.commenters = ""
    words = []
    for word in reader:
        if word.startswith("#"):
            break
        words.append(word)
    return words


def commands(block: Block) -> list[Command]:
    """Return the commands of a ``sh`` block, one per line; a backslash at the end continues a line."""
    found, begun, first = [], "", block.line
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        begun, first = (begun + line, first) if begun else (line, number)
        if begun.endswith("\\"):
            begun = begun[:-1]
            continue
        if begun.strip() and not begun.lstrip().startswith("#"):
            status = EXITS.search(begun)
            found.append(Command(begun.strip(), first, int(status[1]) if status else 0))
        begun = ""
    return found


def difference(shown: str, printed: str) -> str | None:
    """Return how the shown output differs from the printed one, or None.

    A line ``…`` stands for any lines, and ``…`` within a line for any part of it. Long lines may be broken at blanks,
    as in a terminal.
    """
    wanted = [line.rstrip() for line in shown.strip("\n").splitlines()]
    came = [line.rstrip() for line in printed.strip("\n").splitlines()]
    pattern = ""
    for line, following in zip(wanted, [*wanted[1:], ""], strict=True):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            broken = line and following and following.strip() != "…" and not following.startswith(" ")
            pattern += re.escape(line).replace("…", ".*?") + ("[ \n]" if broken else "\n")
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in came)):
        return None
    return "\n".join(difflib.unified_diff(wanted, came, "shown", "came", lineterm=""))


@dataclass
class Printed:
    """The output of a command: standard output alone, and with standard error."""

    out: str
    both: str


@dataclass
class PageRun:
    """A run of a page; as a context manager it stops the servers that the page starts."""

    folder: Path
    compare: bool = True
    """Whether what is shown is held against what comes."""
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: Printed | None = None
    last: Block | None = None
    servers: list[subprocess.Popen[str]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    drifts: list[str] = field(default_factory=list)
    """Where the page shows other than what came."""

    def __enter__(self) -> PageRun:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self.servers:
            server.terminate()
            server.communicate(timeout=60)

    def run(self, block: Block) -> None:
        """Run one block, or compare it with the output of the commands before it."""
        with contextlib.chdir(self.folder):
            if block.language == SHOWN:
                self._hold(block)
            elif block.runs and block.language == "sh":
                for command in commands(block):
                    self._command(block, command)
            elif block.runs:
                self._python(block)
        if block.language != SHOWN:
            self.last = block if block.runs and block.language == "sh" else None

    def _hold(self, block: Block) -> None:
        if self.last is None or self.last.number != block.number or not self.compare or self.printed is None:
            return
        found = [difference(block.text, text) for text in (self.printed.out, self.printed.both)]
        self.last = None
        if all(found):
            self.drifts.append(f"{block.place}: what is shown is not what the command before it printed\n{found[0]}")

    def _python(self, block: Block) -> None:
        if ">>>" not in block.text:
            said = io.StringIO()
            code = compile("\n" * block.line + block.text, str(block.page), "exec")
            with contextlib.redirect_stdout(said):
                exec(code, self.names)
            if said.getvalue():
                self.drifts.append(f"{block.place}: plain code shows nothing, and this printed {said.getvalue()!r}")
            return
        test = doctest.DocTestParser().get_doctest(block.text, self.names, block.place, str(block.page), block.line)
        report = io.StringIO()
        runner = doctest.DocTestRunner(_Lenient() if not self.compare else None, verbose=False, optionflags=FLAGS)
        failed = runner.run(test, out=report.write, clear_globs=False).failed
        self.names.update(test.globs)
        if failed:
            self.drifts.append(f"{block.place}:\n{report.getvalue()}")

    def _command(self, block: Block, command: Command) -> None:
        place = f"{block.place.rpartition(':')[0]}:{command.line}"
        unknown = [program for program in command.programs if program not in ALLOWED]
        if unknown:
            raise PageError(f"{place}: {unknown[0]!r} is not run by the tests: say why not, in a comment before it")
        if any(program in NOT_EVERYWHERE and not shutil.which(program) for program in command.programs):
            self.printed = None
            return
        if command.words[:2] == ["cube2net", "explore"]:
            self._serve(place, command)
            return
        inside = command.words[0] == "cube2net" and command.words[1:2] != ["mcp"] and not command.needs_shell
        status, self.printed = self._inside(command) if inside else self._outside(command)
        if status != command.status:
            raise PageError(f"{place}: {command.text}\nended with {status}:\n{self.printed.both}")

    def _inside(self, command: Command) -> tuple[int, Printed]:
        """Run the command line in this process."""
        out, both = io.StringIO(), io.StringIO()
        typed, status = sys.argv, 0
        sys.argv = command.words
        try:
            with contextlib.redirect_stdout(_Both(out, both)), contextlib.redirect_stderr(both):
                app.main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            sys.argv = typed
        return status, Printed(out.getvalue(), both.getvalue())

    def _environment(self) -> dict[str, str]:
        """Return an environment in which ``cube2net`` and ``python`` are those of the tests."""
        programs = self.folder / ".programs"
        if not programs.is_dir():
            programs.mkdir()
            for name, words in (("python", ""), ("cube2net", "-m cube2net")):
                (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
                (programs / name).chmod(0o755)
        path = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
        source = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
        return {**os.environ, "PATH": path, "PYTHONPATH": source, "BROWSER": "true", **self.variables}

    def _outside(self, command: Command) -> tuple[int, Printed]:
        """Run a command in a shell."""
        ended = subprocess.run(
            ["bash", "-c", command.text],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=self._environment(),
            timeout=300,
            check=False,
        )
        return ended.returncode, Printed(ended.stdout, ended.stdout + ended.stderr)

    def _serve(self, place: str, command: Command) -> None:
        """Start the explorer until the page ends, and set PORT and TOKEN to those it prints."""
        words = [sys.executable, "-m", "cube2net", *command.words[1:]]
        self.servers.append(
            subprocess.Popen(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                env={**self._environment(), "PYTHONUNBUFFERED": "1"},
            )
        )
        said = ""
        for line in _lines(self.servers[-1]):
            said += line
            if found := ADDRESS.search(line):
                address = urlsplit(found[0])
                token = parse_qs(address.query or address.fragment)["token"][0]
                self.variables |= {"PORT": str(address.port), "TOKEN": token}
                self.printed = Printed(said, said)
                return
        raise PageError(f"{place}: {command.text}\nprinted no address:\n{said}")


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """Yield the lines of a process until it ends, for at most two minutes."""
    assert process.stdout is not None
    watch = threading.Timer(120, process.kill)
    watch.start()
    try:
        yield from process.stdout
    finally:
        watch.cancel()


class _Both(io.StringIO):
    """Writes to several streams."""

    def __init__(self, *streams: io.StringIO) -> None:
        super().__init__()
        self.streams = streams

    def write(self, text: str) -> int:
        for stream in self.streams:
            stream.write(text)
        return len(text)


class _Lenient(doctest.OutputChecker):
    """Accepts any output."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return True
