"""What a user wants in a network, wants out of it, and likes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cube2net.records.node_names import OBJECT, Node


@dataclass(frozen=True)
class Steering:
    """The cells and objects that must be in a network (``pins``) and must not (``bans``), and those liked or not.

    ``like`` and ``unlike`` are rows of objects whose cells weigh more or less. Everything is in the order given,
    without repeats.

    >>> Steering(pins=(Node("cell", 4), Node("cell", 4)), like=(7,))
    Steering(pins=(Node(kind='cell', number=4),), bans=(), like=(7,), unlike=())
    """

    pins: tuple[Node, ...] = ()
    bans: tuple[Node, ...] = ()
    like: tuple[int, ...] = ()
    unlike: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("pins", "bans", "like", "unlike"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))

    def __bool__(self) -> bool:
        return bool(self.pins or self.bans or self.like or self.unlike)

    def nodes(self) -> dict[str, tuple[Node, ...]]:
        """Return what is pinned, banned, liked and not liked, by the name of the option that says so."""
        like, unlike = (tuple(Node(OBJECT, row) for row in rows) for rows in (self.like, self.unlike))
        found = {"pins": self.pins, "bans": self.bans, "like": like, "unlike": unlike}
        return {name: nodes for name, nodes in found.items() if nodes}

    def cells(self, which: str) -> list[int]:
        """Return the numbers of the cells among the ``pins`` or the ``bans``."""
        return [node.number for node in getattr(self, which) if node.is_cell]

    def objects(self, which: str) -> list[int]:
        """Return the rows of the objects among the ``pins`` or the ``bans``."""
        return [node.number for node in getattr(self, which) if not node.is_cell]

    def pinning(self, nodes: Iterable[Node]) -> Steering:
        """Return the steering with further pins, which are no longer banned or unliked."""
        more = tuple(nodes)
        return replace(
            self,
            pins=(*self.pins, *more),
            bans=tuple(node for node in self.bans if node not in more),
            unlike=_rows_but(self.unlike, more),
        )

    def banning(self, nodes: Iterable[Node]) -> Steering:
        """Return the steering with further bans, which are no longer pinned or liked."""
        more = tuple(nodes)
        return replace(
            self,
            pins=tuple(node for node in self.pins if node not in more),
            bans=(*self.bans, *more),
            like=_rows_but(self.like, more),
        )


def _rows_but(rows: tuple[int, ...], nodes: tuple[Node, ...]) -> tuple[int, ...]:
    """Return rows of objects without those of some nodes."""
    return tuple(row for row in rows if Node(OBJECT, row) not in nodes)
