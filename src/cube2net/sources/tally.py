"""What is wrong with the lines of a stream, counted as they go by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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


def decoded(name: str, numbered: Iterable[tuple[int, bytes | None]], tally: Tally) -> Iterator[tuple[int, str]]:
    """Return numbered lines as text; lines that are too long (None) or not UTF-8 are dropped and counted."""
    for number, line in numbered:
        if line is None:
            tally.drop("lines longer than 16 MiB", f"{name} line {number:,}", "the line is longer than 16 MiB")
            continue
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            wrong = f"byte 0x{line[error.start]:02x} is not UTF-8, expected text in UTF-8"
            tally.drop("lines that are not UTF-8", f"{name} line {number:,}", wrong)
