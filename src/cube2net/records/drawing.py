"""A network with a place for every node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError
from cube2net.records.network import Network
from cube2net.records.ragged import frozen


@dataclass(frozen=True, eq=False)
class Drawing:
    """A network, a point of the plane for each of its nodes, what it shows, and the nodes to look at first."""

    network: Network
    places: Array
    title: str = ""
    marked: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", frozen(self.places))
        if self.places.shape != (len(self.network), 2) or not bool(np.isfinite(self.places).all()):
            raise InputError(
                f"{len(self.network):,} nodes have places of shape {self.places.shape}, expected two finite numbers"
            )
        if any(not 0 <= node < len(self.network) for node in self.marked):
            raise InputError(f"the marked nodes {self.marked!r} are not all among the {len(self.network):,} nodes")

    def __repr__(self) -> str:
        return f"Drawing({self.title!r}, {self.network!r})"
