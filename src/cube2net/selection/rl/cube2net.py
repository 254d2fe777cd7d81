"""The paper's method: an agent learns where in the space of cells the next good cell lies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.compiling import Stopwatch, load
from cube2net._util.packages import require
from cube2net._util.progress import Progress, silent
from cube2net.errors import InputError, ParameterError, first_line, unknown, whole_number
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection, Weights
from cube2net.model.vectors import Vectors
from cube2net.selection.contract import outcome
from cube2net.selection.rl.cpu_trajectories import OnCpu, Trajectories
from cube2net.selection.rl.episodes import Instance, Space
from cube2net.selection.rl.policy import Trained, drawn, fingerprint
from cube2net.selection.rl.presets import PRESETS, Preset, Switch

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True, kw_only=True)
class Cube2net:
    """Learn, by reinforcement, to choose m cells: an action is a point, and a cell near it is taken.

    The state is the sum of the chosen cells' points; the action is drawn from a normal distribution around a
    learned mean; the reward is what the cell adds to the value, q(S′) − q(S); the policy is improved by PPO. The
    answer is the best trajectory ever met, and never below greedy's for the same objective, unless ``floor=False``.

    The preset ``"paper"`` is the paper to the letter: raw vectors, sigmoids on every layer, one σ, mini-batches, all
    cells, the nearest one is taken, exactly m steps, and the answer is what the learned policy plans, without a floor.
    The default repairs what keeps that from learning:

    - only cells that may be in a best selection (see ``Problem``), as points in 8 principal directions of their
      vectors, scaled to a spread of 1; linear outputs;
    - among the ``k`` nearest cells the one with the largest gain − λ·cost
      is taken, λ being the best value so far: at the best value λ*, a best selection maximises G − λ*·C
      (Dinkelbach). Where none adds anything at that price, the step takes nothing;
    - beside the sum, the agent sees how many steps are left and the centre of what is still to gain, and acts
      relative to that centre. So a policy can go on with another query.

    A function of one's own is asked once for every trajectory, at its end. Near cells (32 unless ``k`` says otherwise)
    are then compared by jaccard, at a price that is one more number of the action: what a function makes of gain and
    cost has to be learned. Greedy, the floor, then calls the function for every step and every cell left that holds an
    object of the query; with a ``policy``, which is there to spare calls, it is left out unless ``floor=True``.

    Parameters
    ----------
    preset
        ``"default"``, ``"paper"``, or ``"printed"``: the paper with its misprints. Numbers that are None below are the
        preset's.
    vectors
        Those of the cells: ``"words"`` of their labels, ``"members"`` they share, ``"both"``, or vectors of your own.
    k
        How many near cells a step chooses among; by default two fifths of the useful ones.
    directions
        In how many principal directions of the vectors cells are points.
    trajectories, updates, epochs
        Learning ends after ``updates`` batches of ``trajectories``, each batch gone through in ``epochs``; by default
        60 batches of 40, in 10.
    patience
        Learning ends when the best value has not risen for so many batches, by default 15.
    seconds
        Learning ends after so many seconds; None is no limit.
    floor
        Whether the answer is never below greedy's; None leaves it to the preset.
    switches
        Changes to any field of a ``Preset``, by name: ``Cube2net(preset="paper", switches={"scale": "blocks"})``.
    device
        ``"cpu"``, or ``"cuda"`` for a graphics card.
    workers
        How many threads learn.
    policy
        One to start from: a file, or what ``fit`` left.
    save
        A file to write the policy to.
    progress
        Told how learning goes; :func:`construct` hands its own down.
    """

    chooses_cells: ClassVar[bool] = True
    draws: ClassVar[bool] = True
    counts_repeats: ClassVar[bool] = False

    preset: str = field(default="default", metadata={"outside": True})
    vectors: str | Vectors | tuple[Vectors, ...] = "words"
    k: int | None = None
    directions: int | None = None
    trajectories: int | None = None
    updates: int | None = None
    epochs: int | None = None
    patience: int | None = None
    seconds: float | None = None
    floor: bool | None = None
    switches: Mapping[str, Switch] | None = None
    device: str = "cpu"
    workers: int = field(default=1, metadata={"outside": False})
    policy: str | Trained | None = None
    save: str | None = None
    progress: Progress = field(default=silent, repr=False, compare=False, metadata={"handed": True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "progress", silent if self.progress is None else self.progress)
        if self.preset not in PRESETS:
            raise unknown("preset", self.preset, PRESETS)
        if self.device.partition(":")[0] not in DEVICES:
            raise unknown("device", self.device, DEVICES)
        whole_number("workers", self.workers, 1, what="threads")
        for name, least, what in (
            ("k", 1, "cells, or none"),
            ("directions", 1, "directions, or none"),
            ("trajectories", 2, "trajectories, or none"),
            ("updates", 0, "updates, or none"),
            ("epochs", 1, "epochs, or none"),
            ("patience", 1, "updates, or none"),
        ):
            whole_number(name, getattr(self, name), least, or_none=True, what=what)
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0, or none")
        PRESETS[self.preset].switched(self.switches or {})

    @property
    def settings(self) -> Preset:
        """All that is settled of how to learn: the preset, what is switched, and the parameters given."""
        names = ("k", "directions", "trajectories", "updates", "epochs", "patience")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(PRESETS[self.preset].switched(self.switches or {}), **given)

    @property
    def called(self) -> str:
        """The name of the preset, and what is switched."""
        switches = ", ".join(f"{name} {value}" for name, value in sorted((self.switches or {}).items()))
        return f"{self.preset} with {switches}" if switches else self.preset

    @property
    def vector_options(self) -> dict[str, dict[str, str]]:
        """How the vectors of a name are to be made, by kind."""
        return {"words": {"scale": self.settings.scale}}

    def has_floor(self, weights: QueryObjective) -> bool:
        """Return whether the answer is never below greedy's."""
        if self.floor is not None:
            return self.floor
        return self.settings.floor and (isinstance(weights, Weights) or self.policy is None)

    def with_vectors(self, *vectors: Vectors) -> Cube2net:
        """Return the same method, with the vectors of a cube's cells."""
        return replace(self, vectors=vectors)

    def with_progress(self, progress: Progress) -> Cube2net:
        """Return the same method, which tells how its learning goes."""
        return replace(self, progress=progress)

    def check(self) -> None:
        """Raise where the packages that learn are not installed, or those that a policy's file needs."""
        file = self.save is not None or isinstance(self.policy, str)
        require("the method 'cube2net'", "torch", *(("safetensors",) if file else ()))

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the best cells met while learning, in the order taken."""
        self.check()
        preset = self.settings
        instance = Instance.of(cube, query, weights, budget, preset)
        ends = "all" if preset.whole else "best"
        if len(instance.greedy.cells) == 0 or len(instance.problem) == 0:
            return outcome(cube, weights, instance.greedy.cells, ends, note=instance.greedy.note)
        floor = outcome(cube, weights, instance.floor(self.progress), ends) if self.has_floor(weights) else None
        watch = Stopwatch()
        agent = self._agent(cube, [instance], seed)
        trained = agent.learn()
        seconds = watch.seconds
        if self.save is not None:
            trained.save(self.save)
        selection = instance.answer(agent.trainings[0].best_cells, ends)
        if floor is not None and selection.value < floor.value:
            selection = replace(floor, note="learning found nothing better than what greedy chose, which this is")
        if budget.prefix == "best":
            selection = outcome(cube, weights, selection.cells, "best", note=selection.note)
        return replace(selection, train_seconds=seconds)

    def fit(
        self,
        cube: Cube,
        query: Query | Sequence[Query],
        *,
        weights: QueryObjective | Sequence[QueryObjective],
        budget: Budget,
        seed: int = 0,
    ) -> Cube2net:
        """Return the same method with the policy that it learned, to go on with another query of the cube.

        Several queries, each with its weights, are learned in turn, one in every update.
        """
        self.check()
        queries = [query] if isinstance(query, Query) else list(query)
        worths = [weights] if isinstance(weights, QueryObjective) else list(weights)
        if len(queries) != len(worths) or not queries:
            raise ParameterError(f"got {len(queries)} queries and {len(worths)} weights, expected one for each")
        preset = self.settings
        instances = [Instance.of(cube, one, worth, budget, preset) for one, worth in zip(queries, worths, strict=True)]
        instances = [instance for instance in instances if len(instance.greedy.cells) and len(instance.problem)]
        if not instances:
            raise ParameterError("there is nothing to learn: no cell can be chosen for any of the queries")
        return replace(self, policy=self._agent(cube, instances, seed).learn())

    def _agent(self, cube: Cube, instances: list[Instance], seed: int) -> Agent:
        preset = self.settings
        space = Space.of(self._vectors(cube), directions=preset.directions)
        return Agent(self, preset, instances, space, seed)

    def _vectors(self, cube: Cube) -> list[Array]:
        if isinstance(self.vectors, str):
            raise ParameterError(
                f"vectors are {self.vectors!r}, a name: give Vectors here, or ask through construct, which makes them"
            )
        given = (self.vectors,) if isinstance(self.vectors, Vectors) else self.vectors
        for vectors in given:
            if len(vectors) != len(cube.cells):
                raise ParameterError(f"vectors are of {len(vectors):,} cells, and the cube has {len(cube.cells):,}")
        return [vectors.values for vectors in given]


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
        from cube2net.selection.rl.gpu_trajectories import GpuTrajectories

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
        load("cube2net.selection.rl.ppo")
        from cube2net.selection.rl import ppo

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
        from cube2net.selection.rl import ppo

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
