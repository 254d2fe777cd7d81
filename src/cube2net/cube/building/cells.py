"""Pack the cells and the items of a cube from the tables of the plan, and merge them with those of an older cube."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import (
    Array,
    Ragged,
    join_rows,
    make_empty_rows,
    ragged_from_pairs,
    row_of_entries,
    take_rows,
)
from cube2net.cube.building.dimensions import LabelledItems
from cube2net.cube.plan import split_keys
from cube2net.cube.storage.ledger import hash_column
from cube2net.cube.storage.reader import ITEM_CELLS, ITEM_OBJECTS, ITEM_TOPICS
from cube2net.cube.storage.writer import Allocate, allocate_in_memory
from cube2net.model.corpus import CELLS, Corpus, Topics, check_count
from cube2net.model.cube import Cells, Cube
from cube2net.model.items import ROWS, ItemAttributes, ItemIndex

NONE = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class GrownCells:
    """The cells of a cube, the cells below ``min_objects``, and the cells of every object."""

    cells: Cells
    small: Cells
    object_cells: Ragged


def pack_cells(
    tables: Mapping[str, pa.Table], sizes: Sequence[int], least: int, allocate: Allocate = allocate_in_memory
) -> tuple[Cells, Cells]:
    """Return the cells of the plan's tables ``cells`` and ``members``, and the cells below ``least`` objects."""
    check_count(CELLS, tables["cells"].num_rows)
    order = np.argsort(tables["cells"]["cell"].to_numpy())
    labels = split_keys(tables["cells"]["cell_key"].to_numpy()[order], sizes)
    counts = tables["cells"]["objects"].to_numpy()[order]
    kept = int((counts >= least).sum())
    large = pack_members("cells.members", counts[:kept], tables["members"], 0, allocate)
    small = pack_members("small.members", counts[kept:], tables["members"], len(large.indices), allocate)
    return Cells(labels[:kept], large), Cells(labels[kept:], small)


def grow_cells(
    cube: Cube,
    places: Sequence[Array],
    sizes: Sequence[int],
    brought: tuple[Cells, Cells],
    *,
    least: int,
    objects: int,
    allocate: Allocate = allocate_in_memory,
) -> GrownCells:
    """Return the cells of a cube with the members of new cells added.

    ``places`` holds the new number of each of the cube's labels, of which there are now ``sizes``. Only cells that
    grow are merged; the others are copied.
    """
    if len(cube.cells) + len(cube.small) == 0:
        return GrownCells(*brought, pack_object_cells(brought[0].members, objects, allocate))
    keys = np.concatenate([cell_keys(part.labels, sizes) for part in brought])
    moved = any(len(place) != size for place, size in zip(places, sizes, strict=True))
    if len(keys) == 0 and not moved:
        return GrownCells(
            cube.cells, cube.small, Ragged(extend_offsets(cube.object_cells.indptr, objects), cube.object_cells.indices)
        )
    members = join_rows(brought[0].members, brought[1].members)
    kept = len(cube.cells)
    old = cell_keys(join_all_labels(cube), sizes, places)
    every = np.union1d(old, keys)
    check_count(CELLS, len(every))
    of_old, of_new = np.full(len(every), -1, np.int64), np.full(len(every), -1, np.int64)
    of_old[np.searchsorted(every, old)] = np.arange(len(old))
    of_new[np.searchsorted(every, keys)] = np.arange(len(keys))

    before = join_all_members(cube)
    touched = np.flatnonzero(of_new >= 0)
    larger = _merge(before, of_old[touched], members, of_new[touched])
    count = np.zeros(len(every), np.int64)
    count[of_old >= 0] = before.sizes[of_old[of_old >= 0]]
    count[touched] = larger.sizes
    of_larger = np.full(len(every), -1, np.int64)
    of_larger[touched] = np.arange(len(touched))
    of_rest = np.where(of_larger < 0, of_old, -1)

    def cells(rows: Array) -> Cells:
        return Cells(split_keys(every[rows], sizes), _merge(before, of_rest[rows], larger, of_larger[rows]))

    large = np.flatnonzero(count >= least)
    number = np.full(len(every), -1, np.int32)
    number[large] = np.arange(len(large), dtype=np.int32)
    grew = touched[number[touched] >= 0]
    was_kept = (of_old[grew] >= 0) & (of_old[grew] < kept)
    pairs = [
        (number[grew[was_kept]], take_rows(members, of_new[grew[was_kept]])),
        (number[grew[~was_kept]], take_rows(larger, of_larger[grew[~was_kept]])),
    ]
    who = np.concatenate([rows.indices for _, rows in pairs])
    where = np.concatenate([numbers[row_of_entries(rows)] for numbers, rows in pairs])
    renumber = number[np.searchsorted(every, old[:kept])]
    homes = _grow_rows(cube.object_cells, renumber, *_group_entries(who, where), objects)
    return GrownCells(cells(large), cells(np.flatnonzero(count < least)), homes)


