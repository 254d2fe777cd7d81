"""The Model Context Protocol over two streams: tools are listed and called, one line of JSON each way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO

from cube2net import __version__
from cube2net.api import Desk
from cube2net.assistant.line_faults import CheckedLines
from cube2net.assistant.tool_replies import ToolReply
from cube2net.assistant.tools import TOOLS, answer, instructions_for
from cube2net.extras import require
from cube2net.interrupts import Stop, StoppedWorkError, stopped_as_error
from cube2net.records import Cube

if TYPE_CHECKING:
    from mcp.server import Server

SECONDS = 60.0
"""So long a call may take; then it is stopped."""
MOST_NODES = 20_000
"""No network that is told has more."""
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
        asyncio.get_running_loop().set_exception_handler(_unless_interrupted)
        server = server_of(Desk(cube, most_nodes=MOST_NODES))
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


def _unless_interrupted(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say what went wrong in a task that nobody waits for, unless it is that the program was interrupted."""
    error = context.get("exception")
    inside = error.split(KeyboardInterrupt)[1] if isinstance(error, BaseExceptionGroup) else error
    if not isinstance(inside, KeyboardInterrupt) and inside is not None:
        loop.default_exception_handler(context)


def server_of(desk: Desk, seconds: float = SECONDS) -> Server[Any]:
    """Return a server of the official package whose tools ask a desk."""
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
    working = Working(seconds)

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        told = await working(lambda: answer(desk, params.name, params.arguments))
        result = CallToolResult(content=[TextContent(text=told.text)], is_error=told.wrong)
        if told.structured is not None:
            result.structured_content = told.structured
        return result

    return Server(
        "cube2net",
        version=__version__,
        title="cube2net",
        instructions=instructions_for(desk),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class Working:
    """Runs calls in threads, a few at a time, each for so many seconds at most; whom nobody waits for is stopped."""

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
                return await run(stop.heeded(stopped_as_error(call)), abandon_on_cancel=True, limiter=self._room)
        return ToolReply(
            f"the answer took more than {self.seconds:,.0f} seconds and was stopped. Try next: fewer objects, or a "
            "part of the cube by where.",
            wrong=True,
        )
