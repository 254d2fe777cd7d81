"""Selections that grow side by side in tensors on one device: what ``cpu_trajectories`` is in arrays.

Nothing waits for the host between the first and the last step of an episode: prices, sums, values and the best
selection met stay on the device, and the best is read back when somebody asks for it. The steps of an episode
can be captured in a CUDA graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from cube2net.errors import ParameterError
from cube2net.kernels.rollout import torch_rollout as rollout

if TYPE_CHECKING:
    from cube2net._util.arrays import Array
    from cube2net.kernels.rollout.triton_launch import Compiled
    from cube2net.selection.problem import Problem
    from cube2net.selection.rl.episodes import Dynamics, Space


class GpuTrajectories:
    """A batch of growing selections on one device.

    ``best`` and ``best_cells`` are the best selection ever met, by position; asking for them waits for the device.
    A new price holds from then on, also within an episode.
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
        device: str | torch.device = "cuda",
    ) -> None:
        self.device = usable(device)
        if dynamics.own_price:
            raise ParameterError("prices of an agent's own are for objectives that are functions, on device 'cpu'")
        self.dynamics, self.batch = dynamics, batch
        self.steps = dynamics.n_cells
        self.actions = space.directions
        self.observations = 2 * space.directions + 2 if dynamics.sees_left else space.directions
        self.met = 0
        members, homes = problem.members, problem.object_cells
        self.tables = rollout.tables(
            space.points,
            members.indptr,
            members.indices,
            homes.indptr,
            homes.indices,
            problem.gain,
            problem.cost,
            problem.nodes,
            device=self.device,
        )
        self._state = rollout.start(self.tables, batch)
        self._at_work = _at_work(self.tables, self._state, dynamics)
        self._unit, self._reach = float(np.float32(space.unit)), space.reach
        self._spots = torch.from_numpy(space.points.astype(np.float32) / np.float32(space.unit)).to(self.device)
        self._numbers = self._to_device(
            [
                [
                    problem.gain0,
                    problem.cost0,
                    2.0**-self.tables.bits,
                    1.0 / unit_reward,
                    math.sqrt(max(1, dynamics.n_cells)),
                    2.0 * step / max(1, dynamics.n_cells) - 1.0,
                ]
                for step in range(dynamics.n_cells + 1)
            ]
        )
        self._nothing = self._to_device(problem.ratio(0.0, 0.0))
        self._price = torch.zeros((), dtype=torch.int64, device=self.device)
        self._step, self._kept = 0, True
        self._chosen = torch.full((dynamics.n_cells, batch), -1, dtype=torch.int32, device=self.device)
        self._values = torch.zeros((dynamics.n_cells, batch), dtype=torch.float64, device=self.device)
        self._best = self._to_device(-math.inf)
        self._best_cells = torch.full((dynamics.n_cells,), -1, dtype=torch.int32, device=self.device)
        self.set_price(price)

    def set_price(self, price: float) -> None:
        """Set what a unit of cost weighs against a unit of gain where near cells are compared."""
        steps = rollout.price_in_steps(price)
        self.price = steps * 2.0**-rollout.PRICE_BITS
        self._price.fill_(steps)

    def reset(self) -> Tensor:
        """Empty every selection and return what is seen."""
        self._remember()
        rollout.restart(self.tables, self._state, self.dynamics.max_nodes)
        self._step = 0
        self._sums = torch.zeros((self.batch, self.actions), device=self.device)
        self._value = self._nothing.repeat(self.batch)
        if not self.dynamics.sees_left:
            return self._sums
        # All selections look the same now.
        centre, left = rollout.centres(self.tables, self.tables.first[None], self._spots, self._price)
        self._start = left[0]
        self._centre = centre.expand(self.batch, -1).contiguous()
        share = (left > 0).double().expand(self.batch)
        return rollout.see(self._sums, self._centre, share, self._numbers[0, 4], self._numbers[0, 5])

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Let every selection take a cell near its action; return what is seen, and the rewards."""
        dynamics, step = self.dynamics, self._step
        centre = self._centre if dynamics.sees_left else None
        points = self._at_work.aim(actions.contiguous(), centre, self._unit, self._reach)
        chosen = self._at_work.take(
            points[None], self._price, pass_over=dynamics.pass_over, limited=dynamics.max_nodes < math.inf
        )[0]
        start = self._start if dynamics.sees_left else self._nothing
        self._step += 1
        seen, rewards, self._sums, self._value, self._centre = self._at_work.look(
            self._spots,
            self._price,
            start,
            chosen,
            self._sums,
            self._value,
            self._numbers[self._step],
            sees_left=dynamics.sees_left,
        )
        self._chosen[step] = chosen
        self._values[step] = self._value
        self._kept = False
        if self._step == self.steps or not dynamics.whole:
            self.met += self.batch
        if self._step == self.steps:
            self._remember()
        return seen, rewards

    @property
    def best(self) -> float:
        """The best value met."""
        self._remember()
        return float(self._best)

    @property
    def best_cells(self) -> Array:
        """The cells of the best selection met, by position, in the order taken."""
        self._remember()
        cells = self._best_cells.cpu().numpy()
        return np.asarray(cells[cells >= 0], dtype=np.int64)

    def cells(self, row: int) -> Array:
        """Return the positions of the cells that one selection holds, in the order taken."""
        cells = self._chosen[: self._step, row].cpu().numpy()
        return np.asarray(cells[cells >= 0], dtype=np.int64)

    def capture(self, generator: torch.Generator) -> Callable[[Callable[[], Tensor]], Callable[[], Tensor]] | None:
        """Return how ``ppo.train`` is to repeat its updates: on a GPU from a graph, elsewhere as they come (None)."""
        return partial(Captured, self, generator) if self.device.type == "cuda" else None

    def _remember(self) -> None:
        """Keep the best of the selections of this episode so far, the earliest among equals, on the device."""
        if self._kept or (self.dynamics.whole and self._step < self.steps):
            return
        self._kept = True
        values = self._values[: self._step].flatten()
        if self.dynamics.whole:
            values = torch.where(
                torch.arange(len(values), device=self.device) < len(values) - self.batch, -math.inf, values
            )
        most = values.max()
        places = torch.arange(len(values), device=self.device)
        place = torch.where(values == most, places, len(values)).amin()
        better = most > self._best
        steps = torch.arange(self.steps, device=self.device)
        cells = self._chosen.index_select(1, (place % self.batch)[None]).squeeze(1)
        cells = torch.where(steps <= place // self.batch, cells, -1)
        # Copied in place, so that a captured graph finds them where they were.
        self._best_cells.copy_(torch.where(better, cells, self._best_cells))
        self._best.copy_(torch.where(better, most, self._best))

    def _to_device(self, numbers: object) -> Tensor:
        return torch.tensor(numbers, dtype=torch.float64, device=self.device)


class Captured:
    """One update, made as it comes the first time, and from then on replayed from a CUDA graph.

    An update is some two thousand small kernels. Replayed, they start without the host, one right after the other.
    """

    def __init__(self, game: GpuTrajectories, generator: torch.Generator, once: Callable[[], Tensor]) -> None:
        self._game, self._once, self._number = game, once, 0
        self._graph, self._result = torch.cuda.CUDAGraph(), torch.empty(0)
        self._graph.register_generator_state(generator)
        self._stream = torch.cuda.Stream(game.device)  # type: ignore[no-untyped-call]

    def __call__(self) -> Tensor:
        """Do the next update, and return its numbers."""
        self._number += 1
        game = self._game
        if self._number == 1:
            # On a stream of its own: kernels are compiled, room is found.
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                self._result = self._once()
            torch.cuda.current_stream().wait_stream(self._stream)
            return self._result
        if self._number == 2:
            met = game.met
            with torch.cuda.graph(self._graph):
                self._result = self._once()
            game.met = met
        self._graph.replay()
        game.met += game.batch * (1 if game.dynamics.whole else game.steps)
        return self._result


def usable(device: str | torch.device) -> torch.device:
    """Return a device that this machine has, or say why not."""
    wanted = torch.device(device)
    if wanted.type == "cuda" and not torch.cuda.is_available():
        raise ParameterError(f"device is {str(device)!r}, and torch sees no GPU here: use 'cpu'")
    return wanted


def _at_work(tables: rollout.CellTables, state: rollout.State, dynamics: Dynamics) -> rollout.Plain | Compiled:
    if tables.points.device.type != "cuda":
        return rollout.Plain(tables, state, dynamics.k)
    from cube2net.kernels.rollout.triton_launch import Compiled

    return Compiled(tables, state, dynamics.k, dynamics.n_cells)
