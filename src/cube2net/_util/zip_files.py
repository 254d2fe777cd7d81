"""Read plain or compressed files (gz, xz, bz2, zip) in blocks, within limits that stop decompression bombs.

    UnpackLimits    the limits ``max_ratio`` and ``max_unpacked``
    Meter           the unpacked bytes of all files read together
    Gauge           the unpacked bytes of one file, and how many of its bytes on disk were read

Readers of compressed or columnar files count unpacked bytes with a gauge before they keep anything.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import stat
import struct
import zipfile
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import BadGzipFile
from pathlib import Path
from typing import IO, Any

from cube2net.errors import Cube2netError, Setting, SourceError, check_int, first_line, parse_size

BLOCK = 2**16
"""Bytes of a compressed file read at a time."""
WINDOW = 2**28
"""The memory limit of xz; its highest preset needs a quarter of it."""
DIRECTORY = 16 * 2**20
"""The largest directory of a zip, about 200,000 members."""
END = 2**16 + 2**10
"""The end of a zip in which the offset of its directory is found."""
RATIO = 100
FREE = 16 * 2**20
TOTAL = "100GB"
GZIP, XZ, BZIP2 = b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh"
PACKED = {".gz": GZIP, ".xz": XZ, ".bz2": BZIP2}
"""How packed files begin, by the end of their names."""
BROKEN = (
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile, struct.error, EOFError, OSError),
    *(ValueError, ArithmeticError, LookupError, RuntimeError),
)


@dataclass(frozen=True)
class UnpackLimits:
    """Limits on the unpacked size of files.

    Beyond its first 16 MiB, a file may unpack to at most ``max_ratio`` bytes per byte on disk; all files read together
    may unpack to ``max_unpacked`` bytes, a number or a text such as ``"50GB"``.

    >>> UnpackLimits(max_unpacked="2GB").total
    2000000000
    """

    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        check_int("max_ratio", self.max_ratio, 1)
        check_int("max_unpacked", self.total, 1)

    @property
    def total(self) -> int:
        """``max_unpacked`` in bytes."""
        most = self.max_unpacked
        if isinstance(most, str):
            return int(most) if most.isascii() and most.isdecimal() else parse_size(most, "max_unpacked")
        return most


class Meter:
    """Counts the unpacked bytes of the files read together; a file that is read again counts once."""

    def __init__(self, limits: UnpackLimits | None = None) -> None:
        self.limits = limits or UnpackLimits()
        self.unpacked: dict[object, int] = {}

    def gauge(self, path: Path, name: str | None = None) -> Gauge:
        """Return the gauge of a file for one pass over it."""
        about = path.stat()
        if stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode):
            raise SourceError(f"{str(path)!r} is a device, expected a file")
        return Gauge(self, path, name or path.name, about.st_size if stat.S_ISREG(about.st_mode) else None)


class Gauge:
    """Counts the unpacked bytes of a file, and raises beyond the limits.

    >>> gauge = Gauge(Meter(), "a key", "rows.csv.gz", size=1_000)
    >>> gauge.take(1_000)
    >>> gauge.count(10 * 2**20)
    >>> gauge.count(10 * 2**20)
    Traceback (most recent call last):
    cube2net.errors.SourceError: rows.csv.gz unpacks to more than 100 times its size (20,971,520 bytes out of \
1,000): it is not read any further, raise max_ratio if you trust it (max_ratio=1000)
    """

    def __init__(self, meter: Meter, key: object, name: str, size: int | None) -> None:
        self.meter, self.key, self.name, self.size = meter, key, name, size
        self.taken = self.unpacked = 0
        self.others = sum(count for other, count in meter.unpacked.items() if other != key)

    @property
    def done(self) -> int:
        """The bytes of the file that have been read."""
        return self.taken if self.size is None else min(self.taken, self.size)

    def take(self, much: int) -> None:
        """Count bytes read from disk."""
        self.taken += much

    def count(self, much: int) -> None:
        """Count unpacked bytes, and raise if they are too many."""
        self.unpacked += much
        self.meter.unpacked[self.key] = max(self.meter.unpacked.get(self.key, 0), self.unpacked)
        self.check(self.unpacked)

    def allows(self, much: int, out_of: int | None = None) -> bool:
        """Return whether this many unpacked bytes are allowed for the bytes read so far, or for ``out_of`` bytes."""
        limits, packed = self.meter.limits, self.done if out_of is None else out_of
        return (much <= FREE or much <= limits.max_ratio * packed) and self.others + much <= limits.total

    def check(self, much: int, out_of: int | None = None) -> None:
        """Raise if :meth:`allows` returns False."""
        if self.allows(much, out_of):
            return
        limits, packed = self.meter.limits, self.done if out_of is None else out_of
        if much > FREE and much > limits.max_ratio * packed:
            raise SourceError(
                f"{self.name} unpacks to more than {limits.max_ratio:,} times its size ({much:,} bytes out of "
                f"{packed:,}): it is not read any further, raise max_ratio if you trust it",
                parameter="max_ratio",
                value=limits.max_ratio,
                hint=Setting("max_ratio", 10 * limits.max_ratio),
            )
        beside = " with the files before it" if self.others else ""
        raise SourceError(
            f"{self.name} unpacks{beside} to more than {limits.total:,} bytes: it is not read any further, "
            "raise max_unpacked if you trust it",
            parameter="max_unpacked",
            value=limits.total,
            hint=Setting("max_unpacked", 10 * limits.total),
        )


def open_raw(path: Path, gauge: Gauge) -> io.BufferedReader:
    """Open a file without decompression; bytes read are counted."""
    return io.BufferedReader(_Disk(path, gauge), 2 * BLOCK)


def unpack(raw: io.BufferedReader, gauge: Gauge) -> io.BufferedReader:
    """Return the content of a file, decompressed and metered if its first bytes are those of a compressed format.

    >>> import gzip
    >>> gauge = Gauge(Meter(), "a key", "rows.csv.gz", size=24)
    >>> unpack(io.BufferedReader(io.BytesIO(gzip.compress(b"id,name"))), gauge).read(), gauge.unpacked
    (b'id,name', 7)
    """
    magic = next((magic for magic in PACKED.values() if raw.peek(6).startswith(magic)), None)
    if magic is not None:
        return io.BufferedReader(_Unpacked(raw, magic, gauge), BLOCK)
    return meter_bytes(raw, gauge) if gauge.size is None else raw


def unpack_as(ending: str, raw: io.BufferedReader, gauge: Gauge) -> io.BufferedReader:
    """Return the bytes of a file that is packed as the end of its name says, metered."""
    return io.BufferedReader(_Unpacked(raw, PACKED[ending], gauge), BLOCK)


def meter_bytes(inner: IO[bytes], gauge: Gauge) -> io.BufferedReader:
    """Return a stream that is decompressed elsewhere, such as a member of a zip, metered."""
    return io.BufferedReader(_Metered(inner, gauge), BLOCK)


def open_zip(raw: io.BufferedReader, gauge: Gauge) -> zipfile.ZipFile:
    """Open a zip archive after checking the size of its directory."""
    if gauge.size is None:
        raise SourceError(f"{gauge.name} is a zip in a pipe, expected a file: save it first")
    raw.seek(-min(gauge.size, END), os.SEEK_END)
    tail = raw.read(END)
    at = tail.rfind(b"PK\x05\x06")
    size = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if at >= 0 and (large := tail.rfind(b"PK\x06\x06", 0, at)) >= 0:
        size = max(size, int.from_bytes(tail[large + 40 : large + 48], "little"))
    if size > DIRECTORY:
        raise SourceError(
            f"{gauge.name} has a directory of {size:,} bytes, expected at most {DIRECTORY:,}: unpack it first"
        )
    raw.seek(0)
    return zipfile.ZipFile(raw)


@contextmanager
def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, gauge: Gauge) -> Iterator[io.BufferedReader]:
    """Open a member of a zip, metered; refuse it if it is encrypted or its declared size is too large."""
    if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise SourceError(
            f"{gauge.name}: {member.filename!r} is encrypted or packed by a rare method: unpack it, or save it anew"
        )
    gauge.check(member.file_size, member.compress_size)
    with archive.open(member) as packed, meter_bytes(packed, gauge) as file:
        yield file


def damage_error(name: str, error: Exception) -> SourceError:
    """Return the error for a file that cannot be read completely."""
    if isinstance(error, OSError) and error.strerror:
        return SourceError(f"{name} cannot be read: {error.strerror}")
    why = first_line(error).rstrip(".") if str(error).strip() else "it ends too soon"
    return SourceError(f"{name} cannot be read: {why} (is it cut short?)")


class _Disk(io.FileIO):
    """A file that counts the bytes read."""

    def __init__(self, path: str | os.PathLike[str], gauge: Gauge) -> None:
        super().__init__(path)
        self.gauge = gauge

    def readinto(self, buffer: Any, /) -> int:
        try:
            much = super().readinto(buffer) or 0
        except OSError as error:
            raise damage_error(self.gauge.name, error) from None
        self.gauge.take(much)
        return much


class _Stream(io.RawIOBase):
    """A metered stream; errors of decompression become SourceErrors."""

    gauge: Gauge

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        try:
            piece = self.piece(len(view))
        except Cube2netError:
            raise
        except BROKEN as error:
            raise damage_error(self.gauge.name, error) from None
        self.gauge.count(len(piece))
        view[: len(piece)] = piece
        return len(piece)

    @abstractmethod
    def piece(self, most: int) -> bytes:
        """Return the next bytes, or nothing at the end."""


class _Metered(_Stream):
    def __init__(self, inner: IO[bytes], gauge: Gauge) -> None:
        self.inner, self.gauge = inner, gauge

    def piece(self, most: int) -> bytes:
        return self.inner.read(most)


class _Unpacked(_Stream):
    """The content of a compressed file, which may be several compressed parts in sequence."""

    def __init__(self, raw: io.BufferedReader, magic: bytes, gauge: Gauge) -> None:
        self.raw, self.magic, self.gauge = raw, magic, gauge
        self.rest = b""
        self.parts = 0
        self.engine: _Engine | None = None

    def piece(self, most: int) -> bytes:
        if self.parts == 0:
            self.engine = self._next_part()
        while self.engine is not None:
            if self.engine.eof:
                self.rest = self.engine.unused_data
                self.engine = self._next_part()
                continue
            more = b""
            if self.engine.needs_input:
                more, self.rest = self.rest or self.raw.read1(BLOCK), b""
            if piece := self.engine.decompress(more, most):
                return piece
            if self.engine.needs_input and not more and not self.engine.eof:
                raise EOFError("it ends before its end is marked")
        return b""

    def _next_part(self) -> _Engine | None:
        """Return the decompressor of the next part, or None at the end of the file; zeros between parts are skipped."""
        while True:
            if self.parts:
                self.rest = self.rest.lstrip(b"\0")
            if len(self.rest) >= len(self.magic) or not (more := self.raw.read1(BLOCK)):
                break
            self.rest += more
        if not self.rest.startswith(self.magic):
            if not self.parts or (self.magic == GZIP and self.rest):
                ending = next(ending for ending, magic in PACKED.items() if magic == self.magic)
                raise BadGzipFile(f"Not a {ending} file ({self.rest[:2]!r})")
            return None
        self.parts += 1
        if self.magic == GZIP:
            return _Gunzip()
        return lzma.LZMADecompressor(memlimit=WINDOW) if self.magic == XZ else bz2.BZ2Decompressor()

    def close(self) -> None:
        if not self.closed:
            self.raw.close()
        super().close()


class _Gunzip:
    """zlib's decompressor with the interface of those for xz and bz2."""

    def __init__(self) -> None:
        self.inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self.inner.eof

    @property
    def needs_input(self) -> bool:
        return not self.inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self.inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self.inner.decompress(self.inner.unconsumed_tail or data, max_length)


_Engine = lzma.LZMADecompressor | bz2.BZ2Decompressor | _Gunzip
"""Decompresses one part."""
