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

NO_NUMBERS = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class GrownCells:
    """The cells of a cube, the cells below ``min_objects``, and the cells of every object."""

    cells: Cells
    small: Cells
    object_cells: Ragged


def pack_cells(
    tables: Mapping[str, pa.Table], sizes: Sequence[int], min_objects: int, allocate: Allocate = allocate_in_memory
) -> tuple[Cells, Cells]:
    """Return the cells of the plan's tables ``cells`` and ``members``, and the cells of less than ``min_objects``."""
    check_count(CELLS, tables["cells"].num_rows)
    order = np.argsort(tables["cells"]["cell"].to_numpy())
    labels = split_keys(tables["cells"]["cell_key"].to_numpy()[order], sizes)
    counts = tables["cells"]["objects"].to_numpy()[order]
    large_count = int((counts >= min_objects).sum())
    large = pack_members("cells.members", counts[:large_count], tables["members"], 0, allocate)
    small = pack_members("small.members", counts[large_count:], tables["members"], len(large.indices), allocate)
    return Cells(labels[:large_count], large), Cells(labels[large_count:], small)


def grow_cells(
    cube: Cube,
    places: Sequence[Array],
    sizes: Sequence[int],
    new_cells: tuple[Cells, Cells],
    *,
    min_objects: int,
    object_count: int,
    allocate: Allocate = allocate_in_memory,
) -> GrownCells:
    """Return the cells of a cube with the members of new cells added.

    ``places`` holds the new number of each of the cube's labels, of which there are now ``sizes``. Only cells that
    grow are merged; the others are copied.
    """
    if len(cube.cells) + len(cube.small) == 0:
        return GrownCells(*new_cells, pack_object_cells(new_cells[0].members, object_count, allocate))
    new_keys = np.concatenate([compute_cell_keys(part.labels, sizes) for part in new_cells])
    moved = any(len(place) != size for place, size in zip(places, sizes, strict=True))
    if len(new_keys) == 0 and not moved:
        return GrownCells(
            cube.cells,
            cube.small,
            Ragged(extend_offsets(cube.object_cells.indptr, object_count), cube.object_cells.indices),
        )
    new_members = join_rows(new_cells[0].members, new_cells[1].members)
    large_count = len(cube.cells)
    old_keys = compute_cell_keys(cube.join_labels(), sizes, places)
    all_keys = np.union1d(old_keys, new_keys)
    check_count(CELLS, len(all_keys))
    old_rows, new_rows = np.full(len(all_keys), -1, np.int64), np.full(len(all_keys), -1, np.int64)
    old_rows[np.searchsorted(all_keys, old_keys)] = np.arange(len(old_keys))
    new_rows[np.searchsorted(all_keys, new_keys)] = np.arange(len(new_keys))

    old_members = cube.join_members()
    changed = np.flatnonzero(new_rows >= 0)
    merged = _merge(old_members, old_rows[changed], new_members, new_rows[changed])
    counts = np.zeros(len(all_keys), np.int64)
    counts[old_rows >= 0] = old_members.sizes[old_rows[old_rows >= 0]]
    counts[changed] = merged.sizes
    merged_rows = np.full(len(all_keys), -1, np.int64)
    merged_rows[changed] = np.arange(len(changed))
    copied_rows = np.where(merged_rows < 0, old_rows, -1)

    def select_cells(rows: Array) -> Cells:
        return Cells(
            split_keys(all_keys[rows], sizes), _merge(old_members, copied_rows[rows], merged, merged_rows[rows])
        )

    large = np.flatnonzero(counts >= min_objects)
    cell_numbers = np.full(len(all_keys), -1, np.int32)
    cell_numbers[large] = np.arange(len(large), dtype=np.int32)
    grown = changed[cell_numbers[changed] >= 0]
    was_large = (old_rows[grown] >= 0) & (old_rows[grown] < large_count)
    pairs = [
        (cell_numbers[grown[was_large]], take_rows(new_members, new_rows[grown[was_large]])),
        (cell_numbers[grown[~was_large]], take_rows(merged, merged_rows[grown[~was_large]])),
    ]
    objects = np.concatenate([rows.indices for _, rows in pairs])
    object_rows = np.concatenate([numbers[row_of_entries(rows)] for numbers, rows in pairs])
    renumbered = cell_numbers[np.searchsorted(all_keys, old_keys[:large_count])]
    object_cells = _grow_rows(cube.object_cells, renumbered, *_group_entries(objects, object_rows), object_count)
    return GrownCells(select_cells(large), select_cells(np.flatnonzero(counts < min_objects)), object_cells)


