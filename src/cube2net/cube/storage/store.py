"""A cube on disk: Parquet and Arrow for tables, memory-mapped arrays for the rest, and a manifest.

The manifest says format, counts, settings, and size and checksum of every file.

One writer at a time: who saves holds a lock beside the folder. A reader needs none: it opens every file of the folder
that it found, and begins again where another cube came in its place meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from cube2net._util.arrow import MappedFolder
from cube2net._util.compiling import cores
from cube2net._util.files import being_replaced, check_replaceable, new_folder, only_writer
from cube2net._util.progress import Progress, silent
from cube2net.cube.storage.parts import assemble, check_whole, list_files
from cube2net.errors import Cube2netError, CubeError, first_line, some
from cube2net.model.cube import Cells, Cube, Origin, opened
from cube2net.model.dimension import STAR, Dimension, Level

T = TypeVar("T")
FORMAT = 3
MANIFEST = "manifest.json"
LARGEST = 64 * 2**20
"""No manifest has so many bytes: counts, settings and a line for every file are a few thousand."""
NUMBERS = ("min_objects", "max_mentions", "items")
COUNTS = ("objects", "cells", "members", "links")
TRIES = 200
"""So many times a reader begins again when other cubes come to the place; that often only in a test."""


@dataclass(frozen=True, eq=False)
class Stored:
    """A cube as it was read, and the manifest it had then."""

    cube: Cube
    manifest: dict[str, Any]


def save(cube: Cube, folder: Path, *, made_in: Path | None = None, progress: Progress = silent) -> None:
    """Write a cube to a folder, which appears whole or not at all; an older cube there is replaced.

    ``made_in`` is the folder in which :func:`build` made this cube, whose arrays are taken over from there.
    While another process writes there, this one waits.
    """
    folder = Path(folder)
    check_whole(cube, "saved")
    check_place(folder)
    with only_writer(folder, progress):
        write(cube, folder, made_in=made_in)


def change_folder(folder: Path, change: Callable[[Cube], Cube], *, progress: Progress = silent) -> None:
    """Put what a function makes of a folder's cube in its place, wholly or not at all, as its only writer."""
    folder = Path(folder)
    read_manifest(folder)
    check_place(folder)
    with only_writer(folder, progress):
        stored = read_verified(folder)
        write(change(stored.cube), folder, before=stored)


def write(cube: Cube, folder: Path, *, before: Stored | None = None, made_in: Path | None = None) -> None:
    """Write a cube to a folder of which the caller is the only writer.

    ``before`` is the cube in that folder that this one was made from: the files of what is still the same are
    taken over with their checksums, and if another cube has come there meanwhile it stays and this one is refused.
    """
    check_place(folder)
    cube = _drop_finer_levels(cube)
    with new_folder(folder) as aside:
        _check_unchanged(folder, before)
        old_files = {} if before is None else list_files(before.cube)
        old_entries = {} if before is None else before.manifest["files"]
        entries = {}
        for name, file in list_files(cube).items():
            is_same = file.identity is not None and name in old_entries and file.identity == old_files[name].identity
            if is_same:
                _take_over(folder / name, aside / name)
            elif made_in is not None and name.endswith(".npy") and (made_in / name).exists():
                _take_over(made_in / name, aside / name)
            else:
                file.write(aside / name)
            entries[name] = old_entries[name] if is_same else describe_file(aside / name)
        counts = {
            "objects": len(cube.objects),
            "cells": len(cube.cells),
            "members": len(cube.cells.members.indices),
            "links": cube.links.count,
        }
        write_manifest(aside, counts, cube.settings, entries)
        _check_unchanged(folder, before)


def check_place(folder: Path) -> None:
    """Raise where something lies that is not a cube, or where no folder can be."""
    check_replaceable(folder)
    if not folder.exists():
        return
    foreign = _find_foreign_files(folder)
    if foreign is None:
        raise CubeError(f"{str(folder)!r} exists and is not a cube: choose another place or remove it")
    if foreign:
        raise CubeError(
            f"{str(folder)!r} is a cube that also holds {some(foreign)}: move that elsewhere, or choose another place"
        )


def read(folder: Path) -> Cube:
    """Return the cube of a folder; its arrays are memory-mapped and its objects read when first used."""
    return read_stored(folder).cube


