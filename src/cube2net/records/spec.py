"""How an attribute of items becomes a dimension of a cube."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cube2net.errors import ParameterError

MIN_OBJECTS = 10
MAX_MENTIONS = 50
QUOTED = r'"(?:[^"]|"")*"'
WRITTEN = re.compile(
    rf'(?P<name>{QUOTED}|(?!")[^=@/]+)'
    rf'(?:=(?P<attribute>{QUOTED}|(?!")[^@/]*))?'
    rf'(?:@(?P<bins>{QUOTED}|(?!")[^/]*))?'
    rf'(?:/(?P<parent>{QUOTED}|(?!")[^/]*))?',
    re.DOTALL,
)
HOW = 'write name[=attribute][@bins][/parent], with double quotes around a part that holds =, @, / or "'
SMALL = "cells with fewer than {} objects"


@dataclass(frozen=True)
class DimensionSpec:
    """One dimension to build: its name, the attribute it reads, its bins and the level above.

    ``bins`` is None for labels as they stand, or one of ``"years"``, ``"decades"``, ``"width:5"``,
    ``"quantiles:4"`` and ``"edges:0,10,100"`` for numbers. ``parent`` names the level above: an
    attribute of the items (city → state), bins that are coarser (years → decades), or any name when
    the corpus itself says which label has which parent.

    A label has one parent. Coarser bins must hold whole bins of the finer ones (``width:10`` above
    ``width:5``, not above ``width:3``). A parent read from an attribute is the one that most items of
    the label have, and the items that have another are counted. In one cube no level may have the name
    of another dimension or of its level.

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
        if self.bins == "":
            raise ParameterError(f"the bins of dimension {self.name!r} are empty: give None for none")
        if self.parent == "":
            raise ParameterError(f"the parent of dimension {self.name!r} is empty: give None for none")

    @classmethod
    def parse(cls, text: str) -> DimensionSpec:
        """Return the dimension written as ``name[=attribute][@bins][/parent]``.

        A part that holds one of ``= @ /`` stands in double quotes; a double quote inside them is doubled.

        >>> DimensionSpec.parse("decade=year@decades")
        DimensionSpec(name='decade', attribute='year', bins='decades', parent=None)
        >>> DimensionSpec.parse("city/state")
        DimensionSpec(name='city', attribute='city', bins=None, parent='state')
        >>> DimensionSpec.parse('speed="km/h"@width:10')
        DimensionSpec(name='speed', attribute='km/h', bins='width:10', parent=None)
        """
        found = WRITTEN.fullmatch(text)
        parts = {} if found is None else {part: _unquoted(value or "") for part, value in found.groupdict().items()}
        if not parts.get("name"):
            raise ParameterError(f"cannot read the dimension {text!r}: {HOW}")
        name = parts["name"]
        return cls(name, parts["attribute"] or name, parts["bins"] or None, parts["parent"] or None)

    def __str__(self) -> str:
        """Return the text that ``parse`` reads back."""
        attribute = "" if self.attribute == self.name else f"={_quoted(self.attribute)}"
        bins = "" if self.bins is None else f"@{_quoted(self.bins)}"
        parent = "" if self.parent is None else f"/{_quoted(self.parent)}"
        return f"{_quoted(self.name)}{attribute}{bins}{parent}"


def _quoted(part: str) -> str:
    return '"' + part.replace('"', '""') + '"' if re.search(r'[=@/"]', part) else part


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
