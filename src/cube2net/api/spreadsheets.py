"""Build a cube from a spreadsheet without options: read it, suggest dimensions, keep the cube."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cube2net import __version__
from cube2net._util.progress import Progress, silent
from cube2net._util.text import shorten
from cube2net.api import cubes
from cube2net.api.build import build
from cube2net.api.checkpoints import describe_identity, digest
from cube2net.api.cubes import READING, read_manifest
from cube2net.api.read import check_there, remembering
from cube2net.api.suggest import check_found
from cube2net.cube.building.labels import parse_bins
from cube2net.design.propose import choose_min_objects, describe_columns, propose
from cube2net.errors import Cube2netError, CubeError, ParameterError, SourceError, join_names
from cube2net.io.graphs import is_graph_file
from cube2net.io.sources import SOURCES
from cube2net.io.tables.column_types import to_separators
from cube2net.io.tables.find_tables import RECORDS as RECORD_TABLE
from cube2net.io.tables.table_roles import TableRoles
from cube2net.io.tables.table_source import TableReading, Tables
from cube2net.model.corpus import Corpus, holds_text
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import NamesFiles, Source, make_object
from cube2net.model.suggestion import Suggestion

LINK_ROLES = ("links.source", "links.target", "links.weight", "links.kind", "links.time")
NODE_ROLES = ("nodes.id", "nodes.name", "nodes.kind", "nodes.text")
ROLES_BY_TABLE = {
    "nodes": NODE_ROLES,
    "objects": ("objects.id", "objects.name", "objects.kind"),
    "items": ("items.item", "items.text"),
    "mentions": ("mentions.item", "mentions.object"),
    "links": LINK_ROLES,
}
"""The roles that a column of one of several tables may have."""
SINGLE_TABLE_ROLES = (*NODE_ROLES, "links.target", "mentions.object")
"""The roles that a column of a single table of people or things may have."""
RECORD_ROLES = ("items.item", "mentions.object", "name", "text")
"""The roles that a column of a single table of records may have."""
MAIN_TABLE = {"single": "nodes", "network": "nodes", "records": "items", "items": "items", "links": "links"}
"""The table of the attributes, by the layout of the tables."""


@dataclass(frozen=True)
class UsedColumn:
    """A column of a table, its role (empty if none), and the roles that it may have."""

    table: str
    column: str
    role: str
    may: tuple[str, ...]


def list_column_uses(roles: TableRoles | None, attributes: Iterable[str]) -> list[UsedColumn]:
    """Return the use of every column: of those with a role, and of attributes; columns of graphs have no roles.

    >>> from cube2net.io.tables.table_roles import ColumnRole
    >>> found = ColumnRole("nodes", "Nr", "nodes.id"), ColumnRole("links", "knows", "links.target")
    >>> for use in list_column_uses(TableRoles("single", found), ["city"]):
    ...     print(use.column, use.role or "-", *use.may)
    Nr nodes.id nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    knows links.target nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    city - nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    """
    if roles is None:
        return [UsedColumn("", name, "", ()) for name in attributes]
    main = MAIN_TABLE[roles.layout]
    uses = [
        UsedColumn(
            column.table,
            column.column,
            column.role,
            (column.role,) if column.is_name_part else _list_allowed_roles(roles, column.table),
        )
        for column in roles.columns
    ]
    used_columns = {(use.table, use.column) for use in uses}
    uses += [
        UsedColumn(main, name, "", _list_allowed_roles(roles, main))
        for name in attributes
        if (main, name) not in used_columns
    ]
    return uses


def _list_allowed_roles(roles: TableRoles, table: str) -> tuple[str, ...]:
    """Return the roles that a column of a table may have."""
    if roles.layout == "single":
        return SINGLE_TABLE_ROLES
    return RECORD_ROLES if roles.layout == "records" and table != "links" else ROLES_BY_TABLE.get(table, ())


CUBE_FOLDER_ENDING = "-cube"
"""The ending of the folder of a cube beside its file."""
MAX_NUMBERED_PLACES = 100


@dataclass(frozen=True)
class ReadingIdentity:
    """Identifies the files and options a cube was built from.

    ``checksum`` covers files and options, ``contents`` the files only. ``origin`` is where the files are; empty if they
    were uploaded.
    """

    checksum: str
    contents: str
    origin: str = ""

    def is_of_same_files(self, stored: Mapping[str, Any]) -> bool:
        """Return whether a cube was built from the same paths, or from files with the same names and contents."""
        return stored.get("contents") == self.contents or (self.origin != "" and stored.get("origin") == self.origin)


def identify_reading(
    reader: Source,
    paths: Sequence[Path],
    dimensions: Sequence[str] = (),
    min_objects: int | None = None,
    *,
    seed: int = 0,
    uploaded: bool = False,
) -> ReadingIdentity:
    """Return the identity of a reading, independent of how paths are written; ``uploaded`` files have no origin."""
    check_there(paths)
    files = reader.files_read(paths) if isinstance(reader, NamesFiles) else paths
    contents = digest([(path.name, _contents_checksum(path)) for path in files])
    options = [list(dimensions), min_objects, seed]
    return ReadingIdentity(
        checksum=digest(__version__, describe_identity(reader, SOURCES.values()), contents, options),
        contents=contents,
        origin="" if uploaded else digest([str(path.resolve()) for path in paths]),
    )


def _contents_checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot read {str(path)!r}: {reason}") from None


def reading_in(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what was read when a cube with these settings was built from files, or None.

    >>> reading_in({"source": {"name": "tables", "reading": {"files": ["club.csv"]}}})
    {'files': ['club.csv']}
    >>> reading_in({"source": "tables"})
    """
    source = settings.get("source")
    reading = source.get(READING) if isinstance(source, Mapping) else None
    return reading if isinstance(reading, dict) else None


