"""Simulated annealing: many small changes to a good selection, while the heat falls."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cube2net._util.arrays import Array, Ragged, ragged_from_pairs, take_rows, transpose
from cube2net._util.progress import Stopwatch, check_stop
from cube2net._util.random import stream
from cube2net.errors import ParameterError, check_int
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, QueryObjective, Selection, Weights
from cube2net.selection.constraints import (
    Clock,
    Limits,
    check,
    check_sums,
    compute_room,
    drop_forbidden_cells,
    evaluate_cells,
    explain_no_choice,
    find_selected_objects,
    find_target_objects,
    make_surrogate,
    mark_new_nodes,
)
from cube2net.selection.greedy import EQUAL, Greedy, Sums, select_at_price
from cube2net.selection.problem import Problem

if TYPE_CHECKING:
    from cube2net.kernels.annealing import SwapState

STEPS, CALLS = 100_000, 2_000
# The heat at the start of a cooling and at its end, as a share of what a chosen cell is worth on average: every other
# one starts hotter, and a short one with a cell left out starts warm. Of a function nothing is known, and it starts
# at so much of the mean change met so far.
HOT, HOTTER, WARM, COLD = 0.3, 0.6, 0.1, 0.01
# With a limit of time, the clock is looked at every so many steps, and the first round is so much shorter.
CHUNK, SHORTER = 8_192, 8
# How often a function is asked about one cell less, about a swap where one more cell is allowed, and about a cell that
# holds more of the query; how many cells are drawn for one proposed; and after how many that break a limit it ends.
DROPS, SWAPS, AIMED, TRIES, MISFITS = 0.1, 0.5, 0.8, 3, 1_000
NONE_HELPS = "no cells are worth more than none"


@dataclass(frozen=True, kw_only=True)
class Anneal:
    """Choose at most m cells by simulated annealing.

    Cells are swapped, added and dropped; a change that lowers the value by Δ is accepted with probability ∝ exp(−Δ /
    heat). The search starts from the better of greedy and priced greedy, and the result is never below either. There
    are ``restarts`` rounds, each from the best selection so far: a cooling of ``steps`` proposed cells, in which the
    heat falls geometrically from about half of the mean value of a chosen cell to a hundredth; then as many steps in
    short coolings, in each of which one of the chosen cells is excluded, so that a large cell can be replaced by
    several small ones. The result depends on the seed only.

    A user's function is called at most ``steps`` times in a cooling, and then once per cell of the result; with
    ``seconds``, as often as time allows. The search then starts from the cells that overlap best with the query,
    because greedy would call the function far more often, so the result can be below greedy's.

    Parameters
    ----------
    steps
        Proposed cells in one cooling; by default 100,000, and 2,000 for a function.
    restarts
        The number of rounds.
    seconds
        A time limit instead of ``restarts``: each round is twice as long as the one before, and the result depends on
        the speed of the machine. By default there is no time limit.
    """

    chooses_cells: ClassVar[bool] = True
    draws: ClassVar[bool] = True
    counts_repeats: ClassVar[bool] = False

    steps: int | None = None
    restarts: int = 5
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_int("steps", self.steps, 1, or_none=True, what="steps, or None")
        check_int("restarts", self.restarts, 1, what="rounds")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0, or None")

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return at most m cells within the limits of the budget, those that add most first."""
        import_module("cube2net.kernels.annealing")  # loaded before the clock starts

        check(cube, query, weights)
        weights = check_sums(weights, "anneal")
        nothing = explain_no_choice(cube, query, weights, budget.scope)
        if nothing is not None:
            return nothing
        clock = Clock(self.seconds)
        guide = make_surrogate(cube, query, weights, budget.scope)
        greedy = Greedy().select(cube, query, weights=guide, budget=replace(budget, best_prefix=False))
        if len(greedy.cells) == 0:
            return evaluate_cells(cube, weights, greedy.cells, note=greedy.note)
        priced = _choose_at_price(cube, query, guide, budget)
        if isinstance(weights, CallableObjective):
            calls = BlackBoxAnnealer(cube, query, weights, budget)
            cells = calls.anneal([priced, greedy.cells], self.steps or CALLS, clock, guide, seed)
            selection = evaluate_cells(cube, weights, order_cells(cube, guide, cells), best_prefix=True)
        else:
            starts = [evaluate_cells(cube, weights, cells, best_prefix=True) for cells in (greedy.cells, priced)]
            begin = max(starts, key=lambda start: start.value)
            problem = Problem.of(cube, query, weights, at_least=begin.value, n_cells=budget.n_cells, scope=budget.scope)
            selection = begin
            if len(problem):
                jumps = float(np.abs(greedy.gains(weights.ratio(0.0, 0.0))).mean())
                annealer = Annealer(cube, query, problem, budget, begin, jumps, seed)
                self._anneal(annealer, clock)
                best = evaluate_cells(
                    cube, weights, order_cells(cube, weights, problem.cells[annealer.best]), best_prefix=True
                )
                selection = best if best.value >= begin.value else begin
        return selection if len(selection.cells) else replace(selection, note=NONE_HELPS)

    def _anneal(self, annealer: Annealer, clock: Clock) -> None:
        length = self.steps or STEPS
        if self.seconds is None:
            for _ in range(self.restarts):
                annealer.round(length, clock)
            return
        length = max(1, length // SHORTER)
        while clock.left > 0:
            annealer.round(min(length, annealer.fitting(clock.left / 2)), clock)
            length *= 2


class Annealer:
    """The compiled annealing of one problem: the ``best`` positions met and their ``value``, and its arrays.

    ``jumps`` is what a cell is worth where none of the best is worth anything.
    """

    def __init__(
        self, cube: Cube, query: Query, problem: Problem, budget: Budget, begin: Selection, jumps: float, seed: int
    ) -> None:
        from cube2net.kernels.annealing import SwapProblem

        price = begin.value
        worth = np.column_stack([problem.gain, problem.cost, problem.nodes])
        totals = problem.cell_totals
        pays = problem.gain - price * problem.cost
        targets = np.flatnonzero(pays > 0)
        key = totals[:, 0] - price * totals[:, 1]
        if budget.max_nodes is not None:
            key /= np.maximum(totals[:, 2], 1.0)
        linked = budget.max_links is not None
        objects = links = Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))
        if linked:
            outside = mark_new_nodes(cube, query, budget.scope, problem.objects) > 0
            objects = ragged_from_pairs(problem.group[outside], problem.objects[outside], len(problem.gain))
            links = cube.links.rows
        members, plain, common = _plain_last(problem.members, worth)
        self._choice = SwapProblem(
            members.indptr,
            members.indices,
            problem.object_cells.indptr,
            problem.object_cells.indices,
            worth,
            totals,
            targets,
            np.cumsum(pays[targets]),
            key,
            objects.indptr,
            objects.indices,
            links.indptr,
            links.indices,
            plain,
            common,
        )
        self._constants = (problem.gain0, problem.cost0)
        self._slots = min(budget.n_cells, len(problem))
        self._room = compute_room(cube, query, budget)
        self._links = math.inf if budget.max_links is None else float(budget.max_links)
        self._least = EQUAL * float(totals[:, 1].max())
        self._present = np.zeros(len(cube.objects) if linked else 0, dtype=np.int8)
        self._own_links = 0
        if linked:
            from cube2net.kernels.coverage import NO_LIMIT, bring

            start = np.union1d(query.objects, find_selected_objects(cube, budget.scope))
            _, self._own_links = bring(start, self._present, links.indptr, links.indices, NO_LIMIT, NO_LIMIT - 1)
        self._jumps = jumps if jumps > 0 else 1.0
        self._random = stream(seed, "select", "anneal").integers(2**63, size=1).astype(np.uint64)
        self._rounds, self._done, self._spent = 0, 0, 0.0
        self.best = np.flatnonzero(np.isin(problem.cells, begin.cells))
        self.value = problem.value(self.best)

    def round(self, steps: int, clock: Clock) -> None:
        """Cool from the best, and then with each of its cells left out in turn."""
        self._cool(steps, HOTTER if self._rounds % 2 else HOT, clock)
        self._rounds += 1
        cells = self.best.tolist()
        for cell in cells:
            if clock.left > 0 and cell in self.best:
                self._cool(-(-steps // len(cells)), WARM, clock, without=cell)

    def _cool(self, steps: int, hot: float, clock: Clock, without: int = -1) -> None:
        from cube2net.kernels import annealing as kernels

        watch = Stopwatch()
        state, limits = self._state(), (self._room, self._links, self._least)
        worth = kernels.start(self._choice, state, self.best[self.best != without], self._least)
        scale = worth if worth > 0 else self._jumps
        if without >= 0:
            state.slot[without] = self._slots  # no slot, so it is never put into one
        for first in range(0, steps, CHUNK):
            check_stop()
            last = min(first + CHUNK, steps)
            kernels.cool(self._choice, state, first, last, steps, hot * scale, COLD * scale, *limits)
            self._done += last - first
            if clock.left <= 0:
                break
        self._spent += watch.seconds
        if state.value[1] > self.value + EQUAL * abs(self.value):
            self.best, self.value = state.best[: state.filled[1]].copy(), float(state.value[1])

    def fitting(self, seconds: float) -> int:
        """Return how many steps fit into a time, at the speed so far."""
        return max(1, int(self._done / self._spent * seconds)) if self._spent > 0 else CHUNK

    def _state(self) -> SwapState:
        from cube2net.kernels.annealing import COLUMNS, SwapState

        cells, groups, slots = len(self._choice.key), len(self._choice.worth), self._slots
        return SwapState(
            chosen=np.zeros(slots, np.int64),
            slot=np.full(cells, -1, np.int64),
            covers=np.zeros(groups, np.int32),
            owner=np.zeros(groups, np.int32),
            tag=np.zeros(groups, np.uint8 if slots < 255 else np.int32),
            alone=np.zeros((slots, COLUMNS)),
            sums=np.array([*self._constants, 0.0, self._own_links]),
            value=np.zeros(2),
            filled=np.zeros(2, np.int64),
            best=np.zeros(slots, np.int64),
            shared=np.zeros((slots + 1, COLUMNS)),
            odds=np.zeros(slots + 1),
            counts=np.zeros((2, slots + 2), np.int64),
            present=self._present.copy(),
            random=self._random,
        )


def _plain_last(members: Ragged, worth: Array) -> tuple[Ragged, Array, Array]:
    """Return the rows with groups of a common worth last, where these begin in each row, and that worth.

    It is the median of every column where a group has just that, which is so where most are worth the same.
    """
    from cube2net.kernels.annealing import plain_last

    common = np.median(worth, axis=0) if len(worth) else np.zeros(worth.shape[1])
    if len(worth) and not bool((worth == common).all(axis=1).any()):
        common = worth[0]
    plain = (worth == common).all(axis=1)
    entries, starts = plain_last(members.indptr, members.indices, plain)
    return Ragged(members.indptr, entries), starts, common


class BlackBoxAnnealer:
    """Annealing of a function of the objects: a cell is swapped, added or dropped, and each new set is one call.

    Cells are proposed that hold an object of the query not held yet, and rather those that overlap well with the query.
    """

    def __init__(self, cube: Cube, query: Query, objective: CallableObjective, budget: Budget) -> None:
        self._cube, self._query, self._objective, self._budget = cube, query, objective, budget
        self._values: dict[frozenset[int], float] = {}
        self._open = drop_forbidden_cells(np.arange(len(cube.cells)), budget.scope)
        self._wanted = find_target_objects(query, objective)
        if not budget.scope.empty:
            self._wanted = np.setdiff1d(self._wanted, find_selected_objects(cube, budget.scope), assume_unique=True)

    def anneal(self, starts: list[Array], steps: int, clock: Clock, guide: Weights, seed: int) -> Array:
        """Return the best cells met with at most so many calls, or until the time is over where there is a limit."""
        rng = stream(seed, "select", "anneal")
        sets = [frozenset(cells.tolist()) for cells in (*starts, starts[0][:0])]
        price = max(guide.value(self._find_members(cells)) for cells in sets)
        every = np.arange(len(self._cube.cells))
        terms = np.column_stack(guide.given)
        sums = Sums(self._cube.cells.members, self._cube.object_cells, every, guide.rows, terms, guide.others).of
        self._key = sums[:, 0] - price * sums[:, 1]
        now = best = max(sets[:steps], key=self._value)
        turns, changes, misfits = len(sets), 0.0, 0
        while misfits < MISFITS:
            done = 1.0 - clock.left / clock.seconds if math.isfinite(clock.seconds) else turns / steps
            if done >= 1.0:
                break
            cells = self._change(now, rng)
            if cells not in self._values and not self._fits(cells):
                misfits += 1
                continue
            misfits = 0
            change = self._value(cells) - self._values[now]
            turns, changes = turns + 1, changes + abs(change)
            heat = changes / (turns - len(sets)) * WARM * (COLD / WARM) ** done
            if change >= 0 or rng.random() < math.exp(change / heat):
                now = cells
                best = max(best, now, key=self._value)
        return np.array(sorted(best), dtype=np.int64)

    def _value(self, cells: frozenset[int]) -> float:
        if cells not in self._values:
            self._values[cells] = self._objective.value(self._find_members(cells))
        return self._values[cells]

    def _find_members(self, cells: frozenset[int]) -> Array:
        return np.unique(take_rows(self._cube.cells.members, np.array(sorted(cells), dtype=np.int64)).indices)

    def _fits(self, cells: frozenset[int]) -> bool:
        limits = Limits(self._cube, self._query, self._budget)
        return len(limits.admit(np.array(sorted(cells), dtype=np.int64), len(cells))) == len(cells)

    def _change(self, cells: frozenset[int], rng: np.random.Generator) -> frozenset[int]:
        """Return the cells with one swapped, added or dropped; they may stay the same."""
        kept = cells
        if cells and (len(cells) == self._budget.n_cells or rng.random() < SWAPS):
            kept = cells - {sorted(cells)[rng.integers(len(cells))]}
            if rng.random() < DROPS:
                return kept
        return kept | {self._propose(kept, rng)}

    def _propose(self, cells: frozenset[int], rng: np.random.Generator) -> int:
        drawn = self._open[rng.integers(len(self._open), size=TRIES)]
        missing = np.setdiff1d(self._wanted, self._find_members(cells), assume_unique=True)
        if len(missing) and rng.random() < AIMED:
            homes = drop_forbidden_cells(
                self._cube.object_cells[int(missing[rng.integers(len(missing))])], self._budget.scope
            )
            drawn = homes[rng.integers(len(homes), size=TRIES)] if len(homes) else drawn
        return int(drawn[self._key[drawn].argmax()])


def order_cells(cube: Cube, weights: Weights, cells: Array) -> Array:
    """Return the cells in greedy's order: at every place the one that raises the value most there."""
    cells = np.sort(cells)
    held = take_rows(cube.cells.members, cells)
    objects, place = np.unique(held.indices, return_inverse=True)
    members = Ragged(held.indptr, place)
    every = np.arange(len(cells))
    sums = Sums(members, transpose(members, len(objects)), every, None, np.column_stack(weights.at(objects)))
    return cells[sums.take_by_value(every, weights.gain0, weights.cost0, len(cells))]


def _choose_at_price(cube: Cube, query: Query, weights: Weights, budget: Budget) -> Array:
    """Return the cells of priced greedy, but for those that break a limit after the others."""
    room = compute_room(cube, query, budget)
    cells, _ = select_at_price(cube, query, weights, budget.n_cells, max_nodes=room, scope=budget.scope)
    return cells[Limits(cube, query, budget).admit(cells, budget.n_cells)]