def pack_members(
    name: str, sizes: Array, members: pa.Table, first: int, allocate: Allocate = allocate_in_memory
) -> Ragged:
    """Return rows of the given sizes, which follow one another in the column ``object`` from ``first`` on."""
    indptr = fill_offsets(sizes, allocate(f"{name}.indptr", len(sizes) + 1, np.int64))
    indices = allocate(f"{name}.indices", int(indptr[-1]), np.int32)
    at = 0
    for chunk in members["object"].slice(first, int(indptr[-1])).chunks:
        indices[at : at + len(chunk)] = chunk.to_numpy()
        at += len(chunk)
    return Ragged(indptr, indices)


def pack_object_cells(members: Ragged, objects: int, allocate: Allocate = allocate_in_memory) -> Ragged:
    """Return the cells of every object, given the objects of every cell.

    >>> homes = pack_object_cells(Ragged(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32)), 3)
    >>> [homes[i].tolist() for i in range(3)]
    [[0], [], [0, 1]]
    """
    from cube2net.kernels.csr import count_entries, fill_homes

    counts = np.zeros(objects, np.int64)
    count_entries(members.indices, counts)
    indptr = fill_offsets(counts, allocate("homes.indptr", objects + 1, np.int64))
    homes = allocate("homes.indices", len(members.indices), np.int32)
    fill_homes(members.indptr, members.indices, np.array(indptr[:-1]), homes)
    return Ragged(indptr, homes)


def cell_keys(labels: Array, sizes: Sequence[int], places: Sequence[Array] | None = None) -> Array:
    """Return the key of every row of labels, as the plan computes it; ``places`` maps labels to new numbers."""
    keys = np.zeros(len(labels), np.int64)
    for number, size in enumerate(sizes):
        column = labels[:, number]
        keys = keys * size + (column if places is None else places[number][column])
    return keys


def fill_offsets(sizes: Array, indptr: Array) -> Array:
    """Write the offsets of rows of these sizes to an array, and return it."""
    indptr[0] = 0
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def extend_offsets(indptr: Array, count: int) -> Array:
    """Return offsets extended by empty rows to ``count`` rows."""
    missing = count + 1 - len(indptr)
    return np.concatenate([indptr, np.full(missing, indptr[-1])]) if missing else indptr


def _merge(old: Ragged, of_old: Array, new: Ragged, of_new: Array, renumber: Array = NONE) -> Ragged:
    from cube2net.kernels.csr import merge_rows

    return Ragged(*merge_rows(old.indptr, old.indices, of_old, renumber, new.indptr, new.indices, of_new))


def _group_entries(rows: Array, entries: Array) -> tuple[Ragged, Array]:
    """Return the entries of the rows that are not empty, and the numbers of these rows."""
    used, place = np.unique(rows, return_inverse=True)
    return ragged_from_pairs(place, entries, len(used)), used


def _grow_rows(old: Ragged, renumber: Array, new: Ragged, used: Array, count: int) -> Ragged:
    """Return ``count`` rows: the old ones with new numbers, extended by empty ones, and the new entries merged in."""
    of_old = np.arange(count)
    of_old[len(old) :] = -1
    of_new = np.full(count, -1, np.int64)
    of_new[used] = np.arange(len(used))
    return _merge(old, of_old, new, of_new, renumber)


