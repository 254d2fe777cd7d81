"""One cube that is asked over and over, and what was made of it lately."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cube2net import pipeline
from cube2net.api.ask_parameters import LONG, parameters_of, searches_bound, shortest, view_of, viewed
from cube2net.api.exports import ExportedFile, exported
from cube2net.api.json_reading import read
from cube2net.api.network_shapes import ExportQuestion
from cube2net.api.routes import route_of
from cube2net.api.shapes import Ask
from cube2net.errors import Cube2netError, CubeError, ParameterError, quoted
from cube2net.progress import Progress, silent
from cube2net.records import Cube, Network
from cube2net.records.lineage import lineage_of

KEPT, VIEWS, REPORTS = 16, 4, 4
"""So many networks, views and reports are remembered, those asked for last."""
MANY = 5_000
"""A query of more objects takes long whatever the method."""
PRICED = 8
"""More pins and bans than these take long to price whatever the method."""
T = TypeVar("T")


class Desk:
    """A cube, and what was made of it lately; several threads may ask at once.

    The same question gives the same answer whether its network is remembered or not. A network of more than
    ``most_nodes`` nodes is refused.
    """

    def __init__(self, cube: Cube, *, most_nodes: int | None = None) -> None:
        self.cube, self.most_nodes = cube, most_nodes
        self._made: OrderedDict[str, Network] = OrderedDict()
        self._views: OrderedDict[str, Cube] = OrderedDict()
        self._reports: OrderedDict[str, str] = OrderedDict()
        self._names: pipeline.NameIndex | None = None
        self._lock = threading.Lock()
        self._naming = threading.Lock()

    def __repr__(self) -> str:
        return f"Desk({self.cube!r})"

    @property
    def checksum(self) -> str | None:
        """The checksum of the cube's manifest; None of a cube in memory."""
        origin = lineage_of(self.cube).origin
        return None if origin is None else origin.seal

    @property
    def names(self) -> pipeline.NameIndex:
        """All names by their words; made when first asked for."""
        with self._naming:
            if self._names is None:
                self._names = pipeline.NameIndex.of_cube(self.cube)
            return self._names

    def view(self, question: Mapping[str, Any]) -> Cube:
        """Return the part of the cube that a question looks at."""
        wanted = view_of(question)
        if not wanted:
            return self.cube
        return self._known(self._views, VIEWS, json.dumps(wanted), lambda: viewed(self.cube, wanted))  # type: ignore[arg-type]

    def shortest(self, ask: Ask) -> dict[str, Any]:
        """Return a question in its shortest words, with the checksum of the cube where it has one."""
        checksum = self.checksum
        return shortest(self.cube, ask) | ({} if checksum is None else {"cube": checksum})

    def network(self, ask: Ask, progress: Progress = silent) -> Network:
        """Return the network of a question."""
        self.check_cube(ask)
        words = shortest(self.cube, ask)
        return self._known(self._made, KEPT, json.dumps(words), lambda: self._network(words, progress))

    def _network(self, words: Mapping[str, Any], progress: Progress) -> Network:
        network = pipeline.construct(self.view(words), progress=progress, **parameters_of(self.cube, words))
        nodes = len(network.objects) + len(network.cells)
        if self.most_nodes is not None and nodes > self.most_nodes:
            raise ParameterError(
                f"the network has {nodes:,} nodes, more than the {self.most_nodes:,} that are taken at once: ask for "
                "fewer with max_nodes"
            )
        return network

    def check_cube(self, ask: Ask) -> None:
        """Raise where a question was asked of another cube."""
        asked_of = ask.get("cube")
        if asked_of is not None and asked_of != self.checksum:
            raise CubeError(
                f"the question was asked of another cube: its checksum begins {quoted(asked_of[:12])}, this one's "
                f"{(self.checksum or 'none')[:12]!r}"
            )

    def answer(self, name: str, question: Mapping[str, Any], progress: Progress = silent) -> dict[str, Any]:
        """Return what is answered to a question of a route, as JSON has it."""
        route = route_of(name)
        return dict(route.answer(self, read(route.asks, question), progress))

    def file(self, question: Mapping[str, Any], progress: Progress = silent) -> ExportedFile:
        """Return the file of a network, a picture of it, or what makes it again."""
        return exported(self, read(ExportQuestion, question), progress)

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

    def is_long(self, name: str, question: Mapping[str, Any]) -> bool:
        """Return whether a question may take more than a moment to answer; not where its network is remembered."""
        route = route_of(name) if name != "export" else None
        if route is not None and route.long:
            return True
        ask = question.get("ask") if isinstance(question, Mapping) else None
        if (route is not None and not route.networks) or not isinstance(ask, Mapping):
            return False
        try:
            words = shortest(self.cube, read(Ask, ask))
        except Cube2netError:
            return False
        priced = question.get("prices") and len([*words.get("pins", []), *words.get("bans", [])])
        if words.get("method") in LONG or len(words["query"]) > MANY or searches_bound(words):
            return bool(priced) or json.dumps(words) not in self._made
        return bool(priced and priced > PRICED)

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


def _put(kept: OrderedDict[str, T], most: int, key: str, value: T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
