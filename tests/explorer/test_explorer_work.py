"""Many clients and long work: whoever goes away, is slow or has bad luck does not stop the others."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.api import Desk, desk
from cube2net.api.ask_parameters import shortest
from cube2net.explorer import connections, worker_pool
from cube2net.explorer.replies import json_bytes
from cube2net.explorer.work import ServerLimits
from explorer.timeless_answers import timeless

PATIENCE = 60.0
ENDLESS = {"method": "anneal", "options": {"steps": 2_000_000_000}}
"""A question that nobody lives to see answered."""


def until(what: Callable[[], bool]) -> None:
    """Return when something is true; fail where it does not become so."""
    last = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < last, "it did not come true"
        time.sleep(0.02)


def is_there(pid: int) -> bool:
    """Return whether a process is there and has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def received(sent: socket.socket) -> bytes:
    """Return what comes, nothing where the other side has left."""
    try:
        return sent.recv(10)
    except ConnectionResetError:
        return b""


def first_progress(response: Any) -> dict[str, Any]:
    line = json.loads(response.readline())
    assert set(line) == {"progress"}, line
    return dict(line["progress"])


def working(client: Any) -> list[int]:
    return list(client.server.work.workers.pids)


def begin(client: Any, ask: dict[str, Any]) -> tuple[Any, int]:
    """Return the stream of endless work that has begun, and the process that does it."""
    before = set(working(client))
    stream = client.open_stream("construct", {"ask": {**ask, **ENDLESS}})
    while first_progress(stream)["stage"] in ("starting a worker", "waiting for other long work"):
        pass
    (pid,) = set(working(client)) - before
    return stream, pid


