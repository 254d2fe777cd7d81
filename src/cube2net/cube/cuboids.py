"""The cells of any cuboid of a cube or of several together, and counts of objects where two levels cross."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from cube2net._util.arrays import (
    Array,
    LazyRagged,
    Ragged,
    distinct,
    join_rows,
    offsets,
    ragged_from_pairs,
    row_of_entries,
    take_rows,
)
from cube2net._util.progress import step
from cube2net.cube.building.cells import pack_homes
from cube2net.cube.views import add_view, all_labels, regroup
from cube2net.errors import ParameterError, unknown
from cube2net.model.cube import Cells, Cube, record_view, require_own_cells
from cube2net.model.dimension import MIN_OBJECTS, Dimension, Level
from cube2net.model.items import ItemIndex
from cube2net.model.names import MixedCell, mixed_cell_of, names_at

FULL, ONE, BOTH = "full", "one", "full+one"
Cuboid = tuple[int | None, ...]
"""The level of every dimension, None for ∗."""
Names = Callable[[Dimension, int], tuple[str, ...]]
"""What gives the labels of a level names."""


def cuboid(cube: Cube, levels: str | Sequence[str]) -> Cube:
    """Return the view of a cube whose cells are those of one cuboid, or of several together.

    An object is in a cell of the view when it is in one of the cube's cells that the cell puts together, those
    with too few objects included; ``cells.counts`` says in how many. Everything else is the cube's. A view is made
    when it is first asked for, and kept with the cube.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced; not a view of this kind.
    levels
        ``"full"`` is the cube itself, ``"one"`` every dimension alone, its cells of one label side by side, and
        ``"full+one"`` the cube's own cells and behind them a cell for every label. Else the levels that stay, with
        commas between, such as ``"venue"`` or ``"decades,topic"``; dimensions that are not named become ∗. Several of
        these texts give the cells of all. Where they name several levels of one dimension, the view has their labels
        in one table, and a label that two levels have is named with its level behind it.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.make_planted(seed=0).corpus)
    >>> one = cuboid(cube, "one")
    >>> cube.cell(0), one.cell(0), one.cell(len(one.cells) - 1)
    (('198X', 'venue 0', 'topic 2'), ('198X', '∗', '∗'), ('∗', '∗', 'topic 5'))
    >>> cuboid(cube, "venue").find_cell(["∗", "venue 3", "∗"])
    3
    """
    require_own_cells(cube, "rolled up")
    wanted = BOTH if levels == BOTH else _parse_cuboids(cube, levels)
    if wanted == (_get_full_cuboid(cube),):
        return cube
    if wanted not in cube.kept_views:
        view = add_label_cells(cube) if isinstance(wanted, str) else _make_view(cube, wanted)
        cube.kept_views[wanted] = record_view(view, cube, "cuboid", levels=levels)
    return cube.kept_views[wanted]


def add_label_cells(cube: Cube) -> Cube:
    """Return the view of a cube that has, behind its own cells, a cell for every label: ⟨∗, ACL, ∗⟩.

    A cell of one label holds the objects of all cells with that label, those with too few objects included; it is there
    where these cells have ``min_objects`` members together. Which of them hold an object is computed from the object's
    own cells; members of all cells are only computed when they are used. A cube of one dimension has these cells
    already.
    """
    used = [number for number, dimension in enumerate(cube.dimensions) if not dimension.is_top]
    if len(used) < 2:
        return cube
    own = all_labels(cube)
    sizes = [len(cube.dimensions[number].labels) for number in used]
    starts = np.cumsum([0, *sizes])
    label_cells = np.full((sum(sizes), len(cube.dimensions)), -1, np.int32)
    for number, start, size in zip(used, starts.tolist(), sizes, strict=False):
        label_cells[start : start + size, number] = np.arange(size)
    of_labels = own[:, used] + starts[:-1]
    own_sizes = np.concatenate([cube.cells.members.sizes, cube.small.members.sizes])
    extents = np.bincount(of_labels.ravel(), weights=np.repeat(own_sizes, len(used)), minlength=sum(sizes))
    large = extents >= cube.settings.get("min_objects", MIN_OBJECTS)
    first, count = len(cube.cells), len(cube.cells) + int(large.sum())
    # The cells of one label that a cell of the cube is part of; ``count`` stands for those that are not there.
    groups = np.where(large, first + np.cumsum(large) - 1, count).astype(np.int32)[of_labels]
    members = LazyRagged(
        count, partial(_compute_all_members, cube, groups, count), partial(_compute_members, cube, groups)
    )
    homes = LazyRagged(
        len(cube.objects),
        lambda: (pack_homes(members, len(cube.objects)), np.empty(0, np.int32)),
        partial(_compute_homes, cube, groups, count),
    )
    numbers = np.concatenate([np.arange(first), count + np.arange(len(cube.small))])
    view = replace(
        cube,
        cells=Cells(
            np.concatenate([cube.cells.labels, label_cells[large]]),
            members,
            extents=np.concatenate([cube.cells.members.sizes, extents[large]]),
        ),
        object_cells=homes,
        items=None if cube.items is None else cache(partial(_renumber_cells, cube.items, numbers)),
    )
    return add_view(view, "cells of all labels together, and of one label")


def _compute_homes(cube: Cube, groups: Array, count: int, objects: Array) -> tuple[Ragged, Array]:
    """Return the cells of some objects, those of one label included, and how many of the cube's each stands for."""
    some, row = np.unique(objects, return_inverse=True)
    own, small = take_rows(cube.object_cells, some), cube.small.members
    place = np.minimum(np.searchsorted(some, small.indices), max(len(some) - 1, 0))
    hits = np.flatnonzero(some[place] == small.indices) if len(some) else np.empty(0, np.int64)
    rows = np.concatenate([row_of_entries(own), place[hits]]).astype(np.int64)
    small_cells = np.searchsorted(small.indptr, hits, side="right") - 1
    cells = np.concatenate([own.indices, len(cube.cells) + small_cells]).astype(np.int64)
    kept = cells < len(cube.cells)
    width, of_labels = count + 1, groups[cells]
    there = of_labels < count
    keys = np.concatenate([rows[kept] * width + cells[kept], (rows[:, None] * width + of_labels)[there]])
    pairs, counts = np.unique(keys, return_counts=True)
    starts = offsets(pairs // width, len(some))
    found, times = (Ragged(starts, part.astype(np.int32)) for part in (pairs % width, counts))
    if len(some) == len(objects) and bool((row[1:] > row[:-1]).all()):
        return found, times.indices
    return take_rows(found, row), take_rows(times, row).indices


def _compute_members(cube: Cube, groups: Array, cells: Array) -> tuple[Ragged, Array]:
    """Return the members of some cells, those of one label included; how often each is there is not counted."""
    everyone = join_rows(cube.cells.members, cube.small.members)
    held = np.zeros(len(cube.objects), dtype=bool)
    rows = []
    for cell in cells.tolist():
        if cell < len(cube.cells):
            rows.append(cube.cells.members[cell])
            continue
        held[:] = False
        held[take_rows(everyone, np.flatnonzero((groups == cell).any(axis=1))).indices] = True
        rows.append(np.flatnonzero(held).astype(np.int32))
    indptr = np.cumsum([0, *map(len, rows)])
    return Ragged(indptr, np.concatenate([np.empty(0, np.int32), *rows])), np.empty(0, np.int32)


def _compute_all_members(cube: Cube, groups: Array, count: int) -> tuple[Ragged, Array]:
    """Return the members of all cells, those of one label included, and in how many of the cube's each is."""
    from cube2net.kernels.csr import count_groups, fill_groups

    own, small = cube.cells.members, pack_homes(cube.small.members, len(cube.objects))
    homes = (cube.object_cells.indptr, cube.object_cells.indices, small.indptr, small.indices, len(cube.cells))
    label_groups = groups - np.int32(len(cube.cells))
    sizes = np.zeros(count - len(cube.cells) + 1, np.int64)
    count_groups(*homes, label_groups, sizes)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    members, counts = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.int32)
    fill_groups(*homes, label_groups, indptr[:-1].copy(), members, counts)
    end = int(indptr[-2])
    of_labels = Ragged(indptr[:-1], members[:end])
    return join_rows(own, of_labels), np.concatenate([np.ones(len(own.indices), np.int32), counts[:end]])


