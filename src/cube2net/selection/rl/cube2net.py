"""The paper's method: an agent learns where in the space of cell vectors the next good cell lies."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.files import write_files
from cube2net._util.packages import require
from cube2net._util.progress import Progress, Stopwatch, import_modules, silent
from cube2net.errors import InputError, ParameterError, check_int, first_line, quote_few, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection, Weights
from cube2net.model.vectors import Vectors
from cube2net.selection.constraints import evaluate_cells
from cube2net.selection.rl.cpu_trajectories import Trajectories
from cube2net.selection.rl.episodes import PRESETS, Instance, Preset, Space, Switch

DEVICES = ("cpu", "cuda")
FORMAT = "cube2net policy 1"
BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, kw_only=True)
class Cube2net:
    """Learn to choose m cells by reinforcement learning (PPO).

    The state is the sum of the vectors of the chosen cells. An action is drawn from a normal distribution around a
    learned mean, and a cell near it is taken; the reward is the increase of the value, q(S′) − q(S). The result is the
    best trajectory of all episodes, and never below greedy's for the same objective, unless ``floor=False``.

    The preset ``"paper"`` follows the paper exactly: raw vectors, sigmoids on every layer, one σ, mini-batches, all
    cells as candidates, the nearest cell is taken, exactly m steps, and the result is the plan of the learned policy,
    without a floor. The default differs as follows:

    - Candidates are the cells that can be in a best selection (see ``Problem``), as points in 8 principal directions of
      their vectors, scaled to a standard deviation of 1; the outputs of the networks are linear.
    - Of the ``k`` nearest cells, the one with the largest gain − λ·cost is taken, where λ is the best value so far: at
      the best value λ*, a best selection maximises G − λ*·C (Dinkelbach). If no cell has a positive difference, the
      step takes none.
    - Besides the sum, the agent sees the number of remaining steps and the centre of the remaining gain, and acts
      relative to this centre, so that a policy can be used for another query.

    With these changes, nearly all of the value comes from the price and the choice among near cells: with a learning
    rate of 0, the default finds cells of the same value. The preset ``"paper-tuned"`` keeps the paper's agent and
    changes only scales and numbers; it learns, and stays below greedy.

    A user's function is called once per trajectory, at its end. Near cells (32 unless ``k`` is given) are then compared
    by jaccard, at a price that is a further component of the action. Greedy, the floor, would call the function for
    each remaining cell in each step; with a ``policy``, which saves calls, there is no floor unless ``floor=True``.

    Parameters
    ----------
    preset
        ``"default"``; ``"paper"``; ``"printed"``, the paper with its misprints; or ``"paper-tuned"``, the paper's agent
        with scales and numbers that let it learn. Parameters that are None below take the preset's value.
    vectors
        Cell vectors: ``"words"`` of their labels, ``"members"`` they share, ``"both"``, or your own.
    k
        Number of nearest cells a step chooses among; by default two fifths of the candidates.
    directions
        Number of principal directions of the vectors.
    trajectories, updates, epochs
        Learning ends after ``updates`` batches of ``trajectories``, with ``epochs`` passes over each batch; by default
        60 batches of 40 and 10 passes.
    patience
        Learning ends when the best value has not risen for this many updates, by default 15.
    seconds
        Time limit of learning; None is no limit.
    floor
        Whether the answer is never below greedy's; None takes the preset's choice.
    switches
        Changes to fields of a ``Preset`` by name: ``Cube2net(preset="paper", switches={"scale": "blocks"})``.
    device
        ``"cpu"``, or ``"cuda"`` for a GPU.
    policy
        A policy to start from: a file, or what ``fit`` returned.
    save
        A file to write the policy to.
    progress
        Receives the progress of learning; :func:`construct` passes its own.
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
    policy: str | Trained | None = None
    save: str | None = None
    progress: Progress = field(default=silent, repr=False, compare=False, metadata={"handed": True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "progress", silent if self.progress is None else self.progress)
        if self.preset not in PRESETS:
            raise unknown_name("preset", self.preset, PRESETS)
        if self.device.partition(":")[0] not in DEVICES:
            raise unknown_name("device", self.device, DEVICES)
        for name, least, what in (
            ("k", 1, "cells, or none"),
            ("directions", 1, "directions, or none"),
            ("trajectories", 2, "trajectories, or none"),
            ("updates", 0, "updates, or none"),
            ("epochs", 1, "epochs, or none"),
            ("patience", 1, "updates, or none"),
        ):
            check_int(name, getattr(self, name), least, or_none=True, what=what)
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0, or none")
        PRESETS[self.preset].switch(self.switches or {})

    @property
    def settings(self) -> Preset:
        """The preset with the switches and the parameters of this method."""
        names = ("k", "directions", "trajectories", "updates", "epochs", "patience")
        changes = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(PRESETS[self.preset].switch(self.switches or {}), **changes)

    @property
    def title(self) -> str:
        """The name of the preset and its switches."""
        switches = ", ".join(f"{name} {value}" for name, value in sorted((self.switches or {}).items()))
        return f"{self.preset} with {switches}" if switches else self.preset

    @property
    def vector_options(self) -> dict[str, dict[str, str]]:
        """Options for making vectors, by kind."""
        return {"words": {"scale": self.settings.scale}}

    def has_floor(self, weights: QueryObjective) -> bool:
        """Return whether the answer is never below greedy's."""
        if self.floor is not None:
            return self.floor
        return self.settings.floor and (isinstance(weights, Weights) or self.policy is None)

    def with_vectors(self, *vectors: Vectors) -> Cube2net:
        """Return the method with cell vectors."""
        return replace(self, vectors=vectors)

    def with_progress(self, progress: Progress) -> Cube2net:
        """Return the method with a progress function."""
        return replace(self, progress=progress)

    def check(self) -> None:
        """Raise where a required package is not installed."""
        file = self.save is not None or isinstance(self.policy, str)
        require("the method 'cube2net'", "torch", *(("safetensors",) if file else ()))

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the best selection found while learning, in the order taken."""
        self.check()
        preset = self.settings
        instance = Instance.of(cube, query, weights, budget, preset)
        best_prefix = not preset.whole
        if len(instance.greedy.cells) == 0 or len(instance.problem) == 0:
            return evaluate_cells(cube, weights, instance.greedy.cells, best_prefix, note=instance.greedy.note)
        floor = (
            evaluate_cells(cube, weights, instance.floor(self.progress), best_prefix)
            if self.has_floor(weights)
            else None
        )
        watch = Stopwatch()
        agent = self._agent(cube, [instance], seed)
        trained = agent.learn()
        seconds = watch.seconds
        if self.save is not None:
            trained.save(self.save)
        selection = instance.answer(agent.trainings[0].best_cells, best_prefix)
        if floor is not None and selection.value < floor.value:
            selection = replace(floor, note="learning found nothing better than what greedy chose, which this is")
        if budget.best_prefix:
            selection = evaluate_cells(cube, weights, selection.cells, best_prefix=True, note=selection.note)
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
        """Return the method with a policy learned on one or several queries, to use for another query of the cube.

        Each query has its own weights; every update learns one of them, in turn.
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
        vector_sets = (self.vectors,) if isinstance(self.vectors, Vectors) else self.vectors
        for vectors in vector_sets:
            if len(vectors) != len(cube.cells):
                raise ParameterError(f"vectors are of {len(vectors):,} cells, and the cube has {len(cube.cells):,}")
        return [vectors.values for vectors in vector_sets]


@dataclass(frozen=True, eq=False)
class Trained:
    """The weights of a policy by name, the space it moves in, and how its learning went.

    ``curve`` holds, for every update, the mean value of its trajectories and the best value so far. ``card`` says what
    it was learned on: the cube, and for every query its size, the value of greedy and the best value met.
    """

    arrays: dict[str, Array]
    space: str
    preset: str
    curve: tuple[tuple[float, float], ...] = ()
    card: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Trained({self.preset} policy, {sum(array.size for array in self.arrays.values()):,} weights)"

    def save(self, path: str | Path) -> None:
        """Write the policy to a safetensors file, atomically."""
        require("the file of a policy", "safetensors")
        from safetensors.numpy import save_file

        about = {
            "format": FORMAT,
            "space": self.space,
            "preset": self.preset,
            "curve": json.dumps(self.curve, allow_nan=False),
            "card": json.dumps(self.card, allow_nan=False, ensure_ascii=False),
        }
        write_files({Path(path): lambda aside: save_file(self.arrays, aside, about)})

    @classmethod
    def load(cls, path: str | Path) -> Trained:
        """Return the policy of a file."""
        require("the file of a policy", "safetensors")
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                about = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except FileNotFoundError:
            raise InputError(f"there is no policy at {str(path)!r}") from None
        except (SafetensorError, OSError) as error:
            raise InputError(f"{str(path)!r} is no policy: {error}") from None
        if about.get("format") != FORMAT:
            raise InputError(f"{str(path)!r} is no policy: its format is {about.get('format')!r}, expected {FORMAT!r}")
        lost = [name for name, array in arrays.items() if not bool(np.isfinite(array).all())]
        if lost:
            raise InputError(f"{str(path)!r} is no policy: its weights {quote_few(lost)} are not finite numbers")
        try:
            curve = tuple((_finite(mean), _finite(best)) for mean, best in json.loads(about.get("curve", "[]")))
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise InputError(f"{str(path)!r} is no policy: its learning curve cannot be read") from None
        try:
            card = json.loads(about.get("card", "{}"))
        except (ValueError, RecursionError):
            card = None
        if not isinstance(card, dict):
            raise InputError(f"{str(path)!r} is no policy: its card cannot be read")
        return cls(arrays, about.get("space", ""), about.get("preset", ""), curve, card)


class Training:
    """The learning of one instance, and the best selection found."""

    def __init__(self, method: Cube2net, preset: Preset, instance: Instance, space: Space) -> None:
        self.method, self.instance = method, instance
        self.space = space.take(instance.problem.cells)
        self.dynamics = instance.dynamics(preset)
        self.at_a_price = preset.at_a_price
        self.price = instance.start if preset.at_a_price else 0.0
        self.best, self.best_cells = -math.inf, np.empty(0, dtype=np.int64)
        start = instance.start if instance.is_counted else abs(instance.weights.value(instance.greedy.objects))
        self.unit = start if preset.units and start > 0 else 1.0

    def game(self, batch: int) -> Any:
        """Return trajectories on the device of the method."""
        method, instance = self.method, self.instance
        options: dict[str, Any] = {"batch": batch, "price": self.price, "unit_reward": self.unit}
        if method.device == "cpu":
            function = None if instance.is_counted else instance.compute_value
            return Trajectories(instance.problem, self.space, self.dynamics, function=function, **options)
        if not instance.is_counted:
            raise ParameterError("a function of your own, or max_links, needs the CPU: leave out the device")
        from cube2net.selection.rl.gpu_trajectories import GpuTrajectories

        return GpuTrajectories(instance.problem, self.space, self.dynamics, device=method.device, **options)

    def update_best(self, game: Any) -> bool:
        """Take over the best selection of a game where it is better, and return whether it is."""
        if not game.best > self.best:
            return False
        self.replace_best(game)
        if self.at_a_price and self.instance.is_counted and self.best > self.price:
            self.price = self.best
            game.set_price(self.price)
        return True

    def replace_best(self, game: Any) -> None:
        """Take over the best selection of a game."""
        self.best, self.best_cells = game.best, game.best_cells


class Agent:
    """Learns a policy on one instance, or on several in turn."""

    def __init__(
        self, method: Cube2net, preset: Preset, instances: Sequence[Instance], space: Space, seed: int
    ) -> None:
        self.method, self.preset, self.space, self.seed = method, preset, space, seed
        self.trainings = [Training(method, preset, instance, space) for instance in instances]

    def learn(self) -> Trained:
        """Return the learned policy; its plan is one more trajectory on each instance, or the answer."""
        import_modules("cube2net.selection.rl.ppo")
        from cube2net.selection.rl import ppo

        method, preset = self.method, self.preset
        settings = ppo.Settings(**preset.ppo)  # type: ignore[arg-type]
        games = [training.game(preset.trajectories) for training in self.trainings]
        with _one_thread():
            policy, generator = ppo.start(games[0], settings, seed=self.seed, device=method.device)
            self._load_weights(policy)
            curve = list(self._updates(games, policy, settings, generator))
            for training in self.trainings:
                alone = training.game(1)
                ppo.roll_out(alone, policy, None)
                if preset.answer == "plan":
                    training.replace_best(alone)
                else:
                    training.update_best(alone)
        arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in policy.state_dict().items()}
        return Trained(arrays, compute_fingerprint(self.space), method.title, tuple(curve), self._write_card())

    def _write_card(self) -> dict[str, Any]:
        """Return what the policy was learned on, and how well it did."""
        queries = [
            {"objects": len(each.instance.query), "greedy": each.instance.start, "best": each.best}
            for each in self.trainings
        ]
        return {"cube": repr(self.trainings[0].instance.cube), "queries": queries}

    def _updates(self, games: list[Any], policy: Any, settings: Any, generator: Any) -> Iterator[tuple[float, float]]:
        """Yield the mean and the best value after every update, until learning ends.

        With several instances every update learns one of them, and ``patience`` does not apply.
        """
        from cube2net.selection.rl import ppo

        method = self.method
        updates = self.preset.updates
        patience = (self.preset.patience or updates) if len(games) == 1 else updates
        environment = games[0] if len(games) == 1 else RoundRobin(games)
        capture = games[0].capture(generator) if len(games) == 1 and method.device != "cpu" else None
        watch, last_rise, means = Stopwatch(), 0, []
        for update in ppo.train(environment, policy, settings, generator, updates=updates, capture=capture):
            turn = (update.number - 1) % len(games)
            training, game = self.trainings[turn], games[turn]
            if training.update_best(game):
                last_rise = update.number
            means.append(update.mean_return * training.unit)
            yield means[-1], training.best
            text = f"learning: {draw_curve(means)} mean {means[-1]:.4f}, best {training.best:.4f}"
            method.progress(text, update.number, updates)
            late = method.seconds is not None and watch.seconds > method.seconds
            if late or update.number - last_rise >= patience:
                return

    def _load_weights(self, policy: Any) -> None:
        import torch

        stored = self.method.policy
        trained = Trained.load(stored) if isinstance(stored, str) else stored
        if trained is None:
            return
        if trained.space != compute_fingerprint(self.space) or trained.preset != self.method.title:
            raise InputError(
                f"the policy was learned with preset {trained.preset!r} among other cells or vectors: use it for other "
                "queries of the same cube, with the same vectors and directions"
            )
        try:
            policy.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in trained.arrays.items()})
        except RuntimeError as error:
            raise InputError(f"the policy does not fit: {first_line(error)}") from None


class RoundRobin:
    """Several games as one environment: every batch of episodes is played in the next one."""

    def __init__(self, games: Sequence[Any]) -> None:
        self.games, self.turn = games, -1
        self.steps, self.observations, self.actions = games[0].steps, games[0].observations, games[0].actions

    def reset(self) -> Any:
        """Start new episodes of the next game."""
        self.turn = (self.turn + 1) % len(self.games)
        return self.games[self.turn].reset()

    def step(self, actions: Any) -> tuple[Any, Any]:
        """Take one action in every episode."""
        observations, rewards = self.games[self.turn].step(actions)
        return observations, rewards


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread: networks are small, and sums must not depend on the number of threads."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r:.60} is no finite number")
    return float(value)


def compute_fingerprint(space: Space) -> str:
    """Return a hash of a space: a policy is valid only in the space it was learned in."""
    digest = hashlib.sha256(f"{space.points.shape} {space.unit!r}".encode())
    digest.update(space.points.tobytes())
    return digest.hexdigest()


def draw_curve(values: Sequence[float], width: int = 24) -> str:
    """Return values as at most ``width`` block characters, each the mean of its share.

    >>> draw_curve([0.0, 0.1, 0.3, 0.7])
    '▁▂▄█'
    >>> draw_curve([1.0, 1.0])
    '██'
    """
    count = min(width, len(values))
    ends = [len(values) * i // count for i in range(count + 1)] if count else []
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]
    low, high = min(means, default=0.0), max(means, default=0.0)
    if high == low:
        return BLOCKS[-1] * count
    return "".join(BLOCKS[round((value - low) / (high - low) * (len(BLOCKS) - 1))] for value in means)
