"""A small cube that is served at 127.0.0.1, and clients that know its token or do not."""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.apps.server.serve import ExplorerServer

PATIENCE = 60
"""So many seconds are waited for an answer before a test is lost."""


@dataclass
class Client:
    """Asks a server by the standard library's HTTP, with the token as a bearer unless told otherwise."""

    server: ExplorerServer
    headers: dict[str, str] = field(default_factory=dict)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.server.auth.port, timeout=PATIENCE)

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers (in lower case) and the body of a response."""
        known = {"Authorization": f"Bearer {self.server.auth.token}", **self.headers}
        sent = known | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = self.connect()
        try:
            connection.request(method, path, body, {name: value for name, value in sent.items() if value})
            response = connection.getresponse()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        finally:
            connection.close()

    def ask(self, name: str, question: object, **headers: str) -> tuple[int, Any]:
        """Return the status and the answer to a question."""
        body = json.dumps(question).encode()
        status, _, answer = self.send("POST", f"/api/v1/{name}", body, Content_Type="application/json", **headers)
        return status, json.loads(answer)

    def answer(self, name: str, question: object) -> Any:
        """Return the answer to a question that has one."""
        status, answer = self.ask(name, question)
        assert status == 200, answer
        return answer

    def open_stream(self, name: str, question: object) -> http.client.HTTPResponse:
        """Return the response to a question whose progress is to be told, as it comes."""
        connection = self.connect()
        headers = {"Authorization": f"Bearer {self.server.auth.token}", "Accept": "application/x-ndjson"}
        headers["Content-Type"] = "application/json"
        connection.request("POST", f"/api/v1/{name}", json.dumps(question).encode(), headers)
        response = connection.getresponse()
        assert response.status == 200
        return response

    def raw(self, content: bytes) -> socket.socket:
        """Return a socket over which some bytes went."""
        sent = socket.create_connection(("127.0.0.1", self.server.auth.port), timeout=PATIENCE)
        sent.sendall(content)
        return sent


@pytest.fixture(scope="session")
def planted() -> Any:
    return c2n.make_planted(objects=300, communities=6, noise=0.2, links=4.0, within=0.8, seed=0)


@pytest.fixture(scope="session")
def folder(planted: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explorer") / "cube"
    c2n.build(planted.corpus, out=place)
    return place


@pytest.fixture(scope="session")
def network_request(planted: Any) -> dict[str, Any]:
    """A question about two communities."""
    groups = [planted.query(group)[:12] for group in (0, 1)]
    labels = [f"group {at}" for at, group in enumerate(groups) for _ in group]
    return {"query": [name for group in groups for name in group], "labels": labels}


@pytest.fixture
def serve() -> Iterator[Callable[..., Client]]:
    """What starts a server of a cube; all end with the test."""
    started: list[ExplorerServer] = []

    def start(cube: c2n.Cube, **options: Any) -> Client:
        server = ExplorerServer(cube, **options)
        started.append(server)
        server.start()
        return Client(server)

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    """A client of a server of the small cube, with a page of a few files."""
    with ExplorerServer(c2n.open(folder)) as server:
        yield Client(server)