def grow_items(
    cube: Cube,
    cells: Sequence[Cells],
    labelled: LabelledItems,
    corpus: Corpus,
    topics: Topics | None,
    mentions: pa.Table,
    allocate: Allocate = allocate_in_memory,
) -> Callable[[], ItemIndex] | None:
    """Return a function that returns the index of a cube's items and of a corpus's, or None if the cube has no index.

    ``cells`` are the new cells, large and small, and ``mentions`` are those of the corpus by the cube's objects.
    """
    if cube.items is None:
        return None
    old, ids = cube.items(), corpus.items["item"]
    sizes = [len(dimension.labels) for dimension in labelled.dimensions]
    if len(old) == 0:
        first = index_items(ids, mentions, labelled.table, cells, sizes, old.derived, allocate)
        if old.load_attributes is not None:
            first = _add_attributes(first, corpus, topics, labelled.ledger.topics, allocate)
        return lambda: first
    numbers = _find_cell_numbers(cube, cells, sizes, labelled.places)
    moved = bool(np.any(numbers != np.arange(len(numbers))))
    if len(ids) == 0 and not moved:
        return cube.items
    check_count("items", len(old) + len(ids))
    rows = rebuild_rows(old.cells, NONE, numbers) if moved else old.cells
    if len(ids) == 0:
        same = replace(old, cells=rows)
        return lambda: same
    new = index_items(ids, mentions, labelled.table, cells, sizes, old.derived)
    index = ItemIndex(
        join_rows(old.objects, new.objects),
        join_rows(rows, new.cells),
        old.derived,
        lambda: pa.chunked_array([*old.ids.chunks, *new.ids.chunks], pa.string()),
    )
    if old.load_attributes is not None:
        more = _add_attributes(new, corpus, topics, labelled.ledger.topics)
        new_topics = more.topics or make_empty_rows(len(ids))
        attributes = old.kept_attributes.plus(corpus.items)
        index = replace(
            index,
            load_attributes=lambda: attributes,
            topics=None if old.topics is None else join_rows(old.topics, new_topics),
            texts=None if old.texts is None else np.concatenate([old.texts, hash_item_texts(corpus)]),
        )
    return lambda: index


def hash_item_texts(corpus: Corpus) -> Array:
    """Return a 64-bit hash of the text of every item, or of the terms that replace it; 0 for none."""
    hashes = np.zeros(corpus.items.num_rows, np.uint64)
    if corpus.terms is not None:
        odd = corpus.terms["count"].to_numpy().astype(np.uint64) * np.uint64(2) + np.uint64(1)
        np.add.at(hashes, corpus.terms["item"].to_numpy(), hash_column(corpus.terms["term"]) * odd)
    elif "text" in corpus.items.column_names:
        for start in range(0, len(hashes), ROWS):
            texts = pc.fill_null(corpus.items["text"].slice(start, ROWS), "")
            has_text = np.asarray(pc.greater(pc.binary_length(texts), 0))
            hashes[start : start + ROWS] = np.where(has_text, hash_column(texts), 0)
    return hashes


def _add_attributes(
    index: ItemIndex,
    corpus: Corpus,
    topics: Topics | None,
    names: Sequence[str] | None,
    allocate: Allocate = allocate_in_memory,
) -> ItemIndex:
    """Return the index of a corpus's items with their attributes and, numbered as in ``names``, their topics."""
    attributes = ItemAttributes.of(corpus.items)
    index = replace(index, load_attributes=lambda: attributes)
    if topics is None or names is None:
        return index
    number = {name: place for place, name in enumerate(names)}
    place = np.array([number[name] for name in topics.names], dtype=np.int32)
    topic = pa.array(place[topics.assigned["topic"].to_numpy()], pa.int32())
    rows = pa.table({"item": topics.assigned["item"], "topic": topic})
    has_text = corpus.terms is not None or "text" in corpus.items.column_names
    return replace(
        index,
        topics=pack_rows(ITEM_TOPICS, rows, "topic", len(index), 1, allocate),
        texts=hash_item_texts(corpus) if has_text else None,
    )


