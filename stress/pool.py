"""Workers that process one damaged input at a time, so that a crash or hang can be attributed."""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from cube2net.errors import Cube2netError
from stress.launch import CONTEXT
from stress.outcome import Outcome

FIRST = 300.0
"""Seconds until a worker begins with an input, for which it may have to start and to compile."""

Job = tuple[str, int]


@dataclass(frozen=True)
class Limits:
    """Limits for one input: seconds, and additional memory."""

    seconds: float = 20.0
    memory: int = 2 << 30


@dataclass(frozen=True)
class Verdict:
    """The end of one input: a result, an error message, or something else in detail."""

    kind: str
    told: str = ""

    @property
    def sound(self) -> bool:
        """Whether this end is allowed."""
        return self.kind in ("answer", "sentence")


class Worker:
    """A process with its own folder, restarted when it dies."""

    def __init__(self, base: Path, place: Path, limits: Limits) -> None:
        self.base, self.place, self.limits = base, place, limits
        self.process: Any = None

    def ask(self, job: Job) -> Verdict:
        """Return how an input ends."""
        if self.process is None:
            self._start()
        try:
            self.pipe.send(job)
            for patience in (FIRST, self.limits.seconds):  # until it begins, and until it ends
                if not self.pipe.poll(patience):
                    self.stop()
                    return Verdict(f"{job[0]}: hangs for more than {patience:g} s")
                said = self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode
            self.stop()
            return Verdict(f"{job[0]}: died with {f'signal {-code}' if code < 0 else f'status {code}'}")
        verdict: Verdict = said
        return verdict

    def stop(self) -> None:
        """End the process; the next input starts another."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.pipe.close()
        self.process = None

    def _start(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(theirs, self.base, self.place, self.limits), daemon=True)
        self.process.start()
        theirs.close()


def ask_all(outcome: Outcome, jobs: Iterable[Job], base: Path, limits: Limits, *, workers: int = 2) -> None:
    """Run the jobs of several workers until all are done or the time is over, and count the results."""
    queue, lock = iter(jobs), threading.Lock()

    def work(number: int) -> None:
        worker = Worker(base, base / f"worker-{number}", limits)
        try:
            while outcome.left > 0 or not outcome.done:
                with lock:
                    job = next(queue, None)
                if job is None:
                    return
                verdict = worker.ask(job)
                with lock:
                    outcome.done += 1
                    outcome.counts[f"{job[0]}, {verdict.kind if verdict.sound else 'failed'}"] += 1
                    if not verdict.sound:
                        repeat = shlex.join(["python", "-m", "stress", "--again", outcome.part, job[0], str(job[1])])
                        outcome.fail(verdict.kind, verdict.told, repeat=repeat, files=worker.place / "input")
        finally:
            worker.stop()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _serve(pipe: Connection, base: Path, place: Path, limits: Limits) -> None:
    from stress.targets import TARGETS

    (place / "here").mkdir()
    (place / "tmp").mkdir()
    os.chdir(place / "here")
    tempfile.tempdir = str(place / "tmp")
    os.environ["XDG_CACHE_HOME"] = str(place / "tmp")
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    known: set[str] = set()
    sys.addaudithook(_watch)
    while True:
        name, seed = pipe.recv()
        if name not in known:
            with suppress(Exception):  # what is wrong with undamaged input, the seed 0 tells
                TARGETS[name](base, _fresh(place), None)  # what has to be compiled and mapped is now
            known.add(name)
        pipe.send("begins")
        pipe.send(judge(TARGETS[name], name, base, place, seed, limits.memory))


def judge(target: Any, name: str, base: Path, place: Path, seed: int, memory: int) -> Verdict:
    """Return how a target ends for a seed; seed 0 is the undamaged input, which must succeed."""
    with _limited(memory), _watched(place) as seen:
        try:
            target(base, _fresh(place), seed)
            verdict = Verdict("answer")
        except Cube2netError as error:
            text = str(error)
            verdict = Verdict("sentence", text)
            if not text or any(ord(letter) < 32 for letter in text):
                verdict = Verdict(f"{name}: a sentence with control characters", repr(text))
            if seed == 0:
                verdict = Verdict(f"{name}: undamaged input is refused", text)
        except BaseException as error:
            verdict = Verdict(f"{name}: {_where(error)}", traceback.format_exc())
    strange = [*seen, *(f"wrote {path.name!r} into the working folder" for path in (place / "here").iterdir())]
    return Verdict(f"{name}: {strange[0]}", "\n".join(strange)) if strange else verdict


def _fresh(place: Path) -> Path:
    shutil.rmtree(place / "input", ignore_errors=True)
    (place / "input").mkdir()
    return place / "input"


def _where(error: BaseException) -> str:
    """Return the type of an exception and the last place in our code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "cube2net/" in frame.filename]
    at = f" in {frames[-1].filename.rpartition('cube2net/')[2]}, {frames[-1].name}" if frames else ""
    said = f" ({error})" if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__}{at}{said}"


@contextmanager
def _limited(memory: int) -> Iterator[None]:
    """Limit the additional memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else None
    before = resource.getrlimit(resource.RLIMIT_AS)
    if pages is not None:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


# What a hostile file must not bring about, as Python itself reports it.
FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec", "pickle.find_class")
CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "shutil.rmtree")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_watching: tuple[Path, list[str]] | None = None


@contextmanager
def _watched(place: Path) -> Iterator[list[str]]:
    """Return a list that collects forbidden events: connections, programs, changes elsewhere."""
    global _watching
    seen: list[str] = []
    _watching = (place, seen)
    try:
        yield seen
    finally:
        _watching = None


def _loads_kernels() -> bool:
    """Return whether numba is loading a kernel from its own cache."""
    frame = sys._getframe(1)
    while frame is not None:
        if "/numba/core/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if _watching is None:
        return
    place, seen = _watching
    if event in FORBIDDEN and not _loads_kernels():
        called = repr(args[1] if event == "subprocess.Popen" else args[:1])
        if "lscpu" not in called:  # joblib asks how many cores there are
            seen.append(f"{event} was called: {called}")
    writes = event == "open" and isinstance(args[2], int) and args[2] & _WRITING
    changed = args[1] if event in ("os.link", "os.symlink") else args[0] if args else None
    if (writes or event in CHANGES) and isinstance(changed, str | bytes | os.PathLike):
        path = os.path.abspath(os.fsdecode(changed))  # noqa: PTH100  # links are not to be followed here
        ours = path == os.devnull or path.startswith(str(place)) or "__pycache__" in path
        if not ours:
            seen.append(f"{event} outside: {path}")
