"""The Model Context Protocol over standard input and output."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO

from cube2net import __version__
from cube2net._util.packages import require
from cube2net._util.progress import Stop, StoppedWorkError, convert_interrupt
from cube2net.apps.mcp.texts import ToolReply
from cube2net.apps.mcp.tools import TOOLS, answer, instructions_for
from cube2net.apps.service.service import CubeService
from cube2net.model.cube import Cube

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.types import JSONRPCError


REQUEST = 'an object with "jsonrpc": "2.0", a text "method" and an "id" that is a text or a whole number'


class CheckedLines:
    """Gives the lines that are messages, and answers the others with an error on ``replies``."""

    def __init__(self, lines: AsyncIterable[str]) -> None:
        self.lines = lines
        self.replies: Any = None

    async def __aiter__(self) -> AsyncIterator[str]:
        """Give the lines that are messages."""
        from mcp.shared.message import SessionMessage

        async for line in self.lines:
            error = find_fault(line)
            if error is not None:
                await self.replies.send(SessionMessage(error))
            elif line.strip():
                yield line


def find_fault(line: str) -> JSONRPCError | None:
    """Return the error that answers a line, None for a message and for a line without anything on it."""
    from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, jsonrpc_message_adapter

    if not line.strip():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, JSONRPCNotification) or "id" not in json.loads(line):
            return None
        return _error(INVALID_REQUEST, f"the id cannot be used: expected {REQUEST}")
    except ValueError as error:
        details: Any = error  # pydantic's ValidationError, which lists what is wrong
        if details.errors()[0]["type"] == "json_invalid":
            reason = details.errors()[0]["ctx"]["error"]
            return _error(PARSE_ERROR, f"the line cannot be read as JSON ({reason}): send one JSON object on a line")
    message = json.loads(line)
    if not isinstance(message, dict):
        return _error(INVALID_REQUEST, f"the line is not a request: expected {REQUEST}")
    number = message.get("id") if "method" in message else None
    if isinstance(number, bool) or not isinstance(number, str | int):
        number = None
    params = message.get("params")
    if message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str) and not isinstance(params, dict):
        if "id" not in message:
            return None  # a notification is never answered
        return _error(INVALID_PARAMS, "params cannot be used: expected an object", number)
    return _error(INVALID_REQUEST, f"the line is not a request: expected {REQUEST}", number)


def _error(code: int, sentence: str, number: str | int | None = None) -> JSONRPCError:
    from mcp.types import ErrorData, JSONRPCError

    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=sentence))


SECONDS = 60.0
"""So long a call may take; then it is stopped."""
MOST_NODES = 20_000
"""Maximum number of nodes of a network."""
AT_ONCE = 2
"""So many calls are worked on at a time; others wait."""


def serve(cube: Cube, given: BinaryIO, wanted: BinaryIO) -> None:
    """Answer calls that come on one stream with lines on the other, until the first ends or the second breaks.

    Nothing else is written to the second.
    """
    require("the assistant", "mcp")
    import anyio
    from mcp.server.stdio import stdio_server

    lines = TextIOWrapper(given, encoding="utf-8", errors="replace")
    replies = TextIOWrapper(wanted, encoding="utf-8", errors="backslashreplace")

    async def talk() -> None:
        asyncio.get_running_loop().set_exception_handler(_report_task_error)
        server = make_server(CubeService(cube, most_nodes=MOST_NODES))
        checked: Any = CheckedLines(anyio.wrap_file(lines))
        async with stdio_server(checked, anyio.wrap_file(replies)) as (reading, checked.replies):
            writing = checked.replies
            await server.run(reading, writing, server.create_initialization_options())

    try:
        anyio.run(talk)
    except* OSError as failed:
        if failed.split(BrokenPipeError)[1] is not None:
            raise
    finally:
        # The streams are not ours to close.
        for stream in (lines, replies):
            with suppress(OSError, ValueError):
                stream.detach()


def _report_task_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report the error of a task that is not awaited, unless the program was interrupted."""
    error = context.get("exception")
    inside = error.split(KeyboardInterrupt)[1] if isinstance(error, BaseExceptionGroup) else error
    if not isinstance(inside, KeyboardInterrupt) and inside is not None:
        loop.default_exception_handler(context)


def make_server(service: CubeService, seconds: float = SECONDS) -> Server[Any]:
    """Return a server of the official package whose tools ask a service."""
    from mcp.server import Server
    from mcp.types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        TextContent,
        Tool,
        ToolAnnotations,
    )

    listed = [
        Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.schema,
            annotations=ToolAnnotations(
                title=tool.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        for tool in TOOLS.values()
    ]
    working = CallLimiter(seconds)

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        told = await working(lambda: answer(service, params.name, params.arguments))
        result = CallToolResult(content=[TextContent(text=told.text)], is_error=told.wrong)
        if told.structured is not None:
            result.structured_content = told.structured
        return result

    return Server(
        "cube2net",
        version=__version__,
        title="cube2net",
        instructions=instructions_for(service),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class CallLimiter:
    """Runs calls in threads, a few at a time, with a time limit; calls without a waiting client are stopped."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._room: Any = None

    async def __call__(self, call: Callable[[], ToolReply]) -> ToolReply:
        """Return what a call says, or a sentence where it took too long."""
        import anyio

        if self._room is None:
            self._room = anyio.CapacityLimiter(AT_ONCE)
        run: Callable[..., Awaitable[ToolReply]] = anyio.to_thread.run_sync
        with Stop() as stop, suppress(StoppedWorkError):
            with anyio.move_on_after(self.seconds):
                return await run(stop.wrap(convert_interrupt(call)), abandon_on_cancel=True, limiter=self._room)
        return ToolReply(
            f"the answer took more than {self.seconds:,.0f} seconds and was stopped. Try next: fewer objects, or a "
            "part of the cube by where.",
            wrong=True,
        )
