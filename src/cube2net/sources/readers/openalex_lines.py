"""Works as blocks of lines, one JSON object a line, whatever files they come from.

JSON lines are taken as they are, millions of bytes at a time. Saved pages, arrays and objects spread over many lines
are read object by object, and Parquet row by row; both are written as lines, so that there is one way on from here.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net.array_types import Array
from cube2net.errors import Cube2netError, Setting, SourceError, first_line
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.io.input_files import InputFiles
from cube2net.sources.io.text_records import LONGEST, json_records, lines, texts
from cube2net.sources.readers.openalex_files import MEMBERS, PARQUET, Part
from cube2net.sources.tables.parquet import parquet_fits
from cube2net.unpacking import Meter

SIZE = 16 * 2**20
"""So many bytes of lines are taken at a time."""
MARK, END = b"\xef\xbb\xbf", b"\n"
TOO_LONG = "lines longer than 16 MiB"
GROUP = 1024
"""So many rows of Parquet are taken at a time."""


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
        """Return where a line stands, in words."""
        return f"{self.name} {self.unit} {int(self.numbers[row]):,}"

    def line(self, row: int) -> bytes:
        """Return the bytes of a line."""
        return bytes(self.data[self.starts[row] : self.starts[row + 1]])

    def texts(self) -> pa.LargeStringArray:
        """Return the lines as a column that shares their bytes; whether they are UTF-8 is not looked at."""
        return pa.LargeStringArray.from_buffers(
            len(self.starts) - 1, pa.py_buffer(self.starts), pa.py_buffer(self.data)
        )

    def only(self, kept: Array) -> Block:
        """Return a block of some of the lines."""
        chosen = [self.line(int(row)) for row in np.flatnonzero(kept)]
        return block_of(self.name, self.day, chosen, self.numbers[kept], self.unit)


def block_of(name: str, day: str, some: Iterable[bytes], numbers: Any, unit: str = "line") -> Block:
    """Return a block of lines given one by one."""
    every = list(some)
    starts = np.zeros(len(every) + 1, np.int64)
    np.cumsum([len(line) for line in every], out=starts[1:])
    return Block(name, day, b"".join(every), starts, np.asarray(numbers, np.int64), unit)


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
            if part.path.name.casefold().endswith(PARQUET):
                yield from _parquet_blocks(part, self.meter)
            else:
                self._files = InputFiles([part.path], MEMBERS, self.meter)
                for name, file in self._files:
                    yield from _file_blocks(name, part.day, file, self.dropped)
            self._before, self._files = self._before + size, None


def _file_blocks(name: str, day: str, file: io.BufferedReader, dropped: Dropped) -> Iterator[Block]:
    start = file.peek(64).removeprefix(MARK).lstrip()[:64]
    if start.startswith(b"{") and not start[1:].lstrip(b" \t").startswith((b"\n", b"\r")):
        return _line_blocks(name, day, file, dropped)
    return _record_blocks(name, day, file, dropped)


def _line_blocks(name: str, day: str, file: io.BufferedReader, dropped: Dropped) -> Iterator[Block]:
    """Return blocks of whole lines; one that is too long is passed over."""
    number, rest = 1, b""
    while True:
        data, last = _more(file, rest, first=number == 1 and not rest)
        starts = line_starts(data)
        if len(starts) > 1:
            block = Block(name, day, data, starts, np.arange(number, number + len(starts) - 1))
            number += len(block.numbers)
            yield _usable(block, dropped)
        if last:
            return
        rest = bytes(data[starts[-1] :])
        if len(rest) > LONGEST:
            dropped.drop_one(TOO_LONG, f"{name} line {number:,}", "the line is longer than 16 MiB")
            rest, number = b"", number + 1
            while (more := file.readline(LONGEST)) and not more.endswith(b"\n"):
                pass


def _more(file: io.BufferedReader, rest: bytes, *, first: bool) -> tuple[memoryview, bool]:
    """Return what is left over and the next bytes of a file, and whether they are its last, which end a line."""
    buffer = memoryview(np.empty(len(rest) + SIZE + 1, np.uint8))  # type: ignore[arg-type]
    buffer[: len(rest)] = rest
    much = file.readinto(buffer[len(rest) : -1])
    last, end = much < SIZE, len(rest) + much
    if last and end and bytes(buffer[end - 1 : end]) != END:
        buffer[end : end + 1] = END
        end += 1
    begin = len(MARK) if first and bytes(buffer[: len(MARK)]) == MARK else 0
    return buffer[begin:end].toreadonly(), last


def line_starts(data: bytes | memoryview) -> Array:
    """Return where the lines of some bytes begin, and where the last whole one ends.

    >>> line_starts(b"one\\ntwo\\nth").tolist()
    [0, 4, 8]
    """
    from cube2net.kernels.byte_blocks import line_ends

    ends: Array = line_ends(np.frombuffer(data, np.uint8))
    return np.append(0, ends)


def _usable(block: Block, dropped: Dropped) -> Block:
    """Return a block without lines that are blank or too long."""
    sizes = np.diff(block.starts)
    kept = sizes <= LONGEST
    for row in np.flatnonzero(~kept).tolist():
        dropped.drop_one(TOO_LONG, block.place(row), "the line is longer than 16 MiB")
    for row in np.flatnonzero(sizes < 16).tolist():
        kept[row] = bool(block.line(row).strip())
    return block if kept.all() else block.only(kept)


def _record_blocks(name: str, day: str, file: io.BufferedReader, dropped: Dropped) -> Iterator[Block]:
    """Return the works of pages, arrays and objects that are spread over lines, written on lines."""
    held: list[bytes] = []
    numbers: list[int] = []
    size = 0
    for number, record in json_records(name, texts(name, enumerate(lines(file), start=1), dropped), dropped):
        for work in works_of(record):
            held.append(json.dumps(work, ensure_ascii=False).encode() + b"\n")
            numbers.append(number)
            size += len(held[-1])
        if size > SIZE:
            yield block_of(name, day, held, numbers)
            held, numbers, size = [], [], 0
    if held:
        yield block_of(name, day, held, numbers)


def works_of(record: dict[str, Any]) -> list[Any]:
    """Return the works of a page, or the work that a record is.

    >>> works_of({"meta": {"count": 2}, "results": [{"id": "W1"}, {"id": "W2"}]}), works_of({"id": "W3"})
    ([{'id': 'W1'}, {'id': 'W2'}], [{'id': 'W3'}])
    """
    results = record.get("results")
    return results if isinstance(results, list) and "id" not in record else [record]


def _parquet_blocks(part: Part, meter: Meter) -> Iterator[Block]:
    """Return the rows of a Parquet part as lines, of those columns that are used."""
    import duckdb

    from cube2net.sources.readers.openalex_parse import WANTED

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
            columns = [column for column in file.schema_arrow.names if column in WANTED]
            if "id" not in columns:
                raise SourceError(f"{name} has no column 'id', expected works as OpenAlex publishes them")
            for batch in file.iter_batches(GROUP, columns=columns, use_threads=False):
                gauge.count(batch.nbytes)
                connection.register("batch", pa.table(batch))
                rows = connection.sql("SELECT to_json(batch)::VARCHAR AS line FROM batch").to_arrow_table()["line"]
                found = [line.encode() + b"\n" for line in rows.to_pylist()]
                yield block_of(name, part.day, found, range(number, number + len(found)), "row")
                number += len(found)
    except Cube2netError:
        raise
    except (pa.ArrowException, duckdb.Error, OSError, ValueError, OverflowError) as error:
        why = first_line(error).rstrip(".")
        raise SourceError(f"{name} cannot be read as Parquet: {why} (is it cut short?)") from None
