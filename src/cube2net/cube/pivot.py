"""Counts of objects and of cells where the labels of two levels meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cube2net._util.arrays import Array, compute_offsets, row_of_entries
from cube2net._util.progress import check_stop
from cube2net.model.cube import Cube
from cube2net.model.node_names import MixedCell

LevelPlace = tuple[int, int]
"""The number of a dimension, and of one of its levels."""


@dataclass(frozen=True, eq=False)
class PivotCounts:
    """Counts of objects for the kept labels, ``rows`` and ``columns``, given by their numbers in their levels.

    ``objects[i, j]`` counts the objects with labels i and j, ``query_objects[i, j]`` those of them in the query.
    ``total`` and ``query_total`` are these counts for all cells together; ``row_objects`` and ``column_objects`` count
    the objects of every label of the two levels, including labels that are not kept.
    """

    rows: Array
    columns: Array
    objects: Array
    query_objects: Array
    total: int
    query_total: int
    row_objects: Array
    column_objects: Array


def cross_levels(cube: Cube, rows: LevelPlace, columns: LevelPlace, query: Array, most: int) -> PivotCounts:
    """Return how many objects the labels of two levels share, for the ``most`` largest labels of each.

    An object counts if one of the cube's own cells with both labels holds it, cells below ``min_objects`` included.
    """
    from cube2net.kernels.csr import count_unions

    labels = cube.join_labels()
    cells, small = cube.cells.members, cube.small.members
    members = (cells.indptr, cells.indices, small.indptr, small.indices)
    row, column = (cube.dimensions[i].parents_at(level)[labels[:, i]].astype(np.int64) for i, level in (rows, columns))
    sizes = [len(cube.dimensions[i].levels[level].labels) for i, level in (rows, columns)]

    def count(groups: Array, size: int) -> Array:
        order = np.argsort(groups, kind="stable")
        order = order[np.searchsorted(groups[order], 0) :]
        unions: Array = count_unions(compute_offsets(groups[order], size), order, *members, len(cube.objects))
        return unions

    totals = [count(groups, size) for groups, size in zip((row, column), sizes, strict=True)]
    kept = [np.sort(np.argsort(-total, kind="stable")[: min(most, int((total > 0).sum()))]) for total in totals]
    at_row, at_column = (
        _index_labels(chosen, size)[groups] for chosen, size, groups in zip(kept, sizes, (row, column), strict=True)
    )
    shape = (len(kept[0]), len(kept[1]))
    field = np.where((at_row >= 0) & (at_column >= 0), at_row * shape[1] + at_column, -1)
    fields = shape[0] * shape[1]
    all_members = cube.join_members()
    is_member = np.zeros(len(cube.objects), dtype=bool)
    is_member[all_members.indices] = True
    query_place = np.full(len(cube.objects), -1, dtype=np.int64)
    query_place[query] = np.arange(len(query))
    of_query = query_place[all_members.indices]
    entries = np.flatnonzero(of_query >= 0)
    entry_field = field[row_of_entries(all_members)[entries]]
    is_kept = entry_field >= 0
    pairs = np.unique(entry_field[is_kept] * max(len(query), 1) + of_query[entries[is_kept]])
    query_counts = np.bincount(pairs // max(len(query), 1), minlength=fields)
    return PivotCounts(
        rows=kept[0],
        columns=kept[1],
        objects=count(field, fields).reshape(shape),
        query_objects=query_counts.reshape(shape),
        total=int(is_member.sum()),
        query_total=int(is_member[query].sum()),
        row_objects=totals[0],
        column_objects=totals[1],
    )


def count_cells(
    cube: Cube, cells: Iterable[MixedCell], levels: Sequence[LevelPlace], labels: Sequence[Sequence[str]]
) -> Array:
    """Return how many of some cells have each combination of two labels, at their own level or a finer one."""
    table = np.zeros([len(names) for names in labels], dtype=np.int64)
    places = [{label: place for place, label in enumerate(names)} for names in labels]
    for cell in cells:
        check_stop()
        at = []
        for (number, level), place in zip(levels, places, strict=True):
            own, dimension = cell.levels[number], cube.dimensions[number]
            if own is None or level not in dimension.at_or_above(own):
                break
            above = int(dimension.parents_at(level, own)[cell.labels[number]])
            at.append(place.get(dimension.levels[level].labels[above], -1))
        if len(at) == len(levels) and min(at) >= 0:
            table[tuple(at)] += 1
    return table


def _index_labels(labels: Array, count: int) -> Array:
    """Return the place of every label of a level among some, -1 for the others."""
    places = np.full(count, -1, dtype=np.int64)
    places[labels] = np.arange(len(labels))
    return places
