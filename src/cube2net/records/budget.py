"""How far a method may go."""

from __future__ import annotations

from dataclasses import dataclass, field

from cube2net.errors import unknown, whole_number
from cube2net.network_options import PREFIXES
from cube2net.records.scope import OPEN, Scope

PAPER_CELLS = 20
"""How many cells are chosen where nobody says and the objective does not size itself by the query: the paper's."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """At most ``m`` cells, ``max_nodes`` objects and ``max_links`` links in the network.

    A cell that would break a limit is passed over. ``prefix="all"`` keeps every cell chosen (the paper's
    exactly m steps), ``prefix="best"`` cuts the selection where its value was highest.
    ``scope`` is what is settled before: what is in already, and what may not come in.
    """

    m: int = PAPER_CELLS
    max_nodes: int | None = None
    max_links: int | None = None
    prefix: str = "all"
    scope: Scope = field(default=OPEN, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", whole_number("m", self.m, 0, what="cells"))
        for name, what in (("max_nodes", "objects, or None"), ("max_links", "links, or None")):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 0, or_none=True, what=what))
        if self.prefix not in PREFIXES:
            raise unknown("prefix", self.prefix, PREFIXES)
