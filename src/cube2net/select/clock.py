"""How much time is left."""

from __future__ import annotations

import math

from cube2net.compiling import Stopwatch


class Clock:
    """How many seconds are left, compiling aside; without a limit always as many."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._watch = Stopwatch()

    @property
    def left(self) -> float:
        """The seconds left; below 0 when the time is over."""
        return self.seconds - self._watch.seconds if math.isfinite(self.seconds) else math.inf

    def over(self) -> bool:
        """Return whether no time is left."""
        return self.left <= 0
