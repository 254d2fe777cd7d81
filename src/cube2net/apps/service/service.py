"""The service of one cube: its routes, and a cache of its latest networks."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from cube2net._util.progress import Progress, silent
from cube2net.api.construct import construct_by_name
from cube2net.api.plan import check_nodes, nodes_at_most
from cube2net.api.replay import restore_network, serialize_choice
from cube2net.apps.service import network_schemas as network_schemas
from cube2net.apps.service import schemas
from cube2net.apps.service.answers import compare, construct, contrast, cube, drill, explain, layout, pivot, without
from cube2net.apps.service.exports import ExportedFile, export_file
from cube2net.apps.service.names import NameIndex, complete_name, find_names, list_members
from cube2net.apps.service.network_schemas import ExportRequest
from cube2net.apps.service.requests import (
    ParsedRequest,
    apply_view,
    is_long_method,
    make_parameters,
    normalize_view,
    parse_request,
)
from cube2net.apps.service.schemas import NetworkRequest
from cube2net.apps.service.validation import read
from cube2net.errors import Cube2netError, CubeError, ParameterError, quote, unknown_name
from cube2net.model.cube import Cube, get_lineage
from cube2net.model.network import Network
from cube2net.options import DEFAULTS

MAX_NETWORKS, MAX_VIEWS, MAX_REPORTS = 16, 4, 4
"""How many networks, views and reports are cached, the least recently used dropped first."""
MAX_FAST_QUERY = 5_000
"""A larger query takes long with any method."""
MAX_FAST_PRICES = 8
"""More pins and bans take long to price with any method."""
FILE = "export"
"""The request that is answered by a file."""
RESELECTING_REQUESTS = ("without",)
"""Requests that run the method again even if the network is cached."""
T = TypeVar("T")


class KeptChoice(NamedTuple):
    """The choice of a network; another service of the same cube restores the network from it."""

    key: str
    text: str


class Duration(NamedTuple):
    """Whether an answer may take more than a moment, and the choice of its network if that is cached."""

    is_long: bool
    choice: KeptChoice | None = None


class CubeService:
    """Answers requests about one cube, and caches its latest networks; safe to use from several threads.

    An answer does not depend on what is cached. A network of more than ``most_nodes`` nodes is refused.
    """

    def __init__(self, cube: Cube, *, most_nodes: int | None = None) -> None:
        self.cube, self.most_nodes = cube, most_nodes
        self._networks: OrderedDict[str, Network] = OrderedDict()
        self._choices: OrderedDict[str, str] = OrderedDict()
        self._views: OrderedDict[str, Cube] = OrderedDict()
        self._reports: OrderedDict[str, str] = OrderedDict()
        self._names: NameIndex | None = None
        self._lock = threading.Lock()
        self._names_lock = threading.Lock()

    def __repr__(self) -> str:
        return f"CubeService({self.cube!r})"

    @property
    def name(self) -> str:
        """The name of the cube's folder."""
        origin = get_lineage(self.cube).origin
        return "a cube in memory" if origin is None else origin.folder.name

    @property
    def checksum(self) -> str | None:
        """The checksum of the cube's manifest; None for a cube in memory."""
        origin = get_lineage(self.cube).origin
        return None if origin is None else origin.seal

    @property
    def names(self) -> NameIndex:
        """The index of all names by their words, built at first use."""
        with self._names_lock:
            if self._names is None:
                self._names = NameIndex.of_cube(self.cube)
            return self._names

    def view(self, body: Mapping[str, Any]) -> Cube:
        """Return the view of the cube that a request names."""
        view: Any = normalize_view(body)
        if not view:
            return self.cube
        return self._get_cached(self._views, MAX_VIEWS, json.dumps(view), lambda: apply_view(self.cube, view))

    def parse(self, request: NetworkRequest) -> ParsedRequest:
        """Parse a request for a network; one made for another cube is refused."""
        checksum = request.get("cube")
        if checksum is not None and checksum != self.checksum:
            raise CubeError(
                f"the request was made for another cube: its checksum begins {quote(checksum[:12])}, this one's "
                f"{(self.checksum or 'none')[:12]!r}"
            )
        return parse_request(self.cube, request)

    def with_checksum(self, request: ParsedRequest) -> dict[str, Any]:
        """Return the fields of a request, and the checksum of the cube if it has one."""
        return request.fields | ({} if self.checksum is None else {"cube": self.checksum})

    def network(self, request: NetworkRequest | ParsedRequest, progress: Progress = silent) -> Network:
        """Return the network of a request."""
        parsed = request if isinstance(request, ParsedRequest) else self.parse(request)
        with nodes_at_most(self.most_nodes):
            network = self._get_cached(
                self._networks,
                MAX_NETWORKS,
                parsed.key,
                lambda: self._restore(parsed) or self._construct(parsed, progress),
            )
        self._drop_old_views()
        return network

    def _drop_old_views(self) -> None:
        """Drop networks of other views than the latest: each of them keeps its view in memory."""
        with self._lock:
            views = {
                key: id(network.context.whole) for key, network in self._networks.items() if network.context is not None
            }
            latest = list(dict.fromkeys(reversed(views.values())))[: MAX_VIEWS + 1]
            for key, view in views.items():
                if view not in latest:
                    del self._networks[key]

    def _restore(self, request: ParsedRequest) -> Network | None:
        """Return the network whose choice another service made; None if there is none."""
        with self._lock:
            choice = self._choices.get(request.key)
        if choice is None:
            return None
        try:
            return restore_network(self.view(request.fields), choice, bound=bool(request.fields.get("bound")))
        except Cube2netError:
            with self._lock:
                self._choices.pop(request.key, None)
            raise

    def keep_choice(self, choice: KeptChoice) -> None:
        """Cache the choice that another service made for a network."""
        with self._lock:
            _put_in_cache(self._choices, MAX_NETWORKS, choice.key, choice.text)

    def _construct(self, request: ParsedRequest, progress: Progress) -> Network:
        parameters = make_parameters(self.cube, request)
        network = construct_by_name(self.view(request.fields), progress=progress, **parameters)
        check_nodes(len(network))
        return network

    def answer(self, name: str, body: Mapping[str, Any], progress: Progress = silent) -> dict[str, Any]:
        """Return the answer to a request, as JSON."""
        route = find_route(name)
        return dict(route.answer(self, read(route.request_type, body), progress))

    def file(self, body: Mapping[str, Any], progress: Progress = silent) -> ExportedFile:
        """Return the file of a network, its picture, or its recipe as a file, a command or Python."""
        return export_file(self, read(ExportRequest, body), progress)

    def report(self, key: str) -> str:
        """Return the page of a cached report."""
        with self._lock:
            if key not in self._reports:
                raise ParameterError(f"there is no report {quote(key, 40)}: run the comparison again")
            return self._reports[key]

    def keep_report(self, key: str, page: str) -> None:
        """Cache the page of a report."""
        with self._lock:
            _put_in_cache(self._reports, MAX_REPORTS, key, page)

    def may_be_long(self, name: str, body: Mapping[str, Any]) -> bool:
        """Return whether an answer may take more than a moment, judged without looking at the cube."""
        route = find_route(name) if name != FILE else None
        if route is not None and route.long:
            return True
        request = body.get("request") if isinstance(body, Mapping) else None
        if (route is not None and not route.networks) or not isinstance(request, Mapping):
            return False
        sizes = {
            field: len(request[field]) for field in ("query", "pins", "bans") if isinstance(request.get(field), list)
        }
        prices = sizes.get("pins", 0) + sizes.get("bans", 0) if body.get("prices") else 0
        is_large = sizes.get("query", 0) > MAX_FAST_QUERY or prices > MAX_FAST_PRICES
        return bool(is_large or _has_long_method(request) or request.get("bound"))

    def estimate(self, name: str, body: Mapping[str, Any]) -> Duration:
        """Return whether an answer may take more than a moment; it does not if its network is cached.

        An invalid request takes no time. Names are looked up, which takes a while for a long query.
        """
        if not self.may_be_long(name, body):
            return Duration(False)
        if name in ROUTES and ROUTES[name].long:
            return Duration(True)
        try:
            request = parse_request(self.cube, read(NetworkRequest, body["request"]))
        except Cube2netError:
            return Duration(False)
        fields = request.fields
        prices = len([*fields.get("pins", []), *fields.get("bans", [])]) if body.get("prices") else 0
        if _has_long_method(fields) or len(fields["query"]) > MAX_FAST_QUERY or request.searches_bound:
            with self._lock:
                is_cached = request.key in self._networks or request.key in self._choices
            is_long = bool(prices) or name in RESELECTING_REQUESTS or not is_cached
        else:
            is_long = prices > MAX_FAST_PRICES
        return Duration(is_long, self._find_choice(request.key) if is_long else None)

    def is_long(self, name: str, body: Mapping[str, Any]) -> bool:
        """Return whether an answer may take more than a moment; it does not if its network is cached."""
        return self.estimate(name, body).is_long

    def choice(self, body: Mapping[str, Any]) -> KeptChoice | None:
        """Return the choice of the network of an answered request; None if it is not cached."""
        if "request" not in body:
            return None
        return self._find_choice(parse_request(self.cube, read(NetworkRequest, body["request"])).key)

    def _find_choice(self, key: str) -> KeptChoice | None:
        with self._lock:
            network, text = self._networks.get(key), self._choices.get(key, "")
        text = text or (serialize_choice(network) if network is not None else "")
        return KeptChoice(key, text) if text else None

    def _get_cached(self, cache: OrderedDict[str, T], size: int, key: str, make: Callable[[], T]) -> T:
        with self._lock:
            if key in cache:
                cache.move_to_end(key)
                return cache[key]
        value = make()
        with self._lock:
            _put_in_cache(cache, size, key, value)
        return value


