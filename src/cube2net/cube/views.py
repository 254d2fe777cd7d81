"""Views of a cube (roll-up, drill-down, slice, dice, kinds of objects), and counts for pivot tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import (
    Array,
    Ragged,
    compute_offsets,
    group_rows,
    make_offsets,
    row_of_entries,
    take_rows,
    transpose,
)
from cube2net._util.progress import check_stop
from cube2net.cube.building.cells import pack_object_cells, renumber_cells
from cube2net.errors import ParameterError, Placeholder, RollUp, join_names, unknown_name
from cube2net.model.cube import Cells, Cube, record_view, require_own_cells
from cube2net.model.dimension import MIN_OBJECTS, SMALL, STAR, TOP, Dimension
from cube2net.model.node_names import MixedCell

LevelPlace = tuple[int, int]
"""The number of a dimension, and of one of its levels."""


def merge_members(cube: Cube, groups: Array, count: int, min_objects: int = 0) -> tuple[Array, Ragged, Array]:
    """Return groups of the cube's cells in a new order, their members, and in how many cells of the group each is.

    Groups of fewer than ``min_objects`` members are last. ``groups[cell]`` are the groups of a cell, small ones
    included.
    """
    from cube2net.kernels.csr import count_groups, fill_groups

    small, own = pack_object_cells(cube.small.members, len(cube.objects)), cube.object_cells
    object_cells = (own.indptr, own.indices, small.indptr, small.indices, len(cube.cells))
    sizes = np.zeros(count, np.int64)
    count_groups(*object_cells, groups, sizes)
    order = np.argsort(sizes < min_objects, kind="stable")
    number = np.empty(count, np.int32)
    number[order] = np.arange(count)
    indptr = make_offsets(sizes[order])
    members, counts = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.int32)
    fill_groups(*object_cells, number[groups], indptr[:-1].copy(), members, counts)
    return order, Ragged(indptr, members), counts


def roll_up(cube: Cube, dimension: str, to: str | None = None) -> Cube:
    """Return the cube with one dimension at a level above: cells that have the same labels there are merged.

    An object is in the new cell if it was in one of the old ones, cells below ``min_objects`` included, so the result
    equals the cube built at that level.

    Parameters
    ----------
    cube
        A cube, which may be rolled up, sliced or diced, but not a view of other cuboids.
    dimension
        The dimension, by the name of its current level.
    to
        A level above it, however far; ``"∗"`` (or ``"*"``) is all labels together. None is the next level, which is
        refused if there are several.

    Returns
    -------
    Cube
        The view.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    >>> [dimension.name for dimension in roll_up(cube, "year").dimensions]
    ['decades', 'venue']
    >>> roll_up(roll_up(cube, "venue", "kind"), "year", "∗").cell(0)
    ('∗', 'conference')
    """
    require_own_cells(cube, "rolled up")
    number = cube.dimension(dimension)
    old = cube.dimensions[number]
    if old.is_top:
        raise ParameterError(f"dimension {dimension!r} stands at ∗, the top: there is no level above to roll up to")
    above = _find_level_above(old, to)
    labels = cube.join_labels()
    labels[:, number] = -1 if above is None else old.parents_at(above)[labels[:, number]]
    new = replace(old, is_top=True) if above is None else replace(old, at=above)
    dimensions = _replace_dimension(cube.dimensions, number, new)
    rolled = regroup_cells(cube, dimensions, [labels], finest=cube.finest or cube)
    rolled = add_view(rolled, f"{dimension} rolled up to {STAR if new.is_top else new.name}")
    return record_view(rolled, cube, "roll_up", dimension=dimension, to=to)


def _find_level_above(dimension: Dimension, to: str | None) -> int | None:
    """Return the number of a level above the current one, by its name or the next; None for ∗."""
    name = dimension.name
    if to is None:
        candidates = dimension.directly_above()
        if not candidates:
            raise ParameterError(
                f"dimension {name!r} has no level above to roll up to, only ∗", parameter="to", hint=RollUp(name, STAR)
            )
        if len(candidates) > 1:
            names = [dimension.levels[number].name for number in candidates]
            choices = f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
            raise ParameterError(
                f"dimension {name!r} has {choices} above it: name the one to roll up to",
                parameter="to",
                allowed=names,
                hint=RollUp(name, Placeholder("LEVEL")),
            )
        return candidates[0]
    above = {dimension.levels[number].name: number for number in dimension.at_or_above()[1:]}
    if to in above:
        return above[to]
    if to in TOP:
        return None
    if to == name:
        raise ParameterError(f"dimension {name!r} stands at {to!r} already: roll it up to {join_names([*above, STAR])}")
    raise unknown_name(f"level above {name!r}", to, [*above, STAR])


def drill_down(cube: Cube, dimension: str, to: str | None = None) -> Cube:
    """Return the cube with one dimension at a level below, the others unchanged.

    Parameters
    ----------
    cube
        A cube that was rolled up.
    dimension
        The dimension, by the name of its current level.
    to
        A level below, however far. None is the next level; a dimension at ∗ then returns to the level that it was
        rolled up from.

    Returns
    -------
    Cube
        The view.
    """
    require_own_cells(cube, "drilled down")
    number = cube.dimension(dimension)
    old = cube.dimensions[number]
    if cube.finest is None or (not old.is_top and old.at == cube.finest.dimensions[number].at):
        raise ParameterError(f"dimension {dimension!r} has no level below to drill down to")
    result = cube.finest
    below = replace(old, at=_find_level_below(old, cube.finest.dimensions[number], to), is_top=False)
    for new, finest in zip(_replace_dimension(cube.dimensions, number, below), cube.finest.dimensions, strict=True):
        if new.at != finest.at:
            result = roll_up(result, finest.name, new.name)
        if new.is_top and not finest.is_top:
            result = roll_up(result, new.name, STAR)
    return record_view(result, cube, "drill_down", dimension=dimension, to=to)


def _find_level_below(dimension: Dimension, finest: Dimension, to: str | None) -> int:
    """Return the number of a level below the current one, by its name or the next."""
    levels = finest.at_or_above()
    if not dimension.is_top:
        levels = [at for at in levels if at != dimension.at and dimension.at in dimension.at_or_above(at)]
    if to is None:
        return dimension.at if dimension.is_top else dimension.below[dimension.at]
    names = {dimension.levels[at].name: at for at in levels}
    if to not in names:
        raise unknown_name(f"level below {STAR if dimension.is_top else dimension.name!r}", to, names)
    return names[to]


def dice(cube: Cube, where: Mapping[str, str | Sequence[str]]) -> Cube:
    """Return the cube of the cells that have one of the given labels in each of the given dimensions.

    Only objects of these cells, cells below ``min_objects`` included, may be added to a network.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced.
    where
        Labels by dimension. A dimension is named by its current level or by one above: then a cell stays if its label
        is part of a given one (``{"field": "Computer Science"}`` of a cube of topics). A label that only a level above
        has is taken as one of that level (``{"year": "201X"}``).

    Returns
    -------
    Cube
        The view.
    """
    require_own_cells(cube, "cut to some labels")
    if not isinstance(where, Mapping):
        raise ParameterError(
            f"where is {where!r}, expected labels by dimension, such as {{'venue': 'ACL'}}",
            parameter="where",
            value=where,
        )
    keep: dict[int, set[int]] = {}
    titles = []
    for name, value in where.items():
        number, at = cube.level(name)
        dimension = cube.dimensions[number]
        if dimension.is_top:
            raise ParameterError(f"dimension {name!r} stands at ∗, all labels together: drill it down first")
        labels = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        if not labels:
            raise ParameterError(f"no label is given for dimension {name!r}")
        chosen = set[int]().union(*(_find_parts(dimension, at, str(label)) for label in labels))
        keep[number] = keep.get(number, chosen) & chosen
        titles.append(f"{name}: {', '.join(map(str, labels))}")
    finest = None
    if cube.finest is not None:
        below = {
            number: _find_labels_below(cube.dimensions[number], cube.finest.dimensions[number].at, labels)
            for number, labels in keep.items()
        }
        finest = _keep_cells(cube.finest, below, None)
    diced = add_view_throughout(_keep_cells(cube, keep, finest), f"only {'; '.join(titles)}")
    return record_view(diced, cube, "dice", where=where)


def _find_parts(dimension: Dimension, at: int, label: str) -> set[int]:
    """Return the current labels that are part of a label of a level, or of the one level above it that has it."""
    if label not in dimension.levels[at].labels:
        above = [number for number in dimension.at_or_above(at) if label in dimension.levels[number].labels]
        at = above[0] if len(above) == 1 else at
    parents = dimension.parents_at(at)
    return set(np.flatnonzero(parents == dimension.levels[at].number(label)).tolist())


def _find_labels_below(dimension: Dimension, at: int, labels: set[int]) -> set[int]:
    """Return the labels of a level below that are part of some current labels of a dimension."""
    return set(np.flatnonzero(np.isin(dimension.parents_at(dimension.at, at), sorted(labels))).tolist())


def slice_cube(cube: Cube, dimension: str, label: str) -> Cube:
    """Return the cube of the cells with one label, without that dimension.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced.
    dimension
        The dimension, by the name of its current level or of one above.
    label
        A label of that level.

    Returns
    -------
    Cube
        The view.
    """
    number, _ = cube.level(dimension)
    if len(cube.dimensions) == 1:
        raise ParameterError(f"{dimension!r} is the only dimension of the cube: use dice to keep it")
    diced = dice(cube, {dimension: label})
    finest = None if diced.finest is None else _drop_dimension(diced.finest, number, None)
    sliced = _drop_dimension(diced, number, finest)
    return record_view(sliced, cube, "slice_cube", dimension=dimension, label=label)


def _drop_dimension(cube: Cube, number: int, finest: Cube | None) -> Cube:
    left = cube.dimensions[:number] + cube.dimensions[number + 1 :]
    return regroup_cells(cube, left, [np.delete(cube.join_labels(), number, axis=1)], finest=finest)


def _keep_cells(cube: Cube, keep: Mapping[int, set[int]], finest: Cube | None) -> Cube:
    def mark(cells: Cells) -> Array:
        masks = [np.isin(cells.labels[:, number], sorted(labels)) for number, labels in keep.items()]
        return reduce(np.logical_and, masks, np.ones(len(cells), dtype=bool))

    def take(cells: Cells, mask: Array) -> Cells:
        rows = np.flatnonzero(mask)
        return Cells(cells.labels[rows], take_rows(cells.members, rows))

    large_mask, small_mask = mark(cube.cells), mark(cube.small)
    cells, small = take(cube.cells, large_mask), take(cube.small, small_mask)
    bringable = cube.bringable
    if keep:
        is_member = np.zeros(len(cube.objects), dtype=bool)
        is_member[cells.members.indices] = True
        is_member[small.members.indices] = True
        bringable = is_member if bringable is None else is_member & bringable
    mask = np.concatenate([large_mask, small_mask])
    return replace(
        cube,
        cells=cells,
        small=small,
        object_cells=transpose(cells.members, len(cube.objects)),
        finest=finest,
        bringable=bringable,
        items=renumber_cells(cube.items, np.where(mask, np.cumsum(mask) - 1, -1)),
    )


def regroup_cells(
    cube: Cube,
    dimensions: tuple[Dimension, ...],
    labels: Sequence[Array],
    *,
    finest: Cube | None = None,
    is_merged: bool = False,
) -> Cube:
    """Return the cube whose cells are the distinct rows of new labels of all cells.

    There may be several tables of labels; the cells of each follow those of the one before. ``is_merged`` says that
    the cells are a view's, with counts, and not a cube's own.
    """
    groups_of_tables = [group_rows(table) for table in labels]
    rows = np.concatenate([table[first] for table, (first, _) in zip(labels, groups_of_tables, strict=True)])
    starts = np.cumsum([0, *(len(first) for first, _ in groups_of_tables[:-1])]).tolist()
    groups = np.stack(
        [group + start for (_, group), start in zip(groups_of_tables, starts, strict=True)], axis=1
    ).astype(np.int32)
    least = cube.settings.get("min_objects", MIN_OBJECTS)
    order, members, counts = merge_members(cube, groups, len(rows), least)
    kept = int((members.sizes >= least).sum())

    def take(first: int, last: int) -> Cells:
        begin, end = members.indptr[first], members.indptr[last]
        taken = Ragged(members.indptr[first : last + 1] - begin, members.indices[begin:end])
        return Cells(rows[order[first:last]], taken, counts[begin:end] if is_merged else None)

    cells = take(0, kept)
    number = np.empty(len(rows), np.int32)
    number[order] = np.arange(len(rows))
    return replace(
        cube,
        dimensions=dimensions,
        cells=cells,
        small=take(kept, len(rows)),
        object_cells=pack_object_cells(cells.members, len(cube.objects)),
        finest=finest,
        items=renumber_cells(cube.items, number[groups[:, 0]]) if len(labels) == 1 else None,
    )


def _replace_dimension(dimensions: tuple[Dimension, ...], number: int, dimension: Dimension) -> tuple[Dimension, ...]:
    return (*dimensions[:number], dimension, *dimensions[number + 1 :])


def add_view(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to its settings, and its count of small cells updated."""
    reason = SMALL.format(cube.settings.get("min_objects", MIN_OBJECTS))
    views = [*cube.settings.get("views", []), view]
    dropped = {**cube.settings.get("dropped", {}), reason: len(cube.small)}
    return replace(cube, settings={**cube.settings, "views": views, "dropped": dropped})


