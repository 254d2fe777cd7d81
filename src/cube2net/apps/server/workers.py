"""Worker processes and threads for requests.

Server and workers exchange lines of JSON. A worker ends with its input, so that none outlives the server.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import queue
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from cube2net._util.progress import Progress, Stop, ThrottledProgress, check_stop, convert_interrupt, silent
from cube2net.api import cubes
from cube2net.apps.server.responses import WORKING, RefusalError, Reply, describe_failure, json_bytes, make_attachment
from cube2net.apps.service.service import FILE, ROUTES, CubeService, Duration, KeptChoice
from cube2net.errors import CubeError
from cube2net.model.cube import Origin, get_lineage

MAX_ANSWER_BYTES = 512_000_000
IDLE_TIMEOUT_SECONDS = 300.0
"""An idle worker ends after this."""
KILL_TIMEOUT_SECONDS = 0.5
"""How long to wait for killed workers."""
ANSWER_PREFIX = b'{"answer":'
"""The start of the line with an answer, which ends with a brace."""
PROGRAM = "import sys; sys.path.append({root!r}); from {module} import main; main()"
WORKER_MODULE = "cube2net.apps.server.workers"


@dataclass(frozen=True)
class WorkerReply:
    """The reply of a worker: an answer as JSON or a file, with the choice and a report if any; or an error."""

    body: bytes
    name: str = ""
    media_type: str = "application/json"
    report: dict[str, str] | None = None
    choice: KeptChoice | None = None
    error: RefusalError | None = None


class WorkerPool:
    """Answers requests in at most ``most`` processes, each of which runs ``module``.

    A new worker receives ``about``, such as the folder of a cube. The idle worker that was used last is preferred,
    because it has cached its networks.
    """

    def __init__(self, about: Mapping[str, Any], most: int, waiting: int, *, module: str = WORKER_MODULE) -> None:
        self._about, self._module = dict(about), module
        self._free: dict[Process, asyncio.TimerHandle] = {}
        self._all: set[Process] = set()
        self._ending: set[asyncio.Task[int]] = set()
        self._places = asyncio.Semaphore(most)
        self._most, self._limit, self._waiting = most, waiting, 0
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [process.pid for process in self._all]

    async def ask(
        self, name: str, body: Mapping[str, Any], progress: Progress, choice: KeptChoice | None = None
    ) -> WorkerReply:
        """Return the reply of a worker; if the task is cancelled, the worker is killed.

        ``choice`` is the cached choice of the network.
        """
        if self._waiting >= self._limit:
            raise RefusalError(
                429, "busy", f"{self._limit:,} long requests are waiting already: ask again when some are answered"
            )
        self._waiting += 1
        try:
            if self._places.locked():
                progress("waiting for other long work", 0)
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._run({"name": name, "body": body, "choice": choice}, progress)
        finally:
            self._places.release()

    async def _run(self, message: dict[str, Any], progress: Progress) -> WorkerReply:
        worker = await self._worker(progress)
        try:
            reply = await _converse(worker, message, progress)
        except BaseException:
            self._end(worker)
            raise
        if self._closed:
            self._end(worker)
        else:
            self._free[worker] = asyncio.get_running_loop().call_later(IDLE_TIMEOUT_SECONDS, self._retire, worker)
        if reply.error is not None:
            raise reply.error
        return reply

    async def _worker(self, progress: Progress) -> Process:
        while self._free:
            worker, timer = self._free.popitem()
            timer.cancel()
            if worker.returncode is None:
                return worker
            self._all.discard(worker)
        progress("starting a worker", 0)
        root = str(Path(__file__).parents[3])
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", PROGRAM.format(root=root, module=self._module)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=MAX_ANSWER_BYTES,
            start_new_session=os.name == "posix",
        )
        self._all.add(worker)
        if self._closed:
            self._end(worker)
        else:
            _stdin(worker).write(json_bytes(self._about) + b"\n")
        return worker

    def _retire(self, worker: Process) -> None:
        del self._free[worker]
        self._end(worker)

    def _end(self, worker: Process) -> None:
        self._all.discard(worker)
        with suppress(ProcessLookupError):
            worker.kill()
        _stdin(worker).close()
        self._ending.add(task := asyncio.create_task(worker.wait()))
        task.add_done_callback(self._ending.discard)

    async def wait_for_killed(self) -> None:
        """Wait until the killed workers have ended."""
        if self._ending:
            await asyncio.wait(set(self._ending), timeout=KILL_TIMEOUT_SECONDS)

    async def close(self) -> None:
        """Kill all workers."""
        self._closed = True
        for worker in list(self._all):
            self._end(worker)
        for timer in self._free.values():
            timer.cancel()
        self._free.clear()
        await self.wait_for_killed()


def _stdin(worker: Process) -> asyncio.StreamWriter:
    if worker.stdin is None:
        raise RuntimeError("a worker has no standard input")
    return worker.stdin


async def _converse(worker: Process, message: dict[str, Any], progress: Progress) -> WorkerReply:
    """Send a request to a worker and return its reply."""
    if worker.stdout is None:
        raise RuntimeError("a worker has no standard output")
    with suppress(ConnectionError):
        _stdin(worker).write(json_bytes(message) + b"\n")
        await _stdin(worker).drain()
    report = choice = None
    while (line := await worker.stdout.readline()).endswith(b"\n"):
        if line.startswith(ANSWER_PREFIX):
            return WorkerReply(line[len(ANSWER_PREFIX) : -2], report=report, choice=choice)
        ((kind, value), *others) = json.loads(line).items()
        if kind == "progress":
            progress(value["stage"], value["done"], value["total"])
        elif kind == "note":
            progress.note(value)
        elif kind == "report":
            report = value
        elif kind == "choice":
            choice = KeptChoice(*value)
        elif kind == "file":
            content = base64.b64decode(value["content"])
            return WorkerReply(content, name=value["name"], media_type=value["media_type"], choice=choice)
        else:
            return WorkerReply(b"", error=RefusalError(others[0][1], value["kind"], value["sentence"]))
    status = await worker.wait()
    raise RefusalError(500, "worker", f"the worker ended unexpectedly (with status {status}), try again")


T = TypeVar("T")


@dataclass(frozen=True)
class ServerLimits:
    """The limits of a server: work at a time, waiting requests, seconds for an answer, and sizes."""

    threads: int = 4
    clicks: int = 2
    waiting: int = 256
    seconds: float = 120.0
    workers: int = 2
    long_waiting: int = 16
    long_seconds: float = 3600.0
    nodes: int = 20_000
    entries: int = 20_000


class Work:
    """Answers requests in threads and worker processes; used in the event loop of a server."""

    def __init__(self, service: CubeService, limits: ServerLimits) -> None:
        self.service = service
        self.limits = limits
        self._threads = Threads(limits.threads, limits.waiting, "explorer")
        self._clicks = Threads(limits.clicks, limits.waiting, "explorer click")
        self._long_threads = Threads(limits.workers, limits.long_waiting, "explorer long")
        origin = _find_origin(service)
        self.workers = None
        if origin is not None:
            about = {"folder": str(origin.folder), "checksum": origin.seal, "nodes": limits.nodes}
            self.workers = WorkerPool(about, limits.workers, limits.long_waiting)

    async def answer(self, name: str, body: Mapping[str, Any], progress: Progress = silent) -> Reply:
        """Return the reply to a request; if the task is cancelled, the work is stopped."""
        self._check_entries(body)
        threads = self._clicks if name in ROUTES and ROUTES[name].click else self._threads
        duration = Duration(False)
        if self.service.may_be_long(name, body):
            duration = await self._run_within(
                self.limits.seconds, threads.run(lambda: self.service.estimate(name, body))
            )
        if duration.is_long and self.workers is not None:
            return await self._run_within(
                self.limits.long_seconds, self._answer_by_worker(self.workers, name, body, progress, duration.choice)
            )
        seconds = self.limits.long_seconds if duration.is_long else self.limits.seconds
        threads = self._long_threads if duration.is_long else threads
        return await self._run_within(
            seconds, threads.run(lambda: self._reply(name, body, _StoppableProgress(progress)))
        )

    async def _run_within(self, seconds: float, work: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            raise RefusalError(
                503, "slow", f"the answer took longer than {seconds:,.0f} seconds, so that the work was stopped"
            ) from None

    def _reply(self, name: str, body: Mapping[str, Any], progress: Progress) -> Reply:
        progress(WORKING, 0)
        if name == FILE:
            file = self.service.file(body, progress)
            return make_attachment(file.name, file.media_type, file.content)
        return Reply(json_bytes(self.service.answer(name, body, progress)))

    async def _answer_by_worker(
        self, workers: WorkerPool, name: str, body: Mapping[str, Any], progress: Progress, choice: KeptChoice | None
    ) -> Reply:
        reply = await workers.ask(name, body, progress, choice)
        if reply.choice is not None:
            self.service.keep_choice(reply.choice)
        if reply.report is not None:
            self.service.keep_report(reply.report["key"], reply.report["page"])
        return make_attachment(reply.name, reply.media_type, reply.body) if reply.name else Reply(reply.body)

    def _check_entries(self, body: Mapping[str, Any]) -> None:
        request = body.get("request")
        for name, value in [*body.items(), *(request.items() if isinstance(request, dict) else [])]:
            count = _count_entries(value)
            if count > self.limits.entries and name != "request":
                most = f"expected at most {self.limits.entries:,}"
                raise RefusalError(400, "large", f"{name} has {count:,} entries, {most}")

    async def close(self) -> None:
        """Stop all work."""
        for threads in (self._threads, self._clicks, self._long_threads):
            threads.close()
        if self.workers is not None:
            await self.workers.close()


class Threads:
    """A thread pool with a limit on unfinished requests."""

    def __init__(self, threads: int, most: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most, self.unfinished = most, 0
        self._count_lock = threading.Lock()

    async def run(self, function: Callable[[], T]) -> T:
        """Return the result of a function in a thread, which is stopped if the task is cancelled."""
        if self.unfinished >= self._most:
            raise RefusalError(429, "busy", f"{self._most:,} requests are waiting already: ask again in a moment")
        with Stop() as stop:
            self._count(1)
            future = self._pool.submit(stop.wrap(convert_interrupt(function)))
            future.add_done_callback(lambda _: self._count(-1))
            return await asyncio.wrap_future(future)

    def _count(self, change: int) -> None:
        with self._count_lock:
            self.unfinished += change

    def close(self) -> None:
        """Start no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _count_entries(value: object) -> int:
    """Return the number of entries of a list, or of all lists in an object."""
    if isinstance(value, dict):
        return sum(_count_entries(each) for each in value.values())
    return len(value) if isinstance(value, list) else 0


