"""The settings of the agent: the default, the paper to the letter, and the paper with scales that let it learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from cube2net.errors import ParameterError, check_int, unknown_name

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
