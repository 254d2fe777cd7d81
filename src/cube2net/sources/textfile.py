"""Text files in UTF-8, plain or gzipped: checked once from front to back, then read as often as needed."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from cube2net.errors import SourceError

BLOCK = 8 * 2**20
NOTHING = "\ufeff \t\r\n"


def is_packed(path: Path) -> bool:
    """Return whether a file is gzipped, by its name."""
    return path.suffix.lower() == ".gz"


def open_bytes(path: Path) -> IO[bytes]:
    """Return the bytes of a file, unpacked."""
    return gzip.open(path) if is_packed(path) else path.open("rb")  # type: ignore[return-value]


def physical_lines(path: Path) -> Iterator[str]:
    """Return the lines of a file, one character a byte, whatever ends them."""
    with open_bytes(path) as file, io.TextIOWrapper(file, encoding="latin-1", newline="") as text:
        yield from text


def check_text(path: Path) -> None:
    """Raise unless a file can be unpacked, holds something and is UTF-8 to its end."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before, blank = 0, True
    try:
        with open_bytes(path) as file:
            while block := file.read(BLOCK):
                text = decoder.decode(block)
                before += len(block)
                blank = blank and not text.strip(NOTHING)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        at = before - len(decoder.getstate()[0]) + error.start
        raise SourceError(
            f"{path.name} line {_line_at(path, at):,}: byte 0x{error.object[error.start]:02x} is not UTF-8, "
            "expected text in UTF-8 (save the file in that encoding)"
        ) from None
    except (EOFError, zlib.error, OSError) as error:
        raise SourceError(f"{path.name} cannot be read: {str(error).splitlines()[0]} (is it cut short?)") from None
    if blank:
        raise SourceError(f"{path.name} is empty, expected a header and rows")


def _line_at(path: Path, position: int) -> int:
    read, lines = 0, 0
    for line in physical_lines(path):
        read, lines = read + len(line), lines + 1
        if read > position:
            break
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