def _find_origin(service: CubeService) -> Origin | None:
    """Return the folder from which workers open the cube; None for a cube in memory or a view."""
    lineage = get_lineage(service.cube)
    return None if lineage.views else lineage.origin


class _StoppableProgress:
    """A progress that also stops the work of its thread when that is requested."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        check_stop()
        self._progress(stage, done, total)

    def note(self, text: str) -> None:
        check_stop()
        self._progress.note(text)


# In a worker

AnswerFunction = Callable[[Mapping[str, Any], Mapping[str, Any], Progress], Iterable[dict[str, Any]]]
"""Yields the parts of a reply, given ``about`` of the process and the request."""


def main() -> None:
    """Answer requests about a cube until standard input ends."""
    services: list[CubeService] = []

    def answer_request(
        about: Mapping[str, Any], request: Mapping[str, Any], progress: Progress
    ) -> Iterator[dict[str, Any]]:
        if not services:
            services.append(_open_service(about))
        progress(WORKING, 0)
        if request["choice"] is not None:
            services[0].keep_choice(KeptChoice(*request["choice"]))
        yield from answer_parts(services[0], request["name"], request["body"], progress)

    answer_lines(answer_request)


def answer_lines(answer_request: AnswerFunction) -> None:
    """Answer the requests on standard input, one per line; an error is an answer, too."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    about = json.loads(lines.get())
    while True:
        request = json.loads(lines.get())
        try:
            for part in answer_request(about, request, ThrottledProgress(_LineProgress(out))):
                _write(out, part)
        except BaseException as error:
            status, body = describe_failure(error)
            _write(out, {**body, "status": status})


