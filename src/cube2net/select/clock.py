"""How much time is left."""

from __future__ import annotations

import math
import time


class Clock:
    """How many seconds are left; without a limit always as many."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._start = time.perf_counter()

    @property
    def left(self) -> float:
        """The seconds left; below 0 when the time is over."""
        return self.seconds - (time.perf_counter() - self._start) if math.isfinite(self.seconds) else math.inf

    def over(self) -> bool:
        """Return whether no time is left."""
        return self.left <= 0
