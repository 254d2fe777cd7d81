"""Smart drill-down: cells that hold most of some objects at least cost.

To name one of n objects takes log2 n bits. An object costs what it takes to name it in the smallest listed cell that
holds it, and where none does, in the cell that is drilled, of N objects; so a cell of n objects saves log2(N / n) bits
for each object of the query that it holds and that no smaller listed one does. What a list saves is the sum over the
query's objects of the most that one of its cells saves for them. This is the score of smart drill-down (Joglekar,
Garcia-Molina and Parameswaran, 2016), with bits as the weight of a cell: a large cell saves little for many, a small
one much for few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows
from cube2net.explanation.best_cells import best_cells
from cube2net.records import Ragged

LEAST = 1e-9
"""A cell that saves fewer bits than this saves none but by rounding."""
ROUNDS = 50
"""So often the prices of objects are moved for a lower bound."""


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


def narrow(members: Ragged, sizes: Array, count: int, whole: int, k: int, least: int = 1) -> Narrowed:
    """Return up to k cells that narrow ``count`` objects down, which are among the ``whole`` of the cell above.

    ``members`` are the objects that each cell holds of these, ``sizes`` how many it holds in all; those with fewer than
    ``least`` are not taken.
    """
    large = np.flatnonzero(sizes >= least)
    weights = np.log2(whole / sizes[large]) if len(large) else np.empty(0)
    found = best_cells(weights, take_rows(members, large), np.ones(count), k, least=LEAST, rounds=ROUNDS)
    cells = large[found.cells]
    held = np.zeros(count, dtype=bool)
    new = []
    for cell in cells.tolist():
        new.append(int((~held[members[cell]]).sum()))
        held[members[cell]] = True
    return Narrowed(cells, np.diff(found.values, prepend=0.0), np.array(new, np.int64), held, found.bound)
