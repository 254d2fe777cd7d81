"""What commands print: lines, tables, JSON and progress, safe for any terminal and any reader."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from cube2net._util.progress import COMPILING, MONITOR, Progress, announce_to, silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


EVERY = 1.6
"""So many seconds there may be silence; with the time a busy machine takes, two."""

SOON = 1.5
"""After so many seconds a stage that moves is said again."""

FIRST = 1.0
"""So many seconds of a process pass before the first word."""

LOOK = 0.2


RESUMABLE_PATHS: list[Path] = []
"""Files from which an interrupted command continues, if they exist."""


class Heartbeat:
    """Progress that repeats itself: after a silence it says again what is done, or that code is being compiled.

    On a ``terminal``, where bars move by themselves, it only says when compiling begins and ends.
    """

    reports_compiling = True

    def __init__(self, progress: Progress, *, terminal: bool = False) -> None:
        self.progress, self.terminal = progress, terminal
        self.stage: tuple[str, int, int | None] = ("working", 0, None)
        self.compiling = self.explained = False
        self.since = time.monotonic()
        self.said = self.since - EVERY + max(LOOK, FIRST - time.process_time())
        self._over, self._lock = threading.Event(), threading.RLock()

    def __enter__(self) -> Heartbeat:
        self._told = announce_to(None)
        self._told.__enter__()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *end: object) -> None:
        self._over.set()
        self._thread.join(LOOK)
        with self._lock:  # nothing is said any more
            self._told.__exit__(None, None, None)

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Pass on what is said, and remember it."""
        with self._lock:
            now = time.monotonic()
            new = stage.partition(":")[0] != self.stage[0].partition(":")[0]
            self.stage = stage, done, total
            if new:
                self.since = now
            if new or now - self.said >= SOON:
                self.said = now
            self.progress(stage, done, total)

    def note(self, text: str) -> None:
        """Pass a note on."""
        with self._lock:
            self.said = time.monotonic()
            self.progress.note(text)

    def look(self) -> None:
        """Say something if it is time to."""
        with self._lock:
            now, name = time.monotonic(), MONITOR.doing
            turned, self.compiling = self.compiling != (name is not None), name is not None
            words: tuple[str, int, int | None] = self.stage
            if name is not None:
                words = f"{COMPILING if self.explained else MONITOR.sentence}: {name}", MONITOR.made, None
            if self.terminal:
                if turned:
                    self.progress(*words)
            elif now - self.said >= EVERY:
                stage, done, total = words
                self.said, self.explained = now, self.explained or name is not None
                seconds = f"{now - self.since:.0f}"
                between = ", " if ":" in stage else ": "
                self.progress(stage if seconds == "0" else f"{stage}{between}{seconds} s", done, total)

    def _beat(self) -> None:
        while not self._over.wait(LOOK):
            if not self._over.is_set():
                self.look()


# A line of more letters, and a cell of a table, is cut.
LONGEST_LINE, LONGEST_CELL = 4_000, 200
# How a command ends whose output did not arrive: it could not be written, or its reader has left (as of SIGPIPE).
UNDELIVERED, LEFT = 3, 141


class _Shown(dict[int, str | int]):
    """For ``str.translate``: what a sign is shown as, itself where it can be printed or is among ``kept``."""

    def __init__(self, kept: str, as_json: bool = False) -> None:
        super().__init__({ord(sign): ord(sign) for sign in kept})
        self.as_json = as_json

    def __missing__(self, code: int) -> str | int:
        sign = chr(code)
        harmless = sign.isprintable() or unicodedata.category(sign) == "Zs"
        self[code] = code if harmless else (json.dumps(sign)[1:-1] if self.as_json else repr(sign)[1:-1])
        if self.as_json and code == 0x7F:
            self[code] = "\\u007f"
        return self[code]


_IN_LINE, _IN_STREAM, _IN_JSON = _Shown(""), _Shown("\n\t"), _Shown("\n", as_json=True)


