"""Responses: JSON, files and errors; reading requests; the interface page."""

from __future__ import annotations

import asyncio
import json
import urllib.parse
import zlib
from dataclasses import dataclass, field
from typing import Any, NoReturn

from starlette.requests import Request

from cube2net._util.text import replace_infinite
from cube2net.apps.service.validation import MAX_REQUEST_BYTES
from cube2net.errors import Cube2netError, CubeError, InputError, MissingPackageError, first_line, quote

STATUS = {InputError: 400, CubeError: 400, MissingPackageError: 400}
"""The HTTP status of errors of the library."""
WORKING = "working"
"""The stage when work begins."""
MIN_COMPRESSED_BYTES = 20_000
COMPRESSED_TYPES = ("application/json", "text/html", "text/javascript", "text/css")


class RefusalError(Cube2netError):
    """A request that is refused, with an HTTP status and the kind of the error."""

    def __init__(self, status: int, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.kind = status, kind


@dataclass(frozen=True)
class Reply:
    """An HTTP response: status, media type, body and further headers."""

    body: bytes
    media_type: str = "application/json"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = field(default=())

    def compress(self, accepted: str) -> Reply:
        """Return the reply with its body compressed, if the client accepts that and it is worthwhile."""
        words = [word.strip().lower() for word in accepted.split(",")]
        if (
            "gzip" not in words
            or len(self.body) < MIN_COMPRESSED_BYTES
            or not self.media_type.startswith(COMPRESSED_TYPES)
        ):
            return self
        packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        body = packer.compress(self.body) + packer.flush()
        headers = (*self.headers, ("content-encoding", "gzip"), ("vary", "accept-encoding"))
        return Reply(body, self.media_type, self.status, headers)


def json_bytes(value: object) -> bytes:
    r"""Return JSON in ASCII, with null in place of infinite numbers and NaN.

    >>> json_bytes({"name": "Zoë\u202e", "bound": float("inf")})
    b'{"name":"Zo\\u00eb\\u202e","bound":null}'
    """
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except ValueError:
        return json.dumps(replace_infinite(value), allow_nan=False, separators=(",", ":")).encode("ascii")


def describe_failure(error: BaseException) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the body of an error: a sentence, and its kind.

    >>> describe_failure(InputError("n_cells is -1, expected 0 or more cells"))
    (400, {'error': {'sentence': 'n_cells is -1, expected 0 or more cells', 'kind': 'InputError'}})
    """
    if isinstance(error, RefusalError):
        return error.status, _failure(str(error), error.kind)
    if isinstance(error, MemoryError):
        return 500, _failure("not enough memory", "MemoryError")
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)
    if isinstance(error, Cube2netError):
        return status, _failure(str(error), type(error).__name__)
    kind = type(error).__name__
    return 500, _failure(f"internal error: {kind}: {first_line(error)}", "unexpected")


def _failure(sentence: str, kind: str) -> dict[str, Any]:
    return {"error": {"sentence": sentence, "kind": kind}}


def make_refusal(error: BaseException) -> Reply:
    """Return the reply to a request that is refused."""
    status, body = describe_failure(error)
    return Reply(json_bytes(body), status=status)


def make_attachment(name: str, media_type: str, content: bytes) -> Reply:
    """Return a reply that a browser saves as a file; its name is made safe for headers and folders."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_. ") else "_" for sign in name).strip(". ")
    full = name.replace("/", "_").replace("\\", "_").encode("utf-8", "replace")
    disposition = f"attachment; filename=\"{plain or 'file'}\"; filename*=UTF-8''{urllib.parse.quote(full, safe='')}"
    return Reply(content, media_type, headers=(("content-disposition", disposition),))


BODY_TIMEOUT_SECONDS = 20.0


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of an HTTP request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusalError(415, "type", f"the content type is {quote(kind)}, expected 'application/json'")
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
            async for part in request.stream():
                content += part
                if len(content) > MAX_REQUEST_BYTES:
                    raise RefusalError(
                        413, "large", f"the request has more than {MAX_REQUEST_BYTES:,} bytes, which is the most taken"
                    )
    except TimeoutError:
        raise RefusalError(
            408, "slow", f"the request did not arrive within {BODY_TIMEOUT_SECONDS:,.0f} seconds"
        ) from None
    try:
        body = json.loads(bytes(content), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, "json", f"the request is no JSON: {first_line(error)}") from None
    if not isinstance(body, dict):
        raise RefusalError(400, "json", f"the request is {quote(body)}, expected an object with its fields")
    return body


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"JSON has no number {word}")
