"""Pairs of a query that were linked and are hidden now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cube2net.array_types import Array
from cube2net.errors import CubeError
from cube2net.records.cube import Cube
from cube2net.records.ragged import frozen


@dataclass(frozen=True, eq=False)
class Hidden:
    """A cube without some of what joins the objects of a query, and the pairs that it no longer links.

    The pairs are rows of objects, ``source`` below ``target``, ascending. ``by`` says what was taken out: ``items``
    (out of links, weights and cells alike), or the ``links`` themselves; ``count`` is how many.
    """

    cube: Cube
    source: Array
    target: Array
    by: Literal["items", "links"]
    count: int

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise CubeError(f"hidden pairs have {len(self.source):,} sources and {len(self.target):,} targets")
        object.__setattr__(self, "source", frozen(self.source))
        object.__setattr__(self, "target", frozen(self.target))

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"Hidden({len(self):,} pairs, by {self.count:,} {self.by})"
