"""Write a cube's folder: one writer at a time, which holds a lock beside the folder.

The arrays of a build can be allocated as files from the start, so that they need not fit into memory.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrays import Array, Ragged, flatten_texts
from cube2net._util.arrow import write_mapped, write_mapped_table
from cube2net._util.files import check_replaceable, explain_disk_errors, new_folder, only_writer, temporary_folder
from cube2net._util.progress import Progress, silent
from cube2net.cube.storage.reader import (
    BRINGABLE,
    FORMAT,
    ITEM_ATTRIBUTES,
    ITEM_CELLS,
    ITEM_IDS,
    ITEM_METADATA,
    ITEM_OBJECTS,
    ITEM_TEXTS,
    ITEM_TOPICS,
    LABEL_COLUMNS,
    LINK_DETAIL_OFFSETS,
    LINK_DETAILS,
    LOOKUPS,
    MANIFEST,
    OBJECT_ATTRIBUTES,
    TOPIC_MODEL,
    TOPIC_WORDS,
    StoredCube,
    compute_checksum,
    compute_seal,
    read,
    read_manifest,
    read_verified,
)
from cube2net.errors import CubeError, quote_few
from cube2net.model.cube import Cells, Cube, require_own_cells
from cube2net.model.dimension import STAR, Dimension, Level
from cube2net.model.items import ItemIndex
from cube2net.model.objects import Lookup, Objects

Allocate = Callable[[str, int, npt.DTypeLike], Array]
"""Returns an uninitialised array, given its name, length and type."""


def allocate_in_memory(name: str, length: int, kind: npt.DTypeLike) -> Array:
    """Return an uninitialised array in memory."""
    return np.empty(length, kind)


def allocate_in_files(folder: Path) -> Allocate:
    """Return an allocator of memory-mapped arrays in files ``NAME.npy`` of a folder; empty arrays are in memory."""

    def allocate(name: str, length: int, kind: npt.DTypeLike) -> Array:
        if length == 0:
            return np.empty(0, kind)
        path = folder / f"{name}.npy"
        with explain_disk_errors(path):
            array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(length,))
            if hasattr(os, "posix_fallocate"):  # take the space now: on a full disk, writing to a page ends the process
                with path.open("rb+") as file:
                    os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        return array

    return allocate


def save(cube: Cube, folder: Path, *, made_in: Path | None = None, progress: Progress = silent) -> None:
    """Write a cube to a folder, which appears whole or not at all; an older cube there is replaced.

    ``made_in`` is the folder in which :func:`build` made this cube: its array files are moved, not copied.
    Waits while another process writes to the folder.
    """
    folder = Path(folder)
    require_own_cells(cube, "saved")
    check_place(folder)
    with only_writer(folder, progress):
        write_cube(cube, folder, made_in=made_in)


def pack(cube: Cube) -> dict[str, bytes]:
    """Return the files of a cube by their names, to send a cube that is in memory to another process."""
    with temporary_folder() as folder:
        save(cube, folder / "cube")
        files = [path for path in (folder / "cube").rglob("*") if path.is_file()]
        return {path.relative_to(folder / "cube").as_posix(): path.read_bytes() for path in files}


def unpack(files: Mapping[str, bytes]) -> Cube:
    """Return the cube of packed files, which are in a temporary folder until the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="cube2net-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    cube = read(folder)
    object.__setattr__(cube, "origin", None)  # its folder does not outlive the process
    return cube


def change_folder(folder: Path, change: Callable[[Cube], Cube], *, progress: Progress = silent) -> None:
    """Replace the cube of a folder by the result of a function of it, wholly or not at all."""
    folder = Path(folder)
    read_manifest(folder)
    check_place(folder)
    with only_writer(folder, progress):
        stored = read_verified(folder)
        write_cube(change(stored.cube), folder, before=stored)


