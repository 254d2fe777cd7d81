"""The mixed cells that some objects are in: any dimensions, each at any of its levels, the others at ∗."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from cube2net._util.arrays import Array, Ragged, distinct, offsets, row_keys, row_of_entries, take_rows
from cube2net._util.progress import step
from cube2net.model.cube import Cube
from cube2net.model.names import Levels, MixedCell, levels_of

MAX_TABLE_SIZE = 2**20
"""A table of so many numbers is looked up sooner than cells are sorted."""


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

    def cell(self, number: int) -> MixedCell:
        """Return a cell by its number here."""
        return MixedCell(self.cuboids[int(self.cuboid[number])], tuple(self.labels[number].tolist()))

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


def find_mixed_cells(cube: Cube, objects: Array, least: int = 1, within: MixedCell | None = None) -> MixedCells:
    """Return all mixed cells that hold at least so many of some objects, which are given by their rows.

    With ``within`` they are those below one: each of their labels is its own or part of it, and one or more are finer.

    An object is in such a cell when one item of it has all labels: when it is in one of the cube's own cells that are
    part of it, those with too few objects included. A cell is not looked for where a more general one holds too few.
    """
    top = within or MixedCell.top(cube)
    labels, base, place = _find_memberships(cube, objects, top)
    cuboids = tuple(cuboid for cuboid in list_cuboids(cube) if is_above(cube, top.levels, cuboid))
    number = {cuboid: at for at, cuboid in enumerate(cuboids)}
    of: list[Array] = []
    parts: list[tuple[Array, Array, Array]] = []
    count = 0
    for cuboid in cuboids:
        step()
        alive = np.ones(len(labels), dtype=bool)
        for above in iterate_parents(cube, cuboid):
            if above in number:
                alive &= of[number[above]] >= 0
        found = np.full(len(labels), -1, dtype=np.int64)
        last, before = _find_last_dimension(cuboid, top.levels)
        known = of[number[before]][alive] if before in number else None
        found[alive] = _number_cells(_roll_up(cube, last, cuboid[last], labels[alive, last]), known)
        there = alive[base]
        pairs = distinct(found[base[there]] * len(objects) + place[there])
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
        _collect_labels(cube, cuboids, which, labels[first]),
        Ragged(offsets(rows, count), members.astype(np.int32)),
        tuple(of),
        first,
    )


def list_cuboids(cube: Cube) -> list[Levels]:
    """Return all choices of levels but for ∗ everywhere, the more general ones first: fewer labels, higher levels."""
    choices = [[None, *reversed(levels_of(dimension))] for dimension in cube.dimensions]

    def detail(cuboid: Levels) -> tuple[int, int]:
        levels = [(dimension, at) for dimension, at in zip(cube.dimensions, cuboid, strict=True) if at is not None]
        return len(levels), sum(len(dimension.at_or_above(at)) for dimension, at in levels)

    return sorted((cuboid for cuboid in product(*choices) if any(at is not None for at in cuboid)), key=detail)


def iterate_parents(cube: Cube, cuboid: Levels) -> Iterator[Levels]:
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


def find_own_cells(cube: Cube, cell: MixedCell) -> tuple[Array, Array]:
    """Return the numbers of the cube's own cells that a mixed cell puts together, the small ones last, and labels."""
    labels = np.concatenate([cube.cells.labels, cube.small.labels])
    inside = np.ones(len(labels), dtype=bool)
    for number, (level, label) in enumerate(zip(cell.levels, cell.labels, strict=True)):
        if level is not None:
            inside &= _roll_up(cube, number, level, labels[:, number]) == label
    found = np.flatnonzero(inside)
    return found, labels[found]


def find_members(cube: Cube, cell: MixedCell) -> Array:
    """Return the objects that a mixed cell holds, ascending."""
    own, _ = find_own_cells(cube, cell)
    few = np.searchsorted(own, len(cube.cells))
    mask = np.zeros(len(cube.objects), dtype=bool)
    mask[take_rows(cube.cells.members, own[:few]).indices] = True
    mask[take_rows(cube.small.members, own[few:] - len(cube.cells)).indices] = True
    return np.flatnonzero(mask).astype(np.int32)


