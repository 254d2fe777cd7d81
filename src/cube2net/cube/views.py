"""Views of a cube: cells of other cuboids, chosen cells, roll-up, drill-down, slice, dice, and kinds of objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import (
    Array,
    LazyRagged,
    Ragged,
    distinct,
    distinct_rows,
    join_rows,
    offsets,
    ragged_from_pairs,
    row_of_entries,
    take_rows,
    transpose,
)
from cube2net.cube.building.cells import pack_object_cells, renumber_cells
from cube2net.errors import ParameterError, Placeholder, RollUp, join_names, unknown_name
from cube2net.model.cube import Cells, Cube, record_view, require_own_cells
from cube2net.model.dimension import MIN_OBJECTS, SMALL, STAR, TOP, Dimension, Level
from cube2net.model.items import ItemIndex
from cube2net.model.names import mixed_cell_of, names_at

FULL, ONE, BOTH = "full", "one", "full+one"
Cuboid = tuple[int | None, ...]
"""The level of every dimension, None for ∗."""
NameLabels = Callable[[Dimension, int], tuple[str, ...]]
"""Returns the names of the labels of a level."""


def cuboid(cube: Cube, levels: str | Sequence[str]) -> Cube:
    """Return the view of a cube whose cells are those of one or several cuboids.

    An object is in a cell of the view if it is in one of the cube's cells that the cell merges, cells below
    ``min_objects`` included; ``cells.counts`` holds the number of these. Everything else is the cube's. A view is
    computed when it is first needed, and kept with the cube.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced; not a view of this kind.
    levels
        ``"full"`` is the cube itself, ``"one"`` every dimension alone, its cells of one label side by side, and
        ``"full+one"`` the cube's own cells followed by a cell for every label. Otherwise the levels that stay,
        separated by commas, such as ``"venue"`` or ``"decades,topic"``; other dimensions become ∗. A sequence of
        these texts gives the cells of all. If they name several levels of one dimension, the view has their labels
        in one table, and a label that two levels share is followed by the name of its level.

    Returns
    -------
    Cube
        The view.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.make_planted(seed=0).corpus)
    >>> one = cuboid(cube, "one")
    >>> cube.cell(0), one.cell(0), one.cell(len(one.cells) - 1)
    (('198X', 'venue 0', 'topic 2'), ('198X', '∗', '∗'), ('∗', '∗', 'topic 5'))
    >>> cuboid(cube, "venue").find_cell(["∗", "venue 3", "∗"])
    3
    """
    require_own_cells(cube, "rolled up")
    cuboids = BOTH if levels == BOTH else _parse_cuboids(cube, levels)
    if cuboids == (_get_full_cuboid(cube),):
        return cube
    if cuboids not in cube.kept_views:
        view = _add_label_cells(cube) if isinstance(cuboids, str) else _make_cuboid_view(cube, cuboids)
        cube.kept_views[cuboids] = record_view(view, cube, "cuboid", levels=levels)
    return cube.kept_views[cuboids]


def _parse_cuboids(cube: Cube, levels: str | Sequence[str]) -> tuple[Cuboid, ...]:
    texts = [levels] if isinstance(levels, str) else list(levels) if isinstance(levels, Sequence) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ParameterError(f"levels is {levels!r}, expected a text such as 'one' or 'venue,topic', or several")
    full = _get_full_cuboid(cube)
    cuboids: list[Cuboid] = []
    for text in texts:
        if text == ONE:
            cuboids += [(*[None] * i, at, *[None] * (len(full) - i - 1)) for i, at in enumerate(full) if at is not None]
        else:
            cuboids.append(full if text == FULL else _parse_levels(cube, text))
    return tuple(dict.fromkeys(cuboids))


def _get_full_cuboid(cube: Cube) -> Cuboid:
    return tuple(None if dimension.is_top else dimension.at for dimension in cube.dimensions)


def _parse_levels(cube: Cube, text: str) -> Cuboid:
    places = {
        dimension.levels[depth].name: (number, depth)
        for number, dimension in enumerate(cube.dimensions)
        if not dimension.is_top
        for depth in dimension.at_or_above()
    }
    chosen: list[int | None] = [None] * len(cube.dimensions)
    names = [text] if text in places else [part.strip() for part in text.split(",")]
    for name in names:
        if name not in places:
            raise unknown_name("level", name, [*places, FULL, ONE] if len(names) == 1 else places)
        number, depth = places[name]
        if chosen[number] is not None:
            raise ParameterError(
                f"the levels {text!r} name the dimension {cube.dimensions[number].name!r} twice: "
                "a cell has one label of it, so give one level, or two texts for the cells of both"
            )
        chosen[number] = depth
    return tuple(chosen)


def _make_cuboid_view(cube: Cube, cuboids: Sequence[Cuboid]) -> Cube:
    labels = _join_all_labels(cube)
    tables = [_LabelTable.of(old, [one[i] for one in cuboids]) for i, old in enumerate(cube.dimensions)]
    columns = [
        np.stack([table.lift(labels[:, i], one[i]) for i, table in enumerate(tables)], axis=1).astype(np.int32)
        for one in cuboids
    ]
    view = _regroup(cube, tuple(table.dimension for table in tables), columns, is_merged=True)
    names = [
        ",".join(
            dimension.levels[at].name for dimension, at in zip(cube.dimensions, one, strict=True) if at is not None
        )
        for one in cuboids
    ]
    return add_view(view, f"cells of {'; '.join(names)}")


@dataclass(frozen=True, eq=False)
class _LabelTable:
    """A dimension of a cube, and the dimension of a view that has one of its levels, or several in one table.

    ``starts`` says where the labels of a level start in that table.
    """

    old: Dimension
    dimension: Dimension
    starts: Mapping[int, int]

    @classmethod
    def of(cls, old: Dimension, levels: Sequence[int | None], name_labels: NameLabels | None = None) -> _LabelTable:
        """Return the table of these levels, with other names of labels if ``name_labels`` is given."""
        used = sorted({at for at in levels if at is not None})
        starts = np.cumsum([0, *(len(old.levels[at].labels) for at in used)])[: len(used)].tolist()
        if not used:
            new = replace(old, is_top=True)
        elif len(used) == 1 and (name_labels is None or name_labels(old, used[0]) == old.levels[used[0]].labels):
            new = replace(old, at=used[0])
        else:
            new = Dimension((_join_levels(old, used, name_labels),))
        return cls(old, new, dict(zip(used, starts, strict=True)))

    def lift(self, labels: Array, level: int | None) -> Array:
        """Return the numbers in the view of labels of the cube, at a level above or ∗."""
        if level is None:
            return np.full_like(labels, -1)
        if level != self.old.at:
            labels = self.old.parents_at(level)[labels]
        lifted: Array = labels + np.int32(self.starts[level])
        return lifted


def _join_levels(dimension: Dimension, used: Sequence[int], name_labels: NameLabels | None) -> Level:
    """Return several levels as one; a label that two levels share is followed by the name of its level."""
    levels = [dimension.levels[at] for at in used]
    if name_labels is not None:
        labels = [name_labels(dimension, at) for at in used]
    else:
        counts = Counter(label for level in levels for label in level.labels)
        labels = [
            tuple(label if counts[label] == 1 else f"{label} ({level.name})" for label in level.labels)
            for level in levels
        ]
    return Level(
        "/".join(level.name for level in levels),
        tuple(label for names in labels for label in names),
        tuple(name for level in levels for name in level.full_names),
    )


def _add_label_cells(cube: Cube) -> Cube:
    """Return the view of a cube that has, after its own cells, a cell for every label: ⟨∗, ACL, ∗⟩.

    A cell of one label holds the objects of all cells with that label, cells below ``min_objects`` included; it exists
    if these cells have ``min_objects`` members together. Which of them hold an object is computed from the object's
    own cells; the members of all cells are computed only if they are used. A cube of one dimension has these cells
    already.
    """
    used = [number for number, dimension in enumerate(cube.dimensions) if not dimension.is_top]
    if len(used) < 2:
        return cube
    sizes = [len(cube.dimensions[number].labels) for number in used]
    starts = np.cumsum([0, *sizes])
    label_cells = np.full((sum(sizes), len(cube.dimensions)), -1, np.int32)
    for number, start, size in zip(used, starts.tolist(), sizes, strict=False):
        label_cells[start : start + size, number] = np.arange(size)
    numbered = _join_all_labels(cube)[:, used] + starts[:-1]
    own_sizes = np.concatenate([cube.cells.members.sizes, cube.small.members.sizes])
    extents = np.bincount(numbered.ravel(), weights=np.repeat(own_sizes, len(used)), minlength=sum(sizes))
    large = extents >= cube.settings.get("min_objects", MIN_OBJECTS)
    own_count, count = len(cube.cells), len(cube.cells) + int(large.sum())
    # The label cells that a cell of the cube is part of; ``count`` is the number of those that do not exist.
    groups = np.where(large, own_count + np.cumsum(large) - 1, count).astype(np.int32)[numbered]
    members = LazyRagged(
        count, partial(_compute_all_members, cube, groups, count), partial(_compute_members, cube, groups)
    )
    object_cells = LazyRagged(
        len(cube.objects),
        lambda: (pack_object_cells(members, len(cube.objects)), np.empty(0, np.int32)),
        partial(_compute_object_cells, cube, groups, count),
    )
    numbers = np.concatenate([np.arange(own_count), count + np.arange(len(cube.small))])
    view = replace(
        cube,
        cells=Cells(
            np.concatenate([cube.cells.labels, label_cells[large]]),
            members,
            extents=np.concatenate([cube.cells.members.sizes, extents[large]]),
        ),
        object_cells=object_cells,
        items=renumber_cells(cube.items, numbers),
    )
    return add_view(view, "cells of all labels together, and of one label")


def _compute_object_cells(cube: Cube, groups: Array, count: int, objects: Array) -> tuple[Ragged, Array]:
    """Return the cells of some objects, label cells included, and the number of the cube's cells that each merges."""
    some, row = np.unique(objects, return_inverse=True)
    own, small = take_rows(cube.object_cells, some), cube.small.members
    place = np.minimum(np.searchsorted(some, small.indices), max(len(some) - 1, 0))
    hits = np.flatnonzero(some[place] == small.indices) if len(some) else np.empty(0, np.int64)
    rows = np.concatenate([row_of_entries(own), place[hits]]).astype(np.int64)
    small_cells = np.searchsorted(small.indptr, hits, side="right") - 1
    cells = np.concatenate([own.indices, len(cube.cells) + small_cells]).astype(np.int64)
    kept = cells < len(cube.cells)
    width, label_cells = count + 1, groups[cells]
    exists = label_cells < count
    keys = np.concatenate([rows[kept] * width + cells[kept], (rows[:, None] * width + label_cells)[exists]])
    pairs, counts = np.unique(keys, return_counts=True)
    starts = offsets(pairs // width, len(some))
    object_cells, multiplicity = (Ragged(starts, part.astype(np.int32)) for part in (pairs % width, counts))
    if len(some) == len(objects) and bool((row[1:] > row[:-1]).all()):
        return object_cells, multiplicity.indices
    return take_rows(object_cells, row), take_rows(multiplicity, row).indices


def _compute_members(cube: Cube, groups: Array, cells: Array) -> tuple[Ragged, Array]:
    """Return the members of some cells, label cells included, without counts."""
    all_members = join_rows(cube.cells.members, cube.small.members)
    is_member = np.zeros(len(cube.objects), dtype=bool)
    rows = []
    for cell in cells.tolist():
        if cell < len(cube.cells):
            rows.append(cube.cells.members[cell])
            continue
        is_member[:] = False
        is_member[take_rows(all_members, np.flatnonzero((groups == cell).any(axis=1))).indices] = True
        rows.append(np.flatnonzero(is_member).astype(np.int32))
    indptr = np.cumsum([0, *map(len, rows)])
    return Ragged(indptr, np.concatenate([np.empty(0, np.int32), *rows])), np.empty(0, np.int32)


def _compute_all_members(cube: Cube, groups: Array, count: int) -> tuple[Ragged, Array]:
    """Return the members of all cells, label cells included, and in how many of the cube's cells each is."""
    own = cube.cells.members
    label_groups = groups - np.int32(len(cube.cells))
    _, groups_and_rest, counts = _merge_members(cube, label_groups, count - len(cube.cells) + 1)
    end = int(groups_and_rest.indptr[-2])
    of_labels = Ragged(groups_and_rest.indptr[:-1], groups_and_rest.indices[:end])
    return join_rows(own, of_labels), np.concatenate([np.ones(len(own.indices), np.int32), counts[:end]])


def _merge_members(cube: Cube, groups: Array, count: int, min_objects: int = 0) -> tuple[Array, Ragged, Array]:
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
    indptr = np.concatenate([[0], np.cumsum(sizes[order])])
    members, counts = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.int32)
    fill_groups(*object_cells, number[groups], indptr[:-1].copy(), members, counts)
    return order, Ragged(indptr, members), counts


