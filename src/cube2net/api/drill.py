"""Drill into a cell, and pivot two levels of a cube."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import report_compiling
from cube2net.api.query import Asked, check_cube, resolve_query
from cube2net.cube.views import count_cells, cross_levels
from cube2net.cube.window import find_time_dimensions
from cube2net.errors import ParameterError, check_int, quote, unknown_name
from cube2net.explanation.drill import count_objects, drill_down, find_members, find_mixed_cells, rank_members
from cube2net.model.contrast import Drilled, DrilledCell, Pivot, SeparatingCell
from cube2net.model.cube import Cube, require_own_cells
from cube2net.model.dimension import MIN_OBJECTS
from cube2net.model.interfaces import check_call
from cube2net.model.node_names import MixedCell, list_levels, resolve_cell


@check_call
@report_compiling
def drill(cube: Cube, query: Asked, cell: Any = None, k: int = 10) -> Drilled:
    """Find a few cells within a cell that cover most of a query and few other objects.

    A cell is below another if it has the same labels, or finer ones, and at least one is finer: ⟨2019 · ACL · ∗⟩ and
    ⟨201X · ∗ · parsing⟩ are both below ⟨201X · ∗ · ∗⟩. Cells with fewer than ``min_objects`` objects are not listed.

    It takes log2 n bits to identify one of n objects. Each object of the query is identified within the smallest listed
    cell that contains it, or within the drilled cell, with N objects, if no listed cell contains it. A cell of n
    objects therefore saves log2(N / n) bits for each object of the query that no smaller listed cell contains. Cells
    are chosen greedily; ties go to the cell with fewer labels. The cells save at least 1 − 1/e of the bits that the
    best k cells save, and ``bound`` is an upper limit.

    Parameters
    ----------
    cube
        A cube, which may be rolled up, sliced or diced, but not a view of other cuboids.
    query
        Objects as for :func:`construct`.
    cell
        The cell to drill into: a tuple of labels of any level, with ∗ (or ``*``) for all labels of a dimension; a
        string such as ``"201X · ACL · ∗"`` or ``"201X, ACL, *"``; a single label, ``"ACL"``, if only one dimension has
        it; labels by level, ``{"venue": "ACL"}``; or a cell returned by this function or by :func:`contrast`. By
        default the whole cube.
    k
        The maximum number of cells.

    Returns
    -------
    Drilled
        The ``cells`` in the order chosen, each with its ``labels``, the numbers of ``objects``, of ``query_objects``
        and of query objects in no earlier cell (``new``), its ``share``, and its ``lift`` relative to the drilled cell;
        ``left``, the objects of the query in no cell; ``bits`` and ``bound``; ``sentence`` and ``table``.

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
    resolved_query = resolve_query(cube, query)
    k = check_int("k", k, 1, what="cells")
    require_own_cells(cube, "drilled")
    top = resolve_cell(cube, _get_cell_labels(cell))
    member_rows = find_members(cube, top)
    query_rows = resolved_query.objects[np.isin(resolved_query.objects, member_rows)]
    min_objects = int(cube.settings.get("min_objects", MIN_OBJECTS))
    candidate_cells = find_mixed_cells(cube, query_rows, within=top)
    sizes = count_objects(cube, candidate_cells, top)
    chosen = drill_down(candidate_cells.members, sizes, len(query_rows), len(member_rows), k, min_objects)
    cells = []
    for number, new, bits in zip(chosen.cells.tolist(), chosen.new.tolist(), chosen.bits.tolist(), strict=True):
        query_count, object_count = len(candidate_cells.members[number]), int(sizes[number])
        lift = query_count / object_count * len(member_rows) / len(query_rows)
        cells.append(DrilledCell(candidate_cells.cell(number).names(cube), query_count, new, object_count, lift, bits))
    uncovered_rows = query_rows[~chosen.held]
    return Drilled(
        dimensions=tuple(dimension.name for dimension in cube.dimensions),
        labels=top.names(cube),
        cells=tuple(cells),
        objects=len(member_rows),
        query_objects=len(query_rows),
        query=len(resolved_query),
        left=tuple(cube.objects.ids(uncovered_rows).to_pylist()),
        left_names=tuple(cube.objects.table["name"].take(uncovered_rows).to_pylist()),
        bits=float(chosen.bits.sum()),
        bound=chosen.bound,
        asked=k,
        why_empty=""
        if cells
        else _explain_empty(cube, top, len(member_rows), len(query_rows), len(resolved_query), min_objects),
    )


def _get_cell_labels(cell: Any) -> Any:
    """Return the labels of a cell of a contrast or of an earlier drill; other values unchanged."""
    if isinstance(cell, SeparatingCell):
        return {level: label for level, label in zip(cell.levels, cell.labels, strict=True) if level is not None}
    return cell.labels if isinstance(cell, DrilledCell) else cell


def _explain_empty(
    cube: Cube, top: MixedCell, objects: int, query_count: int, query_size: int, min_objects: int
) -> str:
    """Return why no cell below ``top`` is listed."""
    title = top.title(cube)
    query_text = (
        f"{query_count:,} of the {query_size:,} objects of the query" if query_size > 1 else "the object of the query"
    )
    if not query_count:
        return (
            f"{title} holds none of the {query_size:,} objects of the query"
            if query_size > 1
            else (f"{title} does not hold the object of the query")
        )
    if all(
        level == (None if dimension.is_top else dimension.at)
        for dimension, level in zip(cube.dimensions, top.levels, strict=True)
    ):
        return f"nothing is below {title}: all its labels are of the finest level; it holds {query_text}"
    return (
        f"no cell below {title} narrows the query down: those that hold some of it have fewer than {min_objects:,} "
        "objects, "
        f"or all {objects:,}"
    )


