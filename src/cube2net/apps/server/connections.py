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
from cube2net.apps.server.responses import Reply, json_bytes, make_refusal

REQUEST_SECONDS = 20.0
"""Timeout for the headers of a request, from the connection or from their first byte."""
STALLED_SECONDS = 60.0
"""Timeout for a client that reads nothing."""
MAX_KNOWN_CONNECTIONS = 512
"""Maximum number of authenticated connections; further ones are closed at once."""
MAX_UNKNOWN_CONNECTIONS = 128
"""Maximum number of other connections; the oldest are closed."""


@dataclass(eq=False)
class ConnectionPool:
    """The open connections of a server: authenticated ones, and the others in the order of arrival."""

    auth: Authenticator
    known: set[asyncio.Transport] = field(default_factory=set)
    unknown: dict[asyncio.Transport, None] = field(default_factory=dict)

    def admit(self, transport: asyncio.Transport) -> None:
        """Count a connection as authenticated; close it if there are too many."""
        del self.unknown[transport]
        self.known.add(transport)
        if len(self.known) > MAX_KNOWN_CONNECTIONS:
            transport.abort()

    def trim(self) -> None:
        """Close the oldest connections beyond the limit that are not authenticated."""
        while len(self.unknown) > MAX_UNKNOWN_CONNECTIONS:
            oldest = next(iter(self.unknown))
            del self.unknown[oldest]
            oldest.abort()

    def forget(self, transport: asyncio.Transport) -> None:
        """Remove a closed connection."""
        self.known.discard(transport)
        self.unknown.pop(transport, None)


class PatientConnection(H11Protocol):
    """HTTP/1.1 by uvicorn, with timeouts and a limit on the number of connections."""

    def __init__(self, pool: ConnectionPool, **options: Any) -> None:
        super().__init__(**options)
        self._pool = pool

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the first request."""
        super().connection_made(transport)
        self._request_countdown = Countdown(REQUEST_SECONDS, transport.abort)
        self._stalled_countdown = Countdown(STALLED_SECONDS, transport.abort)
        self._request_countdown.start()
        self._pool.unknown[transport] = None
        # A request that arrived together with many connections has been read after two rounds of the loop.
        self.loop.call_soon(self.loop.call_soon, self._pool.trim)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; the timeout runs from its first byte to the end of its headers."""
        if self._is_idle():
            self._request_countdown.start()
        super().data_received(data)
        if not self._is_idle():
            self._request_countdown.stop()
        if self.transport in self._pool.unknown and self.scope is not None and self._pool.auth.has_token(self.scope):
            self._pool.admit(self.transport)

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def pause_writing(self) -> None:
        """Start the timeout for a client that does not read."""
        super().pause_writing()
        self._stalled_countdown.start()

    def resume_writing(self) -> None:
        """Stop that timeout."""
        self._stalled_countdown.stop()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._request_countdown.stop()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timeouts."""
        self._request_countdown.stop()
        self._stalled_countdown.stop()
        self._pool.forget(self.transport)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with the headers of other errors."""
        headers: dict[str, Any] = {**HEADERS, "content-type": "text/plain; charset=utf-8", "connection": "close"}
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        text = msg.lower().rstrip(".")
        self.transport.write(
            f"HTTP/1.1 400 Bad Request\r\ncontent-length: {len(text)}\r\n{''.join(lines)}\r\n{text}".encode("ascii")
        )
        self.transport.close()


class Countdown:
    """Calls a function after some seconds, unless it is stopped before."""

    def __init__(self, seconds: float, on_end: Callable[[], None]) -> None:
        self._seconds, self._on_end = seconds, on_end
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start, unless it runs already."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._on_end)

    def stop(self) -> None:
        """Stop and reset."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


LINES = "application/x-ndjson"
"""The media type that a client accepts to receive progress."""


class LatestProgress:
    """The latest progress of long work, set in any thread and read in the event loop.

    A slow client skips messages and does not block the work.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.is_new = asyncio.Event()
        self._message: dict[str, Any] | None = None

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Set the progress."""
        self._message = {"stage": stage, "done": done, "total": total}
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.is_new.set)

    def note(self, text: str) -> None:
        """Show a note as the stage, until the next progress."""
        self(text, 0)

    def take(self) -> dict[str, Any] | None:
        """Return the latest message; None if it was taken already."""
        message, self._message = self._message, None
        return message


class LinesResponse(Response):
    """A response of lines of JSON. The work starts with it, and is cancelled when the client disconnects."""

    def __init__(self, work: Callable[[Progress], Awaitable[Reply]]) -> None:
        self.work = work
        self.status_code = 200
        self.background = None
        self.init_headers({"content-type": LINES, "x-accel-buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines."""
        latest = LatestProgress()
        task = start_watched(self.work(latest))
        disconnected = asyncio.create_task(wait_for_disconnect(receive))
        for future in (task, disconnected):
            future.add_done_callback(lambda _: latest.is_new.set())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while not (task.done() or disconnected.done()):
                await latest.is_new.wait()
                latest.is_new.clear()
                message = latest.take()
                if message is not None and not task.done():
                    await _send_line(send, b'{"progress":' + json_bytes(message) + b"}\n")
            if task.done() and not disconnected.done():
                error = task.exception()
                last = b'{"answer":' + task.result().body + b"}" if error is None else make_refusal(error).body
                await _send_line(send, last + b"\n")
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            task.cancel()
            disconnected.cancel()


async def _send_line(send: Send, line: bytes) -> None:
    await send({"type": "http.response.body", "body": line, "more_body": True})


def start_watched(work: Awaitable[Reply]) -> asyncio.Future[Reply]:
    """Return a task whose exception is not reported if it is never awaited."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda finished: finished.cancelled() or finished.exception())
    return task


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
