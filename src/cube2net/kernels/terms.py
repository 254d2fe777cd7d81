"""Known terms found in texts, compiled: at every place the longest that starts there."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True, nogil=True)
def mark_terms(parts: Array, starts: Array, roots: Array, edges: Array, edge_parts: Array, ends: Array) -> Array:
    """Return the term that starts at every place, or -1; what stands inside a term found starts none.

    Text ``i`` is ``parts[starts[i]:starts[i + 1]]``, a part of terms by number or -1. The terms are a tree whose
    first ``heads`` nodes are their first parts: part ``p`` leads to node ``roots[p]`` (-1: no term starts with it).
    From node ``n`` the parts ``edge_parts[edges[n]:edges[n + 1]]`` (ascending) lead on, edge ``e`` to node
    ``heads + e``. ``ends[n]`` is the term that node ``n`` completes, or -1.
    """
    found = np.full(parts.shape[0], -1, dtype=np.int32)
    heads = ends.shape[0] - edge_parts.shape[0]
    for text in range(starts.shape[0] - 1):
        at, last = starts[text], starts[text + 1]
        while at < last:
            size = 0
            node = roots[parts[at]] if parts[at] >= 0 else -1
            further = at + 1
            while node >= 0:
                if ends[node] >= 0:
                    found[at] = ends[node]
                    size = further - at
                if further == last or parts[further] < 0:
                    break
                part = parts[further]
                low, high = edges[node], edges[node + 1]
                while low < high:
                    middle = (low + high) // 2
                    if edge_parts[middle] < part:
                        low = middle + 1
                    else:
                        high = middle
                node = low + heads if low < edges[node + 1] and edge_parts[low] == part else -1
                further += 1
            at += max(1, size)
    return found