def line(text: object, most: int = LONGEST_LINE) -> str:
    r"""Return a text as one line that is safe to show: signs that steer a terminal as ``repr`` writes them.

    >>> print(line("Ghent\x1b[2J\nTurin"), line("abcdef", 3))
    Ghent\x1b[2J\nTurin abc…
    """
    said = str(text)
    return (said if len(said) <= most else said[:most] + "…").translate(_IN_LINE)


def json_text(value: object, *, only_ascii: bool = False) -> str:
    r"""Return JSON in which no sign steers a terminal: such signs are written by number, which is the same value.

    >>> print(json_text({"name": "Zoë\u202e"}))
    {
     "name": "Zoë\u202e"
    }
    """
    return json.dumps(_finite(value), indent=1, ensure_ascii=only_ascii, allow_nan=False).translate(_IN_JSON)


def _finite(value: object) -> object:
    """Return a value with null for every number that is none: JSON has no word for these.

    >>> _finite({"bound": float("inf"), "gains": [0.5, float("nan")]})
    {'bound': None, 'gains': [0.5, None]}
    """
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class UndeliveredError(Exception):
    """What was to be said could not be written to standard output."""

    def __init__(self, reason: str, status: int = UNDELIVERED) -> None:
        super().__init__(f"cannot write to standard output: {reason}")
        self.status = status