def read_stored(folder: Path) -> Stored:
    """Return the cube of a folder with its manifest."""
    return _open_one_cube(Path(folder), _read)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a cube's folder."""
    return _open_one_cube(Path(folder), _load_manifest)


def verify(folder: Path) -> int:
    """Return the number of files of a cube, having checked every byte; raise at the first that differs."""
    return len(read_verified(folder).manifest["files"]) + 1


def read_verified(folder: Path) -> Stored:
    """Return the cube of a folder with its manifest, having checked every byte: what is made of it vouches for it."""
    return _open_one_cube(Path(folder), _read_verified)


def _open_one_cube(folder: Path, look: Callable[[MappedFolder], T]) -> T:
    """Return what is seen in a folder of which no other took the place before all was opened."""
    for _ in range(TRIES):
        try:
            place = MappedFolder(folder)
        except (OSError, ValueError) as error:
            if isinstance(error, FileNotFoundError) and being_replaced(folder):
                time.sleep(0.01)  # a system that cannot exchange two folders is between two steps
                continue
            why: dict[type[Exception], str] = {
                FileNotFoundError: "does not exist",
                NotADirectoryError: "is a file, not the folder of a cube",
            }
            what = why.get(type(error), f"cannot be opened ({getattr(error, 'strerror', None) or error})")
            raise CubeError(f"{str(folder)!r} {what}: make one with 'cube2net build'") from None
        with place:
            try:
                seen = look(place)
            except Cube2netError:
                if not place.replaced():
                    raise
            except OSError as error:
                if not place.replaced():
                    raise CubeError(f"{str(folder)!r} is damaged: {first_line(error)}") from error
            else:
                if place.descriptor is not None or not place.replaced():
                    return seen
    raise CubeError(f"{str(folder)!r} is written all the time: open it when its writers are done")


def _read(folder: MappedFolder) -> Stored:
    manifest = _load_manifest(folder)
    try:
        for name, about in manifest["files"].items():
            size = folder.size(name)
            if size is None:
                raise CubeError(f"{name} is missing")
            if size != about["bytes"]:
                raise CubeError(f"{name} has {size:,} bytes, expected {about['bytes']:,}")
        cube = assemble(folder, manifest)
    except MemoryError:
        raise
    except Exception as error:
        # Whatever a damaged file makes the readers of its format raise, the person is told the same thing.
        raise CubeError(f"{str(folder.path)!r} is damaged: {first_line(error)}") from error
    origin = Origin(folder.path.absolute(), str(manifest.get("sha256")), read)
    return Stored(opened(cube, origin), manifest)


def _read_verified(folder: MappedFolder) -> Stored:
    from concurrent.futures import ThreadPoolExecutor

    manifest = _load_manifest(folder)
    unsealed = {key: value for key, value in manifest.items() if key != "sha256"}
    if manifest.get("sha256") != _compute_seal(unsealed):
        raise CubeError(f"{str(folder.path)!r} is damaged: manifest.json was changed")
    with ThreadPoolExecutor(cores()) as pool:  # checksums let other threads go on
        names = list(manifest["files"])
        for name, found in zip(names, pool.map(partial(_checksum, folder), names), strict=True):
            if found != manifest["files"][name]["sha256"]:
                what = "is missing" if found is None else "was changed"
                raise CubeError(f"{str(folder.path)!r} is damaged: {name} {what}")
    return _read(folder)


def _checksum(folder: MappedFolder, name: str) -> str | None:
    if folder.size(name) is None:
        return None
    with folder.open(name) as file:
        return _compute_checksum(file)


def _check_unchanged(folder: Path, before: Stored | None) -> None:
    if before is not None and read_manifest(folder) != before.manifest:
        raise CubeError(f"{str(folder)!r} was changed by another while this was made of it: do it again")


