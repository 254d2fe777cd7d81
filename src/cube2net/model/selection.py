"""Selections of cells, budgets, scopes, and steering by pins and bans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from cube2net._util.arrays import Array, frozen, travel_by_fields
from cube2net._util.display import Shown
from cube2net.errors import InputError, unknown, whole_number
from cube2net.model.names import OBJECT, Node
from cube2net.options import PREFIXES

# A value this near to its bound, as a share of it, differs from it by rounding only.
PROVEN = 1e-9


def _none(kind: type) -> Array:
    return frozen(np.empty(0, dtype=kind))


@dataclass(frozen=True, eq=False)
class Selection(Shown):
    """The objects M that a method brings, and the cells they come from, in the order chosen.

    ``values[i]`` is the objective after the first i + 1 cells. A method that chooses objects without
    cells leaves ``cells`` empty. ``bound`` is an upper bound on the value of any selection of that many
    cells, or None when none is known. ``note`` is a sentence for people where there is something to say. ``labels`` are
    those of every cell where they are known, as they are of a network's selection.
    """

    objects: Array
    value: float
    cells: Array = field(default_factory=lambda: _none(np.int32))
    values: Array = field(default_factory=lambda: _none(np.float64))
    bound: float | None = None
    train_seconds: float = 0.0
    note: str = ""
    labels: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        for what, rows in (("objects", self.objects), ("cells", self.cells)):
            if np.size(rows) and np.asarray(rows).dtype.kind not in "iu":
                raise InputError(
                    f"the {what} of a selection are row numbers, got {np.asarray(rows).ravel()[:3].tolist()}"
                )
        objects = np.asarray(self.objects, dtype=np.int32)
        if bool(np.any(objects[1:] <= objects[:-1])):
            raise InputError("the objects of a selection must ascend without repeats")
        if len(np.unique(self.cells)) != len(self.cells) or len(self.cells) != len(self.values):
            raise InputError("a selection has distinct cells and one value for each")
        object.__setattr__(self, "objects", frozen(objects))
        object.__setattr__(self, "cells", frozen(np.asarray(self.cells, dtype=np.int32)))
        object.__setattr__(self, "values", frozen(np.asarray(self.values, dtype=np.float64)))

    __reduce__ = travel_by_fields

    def __repr__(self) -> str:
        return f"Selection({len(self.cells)} cells, {len(self.objects):,} objects, value {self.value:.4f})"

    @property
    def gap(self) -> float | None:
        """How far the value may be from the best possible, as a share of the bound; None without a bound.

        A value below a bound of 0 has the gap 1: there is nothing to take a share of.
        """
        if self.bound is None:
            return None
        missing = max(0.0, self.bound - self.value)
        return missing / abs(self.bound) if self.bound else float(missing > PROVEN)

    @property
    def proven(self) -> bool:
        """Whether no selection of that many cells is worth more, but for rounding."""
        return self.gap is not None and self.gap <= PROVEN

    def gains(self, start: float = 0.0) -> Array:
        """Return what each cell added to the value, from the value of no cells."""
        return np.diff(self.values, prepend=start)


def _no_rows() -> Array:
    return frozen(np.empty(0, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Scope:
    """What is in a selection before a method chooses, and what may not come in.

    ``cells`` are in, in this order, and so are ``objects`` (ascending) beside the query and the objects of these cells.
    ``closed`` are the cells that a method may not choose (ascending), those that are in among them. ``barred`` marks
    the objects that no method may bring, one entry for each object of the cube; None where every object may come. The
    query always stays, barred or not.

    >>> Scope(cells=np.array([4]), closed=np.array([2, 4]))
    Scope(1 cell and 0 objects are in, 2 cells are closed)
    """

    cells: Array = field(default_factory=_no_rows)
    objects: Array = field(default_factory=_no_rows)
    closed: Array = field(default_factory=_no_rows)
    barred: Array | None = None

    def __post_init__(self) -> None:
        for name in ("cells", "objects", "closed"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), dtype=np.int32)))
        if self.barred is not None:
            object.__setattr__(self, "barred", frozen(np.asarray(self.barred, dtype=bool)))

    def __repr__(self) -> str:
        cells, closed = (f"{len(rows):,} cell{'s' * (len(rows) != 1)}" for rows in (self.cells, self.closed))
        barred = "" if self.barred is None else f", {int(self.barred.sum()):,} objects barred"
        objects = f"{len(self.objects):,} object{'s' * (len(self.objects) != 1)}"
        return (
            f"Scope({cells} and {objects} are in, {closed} {'are' if len(self.closed) != 1 else 'is'} closed{barred})"
        )

    @property
    def empty(self) -> bool:
        """Whether nothing is settled at all."""
        return not (len(self.cells) or len(self.objects) or len(self.closed)) and self.barred is None


OPEN = Scope()
"""Nothing is settled: every cell and every object may come."""


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
