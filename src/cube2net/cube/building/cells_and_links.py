"""Cells and links that grow: new ones are packed from the plan's tables, and merged with those that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import join_rows, merge_links, offsets, ragged_from_pairs, row_of_entries, sum_links, take_rows
from cube2net.cube.plan import split_keys
from cube2net.cube.storage.ledger import RESTS
from cube2net.cube.storage.parts import Allocate, in_memory
from cube2net.records import Cells, Cube, Links, Ragged
from cube2net.records.corpus import table
from cube2net.records.limits import CELLS, check_count
from cube2net.records.link_weights import left_over

NONE = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class GrownCells:
    """The cells of a cube that grew, those too small to be kept, and the way back from objects to cells."""

    cells: Cells
    small: Cells
    homes: Ragged


def pack_cells(
    made: Mapping[str, pa.Table], sizes: Sequence[int], least: int, allocate: Allocate = in_memory
) -> tuple[Cells, Cells]:
    """Return the cells of the plan's tables ``cells`` and ``members``: those to be kept, and those that are small."""
    check_count(CELLS, made["cells"].num_rows)
    order = np.argsort(made["cells"]["cell"].to_numpy())
    labels = split_keys(made["cells"]["cell_key"].to_numpy()[order], sizes)
    counts = made["cells"]["objects"].to_numpy()[order]
    kept = int((counts >= least).sum())
    large = pack_members("cells.members", counts[:kept], made["members"], 0, allocate)
    small = pack_members("small.members", counts[kept:], made["members"], len(large.indices), allocate)
    return Cells(labels[:kept], large), Cells(labels[kept:], small)


def grow_cells(
    cube: Cube,
    places: Sequence[Array],
    sizes: Sequence[int],
    brought: tuple[Cells, Cells],
    *,
    least: int,
    objects: int,
    allocate: Allocate = in_memory,
) -> GrownCells:
    """Return the cells of a cube with the members of other cells added, kept and small.

    ``places`` says where the cube's labels are among the ``sizes`` labels of today. Where the cube has no cells the
    others are all there are. Only cells that grow are looked into; the rest are copied.
    """
    if len(cube.cells) + len(cube.small) == 0:
        return GrownCells(*brought, pack_homes(brought[0].members, objects, allocate))
    keys = np.concatenate([cell_keys(part.labels, sizes) for part in brought])
    moved = any(len(place) != size for place, size in zip(places, sizes, strict=True))
    if len(keys) == 0 and not moved:
        return GrownCells(cube.cells, cube.small, Ragged(longer(cube.homes.indptr, objects), cube.homes.indices))
    members = join_rows(brought[0].members, brought[1].members)
    kept = len(cube.cells)
    old = np.concatenate([cell_keys(cells.labels, sizes, places) for cells in (cube.cells, cube.small)])
    every = np.union1d(old, keys)
    check_count(CELLS, len(every))
    of_old, of_new = np.full(len(every), -1, np.int64), np.full(len(every), -1, np.int64)
    of_old[np.searchsorted(every, old)] = np.arange(len(old))
    of_new[np.searchsorted(every, keys)] = np.arange(len(keys))

    before = join_rows(cube.cells.members, cube.small.members)
    touched = np.flatnonzero(of_new >= 0)
    larger = _merged(before, of_old[touched], members, of_new[touched])
    count = np.zeros(len(every), np.int64)
    count[of_old >= 0] = before.sizes[of_old[of_old >= 0]]
    count[touched] = larger.sizes
    of_larger = np.full(len(every), -1, np.int64)
    of_larger[touched] = np.arange(len(touched))
    of_rest = np.where(of_larger < 0, of_old, -1)

    def cells(rows: Array) -> Cells:
        return Cells(split_keys(every[rows], sizes), _merged(before, of_rest[rows], larger, of_larger[rows]))

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
    homes = _grow_rows(cube.homes, renumber, *_compact(who, where), objects)
    return GrownCells(cells(large), cells(np.flatnonzero(count < least)), homes)


