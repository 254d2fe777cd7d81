"""What an agent learns on: the settings of a preset, cells as points on a grid, and the cells of a query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from cube2net._util.arrays import Array, freeze, take_rows
from cube2net._util.progress import Progress, silent
from cube2net.errors import InputError, ParameterError, check_int, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection, Weights
from cube2net.selection.constraints import Limits, check, check_sums, compute_room, evaluate_cells, make_surrogate
from cube2net.selection.greedy import Greedy
from cube2net.selection.problem import Problem

# Squared distances must stay below this, so that 32 bits hold them on every machine.
MAX_SQUARED_DISTANCE = 2**31 - 1
# Vectors nearer to each other than this are at one point: 32-bit numbers end here.
TINY = 1e-30
# So are vectors that differ by no more than this share of their size: by rounding.
EQUAL = 1e-12

# Near cells unless k says otherwise: this share of the useful ones; this many where a function values selections, since
# comparing cells by jaccard is then only a guess.
NEAR, NEAR_BY_FUNCTION = 0.4, 32


Switch = int | float | bool | str | None

ANSWERS = ("met", "plan")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """How an agent acts and learns; the defaults are those of ``Cube2net``.

    Where an agent moves: ``scale`` is that of the word vectors (``"blocks"`` or ``"none"``), ``directions`` how many
    principal ones of them (None: the vectors as they are), ``only_useful`` leaves out cells that no best selection has.
    How an action becomes a cell: the best of the ``k`` nearest (None: a share of them), ``at_a_price`` the one that
    pays most at the best value so far, or none; ``sees_left`` shows the agent what is left to gain, and actions are
    offsets from its centre. What is rewarded: ``units`` are those of greedy's value; ``each_step`` asks a function
    after every step and not only at the end; ``whole`` looks at selections of all m steps only. What comes back: the
    best selection ``"met"`` or the learned policy's ``"plan"`` (``answer``), not below greedy's with a ``floor``. How
    long: ``trajectories``, ``updates``, ``patience``. The rest are the settings of PPO, see ``ppo.Settings``.
    """

    scale: str = "blocks"
    directions: int | None = 8
    only_useful: bool = True
    k: int | None = None
    at_a_price: bool = True
    sees_left: bool = True
    units: bool = True
    each_step: bool = False
    whole: bool = False
    answer: str = "met"
    floor: bool = True
    trajectories: int = 40
    updates: int = 60
    patience: int | None = 15
    epochs: int = 10
    minibatches: int = 1
    discount: float = 0.99
    learning_rate: float = 3e-3
    hidden: int = 64
    hidden_layer: str = "tanh"
    output_layer: str = "linear"
    spread: float = 0.7
    one_spread: bool = False
    whiten: bool = True
    largest_gradient: float | None = 0.5
    end_value: bool = False
    printed_exponent: bool = False
    printed_target: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value, kind = getattr(self, field.name), str(field.type)
            if kind == "bool" and not isinstance(value, bool):
                raise ParameterError(f"switch {field.name!r} is {value!r}, expected true or false")
        if self.answer not in ANSWERS:
            raise unknown_name("answer", self.answer, ANSWERS)
        for name, least, what in (("k", 1, "cells"), ("directions", 1, "directions"), ("patience", 1, "updates")):
            check_int(name, getattr(self, name), least, or_none=True, what=f"{what}, or none")
        check_int("trajectories", self.trajectories, 2, what="trajectories")
        check_int("updates", self.updates, 0, what="updates")

    def switch(self, switches: Mapping[str, Switch]) -> Preset:
        """Return the preset with some of its fields switched.

        >>> Preset().switch({"directions": None}).directions
        """
        names = [field.name for field in fields(self)]
        for name in switches:
            if name not in names:
                raise unknown_name("switch", name, names)
        return replace(self, **switches)  # type: ignore[arg-type]

    @property
    def ppo(self) -> dict[str, Switch]:
        """The settings of PPO."""
        return {name: getattr(self, name) for name in OF_PPO}


OF_PPO = tuple(field.name for field in fields(Preset))[-14:]

PAPER = Preset(
    scale="none",
    directions=None,
    only_useful=False,
    k=1,
    at_a_price=False,
    sees_left=False,
    units=False,
    each_step=True,
    whole=True,
    answer="plan",
    floor=False,
    updates=40,
    patience=None,
    epochs=40,
    minibatches=4,
    learning_rate=3e-4,
    hidden=256,
    hidden_layer="sigmoid",
    output_layer="sigmoid",
    spread=0.5,
    one_spread=True,
    whiten=False,
    largest_gradient=None,
    end_value=True,
)

TUNED = replace(
    PAPER,
    scale="blocks",
    directions=20,
    units=True,
    updates=300,
    epochs=10,
    minibatches=1,
    discount=0.9,
    learning_rate=5e-3,
    hidden=128,
    hidden_layer="tanh",
    output_layer="linear",
    spread=1.0,
    whiten=True,
    largest_gradient=0.5,
    end_value=False,
)

PRESETS = {
    "default": Preset(),
    "paper": PAPER,
    "paper-tuned": TUNED,
    "printed": replace(PAPER, printed_exponent=True, printed_target=True),
}
"""The default; the paper to the letter, its two misprints read as they are meant; the paper's agent with scales of
vectors, rewards and outputs that let it learn; and the paper as printed."""


@dataclass(frozen=True, eq=False)
class Space:
    """Cells as points on a grid; ``unit`` steps of the grid are 1 in the agent's numbers.

    Whole coordinates make squared distances whole numbers, so that every processor agrees to the last bit which
    cells are nearest. Actions are cut off at ``reach`` steps, twice as far out as the farthest cell.

    >>> line = Space.of([np.array([[0.0], [1.0], [4.0]])], directions=None)
    >>> line, line.on_grid(np.array([[2.0], [-999.0]])).tolist()
    (Space(3 cells, 1 direction), [[5792], [-23170]])
    """

    points: Array
    unit: float
    reach: int

    @classmethod
    def of(cls, vectors: Sequence[Array], *, directions: int | None = 8) -> Space:
        """Return the points of cells whose vectors are the rows of one or several matrices side by side.

        With ``directions``, every matrix is centred and scaled to the same spread, the points are the principal
        directions of largest variance, and 1 is the standard deviation of their coordinates. Without, the
        vectors stay as they are. There is always one direction, even where the vectors have no columns.
        """
        check_int("directions", directions, 1, or_none=True, what="directions, or none")
        parts = [np.asarray(one, dtype=np.float64) for one in vectors]
        shapes = [one.shape for one in parts]
        if not parts or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
            raise InputError(f"cell vectors have the shapes {shapes}, expected matrices with one row for every cell")
        if not all(bool(np.isfinite(one).all()) for one in parts):
            raise InputError("cell vectors are not finite: no distance can be told")
        parts.append(np.zeros((shapes[0][0], 0 if any(shape[1] for shape in shapes) else 1)))
        flat = np.concatenate(parts, axis=1) if directions is None else _principal(parts, directions)
        reach = int((MAX_SQUARED_DISTANCE / flat.shape[1]) ** 0.5 / 2)
        far = float(np.abs(flat).max(initial=0.0))
        unit = reach / (2 * far) if far > TINY else 1.0
        return cls(freeze(np.rint(flat * unit).astype(np.int16)), unit, reach)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"Space({len(self):,} cells, {self.directions} direction{'s' if self.directions > 1 else ''})"

    @property
    def directions(self) -> int:
        """How many numbers an action has."""
        return int(self.points.shape[1])

    def take(self, cells: Array) -> Space:
        """Return the space of some of the cells, on the same grid."""
        return Space(freeze(self.points[cells]), self.unit, self.reach)

    def on_grid(self, actions: Array) -> Array:
        """Return actions in steps of the grid; one that is not finite is near nothing, and refused."""
        check_finite(actions)
        with np.errstate(over="ignore"):  # beyond the largest number is beyond the reach
            steps = np.rint(actions * np.float32(self.unit))
        return np.clip(steps, -self.reach, self.reach).astype(np.int16, order="C")


def check_finite(actions: Array) -> None:
    """Raise unless every number of the actions is finite."""
    odd = ~np.isfinite(actions)
    if bool(odd.any()):
        raise InputError(
            f"an action is {float(actions[odd][0])!r}, and {int(odd.any(axis=-1).sum()):,} of {len(actions):,} "
            "actions are not finite: learn in smaller steps (learning_rate)"
        )


def _principal(vectors: Sequence[Array], directions: int) -> Array:
    """Return the coordinates of the rows along the directions of largest variance, their spread made 1."""
    if len(vectors[0]) == 0:
        return np.zeros((0, min(directions, sum(one.shape[1] for one in vectors))))
    parts = []
    for one in vectors:
        centred = one - one.mean(axis=0)
        spread = float(np.sqrt(np.mean(np.sum(centred**2, axis=1))))
        level = TINY + EQUAL * float(np.abs(one).max(initial=0.0))
        parts.append(centred / spread if spread > level else np.zeros_like(centred))
    flat = np.concatenate(parts, axis=1)
    _, turned = np.linalg.eigh(flat.T @ flat)
    turned = turned[:, ::-1][:, :directions]
    # An eigenvector's sign is arbitrary: its largest part, the first among equals, is made positive everywhere.
    sizes = np.abs(turned)
    largest = (sizes > 0.999 * sizes.max(axis=0)).argmax(axis=0)
    points: Array = flat @ (turned * np.sign(turned[largest, np.arange(turned.shape[1])]))
    spread = float(points.std())
    return points / spread if spread > TINY else points


@dataclass(frozen=True, kw_only=True)
class Dynamics:
    """How an action becomes a cell, and what is seen.

    ``k``: the best of the k nearest cells is taken (1: the nearest one). ``pass_over``: a step takes nothing where
    even the best of them adds nothing at the price. ``whole``: a selection is met, and may be the best one, only when
    its m steps are done. ``each_step``: a function is called after every step, and not only at the end. ``sees_left``:
    beside the sum of the chosen cells' points, the agent sees how far it is, and the centre of what is left to gain; an
    action is then an offset from that centre. ``own_price``: the last number of an action is the logarithm of what the
    price is multiplied by in that step. ``max_nodes``: how many objects may come in that are not in the query.
    """

    n_cells: int
    k: int
    pass_over: bool = True
    whole: bool = False
    each_step: bool = False
    sees_left: bool = True
    own_price: bool = False
    max_nodes: float = math.inf

    def __post_init__(self) -> None:
        check_int("n_cells", self.n_cells, 0, what="cells")
        check_int("k", self.k, 1, what="cells")
        if math.isnan(self.max_nodes):
            raise ParameterError("max_nodes is nan, expected a number of objects")


@dataclass(frozen=True, eq=False)
class Instance:
    """A query, what its selections are worth, and the cells that may be chosen.

    ``greedy`` is what greedy chose, by jaccard where the worth is a function, and ``start`` the value it reached.
    """

    cube: Cube
    query: Query
    weights: QueryObjective
    budget: Budget
    greedy: Selection
    problem: Problem

    @classmethod
    def of(cls, cube: Cube, query: Query, weights: QueryObjective, budget: Budget, preset: Preset) -> Instance:
        """Return the instance of a query; it has no cells where none can be chosen."""
        check(cube, query, weights)
        weights = check_sums(weights, "cube2net")
        guide = make_surrogate(cube, query, weights, budget.scope)
        greedy = Greedy().select(cube, query, weights=guide, budget=replace(budget, best_prefix=False))
        start = float(greedy.values.max(initial=0.0)) if isinstance(weights, Weights) else 0.0
        every = not preset.only_useful
        problem = Problem.of(cube, query, guide, at_least=start, every=every, scope=budget.scope)
        return cls(cube, query, weights, budget, greedy, problem)

    @property
    def is_counted(self) -> bool:
        """Whether the value is the problem's own ratio; if not, a function values every trajectory as a whole."""
        return isinstance(self.weights, Weights) and self.budget.max_links is None

    @property
    def start(self) -> float:
        """The value that greedy reached, by jaccard where the worth is a function."""
        return float(self.greedy.values.max(initial=0.0))

    def dynamics(self, preset: Preset) -> Dynamics:
        """Return how an action becomes a cell."""
        near = max(64, math.ceil(NEAR * len(self.problem))) if self.is_counted else NEAR_BY_FUNCTION
        return Dynamics(
            n_cells=self.budget.n_cells,
            k=preset.k or near,
            pass_over=preset.at_a_price,
            whole=preset.whole,
            sees_left=preset.sees_left,
            each_step=preset.each_step,
            own_price=preset.at_a_price and not self.is_counted,
            max_nodes=compute_room(self.cube, self.query, self.budget),
        )

    def floor(self, progress: Progress = silent) -> Array:
        """Return the cells that greedy chooses by what they are worth; a function is called for that."""
        if isinstance(self.weights, Weights):
            return self.greedy.cells
        budget = replace(self.budget, best_prefix=False)
        return Greedy(progress=progress).select(self.cube, self.query, weights=self.weights, budget=budget).cells

    def compute_value(self, cells: Array) -> float:
        """Return the value of cells by position."""
        members = take_rows(self.cube.cells.members, self._admit(cells))
        return self.weights.value(np.unique(members.indices))

    def answer(self, cells: Array, best_prefix: bool) -> Selection:
        """Return the selection of cells by position, in the order taken."""
        return evaluate_cells(self.cube, self.weights, self._admit(cells), best_prefix)

    def _admit(self, cells: Array) -> Array:
        """Return the numbers of the cells that fit the limits, one after the other."""
        numbers = self.problem.cells[cells]
        return np.asarray(numbers[Limits(self.cube, self.query, self.budget).admit(numbers, len(numbers))])
