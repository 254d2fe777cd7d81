"""What an objective is made of: weighted counts of the objects brought in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.errors import InputError
from cube2net.records.ragged import Array, frozen


@dataclass(frozen=True, eq=False)
class Weights:
    """The value of objects M as a ratio of sums: (gain₀ + Σ gain(o)) / (cost₀ + Σ cost(o)), o in M.

    With no cost at all the value is 0.

    >>> jaccard = Weights(gain=np.array([1.0, 1.0, 0.0]), cost=np.array([0.0, 0.0, 1.0]), cost0=2.0)
    >>> jaccard.value(np.array([0, 2]))
    0.3333333333333333
    """

    gain: Array
    cost: Array
    gain0: float = 0.0
    cost0: float = 0.0

    def __post_init__(self) -> None:
        if self.gain.shape != self.cost.shape or self.gain.ndim != 1:
            raise InputError(f"gains have shape {self.gain.shape} and costs {self.cost.shape}, expected one per object")
        for name in ("gain", "cost"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            if not bool(np.isfinite(values).all()):
                raise InputError(f"{name} is not finite for {int((~np.isfinite(values)).sum()):,} objects")
            object.__setattr__(self, name, frozen(values))
        if self.cost0 < 0 or bool((self.cost < 0).any()):
            raise InputError("costs must not be negative")

    def value(self, objects: Array) -> float:
        """Return what a set of distinct objects is worth."""
        return self.ratio(float(self.gain[objects].sum()), float(self.cost[objects].sum()))

    def ratio(self, gain: float, cost: float) -> float:
        """Return the value at given sums."""
        below = self.cost0 + cost
        return (self.gain0 + gain) / below if below > 0 else 0.0
