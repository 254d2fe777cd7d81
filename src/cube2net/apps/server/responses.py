"""Responses: JSON, files and errors; reading requests; the interface page."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NoReturn
from urllib.parse import quote

from starlette.requests import Request

from cube2net.apps.service.validation import MOST_BYTES
from cube2net.errors import Cube2netError, CubeError, InputError, MissingPackageError, first_line, quoted

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

    >>> failure(InputError("n_cells is -1, expected 0 or more cells"))
    (400, {'error': {'sentence': 'n_cells is -1, expected 0 or more cells', 'kind': 'InputError'}})
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


BODY_SECONDS = 20.0
"""A request arrives within so many seconds."""


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of an HTTP request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusalError(415, "type", f"the content type is {quoted(kind)}, expected 'application/json'")
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                content += part
                if len(content) > MOST_BYTES:
                    raise RefusalError(
                        413, "large", f"the request has more than {MOST_BYTES:,} bytes, which is the most taken"
                    )
    except TimeoutError:
        raise RefusalError(408, "slow", f"the request did not arrive within {BODY_SECONDS:,.0f} seconds") from None
    try:
        body = json.loads(bytes(content), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, "json", f"the request is no JSON: {first_line(error)}") from None
    if not isinstance(body, dict):
        raise RefusalError(400, "json", f"the request is {quoted(body)}, expected an object with its fields")
    return body


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"JSON has no number {word}")


STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid #8884; padding: .25rem .5rem .25rem 0; text-align: left; vertical-align: top }
code { font-family: ui-monospace, monospace }
section { margin-top: 2.5rem }
th { min-width: 6rem }
"""
POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""This page runs nothing, and loads nothing."""


def interface_page(described: Mapping[str, Any]) -> str:
    """Return the page of an interface that is described as OpenAPI has it."""
    about, shapes = described["info"], described["components"]["schemas"]
    parts = [
        f"<h1>{escape(about['title'])} {escape(about['version'])}</h1>",
        *(f"<p>{_prose(part)}</p>" for part in about["description"].split("\n\n")),
        '<p>For machines: <a href="openapi.json">openapi.json</a></p>',
        "<h2>Requests</h2>",
        *(_describe_route(path, methods) for path, methods in described["paths"].items()),
        "<h2>Shapes</h2>",
        *(_shape(name, shape) for name, shape in shapes.items()),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(about['title'])}: requests</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _prose(text: str) -> str:
    """Return a text whose words in backticks are code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _describe_route(path: str, methods: Mapping[str, Any]) -> str:
    words = ", ".join(method.upper() for method in methods)
    asked = methods.get("post") or next(iter(methods.values()))
    rows = [f"<tr><th>what</th><td>{escape(asked.get('summary', ''))} {escape(asked.get('description', ''))}</td></tr>"]
    for title, content in (
        ("asks", asked.get("requestBody", {}).get("content", {})),
        ("answers", asked["responses"]["200"].get("content", {})),
    ):
        kinds = [f"{_type(each['schema'])} <small>({escape(kind)})</small>" for kind, each in content.items()][:1]
        rows += [f"<tr><th>{title}</th><td>{kind}</td></tr>" for kind in kinds]
    return f"<section><h3><code>{words} {escape(path)}</code></h3><table>{''.join(rows)}</table></section>"


def _shape(name: str, shape: Mapping[str, Any]) -> str:
    required = set(shape.get("required", ()))
    rows = [
        f"<tr><th><code>{escape(field)}</code>{'' if field in required else ' (optional)'}</th>"
        f"<td>{_type(kind)}</td><td>{escape(kind.get('description', ''))}</td></tr>"
        for field, kind in shape.get("properties", {}).items()
    ]
    about = f"<p>{escape(shape.get('description', ''))}</p>"
    return f'<section id="{escape(name)}"><h3>{escape(name)}</h3>{about}<table>{"".join(rows)}</table></section>'


def _type(schema: Mapping[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_types(schema)))


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words for a schema, with links to the shapes that it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        yield f'<a href="#{name}">{name}</a>'
    elif "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from _types(each)
    elif "enum" in schema:
        yield from (f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    elif schema.get("type") == "array":
        yield f"list of {_type(schema['items'])}"
    elif schema.get("type") == "object" and "additionalProperties" in schema and "properties" not in schema:
        yield f"names with {_type(schema['additionalProperties']) or 'anything'}"
    else:
        yield escape(str(schema.get("type", "anything")))
