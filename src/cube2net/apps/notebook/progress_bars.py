"""Progress display for ``progress=True``: a bar in a notebook or on a terminal, lines elsewhere.

In a notebook the bar is HTML that is replaced in its place, and at the end says how long it took. On a terminal it is
one line, which is cleared at the end. Elsewhere (a log, a pipe) a line is written when a stage begins.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO

from cube2net._util.progress import get_stage_name
from cube2net._util.text import shorten
from cube2net.apps.notebook.html import escape, page, sentence

MIN_REDRAW_SECONDS, TICK_SECONDS = 0.1, 1.0
"""Minimum time between two drawings of a bar, and time after which it is drawn again without an update."""

MAX_REMARKS = 20
"""Number of latest remarks that are kept."""

BAR_WIDTH = 24
MAX_STAGE_LENGTH = 100


@dataclass
class ProgressState:
    """The state of some work: the stage, its progress, the latest remarks, and how it ended."""

    stage: str = "working"
    done: int = 0
    total: int | None = None
    remarks: list[str] = field(default_factory=list)
    seconds: float = 0.0
    end: str = ""

    @property
    def much(self) -> str:
        """The progress within the stage, in words.

        >>> ProgressState("topics", 300, 1000, seconds=2.4).much, ProgressState("reading", 5).much
        ('300 of 1,000, 2 s', '5')
        """
        count = f"{self.done:,} of {self.total:,}" if self.total else f"{self.done:,}" if self.done else ""
        duration = f"{self.seconds:.0f} s" if self.seconds >= 1 else ""
        return ", ".join(part for part in (count, duration) if part)

    @property
    def text(self) -> str:
        """The state as one line."""
        if self.end:
            return f"{self.end} after {self.seconds:.1f} s"
        return f"{shorten(self.stage, MAX_STAGE_LENGTH)} {self.much}".rstrip()

    @property
    def html(self) -> str:
        """The state as HTML: remarks, and a bar until the work ends."""
        remarks = "".join(sentence(remark, faint=True) for remark in self.remarks)
        if self.end:
            return page(remarks, sentence(self.text, faint=True))
        attributes = f' value="{self.done}" max="{self.total}"' if self.total else ""
        words = f"{escape(self.stage, MAX_STAGE_LENGTH)} {escape(self.much)}"
        return page(remarks, f'<p style="margin:4px 0"><progress{attributes}></progress> {words}</p>')


class Screen(Protocol):
    """Where bars are drawn."""

    def draw(self, doing: ProgressState) -> None:
        """Draw what is being done, in place of what was drawn before."""


class Bars:
    """Progress that is drawn on a screen at intervals."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self.screen, self.clock = screen, clock
        self.doing = ProgressState()
        self.begun = self.drawn = clock()
        self._lock = threading.RLock()

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Update the state, and draw it if the stage is new or the last drawing is old."""
        with self._lock:
            if self.doing.end:
                return
            new = get_stage_name(stage) != get_stage_name(self.doing.stage)
            self.doing.stage, self.doing.done, self.doing.total = stage, done, total
            if new or self.clock() - self.drawn >= MIN_REDRAW_SECONDS:
                self._draw()

    def note(self, text: str) -> None:
        """Keep a note, and draw it."""
        with self._lock:
            if not self.doing.end:
                self.doing.remarks = [*self.doing.remarks, text][-MAX_REMARKS:]
                self._draw()

    def tick(self) -> None:
        """Draw again if the last drawing is old."""
        with self._lock:
            if not self.doing.end and self.clock() - self.drawn >= TICK_SECONDS:
                self._draw()

    def finish(self, end: str) -> None:
        """Draw how the work ended: done, or stopped."""
        with self._lock:
            self.doing.end = end
            self._draw()

    def _draw(self) -> None:
        self.drawn = self.clock()
        self.doing.seconds = self.drawn - self.begun
        self.screen.draw(self.doing)


class NotebookScreen:
    """A piece of HTML in the output of a cell, replaced in its place."""

    def __init__(self) -> None:
        self.handle: Any = None

    def draw(self, doing: ProgressState) -> None:
        """Show it, or put it in the place of what is shown."""
        from IPython.display import display

        data = {"text/html": doing.html, "text/plain": "\n".join([*map(short_line, doing.remarks), doing.text])}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self.handle.update(data, raw=True)


class TerminalScreen:
    """One line of a terminal that is written over; remarks stay above it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.remarked: list[str] = []

    def draw(self, doing: ProgressState) -> None:
        """Write over the line; at the end it is cleared."""
        new = [remark for remark in doing.remarks if remark not in self.remarked]
        self.remarked = list(doing.remarks)
        part = "" if not doing.total else _bar(doing.done / doing.total)
        line = "" if doing.end else f"{part}{doing.text}"
        above = "".join(f"{short_line(remark)}\n" for remark in new)
        self.stream.write(f"\r\x1b[K{above}{line}")
        self.stream.flush()


class LinesScreen:
    """Lines one below the other: one for a remark, one when a stage begins."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.stage = ""
        self.remarked: list[str] = []

    def draw(self, doing: ProgressState) -> None:
        """Write what is new."""
        lines = [short_line(remark) for remark in doing.remarks if remark not in self.remarked]
        self.remarked = list(doing.remarks)
        stage = doing.end or get_stage_name(doing.stage)
        if stage != self.stage and stage != ProgressState.stage:
            self.stage = stage
            lines.append(doing.text)
        self.stream.write("".join(f"{line}\n" for line in lines))
        self.stream.flush()


@contextmanager
def progress_bars(screen: Screen | None = None) -> Iterator[Bars]:
    """Provide a progress that is displayed until the work is done or fails."""
    bars, is_over = Bars(screen or screen_here()), threading.Event()

    def tick_regularly() -> None:
        while not is_over.wait(TICK_SECONDS):
            bars.tick()

    thread = threading.Thread(target=tick_regularly, name="bars", daemon=True)
    thread.start()
    try:
        yield bars
    except BaseException:
        bars.finish("stopped")
        raise
    else:
        bars.finish("done")
    finally:
        is_over.set()


def screen_here() -> Screen:
    """Return where bars are drawn: in a kernel the notebook, else standard error."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return NotebookScreen()
    stream = sys.stderr
    return TerminalScreen(stream) if stream.isatty() else LinesScreen(stream)


def short_line(text: str) -> str:
    """Return a remark as one line of printable characters."""
    return shorten(text, 4 * MAX_STAGE_LENGTH)


def _bar(share: float) -> str:
    """Return a bar of which a share is filled.

    >>> _bar(0.25)
    '██████░░░░░░░░░░░░░░░░░░ '
    """
    n_filled = round(BAR_WIDTH * min(max(share, 0.0), 1.0))
    return "█" * n_filled + "░" * (BAR_WIDTH - n_filled) + " "
