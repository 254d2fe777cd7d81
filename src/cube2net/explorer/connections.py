"""A connection that does not wait for ever: neither for a request to arrive, nor for a reader who stopped reading."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from cube2net.explorer.gates import HEADERS

REQUEST_SECONDS = 20.0
"""So many seconds a client has to say what it asks for, once it is connected or has begun to."""
STALLED_SECONDS = 60.0
"""A client that takes nothing for so many seconds is left."""
MOST_CONNECTIONS = 512
"""Further ones are closed at once."""


class PatientConnection(H11Protocol):
    """HTTP/1.1 by uvicorn, with limits on time and on how many there are."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._asking = Countdown(REQUEST_SECONDS, transport.abort)
        self._stalled = Countdown(STALLED_SECONDS, transport.abort)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._asking.start()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request: the first of them start the clock, the end of its headers stops it."""
        if self._is_idle():
            self._asking.start()
        super().data_received(data)
        if not self._is_idle():
            self._asking.stop()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # None before the first

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
