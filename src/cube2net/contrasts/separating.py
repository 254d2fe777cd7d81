"""The few mixed cells that tell two sides apart.

A cell speaks for the side that it holds the larger share of. Of its objects on that side, w = 1 − (other share) / (own
share) are more than the other side would let expect. An object is told by the best cell chosen that speaks for its side
and holds it, and counts what that cell's w is: the value of cells is the mean of that over a side, and over both sides.
One cell alone is worth the difference of its shares (its weighted relative accuracy, but for a factor), over the number
of sides that may speak. The value grows by less the more is chosen (it is submodular), so m cells chosen one by one,
each the one that adds most, are worth at least 1 − 1/e of the best m; what the others would still add bounds these.
Choosing ends when no cell adds a hundredth.

Cells may be chosen that are sure: their chance by Fisher's exact test, corrected by Holm over all that were tested, is
not above a limit. Of cells that hold the same objects of both sides the one with the fewest labels, at the highest
levels, stands for all, and is tested once. A cell is left out when a more general one *explains* it: one that may be
chosen (or for which one stands that may) and speaks for the same side, such that, among the objects of that one, those
in the cell are not on the side more often than chance allows (the exact test there is not below 0.05).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries, take_rows
from cube2net.confidence import LEVEL, holm
from cube2net.contrasts.best_cells import best_cells
from cube2net.contrasts.chance_tests import exact_chances, least_chances, may_be_sure
from cube2net.contrasts.mixed_cells import MixedCells, is_above
from cube2net.interrupts import step
from cube2net.records import Cube, Ragged

LEAST_GAIN = 0.01
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


def separate(cube: Cube, mixed: MixedCells, sides: Sequence[Sides], m: int, chance: float = LEVEL) -> list[Separation]:
    """Return at most m cells for each of several contrasts of the same objects, whose tests are corrected together."""
    same = mixed.simplest()
    distinct = np.flatnonzero(same == np.arange(len(mixed)))
    held = mixed.members.sizes[distinct]
    lows = [least_chances(*each.sizes)[held] for each in sides]
    able = may_be_sure(np.concatenate(lows)).reshape(len(sides), -1)
    counted = [_counted(mixed, each, distinct[which]) for each, which in zip(sides, able, strict=True)]
    corrected = np.array(holm(np.concatenate([each.raw for each in counted]).tolist()))
    starts = np.cumsum([0, *(len(each.cells) for each in counted)])
    found = []
    for number, (each, counts) in enumerate(zip(sides, counted, strict=True)):
        chances = corrected[starts[number] : starts[number + 1]]
        tested = Tested(counts.cells, counts.ones, counts.twos, counts.for_one, counts.raw, chances)
        found.append(_chosen(cube, mixed, same, each, tested, m, chance))
    return found


def _counted(mixed: MixedCells, sides: Sides, cells: Array) -> Tested:
    members = take_rows(mixed.members, cells)
    ones = np.bincount(row_of_entries(members)[sides.is_one[members.indices]], minlength=len(cells))
    twos = members.sizes - ones
    first, second = sides.sizes
    raw = exact_chances(ones, twos, np.array(first), np.array(second))
    # In whole numbers, so that equal shares are equal.
    return Tested(cells, ones, twos, ones * second > twos * first, raw, raw)


def _chosen(
    cube: Cube, mixed: MixedCells, same: Array, sides: Sides, tested: Tested, m: int, chance: float
) -> Separation:
    first, second = sides.sizes
    differs = tested.ones * second != tested.twos * first
    sure = (tested.chances <= chance) & differs & (tested.for_one | sides.both)
    kept = _unexplained(cube, mixed, same, tested, sure)
    chosen, values, bound = _greedy(mixed, sides, tested, np.flatnonzero(kept), m)
    return Separation(tested, chosen, values, bound, int(sure.sum()), int(sure.sum() - kept.sum()))


def _unexplained(cube: Cube, mixed: MixedCells, same: Array, tested: Tested, sure: Array) -> Array:
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


def weights_of(sides: Sides, tested: Tested) -> Array:
    """Return what each cell is worth to the objects that it speaks for: 1 − other share / own share."""
    first, second = sides.sizes
    one, two = tested.ones * second, tested.twos * first
    return np.asarray(1.0 - np.minimum(one, two) / np.maximum(np.maximum(one, two), 1))


def _greedy(mixed: MixedCells, sides: Sides, tested: Tested, free: Array, m: int) -> tuple[Array, Array, float]:
    """Return the cells chosen, the value after each, and a bound on the value of any m."""
    weights = weights_of(sides, tested)[free]
    members = _spoken_for(mixed, sides, tested, free)
    first, second = sides.sizes
    portion = np.where(sides.is_one, 1 / max(first, 1), 1 / max(second, 1)) / (2 if sides.both else 1)
    found = best_cells(weights, members, portion, m, least=LEAST_GAIN)
    return free[found.cells], found.values, found.bound


def _spoken_for(mixed: MixedCells, sides: Sides, tested: Tested, cells: Array) -> Ragged:
    """Return the members of cells that are on the side that each speaks for."""
    members = take_rows(mixed.members, tested.cells[cells])
    rows = row_of_entries(members)
    own = sides.is_one[members.indices] == tested.for_one[cells][rows]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[own], minlength=len(cells)))])
    return Ragged(indptr.astype(np.int64), members.indices[own])
