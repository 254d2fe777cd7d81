"""Long work is done by processes of its own: they are kept, stopped, killed and ended, and say so."""

import asyncio
import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

import cube2net as c2n
from cube2net.apps.server import workers as worker_pool
from cube2net.apps.server.workers import ServerLimits
from server.long_work import ENDLESS, PATIENCE, begin, first_progress, is_there, until, working
from server.timeless_answers import timeless


def test_long_work_is_done_by_a_process_that_is_kept(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder))
    assert working(client) == []
    client.answer("construct", {"request": network_request})
    assert working(client) == []
    long = {"request": {**network_request, "method": "anneal", "options": {"steps": 1000}}}
    told = client.answer("construct", long)
    (pid,) = working(client)
    lines = client.open_stream("construct", long).read().splitlines()
    assert timeless(json.loads(lines[-1])["answer"]) == timeless(told)
    assert working(client) == [pid]
    status, answer = client.ask("construct", {"request": {**long["request"], "options": {"steps": "many"}}})
    assert status == 400
    assert "steps" in answer["error"]["sentence"]
    assert working(client) == [pid]
    client.server.stop()
    until(lambda: not is_there(pid))


def test_a_worker_that_nobody_needs_ends(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "IDLE_TIMEOUT_SECONDS", 0.05)
    client = serve(c2n.open(folder))
    client.answer("construct", {"request": {**network_request, "method": "anneal", "options": {"steps": 1000}}})
    until(lambda: working(client) == [])


def test_whoever_does_not_read_his_lines_holds_no_worker(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder), limits=ServerLimits(workers=1))
    client.server._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    long = {**network_request, "method": "anneal", "options": {"steps": 1000}}
    body = json.dumps({"request": {**long, "labels": [label * 2_000 for label in network_request["labels"]]}}).encode()
    head = (
        f"POST /api/v1/construct HTTP/1.1\r\nHost: 127.0.0.1:{client.server.auth.port}\r\nAuthorization: Bearer "
        f"{client.server.auth.token}\r\nContent-Type: application/json\r\nAccept: application/x-ndjson\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        deaf.settimeout(PATIENCE)
        deaf.connect(("127.0.0.1", client.server.auth.port))
        deaf.sendall(head + body)
        until(lambda: any(each.flow.write_paused for each in client.server._server.server_state.connections))
        assert client.ask("construct", {"request": {**long, "n_cells": 4}})[0] == 200
        assert b'{"answer":' in b"".join(iter(lambda: deaf.recv(1 << 16), b""))


def test_whoever_goes_away_stops_the_work(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder))
    stream, pid = begin(client, network_request)
    assert is_there(pid)
    stream.close()
    until(lambda: not is_there(pid))
    assert (
        client.ask("construct", {"request": {**network_request, "method": "anneal", "options": {"steps": 1000}}})[0]
        == 200
    )


def test_a_worker_that_is_killed_is_one_sentence_and_the_next_question_works(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder))
    stream, pid = begin(client, network_request)
    os.kill(pid, signal.SIGKILL)
    error = json.loads(stream.read().splitlines()[-1])["error"]
    assert error["kind"] == "worker"
    assert error["sentence"].startswith("the worker ended unexpectedly (with status -9)")
    long = {"request": {**network_request, "method": "anneal", "options": {"steps": 1000}}}
    client.answer("construct", long)
    (kept,) = working(client)
    os.kill(kept, signal.SIGKILL)
    until(lambda: not is_there(kept))
    until(lambda: client.ask("construct", long)[0] == 200)


def test_long_work_waits_for_its_turn_and_too_much_of_it_is_refused(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder), limits=ServerLimits(workers=1, long_waiting=1))
    stream, _ = begin(client, network_request)
    second = client.open_stream("construct", {"request": {**network_request, **ENDLESS, "n_cells": 3}})
    assert first_progress(second)["stage"] == "waiting for other long work"
    status, answer = client.ask("construct", {"request": {**network_request, **ENDLESS, "n_cells": 4}})
    assert (status, answer["error"]["kind"]) == (429, "busy")
    assert answer["error"]["sentence"].startswith("1 long requests are waiting already")
    assert client.ask("construct", {"request": network_request})[0] == 200
    stream.close()
    assert first_progress(second)["stage"] != "waiting for other long work"
    second.close()


