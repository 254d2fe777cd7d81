"""A cube on disk: Parquet and Arrow for tables, memory-mapped arrays for the rest, and a manifest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from cube2net.aside import new_folder
from cube2net.cube.items import IDS, table_of_items
from cube2net.cube.manifest import MANIFEST, check_seal, describe, read_manifest, write_manifest
from cube2net.cube.parts import arrays_of, assemble, lookups_of, tables_of
from cube2net.cube.rollup import check_whole
from cube2net.cube.update_files import same_memory, take_over
from cube2net.errors import CubeError, InputError, some
from cube2net.mapped import write_mapped_table
from cube2net.records import Cube, Dimension


@dataclass(frozen=True, eq=False)
class Stored:
    """A cube as it was read, and the manifest it had then."""

    cube: Cube
    manifest: dict[str, Any]


def save(cube: Cube, folder: Path, *, before: Stored | None = None, made_in: Path | None = None) -> None:
    """Write a cube to a folder, which appears whole or not at all; an older cube there is replaced.

    ``before`` is the cube in that folder that this one was made from: the files of what is still the same are
    taken over with their checksums, and if another cube has come there meanwhile it stays and this one is refused.
    ``made_in`` is the folder in which :func:`build` made this cube, whose arrays are taken over from there.
    """
    folder = Path(folder)
    check_whole(cube, "saved")
    check_place(folder)
    cube = _finest_only(cube)
    with new_folder(folder) as aside:
        _check_unchanged(folder, before)
        same = set() if before is None else _same(cube, before)
        arrays = arrays_of(cube) | ({} if "objects.arrow" in same else lookups_of(cube))
        for name, array in arrays.items():
            file = f"{name}.npy"
            if file in same:
                continue
            if made_in is not None and (made_in / file).exists():
                take_over(made_in / file, aside / file)
            else:
                np.save(aside / file, array)
        for name, table in tables_of(cube).items():
            if f"{name}.parquet" not in same:
                pq.write_table(table(), aside / f"{name}.parquet", compression="zstd")
        if "objects.arrow" not in same:
            write_mapped_table(aside / "objects.arrow", cube.objects.table, rows=None)
        if cube.items is not None and IDS not in same:
            write_mapped_table(aside / IDS, table_of_items(cube.items()), rows=None)
        files = {path.name: describe(path) for path in sorted(aside.iterdir())}
        for name in same:
            take_over(folder / name, aside / name)
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
    above = next((parent for parent in folder.resolve().parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise InputError(f"cannot write {str(folder)!r}: {str(above)!r} is a file, not a folder")
    if not folder.exists():
        return
    foreign = _foreign(folder)
    if foreign is None:
        raise CubeError(f"{str(folder)!r} exists and is not a cube: choose another place or remove it")
    if foreign:
        raise CubeError(
            f"{str(folder)!r} is a cube that also holds {some(foreign)}: move that elsewhere, or choose another place"
        )


def read_stored(folder: Path) -> Stored:
    """Return the cube of a folder with its manifest."""
    manifest = read_manifest(folder)
    stored = Stored(read(folder), manifest)
    _check_unchanged(Path(folder), stored)
    return stored


def read(folder: Path) -> Cube:
    """Return the cube of a folder; its arrays are memory-mapped and its objects read when first used."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    try:
        for name, about in manifest["files"].items():
            path = folder / name
            if not path.is_file():
                raise CubeError(f"{name} is missing")
            if path.stat().st_size != about["bytes"]:
                raise CubeError(f"{name} has {path.stat().st_size:,} bytes, expected {about['bytes']:,}")
        return assemble(folder, manifest)
    except Exception as error:
        # Whatever a damaged file makes the readers of its format raise, the person is told the same thing.
        raise CubeError(f"{str(folder)!r} is damaged: {error}") from error


def verify(folder: Path) -> int:
    """Return the number of files of a cube, having checked every byte; raise at the first that differs."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    check_seal(folder, manifest)
    read(folder)
    for name, about in manifest["files"].items():
        if describe(folder / name)["sha256"] != about["sha256"]:
            raise CubeError(f"{str(folder)!r} is damaged: {name} was changed")
    return len(manifest["files"]) + 1


def _check_unchanged(folder: Path, before: Stored | None) -> None:
    if before is not None and read_manifest(folder) != before.manifest:
        raise CubeError(f"{str(folder)!r} was changed by another while this was made of it: do it again")


def _same(cube: Cube, before: Stored) -> set[str]:
    """Return the files that a cube shares with the one before it."""
    old = before.cube
    files = {f"{name}.npy" for name in same_memory(arrays_of(cube), arrays_of(old))}
    if cube.objects is old.objects and old.objects.lookups:
        files |= {"objects.arrow", *(f"{name}.npy" for name in lookups_of(old))}
    if cube.topic_words is not None and cube.topic_words is old.topic_words:
        files.add("topics.parquet")
    if cube.topic_model is not None and cube.topic_model is old.topic_model:
        files.add("topic-model.parquet")
    if cube.items is not None and cube.items is old.items:
        files.add(IDS)
    return files


def _finest_only(cube: Cube) -> Cube:
    """Return the cube with the levels below the one it stands at left out: on disk, that one is the finest."""
    dimensions = tuple(Dimension(dimension.levels[dimension.at :]) for dimension in cube.dimensions)
    return replace(cube, dimensions=dimensions, finest=None)


def _foreign(folder: Path) -> list[str] | None:
    """Return what a cube's folder holds that is not the cube's, nothing if it is empty; None where it is no cube."""
    if not folder.is_dir():
        return None
    names = {path.name for path in folder.iterdir()}
    try:
        return sorted(names - {MANIFEST, *read_manifest(folder)["files"]}) if names else []
    except CubeError:
        return None
