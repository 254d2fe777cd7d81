"""The files of folders, files and archives by name, each once, one after the other."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cube2net.errors import SourceError
from cube2net.sources.archive import archive_files
from cube2net.sources.streams import Streams, lines
from cube2net.sources.tally import Tally, decoded
from cube2net.unpacking import BZIP2, XZ, Meter

ARCHIVES = (".tar.xz", ".txz", ".tar.bz2")

Line = tuple[int, bytes | None]


class Inputs:
    """The files of some paths that end in one of ``endings``; ``done`` of ``total`` bytes on disk are behind us.

    A path is a folder, a file (plain or gz), a zip or a tar (plain, gz, xz or bz2). Tars packed by xz or bz2
    hold files of at most 256 MiB each; all others may be of any size. Two files of one name are refused, for
    what they hold would count twice.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        endings: tuple[str, ...],
        expected: str,
        meter: Meter | None = None,
    ) -> None:
        if not paths:
            raise SourceError(f"no path is given: expected {expected}")
        self.endings, self.meter = endings, meter or Meter()
        self.parts: list[Path | Streams] = []
        for path in map(Path, paths):
            archives = _archives(path)
            self.parts += archives
            try:
                self.parts += [Streams([path], endings, expected, self.meter)] if path not in archives else []
            except SourceError:
                if not archives:
                    raise
        self.total = sum(map(_size, self.parts))
        self.before = 0
        self.now: Path | Streams | None = None

    @property
    def done(self) -> int:
        """The bytes on disk that have been read; a tar packed by xz or bz2 counts when it is finished."""
        return self.before + (self.now.done if isinstance(self.now, Streams) else 0)

    def __iter__(self) -> Iterator[tuple[str, io.BufferedReader]]:
        seen: dict[str, str] = {}
        for part in self.parts:
            self.now = part
            for name, file in part if isinstance(part, Streams) else self._members(part):
                base = Path(name).name.casefold().removesuffix(".gz")
                if base in seen:
                    raise SourceError(f"{base!r} is there twice ({seen[base]!r} and {name!r}): name the paths of one")
                seen[base] = name
                yield name, file
            self.before += _size(part)
            self.now = None

    def _members(self, path: Path) -> Iterator[tuple[str, io.BufferedReader]]:
        for name, pieces in archive_files(path, self.endings, self.meter):
            if not Path(name).name.startswith((".", "_")):
                yield Path(name).name, io.BufferedReader(_Pieces(pieces), 2**18)


def numbered(file: io.BufferedReader) -> Iterator[Line]:
    """Return the lines of a file that are not blank, with their numbers; None stands for one that is too long.

    >>> list(numbered(io.BufferedReader(io.BytesIO(b"\\xef\\xbb\\xbfone\\r\\n\\n two"))))
    [(1, b'one'), (3, b'two')]
    """
    for number, line in enumerate(lines(file), start=1):
        if line is None:
            yield number, None
        elif text := line.strip(b"\xef\xbb\xbf \t\r\n" if number == 1 else None):
            yield number, text


def texts(name: str, file: io.BufferedReader, tally: Tally) -> Iterator[tuple[int, str]]:
    """Return the lines of a file as text, with their numbers; those that are none are dropped."""
    return decoded(name, numbered(file), tally)


def _archives(path: Path) -> list[Path]:
    """Return the tars packed by xz or bz2 that a path is, or holds where it is a folder."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.name.casefold().endswith(ARCHIVES) and file.is_file())
    try:
        if not path.is_file():  # a pipe can be read once
            return []
        with path.open("rb") as file:
            return [path] if file.read(6).startswith((XZ, BZIP2)) else []
    except OSError:
        return []


def _size(part: Path | Streams) -> int:
    return part.total if isinstance(part, Streams) else part.stat().st_size


class _Pieces(io.RawIOBase):
    """A stream over pieces of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        if not self.rest:
            self.rest = memoryview(next(self.pieces, b""))
        much = min(len(view), len(self.rest))
        view[:much] = self.rest[:much]
        self.rest = self.rest[much:]
        return much
