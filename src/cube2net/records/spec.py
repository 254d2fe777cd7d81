"""How an attribute of items becomes a dimension of a cube, and what its levels are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cube2net.errors import ParameterError, listed

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
    """A level above the finest of a dimension: its name, the level below, and what it is made of where that is said.

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
        attribute = "" if self.attribute is None else f"={_quoted(self.attribute)}"
        bins = "" if self.bins is None else f"@{_quoted(self.bins)}"
        return f"{_quoted(self.name)}{attribute}{bins}"


@dataclass(frozen=True, repr=False)
class DimensionSpec:
    """One dimension to build: its name, the attribute it reads, its bins and the levels above.

    ``bins`` is None for labels as they stand; ``"years"``, ``"decades"``, ``"width:5"``, ``"quantiles:4"`` or
    ``"edges:0,10,100"`` for numbers. ``parent`` names the level above: an attribute of the items (city → state), bins
    that are coarser (years → decades), or any name when the corpus itself says which label has which parent.

    ``above`` is all levels above as they are written, from fine to coarse: ``"subfield/field/domain"``. Several
    paths have ``|`` between: ``"kind|publisher/country"``. Each level is ``name[=attribute][@bins]``, so that one
    may have another name than what it is made of. ``parent`` alone is one level; ``parent`` of several is the first.

    A label has one parent in each level above. Coarser bins must hold whole bins of the finer ones (``width:10``
    above ``width:5``, not above ``width:3``). A parent read from an attribute is the one that most items of the
    label have, and the items that have another are counted. In one cube no level may have the name of another
    dimension or of its level. Two of the same name, attribute and bins become one dimension with the paths of both.

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
            object.__setattr__(self, "above", None if self.parent is None else _quoted(self.parent))
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
        """The levels above, path by path, each from fine to coarse."""
        return () if self.above is None else tuple(tuple(path) for path in _read_paths(self.name, self.above))

    @property
    def levels(self) -> tuple[LevelSpec, ...]:
        """The levels above, each once, and after the one below it; what one is made of need be said only once.

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
        """Return the dimension written as ``name[=attribute][@bins][/parent[/parent…]]``.

        Several paths of parents have ``|`` between. A part that holds one of ``= @ / |`` stands in double quotes; a
        double quote inside them is doubled.

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
        name = "" if found is None else _unquoted(found["name"])
        if found is None or not name:
            raise ParameterError(f"cannot read the dimension {text!r}: {HOW}")
        attribute, bins = (_unquoted(found[part] or "") for part in ("attribute", "bins"))
        return cls(name, attribute or name, bins or None, above=found["above"] or None)

    def __str__(self) -> str:
        """Return the text that ``parse`` reads back."""
        attribute = "" if self.attribute == self.name else f"={_quoted(self.attribute, FINEST)}"
        bins = "" if self.bins is None else f"@{_quoted(self.bins, FINEST)}"
        above = "" if self.above is None else f"/{self.above}"
        return f"{_quoted(self.name, FINEST)}{attribute}{bins}{above}"

    def __repr__(self) -> str:
        plain = self.parent is None or self.above == _quoted(self.parent)
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
                f"two dimensions have the same name: {listed([spec.name for spec in specs])}; only paths of levels of "
                "one attribute and bins go together"
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
        parts = {} if found is None else {part: _unquoted(found[part] or "") for part in ("name", "attribute", "bins")}
        if found is None or not parts["name"]:
            raise ParameterError(f"cannot read the levels {text!r} above dimension {name!r}: {HOW}")
        below = path[-1].name if path else name
        path.append(LevelSpec(parts["name"], below, parts["attribute"] or None, parts["bins"] or None))
        place, end = found.end(), found["end"]
        if end != "/":
            yield path
            path = []


def _quoted(part: str, signs: str = ANY) -> str:
    return '"' + part.replace('"', '""') + '"' if re.search(signs, part) else part


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
