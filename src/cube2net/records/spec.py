"""How an attribute of items becomes a dimension of a cube."""

from __future__ import annotations

from dataclasses import dataclass

from cube2net.errors import ParameterError

MIN_OBJECTS = 10
MAX_MENTIONS = 50
SMALL = "cells with fewer than {} objects"


@dataclass(frozen=True)
class DimensionSpec:
    """One dimension to build: its name, the attribute it reads, its bins and the level above.

    ``bins`` is None for labels as they stand, or one of ``"years"``, ``"decades"``, ``"width:5"``,
    ``"quantiles:4"`` and ``"edges:0,10,100"`` for numbers. ``parent`` names the level above: an
    attribute of the items (city → state), bins that are coarser (years → decades), or any name when
    the corpus itself says which label has which parent.

    >>> DimensionSpec("decade", "year", bins="decades")
    DimensionSpec(name='decade', attribute='year', bins='decades', parent=None)
    """

    name: str
    attribute: str
    bins: str | None = None
    parent: str | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.attribute:
            raise ParameterError(f"a dimension needs a name and an attribute, got {self.name!r} and {self.attribute!r}")

    @classmethod
    def parse(cls, text: str) -> DimensionSpec:
        """Return the dimension written as ``name[=attribute][@bins][/parent]``.

        >>> DimensionSpec.parse("decade=year@decades")
        DimensionSpec(name='decade', attribute='year', bins='decades', parent=None)
        >>> DimensionSpec.parse("city/state")
        DimensionSpec(name='city', attribute='city', bins=None, parent='state')
        """
        rest, _, parent = text.partition("/")
        rest, _, bins = rest.partition("@")
        name, _, attribute = rest.partition("=")
        if not name:
            raise ParameterError(f"cannot read the dimension {text!r}: write name[=attribute][@bins][/parent]")
        return cls(name, attribute or name, bins or None, parent or None)

    def __str__(self) -> str:
        attribute = "" if self.attribute == self.name else f"={self.attribute}"
        return f"{self.name}{attribute}{'@' + self.bins if self.bins else ''}{'/' + self.parent if self.parent else ''}"
