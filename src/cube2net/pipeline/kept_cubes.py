"""Cubes of files that are kept: which reading of which files one is, and the folder that has it or is free for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cube2net import __version__
from cube2net.checkpoints import digest, identity_of
from cube2net.errors import Cube2netError, CubeError, ParameterError, SourceError
from cube2net.interfaces import NamesFiles, Source
from cube2net.pipeline.cubes import READING, open_cube, read_manifest
from cube2net.records import Cube
from cube2net.sources import SOURCES

ENDING = "-cube"
"""How the folder of a cube ends that is kept beside its file."""
MOST_PLACES = 100


@dataclass(frozen=True)
class ReadingIdentity:
    """Which reading of files a cube is: ``checksum`` tells all that decides it, ``contents`` the files alone.

    ``origin`` tells where the files lie; it is empty where they were handed over, for then nobody knows.
    """

    checksum: str
    contents: str
    origin: str = ""

    def is_of_same_files(self, kept: Mapping[str, Any]) -> bool:
        """Return whether what is kept was read of the very same paths, or of files of the same names and contents."""
        return kept.get("contents") == self.contents or (self.origin != "" and kept.get("origin") == self.origin)


def identify_reading(
    reader: Source,
    paths: Sequence[Path],
    dimensions: Sequence[str] = (),
    min_objects: int | None = None,
    *,
    seed: int = 0,
    uploaded: bool = False,
) -> ReadingIdentity:
    """Return which reading of files this is, however their paths are written; what is ``uploaded`` has no origin."""
    check_there(paths)
    files = reader.files_read(paths) if isinstance(reader, NamesFiles) else paths
    contents = digest([(path.name, _contents_checksum(path)) for path in files])
    asked = [list(dimensions), min_objects, seed]
    return ReadingIdentity(
        checksum=digest(__version__, identity_of(reader, SOURCES.values()), contents, asked),
        contents=contents,
        origin="" if uploaded else digest([str(path.resolve()) for path in paths]),
    )


def check_there(paths: Sequence[Path]) -> None:
    """Raise where a file that is to be read is not there."""
    for path in paths:
        if not path.exists():
            raise SourceError(f"there is no file {str(path)!r}: check the path")


def _contents_checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot read {str(path)!r}: {reason}") from None


def reading_in(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what was read when a cube of these settings was made of files; None of other cubes.

    >>> reading_in({"source": {"name": "tables", "reading": {"files": ["club.csv"]}}})
    {'files': ['club.csv']}
    >>> reading_in({"source": "tables"})
    """
    source = settings.get("source")
    found = source.get(READING) if isinstance(source, Mapping) else None
    return found if isinstance(found, dict) else None


def cube_beside(
    paths: Sequence[Path],
    identity: ReadingIdentity,
    home: Path | None = None,
    *,
    say: Callable[[str], object] = lambda sentence: None,
) -> tuple[Path, Cube | None]:
    """Return the folder beside files, or in ``home``, where their cube is kept, and that cube if it is still theirs.

    Only a cube of the same files may be replaced. A folder that is something else, or the cube of other files, is left
    as it is, and another name taken. A cube of these files that is damaged is to be made anew, which is said.
    """
    first = paths[0].resolve()
    stem = first.name if first.is_dir() else first.name.removesuffix(".gz").rpartition(".")[0] or first.name
    places = NumberedPlaces(first.parent if home is None else home, f"{stem}{ENDING}")
    kept = {place: _reading_of_folder(place) for place in places.taken()}
    own = [place for place in kept if identity.is_of_same_files(kept[place])]
    for place in own:
        if kept[place].get("checksum") == identity.checksum:
            try:
                return place, open_cube(place)
            except CubeError as error:
                say(f"{place.name} is damaged and made anew ({error})")
    return own[0] if own else places.free(), None


def _reading_of_folder(folder: Path) -> dict[str, Any]:
    """Return what a folder says was read when its cube was made; nothing of what is no cube of files."""
    try:
        return reading_in(read_manifest(folder)["settings"]) or {}
    except Cube2netError:
        return {}


@dataclass(frozen=True)
class NumberedPlaces:
    """The places of a folder that are called ``name``, ``name-2``, ``name-3``, …"""

    home: Path
    name: str

    def taken(self) -> list[Path]:
        """Return the places where something is, up to the first that is free."""
        found: list[Path] = []
        while len(found) < MOST_PLACES and (place := self._place(len(found) + 1)).exists():
            found.append(place)
        return found

    def free(self) -> Path:
        """Return the first place where nothing is; raise where too many are taken."""
        count = len(self.taken())
        if count >= MOST_PLACES:
            raise ParameterError(f"{self.name} and {count - 1} others in {str(self.home)!r} are there: remove some")
        return self._place(count + 1)

    def _place(self, number: int) -> Path:
        return self.home / (self.name if number == 1 else f"{self.name}-{number}")
