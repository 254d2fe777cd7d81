"""Slice, dice, roll up and drill down: a cube seen at another place or another level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from cube2net.arrays import join_rows, ragged_from_pairs, row_of_entries, take_rows, transpose
from cube2net.cube.items import renumbered
from cube2net.errors import CubeError, ParameterError
from cube2net.records import Cells, Cube, Dimension, Ragged
from cube2net.records.ragged import Array
from cube2net.records.spec import MIN_OBJECTS, SMALL


def roll_up(cube: Cube, dimension: str) -> Cube:
    """Return the cube with one dimension at the level above: cells with the same labels there become one.

    An object is in the new cell when it was in one of the old ones, cells too small to be kept included,
    so that the result equals the cube built at that level.
    """
    number = cube.dimension(dimension)
    old = cube.dimensions[number]
    parents = old.levels[old.at].parents
    if parents is None or old.at + 1 == len(old.levels):
        raise ParameterError(f"dimension {dimension!r} has no level above to roll up to")
    labels, members = _all_cells(cube)
    labels[:, number] = parents[labels[:, number]]
    dimensions = _with(cube.dimensions, number, replace(old, at=old.at + 1))
    rolled = _regroup(cube, dimensions, labels, members, finest=cube.finest or cube)
    return _said(rolled, f"{dimension} rolled up to {rolled.dimensions[number].name}")


def drill_down(cube: Cube, dimension: str) -> Cube:
    """Return the cube with one dimension at the level below, the others where they stand."""
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
    return _said(_keep(cube, keep, finest), f"only {part}")


def slice_(cube: Cube, dimension: str, label: str) -> Cube:
    """Return the cube of the cells with one label, without that dimension."""
    number = cube.dimension(dimension)
    if len(cube.dimensions) == 1:
        raise ParameterError(f"{dimension!r} is the only dimension of the cube: use dice to keep it")
    diced = dice(cube, {dimension: label})
    finest = None if diced.finest is None else _without(diced.finest, number, None)
    return _without(diced, number, finest)


def _without(cube: Cube, number: int, finest: Cube | None) -> Cube:
    labels, members = _all_cells(cube)
    left = cube.dimensions[:number] + cube.dimensions[number + 1 :]
    return _regroup(cube, left, np.delete(labels, number, axis=1), members, finest=finest)


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


def _all_cells(cube: Cube) -> tuple[Array, Ragged]:
    kept, small = cube.cells, cube.small
    return np.concatenate([kept.labels, small.labels]), join_rows(kept.members, small.members)


def _regroup(
    cube: Cube, dimensions: tuple[Dimension, ...], labels: Array, members: Ragged, *, finest: Cube | None
) -> Cube:
    """Return the cube whose cells are the distinct rows of labels, each holding all of its rows' members."""
    if len(labels):
        distinct, group = np.unique(labels, axis=0, return_inverse=True)
    else:
        distinct, group = labels, np.empty(0, np.int64)
    merged = ragged_from_pairs(group.ravel()[row_of_entries(members)], members.indices, len(distinct))
    least = cube.settings.get("min_objects", MIN_OBJECTS)
    large, tiny = np.flatnonzero(merged.sizes >= least), np.flatnonzero(merged.sizes < least)
    cells = Cells(distinct[large], take_rows(merged, large))
    number = np.empty(len(distinct), np.int32)
    number[np.concatenate([large, tiny])] = np.arange(len(distinct))
    return replace(
        cube,
        dimensions=dimensions,
        cells=cells,
        small=Cells(distinct[tiny], take_rows(merged, tiny)),
        homes=transpose(cells.members, len(cube.objects)),
        finest=finest,
        items=renumbered(cube.items, number[group.ravel()]),
    )


def _said(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to what its settings tell of it, and what is left out counted anew."""
    settings = dict(cube.settings)
    settings["views"] = [*settings.get("views", []), view]
    reason = SMALL.format(settings.get("min_objects", MIN_OBJECTS))
    settings["dropped"] = {**settings.get("dropped", {}), reason: len(cube.small)}
    return replace(cube, settings=settings)


def _with(dimensions: tuple[Dimension, ...], number: int, dimension: Dimension) -> tuple[Dimension, ...]:
    return (*dimensions[:number], dimension, *dimensions[number + 1 :])
