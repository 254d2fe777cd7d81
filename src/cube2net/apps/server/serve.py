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
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query

STARTING = 30.0
"""So many seconds a server may take to start, and to end."""
LONGEST_HEADER = 32_000
"""So many letters of an address are sent in a header, which every browser takes."""


class ExplorerServer:
    """Serves the explorer of a cube from a thread of its own, from ``start`` to ``stop``; a context does both.

    ``query`` is what the page begins with; ``unresolved`` are names with labels that it lets be mended. ``opened`` is
    set once somebody came with the token. Without a cube, ``openings`` says what can be opened.
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
        openings: CubeOpener | None = None,
    ) -> None:
        self._begin = (
            "" if query is None or cube is None else f"#q={pack_request(make_request(cube, query, unresolved))}"
        )
        self._socket = _listening(host, port)
        self.gate = Authenticator(self._socket.getsockname()[1], host)
        limits = limits or ServerLimits()
        work = None if cube is None else Work(CubeService(cube, most_nodes=limits.nodes), limits)
        application = Application(work, self.gate, self._begin, openings=openings, limits=limits)
        self._application, self.opened = application, application.opened
        config = uvicorn.Config(
            application,
            lifespan="off",
            ws="none",
            http=partial(PatientConnection, ConnectionPool(self.gate)),  # type: ignore[arg-type]
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=0,
        )
        self._server = uvicorn.Server(config)
        # A join that an interrupt ends takes the thread for ended (CPython 3.11), so that it is not what is waited for.
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="explorer", daemon=True)

    @property
    def work(self) -> Work:
        """What answers requests about the cube that is open."""
        return self._application.work

    @property
    def site(self) -> str:
        """Where it is, without the token."""
        name = self.gate.host
        if name in WILDCARDS:
            name = socket.gethostname()
        return f"http://{f'[{name}]' if ':' in name else name}:{self.gate.port}/"

    @property
    def address(self) -> str:
        """The address to open: its token becomes a cookie, and what the page begins with comes by the way.

        What is too long for a header stands in the address itself.
        """
        known = f"{self.site}?token={self.gate.token}"
        if not self._begin:
            return known
        return f"{known}&{BEGIN}=query" if len(self._begin) <= LONGEST_HEADER else f"{known}{self._begin}"

    def connected(self) -> int:
        """Return how many connections there are."""
        return len(self._server.server_state.connections)

    def start(self) -> None:
        """Answer requests from now on."""
        self._thread.start()

    def wait(self) -> None:
        """Return when the server has ended."""
        while not self._ended.wait(0.5):
            pass

    def stop(self) -> None:
        """End the server and all its work."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._ended.wait(STARTING)
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


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # By its number asyncio knows TCP, and sends small packets at once: else a response waits for 40 ms.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, port))
            found.listen(256)
        except OSError:
            found.close()
            raise
    except (OSError, UnicodeError, OverflowError) as error:
        said = (getattr(error, "strerror", None) or str(error)).lower()
        raise ParameterError(
            f"host {host!r} and port {port} cannot be listened at: {said} (without a port a free one is taken)"
        ) from None
    return found
