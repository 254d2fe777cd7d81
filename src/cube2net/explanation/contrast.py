"""The few mixed cells that distinguish two sets of objects, called sides.

A cell speaks for the side of which it holds the larger share. Its weight is w = 1 − (other share) / (own share). An
object counts the weight of the best chosen cell that speaks for its side and holds it; the value of cells is the mean
over a side, and over both sides. It is submodular and maximised greedily (:mod:`cube2net.explanation.drill`).

A cell may be chosen if it is significant: its p-value by Fisher's exact test, corrected by Holm over all tested cells,
is at most a limit. Of cells with the same objects the most general one is tested. A cell is left out if a more general
significant cell for the same side *explains* it: among the objects of that one, those in the cell are not on the side
significantly more often (exact test, 0.05).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array, Ragged, compute_offsets, row_of_entries, take_rows
from cube2net._util.progress import check_stop
from cube2net._util.statistics import LEVEL, holm, share_interval
from cube2net.explanation.drill import MixedCells, choose_best_cells, is_above
from cube2net.model.cube import Cube

MIN_GAIN = 0.01
"""Cells that add less are not chosen."""


@dataclass(frozen=True, eq=False)
class Sides:
    """A division of objects: a mask of the first side, and whether cells may also speak for the second."""

    is_first: Array
    both: bool = True

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of objects on each side."""
        first = int(self.is_first.sum())
        return first, len(self.is_first) - first


@dataclass(frozen=True, eq=False)
class TestedCells:
    """The tested cells of a contrast: their numbers, counts on both sides, and p-values.

    ``raw`` are the p-values of the exact tests, ``p_values`` the corrected ones. ``for_first`` marks cells that speak
    for the first side.
    """

    cells: Array
    in_first: Array
    in_second: Array
    for_first: Array
    raw: Array
    p_values: Array


@dataclass(frozen=True, eq=False)
class Separation:
    """The cells chosen for two sides, by their place in ``tested``, in the order chosen.

    ``values[i]`` is the value of the first i + 1 cells, ``bound`` an upper bound for m cells. ``n_significant`` cells
    are significant, and a more general one explains ``explained`` of these.
    """

    tested: TestedCells
    chosen: Array
    values: Array
    bound: float
    n_significant: int
    explained: int


def compute_least_objects(sides: Sequence[Sides]) -> int:
    """Return the least size at which a cell can be significant in a contrast; above all objects if none can."""
    least = [
        int(np.argmax(low)) if (low := compute_least_p_values(*each.sizes) <= LEVEL).any() else len(each.is_first) + 1
        for each in sides
    ]
    return min(least)


def separate(
    cube: Cube, mixed: MixedCells, sides: Sequence[Sides], n_cells: int, alpha: float = LEVEL
) -> list[Separation]:
    """Return at most ``n_cells`` cells for each of several contrasts; their tests are corrected together."""
    same = mixed.simplest()
    distinct = np.flatnonzero(same == np.arange(len(mixed)))
    held = mixed.members.sizes[distinct]
    lows = [compute_least_p_values(*each.sizes)[held] for each in sides]
    able = mark_testable(np.concatenate(lows)).reshape(len(sides), -1)
    counted = [_test_cells(mixed, each, distinct[which]) for each, which in zip(sides, able, strict=True)]
    corrected = np.array(holm(np.concatenate([each.raw for each in counted]).tolist()))
    starts = np.cumsum([0, *(len(each.cells) for each in counted)])
    return [
        _choose_cells(
            cube,
            mixed,
            same,
            each,
            replace(tested, p_values=corrected[start : start + len(tested.cells)]),
            n_cells,
            alpha,
        )
        for each, tested, start in zip(sides, counted, starts, strict=False)
    ]


def _test_cells(mixed: MixedCells, sides: Sides, cells: Array) -> TestedCells:
    members = take_rows(mixed.members, cells)
    in_first = np.bincount(row_of_entries(members)[sides.is_first[members.indices]], minlength=len(cells))
    in_second = members.sizes - in_first
    first, second = sides.sizes
    raw = compute_exact_p_values(in_first, in_second, np.array(first), np.array(second))
    # Shares are compared as integers, without rounding.
    return TestedCells(cells, in_first, in_second, in_first * second > in_second * first, raw, raw)


def _choose_cells(
    cube: Cube, mixed: MixedCells, same: Array, sides: Sides, tested: TestedCells, n_cells: int, alpha: float
) -> Separation:
    first, second = sides.sizes
    differs = tested.in_first * second != tested.in_second * first
    significant = (tested.p_values <= alpha) & differs & (tested.for_first | sides.both)
    kept = _find_unexplained(cube, mixed, same, tested, significant)
    free = np.flatnonzero(kept)
    one, two = tested.in_first * second, tested.in_second * first
    weights = np.asarray(1.0 - np.minimum(one, two) / np.maximum(np.maximum(one, two), 1))
    portion = np.where(sides.is_first, 1 / max(first, 1), 1 / max(second, 1)) / (2 if sides.both else 1)
    own = _select_own_side(mixed, sides, tested, free)
    best = choose_best_cells(weights[free], own, portion, n_cells, least=MIN_GAIN)
    return Separation(
        tested, free[best.cells], best.values, best.bound, int(significant.sum()), int(significant.sum() - kept.sum())
    )