def write_cube(cube: Cube, folder: Path, *, before: StoredCube | None = None, made_in: Path | None = None) -> None:
    """Write a cube to a folder; the caller holds the lock.

    ``before`` is the cube of that folder that this one was made from: files that are unchanged are linked, with their
    checksums. If another cube has replaced it since, this one is refused.
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
                _link_or_copy(folder / name, aside / name)
            elif made_in is not None and name.endswith(".npy") and (made_in / name).exists():
                _link_or_copy(made_in / name, aside / name)
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
    """Raise unless a cube can be written to a folder: it must be missing, empty, or hold a cube and nothing else."""
    check_replaceable(folder)
    if not folder.exists():
        return
    foreign = _list_foreign_files(folder)
    if foreign is None:
        raise CubeError(f"{str(folder)!r} exists and is not a cube: choose another place or remove it")
    if foreign:
        raise CubeError(
            f"{str(folder)!r} is a cube that also holds {quote_few(foreign)}: move that elsewhere, or choose "
            "another place"
        )


def _list_foreign_files(folder: Path) -> list[str] | None:
    """Return the files in a cube's folder that are not the cube's, or None if it is not a cube's folder."""
    if not folder.is_dir():
        return None
    names = {path.name for path in folder.iterdir()}
    try:
        return sorted(names - {MANIFEST, *read_manifest(folder)["files"]}) if names else []
    except CubeError:
        return None


def _check_unchanged(folder: Path, before: StoredCube | None) -> None:
    if before is not None and read_manifest(folder) != before.manifest:
        raise CubeError(f"{str(folder)!r} was changed by another while this was made of it: do it again")


def _link_or_copy(old: Path, new: Path) -> None:
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


def _drop_finer_levels(cube: Cube) -> Cube:
    """Return the cube without the levels below its own; a dimension at ∗ gets one label."""
    dimensions = tuple(
        Dimension((Level(dimension.name, (STAR,), (STAR,)),))
        if dimension.is_top
        else dimension.from_level(dimension.at)
        for dimension in cube.dimensions
    )
    at_top = [number for number, dimension in enumerate(cube.dimensions) if dimension.is_top]

    def label_top(cells: Cells) -> Cells:
        if not at_top:
            return cells
        labels = np.array(cells.labels)
        labels[:, at_top] = 0
        return replace(cells, labels=labels)

    return replace(cube, dimensions=dimensions, cells=label_top(cube.cells), small=label_top(cube.small), finest=None)


