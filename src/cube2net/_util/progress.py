"""Progress of long work, how it is stopped, and the time it spends compiling.

Kernels are compiled when they are first called, which takes about ten seconds once on a machine; later processes read
the compiled code from disk. ``cube2net.kernels.compiled`` reports to this module when either begins and ends.
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
    """Receives the progress of long work. Compiling is reported from another thread."""

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Report how much of a stage is done; ``total`` is None while it is unknown."""

    def note(self, text: str) -> None:
        """Report a remark worth keeping, such as how many lines were left out."""


class _Silent:
    def __call__(self, stage: str, done: int, total: int | None = None) -> None: ...

    def note(self, text: str) -> None: ...

    def __repr__(self) -> str:
        return "silent"


silent: Progress = _Silent()
"""A progress that ignores everything."""

ProgressFunction = Callable[[str, int, int | None], object]

ProgressOption = Progress | ProgressFunction | bool | None
"""The parameter ``progress``: a function, True for a progress bar in a notebook or terminal, None for none."""


class _FunctionProgress:
    """Calls a plain function; a note is reported as a stage of unknown length."""

    def __init__(self, function: ProgressFunction) -> None:
        self._function = function

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        self._function(stage, done, total)

    def note(self, text: str) -> None:
        self._function(text, 0, None)


def resolve_progress(progress: ProgressOption) -> Progress:
    """Return the progress that an option stands for.

    None and booleans are silent. A plain function is called with ``(stage, done, total)``, and with ``(text, 0, None)``
    for a note; an object with a method ``note`` is used as it is.

    >>> resolve_progress(None) is silent, resolve_progress(silent) is silent
    (True, True)
    >>> progress = resolve_progress(lambda stage, done, total: print(stage, done, total))
    >>> progress("reading", 1, 1)
    reading 1 1
    >>> progress.note("2 lines were left out")
    2 lines were left out 0 None
    """
    if progress is None or isinstance(progress, bool):
        return silent
    return cast(Progress, progress) if hasattr(progress, "note") else _FunctionProgress(progress)


REPORT_INTERVAL_SECONDS = 0.1
"""The shortest time between two reports of one stage to a remote listener."""