def _take_over(old: Path, new: Path) -> None:
    """Give a file a second name, or copy it where a file can have but one."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


def _drop_finer_levels(cube: Cube) -> Cube:
    """Return the cube with the levels below the one it stands at left out: on disk, that one is the finest.

    A dimension that stands at ∗ has that one label there.
    """
    dimensions = tuple(
        Dimension((Level(dimension.name, (STAR,), (STAR,)),))
        if dimension.is_top
        else dimension.from_level(dimension.at)
        for dimension in cube.dimensions
    )
    at_top = [number for number, dimension in enumerate(cube.dimensions) if dimension.is_top]

    def zero_at_top(cells: Cells) -> Cells:
        if not at_top:
            return cells
        labels = np.array(cells.labels)
        labels[:, at_top] = 0
        return replace(cells, labels=labels)

    return replace(
        cube, dimensions=dimensions, cells=zero_at_top(cube.cells), small=zero_at_top(cube.small), finest=None
    )


def _find_foreign_files(folder: Path) -> list[str] | None:
    """Return what a cube's folder holds that is not the cube's, nothing if it is empty; None where it is no cube."""
    if not folder.is_dir():
        return None
    names = {path.name for path in folder.iterdir()}
    try:
        return sorted(names - {MANIFEST, *read_manifest(folder)["files"]}) if names else []
    except CubeError:
        return None


def _load_manifest(folder: MappedFolder) -> dict[str, Any]:
    """Return the manifest of a cube's folder, in which everything is of the kind that it should be."""
    place = str(folder.path)
    try:
        with folder.open(MANIFEST) as file:
            text = file.read(LARGEST + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise CubeError(f"{place!r} is not a cube (it has no manifest.json): make one with 'cube2net build'") from None
    except OSError as error:
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read ({error.strerror})") from None
    try:
        if len(text) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        manifest: dict[str, Any] = json.loads(text.decode("utf-8"))
        version = manifest["format"]
    except RecursionError:
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read (it is nested too deeply)") from None
    except (ValueError, KeyError, TypeError) as error:
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read ({first_line(error)})") from None
    if _is_count(version) and version != FORMAT:
        advice = "install a newer cube2net" if version > FORMAT else "build the cube again"
        raise CubeError(f"{place!r} has cube format {version}, and this cube2net reads {FORMAT}: {advice}")
    wrong = _find_fault(manifest)
    if wrong:
        raise CubeError(f"{place!r} is damaged: manifest.json has {wrong}")
    return manifest


def write_manifest(
    folder: Path, counts: Mapping[str, int], settings: Mapping[str, Any], files: Mapping[str, dict[str, Any]]
) -> None:
    """Write the manifest of a cube into its folder, sealed by its own checksum."""
    manifest = {
        "format": FORMAT,
        "counts": dict(counts),
        "settings": dict(settings),
        "files": dict(sorted(files.items())),
    }
    text = json.dumps(manifest | {"sha256": _compute_seal(manifest)}, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def describe_file(path: Path) -> dict[str, Any]:
    """Return the size and the checksum of a file."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": _compute_checksum(file)}


def _compute_checksum(file: IO[bytes]) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _find_fault(manifest: Mapping[str, Any]) -> str:
    """Return what of a manifest is not of the kind that it should be; nothing where all is."""
    if not _is_count(manifest["format"]):
        return f"an odd format, expected {FORMAT}"
    files, counts, settings = (manifest.get(part) for part in ("files", "counts", "settings"))
    if not isinstance(files, dict) or not isinstance(counts, dict) or not isinstance(settings, dict):
        return "no files, counts or settings"
    for name, about in files.items():
        if Path(name).name != name or name in ("", ".", "..", MANIFEST) or "\0" in name:
            return f"{name!r} for the name of a file"
        if not isinstance(about, dict) or not _is_count(about.get("bytes")) or not _is_checksum(about.get("sha256")):
            return f"no size and checksum of {name!r}"
    for name in COUNTS:
        if not _is_count(counts.get(name)):
            return f"no count of {name}"
    kinds: dict[str, Callable[[Any], bool]] = {
        **dict.fromkeys(NUMBERS, _is_count),
        "seed": lambda value: isinstance(value, int),
        "dimensions": _are_texts,
        "views": _are_texts,
        "dropped": lambda value: isinstance(value, dict) and all(map(_is_count, value.values())),
        "topics": lambda value: value is None or isinstance(value, dict),
        "time": lambda value: isinstance(value, str),
        "engine": lambda value: isinstance(value, str),
        "attribution": lambda value: isinstance(value, str),
        "whole_ids": lambda value: isinstance(value, bool),
        "directed": lambda value: isinstance(value, bool),
    }
    for name, is_right in kinds.items():
        if name in settings and not is_right(settings[name]):
            return f"an odd setting {name!r}"
    return ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_checksum(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _compute_seal(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
