"""The command mcp as programs of the Model Context Protocol see it: a process, the official client at its pipes."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

import cube2net as c2n
from assistant_cubes import ASKED, CALLS, INJECTED, named_cube
from cube2net.apps.mcp.protocol import find_line_error

pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters

T = TypeVar("T")
COMMAND = [sys.executable, "-m", "cube2net", "mcp"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("assistant") / "cube"
    named_cube().save(place)
    return place


def talk(folder: Path, speak: Callable[[Client], Awaitable[T]]) -> T:
    """Return what comes of a talk with a process of its own."""
    environment = {name: os.environ[name] for name in ("PYTHONPATH", "NUMBA_CACHE_DIR") if name in os.environ}
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(folder)], env=environment)

    async def main() -> T:
        async with Client(server) as client:
            return await speak(client)

    return anyio.run(main)


async def every_answer(client: Client) -> dict[str, str]:
    return {
        tool: (await client.call_tool(tool, arguments)).model_dump_json(by_alias=True)
        for tool, arguments in CALLS.items()
    }


def test_the_tools_are_listed_as_read_only_with_their_schemas(folder: Path) -> None:
    async def speak(client: Client) -> Any:
        return client.instructions, client.server_info, (await client.list_tools()).tools

    instructions, server, tools = talk(folder, speak)
    assert [tool.name for tool in tools] == list(CALLS)
    for tool in tools:
        hints = tool.annotations
        assert (hints.read_only_hint, hints.idempotent_hint, hints.destructive_hint, hints.open_world_hint) == (
            True,
            True,
            False,
            False,
        )
        assert tool.title and tool.description and tool.input_schema["type"] == "object"
    assert instructions.startswith("A data cube of 200 objects") and server.version == c2n.__version__


def test_the_same_calls_give_the_same_bytes_in_one_process_and_in_another(folder: Path) -> None:
    async def twice(client: Client) -> list[dict[str, str]]:
        return [await every_answer(client), await every_answer(client)]

    first, second = talk(folder, twice)
    assert first == second == talk(folder, every_answer)
    for said in first.values():
        assert not json.loads(said)["isError"] and json.loads(said)["content"][0]["text"]


def test_calls_at_once_are_answered_as_if_each_were_alone(folder: Path) -> None:
    async def speak(client: Client) -> tuple[dict[str, str], dict[str, str]]:
        found: dict[str, str] = {}

        async def call(place: str, tool: str) -> None:
            found[place] = (await client.call_tool(tool, CALLS[tool])).model_dump_json(by_alias=True)

        async with anyio.create_task_group() as tasks:
            for times in range(4):
                for tool in CALLS:
                    tasks.start_soon(call, f"{tool} {times}", tool)
        return found, await every_answer(client)

    found, alone = talk(folder, speak)
    assert len(found) == 4 * len(CALLS)
    assert all(said == alone[place.split()[0]] for place, said in found.items())


def test_a_refusal_is_an_error_of_the_tool_and_the_talk_goes_on(folder: Path) -> None:
    async def speak(client: Client) -> list[Any]:
        calls = [
            ("construct", {}),
            ("construct", {"objects": ["no such name"]}),
            ("explain", {"objects": ASKED, "node": "o7777"}),
            ("no_such_tool", {}),
            ("find_objects", {"objects": ["o22"]}),
        ]
        return [await client.call_tool(tool, arguments) for tool, arguments in calls]

    *refused, found = talk(folder, speak)
    assert [each.is_error for each in refused] == [True] * 4
    assert "lacks the field 'objects'" in refused[0].content[0].text
    assert '"no such name": no similar name' in refused[1].content[0].text
    assert "no object or cell is called 'o7777'" in refused[2].content[0].text
    assert "unknown tool 'no_such_tool'" in refused[3].content[0].text
    assert not found.is_error and found.structured_content["rows"][0]["name"] == INJECTED


OPENING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


HALF = rb'{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "find_objects", "arguments": '
HALF += rb'{"objects": ["half a sign \ud800"]}}}' + b"\n"


def lines(*messages: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in messages)


def call(number: int, tool: str, arguments: object) -> dict[str, object]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_standard_output_carries_the_protocol_alone_and_the_end_of_input_is_the_end(folder: Path) -> None:
    started = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    odd = b"this is no JSON\n" + HALF + b'{"jsonrpc": "2.0", "id": 7, "method": "nothing/known"}\n' + b"\xff\xfe\n[]\n"
    calls = [call(number, tool, arguments) for number, (tool, arguments) in enumerate(CALLS.items(), start=10)]
    with subprocess.Popen([*COMMAND, str(folder)], stdin=-1, stdout=-1, stderr=-1) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdin.write(lines(OPENING, started) + odd + lines(*calls))
        server.stdin.flush()
        answered: dict[int, Any] = {}
        while not {0, 7, *range(10, 10 + len(calls))} <= answered.keys():
            said = json.loads(server.stdout.readline())
            assert said["jsonrpc"] == "2.0"
            if isinstance(said.get("id"), int):
                answered[said["id"]] = said
        out, err = server.communicate()
        assert (server.returncode, out) == (0, b"") and b"Traceback" not in err
    assert "error" in answered[7]
    assert not any(answered[number]["result"]["isError"] for number in range(10, 10 + len(calls)))


MALFORMED = {
    "no JSON": (-32700, None),
    '{"jsonrpc": "2.0", "id": 1, "method": "ping"': (-32700, None),
    '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"name": "\\ud800"}}': (-32700, None),
    "[" * 3000: (-32700, None),
    "[]": (-32600, None),
    "5": (-32600, None),
    "{}": (-32600, None),
    '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]': (-32600, None),
    '{"jsonrpc": "1.0", "id": "a", "method": "ping"}': (-32600, "a"),
    '{"jsonrpc": "2.0", "id": 2}': (-32600, None),
    '{"jsonrpc": "2.0", "id": 3, "method": 5}': (-32600, 3),
    '{"jsonrpc": "2.0", "id": null, "method": "ping"}': (-32600, None),
    '{"jsonrpc": "2.0", "id": [4], "method": "ping"}': (-32600, None),
    '{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": 5}': (-32602, 5),
    '{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": ["find_objects"]}': (-32602, 6),
    '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {}}': (-32602, 7),
}


def test_every_malformed_line_is_answered_with_an_error_and_the_talk_goes_on(folder: Path) -> None:
    odd, answers = "".join(f"\n{line}\n" for line in MALFORMED).encode(), []
    with subprocess.Popen([*COMMAND, str(folder)], stdin=-1, stdout=-1, stderr=-1) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(lines(OPENING) + odd)
        for number in (100, 101):  # answers come in any order: when the second ping is answered, all before it are
            server.stdin.write(lines({"jsonrpc": "2.0", "id": number, "method": "ping"}))
            server.stdin.flush()
            while not answers or answers[-1] != {"jsonrpc": "2.0", "id": number, "result": {}}:
                answers.append(json.loads(server.stdout.readline()))
        out, err = server.communicate()
        assert (server.returncode, out, err) == (0, b"", b"")
    errors = [(each["error"]["code"], each["id"]) for each in answers if "error" in each]
    assert sorted(errors, key=str) == sorted(MALFORMED.values(), key=str)


def test_a_notification_is_never_answered() -> None:
    assert find_line_error('{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}') is None


def test_arguments_that_are_no_object_are_refused_and_the_talk_goes_on(folder: Path) -> None:
    odd = [call(number, "construct", arguments) for number, arguments in enumerate([None, [], "x", 5], start=1)]
    messages = lines(OPENING, *odd, call(5, "find_objects", {"begins": "obj"}))
    with subprocess.Popen([*COMMAND, str(folder)], stdin=-1, stdout=-1, stderr=-1) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(messages)
        server.stdin.flush()
        said = {each["id"]: each for each in (json.loads(server.stdout.readline()) for _ in range(6))}
        server.communicate()
        assert server.returncode == 0
    assert all("error" in said[number] or said[number]["result"]["isError"] for number in range(1, 5))
    assert not said[5]["result"]["isError"]


def test_a_client_that_goes_away_ends_the_server_without_a_word(folder: Path) -> None:
    many = [call(number, "construct", CALLS["construct"] | {"n_neighbors": number}) for number in range(1, 200)]
    server = subprocess.Popen([*COMMAND, str(folder)], stdin=-1, stdout=-1, stderr=-1)
    assert server.stdin is not None and server.stdout is not None and server.stderr is not None
    server.stdin.write(lines(OPENING, *many))
    server.stdin.flush()
    server.stdout.readline()
    server.stdout.close()
    server.stdin.close()
    err = server.stderr.read()
    server.stderr.close()
    assert server.wait() in (0, 141) and err == b""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_the_server(folder: Path) -> None:
    with subprocess.Popen([*COMMAND, str(folder)], stdin=-1, stdout=-1, stderr=-1) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(lines(OPENING))
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGINT)
        server.wait()  # communicate would close the input, which ends the server, too
        out, err = server.communicate()
        assert (server.returncode, out) == (130, b"") and b"Traceback" not in err


def test_somebody_at_a_terminal_is_told_what_it_waits_for(folder: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, str(folder)], stdin=theirs, stdout=-1, stderr=-1) as server:
        os.close(theirs)
        assert server.stderr is not None
        assert server.stderr.readline() == (
            b"cube2net: waiting for a program of the Model Context Protocol to ask; Ctrl-D ends\n"
        )
        os.write(ours, b"\x04")
        out, err = server.communicate()
        assert (server.returncode, out, err) == (0, b"", b"")
    os.close(ours)


def test_what_is_no_cube_is_refused_in_one_sentence_before_the_protocol(tmp_path: Path) -> None:
    ended = subprocess.run([*COMMAND, str(tmp_path)], input=lines(OPENING), capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"cube2net: ") and ended.stderr.count(b"\n") == 1


def test_without_the_package_a_sentence_says_how_to_get_it(folder: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; sys.argv[0] = 'cube2net'; from cube2net.__main__ import main; main()"
    ended = subprocess.run([sys.executable, "-c", code, "mcp", str(folder)], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr == b"cube2net: the assistant needs the package 'mcp': pip install mcp (extra 'mcp')\n"
