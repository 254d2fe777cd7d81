"""Greedy selection: by the value a cell leads to, by gain less cost at a price, or by the objects it serves.

What every cell would still add is kept up to date as cells are chosen, for objects that count once (``Sums``) or
repeatedly (``Served``). The latter value, Σ min(r, chosen cells that hold q), is submodular: m greedy cells are worth
at least 1 − 1/e of the best m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from cube2net._util.arrays import Array, Ragged, ragged_from_pairs, row_of_entries, take_rows
from cube2net._util.progress import Progress, Stage, silent
from cube2net.errors import ParameterError, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import (
    OPEN,
    Budget,
    CallableObjective,
    CoverObjective,
    QueryObjective,
    Scope,
    Selection,
    Weights,
)
from cube2net.selection.constraints import (
    Limits,
    check,
    compute_room,
    drop_forbidden_cells,
    evaluate_cells,
    explain_no_choice,
    find_places,
    find_target_objects,
    mark_new_nodes,
    untouched_may_help,
)

AMONG = ("touched", "all")
BY = ("value", "price")
# Values and sums that agree to this many digits are equal.
DIGITS, EQUAL = 12, 1e-12
# Gain of a cell that is taken: below that of any other.
TAKEN = -(2**31)
# Relative rounding error of a value.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Greedy:
    """Add, in each step, the cell that raises the objective most, or lowers it least (the paper's CubeGreedy).

    There are exactly m steps, as in the paper, even if the value falls; ``Budget(best_prefix=True)`` cuts the selection
    where the value is highest. Ties go to the cell with the lowest number; values are equal if they agree to 12 digits,
    because rounding depends on the order of summation.

    For ``cover``, each step takes the cell with the most objects of the query that are not covered often enough, and
    the choice ends when no cell has enough of them. Then m is an upper limit, and a bound is always known.

    Parameters
    ----------
    among
        ``"touched"`` considers cells that contain an object with a positive gain (for the paper's objective, an object
        of the query), and stops when there are none left. ``"all"`` considers all cells in each step, as in the paper.
    by
        ``"value"`` maximises the value after the step. ``"price"`` adds the cell with the largest positive
        gain − λ·cost, where the price λ is the best known value, and repeats with the value reached until it does not
        increase (see ``priced_greedy``). It chooses at most m cells, usually with a higher value, and supports neither
        ``max_links`` nor functions.
    progress
        Receives the progress if a user's function is called; set by :func:`construct`.

    Notes
    -----
    *While the value rises, both settings of* ``among`` *choose the same cells.* Let a selection have the value G / C,
    and let an untouched cell add the gain −a ≤ 0 and the cost b ≥ 0. If G ≥ 0 and C > 0, its value (G − a) / (C + b) is
    at most G / C; if b = 0, the same holds for any G; and a selection without cost has the value 0, which (0 − a) / b
    does not exceed. So a step that raises the value takes a touched cell. This holds for all built-in objectives; for
    weights with a possibly negative G, or with a positive G without cost (``untouched_may_help``), all cells are
    considered. If the value must fall, a small untouched cell may lower it least; it adds no object of the query.

    Examples
    --------
    The four planted cells of a community contain exactly its members. A fifth cell, which adds other objects, is chosen
    only if all cells are considered:

    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> c2n.construct(cube, planted.query(0), c2n.methods.Greedy(among="all"), n_cells=5, form="objects").selection
    Selection(5 cells, 75 objects, value 0.6667)
    >>> c2n.construct(cube, planted.query(0), c2n.methods.Greedy(by="price"), n_cells=5, form="objects").selection
    Selection(4 cells, 50 objects, value 1.0000)
    """

    chooses_cells: ClassVar[bool] = True
    draws: ClassVar[bool] = False
    takes_long: ClassVar[bool] = False

    among: str = field(default="touched", metadata={"outside": True})
    by: str = field(default="value", metadata={"outside": True})
    progress: Progress = field(default=silent, repr=False, compare=False, metadata={"handed": True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "progress", silent if self.progress is None else self.progress)
        if self.by not in BY:
            raise unknown_name("by", self.by, BY)
        if self.among not in AMONG:
            raise unknown_name("among", self.among, AMONG)
        if self.by == "price" and self.among == "all":
            raise ParameterError(
                "among is 'all', and by 'price' only cells that may help are candidates: use by='value'"
            )

    @property
    def counts_repeats(self) -> bool:
        """Whether it supports the objective cover, which has no costs."""
        return self.by == "value"

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return at most m cells in the order chosen, without cells that would exceed a limit. ``seed`` is not used.

        What each cell would add is summed once, and then reduced as its members are covered. A user's function is
        called for each remaining candidate in each step.
        """
        check(cube, query, weights)
        nothing = explain_no_choice(cube, query, weights, budget.scope)
        if nothing is not None:
            return nothing
        if self.by == "price":
            return _choose_by_price(cube, query, weights, budget)
        limits = Limits(cube, query, budget)
        if isinstance(weights, CoverObjective):
            return _choose_to_cover(cube, weights, limits, budget)
        left = drop_forbidden_cells(self._candidates(cube, query, weights), budget.scope)
        if isinstance(weights, CallableObjective):
            cells = _choose_by_calls(cube, weights, left, limits, budget.n_cells, self.progress)
        else:
            cells = _choose_by_counts(cube, weights, left, limits, budget.n_cells)
        lacks = self._lacks(query, weights, budget.scope)
        return evaluate_cells(cube, weights, cells, budget.best_prefix, note=limits.note(len(cells), lacks))

    def _candidates(self, cube: Cube, query: Query, weights: Weights | CallableObjective) -> Array:
        from cube2net.kernels import coverage

        if self._looks_at_all(weights):
            return np.arange(len(cube.cells))
        worth = find_target_objects(query, weights) if isinstance(weights, CallableObjective) else weights.paying
        return np.asarray(
            coverage.find_touched_cells(worth, cube.object_cells.indptr, cube.object_cells.indices, len(cube.cells))
        )

    def _looks_at_all(self, weights: QueryObjective) -> bool:
        return self.among == "all" or (isinstance(weights, Weights) and untouched_may_help(weights))

    def _lacks(self, query: Query, weights: Weights | CallableObjective, scope: Scope) -> str:
        if self._looks_at_all(weights):
            return "may be chosen" if len(scope.forbidden_cells) else "is in the cube"
        if isinstance(weights, CallableObjective) or np.array_equal(weights.paying, query.objects):
            return "holds an object of the query"
        return "holds an object with a gain"


def _choose_by_counts(cube: Cube, weights: Weights, left: Array, limits: Limits, n_cells: int) -> Array:
    from cube2net.kernels import coverage

    terms = np.column_stack(weights.given)
    sums = Sums(cube.cells.members, cube.object_cells, left, weights.rows, terms, weights.others)
    above, below = weights.gain0, weights.cost0
    if not limits.any:
        return sums.take_by_value(left, above, below, n_cells)
    chosen: list[int] = []
    while len(chosen) < n_cells and len(left):
        order = order_best_first(coverage.compute_values(left, sums.of[:, 0], sums.of[:, 1], above, below))
        taken = limits.admit(left[order], 1)
        if len(taken) == 0:
            break
        passed = order[: taken[0] + 1]
        cell = int(left[passed[-1]])
        left = np.delete(left, passed)
        above, below = above + float(sums.of[cell, 0]), below + float(sums.of[cell, 1])
        sums.add(cell)
        chosen.append(cell)
    return np.array(chosen, dtype=np.int64)


def _choose_to_cover(cube: Cube, cover: CoverObjective, limits: Limits, budget: Budget) -> Selection:
    cells, bound = serve_greedily(cube, cover, limits, budget.n_cells, budget.scope)
    note = ""
    if not len(cells) and budget.n_cells:
        other = "other " if len(budget.scope.cells) else ""
        who = "1 object of the query that needs it"
        if cover.least > 1:
            who = f"{cover.least:,} objects of the query that need it"
        note = f"no {other}cell serves {who}{' and fits the limits' if limits.any else ''}"
    return replace(evaluate_cells(cube, cover, cells, budget.best_prefix, note=note), bound=bound)


def _choose_by_calls(
    cube: Cube, function: CallableObjective, left: Array, limits: Limits, n_cells: int, progress: Progress = silent
) -> Array:
    members = cube.cells.members
    objects = np.empty(0, dtype=np.int32)
    chosen: list[int] = []
    calls, most = 0, sum(range(len(left), max(0, len(left) - n_cells), -1))
    while len(chosen) < n_cells and len(left):
        worth = np.empty(len(left))
        for place, cell in enumerate(left.tolist()):
            worth[place] = function.value(np.union1d(objects, members[cell]))
            calls += 1
            progress(Stage(f"greedy calls {function.name}", f"cell {len(chosen) + 1:,} of {n_cells:,}"), calls, most)
        order = order_best_first(worth)
        taken = limits.admit(left[order], 1)
        if len(taken) == 0:
            break
        cell = int(left[order[taken[0]]])
        left = np.delete(left, order[: taken[0] + 1])
        objects = np.union1d(objects, members[cell])
        chosen.append(cell)
    return np.array(chosen, dtype=np.int64)


def _choose_by_price(cube: Cube, query: Query, weights: QueryObjective, budget: Budget) -> Selection:
    if isinstance(weights, CoverObjective):
        raise ParameterError("by is 'price', and the objective 'cover' has no costs: use by='value'")
    if isinstance(weights, CallableObjective):
        raise ParameterError(f"by is 'price', and {weights.name} is a function without gains and costs: use by='value'")
    if budget.max_links is not None:
        raise ParameterError(f"by is 'price', which cannot keep max_links={budget.max_links:,}: use by='value'")
    room = compute_room(cube, query, budget)
    if room < 0:
        return evaluate_cells(cube, weights, np.empty(0, dtype=np.int64))
    cells, _ = select_at_price(cube, query, weights, budget.n_cells, max_nodes=room, scope=budget.scope)
    return evaluate_cells(cube, weights, cells, budget.best_prefix)


def order_best_first(worth: Array) -> Array:
    """Return the positions of the values in descending order, the earlier first among equals.

    >>> order_best_first(np.array([0.1, 0.3, 0.1 + 0.2, 0.5])).tolist()
    [3, 1, 2, 0]
    """
    largest = float(np.abs(worth).max(initial=0.0))
    worth = np.round(worth / largest, DIGITS) if largest > 0 else worth
    return np.argsort(-worth, kind="stable")


def select_at_price(
    cube: Cube, query: Query, weights: Weights, n_cells: int, *, max_nodes: float = math.inf, scope: Scope = OPEN
) -> tuple[Array, float]:
    """Return at most m cells, in the order taken, and their value: greedy on G − λ·C at the best price λ.

    The value of a selection S is (G₀ + G(S)) / (C₀ + C(S)), with G and C the sums of gain and cost. It is above a price
    λ exactly where G₀ + G(S) − λ·(C₀ + C(S)) > 0 (where C₀ + C(S) > 0), so a selection of the largest G − λ·C, at
    λ = the best value known, is better than all known ones or proves that none is (Dinkelbach 1967). Greedy
    approximates it: at every step the cell with the largest remaining G − λ·C is added while that is positive, and this
    is repeated with λ = the value reached until the value no longer rises, on real cubes after 5 to 11 rounds.

    ``max_nodes`` limits the objects outside the query and the pins. Among equal cells (to 12 digits) the one of the
    lowest number is taken.
    """
    cells = drop_forbidden_cells(find_candidates(cube, weights), scope)
    rows = None if weights.rows is None else np.union1d(weights.rows, query.objects)
    everyone = np.arange(weights.count) if rows is None else rows
    gains, costs = weights.at(everyone)
    nodes = mark_new_nodes(cube, query, scope, everyone)
    best, value, price = np.empty(0, dtype=np.int64), weights.ratio(0.0, 0.0), 0.0
    while True:
        other = (weights.others[0] - price * weights.others[1], 1.0)
        terms = np.column_stack([gains - price * costs, nodes])
        sums = Sums(cube.cells.members, cube.object_cells, cells, rows, terms, other)
        chosen = sums.take_by_sum(cells, n_cells, max_nodes)
        reached = weights.value(np.unique(take_rows(cube.cells.members, chosen).indices))
        if reached > value + EQUAL * abs(value):
            best, value = chosen, reached
        elif price == value:
            return best, value
        price = value


def find_candidates(cube: Cube, weights: Weights, at_least: float = 0.0) -> Array:
    """Return the cells with an object whose gain is at least the price of its cost, or all where others may help."""
    from cube2net.kernels import coverage

    if untouched_may_help(weights):
        return np.arange(len(cube.cells))
    gain, cost = weights.at(weights.paying)
    worth = weights.paying[gain >= max(0.0, at_least) * (1.0 - ROUNDING) * cost]
    return np.asarray(
        coverage.find_touched_cells(worth, cube.object_cells.indptr, cube.object_cells.indices, len(cube.cells))
    )


class Sums:
    """Two sums (gain and cost) over the members of cells that no chosen cell holds, updated as cells are chosen.

    ``members`` is cell → objects and ``object_cells`` object → cells; the objects may be groups of objects. Where only
    ``rows`` have terms of their own, the sums of a cell are its size times the terms of others, corrected for the rows
    it holds, so that only the cells of the rows are visited. Without rows ``terms`` are of all objects, and all members
    of ``cells`` are visited once. Sums of whole numbers are the same either way.

    ``of[cell]`` are the sums of a cell, for ``cells`` only.
    """

    def __init__(
        self,
        members: Ragged,
        homes: Ragged,
        cells: Array,
        rows: Array | None,
        terms: Array,
        others: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        from cube2net.kernels import coverage

        self._members = (members.indptr, members.indices)
        self._homes = (homes.indptr, homes.indices)
        self._terms, self._others = np.ascontiguousarray(terms, dtype=np.float64), np.array(others)
        self._rows = np.empty(0, dtype=np.int64) if rows is None else rows.astype(np.int64)
        self._dense = rows is None
        self._state = np.zeros(len(homes), dtype=np.uint8)
        self.of = np.zeros((len(members), 2))
        if self._dense:
            gain, cost = self._terms[:, 0], self._terms[:, 1]
            self.of[cells, 0], self.of[cells, 1] = coverage.compute_residuals(
                cells, *self._members, self._state, gain, cost
            )
            return
        indptr = self._members[0]
        self.of[cells] = (indptr[cells + 1] - indptr[cells])[:, None] * self._others
        coverage.spread(self._rows, self._terms - self._others, *self._homes, self.of)
        self._state[self._rows] = 2

    def add(self, cell: int) -> None:
        """Choose a cell: subtract the terms of its members from every cell that holds them."""
        from cube2net.kernels import coverage

        rows = (*self._members, *self._homes)
        if self._dense:
            coverage.cover_all(cell, *rows, self._terms, self._state, self.of)
        else:
            coverage.cover(cell, *rows, self._rows, self._terms, self._others, self._state, self.of)

    def take_by_value(self, cells: Array, above: float, below: float, most: int) -> Array:
        """Return at most ``most`` cells in the order taken, each the one that raises above / below most."""
        from cube2net.kernels import coverage

        chosen: list[int] = []
        while len(chosen) < most and len(cells):
            place = int(coverage.best_value(cells, self.of, above, below, 10.0**DIGITS))
            cell = int(cells[place])
            above, below = above + float(self.of[cell, 0]), below + float(self.of[cell, 1])
            self.add(cell)
            cells = np.delete(cells, place)
            chosen.append(cell)
        return np.array(chosen, dtype=np.int64)

    def take_by_sum(self, cells: Array, most: int, room: float = math.inf) -> Array:
        """Return at most ``most`` cells in the order taken, each that of the largest first sum, while it is positive.

        A cell is skipped when its second sum is more than is left of ``room``. Sums that agree to 12 digits of the
        largest at the start are equal.
        """
        from cube2net.kernels import coverage

        equal = EQUAL * float(np.abs(self.of[cells, 0]).max(initial=0.0))
        taken = np.zeros(len(cells), dtype=bool)
        chosen: list[int] = []
        while len(chosen) < most:
            place = int(coverage.best_sum(cells, self.of, taken, room, equal))
            if place < 0:
                break
            cell = int(cells[place])
            taken[place] = True
            room -= float(self.of[cell, 1])
            self.add(cell)
            chosen.append(cell)
        return np.array(chosen, dtype=np.int64)


class Served:
    """How many objects each cell would serve that still need one, as cells are chosen.

    ``cells`` are the cells that hold an object of the query, ascending; ``gains[i]`` is what the i-th would add now,
    and ``left[q]`` how often the q-th object of the query may still be held. Forbidden cells are taken from the start.
    """

    def __init__(self, cube: Cube, cover: CoverObjective, scope: Scope = OPEN) -> None:
        self.object_cells = take_rows(cube.object_cells, cover.objects)
        self.cells, entries = np.unique(self.object_cells.indices, return_inverse=True)
        self.object_cells = Ragged(self.object_cells.indptr, entries.astype(np.int32))
        self.members = ragged_from_pairs(entries, row_of_entries(self.object_cells), len(self.cells))
        self.taken = np.zeros(len(self.cells), dtype=bool)
        sizes = self.object_cells.sizes
        if len(scope.forbidden_cells):
            closed, _ = find_places(self.cells, scope.forbidden_cells)
            self.taken[closed] = True
            sizes = sizes - np.bincount(take_rows(self.members, closed).indices, minlength=len(sizes))
        self.left = sizes.copy() if cover.most is None else np.minimum(sizes, cover.most)
        self.gains: Array = self.members.sizes.copy()
        if cover.held is not None and cover.most is not None:
            self.left = np.minimum(self.left, np.maximum(cover.most - cover.held, 0))
        if len(scope.forbidden_cells) or cover.held is not None:
            served = take_rows(self.object_cells, np.flatnonzero(self.left == 0))
            self.gains -= np.bincount(served.indices, minlength=len(self.cells))

    def take(self, place: int) -> int:
        """Choose a cell by its place, and return how many objects it serves."""
        self.taken[place] = True
        objects = self.members[place]
        needing = objects[self.left[objects] > 0]
        self.left[needing] -= 1
        served = needing[self.left[needing] == 0]
        if len(served):
            np.subtract.at(self.gains, take_rows(self.object_cells, served).indices, 1)
        return len(needing)

    def bound(self, served: float, n_cells: int) -> float:
        """Return an upper bound on the value of any m cells: what is served, and the m largest remaining gains."""
        free = np.maximum(self.gains[~self.taken], 0)
        most = np.sort(free)[max(0, len(free) - n_cells) :]
        return served + min(float(most.sum()), float(self.left.sum()))


def serve_greedily(
    cube: Cube, cover: CoverObjective, limits: Limits, n_cells: int, scope: Scope = OPEN
) -> tuple[Array, float]:
    """Return at most m cells, each the first that serves most, and a bound on the value of any m.

    It ends when no cell serves ``cover.least`` objects. A cell that would break a limit is skipped.
    """
    served = Served(cube, cover, scope)
    value, bound = cover.value0, served.bound(cover.value0, n_cells)
    if cover.most is None and not limits.any:
        # Every time counts, so no choice changes what another cell adds.
        order = _best_first(served, only=False)
        order = order[served.gains[order] >= cover.least][:n_cells]
        return served.cells[order].astype(np.int64), bound
    chosen: list[int] = []
    while len(chosen) < n_cells and len(served.cells):
        order = _best_first(served, only=not limits.any)
        order = order[served.gains[order] >= cover.least]
        admitted = limits.admit(served.cells[order], 1)
        if len(admitted) == 0:
            break
        place = int(order[admitted[0]])
        served.taken[order[: admitted[0]]] = True
        chosen.append(int(served.cells[place]))
        value += served.take(place)
    if not limits.any:
        bound = min(bound, served.bound(value, n_cells))
    return np.array(chosen, dtype=np.int64), max(bound, value)


def order_by_service(cube: Cube, cover: CoverObjective, cells: Array) -> Array:
    """Return cells in the order in which they serve most."""
    served = Served(cube, cover)
    served.taken[:] = ~np.isin(served.cells, cells)
    order: list[int] = []
    while not served.taken.all():
        place = int(_best_first(served, only=True)[0])
        order.append(int(served.cells[place]))
        served.take(place)
    return np.array(order, dtype=np.int64)


def _best_first(served: Served, *, only: bool) -> Array:
    """Return the places of the free cells, best first, or ``only`` the first of them."""
    gains = np.where(served.taken, TAKEN, served.gains)
    if only:
        place = int(np.argmax(gains))
        return np.array([place] if gains[place] > TAKEN else [], dtype=np.int64)
    order = np.argsort(-gains, kind="stable")
    return np.asarray(order[gains[order] > TAKEN])
