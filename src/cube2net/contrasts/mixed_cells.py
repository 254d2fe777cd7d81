"""The mixed cells that some objects are in: any dimensions, each at any of its levels, the others at ∗."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import offsets, row_of_entries, take_rows
from cube2net.records import Cube, Ragged

Levels = tuple[int | None, ...]
"""The level of every dimension, None for ∗."""


@dataclass(frozen=True, eq=False)
class MixedCells:
    """Cells of all cuboids that hold enough of some objects, the more general ones first.

    Cell ``c`` is one of the cuboid ``cuboids[cuboid[c]]`` and has the label ``labels[c, dimension]`` of its level
    there, -1 for ∗. ``members`` are the places of the objects that it holds among those asked for. ``of[cuboid][base]``
    is the cell there that one of the cube's own cells is part of, -1 where that holds too few, and ``base[c]`` one of
    the own cells that a cell puts together: cell ``of[g][base[c]]`` is more general than ``c`` where its cuboid is.
    """

    cuboids: tuple[Levels, ...]
    cuboid: Array
    labels: Array
    members: Ragged
    of: tuple[Array, ...]
    base: Array

    def __len__(self) -> int:
        return len(self.cuboid)

    def __repr__(self) -> str:
        return f"MixedCells({len(self):,} cells of {len(self.cuboids):,} cuboids)"

    def simplest(self) -> Array:
        """Return for every cell the first that holds the same of the objects: it has the fewest labels."""
        starts, indices = self.members.indptr.tolist(), self.members.indices
        first: dict[bytes, int] = {}
        return np.array(
            [first.setdefault(indices[starts[cell] : starts[cell + 1]].tobytes(), cell) for cell in range(len(self))],
            dtype=np.int64,
        )


def mixed_cells(cube: Cube, objects: Array, least: int = 1) -> MixedCells:
    """Return all mixed cells that hold at least so many of some objects, which are given by their rows.

    An object is in such a cell when one item of it has all labels: when it is in one of the cube's own cells that are
    part of it, those with too few objects included. A cell is not looked for where a more general one holds too few.
    """
    labels, base, place = _memberships(cube, objects)
    cuboids = tuple(all_cuboids(cube))
    number = {cuboid: at for at, cuboid in enumerate(cuboids)}
    of: list[Array] = []
    parts: list[tuple[Array, Array, Array]] = []
    count = 0
    for cuboid in cuboids:
        alive = np.ones(len(labels), dtype=bool)
        for above in one_step_up(cube, cuboid):
            if above in number:
                alive &= of[number[above]] >= 0
        found = np.full(len(labels), -1, dtype=np.int64)
        found[alive] = _numbered(cube, cuboid, labels[alive], [of[at][alive] for at in _before(cuboid, number)])
        there = alive[base]
        pairs = np.unique(found[base[there]] * len(objects) + place[there])
        cells, members = np.divmod(pairs, max(len(objects), 1))
        sizes = np.bincount(cells, minlength=int(found.max(initial=-1)) + 1)
        enough = sizes >= least
        renumber = np.where(enough, np.cumsum(enough) - 1 + count, -1)
        found[alive] = renumber[found[alive]]
        of.append(found)
        first = np.full(int(enough.sum()), -1, dtype=np.int64)
        held = np.flatnonzero(found >= 0)[::-1]
        first[found[held] - count] = held
        kept = enough[cells]
        parts.append((first, renumber[cells[kept]], members[kept]))
        count += len(first)
    first, rows, members = (np.concatenate([part[at] for part in parts] or [np.empty(0, np.int64)]) for at in range(3))
    which = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    return MixedCells(
        cuboids,
        which,
        _labels_of(cube, cuboids, which, labels[first]),
        Ragged(offsets(rows, count), members.astype(np.int32)),
        tuple(of),
        first,
    )


def all_cuboids(cube: Cube) -> list[Levels]:
    """Return all choices of levels but for ∗ everywhere, the more general ones first: fewer labels, higher levels."""
    choices = [
        [None] if dimension.is_top else [None, *reversed(dimension.at_or_above())] for dimension in cube.dimensions
    ]

    def detail(cuboid: Levels) -> tuple[int, int]:
        levels = [(dimension, at) for dimension, at in zip(cube.dimensions, cuboid, strict=True) if at is not None]
        return len(levels), sum(len(dimension.at_or_above(at)) for dimension, at in levels)

    return sorted((cuboid for cuboid in product(*choices) if any(at is not None for at in cuboid)), key=detail)


def one_step_up(cube: Cube, cuboid: Levels) -> Iterator[Levels]:
    """Give the cuboids in which one dimension stands one step higher."""
    for number, (dimension, at) in enumerate(zip(cube.dimensions, cuboid, strict=True)):
        if at is None:
            continue
        above = [level for level in dimension.at_or_above(at) if dimension.below[level] == at]
        for level in (None, *above):
            yield (*cuboid[:number], level, *cuboid[number + 1 :])


def is_above(cube: Cube, one: Levels, other: Levels) -> bool:
    """Return whether a cuboid is more general than another, at the same level or higher in every dimension."""
    return one != other and all(
        high is None or (low is not None and high in dimension.at_or_above(low))
        for dimension, high, low in zip(cube.dimensions, one, other, strict=True)
    )


def _memberships(cube: Cube, objects: Array) -> tuple[Array, Array, Array]:
    """Return the labels of the cube's own cells that hold some objects, and which of them holds which object."""
    homes = take_rows(cube.homes, objects)
    place = np.full(len(cube.objects), -1, dtype=np.int64)
    place[objects] = np.arange(len(objects))
    small = place[cube.small.members.indices]
    inside = small >= 0
    tiny = np.repeat(np.arange(len(cube.small)), cube.small.members.sizes)[inside] + len(cube.cells)
    cells = np.concatenate([homes.indices.astype(np.int64), tiny])
    held = np.concatenate([row_of_entries(homes).astype(np.int64), small[inside]])
    touched, base = np.unique(cells, return_inverse=True)
    large = touched < len(cube.cells)
    labels = np.concatenate([cube.cells.labels[touched[large]], cube.small.labels[touched[~large] - len(cube.cells)]])
    return labels, base, held