def pack_members(name: str, sizes: Array, members: pa.Table, first: int, allocate: Allocate = in_memory) -> Ragged:
    """Return rows of the given sizes from a column ``object`` in which they follow one another from ``first`` on."""
    indptr = offsets_of(sizes, allocate(f"{name}.indptr", len(sizes) + 1, np.int64))
    indices = allocate(f"{name}.indices", int(indptr[-1]), np.int32)
    at = 0
    for chunk in members["object"].slice(first, int(indptr[-1])).chunks:
        indices[at : at + len(chunk)] = chunk.to_numpy()
        at += len(chunk)
    return Ragged(indptr, indices)


def pack_homes(members: Ragged, objects: int, allocate: Allocate = in_memory) -> Ragged:
    """Return the cells of every object, given the objects of every cell.

    >>> homes = pack_homes(Ragged(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32)), 3)
    >>> [homes[i].tolist() for i in range(3)]
    [[0], [], [0, 1]]
    """
    from cube2net.kernels.csr import count_entries, fill_homes

    counts = np.zeros(objects, np.int64)
    count_entries(members.indices, counts)
    indptr = offsets_of(counts, allocate("homes.indptr", objects + 1, np.int64))
    homes = allocate("homes.indices", len(members.indices), np.int32)
    fill_homes(members.indptr, members.indices, np.array(indptr[:-1]), homes)
    return Ragged(indptr, homes)


def cell_keys(labels: Array, sizes: Sequence[int], places: Sequence[Array] | None = None) -> Array:
    """Return the key of every row of labels, as the plan makes it; ``places`` are the labels' numbers of today."""
    keys = np.zeros(len(labels), np.int64)
    for number, size in enumerate(sizes):
        column = labels[:, number]
        keys = keys * size + (column if places is None else places[number][column])
    return keys


def offsets_of(sizes: Array, indptr: Array) -> Array:
    """Return where rows of these sizes start, written to an array."""
    indptr[0] = 0
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def longer(indptr: Array, count: int) -> Array:
    """Return the offsets of as many rows, the last of which are empty."""
    missing = count + 1 - len(indptr)
    return np.concatenate([indptr, np.full(missing, indptr[-1])]) if missing else indptr


def _merged(old: Ragged, of_old: Array, new: Ragged, of_new: Array, renumber: Array = NONE) -> Ragged:
    from cube2net.kernels.csr import merge_rows

    return Ragged(*merge_rows(old.indptr, old.indices, of_old, renumber, new.indptr, new.indices, of_new))


def _compact(rows: Array, entries: Array) -> tuple[Ragged, Array]:
    """Return the entries of the rows that have some, and the numbers of these rows."""
    used, place = np.unique(rows, return_inverse=True)
    return ragged_from_pairs(place, entries, len(used)), used


def _grow_rows(old: Ragged, renumber: Array, new: Ragged, used: Array, count: int) -> Ragged:
    """Return ``count`` rows: the old ones numbered anew and then empty ones, with the new entries of the used rows."""
    of_old = np.arange(count)
    of_old[len(old) :] = -1
    of_new = np.full(count, -1, np.int64)
    of_new[used] = np.arange(len(used))
    return _merged(old, of_old, new, of_new, renumber)


def grow_links(
    links: Links, rests: pa.Table, brought: pa.Table, objects: int, selfish: int, allocate: Allocate = in_memory
) -> tuple[Links, pa.Table]:
    """Return links with others added, and the rests of their sums; the same link adds its weights.

    ``rests(source, target, rest)`` is what weights lack of their sums for being rounded. ``selfish`` is how many of the
    others go from an object to itself: they are left out. Where there are no links the others are packed as they come.
    """
    if len(links.indices) == 0:
        packed = pack_links(brought, objects, allocate)
        return packed, _rests_of(brought, packed, selfish)
    from cube2net.kernels.csr import add_links

    low, high, total = sum_links(*_columns(brought), objects)
    if len(low) == 0:
        return Links(longer(links.indptr, objects), links.indices, links.weights), rests
    rows, ends = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((ends, rows))
    used, place = np.unique(rows[order], return_inverse=True)
    which = np.full(objects, -1, np.int64)
    which[used] = np.arange(len(used))
    pairs = rows[order].astype(np.int64) * objects + ends[order]
    known = rests["source"].to_numpy().astype(np.int64) * objects + rests["target"].to_numpy()
    lacking = np.zeros(len(pairs))
    for both in (known, rests["target"].to_numpy().astype(np.int64) * objects + rests["source"].to_numpy()):
        at = np.minimum(np.searchsorted(pairs, both), len(pairs) - 1)
        hit = pairs[at] == both
        lacking[at[hit]] = rests["rest"].to_numpy()[hit]
    indptr, indices, weights = add_links(
        links.indptr,
        links.indices,
        links.weights,
        offsets(place, len(used)),
        ends[order],
        np.concatenate([total, total])[order],
        which,
        lacking,
    )
    once = rows[order] < ends[order]
    left = ~np.isin(known, pairs)
    return Links(indptr, indices, weights), _make_rests(
        np.concatenate([rests["source"].to_numpy()[left], rows[order][once]]),
        np.concatenate([rests["target"].to_numpy()[left], ends[order][once]]),
        np.concatenate([rests["rest"].to_numpy()[left], lacking[once]]),
    )


