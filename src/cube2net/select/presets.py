"""The two ways to learn: the paper to the letter, and what makes it work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Preset:
    """What a preset fixes; the fields of ``Cube2net`` that are given stand above it."""

    k: int | None
    directions: int | None
    trajectories: int
    updates: int
    patience: int | None
    only_useful: bool
    at_a_price: bool
    ppo: dict[str, Any] = field(default_factory=dict)


PRESETS = {
    "default": Preset(
        k=None,
        directions=8,
        trajectories=40,
        updates=60,
        patience=15,
        only_useful=True,
        at_a_price=True,
        ppo={"epochs": 10, "hidden": 64, "learning_rate": 3e-3, "spread": 0.7},
    ),
    "paper": Preset(
        k=1,
        directions=None,
        trajectories=40,
        updates=40,
        patience=None,
        only_useful=False,
        at_a_price=False,
        ppo={"hidden_layer": "sigmoid", "output_layer": "sigmoid"},
    ),
}