def _before(cuboid: Levels, number: dict[Levels, int]) -> list[int]:
    """Return the cuboid without the last label of another; none where nothing is left."""
    last = max(at for at, level in enumerate(cuboid) if level is not None)
    before = (*cuboid[:last], None, *cuboid[last + 1 :])
    return [number[before]] if before in number else []


def _numbered(cube: Cube, cuboid: Levels, labels: Array, before: list[Array]) -> Array:
    """Return the cells of a cuboid that the cube's own cells are part of, numbered from 0 in the order of labels.

    ``before`` are the cells without the last label.
    """
    last = max(at for at, level in enumerate(cuboid) if level is not None)
    own = _at(cube, last, cuboid[last], labels[:, last])
    width = int(own.max(initial=0)) + 1
    keys = own + (before[0] * width if before else 0)
    return np.unique(keys, return_inverse=True)[1]


def _at(cube: Cube, number: int, level: int | None, labels: Array) -> Array:
    """Return labels of a dimension as they are at a level, -1 at ∗."""
    if level is None:
        return np.full(len(labels), -1, dtype=np.int64)
    found: Array = cube.dimensions[number].parents_at(level)[labels].astype(np.int64)
    return found


def _labels_of(cube: Cube, cuboids: tuple[Levels, ...], which: Array, own: Array) -> Array:
    """Return the labels of cells by those of one of the cube's own cells in each."""
    labels = np.full(own.shape, -1, dtype=np.int64)
    for at, cuboid in enumerate(cuboids):
        rows = np.flatnonzero(which == at)
        for number, level in enumerate(cuboid):
            labels[rows, number] = _at(cube, number, level, own[rows, number])
    return labels
