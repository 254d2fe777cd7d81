"""The files inside a zip or a tar, one after the other; nothing is ever unpacked to disk.

What a member unpacks to is counted by the meter of its archive. A tar that is guarded is refused whole where it holds
what a data set has no business to hold: paths that lead out of it, names that cannot be shown, links, devices, and
files of more than 256 MiB.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from cube2net.errors import Cube2netError, SourceError
from cube2net.unpacking import BROKEN as CUT_SHORT
from cube2net.unpacking import Gauge, damaged, metered, open_zip

LIMIT = 256 * 2**20
"""The most bytes of a file in a guarded tar; its headers may take 1 MiB more."""
HEADERS = 16 * 2**20
"""The most bytes of the headers of one member of any other tar."""
BROKEN = (tarfile.TarError, *CUT_SHORT)

File = tuple[str, io.BufferedReader]
"""A file's name and its bytes."""


def zip_members(raw: io.BufferedReader, gauge: Gauge, is_wanted: Callable[[str], bool]) -> Iterator[File]:
    """Return the files of a zip that are wanted."""
    with open_zip(raw, gauge) as archive:
        for member in archive.infolist():
            if not is_wanted(member.filename):
                continue
            if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise SourceError(
                    f"{gauge.name}: {member.filename!r} is encrypted or packed by a rare method: unpack it first"
                )
            gauge.check(member.file_size, member.compress_size)
            with archive.open(member) as file:
                yield member.filename, metered(file, gauge)


def tar_members(file: IO[bytes], name: str, is_wanted: Callable[[str], bool], *, guarded: bool) -> Iterator[File]:
    """Return the files of a tar that are wanted; each is to be read before the next one is asked for."""
    budget = _Budget(name, file, guarded)
    with tarfile.open(fileobj=budget, mode="r|") as archive:  # type: ignore[call-overload]
        for member in archive:
            archive.members.clear()
            if guarded:
                _check(name, member)
            budget.start(member.size)
            if member.isreg() and (guarded or not member.issparse()) and is_wanted(member.name):
                inside = archive.extractfile(member)
                if inside is not None:
                    yield member.name, io.BufferedReader(_Member(inside, name), 2**20)


def limited(file: IO[bytes], gauge: Gauge) -> io.BufferedReader:
    """Return the bytes of a file that may be no larger than one in a guarded tar."""
    if gauge.size is not None and gauge.size > LIMIT:
        raise too_large(gauge.name, gauge.size)
    return io.BufferedReader(_Member(file, gauge.name, LIMIT), 2**20)


def shown(name: str) -> str:
    """Return the last part of a name, fit to be shown: an archive may hold any characters there."""
    return "".join([letter if letter.isprintable() else "?" for letter in PurePosixPath(name).name[-80:]])


def not_whole(name: str, error: Exception) -> SourceError:
    """Return the error for an archive that cannot be read to its end."""
    if isinstance(error, tarfile.TarError):
        return SourceError(f"{name} is not a whole tar archive: {error or 'it ends too soon'}")
    return damaged(name, error)


def too_large(name: str, size: int) -> SourceError:
    """Return the error for a file that is larger than one may be."""
    return SourceError(f"{name} takes {size:,} bytes or more unpacked: files of at most {LIMIT:,} bytes are read")


def _check(archive: str, member: tarfile.TarInfo) -> None:
    parts = PurePosixPath(member.name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts:
        raise SourceError(f"{archive} holds {member.name!r}, a path that leads out of the archive: it is not read")
    if not member.name.isprintable():
        raise SourceError(
            f"{archive} holds {member.name!r}, a name with characters that cannot be shown: it is not read"
        )
    if not (member.isfile() or member.isdir()):
        raise SourceError(f"{archive} holds {member.name!r}, a link or device: only files and folders are read")
    if member.size > LIMIT:
        raise too_large(f"{archive}: {member.name}", member.size)


class _Budget:
    """What a tar is read through: so many bytes for a member and its headers, and then no further."""

    def __init__(self, name: str, inner: IO[bytes], guarded: bool) -> None:
        self.name, self.inner, self.guarded = name, inner, guarded
        self.start(0)

    def start(self, size: int) -> None:
        """Begin with a member of a size."""
        self.taken, self.most = 0, LIMIT + 2**20 if self.guarded else size + HEADERS

    def read(self, size: int) -> bytes:
        piece = self.inner.read(size)
        self.taken += len(piece)
        if self.taken > self.most:
            if self.guarded:
                raise too_large(self.name, self.taken)
            raise SourceError(f"{self.name} has a header of more than {HEADERS:,} bytes: it is not read any further")
        return piece


class _Member(io.RawIOBase):
    """A file, or one in a tar; whatever is wrong with it becomes one sentence. What it is read from has the meter."""

    def __init__(self, inner: IO[bytes], name: str, most: int | None = None) -> None:
        self.inner, self.name, self.most, self.taken = inner, name, most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            piece = self.inner.read(len(buffer))
        except Cube2netError:
            raise
        except BROKEN as error:
            raise not_whole(self.name, error) from None
        self.taken += len(piece)
        if self.most is not None and self.taken > self.most:
            raise too_large(self.name, self.taken)
        memoryview(buffer)[: len(piece)] = piece
        return len(piece)