def _has_long_method(request: Mapping[str, Any]) -> bool:
    return is_long_method(request.get("method") or DEFAULTS["method"], request.get("options"))


def _put_in_cache(cache: OrderedDict[str, T], size: int, key: str, value: T) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > size:
        cache.popitem(last=False)


@dataclass(frozen=True)
class Route:
    """A named request: the schemas of the request and its answer, and the function that answers it.

    ``networks``: it constructs a network first, which takes long if its method does. ``long``: it always takes long.
    ``click``: it answers a click or a keystroke, so it does not queue behind heavier work.
    """

    name: str
    request_type: type
    answer_type: type
    answer: Callable[[CubeService, Any, Progress], Mapping[str, Any]]
    networks: bool = False
    long: bool = False
    click: bool = False


ROUTES: dict[str, Route] = {
    route.name: route
    for route in (
        Route("cube", schemas.CubeRequest, schemas.CubeAnswer, cube, click=True),
        Route("names", schemas.NamesRequest, schemas.NamesAnswer, find_names),
        Route("complete", schemas.CompleteRequest, schemas.CompleteAnswer, complete_name, click=True),
        Route("members", schemas.MembersRequest, schemas.MembersAnswer, list_members),
        Route("pivot", schemas.PivotRequest, schemas.PivotAnswer, pivot),
        Route("construct", network_schemas.ConstructRequest, network_schemas.NetworkAnswer, construct, networks=True),
        Route("layout", network_schemas.LayoutRequest, network_schemas.LayoutAnswer, layout, networks=True),
        Route(
            "explain", network_schemas.ExplainRequest, network_schemas.ExplainAnswer, explain, networks=True, click=True
        ),
        Route(
            "without", network_schemas.WithoutRequest, network_schemas.ChangeAnswer, without, networks=True, click=True
        ),
        Route("contrast", network_schemas.ContrastRequest, network_schemas.ContrastAnswer, contrast),
        Route("drill", network_schemas.DrillRequest, network_schemas.DrillAnswer, drill),
        Route("compare", network_schemas.CompareRequest, network_schemas.CompareAnswer, compare, long=True),
    )
}
"""All requests except ``export``, which is answered by a file."""


def find_route(name: str) -> Route:
    """Return the route with a name."""
    if name not in ROUTES:
        raise unknown_name("request", name, ROUTES)
    return ROUTES[name]