def pick_cells(cube: Cube, cells: Sequence[Sequence[str | None]]) -> Cube:
    """Return the view of a cube that has some cells at levels of their own, in the order given, and no others.

    A cell is given by one label for each dimension, of any level or ∗, as a cell at mixed levels has
    them. It holds the objects of all of the cube's cells that are part of it, those with too few objects included, and
    stays however few it holds. The view keeps the cube as its ``finest``. Items are in a cell that are in one
    of its parts.

    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    >>> view = pick_cells(cube, [["202X", "∗"], ["2019", "ACL"]])
    >>> view.cell(0), view.cell(1)
    (('202X', '∗'), ('2019', 'ACL'))
    """
    require_own_cells(cube, "cut to some cells")
    rows = [mixed_cell_of(cube, cell) for cell in cells]
    tables = [_Labels.of(old, [row.levels[i] for row in rows], names=names_at) for i, old in enumerate(cube.dimensions)]
    own = all_labels(cube)
    members = join_rows(cube.cells.members, cube.small.members)
    labels = np.full((len(rows), len(tables)), -1, np.int32)
    found, parts = [], []
    for number, row in enumerate(rows):
        inside = np.ones(len(own), dtype=bool)
        for i, (table, level, label) in enumerate(zip(tables, row.levels, row.labels, strict=True)):
            if level is not None:
                inside &= table.old.parents_at(level)[own[:, i]] == label
                labels[number, i] = table.starts[level] + label
        parts.append(np.flatnonzero(inside))
        found.append(np.unique(take_rows(members, parts[-1]).indices, return_counts=True))
    indptr = np.cumsum([0, *(len(held) for held, _ in found)])
    none = np.empty(0, np.int32)
    held, counts = (np.concatenate([none, *(pair[i].astype(np.int32) for pair in found)]) for i in (0, 1))
    picked = Ragged(indptr.astype(np.int64), held)
    empty = Cells(np.empty((0, len(tables)), np.int32), Ragged(np.zeros(1, np.int64), none), none)
    view = replace(
        cube,
        dimensions=tuple(table.dimension for table in tables),
        cells=Cells(labels, picked, counts),
        small=empty,
        object_cells=pack_homes(picked, len(cube.objects)),
        finest=cube,
        items=None if cube.items is None else cache(partial(_index_items_of_parts, cube.items, len(own), tuple(parts))),
    )
    view = add_view(view, f"{len(rows):,} cells at levels of their own")
    return record_view(view, cube, "pick_cells", cells=cells)


