"""The command explore: it says where it serves, begins with a query, and ends as every command does."""

import html
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

import cube2net as c2n
from cube2net.apps.cli import EXIT_STATUS
from cube2net.apps.cli.explore import _is_loopback, _open_page, private_page
from cube2net.apps.server import serve as serving
from cube2net.apps.server.serve import ExplorerServer, _open_socket
from server.test_server_address import unpacked

import hostile

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)(&begin=query)?")
PATIENCE = 60


def as_from_a_shell() -> None:
    """Let no signal be ignored, whatever the tests were started by."""
    for number in EXIT_STATUS:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def exploring(*words: object, **environment: str) -> Iterator[tuple[subprocess.Popen[str], re.Match[str]]]:
    """Give the process of the command, and the address that it printed."""
    command = [sys.executable, "-m", "cube2net", "explore", *map(str, words)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_from_a_shell,  # noqa: PLW1509
        env=os.environ | environment,
    ) as process:
        try:
            assert process.stdout is not None
            said = ""
            while not (found := ADDRESS.search(said)):
                line = process.stdout.readline()
                assert line, process.stderr.read() if process.stderr else ""
                said += line
            yield process, found
        finally:
            process.kill()


def test_it_serves_until_a_signal_ends_it(cube: Path) -> None:
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with exploring(cube, "--no-browser") as (process, address):
            connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=PATIENCE)
            connection.request("GET", "/api/v1/cube", headers={"Authorization": f"Bearer {address[2]}"})
            response = connection.getresponse()
            assert response.status == 200
            assert json.loads(response.read())["objects"] == 60
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == status
            assert err.splitlines()[-1] == "cube2net: interrupted, nothing was left half-written"


def begun(address: re.Match[str]) -> dict[str, Any]:
    """Return the question that the page begins with where a printed address is opened."""
    connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=PATIENCE)
    connection.request("GET", address[0].partition(address[1])[2])
    place = connection.getresponse().headers["location"]
    assert place.startswith("/#q=")
    return unpacked(place.removeprefix("/#q="))


def test_it_begins_with_a_query(cube: Path, names: Path) -> None:
    with exploring(cube, "--query", names, "--no-browser") as (_, address):
        ask = begun(address)
    opened = c2n.open(cube)
    asked = c2n.read_query(opened, names)
    assert ask["query"] == [f"p{i}" for i in range(0, 24, 2)]
    assert tuple(ask["labels"]) == asked.labels
    assert opened.origin is not None
    assert ask["cube"] == opened.origin.seal


def test_names_that_are_unclear_are_handed_to_the_page_unless_they_are_to_be_left_out(
    cube: Path, tmp_path: Path
) -> None:
    path = tmp_path / "some.csv"
    path.write_text("object,label\np0,a\nNobody Here,b\np2,a\nNobody Here,c\n")
    with exploring(cube, "--query", path, "--no-browser") as (_, address):
        ask = begun(address)
    assert ask["query"] == ["p0", "p2"]
    assert ask["unresolved"] == [["Nobody Here", "b"]]
    with exploring(cube, "--query", path, "--no-browser", "--skip-missing") as (_, address):
        assert "unresolved" not in begun(address)


