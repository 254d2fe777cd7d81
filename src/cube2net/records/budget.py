"""How far a method may go."""

from __future__ import annotations

from dataclasses import dataclass

from cube2net.errors import ParameterError, unknown

PREFIXES = ("all", "best")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """At most ``m`` cells, ``max_nodes`` objects and ``max_links`` links in the network.

    A cell that would break a limit is passed over. ``prefix="all"`` keeps every cell chosen (the paper's
    exactly m steps), ``prefix="best"`` cuts the selection where its value was highest.
    """

    m: int = 20
    max_nodes: int | None = None
    max_links: int | None = None
    prefix: str = "all"

    def __post_init__(self) -> None:
        if self.m < 0:
            raise ParameterError(f"m is {self.m!r}, expected 0 or more cells")
        for name in ("max_nodes", "max_links"):
            limit = getattr(self, name)
            if limit is not None and limit < 0:
                raise ParameterError(f"{name} is {limit!r}, expected 0 or more")
        if self.prefix not in PREFIXES:
            raise unknown("prefix", self.prefix, PREFIXES)
