"""A cube as named arrays and tables, each of them one file; and the cube of such files.

Arrays may be made as such files from the start, so that they need not fit into memory.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Collection
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrays import HEAVIEST, Array, Links, Ragged, flat_texts
from cube2net._util.arrow import MappedFolder, write_mapped, write_mapped_table
from cube2net.cube.storage.ledger import Ledger, open_ledger
from cube2net.cube.storage.manifest import damage_error
from cube2net.cube.storage.soundness import FEW_TEXTS, KEYS, all_within, check_columns, check_sound
from cube2net.errors import CubeError, InputError, ParameterError
from cube2net.model.corpus import OBJECTS, WORDS
from cube2net.model.cube import KIND, Cells, Cube, LinkDetails
from cube2net.model.dimension import Dimension, Level
from cube2net.model.items import ItemAttributes, ItemIndex
from cube2net.model.objects import Lookup, Objects

T = TypeVar("T")
Allocate = Callable[[str, int, npt.DTypeLike], Array]
"""Gives an array of a name, a length and a type to be filled."""
MODEL, TOPICS = "topic-model.parquet", "topics.parquet"
BRINGABLE = "bringable"
"""The marks of the objects that may be brought, in a view that was saved."""
LEVELS = {
    "dimension": pa.int32(),
    "level": pa.int32(),
    "level_name": pa.string(),
    "label": pa.string(),
    "full_name": pa.string(),
    "above": pa.list_(pa.int32()),
    "parents": pa.list_(pa.int32()),
}
"""``above`` are the numbers of the levels above, ``parents`` those of the label's parents there."""


def in_memory(name: str, length: int, kind: npt.DTypeLike) -> Array:
    """Return a new array."""
    return np.empty(length, kind)


def in_files(folder: Path) -> Allocate:
    """Return what makes arrays as files ``NAME.npy`` of a folder, memory-mapped; one of no length is in memory."""

    def allocate(name: str, length: int, kind: npt.DTypeLike) -> Array:
        if length == 0:
            return np.empty(0, kind)
        path = folder / f"{name}.npy"
        try:
            array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(length,))
            _reserve_space(path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"cannot write {str(path)!r}: {reason}") from error
        return array

    return allocate


