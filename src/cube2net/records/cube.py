"""The data cube: labels in dimensions, cells that hold objects, and links among the objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.errors import CubeError, ParameterError, QueryError, plain, quoted, some, unknown
from cube2net.records.frames import cells_table, to_pandas
from cube2net.records.items import ItemIndex
from cube2net.records.keys import check_kinds, is_row, keys_of, labels_of
from cube2net.records.limits import MOST
from cube2net.records.lineage import Lineage
from cube2net.records.link_details import LinkDetails
from cube2net.records.objects import Objects
from cube2net.records.origin import Origin
from cube2net.records.query import Query
from cube2net.records.query_tables import asked_of
from cube2net.records.ragged import Links, Ragged, frozen

if TYPE_CHECKING:
    import pandas

LOOKED_AT = 100
"""So many row numbers of a query are compared with ids."""
STAR = "∗"
"""All labels of a dimension together: the label of the cells that do not tell them apart, whose number is -1."""


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
        """Return the number of a label."""
        try:
            return self.labels.index(label)
        except ValueError:
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


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells by number: one label per dimension (``labels[cell, dimension]``) and the objects they hold.

    A label of -1 is ∗. In a view whose cells are several of the cube's put together, ``counts`` says beside
    ``members.indices`` how many of these hold the object; without, every one is 1.
    """

    labels: Array
    members: Ragged
    counts: Array | None = None

    def __post_init__(self) -> None:
        if self.labels.ndim != 2 or len(self.labels) != len(self.members):
            raise CubeError(f"{len(self.labels):,} cells have labels and {len(self.members):,} have members")
        object.__setattr__(self, "labels", frozen(self.labels))
        if self.counts is not None:
            if self.counts.shape != self.members.indices.shape:
                raise CubeError(f"{len(self.members.indices):,} members of cells have counts of {self.counts.shape}")
            object.__setattr__(self, "counts", frozen(self.counts))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Cells({len(self):,} cells, {len(self.members.indices):,} members)"


