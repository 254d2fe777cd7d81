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
from cube2net.apps.notebook.explore import WORDS, as_json
from cube2net.apps.notebook.html import DRAWN, draw_picture, make_html, page, sentence
from cube2net.apps.server.application import page_file
from cube2net.apps.server.responses import describe_failure, json_bytes
from cube2net.apps.service.requests import describe_query
from cube2net.apps.service.service import CubeService
from cube2net.errors import InputError, ParameterError, quote
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query

THREADS = 4
"""So many requests of one page are answered at a time."""

MOST_NODES = 20_000
"""A page shows no more nodes at once."""

FILE = "export"
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
        self._service, self._closed = CubeService(cube, most_nodes=MOST_NODES), False
        self._stops: dict[Any, Stop] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="widget")
        super().__init__(
            _esm=page_file("widget.js").decode(), _css=page_file("widget.css").decode(), request=dict(request)
        )
        self.on_msg(self._heard)

    def __repr__(self) -> str:
        return f"Explorer({self.network or self.cube!r})"

    @property
    def cube(self) -> Cube:
        """The cube that is asked."""
        return self._service.cube

    def close(self) -> None:
        """End the page and all work for it, and let go of the networks it made."""
        for stop in list(self._stops.values()):
            stop.ask()
        self._threads.shutdown(wait=False, cancel_futures=True)
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # a closed widget still shows what it showed last
        self._service, self._closed = CubeService(self.cube, most_nodes=MOST_NODES), True

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "request" and not isinstance(value, Mapping):
            raise ParameterError(
                f"request is {quote(value)}, expected a request such as {{'query': ['o3'], 'n_cells': 5}}"
            )
        if not name.startswith("_") and not hasattr(type(self), name):
            word = f"widget.request = {{**widget.request, {name!r}: {quote(value, 40)}}}" if name in WORDS else ""
            raise ParameterError(
                f"the widget has no attribute {name!r}: set request, node or query" + (f", here {word}" if word else "")
            )
        super().__setattr__(name, value)

    def _check_open(self) -> None:
        if self._closed:
            raise ParameterError("the widget is closed and does not move: c2n.explore makes another")

    def _repr_mimebundle_(self, **how: Any) -> Any:
        if self._closed:
            text = "The page is closed: this is what it showed last. c2n.explore makes another."
            return {
                "text/plain": repr(self),
                "text/html": page(sentence(text)) + str(make_html(self.network or self.cube)),
            }
        shown = super()._repr_mimebundle_(**how)
        if shown is None:
            return None
        if self.network is not None and len(self.network) <= DRAWN:
            self.still = draw_picture(self.network).source
        data, about = shown
        return data | {"text/html": make_html(self.network or self.cube)}, about

    # What is asked, and what follows from it

    @traitlets.validate("request")
    def _check_ask(self, proposal: Any) -> dict[str, Any]:
        """Return a request once its network is made: one that is refused changes nothing."""
        self._check_open()
        request = as_json(proposal["value"])
        self._find_network(request)
        return request

    @traitlets.observe("request")
    def _follow(self, _change: Any) -> None:
        network = self._find_network(self.request)
        self.set_trait("network", network)
        self.set_trait("selection", None if network is None else network.selection)
        if network is None or self.query is None or self._words(self.query) != self._words(network.query):
            self.query = None if network is None else network.query

    @traitlets.validate("query")
    def _check_query(self, proposal: Any) -> Query | None:
        self._check_open()
        query = proposal["value"]
        return query if query is None or isinstance(query, Query) else self.cube.query(query)

    @traitlets.observe("query")
    def _move(self, _change: Any) -> None:
        words: dict[str, Any] = {"query": []} if self.query is None else self._words(self.query)
        request = {word: value for word, value in self.request.items() if word not in ("query", "labels")} | words
        if request != self.request:
            self.request = request

    def _words(self, query: Query) -> dict[str, Any]:
        return describe_query(self.cube, query)

    def _find_network(self, request: Mapping[str, Any]) -> Network | None:
        return self._service.network(request) if request["query"] else None  # type: ignore[arg-type]

    # What the page asks

    def _heard(self, _widget: Any, message: Any, _buffers: Any) -> None:
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
        """Answer a request; whatever goes wrong is a sentence, and what was stopped is not answered."""
        try:
            if not isinstance(name, str) or not isinstance(body, Mapping):
                raise InputError(f"a request has a name and words, got {quote(name)} and {quote(body)}")
            if name == FILE:
                file = self._service.file(body, self._telling(key))
                self.send({"id": key, "answer": {"name": file.name, "media_type": file.media_type}}, [file.content])
            else:
                answer = self._service.answer(name, body, self._telling(key))
                self.send({"id": key, "answer": True}, [json_bytes(answer)])
        except KeyboardInterrupt:
            pass
        except Exception as error:
            self.send({"id": key, **describe_failure(error)[1]})
        finally:
            self._stops.pop(key, None)

    def _telling(self, key: str) -> Progress:
        """Return a progress that is sent to the page now and then."""

        def report(stage: str, done: int, total: int | None = None) -> None:
            self.send({"id": key, "progress": {"stage": stage, "done": done, "total": total}})

        return ThrottledProgress(resolve_progress(report))
