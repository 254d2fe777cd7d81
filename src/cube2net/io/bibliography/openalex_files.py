"""The files of OpenAlex: which of a snapshot to read, and their lines in blocks."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrays import Array
from cube2net._util.zip_files import Meter
from cube2net.errors import Cube2netError, Setting, SourceError, first_line
from cube2net.io.dropped import Dropped
from cube2net.io.files import ARCHIVE_ENDINGS, IGNORED_PREFIXES, InputFiles
from cube2net.io.tables.parquet import parquet_fits
from cube2net.io.text_records import MAX_LINE_BYTES, decode_lines, parse_json_records, read_lines

MEMBER_ENDINGS = (".json", ".jsonl", ".ndjson")
"""The endings of files of works in an archive."""
BLOCK_BYTES = 16 * 2**20
"""The number of bytes of lines read at a time."""
BYTE_ORDER_MARK, LINE_END = b"\xef\xbb\xbf", b"\n"
TOO_LONG_REASON = "lines longer than 16 MiB"
ROWS_PER_GROUP = 1024
"""The number of rows of a Parquet file read at a time."""

ID_AND_NAME = {"id": "VARCHAR", "display_name": "VARCHAR"}
DISPLAY_NAME = {"display_name": "VARCHAR"}
BASE_FIELDS: dict[str, Any] = {
    "id": "VARCHAR",
    "title": "VARCHAR",
    "display_name": "VARCHAR",
    "publication_year": "INTEGER",
    "publication_date": "DATE",
    "updated_date": "TIMESTAMP",
    "type": "VARCHAR",
    "language": "VARCHAR",
    "cited_by_count": "BIGINT",
    "is_retracted": "BOOLEAN",
    "is_authors_truncated": "BOOLEAN",
    "primary_location": {"source": {**ID_AND_NAME, "host_organization_name": "VARCHAR", "publisher": "VARCHAR"}},
    "host_venue": {**ID_AND_NAME, "publisher": "VARCHAR"},
    "authorships": [
        {
            "author": {**ID_AND_NAME, "orcid": "VARCHAR"},
            "institutions": [{**ID_AND_NAME, "country_code": "VARCHAR"}],
            "countries": ["VARCHAR"],
        }
    ],
    "primary_topic": {**DISPLAY_NAME, "subfield": DISPLAY_NAME, "field": DISPLAY_NAME, "domain": DISPLAY_NAME},
    "concepts": [{**DISPLAY_NAME, "level": "INTEGER", "score": "DOUBLE"}],
}
ABSTRACT_FIELDS = {"abstract_inverted_index": "JSON", "abstract": "VARCHAR"}
CITATION_FIELDS = {"referenced_works": ["VARCHAR"]}
USED_FIELDS = {*BASE_FIELDS, *ABSTRACT_FIELDS, *CITATION_FIELDS}
"""All fields of a work that are read."""


class Part(NamedTuple):
    """A file of works, and the day of the partition that it is of, if there is one."""

    path: Path
    day: str = ""


@dataclass(frozen=True, eq=False)
class Block:
    """Some lines: line ``i`` is ``data[starts[i]:starts[i + 1]]`` and the ``numbers[i]``-th of a file."""

    name: str
    day: str
    data: bytes | memoryview
    starts: Array
    numbers: Array
    unit: str = "line"

    def place(self, row: int) -> str:
        """Return the file and the number of a line, for messages."""
        return f"{self.name} {self.unit} {int(self.numbers[row]):,}"

    def line(self, row: int) -> bytes:
        """Return the bytes of a line."""
        return bytes(self.data[self.starts[row] : self.starts[row + 1]])

    def texts(self) -> pa.LargeStringArray:
        """Return the lines as a column that shares their bytes; it is not checked that they are UTF-8."""
        return pa.LargeStringArray.from_buffers(
            len(self.starts) - 1, pa.py_buffer(self.starts), pa.py_buffer(self.data)
        )

    def select(self, kept: Array) -> Block:
        """Return a block of the marked lines."""
        lines = [self.line(int(row)) for row in np.flatnonzero(kept)]
        return make_block(self.name, self.day, lines, self.numbers[kept], self.unit)


def make_block(name: str, day: str, lines: Iterable[bytes], numbers: Any, unit: str = "line") -> Block:
    """Return the block of some lines."""
    line_list = list(lines)
    starts = compute_starts([len(line) for line in line_list])
    return Block(name, day, b"".join(line_list), starts, np.asarray(numbers, np.int64), unit)


def compute_starts(sizes: Any) -> Array:
    """Return the start of every run, given the sizes of the runs, and the end of the last one."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


