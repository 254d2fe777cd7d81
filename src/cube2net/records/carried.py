"""What a source knows of objects and links besides names and weights, for the nodes and links of a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrow_values import arrow_numbers, arrow_texts
from cube2net.records.pickling import travel_by_fields


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """How many items mention each of some objects, and how many of those have each label of each dimension.

    ``dimensions`` gives for a dimension its labels, and then three arrays beside one another: the place of an object,
    the number of a label, and how many items that mention the object have the label; by object, and then by label.
    """

    items: Array
    dimensions: Mapping[str, tuple[tuple[str, ...], Array, Array, Array]] = field(default_factory=dict)

    __reduce__ = travel_by_fields

    def __repr__(self) -> str:
        return f"LabelCounts({len(self.items):,} objects, {len(self.dimensions)} dimensions)"

    def commonest(self, dimension: str) -> pa.Array:
        """Return the label that most items of each object have, the first of them on ties; null where none has one.

        >>> pairs = (np.array([0, 0, 2]), np.array([0, 1, 1]), np.array([1, 4, 2]))
        >>> LabelCounts(np.array([5, 0, 2]), {"venue": (("ACL", "KDD"), *pairs)}).commonest("venue").to_pylist()
        ['KDD', None, 'KDD']
        """
        labels, rows, numbers, counts = self.dimensions[dimension]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        most = np.maximum.reduceat(counts, starts) if len(starts) else counts
        hit = np.flatnonzero(counts == np.repeat(most, np.diff(starts, append=len(rows))))[::-1]
        best = np.full(len(self.items), -1, np.int64)
        best[rows[hit]] = numbers[hit]  # the first of several comes last, and stays
        return arrow_texts(labels).take(arrow_numbers(best, missing=best < 0))


@dataclass(frozen=True, eq=False)
class Carried:
    """Gives, when called, what is known of objects and links by their rows in the cube.

    ``nodes(objects)`` is a table with a row for every object; ``links(source, target)`` one with a row for every pair
    of linked objects, or None where nothing is known of links; ``labels(objects)`` counts the items of every object.
    ``ways(source, target)`` is what is known of what leads there, a row for every pair, and then of what leads back.
    """

    nodes: Callable[[Array], pa.Table]
    links: Callable[[Array, Array], pa.Table | None]
    labels: Callable[[Array], LabelCounts | None]
    ways: Callable[[Array, Array], pa.Table | None]

    def __repr__(self) -> str:
        return "Carried()"

    def kept(self, objects: Array, source: Array, target: Array) -> Carried:
        """Return what is known of these objects and links alone, whatever is asked: it can travel without the cube."""
        parts: list[Any] = [self.nodes(objects), self.links(source, target), self.labels(objects)]
        parts.append(self.ways(source, target))
        return Carried(*(partial(_same, part) for part in parts))


def _same(part: Any, *_: Array) -> Any:
    return part
