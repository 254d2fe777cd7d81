"""A policy at work on one query: what it is rewarded for, when it stops, and the best it has met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.array_types import Array
from cube2net.compiling import Stopwatch, load
from cube2net.errors import InputError, ParameterError, first_line
from cube2net.select.curve import drawn
from cube2net.select.policy import Trained, fingerprint
from cube2net.select.presets import Preset
from cube2net.select.space import Space
from cube2net.select.task import Task
from cube2net.select.trajectories import Trajectories

if TYPE_CHECKING:
    from cube2net.select.cube2net import Cube2net


class Side:
    """One task as an agent meets it: the games it plays there, and the best it has met."""

    def __init__(self, method: Cube2net, preset: Preset, task: Task, space: Space) -> None:
        self.method, self.task = method, task
        self.space = space.take(task.problem.cells)
        self.rules = task.rules(preset)
        self.at_a_price = preset.at_a_price
        self.price = task.start if preset.at_a_price else 0.0
        self.best, self.best_cells = -math.inf, np.empty(0, dtype=np.int64)
        start = task.start if task.counted else abs(task.weights.value(task.greedy.objects))
        self.unit = start if preset.units and start > 0 else 1.0

    def game(self, batch: int) -> Any:
        """Return trajectories to learn from, on the device asked for."""
        method, task = self.method, self.task
        options: dict[str, Any] = {"batch": batch, "price": self.price, "unit_reward": self.unit}
        if method.device == "cpu":
            judge = None if task.counted else task.judged
            workers = method.workers
            return OnCpu(Trajectories(task.problem, self.space, self.rules, judge=judge, workers=workers, **options))
        if not task.counted:
            raise ParameterError("a function of your own, or max_links, is judged on the CPU: leave out the device")
        from cube2net.select.device import DeviceTrajectories

        return DeviceTrajectories(task.problem, self.space, self.rules, device=method.device, **options)

    def keep(self, game: Any) -> bool:
        """Return whether the best of a game is better than what was met before; if so it is the best now."""
        if not game.best > self.best:
            return False
        self.best, self.best_cells = game.best, game.best_cells
        if self.at_a_price and self.task.counted and self.best > self.price:
            self.price = self.best
            game.set_price(self.price)
        return True

    def plan(self, game: Any) -> None:
        """Take the selection of a game for the best, whatever was met before."""
        self.best, self.best_cells = game.best, game.best_cells


class Agent:
    """A policy that learns one task, or several in turn; each side keeps the best trajectory met there."""

    def __init__(self, method: Cube2net, preset: Preset, tasks: Sequence[Task], space: Space, seed: int) -> None:
        self.method, self.preset, self.space, self.seed = method, preset, space, seed
        self.sides = [Side(method, preset, task, space) for task in tasks]

    def learn(self) -> Trained:
        """Return the policy after learning; its plan is one more trajectory on every side, or the answer."""
        load("cube2net.select.ppo")
        from cube2net.select import ppo

        method, preset = self.method, self.preset
        settings = ppo.Settings(**preset.ppo)  # type: ignore[arg-type]
        games = [side.game(preset.trajectories) for side in self.sides]
        with _one_thread():
            policy, generator = ppo.start(games[0], settings, seed=self.seed, device=method.device)
            if method.policy is not None:
                self._continue(policy)
            curve = list(self._updates(games, policy, settings, generator))
            for side in self.sides:
                alone = side.game(1)
                ppo.roll_out(alone, policy, None)
                if preset.answer == "plan":
                    side.plan(alone)
                else:
                    side.keep(alone)
        arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in policy.state_dict().items()}
        return Trained(arrays, fingerprint(self.space), method.called, tuple(curve))

    def _updates(self, games: list[Any], policy: Any, settings: Any, generator: Any) -> Iterator[tuple[float, float]]:
        """Yield the mean and the best value after every update, until it is time to stop.

        Of several tasks every update learns one, and none is waited for: they stop when the updates or the time
        are over.
        """
        method = self.method
        updates = self.preset.updates
        patience = (self.preset.patience or updates) if len(games) == 1 else updates
        train, environment = _trainer(games, method.device)
        watch, risen, means = Stopwatch(), 0, []
        for update in train(environment, policy, settings, generator, updates=updates):
            side, game = self.sides[(update.number - 1) % len(games)], games[(update.number - 1) % len(games)]
            if side.keep(game):
                risen = update.number
            means.append(update.mean_return * side.unit)
            yield means[-1], side.best
            said = f"learning: {drawn(means)} mean {means[-1]:.4f}, best {side.best:.4f}"
            method.progress(said, update.number, updates)
            late = method.seconds is not None and watch.seconds > method.seconds
            if late or update.number - risen >= patience:
                return

    def _continue(self, policy: Any) -> None:
        """Give a fresh policy the weights of the one to start from."""
        import torch

        given = self.method.policy
        known = Trained.load(given) if isinstance(given, str) else given
        if known is None:
            return
        if known.space != fingerprint(self.space) or known.preset != self.method.called:
            raise InputError(
                f"the policy was learned with preset {known.preset!r} among other cells or vectors: a policy goes on "
                "with other queries of the same cube, with the same vectors and directions"
            )
        try:
            policy.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in known.arrays.items()})
        except RuntimeError as error:
            raise InputError(f"the policy does not fit: {first_line(error)}") from None


class InTurn:
    """Several games, one batch of episodes in each after the other."""

    def __init__(self, games: Sequence[Any]) -> None:
        self.games, self.turn = games, -1
        self.steps, self.observations, self.actions = games[0].steps, games[0].observations, games[0].actions

    def reset(self) -> Any:
        """Start new episodes of the next game."""
        self.turn = (self.turn + 1) % len(self.games)
        return self.games[self.turn].reset()

    def step(self, actions: Any) -> tuple[Any, Any]:
        """Take one action in every episode."""
        seen, rewards = self.games[self.turn].step(actions)
        return seen, rewards


class OnCpu:
    """Trajectories in arrays, seen as tensors."""

    def __init__(self, game: Trajectories) -> None:
        self.game = game
        self.steps, self.observations, self.actions = game.steps, game.observations, game.actions
        self.set_price = game.set_price

    @property
    def best(self) -> float:
        """The best value met."""
        return self.game.best

    @property
    def best_cells(self) -> Array:
        """The cells of the best selection met, by position."""
        return self.game.best_cells

    def reset(self) -> Any:
        """Start new episodes."""
        import torch

        return torch.from_numpy(self.game.reset())

    def step(self, actions: Any) -> tuple[Any, Any]:
        """Take one action in every episode."""
        import torch

        seen, rewards = self.game.step(actions.numpy())
        return torch.from_numpy(seen), torch.from_numpy(rewards)


def _trainer(games: list[Any], device: str) -> tuple[Any, Any]:
    """Return the function that trains, and the environment to train it in."""
    if device == "cpu" or len(games) > 1:
        from cube2net.select.ppo import train

        return train, games[0] if len(games) == 1 else InTurn(games)
    from cube2net.select import device as on_device

    return on_device.train, games[0]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread: the networks are small, and sums do not depend on how many threads there are."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
