"""Stop work in progress: remove unfinished files, and ask threads to end."""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

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
