"""Large files, plain or packed (gz, zip, tar), read from front to back; a packed one may not swell without end."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO, Any

from cube2net.errors import Cube2netError, SourceError
from cube2net.unpacking import BROKEN as CUT_SHORT
from cube2net.unpacking import Gauge, Meter, damaged, metered, open_raw, open_zip, unpacked

LONGEST = 16 * 2**20
SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c"
BROKEN = (tarfile.TarError, *CUT_SHORT)
Stream = tuple[str, io.BufferedReader]


class Streams:
    """The files of some paths, one after the other; so far ``done`` of ``total`` bytes on disk have been read.

    A path may be a file, plain or packed, or a folder, of which the files with one of the ``endings`` are
    taken; so are those inside a zip or tar. The ``meter`` says how much may be unpacked.
    """

    def __init__(
        self, paths: Sequence[Path], endings: tuple[str, ...], expected: str, meter: Meter | None = None
    ) -> None:
        if not paths:
            raise SourceError(f"no path is given: expected {expected}")
        self.endings, self.expected, self.meter = endings, expected, meter or Meter()
        self.files = [file for path in paths for file in self._expand(path)]
        self.sizes = [file.stat().st_size for file in self.files]
        self.total = sum(self.sizes)
        self.before = 0
        self.gauge: Gauge | None = None

    @property
    def done(self) -> int:
        """The bytes on disk that have been read."""
        return self.before + (0 if self.gauge is None else self.gauge.done)

    def __iter__(self) -> Iterator[Stream]:
        for path, size in zip(self.files, self.sizes, strict=True):
            try:
                gauge = self.gauge = self.meter.gauge(path, _shown(path.name))
                with open_raw(path, gauge) as raw, closing(self._members(raw, gauge)) as members:
                    yield from members
            except Cube2netError:
                raise
            except BROKEN as error:
                raise damaged(_shown(path.name), error) from None
            self.before, self.gauge = self.before + size, None

    def _expand(self, path: Path) -> list[Path]:
        if not path.exists():
            raise SourceError(f"{path} is not there: expected {self.expected}")
        if not path.is_dir():
            return [path]
        packed = tuple(f"{ending}{more}" for ending in self.endings for more in ("", ".gz"))
        archives = (".zip", ".tgz", ".tar", ".tar.gz")
        found = sorted(file for file in path.rglob("*") if file.is_file() and _is_data(file.name, packed + archives))
        if not found:
            raise SourceError(f"{path} holds no file to read: expected {self.expected}")
        return found

    def _members(self, raw: io.BufferedReader, gauge: Gauge) -> Generator[Stream, None, None]:
        start = raw.peek(8)
        if start.startswith(SEVEN_ZIP):
            raise SourceError(f"{gauge.name} is a 7z archive, which cannot be read here: unpack it first")
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            yield from self._zip(raw, gauge)
            return
        file = unpacked(raw, gauge)
        if file.peek(512)[257:262] == b"ustar":
            yield from self._tar(file, gauge.name)
        else:
            yield gauge.name, file

    def _zip(self, raw: io.BufferedReader, gauge: Gauge) -> Iterator[Stream]:
        with open_zip(raw, gauge) as archive:
            for member in archive.infolist():
                if not _is_data(member.filename, self.endings):
                    continue
                if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise SourceError(
                        f"{gauge.name}: {member.filename!r} is encrypted or packed by a rare method: unpack it first"
                    )
                with archive.open(member) as file:
                    yield _shown(member.filename), metered(file, gauge)

    def _tar(self, file: IO[bytes], name: str) -> Iterator[Stream]:
        budget = _Budget(name, file)
        with tarfile.open(fileobj=budget, mode="r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                archive.members.clear()
                budget.left = member.size + LONGEST
                if member.isreg() and not member.issparse() and _is_data(member.name, self.endings):
                    inside = archive.extractfile(member)
                    if inside is not None:
                        yield _shown(member.name), io.BufferedReader(_Member(inside, name), 2**20)


def lines(file: io.BufferedReader) -> Iterator[bytes | None]:
    """Return the lines of a file as bytes; one of more than 16 MiB is passed over, and None stands for it.

    >>> list(lines(io.BufferedReader(io.BytesIO(b"one\\ntwo"))))
    [b'one\\n', b'two']
    """
    while line := file.readline(LONGEST):
        if len(line) < LONGEST or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST)
        yield None


class _Member(io.RawIOBase):
    """A member of a tar; whatever is wrong with it becomes one sentence. What it is unpacked from has the meter."""

    def __init__(self, inner: IO[bytes], name: str) -> None:
        self.inner, self.name = inner, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            piece = self.inner.read(len(buffer))
        except Cube2netError:
            raise
        except BROKEN as error:
            raise damaged(self.name, error) from None
        memoryview(buffer)[: len(piece)] = piece
        return len(piece)


class _Budget:
    """What a tar reads through: a member's own size and a little more for the headers, then no further."""

    def __init__(self, name: str, inner: IO[bytes]) -> None:
        self.name, self.inner, self.left = name, inner, LONGEST

    def read(self, size: int) -> bytes:
        piece = self.inner.read(size)
        self.left -= len(piece)
        if self.left < 0:
            raise SourceError(f"{self.name} has a header of more than {LONGEST:,} bytes: it is not read any further")
        return piece


def _is_data(name: str, endings: tuple[str, ...]) -> bool:
    base = PurePosixPath(name).name.casefold()
    return base.endswith(endings) and not base.startswith((".", "_", "readme", "license"))


def _shown(name: str) -> str:
    """Return the last part of a name, fit to be shown: an archive may hold any characters there."""
    return "".join([letter if letter.isprintable() else "?" for letter in PurePosixPath(name).name[-80:]])
