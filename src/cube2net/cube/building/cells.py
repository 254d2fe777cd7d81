"""Cells of a cube: packed from the plan's tables, and merged with those of the cube."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, Ragged, join_rows, ragged_from_pairs, row_of_entries, take_rows
from cube2net.cube.plan import split_keys
from cube2net.cube.storage.parts import Allocate, in_memory
from cube2net.model.corpus import CELLS, check_count
from cube2net.model.cube import Cells, Cube

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
        return GrownCells(
            cube.cells, cube.small, Ragged(extend_offsets(cube.homes.indptr, objects), cube.homes.indices)
        )
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
    homes = _grow_rows(cube.homes, renumber, *_group_entries(who, where), objects)
    return GrownCells(cells(large), cells(np.flatnonzero(count < least)), homes)


def pack_members(name: str, sizes: Array, members: pa.Table, first: int, allocate: Allocate = in_memory) -> Ragged:
    """Return rows of the given sizes from a column ``object`` in which they follow one another from ``first`` on."""
    indptr = fill_offsets(sizes, allocate(f"{name}.indptr", len(sizes) + 1, np.int64))
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
    indptr = fill_offsets(counts, allocate("homes.indptr", objects + 1, np.int64))
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


def fill_offsets(sizes: Array, indptr: Array) -> Array:
    """Return where rows of these sizes start, written to an array."""
    indptr[0] = 0
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def extend_offsets(indptr: Array, count: int) -> Array:
    """Return the offsets of as many rows, the last of which are empty."""
    missing = count + 1 - len(indptr)
    return np.concatenate([indptr, np.full(missing, indptr[-1])]) if missing else indptr


def _merge(old: Ragged, of_old: Array, new: Ragged, of_new: Array, renumber: Array = NONE) -> Ragged:
    from cube2net.kernels.csr import merge_rows

    return Ragged(*merge_rows(old.indptr, old.indices, of_old, renumber, new.indptr, new.indices, of_new))


def _group_entries(rows: Array, entries: Array) -> tuple[Ragged, Array]:
    """Return the entries of the rows that have some, and the numbers of these rows."""
    used, place = np.unique(rows, return_inverse=True)
    return ragged_from_pairs(place, entries, len(used)), used


def _grow_rows(old: Ragged, renumber: Array, new: Ragged, used: Array, count: int) -> Ragged:
    """Return ``count`` rows: the old ones numbered anew and then empty ones, with the new entries of the used rows."""
    of_old = np.arange(count)
    of_old[len(old) :] = -1
    of_new = np.full(count, -1, np.int64)
    of_new[used] = np.arange(len(used))
    return _merge(old, of_old, new, of_new, renumber)
