"""Processes for long questions: a few at a time, each killed when nobody waits for its answer any more."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cube2net.api.desk import KeptChoice
from cube2net.explorer.replies import RefusalError, json_bytes
from cube2net.progress import Progress

LONGEST_LINE = 512_000_000
"""An answer of a worker has at most so many bytes."""
IDLE = 300.0
"""A worker that nobody needs for so many seconds ends."""
ENDING = 0.5
"""So many seconds are waited for killed workers to be gone."""
ANSWER = b'{"answer":'
"""How the line with an answer begins; it ends with a brace."""
PROGRAM = "import sys; sys.path.append({root!r}); from {module} import main; main()"
WORKER = "cube2net.explorer.worker"


@dataclass(frozen=True)
class Said:
    """What a worker said: the JSON of an answer, or a file, maybe with what was chosen and a report; or why not."""

    body: bytes
    name: str = ""
    media_type: str = "application/json"
    report: dict[str, str] | None = None
    choice: KeptChoice | None = None
    error: RefusalError | None = None


class WorkerPool:
    """Answers questions by processes that a ``module`` runs in, at most ``most`` at a time.

    Each is told ``about`` what it will be asked, such as a cube in a folder. A worker that is free is kept for the next
    question; the one that was used last is taken first, for it remembers the networks it made.
    """

    def __init__(self, about: Mapping[str, Any], most: int, waiting: int, *, module: str = WORKER) -> None:
        self._about, self._module = dict(about), module
        self._free: dict[Process, asyncio.TimerHandle] = {}
        self._all: set[Process] = set()
        self._ending: set[asyncio.Task[int]] = set()
        self._places = asyncio.Semaphore(most)
        self._most, self._limit, self._waiting = most, waiting, 0
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The processes there are."""
        return [process.pid for process in self._all]

    async def ask(
        self, name: str, question: Mapping[str, Any], progress: Progress, choice: KeptChoice | None = None
    ) -> Said:
        """Return what a worker says to a question; where the task is cancelled, the worker is killed.

        ``choice`` is what was chosen for its network already.
        """
        if self._waiting >= self._limit:
            raise RefusalError(
                429, "busy", f"{self._limit:,} long questions are waiting already: ask again when some are answered"
            )
        self._waiting += 1
        try:
            if self._places.locked():
                progress("waiting for other long work", 0)
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._asked({"name": name, "question": question, "choice": choice}, progress)
        finally:
            self._places.release()

    async def _asked(self, asked: dict[str, Any], progress: Progress) -> Said:
        worker = await self._worker(progress)
        try:
            said = await _conversation(worker, asked, progress)
        except BaseException:
            self._end(worker)
            raise
        if self._closed:
            self._end(worker)
        else:
            self._free[worker] = asyncio.get_running_loop().call_later(IDLE, self._retire, worker)
        if said.error is not None:
            raise said.error
        return said

    async def _worker(self, progress: Progress) -> Process:
        while self._free:
            worker, timer = self._free.popitem()
            timer.cancel()
            if worker.returncode is None:
                return worker
            self._all.discard(worker)
        progress("starting a worker", 0)
        root = str(Path(__file__).parents[2])
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", PROGRAM.format(root=root, module=self._module)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=LONGEST_LINE,
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

    async def ended(self) -> None:
        """Return when the workers that were killed are gone."""
        if self._ending:
            await asyncio.wait(set(self._ending), timeout=ENDING)

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        for worker in list(self._all):
            self._end(worker)
        for timer in self._free.values():
            timer.cancel()
        self._free.clear()
        await self.ended()


def _stdin(worker: Process) -> asyncio.StreamWriter:
    if worker.stdin is None:
        raise RuntimeError("a worker was started without a way to ask it")
    return worker.stdin


async def _conversation(worker: Process, asked: dict[str, Any], progress: Progress) -> Said:
    """Return what a worker says to a question; how far it is goes to ``progress``."""
    if worker.stdout is None:
        raise RuntimeError("a worker was started without a way to hear it")
    with suppress(ConnectionError):
        _stdin(worker).write(json_bytes(asked) + b"\n")
        await _stdin(worker).drain()
    report = choice = None
    while (line := await worker.stdout.readline()).endswith(b"\n"):
        if line.startswith(ANSWER):
            return Said(line[len(ANSWER) : -2], report=report, choice=choice)
        ((kind, value), *further) = json.loads(line).items()
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
            return Said(content, name=value["name"], media_type=value["media_type"], choice=choice)
        else:
            return Said(b"", error=RefusalError(further[0][1], value["kind"], value["sentence"]))
    status = await worker.wait()
    raise RefusalError(
        500, "worker", f"the worker ended unexpectedly (with status {status}), so that there is no answer: ask again"
    )
