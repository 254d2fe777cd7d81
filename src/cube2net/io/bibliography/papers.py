"""Papers and their authors, collected column by column while a large file is read, and turned into a corpus."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array
from cube2net.errors import SourceError
from cube2net.io.dropped import Dropped
from cube2net.model.corpus import LABELS, MENTIONS, OBJECTS, Corpus, table
from cube2net.model.dimension import DimensionSpec

DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("venue", "venue"),
    DimensionSpec("topic", "topic"),
)
ITEMS = {"item": pa.string(), "year": pa.int32(), "venue": pa.string(), "title": pa.string(), "text": pa.string()}
YEARS = range(1500, 2101)
ROWS_PER_CHUNK = 2**13
CHARACTERS_PER_CHUNK = 2**26
MAX_VENUE_LENGTH = 500
Row = tuple[str, int, str, int, str | None, str, str, Sequence[str], Sequence[str]]
PART_PATTERN = re.compile(r" \([0-9]+\)$")


def strip_part(venue: str) -> str:
    """Return a venue without the number of a volume's part, at most 500 characters of it.

    >>> strip_part("ECCV (12)"), strip_part("KDD")
    ('ECCV', 'KDD')
    """
    return PART_PATTERN.sub("", venue[:MAX_VENUE_LENGTH]) if venue.endswith(")") else venue[:MAX_VENUE_LENGTH]


class Papers:
    """Takes papers one at a time and keeps them as Arrow columns, so that each costs little more than its text.

    A paper is a row: its file and line, id, year, venue, title and text, and its authors. An author is identified
    by a key, an id or a name, and has the first name found. A paper with a known id is dropped. With
    ``texts=False`` the text of a paper is its title, which is kept once.
    """

    def __init__(self, dropped: Dropped, *, texts: bool = True) -> None:
        self.dropped, self.texts = dropped, texts
        self.known = IdSet()
        self.authors: dict[str, int] = {}
        self.names: list[pa.Array] = []
        self.venues: dict[str | None, int] = {None: -1}
        self.columns: dict[str, list[pa.Array]] = {name: [] for name in ITEMS}
        self.codes, self.sizes, self.objects = array("i"), array("i"), array("i")
        self._clear()

    def _clear(self) -> None:
        self.rows: list[Row] = []
        self.characters = 0

    def add(self, row: Row) -> None:
        """Add a paper."""
        self.rows.append(row)
        self.characters += len(row[2]) + len(row[6])
        if len(self.rows) >= ROWS_PER_CHUNK or self.characters >= CHARACTERS_PER_CHUNK:
            self.flush()

    def flush(self) -> None:
        """Turn the collected papers into columns."""
        if not self.rows:
            return
        is_new = self.known.add([row[2] for row in self.rows])
        if not is_new.all():
            for name, line, key, *_ in [self.rows[place] for place in np.flatnonzero(~is_new)]:
                self.dropped.drop_one(
                    "papers named twice", f"{name} line {line:,}", f"paper {key[:80]!r} was there before"
                )
            self.rows = [self.rows[place] for place in np.flatnonzero(is_new)]
        _, _, ids, years, venues, titles, texts, keys, names = zip(*self.rows, strict=True) if self.rows else ((),) * 9
        self._mention(keys, names)
        venue_codes = self.venues
        self.codes.extend([venue_codes.setdefault(venue, len(venue_codes) - 1) for venue in venues])
        self.columns["item"].append(_build_strings(ids))
        self.columns["year"].append(pa.array(years, pa.int32()))
        self.columns["title"].append(_build_strings(titles))
        self.columns["text"].append(_build_strings(texts) if self.texts else self.columns["title"][-1])
        self._clear()

    def _mention(self, papers: Sequence[Sequence[str]], names: Sequence[Sequence[str]]) -> None:
        author_rows = self.authors
        new_names: list[str] = []
        for keys, paper_names in zip(papers, names, strict=True):
            rows = [author_rows.get(key, -1) for key in keys]
            if -1 in rows:
                for place, key in enumerate(keys):
                    rows[place] = author_rows.setdefault(key, count := len(author_rows))
                    if rows[place] == count:
                        new_names.append(paper_names[place])
            if len(set(rows)) < len(rows):
                rows = list(dict.fromkeys(rows))
            self.objects.extend(rows)
            self.sizes.append(len(rows))
        self.names.append(_build_strings(new_names))

    def corpus(
        self,
        attribution: str,
        where: str,
        *,
        labels: Mapping[str, str] | None = None,
        full_names: Mapping[str, str] | None = None,
    ) -> Corpus:
        """Return the corpus; ``labels`` renames venues, and ``full_names`` holds the full names of labels."""
        self.flush()
        self.known = IdSet()
        dropped = self.dropped.close()
        if not self.codes:
            reasons, first_sentence = "; ".join(self.dropped.reasons), self.dropped.first
            raise SourceError(
                f"{where} holds no paper to read{f' ({reasons})' if reasons else ''}"
                f"{f': {first_sentence}' if first_sentence else ''}"
            )
        venue_keys = [venue for venue in self.venues if venue is not None]
        venues = pa.array([(labels or {}).get(venue, venue) for venue in venue_keys], pa.string())
        codes = np.asarray(self.codes, dtype=np.int32)
        parts = [codes[start : start + ROWS_PER_CHUNK] for start in range(0, len(codes), ROWS_PER_CHUNK)]
        columns = {name: pa.chunked_array(self.columns[name], kind) for name, kind in ITEMS.items()}
        columns["venue"] = pa.chunked_array([venues.take(pa.array(part, mask=part < 0)) for part in parts])
        items = np.repeat(np.arange(len(codes), dtype=np.int32), np.asarray(self.sizes))
        used_labels = set(venues.to_pylist())
        full_name_rows = sorted((label, name) for label, name in (full_names or {}).items() if label in used_labels)
        keys = list(self.authors)
        self.authors.clear()
        objects = table(
            OBJECTS,
            object=pa.chunked_array(
                [_build_strings(keys[start : start + ROWS_PER_CHUNK]) for start in range(0, len(keys), ROWS_PER_CHUNK)],
                "str",
            ),
            name=pa.chunked_array(self.names),
            kind=["author"] * len(keys),
        )
        del keys
        return Corpus(
            objects=objects,
            items=pa.table(columns, schema=pa.schema(list(ITEMS.items()))),
            mentions=table(MENTIONS, item=items, object=np.asarray(self.objects)),
            labels=table(
                LABELS,
                attribute=["venue"] * len(full_name_rows),
                label=[label for label, _ in full_name_rows],
                full_name=[name for _, name in full_name_rows],
                parent=[None] * len(full_name_rows),
            ),
            dimensions=DIMENSIONS,
            dropped=dropped,
            attribution=attribution,
            time="year",
        )


def _build_strings(values: Sequence[str]) -> pa.Array:
    """Return a column of texts that takes exactly the room they need; a builder takes up to twice as much."""
    encoded = [value.encode() for value in values]
    ends = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(value) for value in encoded], out=ends[1:])
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


class IdSet:
    """A set of ids, kept as digests of 16 bytes in sorted runs that are merged as they grow."""

    def __init__(self) -> None:
        self.runs: list[Array] = []

    def add(self, ids: Sequence[str]) -> Array:
        """Add ids, and return for each whether it is new.

        >>> known = IdSet()
        >>> known.add(["a", "b", "a"]).tolist(), known.add(["c", "b"]).tolist()
        ([True, True, False], [True, False])
        """
        digests = b"".join([hashlib.blake2b(key.encode(), digest_size=16).digest() for key in ids])
        unique_marks, first = np.unique(np.frombuffer(digests, "S16"), return_index=True)
        is_new_mark = np.ones(len(unique_marks), dtype=bool)
        for known_marks in self.runs:
            places = np.minimum(np.searchsorted(known_marks, unique_marks), len(known_marks) - 1)
            is_new_mark &= known_marks[places] != unique_marks
        is_new = np.zeros(len(ids), dtype=bool)
        is_new[first[is_new_mark]] = True
        self._keep(unique_marks[is_new_mark])
        return is_new

    def _keep(self, run: Array) -> None:
        while self.runs and len(self.runs[-1]) < 2 * len(run):
            run = np.concatenate([self.runs.pop(), run])
            run.sort(kind="stable")
        if len(run):
            self.runs.append(run)
