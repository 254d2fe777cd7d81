"""What is wrong with the lines of a stream, counted as they go by."""

from __future__ import annotations

from cube2net.errors import SourceError
from cube2net.sources.faults import SHOWN, Faults


class Tally:
    """Counts what is left out of a stream, and tells each reason once, with its first places, at the end.

    >>> tally = Tally(Faults(progress=lambda stage, done, total=None: print(stage)))
    >>> for line in range(2, 7):
    ...     tally.drop("papers without a year", f"few.json line {line}", "'year' is missing")
    >>> tally.close()
    left out papers without a year: 5 (few.json line 2: 'year' is missing; few.json line 3: ...; …)
    {'papers without a year': 5}
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.counts: dict[str, int] = {}
        self.shown: dict[str, list[str]] = {}

    def drop(self, reason: str, place: str, sentence: str) -> None:
        """Count something that cannot be used; stop there if strict."""
        if self.faults.strict:
            raise SourceError(f"{place}: {sentence}")
        self.counts[reason] = self.counts.get(reason, 0) + 1
        shown = self.shown.setdefault(reason, [])
        if len(shown) < SHOWN:
            shown.append(f"{place}: {sentence}")

    def leave(self, reason: str) -> None:
        """Count something that was never wanted."""
        self.faults.counts[reason] = self.faults.counts.get(reason, 0) + 1

    def close(self) -> dict[str, int]:
        """Return all counts, having told what was dropped."""
        for reason, count in self.counts.items():
            self.faults.drop(reason, count, self.shown[reason])
        self.counts = {}
        return dict(self.faults.counts)
