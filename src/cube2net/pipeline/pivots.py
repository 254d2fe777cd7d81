"""The cube as a table of two levels, and the objects of cells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cube2net import cube as cubes
from cube2net import explanation
from cube2net.arguments import check_call
from cube2net.array_types import Array
from cube2net.compiling import tells_compiling
from cube2net.cube import NameIndex as NameIndex
from cube2net.cube import check_whole, cross_levels
from cube2net.cube import kinds_of as kinds_of
from cube2net.cube import time_dimensions as time_dimensions
from cube2net.cube import window_labels as window_labels
from cube2net.errors import ParameterError, quoted, unknown, whole_number
from cube2net.pipeline.queries import Asked, check_cube, query_of
from cube2net.records import Cube, Pivot
from cube2net.records.mixed_names import levels_of, mixed_cell_of

NUMBER = re.compile(r"([-−]?\d[\d,]*(?:\.\d+)?)(?:\s*[–-]\s*[-−]?\d[\d,]*(?:\.\d+)?)?")
"""A number, or a range of numbers."""


@check_call
@tells_compiling
def pivot(cube: Cube, rows: str, columns: str, query: Asked | None = None, *, most: int = 50) -> Pivot:
    """Return how many objects have a label of one level and, in the same items, a label of another.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced; not the view of a cuboid.
    rows, columns
        The names of two levels, of two dimensions.
    query
        Objects as in :func:`construct`, of which it is told how many are where.
    most
        At most so many rows and columns, those with most objects.

    Returns
    -------
    Pivot
        ``objects`` and ``query`` count, ``lift`` tells where the query is more often than by chance; times and
        numbers stand in their order, other labels by how many objects they have. ``to_pandas`` gives a frame.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> table = c2n.pivot(c2n.build_cube(planted.corpus), "venue", "topic", planted.query(0))
    >>> table
    Pivot(venue × topic: 4 × 3 labels)
    >>> print(table)
    4 venue × 3 topic labels, 200 objects; most of the 50 of the query, 50, in venue 0 and topic 2
    """
    check_whole(check_cube(cube), "crossed")
    most = whole_number("most", most, 1, what="rows and columns")
    places = [_place(cube, which, name) for which, name in (("rows", rows), ("columns", columns))]
    if places[0][0] == places[1][0]:
        raise ParameterError(f"{quoted(rows)} and {quoted(columns)} are levels of one dimension: give levels of two")
    asked = None if query is None else query_of(cube, query)
    objects = np.empty(0, np.int32) if asked is None else asked.objects
    found = cross_levels(cube, places[0], places[1], objects, most)
    sides = [
        _ordered(cube, place, kept, total)
        for place, kept, total in zip(
            places, (found.rows, found.columns), (found.row_objects, found.column_objects), strict=True
        )
    ]
    at = np.ix_(sides[0].order, sides[1].order)
    return Pivot(
        levels=(rows, columns),
        rows=sides[0].labels,
        columns=sides[1].labels,
        objects=found.objects[at],
        row_objects=sides[0].objects,
        column_objects=sides[1].objects,
        whole=found.whole,
        query=None if asked is None else found.query[at],
        asked=found.asked,
        more=(sides[0].more, sides[1].more),
    )


class _Side(NamedTuple):
    """The labels of a side in the order shown, their places among those kept, their objects, and how many more are."""

    labels: tuple[str, ...]
    order: Array
    objects: Array
    more: int


def as_number(label: object) -> float | None:
    """Return the number that a label is, or with which its range begins; None of other labels.

    >>> as_number("10"), as_number("-5–4"), as_number("100,000–199,999"), as_number("10 Downing Street")
    (10.0, -5.0, 100000.0, None)
    """
    found = NUMBER.fullmatch(str(label).strip())
    return None if found is None else float(found[1].replace("−", "-").replace(",", ""))


def _ordered(cube: Cube, place: tuple[int, int], kept: Array, totals: Array) -> _Side:
    """Return a side of a table: times and numbers in their order, other labels by how many objects they have."""
    number, level = place
    names = cube.dimensions[number].levels[level].labels
    shown = [names[label] for label in kept.tolist()]
    if number in time_dimensions(cube):
        order = np.array(sorted(range(len(kept)), key=shown.__getitem__), dtype=np.int64)
    elif (numbers := [as_number(name) for name in shown]) and None not in numbers:
        order = np.argsort(np.array(numbers, dtype=np.float64), kind="stable")
    else:
        order = np.argsort(-totals[kept], kind="stable")
    labels = tuple(shown[at] for at in order.tolist())
    return _Side(labels, order, totals[kept[order]], int((totals > 0).sum()) - len(kept))


def place_cells(cube: Cube, table: Pivot, cells: Iterable[Any]) -> Array:
    """Return how many of some cells lie where each row and column of a table meet.

    Cells are named as :func:`drill` takes them, at any levels; one that has no label of either level lies nowhere.
    """
    sides = [cube.level(name) for name in table.levels]
    mixed = [mixed_cell_of(cube, cell) for cell in cells]
    return cubes.place_cells(cube, mixed, sides, (table.rows, table.columns))


def finer_levels(cube: Cube, table: Pivot) -> list[str | None]:
    """Return the next finer levels of the rows and the columns of a table, None of the finest that cells have."""
    found: list[str | None] = []
    for number, at in map(cube.level, table.levels):
        dimension = cube.dimensions[number]
        lower = dimension.finer(at)
        found.append(None if lower is None else dimension.levels[lower].name)
    return found


def members(cube: Cube, cells: Iterable[Any]) -> Array:
    """Return the rows of the objects that some cells hold, those with most items there first.

    Cells are named as :func:`drill` takes them, at any levels. Where the cube keeps no items, objects in most of its
    own cells there come first.
    """
    check_whole(check_cube(cube), "looked into")
    return explanation.rank_members(cube, [mixed_cell_of(cube, cell) for cell in cells])


def _place(cube: Cube, which: str, name: str) -> tuple[int, int]:
    """Return the dimension and the level of a name."""
    places = {
        dimension.levels[at].name: (number, at)
        for number, dimension in enumerate(cube.dimensions)
        for at in levels_of(dimension)
    }
    if name not in places:
        raise unknown(f"level of the {which}", name, places)
    return places[name]
