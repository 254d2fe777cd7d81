"""What is settled before a method chooses."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cube2net.array_types import Array
from cube2net.records.ragged import frozen


def _none() -> Array:
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

    cells: Array = field(default_factory=_none)
    objects: Array = field(default_factory=_none)
    closed: Array = field(default_factory=_none)
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