def _find_unexplained(cube: Cube, mixed: MixedCells, same: Array, tested: TestedCells, significant: Array) -> Array:
    """Return which significant cells are not explained by a more general one that is kept."""
    kept = np.zeros(len(significant), dtype=bool)
    place = np.full(len(mixed), -1, dtype=np.int64)
    place[tested.cells] = np.arange(len(significant))
    place = place[same]
    cuboid = mixed.cuboid[tested.cells]
    for number in np.unique(cuboid[significant]).tolist():
        check_stop()
        here = np.flatnonzero(significant & (cuboid == number))
        for above in range(number):
            if not len(here) or not is_above(cube, mixed.cuboids[above], mixed.cuboids[number]):
                continue
            general = place[mixed.of[above][mixed.base[tested.cells[here]]]]
            is_kept = (general >= 0) & kept[general] & (tested.for_first[general] == tested.for_first[here])
            here = here[~(is_kept & _explains(tested, general, here))]
        kept[here] = True
    return kept


def _explains(tested: TestedCells, general: Array, cells: Array) -> Array:
    """Return which cells are explained by the corresponding more general ones."""
    in_first, in_second = tested.in_first[cells], tested.in_second[cells]
    first, second = tested.in_first[general], tested.in_second[general]
    lean = np.where(tested.for_first[cells], 1, -1) * (in_first * second - in_second * first)
    return np.asarray((lean <= 0) | (compute_exact_p_values(in_first, in_second, first, second) >= LEVEL))


def _select_own_side(mixed: MixedCells, sides: Sides, tested: TestedCells, cells: Array) -> Ragged:
    """Return the members of each cell that are on its side."""
    members = take_rows(mixed.members, tested.cells[cells])
    rows = row_of_entries(members)
    own = sides.is_first[members.indices] == tested.for_first[cells][rows]
    return Ragged(compute_offsets(rows[own], len(cells)), members.indices[own])


def compute_exact_p_values(in_first: Array, in_second: Array, first: Array, second: Array) -> Array:
    """Return the two-sided p-values of tables by Fisher's exact test: ``in_first`` of ``first`` against the others.

    >>> compute_exact_p_values(*(np.array([n]) for n in (3, 0, 3, 3))).round(3).tolist()
    [0.1]
    """
    from cube2net.kernels.scores import two_sided

    shape = np.shape(in_first)
    in_first, in_second, first, second = (
        np.ascontiguousarray(np.broadcast_to(part, shape), np.int64) for part in (in_first, in_second, first, second)
    )
    p_values = np.empty(shape)
    logs = np.log(np.arange(1, int((first + second).max(initial=0)) + 1))
    two_sided(in_first, in_second, first, second, np.concatenate([[0.0], np.cumsum(logs)]), p_values)
    return p_values


def compute_least_p_values(first: int, second: int) -> Array:
    """Return the least p-value that a cell can have, for every number of objects that it may hold.

    It is that of a cell with as many objects as possible on one side. A cell that can never be significant need not be
    tested and does not count in the correction (Tarone 1990).

    >>> compute_least_p_values(3, 3).round(3).tolist()
    [1.0, 1.0, 0.4, 0.1, 0.4, 1.0, 1.0]
    """
    held = np.arange(first + second + 1)
    low, high = np.maximum(0, held - second), np.minimum(held, first)
    return np.minimum(
        compute_exact_p_values(low, held - low, np.array(first), np.array(second)),
        compute_exact_p_values(high, held - high, np.array(first), np.array(second)),
    )


def mark_testable(least: Array, level: float = LEVEL) -> Array:
    """Return which tests can be significant at all, given the least p-value of each (Tarone's correction).

    K is the smallest number such that at most K tests can reach ``level`` / K.

    >>> mark_testable(np.array([0.001, 0.02, 0.03, 0.04, 0.2])).tolist()
    [True, True, False, False, False]
    """
    ascending = np.sort(least)
    low, high = 1, max(1, len(least))
    while low < high:
        middle = (low + high) // 2
        if int(np.searchsorted(ascending, level / middle, side="right")) <= middle:
            high = middle
        else:
            low = middle + 1
    return np.asarray(least <= level / low)


def compute_difference_interval(in_first: int, first: int, in_second: int, second: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of the difference of two shares, by Newcombe's hybrid score method.

    >>> low, high = compute_difference_interval(56, 70, 48, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    one, two = in_first / first, in_second / second
    (low, high), (other_low, other_high) = share_interval(in_first, first), share_interval(in_second, second)
    apart = one - two
    return apart - math.hypot(one - low, other_high - two), apart + math.hypot(high - one, two - other_low)
