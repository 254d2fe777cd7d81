"""What an agent is to do for one query: what a trajectory is worth, where it starts from, and by which rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows
from cube2net.progress import Progress, silent
from cube2net.records import Budget, Cube, Query, Selection, Weights, Worth
from cube2net.select.greedy import Greedy
from cube2net.select.limits import Limits
from cube2net.select.objective import Jaccard
from cube2net.select.outcome import check, check_sums, outcome
from cube2net.select.presets import Preset
from cube2net.select.problem import Problem
from cube2net.select.trajectories import Rules

# Near cells unless k says otherwise: this share of the useful ones; this many where every trajectory is judged as
# a whole, since comparing cells by jaccard is then only a guess.
NEAR, NEAR_JUDGED = 0.4, 32


@dataclass(frozen=True, eq=False)
class Task:
    """A query, what its selections are worth, and the cells that may be chosen.

    ``greedy`` is what greedy chose, by jaccard where the worth is a function, and ``start`` the value it reached.
    """

    cube: Cube
    query: Query
    weights: Worth
    budget: Budget
    greedy: Selection
    problem: Problem

    @classmethod
    def of(cls, cube: Cube, query: Query, weights: Worth, budget: Budget, preset: Preset) -> Task:
        """Return the task of a query; it has no cells where none can be chosen."""
        check(cube, query, weights)
        weights = check_sums(weights, "cube2net")
        guide = weights if isinstance(weights, Weights) else Jaccard().weigh(query, len(cube.objects))
        greedy = Greedy().select(cube, query, weights=guide, budget=replace(budget, prefix="all"))
        start = float(greedy.values.max(initial=0.0)) if isinstance(weights, Weights) else 0.0
        problem = Problem.of(cube, query, guide, at_least=start, every=not preset.only_useful)
        return cls(cube, query, weights, budget, greedy, problem)

    @property
    def counted(self) -> bool:
        """Whether the value is the problem's own ratio; if not, every trajectory is judged as a whole."""
        return isinstance(self.weights, Weights) and self.budget.max_links is None

    @property
    def start(self) -> float:
        """The value that greedy reached, by jaccard where the worth is a function."""
        return float(self.greedy.values.max(initial=0.0))

    def rules(self, preset: Preset) -> Rules:
        """Return how an action becomes a cell."""
        near = max(64, math.ceil(NEAR * len(self.problem))) if self.counted else NEAR_JUDGED
        room = math.inf if self.budget.max_nodes is None else float(self.budget.max_nodes - len(self.query))
        return Rules(
            m=self.budget.m,
            k=preset.k or near,
            pass_over=preset.at_a_price,
            whole=preset.whole,
            sees_left=preset.sees_left,
            each_step=preset.each_step,
            own_price=preset.at_a_price and not self.counted,
            max_nodes=room,
        )

    def floor(self, progress: Progress = silent) -> Array:
        """Return the cells that greedy chooses by what they are worth; a function is called for that."""
        if isinstance(self.weights, Weights):
            return self.greedy.cells
        whole = replace(self.budget, prefix="all")
        return Greedy(progress=progress).select(self.cube, self.query, weights=self.weights, budget=whole).cells

    def judged(self, cells: Array) -> float:
        """Return the value of cells by position."""
        members = take_rows(self.cube.cells.members, self._admitted(cells))
        return self.weights.value(np.unique(members.indices))

    def answer(self, cells: Array, prefix: str) -> Selection:
        """Return the selection of cells by position, in the order taken."""
        return outcome(self.cube, self.weights, self._admitted(cells), prefix)

    def _admitted(self, cells: Array) -> Array:
        """Return the numbers of the cells that fit the limits, one after the other."""
        numbers = self.problem.cells[cells]
        return np.asarray(numbers[Limits(self.cube, self.query, self.budget).admit(numbers, len(numbers))])
