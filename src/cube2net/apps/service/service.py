"""The service: one cube, its routes, and recent networks."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cube2net._util.progress import Progress, silent
from cube2net.api.construct import construct as construct_network
from cube2net.api.plan import check_nodes, nodes_at_most
from cube2net.api.replay import choice_of, recall
from cube2net.apps.service import network_schemas as network_schemas
from cube2net.apps.service import schemas
from cube2net.apps.service.answers import compare, construct, contrast, cube, drill, explain, layout, pivot, without
from cube2net.apps.service.exports import ExportedFile, exported
from cube2net.apps.service.names import complete, members, names
from cube2net.apps.service.network_schemas import ExportRequest
from cube2net.apps.service.requests import (
    ParsedRequest,
    is_long,
    parameters_of,
    parse_request,
    searches_bound,
    view_of,
    viewed,
)
from cube2net.apps.service.schemas import NetworkRequest
from cube2net.apps.service.validation import read
from cube2net.cube.name_index import NameIndex
from cube2net.errors import Cube2netError, CubeError, ParameterError, quoted, unknown
from cube2net.model.cube import Cube, lineage_of
from cube2net.model.network import Network
from cube2net.options import DEFAULTS

KEPT, VIEWS, REPORTS = 16, 4, 4
"""So many networks, views and reports are remembered, those asked for last."""
MANY = 5_000
"""A query of more objects takes long whatever the method."""
PRICED = 8
"""More pins and bans than these take long to price whatever the method."""
FILE = "export"
"""The request that is answered by a file."""
CHOSEN_ANEW = ("without",)
"""Requests that let the method choose again, whether the network is remembered or not."""
T = TypeVar("T")


class KeptChoice(NamedTuple):
    """What was chosen for a network; another service of the same cube restores the network from it."""

    key: str
    text: str


class Standing(NamedTuple):
    """Whether a request may take more than a moment to answer, and what was chosen for it already if so."""

    long: bool
    choice: KeptChoice | None = None


class CubeService:
    """A cube, and what was made of it lately; several threads may ask at once.

    The same request gives the same answer whether its network is remembered or not. A network of more than
    ``most_nodes`` nodes is refused.
    """

    def __init__(self, cube: Cube, *, most_nodes: int | None = None) -> None:
        self.cube, self.most_nodes = cube, most_nodes
        self._made: OrderedDict[str, Network] = OrderedDict()
        self._choices: OrderedDict[str, str] = OrderedDict()
        self._views: OrderedDict[str, Cube] = OrderedDict()
        self._reports: OrderedDict[str, str] = OrderedDict()
        self._names: NameIndex | None = None
        self._lock = threading.Lock()
        self._naming = threading.Lock()

    def __repr__(self) -> str:
        return f"CubeService({self.cube!r})"

    @property
    def name(self) -> str:
        """The name of the cube's folder."""
        origin = lineage_of(self.cube).origin
        return "a cube in memory" if origin is None else origin.folder.name

    @property
    def checksum(self) -> str | None:
        """The checksum of the cube's manifest; None of a cube in memory."""
        origin = lineage_of(self.cube).origin
        return None if origin is None else origin.seal

    @property
    def names(self) -> NameIndex:
        """All names by their words; made when first asked for."""
        with self._naming:
            if self._names is None:
                self._names = NameIndex.of_cube(self.cube)
            return self._names

    def view(self, body: Mapping[str, Any]) -> Cube:
        """Return the part of the cube that a request looks at."""
        wanted = view_of(body)
        if not wanted:
            return self.cube
        return self._known(self._views, VIEWS, json.dumps(wanted), lambda: viewed(self.cube, wanted))  # type: ignore[arg-type]

    def parse(self, request: NetworkRequest) -> ParsedRequest:
        """Return a request that is read once; one that was asked of another cube is refused."""
        self.check_cube(request)
        return parse_request(self.cube, request)

    def sealed_words(self, request: ParsedRequest) -> dict[str, Any]:
        """Return the words of a request, with the checksum of the cube where it has one."""
        checksum = self.checksum
        return request.words | ({} if checksum is None else {"cube": checksum})

    def network(self, request: NetworkRequest | ParsedRequest, progress: Progress = silent) -> Network:
        """Return the network of a request."""
        parsed = request if isinstance(request, ParsedRequest) else self.parse(request)
        with nodes_at_most(self.most_nodes):
            network = self._known(
                self._made, KEPT, parsed.key, lambda: self._recalled(parsed) or self._network(parsed, progress)
            )
        self._forget_views()
        return network

    def _forget_views(self) -> None:
        """Let go of networks of other parts of the cube than those looked at last: each of them holds its part."""
        with self._lock:
            parts = {key: id(made.context.whole) for key, made in self._made.items() if made.context is not None}
            looked_at = list(dict.fromkeys(reversed(parts.values())))[: VIEWS + 1]
            for key, part in parts.items():
                if part not in looked_at:
                    del self._made[key]

    def _recalled(self, request: ParsedRequest) -> Network | None:
        """Return a network that another service chose; None where none is known."""
        words = request.words
        with self._lock:
            choice = self._choices.get(request.key)
        if choice is None:
            return None
        try:
            return recall(self.view(words), choice, bound=bool(words.get("bound")))
        except Cube2netError:
            with self._lock:
                self._choices.pop(request.key, None)
            raise

    def keep_choice(self, choice: KeptChoice) -> None:
        """Remember what another service chose for a network."""
        with self._lock:
            _put(self._choices, KEPT, choice.key, choice.text)

    def _network(self, request: ParsedRequest, progress: Progress) -> Network:
        network = construct_network(self.view(request.words), progress=progress, **parameters_of(self.cube, request))
        check_nodes(len(network))
        return network

    def check_cube(self, request: NetworkRequest) -> None:
        """Raise where a request was asked of another cube."""
        asked_of = request.get("cube")
        if asked_of is not None and asked_of != self.checksum:
            raise CubeError(
                f"the request was asked of another cube: its checksum begins {quoted(asked_of[:12])}, this one's "
                f"{(self.checksum or 'none')[:12]!r}"
            )

    def answer(self, name: str, body: Mapping[str, Any], progress: Progress = silent) -> dict[str, Any]:
        """Return what is answered to a request of a route, as JSON has it."""
        route = route_of(name)
        return dict(route.answer(self, read(route.asks, body), progress))

    def file(self, body: Mapping[str, Any], progress: Progress = silent) -> ExportedFile:
        """Return the file of a network, a picture of it, or what makes it again."""
        return exported(self, read(ExportRequest, body), progress)

    def report(self, key: str) -> str:
        """Return the page of a report that a comparison made lately."""
        with self._lock:
            if key not in self._reports:
                raise ParameterError(f"there is no report {quoted(key, 40)}: run the comparison again")
            return self._reports[key]

    def keep_report(self, key: str, page: str) -> None:
        """Remember the page of a report for a while."""
        with self._lock:
            _put(self._reports, REPORTS, key, page)

    def may_be_long(self, name: str, body: Mapping[str, Any]) -> bool:
        """Return whether a request may take more than a moment to answer by its words alone, which takes none."""
        route = route_of(name) if name != FILE else None
        if route is not None and route.long:
            return True
        request = body.get("request") if isinstance(body, Mapping) else None
        if (route is not None and not route.networks) or not isinstance(request, Mapping):
            return False
        sizes = {word: len(request[word]) for word in ("query", "pins", "bans") if isinstance(request.get(word), list)}
        priced = sizes.get("pins", 0) + sizes.get("bans", 0) if body.get("prices") else 0
        return bool(_is_long(request) or sizes.get("query", 0) > MANY or priced > PRICED or request.get("bound"))

    def standing(self, name: str, body: Mapping[str, Any]) -> Standing:
        """Return whether a request may take more than a moment to answer; not where its network is remembered.

        Names are looked up for that, which takes a while where they are many. What is no request takes no time.
        """
        if not self.may_be_long(name, body):
            return Standing(False)
        if name in ROUTES and ROUTES[name].long:
            return Standing(True)
        try:
            request = parse_request(self.cube, read(NetworkRequest, body["request"]))
            words, key = request.words, request.key
            bound = searches_bound(words)
        except Cube2netError:
            return Standing(False)
        priced = len([*words.get("pins", []), *words.get("bans", [])]) if body.get("prices") else 0
        if _is_long(words) or len(words["query"]) > MANY or bound:
            with self._lock:
                known = key in self._made or key in self._choices
            long = bool(priced) or name in CHOSEN_ANEW or not known
        else:
            long = priced > PRICED
        return Standing(long, self._choice(key) if long else None)

    def is_long(self, name: str, body: Mapping[str, Any]) -> bool:
        """Return whether a request may take more than a moment to answer; not where its network is remembered."""
        return self.standing(name, body).long

    def choice(self, body: Mapping[str, Any]) -> KeptChoice | None:
        """Return what was chosen for the network of a request that was answered; None where that is not known."""
        if "request" not in body:
            return None
        return self._choice(parse_request(self.cube, read(NetworkRequest, body["request"])).key)

    def _choice(self, key: str) -> KeptChoice | None:
        with self._lock:
            network, text = self._made.get(key), self._choices.get(key, "")
        text = text or (choice_of(network) if network is not None else "")
        return KeptChoice(key, text) if text else None

    def _known(self, kept: OrderedDict[str, T], most: int, key: str, make: Callable[[], T]) -> T:
        """Return what is remembered by a key, or made now."""
        with self._lock:
            if key in kept:
                kept.move_to_end(key)
                return kept[key]
        made = make()
        with self._lock:
            _put(kept, most, key, made)
        return made