def cube_beside(
    paths: Sequence[Path],
    identity: ReadingIdentity,
    home: Path | None = None,
    *,
    say: Callable[[str], object] = lambda sentence: None,
) -> tuple[Path, Cube | None]:
    """Return the folder beside files, or in ``home``, where their cube is kept, and that cube if it is still theirs.

    Only a cube of the same files may be replaced. If the folder exists and is something else, another name is used. A
    damaged cube of these files is to be built again, which is reported.
    """
    first = paths[0].resolve()
    stem = first.name if first.is_dir() else first.name.removesuffix(".gz").rpartition(".")[0] or first.name
    places = NumberedPlaces(first.parent if home is None else home, f"{stem}{CUBE_FOLDER_ENDING}")
    readings = {place: _get_folder_reading(place) for place in places.list_taken()}
    own_places = [place for place in readings if identity.is_of_same_files(readings[place])]
    for place in own_places:
        if readings[place].get("checksum") == identity.checksum:
            try:
                return place, cubes.open(place)
            except CubeError as error:
                say(f"{place.name} is damaged and made anew ({error})")
    return own_places[0] if own_places else places.free(), None


def _get_folder_reading(folder: Path) -> dict[str, Any]:
    """Return the reading from which the cube in a folder was built; empty if it is not the cube of files."""
    try:
        return reading_in(read_manifest(folder)["settings"]) or {}
    except Cube2netError:
        return {}


@dataclass(frozen=True)
class NumberedPlaces:
    """The paths ``name``, ``name-2``, ``name-3``, … in a folder."""

    home: Path
    name: str

    def list_taken(self) -> list[Path]:
        """Return the existing paths, up to the first free one."""
        paths: list[Path] = []
        while len(paths) < MAX_NUMBERED_PLACES and (place := self._place(len(paths) + 1)).exists():
            paths.append(place)
        return paths

    def free(self) -> Path:
        """Return the first free path; raise an error if too many exist."""
        count = len(self.list_taken())
        if count >= MAX_NUMBERED_PLACES:
            raise ParameterError(f"{self.name} and {count - 1} others in {str(self.home)!r} are there: remove some")
        return self._place(count + 1)

    def _place(self, number: int) -> Path:
        return self.home / (self.name if number == 1 else f"{self.name}-{number}")


