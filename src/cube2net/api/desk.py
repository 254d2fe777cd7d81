"""One cube that is asked over and over, and the networks made of it lately."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from cube2net import pipeline
from cube2net.api.asking import parameters_of, shortest, viewed
from cube2net.api.shapes import Ask
from cube2net.errors import CubeError
from cube2net.progress import Progress, silent
from cube2net.records import Cube, Network
from cube2net.records.lineage import lineage_of

KEPT = 16
"""So many networks are remembered, those asked for last."""


class Desk:
    """A cube, and what was made of it lately; several threads may ask at once.

    The same question gives the same answer whether its network is remembered or not.
    """

    def __init__(self, cube: Cube) -> None:
        self.cube = cube
        self._made: OrderedDict[str, Network] = OrderedDict()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Desk({self.cube!r})"

    @property
    def checksum(self) -> str | None:
        """The checksum of the cube's manifest; None of a cube in memory."""
        origin = lineage_of(self.cube).origin
        return None if origin is None else origin.seal

    def network(self, ask: Ask, progress: Progress = silent) -> Network:
        """Return the network of a question."""
        asked_of = ask.get("cube")
        if asked_of is not None and asked_of != self.checksum:
            raise CubeError(
                f"the question was asked of another cube: its checksum begins {asked_of[:12]!r}, this one's "
                f"{(self.checksum or 'none')[:12]!r}"
            )
        key = json.dumps(shortest(ask), sort_keys=True)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        network = pipeline.construct(viewed(self.cube, ask), progress=progress, **parameters_of(self.cube, ask))
        with self._lock:
            self._made[key] = network
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
        return network

    def answer(self, name: str, question: Mapping[str, Any], progress: Progress = silent) -> dict[str, Any]:
        """Return what is answered to a question of a route, as JSON has it."""
        from cube2net.api.routes import route_of

        return dict(route_of(name).answer(self, question, progress))
