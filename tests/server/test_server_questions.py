"""Questions over HTTP: the service's answers as they are, and what is no question refused in one sentence."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.apps.server import responses as reading_requests
from cube2net.apps.server import responses as replies
from cube2net.apps.server.responses import json_bytes
from cube2net.apps.server.workers import ServerLimits
from cube2net.apps.service.service import ROUTES, CubeService
from server.timeless_answers import timeless

from hostile import NAMES, World


@pytest.fixture(scope="module")
def service(folder: Path) -> CubeService:
    return CubeService(c2n.open(folder))


def test_the_answer_is_that_of_the_service(client: Any, service: CubeService, network_request: dict[str, Any]) -> None:
    for name, question in (
        ("construct", {"request": network_request}),
        ("construct", {"request": {**network_request, "n_cells": 3, "form": "cells+objects"}}),
        ("layout", {"request": network_request}),
        ("names", {"text": "\n".join([*network_request["query"][:3], "nobody"])}),
        ("complete", {"text": "o1"}),
        ("explain", {"request": network_request, "node": {"object": network_request["query"][0]}}),
        ("drill", {"query": network_request["query"]}),
    ):
        assert timeless(client.answer(name, question)) == timeless(
            json.loads(json_bytes(service.answer(name, question)))
        )


def test_the_cube_is_told_to_whoever_gets_or_posts(client: Any, service: CubeService) -> None:
    status, _, body = client.send("GET", "/api/v1/cube")
    assert (status, json.loads(body)) == (200, client.answer("cube", {}))
    assert json.loads(body)["checksum"] == service.checksum


def test_a_large_answer_is_packed_where_that_is_taken(
    client: Any, network_request: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "MIN_COMPRESSED_BYTES", 1_000)
    body = json.dumps({"request": {**network_request, "form": "objects", "n_cells": 20}}).encode()
    plain = client.send("POST", "/api/v1/construct", body, Content_Type="application/json")
    packed = client.send("POST", "/api/v1/construct", body, Content_Type="application/json", Accept_Encoding="gzip")
    assert "content-encoding" not in plain[1]
    assert packed[1]["content-encoding"] == "gzip"
    assert timeless(json.loads(gzip.decompress(packed[2]))) == timeless(json.loads(plain[2]))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "the request is no JSON: Expecting value"),
        (b"{", "the request is no JSON"),
        (b"\xff\xfe", "the request is no JSON"),
        (b'{"n_cells": NaN}', "the request is no JSON: JSON has no number NaN"),
        (b'{"n_cells": -Infinity}', "the request is no JSON: JSON has no number -Infinity"),
        (b"[" * 100_000, "the request is no JSON"),
        (b'{"n_cells": ' + b"9" * 5000 + b"}", "the request is no JSON"),
        (b"[1]", "the request is [1], expected an object with its fields"),
        (b"null", "the request is None, expected an object with its fields"),
    ],
)
def test_what_is_no_json_object_is_refused(client: Any, body: bytes, sentence: str) -> None:
    status, _, answer = client.send("POST", "/api/v1/construct", body, Content_Type="application/json")
    error = json.loads(answer)["error"]
    assert (status, error["kind"]) == (400, "json")
    assert error["sentence"].startswith(sentence)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_could_send_is_refused(client: Any, kind: str) -> None:
    status, _, answer = client.send("POST", "/api/v1/construct", b"{}", Content_Type=kind)
    assert status == 415
    assert json.loads(answer)["error"]["sentence"] == f"the content type is {kind!r}, expected 'application/json'"


def test_an_unknown_question_is_refused_with_those_there_are(client: Any) -> None:
    status, answer = client.ask("constuct", {})
    assert status == 404
    assert "unknown request 'constuct'" in answer["error"]["sentence"]
    assert "did you mean 'construct'?" in answer["error"]["sentence"]


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.request_type is not dict])
def test_every_question_refuses_a_field_that_it_does_not_know(client: Any, name: str) -> None:
    status, answer = client.ask(name, {"nothing of the kind": 1})
    assert status == 400, answer
    assert "nothing of the kind" in answer["error"]["sentence"] or "request" in answer["error"]["sentence"]


def test_a_question_that_is_too_large_is_refused_while_it_comes(
    client: Any, monkeypatch: pytest.MonkeyPatch, network_request: dict[str, Any]
) -> None:
    monkeypatch.setattr(reading_requests, "MAX_REQUEST_BYTES", 10_000)
    status, answer = client.ask("construct", {"request": network_request, "x": "x" * 20_000})
    assert status == 413
    assert answer["error"]["sentence"] == "the request has more than 10,000 bytes, which is the most taken"
    token = client.server.auth.token
    head = (
        f"POST /api/v1/construct HTTP/1.1\r\nHost: 127.0.0.1:{client.server.auth.port}\r\nAuthorization: Bearer "
        f"{token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()
    with client.raw(head + b"4000\r\n" + b"x" * 0x4000 + b"\r\n") as sent:
        assert sent.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_sender_who_stops_is_left(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_requests, "BODY_TIMEOUT_SECONDS", 0.05)
    head = (
        f"POST /api/v1/construct HTTP/1.1\r\nHost: 127.0.0.1:{client.server.auth.port}\r\nAuthorization: Bearer "
        f"{client.server.auth.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    ).encode()
    with client.raw(head) as sent:
        assert sent.recv(100).startswith(b"HTTP/1.1 408 ")


def test_lists_that_are_too_long_are_refused_by_name(
    folder: Path, serve: Callable[..., Any], network_request: Any
) -> None:
    client = serve(c2n.open(folder), limits=ServerLimits(entries=10))
    status, answer = client.ask("construct", {"request": network_request})
    assert (status, answer["error"]["sentence"]) == (400, "query has 24 entries, expected at most 10")
    where = {"venue": ["x"] * 6, "topic": ["y"] * 5}
    status, answer = client.ask("construct", {"request": {"query": ["o1"], "where": where}})
    assert (status, answer["error"]["sentence"]) == (400, "where has 11 entries, expected at most 10")
    status, answer = client.ask("pivot", {"rows": "venue", "columns": "topic", "where": where})
    assert (status, answer["error"]["sentence"]) == (400, "where has 11 entries, expected at most 10")


def test_a_network_that_is_too_large_names_the_parameter_that_helps(
    folder: Path, serve: Callable[..., Any], network_request: dict[str, Any]
) -> None:
    client = serve(c2n.open(folder), limits=ServerLimits(nodes=30))
    for name in ("construct", "layout", "export"):
        question = {
            "request": {**network_request, "form": "objects"},
            **({"format": ".csv"} if name == "export" else {}),
        }
        status, answer = client.ask(name, question)
        assert status == 400
        assert "more than the 30 that are taken at once: ask for fewer with max_nodes" in answer["error"]["sentence"]
    assert client.ask("construct", {"request": {**network_request, "form": "objects", "max_nodes": 30}})[0] == 200


def test_an_exported_file_comes_with_its_name(
    client: Any, service: CubeService, network_request: dict[str, Any]
) -> None:
    question = {"request": network_request, "format": ".graphml"}
    body = json.dumps(question).encode()
    status, headers, content = client.send("POST", "/api/v1/export", body, Content_Type="application/json")
    file = service.file(question)
    assert (status, content) == (200, file.content)
    assert headers["content-disposition"].startswith(f'attachment; filename="{file.name}"')
    assert headers["content-type"].partition(";")[0] == file.media_type.partition(";")[0]


def test_progress_comes_as_lines_that_end_with_the_answer(client: Any, network_request: dict[str, Any]) -> None:
    response = client.open_stream("construct", {"request": {**network_request, "n_cells": 5}})
    assert response.getheader("content-type") == "application/x-ndjson"
    lines = [json.loads(line) for line in response.read().splitlines()]
    assert all(set(line) == {"progress"} for line in lines[:-1])
    assert timeless(lines[-1]["answer"]) == timeless(
        client.answer("construct", {"request": {**network_request, "n_cells": 5}})
    )
    refused = client.open_stream("construct", {"request": {**network_request, "method": "gredy"}})
    line = json.loads(refused.read().splitlines()[-1])
    assert "did you mean 'greedy'?" in line["error"]["sentence"]


def test_hostile_names_come_back_as_they_are_in_plain_json(
    tmp_path: Path, serve: Callable[..., Any], capfd: pytest.CaptureFixture[str]
) -> None:
    world = World.make(tmp_path)
    cube = c2n.open(world.cube)
    client = serve(cube)
    ids = cube.objects.ids(c2n.read_query(cube, world.query).objects).to_pylist()
    body = json.dumps({"request": {"query": ids}}).encode()
    status, headers, content = client.send("POST", "/api/v1/construct", body, Content_Type="application/json")
    assert status == 200
    assert headers["content-type"] == "application/json"
    assert all(32 <= letter < 127 for letter in content)
    told = json.loads(content)["nodes"]
    assert {name for name in NAMES if "\0" not in name} & {key[:-1] for key in told["id"]}
    assert set(ids) <= set(told["id"])
    for name in NAMES:
        status, answer = client.ask("construct", {"request": {"query": [name + " nowhere"]}})
        assert status == 400
        assert answer["error"]["kind"] == "QueryError"
        status, answer = client.ask(f"{name}".encode().hex(), {})
        assert status == 404


def test_a_hostile_path_is_answered_in_plain_json(client: Any) -> None:
    for path in ("/%0d%0aset-cookie:%20x=1", "/%00", "/%ff", "/<script>", "/api/v1/%0aconstruct", "/" + "a" * 5000):
        status, headers, body = client.send("POST", path)
        assert status in (404, 405)
        assert "set-cookie" not in headers
        assert all(32 <= letter < 127 for letter in body)
