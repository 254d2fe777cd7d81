"""Long work: its progress, how it is stopped, and the time it spends compiling.

Kernels are compiled when they are first called, which takes about ten seconds once on a machine; later processes read
the compiled code from disk. ``cube2net.kernels`` reports here when either begins and ends.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from cube2net._util.display import get_display
from cube2net.errors import ParameterError, quote


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

ProgressOption = Progress | ProgressFunction | bool | None
"""What a caller may give as ``progress``: a function, True for a bar where the person is who waits, None for nobody."""


class _FunctionProgress:
    """Progress that a plain function hears: a note is a stage of which nothing is known."""

    def __init__(self, function: ProgressFunction) -> None:
        self._function = function

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        self._function(stage, done, total)

    def note(self, text: str) -> None:
        self._function(text, 0, None)


def listener(progress: ProgressOption) -> Progress:
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


REPORT_INTERVAL_SECONDS = 0.1
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

    def __init__(
        self, progress: Progress, seconds: float = REPORT_INTERVAL_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
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
def track_unfinished(*paths: Path) -> Iterator[None]:
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

    def wrap(self, function: Callable[P, T]) -> Callable[P, T]:
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


def convert_interrupt(function: Callable[P, T]) -> Callable[P, T]:
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


def stop_all_work() -> None:
    """Ask all work in this process to stop, for good."""
    _everybody.set()


COMPILE_NOTICE_SECONDS = 1.0
"""After so many seconds of compiling a word is said."""

COMPILING = "preparing compiled code"
CACHED_NOTICE = f"{COMPILING}, which takes some ten seconds, once on this machine"
UNCACHED_NOTICE = (
    f"{COMPILING}, which takes some ten seconds in every run: there is no folder to keep it in "
    "(NUMBA_CACHE_DIR may name one)"
)


class CompileClock:
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
    def seconds(self) -> float:
        """The seconds until now, also those of what is not finished yet."""
        with self._lock:
            return self.wall + (time.perf_counter() - self._since if self._busy else 0.0)


class _Mine(threading.local):
    """What belongs to one thread: its account, how deep it is in compiling, and what that took of the processor."""

    def __init__(self) -> None:
        self.account = CompileClock()
        self.depth = 0
        self.start = self.spent = 0.0


_mine = _Mine()


def begin_compiling() -> None:
    """Note that this thread begins to compile, or to read compiled code."""
    if _mine.depth == 0:
        _mine.start = time.thread_time()
        _mine.account.begin()
    _mine.depth += 1


def end_compiling() -> None:
    """Note that this thread is done with it."""
    _mine.depth -= 1
    if _mine.depth == 0:
        _mine.spent += time.thread_time() - _mine.start
        _mine.account.end()


def import_modules(*modules: str) -> None:
    """Import modules that take long to; it counts as compiling, and is done before a clock looks."""
    begin_compiling()
    try:
        for module in modules:
            import_module(module)
    finally:
        end_compiling()


def share_compile_time(function: Callable[P, T]) -> Callable[P, T]:
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
        return time.perf_counter() - self._account.seconds


class CpuStopwatch(Stopwatch):
    """The processor's seconds that this thread took since it was made, without those spent on compiling."""

    def _now(self) -> float:
        return time.thread_time() - _mine.spent


@contextmanager
def record_seconds(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Note how long a part takes, compiling aside."""
    watch = Stopwatch()
    yield
    seconds[part] = watch.seconds


class CompileMonitor:
    """Says that code is compiled, to whoever listens, once it has taken a while; without one on a terminal or notebook.

    Several compilations, one after the other or side by side, are one wait; standard error is told once.
    """

    def __init__(self, patience: float = COMPILE_NOTICE_SECONDS) -> None:
        self.patience = patience
        self.kept = True
        self.listeners: list[ProgressFunction | None] = []
        self._account, self._lock = CompileClock(), threading.Lock()
        self._names: list[str] = []
        self._timer: threading.Timer | None = None
        self._made, self._is_said = 0, False

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
        return CACHED_NOTICE if self.kept else UNCACHED_NOTICE

    @property
    def doing(self) -> str | None:
        """The name of what is compiled now, once compiling has taken a while."""
        with self._lock:
            return self._names[0] if self._names and self._account.seconds >= self.patience else None

    @property
    def made(self) -> int:
        """How many functions have been compiled."""
        return self._made

    def say(self) -> None:
        """Tell the listener, or a terminal once, what is being compiled."""
        with self._lock:
            name, made = self._names[0] if self._names else "", self._made
            listener = self.listeners[-1] if self.listeners else None
            to_terminal = bool(name) and not self.listeners and not self._is_said
            self._is_said |= to_terminal
        if to_terminal:
            _write_notice(self.sentence)
        elif name and listener is not None:
            listener(f"{self.sentence}: {name}", made, None)


def _write_notice(sentence: str) -> None:
    """Write to standard error if a person reads it: on a terminal, or below the cell of a notebook."""
    if sys.stderr is not None and (sys.stderr.isatty() or _in_kernel()):
        sys.stderr.write(f"cube2net: {sentence}\n")
        sys.stderr.flush()


def _in_kernel() -> bool:
    """Return whether standard error is that of a notebook, below whose cell a person waits."""
    return type(sys.stderr).__module__.partition(".")[0] == "ipykernel"


MONITOR = CompileMonitor()


@contextmanager
def announce_to(listener: ProgressFunction | None) -> Iterator[None]:
    """Let somebody know of compiling for a while, by the last of those who asked; None is nobody at all."""
    MONITOR.listeners.append(listener)
    try:
        yield
    finally:
        MONITOR.listeners.remove(listener)


def report_compiling(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function; the callback given as its ``progress``, if any, is told of compiling too.

    Where ``progress`` is True, it is a bar where the person is who waits; see :mod:`cube2net._util.display`.
    """

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        progress = options.get("progress")
        who = get_display() if progress is True else None
        if who is not None:
            with who.progress_bars() as bars, announce_to(bars):
                options["progress"] = bars
                return function(*args, **options)
        if progress is None or isinstance(progress, bool):
            return function(*args, **options)
        if not callable(progress):
            raise ParameterError(f"progress is {quote(progress)}, expected a function, True for a bar, or None")
        with announce_to(None if getattr(progress, "reports_compiling", False) else progress):
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
    import_modules("scipy.linalg")  # a library is limited only when it is loaded
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