TABLE_ENDINGS = (
    *(".xlsx", ".xlsm", ".csv", ".tsv", ".tab", ".txt", ".jsonl", ".ndjson", ".parquet"),
    *(".ris", ".bib", ".bibtex", ".nbib", ".ciw", ".enw", ".xml", ".rdf"),
)
"""Endings of files that are read as tables or as citation exports."""
MAX_RECORDED_ENTRIES = 200
"""Maximum number of columns, and of remarks, in the record of a reading."""
MAX_SAMPLED_ROWS, MAX_SAMPLES, MAX_SAMPLE_LENGTH = 1_000, 3, 80
SPLIT_ROLES = ("", "mentions.object")
"""The roles of columns whose separator can be chosen."""


@dataclass(frozen=True, eq=False)
class SpreadsheetReading:
    """The contents of files: a corpus, the dimensions proposed for it, and a description of what was read.

    ``problem`` says why no cube can be built yet; None if one can.
    """

    corpus: Corpus
    dimensions: tuple[DimensionSpec, ...]
    suggestion: Suggestion
    min_objects: int
    remarks: tuple[str, ...]
    columns: tuple[dict[str, Any], ...]
    reason: str
    files: tuple[str, ...]
    may_become: tuple[tuple[str, str], ...] = ()
    distinct: Mapping[str, int] = field(default_factory=dict)
    tables: TableReading | None = None
    problem: ParameterError | None = None

    @property
    def roles(self) -> TableRoles | None:
        """The roles of columns; None for files that are not tables."""
        return None if self.tables is None else self.tables.roles

    @property
    def items(self) -> int:
        """The number of rows read: objects, or records that mention them."""
        return int(self.corpus.items.num_rows)

    def choices(self) -> list[dict[str, Any]]:
        """Return which columns may become dimensions, and which do."""
        chosen = {spec.attribute for spec in self.dimensions}
        return [
            {"column": name, "dimension": spec, "chosen": name in chosen}
            for name, spec in self.may_become[:MAX_RECORDED_ENTRIES]
        ]

    def uses(self) -> list[dict[str, Any]]:
        """Return the use of each column, the possible uses, and a few values."""
        uses = list_column_uses(self.roles, [name for name, _ in self.may_become])
        separators = self.corpus.source.get("separators", {})
        return [
            {
                **asdict(use),
                "may": list(use.may),
                "samples": list(samples),
                "separators": list(to_separators(separators.get(use.column))),
                "can_split": can_split and use.role in SPLIT_ROLES,
                "distinct": self.distinct.get(use.column),
            }
            for use in uses[:MAX_RECORDED_ENTRIES]
            for samples, can_split in [self._sample(use)]
        ]

    def sheets(self) -> list[dict[str, Any]]:
        """Return the sheets of a workbook with several."""
        sheets = () if self.tables is None else self.tables.sheets
        return [{**asdict(sheet), "first": list(sheet.first)} for sheet in sheets]

    @property
    def is_linked(self) -> bool:
        """Whether objects are linked, by links or by records that mention several."""
        return self.tables is None or self.tables.problem is None

    def _sample(self, use: UsedColumn) -> tuple[list[str], bool]:
        """Return the first distinct values of a column, and whether it can be split."""
        tables = {} if self.tables is None else self.tables.rows
        rows = tables.get(use.table, tables.get(RECORD_TABLE))
        table = self.corpus.items if self.tables is None else None if rows is None else rows.table
        if table is None or use.column not in table.column_names:
            return [], False
        column = table[use.column].slice(0, MAX_SAMPLED_ROWS)
        values = (value for value in column.to_pylist() if value is not None)
        texts = ("; ".join(map(str, value)) if isinstance(value, list) else str(value).strip() for value in values)
        samples = islice((text for text in dict.fromkeys(texts) if text), MAX_SAMPLES)
        can_split = self.tables is not None and holds_text(column.type)
        return [shorten(text, MAX_SAMPLE_LENGTH) for text in samples], can_split

    def record(self) -> dict[str, Any]:
        """Return a summary of the reading as JSON."""
        return {
            "files": list(self.files),
            "objects": self.corpus.objects.num_rows,
            "links": None if self.corpus.links is None else self.corpus.links.num_rows,
            "columns": [dict(column) for column in self.columns[:MAX_RECORDED_ENTRIES]],
            "said": list(self.remarks[:MAX_RECORDED_ENTRIES]),
            "left_out": [{"reason": reason, "count": count} for reason, count in self.corpus.dropped.items()],
            "dimensions": [str(spec) for spec in self.dimensions],
            "min_objects": self.min_objects,
            "reason": self.reason,
        }


