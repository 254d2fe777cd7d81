"""Count and report what is left out of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cube2net._util.progress import ProgressOption, resolve_progress, silent
from cube2net.errors import SourceError

MAX_EXAMPLES = 3
"""The most sentences shown for one reason."""

Places = Callable[[Sequence[int]], list[str]]
"""Turns the numbers of rows into words: ``links.csv line 7``."""


class Dropped:
    """Counts what is left out, by reason, and says the first of each to ``progress``; ``strict`` stops at the first.

    Rows of a table are all there, and what is wrong with them is said at once (``drop``, ``drop_rows``). Lines of a
    stream go by one at a time (``drop_one``), and what was wrong with them is said at its end (``close``). What was
    never wanted is counted and not said (``leave_out``).

    >>> dropped = Dropped(progress=lambda stage, done, total: print(stage))
    >>> dropped.drop("links to themselves", 2, ["links.csv line 7: 'a' is linked to itself"])
    left out links to themselves: 2 (links.csv line 7: 'a' is linked to itself; …)
    >>> for line in range(2, 7):
    ...     dropped.drop_one("papers without a year", f"few.json line {line}", "'year' is missing")
    >>> dropped.close()
    left out papers without a year: 5 (few.json line 2: 'year' is missing; few.json line 3: ...; …)
    {'links to themselves': 2, 'papers without a year': 5}
    """

    def __init__(self, strict: bool = False, progress: ProgressOption = silent) -> None:
        self.strict, self.progress = strict, resolve_progress(progress)
        self.counts: dict[str, int] = {}
        self.first = ""
        self._unreported: dict[str, tuple[int, list[str]]] = {}

    @property
    def reasons(self) -> list[str]:
        """All counts with their reasons: ``2 links to themselves``."""
        return [f"{count:,} {reason}" for reason, count in self.counts.items()]

    @property
    def _has_reader(self) -> bool:
        """Whether the sentences are used: they are reported, or the first of them is the error."""
        return self.strict or self.progress is not silent

    def say(self, text: str) -> None:
        """Report a note to the caller."""
        self.progress.note(text)

    def drop(self, reason: str, count: int, shown: Sequence[str]) -> None:
        """Count what is left out for one reason, and show the first few sentences about it."""
        if count == 0:
            return
        if self.strict:
            raise SourceError(shown[0])
        self.leave_out(reason, count)
        self.say(f"left out {reason}: {count:,} ({'; '.join(shown)}{'; …' if count > len(shown) else ''})")

    def drop_rows(self, reason: str, places: Places, rows: Sequence[int], sentence: Callable[[int], str]) -> None:
        """Count rows that are left out; ``sentence`` says what is wrong with one, after its place.

        Places are looked up only if the sentences are used: that may take another pass over the file.
        """
        first_rows = [int(row) for row in rows[: 1 if self.strict else MAX_EXAMPLES]] if self._has_reader else []
        places_of_rows = zip(places(first_rows), first_rows, strict=True) if first_rows else ()
        self.drop(reason, len(rows), [f"{place}: {sentence(row)}" for place, row in places_of_rows])

    def drop_one(self, reason: str, place: str, sentence: str) -> None:
        """Count one unusable record of a stream; raise an error if strict."""
        if self.strict:
            raise SourceError(f"{place}: {sentence}")
        count, shown = self._unreported.get(reason, (0, []))
        if count < MAX_EXAMPLES:
            shown.append(f"{place}: {sentence}")
        self._unreported[reason] = count + 1, shown

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count what is left out on purpose, without reporting it."""
        if count:
            self.counts[reason] = self.counts.get(reason, 0) + count

    def close(self) -> dict[str, int]:
        """Report the dropped records of the stream, the first one also as ``first``, and return all counts."""
        for reason, (count, shown) in self._unreported.items():
            self.first = self.first or shown[0]
            self.drop(reason, count, shown)
        self._unreported = {}
        return dict(self.counts)
