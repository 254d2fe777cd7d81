"""Views with the cells of other cuboids, or with chosen cells at levels of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from cube2net._util.arrays import (
    Array,
    LazyRagged,
    Ragged,
    compute_offsets,
    find_distinct,
    join_rows,
    make_empty_rows,
    make_offsets,
    ragged_from_pairs,
    row_of_entries,
    take_rows,
)
from cube2net.cube.building.cells import pack_object_cells, renumber_cells
from cube2net.cube.views import add_view, merge_members, regroup_cells
from cube2net.errors import ParameterError, unknown_name
from cube2net.model.cube import Cells, Cube, record_view, require_own_cells
from cube2net.model.dimension import MIN_OBJECTS, Dimension, Level
from cube2net.model.items import ItemIndex
from cube2net.model.node_names import format_labels, resolve_cell

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
    labels = cube.join_labels()
    tables = [_LabelTable.of(old, [one[i] for one in cuboids]) for i, old in enumerate(cube.dimensions)]
    columns = [
        np.stack([table.lift(labels[:, i], one[i]) for i, table in enumerate(tables)], axis=1).astype(np.int32)
        for one in cuboids
    ]
    view = regroup_cells(cube, tuple(table.dimension for table in tables), columns, is_merged=True)
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
        starts = make_offsets([len(old.levels[at].labels) for at in used])[:-1].tolist()
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
    starts = make_offsets(sizes)
    label_cells = np.full((sum(sizes), len(cube.dimensions)), -1, np.int32)
    for number, start, size in zip(used, starts.tolist(), sizes, strict=False):
        label_cells[start : start + size, number] = np.arange(size)
    numbered = cube.join_labels()[:, used] + starts[:-1]
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
    starts = compute_offsets(pairs // width, len(some))
    object_cells, multiplicity = (Ragged(starts, part.astype(np.int32)) for part in (pairs % width, counts))
    if len(some) == len(objects) and bool((row[1:] > row[:-1]).all()):
        return object_cells, multiplicity.indices
    return take_rows(object_cells, row), take_rows(multiplicity, row).indices


def _compute_members(cube: Cube, groups: Array, cells: Array) -> tuple[Ragged, Array]:
    """Return the members of some cells, label cells included, without counts."""
    all_members = cube.join_members()
    is_member = np.zeros(len(cube.objects), dtype=bool)
    rows = [np.empty(0, np.int32)]
    for cell in cells.tolist():
        if cell < len(cube.cells):
            rows.append(cube.cells.members[cell])
            continue
        is_member[:] = False
        is_member[take_rows(all_members, np.flatnonzero((groups == cell).any(axis=1))).indices] = True
        rows.append(np.flatnonzero(is_member).astype(np.int32))
    return Ragged(make_offsets([len(row) for row in rows[1:]]), np.concatenate(rows)), rows[0]


def _compute_all_members(cube: Cube, groups: Array, count: int) -> tuple[Ragged, Array]:
    """Return the members of all cells, label cells included, and in how many of the cube's cells each is."""
    own = cube.cells.members
    label_groups = groups - np.int32(len(cube.cells))
    _, groups_and_rest, counts = merge_members(cube, label_groups, count - len(cube.cells) + 1)
    end = int(groups_and_rest.indptr[-2])
    of_labels = Ragged(groups_and_rest.indptr[:-1], groups_and_rest.indices[:end])
    return join_rows(own, of_labels), np.concatenate([np.ones(len(own.indices), np.int32), counts[:end]])


def pick_cells(cube: Cube, cells: Sequence[Sequence[str | None]]) -> Cube:
    """Return the view of a cube that has only the given cells, each at levels of its own.

    A cell contains the objects of all cells of the cube that are part of it, cells below ``min_objects`` included, and
    may itself contain fewer. The view keeps the cube as its ``finest``. Items are in a cell if they are in one of its
    parts.

    Parameters
    ----------
    cube
        A cube, or a view that is not one of this kind.
    cells
        The cells in their order, each as one label for each dimension, of any level or ∗.

    Returns
    -------
    Cube
        The view.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    >>> view = pick_cells(cube, [["202X", "∗"], ["2019", "ACL"]])
    >>> view.cell(0), view.cell(1)
    (('202X', '∗'), ('2019', 'ACL'))
    """
    require_own_cells(cube, "cut to some cells")
    rows = [resolve_cell(cube, cell) for cell in cells]
    tables = [
        _LabelTable.of(old, [row.levels[i] for row in rows], format_labels) for i, old in enumerate(cube.dimensions)
    ]
    own = cube.join_labels()
    all_members = cube.join_members()
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
    picked = Ragged(make_offsets([len(row) for row in members[1:]]), np.concatenate(members))
    no_cells = Cells(np.empty((0, len(tables)), np.int32), make_empty_rows(), counts[0])
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
    pairs = find_distinct(owner.astype(np.int64) * len(parts) + entries.indices)
    cells = ragged_from_pairs(*np.divmod(pairs, max(len(parts), 1)), len(index))
    return replace(index, cells=cells)
