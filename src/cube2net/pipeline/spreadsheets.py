"""A cube of a spreadsheet with nothing said: it is read, dimensions are proposed for it, and the cube is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cube2net import cube as cubes
from cube2net.arguments import made
from cube2net.errors import listed
from cube2net.interfaces import Source
from cube2net.pipeline.build import build_cube
from cube2net.pipeline.column_uses import column_uses
from cube2net.pipeline.cubes import READING
from cube2net.pipeline.kept_cubes import ReadingIdentity, check_there
from cube2net.pipeline.reading import remembering
from cube2net.pipeline.suggestions import check_found
from cube2net.progress import Progress, silent
from cube2net.propose import columns_in_words, propose_for_tables
from cube2net.records import Corpus, Cube, DimensionSpec
from cube2net.sources import GRAPH_ENDINGS as GRAPH_ENDINGS
from cube2net.sources import SOURCES, TableRoles, Tables, is_graph_file
from cube2net.topics import Lda

TABLE_ENDINGS = (".xlsx", ".xlsm", ".csv", ".tsv", ".tab", ".txt", ".jsonl", ".ndjson", ".parquet")
"""How the names of files end that are read as tables."""
MOST_SHOWN = 200
"""So many columns and remarks are kept of a reading."""


@dataclass(frozen=True, eq=False)
class SpreadsheetReading:
    """What files hold: a corpus, the dimensions proposed for it, and what was read, in words."""

    corpus: Corpus
    dimensions: tuple[DimensionSpec, ...]
    topics: int | None
    min_objects: int
    remarks: tuple[str, ...]
    columns: tuple[dict[str, str], ...]
    reason: str
    files: tuple[str, ...]
    may_become: tuple[tuple[str, str], ...] = ()
    roles: TableRoles | None = None

    @property
    def items(self) -> int:
        """How many rows were read: those of the objects themselves, or the records that mention them."""
        return int(self.corpus.items.num_rows)

    def choices(self) -> list[dict[str, Any]]:
        """Return which columns may become dimensions, and which do."""
        chosen = {spec.attribute for spec in self.dimensions}
        return [
            {"column": name, "dimension": spec, "chosen": name in chosen} for name, spec in self.may_become[:MOST_SHOWN]
        ]

    def uses(self) -> list[dict[str, Any]]:
        """Return what every column is used as, and what it may be instead."""
        uses = column_uses(self.roles, [name for name, _ in self.may_become])
        return [{**asdict(use), "may": list(use.may)} for use in uses[:MOST_SHOWN]]

    def record(self) -> dict[str, Any]:
        """Return what was read, as JSON has it."""
        return {
            "files": list(self.files),
            "objects": self.corpus.objects.num_rows,
            "links": None if self.corpus.links is None else self.corpus.links.num_rows,
            "columns": [dict(column) for column in self.columns[:MOST_SHOWN]],
            "said": list(self.remarks[:MOST_SHOWN]),
            "left_out": [{"reason": reason, "count": count} for reason, count in self.corpus.dropped.items()],
            "dimensions": [str(spec) for spec in self.dimensions],
            "min_objects": self.min_objects,
            "reason": self.reason,
        }


def sheet_source(paths: Sequence[Path]) -> str:
    """Return the name of the source of files that somebody wants to see: graphs by their endings, else tables."""
    return "graph" if len(paths) == 1 and is_graph_file(paths[0]) else "tables"


def sheet_reader(paths: Sequence[Path], options: Mapping[str, Any] | None = None) -> Source:
    """Return what reads files that somebody wants to see; ``options`` are those of their ``sheet_source``."""
    name = sheet_source(paths)
    usual = {"alone": True} if name == "tables" else {}
    reader: Source = made(name, SOURCES, Source, "source", {**usual, **(options or {})})
    return reader


def read_spreadsheet(
    reader: Source,
    paths: Sequence[Path],
    *,
    dimensions: Sequence[str] = (),
    min_objects: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> SpreadsheetReading:
    """Return what files hold, and what is proposed for them; ``min_objects`` suits their size without a word."""
    noting = _NotingProgress(progress)
    check_there(paths)
    reading = reader.read_with_roles(paths, progress=noting) if isinstance(reader, Tables) else None
    corpus = remembering(reader.read(paths, progress=noting) if reading is None else reading.corpus, reader)
    asked = tuple(DimensionSpec.parse(text) for text in dimensions)
    found = propose_for_tables(
        corpus, cubes.parse_bins, min_objects=min_objects, may_shrink=not asked, seed=seed, progress=noting
    )
    if not asked:
        check_found(found)
    chosen = asked or found.dimensions
    reason = "as was asked" if asked else found.reason
    numbers = [each.name for each in found.attributes if each.kind == "numbers" and each.dimension is not None]
    if numbers and found.dimensions and not {spec.attribute for spec in found.dimensions} & set(numbers):
        noting.note(f"numbers make no dimension where labels do: {listed(numbers)} (dimensions may be named)")
    return SpreadsheetReading(
        corpus=corpus,
        dimensions=chosen,
        topics=found.topics,
        min_objects=found.min_objects,
        remarks=tuple(dict.fromkeys(noting.notes)),
        columns=tuple(columns_in_words(corpus, found, chosen)),
        reason=reason,
        files=tuple(path.name for path in paths),
        may_become=tuple((each.name, str(each.dimension or "")) for each in found.attributes),
        roles=None if reading is None else reading.roles,
    )


class _NotingProgress:
    """Progress that passes everything on and keeps the notes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.notes: list[str] = []

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        self._progress(stage, done, total)

    def note(self, text: str) -> None:
        self.notes.append(text)
        self._progress.note(text)


def build_from_reading(
    reading: SpreadsheetReading,
    out: Path,
    *,
    identity: ReadingIdentity | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Cube:
    """Return the cube of what was read, saved in a folder with what that was and by which ``identity`` it is known."""
    known = {} if identity is None else asdict(identity)
    source = {**reading.corpus.source, READING: {**reading.record(), **known}}
    topics = "lda" if reading.topics is None else Lda(count=reading.topics)
    return build_cube(
        replace(reading.corpus, source=source),
        list(reading.dimensions),
        topics=topics,
        min_objects=reading.min_objects,
        out=out,
        seed=seed,
        progress=progress,
    )
