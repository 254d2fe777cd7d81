"""What is sent back: JSON, files, and refusals in one sentence."""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from cube2net.errors import Cube2netError, CubeError, InputError, MissingPackageError, first_line

STATUS = {InputError: 400, CubeError: 400, MissingPackageError: 400}
"""What a refusal by the library is in HTTP."""
WORKING = "working"
"""What is told when long work begins."""
WORTH_PACKING = 20_000
"""A body of fewer bytes is sent as it is."""
PACKED = ("application/json", "text/html", "text/javascript", "text/css")
"""Which bodies become much smaller."""


class RefusalError(Cube2netError):
    """A request that is not answered, with its status in HTTP and a word for its kind."""

    def __init__(self, status: int, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.kind = status, kind


@dataclass(frozen=True)
class Reply:
    """A whole answer in HTTP: status, type, body and further headers."""

    body: bytes
    media_type: str = "application/json"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = field(default=())

    def packed(self, accepted: str) -> Reply:
        """Return the reply with its body packed, where that pays and the client takes it."""
        words = [word.strip().lower() for word in accepted.split(",")]
        if "gzip" not in words or len(self.body) < WORTH_PACKING or not self.media_type.startswith(PACKED):
            return self
        packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        body = packer.compress(self.body) + packer.flush()
        headers = (*self.headers, ("content-encoding", "gzip"), ("vary", "accept-encoding"))
        return Reply(body, self.media_type, self.status, headers)


def json_bytes(value: object) -> bytes:
    r"""Return JSON in ASCII, with null for every number that is none: JSON has no word for these.

    >>> json_bytes({"name": "Zoë\u202e", "bound": float("inf")})
    b'{"name":"Zo\\u00eb\\u202e","bound":null}'
    """
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, separators=(",", ":")).encode("ascii")


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def failure(error: BaseException) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of a refusal: a sentence, and a word for its kind.

    >>> failure(InputError("m is -1, expected 0 or more cells"))
    (400, {'error': {'sentence': 'm is -1, expected 0 or more cells', 'kind': 'InputError'}})
    """
    if isinstance(error, RefusalError):
        return error.status, _failure(str(error), error.kind)
    if isinstance(error, MemoryError):
        return 500, _failure("the machine's memory does not suffice for this", "MemoryError")
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)
    if isinstance(error, Cube2netError):
        return status, _failure(str(error), type(error).__name__)
    kind = type(error).__name__
    return 500, _failure(f"something went wrong that should not: {kind}: {first_line(error)}", "unexpected")


def _failure(sentence: str, kind: str) -> dict[str, Any]:
    return {"error": {"sentence": sentence, "kind": kind}}


def refused(error: BaseException) -> Reply:
    """Return the reply to what is not answered."""
    status, body = failure(error)
    return Reply(json_bytes(body), status=status)


def attached(name: str, media_type: str, content: bytes) -> Reply:
    """Return a reply that a browser keeps as a file: its name cannot end a header, nor name a folder."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_. ") else "_" for sign in name).strip(". ")
    told = name.replace("/", "_").replace("\\", "_").encode("utf-8", "replace")
    disposition = f"attachment; filename=\"{plain or 'file'}\"; filename*=UTF-8''{quote(told, safe='')}"
    return Reply(content, media_type, headers=(("content-disposition", disposition),))
