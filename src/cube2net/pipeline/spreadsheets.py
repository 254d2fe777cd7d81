"""A cube of a spreadsheet with nothing said: what its columns are, what suits its size, and where it is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cube2net import __version__
from cube2net import cube as cubes
from cube2net.arguments import made
from cube2net.checkpoints import digest, identity_of
from cube2net.errors import Cube2netError, CubeError, ParameterError, SourceError, listed
from cube2net.interfaces import NamesFiles, Source
from cube2net.pipeline.build import build_cube
from cube2net.pipeline.cubes import READING, open_cube, read_manifest
from cube2net.pipeline.reading import remembering
from cube2net.pipeline.suggestions import check_found
from cube2net.progress import Progress, silent
from cube2net.propose import columns_in_words, propose_for_tables
from cube2net.records import Corpus, Cube, DimensionSpec
from cube2net.sources import GRAPH_ENDINGS as GRAPH_ENDINGS
from cube2net.sources import SOURCES, is_graph_file
from cube2net.topics import Lda

TABLE_ENDINGS = (".xlsx", ".xlsm", ".csv", ".tsv", ".tab", ".txt", ".jsonl", ".ndjson", ".parquet")
"""How the names of files end that are read as tables."""
ENDING = "-cube"
"""How the folder of a cube ends that is kept beside its file."""
MOST_PLACES = 100
MOST_SHOWN = 200
"""So many columns and remarks are kept of a reading."""


@dataclass(frozen=True, eq=False)
class TableLook:
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

    def choices(self) -> list[dict[str, Any]]:
        """Return which columns may become dimensions, and which do."""
        chosen = {spec.attribute for spec in self.dimensions}
        return [
            {"column": name, "dimension": spec, "chosen": name in chosen} for name, spec in self.may_become[:MOST_SHOWN]
        ]

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


def sheet_reader(paths: Sequence[Path], options: Mapping[str, Any] | None = None) -> Source:
    """Return what reads files that somebody wants to see: graphs by their endings, all else as tables."""
    name = "graph" if len(paths) == 1 and is_graph_file(paths[0]) else "tables"
    given = dict(options or {}) | ({"alone": True} if name == "tables" else {})
    reader: Source = made(name, SOURCES, Source, "source", given)
    return reader


def look_at(
    reader: Source,
    paths: Sequence[Path],
    *,
    dimensions: Sequence[str] = (),
    min_objects: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> TableLook:
    """Return what files hold, and what is proposed for them; ``min_objects`` suits their size without a word."""
    remarks: list[str] = []

    def note(stage: str, done: int, total: int | None = None) -> None:
        if done == total == 1:
            remarks.append(stage)
        progress(stage, done, total)

    _check_there(paths)
    corpus = remembering(reader.read(paths, progress=note), reader)
    asked = tuple(DimensionSpec.parse(text) for text in dimensions)
    proposal = propose_for_tables(
        corpus, cubes.parse_bins, min_objects=min_objects, may_shrink=not asked, seed=seed, progress=note
    )
    if not asked:
        check_found(proposal.suggestion)
    chosen = asked or proposal.suggestion.dimensions
    reason = "as was asked" if asked else proposal.suggestion.reason
    if proposal.numbers:
        note(f"numbers make no dimension where labels do: {listed(proposal.numbers)} (dimensions may be named)", 1, 1)
    return TableLook(
        corpus=corpus,
        dimensions=chosen,
        topics=proposal.suggestion.topics,
        min_objects=proposal.min_objects,
        remarks=tuple(dict.fromkeys(remarks)),
        columns=tuple(columns_in_words(corpus, proposal.suggestion, chosen)),
        reason=reason,
        files=tuple(path.name for path in paths),
        may_become=tuple((each.name, str(each.dimension or "")) for each in proposal.all_attributes),
    )


@dataclass(frozen=True)
class ReadingIdentity:
    """Which reading of files a cube is: ``checksum`` tells all that decides it, ``contents`` the files alone.

    ``origin`` tells where the files lie; it is empty where they were handed over, for then nobody knows.
    """

    checksum: str
    contents: str
    origin: str = ""

    def is_of_same_files(self, kept: Mapping[str, Any]) -> bool:
        """Return whether what is kept was read of the very same paths, or of files of the same names and contents."""
        return kept.get("contents") == self.contents or (self.origin != "" and kept.get("origin") == self.origin)


def identify_reading(
    reader: Source,
    paths: Sequence[Path],
    dimensions: Sequence[str] = (),
    min_objects: int | None = None,
    *,
    seed: int = 0,
    uploaded: bool = False,
) -> ReadingIdentity:
    """Return which reading of files this is, however their paths are written; what is ``uploaded`` has no origin."""
    _check_there(paths)
    files = reader.files_read(paths) if isinstance(reader, NamesFiles) else paths
    contents = digest([(path.name, _contents_checksum(path)) for path in files])
    asked = [list(dimensions), min_objects, seed]
    return ReadingIdentity(
        checksum=digest(__version__, identity_of(reader, SOURCES.values()), contents, asked),
        contents=contents,
        origin="" if uploaded else digest([str(path.resolve()) for path in paths]),
    )


def _check_there(paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise SourceError(f"there is no file {str(path)!r}: check the path")


def _contents_checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot read {str(path)!r}: {reason}") from None


def make_cube(
    look: TableLook, out: Path, *, identity: ReadingIdentity | None = None, seed: int = 0, progress: Progress = silent
) -> Cube:
    """Return the cube of what was looked at, saved in a folder with what was read and by which ``identity``."""
    known = {} if identity is None else asdict(identity)
    source = {**look.corpus.source, READING: {**look.record(), **known}}
    topics = "lda" if look.topics is None else Lda(count=look.topics)
    return build_cube(
        replace(look.corpus, source=source),
        list(look.dimensions),
        topics=topics,
        min_objects=look.min_objects,
        out=out,
        seed=seed,
        progress=progress,
    )


def reading_of(cube: Cube) -> dict[str, Any] | None:
    """Return what was read when a cube was made of a spreadsheet; None of other cubes."""
    source = cube.settings.get("source")
    found = source.get(READING) if isinstance(source, Mapping) else None
    return found if isinstance(found, dict) else None


def cube_beside(
    paths: Sequence[Path],
    identity: ReadingIdentity,
    home: Path | None = None,
    *,
    say: Callable[[str], object] = lambda sentence: None,
) -> tuple[Path, Cube | None]:
    """Return the folder beside files, or in ``home``, where their cube is kept, and that cube if it is still theirs.

    Only a cube of the same files may be replaced. A folder that is something else, or the cube of other files, is left
    as it is, and another name taken. A cube of these files that is damaged is to be made anew, which is said.
    """
    first = paths[0].resolve()
    home = first.parent if home is None else home
    stem = first.name if first.is_dir() else first.name.removesuffix(".gz").rpartition(".")[0] or first.name
    replaceable: Path | None = None
    for number in range(1, MOST_PLACES):
        place = home / f"{stem}{ENDING}{'' if number == 1 else f'-{number}'}"
        if not place.exists():
            return replaceable or place, None
        kept = _reading_in(place)
        if not identity.is_of_same_files(kept):
            continue
        if kept.get("checksum") == identity.checksum:
            try:
                return place, open_cube(place)
            except CubeError as error:
                say(f"{place.name} is damaged and made anew ({error})")
        replaceable = replaceable or place
    if replaceable is not None:
        return replaceable, None
    raise ParameterError(f"{stem}{ENDING} and {MOST_PLACES} others beside {str(first)!r} are there: remove some")


def _reading_in(folder: Path) -> dict[str, Any]:
    """Return what a folder says was read when its cube was made; nothing of what is no cube of a spreadsheet."""
    try:
        source = read_manifest(folder)["settings"].get("source")
    except Cube2netError:
        return {}
    kept = source.get(READING) if isinstance(source, Mapping) else None
    return kept if isinstance(kept, dict) else {}
