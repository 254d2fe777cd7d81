"""Progress of long work: stages, counts and notes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol, cast


class Progress(Protocol):
    """Hears how far long work is, and what is worth knowing about it.

    That code is being compiled is told from a thread of its own.
    """

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Hear that a stage has done so much; ``total`` is None while it is unknown."""

    def note(self, text: str) -> None:
        """Hear a remark that is worth keeping, such as how many lines were left out."""


class _Silent:
    def __call__(self, stage: str, done: int, total: int | None = None) -> None: ...

    def note(self, text: str) -> None: ...

    def __repr__(self) -> str:
        return "silent"


silent: Progress = _Silent()
"""The progress of those who do not ask for any."""

ProgressFunction = Callable[[str, int, int | None], object]

Telling = Progress | ProgressFunction | bool | None
"""What a caller may give as ``progress``: a function, True for a bar where the person is who waits, None for nobody."""


class _FunctionProgress:
    """Progress that a plain function hears: a note is a stage of which nothing is known."""

    def __init__(self, function: ProgressFunction) -> None:
        self._function = function

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        self._function(stage, done, total)

    def note(self, text: str) -> None:
        self._function(text, 0, None)


def listener(progress: Telling) -> Progress:
    """Return the progress that work talks to.

    None, and True where nobody shows bars, is silence. A plain function is called with ``(stage, done, total)``, and
    with ``(text, 0, None)`` for a note; an object with a method ``note`` hears notes by that.

    >>> listener(None) is silent, listener(silent) is silent
    (True, True)
    >>> heard = listener(lambda stage, done, total: print(stage, done, total))
    >>> heard("reading", 1, 1)
    reading 1 1
    >>> heard.note("2 lines were left out")
    2 lines were left out 0 None
    """
    if progress is None or isinstance(progress, bool):
        return silent
    return cast(Progress, progress) if hasattr(progress, "note") else _FunctionProgress(progress)


OFTEN = 0.1
"""Who listens from afar is told once in so many seconds, and whenever a stage begins."""


class ThrottledProgress:
    """Progress passed on at notes, when a stage begins, and else not more often than is useful.

    >>> clock, heard = iter([0.0, 0.05, 0.2, 0.21, 0.22]), []
    >>> progress = ThrottledProgress(listener(lambda stage, done, _: heard.append((stage, done))), clock=clock.__next__)
    >>> for stage, done in [("reading", 1), ("reading", 2), ("reading", 3), ("topics", 1), ("topics", 2)]:
    ...     progress(stage, done)
    >>> heard
    [('reading', 1), ('reading', 3), ('topics', 1)]
    """

    def __init__(self, progress: Progress, seconds: float = OFTEN, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress, self._seconds, self._clock = progress, seconds, clock
        self._stage: str | None = None
        self._said = 0.0
        self._lock = threading.Lock()

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Pass it on, unless this stage was just heard of."""
        with self._lock:
            now = self._clock()
            if stage == self._stage and now - self._said < self._seconds:
                return
            self._stage, self._said = stage, now
            self._progress(stage, done, total)

    def note(self, text: str) -> None:
        """Pass a note on."""
        with self._lock:
            self._progress.note(text)
