"""The description of the interface: for machines, for people, and the reports of comparisons."""

import json
from typing import Any

from cube2net.apps.server.auth import REPORT_POLICY
from cube2net.apps.service.openapi import openapi


def test_the_description_for_machines_is_that_of_the_shapes(client: Any) -> None:
    status, headers, body = client.send("GET", "/api/v1/openapi.json")
    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(body) == openapi()


def test_every_path_of_the_description_is_there(client: Any) -> None:
    for path, methods in openapi()["paths"].items():
        for method in methods:
            status, _, body = client.send(method.upper(), path.replace("{key}", "none"), b"{}")
            assert status != 405, path
            assert status != 404 or b"there is no report 'none'" in body or b"was started with its cube" in body


def test_a_comparison_gives_a_report_that_reaches_nothing(client: Any, network_request: dict[str, Any]) -> None:
    lines = client.open_stream("compare", {"request": network_request, "runs": 1}).read().splitlines()
    answer = json.loads(lines[-1])["answer"]
    assert all("progress" in json.loads(line) for line in lines[:-1])
    assert answer["report"]
    status, headers, body = client.send("GET", f"/api/v1/report/{answer['report']}")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert headers["content-security-policy"] == REPORT_POLICY
    assert "sandbox allow-scripts;" in REPORT_POLICY
    assert b"<html" in body
    status, _, body = client.send("GET", "/api/v1/report/none")
    assert (status, json.loads(body)["error"]["kind"]) == (404, "unknown")


def test_a_long_export_comes_from_a_worker_as_the_same_file(client: Any, network_request: dict[str, Any]) -> None:
    question = {"request": {**network_request, "method": "anneal", "options": {"steps": 1000}}, "format": ".graphml"}
    body = json.dumps(question).encode()
    status, headers, content = client.send("POST", "/api/v1/export", body, Content_Type="application/json")
    assert status == 200
    assert headers["content-disposition"].startswith("attachment; filename=")
    assert content == client.server.work.service.file(question).content
