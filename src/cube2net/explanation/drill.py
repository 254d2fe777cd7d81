"""Mixed cells (any dimensions, each at any of its levels, the others at ∗), and smart drill-down to the best of them.

Cells are chosen by weighted maximum coverage: an object counts the weight of the best chosen cell that holds it, times
a portion of its own. The sum is monotone and submodular, so k cells chosen greedily reach at least 1 − 1/e of the best
k. For any prices of the objects, the sum of the prices and of the k largest cells' excesses over the prices is an upper
bound. The counts of the greedy choice are the first prices; subgradient steps improve them, and the lowest bound is
kept.

Smart drill-down (Joglekar, Garcia-Molina and Parameswaran, 2016) uses bits as weights: to name one of n objects takes
log2 n bits, so a cell of n objects saves log2(N / n) bits for each object of the query that it holds, where N is the
number of objects of the cell that is drilled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from cube2net._util.arrays import (
    Array,
    Ragged,
    compute_offsets,
    find_distinct,
    make_row_keys,
    row_of_entries,
    take_rows,
)
from cube2net._util.progress import check_stop
from cube2net.model.cube import Cube
from cube2net.model.node_names import Levels, MixedCell, list_levels
from cube2net.model.selection import PROVEN

MAX_TABLE_SIZE = 2**20
"""Entries up to which a lookup table is faster than sorting."""
DIGITS = 12
"""Digits to which gains are rounded; of equal gains the first cell is chosen."""
MIN_GAIN = 10.0**-DIGITS
MIN_BITS = 1e-9
"""Fewer bits are rounding errors."""
MAX_STALLED_ROUNDS = 5
"""Rounds without improvement after which the step length is halved."""
BOUND_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class MixedCells:
    """Cells of all cuboids that hold enough of some objects, the more general ones first.

    Cell ``c`` belongs to ``cuboids[cuboid[c]]`` and has the labels ``labels[c]`` of its levels, -1 for ∗. ``members``
    are the positions of its objects among the given ones. ``of[cuboid][base]`` is the cell of a cuboid that contains
    one of the cube's own cells, -1 if it holds too few, and ``base[c]`` is one of the own cells that ``c`` contains. So
    ``of[g][base[c]]`` is the cell of a more general cuboid ``g`` that contains ``c``.
    """

    cuboids: tuple[Levels, ...]
    cuboid: Array
    labels: Array
    members: Ragged
    of: tuple[Array, ...]
    base: Array

    def cell(self, number: int) -> MixedCell:
        """Return a cell by its number here."""
        return MixedCell(self.cuboids[int(self.cuboid[number])], tuple(self.labels[number].tolist()))

    def __len__(self) -> int:
        return len(self.cuboid)

    def __repr__(self) -> str:
        return f"MixedCells({len(self):,} cells of {len(self.cuboids):,} cuboids)"

    def simplest(self) -> Array:
        """Return for every cell the first one with the same objects, which has the fewest labels."""
        starts, indices = self.members.indptr.tolist(), self.members.indices
        first: dict[bytes, int] = {}
        return np.array(
            [first.setdefault(indices[starts[cell] : starts[cell + 1]].tobytes(), cell) for cell in range(len(self))],
            dtype=np.int64,
        )


def find_mixed_cells(cube: Cube, objects: Array, least: int = 1, within: MixedCell | None = None) -> MixedCells:
    """Return all mixed cells that hold at least ``least`` of some objects, given by their rows.

    With ``within`` they are the cells below one: each label is the same or part of it, and one or more are finer.

    An object is in a mixed cell if it is in one of the cube's own cells that this contains, including those below
    ``min_objects``. Cells below one with too few objects are not searched.
    """
    top = within or MixedCell.top(cube)
    labels, base, place = _find_memberships(cube, objects, top)
    cuboids = tuple(cuboid for cuboid in list_cuboids(cube) if is_above(cube, top.levels, cuboid))
    number = {cuboid: at for at, cuboid in enumerate(cuboids)}
    of: list[Array] = []
    parts: list[tuple[Array, Array, Array]] = []
    count = 0
    for cuboid in cuboids:
        check_stop()
        alive = np.ones(len(labels), dtype=bool)
        for above in iterate_parents(cube, cuboid):
            if above in number:
                alive &= of[number[above]] >= 0
        cell_of = np.full(len(labels), -1, dtype=np.int64)
        # Cells are numbered by those of the cuboid without the last of its dimensions, and then by its labels there.
        last = max(at for at, (level, above) in enumerate(zip(cuboid, top.levels, strict=True)) if level != above)
        before = (*cuboid[:last], top.levels[last], *cuboid[last + 1 :])
        keys = _roll_up(cube, last, cuboid[last], labels[alive, last])
        if before in number:
            keys = keys + of[number[before]][alive] * (int(keys.max(initial=0)) + 1)
        cell_of[alive] = np.unique(keys, return_inverse=True)[1]
        there = alive[base]
        pairs = find_distinct(cell_of[base[there]] * len(objects) + place[there])
        cells, members = np.divmod(pairs, max(len(objects), 1))
        sizes = np.bincount(cells, minlength=int(cell_of.max(initial=-1)) + 1)
        enough = sizes >= least
        renumber = np.where(enough, np.cumsum(enough) - 1 + count, -1)
        cell_of[alive] = renumber[cell_of[alive]]
        of.append(cell_of)
        first = np.full(int(enough.sum()), -1, dtype=np.int64)
        held = np.flatnonzero(cell_of >= 0)[::-1]
        first[cell_of[held] - count] = held
        kept = enough[cells]
        parts.append((first, renumber[cells[kept]], members[kept]))
        count += len(first)
    first, rows, members = (np.concatenate([part[at] for part in parts] or [np.empty(0, np.int64)]) for at in range(3))
    which = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    return MixedCells(
        cuboids,
        which,
        _collect_labels(cube, cuboids, which, labels[first]),
        Ragged(compute_offsets(rows, count), members.astype(np.int32)),
        tuple(of),
        first,
    )


def list_cuboids(cube: Cube) -> list[Levels]:
    """Return all cuboids except the one of ∗ alone, the more general ones first."""
    choices = [[None, *reversed(list_levels(dimension))] for dimension in cube.dimensions]

    def detail(cuboid: Levels) -> tuple[int, int]:
        levels = [(dimension, at) for dimension, at in zip(cube.dimensions, cuboid, strict=True) if at is not None]
        return len(levels), sum(len(dimension.at_or_above(at)) for dimension, at in levels)

    return sorted((cuboid for cuboid in product(*choices) if any(at is not None for at in cuboid)), key=detail)


def iterate_parents(cube: Cube, cuboid: Levels) -> Iterator[Levels]:
    """Yield the cuboids in which one dimension is one level higher."""
    for number, (dimension, at) in enumerate(zip(cube.dimensions, cuboid, strict=True)):
        if at is None:
            continue
        above = [level for level in dimension.at_or_above(at) if dimension.below[level] == at]
        for level in (None, *above):
            yield (*cuboid[:number], level, *cuboid[number + 1 :])


def is_above(cube: Cube, one: Levels, other: Levels) -> bool:
    """Return whether a cuboid is more general than another: the same level or a higher one in every dimension."""
    return one != other and all(
        high is None or (low is not None and high in dimension.at_or_above(low))
        for dimension, high, low in zip(cube.dimensions, one, other, strict=True)
    )


def find_own_cells(cube: Cube, cell: MixedCell) -> tuple[Array, Array]:
    """Return the numbers of the cube's own cells that a mixed cell contains, the small ones last, and their labels."""
    labels = np.concatenate([cube.cells.labels, cube.small.labels])
    inside = np.ones(len(labels), dtype=bool)
    for number, (level, label) in enumerate(zip(cell.levels, cell.labels, strict=True)):
        if level is not None:
            inside &= _roll_up(cube, number, level, labels[:, number]) == label
    cells = np.flatnonzero(inside)
    return cells, labels[cells]