def test_long_work_is_done_by_a_process_that_is_kept(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    client = serve(c2n.open_cube(folder))
    assert working(client) == []
    client.answer("construct", {"ask": ask})
    assert working(client) == []
    long = {"ask": {**ask, "method": "anneal", "options": {"steps": 1000}}}
    told = client.answer("construct", long)
    (pid,) = working(client)
    lines = client.open_stream("construct", long).read().splitlines()
    assert timeless(json.loads(lines[-1])["answer"]) == timeless(told)
    assert working(client) == [pid]
    status, answer = client.ask("construct", {"ask": {**long["ask"], "options": {"steps": "many"}}})
    assert status == 400
    assert "steps" in answer["error"]["sentence"]
    assert working(client) == [pid]
    client.server.stop()
    until(lambda: not is_there(pid))


def test_a_worker_that_nobody_needs_ends(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "IDLE", 0.05)
    client = serve(c2n.open_cube(folder))
    client.answer("construct", {"ask": {**ask, "method": "anneal", "options": {"steps": 1000}}})
    until(lambda: working(client) == [])


def test_whoever_does_not_read_his_lines_holds_no_worker(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    client = serve(c2n.open_cube(folder), limits=ServerLimits(workers=1))
    long = {"ask": {**ask, "method": "anneal", "options": {"steps": 1000}}}
    stream = client.open_stream("construct", long)
    assert client.ask("construct", {"ask": {**long["ask"], "m": 4}})[0] == 200
    assert "answer" in json.loads(stream.read().splitlines()[-1])


def test_whoever_goes_away_stops_the_work(folder: Path, serve: Callable[..., Any], ask: dict[str, Any]) -> None:
    client = serve(c2n.open_cube(folder))
    stream, pid = begin(client, ask)
    assert is_there(pid)
    stream.close()
    until(lambda: not is_there(pid))
    assert client.ask("construct", {"ask": {**ask, "method": "anneal", "options": {"steps": 1000}}})[0] == 200


def test_a_worker_that_is_killed_is_one_sentence_and_the_next_question_works(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    client = serve(c2n.open_cube(folder))
    stream, pid = begin(client, ask)
    os.kill(pid, signal.SIGKILL)
    error = json.loads(stream.read().splitlines()[-1])["error"]
    assert error["kind"] == "worker"
    assert error["sentence"].startswith("the worker ended unexpectedly (with status -9)")
    long = {"ask": {**ask, "method": "anneal", "options": {"steps": 1000}}}
    client.answer("construct", long)
    (kept,) = working(client)
    os.kill(kept, signal.SIGKILL)
    until(lambda: not is_there(kept))
    until(lambda: client.ask("construct", long)[0] == 200)


def test_long_work_waits_for_its_turn_and_too_much_of_it_is_refused(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    client = serve(c2n.open_cube(folder), limits=ServerLimits(workers=1, long_waiting=1))
    stream, _ = begin(client, ask)
    second = client.open_stream("construct", {"ask": {**ask, **ENDLESS, "m": 3}})
    assert first_progress(second)["stage"] == "waiting for other long work"
    status, answer = client.ask("construct", {"ask": {**ask, **ENDLESS, "m": 4}})
    assert (status, answer["error"]["kind"]) == (429, "busy")
    assert answer["error"]["sentence"].startswith("1 long questions are waiting already")
    assert client.ask("construct", {"ask": ask})[0] == 200
    stream.close()
    assert first_progress(second)["stage"] != "waiting for other long work"
    second.close()


def test_work_that_takes_too_long_is_stopped(folder: Path, serve: Callable[..., Any], ask: dict[str, Any]) -> None:
    client = serve(c2n.open_cube(folder), limits=ServerLimits(long_seconds=0.5))
    status, answer = client.ask("construct", {"ask": {**ask, **ENDLESS}})
    assert (status, answer["error"]["kind"]) == (503, "slow")
    assert working(client) == []


def test_long_work_on_a_cube_in_memory_is_stopped_too(
    planted: Any, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    client = serve(c2n.build_cube(planted.corpus), limits=ServerLimits(workers=1))
    assert client.server.work.workers is None
    stream = client.open_stream("construct", {"ask": {**ask, **ENDLESS}})
    assert first_progress(stream)["stage"] == "working"
    stream.close()
    assert client.ask("construct", {"ask": {**ask, "method": "anneal", "options": {"steps": 1000}}})[0] == 200


def test_the_server_ends_in_the_middle_of_long_work(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    client = serve(c2n.open_cube(folder))
    _, pid = begin(client, ask)
    client.server.stop()
    until(lambda: not is_there(pid))


def test_a_cube_that_changed_on_disk_is_not_mixed_with_the_one_that_is_served(
    planted: Any, tmp_path: Path, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    c2n.build_cube(planted.corpus, out=tmp_path / "cube")
    client = serve(c2n.open_cube(tmp_path / "cube"))
    (tmp_path / "cube").rename(tmp_path / "old")
    c2n.build_cube(c2n.make_planted(objects=200, communities=4).corpus, out=tmp_path / "cube")
    status, answer = client.ask("construct", {"ask": {**ask, "method": "anneal"}})
    assert status == 400
    assert "holds another cube than when" in answer["error"]["sentence"]


def test_fifty_clients_get_the_answers_of_a_single_one(client: Any, ask: dict[str, Any]) -> None:
    questions = [("construct", {"ask": {**ask, "m": m}}) for m in range(1, 8)]
    questions += [("layout", {"ask": {**ask, "m": m}}) for m in range(1, 4)]
    single = [timeless(client.answer(*question)) for question in questions]

    def visit(number: int) -> list[Any]:
        order = [(number + step) % len(questions) for step in range(4)]
        return [(at, timeless(client.answer(*questions[at]))) for at in order]

    with ThreadPoolExecutor(50) as clients:
        for answers in clients.map(visit, range(50)):
            assert all(answer == single[at] for at, answer in answers)


def test_clients_who_say_nothing_or_read_nothing_do_not_stop_others(client: Any, ask: dict[str, Any]) -> None:
    silent = [client.raw(b"") for _ in range(40)]
    begun = [client.raw(b"POST /api/v1/construct HTTP/1.1\r\nHost: x") for _ in range(40)]
    body = json.dumps({"ask": {**ask, "form": "objects"}}).encode()
    head = (
        f"POST /api/v1/construct HTTP/1.1\r\nHost: 127.0.0.1:{client.server.gate.port}\r\nAuthorization: Bearer "
        f"{client.server.gate.token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    deaf = [client.raw((head + body) * 8) for _ in range(10)]
    try:
        assert client.ask("construct", {"ask": ask})[0] == 200
    finally:
        for each in silent + begun + deaf:
            each.close()


def test_whoever_does_not_say_what_he_asks_for_is_left(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.05)
    client = serve(c2n.open_cube(folder))
    for begun in (b"", b"GET / HTTP/1.1\r\nHo"):
        with client.raw(begun) as sent:
            assert received(sent) == b""


def test_whoever_does_not_read_is_left(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, ask: dict[str, Any]
) -> None:
    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.05)
    client = serve(c2n.open_cube(folder))
    connected = client.server.connected
    body = json.dumps({"ask": {**ask, "form": "objects"}}).encode()
    head = (
        f"POST /api/v1/construct HTTP/1.1\r\nHost: 127.0.0.1:{client.server.gate.port}\r\nAuthorization: Bearer "
        f"{client.server.gate.token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with client.raw(b"") as sent:
        until(lambda: connected() == 1)
        threading.Thread(target=_flood, args=(sent, head + body), daemon=True).start()
        until(lambda: connected() == 0)


def _flood(sent: Any, request: bytes) -> None:
    """Ask again and again without reading, until the other side has enough."""
    with suppress(OSError):
        for _ in range(10_000):
            sent.sendall(request)


def test_more_connections_than_are_taken_are_closed(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    client = serve(c2n.open_cube(folder))
    held = [client.raw(b"") for _ in range(3)]
    until(lambda: client.server.connected() == 3)
    with client.raw(b"") as further:
        assert received(further) == b""
    for each in held:
        each.close()
    until(lambda: client.server.connected() == 0)
    assert client.send("GET", "/api/v1/cube")[0] == 200


def test_a_worker_ends_when_the_server_is_killed(folder: Path, ask: dict[str, Any]) -> None:
    program = (
        "import sys, cube2net as c2n; from cube2net.explorer.serving import ExplorerServer\n"
        "server = ExplorerServer(c2n.open_cube(sys.argv[1])); server.start()\n"
        "print(server.gate.port, server.gate.token, flush=True)\n"
        "sys.stdin.readline(); print(*server.work.workers.pids, flush=True); server.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        port, token = server.stdout.readline().split()
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/x-ndjson"}
        body = json.dumps({"ask": {**ask, **ENDLESS}})
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


def test_small_responses_do_not_wait_for_the_other_sides_word(client: Any) -> None:
    assert client.server._socket.proto == socket.IPPROTO_TCP


def test_a_click_on_a_network_that_took_long_waits_for_no_other_long_work(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any]
) -> None:
    client = serve(c2n.open_cube(folder))
    long = {**ask, "method": "anneal", "options": {"steps": 1000}}
    told = client.answer("construct", {"ask": long})
    node = {"cell": told["cells"][0]["labels"]}
    own = Desk(c2n.open_cube(folder))
    streams = [client.open_stream("construct", {"ask": {**ask, **ENDLESS, "seed": seed}}) for seed in (1, 2)]
    for stream in streams:
        while first_progress(stream)["stage"] == "starting a worker":
            pass
    again = client.answer("construct", {"ask": long})
    assert again == told
    for question in ({}, {"node": node}, {"node": {"object": ask["query"][0]}}):
        explained = client.answer("explain", {"ask": long, **question})
        assert explained == json.loads(json_bytes(own.answer("explain", {"ask": long, **question})))
    assert len(client.answer("layout", {"ask": long})["places"]) == len(told["nodes"]["id"])
    without = client.open_stream("without", {"ask": long, "without": [node]})
    assert first_progress(without)["stage"] == "waiting for other long work"
    streams[0].close()
    change = json.loads(without.read().splitlines()[-1])["answer"]
    assert change == json.loads(json_bytes(own.answer("without", {"ask": long, "without": [node]})))
    streams[1].close()


def test_looking_up_the_names_of_a_long_question_stops_nobody_else(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(c2n.open_cube(folder))
    looked, go_on = threading.Event(), threading.Event()

    def slowly(cube: c2n.Cube, given: Any) -> dict[str, Any]:
        looked.set()
        assert go_on.wait(PATIENCE)
        return shortest(cube, given)

    monkeypatch.setattr(desk, "shortest", slowly)
    with ThreadPoolExecutor(1) as others:
        waiting = others.submit(client.ask, "construct", {"ask": {**ask, "method": "anneal", "options": {"steps": 9}}})
        assert looked.wait(PATIENCE)
        assert client.send("GET", "/api/v1/cube")[0] == 200
        go_on.set()
        assert waiting.result()[0] == 200


def test_a_click_waits_behind_no_heavier_questions(
    folder: Path, serve: Callable[..., Any], ask: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(c2n.open_cube(folder))
    heavy, go_on = threading.Semaphore(0), threading.Event()
    answer = client.server.work.desk.answer

    def slowly(name: str, question: Any, progress: Any) -> Any:
        if name == "members":
            heavy.release()
            assert go_on.wait(PATIENCE)
        return answer(name, question, progress)

    monkeypatch.setattr(client.server.work.desk, "answer", slowly)
    threads = client.server.work.limits.threads
    with ThreadPoolExecutor(threads) as others:
        cells = [client.answer("explain", {"ask": ask})["explanation"]["cells"][0]["labels"]]
        waiting = [others.submit(client.ask, "members", {"cells": cells}) for _ in range(threads)]
        assert all(heavy.acquire(timeout=PATIENCE) for _ in waiting)
        for name, question in (
            ("explain", {"ask": ask, "node": {"cell": cells[0]}}),
            ("without", {"ask": ask, "without": [{"cell": cells[0]}]}),
            ("complete", {"text": "o"}),
            ("cube", {}),
        ):
            assert client.ask(name, question)[0] == 200
        go_on.set()
        assert [each.result()[0] for each in waiting] == [200] * threads


def test_work_that_nobody_waits_for_counts_until_it_ends(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(c2n.open_cube(folder), limits=ServerLimits(threads=1, waiting=1))
    begun, go_on = threading.Event(), threading.Event()

    def slowly(name: str, question: Any, progress: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE)
        return {}

    monkeypatch.setattr(client.server.work.desk, "answer", slowly)
    stream = client.open_stream("drill", {"query": []})
    assert begun.wait(PATIENCE)
    stream.close()
    until(lambda: client.server.connected() == 0)
    status, answer = client.ask("drill", {"query": []})
    assert (status, answer["error"]["kind"]) == (429, "busy")
    go_on.set()
    until(lambda: client.ask("drill", {"query": []})[0] == 200)
