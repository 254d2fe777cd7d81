"""The item index of a cube: made from what the plan reads, grown with new items, and numbered anew when cells are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Ragged, join_rows
from cube2net.cube.building.cells import NONE, cell_keys
from cube2net.cube.building.dimensions import Labelled
from cube2net.cube.storage.ledger import hash_column
from cube2net.cube.storage.parts import ITEM_CELLS, ITEM_OBJECTS, ITEM_TOPICS, Allocate, LazyItems, in_memory
from cube2net.model.corpus import Corpus, Topics, check_count
from cube2net.model.cube import Cells, Cube
from cube2net.model.items import ROWS, ItemAttributes, ItemIndex


def grow_items(
    cube: Cube,
    cells: Sequence[Cells],
    labelled: Labelled,
    corpus: Corpus,
    topics: Topics | None,
    mentions: pa.Table,
    allocate: Allocate = in_memory,
) -> LazyItems | None:
    """Return what gives the index of a cube's items and of those of a corpus, or None where the cube has no index.

    ``cells`` are those of today, kept and small, and ``mentions`` those of the corpus by the cube's objects. Old
    objects keep their numbers.
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
        attributes = old.kept_attributes.plus(corpus.items)
        index = replace(
            index,
            load_attributes=lambda: attributes,
            topics=None if old.topics is None else join_rows(old.topics, more.topics or _make_empty_topics(len(ids))),
            texts=None if old.texts is None else np.concatenate([old.texts, hash_item_texts(corpus)]),
        )
    return lambda: index


def hash_item_texts(corpus: Corpus) -> Array:
    """Return a number of 64 bits for the text of every item, or for the terms that stand in for it; 0 for none."""
    found = np.zeros(corpus.items.num_rows, np.uint64)
    if corpus.terms is not None:
        odd = corpus.terms["count"].to_numpy().astype(np.uint64) * np.uint64(2) + np.uint64(1)
        np.add.at(found, corpus.terms["item"].to_numpy(), hash_column(corpus.terms["term"]) * odd)
    elif "text" in corpus.items.column_names:
        for start in range(0, len(found), ROWS):
            texts = pc.fill_null(corpus.items["text"].slice(start, ROWS), "")
            some = np.asarray(pc.greater(pc.binary_length(texts), 0))
            found[start : start + ROWS] = np.where(some, hash_column(texts), 0)
    return found


def _add_attributes(
    index: ItemIndex,
    corpus: Corpus,
    topics: Topics | None,
    names: Sequence[str] | None,
    allocate: Allocate = in_memory,
) -> ItemIndex:
    """Return the index of a corpus's items with their attributes, and their topics by their numbers among names."""
    attributes = ItemAttributes.of(corpus.items)
    has_text = corpus.terms is not None or "text" in corpus.items.column_names
    if topics is None or names is None:
        return replace(index, load_attributes=lambda: attributes)
    number = {name: place for place, name in enumerate(names)}
    place = np.array([number[name] for name in topics.names], dtype=np.int32)
    topic = pa.array(place[topics.assigned["topic"].to_numpy()], pa.int32())
    rows = pa.table({"item": topics.assigned["item"], "topic": topic})
    return replace(
        index,
        load_attributes=lambda: attributes,
        topics=pack_rows(ITEM_TOPICS, rows, "topic", len(index), 1, allocate),
        texts=hash_item_texts(corpus) if has_text else None,
    )


def _make_empty_topics(items: int) -> Ragged:
    return Ragged(np.zeros(items + 1, np.int64), NONE)


def index_items(
    ids: pa.ChunkedArray,
    mentions: pa.Table,
    labels: pa.Table,
    cells: Sequence[Cells],
    sizes: Sequence[int],
    derived: bool,
    allocate: Allocate = in_memory,
) -> ItemIndex:
    """Return the index of items from the tables ``mentions(item, object)`` and ``labels(item, dimension, label)``.

    ``cells`` are those that are kept and then those that are small, in dimensions of ``sizes`` labels.
    """
    from cube2net.kernels.item_rows import count_cells, fill_cells

    count, width = len(ids), len(sizes)
    objects = pack_rows(ITEM_OBJECTS, mentions, "object", count, 1, allocate)
    labelled = pack_rows("labels", labels, "label", count, width, in_memory)
    counts = np.empty(count, np.int64)
    count_cells(objects.indptr, labelled.indptr, width, counts)
    indptr = allocate(f"{ITEM_CELLS}.indptr", count + 1, np.int64)
    indptr[0] = 0
    np.cumsum(counts, out=indptr[1:])
    indices = allocate(f"{ITEM_CELLS}.indices", int(indptr[-1]), np.int32)
    keys, numbers = sort_cells_by_key(cells, sizes)
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


def sort_cells_by_key(cells: Sequence[Cells], sizes: Sequence[int]) -> tuple[Array, Array]:
    """Return the keys of cells, ascending, and the number of each one's cell, counted on from part to part.

    >>> one = Cells(np.array([[0, 2], [1, 0]]), Ragged(np.array([0, 0, 0]), NONE))
    >>> two = Cells(np.array([[0, 1]]), Ragged(np.array([0, 0]), NONE))
    >>> [array.tolist() for array in sort_cells_by_key([one, two], [2, 3])]
    [[1, 2, 3], [2, 0, 1]]
    """
    keys = np.concatenate([cell_keys(part.labels, sizes) for part in cells])
    order = np.argsort(keys)
    return keys[order], order.astype(np.int32)


def renumber_cells(items: LazyItems | None, numbers: Array) -> LazyItems | None:
    """Return what gives an index with other numbers of cells, when called; cells whose number is -1 are left out."""
    if items is None:
        return None
    return cache(partial(_renumber_index, items, numbers))


def empty_items(index: ItemIndex, gone: Array, numbers: Array) -> ItemIndex:
    """Return an index in which the items that are marked mention nothing, with other numbers of cells."""
    objects = rebuild_rows(index.objects, gone, NONE)
    gone = gone if index.gone is None else gone | index.gone
    return replace(index, objects=objects, cells=rebuild_rows(index.cells, gone, numbers), gone=gone)


def rebuild_rows(rows: Ragged, empty: Array, numbers: Array) -> Ragged:
    """Return rows with other numbers, ascending; those that are marked are empty, and entries of -1 are left out."""
    from cube2net.kernels.item_rows import renumber_rows

    return Ragged(*renumber_rows(rows.indptr, rows.indices, empty, numbers))


def _find_cell_numbers(cube: Cube, cells: Sequence[Cells], sizes: Sequence[int], places: Sequence[Array]) -> Array:
    """Return the number that every cell of a cube has among those of today."""
    keys, order = sort_cells_by_key(cells, sizes)
    labels = np.concatenate([cube.cells.labels, cube.small.labels])
    return order[np.searchsorted(keys, cell_keys(labels, sizes, places))]


def _renumber_index(items: LazyItems, numbers: Array) -> ItemIndex:
    index = items()
    return replace(index, cells=rebuild_rows(index.cells, NONE, numbers))
