"""A question as an address, as the page packs it."""

import base64
import json
import shutil
import subprocess
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.apps.server import serve as serving
from cube2net.apps.server.serve import ExplorerServer
from cube2net.apps.server.sessions import pack_request

from hostile import NAMES


def unpacked(word: str) -> Any:
    """Return the request of an address, as the page reads it."""
    content = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
    return json.loads(zlib.decompress(content, -zlib.MAX_WBITS))


@given(st.lists(st.text() | st.integers(-(2**53), 2**53)), st.dictionaries(st.text(), st.text()))
def test_a_question_survives_its_address(ids: list[Any], more: dict[str, str]) -> None:
    network_request = {**more, "query": ids}
    word = pack_request(network_request)
    assert set(word) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert unpacked(word) == network_request


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_page_reads_the_same_question() -> None:
    network_request = {"query": [*NAMES, "\ud800", 7], "labels": ["a"] * (len(NAMES) + 2), "cube": "abc"}
    program = (
        "const zlib = require('zlib'); const word = process.argv[1];"
        "const text = zlib.inflateRawSync(Buffer.from(word, 'base64url')).toString('utf8');"
        "process.stdout.write(JSON.stringify(JSON.parse(text)))"
    )
    ended = subprocess.run(["node", "-e", program, pack_request(network_request)], capture_output=True, check=True)
    assert json.loads(ended.stdout) == network_request


def test_a_query_too_long_for_a_header_stands_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    cube = c2n.build(c2n.make_planted(objects=200, communities=4).corpus)
    query = cube.query(["o1", "o2"])
    with ExplorerServer(cube, query) as server:
        assert server.address == f"{server.site}?token={server.auth.token}&begin=query"
    monkeypatch.setattr(serving, "MAX_HEADER_LENGTH", 10)
    with ExplorerServer(cube, query) as server:
        assert unpacked(server.address.partition("#q=")[2])["query"] == ["o1", "o2"]
