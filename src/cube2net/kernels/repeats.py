"""Objects that are to be held several times: what a chosen cell takes from all others."""

from __future__ import annotations

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
def serve(
    cell: int,
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    left: Array,
    gains: Array,
) -> int:
    """Hold the members of a cell once more, and return how many of them still needed it.

    ``left[o]`` is how often object o may still be held. When nothing is left of it, no cell serves it any more: one is
    taken from the ``gains`` of every cell that holds it.
    """
    served = 0
    for at in range(members_indptr[cell], members_indptr[cell + 1]):
        o = members_indices[at]
        if left[o] == 0:
            continue
        left[o] -= 1
        served += 1
        if left[o] == 0:
            for home in range(homes_indptr[o], homes_indptr[o + 1]):
                gains[homes_indices[home]] -= 1
    return served
