"""The links among some objects in NumPy, as ``subgraphs.induce`` finds them, and in the same order."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.numpy_pagerank import entries_of
from cube2net.kernels.small_work import HUB


def induce(indptr: Array, indices: Array, weights: Array, nodes: Array, place: Array) -> tuple[Array, Array, Array]:
    """Return the links among distinct nodes, each once, as positions source < target and their weights.

    ``place`` has, for every object, 1 + its position among the nodes, and 0 where it is none of them.
    """
    entries, source = entries_of(indptr, nodes)
    target = place[indices[entries]].astype(np.int64) - 1
    there = target > source
    entries, source, target = entries[there], source[there], target[there]
    behind = HUB * (len(nodes) - np.arange(len(nodes)))
    hub = (np.asarray(indptr[nodes + 1]) - np.asarray(indptr[nodes]) > behind)[source]
    order = np.lexsort((np.where(hub, target, entries), source))
    entries = entries[order]
    return source[order].astype(np.int32), target[order].astype(np.int32), np.asarray(weights[entries])