def test_work_that_takes_too_long_is_stopped(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder), limits=ServerLimits(long_seconds=0.5))
    status, answer = client.ask("construct", {"request": {**network_request, **ENDLESS}})
    assert (status, answer["error"]["kind"]) == (503, "slow")
    assert working(client) == []


def test_long_work_on_a_cube_in_memory_is_stopped_too(
    planted: Any, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.build(planted.corpus), limits=ServerLimits(workers=1))
    assert client.server.work.workers is None
    stream = client.open_stream("construct", {"request": {**network_request, **ENDLESS}})
    assert first_progress(stream)["stage"] == "working"
    stream.close()
    assert (
        client.ask("construct", {"request": {**network_request, "method": "anneal", "options": {"steps": 1000}}})[0]
        == 200
    )


def test_the_server_ends_in_the_middle_of_long_work(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder))
    _, pid = begin(client, network_request)
    client.server.stop()
    until(lambda: not is_there(pid))


def test_a_cube_that_changed_on_disk_is_not_mixed_with_the_one_that_is_served(
    planted: Any, tmp_path: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    c2n.build(planted.corpus, out=tmp_path / "cube")
    client = serve(c2n.open(tmp_path / "cube"))
    (tmp_path / "cube").rename(tmp_path / "old")
    c2n.build(c2n.make_planted(objects=200, communities=4).corpus, out=tmp_path / "cube")
    status, answer = client.ask("construct", {"request": {**network_request, "method": "anneal"}})
    assert status == 400
    assert "has changed since the explorer" in answer["error"]["sentence"]


def test_a_worker_ends_when_the_server_is_killed(folder: Path, network_request: dict[str, Any]) -> None:
    program = (
        "import sys, cube2net as c2n; from cube2net.apps.server.serve import ExplorerServer\n"
        "server = ExplorerServer(c2n.open(sys.argv[1])); server.start()\n"
        "print(server.auth.port, server.auth.token, flush=True)\n"
        "sys.stdin.readline(); print(*server.work.workers.pids, flush=True); server.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        port, token = server.stdout.readline().split()
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/x-ndjson"}
        body = json.dumps({"request": {**network_request, **ENDLESS}})
        connection.request("POST", "/api/v1/construct", body, {**headers, "Content-Type": "application/json"})
        stream = connection.getresponse()
        while first_progress(stream)["stage"] == "starting a worker":
            pass
        server.stdin.write("\n")
        server.stdin.flush()
        (pid,) = map(int, server.stdout.readline().split())
        assert is_there(pid)
        server.kill()
        until(lambda: not is_there(pid))
        connection.close()


def test_the_notes_of_a_worker_arrive_as_notes() -> None:
    class Heard:
        def __init__(self) -> None:
            self.stages: list[str] = []
            self.notes: list[str] = []

        def __call__(self, stage: str, done: int, total: int | None = None) -> None:
            self.stages.append(stage)

        def note(self, text: str) -> None:
            self.notes.append(text)

    async def converse(lines: bytes, heard: Heard) -> bytes:
        process = Mock(stdin=Mock(drain=AsyncMock()), stdout=asyncio.StreamReader())
        process.stdout.feed_data(lines)
        return (await worker_pool._converse(process, {}, heard)).body

    out, heard = io.BytesIO(), Heard()
    progress = worker_pool._LineProgress(out)
    progress("reading", 1, 1)
    progress.note("2 lines were left out")
    out.write(b'{"answer":3}\n')
    assert asyncio.run(converse(out.getvalue(), heard)) == b"3"
    assert (heard.stages, heard.notes) == (["reading"], ["2 lines were left out"])