@dataclass(frozen=True, eq=False)
class Cube:
    """Objects organised in cells, with their links.

    ``cells`` are those that hold at least ``min_objects`` objects; the smaller ones are kept in ``small``
    so that rolling up is exact. ``homes`` is the way back, object → cells. ``finest`` is the cube that
    this one was rolled up from. ``topic_words(topic, term, weight)`` are the heaviest terms of the topics
    where a topic model made them, and ``topic_model`` gives the trained model as a table when called. ``ledger``
    gives, when called, what has to be known of the items so that others can be added; only the cube room looks into it.
    ``kept_views`` are the views of other cuboids that were asked for before.
    ``items`` gives, when called, which items mention which objects and are in which cells, where the cube keeps that.
    ``details`` gives the links one by one, where the source says which way they lead, their kinds, times or items.
    ``origin`` is where the cube was opened: it travels to other processes as that folder, and copies of it are itself.
    ``lineage`` is what a view was made of.
    """

    dimensions: tuple[Dimension, ...]
    cells: Cells
    homes: Ragged
    small: Cells
    links: Links
    objects: Objects
    settings: Mapping[str, Any] = field(default_factory=dict)
    topic_words: pa.Table | None = None
    topic_model: Callable[[], pa.Table] | None = None
    finest: Cube | None = None
    ledger: Callable[[], Any] | None = None
    items: Callable[[], ItemIndex] | None = None
    details: Callable[[], LinkDetails] | None = None
    kept_views: dict[Any, Cube] = field(default_factory=dict, init=False)
    origin: Origin | None = field(default=None, init=False)
    lineage: Lineage | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if len(self.links) != len(self.objects):
            raise CubeError(f"the cube has {len(self.objects):,} objects and links for {len(self.links):,}")
        if len(self.homes) != len(self.objects):
            raise CubeError(f"the cube has {len(self.objects):,} objects and homes for {len(self.homes):,}")
        if len(self.homes.indices) != len(self.cells.members.indices):
            raise CubeError("the cube's members and homes do not have the same number of entries")
        for cells in (self.cells, self.small):
            if cells.labels.shape[1] != len(self.dimensions):
                raise CubeError(f"cells have {cells.labels.shape[1]} labels, dimensions are {len(self.dimensions)}")
            for number, dimension in enumerate(self.dimensions):
                column = cells.labels[:, number]
                if len(column) and not -1 <= int(column.min()) <= int(column.max()) < len(dimension.labels):
                    raise CubeError(f"cells have labels that dimension {dimension.name!r} does not have")

    def __repr__(self) -> str:
        names = " × ".join(dimension.name for dimension in self.dimensions)
        return f"Cube({names}: {len(self.cells):,} cells, {len(self.objects):,} objects, {self.links.count:,} links)"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is None:
            views = "; ".join(self.settings.get("views", ()))
            raise CubeError(
                f"a view of a cube ({views}) does not travel between processes: open the cube there, and make it again"
                if views
                else "a cube in memory does not travel between processes: save it, open its folder, and send that cube"
            )
        return self.origin.reopen, ()

    def __copy__(self) -> Cube:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Cube:
        return self

    def dimension(self, name: str) -> int:
        """Return the number of the dimension of a name, which is that of the level where it stands."""
        number, at = self.level(name)
        dimension = self.dimensions[number]
        if at != dimension.at:
            raise ParameterError(
                f"{name!r} is a level above {dimension.name!r}: roll {dimension.name!r} up first (roll_up)"
            )
        return number

    def level(self, name: str) -> tuple[int, int]:
        """Return the number of the dimension and of its level that have a name, at or above where the cube stands."""
        for number, dimension in enumerate(self.dimensions):
            for at in dimension.at_or_above():
                if dimension.levels[at].name == name:
                    return number, at
        raise unknown("dimension", name, [dimension.name for dimension in self.dimensions])

    def find_cell(self, labels: Sequence[str]) -> int:
        """Return the number of the cell with these labels, one for every dimension; ∗ (or *) is all of them."""
        if len(labels) != len(self.dimensions):
            raise ParameterError(f"a cell of this cube has {len(self.dimensions)} labels, got {tuple(labels)!r}")
        row = [
            -1 if label in (STAR, "*") and label not in dimension.labels else dimension.number(label)
            for dimension, label in zip(self.dimensions, labels, strict=True)
        ]
        found = np.flatnonzero((self.cells.labels == np.array(row)).all(axis=1))
        if len(found) == 0:
            raise ParameterError(
                f"no cell has the labels {' · '.join(map(plain, labels))}, or it holds too few objects"
            )
        return int(found[0])

    def cell(self, number: int) -> tuple[str, ...]:
        """Return the labels of a cell."""
        row = self.cells.labels[number].tolist()
        return tuple(
            STAR if label < 0 else dimension.labels[label]
            for dimension, label in zip(self.dimensions, row, strict=True)
        )

    def to_arrow(self) -> pa.Table:
        """Return one row a cell: its number ``cell``, its label in every dimension, and how many ``objects`` it has."""
        return cells_table(self, STAR)

    def cells_frame(self) -> pandas.DataFrame:
        """Return :meth:`to_arrow` as a frame of pandas, with labels as categories."""
        return to_pandas(self.to_arrow())

    def query(
        self,
        objects: Any,
        labels: Sequence[str] | None = None,
        *,
        skip_missing: bool = False,
    ) -> Query:
        """Return the query for objects given by id or by name; or by row number, where ids are texts.

        They are listed in whatever holds several: a list, a series or an index of pandas or Polars, an array, a mapping
        from objects to labels; a table with a column ``object`` or ``id``, and maybe ``label``; another network.
        In a cube whose ids are whole numbers (``objects.whole``) a number is an id; ``Query(rows)`` takes rows of any
        cube. A mapping gives every object a label, none where that is None or not a number. An object named twice
        counts once. A name that is not in the cube, or that several objects bear, is an error unless ``skip_missing``;
        then it is listed in ``Query.missing``.
        """
        objects, beside = asked_of(objects)
        keys = keys_of(objects)
        if not keys:
            raise QueryError("the query is empty: name at least one object")
        labels = beside if labels is None else labels
        labels = None if labels is None else labels_of(labels, keys)
        rows, missing = self._rows(keys, skip_missing)
        order = np.argsort(rows, kind="stable")
        order = order[rows[order] >= 0]
        if len(order) == 0:
            raise QueryError(f"none of the {len(keys):,} objects of the query is in the cube: {some(keys)}")
        first = np.ones(len(order), dtype=bool)
        first[1:] = rows[order][1:] != rows[order][:-1]
        if labels is not None:
            _check_labels(rows[order], [labels[i] for i in order], [keys[i] for i in order])
        kept = order[first]
        by_row = not self.objects.whole and all(map(is_row, keys))
        ids = None if by_row else self.objects.ids(rows[kept])
        return Query(rows[kept], None if labels is None else tuple(labels[i] for i in kept), missing, ids)

    def _rows(self, keys: Sequence[Any], skip_missing: bool) -> tuple[Array, tuple[str, ...]]:
        if not skip_missing:
            check_kinds(keys)
        if not self.objects.whole and all(map(is_row, keys)):
            self._check_meant(keys)
            count = len(self.objects)
            outside = [key for key in keys if not 0 <= key < count]
            if outside and not skip_missing:
                plural = "1 row" if len(outside) == 1 else f"{len(outside):,} rows"
                raise QueryError(
                    f"query names {plural} that the cube does not have: {some(outside)} (it has {count:,} objects)"
                )
            rows = np.array([key if 0 <= key < count else -1 for key in keys], dtype=np.int64)
            return rows, tuple(map(quoted, outside))
        named = [place for place, key in enumerate(keys) if isinstance(key, str) or is_row(key)]
        texts = [_text(keys[place]) for place in named]
        found = self.objects.find(texts)
        lost = found.missing + found.ambiguous
        if lost and not skip_missing:
            numbers = {text: keys[place] for text, place in zip(texts, named, strict=True) if is_row(keys[place])}
            raise QueryError(self._lost(found.missing, found.ambiguous, numbers if self.objects.whole else {}))
        rows = np.full(len(keys), -1, dtype=np.int64)
        rows[named] = found.rows
        others = set(range(len(keys))).difference(named)
        return rows, lost + tuple(quoted(keys[place]) for place in sorted(others))

    def _check_meant(self, keys: Sequence[int]) -> None:
        """Raise where row numbers may be meant as ids: where one of the first is also the id of another object."""
        texts = {str(key): key for key in keys[:LOOKED_AT] if abs(key) < MOST}
        for text, row in self.objects.has_ids(list(texts)).items():
            if row != texts[text]:
                raise QueryError(
                    f"query gives {text}, a row number where ids are texts, and the cube has an object {text!r}: "
                    f"give ids as texts, such as {text!r}, and rows as Query(rows)"
                )

    def _lost(self, missing: tuple[str, ...], ambiguous: tuple[str, ...], numbers: Mapping[str, int]) -> str:
        """Return what is missing, as a sentence; ``numbers`` are the keys that were given as such."""
        parts = []
        if missing:
            near = [(key, self.objects.near(key)) for key in missing[:3]]
            hints = ", ".join(f"{quoted(names[0])} for {quoted(key)}" for key, names in near if names)
            plural = "1 object that is" if len(missing) == 1 else f"{len(missing):,} objects that are"
            parts.append(
                f"query names {plural} not in the cube: {some([numbers.get(key, key) for key in missing])}"
                + (f" (did you mean {hints}?)" if hints else "")
                + (" (skip_missing=True leaves them out)" if len(missing) > 3 else "")
            )
        if ambiguous:
            plural = (
                "1 name that several objects bear"
                if len(ambiguous) == 1
                else (f"{len(ambiguous):,} names that several objects bear")
            )
            ids = some(self.objects.bearers(ambiguous[0]))
            parts.append(f"query gives {plural}: {some(ambiguous)} (use an id, for {quoted(ambiguous[0])} {ids})")
        return "; ".join(parts)


def _check_labels(rows: Array, labels: Sequence[str], keys: Sequence[Any]) -> None:
    for i in range(1, len(rows)):
        if rows[i] == rows[i - 1] and labels[i] != labels[i - 1]:
            raise QueryError(f"query gives {keys[i]!r} two labels: {labels[i - 1]!r} and {labels[i]!r}")


def _text(key: str | int) -> str:
    return key.strip() if isinstance(key, str) else quoted(key)