class Parts:
    """The blocks of all parts, one after the other; so far ``done`` of ``total`` bytes on disk have been read."""

    def __init__(self, parts: Iterable[Part], meter: Meter, dropped: Dropped) -> None:
        self.parts, self.meter, self.dropped = list(parts), meter, dropped
        self.sizes = [part.path.stat().st_size for part in self.parts]
        self.total, self._before = sum(self.sizes), 0
        self._files: InputFiles | None = None

    @property
    def done(self) -> int:
        """The bytes on disk that have been read."""
        return self._before + (0 if self._files is None else self._files.done)

    def __iter__(self) -> Iterator[Block]:
        for part, size in zip(self.parts, self.sizes, strict=True):
            if part.path.name.casefold().endswith(".parquet"):
                yield from _split_parquet(part, self.meter)
            else:
                self._files = InputFiles([part.path], MEMBER_ENDINGS, self.meter)
                for name, file in self._files:
                    yield from _split_file(name, part.day, file, self.dropped)
            self._before, self._files = self._before + size, None


def _split_file(name: str, day: str, file: io.BufferedReader, dropped: Dropped) -> Iterator[Block]:
    start = file.peek(64).removeprefix(BYTE_ORDER_MARK).lstrip()[:64]
    if start.startswith(b"{") and not start[1:].lstrip(b" \t").startswith((b"\n", b"\r")):
        return _split_lines(name, day, file, dropped)
    return _split_records(name, day, file, dropped)


def _split_lines(name: str, day: str, file: io.BufferedReader, dropped: Dropped) -> Iterator[Block]:
    """Return blocks of whole lines; lines that are too long are skipped."""
    number, remainder = 1, b""
    while True:
        data, is_last = _read_more(file, remainder, is_first=number == 1 and not remainder)
        starts: Array = np.append(0, np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1)
        if len(starts) > 1:
            block = Block(name, day, data, starts, np.arange(number, number + len(starts) - 1))
            number += len(block.numbers)
            yield _drop_unusable_lines(block, dropped)
        if is_last:
            return
        remainder = bytes(data[starts[-1] :])
        if len(remainder) > MAX_LINE_BYTES:
            dropped.drop_one(TOO_LONG_REASON, f"{name} line {number:,}", "the line is longer than 16 MiB")
            remainder, number = b"", number + 1
            while (piece := file.readline(MAX_LINE_BYTES)) and not piece.endswith(b"\n"):
                pass


def _read_more(file: io.BufferedReader, remainder: bytes, *, is_first: bool) -> tuple[memoryview, bool]:
    """Return the rest of the last block with the next bytes of a file, and whether the file ends with them."""
    buffer = memoryview(np.empty(len(remainder) + BLOCK_BYTES + 1, np.uint8))  # type: ignore[arg-type]
    buffer[: len(remainder)] = remainder
    size = file.readinto(buffer[len(remainder) : -1])
    is_last, end = size < BLOCK_BYTES, len(remainder) + size
    if is_last and end and bytes(buffer[end - 1 : end]) != LINE_END:
        buffer[end : end + 1] = LINE_END
        end += 1
    begin = len(BYTE_ORDER_MARK) if is_first and bytes(buffer[: len(BYTE_ORDER_MARK)]) == BYTE_ORDER_MARK else 0
    return buffer[begin:end].toreadonly(), is_last


