"""Lines that are no JSON-RPC messages: each gets an error as its answer, where the official package is silent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
