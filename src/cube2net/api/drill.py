"""Drill into a cell, and pivot two levels of a cube."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import report_compiling
from cube2net.api.query import Asked, check_cube, resolve_query
from cube2net.cube.pivot import count_cells, cross_levels
from cube2net.cube.window import find_time_dimensions
from cube2net.errors import ParameterError, check_int, quote, unknown_name
from cube2net.explanation.drill import drill_down
from cube2net.explanation.mixed_cells import count_objects, find_members, find_mixed_cells, rank_members
from cube2net.model.contrast import Drilled, DrilledCell, Pivot, SeparatingCell
from cube2net.model.cube import Cube, require_own_cells
from cube2net.model.dimension import MIN_OBJECTS
from cube2net.model.interfaces import check_call
from cube2net.model.node_names import MixedCell, list_levels, resolve_cell


@check_call
@report_compiling
def drill(cube: Cube, query: Asked, cell: Any = None, k: int = 10) -> Drilled:
    """Find the few cells below a cell that cover most of a query with few other objects.

    A cell is below another if it has the same labels, or finer ones, and at least one is finer: ⟨2019 · ACL · ∗⟩ and
    ⟨201X · ∗ · parsing⟩ are both below ⟨201X · ∗ · ∗⟩. Cells with fewer than ``min_objects`` objects are not listed.

    Naming one of n objects takes log2 n bits. Each object of the query costs the bits to name it in the smallest listed
    cell that contains it, or otherwise in the drilled cell of N objects. A cell of n objects thus saves log2(N / n)
    bits for each object of the query that no smaller listed cell contains. Cells are chosen greedily; of cells that
    save the same, the one with fewer labels. They save at least 1 − 1/e of what the best k cells save, and ``bound`` is
    an upper limit.

    Parameters
    ----------
    cube
        A cube, also rolled up, sliced or diced; not the view of a cuboid.
    query
        Objects as for :func:`construct`.
    cell
        The cell to drill into: a tuple of labels of any level, with ∗ (or ``*``) for all of a dimension; a text such as
        ``"201X · ACL · ∗"`` or ``"201X, ACL, *"``; one label, ``"ACL"``, if only one dimension has it; labels by
        level, ``{"venue": "ACL"}``; or a cell listed by this function or by :func:`contrast`. By default the whole
        cube.
    k
        The maximum number of cells.

    Returns
    -------
    Drilled
        ``cells`` in the order chosen, each with its ``labels``, the number of ``objects``, of ``query_objects`` and of
        those in no earlier cell (``new``), its ``share`` and its ``lift`` over the drilled cell; ``left``, the objects
        of the query in no cell; ``bits`` and ``bound``; ``sentence`` and ``table``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=0)
    >>> cube = c2n.build(planted.corpus)
    >>> answer = c2n.drill(cube, planted.query(0), k=2)
    >>> answer
    Drilled(2 cells below ⟨∗ · ∗ · ∗⟩, 0 objects left over)
    >>> answer.cells[0]
    DrilledCell(∗ · venue 0 · topic 2: 50 of its 54 objects, 50 new)
    >>> c2n.drill(cube, planted.query(0), answer.cells[0], k=2).cells[0].labels
    ('200X', 'venue 0', 'topic 2')
    """
    asked = resolve_query(cube, query)
    k = check_int("k", k, 1, what="cells")
    require_own_cells(cube, "drilled")
    top = resolve_cell(cube, _name_cell(cell))
    inside = find_members(cube, top)
    rows = asked.objects[np.isin(asked.objects, inside)]
    least = int(cube.settings.get("min_objects", MIN_OBJECTS))
    below = find_mixed_cells(cube, rows, within=top)
    sizes = count_objects(cube, below, top)
    found = drill_down(below.members, sizes, len(rows), len(inside), k, least)
    cells = []
    for number, new, bits in zip(found.cells.tolist(), found.new.tolist(), found.bits.tolist(), strict=True):
        mine, size = len(below.members[number]), int(sizes[number])
        lift = mine / size * len(inside) / len(rows)
        cells.append(DrilledCell(below.cell(number).names(cube), mine, new, size, lift, bits))
    left = rows[~found.held]
    return Drilled(
        dimensions=tuple(dimension.name for dimension in cube.dimensions),
        labels=top.names(cube),
        cells=tuple(cells),
        objects=len(inside),
        query_objects=len(rows),
        query=len(asked),
        left=tuple(cube.objects.ids(left).to_pylist()),
        left_names=tuple(cube.objects.table["name"].take(left).to_pylist()),
        bits=float(found.bits.sum()),
        bound=found.bound,
        asked=k,
        why_empty="" if cells else _why_empty(cube, top, len(inside), len(rows), len(asked), least),
    )


def _name_cell(cell: Any) -> Any:
    """Return what names a cell that an answer lists; anything else as it is."""
    if isinstance(cell, SeparatingCell):
        return {level: label for level, label in zip(cell.levels, cell.labels, strict=True) if level is not None}
    return cell.labels if isinstance(cell, DrilledCell) else cell


def _why_empty(cube: Cube, top: MixedCell, objects: int, mine: int, asked: int, least: int) -> str:
    """Return why no cell below one is listed."""
    title = top.title(cube)
    of_query = f"{mine:,} of the {asked:,} objects of the query" if asked > 1 else "the object of the query"
    if not mine:
        return (
            f"{title} holds none of the {asked:,} objects of the query"
            if asked > 1
            else (f"{title} does not hold the object of the query")
        )
    if all(at == (None if dim.is_top else dim.at) for dim, at in zip(cube.dimensions, top.levels, strict=True)):
        return f"nothing is below {title}: all its labels are of the finest level; it holds {of_query}"
    return (
        f"no cell below {title} narrows the query down: those that hold some of it have fewer than {least:,} objects, "
        f"or all {objects:,}"
    )


NUMBER = re.compile(r"([-−]?\d[\d,]*(?:\.\d+)?)(?:\s*[–-]\s*[-−]?\d[\d,]*(?:\.\d+)?)?")
"""A number, or a range of numbers."""


@check_call
@report_compiling
def pivot(cube: Cube, rows: str, columns: str, query: Asked | None = None, *, most: int = 50) -> Pivot:
    """Count the objects that have a label of one level and, in the same item, a label of another.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced; not the view of a cuboid.
    rows, columns
        The names of two levels of two dimensions.
    query
        Objects as for :func:`construct`, which are counted separately.
    most
        The maximum number of rows and of columns; those with most objects are kept.

    Returns
    -------
    Pivot
        The counts ``objects`` and ``query``, and ``lift``, the share of the query divided by the share of all objects.
        Times and numbers are in ascending order, other labels by size. ``to_pandas`` returns a data frame.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> table = c2n.pivot(c2n.build(planted.corpus), "venue", "topic", planted.query(0))
    >>> table
    Pivot(venue × topic: 4 × 3 labels)
    >>> print(table)
    4 venue × 3 topic labels, 200 objects; most of the 50 of the query, 50, in venue 0 and topic 2
    """
    require_own_cells(check_cube(cube), "crossed")
    most = check_int("most", most, 1, what="rows and columns")
    places = [_place(cube, which, name) for which, name in (("rows", rows), ("columns", columns))]
    if places[0][0] == places[1][0]:
        raise ParameterError(f"{quote(rows)} and {quote(columns)} are levels of one dimension: give levels of two")
    asked = None if query is None else resolve_query(cube, query)
    objects = np.empty(0, np.int32) if asked is None else asked.objects
    counts = cross_levels(cube, places[0], places[1], objects, most)
    sides = [
        _order_labels(cube, place, kept, total)
        for place, kept, total in zip(
            places, (counts.rows, counts.columns), (counts.row_objects, counts.column_objects), strict=True
        )
    ]
    at = np.ix_(sides[0].order, sides[1].order)
    return Pivot(
        levels=(rows, columns),
        rows=sides[0].labels,
        columns=sides[1].labels,
        objects=counts.objects[at],
        row_objects=sides[0].objects,
        column_objects=sides[1].objects,
        whole=counts.total,
        query=None if asked is None else counts.query_objects[at],
        asked=counts.query_total,
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


def _order_labels(cube: Cube, place: tuple[int, int], kept: Array, totals: Array) -> _Side:
    """Return a side of a table: times and numbers in their order, other labels by how many objects they have."""
    number, level = place
    names = cube.dimensions[number].levels[level].labels
    shown = [names[label] for label in kept.tolist()]
    if number in find_time_dimensions(cube):
        order = np.array(sorted(range(len(kept)), key=shown.__getitem__), dtype=np.int64)
    elif (numbers := [as_number(name) for name in shown]) and None not in numbers:
        order = np.argsort(np.array(numbers, dtype=np.float64), kind="stable")
    else:
        order = np.argsort(-totals[kept], kind="stable")
    labels = tuple(shown[at] for at in order.tolist())
    return _Side(labels, order, totals[kept[order]], int((totals > 0).sum()) - len(kept))


def place_cells(cube: Cube, table: Pivot, cells: Iterable[Any]) -> Array:
    """Count the given cells in each place of a pivot table.

    Cells are named as for :func:`drill`; a cell without labels of both levels is not counted.
    """
    sides = [cube.level(name) for name in table.levels]
    mixed = [resolve_cell(cube, cell) for cell in cells]
    return count_cells(cube, mixed, sides, (table.rows, table.columns))


def finer_levels(cube: Cube, table: Pivot) -> list[str | None]:
    """Return the next finer level of the rows and of the columns of a table, or None for the finest."""
    found: list[str | None] = []
    for number, at in map(cube.level, table.levels):
        dimension = cube.dimensions[number]
        lower = dimension.finer(at)
        found.append(None if lower is None else dimension.levels[lower].name)
    return found


def members(cube: Cube, cells: Iterable[Any]) -> Array:
    """Return the rows of the objects in some cells, those with most items there first.

    Cells are named as for :func:`drill`. If the cube has no items, objects in most of the cells come first.
    """
    require_own_cells(check_cube(cube), "looked into")
    return rank_members(cube, [resolve_cell(cube, cell) for cell in cells])


def _place(cube: Cube, which: str, name: str) -> tuple[int, int]:
    """Return the dimension and the level of a name."""
    places = {
        dimension.levels[at].name: (number, at)
        for number, dimension in enumerate(cube.dimensions)
        for at in list_levels(dimension)
    }
    if name not in places:
        raise unknown_name(f"level of the {which}", name, places)
    return places[name]
