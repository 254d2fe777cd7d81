"""A cube seen another way: sliced, diced, rolled up or drilled down, and the cells of any of its cuboids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows, transpose
from cube2net.cube.format.parts import check_whole
from cube2net.cube.grow.cells_and_links import pack_homes
from cube2net.cube.grow.item_index import renumbered
from cube2net.errors import CubeError, ParameterError, unknown
from cube2net.records import Cells, Cube, Dimension, Level, Ragged
from cube2net.records.lineage import remembered
from cube2net.records.spec import MIN_OBJECTS, SMALL

FULL, ONE = "full", "one"
Cuboid = tuple[int | None, ...]


@remembered
def roll_up(cube: Cube, dimension: str) -> Cube:
    """Return the cube with one dimension at the level above: cells with the same labels there become one.

    An object is in the new cell when it was in one of the old ones, cells too small to be kept included,
    so that the result equals the cube built at that level.
    """
    check_whole(cube, "rolled up")
    number = cube.dimension(dimension)
    old = cube.dimensions[number]
    parents = old.levels[old.at].parents
    if parents is None or old.at + 1 == len(old.levels):
        raise ParameterError(f"dimension {dimension!r} has no level above to roll up to")
    labels = all_labels(cube)
    labels[:, number] = parents[labels[:, number]]
    dimensions = _with(cube.dimensions, number, replace(old, at=old.at + 1))
    rolled = _plain(regroup(cube, dimensions, [labels], cube.finest or cube))
    return said(rolled, f"{dimension} rolled up to {rolled.dimensions[number].name}")


@remembered
def drill_down(cube: Cube, dimension: str) -> Cube:
    """Return the cube with one dimension at the level below, the others where they stand."""
    check_whole(cube, "drilled down")
    number = cube.dimension(dimension)
    if cube.finest is None or cube.dimensions[number].at == cube.finest.dimensions[number].at:
        raise ParameterError(f"dimension {dimension!r} has no level below to drill down to")
    wanted = [dimension.at - (place == number) for place, dimension in enumerate(cube.dimensions)]
    result = cube.finest
    for place, level in enumerate(wanted):
        for _ in range(level - result.dimensions[place].at):
            result = roll_up(result, result.dimensions[place].name)
    return result


@remembered
def dice(cube: Cube, where: Mapping[str, str | Sequence[str]]) -> Cube:
    """Return the cube of the cells that have one of the given labels in each of the given dimensions."""
    check_whole(cube, "cut to some labels")
    keep: dict[int, set[int]] = {}
    for name, wanted in where.items():
        number = cube.dimension(name)
        labels = [wanted] if isinstance(wanted, str) else list(wanted)
        if not labels:
            raise ParameterError(f"no label is given for dimension {name!r}")
        keep[number] = {cube.dimensions[number].number(label) for label in labels}
    finest = None
    if cube.finest is not None:
        below = {number: _below(cube, number, labels) for number, labels in keep.items()}
        finest = _keep(cube.finest, below, None)
    part = "; ".join(f"{name} in {wanted}" for name, wanted in where.items())
    return said(_keep(cube, keep, finest), f"only {part}")


@remembered
def slice_cube(cube: Cube, dimension: str, label: str) -> Cube:
    """Return the cube of the cells with one label, without that dimension."""
    number = cube.dimension(dimension)
    if len(cube.dimensions) == 1:
        raise ParameterError(f"{dimension!r} is the only dimension of the cube: use dice to keep it")
    diced = dice(cube, {dimension: label})
    finest = None if diced.finest is None else _without(diced.finest, number, None)
    return _without(diced, number, finest)


def _without(cube: Cube, number: int, finest: Cube | None) -> Cube:
    left = cube.dimensions[:number] + cube.dimensions[number + 1 :]
    return _plain(regroup(cube, left, [np.delete(all_labels(cube), number, axis=1)], finest))


def _keep(cube: Cube, keep: Mapping[int, set[int]], finest: Cube | None) -> Cube:
    def chosen(cells: Cells) -> Array:
        masks = [np.isin(cells.labels[:, number], sorted(labels)) for number, labels in keep.items()]
        return reduce(np.logical_and, masks, np.ones(len(cells), dtype=bool))

    def only(cells: Cells, mask: Array) -> Cells:
        rows = np.flatnonzero(mask)
        return Cells(cells.labels[rows], take_rows(cells.members, rows))

    large, tiny = chosen(cube.cells), chosen(cube.small)
    cells = only(cube.cells, large)
    mask = np.concatenate([large, tiny])
    return replace(
        cube,
        cells=cells,
        small=only(cube.small, tiny),
        homes=transpose(cells.members, len(cube.objects)),
        finest=finest,
        items=renumbered(cube.items, np.where(mask, np.cumsum(mask) - 1, -1)),
    )


def _below(cube: Cube, number: int, labels: set[int]) -> set[int]:
    """Return the finest labels under the given ones."""
    if cube.finest is None:
        raise CubeError("the cube was not rolled up")
    dimension = cube.dimensions[number]
    for level in range(dimension.at - 1, cube.finest.dimensions[number].at - 1, -1):
        parents = dimension.levels[level].parents
        if parents is None:
            raise CubeError(f"level {dimension.levels[level].name!r} names no parents")
        labels = set(np.flatnonzero(np.isin(parents, sorted(labels))).tolist())
    return labels


def all_labels(cube: Cube) -> Array:
    """Return the labels of all cells, those with too few objects at the end."""
    return np.concatenate([cube.cells.labels, cube.small.labels])


def regroup(cube: Cube, dimensions: tuple[Dimension, ...], labels: Sequence[Array], finest: Cube | None) -> Cube:
    """Return the cube whose cells are the distinct rows of labels of all cells, holding all of their rows' members.

    There may be several tables of labels; the cells of each stand after those of the one before.
    """
    from cube2net.kernels.csr import count_groups, fill_groups

    found = [_distinct(one) for one in labels]
    rows = np.concatenate([one[first] for one, (first, _) in zip(labels, found, strict=True)])
    starts = np.cumsum([0, *(len(first) for first, _ in found[:-1])])
    groups = np.stack([group + start for (_, group), start in zip(found, starts.tolist(), strict=True)], axis=1)
    small = pack_homes(cube.small.members, len(cube.objects))
    homes = (cube.homes.indptr, cube.homes.indices, small.indptr, small.indices, len(cube.cells))
    sizes = np.zeros(len(rows), np.int64)
    count_groups(*homes, groups.astype(np.int32), sizes)

    tiny = sizes < cube.settings.get("min_objects", MIN_OBJECTS)
    order, kept = np.argsort(tiny, kind="stable"), len(rows) - int(tiny.sum())
    number = np.empty(len(rows), np.int32)
    number[order] = np.arange(len(rows))
    indptr = np.concatenate([[0], np.cumsum(sizes[order])])
    end = int(indptr[kept])
    members, counts = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.int32)
    home_starts, new_homes = np.empty(len(cube.objects) + 1, np.int64), np.empty(end, np.int32)
    fill_groups(*homes, number[groups], indptr[:-1].copy(), members, counts, kept, home_starts, new_homes)
    return replace(
        cube,
        dimensions=dimensions,
        cells=Cells(rows[order[:kept]], Ragged(indptr[: kept + 1], members[:end]), counts[:end]),
        small=Cells(rows[order[kept:]], Ragged(indptr[kept:] - end, members[end:]), counts[end:]),
        homes=Ragged(home_starts, new_homes),
        finest=finest,
        items=renumbered(cube.items, number[groups[:, 0]]) if len(labels) == 1 else None,
    )


def _distinct(labels: Array) -> tuple[Array, Array]:
    """Return where each distinct row stands first, these rows ascending, and the number among them of every row."""
    first, group = np.zeros(min(len(labels), 1), np.int64), np.zeros(len(labels), np.int64)
    for column in labels.T:
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        keys = group * (high - low + 1) + (column - low)
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group


def _plain(cube: Cube) -> Cube:
    """Return the cube without counts: its cells are a cube's own."""
    return replace(cube, cells=replace(cube.cells, counts=None), small=replace(cube.small, counts=None))