def pack_members(
    name: str, sizes: Array, members: pa.Table, first: int, allocate: Allocate = allocate_in_memory
) -> Ragged:
    """Return rows of the given sizes, which follow one another in the column ``object`` from ``first`` on."""
    indptr = fill_offsets(sizes, allocate(f"{name}.indptr", len(sizes) + 1, np.int64))
    indices = allocate(f"{name}.indices", int(indptr[-1]), np.int32)
    start = 0
    for chunk in members["object"].slice(first, int(indptr[-1])).chunks:
        indices[start : start + len(chunk)] = chunk.to_numpy()
        start += len(chunk)
    return Ragged(indptr, indices)


def pack_object_cells(members: Ragged, objects: int, allocate: Allocate = allocate_in_memory) -> Ragged:
    """Return the cells of every object, given the objects of every cell.

    >>> homes = pack_object_cells(Ragged(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32)), 3)
    >>> [homes[i].tolist() for i in range(3)]
    [[0], [], [0, 1]]
    """
    from cube2net.kernels.csr import count_entries, fill_homes

    cell_counts = np.zeros(objects, np.int64)
    count_entries(members.indices, cell_counts)
    indptr = fill_offsets(cell_counts, allocate("homes.indptr", objects + 1, np.int64))
    homes = allocate("homes.indices", len(members.indices), np.int32)
    fill_homes(members.indptr, members.indices, np.array(indptr[:-1]), homes)
    return Ragged(indptr, homes)


def compute_cell_keys(labels: Array, sizes: Sequence[int], places: Sequence[Array] | None = None) -> Array:
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


def _merge(old: Ragged, old_rows: Array, new: Ragged, new_rows: Array, renumber: Array = NO_NUMBERS) -> Ragged:
    from cube2net.kernels.csr import merge_rows

    return Ragged(*merge_rows(old.indptr, old.indices, old_rows, renumber, new.indptr, new.indices, new_rows))


def _group_entries(rows: Array, entries: Array) -> tuple[Ragged, Array]:
    """Return the entries of the rows that are not empty, and the numbers of these rows."""
    rows_with_entries, places = np.unique(rows, return_inverse=True)
    return ragged_from_pairs(places, entries, len(rows_with_entries)), rows_with_entries


def _grow_rows(old: Ragged, renumber: Array, new: Ragged, changed: Array, count: int) -> Ragged:
    """Return ``count`` rows: the old ones with new numbers, extended by empty ones, and the new entries merged in."""
    old_rows = np.arange(count)
    old_rows[len(old) :] = -1
    new_rows = np.full(count, -1, np.int64)
    new_rows[changed] = np.arange(len(changed))
    return _merge(old, old_rows, new, new_rows, renumber)


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
    old_index, ids = cube.items(), corpus.items["item"]
    sizes = [len(dimension.labels) for dimension in labelled.dimensions]
    if len(old_index) == 0:
        only_index = index_items(ids, mentions, labelled.table, cells, sizes, old_index.derived, allocate)
        if old_index.load_attributes is not None:
            only_index = _add_attributes(only_index, corpus, topics, labelled.ledger.topics, allocate)
        return lambda: only_index
    cell_numbers = _find_cell_numbers(cube, cells, sizes, labelled.places)
    cells_moved = bool(np.any(cell_numbers != np.arange(len(cell_numbers))))
    if len(ids) == 0 and not cells_moved:
        return cube.items
    check_count("items", len(old_index) + len(ids))
    rows = rebuild_rows(old_index.cells, NO_NUMBERS, cell_numbers) if cells_moved else old_index.cells
    if len(ids) == 0:
        renumbered = replace(old_index, cells=rows)
        return lambda: renumbered
    new_index = index_items(ids, mentions, labelled.table, cells, sizes, old_index.derived)
    index = ItemIndex(
        join_rows(old_index.objects, new_index.objects),
        join_rows(rows, new_index.cells),
        old_index.derived,
        lambda: pa.chunked_array([*old_index.ids.chunks, *new_index.ids.chunks], pa.string()),
    )
    if old_index.load_attributes is not None:
        new_with_attributes = _add_attributes(new_index, corpus, topics, labelled.ledger.topics)
        new_topics = new_with_attributes.topics or make_empty_rows(len(ids))
        attributes = old_index.kept_attributes.plus(corpus.items)
        index = replace(
            index,
            load_attributes=lambda: attributes,
            topics=None if old_index.topics is None else join_rows(old_index.topics, new_topics),
            texts=None if old_index.texts is None else np.concatenate([old_index.texts, hash_item_texts(corpus)]),
        )
    return lambda: index


