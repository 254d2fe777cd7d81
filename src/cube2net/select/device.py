"""Selections that grow side by side in tensors on one device: what ``select.trajectories`` is in arrays.

Nothing waits for the host between the first and the last step of an episode: prices, sums, values and the best
selection met stay on the device, and the best is read back when somebody asks for it. The steps of an episode
can be captured in a CUDA graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from cube2net.errors import ParameterError
from cube2net.kernels import rollout_torch as rollout

if TYPE_CHECKING:
    from cube2net.array_types import Array
    from cube2net.kernels.rollout_triton import Compiled
    from cube2net.select.ppo import Policy, Settings, Update
    from cube2net.select.problem import Problem
    from cube2net.select.space import Space
    from cube2net.select.trajectories import Rules


class DeviceTrajectories:
    """A batch of growing selections on one device.

    ``best`` and ``best_cells`` are the best selection ever met, by position; asking for them waits for the device.
    A new price holds from then on, also within an episode.
    """

    def __init__(
        self,
        problem: Problem,
        space: Space,
        rules: Rules,
        *,
        batch: int,
        price: float = 0.0,
        unit_reward: float = 1.0,
        device: str | torch.device = "cuda",
    ) -> None:
        self.device = usable(device)
        if rules.own_price:
            raise ParameterError("prices of an agent's own are for objectives that are judged, on device 'cpu'")
        self.rules, self.batch = rules, batch
        self.steps = rules.m
        self.actions = space.directions
        self.observations = 2 * space.directions + 2 if rules.sees_left else space.directions
        self.met = 0
        members, homes = problem.members, problem.homes
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
        self._at_work = _at_work(self.tables, self._state, rules)
        self._unit, self._reach = float(np.float32(space.unit)), space.reach
        self._spots = torch.from_numpy(space.points.astype(np.float32) / np.float32(space.unit)).to(self.device)
        self._numbers = self._to_device(
            [
                [
                    problem.gain0,
                    problem.cost0,
                    2.0**-self.tables.bits,
                    1.0 / unit_reward,
                    math.sqrt(max(1, rules.m)),
                    2.0 * step / max(1, rules.m) - 1.0,
                ]
                for step in range(rules.m + 1)
            ]
        )
        self._nothing = self._to_device(problem.ratio(0.0, 0.0))
        self._price = torch.zeros((), dtype=torch.int64, device=self.device)
        self._step, self._kept = 0, True
        self._chosen = torch.full((rules.m, batch), -1, dtype=torch.int32, device=self.device)
        self._values = torch.zeros((rules.m, batch), dtype=torch.float64, device=self.device)
        self._best = self._to_device(-math.inf)
        self._best_cells = torch.full((rules.m,), -1, dtype=torch.int32, device=self.device)
        self.set_price(price)

    def set_price(self, price: float) -> None:
        """Set what a unit of cost weighs against a unit of gain where near cells are compared."""
        steps = rollout.price_in_steps(price)
        self.price = steps * 2.0**-rollout.PRICE_BITS
        self._price.fill_(steps)

    def reset(self) -> Tensor:
        """Empty every selection and return what is seen."""
        self._remember()
        rollout.restart(self.tables, self._state, self.rules.max_nodes)
        self._step = 0
        self._sums = torch.zeros((self.batch, self.actions), device=self.device)
        self._value = self._nothing.repeat(self.batch)
        if not self.rules.sees_left:
            return self._sums
        # All selections look the same now.
        centre, left = rollout.centres(self.tables, self.tables.first[None], self._spots, self._price)
        self._start = left[0]
        self._centre = centre.expand(self.batch, -1).contiguous()
        share = (left > 0).double().expand(self.batch)
        return rollout.see(self._sums, self._centre, share, self._numbers[0, 4], self._numbers[0, 5])

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Let every selection take a cell near its action; return what is seen, and the rewards."""
        rules, step = self.rules, self._step
        centre = self._centre if rules.sees_left else None
        points = self._at_work.aim(actions.contiguous(), centre, self._unit, self._reach)
        chosen = self._at_work.take(
            points[None], self._price, pass_over=rules.pass_over, limited=rules.max_nodes < math.inf
        )[0]
        start = self._start if rules.sees_left else self._nothing
        self._step += 1
        seen, rewards, self._sums, self._value, self._centre = self._at_work.look(
            self._spots,
            self._price,
            start,
            chosen,
            self._sums,
            self._value,
            self._numbers[self._step],
            sees_left=rules.sees_left,
        )
        self._chosen[step] = chosen
        self._values[step] = self._value
        self._kept = False
        if self._step == self.steps or not rules.whole:
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

    def _remember(self) -> None:
        """Keep the best of the selections of this episode so far, the earliest among equals, on the device."""
        if self._kept or (self.rules.whole and self._step < self.steps):
            return
        self._kept = True
        values = self._values[: self._step].flatten()
        if self.rules.whole:
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


def train(
    environment: DeviceTrajectories, policy: Policy, settings: Settings, generator: torch.Generator, *, updates: int
) -> Iterator[Update]:
    """Yield what every update did, as ``ppo.train`` does; on a GPU the updates after the first replay a captured graph.

    An update is some two thousand small kernels. Replayed, they start without the host, one right after the other.
    """
    from cube2net.select import ppo

    if environment.device.type != "cuda":
        yield from ppo.train(environment, policy, settings, generator, updates=updates)
        return
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, capturable=True)
    names = ("mean_return", "best_return", "spread", "policy_loss", "value_loss", "distance")

    def once() -> Tensor:
        rollout = ppo.roll_out(environment, policy, generator)
        losses = ppo.update(policy, optimizer, rollout, settings, generator)
        returns = rollout.rewards.sum(0)
        spread = policy.log_spread.detach().exp().mean()
        return torch.stack([returns.mean(), returns.max(), spread, *(losses[name] for name in names[3:])])

    graph, result = torch.cuda.CUDAGraph(), torch.empty(0)
    graph.register_generator_state(generator)
    aside = torch.cuda.Stream(environment.device)  # type: ignore[no-untyped-call]
    for number in range(1, updates + 1):
        if number == 1:
            # The first update is made as it comes, on a stream of its own: kernels are compiled, room is found.
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                result = once()
            torch.cuda.current_stream().wait_stream(aside)
        else:
            if number == 2:
                met = environment.met
                with torch.cuda.graph(graph):
                    result = once()
                environment.met = met
            graph.replay()
            environment.met += environment.batch * (1 if environment.rules.whole else environment.steps)
        done = ppo.Update(number=number, **dict(zip(names, result.tolist(), strict=True)))
        if not all(map(math.isfinite, (done.mean_return, done.spread, done.policy_loss, done.value_loss))):
            raise ParameterError(
                f"the policy is lost in update {number:,}, its numbers are no longer finite: learn in smaller steps "
                f"(learning_rate is {settings.learning_rate!r})"
            )
        yield done


def usable(device: str | torch.device) -> torch.device:
    """Return a device that this machine has, or say why not."""
    wanted = torch.device(device)
    if wanted.type == "cuda" and not torch.cuda.is_available():
        raise ParameterError(f"device is {str(device)!r}, and torch sees no GPU here: use 'cpu'")
    return wanted


def _at_work(tables: rollout.Tables, state: rollout.State, rules: Rules) -> rollout.Plain | Compiled:
    if tables.points.device.type != "cuda":
        return rollout.Plain(tables, state, rules.k)
    from cube2net.kernels.rollout_triton import Compiled

    return Compiled(tables, state, rules.k, rules.m)