def count_objects(cube: Cube, mixed: MixedCells, within: MixedCell | None = None) -> Array:
    """Return how many objects of the whole cube each mixed cell holds; all are within the cell that is given."""
    from cube2net.kernels.csr import count_unions

    own, labels = find_own_cells(cube, within or MixedCell.top(cube))
    sizes = np.empty(len(mixed), dtype=np.int64)
    for number, cuboid in enumerate(mixed.cuboids):
        step()
        cells = np.flatnonzero(mixed.cuboid == number)
        columns = np.stack([_roll_up(cube, i, level, labels[:, i]) for i, level in enumerate(cuboid)], axis=1)
        group = row_keys(np.concatenate([mixed.labels[cells], columns]), most=MAX_TABLE_SIZE)
        rank = np.full(int(group.max(initial=-1)) + 1, -1, dtype=np.int64)
        rank[group[: len(cells)]] = np.arange(len(cells))
        part = rank[group[len(cells) :]]
        inside = np.flatnonzero(part >= 0)
        order = inside[np.argsort(part[inside], kind="stable")]
        sizes[cells] = count_unions(
            offsets(part[order], len(cells)),
            own[order],
            *(cube.cells.members.indptr, cube.cells.members.indices),
            *(cube.small.members.indptr, cube.small.members.indices),
            len(cube.objects),
        )
    return sizes


def _find_memberships(cube: Cube, objects: Array, top: MixedCell) -> tuple[Array, Array, Array]:
    """Return the labels of the cube's own cells in one that hold some objects, and which of them holds which object."""
    homes = take_rows(cube.object_cells, objects)
    place = np.full(len(cube.objects), -1, dtype=np.int64)
    place[objects] = np.arange(len(objects))
    small = place[cube.small.members.indices]
    inside = small >= 0
    tiny = row_of_entries(cube.small.members)[inside].astype(np.int64) + len(cube.cells)
    cells = np.concatenate([homes.indices.astype(np.int64), tiny])
    rows = np.concatenate([row_of_entries(homes).astype(np.int64), small[inside]])
    own, labels = find_own_cells(cube, top)
    at = np.full(len(cube.cells) + len(cube.small), -1, dtype=np.int64)
    at[own] = np.arange(len(own))
    known = at[cells] >= 0
    touched, base = np.unique(at[cells[known]], return_inverse=True)
    return labels[touched], base, rows[known]


def _find_last_dimension(cuboid: Levels, top: Levels) -> tuple[int, Levels]:
    """Return the last dimension in which a cuboid is below the levels of a cell, and the cuboid that is not there."""
    last = max(at for at, (level, above) in enumerate(zip(cuboid, top, strict=True)) if level != above)
    return last, (*cuboid[:last], top[last], *cuboid[last + 1 :])


def _number_cells(labels: Array, before: Array | None) -> Array:
    """Return the cells that the cube's own cells are part of, numbered from 0 in the order of labels.

    ``labels`` are the last labels of the own cells, and ``before`` their cells without these, None for all in one.
    """
    width = int(labels.max(initial=0)) + 1
    keys = labels if before is None else labels + before * width
    return np.unique(keys, return_inverse=True)[1]


def _roll_up(cube: Cube, number: int, level: int | None, labels: Array) -> Array:
    """Return labels of a dimension as they are at a level, -1 at ∗."""
    if level is None:
        return np.full(len(labels), -1, dtype=np.int64)
    found: Array = cube.dimensions[number].parents_at(level)[labels].astype(np.int64)
    return found


def _collect_labels(cube: Cube, cuboids: tuple[Levels, ...], which: Array, own: Array) -> Array:
    """Return the labels of cells by those of one of the cube's own cells in each."""
    labels = np.full(own.shape, -1, dtype=np.int64)
    for at, cuboid in enumerate(cuboids):
        rows = np.flatnonzero(which == at)
        for number, level in enumerate(cuboid):
            labels[rows, number] = _roll_up(cube, number, level, own[rows, number])
    return labels


def rank_members(cube: Cube, cells: Iterable[MixedCell]) -> Array:
    """Return the rows of the objects that some cells hold, those with most items there first.

    Where the cube keeps no items, objects in most of its own cells there come first.
    """
    inside = np.zeros(len(cube.cells) + len(cube.small), dtype=bool)
    for cell in cells:
        step()
        inside[find_own_cells(cube, cell)[0]] = True
    held = np.zeros(len(cube.objects), dtype=np.int64)
    for part, marks in ((cube.cells, inside[: len(cube.cells)]), (cube.small, inside[len(cube.cells) :])):
        held += np.bincount(part.members.indices[np.repeat(marks, part.members.sizes)], minlength=len(held))
    times = held
    if cube.items is not None:
        index = cube.items()
        there = np.zeros(len(index), dtype=bool)
        there[np.repeat(np.arange(len(index)), index.cells.sizes)[inside[index.cells.indices]]] = True
        times = np.bincount(index.objects.indices[np.repeat(there, index.objects.sizes)], minlength=len(held))
    rows = np.flatnonzero(held)
    return rows[np.argsort(-times[rows], kind="stable")].astype(np.int32)
