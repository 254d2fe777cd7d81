"""What a method chose."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError
from cube2net.records.pickling import travel_by_fields
from cube2net.records.ragged import frozen
from cube2net.showing import Shown

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
