"""Text files in UTF-8, plain or gzipped: checked once from front to back, then read as often as needed."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from cube2net.errors import SourceError
from cube2net.unpacking import Meter, gunzipped, open_raw

BLOCK = 8 * 2**20
LONGEST = 16 * 2**20
NOTHING = "\ufeff \t\r\n"


def is_packed(path: Path) -> bool:
    """Return whether a file is gzipped, by its name."""
    return path.suffix.lower() == ".gz"


def open_bytes(path: Path, meter: Meter) -> io.BufferedReader:
    """Return the bytes of a file, unpacked as far as a meter allows."""
    gauge = meter.gauge(path)
    raw = open_raw(path, gauge)
    return gunzipped(raw, gauge) if is_packed(path) else raw


def arrow_stream(path: Path, meter: Meter) -> pa.NativeFile:
    """Return the bytes of a file for Arrow's readers, unpacked as far as a meter allows."""
    return pa.PythonFile(open_bytes(path, meter), mode="r") if is_packed(path) else pa.OSFile(str(path))


def physical_lines(path: Path, meter: Meter) -> Iterator[str]:
    """Return the lines of a file, one character a byte, whatever ends them."""
    with open_bytes(path, meter) as file, io.TextIOWrapper(file, encoding="latin-1", newline="") as text:
        yield from text


def check_text(path: Path, meter: Meter) -> None:
    """Raise unless a file can be unpacked, holds something, is UTF-8 to its end, and has no line beyond 16 MiB."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before, line, blank = 0, 0, True
    try:
        with open_bytes(path, meter) as file:
            while block := file.read(BLOCK):
                text = decoder.decode(block)
                ends = [at for mark in (b"\n", b"\r") for at in (block.find(mark), block.rfind(mark)) if at >= 0]
                if line + min(ends, default=len(block)) > LONGEST:
                    raise SourceError(
                        f"{path.name} line {_line_at(path, before, meter):,} is longer than {LONGEST:,} bytes, "
                        "expected a row a line"
                    )
                line = len(block) - 1 - max(ends) if ends else line + len(block)
                before += len(block)
                blank = blank and not text.strip(NOTHING)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        at = before - len(decoder.getstate()[0]) + error.start
        raise SourceError(
            f"{path.name} line {_line_at(path, at, meter):,}: byte 0x{error.object[error.start]:02x} is not UTF-8, "
            "expected text in UTF-8 (save the file in that encoding)"
        ) from None
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror or error}") from None
    if blank:
        raise SourceError(f"{path.name} is empty, expected a header and rows")


def _line_at(path: Path, position: int, meter: Meter) -> int:
    """Return the number of the line that a byte stands in."""
    lines, left, last = 1, position, b""
    with open_bytes(path, meter) as file:
        while left > 0 and (block := file.read(min(left, BLOCK))):
            lines += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
            lines -= last == b"\r" and block.startswith(b"\n")
            left, last = left - len(block), block[-1:]
    return lines


def line_places(path: Path, records: Callable[[], Iterable[int]]) -> Callable[[Sequence[int]], list[str]]:
    """Return what turns rows into places, given the line on which every good record starts.

    The file is only gone through when a place is asked for.
    """

    def places(rows: Sequence[int]) -> list[str]:
        wanted = set(rows)
        found: dict[int, int] = {}
        for row, line in enumerate(records()):
            if row in wanted:
                found[row] = line
                if len(found) == len(wanted):
                    break
        return [f"{path.name} line {found[row]:,}" if row in found else f"{path.name} row {row + 1:,}" for row in rows]

    return places
