"""Clicks on what is known wait behind no long work and no heavy questions."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.apps.server.responses import json_bytes
from cube2net.apps.server.workers import ServerLimits
from cube2net.apps.service import service as service_module
from cube2net.apps.service.requests import ParsedRequest, parse_request
from cube2net.apps.service.service import CubeService
from server.long_work import ENDLESS, PATIENCE, first_progress, until


def test_a_click_on_a_network_that_took_long_waits_for_no_other_long_work(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder))
    long = {**network_request, "method": "anneal", "options": {"steps": 1000}}
    told = client.answer("construct", {"request": long})
    node = {"cell": told["cells"][0]["labels"]}
    own = CubeService(c2n.open(folder))
    streams = [
        client.open_stream("construct", {"request": {**network_request, **ENDLESS, "seed": seed}}) for seed in (1, 2)
    ]
    for stream in streams:
        while first_progress(stream)["stage"] == "starting a worker":
            pass
    again = client.answer("construct", {"request": long})
    assert again == told
    for question in ({}, {"node": node}, {"node": {"object": network_request["query"][0]}}):
        explained = client.answer("explain", {"request": long, **question})
        assert explained == json.loads(json_bytes(own.answer("explain", {"request": long, **question})))
    assert len(client.answer("layout", {"request": long})["places"]) == len(told["nodes"]["id"])
    without = client.open_stream("without", {"request": long, "without": [node]})
    assert first_progress(without)["stage"] == "waiting for other long work"
    streams[0].close()
    change = json.loads(without.read().splitlines()[-1])["answer"]
    assert change == json.loads(json_bytes(own.answer("without", {"request": long, "without": [node]})))
    streams[1].close()


def test_looking_up_the_names_of_a_long_question_stops_nobody_else(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(c2n.open(folder))
    looked, go_on = threading.Event(), threading.Event()

    def slowly(cube: c2n.Cube, given: Any) -> ParsedRequest:
        looked.set()
        assert go_on.wait(PATIENCE)
        return parse_request(cube, given)

    monkeypatch.setattr(service_module, "parse_request", slowly)
    with ThreadPoolExecutor(1) as others:
        waiting = others.submit(
            client.ask, "construct", {"request": {**network_request, "method": "anneal", "options": {"steps": 9}}}
        )
        assert looked.wait(PATIENCE)
        assert client.send("GET", "/api/v1/cube")[0] == 200
        go_on.set()
        assert waiting.result()[0] == 200


def test_a_click_waits_behind_no_heavier_questions(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(c2n.open(folder))
    heavy, go_on = threading.Semaphore(0), threading.Event()
    answer = client.server.work.service.answer

    def slowly(name: str, question: Any, progress: Any) -> Any:
        if name == "members":
            heavy.release()
            assert go_on.wait(PATIENCE)
        return answer(name, question, progress)

    monkeypatch.setattr(client.server.work.service, "answer", slowly)
    threads = client.server.work.limits.threads
    with ThreadPoolExecutor(threads) as others:
        cells = [client.answer("explain", {"request": network_request})["explanation"]["cells"][0]["labels"]]
        waiting = [others.submit(client.ask, "members", {"cells": cells}) for _ in range(threads)]
        assert all(heavy.acquire(timeout=PATIENCE) for _ in waiting)
        for name, question in (
            ("explain", {"request": network_request, "node": {"cell": cells[0]}}),
            ("without", {"request": network_request, "without": [{"cell": cells[0]}]}),
            ("complete", {"text": "o"}),
            ("cube", {}),
        ):
            assert client.ask(name, question)[0] == 200
        go_on.set()
        assert [each.result()[0] for each in waiting] == [200] * threads


def test_work_that_nobody_waits_for_counts_until_it_ends(
    folder: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(c2n.open(folder), limits=ServerLimits(threads=1, waiting=1))
    begun, go_on = threading.Event(), threading.Event()

    def slowly(name: str, question: Any, progress: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE)
        return {}

    monkeypatch.setattr(client.server.work.service, "answer", slowly)
    stream = client.open_stream("drill", {"query": []})
    assert begun.wait(PATIENCE)
    stream.close()
    until(lambda: client.server.count_connections() == 0)
    status, answer = client.ask("drill", {"query": []})
    assert (status, answer["error"]["kind"]) == (429, "busy")
    go_on.set()
    until(lambda: client.ask("drill", {"query": []})[0] == 200)
