"""Connections with time limits, and streamed progress."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from cube2net._util.progress import Progress
from cube2net.apps.server.auth import HEADERS, Authenticator
from cube2net.apps.server.responses import Reply, json_bytes, refused

REQUEST_SECONDS = 20.0
"""So many seconds a client has to say what it asks for, once it is connected or has begun to."""
STALLED_SECONDS = 60.0
"""A client that takes nothing for so many seconds is left."""
MAX_KNOWN_CONNECTIONS = 512
"""Connections that came with the token: further ones are closed at once."""
MAX_UNKNOWN_CONNECTIONS = 128
"""Connections that have not shown the token yet: of more, the oldest are closed."""


@dataclass(eq=False)
class ConnectionPool:
    """The open connections of a server: those that have shown the token, and the others in the order they came."""

    gate: Authenticator
    known: set[asyncio.Transport] = field(default_factory=set)
    unknown: dict[asyncio.Transport, None] = field(default_factory=dict)

    def admit(self, transport: asyncio.Transport) -> None:
        """Count a connection that has shown the token as known; close it where there are too many."""
        del self.unknown[transport]
        self.known.add(transport)
        if len(self.known) > MAX_KNOWN_CONNECTIONS:
            transport.abort()

    def trim(self) -> None:
        """Close the oldest unknown connections beyond the limit, so that there is always room for a new one."""
        while len(self.unknown) > MAX_UNKNOWN_CONNECTIONS:
            oldest = next(iter(self.unknown))
            del self.unknown[oldest]
            oldest.abort()

    def forget(self, transport: asyncio.Transport) -> None:
        """Leave a connection out that was closed."""
        self.known.discard(transport)
        self.unknown.pop(transport, None)


class PatientConnection(H11Protocol):
    """HTTP/1.1 by uvicorn, with limits on time and on how many there are."""

    def __init__(self, pool: ConnectionPool, **options: Any) -> None:
        super().__init__(**options)
        self._pool = pool

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._asking = Countdown(REQUEST_SECONDS, transport.abort)
        self._stalled = Countdown(STALLED_SECONDS, transport.abort)
        self._asking.start()
        self._pool.unknown[transport] = None
        # After two rounds of the loop a request that arrived together with many connections has been read.
        self.loop.call_soon(self.loop.call_soon, self._pool.trim)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request: the first of them start the clock, the end of its headers stops it."""
        if self._is_idle():
            self._asking.start()
        super().data_received(data)
        if not self._is_idle():
            self._asking.stop()
        if self.transport in self._pool.unknown and self.scope is not None and self._pool.gate.has_token(self.scope):
            self._pool.admit(self.transport)

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def pause_writing(self) -> None:
        """Wait for the client to read, but not for ever."""
        super().pause_writing()
        self._stalled.start()

    def resume_writing(self) -> None:
        """Go on, for the client has read."""
        self._stalled.stop()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Wait for the next request, as long as connections are kept."""
        self._asking.stop()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget all clocks."""
        self._asking.stop()
        self._stalled.stop()
        self._pool.forget(self.transport)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, with the headers of every other refusal."""
        headers: dict[str, Any] = {**HEADERS, "content-type": "text/plain; charset=utf-8", "connection": "close"}
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        text = msg.lower().rstrip(".")
        self.transport.write(
            f"HTTP/1.1 400 Bad Request\r\ncontent-length: {len(text)}\r\n{''.join(lines)}\r\n{text}".encode("ascii")
        )
        self.transport.close()


class Countdown:
    """Calls a function when its time is over, unless it is stopped before."""

    def __init__(self, seconds: float, over: Callable[[], None]) -> None:
        self._seconds, self._over = seconds, over
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Let its time run, where it does not yet."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._over)

    def stop(self) -> None:
        """Let its time stand still, and begin anew."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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