def pack_links(rows: pa.Table, objects: int, allocate: Allocate = in_memory) -> Links:
    """Return undirected links on both ends; repeated links add their weights, self-links are dropped.

    Links that come once each, from the lower object to the higher and ascending, are packed as they come. Others are
    put into that order first, in memory.

    >>> table = pa.table({"source": [0, 1, 2], "target": [1, 0, 2], "weight": [1.0, 1.0, 1.0]})
    >>> links = pack_links(table, 3)
    >>> links, links.weights.tolist()
    (Links(3 objects, 1 links), [2.0, 2.0])
    """
    from cube2net.kernels.csr import count_ends, fill_links

    below, above = np.zeros(objects, np.int64), np.zeros(objects, np.int64)
    last = (-1, -1)
    for source, target, _ in _batches(rows):
        if len(source) and (last >= (source[0], target[0]) or count_ends(source, target, below, above) >= 0):
            return pack_links(_in_order(rows, objects), objects, allocate)
        last = (source[-1], target[-1]) if len(source) else last
    indptr = offsets_of(below + above, allocate("links.indptr", objects + 1, np.int64))
    above, below = indptr[:-1] + below, np.array(indptr[:-1])
    indices = allocate("links.indices", int(indptr[-1]), np.int32)
    weights = allocate("links.weights", int(indptr[-1]), np.float32)
    for source, target, weight in _batches(rows):
        fill_links(source, target, weight, below, above, indices, weights)
    return Links(indptr, indices, weights)


def count_left_out(links: pa.Table, made: Mapping[str, pa.Table]) -> tuple[int, int]:
    """Return how many links go from an object to itself, and how many items are too crowded to make links."""
    if "crowded" in made:  # links by co-mention: none of them is selfish
        return 0, made["crowded"].num_rows
    return int((links["source"].to_numpy() == links["target"].to_numpy()).sum()), 0


def _rests_of(rows: pa.Table, links: Links, selfish: int) -> pa.Table:
    """Return what the weights of links lack of their sums; a link that is given once lacks nothing."""
    if rows.num_rows - selfish == links.count:
        return table(RESTS)
    low, high, total = sum_links(*_columns(rows), len(links))
    return _make_rests(low, high, left_over(total))


def _make_rests(source: Array, target: Array, rest: Array) -> pa.Table:
    """Return the rests that are not nothing, by their links."""
    some = np.flatnonzero(rest)
    some = some[np.lexsort((target[some], source[some]))]
    return table(RESTS, source=pa.array(source[some]), target=pa.array(target[some]), rest=pa.array(rest[some]))


def _batches(rows: pa.Table) -> list[tuple[Array, Array, Array]]:
    """Return the columns of every batch; nothing is copied."""
    return [_columns(batch) for batch in rows.to_batches()]


def _columns(rows: pa.Table | pa.RecordBatch) -> tuple[Array, Array, Array]:
    """Return the sources, targets and weights of links."""
    return rows["source"].to_numpy(), rows["target"].to_numpy(), rows["weight"].to_numpy()


def _in_order(rows: pa.Table, objects: int) -> pa.Table:
    merged = merge_links(*_columns(rows), objects)
    return pa.table(dict(zip(("source", "target", "weight"), merged, strict=True)))
