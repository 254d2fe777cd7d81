"""The few mixed cells that tell two sides apart.

A cell speaks for the side that it holds the larger share of. Its weight is w = 1 − (other share) / (own share). An
object counts the weight of the best chosen cell that speaks for its side and holds it; the value of cells is the mean
over a side, and over both sides. It is submodular and maximised greedily (:mod:`cube2net.explanation.drill`).

A cell may be chosen when it is sure: its chance by Fisher's exact test, corrected by Holm over all tested cells, is not
above a limit. Of cells that hold the same objects the most general one is tested for all. A cell is left out when a
more general one that may be chosen and speaks for the same side *explains* it: among the objects of that one, those in
the cell are not on the side more often than chance allows (the exact test there is not below 0.05).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array, Ragged, row_of_entries, take_rows
from cube2net._util.progress import step
from cube2net._util.statistics import LEVEL, holm, share_interval
from cube2net.explanation.drill import choose_best_cells
from cube2net.explanation.mixed_cells import MixedCells, is_above
from cube2net.model.cube import Cube

MIN_GAIN = 0.01
"""A cell that adds less is not worth its line."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Two sides that objects are on: whether each is on the first, and whether cells may speak for the second too."""

    is_one: Array
    both: bool = True

    @property
    def sizes(self) -> tuple[int, int]:
        """How many objects each side has."""
        ones = int(self.is_one.sum())
        return ones, len(self.is_one) - ones


@dataclass(frozen=True, eq=False)
class Tested:
    """The cells of one contrast that were tested: their numbers, counts on both sides, and chances.

    ``raw`` are the chances of the exact tests, ``chances`` these corrected. ``for_one`` says which speak for the first.
    """

    cells: Array
    ones: Array
    twos: Array
    for_one: Array
    raw: Array
    chances: Array


@dataclass(frozen=True, eq=False)
class Separation:
    """The cells chosen for two sides, by their place in ``tested``, in the order chosen.

    ``values[i]`` is the value after the first i + 1 cells, ``bound`` what no m cells exceed. ``sure`` is how many cells
    are sure, and ``explained`` how many of these a more general one explains.
    """

    tested: Tested
    chosen: Array
    values: Array
    bound: float
    sure: int
    explained: int


def enough_objects(sides: Sequence[Sides]) -> int:
    """Return how many objects a cell has to hold so that one of the contrasts may be sure of it; none, all and one."""
    least = [
        int(np.argmax(low)) if (low := least_chances(*each.sizes) <= LEVEL).any() else len(each.is_one) + 1
        for each in sides
    ]
    return min(least)


def separate(
    cube: Cube, mixed: MixedCells, sides: Sequence[Sides], n_cells: int, chance: float = LEVEL
) -> list[Separation]:
    """Return at most m cells for each of several contrasts of the same objects, whose tests are corrected together."""
    same = mixed.simplest()
    distinct = np.flatnonzero(same == np.arange(len(mixed)))
    held = mixed.members.sizes[distinct]
    lows = [least_chances(*each.sizes)[held] for each in sides]
    able = may_be_sure(np.concatenate(lows)).reshape(len(sides), -1)
    counted = [_test_cells(mixed, each, distinct[which]) for each, which in zip(sides, able, strict=True)]
    corrected = np.array(holm(np.concatenate([each.raw for each in counted]).tolist()))
    starts = np.cumsum([0, *(len(each.cells) for each in counted)])
    return [
        _choose_cells(
            cube,
            mixed,
            same,
            each,
            replace(tested, chances=corrected[start : start + len(tested.cells)]),
            n_cells,
            chance,
        )
        for each, tested, start in zip(sides, counted, starts, strict=False)
    ]


def _test_cells(mixed: MixedCells, sides: Sides, cells: Array) -> Tested:
    members = take_rows(mixed.members, cells)
    ones = np.bincount(row_of_entries(members)[sides.is_one[members.indices]], minlength=len(cells))
    twos = members.sizes - ones
    first, second = sides.sizes
    raw = exact_chances(ones, twos, np.array(first), np.array(second))
    # In whole numbers, so that equal shares are equal.
    return Tested(cells, ones, twos, ones * second > twos * first, raw, raw)


def _choose_cells(
    cube: Cube, mixed: MixedCells, same: Array, sides: Sides, tested: Tested, n_cells: int, chance: float
) -> Separation:
    first, second = sides.sizes
    differs = tested.ones * second != tested.twos * first
    sure = (tested.chances <= chance) & differs & (tested.for_one | sides.both)
    kept = _find_unexplained(cube, mixed, same, tested, sure)
    free = np.flatnonzero(kept)
    one, two = tested.ones * second, tested.twos * first
    weights = np.asarray(1.0 - np.minimum(one, two) / np.maximum(np.maximum(one, two), 1))
    portion = np.where(sides.is_one, 1 / max(first, 1), 1 / max(second, 1)) / (2 if sides.both else 1)
    own = _select_own_side(mixed, sides, tested, free)
    best = choose_best_cells(weights[free], own, portion, n_cells, least=MIN_GAIN)
    return Separation(tested, free[best.cells], best.values, best.bound, int(sure.sum()), int(sure.sum() - kept.sum()))


