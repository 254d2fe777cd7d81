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

EVERY, TICK = 0.1, 1.0
"""Seconds between two drawings of a bar, and until it is drawn again without news."""

REMARKS = 20
"""So many remarks are kept, the last ones."""

WIDE = 24
LONGEST = 100


@dataclass
class Doing:
    """What is being done: the stage, how far it is, what was remarked, and how it ended."""

    stage: str = "working"
    done: int = 0
    total: int | None = None
    remarks: list[str] = field(default_factory=list)
    seconds: float = 0.0
    end: str = ""

    @property
    def much(self) -> str:
        """How far it is, in words.

        >>> Doing("topics", 300, 1000, seconds=2.4).much, Doing("reading", 5).much
        ('300 of 1,000, 2 s', '5')
        """
        count = f"{self.done:,} of {self.total:,}" if self.total else f"{self.done:,}" if self.done else ""
        after = f"{self.seconds:.0f} s" if self.seconds >= 1 else ""
        return ", ".join(part for part in (count, after) if part)

    @property
    def text(self) -> str:
        """All of it as one line."""
        if self.end:
            return f"{self.end} after {self.seconds:.1f} s"
        return f"{shorten(self.stage, LONGEST)} {self.much}".rstrip()

    @property
    def html(self) -> str:
        """All of it for a notebook: remarks, and a bar until it ends."""
        remarks = "".join(sentence(remark, faint=True) for remark in self.remarks)
        if self.end:
            return page(remarks, sentence(self.text, faint=True))
        ends = f' value="{self.done}" max="{self.total}"' if self.total else ""
        words = f"{escape(self.stage, LONGEST)} {escape(self.much)}"
        return page(remarks, f'<p style="margin:4px 0"><progress{ends}></progress> {words}</p>')


class Screen(Protocol):
    """Where bars are drawn."""

    def draw(self, doing: Doing) -> None:
        """Draw what is being done, in place of what was drawn before."""


class Bars:
    """Progress that is drawn on a screen now and then; it also ticks by itself."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self.screen, self.clock = screen, clock
        self.doing = Doing()
        self.begun = self.drawn = clock()
        self._lock = threading.RLock()

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Take note, and draw where it is time to."""
        with self._lock:
            if self.doing.end:
                return
            new = get_stage_name(stage) != get_stage_name(self.doing.stage)
            self.doing.stage, self.doing.done, self.doing.total = stage, done, total
            if new or self.clock() - self.drawn >= EVERY:
                self._draw()

    def note(self, text: str) -> None:
        """Keep a note, and draw it."""
        with self._lock:
            if not self.doing.end:
                self.doing.remarks = [*self.doing.remarks, text][-REMARKS:]
                self._draw()

    def tick(self) -> None:
        """Draw again where nothing was drawn for a while."""
        with self._lock:
            if not self.doing.end and self.clock() - self.drawn >= TICK:
                self._draw()

    def finish(self, end: str) -> None:
        """Say how it ended: done, or stopped."""
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

    def draw(self, doing: Doing) -> None:
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

    def draw(self, doing: Doing) -> None:
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

    def draw(self, doing: Doing) -> None:
        """Write what is new."""
        lines = [short_line(remark) for remark in doing.remarks if remark not in self.remarked]
        self.remarked = list(doing.remarks)
        stage = doing.end or get_stage_name(doing.stage)
        if stage != self.stage and stage != Doing.stage:
            self.stage = stage
            lines.append(doing.text)
        self.stream.write("".join(f"{line}\n" for line in lines))
        self.stream.flush()


@contextmanager
def progress_bars(screen: Screen | None = None) -> Iterator[Bars]:
    """Provide a progress that is displayed until the work is done or fails."""
    bars, over = Bars(screen or screen_here()), threading.Event()

    def beat() -> None:
        while not over.wait(TICK):
            bars.tick()

    thread = threading.Thread(target=beat, name="bars", daemon=True)
    thread.start()
    try:
        yield bars
    except BaseException:
        bars.finish("stopped")
        raise
    else:
        bars.finish("done")
    finally:
        over.set()


def screen_here() -> Screen:
    """Return where bars are drawn: in a kernel the notebook, else standard error."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return NotebookScreen()
    stream = sys.stderr
    return TerminalScreen(stream) if stream.isatty() else LinesScreen(stream)


def short_line(text: str) -> str:
    """Return a remark as one line of signs that can be shown."""
    return shorten(text, 4 * LONGEST)


def _bar(share: float) -> str:
    """Return a bar that is filled so far.

    >>> _bar(0.25)
    '██████░░░░░░░░░░░░░░░░░░ '
    """
    full = round(WIDE * min(max(share, 0.0), 1.0))
    return "█" * full + "░" * (WIDE - full) + " "
