"""A policy at work on one query: what it is rewarded for, when it stops, and the best it has met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.compiling import Stopwatch, load
from cube2net.errors import InputError, ParameterError, first_line
from cube2net.select.rl.cpu_trajectories import OnCpu, Trajectories
from cube2net.select.rl.episodes import Instance, Space
from cube2net.select.rl.policy import Trained, drawn, fingerprint
from cube2net.select.rl.presets import Preset

if TYPE_CHECKING:
    from cube2net.select.rl.cube2net import Cube2net


class Training:
    """One instance as an agent meets it: the games it plays there, and the best it has met."""

    def __init__(self, method: Cube2net, preset: Preset, instance: Instance, space: Space) -> None:
        self.method, self.instance = method, instance
        self.space = space.take(instance.problem.cells)
        self.dynamics = instance.dynamics(preset)
        self.at_a_price = preset.at_a_price
        self.price = instance.start if preset.at_a_price else 0.0
        self.best, self.best_cells = -math.inf, np.empty(0, dtype=np.int64)
        start = instance.start if instance.counted else abs(instance.weights.value(instance.greedy.objects))
        self.unit = start if preset.units and start > 0 else 1.0

    def game(self, batch: int) -> Any:
        """Return trajectories to learn from, on the device asked for."""
        method, instance = self.method, self.instance
        options: dict[str, Any] = {"batch": batch, "price": self.price, "unit_reward": self.unit}
        if method.device == "cpu":
            judge = None if instance.counted else instance.judged
            workers = method.workers
            return OnCpu(
                Trajectories(instance.problem, self.space, self.dynamics, judge=judge, workers=workers, **options)
            )
        if not instance.counted:
            raise ParameterError("a function of your own, or max_links, is judged on the CPU: leave out the device")
        from cube2net.select.rl.gpu_trajectories import GpuTrajectories

        return GpuTrajectories(instance.problem, self.space, self.dynamics, device=method.device, **options)

    def keep(self, game: Any) -> bool:
        """Return whether the best of a game is better than what was met before; if so it is the best now."""
        if not game.best > self.best:
            return False
        self.best, self.best_cells = game.best, game.best_cells
        if self.at_a_price and self.instance.counted and self.best > self.price:
            self.price = self.best
            game.set_price(self.price)
        return True

    def plan(self, game: Any) -> None:
        """Take the selection of a game for the best, whatever was met before."""
        self.best, self.best_cells = game.best, game.best_cells


class Agent:
    """A policy that learns one instance, or several in turn; each keeps the best trajectory met there."""

    def __init__(
        self, method: Cube2net, preset: Preset, instances: Sequence[Instance], space: Space, seed: int
    ) -> None:
        self.method, self.preset, self.space, self.seed = method, preset, space, seed
        self.trainings = [Training(method, preset, instance, space) for instance in instances]

    def learn(self) -> Trained:
        """Return the policy after learning; its plan is one more trajectory on each instance, or the answer."""
        load("cube2net.select.rl.ppo")
        from cube2net.select.rl import ppo

        method, preset = self.method, self.preset
        settings = ppo.Settings(**preset.ppo)  # type: ignore[arg-type]
        games = [training.game(preset.trajectories) for training in self.trainings]
        with _one_thread():
            policy, generator = ppo.start(games[0], settings, seed=self.seed, device=method.device)
            if method.policy is not None:
                self._continue(policy)
            curve = list(self._updates(games, policy, settings, generator))
            for training in self.trainings:
                alone = training.game(1)
                ppo.roll_out(alone, policy, None)
                if preset.answer == "plan":
                    training.plan(alone)
                else:
                    training.keep(alone)
        arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in policy.state_dict().items()}
        return Trained(arrays, fingerprint(self.space), method.called, tuple(curve))

    def _updates(self, games: list[Any], policy: Any, settings: Any, generator: Any) -> Iterator[tuple[float, float]]:
        """Yield the mean and the best value after every update, until it is time to stop.

        Of several instances every update learns one, and none is waited for: they stop when the updates or the time
        are over.
        """
        from cube2net.select.rl import ppo

        method = self.method
        updates = self.preset.updates
        patience = (self.preset.patience or updates) if len(games) == 1 else updates
        environment = games[0] if len(games) == 1 else RoundRobin(games)
        capture = games[0].capture(generator) if len(games) == 1 and method.device != "cpu" else None
        watch, risen, means = Stopwatch(), 0, []
        for update in ppo.train(environment, policy, settings, generator, updates=updates, capture=capture):
            training, game = self.trainings[(update.number - 1) % len(games)], games[(update.number - 1) % len(games)]
            if training.keep(game):
                risen = update.number
            means.append(update.mean_return * training.unit)
            yield means[-1], training.best
            said = f"learning: {drawn(means)} mean {means[-1]:.4f}, best {training.best:.4f}"
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


class RoundRobin:
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
