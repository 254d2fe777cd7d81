"""Two levels of a cube crossed: a table of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import plain
from cube2net.records.ragged import frozen


@dataclass(frozen=True, eq=False)
class Pivot:
    """How many objects have a label of one level and, in the same items, a label of another.

    ``levels`` are the names of the two, ``rows`` and ``columns`` their labels that are shown: the largest, times in
    their order and others by how many objects they have. ``objects[i, j]`` counts objects, each once, and ``query``
    those of the query, None without one. ``row_objects`` and ``column_objects`` are how many objects each label shown
    has in all, ``whole`` and ``asked`` how many of the cube and of the query are in a cell at all; ``more`` is how many
    labels of either level have objects and are not shown.
    """

    levels: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    objects: Array
    row_objects: Array
    column_objects: Array
    whole: int
    query: Array | None = None
    asked: int = 0
    more: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        for name in ("objects", "row_objects", "column_objects", "query"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name)))

    def __repr__(self) -> str:
        one, other = self.levels
        return f"Pivot({plain(one)} × {plain(other)}: {len(self.rows):,} × {len(self.columns):,} labels)"

    def __str__(self) -> str:
        return self.sentence

    @property
    def lift(self) -> Array | None:
        """The share of the query among the objects there, against that among all; nan where nothing is.

        It is None without a query, and where none of that is in a cell.
        """
        if self.query is None or not self.asked:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Array = self.query / self.objects * (self.whole / self.asked)
        return found

    @property
    def sentence(self) -> str:
        """What is shown, and where most objects are, or most above chance of the query."""
        sizes = [
            f"{len(labels):,}{f' of {len(labels) + more:,}' if more else ''} {plain(level)}"
            for labels, more, level in zip((self.rows, self.columns), self.more, self.levels, strict=True)
        ]
        shown = f"{' × '.join(sizes)} labels, {self.whole:,} objects"
        if not self.objects.size:
            return f"{shown}: no cell has objects"
        counts = self.objects if self.query is None or not self.asked else self.query
        at = np.unravel_index(int(np.argmax(counts)), counts.shape)
        where = f"{plain(self.rows[at[0]])} and {plain(self.columns[at[1]])}"
        if counts is self.objects:
            return f"{shown}; most, {int(counts[at]):,}, in {where}"
        return f"{shown}; most of the {self.asked:,} of the query, {int(counts[at]):,}, in {where}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it; a lift that is not known is None."""
        lift = self.lift
        return {
            "levels": list(self.levels),
            "rows": list(self.rows),
            "columns": list(self.columns),
            "objects": self.objects.tolist(),
            "query": [] if self.query is None else self.query.tolist(),
            "lift": [] if lift is None else [[_finite(value) for value in row] for row in lift.tolist()],
            "row_objects": self.row_objects.tolist(),
            "column_objects": self.column_objects.tolist(),
            "whole": self.whole,
            "asked": self.asked,
            "more": list(self.more),
            "sentence": self.sentence,
        }

    def to_pandas(self) -> Any:
        """Return the counts of objects as a frame of pandas: a row and a column for every label."""
        import pandas as pd

        index, columns = (
            pd.Index(labels, name=level) for labels, level in zip((self.rows, self.columns), self.levels, strict=True)
        )
        return pd.DataFrame(self.objects, index=index, columns=columns)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
