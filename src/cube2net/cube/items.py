"""The item index of a cube: made from what the plan reads, kept in files, and numbered anew when cells are."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrow_files import MappedFolder
from cube2net.cube.manifest import damaged
from cube2net.cube.packing import Allocate, in_memory
from cube2net.cube.soundness import check_columns
from cube2net.errors import CubeError, InputError
from cube2net.records import Cells, Cube, ItemIndex, Ragged

OBJECTS, CELLS, IDS = "items.objects", "items.cells", "items.arrow"
ABOUT = b"cube2net.items"
NONE = np.empty(0, np.int32)
LazyItems = Callable[[], ItemIndex]


def index_items(
    ids: pa.ChunkedArray,
    mentions: pa.Table,
    labels: pa.Table,
    cells: Sequence[Cells],
    sizes: Sequence[int],
    *,
    derived: bool,
    allocate: Allocate = in_memory,
) -> ItemIndex:
    """Return the index of items from the tables ``mentions(item, object)`` and ``labels(item, dimension, label)``.

    ``cells`` are those that are kept and then those that are small, in dimensions of ``sizes`` labels.
    """
    from cube2net.kernels.item_rows import count_cells, fill_cells

    count, width = len(ids), len(sizes)
    objects = pack_rows(OBJECTS, mentions, "object", count, 1, allocate)
    labelled = pack_rows("labels", labels, "label", count, width, in_memory)
    counts = np.empty(count, np.int64)
    count_cells(objects.indptr, labelled.indptr, width, counts)
    indptr = allocate(f"{CELLS}.indptr", count + 1, np.int64)
    indptr[0] = 0
    np.cumsum(counts, out=indptr[1:])
    indices = allocate(f"{CELLS}.indices", int(indptr[-1]), np.int32)
    keys, numbers = cells_by_key(cells, sizes)
    fill_cells(indptr, labelled.indptr, labelled.indices, np.array(sizes, np.int64), keys, numbers, indices)
    return ItemIndex(objects, Ragged(indptr, indices), derived, lambda: ids)


def pack_rows(name: str, table: pa.Table, column: str, items: int, width: int, allocate: Allocate) -> Ragged:
    """Return a row of a column's entries for every item (and each of ``width`` dimensions), ascending and once each."""
    from cube2net.kernels.csr import count_entries
    from cube2net.kernels.item_rows import fill_rows, sort_rows

    def rows(batch: pa.RecordBatch) -> Array:
        item: Array = batch["item"].to_numpy()
        return item if width == 1 else item.astype(np.int64) * width + batch["dimension"].to_numpy()

    starts = np.zeros(items * width + 1, np.int64)
    batches = table.to_batches()
    for batch in batches:
        count_entries(rows(batch), starts[1:])
    np.cumsum(starts, out=starts)
    entries = np.empty(int(starts[-1]), np.int32)
    places = starts[:-1].copy()
    for batch in batches:
        fill_rows(rows(batch), batch[column].to_numpy(), places, entries)
    end = sort_rows(starts, entries)
    indptr = allocate(f"{name}.indptr", len(starts), np.int64)
    indices = allocate(f"{name}.indices", end, np.int32)
    indptr[:], indices[:] = starts, entries[:end]
    return Ragged(indptr, indices)


def cells_by_key(cells: Sequence[Cells], sizes: Sequence[int]) -> tuple[Array, Array]:
    """Return the keys of cells, ascending, and the number of each one's cell, counted on from part to part.

    >>> one = Cells(np.array([[0, 2], [1, 0]]), Ragged(np.array([0, 0, 0]), NONE))
    >>> two = Cells(np.array([[0, 1]]), Ragged(np.array([0, 0]), NONE))
    >>> [array.tolist() for array in cells_by_key([one, two], [2, 3])]
    [[1, 2, 3], [2, 0, 1]]
    """
    keys = np.concatenate([cell_keys(part.labels, sizes) for part in cells])
    order = np.argsort(keys)
    return keys[order], order.astype(np.int32)


def cell_keys(labels: Array, sizes: Sequence[int]) -> Array:
    """Return the key of every row of labels, as the plan makes it."""
    keys = np.zeros(len(labels), np.int64)
    for number, size in enumerate(sizes):
        keys = keys * size + labels[:, number]
    return keys


def renumbered(items: LazyItems | None, numbers: Array) -> LazyItems | None:
    """Return what gives an index with other numbers of cells, when called; cells whose number is -1 are left out."""
    if items is None:
        return None
    return cache(partial(_renumber, items, numbers))


def without_rows(index: ItemIndex, gone: Array, numbers: Array) -> ItemIndex:
    """Return an index in which the items that are marked mention nothing, with other numbers of cells."""
    objects = rows_anew(index.objects, gone, NONE)
    return ItemIndex(objects, rows_anew(index.cells, gone, numbers), index.derived, index.load)


def rows_anew(rows: Ragged, empty: Array, numbers: Array) -> Ragged:
    """Return rows with other numbers, ascending; those that are marked are empty, and entries of -1 are left out."""
    from cube2net.kernels.item_rows import renumber_rows

    return Ragged(*renumber_rows(rows.indptr, rows.indices, empty, numbers))


def arrays_of_items(cube: Cube) -> dict[str, Array]:
    """Return the arrays of a cube's item index by name; none where it has no index."""
    if cube.items is None:
        return {}
    index = cube.items()
    return {
        f"{OBJECTS}.indptr": index.objects.indptr,
        f"{OBJECTS}.indices": index.objects.indices,
        f"{CELLS}.indptr": index.cells.indptr,
        f"{CELLS}.indices": index.cells.indices,
    }


def table_of_items(index: ItemIndex) -> pa.Table:
    """Return the ids of an index as a table that also says whether links come from its items."""
    about = json.dumps({"derived": index.derived}).encode()
    return pa.table({"item": index.ids}).replace_schema_metadata({ABOUT: about})


def open_items(folder: MappedFolder, files: Collection[str], objects: int, cells: int) -> LazyItems | None:
    """Return what reads the item index of a cube from files that are opened now, or None for a cube that has none."""
    if IDS not in files:
        return None
    names = [f"{rows}.{part}" for rows in (OBJECTS, CELLS) for part in ("indptr", "indices")]
    arrays = [folder.array(f"{name}.npy", "i") for name in names]
    file = folder.buffer(IDS)

    @cache
    def reader() -> ItemIndex:
        try:
            ids = pa.ipc.open_file(file).read_all()
            check_columns(ids, {"item": pa.string()}, "items")
            ids.validate(full=True)
            derived = bool(json.loads(ids.schema.metadata[ABOUT])["derived"])
            index = ItemIndex(Ragged(*arrays[:2]), Ragged(*arrays[2:]), derived, lambda: ids["item"])
            if ids.num_rows != len(index):
                raise CubeError(f"{len(index):,} items have {ids.num_rows:,} ids")
            for rows, count in ((index.objects, objects), (index.cells, cells)):
                if len(rows.indices) and not 0 <= int(rows.indices.min()) <= int(rows.indices.max()) < count:
                    raise CubeError("it points to what is not there")
        except (pa.ArrowException, CubeError, InputError, OSError, KeyError, TypeError, ValueError) as error:
            raise damaged(folder.path, "items", error) from None
        return index

    return reader


def _renumber(items: LazyItems, numbers: Array) -> ItemIndex:
    index = items()
    return ItemIndex(index.objects, rows_anew(index.cells, NONE, numbers), index.derived, index.load)
