"""Cells that hold the objects of a query again and again: greedily, with a bound, and exactly.

The value Σ min(r, chosen cells that hold q) grows by less the more is chosen (it is submodular), so the cell that
serves most objects is a good next one: m cells chosen so are worth at least 1 − 1/e of the best m.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import ragged_from_pairs, row_of_entries, take_rows
from cube2net.compiling import load
from cube2net.records import Cube, Ragged, Repeats
from cube2net.select.limits import Limits


class Served:
    """How many objects each cell would serve that still need one, kept up as cells are chosen.

    ``cells`` are the numbers of the cells that hold an object of the query, ascending; ``gains[i]`` is what the i-th
    would serve now, and ``left[q]`` how often the q-th object of the query may still be held.
    """

    def __init__(self, cube: Cube, repeats: Repeats) -> None:
        self.homes = take_rows(cube.homes, repeats.objects)
        self.cells, entries = np.unique(self.homes.indices, return_inverse=True)
        self.homes = Ragged(self.homes.indptr, entries.astype(np.int32))
        self.members = ragged_from_pairs(entries, row_of_entries(self.homes), len(self.cells))
        sizes = self.homes.sizes
        self.left = sizes.copy() if repeats.most is None else np.minimum(sizes, repeats.most)
        self.gains: Array = self.members.sizes.copy()
        self.taken = np.zeros(len(self.cells), dtype=bool)

    def take(self, place: int) -> int:
        """Choose a cell by its place, and return how many objects it serves."""
        from cube2net.kernels.repeats import serve

        self.taken[place] = True
        rows = (self.members.indptr, self.members.indices, self.homes.indptr, self.homes.indices)
        return int(serve(place, *rows, self.left, self.gains))

    def bound(self, value: float, m: int) -> float:
        """Return a value that no m cells exceed: what is reached, and the m largest gains that are left beside it."""
        free = self.gains[~self.taken]
        most = np.sort(free)[max(0, len(free) - m) :]
        return value + min(float(most.sum()), float(self.left.sum()))


def serve_greedily(cube: Cube, repeats: Repeats, limits: Limits, m: int) -> tuple[Array, float]:
    """Return at most m cells, each the one that serves most, and a bound on the value of any m; of equals the first.

    It ends when no cell serves as many as ``repeats.least``. A cell that would break a limit is passed over.
    """
    served = Served(cube, repeats)
    value, bound = 0.0, served.bound(0.0, m)
    chosen: list[int] = []
    while len(chosen) < m and len(served.cells):
        order = _best_first(served, only=not limits.any)
        order = order[served.gains[order] >= repeats.least]
        admitted = limits.admit(served.cells[order], 1)
        if len(admitted) == 0:
            break
        place = int(order[admitted[0]])
        served.taken[order[: admitted[0]]] = True
        chosen.append(int(served.cells[place]))
        value += served.take(place)
    if not limits.any:
        bound = min(bound, served.bound(value, m))
    return np.array(chosen, dtype=np.int64), max(bound, value)


def in_order_of_service(cube: Cube, repeats: Repeats, cells: Array) -> Array:
    """Return cells in the order in which they serve most, those that serve nobody any more last."""
    served = Served(cube, repeats)
    served.taken[:] = ~np.isin(served.cells, cells)
    order: list[int] = []
    while not served.taken.all():
        place = int(_best_first(served, only=True)[0])
        order.append(int(served.cells[place]))
        served.take(place)
    return np.array(order, dtype=np.int64)


def _best_first(served: Served, *, only: bool) -> Array:
    """Return the places of the cells that are free, the one that serves most first; of them the first one only."""
    gains = np.where(served.taken, -1, served.gains)
    if only:
        place = int(np.argmax(gains))
        return np.array([place] if gains[place] >= 0 else [], dtype=np.int64)
    order = np.argsort(-gains, kind="stable")
    return np.asarray(order[gains[order] >= 0])


def serve_best(cube: Cube, repeats: Repeats, m: int, seconds: float | None) -> tuple[Array, float]:
    """Return the best m cells or fewer that were found in the time, and a bound on the value of any m.

    It is a whole-number programme (SciPy's HiGHS): maximise Σ y with y_q ≤ r, y_q ≤ the chosen cells that hold q, and
    at most m cells chosen. Values are whole numbers, so the solver's bound is rounded down to one.
    """
    load("scipy.optimize")
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    served = Served(cube, repeats)
    cells, objects = len(served.cells), len(served.left)
    if cells == 0 or m == 0:
        return np.empty(0, dtype=np.int64), 0.0
    ones = np.ones(len(served.homes.indices))
    holds = sparse.csr_array((ones, served.homes.indices, served.homes.indptr), shape=(objects, cells))
    few = sparse.csr_array(np.concatenate([np.ones(cells), np.zeros(objects)])[None, :])
    both = sparse.hstack([-holds, sparse.eye_array(objects)]).tocsr()
    solved = milp(
        np.concatenate([np.zeros(cells), -np.ones(objects)]),
        constraints=[LinearConstraint(both, -np.inf, 0.0), LinearConstraint(few, -np.inf, m)],
        integrality=np.ones(cells + objects),  # sums are whole by themselves, but then the solver prints nothing
        bounds=Bounds(0.0, np.concatenate([np.ones(cells), served.left])),
        options={"mip_rel_gap": 0.0} | ({} if seconds is None else {"time_limit": seconds}),
    )
    known = float(np.sort(served.gains)[::-1][:m].sum())
    bound = known if solved.mip_dual_bound is None else min(known, float(np.floor(-solved.mip_dual_bound + 1e-6)))
    if solved.x is None:
        return np.empty(0, dtype=np.int64), bound
    return served.cells[np.flatnonzero(solved.x[:cells] > 0.5)], bound
