"""A question out of a request: only JSON, of a limited size, within a limited time."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NoReturn

from starlette.requests import Request

from cube2net.api.json_reading import MOST_BYTES
from cube2net.errors import first_line, quoted
from cube2net.explorer.replies import RefusalError

BODY_SECONDS = 20.0
"""A question arrives within so many seconds."""


async def read_question(request: Request) -> dict[str, Any]:
    """Return the question that a request carries."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusalError(415, "type", f"the content type is {quoted(kind)}, expected 'application/json'")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise RefusalError(
                        413, "large", f"the question has more than {MOST_BYTES:,} bytes, which is the most taken"
                    )
    except TimeoutError:
        raise RefusalError(408, "slow", f"the question did not arrive within {BODY_SECONDS:,.0f} seconds") from None
    try:
        question = json.loads(bytes(body), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, "json", f"the question is no JSON: {first_line(error)}") from None
    if not isinstance(question, dict):
        raise RefusalError(400, "json", f"the question is {quoted(question)}, expected an object with its fields")
    return question


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"JSON has no number {word}")
