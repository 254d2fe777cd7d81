"""Smart drill-down: cells that hold most of some objects at least cost.

To name one of n objects takes log2 n bits. An object costs what it takes to name it in the smallest listed cell that
holds it, and where none does, in the cell that is drilled, of N objects; so a cell of n objects saves log2(N / n) bits
for each object of the query that it holds and that no smaller listed one does. What a list saves is the sum over the
query's objects of the most that one of its cells saves for them. This is the score of smart drill-down (Joglekar,
Garcia-Molina and Parameswaran, 2016), with bits as the weight of a cell: a large cell saves little for many, a small
one much for few.

That value never falls when a cell is added, and a cell adds less the more are listed (it is monotone and submodular).
Hence cells taken one by one, each the one that adds most, save at least 1 − 1/e of what the best k do. How far they are
from it at most is told for every answer: k cells more than some listed ones add no more than the k largest additions
together, and none can save more for an object than the smallest of all cells that hold it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries
from cube2net.mixed_levels import CellsBelow

DIGITS = 9
"""What cells add is equal when it agrees to so many digits, and then the first is taken: the one at coarser levels."""


@dataclass(frozen=True, eq=False)
class Narrowed:
    """Cells by number in the order taken, the bits each added, how many objects it was first to hold, and a bound.

    ``held`` marks the objects that some cell holds; no k cells save more than ``bound`` bits.
    """

    cells: Array
    bits: Array
    new: Array
    held: Array
    bound: float


def narrow(below: CellsBelow, count: int, whole: int, k: int) -> Narrowed:
    """Return up to k cells that narrow ``count`` objects down, which stand among the ``whole`` of the cell above."""
    rows, objects = row_of_entries(below.members), below.members.indices
    worth = np.log2(whole / below.sizes)[rows] if len(below) else np.empty(0)
    saved, held = np.zeros(count), np.zeros(count, dtype=bool)
    most = np.zeros(count)
    np.maximum.at(most, objects, worth)
    bound = float(most.sum())
    cells: list[int] = []
    bits: list[float] = []
    new: list[int] = []
    while True:
        open_ = worth > saved[objects]
        rows, objects, worth = rows[open_], objects[open_], worth[open_]
        adds = np.bincount(rows, worth - saved[objects], minlength=len(below))
        largest = np.partition(adds, max(len(adds) - k, 0))[-k:]
        bound = min(bound, float(saved.sum() + largest.sum()))
        if len(cells) == k or round(float(adds.max(initial=0.0)), DIGITS) <= 0:
            break
        best = int(np.argmax(adds.round(DIGITS)))
        mine = below.members[best]
        cells.append(best)
        bits.append(float(adds[best]))
        new.append(int((~held[mine]).sum()))
        held[mine] = True
        saved[mine] = np.maximum(saved[mine], np.log2(whole / below.sizes[best]))
    bound = max(bound, float(saved.sum()))
    return Narrowed(np.array(cells, np.int64), np.array(bits), np.array(new, np.int64), held, bound)
