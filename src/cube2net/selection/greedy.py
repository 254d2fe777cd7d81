"""The best cell, again and again: by the value it leads to, or by what it brings less what it costs at a price."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from cube2net._util.arrays import Array, take_rows
from cube2net._util.progress import Progress, silent
from cube2net.errors import ParameterError, unknown
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
from cube2net.selection.contract import (
    Limits,
    check,
    compute_room,
    drop_forbidden_cells,
    explain_no_choice,
    find_wanted,
    mark_new_nodes,
    outcome,
    untouched_may_help,
)
from cube2net.selection.problem import DIGITS, EQUAL, Problem, Sums, find_candidates, serve_greedily

AMONG = ("touched", "all")
BY = ("value", "price")


@dataclass(frozen=True, kw_only=True)
class Greedy:
    """Add, at every step, the cell that raises the objective most, or lowers it least.

    There are exactly m steps, as in the paper, even when the value falls (``Budget(prefix="best")`` cuts it
    where it was highest). Among equals the cell of the lowest number is taken. Values that agree to 12 digits
    are equal: beyond that, sums of weights depend on the order of adding.

    For ``cover`` the cell is taken that serves most objects of the query which still need one, and choosing ends when
    none serves enough of them (see ``Cover``); m is then the most there may be, and a bound is always known.

    Parameters
    ----------
    among
        ``"touched"`` looks only at cells that hold an object with a positive gain (in the paper's objective: an object
        of the query), and stops early when they run out. ``"all"`` looks at every cell at every step: the paper's
        CubeGreedy to the letter.
    by
        ``"value"`` goes by the value that a cell leads to. ``"price"`` adds the cell with the largest gain − λ·cost
        while that is above 0, at a price λ that is the best value known, and repeats with the value reached until it no
        longer rises (see ``priced_greedy``). That chooses at most m cells, with a higher value as a rule, and takes no
        ``max_links`` and no function.
    progress
        Told how far it is where a function of one's own is asked; :func:`construct` hands its own down.

    Notes
    -----
    *While the value rises both kinds of* ``among`` *choose the same cells.* Let a selection have the value G / C, and
    let a cell that is not touched add the gain −a ≤ 0 and the cost b ≥ 0. Where G ≥ 0 and C > 0, its value (G − a) / (C
    + b) is at most G / C; where costs are nil (b = 0) the same holds for any G; and a selection without cost is worth
    0, which (0 − a) / b does not exceed. So a step that raises the value takes a touched cell. That covers every
    built-in objective; for weights with which G could be below 0, or above 0 without a cost (``untouched_may_help``),
    all cells are looked at.

    *When the value must fall*, a small untouched cell may lower it less than any touched one, and then the two
    differ. Such a cell brings objects that are worth nothing and no object of the query: it only pads a
    selection up to m cells, so it is not the default.

    Examples
    --------
    The four planted cells of a community hold its members and nobody else. Only among all cells a fifth is found, which
    brings others:

    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> c2n.construct(cube, planted.query(0), c2n.Greedy(among="all"), n_cells=5, form="objects").selection
    Selection(5 cells, 75 objects, value 0.6667)
    >>> c2n.construct(cube, planted.query(0), c2n.Greedy(by="price"), n_cells=5, form="objects").selection
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
            raise unknown("by", self.by, BY)
        if self.among not in AMONG:
            raise unknown("among", self.among, AMONG)
        if self.by == "price" and self.among == "all":
            raise ParameterError(
                "among is 'all', and by 'price' only cells that may help are looked at: use by='value'"
            )

    @property
    def counts_repeats(self) -> bool:
        """Whether it serves the objective cover, which has no costs to go by."""
        return self.by == "value"

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return at most m cells in the order chosen; a cell that would break a limit is passed over.

        The seed is not used. The cost follows the members of the cells looked at: what each cell would still
        add is summed once, and then only lowered as its members become covered. With a function of one's own
        nothing can be summed: at each step it is called once for every cell left that holds an object of the
        query (for any cell left with ``among="all"``), some m times the number of such cells in all.
        """
        check(cube, query, weights)
        nothing = explain_no_choice(cube, query, weights, budget.scope)
        if nothing is not None:
            return nothing
        if self.by == "price":
            return _choose_by_price(cube, query, weights, budget)
        limits = Limits(cube, query, budget)
        if isinstance(weights, CoverObjective):
            return _choose_by_repeats(cube, weights, limits, budget)
        left = drop_forbidden_cells(self._candidates(cube, query, weights), budget.scope)
        if isinstance(weights, CallableObjective):
            cells = _choose_by_calls(cube, weights, left, limits, budget.n_cells, self.progress)
        else:
            cells = _choose_by_counts(cube, weights, left, limits, budget.n_cells)
        lacks = self._lacks(query, weights, budget.scope)
        return outcome(cube, weights, cells, budget.prefix, note=limits.note(len(cells), lacks))

    def _candidates(self, cube: Cube, query: Query, weights: Weights | CallableObjective) -> Array:
        from cube2net.kernels import coverage

        if self._looks_at_all(weights):
            return np.arange(len(cube.cells))
        worth = find_wanted(query, weights) if isinstance(weights, CallableObjective) else weights.paying
        return np.asarray(coverage.touched(worth, cube.object_cells.indptr, cube.object_cells.indices, len(cube.cells)))

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
        order = order_best_first(coverage.values(left, sums.of[:, 0], sums.of[:, 1], above, below))
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


def _choose_by_repeats(cube: Cube, repeats: CoverObjective, limits: Limits, budget: Budget) -> Selection:
    cells, bound = serve_greedily(cube, repeats, limits, budget.n_cells, budget.scope)
    note = ""
    if not len(cells) and budget.n_cells:
        many = repeats.least > 1
        other = "other " if len(budget.scope.cells) else ""
        who = f"{repeats.least:,} object{'s' * many} of the query that need{'s' * (not many)} it"
        note = f"no {other}cell serves {who}{' and fits the limits' if limits.any else ''}"
    return replace(outcome(cube, repeats, cells, budget.prefix, note=note), bound=bound)


def _choose_by_calls(
    cube: Cube, judge: CallableObjective, left: Array, limits: Limits, n_cells: int, progress: Progress = silent
) -> Array:
    members = cube.cells.members
    brought = np.empty(0, dtype=np.int32)
    chosen: list[int] = []
    asked, most = 0, sum(range(len(left), max(0, len(left) - n_cells), -1))
    while len(chosen) < n_cells and len(left):
        worth = np.empty(len(left))
        for place, cell in enumerate(left.tolist()):
            worth[place] = judge.value(np.union1d(brought, members[cell]))
            asked += 1
            progress(f"greedy asks {judge.name}: cell {len(chosen) + 1:,} of {n_cells:,}", asked, most)
        order = order_best_first(worth)
        taken = limits.admit(left[order], 1)
        if len(taken) == 0:
            break
        cell = int(left[order[taken[0]]])
        left = np.delete(left, order[: taken[0] + 1])
        brought = np.union1d(brought, members[cell])
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
        return outcome(cube, weights, np.empty(0, dtype=np.int64))
    cells, _ = priced_cells(cube, query, weights, budget.n_cells, max_nodes=room, scope=budget.scope)
    return outcome(cube, weights, cells, budget.prefix)


def order_best_first(worth: Array) -> Array:
    """Return the places of the values from high to low, the earlier first among equals.

    >>> order_best_first(np.array([0.1, 0.3, 0.1 + 0.2, 0.5])).tolist()
    [3, 1, 2, 0]
    """
    largest = float(np.abs(worth).max(initial=0.0))
    worth = np.round(worth / largest, DIGITS) if largest > 0 else worth
    return np.argsort(-worth, kind="stable")


def priced_greedy(
    problem: Problem, n_cells: int, *, price: float = 0.0, max_nodes: float | None = None
) -> tuple[Array, float]:
    """Return positions of at most m cells, in the order taken, and their value: greedy on G − λ·C at the best price λ.

    The value of a selection S is (G₀ + G(S)) / (C₀ + C(S)), with G and C the sums of gain and cost. It is above
    a price λ exactly where

        G₀ + G(S) − λ·(C₀ + C(S)) > 0        (where C₀ + C(S) > 0),

    so a selection of the largest G − λ·C, at λ = the best value known, is better than all known ones or proves
    that none is (Dinkelbach 1967). Greedy finds a large one: at every step the cell with the largest G − λ·C of
    what no chosen cell holds yet is added, while there is one above 0, and this is repeated with λ = the value
    reached until the value no longer rises. It starts at λ = ``price``. Values are of a finite number of selections
    and rise, so it ends: on real cubes after 5 to 11 rounds.

    ``max_nodes`` is the most objects outside the query that may be brought (``problem.nodes``). Among equal cells
    the one of the lowest position is taken; what agrees to 12 digits is equal.
    """
    every = np.arange(len(problem))
    room = math.inf if max_nodes is None else float(max_nodes)

    def take(price: float) -> tuple[Array, float]:
        terms = np.column_stack([problem.gain - price * problem.cost, problem.nodes])
        chosen = Sums(problem.members, problem.object_cells, every, None, terms).take_by_sum(every, n_cells, room)
        return chosen, problem.value(chosen)

    return _raise_price(take, problem.ratio(0.0, 0.0), price)


def priced_cells(
    cube: Cube, query: Query, weights: Weights, n_cells: int, *, max_nodes: float | None = None, scope: Scope = OPEN
) -> tuple[Array, float]:
    """Return the cells of :func:`priced_greedy` by their numbers in the cube, and their value.

    No problem is made of the cube first: what is looked at are the homes of the objects with weights of their own,
    and the members of the cells taken.
    """
    cells = drop_forbidden_cells(find_candidates(cube, weights), scope)
    room = math.inf if max_nodes is None else float(max_nodes)
    rows = None if weights.rows is None else np.union1d(weights.rows, query.objects)
    everyone = np.arange(weights.count) if rows is None else rows
    gains, costs = weights.at(everyone)
    nodes = mark_new_nodes(cube, query, scope, everyone)

    def take(price: float) -> tuple[Array, float]:
        other = (weights.others[0] - price * weights.others[1], 1.0)
        terms = np.column_stack([gains - price * costs, nodes])
        chosen = Sums(cube.cells.members, cube.object_cells, cells, rows, terms, other).take_by_sum(
            cells, n_cells, room
        )
        return chosen, weights.value(np.unique(take_rows(cube.cells.members, chosen).indices))

    return _raise_price(take, weights.ratio(0.0, 0.0), 0.0)


def _raise_price(take: Callable[[float], tuple[Array, float]], value: float, price: float) -> tuple[Array, float]:
    """Return the best that is taken, and its value, while the price is raised to the value reached."""
    best = np.empty(0, dtype=np.int64)
    while True:
        chosen, reached = take(price)
        if reached > value + EQUAL * abs(value):
            best, value = chosen, reached
        elif price == value:
            return best, value
        price = value
