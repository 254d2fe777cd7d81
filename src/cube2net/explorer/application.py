"""The explorer over HTTP: the page and its files, and the questions that :mod:`cube2net.api` answers."""

from __future__ import annotations

import asyncio

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cube2net.api import ROUTES
from cube2net.api.schema import openapi
from cube2net.errors import Cube2netError, quoted, unknown
from cube2net.explorer.gates import REPORT_POLICY, Gate, with_headers
from cube2net.explorer.interface_page import POLICY, interface_page
from cube2net.explorer.page_files import media_type, page_file
from cube2net.explorer.reading_requests import read_question
from cube2net.explorer.replies import RefusalError, Reply, json_bytes, refused
from cube2net.explorer.streaming import LINES, LinesResponse, until_gone, watched
from cube2net.explorer.work import Work
from cube2net.interrupts import StoppedWorkError

EXPORT = "export"
"""The question that is answered by a file."""
BEGIN = "begin"
"""What an address says that opens the page with the question that the server was started with."""
HTML = "text/html; charset=utf-8"


class Application:
    """The explorer of a cube as an ASGI application; ``begin`` is the end of the address that it opens with."""

    def __init__(self, work: Work, gate: Gate, begin: str = "") -> None:
        self.work, self.gate, self.begin = work, gate, begin
        routes = [
            Route("/", self._page),
            Route("/page/{name}", self._page_file),
            Route("/api/v1/cube", self._cube),
            Route("/api/v1/report/{key}", self._report),
            Route("/api/v1/openapi.json", self._described),
            Route("/api/v1/docs", self._docs),
            Route("/api/v1/{name}", self._question, methods=["POST"]),
        ]
        refusing = (Cube2netError, StoppedWorkError, ClientDisconnect, Exception)
        handlers = {HTTPException: self._not_here} | dict.fromkeys(refusing, self._refuse)
        self._inner: ASGIApp = Starlette(routes=routes, exception_handlers=handlers)
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
            await self._refuse(Request(scope), error)(scope, receive, sending)
            return
        await (opened or self._inner)(scope, receive, sending)

    def _opened(self, request: Request) -> Response | None:
        """Return the response to an address with the token, None to go on; raise where nobody may."""
        path = request.scope["path"]
        self.gate.check(request.method, path, request.headers)
        given = self.gate.given_token(request.scope["query_string"]) if path == "/" else None
        if given is not None and self.gate.is_token(given):
            place = f"/{self.begin}" if BEGIN in request.query_params else "/"
            return Response(status_code=303, headers={"location": place, "set-cookie": self.gate.cookie_header()})
        if not self.gate.is_known(request.headers):
            raise RefusalError(
                401, "token", "the token is missing or wrong: open the address that cube2net explore printed"
            )
        return None

    async def _page(self, request: Request) -> Response:
        return self._file("index.html", request)

    async def _page_file(self, request: Request) -> Response:
        return self._file(request.path_params["name"], request)

    def _file(self, name: str, request: Request) -> Response:
        try:
            content = page_file(name)
        except FileNotFoundError:
            raise RefusalError(404, "unknown", f"the page has no file {quoted(name)}") from None
        return _response(Reply(content, media_type(name), headers=(("cache-control", "no-cache"),)), request)

    async def _cube(self, request: Request) -> Response:
        return _response(await self.work.answer("cube", {}), request)

    async def _report(self, request: Request) -> Response:
        key = request.path_params["key"]
        try:
            page = self.work.desk.report(key)
        except Cube2netError as error:
            raise RefusalError(404, "unknown", str(error)) from None
        policy = (("content-security-policy", REPORT_POLICY),)
        return _response(Reply(page.encode("utf-8", "replace"), HTML, headers=policy), request)

    async def _described(self, request: Request) -> Response:
        return _response(Reply(json_bytes(openapi())), request)

    async def _docs(self, request: Request) -> Response:
        page = interface_page(openapi()).encode()
        return _response(Reply(page, HTML, headers=(("content-security-policy", POLICY),)), request)

    async def _question(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in (*ROUTES, EXPORT):
            raise RefusalError(404, "unknown", str(unknown("question", name, (*ROUTES, EXPORT))))
        question = await read_question(request)
        if LINES in request.headers.get("accept", "") and name != EXPORT:
            return LinesResponse(lambda progress: self.work.answer(name, question, progress))
        task = watched(self.work.answer(name, question))
        gone = asyncio.create_task(until_gone(request.receive))
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnect
            return _response(task.result(), request)
        finally:
            task.cancel()
            gone.cancel()

    def _not_here(self, request: Request, error: Exception) -> Response:
        status, headers = getattr(error, "status_code", 404), getattr(error, "headers", None) or {}
        sentence = f"there is nothing at {quoted(request.scope['path'])}"
        if status == 405:
            sentence = f"{quoted(request.scope['path'])} does not take {request.method}, but {headers.get('Allow')}"
        response = _response(refused(RefusalError(status, "unknown", sentence)))
        response.headers.update(headers)
        return response

    def _refuse(self, request: Request, error: Exception) -> Response:
        reply = refused(error)
        if request.scope["path"] == "/":
            reply = Reply(f"{error}\n".encode("utf-8", "replace"), "text/plain; charset=utf-8", reply.status)
        return _response(reply)


def _response(reply: Reply, request: Request | None = None) -> Response:
    sent = reply if request is None else reply.packed(request.headers.get("accept-encoding", ""))
    return Response(sent.body, sent.status, dict(sent.headers), sent.media_type)
