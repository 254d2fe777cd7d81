"""The explorer's HTTP application: page, files and requests."""

from __future__ import annotations

import asyncio
import re
import threading
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cube2net._util.progress import Progress, StoppedWorkError, silent
from cube2net.apps.server.auth import REPORT_POLICY, Authenticator, add_headers
from cube2net.apps.server.connections import LINES, LinesResponse, start_watched, wait_for_disconnect
from cube2net.apps.server.responses import (
    RefusalError,
    Reply,
    json_bytes,
    make_refusal,
    read_body,
)
from cube2net.apps.server.sessions import CubeOpener
from cube2net.apps.server.workers import ServerLimits, Work
from cube2net.apps.service.openapi import openapi
from cube2net.apps.service.schemas import SESSION_ROUTES, UPLOAD, StartAnswer
from cube2net.apps.service.service import FILE, ROUTES, CubeService
from cube2net.apps.service.validation import read
from cube2net.errors import Cube2netError, quote, unknown_name

PAGE = Path(__file__).parents[2] / "page"
PAGE_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
"""The names of files of the page: no path, nothing hidden."""
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""The media types of the endings that are served."""


MISSING_PAGE_MESSAGE = (
    "the explorer's page was not built with this copy of cube2net: run make page in the checkout (it needs node), or "
    "install cube2net from a wheel"
)


class PageMissingError(Cube2netError):
    """The page was not built."""


def describe_missing_page() -> str:
    """Return the message for a page that was not built; empty if it was."""
    return "" if (PAGE / "index.html").is_file() else MISSING_PAGE_MESSAGE


def page_file(name: str) -> bytes:
    """Return a file of the page; raise FileNotFoundError for unknown names."""
    if missing := describe_missing_page():
        raise PageMissingError(missing)
    path = PAGE / name
    if not PAGE_FILE_NAME.fullmatch(name) or path.suffix not in MEDIA_TYPES or not path.is_file():
        raise FileNotFoundError(name)
    return path.read_bytes()


def media_type(name: str) -> str:
    """Return the media type of a file of the page.

    >>> media_type("explorer.js")
    'text/javascript; charset=utf-8'
    """
    return MEDIA_TYPES[Path(name).suffix]


BEGIN = "begin"
"""The parameter of an address that opens the page with the initial request."""
HTML = "text/html; charset=utf-8"
CHECKSUM_HEADER = "cube2net-checksum"
"""The header with the checksum of the cube that a request is for; without it, the open cube."""
OTHER_CUBE_MESSAGE = "another cube was opened in another window: reload the page"
UPLOAD_TYPE = "application/octet-stream"
"""The content type of uploads, which a form of another site cannot send."""
NOTHING_TO_OPEN: StartAnswer = StartAnswer(
    opens=False, cube=None, folder="", keeps=False, recent=[], endings=[], files=0, bytes=0, uploaded=[], example=""
)
"""What can be opened if the explorer was started with its cube."""


class Application:
    """The explorer of a cube as an ASGI application; ``begin`` is the end of the initial address.

    With ``opener`` users can open cubes themselves.
    """

    def __init__(
        self,
        work: Work | None,
        auth: Authenticator,
        begin: str = "",
        *,
        opener: CubeOpener | None = None,
        limits: ServerLimits | None = None,
    ) -> None:
        self._work, self.auth, self.begin = work, auth, begin
        self.opener, self._limits = opener, limits or ServerLimits()
        self._temporary_folder: Path | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self.opened = threading.Event()
        routes = [
            Route("/", self._serve_page),
            Route("/page/{name}", self._serve_page_file),
            Route("/api/v1/cube", self._serve_cube),
            Route("/api/v1/report/{key}", self._serve_report),
            Route("/api/v1/openapi.json", self._serve_openapi),
            Route(f"/api/v1/{UPLOAD}", self._upload, methods=["POST"]),
            Route(f"/api/v1/{UPLOAD}", self._remove, methods=["DELETE"]),
            Route("/api/v1/{name}", self._answer_question, methods=["POST"]),
        ]
        error_types = (Cube2netError, StoppedWorkError, ClientDisconnect, Exception)
        handlers = {HTTPException: self._refuse_unknown_path} | dict.fromkeys(error_types, self._refuse)
        self._routes: ASGIApp = Starlette(routes=routes, exception_handlers=handlers)
        self._routes.router.redirect_slashes = False

    @property
    def work(self) -> Work:
        """Answers requests about the open cube; raises if there is none."""
        if self._work is None:
            raise RefusalError(409, "closed", "no cube is open yet: choose a spreadsheet on the page first")
        return self._work

    async def close(self) -> None:
        """Stop all work."""
        if self._work is not None:
            await self._work.close()
        if self.opener is not None:
            await self.opener.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            await send(add_headers(dict(message)) if message["type"] == "http.response.start" else message)

        try:
            opening_response = self._authenticate(Request(scope))
        except RefusalError as error:
            await self._refuse(Request(scope), error)(scope, receive, send_with_headers)
            return
        await (opening_response or self._routes)(scope, receive, send_with_headers)

    def _authenticate(self, request: Request) -> Response | None:
        """Return the response to an address with the token, None for other requests; raise if not authenticated."""
        path = request.scope["path"]
        self.auth.check(request.method, path, request.headers)
        token = self.auth.find_token(request.scope["query_string"]) if path == "/" else None
        if token is not None and self.auth.is_token(token):
            location = f"/{self.begin}" if BEGIN in request.query_params else "/"
            self.opened.set()
            headers = {"set-cookie": self.auth.cookie_header()}
            if request.headers.get("sec-fetch-site", "none") == "none":
                return Response(status_code=303, headers={"location": location, **headers})
            # A redirect from another site would not carry the cookie; a refresh by this page does.
            return Response(headers={"refresh": f"0; url={location}", "content-type": HTML, **headers})
        if not self.auth.is_authenticated(request.headers):
            raise RefusalError(
                401, "token", "the token is missing or wrong: open the address that cube2net explore printed"
            )
        return None

    async def _serve_page(self, request: Request) -> Response:
        return self._make_file_response("index.html", request)

    async def _serve_page_file(self, request: Request) -> Response:
        return self._make_file_response(request.path_params["name"], request)

    def _make_file_response(self, name: str, request: Request) -> Response:
        try:
            content = page_file(name)
        except FileNotFoundError:
            raise RefusalError(404, "unknown", f"the page has no file {quote(name)}") from None
        return _make_response(Reply(content, media_type(name), headers=(("cache-control", "no-cache"),)), request)

    async def _serve_cube(self, request: Request) -> Response:
        return _make_response(await self._answer(self._require_work(request), "cube", {}), request)

    def _require_work(self, request: Request) -> Work:
        """Return the work of the open cube; raise if the request is for another one."""
        work, checksum = self.work, request.headers.get(CHECKSUM_HEADER)
        if checksum is not None and checksum != work.service.checksum:
            raise RefusalError(409, "other-cube", OTHER_CUBE_MESSAGE)
        return work

    async def _answer(self, work: Work, name: str, body: dict[str, Any], progress: Progress = silent) -> Reply:
        """Return the reply to a request; if another cube was opened meanwhile, that is the error."""
        try:
            return await work.answer(name, body, progress)
        except (Exception, asyncio.CancelledError):
            if work is self._work:
                raise
            raise RefusalError(409, "other-cube", OTHER_CUBE_MESSAGE) from None

    async def _serve_report(self, request: Request) -> Response:
        key = request.path_params["key"]
        try:
            page = self.work.service.report(key)
        except Cube2netError as error:
            raise RefusalError(404, "unknown", str(error)) from None
        policy = (("content-security-policy", REPORT_POLICY),)
        return _make_response(Reply(page.encode("utf-8", "replace"), HTML, headers=policy), request)

    async def _serve_openapi(self, request: Request) -> Response:
        return _make_response(Reply(json_bytes(openapi())), request)

    async def _upload(self, request: Request) -> Response:
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != UPLOAD_TYPE:
            raise RefusalError(415, "type", f"the content type is {quote(content_type)}, expected {UPLOAD_TYPE!r}")
        files, parameters = self._require_opener().files, request.query_params
        used_files = parameters.getlist("uses") if "uses" in parameters else None
        name = await files.take(parameters.get("name", ""), request.stream(), used_files)
        return _make_response(Reply(json_bytes({"name": name, "files": list(files.places())})), request)

    async def _remove(self, request: Request) -> Response:
        files, name = self._require_opener().files, request.query_params.get("name", "")
        files.remove(name)
        return _make_response(Reply(json_bytes({"name": name, "files": list(files.places())})), request)

    def _require_opener(self) -> CubeOpener:
        if self.opener is None:
            raise RefusalError(
                404, "unknown", "this explorer was started with its cube: start it without a name to open others"
            )
        return self.opener

    async def _answer_session_request(self, name: str, body: dict[str, Any], progress: Progress = silent) -> Reply:
        """Return the reply to a request that needs no cube; an opened cube replaces the one before."""
        parsed = read(SESSION_ROUTES[name].request_type, body)
        if name == "start":
            cube_name = None if self._work is None else self._work.service.name
            return Reply(json_bytes(NOTHING_TO_OPEN if self.opener is None else self.opener.start(cube_name)))
        if name == "tables":
            return Reply(json_bytes(await self._require_opener().look(parsed, progress)))
        opened = await self._require_opener().open(parsed, progress)
        if self._work is not None:
            self._closing.add(task := asyncio.create_task(self._close_previous(self._work, self._temporary_folder)))
            task.add_done_callback(self._closing.discard)
        self._work, self._temporary_folder = (
            Work(CubeService(opened.cube, most_nodes=self._limits.nodes), self._limits),
            opened.made,
        )
        return Reply(json_bytes({"cube": self._work.service.name, "begin": opened.begin, "kept": opened.kept}))

    async def _close_previous(self, work: Work, temporary_folder: Path | None) -> None:
        """Stop the work on the previous cube and remove its temporary folder."""
        await work.close()
        if temporary_folder is not None and self.opener is not None:
            self.opener.leave(temporary_folder)

    async def _answer_question(self, request: Request) -> Response:
        name = request.path_params["name"]
        names = (*ROUTES, FILE, *SESSION_ROUTES)
        if name not in names:
            raise RefusalError(404, "unknown", str(unknown_name("request", name, names)))
        body = await read_body(request)
        if name in SESSION_ROUTES:
            answer = partial(self._answer_session_request, name, body)
        else:
            answer = partial(self._answer, self._require_work(request), name, body)
        if LINES in request.headers.get("accept", "") and name != FILE:
            return LinesResponse(answer)
        task = start_watched(answer())
        disconnected = asyncio.create_task(wait_for_disconnect(request.receive))
        try:
            await asyncio.wait((task, disconnected), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnect
            return _make_response(task.result(), request)
        finally:
            task.cancel()
            disconnected.cancel()

    def _refuse_unknown_path(self, request: Request, error: Exception) -> Response:
        status, headers = getattr(error, "status_code", 404), getattr(error, "headers", None) or {}
        sentence = f"there is nothing at {quote(request.scope['path'])}"
        if status == 405:
            sentence = f"{quote(request.scope['path'])} does not take {request.method}, but {headers.get('Allow')}"
        response = _make_response(make_refusal(RefusalError(status, "unknown", sentence)))
        response.headers.update(headers)
        return response

    def _refuse(self, request: Request, error: Exception) -> Response:
        reply = make_refusal(error)
        if request.scope["path"] == "/":
            reply = Reply(f"{error}\n".encode("utf-8", "replace"), "text/plain; charset=utf-8", reply.status)
        return _make_response(reply)


def _make_response(reply: Reply, request: Request | None = None) -> Response:
    final_reply = reply if request is None else reply.compress(request.headers.get("accept-encoding", ""))
    return Response(final_reply.body, final_reply.status, dict(final_reply.headers), final_reply.media_type)
