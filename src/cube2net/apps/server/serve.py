"""Start and stop the explorer's server."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence
from functools import partial
from types import TracebackType

import uvicorn

from cube2net.apps.server.application import BEGIN, Application
from cube2net.apps.server.auth import WILDCARDS, Authenticator
from cube2net.apps.server.connections import ConnectionPool, PatientConnection
from cube2net.apps.server.sessions import CubeOpener, make_request, pack_request
from cube2net.apps.server.workers import ServerLimits, Work
from cube2net.apps.service.service import CubeService
from cube2net.errors import ParameterError, describe_os_error
from cube2net.model.cube import Cube
from cube2net.model.query import Query

STOP_TIMEOUT_SECONDS = 30.0
MAX_HEADER_LENGTH = 32_000
"""Longer addresses are not sent in a header, because not every browser accepts them."""


class ExplorerServer:
    """Serves the explorer of a cube in a thread, from ``start`` to ``stop``, or within a context.

    The page opens with ``query``; ``unresolved`` are names with labels to be corrected on it. ``opened`` is set once a
    client has authenticated. Without a cube, ``opener`` opens cubes for users.
    """

    def __init__(
        self,
        cube: Cube | None,
        query: Query | None = None,
        *,
        unresolved: Sequence[tuple[str, str]] = (),
        host: str = "127.0.0.1",
        port: int = 0,
        limits: ServerLimits | None = None,
        opener: CubeOpener | None = None,
    ) -> None:
        self._begin = (
            "" if query is None or cube is None else f"#q={pack_request(make_request(cube, query, unresolved))}"
        )
        self._socket = _open_socket(host, port)
        self.auth = Authenticator(self._socket.getsockname()[1], host)
        limits = limits or ServerLimits()
        work = None if cube is None else Work(CubeService(cube, most_nodes=limits.nodes), limits)
        application = Application(work, self.auth, self._begin, opener=opener, limits=limits)
        self._application, self.opened = application, application.opened
        config = uvicorn.Config(
            application,
            lifespan="off",
            ws="none",
            http=partial(PatientConnection, ConnectionPool(self.auth)),  # type: ignore[arg-type]
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=0,
        )
        self._server = uvicorn.Server(config)
        # In CPython 3.11 an interrupted join marks the thread as ended, so an event is awaited instead.
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="explorer", daemon=True)

    @property
    def work(self) -> Work:
        """Answers requests about the open cube."""
        return self._application.work

    @property
    def site(self) -> str:
        """The address without the token."""
        name = self.auth.host
        if name in WILDCARDS:
            name = socket.gethostname()
        return f"http://{f'[{name}]' if ':' in name else name}:{self.auth.port}/"

    @property
    def address(self) -> str:
        """The address to open, with the token, which becomes a cookie.

        The initial request follows in a redirect, or in the address itself if it is too long for a header.
        """
        address_with_token = f"{self.site}?token={self.auth.token}"
        if not self._begin:
            return address_with_token
        return (
            f"{address_with_token}&{BEGIN}=query"
            if len(self._begin) <= MAX_HEADER_LENGTH
            else f"{address_with_token}{self._begin}"
        )

    def count_connections(self) -> int:
        """Return the number of open connections."""
        return len(self._server.server_state.connections)

    def start(self) -> None:
        """Start to answer requests."""
        self._thread.start()

    def wait(self) -> None:
        """Wait until the server has ended."""
        while not self._ended.wait(0.5):
            pass

    def stop(self) -> None:
        """Stop the server and all its work."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._ended.wait(STOP_TIMEOUT_SECONDS)
        self._socket.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._ended.set()

    async def _serve(self) -> None:
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            await self._application.close()

    def __enter__(self) -> ExplorerServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # asyncio sets TCP_NODELAY only if it knows the protocol; else a response waits for 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(256)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError, OverflowError) as error:
        reason = describe_os_error(error)
        raise ParameterError(
            f"host {host!r} and port {port} cannot be used: {reason} (without a port, a free one is chosen)"
        ) from None
    return listener
