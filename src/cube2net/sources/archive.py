"""Files out of a folder or a tar archive, a piece at a time, and nothing that an archive has no business holding."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from cube2net.errors import Cube2netError, SourceError
from cube2net.unpacking import BROKEN as CUT_SHORT
from cube2net.unpacking import Meter, open_raw, unpacked

LIMIT = 256 * 2**20
PIECE = 2**18
BROKEN = (tarfile.TarError, *CUT_SHORT)

File = tuple[str, Iterator[bytes]]


def folder_files(paths: list[Path], meter: Meter | None = None) -> Iterator[File]:
    """Return the name and the pieces of every file, in the order given."""
    meter = meter or Meter()
    for path in paths:
        yield path.name, _pieces_of_file(path, meter)


def archive_files(path: Path, suffixes: tuple[str, ...], meter: Meter | None = None) -> Iterator[File]:
    """Return the name and the pieces of every file with one of the endings, in the archive's order.

    The archive (tar; tar.xz, tar.gz or tar.bz2) is read once from front to back and nothing is unpacked.
    Take all pieces of a file before asking for the next one. The ``meter`` says how much may be unpacked.
    """
    try:
        gauge = (meter or Meter()).gauge(path)
        with open_raw(path, gauge) as raw, unpacked(raw, gauge) as file:
            budget = _Budget(path.name, file)
            with tarfile.open(fileobj=budget, mode="r|") as archive:  # type: ignore[call-overload]
                for member in archive:
                    archive.members.clear()
                    _check(path.name, member)
                    inside = archive.extractfile(member) if member.name.endswith(suffixes) else None
                    if inside is not None:
                        yield member.name, _pieces(path.name, inside)
                    budget.start_again()
    except Cube2netError:
        raise
    except BROKEN as error:
        raise _damaged(path.name, error) from None


class _Budget:
    """A stream that stops when one member, with its headers, takes more than the limit."""

    def __init__(self, name: str, raw: IO[bytes]) -> None:
        self.name, self.raw, self.taken = name, raw, 0

    def start_again(self) -> None:
        self.taken = 0

    def read(self, size: int) -> bytes:
        piece = self.raw.read(size)
        self.taken += len(piece)
        if self.taken > LIMIT + 2**20:
            raise _too_big(self.name, self.taken)
        return piece


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
        raise _too_big(f"{archive}: {member.name}", member.size)


def _pieces(archive: str, file: IO[bytes]) -> Iterator[bytes]:
    try:
        while piece := file.read(PIECE):
            yield piece
    except Cube2netError:
        raise
    except BROKEN as error:
        raise _damaged(archive, error) from None


def _pieces_of_file(path: Path, meter: Meter) -> Iterator[bytes]:
    try:
        with open_raw(path, gauge := meter.gauge(path)) as file:
            if (gauge.size or 0) > LIMIT:
                raise _too_big(path.name, gauge.size or 0)
            while piece := file.read(PIECE):
                if gauge.done > LIMIT + 2**20:
                    raise _too_big(path.name, gauge.done)
                yield piece
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from None


def _too_big(name: str, size: int) -> SourceError:
    return SourceError(f"{name} takes {size:,} bytes or more unpacked: files of at most {LIMIT:,} bytes are read")


def _damaged(name: str, error: Exception) -> SourceError:
    if isinstance(error, OSError) and error.strerror:
        return SourceError(f"{name} cannot be read: {error.strerror}")
    return SourceError(f"{name} is not a whole tar archive: {error or 'it ends too soon'}")
