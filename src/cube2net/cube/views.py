"""Views of a cube: rolled up, drilled down, sliced, diced, or limited to objects of some kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Ragged, distinct_rows, take_rows, transpose
from cube2net.cube.building.cells import pack_homes, renumber_cells
from cube2net.errors import CubeError, ParameterError, Placeholder, RollUp, listed, unknown
from cube2net.model.cube import Cells, Cube, record_view, require_own_cells
from cube2net.model.dimension import MIN_OBJECTS, SMALL, STAR, TOP, Dimension


def roll_up(cube: Cube, dimension: str, to: str | None = None) -> Cube:
    """Return the cube with one dimension at a level above: cells with the same labels there become one.

    An object is in the new cell when it was in one of the old ones, cells too small to be kept included,
    so that the result equals the cube built at that level.

    Parameters
    ----------
    cube
        A cube, also one that was rolled up, sliced or diced; not the view of a cuboid.
    dimension
        The dimension, by the name of the level where it stands.
    to
        A level above it, however far; ``"∗"`` (or ``"*"``) is all labels together. None for the next level, which is
        refused where several stand there.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
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
    labels = all_labels(cube)
    if above is None:
        labels[:, number] = -1
        new = replace(old, is_top=True)
    else:
        labels[:, number] = old.parents_at(above)[labels[:, number]]
        new = replace(old, at=above)
    dimensions = _replace_dimension(cube.dimensions, number, new)
    rolled = _drop_counts(regroup(cube, dimensions, [labels], cube.finest or cube))
    rolled = add_view(rolled, f"{dimension} rolled up to {STAR if new.is_top else new.name}")
    return record_view(rolled, cube, "roll_up", dimension=dimension, to=to)


def _find_level_above(dimension: Dimension, to: str | None) -> int | None:
    """Return the number of a level above the one where a dimension stands, by its name or the next; None for ∗."""
    name = dimension.name
    if to is None:
        found = dimension.directly_above()
        if not found:
            raise ParameterError(
                f"dimension {name!r} has no level above to roll up to, only ∗", parameter="to", hint=RollUp(name, STAR)
            )
        if len(found) > 1:
            names = [repr(dimension.levels[number].name) for number in found]
            choices = f"{', '.join(names[:-1])} and {names[-1]}"
            raise ParameterError(
                f"dimension {name!r} has {choices} above it: name the one to roll up to",
                parameter="to",
                allowed=[dimension.levels[number].name for number in found],
                hint=RollUp(name, Placeholder("LEVEL")),
            )
        return found[0]
    above = {dimension.levels[number].name: number for number in dimension.at_or_above()[1:]}
    if to in above:
        return above[to]
    if to in TOP:
        return None
    if to == name:
        raise ParameterError(f"dimension {name!r} stands at {to!r} already: roll it up to {listed([*above, STAR])}")
    raise unknown(f"level above {name!r}", to, [*above, STAR])


def drill_down(cube: Cube, dimension: str, to: str | None = None) -> Cube:
    """Return the cube with one dimension at a level below, the others where they stand.

    ``to`` names the level, however far below; without, it is the next. From ∗ it is the level that the dimension was
    rolled up from, and ``to`` may be any.
    """
    require_own_cells(cube, "drilled down")
    number = cube.dimension(dimension)
    old = cube.dimensions[number]
    if cube.finest is None or (not old.is_top and old.at == cube.finest.dimensions[number].at):
        raise ParameterError(f"dimension {dimension!r} has no level below to drill down to")
    result = cube.finest
    below = replace(old, at=_find_level_below(old, cube.finest.dimensions[number], to), is_top=False)
    for wanted, start in zip(_replace_dimension(cube.dimensions, number, below), cube.finest.dimensions, strict=True):
        if wanted.at != start.at:
            result = roll_up(result, start.name, wanted.name)
        if wanted.is_top and not start.is_top:
            result = roll_up(result, wanted.name, STAR)
    return record_view(result, cube, "drill_down", dimension=dimension, to=to)


def _find_level_below(dimension: Dimension, finest: Dimension, to: str | None) -> int:
    """Return the number of a level below the one where a dimension stands, by its name or the next."""
    if dimension.is_top:
        below = finest.at_or_above()
        next_one = dimension.at
    else:
        below = [number for number in finest.at_or_above() if number in _list_levels_below(dimension)]
        next_one = dimension.below[dimension.at]
    if to is None:
        return next_one
    names = {dimension.levels[number].name: number for number in below}
    if to not in names:
        raise unknown(f"level below {STAR if dimension.is_top else dimension.name!r}", to, names)
    return names[to]


def _list_levels_below(dimension: Dimension) -> list[int]:
    found, at = [], dimension.below[dimension.at]
    while at >= 0:
        found.append(at)
        at = dimension.below[at]
    return found