def _is_long(request: Mapping[str, Any]) -> bool:
    return is_long(request.get("method") or DEFAULTS["method"], request.get("options"))


def _put(kept: OrderedDict[str, T], most: int, key: str, value: T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)


if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Route:
    """A named request: the schemas of the request and its answer, and the function that answers it.

    ``networks``: it makes a network first, which takes long if its method does. ``long``: it always takes long.
    ``click``: it follows a click or a keystroke, so it does not queue behind heavier work.
    """

    name: str
    asks: type
    answers: type
    answer: Callable[[CubeService, Any, Progress], Mapping[str, Any]]
    networks: bool = False
    long: bool = False
    click: bool = False


ROUTES: dict[str, Route] = {
    route.name: route
    for route in (
        Route("cube", schemas.CubeRequest, schemas.CubeAnswer, cube, click=True),
        Route("names", schemas.NamesRequest, schemas.NamesAnswer, names),
        Route("complete", schemas.CompleteRequest, schemas.CompleteAnswer, complete, click=True),
        Route("members", schemas.MembersRequest, schemas.MembersAnswer, members),
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
"""Every request, in the order in which one would ask them; ``export``, whose answer is a file, is asked by itself."""


def route_of(name: str) -> Route:
    """Return the route of a name."""
    if name not in ROUTES:
        raise unknown("request", name, ROUTES)
    return ROUTES[name]
