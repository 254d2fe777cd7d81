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
        self._open: dict[str, tuple[int, list[str]]] = {}

    @property
    def reasons(self) -> list[str]:
        """All counts with their reasons: ``2 links to themselves``."""
        return [f"{count:,} {reason}" for reason, count in self.counts.items()]

    @property
    def _is_read(self) -> bool:
        """Whether anybody reads the sentences: they are said to somebody, or the first of them is the error."""
        return self.strict or self.progress is not silent

    def say(self, text: str) -> None:
        """Tell the caller something that is worth knowing."""
        self.progress.note(text)

    def drop(self, reason: str, count: int, shown: Sequence[str]) -> None:
        """Count what is left out for one reason, and show the first few sentences about it."""
        if count == 0:
            return
        if self.strict:
            raise SourceError(shown[0])
        self.leave_out(reason, count)
        self.say(f"left out {reason}: {count:,} ({'; '.join(shown)}{'; …' if count > len(shown) else ''})")

    def drop_rows(self, reason: str, places: Places, bad: Sequence[int], sentence: Callable[[int], str]) -> None:
        """Count rows that are left out; ``sentence`` says what is wrong with one, after its place.

        Places are only looked up for somebody who reads them: that may take another pass over the file.
        """
        first = [int(row) for row in bad[: 1 if self.strict else MAX_EXAMPLES]] if self._is_read else []
        found = zip(places(first), first, strict=True) if first else ()
        self.drop(reason, len(bad), [f"{place}: {sentence(row)}" for place, row in found])

    def drop_one(self, reason: str, place: str, sentence: str) -> None:
        """Count one thing that cannot be used, as it goes by; stop there if strict."""
        if self.strict:
            raise SourceError(f"{place}: {sentence}")
        count, shown = self._open.get(reason, (0, []))
        if count < MAX_EXAMPLES:
            shown.append(f"{place}: {sentence}")
        self._open[reason] = count + 1, shown

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count what was never wanted."""
        if count:
            self.counts[reason] = self.counts.get(reason, 0) + count

    def close(self) -> dict[str, int]:
        """Return all counts, having said what was wrong with what went by; ``first`` is the first sentence of it."""
        for reason, (count, shown) in self._open.items():
            self.first = self.first or shown[0]
            self.drop(reason, count, shown)
        self._open = {}
        return dict(self.counts)