def _renumber_cells(items: Callable[[], ItemIndex], numbers: Array) -> ItemIndex:
    """Return an index in which cells have other numbers, in the same order."""
    index = items()
    return replace(index, cells=Ragged(index.cells.indptr, numbers[index.cells.indices].astype(np.int32)))


def _index_items_of_parts(items: Callable[[], ItemIndex], count: int, parts: Sequence[Array]) -> ItemIndex:
    """Return an index in which an item is in a cell when it is in one of the ``count`` old cells that are its parts."""
    index = items()
    rows = np.concatenate([np.empty(0, np.int64), *parts])
    wholes = ragged_from_pairs(rows, np.repeat(np.arange(len(parts)), [len(part) for part in parts]), count)
    found = take_rows(wholes, index.cells.indices)
    owner = row_of_entries(index.cells)[row_of_entries(found)]
    pairs = distinct(owner.astype(np.int64) * len(parts) + found.indices)
    cells = ragged_from_pairs(*np.divmod(pairs, max(len(parts), 1)), len(index))
    return replace(index, cells=cells)


def _parse_cuboids(cube: Cube, levels: str | Sequence[str]) -> tuple[Cuboid, ...]:
    """Return the cuboids that a text or several name, each once, in the order named."""
    texts = [levels] if isinstance(levels, str) else list(levels) if isinstance(levels, Sequence) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ParameterError(f"levels is {levels!r}, expected a text such as 'one' or 'venue,topic', or several")
    found: list[Cuboid] = []
    for text in texts:
        if text == ONE:
            full = _get_full_cuboid(cube)
            found += [(*[None] * i, at, *[None] * (len(full) - i - 1)) for i, at in enumerate(full) if at is not None]
        else:
            found.append(_get_full_cuboid(cube) if text == FULL else _parse_levels(cube, text))
    return tuple(dict.fromkeys(found))


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
            raise unknown("level", name, [*places, FULL, ONE] if len(names) == 1 else places)
        number, depth = places[name]
        if chosen[number] is not None:
            raise ParameterError(
                f"the levels {text!r} name the dimension {cube.dimensions[number].name!r} twice: "
                "a cell has one label of it, so give one level, or two texts for the cells of both"
            )
        chosen[number] = depth
    return tuple(chosen)


