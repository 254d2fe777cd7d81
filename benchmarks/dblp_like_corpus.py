"""A made-up literature of any size with the tails of a real one, in memory or streamed to a folder of tables.

Its shape (years, team sizes, topics, venues) is there before anybody writes; then teams write paper after paper
(``team_assembly``). The constants were fitted to the ACL Anthology (110,486 papers, 116,687 authors,
528 venues). The two that say how the numbers of authors and venues grow with a literature were set so that at the size
of DBLP they come near to what is public of it: 1.7 million authors and 5,000 venues in about 3 million papers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.arrow import open_mapped
from cube2net._util.files import new_folder
from cube2net._util.progress import Progress, ProgressOption, resolve_progress, silent
from cube2net._util.random import stream
from cube2net.errors import ParameterError, SourceError, check_int
from cube2net.model.corpus import LABELS, MENTIONS, OBJECTS, Corpus
from cube2net.model.dimension import DimensionSpec

if TYPE_CHECKING:
    from team_assembly import Habits, Literature

DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("venue", "venue", parent="kind"),
    DimensionSpec("topic", "topic"),
)
ITEMS = {"item": pa.string(), "year": pa.int32(), "venue": pa.string(), "topic": pa.string()}
TABLES = {"objects": OBJECTS, "items": ITEMS, "mentions": MENTIONS, "labels": LABELS}
DBLP_PAPERS = 3_080_000
MAX_PAPERS, MAX_PROFILES = 50_000_000, 10_000_000
ATTRIBUTION = "made up: no such papers, authors or venues"
# So many papers are written at a time; a constant, so that the same seed gives the same files.
CHUNK = 2**16

# The corpus that the constants were fitted to. Newcomers are so large a share of its mentions, and a smaller one of
# more mentions (a power); it has so many venues, and they grow more slowly than the papers (a power).
FITTED_PAPERS, FITTED_MENTIONS = 110_486, 387_369
NEWCOMERS, NEWCOMERS_POWER = 0.30, -0.142
VENUES, VENUES_POWER = 528, 0.68

# How teams come together: see team_assembly.Habits.
HABITS = {"recency": 5.0, "bridges": 0.03, "again": 0.9, "back": 0.5, "passing": 0.28, "stay": 0.6}

# Papers grow by this share a year, and teams by that; the spread of the logarithm of a team's size.
PAPER_GROWTH, TEAM_GROWTH, TEAM_SPREAD = 0.087, 0.036, 0.62
# This share of the papers is written by a consortium: at least so many authors, with a tail of this exponent.
CONSORTIA, CONSORTIUM, CONSORTIUM_TAIL, LARGEST_TEAM = 0.003, 10, 2.2, 125

# The r-th of n venues is as large as (r + offset·√n)^-exponent; a small one brings out so many papers in a year.
VENUE_OFFSET, VENUE_EXPONENT, VENUE_PAPERS = 0.1, 1.5, 40.0
# How unequal the topics are: in the smallest venue, in all papers (spreads of logarithms); the largest venue's spread
# is the fourth root of this share of the smallest one's.
PROFILE_SPREAD, TOPIC_SPREAD, BROADEST = 2.4, 0.3, 0.01
# For how many years a topic is in fashion, before and after its best year, and what is left of it at other times.
FASHION, FAINT = 12.0, 0.15
# A venue of fewer years is a workshop, and every third of the others a journal.
LASTING = 5


def make_dblp_like(
    papers: int = DBLP_PAPERS,
    *,
    out: str | Path | None = None,
    years: tuple[int, int] = (1936, 2017),
    authors: float = 3.5,
    newcomers: float | None = None,
    venues: int | None = None,
    topics: int = 100,
    seed: int = 0,
    progress: ProgressOption = None,
) -> Corpus:
    """Return a made-up corpus of papers as many as asked for, by default as many as DBLP had, with realistic tails.

    Papers become more from year to year, and teams larger, with ``authors`` in the mean; every seat of a team is a
    newcomer's with probability ``newcomers``, and else mostly that of somebody who has written with the team before.
    Topics come into fashion and go; a venue has a size, a life and topics of its own. Without ``newcomers`` and
    ``venues`` there are as many as literatures of that size have: 117,000 authors and 528 venues in the 110,486
    papers of the ACL Anthology, to which all else is fitted, and about two million and 5,000 at the size of DBLP.
    Links are by co-mention, topics are given, and ids are numbers: item "7" mentions object "3".

    With ``out`` the tables are written to a folder as they are made, and opened from there (:func:`open_dblp_like`).

    >>> make_dblp_like(1_000)
    Corpus(2,135 objects, 1,000 items, links by co-mention)
    """
    making = Making.of(papers, years, authors, newcomers, venues, topics, seed)
    if out is None:
        parts: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
        for name, part in making.tables(resolve_progress(progress)):
            parts[name].append(part)
        return _corpus({name: pa.concat_tables(some) for name, some in parts.items()})
    folder = Path(out)
    if folder.exists() and not _replaceable(folder):
        raise SourceError(f"{str(folder)!r} exists and is not a made-up corpus: choose another place or remove it")
    with new_folder(folder) as aside:
        _write(aside, making.tables(resolve_progress(progress)))
    return open_dblp_like(out)


def open_dblp_like(folder: str | Path) -> Corpus:
    """Return the corpus of a folder that :func:`make_dblp_like` wrote; its tables are memory-mapped.

    The same tables lie beside them as Parquet, for other programs and for ``read_tables``.
    """
    tables = {}
    for name in TABLES:
        path = Path(folder) / f"{name}.arrow"
        try:
            tables[name] = open_mapped(path)
        except (OSError, pa.ArrowException) as error:
            raise SourceError(
                f"{str(folder)!r} is not a made-up corpus: cannot read {path.name!r} ({error}); "
                "make one with make_dblp_like(out=…)"
            ) from None
    return _corpus(tables)


@dataclass(frozen=True, eq=False)
class Making:
    """A literature while it grows: its frame, the habits of its authors, and who wrote what so far."""

    shape: Shape
    habits: Habits
    literature: Literature

    @classmethod
    def of(
        cls,
        papers: int,
        years: tuple[int, int],
        authors: float,
        newcomers: float | None,
        venues: int | None,
        topics: int,
        seed: int,
    ) -> Making:
        """Return a literature that nobody has written yet."""
        from team_assembly import Habits, Literature

        papers = check_int("papers", papers, 1, MAX_PAPERS)
        topics = check_int("topics", topics, 1, 10_000)
        usual = max(1, round(VENUES * (papers / FITTED_PAPERS) ** VENUES_POWER))
        venues = usual if venues is None else check_int("venues", venues, 1)
        if venues * topics > MAX_PROFILES:
            raise ParameterError(
                f"{venues:,} venues × {topics:,} topics are too many, expected {MAX_PROFILES:,} at most"
            )
        if len(years) != 2 or years[0] > years[1]:
            raise ParameterError(f"years are {years!r}, expected the first and the last")
        first, last = (check_int("a year", year, 1500, 2100) for year in years)
        if not 1.1 <= authors <= 20:
            raise ParameterError(f"authors is {authors!r}, expected 1.1 to 20 in the mean of all papers")
        if newcomers is not None and not 0 <= newcomers <= 1:
            raise ParameterError(f"newcomers is {newcomers!r}, expected a share from 0 to 1")
        shape = Shape(papers=papers, years=(first, last), authors=authors, venues=venues, topics=topics, seed=seed)
        mentions = int(shape.starts[-1])
        if newcomers is None:
            newcomers = min(0.9, NEWCOMERS * (mentions / FITTED_MENTIONS) ** NEWCOMERS_POWER)
        team, paper_of, before, latest = (np.empty(mentions, np.int32) for _ in range(4))
        topic, venue = np.empty(papers, np.int16), np.empty(papers, np.int32)
        literature = Literature(shape.starts, team, paper_of, before, latest, topic, venue)
        return cls(shape, Habits(newcomers=float(newcomers), **HABITS), literature)

    def tables(self, progress: Progress = silent) -> Iterator[tuple[str, pa.Table]]:
        """Give the tables in pieces, each with its name, as the literature grows."""
        shape, made, count = self.shape, self.literature, 0
        venues, topics = _numbered("venue ", 0, shape.venues), _numbered("topic ", 0, shape.topics)
        for begin in range(0, shape.papers, CHUNK):
            progress("papers", begin, shape.papers)
            end = min(begin + CHUNK, shape.papers)
            count = self.grow(begin, end, count)
            labels = venues.take(pa.array(made.venue[begin:end])), topics.take(pa.array(made.topic[begin:end]))
            yield "items", _table(ITEMS, _numbered("", begin, end), shape.year[begin:end], *labels)
            said = slice(int(made.starts[begin]), int(made.starts[end]))
            yield "mentions", _table(MENTIONS, made.paper_of[said].copy(), made.team[said].copy())
        for begin in range(0, count, CHUNK):
            end = min(begin + CHUNK, count)
            kind = pa.repeat(pa.scalar("author"), end - begin)
            yield "objects", _table(OBJECTS, _numbered("", begin, end), _numbered("Author ", begin, end), kind)
        kinds = pa.array(shape.kinds)
        full = pc.binary_join_element_wise(kinds, _numbered("", 0, shape.venues), " ")
        yield "labels", _table(LABELS, pa.repeat(pa.scalar("venue"), shape.venues), venues, full, kinds)
        progress("papers", shape.papers, shape.papers)

    def grow(self, begin: int, end: int, authors: int) -> int:
        """Grow the papers from ``begin`` to before ``end``; return how many authors there are, ``authors`` before.

        All papers before ``begin`` must be there.
        """
        from team_assembly import grow

        shape = self.shape
        seed = np.uint64(stream(shape.seed, "sources", "dblp-like", "growth").integers(2**63))
        while begin < end:
            year = int(shape.year[begin])
            until = min(end, int(shape.by_year[year - shape.years[0]]))
            sums = shape.topic_sums(year), shape.venue_sums(year)
            authors = int(grow(seed, begin, until, authors, self.literature, *sums, self.habits))
            begin = until
        return authors


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The frame of a literature: all that does not depend on who writes with whom."""

    papers: int
    years: tuple[int, int]
    authors: float
    venues: int
    topics: int
    seed: int

    @cached_property
    def by_year(self) -> Array:
        """How many papers there are at the end of every year: growth at a constant rate."""
        first, last = self.years
        grown = np.cumsum(np.exp(PAPER_GROWTH * np.arange(last - first + 1)))
        whole: Array = np.rint(grown / grown[-1] * self.papers).astype(np.int64)
        return whole

    @cached_property
    def year(self) -> Array:
        """The year of every paper, in ascending order."""
        counts = np.diff(self.by_year, prepend=0)
        return np.repeat(np.arange(self.years[0], self.years[1] + 1, dtype=np.int32), counts)

    @cached_property
    def starts(self) -> Array:
        """The first mention of every paper, and at the end how many mentions there are."""
        drawn = stream(self.seed, "sources", "dblp-like", "teams").random(self.papers)
        shares = team_sizes(np.diff(self.by_year, prepend=0), self.authors)
        starts = np.zeros(self.papers + 1, dtype=np.int64)
        begin = 0
        for row, end in zip(shares, self.by_year.tolist(), strict=True):
            starts[begin + 1 : end + 1] = np.searchsorted(row[:-1], drawn[begin:end], side="right") + 1
            begin = end
        np.cumsum(starts, out=starts)
        return starts

    def topic_sums(self, year: int) -> Array:
        """Return the running sums of the topics' shares in a year: a topic comes into fashion and goes out of it."""
        weight, best = self._fashions
        sums: Array = np.cumsum(weight * (FAINT + np.exp(-0.5 * ((year - best) / FASHION) ** 2)))
        return sums

    def venue_sums(self, year: int) -> Array:
        """Return for every topic the running sums of the shares of the venues that are there in a year."""
        profile, begins, ends = self._venues
        sums: Array = np.cumsum(np.where((begins <= year) & (year <= ends), profile, 0.0), axis=1)
        return sums

    @cached_property
    def kinds(self) -> list[str]:
        """What every venue is: a conference, a journal or a workshop."""
        _, begins, ends = self._venues
        lasting = (ends - begins + 1 >= LASTING).tolist()
        return [
            "workshop" if not lasts else "journal" if number % 3 == 2 else "conference"
            for number, lasts in enumerate(lasting)
        ]

    @cached_property
    def _fashions(self) -> tuple[Array, Array]:
        """The weight of every topic, and the year in which it is most in fashion."""
        rng = stream(self.seed, "sources", "dblp-like", "topics")
        weight = np.exp(TOPIC_SPREAD * rng.standard_normal(self.topics))
        return weight, rng.uniform(self.years[0], self.years[1] + 2 * FASHION, self.topics)

    @cached_property
    def _venues(self) -> tuple[Array, Array, Array]:
        """The weight of every venue in every topic, and the first and the last year of every venue.

        A venue lives as long as it needs to bring out its papers; the first one is there all the time.
        """
        rng = stream(self.seed, "sources", "dblp-like", "venues")
        size = (np.arange(1, self.venues + 1) + VENUE_OFFSET * math.sqrt(self.venues)) ** -VENUE_EXPONENT
        size /= size.sum()
        first, last = self.years
        span = last - first + 1
        in_year = VENUE_PAPERS * np.exp(rng.standard_normal(self.venues))
        life = np.clip(np.rint(size * self.papers / in_year), 1, span).astype(np.int64)
        middle = np.searchsorted(self.by_year / self.papers, rng.random(self.venues), side="right")
        begins = np.clip(middle - life // 2, 0, span - life)
        ends = begins + life - 1
        begins[0], ends[0] = 0, span - 1
        done = np.concatenate([[0], self.by_year])
        around = np.maximum(done[ends + 1] - done[begins], self.papers / span + 1)
        spread = PROFILE_SPREAD * np.linspace(BROADEST, 1, self.venues) ** 0.25
        profile = np.exp(spread * rng.standard_normal((self.topics, self.venues)))
        profile *= size / around / profile.mean(axis=0)
        return profile, begins + first, ends + first


def team_sizes(counts: Array, authors: float) -> Array:
    """Return for every year the running shares of teams of 1, 2, … authors, with ``authors`` in the mean of all papers.

    ``counts`` are the papers of every year. The logarithm of a team's size is normal around a middle that rises from
    year to year, rounded up; a few teams are consortia.
    """
    sizes = np.arange(1, LARGEST_TEAM + 1)
    years = np.arange(len(counts)) - len(counts) + 1.0
    tail = np.where(sizes >= CONSORTIUM, sizes.astype(float) ** -CONSORTIUM_TAIL, 0.0)
    tail = np.cumsum(tail / tail.sum())

    def around(middle: float) -> Array:
        score = (np.log(sizes) - middle - TEAM_GROWTH * years[:, None]) / (TEAM_SPREAD * math.sqrt(2))
        usual = np.array([[1 + math.erf(value) for value in row] for row in score])
        shares: Array = (1 - CONSORTIA) * usual / usual[:, -1:] + CONSORTIA * tail
        return shares

    low, high = -4.0, 4.0
    for _ in range(30):
        middle = (low + high) / 2
        mean = float(counts @ (1 - around(middle)[:, :-1]).sum(axis=1)) / int(counts.sum()) + 1
        low, high = (middle, high) if mean < authors else (low, middle)
    return around(low)


def _replaceable(folder: Path) -> bool:
    """Return whether a place holds nothing but what :func:`make_dblp_like` writes."""
    known = {f"{name}.{suffix}" for name in TABLES for suffix in ("arrow", "parquet")}
    return folder.is_dir() and {path.name for path in folder.iterdir()} <= known


def _write(folder: Path, tables: Iterator[tuple[str, pa.Table]]) -> None:
    import pyarrow.parquet as pq

    schemas = {name: pa.schema(list(columns.items())) for name, columns in TABLES.items()}
    writers: dict[str, tuple[Any, Any]] = {}
    try:
        for name, schema in schemas.items():
            mapped = pa.ipc.new_file(folder / f"{name}.arrow", schema)
            writers[name] = (mapped, pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd"))
        for name, part in tables:
            for writer in writers[name]:
                writer.write_table(part)
    finally:
        for pair in writers.values():
            for writer in pair:
                writer.close()


def _corpus(tables: dict[str, pa.Table]) -> Corpus:
    return Corpus(**tables, dimensions=DIMENSIONS, attribution=ATTRIBUTION, time="year")


def _numbered(prefix: str, begin: int, end: int) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pc.cast(pa.array(np.arange(begin, end)), pa.string()), "")


def _table(columns: dict[str, pa.DataType], *values: object) -> pa.Table:
    return pa.table(dict(zip(columns, values, strict=True)), schema=pa.schema(list(columns.items())))
