"""All cells at mixed levels below one that hold some objects, and how many objects each of them holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import distinct_rows, offsets, ragged_from_pairs, row_of_entries, take_rows
from cube2net.records import Cube, Ragged
from cube2net.records.mixed_cells import Mix, MixedCell, levels_of
from cube2net.records.ragged import frozen


@dataclass(frozen=True, eq=False)
class CellsBelow:
    """Cells at mixed levels, coarse ones first: what they hold in all, and which of some objects.

    ``mixes[mix[i]]`` are the levels of cell i, ``labels[i]`` its labels there, ``sizes[i]`` the number of objects that
    it holds, and ``members[i]`` the places of those of the given objects that it holds.
    """

    mixes: tuple[Mix, ...]
    mix: Array
    labels: Array
    sizes: Array
    members: Ragged

    def __post_init__(self) -> None:
        for name in ("mix", "labels", "sizes"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.mix)

    def __repr__(self) -> str:
        return f"CellsBelow({len(self):,} cells at {len(self.mixes):,} mixes of levels)"

    def cell(self, number: int) -> MixedCell:
        """Return a cell by its number here."""
        return MixedCell(self.mixes[int(self.mix[number])], tuple(self.labels[number].tolist()))


def cells_below(cube: Cube, objects: Array, cell: MixedCell, least: int = 1) -> CellsBelow:
    """Return the cells below one that hold at least one of some objects, and at least so many in all.

    A cell is below another when each of its labels is the other's or part of it, and one or more are of a finer level.
    Cells of the same levels stand together, those of coarse levels first.
    """
    labels, inside = _inside(cube, cell)
    part, place = _holders(cube, objects, inside)
    mixes = mixes_below(cube, cell.levels)
    found = [_of_mix(cube, labels, inside, mix, part, least) for mix in mixes]
    counts = [len(one.sizes) for one in found]
    starts = np.cumsum([0, *counts])
    rows = [one.rows + start for one, start in zip(found, starts.tolist(), strict=False)]
    entries = [place[one.kept] for one in found]
    return CellsBelow(
        tuple(mixes),
        np.repeat(np.arange(len(mixes), dtype=np.int32), counts),
        _joined([one.labels for one in found], np.int32).reshape(-1, len(cube.dimensions)),
        _joined([one.sizes for one in found], np.int64),
        ragged_from_pairs(_joined(rows, np.int64), _joined(entries, np.int32), int(starts[-1])),
    )


def held(cube: Cube, cell: MixedCell) -> Array:
    """Return the objects that a cell at mixed levels holds, ascending."""
    _, inside = _inside(cube, cell)
    few = np.searchsorted(inside, len(cube.cells))
    mask = np.zeros(len(cube.objects), dtype=bool)
    mask[take_rows(cube.cells.members, inside[:few]).indices] = True
    mask[take_rows(cube.small.members, inside[few:] - len(cube.cells)).indices] = True
    return np.flatnonzero(mask).astype(np.int32)


def mixes_below(cube: Cube, levels: Mix) -> list[Mix]:
    """Return the levels that cells below one of some levels may have, those with the fewest steps down first."""
    choices: list[list[int | None]] = []
    steps: list[dict[int | None, int]] = []
    for dimension, start in zip(cube.dimensions, levels, strict=True):
        depth: dict[int | None, int] = {start: 0}
        free = [at for at in levels_of(dimension) if start is None or start in dimension.at_or_above(at)]
        for at in free:
            if at != start:
                above = [other for other in dimension.at_or_above(at) if other in free and other not in (at, start)]
                depth[at] = len(above) + 1
        choices.append(list(depth))
        steps.append(depth)
    mixes = [mix for mix in product(*choices) if mix != levels]
    return sorted(mixes, key=lambda mix: sum(depth[at] for depth, at in zip(steps, mix, strict=True)))


def _inside(cube: Cube, cell: MixedCell) -> tuple[Array, Array]:
    """Return the labels of the cube's cells that a cell puts together, and their numbers, the small ones last."""
    labels = np.concatenate([cube.cells.labels, cube.small.labels])
    mask = np.ones(len(labels), dtype=bool)
    for number, (dimension, at, label) in enumerate(zip(cube.dimensions, cell.levels, cell.labels, strict=True)):
        if at is not None:
            mask &= dimension.parents_at(at)[labels[:, number]] == label
    inside = np.flatnonzero(mask)
    return labels[inside], inside


def _holders(cube: Cube, objects: Array, inside: Array) -> tuple[Array, Array]:
    """Return, as pairs, which of some cells hold which of some objects, both by their places among those given."""
    kept = take_rows(cube.homes, objects)
    place = np.full(len(cube.objects), -1, dtype=np.int32)
    place[objects] = np.arange(len(objects))
    small = place[cube.small.members.indices]
    cells = np.concatenate([kept.indices, len(cube.cells) + row_of_entries(cube.small.members)[small >= 0]])
    rows = np.concatenate([row_of_entries(kept), small[small >= 0]])
    at = np.full(len(cube.cells) + len(cube.small), -1, dtype=np.int32)
    at[inside] = np.arange(len(inside))
    part = at[cells]
    return part[part >= 0], rows[part >= 0]


@dataclass(frozen=True, eq=False)
class _OfMix:
    """The cells of one mix of levels; ``rows`` and ``kept`` say which cell each of the pairs that are kept is of."""

    labels: Array
    sizes: Array
    rows: Array
    kept: Array


def _of_mix(cube: Cube, labels: Array, inside: Array, mix: Mix, part: Array, least: int) -> _OfMix:
    from cube2net.kernels.unions import count_unions

    columns = np.full(labels.shape, -1, dtype=np.int32)
    for number, (dimension, at) in enumerate(zip(cube.dimensions, mix, strict=True)):
        if at is not None:
            columns[:, number] = dimension.parents_at(at)[labels[:, number]]
    first, group = distinct_rows(columns)
    touched = np.zeros(len(first), dtype=bool)
    touched[group[part]] = True
    new = np.cumsum(touched) - 1
    chosen = np.flatnonzero(touched[group])
    rows = new[group[chosen]]
    order = np.argsort(rows, kind="stable")
    sizes = count_unions(
        offsets(rows[order], int(touched.sum())),
        inside[chosen[order]],
        *(cube.cells.members.indptr, cube.cells.members.indices),
        *(cube.small.members.indptr, cube.small.members.indices),
        len(cube.objects),
    )
    large = sizes >= least
    of_pair = new[group[part]]
    kept = np.flatnonzero(large[of_pair])
    return _OfMix(columns[first[touched]][large], sizes[large], (np.cumsum(large) - 1)[of_pair[kept]], kept)


def _joined(parts: list[Array], kind: type) -> Array:
    return np.concatenate([np.empty((0, *parts[0].shape[1:]) if parts else 0, kind), *parts]).astype(kind, copy=False)
