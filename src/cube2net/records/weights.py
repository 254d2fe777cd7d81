"""What an objective is made of: weighted counts of the objects brought in, or a function of them."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import SupportsFloat

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
        for name in ("gain", "cost"):
            given = getattr(self, name)
            try:
                values = np.asarray(given, dtype=np.float64)
            except (TypeError, ValueError):
                raise InputError(f"{name} is {_short(given)}, expected a number per object") from None
            object.__setattr__(self, name, frozen(values))
        if self.gain.shape != self.cost.shape or self.gain.ndim != 1:
            raise InputError(f"gains have shape {self.gain.shape} and costs {self.cost.shape}, expected one per object")
        for name, values in (("gain", self.gain), ("cost", self.cost)):
            if not bool(np.isfinite(values).all()):
                raise InputError(f"{name} is not finite for {int((~np.isfinite(values)).sum()):,} objects")
        if bool((self.cost < 0).any()):
            raise InputError(f"cost is negative for {int((self.cost < 0).sum()):,} objects, expected 0 or more")
        for name, allowed in (("gain0", "a finite number"), ("cost0", "a finite number of 0 or more")):
            number = _number(getattr(self, name))
            if number is None or not math.isfinite(number) or (name == "cost0" and number < 0):
                got = _short(getattr(self, name)) if number is None else repr(number)
                raise InputError(f"{name} is {got}, expected {allowed}")
            object.__setattr__(self, name, number)

    @property
    def count(self) -> int:
        """The number of objects there are weights for."""
        return len(self.gain)

    def value(self, objects: Array) -> float:
        """Return what a set of distinct objects is worth."""
        return self.ratio(float(self.gain[objects].sum()), float(self.cost[objects].sum()))

    def ratio(self, gain: float, cost: float) -> float:
        """Return the value at given sums."""
        below = self.cost0 + cost
        return (self.gain0 + gain) / below if below > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Judge:
    """The value of objects M as a function of them says it: one call for every set of objects asked about.

    ``function`` takes the row numbers of M, ascending, and returns a number, also for no objects at all; ``count``
    is the number of objects there are, and ``title`` what to call the function where its own name says little.
    Nothing is known of the function, so nothing can be added up: methods are slower, and no bound can be given.

    >>> Judge(lambda objects: len(objects) / 4, count=4).value(np.array([0, 2]))
    0.5
    """

    function: Callable[[Array], float]
    count: int
    title: str = ""

    def value(self, objects: Array) -> float:
        """Return what a set of distinct objects is worth; the function cannot write to the array it is given."""
        said = self.function(frozen(np.asarray(objects)))
        number = _number(said)
        if number is None or not math.isfinite(number):
            got, wanted = (_short(said), "a number") if number is None else (repr(number), "a finite number")
            raise InputError(f"{self.name} gave {got} for {len(objects):,} objects, expected {wanted}")
        return number

    @property
    def name(self) -> str:
        """What to call the function in a sentence."""
        return f"the objective {self.title or called(self.function)!r}"


Worth = Weights | Judge


def called(function: Callable[..., object]) -> str:
    """Return the name of a function, or of the kind of any other thing that can be called.

    >>> called(len)
    'len'
    """
    return str(getattr(function, "__name__", type(function).__name__))


def _number(said: object) -> float | None:
    """Return a single number as a float, or None for anything else: a text, several numbers, a complex one."""
    if not isinstance(said, SupportsFloat) or getattr(said, "ndim", 0) != 0 or isinstance(said, np.complexfloating):
        return None
    try:
        return float(said)
    except (TypeError, ValueError, OverflowError):
        return None


def _short(value: object) -> str:
    """Return the ``repr`` of a value on one line, without its middle where it is long."""
    return " ".join(reprlib.repr(value).split())
