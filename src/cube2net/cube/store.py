"""A cube on disk: Parquet for tables, memory-mapped arrays for the rest, and a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net.aside import new_folder
from cube2net.cube.update_files import open_ledger, same_memory, take_over
from cube2net.cube.update_ledger import Ledger, UpdatableCube
from cube2net.errors import CubeError
from cube2net.records import Cells, Cube, Dimension, Level, Links, Objects, Ragged
from cube2net.records.corpus import OBJECTS
from cube2net.records.ragged import Array

FORMAT = 1
MANIFEST = "manifest.json"
MODEL = "topic-model.parquet"
CHECKED_ENTRIES = 8_000_000
"""Arrays of up to so many entries are looked through at opening, which takes a few milliseconds."""
LEVELS = {
    "dimension": pa.int32(),
    "level": pa.int32(),
    "level_name": pa.string(),
    "label": pa.string(),
    "full_name": pa.string(),
    "parent": pa.int32(),
}


@dataclass(frozen=True, eq=False)
class Stored:
    """A cube as it was read, and the manifest it had then."""

    cube: Cube
    manifest: dict[str, Any]


def save(cube: Cube, folder: Path, *, before: Stored | None = None) -> None:
    """Write a cube to a folder, which appears whole or not at all; an older cube there is replaced.

    ``before`` is the cube in that folder that this one was made from: the files of what is still the same are
    taken over with their checksums, and if another cube has come there meanwhile it stays and this one is refused.
    """
    folder = Path(folder)
    if folder.exists() and not _replaceable(folder):
        raise CubeError(f"{str(folder)!r} exists and is not a cube: choose another place or remove it")
    cube = _finest_only(cube)
    with new_folder(folder) as aside:
        _check_unchanged(folder, before)
        arrays, tables = _arrays(cube), _tables(cube)
        same = set() if before is None else _same(cube, before.cube)
        for name, array in arrays.items():
            if name not in same:
                np.save(aside / f"{name}.npy", array)
        for name, table in tables.items():
            if name not in same:
                pq.write_table(table(), aside / f"{name}.parquet", compression="zstd")
        known = {} if before is None else before.manifest["files"]
        files = {path.name: _describe(path) for path in sorted(aside.iterdir())}
        for name in (f"{name}.{'npy' if name in arrays else 'parquet'}" for name in same):
            take_over(folder / name, aside / name)
            files[name] = known[name]
        manifest = {
            "format": FORMAT,
            "counts": {
                "objects": len(cube.objects),
                "cells": len(cube.cells),
                "members": len(cube.cells.members.indices),
                "links": cube.links.count,
            },
            "settings": dict(cube.settings),
            "files": dict(sorted(files.items())),
        }
        text = json.dumps(manifest | {"sha256": _seal(manifest)}, indent=1, ensure_ascii=False)
        (aside / MANIFEST).write_text(text + "\n", encoding="utf-8")
        _check_unchanged(folder, before)


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
        cube = _assemble(folder, manifest)
        _check_entries(cube)
    except Exception as error:
        # Whatever a damaged file makes the readers of its format raise, the person is told the same thing.
        raise CubeError(f"{str(folder)!r} is damaged: {error}") from error
    return cube


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a cube's folder."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        what = "is not a cube (it has no manifest.json)" if Path(folder).exists() else "does not exist"
        raise CubeError(f"{str(folder)!r} {what}: make one with 'cube2net build'")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["format"]
        complete = isinstance(manifest["files"], dict) and isinstance(manifest["counts"], dict)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise CubeError(f"{str(folder)!r} is damaged: manifest.json cannot be read ({error})") from None
    if not isinstance(version, int) or version > FORMAT:
        raise CubeError(
            f"{str(folder)!r} has cube format {version!r}, and this cube2net reads up to {FORMAT}: "
            "install a newer cube2net"
        )
    if not complete:
        raise CubeError(f"{str(folder)!r} is damaged: manifest.json lacks its files or counts")
    return manifest


def verify(folder: Path) -> int:
    """Return the number of files of a cube, having checked every byte; raise at the first that differs."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    unsealed = {key: value for key, value in manifest.items() if key != "sha256"}
    if manifest.get("sha256") != _seal(unsealed):
        raise CubeError(f"{str(folder)!r} is damaged: manifest.json was changed")
    read(folder)
    for name, about in manifest["files"].items():
        if _describe(folder / name)["sha256"] != about["sha256"]:
            raise CubeError(f"{str(folder)!r} is damaged: {name} was changed")
    return len(manifest["files"]) + 1


def _check_unchanged(folder: Path, before: Stored | None) -> None:
    if before is not None and read_manifest(folder) != before.manifest:
        raise CubeError(f"{str(folder)!r} was changed by another while this was made of it: do it again")


def _same(cube: Cube, before: Cube) -> set[str]:
    """Return the names of the arrays and tables that two cubes share."""
    shared = {
        "objects": cube.objects is before.objects,
        "topics": cube.topic_words is not None and cube.topic_words is before.topic_words,
        "topic-model": cube.topic_model is not None and cube.topic_model is before.topic_model,
    }
    return same_memory(_arrays(cube), _arrays(before)) | {name for name, is_shared in shared.items() if is_shared}


def _arrays(cube: Cube) -> dict[str, Array]:
    arrays = {
        "cells.labels": cube.cells.labels,
        "cells.members.indptr": cube.cells.members.indptr,
        "cells.members.indices": cube.cells.members.indices,
        "homes.indptr": cube.homes.indptr,
        "homes.indices": cube.homes.indices,
        "small.labels": cube.small.labels,
        "small.members.indptr": cube.small.members.indptr,
        "small.members.indices": cube.small.members.indices,
        "links.indptr": cube.links.indptr,
        "links.indices": cube.links.indices,
        "links.weights": cube.links.weights,
    }
    ledger = _ledger(cube)
    return arrays if ledger is None else arrays | {"ledger.items": ledger.items}


