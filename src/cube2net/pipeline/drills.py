"""Drilling into a cell: the cells below it that hold most of a query."""

from __future__ import annotations

from typing import Any

import numpy as np

from cube2net import explanation
from cube2net.arguments import check_call
from cube2net.compiling import tells_compiling
from cube2net.cube import check_whole
from cube2net.errors import whole_number
from cube2net.pipeline.queries import Asked, query_of
from cube2net.records import Cube
from cube2net.records.contrast import SeparatingCell
from cube2net.records.drilled import Drilled, DrilledCell
from cube2net.records.mixed_names import MixedCell, mixed_cell_of
from cube2net.records.spec import MIN_OBJECTS


@check_call
@tells_compiling
def drill(cube: Cube, query: Asked, cell: Any = None, k: int = 10) -> Drilled:
    """Return the few cells below a cell that hold most of a query at least cost, and what is left over.

    A cell is below another when each of its labels is the other's or part of it, and one or more are of a finer level:
    ⟨2019 · ACL · ∗⟩ and ⟨201X · ∗ · parsing⟩ are both below ⟨201X · ∗ · ∗⟩. Those with fewer than the cube's
    ``min_objects`` objects are left out.

    To name one of n objects takes log2 n bits. Each object of the query costs what it takes to name it in the smallest
    listed cell that holds it, or else in the cell that is drilled, of N objects; so a cell of n objects saves
    log2(N / n) bits for each object of the query that it holds and no smaller listed cell does. Cells are listed one by
    one, each the one that saves most beside those before it; of cells that save the same, the one with fewer labels.
    They save at least 1 − 1/e of what the best k cells do, and ``bound`` says for each answer how much that is at most.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced; not the view of a cuboid.
    query
        Objects as in :func:`construct`.
    cell
        The cell to drill into. Its labels may each be of any level, with ∗ (or ``*``) for all of a dimension: a
        tuple, or one line such as ``"201X · ACL · ∗"`` (commas do too); or one label, ``"ACL"``, that a single
        dimension has, ∗ in the others; or labels by the names of their levels, ``{"venue": "ACL"}``; or a cell that an
        answer of this or of :func:`contrast` lists. None is the whole cube.
    k
        How many cells at most.

    Returns
    -------
    Drilled
        Its ``cells`` in the order chosen, each with its ``labels``, how many ``objects`` and ``query_objects`` it holds
        and how many of these no cell before it holds (``new``), its ``share`` and ``lift`` against the cell above;
        ``left``, the objects of the query there that no cell holds; ``bits`` and ``bound``; ``sentence``, ``table``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> answer = c2n.drill(cube, planted.query(0), k=2)
    >>> answer
    Drilled(2 cells below ⟨∗ · ∗ · ∗⟩, 0 objects left over)
    >>> answer.cells[0]
    DrilledCell(∗ · venue 0 · topic 2: 50 of its 54 objects, 50 new)
    >>> c2n.drill(cube, planted.query(0), answer.cells[0], k=2).cells[0].labels
    ('200X', 'venue 0', 'topic 2')
    """
    asked = query_of(cube, query)
    k = whole_number("k", k, 1, what="cells")
    check_whole(cube, "drilled")
    top = mixed_cell_of(cube, _named(cell))
    inside = explanation.find_members(cube, top)
    rows = asked.objects[np.isin(asked.objects, inside)]
    least = int(cube.settings.get("min_objects", MIN_OBJECTS))
    below = explanation.find_mixed_cells(cube, rows, within=top)
    sizes = explanation.count_objects(cube, below, top)
    found = explanation.narrow(below.members, sizes, len(rows), len(inside), k, least)
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


def _named(cell: Any) -> Any:
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