def test_a_query_of_which_nobody_is_there_is_refused(
    cube: Path, tmp_path: Path, tool: Callable[..., tuple[int, str, str]]
) -> None:
    path = tmp_path / "none.csv"
    path.write_text("object\nNobody Here\n")
    status, _, err = tool("explore", cube, "--query", path)
    assert status != 0
    assert "Nobody Here" in err


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser was opened at and what that led to, by a server that ends as soon as one was."""
    addresses: list[str] = []
    waiting = threading.Event()

    def note(address: str) -> bool:
        page = Path(url2pathname(urlsplit(address).path))
        assert page.stat().st_mode & 0o777 == 0o600
        assert page.parent.stat().st_mode & 0o777 == 0o700
        led = re.search(r'content="0; url=([^"]*)"', page.read_text())
        assert led is not None
        addresses.extend([address, html.unescape(led[1])])
        waiting.set()
        return True

    monkeypatch.setattr("webbrowser.open", note)
    monkeypatch.setattr(ExplorerServer, "wait", lambda server: waiting.wait(PATIENCE) and waiting.clear())
    return addresses


def test_it_opens_the_browser_at_the_address(
    cube: Path, tool: Callable[..., tuple[int, str, str]], opened: list[str], names: Path
) -> None:
    status, out, _ = tool("explore", cube, "--query", names)
    assert status == 0
    found = ADDRESS.search(out)
    assert found is not None
    page, address = opened
    assert address == found[0]
    assert found[3]
    assert page.startswith("file:///")
    assert found[2] not in page
    assert not Path(url2pathname(urlsplit(page).path)).parent.exists()


def test_the_page_that_leads_to_the_explorer_is_gone_once_it_was_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = private_page(tmp_path, 'http://127.0.0.1:1/?token=a&begin="<x>')
    assert "&amp;begin=&quot;&lt;x&gt;" in page.read_text()
    used = threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda address: used.set() or page.exists())
    _open_page(page, used)
    assert not page.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_page_behind(cube: Path, tmp_path: Path, number: int) -> None:
    with exploring(cube, TMPDIR=str(tmp_path), BROWSER="true %s") as (process, _):
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("cube2net-")] == []


def test_another_address_says_what_that_means(
    cube: Path, tool: Callable[..., tuple[int, str, str]], opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no TLS" not in tool("explore", cube)[2]
    sentence = "whoever reaches this address and has its token can read the cube; nothing is encrypted (no TLS)\n"
    asked: list[tuple[str, int]] = []

    def listening(host: str, port: int) -> socket.socket:
        asked.append((host, port))
        return _open_socket("127.0.0.1", port)

    monkeypatch.setattr(serving, "_open_socket", listening)
    for host in ("0.0.0.0", "::", "a.example"):
        status, out, err = tool("explore", cube, "--host", host)
        assert (status, asked[-1]) == (0, (host, 0))
        assert sentence in err
        assert f"http://{host if host == 'a.example' else socket.gethostname()}:" in out


def test_nothing_in_a_hostile_cube_steers_the_terminal(
    tmp_path: Path, tool: Callable[..., tuple[int, str, str]], opened: list[str]
) -> None:
    world = hostile.World.make(tmp_path)
    world.query.write_bytes(world.query.read_bytes() + world.missing.read_bytes().partition(b"\n")[2])
    status, out, err = tool("explore", world.cube, "--query", world.query, "--skip-missing")
    assert status == 0
    assert "left out" in out
    assert hostile.harmful(out.encode()) == hostile.harmful(err.encode()) == []


@pytest.mark.parametrize(
    ("host", "near"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("a.example", False)],
)
def test_only_loopback_addresses_are_taken_for_safe(host: str, near: bool) -> None:
    assert _is_loopback(host) == near


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--port", "{port}"],
            "cube2net: host '127.0.0.1' and port {port} cannot be used: address already in use",
        ),
        (["--host", "256.0.0.1"], "cube2net: host '256.0.0.1' and port 0 cannot be used: "),
        (["--host", ""], "cube2net: host '' and port 0 cannot be used: "),
        (["--host", "a" * 70 + "\x1b"], "cube2net: host 'aaaa"),
    ],
)
def test_an_address_that_cannot_be_had_is_refused(
    cube: Path, tool: Callable[..., tuple[int, str, str]], words: list[str], sentence: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, out, err = tool("explore", cube, "--no-browser", *(word.format(port=port) for word in words))
    assert (status, out) == (2, "")
    assert err.startswith(sentence.format(port=port))
    assert err.count("\n") == 1


def test_what_is_no_cube_is_refused_before_anything_is_served(
    tmp_path: Path, tool: Callable[..., tuple[int, str, str]]
) -> None:
    status, out, err = tool("explore", tmp_path, "--no-browser")
    assert (status, out) == (2, "")
    assert err.startswith("cube2net: ")
    assert err.count("\n") == 1


def test_the_packages_it_needs_are_named(
    cube: Path, tool: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    status, _, err = tool("explore", cube)
    assert status == 2
    assert err == "cube2net: the explorer needs the package 'uvicorn': pip install uvicorn (extra 'explore')\n"