def _name_cuboid(cube: Cube, wanted: Cuboid) -> str:
    levels = zip(cube.dimensions, wanted, strict=True)
    return ",".join(dimension.levels[at].name for dimension, at in levels if at is not None)


def _make_view(cube: Cube, wanted: Sequence[Cuboid]) -> Cube:
    labels = all_labels(cube)
    tables = [_Labels.of(dimension, [one[i] for one in wanted]) for i, dimension in enumerate(cube.dimensions)]
    parts = [[table.at(labels[:, i], one[i]) for i, table in enumerate(tables)] for one in wanted]
    columns = [np.stack(part, axis=1).astype(np.int32, copy=False) for part in parts]
    view = regroup(cube, tuple(table.dimension for table in tables), columns, None)
    return add_view(view, f"cells of {'; '.join(_name_cuboid(cube, one) for one in wanted)}")


@dataclass(frozen=True, eq=False)
class _Labels:
    """A dimension of a cube, and what it is in a view: one of its levels, or several in one table.

    ``starts`` says where the labels of a level start in that table.
    """

    old: Dimension
    dimension: Dimension
    starts: Mapping[int, int]

    @classmethod
    def of(cls, old: Dimension, asked: Sequence[int | None], names: Names | None = None) -> _Labels:
        """Return the dimension of a view in which these levels are asked for, with other names of labels if need be."""
        used = sorted({at for at in asked if at is not None})
        starts = np.cumsum([0, *(len(old.levels[at].labels) for at in used)])[: len(used)].tolist()
        if not used:
            new = replace(old, is_top=True)
        elif len(used) == 1 and (names is None or names(old, used[0]) == old.levels[used[0]].labels):
            new = replace(old, at=used[0])
        else:
            new = Dimension((_join_levels(old, used, names),))
        return cls(old, new, dict(zip(used, starts, strict=True)))

    def at(self, labels: Array, level: int | None) -> Array:
        """Return the numbers in the view of some labels of the cube, brought to a level above or to ∗."""
        if level is None:
            return np.full_like(labels, -1)
        if level != self.old.at:
            labels = self.old.parents_at(level)[labels]
        found: Array = labels + np.int32(self.starts[level])
        return found


def _join_levels(dimension: Dimension, used: Sequence[int], names: Names | None) -> Level:
    """Return several levels as one, whose labels are those of all; a name that two have gets its level behind it."""
    levels = [dimension.levels[at] for at in used]
    bearers = Counter(label for level in levels for label in level.labels)
    own = [
        tuple(label if bearers[label] == 1 else f"{label} ({level.name})" for label in level.labels)
        if names is None
        else names(dimension, at)
        for at, level in zip(used, levels, strict=True)
    ]
    return Level(
        "/".join(level.name for level in levels),
        tuple(label for labels in own for label in labels),
        tuple(name for level in levels for name in level.full_names),
    )


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
        _index_labels(labels, size)[groups] for labels, size, groups in zip(kept, sizes, (row, column), strict=True)
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


def _index_labels(labels: Array, count: int) -> Array:
    """Return the place of every label of a level among some, -1 for the others."""
    found = np.full(count, -1, dtype=np.int64)
    found[labels] = np.arange(len(labels))
    return found
