"""A dimension of a cube: its levels, the labels of each, and their parents in the levels above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import CubeError, unknown
from cube2net.spelling import other_forms

STAR = "∗"
"""All labels of a dimension together: the label of the cells that do not tell them apart, whose number is -1."""
TOP = (STAR, "*")
"""What the top of a dimension may be called."""


@dataclass(frozen=True, eq=False)
class Level:
    """The labels of one level of a dimension, their full names, and each one's parents.

    ``above`` holds, by the name of every level directly above, the number there of each label's parent.
    """

    name: str
    labels: tuple[str, ...]
    full_names: tuple[str, ...]
    above: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.full_names) != len(self.labels):
            raise CubeError(f"level {self.name!r} has {len(self.labels)} labels and {len(self.full_names)} full names")
        if len(set(self.labels)) != len(self.labels):
            raise CubeError(f"level {self.name!r} names a label twice")

    @property
    def parents(self) -> Array | None:
        """The number of each label's parent in the first level above; None where there is none."""
        return next(iter(self.above.values()), None)

    def number(self, label: str) -> int:
        """Return the number of a label; its accents may be written in another way."""
        try:
            return self.labels.index(label)
        except ValueError:
            forms = [form for form in other_forms(label) if form in self.labels]
            if len(forms) == 1:
                return self.labels.index(forms[0])
            raise unknown(f"label of {self.name!r}", label, self.labels) from None

    def __repr__(self) -> str:
        return f"Level({self.name!r}, {len(self.labels):,} labels)"


@dataclass(frozen=True, eq=False)
class Dimension:
    """One dimension of a cube: its levels, each after the one below it, and the level the cells stand at.

    The first level is the finest. Every other stands above one level; several may stand above the same. At the top is
    ∗, all labels together: where the cells stand there, ``is_top`` is true and ``at`` is the level to come back to.
    ``below`` is the number of the level below each, -1 for the finest.
    """

    levels: tuple[Level, ...]
    at: int = 0
    is_top: bool = False
    below: tuple[int, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if not 0 <= self.at < len(self.levels):
            raise CubeError(f"a dimension of {len(self.levels)} levels cannot stand at level {self.at}")
        place = {level.name: number for number, level in enumerate(self.levels)}
        if len(place) != len(self.levels):
            raise CubeError(f"dimension {self.levels[0].name!r} has two levels of one name")
        below = [-1] * len(self.levels)
        for number, level in enumerate(self.levels):
            for name, parents in level.above.items():
                higher = place.get(name, 0)
                if higher <= number or below[higher] >= 0:
                    raise CubeError(f"level {level.name!r} cannot stand below {name!r}")
                below[higher] = number
                if len(parents) != len(level.labels):
                    raise CubeError(f"level {level.name!r} does not name a parent for every label")
                if len(parents) and not 0 <= int(parents.min()) <= int(parents.max()) < len(self.levels[higher].labels):
                    raise CubeError(f"level {level.name!r} has parents that level {name!r} does not have")
        for number, lower in enumerate(below):
            if number and lower < 0:
                raise CubeError(f"level {self.levels[number].name!r} stands above no other")
        object.__setattr__(self, "below", tuple(below))

    def directly_above(self) -> list[int]:
        """Return the numbers of the levels that stand above the one the cells stand at, with none between."""
        return [] if self.is_top else [number for number, lower in enumerate(self.below) if lower == self.at]

    def at_or_above(self, at: int | None = None) -> list[int]:
        """Return the numbers of a level and of all that stand above it; by default the one the cells stand at."""
        found = [self.at if at is None else at]
        for number in range(found[0] + 1, len(self.levels)):
            if self.below[number] in found:
                found.append(number)
        return found

    def finer(self, at: int) -> int | None:
        """Return the number of the level below one that cells may have labels of; None of the finest of these."""
        lower = self.below[at]
        return lower if at != self.at and lower >= self.at else None

    def parents_at(self, above: int, at: int | None = None) -> Array:
        """Return, for every label of a level, the number of the label that it is part of at a level above it."""
        start = self.at if at is None else at
        if above == start:
            return np.arange(len(self.levels[start].labels), dtype=np.int32)
        lower = self.below[above]
        if lower < start:
            raise CubeError(f"level {self.levels[above].name!r} is not above {self.levels[start].name!r}")
        direct = self.levels[lower].above[self.levels[above].name]
        return direct if lower == start else direct[self.parents_at(lower, start)]

    def from_level(self, at: int) -> Dimension:
        """Return the dimension without the levels that are not at or above one, which becomes its finest."""
        return Dimension(tuple(self.levels[number] for number in self.at_or_above(at)))

    @property
    def name(self) -> str:
        """The name of the level the cells stand at."""
        return self.levels[self.at].name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the level the cells stand at."""
        return self.levels[self.at].labels

    @property
    def full_names(self) -> tuple[str, ...]:
        """The labels with their acronyms written out."""
        return self.levels[self.at].full_names

    def number(self, label: str) -> int:
        """Return the number of a label of the level the cells stand at."""
        return self.levels[self.at].number(label)

    def __repr__(self) -> str:
        return f"Dimension({self.name!r}, {len(self.labels):,} labels)"
