"""The items of a cube as files: what they mention, the cells they are in, their ids, attributes and topics."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrow_files import MappedFolder, write_mapped, write_mapped_table
from cube2net.cube.storage.manifest import damaged
from cube2net.cube.storage.soundness import check_columns
from cube2net.errors import CubeError, InputError
from cube2net.records import Cube, ItemIndex, Ragged
from cube2net.records.item_attributes import ItemAttributes

LazyItems = Callable[[], ItemIndex]
ITEM_OBJECTS, ITEM_CELLS, ITEM_TOPICS, ITEM_TEXTS = "items.objects", "items.cells", "items.topics", "items.texts"
IDS, ATTRIBUTES = "items.arrow", "items.attributes.arrow"
ABOUT_ITEMS = b"cube2net.items"
NO_READING = (pa.ArrowException, CubeError, InputError, OSError, KeyError, TypeError, ValueError)


def arrays_of_items(cube: Cube) -> dict[str, Array]:
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


def same_item_tables(cube: Cube, before: Cube) -> set[str]:
    """Return the files of ids and attributes that a cube shares with the one before it."""
    if cube.items is None or before.items is None:
        return set()
    index, old = cube.items(), before.items()
    files = {IDS} if index is old or index.load is old.load else set()
    kept = index.load_attributes is not None and index.load_attributes is old.load_attributes
    return files | ({ATTRIBUTES} if kept else set())


def write_item_tables(cube: Cube, folder: Path, same: Collection[str]) -> None:
    """Write the ids of a cube's items, and the attributes that it keeps of them, but for what is the same."""
    if cube.items is None:
        return
    index = cube.items()
    if IDS not in same:
        about = json.dumps({"derived": index.derived}).encode()
        ids = pa.table({"item": index.ids}).replace_schema_metadata({ABOUT_ITEMS: about})
        write_mapped_table(folder / IDS, ids, rows=None)
    if index.load_attributes is not None and ATTRIBUTES not in same:
        attributes = index.kept_attributes
        write_mapped(folder / ATTRIBUTES, attributes.batches(), attributes.schema)


def open_items(folder: MappedFolder, files: Collection[str], objects: int, cells: int) -> LazyItems | None:
    """Return what reads the item index of a cube from files that are opened now, or None for a cube that has none."""
    if IDS not in files:
        return None
    objects_of, cells_of = (_rows(folder, name) for name in (ITEM_OBJECTS, ITEM_CELLS))
    topics = _rows(folder, ITEM_TOPICS) if f"{ITEM_TOPICS}.indptr.npy" in files else None
    texts = folder.array(f"{ITEM_TEXTS}.npy", "u") if f"{ITEM_TEXTS}.npy" in files else None
    file = folder.buffer(IDS)
    attributes = _open_attributes(folder) if ATTRIBUTES in files else None

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
        except NO_READING as error:
            raise damaged(folder.path, "items", error) from None
        return index

    return reader


def _rows(folder: MappedFolder, name: str) -> tuple[Array, Array]:
    return folder.array(f"{name}.indptr.npy", "i"), folder.array(f"{name}.indices.npy", "i")


def _open_attributes(folder: MappedFolder) -> Callable[[], ItemAttributes]:
    """Return what reads the attributes of items from a file that is opened now."""
    file = folder.buffer(ATTRIBUTES)

    @cache
    def reader() -> ItemAttributes:
        try:
            table = pa.ipc.open_file(file).read_all()
            table.validate(full=True)
        except NO_READING as error:
            raise damaged(folder.path, "attributes of items", error) from None
        return ItemAttributes((table,), written=True)

    return reader
