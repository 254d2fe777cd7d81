"""The explorer over HTTP: the page and its files, and the questions that :mod:`cube2net.api` answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cube2net.api import ROUTES
from cube2net.errors import unknown
from cube2net.explorer.gates import Gate, with_headers
from cube2net.explorer.page_files import media_type, page_file
from cube2net.explorer.replies import RefusalError, Reply, json_bytes, refused
from cube2net.explorer.work import Work

MOST_BYTES = 4_000_000
"""A question has at most so many bytes."""
BODY_SECONDS = 20.0
"""And arrives within so many seconds."""
LINES = "application/x-ndjson"
"""What a client accepts who wants to hear how far the work is."""


class Application:
    """The explorer of a cube as an ASGI application."""

    def __init__(self, work: Work, gate: Gate) -> None:
        self.work, self.gate = work, gate
        routes = [
            Route("/", self._page),
            Route("/page/{name}", self._page_file),
            Route("/api/v1/{name}", self._question, methods=["GET", "POST"]),
        ]
        self._inner: ASGIApp = Starlette(
            routes=routes,
            exception_handlers={HTTPException: self._not_here, Exception: self._refuse},
        )
        self._inner.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return

        async def sending(message: Message) -> None:
            await send(with_headers(dict(message)) if message["type"] == "http.response.start" else message)

        try:
            opened = self._opened(Request(scope))
        except RefusalError as error:
            await _response(refused(error))(scope, receive, sending)
            return
        await (opened or self._inner)(scope, receive, sending)

    def _opened(self, request: Request) -> Response | None:
        """Return the response to an address with the token, None to go on; raise where nobody may."""
        self.gate.check(request.method, request.url.path, request.headers)
        given = self.gate.given_token(request.scope["query_string"]) if request.url.path == "/" else None
        if given is not None and self.gate.is_token(given):
            return Response(status_code=303, headers={"location": "/", "set-cookie": self.gate.cookie_header()})
        if not self.gate.is_known(request.headers):
            raise RefusalError(
                401, "token", "the token is missing or wrong: open the address that cube2net explore printed"
            )
        return None

    async def _page(self, request: Request) -> Response:
        return self._file("index.html")

    async def _page_file(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        try:
            content = page_file(name)
        except FileNotFoundError:
            raise RefusalError(404, "unknown", f"the page has no file {name!r}") from None
        return _response(Reply(content, media_type(name), headers=(("cache-control", "no-cache"),)))

    async def _question(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ROUTES:
            raise RefusalError(404, "unknown", str(unknown("question", name, ROUTES)))
        question = {} if request.method == "GET" else await _read(request)
        if LINES in request.headers.get("accept", ""):
            return StreamingResponse(self._lines(name, question), media_type=LINES)
        body = await _unless_gone(request, self.work.answer(name, question))
        return _response(Reply(body), request)

    async def _lines(self, name: str, question: dict[str, Any]) -> AsyncIterator[bytes]:
        """Yield how far the work is, the latest word only, and then its end."""
        told = Latest()
        task = asyncio.create_task(self.work.answer(name, question, told))
        try:
            async for word in told.until(task):
                yield b'{"progress":' + json_bytes(word) + b"}\n"
            yield b'{"answer":' + task.result() + b"}\n"
        except Exception as error:
            yield refused(error).body + b"\n"
        finally:
            task.cancel()

    def _not_here(self, request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        sentence = f"there is nothing at {request.url.path!r}"
        if status == 405:
            sentence = f"{request.url.path!r} cannot be asked with {request.method!r}"
        return _response(refused(RefusalError(status, "unknown", sentence)))

    def _refuse(self, request: Request, error: Exception) -> Response:
        return _response(refused(error))


class Latest:
    """The last word of long work on how far it is: told in its thread, heard in the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._word: dict[str, Any] | None = None

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Take note."""
        self._word = {"stage": stage, "done": done, "total": total}
        self._loop.call_soon_threadsafe(self._news.set)

    async def until(self, task: asyncio.Task[bytes]) -> AsyncIterator[dict[str, Any]]:
        """Yield what is told until a task is done."""
        task.add_done_callback(lambda _: self._news.set())
        while not task.done():
            await self._news.wait()
            self._news.clear()
            if self._word is not None and not task.done():
                word, self._word = self._word, None
                yield word


async def _read(request: Request) -> dict[str, Any]:
    """Return the question that a request carries."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusalError(415, "type", f"the content type is {kind!r}, expected 'application/json'")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise RefusalError(413, "large", f"the question has more than {MOST_BYTES:,} bytes")
    except TimeoutError:
        raise RefusalError(408, "slow", f"the question did not arrive within {BODY_SECONDS:,.0f} seconds") from None
    try:
        question = json.loads(bytes(body), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, "json", f"the question is no JSON: {str(error).lower()}") from None
    if not isinstance(question, dict):
        raise RefusalError(400, "json", f"the question is {type(question).__name__}, expected an object")
    return question


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number in it")


async def _unless_gone(request: Request, work: Awaitable[bytes]) -> bytes:
    """Return what comes of work, which is cancelled when the client goes away."""
    task = asyncio.ensure_future(work)
    gone = asyncio.create_task(_gone(request.receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        gone.cancel()


async def _gone(receive: Callable[[], Awaitable[Message]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _response(reply: Reply, request: Request | None = None) -> Response:
    sent = reply if request is None else reply.packed(request.headers.get("accept-encoding", ""))
    return Response(sent.body, sent.status, dict(sent.headers), sent.media_type)
