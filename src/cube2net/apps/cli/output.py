"""Output of commands: lines, tables, JSON and progress, without control characters."""

from __future__ import annotations

import contextlib
import json
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

from cube2net._util.progress import COMPILING, MONITOR, Progress, get_stage_name, report_compiling_to, silent
from cube2net._util.text import replace_infinite

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


MAX_SILENCE_SECONDS = 1.6
"""The stage is repeated after this time without output; on a busy machine this is about two seconds."""
MIN_INTERVAL_SECONDS = 1.5
"""Minimum time between two lines on the same stage."""
FIRST_OUTPUT_SECONDS = 1.0
"""Processor time before the first output."""
CHECK_INTERVAL_SECONDS = 0.2
MAX_LINE_LENGTH, MAX_CELL_LENGTH = 4_000, 200
"""Longer lines, and cells of tables, are cut."""
UNDELIVERED_STATUS, READER_LEFT_STATUS = 3, 141
"""The exit status if output could not be written, or its reader has left (as for SIGPIPE)."""
RESUMABLE_PATHS: list[Path] = []
"""Files from which an interrupted command continues, if they exist."""


class Heartbeat:
    """Progress that is repeated after a silence, and that shows when code is being compiled.

    On a ``terminal``, where bars move by themselves, it only shows when compiling begins and ends.
    """

    reports_compiling = True

    def __init__(self, progress: Progress, *, terminal: bool = False) -> None:
        self.progress, self.terminal = progress, terminal
        self.stage: tuple[str, int, int | None] = ("working", 0, None)
        self.is_compiling = self.is_explained = False
        self.since = time.monotonic()
        first_wait = max(CHECK_INTERVAL_SECONDS, FIRST_OUTPUT_SECONDS - time.process_time())
        self.last_output = self.since - MAX_SILENCE_SECONDS + first_wait
        self._stop, self._lock = threading.Event(), threading.RLock()

    def __enter__(self) -> Heartbeat:
        self._hide_compiling = report_compiling_to(None)  # it is shown here
        self._hide_compiling.__enter__()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join(CHECK_INTERVAL_SECONDS)
        with self._lock:
            self._hide_compiling.__exit__(None, None, None)

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Pass the progress on, and remember it."""
        with self._lock:
            now = time.monotonic()
            is_new = get_stage_name(stage) != get_stage_name(self.stage[0])
            self.stage = stage, done, total
            if is_new:
                self.since = now
            if is_new or now - self.last_output >= MIN_INTERVAL_SECONDS:
                self.last_output = now
            self.progress(stage, done, total)

    def note(self, text: str) -> None:
        """Pass a note on."""
        with self._lock:
            self.last_output = time.monotonic()
            self.progress.note(text)

    def check(self) -> None:
        """Repeat the stage after a silence."""
        with self._lock:
            now, kernel = time.monotonic(), MONITOR.current
            is_changed, self.is_compiling = self.is_compiling != (kernel is not None), kernel is not None
            stage, done, total = self.stage
            if kernel is not None:
                stage = f"{COMPILING if self.is_explained else MONITOR.sentence}: {kernel}"
                done, total = MONITOR.count, None
            if self.terminal:
                if is_changed:
                    self.progress(stage, done, total)
            elif now - self.last_output >= MAX_SILENCE_SECONDS:
                self.last_output, self.is_explained = now, self.is_explained or kernel is not None
                seconds = f"{now - self.since:.0f}"
                separator = ", " if ":" in stage else ": "
                self.progress(stage if seconds == "0" else f"{stage}{separator}{seconds} s", done, total)

    def _run(self) -> None:
        while not self._stop.wait(CHECK_INTERVAL_SECONDS):
            if not self._stop.is_set():
                self.check()


class _EscapeTable(dict[int, str | int]):
    """A table for ``str.translate`` that escapes characters that cannot be printed, except those in ``kept``."""

    def __init__(self, unescaped: str, as_json: bool = False) -> None:
        super().__init__({ord(character): ord(character) for character in unescaped})
        self.as_json = as_json

    def __missing__(self, code: int) -> str | int:
        character = chr(code)
        is_printable = character.isprintable() or unicodedata.category(character) == "Zs"
        self[code] = code if is_printable else (json.dumps(character)[1:-1] if self.as_json else repr(character)[1:-1])
        if self.as_json and code == 0x7F:
            self[code] = "\\u007f"
        return self[code]


_ESCAPE_LINE, _ESCAPE_STREAM, _ESCAPE_JSON = _EscapeTable(""), _EscapeTable("\n\t"), _EscapeTable("\n", as_json=True)


def line(text: object, max_length: int = MAX_LINE_LENGTH) -> str:
    r"""Return a text as one line, with control characters escaped.

    >>> print(line("Ghent\x1b[2J\nTurin"), line("abcdef", 3))
    Ghent\x1b[2J\nTurin abc…
    """
    full_text = str(text)
    return (full_text if len(full_text) <= max_length else full_text[:max_length] + "…").translate(_ESCAPE_LINE)


def json_text(value: object, *, only_ascii: bool = False) -> str:
    r"""Return JSON in which control characters are escaped.

    >>> print(json_text({"name": "Zoë\u202e"}))
    {
     "name": "Zoë\u202e"
    }
    """
    return json.dumps(replace_infinite(value), indent=1, ensure_ascii=only_ascii, allow_nan=False).translate(
        _ESCAPE_JSON
    )


class UndeliveredError(Exception):
    """The output could not be written to standard output."""

    def __init__(self, reason: str, status: int = UNDELIVERED_STATUS) -> None:
        super().__init__(f"cannot write to standard output: {reason}")
        self.status = status


class Guarded:
    """A text stream that escapes control characters, except line ends and tabs.

    ``raw`` is the stream behind it, None if it is closed. If ``needed``, a text that cannot be written raises
    :class:`UndeliveredError`; otherwise it is dropped, and so is all that follows. There is no ``buffer``.
    """

    def __init__(self, raw: TextIO | None, *, needed: bool) -> None:
        self.raw = raw
        self.needed = needed
        self.lost = UndeliveredError("it is closed") if raw is None else None
        self.encoding = getattr(raw, "encoding", None) or "utf-8"
        self.errors = getattr(raw, "errors", None) or "backslashreplace"

    def write(self, text: str) -> int:
        """Write a text with control characters escaped; return its length."""
        self.write_styled(text.translate(_ESCAPE_STREAM))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for text in lines:
            self.write(text)

    def write_styled(self, text: str) -> None:
        """Write a text as it is, whose values were escaped before styles were added."""
        with self._delivering():
            if self.raw is not None and self.lost is None:
                self.raw.write(text)
        if self.needed and self.lost is not None:
            raise self.lost

    def flush(self) -> None:
        """Flush the stream."""
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
            self.lost = UndeliveredError("its reader has left", READER_LEFT_STATUS)
            self._drop_rest()
        except (OSError, ValueError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            self.lost = UndeliveredError(reason.lower())
            self._drop_rest()

    def _drop_rest(self) -> None:
        """Discard what is not flushed yet, so that the interpreter does not fail at its end."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.raw.fileno())  # type: ignore[union-attr]
            os.close(nowhere)

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        try:
            return self.raw is not None and self.raw.isatty()
        except ValueError:
            return False

    def fileno(self) -> int:
        """Return the file descriptor of the stream."""
        if self.raw is None:
            raise OSError("the stream is closed")
        return self.raw.fileno()

    def writable(self) -> bool:
        """Return True."""
        return True

    def readable(self) -> bool:
        """Return False."""
        return False

    def seekable(self) -> bool:
        """Return False."""
        return False

    @property
    def closed(self) -> bool:
        """Whether the stream is closed."""
        return self.raw is None or self.raw.closed


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Guard standard output and standard error within a context.

    If one of them is closed, its descriptor is opened on the null device, so that no file gets it. After an unexpected
    exception the guards stay, since its message may contain data.
    """
    _open_closed_descriptors()
    old_streams = sys.stdout, sys.stderr
    for stream in old_streams:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = _guard_streams(*old_streams)
    yield
    sys.stderr.flush()
    sys.stdout, sys.stderr = old_streams


def _guard_streams(out: TextIO | None, err: TextIO | None) -> tuple[Any, Any]:
    return Guarded(out, needed=True), Guarded(err, needed=False)


def _open_closed_descriptors() -> None:
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
    """Write lines to standard output; line ends within a line are escaped."""
    sys.stdout.write("\n".join(map(line, lines)) + "\n")


def complain(sentence: object) -> None:
    """Write a sentence to standard error."""
    sys.stderr.write(line(sentence) + "\n")


def show_text(text: str) -> None:
    """Write a text of several lines to standard output, uncut."""
    sys.stdout.write(f"{text}\n")


def show_json(value: object) -> None:
    """Write a value as JSON to standard output, in ASCII unless that is UTF-8."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(json_text(value, only_ascii=not encoding.lower().startswith("utf")) + "\n")


@contextmanager
def shown_progress(quiet: bool = False) -> Iterator[Progress]:
    """Give a progress callback: bars on a terminal, plain lines on standard error elsewhere."""
    if quiet:
        with report_compiling_to(None):
            yield silent
    elif sys.stderr is not None and sys.stderr.isatty():
        with _bars() as bars, Heartbeat(bars, terminal=True) as progress:
            yield progress
    else:
        with Heartbeat(PlainLines()) as progress:
            yield progress


class PlainLines:
    """Progress as lines: one when a stage begins, and one every few seconds while it lasts.

    Stages are compared by name; their details may change from step to step.
    """

    def __init__(self) -> None:
        self.stage = ""
        self.last_output = 0.0

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Write a line if the stage is new or the last line is old."""
        now = time.monotonic()
        name = get_stage_name(stage)
        if name == self.stage and now - self.last_output < MIN_INTERVAL_SECONDS:
            return
        self.stage, self.last_output = name, now
        amount = f" {done:,}" + (f" of {total:,}" if total is not None else "") if done else ""
        sys.stderr.write(f"{line(stage)}{amount}\n")
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
    # Output to a terminal is written above the bars; output to a file must go there.
    is_terminal = sys.stdout.isatty()
    with Bars(*columns, console=console, transient=True, redirect_stdout=is_terminal) as bars:
        redirected = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _guard_streams(*redirected)
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
    """The stream that Rich writes to; it bypasses the guard, since all values are escaped before."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.write = getattr(stream, "write_styled", stream.write)

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
        name = Text(line(column, MAX_CELL_LENGTH))
        table.add_column(name, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(line(value, MAX_CELL_LENGTH)) for value in row))
    is_terminal = sys.stdout.isatty()
    page = _Page(getattr(sys.stdout, "encoding", None) or "utf-8")
    style = {"highlight": False, "markup": False, "emoji": False}
    Console(file=page, force_terminal=is_terminal or None, width=None if is_terminal else 110, **style).print(table)  # type: ignore[arg-type]
    write = getattr(sys.stdout, "write_styled", sys.stdout.write) if is_terminal else sys.stdout.write
    write(page.getvalue())


class _Page(StringIO):
    """A text buffer with an encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding that the text will be written in."""
        return self._encoding
