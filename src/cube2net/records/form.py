"""What becomes a node of a network beside the query, and what its links weigh."""

from __future__ import annotations

from dataclasses import dataclass

from cube2net.errors import unknown
from cube2net.network_options import FORMS, KEEPS, MEMBERSHIPS, OPTIONS


@dataclass(frozen=True)
class Form:
    """The form of a network, by its name ``kind``, and what that form leaves open.

    ``objects``: the query and the objects brought, with all links among them. ``cells``: the query with its own links,
    every selected cell as a node, and a *membership* link from each object of the query to each selected cell that
    holds it. ``both``: all of these. ``woven``: the query, the selected cells as nodes, and, instead of those brought,
    the ``near`` objects nearest to the query by links; as many as the query has without a number.

    ``membership`` is what the links of an object to its cells weigh: 1 each (``"unit"``), 1 together for a cell
    (``"share"``), or together ``trust`` times the links of a typical object (``"even"``). ``trust``, above 0 and up to
    1, is the weight of cells against links; without a number it is estimated from the links of the query. Links of near
    objects are many and not about the query: those of an object weigh the less the more links it has into the query,
    and the more so the higher ``trust`` is; a number as ``near_weight`` multiplies them instead, for each end outside
    the query. ``keep="linked"`` leaves out objects brought that have no link to any object of the network.

    >>> Form("woven", near=5)
    Form(kind='woven', near=5, near_weight=None, membership='even', trust=None, keep='all')
    """

    kind: str = "woven"
    near: int | None = None
    near_weight: float | None = None
    membership: str = "even"
    trust: float | None = None
    keep: str = "all"

    def __post_init__(self) -> None:
        named = (("form", self.kind, FORMS), ("membership", self.membership, MEMBERSHIPS), ("keep", self.keep, KEEPS))
        for what, got, allowed in named:
            if got not in allowed:
                raise unknown(what, got, allowed)
        for name in ("near", "near_weight", "trust"):
            object.__setattr__(self, name, OPTIONS[name].check(name, getattr(self, name), or_none=True))

    @property
    def has_cells(self) -> bool:
        """Whether cells are nodes."""
        return self.kind != "objects"

    @property
    def has_brought(self) -> bool:
        """Whether the objects brought are nodes, however many."""
        return self.kind in ("objects", "both")