def add_view_throughout(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to it and to the cube that it was rolled up from."""
    finest = None if cube.finest is None else add_view_throughout(cube.finest, view)
    return add_view(replace(cube, finest=finest), view)


def of_kind(cube: Cube, kinds: str | Sequence[str]) -> Cube:
    """Return a view of which only objects of some kinds may be added to networks, by any method.

    Cells, links and objects are unchanged: a query may contain objects of any kind, and a chosen cell adds its objects
    of these kinds.

    Parameters
    ----------
    cube
        A cube, or a view of one.
    kinds
        A kind of objects, or several: ``"author"``, ``["user", "business"]``.

    Returns
    -------
    Cube
        The view.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.make_planted(seed=0).corpus)
    >>> of_kind(cube, "thing").bringable.all()
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown kind 'thing': choose one of object
    """
    names = [kinds] if isinstance(kinds, str) else list(kinds) if isinstance(kinds, Sequence) else []
    if not names or not all(isinstance(kind, str) for kind in names):
        raise ParameterError(f"kind is {kinds!r}, expected a kind of objects such as 'author', or several")
    column = cube.objects.table["kind"]
    existing = pc.unique(column).drop_null().to_pylist()
    for kind in names:
        if kind not in existing:
            raise unknown_name("kind", kind, existing)
    marks = pc.is_in(column, value_set=pa.array(names, pa.string())).to_numpy()
    view = f"only objects of kind {join_names(dict.fromkeys(names))} are brought"
    limited = add_view_throughout(limit_objects(cube, np.asarray(marks, dtype=bool)), view)
    return record_view(limited, cube, "of_kind", kinds=kinds)


def list_kinds(cube: Cube) -> list[str]:
    """Return the kinds of a cube's objects, the most frequent first."""
    counts = pc.value_counts(cube.objects.table["kind"]).to_pylist()
    return [each["values"] for each in sorted(counts, key=lambda each: (-each["counts"], str(each["values"])))]


def limit_objects(cube: Cube, objects: Array) -> Cube:
    """Return the cube of which only marked objects may be brought, within the limits that it already has."""
    both = objects if cube.bringable is None else objects & cube.bringable
    return replace(cube, bringable=both, finest=None if cube.finest is None else limit_objects(cube.finest, objects))


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
