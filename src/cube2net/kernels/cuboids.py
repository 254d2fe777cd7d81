"""Cells put together in groups, object by object: what each group holds, how often, and the groups of each object.

Nothing is sorted but the few groups of one object. Objects come in order, so the members of a group do too. Every
kernel takes the cells of the objects in two parts, the kept ones and the small ones, whose numbers go on after the last
kept one. ``groups[cell, view]`` is the group of a cell in each of several views; no group is in two views.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True, nogil=True)
def count_groups(
    kept_starts: Array, kept: Array, small_starts: Array, small: Array, first_small: int, groups: Array, sizes: Array
) -> None:
    """Add to ``sizes[group]`` how many objects are in one of its cells."""
    last = np.full(len(sizes), -1, np.int32)
    for item in range(len(kept_starts) - 1):
        for k in range(kept_starts[item], kept_starts[item + 1]):
            for view in range(groups.shape[1]):
                group = groups[kept[k], view]
                sizes[group] += last[group] != item
                last[group] = item
        for k in range(small_starts[item], small_starts[item + 1]):
            for view in range(groups.shape[1]):
                group = groups[first_small + small[k], view]
                sizes[group] += last[group] != item
                last[group] = item


@njit(cache=True, nogil=True)
def fill_groups(
    kept_starts: Array,
    kept: Array,
    small_starts: Array,
    small: Array,
    first_small: int,
    groups: Array,
    next_member: Array,
    members: Array,
    counts: Array,
    wanted: int,
    home_starts: Array,
    homes: Array,
) -> None:
    """Write the members of every group, in how many of its cells each is, and the groups of every object.

    ``next_member[group]`` is where its first member goes. The homes of an object are its groups below ``wanted``,
    ascending.
    """
    last = np.full(len(next_member), -1, np.int32)
    end = 0
    for item in range(len(kept_starts) - 1):
        begin = end
        home_starts[item] = begin
        many = kept_starts[item + 1] - kept_starts[item]
        for k in range(many + small_starts[item + 1] - small_starts[item]):
            cell = kept[kept_starts[item] + k] if k < many else first_small + small[small_starts[item] + k - many]
            for view in range(groups.shape[1]):
                group = groups[cell, view]
                if last[group] == item:
                    counts[next_member[group] - 1] += 1
                    continue
                last[group] = item
                members[next_member[group]] = item
                counts[next_member[group]] = 1
                next_member[group] += 1
                if group < wanted:
                    at = end
                    while at > begin and homes[at - 1] > group:
                        homes[at] = homes[at - 1]
                        at -= 1
                    homes[at] = group
                    end += 1
    home_starts[len(kept_starts) - 1] = end
