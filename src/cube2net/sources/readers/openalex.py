"""OpenAlex: works and their authors, institutions or citations, from its snapshot or from what its interface gave."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

import pyarrow as pa

from cube2net.errors import ParameterError, SourceError, listed, unknown, whole_number
from cube2net.interrupts import step
from cube2net.progress import Progress, silent
from cube2net.records import Corpus
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.readers.openalex_corpus import Gathering
from cube2net.sources.readers.openalex_files import find_snapshot
from cube2net.sources.readers.openalex_lines import Parts
from cube2net.sources.readers.openalex_merged import MergedIds
from cube2net.sources.readers.openalex_parse import LineReader
from cube2net.sources.readers.openalex_works import FILTERS, OTHER, WorkColumns
from cube2net.spelling import nearest
from cube2net.unpacking import RATIO, TOTAL, Meter, UnpackLimits

T = TypeVar("T")
STAGE = "reading OpenAlex's works"
ATTRIBUTION = (
    "OpenAlex (https://openalex.org, CC0): J. Priem, H. Piwowar and R. Orr, OpenAlex: a fully-open index of scholarly "
    "works, authors, venues, institutions and concepts, 2022"
)


@dataclass(frozen=True, kw_only=True)
class OpenAlex:
    """Reads OpenAlex's works: its snapshot or parts of it (JSON lines or Parquet), saved pages, bare JSON lines.

    Items are works with ``year``, ``date``, ``title``, ``source``, ``publisher``, ``topic``, ``subfield``, ``field``,
    ``domain``, ``concept`` (the best of level 2), ``concept_area`` (level 1), ``concept_field`` (level 0), ``type``,
    ``language``, ``country`` and ``institution`` of the authors, ``cited_by_count`` and ``text``: title and abstract,
    or the title alone without ``abstracts``. ``objects`` are ``"authors"`` or ``"institutions"``, linked when a work
    names both, or ``"works"``, linked by citations. ``where`` leaves in only works with one of some labels
    (``{"field": ["Computer Science"]}``), ``from_year`` and ``to_year`` those of some years; ``retracted=False`` leaves
    out works that were retracted. Of a work that comes several times the one that was changed last counts, and ids
    that were merged are followed where the snapshot's lists of them are there. What cannot be used is counted in
    ``dropped`` and the first few are said, or it stops the reading when ``strict``. ``max_ratio`` and ``max_unpacked``
    limit how far packed files may swell.
    """

    objects: Literal["authors", "institutions", "works"] = "authors"
    where: Mapping[str, Sequence[str] | str] = field(default_factory=dict)
    from_year: int | None = None
    to_year: int | None = None
    retracted: bool = True
    abstracts: bool = True
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if self.objects not in ("authors", "institutions", "works"):
            raise unknown("kind of objects", self.objects, ("authors", "institutions", "works"))
        for name in self.where:
            if name not in FILTERS:
                raise unknown("attribute of works", name, FILTERS)
        for name, year in (("from_year", self.from_year), ("to_year", self.to_year)):
            if year is not None:
                whole_number(name, year, 0, 9999)
        if self.from_year is not None and self.to_year is not None and self.from_year > self.to_year:
            raise ParameterError(f"from_year is {self.from_year}, after to_year {self.to_year}: no year is in between")

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        """The labels of which a work must have one, by attribute."""
        return {name: (some,) if isinstance(some, str) else tuple(some) for name, some in self.where.items()}

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files, each read once from front to back."""
        found = find_snapshot(paths)
        dropped = Dropped(self.strict, progress)
        for remark in found.remarks:
            dropped.say(remark)
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        parts = Parts(found.parts, meter, dropped)
        columns = WorkColumns(dropped, self.objects, self.filters, (self.from_year, self.to_year), self.retracted)
        gathering = Gathering(self.objects)
        said = [labels for labels in self.filters.values() if OTHER not in labels]
        reader = LineReader(dropped, abstracts=self.abstracts, citations=self.objects == "works", said=said)
        with closing(reader), closing(ahead(iter(parts))) as blocks:
            for block in blocks:
                step()
                for lines, works in reader.parse(block):
                    if works.num_rows and (batch := columns.batch(lines, works)) is not None:
                        gathering.add(batch)
                progress(STAGE, parts.done, parts.total)
        progress(STAGE, parts.total, parts.total)
        dropped.leave_out("works outside the filters", reader.passed)
        if not gathering.works:
            raise self._nothing(paths, columns, Parts(found.parts, meter, Dropped()))
        if columns.cut_lists:
            dropped.leave_out("works of which only the first 100 authors are named", columns.cut_lists)
            dropped.say(f"{columns.cut_lists:,} works name their first 100 authors only (is_authors_truncated)")
        progress("OpenAlex: putting works together", 0, None)
        pa.default_memory_pool().release_unused()
        return gathering.corpus(columns, MergedIds(found.merged, meter), ATTRIBUTION)

    def files_read(self, paths: Sequence[Path]) -> list[Path]:
        """Return the files that would be read."""
        return find_snapshot(paths).files

    def _nothing(self, paths: Sequence[Path], columns: WorkColumns, parts: Parts) -> SourceError:
        """Return the error where no work is left, which says why and what a label may have been meant to be."""
        columns.dropped.close()
        why, first = "; ".join(columns.dropped.reasons), columns.dropped.first
        hints = []
        if self.filters:
            met = WorkColumns(Dropped(), self.objects, {}, (None, None), retracted=True)
            with closing(LineReader(Dropped(), abstracts=False, citations=False)) as reader:
                for block in islice(parts, 1):
                    for lines, works in reader.parse(block):
                        met.batch(lines, works)
            for name, labels in self.filters.items():
                near = [label for wanted in labels if (label := nearest(wanted, met.known(name)))]
                hints += [f"did you mean {name} {label!r}?" for label in near if label not in labels]
        hint = f" ({' '.join(hints)})" if hints else ""
        return SourceError(
            f"{listed(paths)} holds no work to read{f' ({why})' if why else ''}{f': {first}' if first else ''}{hint}"
        )


def ahead(blocks: Iterator[T]) -> Generator[T, None, None]:
    """Return the same blocks, two of them made in a thread while the one before is worked on."""
    with ThreadPoolExecutor(1, "cube2net-reading") as pool:
        coming = deque(pool.submit(next, blocks, None) for _ in range(2))
        while (block := coming.popleft().result()) is not None:
            coming.append(pool.submit(next, blocks, None))
            yield block