def dice(cube: Cube, where: Mapping[str, str | Sequence[str]]) -> Cube:
    """Return the cube of the cells that have one of the given labels in each of the given dimensions.

    A dimension is named by the level where it stands, or by one above: then the cells are those whose labels are part
    of one of the given (``{"field": "Computer Science"}`` of a cube of topics). A label that only a level above has is
    taken as that one's (``{"year": "201X"}``). Only objects of these cells, those with too few objects included, may be
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
    for name, wanted in where.items():
        number, at = cube.level(name)
        dimension = cube.dimensions[number]
        if dimension.is_top:
            raise ParameterError(f"dimension {name!r} stands at ∗, all labels together: drill it down first")
        labels = [str(label) for label in (wanted if _are_several(wanted) else [wanted])]
        if not labels:
            raise ParameterError(f"no label is given for dimension {name!r}")
        chosen = set[int]().union(*(_find_parts(dimension, at, label) for label in labels))
        keep[number] = keep.get(number, chosen) & chosen
    part = f"only {'; '.join(f'{name}: {_join_labels(wanted)}' for name, wanted in where.items())}"
    finest = None
    if cube.finest is not None:
        below = {number: _find_finest_labels(cube, number, labels) for number, labels in keep.items()}
        finest = _keep_cells(cube.finest, below, None)
    return record_view(add_view_throughout(_keep_cells(cube, keep, finest), part), cube, "dice", where=where)


def _find_parts(dimension: Dimension, at: int, label: str) -> set[int]:
    """Return the labels of cells that are part of a label of a level, or of the one level above it that has it."""
    if label not in dimension.levels[at].labels:
        above = [number for number in dimension.at_or_above(at) if label in dimension.levels[number].labels]
        at = above[0] if len(above) == 1 else at
    return _find_labels_below(dimension, dimension.at, at, {dimension.levels[at].number(label)})


def _join_labels(wanted: object) -> str:
    return ", ".join(map(str, wanted)) if isinstance(wanted, Iterable) and not isinstance(wanted, str) else str(wanted)


def _are_several(labels: object) -> bool:
    return isinstance(labels, Iterable) and not isinstance(labels, str)


def slice_cube(cube: Cube, dimension: str, label: str) -> Cube:
    """Return the cube of the cells with one label, without that dimension; it may be a label of a level above."""
    number, _ = cube.level(dimension)
    if len(cube.dimensions) == 1:
        raise ParameterError(f"{dimension!r} is the only dimension of the cube: use dice to keep it")
    diced = dice(cube, {dimension: label})
    finest = None if diced.finest is None else _drop_dimension(diced.finest, number, None)
    sliced = _drop_dimension(diced, number, finest)
    return record_view(sliced, cube, "slice_cube", dimension=dimension, label=label)


def _drop_dimension(cube: Cube, number: int, finest: Cube | None) -> Cube:
    left = cube.dimensions[:number] + cube.dimensions[number + 1 :]
    return _drop_counts(regroup(cube, left, [np.delete(all_labels(cube), number, axis=1)], finest))


def _keep_cells(cube: Cube, keep: Mapping[int, set[int]], finest: Cube | None) -> Cube:
    def chosen(cells: Cells) -> Array:
        masks = [np.isin(cells.labels[:, number], sorted(labels)) for number, labels in keep.items()]
        return reduce(np.logical_and, masks, np.ones(len(cells), dtype=bool))

    def only(cells: Cells, mask: Array) -> Cells:
        rows = np.flatnonzero(mask)
        return Cells(cells.labels[rows], take_rows(cells.members, rows))

    large, tiny = chosen(cube.cells), chosen(cube.small)
    cells, small = only(cube.cells, large), only(cube.small, tiny)
    mask = np.concatenate([large, tiny])
    return replace(
        cube,
        cells=cells,
        small=small,
        object_cells=transpose(cells.members, len(cube.objects)),
        finest=finest,
        bringable=_mark_held(cube, cells, small) if keep else cube.bringable,
        items=renumber_cells(cube.items, np.where(mask, np.cumsum(mask) - 1, -1)),
    )


def _mark_held(cube: Cube, *parts: Cells) -> Array:
    """Return which objects are in one of some cells, and might be brought before."""
    held = np.zeros(len(cube.objects), dtype=bool)
    for cells in parts:
        held[cells.members.indices] = True
    return held if cube.bringable is None else held & cube.bringable


def _find_labels_below(dimension: Dimension, at: int, above: int, labels: set[int]) -> set[int]:
    """Return the labels of a level that are part of the given ones of a level above it."""
    return set(np.flatnonzero(np.isin(dimension.parents_at(above, at), sorted(labels))).tolist())


def _find_finest_labels(cube: Cube, number: int, labels: set[int]) -> set[int]:
    if cube.finest is None:
        raise CubeError("the cube was not rolled up")
    dimension = cube.dimensions[number]
    return _find_labels_below(dimension, cube.finest.dimensions[number].at, dimension.at, labels)


def all_labels(cube: Cube) -> Array:
    """Return the labels of all cells, those with too few objects at the end."""
    return np.concatenate([cube.cells.labels, cube.small.labels])


def regroup(cube: Cube, dimensions: tuple[Dimension, ...], labels: Sequence[Array], finest: Cube | None) -> Cube:
    """Return the cube whose cells are the distinct rows of labels of all cells, holding all of their rows' members.

    There may be several tables of labels; the cells of each stand after those of the one before.
    """
    from cube2net.kernels.csr import count_groups, fill_groups

    found = [distinct_rows(one) for one in labels]
    rows = np.concatenate([one[first] for one, (first, _) in zip(labels, found, strict=True)])
    starts = np.cumsum([0, *(len(first) for first, _ in found[:-1])])
    groups = np.stack([group + start for (_, group), start in zip(found, starts.tolist(), strict=True)], axis=1)
    small = pack_homes(cube.small.members, len(cube.objects))
    homes = (cube.object_cells.indptr, cube.object_cells.indices, small.indptr, small.indices, len(cube.cells))
    sizes = np.zeros(len(rows), np.int64)
    count_groups(*homes, groups.astype(np.int32), sizes)

    tiny = sizes < cube.settings.get("min_objects", MIN_OBJECTS)
    order, kept = np.argsort(tiny, kind="stable"), len(rows) - int(tiny.sum())
    number = np.empty(len(rows), np.int32)
    number[order] = np.arange(len(rows))
    indptr = np.concatenate([[0], np.cumsum(sizes[order])])
    end = int(indptr[kept])
    members, counts = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.int32)
    fill_groups(*homes, number[groups], indptr[:-1].copy(), members, counts)
    cells = Cells(rows[order[:kept]], Ragged(indptr[: kept + 1], members[:end]), counts[:end])
    return replace(
        cube,
        dimensions=dimensions,
        cells=cells,
        small=Cells(rows[order[kept:]], Ragged(indptr[kept:] - end, members[end:]), counts[end:]),
        object_cells=pack_homes(cells.members, len(cube.objects)),
        finest=finest,
        items=renumber_cells(cube.items, number[groups[:, 0]]) if len(labels) == 1 else None,
    )


def _drop_counts(cube: Cube) -> Cube:
    """Return the cube without counts: its cells are a cube's own."""
    return replace(cube, cells=replace(cube.cells, counts=None), small=replace(cube.small, counts=None))


