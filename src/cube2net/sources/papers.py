"""Papers and their authors, gathered column by column as a large file goes by, and at the end a corpus."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from cube2net.errors import SourceError
from cube2net.records import Corpus, DimensionSpec
from cube2net.records.corpus import LABELS, MENTIONS, OBJECTS, table
from cube2net.records.ragged import Array
from cube2net.sources.faults import SHOWN, Faults

DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("venue", "venue"),
    DimensionSpec("topic", "topic"),
)
ITEMS = {"item": pa.string(), "year": pa.int32(), "venue": pa.string(), "title": pa.string(), "text": pa.string()}
YEARS = range(1500, 2101)
ROWS = 2**14
CHARACTERS = 2**26
LONGEST_VENUE = 500
PART = re.compile(r" \([0-9]+\)$")


def without_part(venue: str) -> str:
    """Return a venue without the number of a volume's part, at most 500 characters of it.

    >>> without_part("ECCV (12)"), without_part("KDD")
    ('ECCV', 'KDD')
    """
    return PART.sub("", venue[:LONGEST_VENUE]) if venue.endswith(")") else venue[:LONGEST_VENUE]


class Tally:
    """Counts what is left out of a stream, and tells each reason once, with its first places, at the end."""

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


class Seen:
    """Remembers ids by 16 bytes each, in sorted runs that are merged as they grow."""

    def __init__(self) -> None:
        self.runs: list[Array] = []

    def fresh(self, ids: Sequence[str]) -> Array:
        """Return for every id whether it is met for the first time.

        >>> seen = Seen()
        >>> seen.fresh(["a", "b", "a"]).tolist(), seen.fresh(["c", "b"]).tolist()
        ([True, True, False], [True, False])
        """
        digests = b"".join([hashlib.blake2b(key.encode(), digest_size=16).digest() for key in ids])
        marks, first = np.unique(np.frombuffer(digests, "S16"), return_index=True)
        new = np.ones(len(marks), dtype=bool)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, marks), len(run) - 1)
            new &= run[at] != marks
        fresh = np.zeros(len(ids), dtype=bool)
        fresh[first[new]] = True
        self._keep(marks[new])
        return fresh

    def _keep(self, run: Array) -> None:
        while self.runs and len(self.runs[-1]) < 2 * len(run):
            run = np.concatenate([self.runs.pop(), run])
            run.sort(kind="stable")
        if len(run):
            self.runs.append(run)


class Papers:
    """Takes papers one at a time and keeps them as Arrow columns, so that each costs little more than its text.

    An author is known by a key, an id or a name, and called as where it is first met. A paper whose id was
    met before is dropped. With ``texts`` off a paper's text is its title, and is kept once.
    """

    def __init__(self, tally: Tally, *, texts: bool = True) -> None:
        self.tally, self.texts = tally, texts
        self.seen = Seen()
        self.authors: dict[str, int] = {}
        self.names: list[str] = []
        self.venues: dict[str | None, int] = {None: -1}
        self.columns: dict[str, list[pa.Array]] = {name: [] for name in ITEMS}
        self.codes, self.items, self.objects = array("i"), array("i"), array("i")
        self.count = 0
        self._clear()

    def _clear(self) -> None:
        self.places: list[tuple[str, int]] = []
        self.rows: list[tuple[str, int, str | None, str, str]] = []
        self.written: list[tuple[Sequence[str], Sequence[str]]] = []
        self.characters = 0

    def add(
        self,
        place: tuple[str, int],
        row: tuple[str, int, str | None, str, str],
        keys: Sequence[str],
        names: Sequence[str],
    ) -> None:
        """Take a paper: the file and line it stands on; its id, year, venue, title and text; its authors."""
        self.places.append(place)
        self.rows.append(row)
        self.written.append((keys, names))
        self.characters += len(row[0]) + len(row[4])
        if len(self.rows) >= ROWS or self.characters >= CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Turn the papers at hand into columns."""
        if not self.rows:
            return
        fresh = self.seen.fresh([row[0] for row in self.rows])
        if not fresh.all():
            for at in np.flatnonzero(~fresh).tolist():
                (name, line), key = self.places[at], self.rows[at][0]
                self.tally.drop("papers named twice", f"{name} line {line:,}", f"paper {key!r} was there before")
            kept = np.flatnonzero(fresh).tolist()
            self.rows = [self.rows[at] for at in kept]
            self.written = [self.written[at] for at in kept]
        self._mention()
        if self.rows:
            ids, years, venues, titles, texts = zip(*self.rows, strict=True)
            self.columns["item"].append(pa.array(ids, pa.string()))
            self.columns["year"].append(pa.array(years, pa.int32()))
            self.columns["title"].append(pa.array(titles, pa.string()))
            if self.texts:
                self.columns["text"].append(pa.array(texts, pa.string()))
            known = self.venues
            self.codes.extend([known.setdefault(venue, len(known) - 1) for venue in venues])
        self.count += len(self.rows)
        self._clear()

    def _mention(self) -> None:
        authors, called = self.authors, self.names
        for item, (keys, names) in enumerate(self.written, start=self.count):
            rows = []
            for key, name in zip(keys, names, strict=True):
                row = authors.get(key)
                if row is None:
                    row = authors[key] = len(called)
                    called.append(name)
                rows.append(row)
            if len(rows) > 1 and len(set(rows)) < len(rows):
                rows = list(dict.fromkeys(rows))
            self.objects.extend(rows)
            self.items.extend([item] * len(rows))

    def corpus(
        self,
        attribution: str,
        where: str,
        *,
        labels: Mapping[str, str] | None = None,
        full_names: Mapping[str, str] | None = None,
    ) -> Corpus:
        """Return the corpus; ``labels`` says what a venue is called if not as given, ``full_names`` its long name."""
        self.flush()
        self.seen = Seen()
        dropped = self.tally.close()
        if not self.count:
            why = "; ".join([f"{count:,} {reason}" for reason, count in dropped.items()])
            first = next((shown[0] for shown in self.tally.shown.values()), "")
            raise SourceError(f"{where} holds no paper to read" + (f" ({why})" if why else "") + (first and f": {first}"))
        every = [venue for venue in self.venues if venue is not None]
        venues = pa.array([(labels or {}).get(venue, venue) for venue in every], pa.string())
        codes = np.asarray(self.codes, dtype=np.int32)
        parts = [codes[start : start + ROWS] for start in range(0, len(codes), ROWS)]
        columns = {name: pa.chunked_array(self.columns[name], kind) for name, kind in ITEMS.items()}
        columns["venue"] = pa.chunked_array([venues.take(pa.array(part, mask=part < 0)) for part in parts])
        if not self.texts:
            columns["text"] = columns["title"]
        known = sorted((full_names or {}).items())
        return Corpus(
            objects=table(OBJECTS, object=list(self.authors), name=self.names, kind=["author"] * len(self.names)),
            items=pa.table(columns, schema=pa.schema(list(ITEMS.items()))),
            mentions=table(MENTIONS, item=np.asarray(self.items), object=np.asarray(self.objects)),
            labels=table(
                LABELS,
                attribute=["venue"] * len(known),
                label=[label for label, _ in known],
                full_name=[name for _, name in known],
                parent=[None] * len(known),
            ),
            dimensions=DIMENSIONS,
            dropped=dropped,
            attribution=attribution,
        )