def said(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to what its settings tell of it, and what is left out counted anew."""
    settings = dict(cube.settings)
    settings["views"] = [*settings.get("views", []), view]
    reason = SMALL.format(settings.get("min_objects", MIN_OBJECTS))
    settings["dropped"] = {**settings.get("dropped", {}), reason: len(cube.small)}
    return replace(cube, settings=settings)


def _with(dimensions: tuple[Dimension, ...], number: int, dimension: Dimension) -> tuple[Dimension, ...]:
    return (*dimensions[:number], dimension, *dimensions[number + 1 :])


"""The level of every dimension, None for ∗."""


@remembered
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
        ``"full"`` is the cube itself, ``"one"`` every dimension alone, its cells of one label side by side. Else the
        levels that stay, with commas between, such as ``"venue"`` or ``"decades,topic"``; dimensions that are
        not named become ∗. Several of these texts give the cells of all. Where they name several levels of
        one dimension, the view has their labels in one table, and a label that two levels have is named
        with its level behind it.

    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.make_planted(seed=0).corpus)
    >>> one = cuboid(cube, "one")
    >>> cube.cell(0), one.cell(0), one.cell(len(one.cells) - 1)
    (('198X', 'venue 0', 'topic 2'), ('198X', '∗', '∗'), ('∗', '∗', 'topic 5'))
    >>> cuboid(cube, "venue").find_cell(["∗", "venue 3", "∗"])
    3
    """
    check_whole(cube, "rolled up")
    wanted = _read(cube, levels)
    if wanted == (_full(cube),):
        return cube
    if wanted not in cube.kept_views:
        cube.kept_views[wanted] = said(_view(cube, wanted), f"cells of {'; '.join(_name(cube, one) for one in wanted)}")
    return cube.kept_views[wanted]


def _read(cube: Cube, levels: str | Sequence[str]) -> tuple[Cuboid, ...]:
    """Return the cuboids that a text or several name, each once, in the order named."""
    texts = [levels] if isinstance(levels, str) else list(levels) if isinstance(levels, Sequence) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ParameterError(f"levels is {levels!r}, expected a text such as 'one' or 'venue,topic', or several")
    found: list[Cuboid] = []
    for text in texts:
        if text == ONE:
            full = _full(cube)
            found += [(*[None] * i, full[i], *[None] * (len(full) - i - 1)) for i in range(len(full))]
        else:
            found.append(_full(cube) if text == FULL else _named(cube, text))
    return tuple(dict.fromkeys(found))


def _full(cube: Cube) -> Cuboid:
    return tuple(dimension.at for dimension in cube.dimensions)


def _named(cube: Cube, text: str) -> Cuboid:
    """Return the cuboid of the levels that a text names, with commas between them."""
    places = {
        level.name: (number, depth)
        for number, dimension in enumerate(cube.dimensions)
        for depth, level in enumerate(dimension.levels)
        if depth >= dimension.at
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


def _name(cube: Cube, wanted: Cuboid) -> str:
    levels = zip(cube.dimensions, wanted, strict=True)
    return ",".join(dimension.levels[at].name for dimension, at in levels if at is not None)


def _view(cube: Cube, wanted: Sequence[Cuboid]) -> Cube:
    labels = all_labels(cube)
    tables = [_Labels.of(dimension, [one[i] for one in wanted]) for i, dimension in enumerate(cube.dimensions)]
    parts = [[table.at(labels[:, i], one[i]) for i, table in enumerate(tables)] for one in wanted]
    columns = [np.stack(part, axis=1).astype(np.int32, copy=False) for part in parts]
    return regroup(cube, tuple(table.dimension for table in tables), columns, None)


@dataclass(frozen=True, eq=False)
class _Labels:
    """A dimension of a cube, and what it is in a view: one of its levels, or several in one table.

    ``starts`` says where the labels of a level start in that table.
    """

    old: Dimension
    dimension: Dimension
    starts: Mapping[int, int]

    @classmethod
    def of(cls, old: Dimension, asked: Sequence[int | None]) -> _Labels:
        """Return the dimension of a view in which these levels are asked for."""
        used = sorted({at for at in asked if at is not None}) or [old.at]
        levels = [old.levels[at] for at in used]
        starts = np.cumsum([0, *(len(level.labels) for level in levels[:-1])]).tolist()
        new = Dimension(old.levels, used[0]) if len(used) == 1 else Dimension((_one_level(levels),))
        return cls(old, new, dict(zip(used, starts, strict=True)))

    def at(self, labels: Array, level: int | None) -> Array:
        """Return the numbers in the view of some labels of the cube, brought to a level above or to ∗."""
        if level is None:
            return np.full_like(labels, -1)
        for below in self.old.levels[self.old.at : level]:
            if below.parents is not None:
                labels = below.parents[labels]
        found: Array = labels + np.int32(self.starts[level])
        return found


def _one_level(levels: Sequence[Level]) -> Level:
    """Return several levels as one, whose labels are those of all; a name that two have gets its level behind it."""
    bearers = Counter(label for level in levels for label in level.labels)
    return Level(
        "/".join(level.name for level in levels),
        tuple(
            label if bearers[label] == 1 else f"{label} ({level.name})" for level in levels for label in level.labels
        ),
        tuple(name for level in levels for name in level.full_names),
    )
