"""How long work says how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Told by long work how far it is; ``total`` is None while nobody knows.

    A stage that is done with its first and only step (``done`` and ``total`` are 1) is a remark worth keeping. That
    code is being compiled is told from a thread of its own.
    """

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Take note."""


def silent(stage: str, done: int, total: int | None = None) -> None:
    """Take no note: the progress of those who do not ask for any."""


Telling = Progress | bool | None
"""What a caller may give as ``progress``: a function, True for a bar where the person is who waits, None for nobody."""


def listener(progress: Telling) -> Progress:
    """Return who is told: the function given, or nobody. True has become a function where it is looked at.

    >>> listener(None) is silent, listener(silent) is silent
    (True, True)
    """
    return silent if progress is None or isinstance(progress, bool) else progress


OFTEN = 0.1
"""Who listens from afar is told once in so many seconds, and whenever a stage begins."""


class Seldom:
    """The same progress, told now and then: when a stage begins, at remarks, and else not more often than is useful.

    >>> clock, heard = iter([0.0, 0.05, 0.2, 0.21, 0.22]), []
    >>> told = Seldom(lambda stage, done, total=None: heard.append((stage, done)), clock=lambda: next(clock))
    >>> for stage, done in [("reading", 1), ("reading", 2), ("reading", 3), ("topics", 1), ("topics", 2)]:
    ...     told(stage, done)
    >>> heard
    [('reading', 1), ('reading', 3), ('topics', 1)]
    """

    def __init__(self, tell: Progress, seconds: float = OFTEN, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._seconds, self._clock = tell, seconds, clock
        self._stage: str | None = None
        self._said = 0.0
        self._lock = threading.Lock()

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Tell it, unless something was just told of this stage."""
        with self._lock:
            now = self._clock()
            if stage == self._stage and now - self._said < self._seconds and not done == total == 1:
                return
            self._stage, self._said = stage, now
            self._tell(stage, done, total)