def _reserve_space(path: Path) -> None:
    """Take the space of a file on the disk now: where it is full later, writing to mapped pages ends the process."""
    if hasattr(os, "posix_fallocate"):
        with path.open("rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def list_arrays(cube: Cube) -> dict[str, Array]:
    """Return the arrays of a cube by name; those by which objects are found are not among them."""
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
    arrays |= list_item_arrays(cube) | list_detail_arrays(cube)
    if cube.bringable is not None:
        arrays[BRINGABLE] = cube.bringable
    ledger = find_ledger(cube)
    return arrays if ledger is None else arrays | {"ledger.items": ledger.items}


def list_lookups(cube: Cube) -> dict[str, Array]:
    """Return the arrays by which the objects of a cube are found by id and by name."""
    arrays: dict[str, Array] = {}
    for column, name in KEYS.items():
        lookup = cube.objects.lookups.get(column) or lookup_of(cube.objects.table[column])
        arrays |= {f"{name}.hashes": lookup.hashes, f"{name}.rows": lookup.rows}
    return arrays


def list_tables(cube: Cube) -> dict[str, Callable[[], pa.Table]]:
    """Return the tables of a cube by name, made when called; its objects are not among them."""
    tables: dict[str, Callable[[], pa.Table]] = {"labels": partial(_make_label_table, cube)}
    if cube.topic_words is not None:
        tables["topics"] = partial(given, cube.topic_words)
    if cube.topic_model is not None:
        tables["topic-model"] = cube.topic_model
    ledger = find_ledger(cube)
    if ledger is not None:
        for name, table in ledger.tables().items():
            tables[name] = partial(given, table)
    return tables


def lookup_of(texts: pa.ChunkedArray) -> Lookup:
    """Return where the rows of a column are found by their texts.

    >>> lookup = lookup_of(pa.chunked_array([["a", "b"], ["a"]]))
    >>> lookup.find(["b", "c", "a"])
    [(0, 1), (2, 0), (2, 2)]
    """
    from cube2net.kernels.text import checksums

    numbers = checksums(*flat_texts(texts))
    rows = np.argsort(numbers, kind="stable").astype(np.int32)
    return Lookup(numbers[rows], rows)


def find_ledger(cube: Cube) -> Ledger | None:
    """Return the ledger of a cube; a view of one has none, for items can only be added to the whole."""
    if cube.ledger is None or "views" in cube.settings:
        return None
    ledger: Ledger = cube.ledger()
    return ledger


def check_whole(cube: Cube, done: str) -> None:
    """Raise where the cells of a cube are those of other cuboids, which cannot stand for the cube in what is done."""
    if cube.cells.merged:
        view = cube.settings.get("views", ["cells of other cuboids"])[-1]
        raise ParameterError(f"a view ({view}) cannot be {done}: do it with the cube, and take the cells after that")


def assemble(folder: MappedFolder, manifest: dict[str, Any]) -> Cube:
    """Return the cube of a folder's files, memory-mapped."""

    files = manifest["files"]

    def array(name: str, kinds: str = "i", dimensions: int = 1) -> Array:
        if f"{name}.npy" not in files:
            raise CubeError(f"{name}.npy is not among its files")
        return folder.array(f"{name}.npy", kinds, dimensions)

    def ragged(name: str) -> Ragged:
        return Ragged(array(f"{name}.indptr"), array(f"{name}.indices"))

    dimensions = _read_dimensions(folder.parquet("labels.parquet"))
    cells, small = (Cells(array(f"{part}.labels", "i", 2), ragged(f"{part}.members")) for part in ("cells", "small"))
    objects = _open_objects(folder, manifest, array)
    cube = Cube(
        dimensions=dimensions,
        cells=cells,
        homes=ragged("homes"),
        small=small,
        links=Links(array("links.indptr"), array("links.indices"), array("links.weights", "f")),
        objects=objects,
        settings=manifest["settings"],
        topic_words=_read_topic_words(folder) if TOPICS in files else None,
        topic_model=_open_topic_model(folder) if MODEL in files else None,
        ledger=open_ledger(folder, files),
        items=open_items(folder, files, len(objects), len(cells) + len(small)),
        details=open_details(folder, files, len(objects)),
        bringable=array(BRINGABLE, "b") if f"{BRINGABLE}.npy" in files else None,
    )
    counts = {"cells": len(cells), "members": len(cells.members.indices), "links": cube.links.count}
    for name, count in counts.items():
        if manifest["counts"][name] != count:
            raise CubeError(f"it has {count:,} {name}, expected {manifest['counts'][name]:,}")
    check_sound(cube, folder, files)
    return cube


def _read_topic_words(folder: MappedFolder) -> pa.Table:
    table = folder.parquet(TOPICS)
    check_columns(table, WORDS | {"topic": pa.string()}, "words of topics")
    return table


def _open_topic_model(folder: MappedFolder) -> Callable[[], pa.Table]:
    file = folder.buffer(MODEL)

    def reader() -> pa.Table:
        try:
            return pq.read_table(file)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise damage_error(folder.path, "topic model", error) from None

    return reader


def _open_objects(folder: MappedFolder, manifest: dict[str, Any], array: Callable[[str, str], Array]) -> Objects:
    count = int(manifest["counts"]["objects"])
    more = open_object_attributes(folder, manifest["files"], count)
    whole = manifest["settings"].get("whole_ids", False)
    table = folder.table("objects.arrow")
    lookups = {
        column: Lookup(array(f"{name}.hashes", "u"), array(f"{name}.rows", "i")) for column, name in KEYS.items()
    }
    for lookup in lookups.values():
        if not len(lookup.rows) == len(lookup.hashes) == count:
            raise CubeError(f"objects are found by {len(lookup.rows):,} keys, expected {count:,}")
    return Objects(count, partial(_check_objects, folder, table, count), lookups, whole, more)


def _check_objects(folder: MappedFolder, table: pa.Table, count: int) -> pa.Table:
    """Return the table of objects, which was opened with the cube, after checking it."""
    try:
        check_columns(table, OBJECTS, "objects", gaps=("name", "kind"))
        if table.num_rows != count:
            raise CubeError(f"there are {table.num_rows:,}, expected {count:,}")
        if count <= FEW_TEXTS:
            table.validate(full=True)
    except (pa.ArrowException, OSError, KeyError, CubeError) as error:
        raise damage_error(folder.path, "objects", error) from None
    return table


def _make_label_table(cube: Cube) -> pa.Table:
    rows: dict[str, list[Any]] = {name: [] for name in LEVELS}
    for number, dimension in enumerate(cube.dimensions):
        places = {level.name: depth for depth, level in enumerate(dimension.levels)}
        for depth, level in enumerate(dimension.levels):
            above = [places[name] for name in level.above]
            parents = np.stack([np.empty(len(level.labels)), *level.above.values()]).T[:, 1:].astype(np.int32).tolist()
            for label, full_name, of_label in zip(level.labels, level.full_names, parents, strict=True):
                values = (number, depth, level.name, label, full_name, above, of_label)
                for name, value in zip(LEVELS, values, strict=True):
                    rows[name].append(value)
    return pa.table(rows, schema=pa.schema(list(LEVELS.items())))


def _read_dimensions(table: pa.Table) -> tuple[Dimension, ...]:
    check_columns(table, LEVELS, "labels")
    columns = [table[name].to_pylist() for name in LEVELS]
    levels: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for number, depth, *rest in zip(*columns, strict=True):
        levels.setdefault((number, depth), []).append(tuple(rest))
    dimensions = []
    for number in range(1 + max((key[0] for key in levels), default=-1)):
        rows = list(itertools.takewhile(bool, (levels.get((number, depth)) or [] for depth in range(len(levels)))))
        names = [of_level[0][0] for of_level in rows]
        dimensions.append(Dimension(tuple(_read_level(of_level, names) for of_level in rows)))
    return tuple(dimensions)


def _read_level(rows: list[tuple[Any, ...]], names: list[str]) -> Level:
    """Return a level from its rows; ``names`` are those of all levels of its dimension."""
    _, labels, full_names, above, parents = zip(*rows, strict=True)
    if any(one != above[0] for one in above) or any(len(one) != len(above[0]) for one in parents):
        raise CubeError(f"labels of level {rows[0][0]!r} have different levels above")
    if not all(number is not None and 0 <= number < len(names) for number in above[0]):
        raise CubeError(f"level {rows[0][0]!r} stands below one that is not there")
    if any(number is None for of_label in parents for number in of_label):
        raise CubeError(f"level {rows[0][0]!r} does not name a parent for every label")
    numbers = np.array(parents, dtype=np.int32).reshape(len(rows), len(above[0])).T.copy()
    return Level(rows[0][0], labels, full_names, {names[number]: numbers[i] for i, number in enumerate(above[0])})


def given(part: T) -> T:
    """Return a part of a cube that is at hand."""
    return part


LazyItems = Callable[[], ItemIndex]
ITEM_OBJECTS, ITEM_CELLS, ITEM_TOPICS, ITEM_TEXTS = "items.objects", "items.cells", "items.topics", "items.texts"
IDS, ITEM_ATTRIBUTES = "items.arrow", "items.attributes.arrow"
ABOUT_ITEMS = b"cube2net.items"
UNREADABLE = (pa.ArrowException, CubeError, InputError, OSError, KeyError, TypeError, ValueError)


def list_item_arrays(cube: Cube) -> dict[str, Array]:
    """Return the arrays of a cube's item index by name; none where it has no index."""
    if cube.items is None:
        return {}
    index = cube.items()
    rows = {ITEM_OBJECTS: index.objects, ITEM_CELLS: index.cells}
    if index.topics is not None:
        rows[ITEM_TOPICS] = index.topics
    arrays = {f"{name}.indptr": part.indptr for name, part in rows.items()}
    arrays |= {f"{name}.indices": part.indices for name, part in rows.items()}
    return arrays if index.texts is None else arrays | {ITEM_TEXTS: index.texts}


def find_same_item_tables(cube: Cube, before: Cube) -> set[str]:
    """Return the files of ids and attributes that a cube shares with the one before it."""
    if cube.items is None or before.items is None:
        return set()
    index, old = cube.items(), before.items()
    files = {IDS} if index is old or index.load is old.load else set()
    kept = index.load_attributes is not None and index.load_attributes is old.load_attributes
    return files | ({ITEM_ATTRIBUTES} if kept else set())


def write_item_tables(cube: Cube, folder: Path, same: Collection[str]) -> None:
    """Write the ids of a cube's items, and the attributes that it keeps of them, but for what is the same."""
    if cube.items is None:
        return
    index = cube.items()
    if IDS not in same:
        about = json.dumps({"derived": index.derived}).encode()
        ids = pa.table({"item": index.ids}).replace_schema_metadata({ABOUT_ITEMS: about})
        write_mapped_table(folder / IDS, ids, rows=None)
    if index.load_attributes is not None and ITEM_ATTRIBUTES not in same:
        attributes = index.kept_attributes
        write_mapped(folder / ITEM_ATTRIBUTES, attributes.batches(), attributes.schema)


def open_items(folder: MappedFolder, files: Collection[str], objects: int, cells: int) -> LazyItems | None:
    """Return what reads the item index of a cube from files that are opened now, or None for a cube that has none."""
    if IDS not in files:
        return None
    objects_of, cells_of = (_open_rows(folder, name) for name in (ITEM_OBJECTS, ITEM_CELLS))
    topics = _open_rows(folder, ITEM_TOPICS) if f"{ITEM_TOPICS}.indptr.npy" in files else None
    texts = folder.array(f"{ITEM_TEXTS}.npy", "u") if f"{ITEM_TEXTS}.npy" in files else None
    file = folder.buffer(IDS)
    attributes = _open_item_attributes(folder) if ITEM_ATTRIBUTES in files else None

    @cache
    def reader() -> ItemIndex:
        try:
            ids = pa.ipc.open_file(file).read_all()
            check_columns(ids, {"item": pa.string()}, "items")
            ids.validate(full=True)
            derived = bool(json.loads(ids.schema.metadata[ABOUT_ITEMS])["derived"])
            some = None if topics is None else Ragged(*topics)
            index = ItemIndex(
                Ragged(*objects_of), Ragged(*cells_of), derived, lambda: ids["item"], attributes, some, texts
            )
            if ids.num_rows != len(index):
                raise CubeError(f"{len(index):,} items have {ids.num_rows:,} ids")
            for rows, count in ((index.objects, objects), (index.cells, cells)):
                if len(rows.indices) and not 0 <= int(rows.indices.min()) <= int(rows.indices.max()) < count:
                    raise CubeError("it points to what is not there")
        except UNREADABLE as error:
            raise damage_error(folder.path, "items", error) from None
        return index

    return reader


def _open_rows(folder: MappedFolder, name: str) -> tuple[Array, Array]:
    return folder.array(f"{name}.indptr.npy", "i"), folder.array(f"{name}.indices.npy", "i")


def _open_item_attributes(folder: MappedFolder) -> Callable[[], ItemAttributes]:
    """Return what reads the attributes of items from a file that is opened now."""
    file = folder.buffer(ITEM_ATTRIBUTES)

    @cache
    def reader() -> ItemAttributes:
        try:
            table = pa.ipc.open_file(file).read_all()
            table.validate(full=True)
        except UNREADABLE as error:
            raise damage_error(folder.path, "attributes of items", error) from None
        return ItemAttributes((table,), written=True)

    return reader


OBJECT_ATTRIBUTES, DETAILS, STARTS = "objects.attributes.arrow", "links.details.arrow", "links.details.indptr"


def list_carried_tables(cube: Cube) -> dict[str, pa.Table]:
    """Return the tables of what a cube carries besides, by the names of their files."""
    tables = {}
    if cube.objects.load_attributes is not None:
        tables[OBJECT_ATTRIBUTES] = cube.objects.attributes
    if cube.details is not None:
        tables[DETAILS] = cube.details().rows
    return tables


def list_detail_arrays(cube: Cube) -> dict[str, Array]:
    """Return the arrays of what a cube carries besides, by name."""
    return {} if cube.details is None else {STARTS: cube.details().indptr}


def find_same_tables(cube: Cube, old: Cube) -> set[str]:
    """Return the files of tables that a cube shares with the one before it."""
    files = set()
    if cube.objects.load_attributes is not None and cube.objects.load_attributes is old.objects.load_attributes:
        files.add(OBJECT_ATTRIBUTES)
    if cube.details is not None and cube.details is old.details:
        files.add(DETAILS)
    return files


def open_object_attributes(folder: MappedFolder, files: Collection[str], objects: int) -> Callable[[], pa.Table] | None:
    """Return what reads the attributes of objects from a file that is opened now, or None for a cube without any."""
    if OBJECT_ATTRIBUTES not in files:
        return None
    file = folder.buffer(OBJECT_ATTRIBUTES)

    @cache
    def reader() -> pa.Table:
        try:
            table = pa.ipc.open_file(file).read_all()
            table.validate(full=objects <= FEW_TEXTS)  # of more objects they are looked through with their texts
            if table.num_rows != objects or len(set(table.column_names)) != table.num_columns:
                raise CubeError(f"{table.num_columns:,} attributes have {table.num_rows:,} rows, expected {objects:,}")
        except UNREADABLE as error:
            raise damage_error(folder.path, "attributes of objects", error) from None
        return table

    return reader


def open_details(folder: MappedFolder, files: Collection[str], objects: int) -> Callable[[], LinkDetails] | None:
    """Return what reads the links one by one from files that are opened now, or None for a cube that has none."""
    if DETAILS not in files:
        return None
    starts, file = folder.array(f"{STARTS}.npy", "i"), folder.buffer(DETAILS)

    @cache
    def reader() -> LinkDetails:
        try:
            rows = pa.ipc.open_file(file).read_all()
            rows.validate(full=True)
            details = LinkDetails(starts, rows)
            if len(details.indptr) != objects + 1:
                raise CubeError(f"{len(details.indptr) - 1:,} objects have links, expected {objects:,}")
            _check_rows(details, objects)
            if KIND in details.columns and any(one.dictionary.null_count for one in rows[KIND].chunks):
                raise CubeError("a kind of links has no name")
        except UNREADABLE as error:
            raise damage_error(folder.path, "links one by one", error) from None
        return details

    return reader


def _check_rows(details: LinkDetails, objects: int) -> None:
    """Raise where the higher ends are no objects or do not ascend within those of a lower end, or weights are none."""
    if not all_within(details.column("weight"), 0, HEAVIEST):
        raise CubeError("they hold weights that are below 0, without end or no numbers")
    higher = details.higher
    if not all_within(higher, 0, objects - 1):
        raise CubeError("they point to what is not there")
    falls = np.flatnonzero(higher[1:] < higher[:-1]) + 1
    if not np.isin(falls, details.indptr).all():
        raise CubeError("they are not in their order")
