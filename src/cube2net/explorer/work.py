"""Answering many at once: short questions in threads, long ones in processes; who goes away stops the work for him."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from cube2net.api import ROUTES, Desk
from cube2net.api.desk import FILE, KeptChoice, Standing
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
    clicks: int = 2
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
        self._threads = Threads(limits.threads, limits.waiting, "explorer")
        self._clicks = Threads(limits.clicks, limits.waiting, "explorer click")
        self._long_threads = Threads(limits.workers, limits.long_waiting, "explorer long")
        origin = _origin(desk)
        self.workers = None
        if origin is not None:
            about = {"folder": str(origin.folder), "checksum": origin.seal, "nodes": limits.nodes}
            self.workers = WorkerPool(about, limits.workers, limits.long_waiting)

    async def answer(self, name: str, question: Mapping[str, Any], progress: Progress = silent) -> Reply:
        """Return the reply to a question; where the task is cancelled, the work on it is stopped."""
        self._check_entries(question)
        threads = self._clicks if name in ROUTES and ROUTES[name].click else self._threads
        standing = Standing(False)
        if self.desk.may_be_long(name, question):
            standing = await self._within(self.limits.seconds, threads.run(lambda: self.desk.standing(name, question)))
        if standing.long and self.workers is not None:
            return await self._within(
                self.limits.long_seconds, self._by_worker(self.workers, name, question, progress, standing.choice)
            )
        seconds = self.limits.long_seconds if standing.long else self.limits.seconds
        threads = self._long_threads if standing.long else threads
        return await self._within(
            seconds, threads.run(lambda: self._reply(name, question, _StoppableProgress(progress)))
        )

    async def _within(self, seconds: float, work: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            raise RefusalError(
                503, "slow", f"the answer took longer than {seconds:,.0f} seconds, so that the work was stopped"
            ) from None

    def _reply(self, name: str, question: Mapping[str, Any], progress: Progress) -> Reply:
        progress(WORKING, 0)
        if name == FILE:
            file = self.desk.file(question, progress)
            return attached(file.name, file.media_type, file.content)
        return Reply(json_bytes(self.desk.answer(name, question, progress)))

    async def _by_worker(
        self, workers: WorkerPool, name: str, question: Mapping[str, Any], progress: Progress, choice: KeptChoice | None
    ) -> Reply:
        said = await workers.ask(name, question, progress, choice)
        if said.choice is not None:
            self.desk.keep_choice(said.choice)
        if said.report is not None:
            self.desk.keep_report(said.report["key"], said.report["page"])
        return attached(said.name, said.media_type, said.body) if said.name else Reply(said.body)

    def _check_entries(self, question: Mapping[str, Any]) -> None:
        ask = question.get("ask")
        for name, value in [*question.items(), *(ask.items() if isinstance(ask, dict) else [])]:
            count = _entries(value)
            if count > self.limits.entries and name != "ask":
                most = f"expected at most {self.limits.entries:,}"
                raise RefusalError(400, "large", f"{name} has {count:,} entries, {most}")

    async def close(self) -> None:
        """End all work."""
        for threads in (self._threads, self._clicks, self._long_threads):
            threads.close()
        if self.workers is not None:
            await self.workers.close()


class Threads:
    """A few threads that answer, and how many questions they have or wait for: one counts until its work has ended."""

    def __init__(self, many: int, most: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(many, thread_name_prefix=name)
        self._most, self.asked = most, 0
        self._counting = threading.Lock()

    async def run(self, function: Callable[[], T]) -> T:
        """Return what a function gives in a thread, which is asked to stop where nobody waits any more."""
        if self.asked >= self._most:
            raise RefusalError(429, "busy", f"{self._most:,} questions are waiting already: ask again in a moment")
        with Stop() as stop:
            self._count(1)
            future = self._pool.submit(stop.heeded(stopped_as_error(function)))
            future.add_done_callback(lambda _: self._count(-1))
            return await asyncio.wrap_future(future)

    def _count(self, more: int) -> None:
        with self._counting:
            self.asked += more

    def close(self) -> None:
        """Begin nothing any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _entries(value: object) -> int:
    """Return how many entries a list has, or all lists of an object together."""
    if isinstance(value, dict):
        return sum(_entries(each) for each in value.values())
    return len(value) if isinstance(value, list) else 0


def _origin(desk: Desk) -> Origin | None:
    """Return where workers open the cube; None of one in memory, or seen through a view."""
    lineage = lineage_of(desk.cube)
    return None if lineage.views else lineage.origin


class _StoppableProgress:
    """The same progress, which stops the work of its thread where that was asked to."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        step()
        self._progress(stage, done, total)

    def note(self, text: str) -> None:
        step()
        self._progress.note(text)
