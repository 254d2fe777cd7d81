"""An answer as lines: how far the work is, and then its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cube2net.explorer.replies import Reply, json_bytes, refused
from cube2net.progress import Progress

LINES = "application/x-ndjson"
"""What a client accepts who wants to hear how far the work is."""


class Latest:
    """The last word of long work on how far it is: told in any thread, heard in the loop.

    Who reads slowly misses words, and keeps nobody waiting.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self._word: dict[str, Any] | None = None

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Take note."""
        self._word = {"stage": stage, "done": done, "total": total}
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.news.set)

    def note(self, text: str) -> None:
        """Take a note, which is shown where the stage is until the next word."""
        self(text, 0)

    def take(self) -> dict[str, Any] | None:
        """Return the last word, where it was not taken yet."""
        word, self._word = self._word, None
        return word


class LinesResponse(Response):
    """A response of lines; the work begins with it, and is stopped when the client goes away."""

    def __init__(self, work: Callable[[Progress], Awaitable[Reply]]) -> None:
        self.work = work
        self.status_code = 200
        self.background = None
        self.init_headers({"content-type": LINES, "x-accel-buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines."""
        told = Latest()
        task = watched(self.work(told))
        gone = asyncio.create_task(until_gone(receive))
        for each in (task, gone):
            each.add_done_callback(lambda _: told.news.set())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while not (task.done() or gone.done()):
                await told.news.wait()
                told.news.clear()
                word = told.take()
                if word is not None and not task.done():
                    await _send_line(send, b'{"progress":' + json_bytes(word) + b"}\n")
            if task.done() and not gone.done():
                error = task.exception()
                last = b'{"answer":' + task.result().body + b"}" if error is None else refused(error).body
                await _send_line(send, last + b"\n")
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            task.cancel()
            gone.cancel()


async def _send_line(send: Send, line: bytes) -> None:
    await send({"type": "http.response.body", "body": line, "more_body": True})


def watched(work: Awaitable[Reply]) -> asyncio.Future[Reply]:
    """Return a task whose failure is nobody's surprise, should nobody wait for it any more."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


async def until_gone(receive: Receive) -> None:
    """Return when the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass
