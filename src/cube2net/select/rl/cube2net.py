"""The paper's method: an agent learns where in the space of cells the next good cell lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from cube2net.array_types import Array
from cube2net.compiling import Stopwatch
from cube2net.errors import ParameterError, unknown, whole_number
from cube2net.extras import require
from cube2net.progress import Progress, silent
from cube2net.records import Budget, Cube, Query, Selection, Vectors, Weights, Worth
from cube2net.select.contract import outcome
from cube2net.select.rl.agent import Agent
from cube2net.select.rl.episodes import Instance, Space
from cube2net.select.rl.policy import Trained
from cube2net.select.rl.presets import PRESETS, Preset, Switch

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

    def has_floor(self, weights: Worth) -> bool:
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

    def select(self, cube: Cube, query: Query, *, weights: Worth, budget: Budget, seed: int = 0) -> Selection:
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
        weights: Worth | Sequence[Worth],
        budget: Budget,
        seed: int = 0,
    ) -> Cube2net:
        """Return the same method with the policy that it learned, to go on with another query of the cube.

        Several queries, each with its weights, are learned in turn, one in every update.
        """
        self.check()
        queries = [query] if isinstance(query, Query) else list(query)
        worths = [weights] if isinstance(weights, Worth) else list(weights)
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
