"""The files of some paths, plain or packed, from front to back: the way into every reader of a data set."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath

from cube2net.errors import Cube2netError, SourceError
from cube2net.sources.io.archive_members import BROKEN, File, limited, not_whole, shown, tar_members, zip_members
from cube2net.unpacking import BZIP2, XZ, Gauge, Meter, open_raw, unpacked

SEVEN_ZIP, ZIP = b"7z\xbc\xaf\x27\x1c", (b"PK\x03\x04", b"PK\x05\x06")
TARS = (".tar", ".tgz", ".tar.gz", ".txz", ".tar.xz", ".tar.bz2")
ARCHIVES = (".zip", *TARS)
BESIDE = (".", "_", "readme", "license")
"""How the names begin of files that come with data and are none."""


def data_files(paths: Sequence[str | os.PathLike[str]], endings: tuple[str, ...], expected: str) -> list[Path]:
    """Return the files to read: those named, and those of folders that end as data or archives do."""
    if not paths:
        raise SourceError(f"no path is given: expected {expected}")
    files = []
    for path in map(Path, paths):
        if not path.exists():
            raise SourceError(f"{path} is not there: expected {expected}")
        files += _in_folder(path, endings, expected) if path.is_dir() else [path]
    return files


def _in_folder(folder: Path, endings: tuple[str, ...], expected: str) -> list[Path]:
    packed = tuple(f"{ending}{more}" for ending in endings for more in ("", ".gz"))
    files = sorted(file for file in folder.rglob("*") if file.is_file() and _is_data(file.name, packed + ARCHIVES))
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
        self._before = 0
        self._gauge: Gauge | None = None

    @property
    def done(self) -> int:
        """The bytes on disk that have been read."""
        return self._before + (0 if self._gauge is None else self._gauge.done)

    def __iter__(self) -> Iterator[File]:
        met: dict[str, str] = {}
        for path, size in zip(self.paths, self.sizes, strict=True):
            for name, file in self._files(path):
                base = name.casefold().removesuffix(".gz")
                if self.once and base in met:
                    raise SourceError(f"{base!r} is there twice ({met[base]!r} and {name!r}): name the paths of one")
                met[base] = name
                yield name, file
            self._before, self._gauge = self._before + size, None

    def _files(self, path: Path) -> Iterator[File]:
        name = shown(path.name)
        try:
            gauge = self._gauge = self.meter.gauge(path, name)
            with open_raw(path, gauge) as raw, closing(self._inside(raw, gauge)) as files:
                yield from files
        except Cube2netError:
            raise
        except BROKEN as error:
            raise not_whole(name, error) from None

    def _inside(self, raw: io.BufferedReader, gauge: Gauge) -> Generator[File, None, None]:
        """Return the files that a file is or holds, by its first bytes, and a tar by its name too."""
        start = raw.peek(8)
        if start.startswith(SEVEN_ZIP):
            raise SourceError(f"{gauge.name} is a 7z archive, which cannot be read here: unpack it first")
        if start.startswith(ZIP):
            yield from ((shown(inside), file) for inside, file in zip_members(raw, gauge, self._is_wanted))
            return
        file = unpacked(raw, gauge)
        if file.peek(512)[257:262] == b"ustar" or gauge.name.casefold().endswith(TARS):
            guarded = self.guarded or start.startswith((XZ, BZIP2))
            for inside, member in tar_members(file, gauge.name, self._is_wanted, guarded=guarded):
                yield inside if self.guarded else shown(inside), member
        elif self.guarded:
            yield gauge.name, limited(file, gauge)
        else:
            yield gauge.name, file

    def _is_wanted(self, name: str) -> bool:
        return _is_data(name, self.endings)


def _is_data(name: str, endings: tuple[str, ...]) -> bool:
    base = PurePosixPath(name).name.casefold()
    return base.endswith(endings) and not base.startswith(BESIDE)
