"""Answering many at once: questions wait for a free thread, and whoever goes away stops the work on his own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from cube2net.api import Desk
from cube2net.explorer.replies import RefusalError, json_bytes
from cube2net.interrupts import Stop
from cube2net.progress import Progress, silent


@dataclass(frozen=True)
class Limits:
    """How much one server does at a time, and for how many seconds."""

    threads: int = 4
    waiting: int = 256
    seconds: float = 120.0


class StoppedWorkError(Exception):
    """The work was asked to stop, and did."""


class Work:
    """Answers questions to a desk in threads."""

    def __init__(self, desk: Desk, limits: Limits | None = None) -> None:
        self.desk = desk
        self.limits = limits or Limits()
        self._threads = ThreadPoolExecutor(self.limits.threads, thread_name_prefix="explorer")
        self._asked = 0

    async def answer(self, name: str, question: Mapping[str, Any], progress: Progress = silent) -> bytes:
        """Return the answer to a question as JSON; where the task is cancelled, the work on it is stopped."""
        return await self.run(lambda: json_bytes(self.desk.answer(name, question, progress)))

    async def run(self, function: Callable[[], bytes]) -> bytes:
        """Return what a function gives in a thread."""
        if self._asked >= self.limits.waiting:
            raise RefusalError(429, "busy", f"{self._asked:,} questions are waiting already: ask again in a moment")
        self._asked += 1
        try:
            with Stop() as stop:
                call = stop.heeded(_heeding(function))
                async with asyncio.timeout(self.limits.seconds):
                    return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except TimeoutError:
            raise RefusalError(
                503, "slow", f"the answer took longer than {self.limits.seconds:,.0f} seconds, so that it was stopped"
            ) from None
        finally:
            self._asked -= 1

    def close(self) -> None:
        """End all work."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _heeding(function: Callable[[], bytes]) -> Callable[[], bytes]:
    """Return the same function with an interrupt as an error of ours: the loop would take it for its own."""

    def call() -> bytes:
        try:
            return function()
        except KeyboardInterrupt:
            raise StoppedWorkError("the work was stopped") from None

    return call
