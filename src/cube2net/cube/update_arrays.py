"""Cells, homes and links that grow: what is new is merged into what is there, in one pass over sorted rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import join_rows, offsets, ragged_from_pairs, row_of_entries, sum_links, take_rows
from cube2net.cube.packing import link_columns
from cube2net.cube.plan import split_keys
from cube2net.cube.update_ledger import RESTS
from cube2net.records import Cells, Cube, Links, Ragged
from cube2net.records.corpus import table
from cube2net.records.limits import CELLS, check_count

NONE = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class GrownCells:
    """The cells of a cube that grew, those too small to be kept, and the way back from objects to cells."""

    cells: Cells
    small: Cells
    homes: Ragged


def grow_cells(
    cube: Cube, places: Sequence[Array], sizes: Sequence[int], keys: Array, members: Ragged, *, least: int, objects: int
) -> GrownCells:
    """Return the cells of a cube with the members of other cells added, given by their keys.

    ``places`` says where the cube's labels are among the ``sizes`` labels of today. Only cells that grow are
    looked into; the others are copied.
    """
    moved = any(len(place) != size for place, size in zip(places, sizes, strict=True))
    if len(keys) == 0 and not moved:
        return GrownCells(cube.cells, cube.small, Ragged(_longer(cube.homes.indptr, objects), cube.homes.indices))
    kept = len(cube.cells)
    old = np.concatenate([_keys(cells.labels, places, sizes) for cells in (cube.cells, cube.small)])
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


def grow_links(links: Links, more: pa.Table, rests: pa.Table, objects: int) -> tuple[Links, pa.Table]:
    """Return links with others added, and the rests of their sums; the same link adds its weights.

    ``rests(source, target, rest)`` is what weights lack of their sums for being rounded.
    """
    from cube2net.kernels.csr import merge_links

    low, high, total = sum_links(*link_columns(more), objects)
    if len(low) == 0:
        return Links(_longer(links.indptr, objects), links.indices, links.weights), rests
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
    indptr, indices, weights = merge_links(
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
    return Links(indptr, indices, weights), make_rests(
        np.concatenate([rests["source"].to_numpy()[left], rows[order][once]]),
        np.concatenate([rests["target"].to_numpy()[left], ends[order][once]]),
        np.concatenate([rests["rest"].to_numpy()[left], lacking[once]]),
    )


def make_rests(source: Array, target: Array, rest: Array) -> pa.Table:
    """Return the rests that are not nothing, by their links."""
    some = np.flatnonzero(rest)
    some = some[np.lexsort((target[some], source[some]))]
    return table(RESTS, source=pa.array(source[some]), target=pa.array(target[some]), rest=pa.array(rest[some]))


def _longer(indptr: Array, count: int) -> Array:
    """Return the offsets of as many rows, the last of which are empty."""
    missing = count + 1 - len(indptr)
    return np.concatenate([indptr, np.full(missing, indptr[-1])]) if missing else indptr


def _keys(labels: Array, places: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Return the key of every cell among today's labels."""
    keys = np.zeros(len(labels), np.int64)
    for number, (place, size) in enumerate(zip(places, sizes, strict=True)):
        keys = keys * size + place[labels[:, number]]
    return keys


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
