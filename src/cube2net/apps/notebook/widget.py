"""The page as a notebook widget: it sends requests, and threads of the kernel answer them with a ``CubeService``.

The page sends ``{id, name, request}`` and, to end it, ``{id, stop: true}``. Back come ``{id, progress}`` now and then,
and at last ``{id, answer}`` or ``{id, error}``; what is answered is JSON in a buffer beside it, a file its bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anywidget
import traitlets

from cube2net._util.progress import Progress, Stop, ThrottledProgress, resolve_progress
from cube2net.apps.notebook.explore import REQUEST_FIELDS, as_json
from cube2net.apps.notebook.html import MAX_DRAWN_NODES, draw_picture, make_html, page, sentence
from cube2net.apps.server.application import page_file
from cube2net.apps.server.responses import describe_failure, json_bytes
from cube2net.apps.service.requests import describe_query
from cube2net.apps.service.service import CubeService
from cube2net.errors import InputError, ParameterError, quote
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query

MAX_CONCURRENT_REQUESTS = 4
"""Number of requests of a page that are answered at a time."""

MAX_NODES = 20_000
"""Maximum number of nodes of a network on a page."""

EXPORT = "export"
"""The request whose answer is a file."""


class Explorer(anywidget.AnyWidget):
    """A cube on a page in a notebook; see :func:`cube2net.explore`.

    ``request`` is the request as JSON has it, and ``network``, ``selection`` and ``query`` are always those of it;
    ``node`` is what was clicked last: ``{"object": id}`` or ``{"cell": labels}``, or None.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    request = traitlets.Dict().tag(sync=True)
    node = traitlets.Dict(default_value=None, allow_none=True).tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    query = traitlets.Any(None, allow_none=True)
    network = traitlets.Any(None, allow_none=True, read_only=True)
    selection = traitlets.Any(None, allow_none=True, read_only=True)

    def __init__(self, cube: Cube, request: Mapping[str, Any]) -> None:
        self._service, self._closed = CubeService(cube, most_nodes=MAX_NODES), False
        self._stops: dict[Any, Stop] = {}
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS, thread_name_prefix="widget")
        super().__init__(
            _esm=page_file("widget.js").decode(), _css=page_file("widget.css").decode(), request=dict(request)
        )
        self.on_msg(self._handle_message)

    def __repr__(self) -> str:
        return f"Explorer({self.network or self.cube!r})"

    @property
    def cube(self) -> Cube:
        """The cube that is asked."""
        return self._service.cube

    def close(self) -> None:
        """Stop all work for the page, and release its networks."""
        for stop in list(self._stops.values()):
            stop.ask()
        self._threads.shutdown(wait=False, cancel_futures=True)
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # a closed widget still shows what it showed last
        self._service, self._closed = CubeService(self.cube, most_nodes=MAX_NODES), True

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "request" and not isinstance(value, Mapping):
            raise ParameterError(
                f"request is {quote(value)}, expected a request such as {{'query': ['o3'], 'n_cells': 5}}"
            )
        if not name.startswith("_") and not hasattr(type(self), name):
            example = (
                f"widget.request = {{**widget.request, {name!r}: {quote(value, 40)}}}" if name in REQUEST_FIELDS else ""
            )
            raise ParameterError(
                f"the widget has no attribute {name!r}: set request, node or query"
                + (f", here {example}" if example else "")
            )
        super().__setattr__(name, value)

    def _check_open(self) -> None:
        if self._closed:
            raise ParameterError("the widget is closed and does not move: c2n.explore makes another")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if self._closed:
            text = "The page is closed: this is what it showed last. c2n.explore makes another."
            return {
                "text/plain": repr(self),
                "text/html": page(sentence(text)) + str(make_html(self.network or self.cube)),
            }
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        if self.network is not None and len(self.network) <= MAX_DRAWN_NODES:
            self.still = draw_picture(self.network).source
        data, metadata = bundle
        return data | {"text/html": make_html(self.network or self.cube)}, metadata

    # The request, and what depends on it

    @traitlets.validate("request")
    def _check_request(self, proposal: Any) -> dict[str, Any]:
        """Return a request after constructing its network; an invalid request changes nothing."""
        self._check_open()
        request = as_json(proposal["value"])
        self._find_network(request)
        return request

    @traitlets.observe("request")
    def _follow(self, _change: Any) -> None:
        network = self._find_network(self.request)
        self.set_trait("network", network)
        self.set_trait("selection", None if network is None else network.selection)
        if (
            network is None
            or self.query is None
            or self._describe_query(self.query) != self._describe_query(network.query)
        ):
            self.query = None if network is None else network.query

    @traitlets.validate("query")
    def _check_query(self, proposal: Any) -> Query | None:
        self._check_open()
        query = proposal["value"]
        return query if query is None or isinstance(query, Query) else self.cube.query(query)

    @traitlets.observe("query")
    def _update_request(self, _change: Any) -> None:
        query_fields: dict[str, Any] = {"query": []} if self.query is None else self._describe_query(self.query)
        request = {
            field: value for field, value in self.request.items() if field not in ("query", "labels")
        } | query_fields
        if request != self.request:
            self.request = request

    def _describe_query(self, query: Query) -> dict[str, Any]:
        return describe_query(self.cube, query)

    def _find_network(self, request: Mapping[str, Any]) -> Network | None:
        return self._service.network(request) if request["query"] else None  # type: ignore[arg-type]

    # Requests of the page

    def _handle_message(self, _widget: Any, message: Any, _buffers: Any) -> None:
        if not isinstance(message, Mapping) or not isinstance(message.get("id"), str):
            return
        key = message["id"]
        if message.get("stop"):
            if key in self._stops:
                self._stops[key].ask()
            return
        self._stops[key] = Stop()
        self._threads.submit(self._stops[key].wrap(self._reply), key, message.get("name"), message.get("body"))

    def _reply(self, key: str, name: Any, body: Any) -> None:
        """Answer a request or report its error; a stopped request is not answered."""
        try:
            if not isinstance(name, str) or not isinstance(body, Mapping):
                raise InputError(f"a request has a name and words, got {quote(name)} and {quote(body)}")
            if name == EXPORT:
                file = self._service.file(body, self._make_progress(key))
                self.send({"id": key, "answer": {"name": file.name, "media_type": file.media_type}}, [file.content])
            else:
                answer = self._service.answer(name, body, self._make_progress(key))
                self.send({"id": key, "answer": True}, [json_bytes(answer)])
        except KeyboardInterrupt:
            pass
        except Exception as error:
            self.send({"id": key, **describe_failure(error)[1]})
        finally:
            self._stops.pop(key, None)

    def _make_progress(self, key: str) -> Progress:
        """Return a progress that is sent to the page at intervals."""

        def report(stage: str, done: int, total: int | None = None) -> None:
            self.send({"id": key, "progress": {"stage": stage, "done": done, "total": total}})

        return ThrottledProgress(resolve_progress(report))