class Guarded:
    """A stream for texts that lets no sign through that steers a terminal, but line ends and tabs.

    ``raw`` is the stream behind it, None where it is closed. Where ``needed``, a text that cannot be written raises
    :class:`UndeliveredError`; otherwise it is dropped, and so is all that follows. There is no ``buffer`` to write to.
    """

    def __init__(self, raw: TextIO | None, *, needed: bool) -> None:
        self.raw = raw
        self.needed = needed
        self.lost = UndeliveredError("it is closed") if raw is None else None
        self.encoding = getattr(raw, "encoding", None) or "utf-8"
        self.errors = getattr(raw, "errors", None) or "backslashreplace"

    def write(self, text: str) -> int:
        """Write a text, its signs made harmless; return its length."""
        self.styled(text.translate(_IN_STREAM))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for text in lines:
            self.write(text)

    def styled(self, text: str) -> None:
        """Write a text as it is: one of ours, in which every value was cleaned before the styles were added."""
        with self._delivering():
            if self.raw is not None and self.lost is None:
                self.raw.write(text)
        if self.needed and self.lost is not None:
            raise self.lost

    def flush(self) -> None:
        """Hand over what was written."""
        with self._delivering():
            if self.raw is not None and self.lost is None:
                self.raw.flush()
        if self.needed and self.lost is not None and self.raw is not None:
            raise self.lost

    @contextmanager
    def _delivering(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.lost = UndeliveredError("its reader has left", LEFT)
            self._drop_rest()
        except (OSError, ValueError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            self.lost = UndeliveredError(reason.lower())
            self._drop_rest()

    def _drop_rest(self) -> None:
        """Let what is still to be flushed go nowhere, so that the end of the process does not stumble over it."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.raw.fileno())  # type: ignore[union-attr]
            os.close(nowhere)

    def isatty(self) -> bool:
        """Return whether a person may be looking."""
        try:
            return self.raw is not None and self.raw.isatty()
        except ValueError:
            return False

    def fileno(self) -> int:
        """Return the number of the file behind it."""
        if self.raw is None:
            raise OSError("the stream is closed")
        return self.raw.fileno()

    def writable(self) -> bool:
        """Return that it takes texts."""
        return True

    def readable(self) -> bool:
        """Return that nothing can be read from it."""
        return False

    def seekable(self) -> bool:
        """Return that it only goes on."""
        return False

    @property
    def closed(self) -> bool:
        """Whether nothing can be written to it any more."""
        return self.raw is None or self.raw.closed


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Guard standard output and standard error within.

    Where the one or the other is closed, its number is taken by nothing, so that no file is opened under it. An
    exception that nobody expected leaves the guards where they are, for its own text comes from data too.
    """
    _occupy()
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = _guarded(*before)
    yield
    sys.stderr.flush()
    sys.stdout, sys.stderr = before


def _guarded(out: TextIO | None, err: TextIO | None) -> tuple[Any, Any]:
    return Guarded(out, needed=True), Guarded(err, needed=False)


def _occupy() -> None:
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)


def say(*lines: object) -> None:
    """Write lines to standard output; what is in a line stays in it."""
    sys.stdout.write("\n".join(map(line, lines)) + "\n")


def complain(sentence: object) -> None:
    """Write a sentence to standard error."""
    sys.stderr.write(line(sentence) + "\n")


def show_text(text: str) -> None:
    """Write a text of several lines to standard output, however long they are."""
    sys.stdout.write(f"{text}\n")


def show_json(value: object) -> None:
    """Write a value as JSON to standard output, in ASCII where that is not UTF-8."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(json_text(value, only_ascii=not encoding.lower().startswith("utf")) + "\n")


@contextmanager
def shown_progress(quiet: bool = False) -> Iterator[Progress]:
    """Give a progress callback: bars on a terminal, plain lines on standard error elsewhere."""
    if quiet:
        with announce_to(None):
            yield silent
    elif sys.stderr is not None and sys.stderr.isatty():
        with _bars() as bars, Heartbeat(bars, terminal=True) as progress:
            yield progress
    else:
        with Heartbeat(PlainLines()) as progress:
            yield progress


class PlainLines:
    """Progress as lines: one when a stage begins, and one every few seconds while it lasts.

    A stage is what stands before a colon; what stands behind it may change from step to step.
    """

    def __init__(self) -> None:
        self.stage = ""
        self.said = 0.0

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Write a line if the stage is new or the last line is old."""
        now = time.monotonic()
        name = stage.partition(":")[0]
        if name == self.stage and now - self.said < SOON:
            return
        self.stage, self.said = name, now
        much = f" {done:,}" + (f" of {total:,}" if total is not None else "") if done else ""
        sys.stderr.write(f"{line(stage)}{much}\n")
        sys.stderr.flush()

    def note(self, text: str) -> None:
        """Write a note as a line of its own."""
        sys.stderr.write(f"{line(text)}\n")
        sys.stderr.flush()


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(file=_Styles(sys.stderr))  # type: ignore[arg-type]
    # What is written meanwhile stands above the bars; but what goes to a file must go there.
    above = sys.stdout.isatty()
    with Bars(*columns, console=console, transient=True, redirect_stdout=above) as bars:
        redirected = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _guarded(*redirected)
        try:
            yield _RichBar(bars)
        finally:
            sys.stdout, sys.stderr = redirected


class _RichBar:
    """Progress as one bar of Rich; notes stay above it."""

    def __init__(self, bars: RichProgress) -> None:
        self._bars, self._task = bars, bars.add_task("", total=None)

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        self._bars.update(self._task, description=line(stage), completed=done, total=total)

    def note(self, text: str) -> None:
        self._bars.console.print(line(text), highlight=False, markup=False, emoji=False)


class _Styles:
    """The stream that Rich writes to: it passes the guard by, for every value in it is cleaned before."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.write = getattr(stream, "styled", stream.write)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[str] = ()) -> None:
    """Write a table to standard output; the columns named in ``right`` are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(line(title), style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        name = Text(line(column, LONGEST_CELL))
        table.add_column(name, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(line(value, LONGEST_CELL)) for value in row))
    seen = sys.stdout.isatty()
    page = _Page(getattr(sys.stdout, "encoding", None) or "utf-8")
    style = {"highlight": False, "markup": False, "emoji": False}
    Console(file=page, force_terminal=seen or None, width=None if seen else 110, **style).print(table)  # type: ignore[arg-type]
    write = getattr(sys.stdout, "styled", sys.stdout.write) if seen else sys.stdout.write
    write(page.getvalue())


class _Page(StringIO):
    """A text in the making whose signs are those of an encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding it will be written in."""
        return self._encoding
