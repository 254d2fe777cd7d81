"""Selections that grow side by side, one cell a step: observations, actions and rewards of an agent, on a CPU."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import InputError, ParameterError, check_int
from cube2net.selection.problem import Problem
from cube2net.selection.rl.episodes import Dynamics, Space, check_finite

# Prices are multiples of this, so that gain − price·cost is exact wherever gains and costs are sums of whole numbers
# (or of 1/1024ths), and every processor agrees which cell is best.
PRICE_STEP = 2.0**-24
# An agent's own price is at most e to this power times the current one, and at least its inverse.
MAX_LOG_PRICE_FACTOR = 5.0


class Trajectories:
    """A batch of growing selections.

    The value of a selection is that of the problem's weights, or what ``function`` returns for its cells at the end of
    an episode. The reward of a step is what it adds to the value (of a function: 0, and at the end the value, unless
    the dynamics call it after every step), in units of ``unit_reward``. ``best`` and ``best_cells`` (positions) are the
    best selection of all episodes.
    """

    def __init__(
        self,
        problem: Problem,
        space: Space,
        dynamics: Dynamics,
        *,
        batch: int,
        price: float = 0.0,
        unit_reward: float = 1.0,
        function: Callable[[Array], float] | None = None,
    ) -> None:
        from cube2net.kernels.coverage import compute_residuals

        check_int("batch", batch, 1, what="selections")
        if len(space) != len(problem):
            raise InputError(
                f"the space has {len(space):,} cells and the problem {len(problem):,}: take the problem's cells of it"
            )
        if not (math.isfinite(unit_reward) and unit_reward > 0):
            raise ParameterError(f"unit_reward is {unit_reward!r}, expected a finite number above 0")
        self.problem, self.space, self.dynamics, self.batch = problem, space, dynamics, batch
        self.unit_reward, self.function = unit_reward, function
        self.steps = dynamics.n_cells
        self.actions = space.directions + dynamics.own_price
        self.observations = 2 * space.directions + 2 if dynamics.sees_left else space.directions
        self.best, self.best_cells = -math.inf, np.empty(0, dtype=np.int64)
        self.met = 0
        self._chosen: list[Array] = []
        self._to_go = 0
        cells, groups = len(problem), len(problem.gain)
        members = problem.members
        nothing = np.zeros(groups, dtype=np.int32)
        self._first = compute_residuals(
            np.arange(cells), members.indptr, members.indices, nothing, problem.gain, problem.cost
        )
        # A copy even where it is none too many: a kernel is compiled anew for arrays that cannot be written to.
        self._turned = np.array(space.points.T, order="C")
        self._points = space.points.astype(np.float32) / np.float32(space.unit)
        self._covers = np.zeros((batch, groups), dtype=np.int32)
        self._gains, self._costs = np.empty((batch, cells)), np.empty((batch, cells))
        self._free = np.empty((batch, cells), dtype=np.bool_)
        self._far = np.empty((batch, cells), dtype=np.int32)
        self._centre, self._left = np.zeros((batch, space.directions)), np.zeros(batch)
        self.set_price(price)

    def set_price(self, price: float) -> None:
        """Set what a unit of cost weighs against a unit of gain where near cells are compared."""
        if not math.isfinite(price):
            raise ParameterError(f"price is {price!r}, expected a finite number")
        self.price = _on_steps(price)

    def reset(self) -> Array:
        """Empty every selection and return what is seen."""
        problem, batch = self.problem, self.batch
        self._covers[:] = 0
        self._gains[:], self._costs[:] = self._first
        self._free[:] = True
        self._above, self._below = np.full(batch, problem.gain0), np.full(batch, problem.cost0)
        self._room = np.full(batch, float(self.dynamics.max_nodes))
        self._sum = np.zeros((batch, self.space.directions), dtype=np.float32)
        self._chosen, self._to_go = [], self.steps
        if self.function is None:
            self._values = self._ratios()
        else:
            each_step = self.dynamics.each_step
            self._values = np.full(batch, self.function(np.empty(0, dtype=np.int64)) if each_step else math.nan)
        self._look()
        self._worth0 = float(self._left[0])
        return self._observe()

    def step(self, actions: Array) -> tuple[Array, Array]:
        """Let every selection take a cell near its action; return what is seen, and the rewards."""
        if self._to_go < 1:
            raise InputError(f"the {self.steps:,} steps of the selections are over, or not begun: reset them first")
        if actions.shape != (self.batch, self.actions):
            raise InputError(f"actions have shape {actions.shape}, expected {(self.batch, self.actions)}")
        actions = np.asarray(actions)  # which may be a tensor
        check_finite(actions)
        moves = actions[:, : self.space.directions]
        points = self.space.on_grid(moves + self._centre if self.dynamics.sees_left else moves)
        chosen = np.empty(self.batch, dtype=np.int64)
        if self.dynamics.own_price:
            for row, factor in enumerate(
                np.exp(np.clip(actions[:, -1], -MAX_LOG_PRICE_FACTOR, MAX_LOG_PRICE_FACTOR)).tolist()
            ):
                self._take(points, chosen, _on_steps(self.price * factor), row, row + 1)
        else:
            self._take(points, chosen, self.price, 0, self.batch)
        took = chosen >= 0
        self._sum[took] += self._points[chosen[took]]
        self._chosen.append(chosen)
        self._to_go -= 1
        rewards = self._compute_rewards() if self.function is None else self._compute_function_rewards(self.function)
        self._look()
        return self._observe(), (rewards * (1.0 / self.unit_reward)).astype(np.float32)

    @property
    def values(self) -> Array:
        """What every selection is worth now; of a function, nan until the end."""
        return self._values.copy()

    @property
    def has_steps(self) -> bool:
        """Whether a step was done in this episode."""
        return bool(self._chosen)

    @property
    def over(self) -> bool:
        """Whether the last step is done."""
        return len(self._chosen) == self.steps

    @property
    def last_positions(self) -> Array:
        """The position of the cell that every selection took last; -1 for none."""
        return self._chosen[-1].copy() if self._chosen else np.full(self.batch, -1)

    def cells(self, row: int) -> Array:
        """Return the positions of the cells that one selection holds, in the order taken."""
        return np.array([chosen[row] for chosen in self._chosen if chosen[row] >= 0], dtype=np.int64)

    def _take(self, points: Array, chosen: Array, price: float, first: int, last: int) -> None:
        from cube2net.kernels.rollout.numba_rollout import step

        problem, dynamics = self.problem, self.dynamics
        step(
            points,
            self._turned,
            dynamics.k,
            price,
            dynamics.pass_over,
            problem.members.indptr,
            problem.members.indices,
            problem.object_cells.indptr,
            problem.object_cells.indices,
            problem.gain,
            problem.cost,
            problem.nodes,
            self._covers,
            self._gains,
            self._costs,
            self._free,
            self._above,
            self._below,
            self._room,
            self._far,
            first,
            last,
            chosen,
        )

    def _look(self) -> None:
        """Compute the centre of what is left for every selection."""
        if not self.dynamics.sees_left:
            return
        from cube2net.kernels.rollout.numba_rollout import centres

        centres(self._points, self.price, self._gains, self._costs, self._free, 0, self.batch, self._centre, self._left)

    def _observe(self) -> Array:
        dynamics = self.dynamics
        if not dynamics.sees_left:
            return self._sum.copy()
        done = np.full((self.batch, 1), 2.0 * len(self._chosen) / max(1, dynamics.n_cells) - 1.0)
        share = self._left[:, None] / self._worth0 if self._worth0 > 0 else self._left[:, None]
        return np.concatenate(
            [self._sum / math.sqrt(max(1, dynamics.n_cells)), self._centre, done, share], axis=1, dtype=np.float32
        )

    def _ratios(self) -> Array:
        values = np.zeros(self.batch)
        np.divide(self._above, self._below, out=values, where=self._below > 0)
        return values

    def _compute_rewards(self) -> Array:
        """Return what the last step added to the value of every selection."""
        before, self._values = self._values, self._ratios()
        if not (self.dynamics.whole and self._to_go):
            self._remember()
        return np.asarray(self._values - before)

    def _compute_function_rewards(self, function: Callable[[Array], float]) -> Array:
        """Return nothing until the end of the episode, and then the value of every selection.

        Where it is asked after every step, that is what the step added.
        """
        if self._to_go and not self.dynamics.each_step:
            return np.zeros(self.batch)
        before, self._values = self._values, np.array([function(self.cells(row)) for row in range(self.batch)])
        if not (self.dynamics.whole and self._to_go):
            self._remember()
        return np.asarray(self._values - before) if self.dynamics.each_step else self._values

    def _remember(self) -> None:
        self.met += self.batch
        row = int(self._values.argmax())
        if self._values[row] > self.best:
            self.best, self.best_cells = float(self._values[row]), self.cells(row)


def _on_steps(price: float) -> float:
    """Return the highest price on the steps that is not above the given one."""
    return math.floor(price / PRICE_STEP) * PRICE_STEP