def index_items(
    ids: pa.ChunkedArray,
    mentions: pa.Table,
    labels: pa.Table,
    cells: Sequence[Cells],
    sizes: Sequence[int],
    derived: bool,
    allocate: Allocate = allocate_in_memory,
) -> ItemIndex:
    """Return the index of items from the tables ``mentions(item, object)`` and ``labels(item, dimension, label)``.

    ``cells`` are the large cells and then the small ones, in dimensions of ``sizes`` labels.
    """
    from cube2net.kernels.item_rows import count_cells, fill_cells

    count, width = len(ids), len(sizes)
    objects = pack_rows(ITEM_OBJECTS, mentions, "object", count, 1, allocate)
    labelled = pack_rows("labels", labels, "label", count, width, allocate_in_memory)
    counts = np.empty(count, np.int64)
    count_cells(objects.indptr, labelled.indptr, width, counts)
    indptr = fill_offsets(counts, allocate(f"{ITEM_CELLS}.indptr", count + 1, np.int64))
    indices = allocate(f"{ITEM_CELLS}.indices", int(indptr[-1]), np.int32)
    keys, numbers = sort_cells_by_key(cells, sizes)
    fill_cells(indptr, labelled.indptr, labelled.indices, np.array(sizes, np.int64), keys, numbers, indices)
    return ItemIndex(objects, Ragged(indptr, indices), derived, lambda: ids)


def pack_rows(name: str, table: pa.Table, column: str, items: int, width: int, allocate: Allocate) -> Ragged:
    """Return the distinct entries of a column, ascending, for every item and each of ``width`` dimensions."""
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


def join_all_labels(cube: Cube) -> Array:
    """Return the labels of all cells, cells below ``min_objects`` last."""
    return np.concatenate([cube.cells.labels, cube.small.labels])


def join_all_members(cube: Cube) -> Ragged:
    """Return the members of all cells, cells below ``min_objects`` last."""
    return join_rows(cube.cells.members, cube.small.members)


def sort_cells_by_key(cells: Sequence[Cells], sizes: Sequence[int]) -> tuple[Array, Array]:
    """Return the keys of cells in several parts, ascending, and the number of the cell of each.

    >>> one = Cells(np.array([[0, 2], [1, 0]]), Ragged(np.array([0, 0, 0]), NONE))
    >>> two = Cells(np.array([[0, 1]]), Ragged(np.array([0, 0]), NONE))
    >>> [array.tolist() for array in sort_cells_by_key([one, two], [2, 3])]
    [[1, 2, 3], [2, 0, 1]]
    """
    keys = np.concatenate([cell_keys(part.labels, sizes) for part in cells])
    order = np.argsort(keys)
    return keys[order], order.astype(np.int32)


def renumber_cells(items: Callable[[], ItemIndex] | None, numbers: Array) -> Callable[[], ItemIndex] | None:
    """Return a function that returns the index with new cell numbers; cells with the number -1 are left out."""
    if items is None:
        return None

    @cache
    def renumber() -> ItemIndex:
        index = items()
        if len(numbers) and numbers[0] >= 0 and (np.diff(numbers) > 0).all():
            # Rows stay sorted: no compiled code is needed, which a query does not load.
            return replace(index, cells=Ragged(index.cells.indptr, numbers.astype(np.int32)[index.cells.indices]))
        return replace(index, cells=rebuild_rows(index.cells, NONE, numbers))

    return renumber


def empty_items(index: ItemIndex, gone: Array, numbers: Array) -> ItemIndex:
    """Return an index with new cell numbers in which the marked items mention nothing."""
    objects = rebuild_rows(index.objects, gone, NONE)
    gone = gone if index.gone is None else gone | index.gone
    return replace(index, objects=objects, cells=rebuild_rows(index.cells, gone, numbers), gone=gone)


def rebuild_rows(rows: Ragged, empty: Array, numbers: Array) -> Ragged:
    """Return rows with new numbers, ascending; marked rows are emptied, and entries of -1 are left out."""
    from cube2net.kernels.item_rows import renumber_rows

    return Ragged(*renumber_rows(rows.indptr, rows.indices, empty, numbers))


def _find_cell_numbers(cube: Cube, cells: Sequence[Cells], sizes: Sequence[int], places: Sequence[Array]) -> Array:
    keys, order = sort_cells_by_key(cells, sizes)
    return order[np.searchsorted(keys, cell_keys(join_all_labels(cube), sizes, places))]
