"""The choice of cells as environments of Gymnasium, for agents other than ours.

``SelectionEnv`` is one selection and ``SelectionVectorEnv`` many side by side; both are views on ``Trajectories``.
An observation is what ``Dynamics`` lets an agent see, an action a point near which a cell is taken (its offset from
the centre of what is left, where the agent sees that), the reward what the cell adds to the value, and an episode
ends after exactly m steps. Nothing in it is random.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from cube2net._util.arrays import Array, row_of_entries
from cube2net._util.packages import require
from cube2net.errors import InputError, QueryError, unknown, whole_number
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective
from cube2net.model.vectors import Vectors
from cube2net.selection.contract import check, explain_no_choice
from cube2net.selection.problem import Problem
from cube2net.selection.rl.cpu_trajectories import FACTOR, Trajectories
from cube2net.selection.rl.episodes import Dynamics, Instance, Space
from cube2net.selection.rl.presets import PRESETS

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError:
    require("an environment of Gymnasium", "gymnasium")
    raise

Value = Callable[[Array], float]


class SelectionEnv(gymnasium.Env[Array, Array]):
    """One selection of m cells.

    ``info`` holds ``value``, what the selection is worth now (with a judge only at the end), and after a step
    ``cell``, the number in the cube of the cell taken, and ``position``, its place among those to choose from; both
    are -1 where the step took none.

    An action is a vector in units of the space's spread, with the agent's own price as one more number where the
    dynamics say so. What is more than twice as far out as the farthest cell is cut off, what is not finite refused.
    ``gymnasium.wrappers.RescaleAction`` gives agents that want it a range of -1 to 1.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self, problem: Problem, space: Space, dynamics: Dynamics, *, price: float = 0.0, judge: Value | None = None
    ) -> None:
        whole_number("n_cells", dynamics.n_cells, 1, what="cells")
        self.trajectories = Trajectories(problem, space, dynamics, batch=1, price=price, judge=judge)
        self.observation_space, self.action_space = _boxes(self.trajectories)

    @classmethod
    def of(
        cls,
        cube: Cube,
        query: Query,
        vectors: Vectors | tuple[Vectors, ...],
        *,
        weights: QueryObjective,
        n_cells: int = 20,
        max_nodes: int | None = None,
        preset: str = "default",
        k: int | None = None,
        directions: int | None = None,
    ) -> Self:
        """Return the environment in which ``Cube2net`` of that preset learns, its price the value that greedy reaches.

        With a function of one's own for ``weights``, the reward comes at the end, and near cells are compared by
        jaccard at a price of the agent's own.
        """
        budget = Budget(n_cells=n_cells, max_nodes=max_nodes)
        problem, space, dynamics, price, judge = _question(
            cube, query, vectors, weights, budget, preset, k=k, directions=directions
        )
        return cls(problem, space, dynamics, price=price, judge=judge)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Empty the selection, and return what is seen."""
        super().reset(seed=seed)
        seen = self.trajectories.reset()
        return seen[0], _row(_info(self.trajectories, stepped=False))

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Take a cell near the action; return what is seen, the reward, and whether that was the last step."""
        given = np.asarray(action, dtype=np.float32)
        if given.shape != self.action_space.shape:
            raise InputError(f"an action has shape {given.shape}, expected {self.action_space.shape}")
        seen, rewards = self.trajectories.step(given[None])
        return seen[0], float(rewards[0]), self.trajectories.over, False, _row(_info(self.trajectories, stepped=True))

    @property
    def cells(self) -> Array:
        """The numbers in the cube of the cells taken in this episode, in order."""
        return self.trajectories.problem.cells[self.trajectories.cells(0)]

    @property
    def best_cells(self) -> Array:
        """The numbers in the cube of the cells of the best selection met in any episode."""
        return self.trajectories.problem.cells[self.trajectories.best_cells]


class SelectionVectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """Many selections of m cells side by side, on several threads where ``workers`` says so.

    All episodes have m steps and end together; the step after the last one takes no actions and begins new episodes
    (``AutoresetMode.NEXT_STEP``). Entries of ``infos`` are those of ``SelectionEnv``, an array for each.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        problem: Problem,
        space: Space,
        dynamics: Dynamics,
        *,
        num_envs: int,
        price: float = 0.0,
        judge: Value | None = None,
        workers: int = 1,
    ) -> None:
        whole_number("n_cells", dynamics.n_cells, 1, what="cells")
        self.num_envs = whole_number("num_envs", num_envs, 1, what="selections")
        self.trajectories = Trajectories(
            problem, space, dynamics, batch=num_envs, price=price, judge=judge, workers=workers
        )
        self.single_observation_space, self.single_action_space = _boxes(self.trajectories)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @classmethod
    def of(
        cls,
        cube: Cube,
        query: Query,
        vectors: Vectors | tuple[Vectors, ...],
        *,
        num_envs: int,
        weights: QueryObjective,
        n_cells: int = 20,
        max_nodes: int | None = None,
        preset: str = "default",
        k: int | None = None,
        directions: int | None = None,
        workers: int = 1,
    ) -> Self:
        """Return the environments in which ``Cube2net`` learns (see ``SelectionEnv.of``)."""
        budget = Budget(n_cells=n_cells, max_nodes=max_nodes)
        problem, space, dynamics, price, judge = _question(
            cube, query, vectors, weights, budget, preset, k=k, directions=directions
        )
        return cls(problem, space, dynamics, num_envs=num_envs, price=price, judge=judge, workers=workers)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Empty all selections, and return what is seen of each."""
        super().reset(seed=seed)
        if not np.all((options or {}).get("reset_mask", True)):
            raise InputError("reset_mask leaves some selections out: they run side by side, and are all reset together")
        seen = self.trajectories.reset()
        return seen, _masked(_info(self.trajectories, stepped=False))

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Take a cell near every action, or begin new episodes where the old ones are over."""
        nothing = np.zeros(self.num_envs)
        if self.trajectories.over:
            seen, infos = self.reset()
            return seen, nothing, nothing > 0, nothing > 0, infos
        seen, rewards = self.trajectories.step(np.asarray(actions, dtype=np.float32))
        over = np.full(self.num_envs, self.trajectories.over)
        return seen, rewards.astype(np.float64), over, nothing > 0, _masked(_info(self.trajectories, stepped=True))

    @property
    def best_cells(self) -> Array:
        """The numbers in the cube of the cells of the best selection met in any episode."""
        return self.trajectories.problem.cells[self.trajectories.best_cells]


def _question(
    cube: Cube,
    query: Query,
    vectors: Vectors | tuple[Vectors, ...],
    weights: QueryObjective,
    budget: Budget,
    preset: str,
    *,
    k: int | None,
    directions: int | None,
) -> tuple[Problem, Space, Dynamics, float, Value | None]:
    """Return what a preset makes of a query: the cells to choose from, their points, the dynamics, price and judge."""
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    for name, number in (("k", k), ("directions", directions)):
        whole_number(name, number, 1, or_none=True)
    check(cube, query, weights)
    nothing = explain_no_choice(cube, query, weights)
    if nothing is not None:
        raise QueryError(nothing.note)
    given = (vectors,) if isinstance(vectors, Vectors) else tuple(vectors)
    for one in given:
        if len(one) != len(cube.cells):
            raise InputError(f"vectors are of {len(one):,} cells, and the cube has {len(cube.cells):,}")
    chosen = PRESETS[preset]
    chosen = replace(chosen, k=k or chosen.k, directions=directions or chosen.directions)
    instance = Instance.of(cube, query, weights, budget, chosen)
    space = Space.of([one.values for one in given], directions=chosen.directions)
    price = instance.start if chosen.at_a_price else 0.0
    judge = None if instance.counted else instance.judged
    return instance.problem, space.take(instance.problem.cells), instance.dynamics(chosen), price, judge


def _boxes(game: Trajectories) -> tuple[Box, Box]:
    """Return the limits of what is seen, and of actions: from any cell to any other one."""
    problem, space, dynamics = game.problem, game.space, game.dynamics
    far = float(np.abs(space.points).max(initial=0)) / space.unit or 1.0
    size = np.full(space.directions, far)
    if dynamics.sees_left:
        worth = (problem.gain - game.price * problem.cost)[problem.members.indices]
        cells = np.bincount(row_of_entries(problem.members), weights=worth, minlength=len(problem))
        first = float(np.maximum(cells, 0.0).sum()) or 1.0
        most = max(1.0, float(np.maximum(worth, 0.0).sum()) / first)
        size = np.concatenate([math.sqrt(dynamics.n_cells) * size, size, [1.0, most]])
    else:
        size = dynamics.n_cells * size
    # A hundredth more, so that rounding never crosses a limit.
    high = (1.01 * size).astype(np.float32)
    reach = np.full(space.directions, space.reach / space.unit, dtype=np.float32)
    reach = np.append(reach, np.full(int(dynamics.own_price), FACTOR, dtype=np.float32))
    return Box(-high, high, dtype=np.float32), Box(-reach, reach, dtype=np.float32)


def _info(game: Trajectories, *, stepped: bool) -> dict[str, Array]:
    """Return what is said of every selection beside what is seen."""
    info = {}
    if not np.isnan(game.values).any():
        info["value"] = game.values
    if stepped:
        # Position -1 is the last: the number -1.
        info["cell"], info["position"] = np.append(game.problem.cells, -1)[game.taken], game.taken
    return info


def _row(info: dict[str, Array]) -> dict[str, Any]:
    return {name: values[0].item() for name, values in info.items()}


def _masked(info: dict[str, Array]) -> dict[str, Any]:
    """Return the arrays, each with the mask of who has it, as vector environments do."""
    masks = {f"_{name}": np.ones(len(values), dtype=np.bool_) for name, values in info.items()}
    return {**info, **masks}