def hash_item_texts(corpus: Corpus) -> Array:
    """Return a 64-bit hash of the text of every item, or of the terms that replace it; 0 for none."""
    hashes = np.zeros(corpus.items.num_rows, np.uint64)
    if corpus.terms is not None:
        odd_counts = corpus.terms["count"].to_numpy().astype(np.uint64) * np.uint64(2) + np.uint64(1)
        np.add.at(hashes, corpus.terms["item"].to_numpy(), hash_column(corpus.terms["term"]) * odd_counts)
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
    topic_numbers = {name: number for number, name in enumerate(names)}
    numbers = np.array([topic_numbers[name] for name in topics.names], dtype=np.int32)
    topic = pa.array(numbers[topics.assigned["topic"].to_numpy()], pa.int32())
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

    def number_rows(batch: pa.RecordBatch) -> Array:
        item: Array = batch["item"].to_numpy()
        return item if width == 1 else item.astype(np.int64) * width + batch["dimension"].to_numpy()

    starts = np.zeros(items * width + 1, np.int64)
    batches = table.to_batches()
    for batch in batches:
        count_entries(number_rows(batch), starts[1:])
    np.cumsum(starts, out=starts)
    entries = np.empty(int(starts[-1]), np.int32)
    places = starts[:-1].copy()
    for batch in batches:
        fill_rows(number_rows(batch), batch[column].to_numpy(), places, entries)
    entry_count = sort_rows(starts, entries)
    indptr = allocate(f"{name}.indptr", len(starts), np.int64)
    indices = allocate(f"{name}.indices", entry_count, np.int32)
    indptr[:], indices[:] = starts, entries[:entry_count]
    return Ragged(indptr, indices)


def sort_cells_by_key(cells: Sequence[Cells], sizes: Sequence[int]) -> tuple[Array, Array]:
    """Return the keys of cells in several parts, ascending, and the number of the cell of each.

    >>> large = Cells(np.array([[0, 2], [1, 0]]), Ragged(np.array([0, 0, 0]), NO_NUMBERS))
    >>> small = Cells(np.array([[0, 1]]), Ragged(np.array([0, 0]), NO_NUMBERS))
    >>> [array.tolist() for array in sort_cells_by_key([large, small], [2, 3])]
    [[1, 2, 3], [2, 0, 1]]
    """
    keys = np.concatenate([compute_cell_keys(cell_group.labels, sizes) for cell_group in cells])
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
        return replace(index, cells=rebuild_rows(index.cells, NO_NUMBERS, numbers))

    return renumber


def empty_items(index: ItemIndex, gone: Array, numbers: Array) -> ItemIndex:
    """Return an index with new cell numbers in which the marked items mention nothing."""
    objects = rebuild_rows(index.objects, gone, NO_NUMBERS)
    gone = gone if index.gone is None else gone | index.gone
    return replace(index, objects=objects, cells=rebuild_rows(index.cells, gone, numbers), gone=gone)


def rebuild_rows(rows: Ragged, empty: Array, numbers: Array) -> Ragged:
    """Return rows with new numbers, ascending; marked rows are emptied, and entries of -1 are left out."""
    from cube2net.kernels.item_rows import renumber_rows

    return Ragged(*renumber_rows(rows.indptr, rows.indices, empty, numbers))


def _find_cell_numbers(cube: Cube, cells: Sequence[Cells], sizes: Sequence[int], places: Sequence[Array]) -> Array:
    keys, numbers = sort_cells_by_key(cells, sizes)
    return numbers[np.searchsorted(keys, compute_cell_keys(cube.join_labels(), sizes, places))]
