"""Time spent compiling kernels, notices about it, and the number of threads.

Compiled code is made when it is first called for, which takes some ten seconds once on a machine, and read from disk
by every later process. ``cube2net.kernels`` says here when either begins and ends.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from cube2net._util.display import shows
from cube2net._util.progress import ProgressFunction
from cube2net.errors import ParameterError, quoted

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 1.0
"""After so many seconds of compiling a word is said."""

WORD = "preparing compiled code"
KEPT = f"{WORD}, which takes some ten seconds, once on this machine"
LOST = (
    f"{WORD}, which takes some ten seconds in every run: there is no folder to keep it in "
    "(NUMBA_CACHE_DIR may name one)"
)


class Account:
    """The seconds that some threads, one or several that work for the same purpose, spent on compiling.

    ``wall`` are those in which at least one of them did.
    """

    def __init__(self) -> None:
        self.wall = 0.0
        self._since, self._busy = 0.0, 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Note that a thread begins to compile."""
        with self._lock:
            if self._busy == 0:
                self._since = time.perf_counter()
            self._busy += 1

    def end(self) -> None:
        """Note that a thread has compiled."""
        with self._lock:
            self._busy -= 1
            if self._busy == 0:
                self.wall += time.perf_counter() - self._since

    @property
    def passed(self) -> float:
        """The seconds until now, also those of what is not finished yet."""
        with self._lock:
            return self.wall + (time.perf_counter() - self._since if self._busy else 0.0)


class _Mine(threading.local):
    """What belongs to one thread: its account, how deep it is in compiling, and what that took of the processor."""

    def __init__(self) -> None:
        self.account = Account()
        self.depth = 0
        self.start = self.spent = 0.0


_mine = _Mine()


def begin() -> None:
    """Note that this thread begins to compile, or to read compiled code."""
    if _mine.depth == 0:
        _mine.start = time.thread_time()
        _mine.account.begin()
    _mine.depth += 1


def end() -> None:
    """Note that this thread is done with it."""
    _mine.depth -= 1
    if _mine.depth == 0:
        _mine.spent += time.thread_time() - _mine.start
        _mine.account.end()


def load(*modules: str) -> None:
    """Import modules that take long to; it counts as compiling, and is done before a clock looks."""
    begin()
    try:
        for module in modules:
            import_module(module)
    finally:
        end()


def lent(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function for another thread to call: what it compiles there is on this thread's account."""
    account = _mine.account

    def call(*args: P.args, **options: P.kwargs) -> T:
        own, _mine.account = _mine.account, account
        try:
            return function(*args, **options)
        finally:
            _mine.account = own

    return call


class Stopwatch:
    """The seconds since it was made, without those that its thread, and those that work for it, spent on compiling."""

    def __init__(self) -> None:
        self._account = _mine.account
        self._start = self._now()

    @property
    def seconds(self) -> float:
        """The seconds until now."""
        return max(0.0, self._now() - self._start)

    def _now(self) -> float:
        return time.perf_counter() - self._account.passed


class Spent(Stopwatch):
    """The processor's seconds that this thread took since it was made, without those spent on compiling."""

    def _now(self) -> float:
        return time.thread_time() - _mine.spent


@contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Note how long a part takes, compiling aside."""
    watch = Stopwatch()
    yield
    seconds[part] = watch.seconds


class Waiting:
    """Says that code is compiled, to whoever listens, once it has taken a while; without one on a terminal or notebook.

    Several compilations, one after the other or side by side, are one wait; standard error is told once.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self.kept = True
        self.listeners: list[ProgressFunction | None] = []
        self._account, self._lock = Account(), threading.Lock()
        self._names: list[str] = []
        self._timer: threading.Timer | None = None
        self._made, self._said = 0, False

    def begin(self, name: str) -> None:
        """Note that something of this name is compiled from now on."""
        with self._lock:
            self._names.append(name)
            self._account.begin()
            if len(self._names) == 1:
                self._timer = threading.Timer(max(0.0, self.patience - self._account.wall), self.say)
                self._timer.daemon = True
                self._timer.start()

    def end(self, name: str) -> None:
        """Note that it is done."""
        with self._lock:
            self._names.remove(name)
            self._account.end()
            self._made += 1
            if not self._names and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    @property
    def sentence(self) -> str:
        """What is said to those who wait."""
        return KEPT if self.kept else LOST

    @property
    def doing(self) -> str | None:
        """The name of what is compiled now, once compiling has taken a while."""
        with self._lock:
            return self._names[0] if self._names and self._account.passed >= self.patience else None

    @property
    def made(self) -> int:
        """How many functions have been compiled."""
        return self._made

    def say(self) -> None:
        """Tell the listener, or a terminal once, what is compiled."""
        with self._lock:
            is_hidden = None in self.listeners
            listener = None if is_hidden else self.listeners[-1] if self.listeners else _on_standard_error
            name, made, first = self._names[0] if self._names else "", self._made, not self._said
            if listener is None or not name or (listener is _on_standard_error and not first):
                return
            self._said = True
        listener(f"{self.sentence}: {name}", made, None)


def _on_standard_error(stage: str, done: int, total: int | None = None) -> None:
    if sys.stderr is not None and (sys.stderr.isatty() or _in_kernel()):  # a service is told nothing it did not ask
        sys.stderr.write(f"cube2net: {stage.rpartition(':')[0]}\n")
        sys.stderr.flush()


def _in_kernel() -> bool:
    """Return whether standard error is that of a notebook, below whose cell a person waits."""
    return type(sys.stderr).__module__.partition(".")[0] == "ipykernel"


WAITING = Waiting()


@contextmanager
def announce_to(listener: ProgressFunction | None) -> Iterator[None]:
    """Report compiling to a listener within a context: to the innermost one, and to none if one of them is None."""
    WAITING.listeners.append(listener)
    try:
        yield
    finally:
        WAITING.listeners.remove(listener)


def tells_compiling(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function; the callback given as its ``progress``, if any, is told of compiling too.

    Where ``progress`` is True, it is a bar where the person is who waits; see :mod:`cube2net._util.display`.
    """

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        progress = options.get("progress")
        who = shows() if progress is True else None
        if who is not None:
            with who.progress_bars() as bars, announce_to(bars):
                options["progress"] = bars
                return function(*args, **options)
        if progress is None or isinstance(progress, bool):
            return function(*args, **options)
        if not callable(progress):
            raise ParameterError(f"progress is {quoted(progress)}, expected a function, True for a bar, or None")
        with announce_to(progress):
            return function(*args, **options)

    return call


_lock = threading.Lock()
_users = 0
_limits: Any = None


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the threads of BLAS and OpenMP to one for a while; several callers may do so at once.

    The limit is the process's: it is set by the first to come in and lifted by the last to go.
    """
    global _users, _limits
    load("scipy.linalg")  # a library is limited only when it is loaded
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with _lock:
        if _users == 0:
            _limits = threadpool_limits(limits=1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limits.restore_original_limits()