def pick_cells(cube: Cube, cells: Sequence[Sequence[str | None]]) -> Cube:
    """Return the view of a cube that has only the given cells, in their order, each at levels of its own.

    A cell is given by one label for each dimension, of any level or ∗. It holds the objects of all cells of the cube
    that are part of it, cells below ``min_objects`` included, and may itself hold fewer. The view keeps the cube as
    its ``finest``. Items are in a cell if they are in one of its parts.

    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    >>> view = pick_cells(cube, [["202X", "∗"], ["2019", "ACL"]])
    >>> view.cell(0), view.cell(1)
    (('202X', '∗'), ('2019', 'ACL'))
    """
    require_own_cells(cube, "cut to some cells")
    rows = [mixed_cell_of(cube, cell) for cell in cells]
    tables = [_LabelTable.of(old, [row.levels[i] for row in rows], names_at) for i, old in enumerate(cube.dimensions)]
    own = _join_all_labels(cube)
    all_members = join_rows(cube.cells.members, cube.small.members)
    labels = np.full((len(rows), len(tables)), -1, np.int32)
    members, counts, parts = [np.empty(0, np.int32)], [np.empty(0, np.int32)], []
    for number, row in enumerate(rows):
        is_part = np.ones(len(own), dtype=bool)
        for i, (table, level, label) in enumerate(zip(tables, row.levels, row.labels, strict=True)):
            if level is not None:
                is_part &= table.old.parents_at(level)[own[:, i]] == label
                labels[number, i] = table.starts[level] + label
        parts.append(np.flatnonzero(is_part))
        distinct_members, multiplicity = np.unique(take_rows(all_members, parts[-1]).indices, return_counts=True)
        members.append(distinct_members)
        counts.append(multiplicity.astype(np.int32))
    picked = Ragged(np.cumsum([0, *map(len, members[1:])]).astype(np.int64), np.concatenate(members))
    no_cells = Cells(np.empty((0, len(tables)), np.int32), Ragged(np.zeros(1, np.int64), members[0]), counts[0])
    view = replace(
        cube,
        dimensions=tuple(table.dimension for table in tables),
        cells=Cells(labels, picked, np.concatenate(counts)),
        small=no_cells,
        object_cells=pack_object_cells(picked, len(cube.objects)),
        finest=cube,
        items=None if cube.items is None else cache(partial(_index_merged_cells, cube.items, len(own), tuple(parts))),
    )
    view = add_view(view, f"{len(rows):,} cells at levels of their own")
    return record_view(view, cube, "pick_cells", cells=cells)


