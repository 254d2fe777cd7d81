"""Iterate over input files, plain or packed.

The files inside a zip or a tar come one after the other; nothing is ever unpacked to disk. What a member unpacks to is
counted by the meter of its archive. A tar that is guarded is refused whole where it holds what a data set has no
business to hold: paths that lead out of it, names that cannot be shown, links, devices, and files of more than 256 MiB.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO, Any

from cube2net._util.zip_files import BROKEN as CUT_SHORT
from cube2net._util.zip_files import BZIP2, XZ, Gauge, Meter, damage_error, open_member, open_raw, open_zip, unpack
from cube2net.errors import Cube2netError, SourceError

MAX_MEMBER_BYTES = 256 * 2**20
"""The most bytes of a file in a guarded tar; its headers may take 1 MiB more."""
SEVEN_ZIP_MAGIC, ZIP_MAGIC = b"7z\xbc\xaf\x27\x1c", (b"PK\x03\x04", b"PK\x05\x06")
TAR_ENDINGS = (".tar", ".tgz", ".tar.gz", ".txz", ".tar.xz", ".tar.bz2")
ARCHIVE_ENDINGS = (".zip", *TAR_ENDINGS)
IGNORED_PREFIXES = (".", "_", "readme", "license")
"""The first characters of the names of files that accompany data and hold none."""
MAX_HEADER_BYTES = 16 * 2**20
"""The most bytes of the headers of one member of any other tar."""
READ_ERRORS = (tarfile.TarError, *CUT_SHORT)

File = tuple[str, io.BufferedReader]
"""A file's name and its bytes."""


def read_zip_members(raw: io.BufferedReader, gauge: Gauge, is_wanted: Callable[[str], bool]) -> Iterator[File]:
    """Return the files of a zip that are wanted."""
    with open_zip(raw, gauge) as archive:
        for member in archive.infolist():
            if not is_wanted(member.filename):
                continue
            with open_member(archive, member, gauge) as file:
                yield member.filename, file


def read_tar_members(file: IO[bytes], name: str, is_wanted: Callable[[str], bool], *, guarded: bool) -> Iterator[File]:
    """Return the files of a tar that are wanted; each is to be read before the next one is asked for."""
    budget = _Budget(name, file, guarded)
    with tarfile.open(fileobj=budget, mode="r|") as archive:  # type: ignore[call-overload]
        for member in archive:
            archive.members.clear()
            if guarded:
                _check_member(name, member)
            budget.start(member.size)
            if member.isreg() and (guarded or not member.issparse()) and is_wanted(member.name):
                content = archive.extractfile(member)
                if content is not None:
                    yield member.name, io.BufferedReader(_Member(content, name), 2**20)


def limit_size(file: IO[bytes], gauge: Gauge) -> io.BufferedReader:
    """Return the bytes of a file that may be no larger than one in a guarded tar."""
    if gauge.size is not None and gauge.size > MAX_MEMBER_BYTES:
        raise size_error(gauge.name, gauge.size)
    return io.BufferedReader(_Member(file, gauge.name, MAX_MEMBER_BYTES), 2**20)


def printable_name(name: str) -> str:
    """Return the last part of a name, fit to be shown: an archive may hold any characters there."""
    return "".join([letter if letter.isprintable() else "?" for letter in PurePosixPath(name).name[-80:]])


def archive_error(name: str, error: Exception) -> SourceError:
    """Return the error for an archive that cannot be read to its end."""
    if isinstance(error, tarfile.TarError):
        return SourceError(f"{name} is not a whole tar archive: {str(error) or 'it ends too soon'}")
    return damage_error(name, error)


def size_error(name: str, size: int) -> SourceError:
    """Return the error for a file that is larger than one may be."""
    return SourceError(
        f"{name} takes {size:,} bytes or more unpacked: files of at most {MAX_MEMBER_BYTES:,} bytes are read"
    )


