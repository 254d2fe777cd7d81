"""Large files, plain or packed (gz, zip, tar), read from front to back; a packed one may not swell without end."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO, Any

from cube2net.errors import Cube2netError, SourceError

BLOCK = 2**20
LONGEST = 16 * 2**20
RATIO = 200
FREE = 64 * 2**20
SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c"
BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, ArithmeticError, LookupError, NotImplementedError, RuntimeError),
)
Stream = tuple[str, io.BufferedReader]


class Streams:
    """The files of some paths, one after the other; so far ``done`` of ``total`` bytes on disk have been read.

    A path may be a file, plain or packed, or a folder, of which the files with one of the ``endings`` are
    taken; so are those inside a zip or tar. What unpacks to more than 200 times its size is refused.
    """

    def __init__(self, paths: Sequence[Path], endings: tuple[str, ...], expected: str) -> None:
        if not paths:
            raise SourceError(f"no path is given: expected {expected}")
        self.endings, self.expected = endings, expected
        self.files = [file for path in paths for file in self._expand(path)]
        self.sizes = [file.stat().st_size for file in self.files]
        self.total = sum(self.sizes)
        self.before = 0
        self.raw: IO[bytes] | None = None

    @property
    def done(self) -> int:
        """The bytes on disk that have been read."""
        return self.before + (0 if self.raw is None else self.raw.tell())

    def __iter__(self) -> Iterator[Stream]:
        for path, size in zip(self.files, self.sizes, strict=True):
            try:
                with io.BufferedReader(io.FileIO(path), BLOCK) as raw:
                    self.raw = raw
                    with closing(self._members(raw, _shown(path.name), size)) as members:
                        yield from members
            except Cube2netError:
                raise
            except BROKEN as error:
                raise _damaged(_shown(path.name), error) from None
            self.before, self.raw = self.before + size, None

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

    def _members(self, raw: io.BufferedReader[io.FileIO], name: str, size: int) -> Generator[Stream, None, None]:
        start, meter = raw.peek(8), _Meter(name, size)
        if start.startswith(SEVEN_ZIP):
            raise SourceError(f"{name} is a 7z archive, which cannot be read here: unpack it first")
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            yield from self._zip(raw, meter)
            return
        plain: Any = gzip.GzipFile(fileobj=raw) if start.startswith(b"\x1f\x8b") else raw
        file = _buffered(plain, meter)
        if file.peek(512)[257:262] == b"ustar":
            yield from self._tar(file, _Meter(name, size))
        else:
            yield name, file

    def _zip(self, raw: IO[bytes], meter: _Meter) -> Iterator[Stream]:
        with zipfile.ZipFile(raw) as archive:
            for member in archive.infolist():
                if not _is_data(member.filename, self.endings):
                    continue
                if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise SourceError(
                        f"{meter.name}: {member.filename!r} is encrypted or packed by a rare method: unpack it first"
                    )
                with archive.open(member) as file:
                    yield _shown(member.filename), _buffered(file, meter)

    def _tar(self, file: IO[bytes], meter: _Meter) -> Iterator[Stream]:
        budget = _Budget(meter.name, file)
        with tarfile.open(fileobj=budget, mode="r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                budget.left = member.size + LONGEST
                if member.isreg() and not member.issparse() and _is_data(member.name, self.endings):
                    inside = archive.extractfile(member)
                    if inside is not None:
                        yield _shown(member.name), _buffered(inside, meter)


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


class _Meter:
    """Counts the bytes that come out of a packed file, and stops when they are too many for its size."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.size, self.unpacked = name, size, 0

    def count(self, much: int) -> None:
        self.unpacked += much
        if self.unpacked > FREE and self.unpacked > RATIO * self.size:
            raise SourceError(
                f"{self.name} unpacks to more than {RATIO} times its {self.size:,} bytes: it is not read any further"
            )


class _Counted(io.RawIOBase):
    """A stream behind a meter; whatever is wrong with it becomes one sentence."""

    def __init__(self, inner: IO[bytes], meter: _Meter) -> None:
        self.inner, self.meter = inner, meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        try:
            piece = self.inner.read(len(view))
        except Cube2netError:
            raise
        except BROKEN as error:
            raise _damaged(self.meter.name, error) from None
        self.meter.count(len(piece))
        view[: len(piece)] = piece
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


def _buffered(inner: IO[bytes], meter: _Meter) -> io.BufferedReader:
    return io.BufferedReader(_Counted(inner, meter), BLOCK)


def _is_data(name: str, endings: tuple[str, ...]) -> bool:
    base = PurePosixPath(name).name.casefold()
    return base.endswith(endings) and not base.startswith((".", "_", "readme", "license"))


def _shown(name: str) -> str:
    """Return the last part of a name, fit to be shown: an archive may hold any characters there."""
    return "".join([letter if letter.isprintable() else "?" for letter in PurePosixPath(name).name[-80:]])


def _damaged(name: str, error: Exception) -> SourceError:
    if isinstance(error, OSError) and error.strerror:
        return SourceError(f"{name} cannot be read: {error.strerror}")
    why = (str(error).strip() or "it ends too soon").splitlines()[0].rstrip(".")
    return SourceError(f"{name} cannot be read: {why} (is it cut short?)")
