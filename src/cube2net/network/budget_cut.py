"""Trees cut to a budget: the branches that a limit on nodes or links leaves room for."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.records import Budget, Cube, Query


def cut_to_budget(
    budget: Budget, cube: Cube, query: Query, nodes: Array, low: Array, high: Array, cost: Array, worth: Array
) -> Array:
    """Return the objects that trees bring besides the query, ascending, cut to the budget.

    ``nodes`` are objects, the query first; trees are given by their links between positions of nodes,
    and ``worth`` and ``cost`` say what a node adds to a tree and what a link takes.
    """
    from cube2net.kernels.trim import fit

    keep = np.arange(len(nodes)) < len(query)
    keep[low] = True
    keep[high] = True
    place = np.cumsum(keep) - 1
    nodes, worth = nodes[keep], worth[keep]
    other = np.arange(len(nodes)) >= len(query)
    room = len(nodes) if budget.max_nodes is None else budget.max_nodes
    if len(nodes) > room or budget.max_links is not None:
        indptr, indices = np.asarray(cube.links.indptr), np.asarray(cube.links.indices)
        most = -1 if budget.max_links is None else budget.max_links
        other &= fit(
            indptr, indices, nodes, place[low], place[high], cost, worth, other, max(0, room - len(query)), most
        )
    return np.sort(nodes[other])
