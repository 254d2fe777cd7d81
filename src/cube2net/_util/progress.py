"""Long work: how far it is, and how it is stopped."""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar, cast


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


P = ParamSpec("P")
T = TypeVar("T")

_unfinished: list[Path] = []
_everybody = threading.Event()


@contextmanager
def unfinished(*paths: Path) -> Iterator[None]:
    """Know files and folders as not finished for a while: a process that has to leave at once removes them."""
    _unfinished.extend(paths)
    try:
        yield
    finally:
        for path in paths:
            _unfinished.remove(path)


def remove_unfinished() -> None:
    """Remove all that is not finished, the latest first.

    A folder gets another name of its kind first: who is about to put it in its place then finds nothing, and what took
    its name since is not touched.
    """
    for path in reversed(list(_unfinished)):
        with suppress(OSError):
            if path.is_dir():
                gone = path.with_name(path.name[:-8] + secrets.token_hex(4))
                shutil.rmtree(path.rename(gone), ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


class Stop:
    """Asks work in other threads to stop at its next step; as a context, when it is left."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def __enter__(self) -> Stop:
        return self

    def __exit__(self, *end: object) -> None:
        self.ask()

    def ask(self) -> None:
        """Ask all that was told to heed this to stop."""
        self._asked.set()

    def heeded(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return the same function for another thread to call; its steps look here."""

        def call(*args: P.args, **options: P.kwargs) -> T:
            before, _here.event = _here.event, self._asked
            try:
                return function(*args, **options)
            finally:
                _here.event = before

        return call


class StoppedWorkError(Exception):
    """The work of a thread was asked to stop, and did."""


def stopped_as_error(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function with an interrupt as an error: the loop of a server would take it for its own."""

    def call(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except KeyboardInterrupt:
            raise StoppedWorkError("the work was stopped") from None

    return call


class _Here(threading.local):
    event: threading.Event | None = None


_here = _Here()


def step() -> None:
    """Raise KeyboardInterrupt where the work of this thread was asked to stop, or all; to be called now and then."""
    if _everybody.is_set() or (_here.event is not None and _here.event.is_set()):
        raise KeyboardInterrupt


def ask_everybody() -> None:
    """Ask all work in this process to stop, for good."""
    _everybody.set()