def find_members(cube: Cube, cell: MixedCell) -> Array:
    """Return the objects of a mixed cell, ascending."""
    own, _ = find_own_cells(cube, cell)
    few = np.searchsorted(own, len(cube.cells))
    mask = np.zeros(len(cube.objects), dtype=bool)
    mask[take_rows(cube.cells.members, own[:few]).indices] = True
    mask[take_rows(cube.small.members, own[few:] - len(cube.cells)).indices] = True
    return np.flatnonzero(mask).astype(np.int32)


def count_objects(cube: Cube, mixed: MixedCells, within: MixedCell | None = None) -> Array:
    """Return the number of objects in the cube of each mixed cell; all are below the cell ``within``."""
    from cube2net.kernels.csr import count_unions

    own, labels = find_own_cells(cube, within or MixedCell.top(cube))
    sizes = np.empty(len(mixed), dtype=np.int64)
    for number, cuboid in enumerate(mixed.cuboids):
        check_stop()
        cells = np.flatnonzero(mixed.cuboid == number)
        columns = np.stack([_roll_up(cube, i, level, labels[:, i]) for i, level in enumerate(cuboid)], axis=1)
        group = make_row_keys(np.concatenate([mixed.labels[cells], columns]), most=MAX_TABLE_SIZE)
        rank = np.full(int(group.max(initial=-1)) + 1, -1, dtype=np.int64)
        rank[group[: len(cells)]] = np.arange(len(cells))
        part = rank[group[len(cells) :]]
        inside = np.flatnonzero(part >= 0)
        order = inside[np.argsort(part[inside], kind="stable")]
        sizes[cells] = count_unions(
            compute_offsets(part[order], len(cells)),
            own[order],
            *(cube.cells.members.indptr, cube.cells.members.indices),
            *(cube.small.members.indptr, cube.small.members.indices),
            len(cube.objects),
        )
    return sizes


