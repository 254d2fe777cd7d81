"""Answering many at once: short questions in threads, long ones in processes; who goes away stops the work for him."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from cube2net.api import Desk
from cube2net.explorer.replies import WORKING, RefusalError, Reply, attached, json_bytes
from cube2net.explorer.worker_pool import WorkerPool
from cube2net.interrupts import Stop, step, stopped_as_error
from cube2net.progress import Progress, silent
from cube2net.records.lineage import lineage_of
from cube2net.records.origin import Origin

T = TypeVar("T")


@dataclass(frozen=True)
class ServerLimits:
    """How much one server does at a time, how much may wait, and for how many seconds an answer may be worked on."""

    threads: int = 4
    waiting: int = 256
    seconds: float = 120.0
    workers: int = 2
    long_waiting: int = 16
    long_seconds: float = 3600.0
    nodes: int = 20_000
    entries: int = 20_000


class Work:
    """Answers questions to a desk; made and used in the loop of a server."""

    def __init__(self, desk: Desk, limits: ServerLimits) -> None:
        self.desk = desk
        self.limits = limits
        self._threads = ThreadPoolExecutor(self.limits.threads, thread_name_prefix="explorer")
        self._long_threads = ThreadPoolExecutor(self.limits.workers, thread_name_prefix="explorer long")
        self._asked = {self._threads: 0, self._long_threads: 0}
        origin = _origin(desk)
        self.workers = None if origin is None else WorkerPool(origin, limits.nodes, limits.workers, limits.long_waiting)

    async def answer(self, name: str, question: Mapping[str, Any], progress: Progress = silent) -> Reply:
        """Return the reply to a question; where the task is cancelled, the work on it is stopped."""
        self._check_entries(question)
        long = self.desk.is_long(name, question)
        seconds = self.limits.long_seconds if long else self.limits.seconds
        try:
            async with asyncio.timeout(seconds):
                if long and self.workers is not None:
                    return await self._by_worker(self.workers, name, question, progress)
                threads = self._long_threads if long else self._threads
                return await self._in_thread(threads, lambda: self._reply(name, question, stoppable(progress)))
        except TimeoutError:
            raise RefusalError(
                503, "slow", f"the answer took longer than {seconds:,.0f} seconds, so that the work was stopped"
            ) from None

    def _reply(self, name: str, question: Mapping[str, Any], progress: Progress) -> Reply:
        progress(WORKING, 0)
        if name == "export":
            file = self.desk.file(question, progress)
            return attached(file.name, file.media_type, file.content)
        return Reply(json_bytes(self.desk.answer(name, question, progress)))

    async def _by_worker(
        self, workers: WorkerPool, name: str, question: Mapping[str, Any], progress: Progress
    ) -> Reply:
        said = await workers.ask(name, question, progress)
        if said.report is not None:
            self.desk.keep_report(said.report["key"], said.report["page"])
        return attached(said.name, said.media_type, said.body) if said.name else Reply(said.body)

    async def _in_thread(self, threads: ThreadPoolExecutor, function: Callable[[], T]) -> T:
        """Return what a function gives in a thread, which is asked to stop where nobody waits any more."""
        most = self.limits.waiting if threads is self._threads else self.limits.long_waiting
        if self._asked[threads] >= most:
            raise RefusalError(429, "busy", f"{most:,} questions are waiting already: ask again in a moment")
        self._asked[threads] += 1
        try:
            with Stop() as stop:
                return await asyncio.get_running_loop().run_in_executor(
                    threads, stop.heeded(stopped_as_error(function))
                )
        finally:
            self._asked[threads] -= 1

    def _check_entries(self, question: Mapping[str, Any]) -> None:
        ask = question.get("ask")
        for name, value in [*question.items(), *(ask.items() if isinstance(ask, dict) else [])]:
            if isinstance(value, list) and len(value) > self.limits.entries:
                raise RefusalError(
                    400, "large", f"{name} has {len(value):,} entries, expected at most {self.limits.entries:,}"
                )

    async def close(self) -> None:
        """End all work."""
        for threads in self._asked:
            threads.shutdown(wait=False, cancel_futures=True)
        if self.workers is not None:
            await self.workers.close()


def _origin(desk: Desk) -> Origin | None:
    """Return where workers open the cube; None of one in memory, or seen through a view."""
    lineage = lineage_of(desk.cube)
    return None if lineage.views else lineage.origin


def stoppable(progress: Progress) -> Progress:
    """Return the same progress, which stops the work of its thread where that was asked to."""

    def told(stage: str, done: int, total: int | None = None) -> None:
        step()
        progress(stage, done, total)

    return told