def sheet_source(paths: Sequence[Path]) -> str:
    """Return the source of files: references by content, graphs by suffix, otherwise tables."""
    from cube2net.io.bibliography.references import is_reference_file

    if paths and all(map(is_reference_file, paths)):
        return "references"
    return "graph" if len(paths) == 1 and is_graph_file(paths[0]) else "tables"


def sheet_reader(paths: Sequence[Path], options: Mapping[str, Any] | None = None) -> Source:
    """Return the source that reads these files; ``options`` are those of their ``sheet_source``."""
    reader: Source = make_object(sheet_source(paths), SOURCES, Source, "source", options or {})
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
    """Read files and propose dimensions for them; by default ``min_objects`` depends on the size of the data."""
    noting_progress = _NotingProgress(progress)
    check_there(paths)
    reading = reader.read_with_roles(paths, progress=noting_progress) if isinstance(reader, Tables) else None
    corpus = remembering(reader.read(paths, progress=noting_progress) if reading is None else reading.corpus, reader)
    requested_dimensions = tuple(DimensionSpec.parse(text) for text in dimensions)
    if requested_dimensions and min_objects is None:
        min_objects = choose_min_objects(corpus.objects.num_rows)
    suggestion = propose(corpus, parse_bins, min_objects=min_objects, seed=seed, progress=noting_progress)
    dimension_specs = requested_dimensions or suggestion.dimensions
    reason = "as was asked" if requested_dimensions else suggestion.reason
    number_attributes = [
        attribute.name
        for attribute in suggestion.attributes
        if attribute.kind == "numbers" and attribute.dimension is not None
    ]
    if (
        number_attributes
        and suggestion.dimensions
        and not {spec.attribute for spec in suggestion.dimensions} & set(number_attributes)
    ):
        noting_progress.note(
            f"numbers make no dimension where labels do: {join_names(number_attributes)} (dimensions may be named)"
        )
    return SpreadsheetReading(
        corpus=corpus,
        dimensions=dimension_specs,
        suggestion=suggestion,
        min_objects=suggestion.min_objects,
        remarks=tuple(dict.fromkeys(noting_progress.notes)),
        columns=tuple(describe_columns(corpus, suggestion, dimension_specs)),
        reason=reason,
        files=tuple(path.name for path in paths),
        may_become=tuple((attribute.name, str(attribute.dimension or "")) for attribute in suggestion.attributes),
        distinct={attribute.name: attribute.distinct for attribute in suggestion.attributes},
        tables=reading,
        problem=None if requested_dimensions else _find_problem(suggestion),
    )


def _find_problem(suggestion: Suggestion) -> ParameterError | None:
    try:
        check_found(suggestion)
    except ParameterError as error:
        return error
    return None


class _NotingProgress:
    """Forwards progress and keeps the notes."""

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
    """Build the cube of a reading in a folder, and save the reading and its ``identity`` there."""
    if reading.problem is not None:
        raise reading.problem
    identity_fields = {} if identity is None else asdict(identity)
    source = {**reading.corpus.source, READING: {**reading.record(), **identity_fields}}
    is_suggested = reading.dimensions == reading.suggestion.dimensions
    return build(
        replace(reading.corpus, source=source),
        reading.suggestion if is_suggested else list(reading.dimensions),
        min_objects=reading.min_objects,
        out=out,
        seed=seed,
        progress=progress,
    )