def _find_unexplained(cube: Cube, mixed: MixedCells, same: Array, tested: Tested, sure: Array) -> Array:
    """Return which of the sure cells no more general one explains that is itself such a cell."""
    kept = np.zeros(len(sure), dtype=bool)
    place = np.full(len(mixed), -1, dtype=np.int64)
    place[tested.cells] = np.arange(len(sure))
    place = place[same]
    cuboid = mixed.cuboid[tested.cells]
    for number in np.unique(cuboid[sure]).tolist():
        step()
        here = np.flatnonzero(sure & (cuboid == number))
        for above in range(number):
            if not len(here) or not is_above(cube, mixed.cuboids[above], mixed.cuboids[number]):
                continue
            general = place[mixed.of[above][mixed.base[tested.cells[here]]]]
            stands = (general >= 0) & kept[general] & (tested.for_one[general] == tested.for_one[here])
            here = here[~(stands & _explains(tested, general, here))]
        kept[here] = True
    return kept


def _explains(tested: Tested, general: Array, cells: Array) -> Array:
    """Return which cells say nothing beyond the more general ones beside them."""
    ones, twos, first, second = tested.ones[cells], tested.twos[cells], tested.ones[general], tested.twos[general]
    lean = np.where(tested.for_one[cells], 1, -1) * (ones * second - twos * first)
    return np.asarray((lean <= 0) | (exact_chances(ones, twos, first, second) >= LEVEL))


def _select_own_side(mixed: MixedCells, sides: Sides, tested: Tested, cells: Array) -> Ragged:
    """Return the members of cells that are on the side that each speaks for."""
    members = take_rows(mixed.members, tested.cells[cells])
    rows = row_of_entries(members)
    own = sides.is_one[members.indices] == tested.for_one[cells][rows]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[own], minlength=len(cells)))])
    return Ragged(indptr.astype(np.int64), members.indices[own])


def log_factorials(most: int) -> Array:
    """Return log n! for every n up to a number."""
    found = np.zeros(most + 1)
    np.cumsum(np.log(np.arange(1, most + 1)), out=found[1:])
    return found


def exact_chances(ones: Array, twos: Array, first: Array, second: Array) -> Array:
    """Return the chance of each table by Fisher's exact test, two-sided: ones of first against twos of second.

    >>> exact_chances(*(np.array([n]) for n in (3, 0, 3, 3))).round(3).tolist()
    [0.1]
    """
    from cube2net.kernels.scores import two_sided

    shape = np.shape(ones)
    ones, twos, first, second = (
        np.ascontiguousarray(np.broadcast_to(part, shape), np.int64) for part in (ones, twos, first, second)
    )
    chances = np.empty(shape)
    two_sided(ones, twos, first, second, log_factorials(int((first + second).max(initial=0))), chances)
    return chances


def least_chances(first: int, second: int) -> Array:
    """Return, for every number of objects that a cell may hold of two sides, the least chance that it can have.

    That is where all of them are on one side, as far as there are so many. It follows from the numbers alone, so a cell
    that can never be sure need not be tested, and does not make others less sure (Tarone 1990).

    >>> least_chances(3, 3).round(3).tolist()
    [1.0, 1.0, 0.4, 0.1, 0.4, 1.0, 1.0]
    """
    held = np.arange(first + second + 1)
    low, high = np.maximum(0, held - second), np.minimum(held, first)
    return np.minimum(
        exact_chances(low, held - low, np.array(first), np.array(second)),
        exact_chances(high, held - high, np.array(first), np.array(second)),
    )


def may_be_sure(least: Array, level: float = LEVEL) -> Array:
    """Return which tests can be sure at all beside the others of them that can, by the least chance of each.

    Of K tests one is sure at ``level`` / K: the fewest K are taken of which no more than K tests come as low as that.

    >>> may_be_sure(np.array([0.001, 0.02, 0.03, 0.04, 0.2])).tolist()
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


def difference_interval(ones: int, first: int, twos: int, second: int) -> tuple[float, float]:
    """Return the 95 % interval of the share of one side less that of the other, by Newcombe's hybrid of two scores.

    >>> low, high = difference_interval(56, 70, 48, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    one, two = ones / first, twos / second
    (low, high), (other_low, other_high) = share_interval(ones, first), share_interval(twos, second)
    apart = one - two
    return apart - math.hypot(one - low, other_high - two), apart + math.hypot(high - one, two - other_low)
