"""What a drill-down finds below a cell: the cells that narrow a query down, and what is left over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cube2net.errors import some
from cube2net.escaping import counted
from cube2net.records.cell_titles import cell_line, cell_title
from cube2net.records.selection import PROVEN
from cube2net.showing import Shown

SAID = 3
"""So many of the objects that are left over are named in the sentence."""


@dataclass(frozen=True)
class DrilledCell:
    """A cell below another: how much of the query it holds, how much of that no cell before it does, and what it saves.

    ``labels`` are such that they name the cell again. ``bits`` is what it adds to the value of the cells before it,
    ``lift`` how much larger the query's share of its objects is than that of the cell above.
    """

    labels: tuple[str, ...]
    query_objects: int
    new: int
    objects: int
    lift: float
    bits: float

    def __repr__(self) -> str:
        return f"DrilledCell({self}: {self.query_objects:,} of its {self.objects:,} objects, {self.new:,} new)"

    def __str__(self) -> str:
        return cell_line(self.labels)

    @property
    def share(self) -> float:
        """Which share of its objects is in the query."""
        return self.query_objects / self.objects

    def to_dict(self) -> dict[str, Any]:
        """Return it in texts and numbers that JSON can carry."""
        return {
            "cell": str(self),
            "labels": list(self.labels),
            "query_objects": self.query_objects,
            "new": self.new,
            "objects": self.objects,
            "share": self.share,
            "lift": self.lift,
            "bits": self.bits,
        }


@dataclass(frozen=True)
class Drilled(Shown):
    """The cells below a cell that hold most of a query at least cost, in the order chosen, and what is left over.

    ``labels`` are those of the cell, ``objects`` the number that it holds, of which ``query_objects`` are among the
    ``query`` objects asked for. ``left`` are the ids of those that no listed cell holds, ``left_names`` their names.
    ``bits`` is what the cells save, and no choice of as many saves more than ``bound``. ``why_empty`` says why there is
    no cell, where there is none.
    """

    dimensions: tuple[str, ...]
    labels: tuple[str, ...]
    cells: tuple[DrilledCell, ...]
    objects: int
    query_objects: int
    query: int
    left: tuple[Any, ...]
    left_names: tuple[str, ...]
    bits: float
    bound: float
    asked: int
    why_empty: str = ""

    def __repr__(self) -> str:
        cells, left = (counted(len(each), what) for each, what in ((self.cells, "cell"), (self.left, "object")))
        return f"Drilled({cells} below {self.title}, {left} left over)"

    def __str__(self) -> str:
        return self.sentence

    @property
    def title(self) -> str:
        """The cell that was drilled, its labels between angles."""
        return cell_title(self.labels)

    @property
    def held(self) -> int:
        """How many objects of the query the listed cells hold."""
        return self.query_objects - len(self.left)

    @property
    def gap(self) -> float:
        """How far the bits saved may be from the most that as many cells can save, as a share of that."""
        return max(0.0, 1 - self.bits / self.bound) if self.bound else 0.0

    @property
    def proven(self) -> bool:
        """Whether no choice of as many cells saves more, but for rounding."""
        return self.gap <= PROVEN

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        if not self.cells:
            return self.why_empty
        count = len(self.cells)
        only = "only " if count < self.asked else ""
        cells = f"{only}{count:,} cell{'s' * (count > 1)} below {self.title} hold{'s' * (count == 1)}"
        whole = f"{self.held:,} of the {self.query_objects:,} object{'s' * (self.query_objects > 1)} of the query there"
        left = len(self.left)
        rest = f"{left:,} {'is' if left == 1 else 'are'} left over" if left else "none is left over"
        named = f" ({some(self.left_names, SAID)})" if left else ""
        return f"{cells} {whole}, {rest}{named}; {self._certificate()}"

    def _certificate(self) -> str:
        if len(self.cells) < self.asked:
            return "no further one narrows them down"
        if self.proven:
            return "no choice of as many saves more bits"
        return f"within {max(math.ceil(self.gap * 1e3 - 1e-6) / 10, 0.1):.1f} % of the best choice of as many"

    @property
    def table(self) -> pa.Table:
        """Every cell in a row: its labels, its counts, what it saves."""
        columns: dict[str, pa.Array] = {
            name: pa.array([cell.labels[number] for cell in self.cells], pa.string())
            for number, name in enumerate(self.dimensions)
        }
        kinds = {"query_objects": pa.int64(), "new": pa.int64(), "objects": pa.int64()}
        for name in ("query_objects", "new", "objects", "share", "lift", "bits"):
            columns[name] = pa.array([getattr(cell, name) for cell in self.cells], kinds.get(name, pa.float64()))
        return pa.table(list(columns.values()), list(columns))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in texts and numbers that JSON can carry."""
        return {
            "cell": cell_line(self.labels),
            "labels": list(self.labels),
            "dimensions": list(self.dimensions),
            "objects": self.objects,
            "query_objects": self.query_objects,
            "query": self.query,
            "cells": [cell.to_dict() for cell in self.cells],
            "held": self.held,
            "left": [{"id": id_, "name": name} for id_, name in zip(self.left, self.left_names, strict=True)],
            "bits": self.bits,
            "bound": self.bound,
            "gap": self.gap,
            "proven": self.proven,
            "sentence": self.sentence,
        }
