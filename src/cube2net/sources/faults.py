"""What is wrong with the rows of a table: counted and shown with its place, or, when strict, a reason to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from cube2net.errors import SourceError, listed
from cube2net.progress import Progress, silent

SHOWN = 3


@dataclass(frozen=True, eq=False)
class Rows:
    """A table and where its rows come from.

    ``places`` turns row numbers into words: ``links.csv line 7``. ``loose`` are the columns whose values
    came as text because the file could not say what they are.
    """

    name: str
    table: pa.Table
    places: Callable[[Sequence[int]], list[str]]
    loose: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Rows({self.name!r}, {self.table.num_rows:,} rows, columns {listed(self.table.column_names)})"


@dataclass(frozen=True, eq=False)
class Faults:
    """Counts what is left out, by reason; the first few are told to ``progress``; ``strict`` stops at the first.

    >>> faults = Faults(progress=lambda stage, done, total=None: print(stage))
    >>> faults.drop("links to themselves", 2, ["links.csv line 7: 'a' is linked to itself"])
    left out links to themselves: 2 (links.csv line 7: 'a' is linked to itself; …)
    >>> faults.counts
    {'links to themselves': 2}
    """

    strict: bool = False
    progress: Progress = silent
    counts: dict[str, int] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Tell the caller something that is worth knowing."""
        self.progress(text, 1, 1)

    def drop(self, reason: str, count: int, shown: Sequence[str]) -> None:
        """Count what is left out for one reason, and show the first few sentences about it."""
        if count == 0:
            return
        if self.strict:
            raise SourceError(shown[0])
        self.counts[reason] = self.counts.get(reason, 0) + count
        self.say(f"left out {reason}: {count:,} ({'; '.join(shown)}{'; …' if count > len(shown) else ''})")

    def drop_rows(self, reason: str, rows: Rows, bad: Sequence[int], sentence: Callable[[int], str]) -> None:
        """Count rows that are left out; ``sentence`` says what is wrong with one, after its place."""
        if len(bad) == 0:
            return
        if self.progress is silent and not self.strict:
            self.drop(reason, len(bad), ())
            return
        first = [int(row) for row in bad[: 1 if self.strict else SHOWN]]
        shown = [f"{place}: {sentence(row)}" for place, row in zip(rows.places(first), first, strict=True)]
        self.drop(reason, len(bad), shown)