def _replace_dimension(dimensions: tuple[Dimension, ...], number: int, dimension: Dimension) -> tuple[Dimension, ...]:
    return (*dimensions[:number], dimension, *dimensions[number + 1 :])


def add_view(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to what its settings tell of it, and what is left out counted anew."""
    settings = dict(cube.settings)
    settings["views"] = [*settings.get("views", []), view]
    reason = SMALL.format(settings.get("min_objects", MIN_OBJECTS))
    settings["dropped"] = {**settings.get("dropped", {}), reason: len(cube.small)}
    return replace(cube, settings=settings)


def add_view_throughout(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added that the cube it was rolled up from has as well."""
    finest = None if cube.finest is None else add_view_throughout(cube.finest, view)
    return add_view(replace(cube, finest=finest), view)


def of_kind(cube: Cube, kinds: str | Sequence[str]) -> Cube:
    """Return the cube of which only objects of some kinds may be brought into a network, whatever the method.

    Cells, links and objects stay as they are: a query may hold objects of any kind, and a cell that is chosen brings
    those of its objects that are of these kinds.

    Parameters
    ----------
    cube
        A cube, or a view of one.
    kinds
        A kind of objects, or several: ``"author"``, ``["user", "business"]``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.make_planted(seed=0).corpus)
    >>> of_kind(cube, "thing").bringable.all()
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown kind 'thing': choose one of object
    """
    wanted = [kinds] if isinstance(kinds, str) else list(kinds) if isinstance(kinds, Sequence) else []
    if not wanted or not all(isinstance(kind, str) for kind in wanted):
        raise ParameterError(f"kind is {kinds!r}, expected a kind of objects such as 'author', or several")
    column = cube.objects.table["kind"]
    known = pc.unique(column).drop_null().to_pylist()
    for kind in wanted:
        if kind not in known:
            raise unknown("kind", kind, known)
    marks = pc.is_in(column, value_set=pa.array(wanted, pa.string())).to_numpy()
    view = f"only objects of kind {listed(dict.fromkeys(wanted))} are brought"
    limited = add_view_throughout(limit_objects(cube, np.asarray(marks, dtype=bool)), view)
    return record_view(limited, cube, "of_kind", kinds=kinds)


def kinds_of(cube: Cube) -> list[str]:
    """Return the kinds of a cube's objects, the most frequent first."""
    counts = pc.value_counts(cube.objects.table["kind"]).to_pylist()
    return [each["values"] for each in sorted(counts, key=lambda each: (-each["counts"], str(each["values"])))]


def limit_objects(cube: Cube, objects: Array) -> Cube:
    """Return the cube of which only marked objects may be brought, as far as they might before."""
    both = objects if cube.bringable is None else objects & cube.bringable
    return replace(cube, bringable=both, finest=None if cube.finest is None else limit_objects(cube.finest, objects))