def _listen(source: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    for line in source:
        lines.put(line)
    os._exit(0)


def _open_service(about: Mapping[str, Any]) -> CubeService:
    service = CubeService(cubes.open(Path(about["folder"])), most_nodes=about["nodes"])
    if service.checksum != about["checksum"]:
        raise CubeError(f"{about['folder']!r} has changed since the explorer was started: start it again")
    return service


def answer_parts(
    service: CubeService, name: str, body: Mapping[str, Any], progress: Progress
) -> Iterator[dict[str, Any]]:
    """Yield the parts of a reply: the choice, the report if any, and the answer or a file."""
    if name == FILE:
        file = service.file(body, progress)
        yield from _yield_choice(service, body)
        content = base64.b64encode(file.content).decode("ascii")
        yield {"file": {"name": file.name, "media_type": file.media_type, "content": content}}
        return
    answer = service.answer(name, body, progress)
    if ROUTES[name].networks:
        yield from _yield_choice(service, body)
    if name == "compare" and answer.get("report"):
        yield {"report": {"key": answer["report"], "page": service.report(answer["report"])}}
    yield {"answer": answer}


def _yield_choice(service: CubeService, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    choice = service.choice(body)
    if choice is not None:
        yield {"choice": list(choice)}


class _LineProgress:
    """Progress as lines of JSON."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        _write(self._out, {"progress": {"stage": stage, "done": done, "total": total}})

    def note(self, text: str) -> None:
        _write(self._out, {"note": text})


_write_lock = threading.Lock()


def _write(out: IO[bytes], value: object) -> None:
    line = json_bytes(value) + b"\n"
    with _write_lock:
        out.write(line)
        out.flush()
