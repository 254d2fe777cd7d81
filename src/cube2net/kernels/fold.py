"""Objects that the same cells hold, put together: what a choice among cells cannot tell apart."""

from __future__ import annotations

import numpy as np
from numba import njit

from cube2net.records.ragged import Array


@njit(cache=True)
def fold(cells: Array, members_indptr: Array, members_indices: Array, objects: int) -> tuple[Array, int]:
    """Return a group number for every object, and how many groups there are; -1 for objects in none of the cells.

    Two objects are in one group when the same of the given cells hold them. Cell by cell, the members of a
    group that the cell holds move to a group of their own: every membership is looked at once.
    """
    entries = 0
    for cell in cells:
        entries += members_indptr[cell + 1] - members_indptr[cell]
    group = np.zeros(objects, dtype=np.int32)
    moved_to = np.zeros(entries + 1, dtype=np.int32)
    moved_by = np.full(entries + 1, -1, dtype=np.int64)
    groups = 1
    for place in range(len(cells)):
        for at in range(members_indptr[cells[place]], members_indptr[cells[place] + 1]):
            o = members_indices[at]
            old = group[o]
            if moved_by[old] != place:
                moved_by[old] = place
                moved_to[old] = groups
                groups += 1
            group[o] = moved_to[old]
    number = np.full(groups, -1, dtype=np.int32)
    count = 0
    for o in range(objects):
        if group[o] > 0:
            if number[group[o]] < 0:
                number[group[o]] = count
                count += 1
            group[o] = number[group[o]]
        else:
            group[o] = -1
    return group, count


@njit(cache=True)
def folded_members(
    cells: Array, members_indptr: Array, members_indices: Array, group: Array, groups: int
) -> tuple[Array, Array]:
    """Return cell → groups as offsets and entries, each row ascending."""
    seen = np.full(groups, -1, dtype=np.int64)
    indptr = np.zeros(len(cells) + 1, dtype=np.int64)
    for place in range(len(cells)):
        for at in range(members_indptr[cells[place]], members_indptr[cells[place] + 1]):
            g = group[members_indices[at]]
            if seen[g] != place:
                seen[g] = place
                indptr[place + 1] += 1
    indptr[1:] = np.cumsum(indptr[1:])
    indices = np.empty(indptr[-1], dtype=np.int32)
    seen[:] = -1
    for place in range(len(cells)):
        end = indptr[place]
        for at in range(members_indptr[cells[place]], members_indptr[cells[place] + 1]):
            g = group[members_indices[at]]
            if seen[g] != place:
                seen[g] = place
                indices[end] = g
                end += 1
        indices[indptr[place] : end] = np.sort(indices[indptr[place] : end])
    return indptr, indices