def _ledger(cube: Cube) -> Ledger | None:
    """Return the ledger of a cube; a view of one has none, for items can only be added to the whole."""
    if not isinstance(cube, UpdatableCube) or cube.ledger is None or "views" in cube.settings:
        return None
    return cube.ledger()


def _tables(cube: Cube) -> dict[str, Callable[[], pa.Table]]:
    """Return the tables of a cube by name, made when called."""
    tables: dict[str, Callable[[], pa.Table]] = {"labels": lambda: _labels(cube), "objects": lambda: cube.objects.table}
    if cube.topic_words is not None:
        tables["topics"] = lambda: cube.topic_words
    if cube.topic_model is not None:
        tables["topic-model"] = cube.topic_model
    ledger = _ledger(cube)
    if ledger is not None:
        for name, table in ledger.tables([dimension.name for dimension in cube.dimensions]).items():
            tables[name] = partial(_given, table)
    return tables


def _labels(cube: Cube) -> pa.Table:
    rows: dict[str, list[Any]] = {name: [] for name in LEVELS}
    for number, dimension in enumerate(cube.dimensions):
        for depth, level in enumerate(dimension.levels):
            parents = [None] * len(level.labels) if level.parents is None else level.parents.tolist()
            for label, full_name, parent in zip(level.labels, level.full_names, parents, strict=True):
                values = (number, depth, level.name, label, full_name, parent)
                for name, value in zip(LEVELS, values, strict=True):
                    rows[name].append(value)
    return pa.table(rows, schema=pa.schema(list(LEVELS.items())))


def _given(table: pa.Table) -> pa.Table:
    return table


def _assemble(folder: Path, manifest: dict[str, Any]) -> Cube:
    def load(name: str) -> Array:
        return np.load(folder / f"{name}.npy", mmap_mode="r")  # type: ignore[no-any-return]

    def ragged(name: str) -> Ragged:
        return Ragged(load(f"{name}.indptr"), load(f"{name}.indices"))

    topics = folder / "topics.parquet"
    model = pa.memory_map(str(folder / MODEL)) if MODEL in manifest["files"] else None
    objects = pa.memory_map(str(folder / "objects.parquet"))
    count = int(manifest["counts"]["objects"])
    dimensions = _dimensions(pq.read_table(folder / "labels.parquet", use_threads=False))
    return UpdatableCube(
        dimensions=dimensions,
        cells=Cells(load("cells.labels"), ragged("cells.members")),
        homes=ragged("homes"),
        small=Cells(load("small.labels"), ragged("small.members")),
        links=Links(load("links.indptr"), load("links.indices"), load("links.weights")),
        objects=Objects(count, lambda: _read_objects(folder, objects, count)),
        settings=manifest["settings"],
        topic_words=pq.read_table(topics, use_threads=False) if topics.name in manifest["files"] else None,
        topic_model=None if model is None else lambda: pq.read_table(model),
        ledger=open_ledger(folder, manifest["files"], [dimension.name for dimension in dimensions]),
    )


def _read_objects(folder: Path, file: pa.NativeFile, count: int) -> pa.Table:
    """Return the objects from a file that was opened with the cube: a newer cube in its place changes nothing."""
    try:
        table = pq.read_table(file, columns=list(OBJECTS))
        if table.num_rows != count or table.column_names != list(OBJECTS):
            raise CubeError(f"it has {table.num_rows:,} rows of {table.column_names}, expected {count:,}")
    except (pa.ArrowException, OSError, KeyError, CubeError) as error:
        raise CubeError(f"{str(folder)!r} is damaged: objects.parquet cannot be read ({error})") from None
    return table


def _check_entries(cube: Cube) -> None:
    """Raise where an array points to an object or a cell that is not there; very large arrays are left to verify."""
    objects, cells = len(cube.objects), len(cube.cells)
    arrays = (("cells.members", cube.cells.members.indices, objects), ("homes", cube.homes.indices, cells))
    more = (("small.members", cube.small.members.indices, objects), ("links", cube.links.indices, objects))
    for name, entries, count in arrays + more:
        if 0 < len(entries) <= CHECKED_ENTRIES and not 0 <= int(entries.min()) <= int(entries.max()) < count:
            raise CubeError(f"{name}.indices.npy points to what is not there")


def _finest_only(cube: Cube) -> Cube:
    """Return the cube with the levels below the one it stands at left out: on disk, that one is the finest."""
    dimensions = tuple(Dimension(dimension.levels[dimension.at :]) for dimension in cube.dimensions)
    return replace(cube, dimensions=dimensions, finest=None)


def _replaceable(folder: Path) -> bool:
    """Return whether a folder is empty, or a cube and nothing else."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    if not names:
        return True
    try:
        return names <= {MANIFEST, *read_manifest(folder)["files"]}
    except CubeError:
        return False


def _dimensions(table: pa.Table) -> tuple[Dimension, ...]:
    columns = [table[name].to_pylist() for name in LEVELS]
    levels: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for number, depth, *rest in zip(*columns, strict=True):
        levels.setdefault((number, depth), []).append(tuple(rest))
    dimensions = []
    for number in range(1 + max((key[0] for key in levels), default=-1)):
        built = []
        for depth in range(len(levels)):
            rows = levels.get((number, depth))
            if rows is None:
                break
            names, labels, full_names, parents = zip(*rows, strict=True)
            above = None if parents[0] is None else np.array(parents, dtype=np.int32)
            built.append(Level(names[0], labels, full_names, above))
        dimensions.append(Dimension(tuple(built)))
    return tuple(dimensions)


def _describe(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _seal(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
