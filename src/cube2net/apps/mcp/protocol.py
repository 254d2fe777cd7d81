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
from cube2net.apps.mcp.tools import TOOLS, answer, make_instructions
from cube2net.apps.service.service import CubeService
from cube2net.model.cube import Cube

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.types import JSONRPCError


EXPECTED_REQUEST = 'an object with "jsonrpc": "2.0", a text "method" and an "id" that is a text or a whole number'


class CheckedLines:
    """Yields the lines that are valid messages, and replies to the others with an error on ``replies``."""

    def __init__(self, lines: AsyncIterable[str]) -> None:
        self.lines = lines
        self.replies: Any = None

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the valid messages."""
        from mcp.shared.message import SessionMessage

        async for line in self.lines:
            error = find_line_error(line)
            if error is not None:
                await self.replies.send(SessionMessage(error))
            elif line.strip():
                yield line


def find_line_error(line: str) -> JSONRPCError | None:
    """Return the error reply to an invalid line; None for a valid message and for an empty line."""
    from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, jsonrpc_message_adapter

    if not line.strip():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, JSONRPCNotification) or "id" not in json.loads(line):
            return None
        return _make_error(INVALID_REQUEST, f"the id cannot be used: expected {EXPECTED_REQUEST}")
    except ValueError as error:
        details: Any = error  # pydantic's ValidationError, which lists what is wrong
        if details.errors()[0]["type"] == "json_invalid":
            reason = details.errors()[0]["ctx"]["error"]
            return _make_error(
                PARSE_ERROR, f"the line cannot be read as JSON ({reason}): send one JSON object on a line"
            )
    message = json.loads(line)
    if not isinstance(message, dict):
        return _make_error(INVALID_REQUEST, f"the line is not a request: expected {EXPECTED_REQUEST}")
    request_id = message.get("id") if "method" in message else None
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        request_id = None
    params = message.get("params")
    if message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str) and not isinstance(params, dict):
        if "id" not in message:
            return None  # a notification is never answered
        return _make_error(INVALID_PARAMS, "params cannot be used: expected an object", request_id)
    return _make_error(INVALID_REQUEST, f"the line is not a request: expected {EXPECTED_REQUEST}", request_id)


def _make_error(code: int, sentence: str, request_id: str | int | None = None) -> JSONRPCError:
    from mcp.types import ErrorData, JSONRPCError

    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=sentence))


CALL_TIMEOUT_SECONDS = 60.0
"""A call that takes longer is stopped."""
MAX_NETWORK_NODES = 20_000
"""Maximum number of nodes of a network."""
MAX_CONCURRENT_CALLS = 2
"""Number of calls that run at a time; others wait."""


def serve(cube: Cube, input_stream: BinaryIO, output_stream: BinaryIO) -> None:
    """Answer the calls of an input stream, until it ends or the output stream breaks.

    Nothing but the protocol is written to the output stream.
    """
    require("the assistant", "mcp")
    import anyio
    from mcp.server.stdio import stdio_server

    lines = TextIOWrapper(input_stream, encoding="utf-8", errors="replace")
    replies = TextIOWrapper(output_stream, encoding="utf-8", errors="backslashreplace")

    async def run_server() -> None:
        asyncio.get_running_loop().set_exception_handler(_report_task_error)
        server = make_server(CubeService(cube, most_nodes=MAX_NETWORK_NODES))
        checked_lines: Any = CheckedLines(anyio.wrap_file(lines))
        async with stdio_server(checked_lines, anyio.wrap_file(replies)) as (read_stream, checked_lines.replies):
            write_stream = checked_lines.replies
            await server.run(read_stream, write_stream, server.create_initialization_options())

    try:
        anyio.run(run_server)
    except* OSError as errors:
        if errors.split(BrokenPipeError)[1] is not None:
            raise
    finally:
        # The streams belong to the caller, who closes them.
        for stream in (lines, replies):
            with suppress(OSError, ValueError):
                stream.detach()


def _report_task_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report the error of a task that is not awaited, unless the program was interrupted."""
    error = context.get("exception")
    cause = error.split(KeyboardInterrupt)[1] if isinstance(error, BaseExceptionGroup) else error
    if not isinstance(cause, KeyboardInterrupt) and cause is not None:
        loop.default_exception_handler(context)


def make_server(service: CubeService, seconds: float = CALL_TIMEOUT_SECONDS) -> Server[Any]:
    """Return a server of the official package whose tools use a service."""
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

    tools = [
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
    run_limited = CallLimiter(seconds)

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        reply = await run_limited(lambda: answer(service, params.name, params.arguments))
        result = CallToolResult(content=[TextContent(text=reply.text)], is_error=reply.wrong)
        if reply.structured is not None:
            result.structured_content = reply.structured
        return result

    return Server(
        "cube2net",
        version=__version__,
        title="cube2net",
        instructions=make_instructions(service),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class CallLimiter:
    """Runs calls in threads, a few at a time, and stops those that take too long or whose client has left."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._limiter: Any = None

    async def __call__(self, call: Callable[[], ToolReply]) -> ToolReply:
        """Return the reply of a call, or an error if it takes too long."""
        import anyio

        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(MAX_CONCURRENT_CALLS)
        run: Callable[..., Awaitable[ToolReply]] = anyio.to_thread.run_sync
        with Stop() as stop, suppress(StoppedWorkError):
            with anyio.move_on_after(self.seconds):
                return await run(stop.wrap(convert_interrupt(call)), abandon_on_cancel=True, limiter=self._limiter)
        return ToolReply(
            f"the answer took more than {self.seconds:,.0f} seconds and was stopped. Try next: fewer objects, or a "
            "part of the cube by where.",
            wrong=True,
        )
