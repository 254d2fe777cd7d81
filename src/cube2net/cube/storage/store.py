"""A cube on disk: Parquet and Arrow for tables, memory-mapped arrays for the rest, and a manifest.

One writer at a time: who saves holds a lock beside the folder. A reader needs none: it opens every file of the folder
that it found, and begins again where another cube came in its place meanwhile.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow.parquet as pq

from cube2net._util.arrays import Array
from cube2net._util.arrow import MappedFolder, write_mapped_table
from cube2net._util.compiling import cores
from cube2net._util.files import being_replaced, check_replaceable, new_folder
from cube2net._util.locks import only_writer
from cube2net._util.progress import Progress, silent
from cube2net.cube.storage import manifest as manifests
from cube2net.cube.storage.manifest import MANIFEST, check_seal, compute_checksum, describe_file, write_manifest
from cube2net.cube.storage.parts import (
    assemble,
    check_whole,
    find_same_item_tables,
    find_same_tables,
    list_arrays,
    list_carried_tables,
    list_lookups,
    list_tables,
    write_item_tables,
)
from cube2net.errors import Cube2netError, CubeError, first_line, some
from cube2net.model.cube import Cells, Cube, Origin, opened
from cube2net.model.dimension import STAR, Dimension, Level

T = TypeVar("T")
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
        same = set() if before is None else _find_same_files(cube, before)
        arrays = list_arrays(cube) | ({} if "objects.arrow" in same else list_lookups(cube))
        for name, array in arrays.items():
            file = f"{name}.npy"
            if file in same:
                continue
            if made_in is not None and (made_in / file).exists():
                _take_over(made_in / file, aside / file)
            else:
                np.save(aside / file, array)
        for name, table in list_tables(cube).items():
            if f"{name}.parquet" not in same:
                pq.write_table(table(), aside / f"{name}.parquet", compression="zstd")
        if "objects.arrow" not in same:
            write_mapped_table(aside / "objects.arrow", cube.objects.table, rows=None)
        for name, rows in list_carried_tables(cube).items():
            if name not in same:
                write_mapped_table(aside / name, rows, rows=None)
        write_item_tables(cube, aside, same)
        files = {path.name: describe_file(path) for path in sorted(aside.iterdir())}
        for name in same:
            _take_over(folder / name, aside / name)
            files[name] = before.manifest["files"][name]  # type: ignore[union-attr]
        counts = {
            "objects": len(cube.objects),
            "cells": len(cube.cells),
            "members": len(cube.cells.members.indices),
            "links": cube.links.count,
        }
        write_manifest(aside, counts, cube.settings, files)
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
    return _open_one_cube(Path(folder), manifests.read_manifest)


def verify(folder: Path) -> int:
    """Return the number of files of a cube, having checked every byte; raise at the first that differs."""
    return _open_one_cube(Path(folder), _verify)


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
    manifest = manifests.read_manifest(folder)
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


def _verify(folder: MappedFolder) -> int:
    return len(_read_verified(folder).manifest["files"]) + 1


def _read_verified(folder: MappedFolder) -> Stored:
    from concurrent.futures import ThreadPoolExecutor

    manifest = manifests.read_manifest(folder)
    check_seal(folder.path, manifest)
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
        return compute_checksum(file)


def _check_unchanged(folder: Path, before: Stored | None) -> None:
    if before is not None and read_manifest(folder) != before.manifest:
        raise CubeError(f"{str(folder)!r} was changed by another while this was made of it: do it again")


def _find_same_files(cube: Cube, before: Stored) -> set[str]:
    """Return the files that a cube shares with the one before it."""
    old = before.cube
    files = {f"{name}.npy" for name in _find_same_arrays(list_arrays(cube), list_arrays(old))}
    files |= find_same_tables(cube, old)
    if cube.objects.load is old.objects.load and old.objects.lookups:
        files |= {"objects.arrow", *(f"{name}.npy" for name in list_lookups(old))}
    if cube.topic_words is not None and cube.topic_words is old.topic_words:
        files.add("topics.parquet")
    if cube.topic_model is not None and cube.topic_model is old.topic_model:
        files.add("topic-model.parquet")
    return files | {name for name in find_same_item_tables(cube, old) if name in before.manifest["files"]}


def _find_same_arrays(arrays: Mapping[str, Array], others: Mapping[str, Array]) -> set[str]:
    """Return the names under which both have the very same memory, which is more than the same values."""
    return {
        name
        for name, array in arrays.items()
        if name in others and _identify_memory(array) == _identify_memory(others[name])
    }


def _take_over(old: Path, new: Path) -> None:
    """Give a file a second name, or copy it where a file can have but one."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


def _identify_memory(array: Array) -> tuple[object, ...]:
    return array.__array_interface__["data"][0], array.shape, array.dtype, array.strides


def _drop_finer_levels(cube: Cube) -> Cube:
    """Return the cube with the levels below the one it stands at left out: on disk, that one is the finest.

    A dimension that stands at ∗ has that one label there.
    """
    dimensions = tuple(dimension.from_level(dimension.at) for dimension in cube.dimensions)
    at_top = [number for number, dimension in enumerate(cube.dimensions) if dimension.is_top]
    for number in at_top:
        star = Dimension((Level(cube.dimensions[number].name, (STAR,), (STAR,)),))
        dimensions = (*dimensions[:number], star, *dimensions[number + 1 :])
    cells, small = (_zero_labels(part, at_top) for part in (cube.cells, cube.small))
    return replace(cube, dimensions=dimensions, cells=cells, small=small, finest=None)


def _zero_labels(cells: Cells, columns: Sequence[int]) -> Cells:
    """Return cells whose labels of some dimensions are all 0."""
    if not columns:
        return cells
    labels = np.array(cells.labels)
    labels[:, columns] = 0
    return replace(cells, labels=labels)


def _find_foreign_files(folder: Path) -> list[str] | None:
    """Return what a cube's folder holds that is not the cube's, nothing if it is empty; None where it is no cube."""
    if not folder.is_dir():
        return None
    names = {path.name for path in folder.iterdir()}
    try:
        return sorted(names - {MANIFEST, *read_manifest(folder)["files"]}) if names else []
    except CubeError:
        return None