def _find_memberships(cube: Cube, objects: Array, top: MixedCell) -> tuple[Array, Array, Array]:
    """Return the labels of the cube's own cells below one that hold some objects, and the pairs of cell and object."""
    homes = take_rows(cube.object_cells, objects)
    place = np.full(len(cube.objects), -1, dtype=np.int64)
    place[objects] = np.arange(len(objects))
    small = place[cube.small.members.indices]
    inside = small >= 0
    tiny = row_of_entries(cube.small.members)[inside].astype(np.int64) + len(cube.cells)
    cells = np.concatenate([homes.indices.astype(np.int64), tiny])
    rows = np.concatenate([row_of_entries(homes).astype(np.int64), small[inside]])
    own, labels = find_own_cells(cube, top)
    at = np.full(len(cube.cells) + len(cube.small), -1, dtype=np.int64)
    at[own] = np.arange(len(own))
    is_below = at[cells] >= 0
    touched, base = np.unique(at[cells[is_below]], return_inverse=True)
    return labels[touched], base, rows[is_below]


def _roll_up(cube: Cube, number: int, level: int | None, labels: Array) -> Array:
    """Return the labels at a level that contain some labels of a dimension, -1 at ∗."""
    if level is None:
        return np.full(len(labels), -1, dtype=np.int64)
    return np.asarray(cube.dimensions[number].parents_at(level)[labels].astype(np.int64))


def _collect_labels(cube: Cube, cuboids: tuple[Levels, ...], which: Array, own: Array) -> Array:
    """Return the labels of mixed cells, given the labels of one own cell in each."""
    labels = np.full(own.shape, -1, dtype=np.int64)
    for at, cuboid in enumerate(cuboids):
        rows = np.flatnonzero(which == at)
        for number, level in enumerate(cuboid):
            labels[rows, number] = _roll_up(cube, number, level, own[rows, number])
    return labels


def rank_members(cube: Cube, cells: Iterable[MixedCell]) -> Array:
    """Return the objects of some cells, those with most items there first.

    If the cube keeps no items, those in most of its own cells come first.
    """
    inside = np.zeros(len(cube.cells) + len(cube.small), dtype=bool)
    for cell in cells:
        check_stop()
        inside[find_own_cells(cube, cell)[0]] = True
    held = np.zeros(len(cube.objects), dtype=np.int64)
    for part, marks in ((cube.cells, inside[: len(cube.cells)]), (cube.small, inside[len(cube.cells) :])):
        held += np.bincount(part.members.indices[np.repeat(marks, part.members.sizes)], minlength=len(held))
    times = held
    if cube.items is not None:
        index = cube.items()
        there = np.zeros(len(index), dtype=bool)
        there[np.repeat(np.arange(len(index)), index.cells.sizes)[inside[index.cells.indices]]] = True
        times = np.bincount(index.objects.indices[np.repeat(there, index.objects.sizes)], minlength=len(held))
    rows = np.flatnonzero(held)
    return rows[np.argsort(-times[rows], kind="stable")].astype(np.int32)


@dataclass(frozen=True, eq=False)
class BestCells:
    """Cells in the order chosen, the value after each, and an upper bound on the value of k cells."""

    cells: Array
    values: Array
    bound: float