def _drop_unusable_lines(block: Block, dropped: Dropped) -> Block:
    """Return a block without lines that are blank or too long."""
    sizes = np.diff(block.starts)
    kept = sizes <= MAX_LINE_BYTES
    for row in np.flatnonzero(~kept).tolist():
        dropped.drop_one(TOO_LONG_REASON, block.place(row), "the line is longer than 16 MiB")
    for row in np.flatnonzero(sizes < 16).tolist():
        kept[row] = bool(block.line(row).strip())
    return block if kept.all() else block.select(kept)


def _split_records(name: str, day: str, file: io.BufferedReader, dropped: Dropped) -> Iterator[Block]:
    """Return the works of pages, arrays and objects that are spread over lines, written on lines."""
    lines: list[bytes] = []
    numbers: list[int] = []
    size = 0
    for number, record in parse_json_records(
        name, decode_lines(name, enumerate(read_lines(file), start=1), dropped), dropped
    ):
        for work in list_works(record):
            lines.append(json.dumps(work, ensure_ascii=False).encode() + b"\n")
            numbers.append(number)
            size += len(lines[-1])
        if size > BLOCK_BYTES:
            yield make_block(name, day, lines, numbers)
            lines, numbers, size = [], [], 0
    if lines:
        yield make_block(name, day, lines, numbers)


def list_works(record: dict[str, Any]) -> list[Any]:
    """Return the works of a page, or the work that a record is.

    >>> list_works({"meta": {"count": 2}, "results": [{"id": "W1"}, {"id": "W2"}]}), list_works({"id": "W3"})
    ([{'id': 'W1'}, {'id': 'W2'}], [{'id': 'W3'}])
    """
    results = record.get("results")
    return results if isinstance(results, list) and "id" not in record else [record]


def _split_parquet(part: Part, meter: Meter) -> Iterator[Block]:
    """Return the rows of a Parquet part as lines, of those columns that are used."""
    import duckdb

    name = part.path.name
    gauge = meter.gauge(part.path)
    if not gauge.size:
        raise SourceError(f"{name} is empty, expected a Parquet file with rows")
    gauge.take(gauge.size)
    number = 1
    try:
        if not parquet_fits(part.path, gauge):
            raise SourceError(
                f"{name} may take more memory than {gauge.meter.limits.max_ratio:,} times its size: it is not read, "
                "raise max_ratio if you trust it",
                parameter="max_ratio",
                value=gauge.meter.limits.max_ratio,
                hint=Setting("max_ratio", 10 * gauge.meter.limits.max_ratio),
            )
        with pq.ParquetFile(part.path) as file, duckdb.connect(config={"threads": 1}) as connection:
            columns = [column for column in file.schema_arrow.names if column in USED_FIELDS]
            if "id" not in columns:
                raise SourceError(f"{name} has no column 'id', expected works as OpenAlex publishes them")
            for batch in file.iter_batches(ROWS_PER_GROUP, columns=columns, use_threads=False):
                gauge.count(batch.nbytes)
                connection.register("batch", pa.table(batch))
                rows = connection.sql("SELECT to_json(batch)::VARCHAR AS line FROM batch").to_arrow_table()["line"]
                lines = [line.encode() + b"\n" for line in rows.to_pylist()]
                yield make_block(name, part.day, lines, range(number, number + len(lines)), "row")
                number += len(lines)
    except Cube2netError:
        raise
    except (pa.ArrowException, duckdb.Error, OSError, ValueError, OverflowError) as error:
        reason = first_line(error).rstrip(".")
        raise SourceError(f"{name} cannot be read as Parquet: {reason} (is it cut short?)") from None


