"""Two levels of a cube crossed: how many objects have a label of one and, in the same items, a label of the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import join_rows, offsets, row_of_entries
from cube2net.cube.views import all_labels
from cube2net.interrupts import step
from cube2net.records import Cube
from cube2net.records.mixed_names import MixedCell

Place = tuple[int, int]
"""The number of a dimension, and of one of its levels."""


@dataclass(frozen=True, eq=False)
class Crossed:
    """Counts of objects for the labels that are kept, ``rows`` and ``columns`` by their numbers in their levels.

    ``objects[i, j]`` is how many objects a cell of row i and column j holds, each once; ``query`` how many of these are
    asked for. ``whole`` and ``asked`` are these counts for all cells together, ``row_objects`` and ``column_objects``
    how many objects every label of the two levels has, those not kept included.
    """

    rows: Array
    columns: Array
    objects: Array
    query: Array
    whole: int
    asked: int
    row_objects: Array
    column_objects: Array


def cross_levels(cube: Cube, rows: Place, columns: Place, query: Array, most: int) -> Crossed:
    """Return how many objects the labels of two levels have together, the ``most`` largest labels of each.

    An object is where it is in one of the cube's own cells that have both labels, those with too few objects included.
    """
    from cube2net.kernels.csr import count_unions

    own = all_labels(cube)
    cells, small = cube.cells.members, cube.small.members
    members = (cells.indptr, cells.indices, small.indptr, small.indices)
    row, column = (cube.dimensions[i].parents_at(level)[own[:, i]].astype(np.int64) for i, level in (rows, columns))
    sizes = [len(cube.dimensions[i].levels[level].labels) for i, level in (rows, columns)]

    def counted(groups: Array, count: int) -> Array:
        order = np.argsort(groups, kind="stable")
        order = order[np.searchsorted(groups[order], 0) :]
        found: Array = count_unions(offsets(groups[order], count), order, *members, len(cube.objects))
        return found

    totals = [counted(groups, size) for groups, size in zip((row, column), sizes, strict=True)]
    kept = [np.sort(np.argsort(-total, kind="stable")[: min(most, int((total > 0).sum()))]) for total in totals]
    at_row, at_column = (
        _places(labels, size)[groups] for labels, size, groups in zip(kept, sizes, (row, column), strict=True)
    )
    width = len(kept[1])
    group = np.where((at_row >= 0) & (at_column >= 0), at_row * width + at_column, -1)
    shape = (len(kept[0]), width)
    both = join_rows(cells, small)
    mark = np.zeros(len(cube.objects), dtype=bool)
    mark[both.indices] = True
    place = np.full(len(cube.objects), -1, dtype=np.int64)
    place[query] = np.arange(len(query))
    asked = place[both.indices]
    held = np.flatnonzero(asked >= 0)
    holder = group[row_of_entries(both)[held]]
    inside = holder >= 0
    pairs = np.unique(holder[inside] * max(len(query), 1) + asked[held[inside]])
    of_query = np.bincount(pairs // max(len(query), 1), minlength=shape[0] * width)
    return Crossed(
        rows=kept[0],
        columns=kept[1],
        objects=counted(group, shape[0] * width).reshape(shape),
        query=of_query.reshape(shape),
        whole=int(mark.sum()),
        asked=int(mark[query].sum()),
        row_objects=totals[0],
        column_objects=totals[1],
    )


def place_cells(
    cube: Cube, cells: Iterable[MixedCell], levels: Sequence[Place], shown: Sequence[Sequence[str]]
) -> Array:
    """Return how many of some cells lie where two labels that are shown meet, those of a finer level too."""
    table = np.zeros([len(labels) for labels in shown], dtype=np.int64)
    places = [{label: place for place, label in enumerate(labels)} for labels in shown]
    for cell in cells:
        step()
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


def _places(labels: Array, count: int) -> Array:
    """Return the place of every label of a level among some, -1 for the others."""
    found = np.full(count, -1, dtype=np.int64)
    found[labels] = np.arange(len(labels))
    return found