NUMBER_OR_RANGE = re.compile(r"([-−]?\d[\d,]*(?:\.\d+)?)(?:\s*[–-]\s*[-−]?\d[\d,]*(?:\.\d+)?)?")
"""A number, or a range of numbers."""


@check_call
@report_compiling
def pivot(cube: Cube, rows: str, columns: str, query: Asked | None = None, *, most: int = 50) -> Pivot:
    """Count the objects of items with two labels, for each pair of labels of two levels.

    Parameters
    ----------
    cube
        A cube, which may be rolled up, sliced or diced, but not a view of other cuboids.
    rows, columns
        The names of two levels of two dimensions.
    query
        Objects as for :func:`construct`, which are also counted separately.
    most
        The maximum number of rows and of columns; the labels with the most objects are kept.

    Returns
    -------
    Pivot
        The counts ``objects`` and ``query``, and ``lift``, the share of the query divided by the share of all objects.
        Times and numbers are in ascending order, and other labels are sorted by size. ``to_pandas`` returns a data
        frame.

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
    levels = [_resolve_level(cube, parameter, name) for parameter, name in (("rows", rows), ("columns", columns))]
    if levels[0][0] == levels[1][0]:
        raise ParameterError(f"{quote(rows)} and {quote(columns)} are levels of one dimension: give levels of two")
    resolved_query = None if query is None else resolve_query(cube, query)
    objects = np.empty(0, np.int32) if resolved_query is None else resolved_query.objects
    counts = cross_levels(cube, levels[0], levels[1], objects, most)
    sides = [
        _order_labels(cube, level, kept_labels, total)
        for level, kept_labels, total in zip(
            levels, (counts.rows, counts.columns), (counts.row_objects, counts.column_objects), strict=True
        )
    ]
    order = np.ix_(sides[0].order, sides[1].order)
    return Pivot(
        levels=(rows, columns),
        rows=sides[0].labels,
        columns=sides[1].labels,
        objects=counts.objects[order],
        row_objects=sides[0].objects,
        column_objects=sides[1].objects,
        whole=counts.total,
        query=None if resolved_query is None else counts.query_objects[order],
        asked=counts.query_total,
        more=(sides[0].more, sides[1].more),
    )


class _Side(NamedTuple):
    """The rows or columns of a table: labels, their order, numbers of objects, and how many labels are omitted."""

    labels: tuple[str, ...]
    order: Array
    objects: Array
    more: int


def parse_number(label: object) -> float | None:
    """Return the number of a label, or the first of a range; None for other labels.

    >>> parse_number("10"), parse_number("-5–4"), parse_number("100,000–199,999"), parse_number("10 Downing Street")
    (10.0, -5.0, 100000.0, None)
    """
    match = NUMBER_OR_RANGE.fullmatch(str(label).strip())
    return None if match is None else float(match[1].replace("−", "-").replace(",", ""))


def _order_labels(cube: Cube, level_position: tuple[int, int], kept_labels: Array, totals: Array) -> _Side:
    """Return the rows or columns of a table: times and numbers ascending, other labels by number of objects."""
    number, level = level_position
    names = cube.dimensions[number].levels[level].labels
    label_names = [names[label] for label in kept_labels.tolist()]
    if number in find_time_dimensions(cube):
        order = np.array(sorted(range(len(kept_labels)), key=label_names.__getitem__), dtype=np.int64)
    elif (numbers := [parse_number(name) for name in label_names]) and None not in numbers:
        order = np.argsort(np.array(numbers, dtype=np.float64), kind="stable")
    else:
        order = np.argsort(-totals[kept_labels], kind="stable")
    labels = tuple(label_names[index] for index in order.tolist())
    return _Side(labels, order, totals[kept_labels[order]], int((totals > 0).sum()) - len(kept_labels))


def place_cells(cube: Cube, table: Pivot, cells: Iterable[Any]) -> Array:
    """Count the given cells in each place of a pivot table.

    Cells are named as for :func:`drill`; a cell without labels of both levels is not counted.
    """
    sides = [cube.level(name) for name in table.levels]
    mixed = [resolve_cell(cube, cell) for cell in cells]
    return count_cells(cube, mixed, sides, (table.rows, table.columns))


def finer_levels(cube: Cube, table: Pivot) -> list[str | None]:
    """Return the next finer level of the rows and of the columns of a table, or None for the finest."""
    names: list[str | None] = []
    for number, level in map(cube.level, table.levels):
        dimension = cube.dimensions[number]
        lower = dimension.finer(level)
        names.append(None if lower is None else dimension.levels[lower].name)
    return names


def members(cube: Cube, cells: Iterable[Any]) -> Array:
    """Return the rows of the objects in some cells, those with most items there first.

    Cells are named as for :func:`drill`. If the cube has no items, objects in most of the cells come first.
    """
    require_own_cells(check_cube(cube), "looked into")
    return rank_members(cube, [resolve_cell(cube, cell) for cell in cells])


def _resolve_level(cube: Cube, parameter: str, name: str) -> tuple[int, int]:
    """Return the positions of the dimension and of the level with a name."""
    positions = {
        dimension.levels[level].name: (number, level)
        for number, dimension in enumerate(cube.dimensions)
        for level in list_levels(dimension)
    }
    if name not in positions:
        raise unknown_name(f"level of the {parameter}", name, positions)
    return positions[name]