def _index_merged_cells(items: Callable[[], ItemIndex], count: int, parts: Sequence[Array]) -> ItemIndex:
    """Return an index in which an item is in a cell if it is in one of the cell's parts among ``count`` old cells."""
    index = items()
    rows = np.concatenate([np.empty(0, np.int64), *parts])
    merged_cells = ragged_from_pairs(rows, np.repeat(np.arange(len(parts)), [len(part) for part in parts]), count)
    entries = take_rows(merged_cells, index.cells.indices)
    owner = row_of_entries(index.cells)[row_of_entries(entries)]
    pairs = distinct(owner.astype(np.int64) * len(parts) + entries.indices)
    cells = ragged_from_pairs(*np.divmod(pairs, max(len(parts), 1)), len(index))
    return replace(index, cells=cells)


def roll_up(cube: Cube, dimension: str, to: str | None = None) -> Cube:
    """Return the cube with one dimension at a level above: cells that have the same labels there are merged.

    An object is in the new cell if it was in one of the old ones, cells below ``min_objects`` included, so the result
    equals the cube built at that level.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced; not the view of a cuboid.
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
    labels = _join_all_labels(cube)
    labels[:, number] = -1 if above is None else old.parents_at(above)[labels[:, number]]
    new = replace(old, is_top=True) if above is None else replace(old, at=above)
    dimensions = _replace_dimension(cube.dimensions, number, new)
    rolled = _regroup(cube, dimensions, [labels], finest=cube.finest or cube)
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

    ``to`` names the level, however far below; None is the next level. A dimension at ∗ returns to the level that it
    was rolled up from, or to any level named.
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

    A dimension is named by its current level or by one above: then a cell stays if its label is part of a given one
    (``{"field": "Computer Science"}`` of a cube of topics). A label that only a level above has is taken as one of
    that level (``{"year": "201X"}``). Only objects of these cells, cells below ``min_objects`` included, may be
    brought into a network.
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
    """Return the cube of the cells with one label, without that dimension; the label may be of a level above."""
    number, _ = cube.level(dimension)
    if len(cube.dimensions) == 1:
        raise ParameterError(f"{dimension!r} is the only dimension of the cube: use dice to keep it")
    diced = dice(cube, {dimension: label})
    finest = None if diced.finest is None else _drop_dimension(diced.finest, number, None)
    sliced = _drop_dimension(diced, number, finest)
    return record_view(sliced, cube, "slice_cube", dimension=dimension, label=label)


def _drop_dimension(cube: Cube, number: int, finest: Cube | None) -> Cube:
    left = cube.dimensions[:number] + cube.dimensions[number + 1 :]
    return _regroup(cube, left, [np.delete(_join_all_labels(cube), number, axis=1)], finest=finest)


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


def _join_all_labels(cube: Cube) -> Array:
    """Return the labels of all cells, cells below ``min_objects`` last."""
    return np.concatenate([cube.cells.labels, cube.small.labels])


def _regroup(
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
    groups_of_tables = [distinct_rows(table) for table in labels]
    rows = np.concatenate([table[first] for table, (first, _) in zip(labels, groups_of_tables, strict=True)])
    starts = np.cumsum([0, *(len(first) for first, _ in groups_of_tables[:-1])]).tolist()
    groups = np.stack(
        [group + start for (_, group), start in zip(groups_of_tables, starts, strict=True)], axis=1
    ).astype(np.int32)
    least = cube.settings.get("min_objects", MIN_OBJECTS)
    order, members, counts = _merge_members(cube, groups, len(rows), least)
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
    settings = dict(cube.settings)
    settings["views"] = [*settings.get("views", []), view]
    reason = SMALL.format(settings.get("min_objects", MIN_OBJECTS))
    settings["dropped"] = {**settings.get("dropped", {}), reason: len(cube.small)}
    return replace(cube, settings=settings)


def add_view_throughout(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to it and to the cube that it was rolled up from."""
    finest = None if cube.finest is None else add_view_throughout(cube.finest, view)
    return add_view(replace(cube, finest=finest), view)


def of_kind(cube: Cube, kinds: str | Sequence[str]) -> Cube:
    """Return the cube of which only objects of some kinds may be brought into a network, whatever the method.

    Cells, links and objects stay as they are: a query may hold objects of any kind, and a chosen cell brings those of
    its objects that are of these kinds.

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
