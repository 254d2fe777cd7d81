"""Labels beside their parents, item by item: which parent a label has, and which items have another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.cube.columns import Column
from cube2net.errors import quoted


@dataclass(frozen=True, eq=False)
class Family:
    """Every label of an item beside every parent that the item has: rows of ``below``, and parents' numbers."""

    below: Column
    above: Column
    rows: Array
    parents: Array

    @classmethod
    def of(cls, below: Column, above: Column) -> Family:
        """Return the labels of one column beside those of another that the same items have."""
        order = np.argsort(above.items, kind="stable")
        items, codes = above.items[order], above.codes[order]
        starts = np.searchsorted(items, below.items, side="left")
        counts = np.searchsorted(items, below.items, side="right") - starts
        rows = np.repeat(np.arange(len(below.items)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(below, above, rows, codes[starts[rows] + within])

    def majority(self) -> Array:
        """Return for every label the parent that most of its items have (the first by name on ties), or -1."""
        width = max(len(self.above.names), 1)
        keys = self.below.codes[self.rows].astype(np.int64) * width + self.parents
        pairs, counts = np.unique(keys, return_counts=True)
        order = np.lexsort((pairs, -counts, pairs // width))
        labels, first = np.unique(pairs[order] // width, return_index=True)
        best = np.full(len(self.below.names), -1, dtype=np.int32)
        best[labels] = pairs[order][first] % width
        return best

    def strays(self, best: Array) -> Array:
        """Return the rows whose item has parents, but not that of its label."""
        size = len(self.below.items)
        right = self.rows[self.parents == best[self.below.codes[self.rows]]]
        return np.flatnonzero(np.bincount(self.rows, minlength=size) * (np.bincount(right, minlength=size) == 0))

    def parents_of(self, label: int) -> str:
        """Return the names of the parents that the items of a label have."""
        used = np.unique(self.parents[self.below.codes[self.rows] == label])
        named = " and ".join(quoted(self.above.names[code]) for code in used[:3].tolist())
        return named + (f" and {len(used) - 3:,} others" if len(used) > 3 else "")