class ThrottledProgress:
    """Passes on notes, the beginnings of stages, and other reports at most once per interval.

    >>> clock, reports = iter([0.0, 0.05, 0.2, 0.21, 0.22]), []
    >>> inner = resolve_progress(lambda stage, done, _: reports.append((stage, done)))
    >>> progress = ThrottledProgress(inner, clock=clock.__next__)
    >>> for stage, done in [("reading", 1), ("reading", 2), ("reading", 3), ("topics", 1), ("topics", 2)]:
    ...     progress(stage, done)
    >>> reports
    [('reading', 1), ('reading', 3), ('topics', 1)]
    """

    def __init__(self, progress: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress, self._clock = progress, clock
        self._stage: str | None = None
        self._last_report = 0.0
        self._lock = threading.Lock()

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Pass a report on, unless the same stage was reported less than an interval ago."""
        with self._lock:
            now = self._clock()
            if stage != self._stage or now - self._last_report >= REPORT_INTERVAL_SECONDS:
                self._stage, self._last_report = stage, now
                self._progress(stage, done, total)

    def note(self, text: str) -> None:
        """Pass a note on."""
        with self._lock:
            self._progress.note(text)


P = ParamSpec("P")
T = TypeVar("T")

_unfinished: list[Path] = []


@contextmanager
def track_unfinished(*paths: Path) -> Iterator[None]:
    """Mark files and folders as unfinished: :func:`remove_unfinished` removes them if the process has to exit."""
    _unfinished.extend(paths)
    try:
        yield
    finally:
        for path in paths:
            _unfinished.remove(path)


def remove_unfinished() -> None:
    """Remove all files and folders marked as unfinished, the latest first.

    A folder is renamed first, so that a thread about to put it in place finds nothing, and a folder created under the
    old name since then is not removed.
    """
    for path in reversed(list(_unfinished)):
        with suppress(OSError):
            if path.is_dir():
                gone = path.with_name(path.name[:-8] + secrets.token_hex(4))
                shutil.rmtree(path.rename(gone), ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


_all_stopped = threading.Event()


class Stop:
    """Asks work in other threads to stop at its next check; as a context manager, on exit."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def __enter__(self) -> Stop:
        return self

    def __exit__(self, *end: object) -> None:
        self.ask()

    def ask(self) -> None:
        """Ask all work wrapped by this object to stop."""
        self._event.set()

    def wrap(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return a function for another thread to call, which stops when this object asks for it."""

        def call(*args: P.args, **options: P.kwargs) -> T:
            before, _current.event = _current.event, self._event
            try:
                return function(*args, **options)
            finally:
                _current.event = before

        return call


class StoppedWorkError(Exception):
    """Work in a thread was asked to stop, and did."""


def convert_interrupt(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that raises StoppedWorkError instead of KeyboardInterrupt, which would end an event loop."""

    def call(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except KeyboardInterrupt:
            raise StoppedWorkError("the work was stopped") from None

    return call


class _CurrentStop(threading.local):
    event: threading.Event | None = None


_current = _CurrentStop()


def check_stop() -> None:
    """Raise KeyboardInterrupt if this thread's work, or all work, was asked to stop. Long work calls it regularly."""
    if _all_stopped.is_set() or (_current.event is not None and _current.event.is_set()):
        raise KeyboardInterrupt


def stop_all_work() -> None:
    """Ask all work in this process to stop, for good."""
    _all_stopped.set()


COMPILE_NOTICE_SECONDS = 1.0
"""Compiling is announced once it has taken this long."""

COMPILING = "preparing compiled code"
CACHED_NOTICE = f"{COMPILING}, which takes some ten seconds, once on this machine"
UNCACHED_NOTICE = (
    f"{COMPILING}, which takes some ten seconds in every run: there is no folder to keep it in "
    "(NUMBA_CACHE_DIR may name one)"
)


class CompileClock:
    """Measures the time in which at least one of several threads compiles.

    ``wall`` is this time up to the last moment at which none did.
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
        """The seconds until now, compilations in progress included."""
        with self._lock:
            return self.wall + (time.perf_counter() - self._since if self._busy else 0.0)


class _ThreadState(threading.local):
    """The compile clock of a thread, how deeply compilations are nested, and the processor time they took."""

    def __init__(self) -> None:
        self.clock = CompileClock()
        self.depth = 0
        self.start = self.spent = 0.0


_thread = _ThreadState()


def begin_compiling() -> None:
    """Note that this thread begins to compile, or to read compiled code."""
    if _thread.depth == 0:
        _thread.start = time.thread_time()
        _thread.clock.begin()
    _thread.depth += 1


def end_compiling() -> None:
    """Note that this thread has compiled."""
    _thread.depth -= 1
    if _thread.depth == 0:
        _thread.spent += time.thread_time() - _thread.start
        _thread.clock.end()


def import_modules(*modules: str) -> None:
    """Import modules that are slow to import; the time counts as compiling."""
    begin_compiling()
    try:
        for module in modules:
            import_module(module)
    finally:
        end_compiling()


def share_compile_time(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function for another thread to call, whose compile time counts as that of the current thread."""
    clock = _thread.clock

    def call(*args: P.args, **options: P.kwargs) -> T:
        own, _thread.clock = _thread.clock, clock
        try:
            return function(*args, **options)
        finally:
            _thread.clock = own

    return call


class Stopwatch:
    """Measures the time since its creation, without compiling by its thread and the threads that work for it."""

    def __init__(self) -> None:
        self._clock = _thread.clock
        self._start = self._now()

    @property
    def seconds(self) -> float:
        """The seconds until now."""
        return max(0.0, self._now() - self._start)

    def _now(self) -> float:
        return time.perf_counter() - self._clock.seconds


class CpuStopwatch(Stopwatch):
    """Measures the processor time of this thread since its creation, without compiling."""

    def _now(self) -> float:
        return time.thread_time() - _thread.spent


@contextmanager
def record_seconds(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Store how long the body takes, without compiling, as ``seconds[part]``."""
    watch = Stopwatch()
    yield
    seconds[part] = watch.seconds


class CompileMonitor:
    """Announces compiling once it has taken a while, to the latest listener or else on a terminal or in a notebook.

    Consecutive and parallel compilations count as one; standard error gets one line per process.
    """

    def __init__(self, patience: float = COMPILE_NOTICE_SECONDS) -> None:
        self.patience = patience
        self.kept = True
        self.listeners: list[ProgressFunction | None] = []
        self._clock, self._lock = CompileClock(), threading.Lock()
        self._names: list[str] = []
        self._timer: threading.Timer | None = None
        self._count, self._is_announced = 0, False

    def begin(self, name: str) -> None:
        """Note that a function begins to be compiled."""
        with self._lock:
            self._names.append(name)
            self._clock.begin()
            if len(self._names) == 1:
                self._timer = threading.Timer(max(0.0, self.patience - self._clock.wall), self.announce)
                self._timer.daemon = True
                self._timer.start()

    def end(self, name: str) -> None:
        """Note that a function has been compiled."""
        with self._lock:
            self._names.remove(name)
            self._clock.end()
            self._count += 1
            if not self._names and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    @property
    def sentence(self) -> str:
        """The announcement."""
        return CACHED_NOTICE if self.kept else UNCACHED_NOTICE

    @property
    def current(self) -> str | None:
        """The name of the function being compiled, once compiling has taken a while."""
        with self._lock:
            return self._names[0] if self._names and self._clock.seconds >= self.patience else None

    @property
    def count(self) -> int:
        """How many functions have been compiled."""
        return self._count

    def announce(self) -> None:
        """Report what is being compiled to the latest listener, or write it to a terminal once."""
        with self._lock:
            name, count = self._names[0] if self._names else "", self._count
            listener = self.listeners[-1] if self.listeners else None
            to_terminal = bool(name) and not self.listeners and not self._is_announced
            self._is_announced |= to_terminal
        if to_terminal:
            _write_notice(self.sentence)
        elif name and listener is not None:
            listener(f"{self.sentence}: {name}", count, None)


def _write_notice(sentence: str) -> None:
    """Write a line to standard error if a person reads it: on a terminal, or below the cell of a notebook."""
    if sys.stderr is not None and (sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")):
        sys.stderr.write(f"cube2net: {sentence}\n")
        sys.stderr.flush()


MONITOR = CompileMonitor()


@contextmanager
def report_compiling_to(listener: ProgressFunction | None) -> Iterator[None]:
    """Report compiling to a listener within the body; None reports it to nobody."""
    MONITOR.listeners.append(listener)
    try:
        yield
    finally:
        MONITOR.listeners.remove(listener)


def report_compiling(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that compiling is reported to its parameter ``progress``; True becomes a progress bar."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        progress = options.get("progress")
        display = get_display() if progress is True else None
        if display is not None:
            with display.progress_bars() as bars, report_compiling_to(bars):
                options["progress"] = bars
                return function(*args, **options)
        if progress is None or isinstance(progress, bool):
            return function(*args, **options)
        if not callable(progress):
            raise ParameterError(f"progress is {quote(progress)}, expected a function, True for a bar, or None")
        with report_compiling_to(None if getattr(progress, "reports_compiling", False) else progress):
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
    """Limit BLAS and OpenMP to one thread within the body; several threads may use it at once.

    The limit applies to the process: the first user sets it, and the last one restores it.
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
