"""A made-up literature of any size with the tails of a real one, in memory or streamed to a folder of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.arrow_files import open_mapped
from cube2net.atomic_files import new_folder
from cube2net.errors import ParameterError, SourceError, whole_number
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, DimensionSpec
from cube2net.records.corpus import LABELS, MENTIONS, OBJECTS
from cube2net.seeding import stream
from cube2net.sources.dblp_like_shape import (
    FITTED_MENTIONS,
    FITTED_PAPERS,
    HABITS,
    NEWCOMERS,
    NEWCOMERS_POWER,
    VENUES,
    VENUES_POWER,
    Shape,
)

if TYPE_CHECKING:
    from cube2net.kernels.growth import Habits, Literature

DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("venue", "venue", parent="kind"),
    DimensionSpec("topic", "topic"),
)
ITEMS = {"item": pa.string(), "year": pa.int32(), "venue": pa.string(), "topic": pa.string()}
TABLES = {"objects": OBJECTS, "items": ITEMS, "mentions": MENTIONS, "labels": LABELS}
PAPERS = 3_080_000
MOST_PAPERS, MOST_PROFILES = 50_000_000, 10_000_000
ATTRIBUTION = "made up: no such papers, authors or venues"
# So many papers are written at a time; a constant, so that the same seed gives the same files.
CHUNK = 2**16


def make_dblp_like(
    papers: int = PAPERS,
    *,
    out: str | Path | None = None,
    years: tuple[int, int] = (1936, 2017),
    authors: float = 3.5,
    newcomers: float | None = None,
    venues: int | None = None,
    topics: int = 100,
    seed: int = 0,
    progress: Progress = silent,
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
        for name, part in making.tables(progress):
            parts[name].append(part)
        return _corpus({name: pa.concat_tables(some) for name, some in parts.items()})
    folder = Path(out)
    if folder.exists() and not _replaceable(folder):
        raise SourceError(f"{str(folder)!r} exists and is not a made-up corpus: choose another place or remove it")
    with new_folder(folder) as aside:
        _write(aside, making.tables(progress))
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
        from cube2net.kernels.growth import Habits, Literature

        papers = whole_number("papers", papers, 1, MOST_PAPERS)
        topics = whole_number("topics", topics, 1, 10_000)
        usual = max(1, round(VENUES * (papers / FITTED_PAPERS) ** VENUES_POWER))
        venues = usual if venues is None else whole_number("venues", venues, 1)
        if venues * topics > MOST_PROFILES:
            raise ParameterError(
                f"{venues:,} venues × {topics:,} topics are too many, expected {MOST_PROFILES:,} at most"
            )
        if len(years) != 2 or years[0] > years[1]:
            raise ParameterError(f"years are {years!r}, expected the first and the last")
        first, last = (whole_number("a year", year, 1500, 2100) for year in years)
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
        from cube2net.kernels.growth import grow

        shape = self.shape
        seed = np.uint64(stream(shape.seed, "sources", "dblp-like", "growth").integers(2**63))
        while begin < end:
            year = int(shape.year[begin])
            until = min(end, int(shape.by_year[year - shape.years[0]]))
            sums = shape.topic_sums(year), shape.venue_sums(year)
            authors = int(grow(seed, begin, until, authors, self.literature, *sums, self.habits))
            begin = until
        return authors


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
    return Corpus(**tables, dimensions=DIMENSIONS, attribution=ATTRIBUTION)


def _numbered(prefix: str, begin: int, end: int) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pc.cast(pa.array(np.arange(begin, end)), pa.string()), "")


def _table(columns: dict[str, pa.DataType], *values: object) -> pa.Table:
    return pa.table(dict(zip(columns, values, strict=True)), schema=pa.schema(list(columns.items())))