@dataclass(frozen=True, eq=False)
class _Coverage:
    """The weights and members of cells, and the portion that every object counts."""

    weights: Array
    members: Ragged
    portion: Array

    def compute_gains(self, counted: Array) -> Array:
        """Return what each cell would add to the present counts of objects."""
        from cube2net.kernels.csr import sums_beyond

        sums = sums_beyond(self.members.indptr, self.members.indices, self.weights, counted, self.portion)
        return np.asarray(sums.round(DIGITS))

    def count_better(self, cells: Array, counted: Array) -> Array:
        """Return for each object the number of its cells that weigh more than it counts already."""
        own = take_rows(self.members, cells)
        more = np.repeat(self.weights[cells], own.sizes) > counted[own.indices]
        return np.bincount(own.indices[more], minlength=len(counted))

    def improve_bound(self, prices: Array, most: int, value: float, bound: float, rounds: int) -> float:
        """Return the lowest bound found in some rounds of subgradient steps, or the present one."""
        length, stalled = 1.0, 0
        for _ in range(rounds):
            check_stop()
            if bound - value <= PROVEN * bound:
                break
            gains = self.compute_gains(prices)
            largest = _find_largest(gains, most)
            dual = float((prices * self.portion).sum()) + float(gains[largest].sum())
            stalled = 0 if dual < bound else stalled + 1
            bound = min(bound, dual)
            if stalled == MAX_STALLED_ROUNDS:
                length, stalled = length / 2, 0
            slope = (1.0 - self.count_better(largest, prices)) * self.portion
            squared_norm = float((slope**2).sum())
            if squared_norm == 0:
                break
            prices = np.maximum(0.0, prices - length * (dual - value) / squared_norm * slope)
        return bound


def choose_best_cells(
    weights: Array, members: Ragged, portion: Array, most: int, *, least: float = 0.0, rounds: int = 0
) -> BestCells:
    """Return at most ``most`` cells chosen greedily; stops when no cell adds ``least``.

    >>> from cube2net._util.arrays import ragged_from_lists
    >>> members = ragged_from_lists([[0, 1, 2, 3], [0, 1], [4]])
    >>> best = choose_best_cells(np.array([1.0, 3.0, 3.0]), members, np.ones(5), 2)
    >>> best.cells.tolist(), best.values.tolist()
    ([1, 2], [6.0, 9.0])
    """
    coverage = _Coverage(weights, members, portion)
    counted, highest = np.zeros(len(portion)), np.zeros(len(portion))
    np.maximum.at(highest, members.indices, np.repeat(weights, members.sizes))
    bound, value = float((highest * portion).sum()), 0.0
    chosen: list[int] = []
    values: list[float] = []
    while True:
        check_stop()
        gains = coverage.compute_gains(counted)
        bound = min(bound, value + float(gains[_find_largest(gains, most)].sum()))
        if len(chosen) == most or float(gains.max(initial=0.0)) < max(least, MIN_GAIN):
            break
        cell = int(np.argmax(gains))
        own = members[cell]
        counted[own] = np.maximum(counted[own], weights[cell])
        value = float((counted * portion).sum())
        chosen.append(cell)
        values.append(value)
    bound = coverage.improve_bound(counted, most, value, bound, rounds)
    return BestCells(np.array(chosen, dtype=np.int64), np.array(values), max(bound, value))


def _find_largest(gains: Array, most: int) -> Array:
    """Return the ``most`` cells with the largest gains, in any order."""
    return np.argpartition(gains, -most)[-most:] if 0 < most < len(gains) else np.arange(min(most, len(gains)))


@dataclass(frozen=True, eq=False)
class DrillDown:
    """Cells in the order chosen, with the bits that each saves and the number of objects that it is the first to hold.

    ``held`` marks the objects that some cell holds, and ``bound`` is an upper bound on the bits.
    """

    cells: Array
    bits: Array
    new: Array
    held: Array
    bound: float


def drill_down(members: Ragged, sizes: Array, count: int, total: int, k: int, least: int = 1) -> DrillDown:
    """Return up to k cells that save most bits for ``count`` objects among the ``total`` of the cell above.

    ``members`` are those of the objects that each cell holds, and ``sizes`` its numbers of all objects; cells with
    fewer than ``least`` are not chosen.
    """
    large = np.flatnonzero(sizes >= least)
    weights = np.log2(total / sizes[large]) if len(large) else np.empty(0)
    ones = np.ones(count)
    best = choose_best_cells(weights, take_rows(members, large), ones, k, least=MIN_BITS, rounds=BOUND_ROUNDS)
    cells = large[best.cells]
    held = np.zeros(count, dtype=bool)
    new = []
    for cell in cells.tolist():
        new.append(int((~held[members[cell]]).sum()))
        held[members[cell]] = True
    return DrillDown(cells, np.diff(best.values, prepend=0.0), np.array(new, np.int64), held, best.bound)
