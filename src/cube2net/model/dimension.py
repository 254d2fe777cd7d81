"""Dimensions of a cube, their levels and labels, and how they are specified."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.spelling import list_normal_forms
from cube2net.errors import CubeError, ParameterError, join_names, unknown_name

STAR = "∗"
"""All labels of a dimension together: the label of the cells that do not tell them apart, whose number is -1."""
TOP = (STAR, "*")
"""What the top of a dimension may be called."""


@dataclass(frozen=True, eq=False)
class Level:
    """The labels of a level of a dimension, with their full names and parents.

    ``above`` has the number of each label's parent, by the name of the level directly above.
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
        """The number of each label's parent in the first level above, or None if there is no such level."""
        return next(iter(self.above.values()), None)

    def number(self, label: str) -> int:
        """Return the number of a label, whose accents may be encoded differently."""
        try:
            return self.labels.index(label)
        except ValueError:
            forms = [form for form in list_normal_forms(label) if form in self.labels]
            if len(forms) == 1:
                return self.labels.index(forms[0])
            raise unknown_name(f"label of {self.name!r}", label, self.labels) from None

    def __repr__(self) -> str:
        return f"Level({self.name!r}, {len(self.labels):,} labels)"


@dataclass(frozen=True, eq=False)
class Dimension:
    """A dimension of a cube: its levels, and the current one, whose labels the cells have.

    The first level is the finest; each of the others is above one earlier level, and several can be above the same one.
    The top is ∗, all labels together: then ``is_top`` is true and ``at`` is the level to return to. ``below`` has the
    number of the level below each level, -1 for the finest.
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
        """Return the numbers of the levels directly above the current one."""
        return [] if self.is_top else [number for number, lower in enumerate(self.below) if lower == self.at]

    def at_or_above(self, at: int | None = None) -> list[int]:
        """Return the numbers of a level (by default the current one) and of all levels above it."""
        found = [self.at if at is None else at]
        for number in range(found[0] + 1, len(self.levels)):
            if self.below[number] in found:
                found.append(number)
        return found

    def finer(self, at: int) -> int | None:
        """Return the number of the next finer level that cells can have, or None for the finest."""
        lower = self.below[at]
        return lower if at != self.at and lower >= self.at else None

    def parents_at(self, above: int, at: int | None = None) -> Array:
        """Return the number of each label's ancestor at a level above."""
        start = self.at if at is None else at
        if above == start:
            return np.arange(len(self.levels[start].labels), dtype=np.int32)
        lower = self.below[above]
        if lower < start:
            raise CubeError(f"level {self.levels[above].name!r} is not above {self.levels[start].name!r}")
        direct = self.levels[lower].above[self.levels[above].name]
        return direct if lower == start else direct[self.parents_at(lower, start)]

    def from_level(self, at: int) -> Dimension:
        """Return the dimension with this level as its finest, and the levels above it."""
        return Dimension(tuple(self.levels[number] for number in self.at_or_above(at)))

    @property
    def name(self) -> str:
        """The name of the current level."""
        return self.levels[self.at].name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the current level."""
        return self.levels[self.at].labels

    def __len__(self) -> int:
        return len(self.labels)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        """Iterate over the labels of the current level."""
        return iter(self.labels)

    @property
    def full_names(self) -> tuple[str, ...]:
        """The labels with expanded acronyms."""
        return self.levels[self.at].full_names

    def number(self, label: str) -> int:
        """Return the number of a label of the current level."""
        return self.levels[self.at].number(label)

    def __repr__(self) -> str:
        return f"Dimension({self.name!r}, {len(self.labels):,} labels)"


MIN_OBJECTS = 10
MAX_MENTIONS = 50
QUOTED = r'"(?:[^"]|"")*"'
WRITTEN = re.compile(
    rf'(?P<name>{QUOTED}|(?!")[^=@/]+)'
    rf'(?:=(?P<attribute>{QUOTED}|(?!")[^@/]*))?'
    rf'(?:@(?P<bins>{QUOTED}|(?!")[^/]*))?'
    rf"(?:/(?P<above>.*))?",
    re.DOTALL,
)
LEVEL = re.compile(
    rf'(?P<name>{QUOTED}|(?!")[^=@/|]+)'
    rf'(?:=(?P<attribute>{QUOTED}|(?!")[^@/|]+))?'
    rf'(?:@(?P<bins>{QUOTED}|(?!")[^/|]+))?'
    rf"(?P<end>[/|]|\Z)",
    re.DOTALL,
)
HOW = (
    "write name[=attribute][@bins][/parent[/parent…]], with | between several paths of parents and double quotes "
    'around a part that holds =, @, /, | or "'
)
FINEST, ANY = r'[=@/"]', r'[=@/|"]'
"""Signs for which a part of a dimension, and one of a level above it, stands in quotes."""
SMALL = "cells with fewer than {} objects"


@dataclass(frozen=True)
class LevelSpec:
    """A level above the finest of a dimension: its name, the level below, and what it is made of, if given.

    ``attribute`` is what it is called in the data where that is another name, ``bins`` those of a number or a date
    where they are not its name.
    """

    name: str
    below: str
    attribute: str | None = None
    bins: str | None = None

    @property
    def source(self) -> str:
        """What the level is called in the data."""
        return self.attribute or self.name

    def __str__(self) -> str:
        attribute = "" if self.attribute is None else f"={_quote(self.attribute)}"
        bins = "" if self.bins is None else f"@{_quote(self.bins)}"
        return f"{_quote(self.name)}{attribute}{bins}"


@dataclass(frozen=True, repr=False)
class DimensionSpec:
    """The definition of a dimension: its name, attribute, bins and higher levels.

    A label has one parent in each level above. Coarser bins must contain whole finer bins (``width:10`` above
    ``width:5``, not above ``width:3``). If the parent is an attribute, a label gets the most frequent value among its
    items; items with another value are counted. Names of levels must be unique in a cube. Two specifications with the
    same name, attribute and bins become one dimension with the paths of both.

    Parameters
    ----------
    name
        The name of the dimension and of its finest level.
    attribute
        The attribute of the items that it uses.
    bins
        None for labels; ``"years"``, ``"decades"``, ``"width:5"``, ``"quantiles:4"`` or ``"edges:0,10,100"`` for
        numbers.
    parent
        The level above: an attribute (city → state), coarser bins (years → decades), or any name if the corpus has a
        table of parents.
    above
        All levels above, from fine to coarse: ``"subfield/field/domain"``. ``|`` separates paths:
        ``"kind|publisher/country"``. Each level is ``name[=attribute][@bins]``. Replaces ``parent``.

    Examples
    --------
    >>> DimensionSpec("decade", "year", bins="decades")
    DimensionSpec(name='decade', attribute='year', bins='decades', parent=None)
    >>> DimensionSpec("topic", "topic", above="subfield/field").parent
    'subfield'
    """

    name: str
    attribute: str
    bins: str | None = None
    parent: str | None = None
    above: str | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.attribute:
            raise ParameterError(f"a dimension needs a name and an attribute, got {self.name!r} and {self.attribute!r}")
        if self.bins == "":
            raise ParameterError(f"the bins of dimension {self.name!r} are empty: give None for none")
        if self.parent == "":
            raise ParameterError(f"the parent of dimension {self.name!r} is empty: give None for none")
        if self.above == "":
            raise ParameterError(f"what is above dimension {self.name!r} is empty: give None for none")
        if self.above is None:
            object.__setattr__(self, "above", None if self.parent is None else _quote(self.parent))
            return
        paths = self.paths
        if self.parent not in (None, paths[0][0].name):
            raise ParameterError(
                f"dimension {self.name!r} has the parent {self.parent!r} and {self.above!r} above: give one of them"
            )
        object.__setattr__(self, "parent", paths[0][0].name)
        object.__setattr__(self, "above", "|".join("/".join(map(str, path)) for path in paths))
        self.levels  # noqa: B018 (two levels of one name are refused)

    @property
    def paths(self) -> tuple[tuple[LevelSpec, ...], ...]:
        """The levels above by path, from fine to coarse."""
        return () if self.above is None else tuple(tuple(path) for path in _read_paths(self.name, self.above))

    @property
    def levels(self) -> tuple[LevelSpec, ...]:
        """The distinct levels above, each after the level below it.

        >>> [(level.name, level.below) for level in DimensionSpec.parse("venue/kind|publisher/country").levels]
        [('kind', 'venue'), ('publisher', 'venue'), ('country', 'publisher')]
        """
        found: dict[str, LevelSpec] = {}
        for level in (level for path in self.paths for level in path):
            known = found.setdefault(level.name, level)
            if known.below != level.below:
                raise ParameterError(
                    f"dimension {self.name!r} has the level {level.name!r} above {known.below!r} and above "
                    f"{level.below!r}: a level stands above one other, so give two of different names"
                )
            plain = LevelSpec(level.name, level.below)
            if known == plain:
                found[level.name] = level
            elif level not in (plain, known):
                raise ParameterError(
                    f"dimension {self.name!r} has the level {level.name!r} as '{known}' and as '{level}': say once "
                    "what it is made of"
                )
        return tuple(found.values())

    @classmethod
    def parse(cls, text: str) -> DimensionSpec:
        """Parse a dimension written as ``name[=attribute][@bins][/parent[/parent…]]``.

        ``|`` separates several paths of parents. A part that contains one of ``= @ / |`` is written in double quotes; a
        double quote within them is doubled.

        >>> DimensionSpec.parse("decade=year@decades")
        DimensionSpec(name='decade', attribute='year', bins='decades', parent=None)
        >>> DimensionSpec.parse("city/state")
        DimensionSpec(name='city', attribute='city', bins=None, parent='state')
        >>> DimensionSpec.parse('speed="km/h"@width:10')
        DimensionSpec(name='speed', attribute='km/h', bins='width:10', parent=None)
        >>> DimensionSpec.parse("topic/subfield/field/domain").above
        'subfield/field/domain'
        """
        found = WRITTEN.fullmatch(text)
        name = "" if found is None else _unquote(found["name"])
        if found is None or not name:
            raise ParameterError(f"cannot read the dimension {text!r}: {HOW}")
        attribute, bins = (_unquote(found[part] or "") for part in ("attribute", "bins"))
        return cls(name, attribute or name, bins or None, above=found["above"] or None)

    def __str__(self) -> str:
        """Return the text that ``parse`` reads back."""
        attribute = "" if self.attribute == self.name else f"={_quote(self.attribute, FINEST)}"
        bins = "" if self.bins is None else f"@{_quote(self.bins, FINEST)}"
        above = "" if self.above is None else f"/{self.above}"
        return f"{_quote(self.name, FINEST)}{attribute}{bins}{above}"

    def __repr__(self) -> str:
        plain = self.parent is None or self.above == _quote(self.parent)
        parts = ("name", "attribute", "bins", "parent" if plain else "above")
        return f"DimensionSpec({', '.join(f'{part}={getattr(self, part)!r}' for part in parts)})"


def join_specs(specs: Sequence[DimensionSpec]) -> list[DimensionSpec]:
    """Return dimensions each once: of two that read the same under the same name, one with the levels of both.

    >>> join_specs([DimensionSpec.parse("venue/kind"), DimensionSpec.parse("venue/publisher")])
    [DimensionSpec(name='venue', attribute='venue', bins=None, above='kind|publisher')]
    """
    found: dict[str, DimensionSpec] = {}
    for spec in specs:
        known = found.get(spec.name)
        if known is None:
            found[spec.name] = spec
        elif (known.attribute, known.bins) != (spec.attribute, spec.bins) or known.above == spec.above:
            raise ParameterError(
                f"two dimensions have the same name: {join_names([spec.name for spec in specs])}; only paths of "
                "levels of one attribute and bins go together"
            )
        else:
            above = "|".join(filter(None, (known.above, spec.above)))
            found[spec.name] = replace(known, parent=None, above=above)
    return list(found.values())


def _read_paths(name: str, text: str) -> Iterator[list[LevelSpec]]:
    """Return the levels of every path that a text names above a dimension."""
    path: list[LevelSpec] = []
    place, end = 0, "/"
    while end:
        found = LEVEL.match(text, place)
        parts = {} if found is None else {part: _unquote(found[part] or "") for part in ("name", "attribute", "bins")}
        if found is None or not parts["name"]:
            raise ParameterError(f"cannot read the levels {text!r} above dimension {name!r}: {HOW}")
        below = path[-1].name if path else name
        path.append(LevelSpec(parts["name"], below, parts["attribute"] or None, parts["bins"] or None))
        place, end = found.end(), found["end"]
        if end != "/":
            yield path
            path = []


def _quote(part: str, signs: str = ANY) -> str:
    return '"' + part.replace('"', '""') + '"' if re.search(signs, part) else part


def _unquote(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
