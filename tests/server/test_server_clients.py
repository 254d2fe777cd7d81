"""Many clients, and such as are silent, slow or too many: they do not stop the others."""

import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn

import cube2net as c2n
from cube2net.apps.server import connections
from cube2net.apps.server.serve import ExplorerServer
from server.conftest import Client
from server.long_work import until
from server.timeless_answers import timeless


def received(sent: socket.socket) -> bytes:
    """Return what comes, nothing where the other side has left."""
    try:
        return sent.recv(10)
    except ConnectionResetError:
        return b""


def test_fifty_clients_get_the_answers_of_a_single_one(client: Any, network_request: dict[str, Any]) -> None:
    questions = [("construct", {"request": {**network_request, "n_cells": m}}) for m in range(1, 8)]
    questions += [("layout", {"request": {**network_request, "n_cells": m}}) for m in range(1, 4)]
    single = [timeless(client.answer(*question)) for question in questions]

    def visit(number: int) -> list[Any]:
        order = [(number + step) % len(questions) for step in range(4)]
        return [(at, timeless(client.answer(*questions[at]))) for at in order]

    with ThreadPoolExecutor(50) as clients:
        for answers in clients.map(visit, range(50)):
            assert all(answer == single[at] for at, answer in answers)


def test_clients_who_say_nothing_or_read_nothing_do_not_stop_others(
    client: Any, network_request: dict[str, Any]
) -> None:
    silent = [client.raw(b"") for _ in range(40)]
    begun = [client.raw(b"POST /api/v1/construct HTTP/1.1\r\nHost: x") for _ in range(40)]
    body = json.dumps({"request": {**network_request, "form": "objects"}}).encode()
    head = (
        f"POST /api/v1/construct HTTP/1.1\r\nHost: 127.0.0.1:{client.server.auth.port}\r\nAuthorization: Bearer "
        f"{client.server.auth.token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    deaf = [client.raw((head + body) * 8) for _ in range(10)]
    try:
        assert client.ask("construct", {"request": network_request})[0] == 200
    finally:
        for each in silent + begun + deaf:
            each.close()


def test_whoever_does_not_say_what_he_asks_for_is_left(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.05)
    client = serve(c2n.open(folder))
    for begun in (b"", b"GET / HTTP/1.1\r\nHo"):
        with client.raw(begun) as sent:
            assert received(sent) == b""


def test_whoever_does_not_read_is_left(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, network_request: dict[str, Any]
) -> None:
    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.05)
    client = serve(c2n.open(folder))
    connected = client.server.count_connections
    body = json.dumps({"request": {**network_request, "form": "objects"}}).encode()
    head = (
        f"POST /api/v1/construct HTTP/1.1\r\nHost: 127.0.0.1:{client.server.auth.port}\r\nAuthorization: Bearer "
        f"{client.server.auth.token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with client.raw(b"") as sent:
        until(lambda: connected() == 1)
        threading.Thread(target=_flood, args=(sent, head + body), daemon=True).start()
        until(lambda: connected() == 0)


def _flood(sent: Any, network_request: bytes) -> None:
    """Ask again and again without reading, until the other side has enough."""
    with suppress(OSError):
        for _ in range(10_000):
            sent.sendall(network_request)


HALF_SENT = b"GET /api/v1/cube HTTP/1.1\r\nHo"


@pytest.fixture
def endless_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection is closed because it waits, however long a test takes."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 3_600.0)
    monkeypatch.setattr(uvicorn, "Config", partial(uvicorn.Config, timeout_keep_alive=3_600))


def owners_request(server: Any) -> bytes:
    """Return a request with the cookie of the owner."""
    cookie = server.auth.cookie_header().partition(";")[0]
    return f"GET /api/v1/cube HTTP/1.1\r\nHost: 127.0.0.1:{server.auth.port}\r\nCookie: {cookie}\r\n\r\n".encode()


@pytest.mark.usefixtures("endless_patience")
def test_half_sent_requests_beyond_every_limit_do_not_lock_the_owner_out(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_KNOWN_CONNECTIONS", 6)
    monkeypatch.setattr(connections, "MAX_UNKNOWN_CONNECTIONS", 3)
    client = serve(c2n.open(folder))
    held = [client.raw(HALF_SENT) for _ in range(10)]
    with client.raw(owners_request(client.server)) as owner:
        assert owner.recv(12) == b"HTTP/1.1 200"
        held += [client.raw(HALF_SENT) for _ in range(10)]
        owner.sendall(owners_request(client.server))
        assert client.send("GET", "/api/v1/cube")[0] == 200
        until(lambda: client.server.count_connections() == 1 + 3)
    assert [received(each) for each in held[:-3]] == [b""] * 17
    for each in held:
        each.close()


@pytest.mark.usefixtures("endless_patience")
def test_an_owner_amid_many_who_connect_at_once_is_served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_UNKNOWN_CONNECTIONS", 2)
    server = ExplorerServer(c2n.open(folder))
    client = Client(server)
    by_token = f"GET /?token={server.auth.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.auth.port}\r\n\r\n".encode()
    crowd = [client.raw(HALF_SENT) for _ in range(5)]
    owners = [client.raw(owners_request(server)), client.raw(by_token)]
    crowd += [client.raw(HALF_SENT) for _ in range(5)]
    with server:
        assert [each.recv(12) for each in owners] == [b"HTTP/1.1 200", b"HTTP/1.1 303"]
        until(lambda: server.count_connections() == 2 + 2)
    for each in crowd + owners:
        each.close()


@pytest.mark.usefixtures("endless_patience")
def test_more_connections_of_the_owner_than_are_taken_are_closed(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_KNOWN_CONNECTIONS", 3)
    client = serve(c2n.open(folder))
    held = [client.raw(owners_request(client.server)) for _ in range(3)]
    assert [each.recv(12) for each in held] == [b"HTTP/1.1 200"] * 3
    with client.raw(owners_request(client.server)) as further:
        assert received(further) == b""
    for each in held:
        each.close()
    until(lambda: client.server.count_connections() == 0)
    assert client.send("GET", "/api/v1/cube")[0] == 200


def test_small_responses_do_not_wait_for_the_other_sides_word(client: Any) -> None:
    assert client.server._socket.proto == socket.IPPROTO_TCP
