"""The choice of cells as Gymnasium environments, for agents from other libraries.

Importing this module registers ``cube2net/Cells-v0``. An observation is what ``Dynamics`` shows an agent, an action a
point near which a cell is taken (an offset from the centre of what is left, where the agent sees that), the reward what
the cell adds to the value, and an episode ends after exactly m steps. Environments are deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cube2net._util.arrays import Array, row_of_entries
from cube2net._util.packages import require
from cube2net.errors import InputError, QueryError, check_int, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective
from cube2net.model.vectors import Vectors
from cube2net.selection.constraints import check, explain_no_choice
from cube2net.selection.objectives import Jaccard
from cube2net.selection.rl.cpu_trajectories import MAX_LOG_PRICE_FACTOR, Trajectories
from cube2net.selection.rl.episodes import PRESETS, Instance, Space

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError:
    require("an environment of Gymnasium", "gymnasium")
    raise


class SelectionEnv(gymnasium.Env[Array, Array]):
    """One selection of m cells (trajectories with a batch of 1; see ``make_env``).

    ``info`` holds ``value``, the value of the selection (of a function only at the end), and after a step ``cell``, the
    number in the cube of the cell taken, and ``position``, its place among the candidates; both are -1 where none was.

    An action is a vector in units of the space's spread, followed by the agent's own price where the dynamics say so.
    It is clipped at twice the distance of the farthest cell. ``gymnasium.wrappers.RescaleAction`` gives a range of
    -1 to 1.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, trajectories: Trajectories) -> None:
        check_int("n_cells", trajectories.steps, 1, what="cells")
        self.trajectories = trajectories
        self.observation_space, self.action_space = _make_boxes(trajectories)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Empty the selection and return the first observation."""
        super().reset(seed=seed)
        return self.trajectories.reset()[0], _first_row(_describe(self.trajectories))

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Take a cell near the action; return observation, reward, and whether that was the last step."""
        vector = np.asarray(action, dtype=np.float32)
        if vector.shape != self.action_space.shape:
            raise InputError(f"an action has shape {vector.shape}, expected {self.action_space.shape}")
        observations, rewards = self.trajectories.step(vector[None])
        info = _first_row(_describe(self.trajectories))
        return observations[0], float(rewards[0]), self.trajectories.over, False, info

    @property
    def cells(self) -> Array:
        """The numbers in the cube of the cells taken in this episode, in order."""
        return self.trajectories.problem.cells[self.trajectories.cells(0)]

    @property
    def best_cells(self) -> Array:
        """The numbers in the cube of the cells of the best selection of any episode."""
        return self.trajectories.problem.cells[self.trajectories.best_cells]


class SelectionVectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """Many selections of m cells side by side (see ``make_vector_env``).

    All episodes have m steps and end together; the step after the last one ignores its actions and begins new episodes
    (``AutoresetMode.NEXT_STEP``). Entries of ``infos`` are those of ``SelectionEnv``, an array for each.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, trajectories: Trajectories) -> None:
        check_int("n_cells", trajectories.steps, 1, what="cells")
        self.trajectories, self.num_envs = trajectories, trajectories.batch
        self.single_observation_space, self.single_action_space = _make_boxes(trajectories)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Empty all selections and return their first observations."""
        super().reset(seed=seed)
        if not np.all((options or {}).get("reset_mask", True)):
            raise InputError("reset_mask leaves some selections out: they run side by side, and are all reset together")
        return self.trajectories.reset(), _add_masks(_describe(self.trajectories))

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Take a cell near every action, or begin new episodes where the old ones are over."""
        nothing = np.zeros(self.num_envs)
        if self.trajectories.over:
            observations, infos = self.reset()
            return observations, nothing, nothing > 0, nothing > 0, infos
        observations, rewards = self.trajectories.step(np.asarray(actions, dtype=np.float32))
        over = np.full(self.num_envs, self.trajectories.over)
        infos = _add_masks(_describe(self.trajectories))
        return observations, rewards.astype(np.float64), over, nothing > 0, infos

    @property
    def best_cells(self) -> Array:
        """The numbers in the cube of the cells of the best selection of any episode."""
        return self.trajectories.problem.cells[self.trajectories.best_cells]


def make_env(
    cube: Cube, query: Query | Sequence[Any], vectors: Vectors | tuple[Vectors, ...], **options: Any
) -> SelectionEnv:
    """Return the environment in which ``Cube2net`` of a preset learns, at the price that greedy reaches.

    Options are ``weights`` (an objective of the query, by default jaccard), ``n_cells``, ``max_nodes``, ``preset``,
    ``k`` and ``directions``. If the objective is a function, the reward comes at the end of an episode; candidate cells
    are then compared by jaccard at a price that is part of the action.

    Examples
    --------
    >>> import gymnasium
    >>> import cube2net as c2n
    >>> import cube2net.selection.rl.environment
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> vectors = c2n.api.embed_cells(cube, "words")
    >>> env = gymnasium.make("cube2net/Cells-v0", cube=cube, query=planted.query(0), vectors=vectors, n_cells=4)
    >>> env.reset(seed=0)[0].shape
    (18,)
    """
    return SelectionEnv(_make_trajectories(cube, query, vectors, 1, **options))


def make_vector_env(
    cube: Cube, query: Query | Sequence[Any], vectors: Vectors | tuple[Vectors, ...], *, num_envs: int, **options: Any
) -> SelectionVectorEnv:
    """Return ``num_envs`` environments side by side (see ``make_env`` for the options)."""
    check_int("num_envs", num_envs, 1, what="selections")
    return SelectionVectorEnv(_make_trajectories(cube, query, vectors, num_envs, **options))


def _make_trajectories(
    cube: Cube,
    query: Query | Sequence[Any],
    vectors: Vectors | tuple[Vectors, ...],
    batch: int,
    *,
    weights: QueryObjective | None = None,
    n_cells: int = 20,
    max_nodes: int | None = None,
    preset: str = "default",
    k: int | None = None,
    directions: int | None = None,
) -> Trajectories:
    query = query if isinstance(query, Query) else cube.query(query)
    if preset not in PRESETS:
        raise unknown_name("preset", preset, PRESETS)
    for name, number in (("k", k), ("directions", directions)):
        check_int(name, number, 1, or_none=True)
    weights = Jaccard().weigh(query, len(cube.objects)) if weights is None else weights
    check(cube, query, weights)
    nothing = explain_no_choice(cube, query, weights)
    if nothing is not None:
        raise QueryError(nothing.note)
    parts = (vectors,) if isinstance(vectors, Vectors) else vectors
    for part in parts:
        if len(part) != len(cube.cells):
            raise InputError(f"vectors are of {len(part):,} cells, and the cube has {len(cube.cells):,}")
    settings = PRESETS[preset]
    settings = replace(settings, k=k or settings.k, directions=directions or settings.directions)
    instance = Instance.of(cube, query, weights, Budget(n_cells=n_cells, max_nodes=max_nodes), settings)
    space = Space.of([part.values for part in parts], directions=settings.directions)
    return Trajectories(
        instance.problem,
        space.take(instance.problem.cells),
        instance.dynamics(settings),
        batch=batch,
        price=instance.start if settings.at_a_price else 0.0,
        function=None if instance.is_counted else instance.compute_value,
    )


def _make_boxes(game: Trajectories) -> tuple[Box, Box]:
    """Return the limits of observations, and of actions: from any cell to any other one."""
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
    # One percent more, so that rounding never crosses a limit.
    high = (1.01 * size).astype(np.float32)
    reach = np.full(space.directions, space.reach / space.unit, dtype=np.float32)
    reach = np.append(reach, np.full(int(dynamics.own_price), MAX_LOG_PRICE_FACTOR, dtype=np.float32))
    return Box(-high, high, dtype=np.float32), Box(-reach, reach, dtype=np.float32)


def _describe(game: Trajectories) -> dict[str, Array]:
    """Return the values of the selections, and the cells taken in the last step."""
    info = {}
    if not np.isnan(game.values).any():
        info["value"] = game.values
    if game.has_steps:
        # Position -1 is the last entry: the number -1.
        info["cell"], info["position"] = np.append(game.problem.cells, -1)[game.last_positions], game.last_positions
    return info


def _first_row(info: dict[str, Array]) -> dict[str, Any]:
    return {name: values[0].item() for name, values in info.items()}


def _add_masks(info: dict[str, Array]) -> dict[str, Any]:
    masks = {f"_{name}": np.ones(len(values), dtype=np.bool_) for name, values in info.items()}
    return {**info, **masks}


gymnasium.register(
    "cube2net/Cells-v0", entry_point=f"{__name__}:make_env", vector_entry_point=f"{__name__}:make_vector_env"
)
