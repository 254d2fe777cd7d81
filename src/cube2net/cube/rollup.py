"""Slice, dice, roll up and drill down: a cube seen at another place or another level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows, transpose
from cube2net.cube.format.parts import check_whole
from cube2net.cube.grow.cell_members import pack_homes
from cube2net.cube.grow.item_index import renumbered
from cube2net.errors import CubeError, ParameterError
from cube2net.records import Cells, Cube, Dimension, Ragged
from cube2net.records.spec import MIN_OBJECTS, SMALL


def roll_up(cube: Cube, dimension: str) -> Cube:
    """Return the cube with one dimension at the level above: cells with the same labels there become one.

    An object is in the new cell when it was in one of the old ones, cells too small to be kept included,
    so that the result equals the cube built at that level.
    """
    check_whole(cube, "rolled up")
    number = cube.dimension(dimension)
    old = cube.dimensions[number]
    parents = old.levels[old.at].parents
    if parents is None or old.at + 1 == len(old.levels):
        raise ParameterError(f"dimension {dimension!r} has no level above to roll up to")
    labels = all_labels(cube)
    labels[:, number] = parents[labels[:, number]]
    dimensions = _with(cube.dimensions, number, replace(old, at=old.at + 1))
    rolled = _plain(regroup(cube, dimensions, [labels], cube.finest or cube))
    return said(rolled, f"{dimension} rolled up to {rolled.dimensions[number].name}")


def drill_down(cube: Cube, dimension: str) -> Cube:
    """Return the cube with one dimension at the level below, the others where they stand."""
    check_whole(cube, "drilled down")
    number = cube.dimension(dimension)
    if cube.finest is None or cube.dimensions[number].at == cube.finest.dimensions[number].at:
        raise ParameterError(f"dimension {dimension!r} has no level below to drill down to")
    wanted = [dimension.at - (place == number) for place, dimension in enumerate(cube.dimensions)]
    result = cube.finest
    for place, level in enumerate(wanted):
        for _ in range(level - result.dimensions[place].at):
            result = roll_up(result, result.dimensions[place].name)
    return result


def dice(cube: Cube, where: Mapping[str, str | Sequence[str]]) -> Cube:
    """Return the cube of the cells that have one of the given labels in each of the given dimensions."""
    check_whole(cube, "cut to some labels")
    keep: dict[int, set[int]] = {}
    for name, wanted in where.items():
        number = cube.dimension(name)
        labels = [wanted] if isinstance(wanted, str) else list(wanted)
        if not labels:
            raise ParameterError(f"no label is given for dimension {name!r}")
        keep[number] = {cube.dimensions[number].number(label) for label in labels}
    finest = None
    if cube.finest is not None:
        below = {number: _below(cube, number, labels) for number, labels in keep.items()}
        finest = _keep(cube.finest, below, None)
    part = "; ".join(f"{name} in {wanted}" for name, wanted in where.items())
    return said(_keep(cube, keep, finest), f"only {part}")


def slice_cube(cube: Cube, dimension: str, label: str) -> Cube:
    """Return the cube of the cells with one label, without that dimension."""
    number = cube.dimension(dimension)
    if len(cube.dimensions) == 1:
        raise ParameterError(f"{dimension!r} is the only dimension of the cube: use dice to keep it")
    diced = dice(cube, {dimension: label})
    finest = None if diced.finest is None else _without(diced.finest, number, None)
    return _without(diced, number, finest)


def _without(cube: Cube, number: int, finest: Cube | None) -> Cube:
    left = cube.dimensions[:number] + cube.dimensions[number + 1 :]
    return _plain(regroup(cube, left, [np.delete(all_labels(cube), number, axis=1)], finest))


def _keep(cube: Cube, keep: Mapping[int, set[int]], finest: Cube | None) -> Cube:
    def chosen(cells: Cells) -> Array:
        masks = [np.isin(cells.labels[:, number], sorted(labels)) for number, labels in keep.items()]
        return reduce(np.logical_and, masks, np.ones(len(cells), dtype=bool))

    def only(cells: Cells, mask: Array) -> Cells:
        rows = np.flatnonzero(mask)
        return Cells(cells.labels[rows], take_rows(cells.members, rows))

    large, tiny = chosen(cube.cells), chosen(cube.small)
    cells = only(cube.cells, large)
    mask = np.concatenate([large, tiny])
    return replace(
        cube,
        cells=cells,
        small=only(cube.small, tiny),
        homes=transpose(cells.members, len(cube.objects)),
        finest=finest,
        items=renumbered(cube.items, np.where(mask, np.cumsum(mask) - 1, -1)),
    )


def _below(cube: Cube, number: int, labels: set[int]) -> set[int]:
    """Return the finest labels under the given ones."""
    if cube.finest is None:
        raise CubeError("the cube was not rolled up")
    dimension = cube.dimensions[number]
    for level in range(dimension.at - 1, cube.finest.dimensions[number].at - 1, -1):
        parents = dimension.levels[level].parents
        if parents is None:
            raise CubeError(f"level {dimension.levels[level].name!r} names no parents")
        labels = set(np.flatnonzero(np.isin(parents, sorted(labels))).tolist())
    return labels


def all_labels(cube: Cube) -> Array:
    """Return the labels of all cells, those with too few objects at the end."""
    return np.concatenate([cube.cells.labels, cube.small.labels])


def regroup(cube: Cube, dimensions: tuple[Dimension, ...], labels: Sequence[Array], finest: Cube | None) -> Cube:
    """Return the cube whose cells are the distinct rows of labels of all cells, holding all of their rows' members.

    There may be several tables of labels; the cells of each stand after those of the one before.
    """
    from cube2net.kernels.csr import count_groups, fill_groups

    found = [_distinct(one) for one in labels]
    rows = np.concatenate([one[first] for one, (first, _) in zip(labels, found, strict=True)])
    starts = np.cumsum([0, *(len(first) for first, _ in found[:-1])])
    groups = np.stack([group + start for (_, group), start in zip(found, starts.tolist(), strict=True)], axis=1)
    small = pack_homes(cube.small.members, len(cube.objects))
    homes = (cube.homes.indptr, cube.homes.indices, small.indptr, small.indices, len(cube.cells))
    sizes = np.zeros(len(rows), np.int64)
    count_groups(*homes, groups.astype(np.int32), sizes)

    tiny = sizes < cube.settings.get("min_objects", MIN_OBJECTS)
    order, kept = np.argsort(tiny, kind="stable"), len(rows) - int(tiny.sum())
    number = np.empty(len(rows), np.int32)
    number[order] = np.arange(len(rows))
    indptr = np.concatenate([[0], np.cumsum(sizes[order])])
    end = int(indptr[kept])
    members, counts = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.int32)
    home_starts, new_homes = np.empty(len(cube.objects) + 1, np.int64), np.empty(end, np.int32)
    fill_groups(*homes, number[groups], indptr[:-1].copy(), members, counts, kept, home_starts, new_homes)
    return replace(
        cube,
        dimensions=dimensions,
        cells=Cells(rows[order[:kept]], Ragged(indptr[: kept + 1], members[:end]), counts[:end]),
        small=Cells(rows[order[kept:]], Ragged(indptr[kept:] - end, members[end:]), counts[end:]),
        homes=Ragged(home_starts, new_homes),
        finest=finest,
        items=renumbered(cube.items, number[groups[:, 0]]) if len(labels) == 1 else None,
    )


def _distinct(labels: Array) -> tuple[Array, Array]:
    """Return where each distinct row stands first, these rows ascending, and the number among them of every row."""
    first, group = np.zeros(min(len(labels), 1), np.int64), np.zeros(len(labels), np.int64)
    for column in labels.T:
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        keys = group * (high - low + 1) + (column - low)
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group


def _plain(cube: Cube) -> Cube:
    """Return the cube without counts: its cells are a cube's own."""
    return replace(cube, cells=replace(cube.cells, counts=None), small=replace(cube.small, counts=None))


def said(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to what its settings tell of it, and what is left out counted anew."""
    settings = dict(cube.settings)
    settings["views"] = [*settings.get("views", []), view]
    reason = SMALL.format(settings.get("min_objects", MIN_OBJECTS))
    settings["dropped"] = {**settings.get("dropped", {}), reason: len(cube.small)}
    return replace(cube, settings=settings)


def _with(dimensions: tuple[Dimension, ...], number: int, dimension: Dimension) -> tuple[Dimension, ...]:
    return (*dimensions[:number], dimension, *dimensions[number + 1 :])