EXPECTED = (
    "OpenAlex's snapshot or some of its parts (updated_date=…/part_0000.gz or .parquet), JSON lines of works, or saved "
    "pages of its interface"
)
ENDINGS = (
    *(f"{ending}{more}" for ending in MEMBER_ENDINGS for more in ("", ".gz", ".xz", ".bz2")),
    ".parquet",
    *ARCHIVE_ENDINGS,
)
PART_PATTERN = re.compile(r"part_\d+(\.gz|\.jsonl|\.parquet)?")
PARTITION_PATTERN = re.compile(r"updated_date=(\d{4}-\d\d-\d\d)")
MERGED_FOLDER = "merged_ids"
MERGED_LETTERS = {"works": "W", "authors": "A", "institutions": "I"}
ENTITIES = {
    *("authors", "awards", "concepts", "continents", "countries", "domains", "fields", "funders", "institutions"),
    *("institution-types", "keywords", "languages", "licenses", "publishers", "sdgs", "source-types", "sources"),
    *("subfields", "topics", "work-types"),
}


class Snapshot(NamedTuple):
    """The files to read: parts, the oldest first, and lists of merged ids by the letter of what they are about."""

    parts: list[Part]
    merged: list[tuple[str, Path]]
    remarks: list[str]


def find_snapshot(paths: Sequence[str | os.PathLike[str]]) -> Snapshot:
    """Return the files to read: those named, and those of folders that are of works or of merged ids."""
    if not paths:
        raise SourceError(f"no path is given: expected {EXPECTED}")
    snapshot = Snapshot([], [], [])
    for path in map(Path, paths):
        if not path.exists():
            raise SourceError(f"{path} does not exist: expected {EXPECTED}")
        if path.is_dir():
            _search_folder(path, snapshot)
        elif letter := _find_merged_letter(path, path.resolve().parts[:-1]):
            snapshot.merged.append((letter, path))
        else:
            snapshot.parts.append(Part(path, _find_partition_day(path.resolve().parts)))
    if not snapshot.parts:
        raise SourceError(f"{', '.join(map(str, paths))} holds no file of works to read: expected {EXPECTED}")
    snapshot.parts.sort(key=lambda part: part.day)
    snapshot.merged.sort(key=lambda pair: (pair[1].name.removesuffix(".gz"), str(pair[1])))
    return snapshot


def _search_folder(folder: Path, snapshot: Snapshot) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    cubes = {
        path.parent for path in files if path.name == "manifest.json" and (path.parent / "labels.parquet") in files
    }
    if cubes:
        snapshot.remarks.append(f"{folder.name}: {len(cubes):,} cube(s) in it are passed over")
    folders_by_path = {path: path.relative_to(folder).parts[:-1] for path in files if path.parent not in cubes}
    outer_folders = folder.resolve().parts[-3:]
    for path, folders in folders_by_path.items():
        if letter := _find_merged_letter(path, (*outer_folders, *folders)):
            snapshot.merged.append((letter, path))
    work_paths = [
        path
        for path in folders_by_path
        if _is_data(path.name) and not {MERGED_FOLDER, *ENTITIES} & set(folders_by_path[path])
    ]
    json_lines, parquet = (
        {path for path in work_paths if form_name in folders_by_path[path]} for form_name in ("jsonl", "parquet")
    )
    if json_lines and parquet:
        snapshot.remarks.append(
            f"{folder.name} has the works twice: of JSON lines and Parquet, the JSON lines are read"
        )
        work_paths = [path for path in work_paths if path not in parquet]
    snapshot.parts.extend(
        Part(path, _find_partition_day((*outer_folders, *folders_by_path[path]))) for path in work_paths
    )


def _find_merged_letter(path: Path, folders: Sequence[str]) -> str:
    """Return the letter of the ids that a list of merged ids is about, or nothing where a file is no such list."""
    if MERGED_FOLDER not in folders[:-1] or not path.name.casefold().endswith((".csv", ".csv.gz")):
        return ""
    return MERGED_LETTERS.get(folders[folders.index(MERGED_FOLDER) + 1], "")


def _find_partition_day(folders: Sequence[str]) -> str:
    days = [match[1] for name in folders if (match := PARTITION_PATTERN.fullmatch(name))]
    return days[-1] if days else ""


def _is_data(name: str) -> bool:
    lower_name = name.casefold()
    has_ending = lower_name.endswith(ENDINGS) or PART_PATTERN.fullmatch(lower_name) is not None
    return has_ending and not lower_name.startswith((*IGNORED_PREFIXES, "manifest"))
