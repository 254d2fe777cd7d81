"""Presolve for the choice of cells: reductions that keep a best selection.

Objects in the same cells are merged into groups; cells that cost more than they can gain, and dominated cells, are left
out.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array, compute_offsets
from cube2net.kernels.compiled import inner, njit
from cube2net.kernels.numpy_kernels import list_entries

SORT_FRACTION = 64
"""Objects are sorted if they are fewer than one in this many of all; else the marks of all are scanned."""


def find_held_objects(cells: Array, members_indptr: Array, members_indices: Array, mark: Array) -> Array:
    """Return the objects in some cells, ascending; ``mark`` is scratch, a zero byte per object."""
    entries = int((members_indptr[cells + 1] - members_indptr[cells]).sum())
    held = np.empty(min(entries, len(mark)), dtype=np.int32)
    count = _mark_held(cells, members_indptr, members_indices, mark, held)
    if count * SORT_FRACTION < len(mark):
        return np.sort(held[:count])
    return np.flatnonzero(mark).astype(np.int32)


@njit(cache=True)
def _mark_held(cells: Array, members_indptr: Array, members_indices: Array, mark: Array, held: Array) -> int:
    """Mark and write the objects in some cells; return their number."""
    count = 0
    for cell in cells:
        for at in range(members_indptr[cell], members_indptr[cell + 1]):
            o = members_indices[at]
            if mark[o] == 0:
                mark[o] = 1
                held[count] = o
                count += 1
    return count


def group_alike(objects: Array, homes_indptr: Array, homes_indices: Array, place: Array) -> tuple[Array, Array]:
    """Return the group of each object, and the first object of each group.

    Objects in the same cells form a group; ``place`` is the position of a cell, or −1 for a cell that does not count.
    Groups are numbered in the order of their first objects. Objects are compared by a hash of their cells, and cell by
    cell if the hashes are equal.
    """
    size = 16
    while size < 2 * len(objects):
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    mixed = np.empty(len(objects), dtype=np.uint64)
    first = np.empty(len(objects), dtype=np.int32)
    group = np.empty(len(objects), dtype=np.int32)
    groups = _group(objects, homes_indptr, homes_indices, place, table, mixed, first, group)
    return group, first[:groups].copy()


@njit(cache=True)
def _group(
    objects: Array,
    homes_indptr: Array,
    homes_indices: Array,
    place: Array,
    table: Array,
    mixed: Array,
    first: Array,
    group: Array,
) -> int:
    """Write the group of every object and the first object of every group; return the number of groups."""
    groups, size = 0, len(table)
    for at in range(len(objects)):
        o = objects[at]
        mix = np.uint64(0x9E3779B97F4A7C15)
        for home in range(homes_indptr[o], homes_indptr[o + 1]):
            cell = place[homes_indices[home]]
            if cell >= 0:
                mix = (mix ^ np.uint64(cell + 1)) * np.uint64(0xBF58476D1CE4E5B9)
                mix ^= mix >> np.uint64(29)
        slot = int(np.int64(mix & np.uint64(size - 1)))
        while table[slot] >= 0:
            candidate = table[slot]
            if mixed[candidate] == mix and same_cells(o, first[candidate], homes_indptr, homes_indices, place):
                break
            slot = (slot + 1) % size
        if table[slot] < 0:
            table[slot] = groups
            mixed[groups] = mix
            first[groups] = o
            groups += 1
        group[at] = table[slot]
    return groups


@inner
def same_cells(one: int, other: int, homes_indptr: Array, homes_indices: Array, place: Array) -> bool:
    """Return whether two objects are in the same cells, of those that count."""
    a, b = homes_indptr[one], homes_indptr[other]
    while True:
        while a < homes_indptr[one + 1] and place[homes_indices[a]] < 0:
            a += 1
        while b < homes_indptr[other + 1] and place[homes_indices[b]] < 0:
            b += 1
        if a == homes_indptr[one + 1] or b == homes_indptr[other + 1]:
            return bool(a == homes_indptr[one + 1] and b == homes_indptr[other + 1])
        if homes_indices[a] != homes_indices[b]:
            return False
        a += 1
        b += 1


def list_placed_homes(objects: Array, homes_indptr: Array, homes_indices: Array, place: Array) -> tuple[Array, Array]:
    """Return the positions of the cells of each object, as offsets and entries, without −1."""
    entries, owner = list_entries(homes_indptr, objects)
    cells = place[homes_indices[entries]]
    placed = cells >= 0
    return compute_offsets(owner[placed], len(objects)), cells[placed]


@njit(cache=True)
def row_sums(indptr: Array, indices: Array, terms: Array) -> Array:
    """Return the sum of every column of the terms over the entries of each row."""
    sums = np.zeros((len(indptr) - 1, terms.shape[1]))
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            for column in range(terms.shape[1]):
                sums[row, column] += terms[indices[at], column]
    return sums


def mark_too_costly(
    members_indptr: Array, members_indices: Array, homes_indptr: Array, homes_indices: Array, worth: Array, pays: Array
) -> Array:
    """Mark the cells whose groups in no other remaining cell cost more than all their groups can gain, repeatedly.

    ``worth`` is the worth of every group, and ``pays[c]`` the sum of the positive ones in cell c.
    """
    cells = len(members_indptr) - 1
    out = np.zeros(cells, dtype=np.bool_)
    holders = np.diff(homes_indptr).astype(np.int32)
    rows = (members_indptr, members_indices, homes_indptr, homes_indices)
    _mark_too_costly(*rows, worth, pays, holders, np.zeros(cells), np.empty(cells, dtype=np.int64), out)
    return out


@njit(cache=True)
def _mark_too_costly(
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    worth: Array,
    pays: Array,
    holders: Array,
    alone: Array,
    ahead: Array,
    out: Array,
) -> None:
    """Mark the cells; ``holders`` counts the cells of every group, ``alone`` and ``ahead`` are scratch."""
    for group in range(len(worth)):
        if holders[group] == 1:
            alone[homes_indices[homes_indptr[group]]] -= min(worth[group], 0.0)
    last = 0
    for cell in range(len(out)):
        if alone[cell] > pays[cell]:
            out[cell] = True
            ahead[last] = cell
            last += 1
    first = 0
    while first < last:
        cell = ahead[first]
        first += 1
        for at in range(members_indptr[cell], members_indptr[cell + 1]):
            group = members_indices[at]
            holders[group] -= 1
            if holders[group] != 1 or worth[group] >= 0.0:
                continue
            for home in range(homes_indptr[group], homes_indptr[group + 1]):
                left = homes_indices[home]
                if out[left]:
                    continue
                alone[left] -= worth[group]
                if alone[left] > pays[left]:
                    out[left] = True
                    ahead[last] = left
                    last += 1


@njit(cache=True)
def mark_dominated(
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    wanted: Array,
    harmless: Array,
    worth: Array,
    cost: Array,
    nodes: Array,
) -> Array:
    """Mark the cells dominated by another one, which contains all their wanted groups and otherwise harmless ones.

    ``worth``, ``cost`` and ``nodes`` are of the objects in one cell only: a cell with a worth above 0 is kept, and the
    other must be worth no less, cost no more and add no more nodes. Of cells that dominate each other, the first is
    kept.
    """
    cells = len(worth)
    out = np.zeros(cells, dtype=np.bool_)
    mine = np.full(len(wanted), -1, dtype=np.int64)
    for cell in range(cells - 1, -1, -1):
        rarest = -1
        count = 0
        for g in members_indices[members_indptr[cell] : members_indptr[cell + 1]]:
            mine[g] = cell
            if wanted[g]:
                count += 1
                size = homes_indptr[g + 1] - homes_indptr[g]
                if rarest < 0 or size < homes_indptr[rarest + 1] - homes_indptr[rarest]:
                    rarest = g
        if rarest < 0 or worth[cell] > 0:
            continue
        for other in homes_indices[homes_indptr[rarest] : homes_indptr[rarest + 1]]:
            if other == cell or out[other] or worth[other] < worth[cell]:
                continue
            if cost[other] > cost[cell] or nodes[other] > nodes[cell]:
                continue
            matched = 0
            for g in members_indices[members_indptr[other] : members_indptr[other + 1]]:
                if mine[g] == cell:
                    matched += wanted[g]
                elif not harmless[g]:
                    matched = -1
                    break
            if matched == count:
                out[cell] = True
                break
    return out