def write_manifest(
    folder: Path, counts: Mapping[str, int], settings: Mapping[str, Any], files: Mapping[str, dict[str, Any]]
) -> None:
    """Write the manifest of a cube into its folder, with the manifest's own checksum."""
    manifest = {
        "format": FORMAT,
        "counts": dict(counts),
        "settings": dict(settings),
        "files": dict(sorted(files.items())),
    }
    text = json.dumps(manifest | {"sha256": compute_seal(manifest)}, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def describe_file(path: Path) -> dict[str, Any]:
    """Return the size and the checksum of a file."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": compute_checksum(file)}


@dataclass(frozen=True, eq=False)
class CubeFile:
    """How to write a file of a cube, and an identity: files of two cubes with the same identity are the same."""

    write: Callable[[Path], None]
    identity: object = None


def list_files(cube: Cube) -> dict[str, CubeFile]:
    """Return the files of a cube by name, without the manifest; their content is computed when written."""
    files = {"labels.parquet": _parquet_file(partial(_make_label_table, cube))}
    for name, cells in (("cells", cube.cells), ("small", cube.small)):
        files[f"{name}.labels.npy"] = _array_file(cells.labels)
        files |= _row_files(f"{name}.members", cells.members)
    files |= _row_files("homes", cube.object_cells) | _row_files("links", cube.links.rows)
    files["links.weights.npy"] = _array_file(cube.links.weights)
    if cube.bringable is not None:
        files[BRINGABLE] = _array_file(cube.bringable)
    files |= _list_object_files(cube.objects)
    if cube.details is not None:
        details = cube.details()
        files[LINK_DETAIL_OFFSETS] = _array_file(details.indptr)
        files[LINK_DETAILS] = _arrow_file(lambda: details.rows, id(cube.details))
    if cube.topic_words is not None:
        words = cube.topic_words
        files[TOPIC_WORDS] = _parquet_file(lambda: words, id(words))
    if cube.topic_model is not None:
        files[TOPIC_MODEL] = _parquet_file(cube.topic_model, id(cube.topic_model))
    if cube.ledger is not None and "views" not in cube.settings:  # items cannot be added to a view
        ledger = cube.ledger()
        files["ledger.items.npy"] = _array_file(ledger.items)
        for name, table in ledger.tables().items():
            files[f"{name}.parquet"] = _parquet_file(partial(lambda table: table, table))
    if cube.items is not None:
        files |= _list_item_files(cube.items())
    return files


def _list_object_files(objects: Objects) -> dict[str, CubeFile]:
    files = {"objects.arrow": _arrow_file(lambda: objects.table, id(objects.load))}
    for column, name in LOOKUPS.items():
        files |= _list_lookup_files(objects, column, name)
    if objects.load_attributes is not None:
        files[OBJECT_ATTRIBUTES] = _arrow_file(lambda: objects.attributes, id(objects.load_attributes))
    return files


def _list_lookup_files(objects: Objects, column: str, name: str) -> dict[str, CubeFile]:
    lookup = cache(lambda: objects.lookups.get(column) or make_lookup(objects.table[column]))
    return {
        f"{name}.hashes.npy": CubeFile(lambda path: np.save(path, lookup().hashes), id(objects.load)),
        f"{name}.rows.npy": CubeFile(lambda path: np.save(path, lookup().rows), id(objects.load)),
    }


def _list_item_files(index: ItemIndex) -> dict[str, CubeFile]:
    metadata = {ITEM_METADATA: json.dumps({"derived": index.derived}).encode()}
    ids = _arrow_file(lambda: pa.table({"item": index.ids}).replace_schema_metadata(metadata), id(index.load))
    files = {ITEM_IDS: ids} | _row_files(ITEM_OBJECTS, index.objects) | _row_files(ITEM_CELLS, index.cells)
    if index.topics is not None:
        files |= _row_files(ITEM_TOPICS, index.topics)
    if index.texts is not None:
        files[ITEM_TEXTS] = _array_file(index.texts)
    if index.load_attributes is not None:
        attributes = index.kept_attributes
        files[ITEM_ATTRIBUTES] = CubeFile(
            lambda path: write_mapped(path, attributes.batches(), attributes.schema), id(index.load_attributes)
        )
    return files


def _array_file(array: Array) -> CubeFile:
    memory = array.__array_interface__["data"][0], array.shape, array.dtype, array.strides
    return CubeFile(lambda path: np.save(path, array), memory)


def _row_files(name: str, rows: Ragged) -> dict[str, CubeFile]:
    return {f"{name}.indptr.npy": _array_file(rows.indptr), f"{name}.indices.npy": _array_file(rows.indices)}


def _parquet_file(load: Callable[[], pa.Table], identity: object = None) -> CubeFile:
    return CubeFile(lambda path: pq.write_table(load(), path, compression="zstd"), identity)


def _arrow_file(load: Callable[[], pa.Table], identity: object) -> CubeFile:
    return CubeFile(lambda path: write_mapped_table(path, load(), rows=None), identity)


def make_lookup(texts: pa.ChunkedArray) -> Lookup:
    """Return a lookup of the rows of a column by their texts.

    >>> lookup = make_lookup(pa.chunked_array([["a", "b"], ["a"]]))
    >>> lookup.find(["b", "c", "a"])
    [(0, 1), (2, 0), (2, 2)]
    """
    from cube2net.kernels.text import compute_checksums

    numbers = compute_checksums(*flatten_texts(texts))
    rows = np.argsort(numbers, kind="stable").astype(np.int32)
    return Lookup(numbers[rows], rows)


def _make_label_table(cube: Cube) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for number, dimension in enumerate(cube.dimensions):
        depths = {level.name: depth for depth, level in enumerate(dimension.levels)}
        for depth, level in enumerate(dimension.levels):
            above = [depths[name] for name in level.above]
            parents = [level.above[name].tolist() for name in level.above]
            for i, (label, full_name) in enumerate(zip(level.labels, level.full_names, strict=True)):
                values = (number, depth, level.name, label, full_name, above, [column[i] for column in parents])
                rows.append(dict(zip(LABEL_COLUMNS, values, strict=True)))
    return pa.Table.from_pylist(rows, schema=pa.schema(list(LABEL_COLUMNS.items())))