def _check_member(archive: str, member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise SourceError(f"{archive} holds {member.name!r}, a path that leads out of the archive: it is not read")
    if not member.name.isprintable():
        raise SourceError(
            f"{archive} holds {member.name!r}, a name with characters that cannot be shown: it is not read"
        )
    if not (member.isfile() or member.isdir()):
        raise SourceError(f"{archive} holds {member.name!r}, a link or device: only files and folders are read")
    if member.size > MAX_MEMBER_BYTES:
        raise size_error(f"{archive}: {member.name}", member.size)


class _Budget:
    """The file that a tar is read from, with a limit on the bytes of a member and its headers."""

    def __init__(self, name: str, inner: IO[bytes], guarded: bool) -> None:
        self.name, self.inner, self.guarded = name, inner, guarded
        self.start(0)

    def start(self, size: int) -> None:
        """Start the budget of a member of a given size."""
        self.bytes_read, self.max_bytes = 0, MAX_MEMBER_BYTES + 2**20 if self.guarded else size + MAX_HEADER_BYTES

    def read(self, size: int) -> bytes:
        piece = self.inner.read(size)
        self.bytes_read += len(piece)
        if self.bytes_read > self.max_bytes:
            if self.guarded:
                raise size_error(self.name, self.bytes_read)
            raise SourceError(
                f"{self.name} has a header of more than {MAX_HEADER_BYTES:,} bytes: it is not read any further"
            )
        return piece


class _Member(io.RawIOBase):
    """A file, or one in a tar, whose read errors become one sentence."""

    def __init__(self, inner: IO[bytes], name: str, max_bytes: int | None = None) -> None:
        self.inner, self.name, self.max_bytes, self.bytes_read = inner, name, max_bytes, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            piece = self.inner.read(len(buffer))
        except Cube2netError:
            raise
        except READ_ERRORS as error:
            raise archive_error(self.name, error) from None
        self.bytes_read += len(piece)
        if self.max_bytes is not None and self.bytes_read > self.max_bytes:
            raise size_error(self.name, self.bytes_read)
        memoryview(buffer)[: len(piece)] = piece
        return len(piece)


def find_data_files(paths: Sequence[str | os.PathLike[str]], endings: tuple[str, ...], expected: str) -> list[Path]:
    """Return the files to read: those named, and those of folders that end as data or archives do."""
    if not paths:
        raise SourceError(f"no path is given: expected {expected}")
    files = []
    for path in map(Path, paths):
        if not path.exists():
            raise SourceError(f"{path} does not exist: expected {expected}")
        files += _list_folder(path, endings, expected) if path.is_dir() else [path]
    return files


def _list_folder(folder: Path, endings: tuple[str, ...], expected: str) -> list[Path]:
    all_endings = tuple(f"{ending}{compression}" for ending in endings for compression in ("", ".gz"))
    files = sorted(
        file for file in folder.rglob("*") if file.is_file() and _is_data(file.name, all_endings + ARCHIVE_ENDINGS)
    )
    if not files:
        raise SourceError(f"{folder} holds no file to read: expected {expected}")
    return files


class InputFiles:
    """Files, one after the other, and those inside archives; so far ``done`` of ``total`` bytes on disk have been read.

    A file is plain, packed (gz, xz, bz2), a zip or a tar; of an archive those with one of the ``endings`` are taken.
    The ``meter`` says how much may be unpacked. With ``once`` two files of one name are refused, for what they hold
    would count twice. Tars packed by xz or bz2 are guarded; with ``guarded`` all are, and other files are limited too.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        endings: tuple[str, ...],
        meter: Meter,
        *,
        once: bool = False,
        guarded: bool = False,
    ) -> None:
        self.paths, self.endings, self.meter, self.once, self.guarded = paths, endings, meter, once, guarded
        self.sizes = [path.stat().st_size if path.exists() else 0 for path in paths]
        self.total = sum(self.sizes)
        self._bytes_before = 0
        self._gauge: Gauge | None = None

    @property
    def done(self) -> int:
        """The bytes on disk that have been read."""
        return self._bytes_before + (0 if self._gauge is None else self._gauge.done)

    def __iter__(self) -> Iterator[File]:
        name_by_base: dict[str, str] = {}
        for path, size in zip(self.paths, self.sizes, strict=True):
            for name, file in self._read_path(path):
                base = name.casefold().removesuffix(".gz")
                if self.once and base in name_by_base:
                    raise SourceError(
                        f"{base!r} is there twice ({name_by_base[base]!r} and {name!r}): name the paths of one"
                    )
                name_by_base[base] = name
                yield name, file
            self._bytes_before, self._gauge = self._bytes_before + size, None

    def _read_path(self, path: Path) -> Iterator[File]:
        name = printable_name(path.name)
        try:
            gauge = self._gauge = self.meter.gauge(path, name)
            with open_raw(path, gauge) as raw, closing(self._read_contents(raw, gauge)) as files:
                yield from files
        except Cube2netError:
            raise
        except READ_ERRORS as error:
            raise archive_error(name, error) from None

    def _read_contents(self, raw: io.BufferedReader, gauge: Gauge) -> Generator[File, None, None]:
        """Return the files that a file is or holds, by its first bytes, and a tar by its name too."""
        start = raw.peek(8)
        if start.startswith(SEVEN_ZIP_MAGIC):
            raise SourceError(f"{gauge.name} is a 7z archive, which cannot be read here: unpack it first")
        if start.startswith(ZIP_MAGIC):
            yield from (
                (printable_name(member_name), file)
                for member_name, file in read_zip_members(raw, gauge, self._is_wanted)
            )
            return
        file = unpack(raw, gauge)
        if file.peek(512)[257:262] == b"ustar" or gauge.name.casefold().endswith(TAR_ENDINGS):
            guarded = self.guarded or start.startswith((XZ, BZIP2))
            for member_name, member in read_tar_members(file, gauge.name, self._is_wanted, guarded=guarded):
                yield member_name if self.guarded else printable_name(member_name), member
        elif self.guarded:
            yield gauge.name, limit_size(file, gauge)
        else:
            yield gauge.name, file

    def _is_wanted(self, name: str) -> bool:
        return _is_data(name, self.endings)


def _is_data(name: str, endings: tuple[str, ...]) -> bool:
    base = PurePosixPath(name).name.casefold()
    return base.endswith(endings) and not base.startswith(IGNORED_PREFIXES)
