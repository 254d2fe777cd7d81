"""The links among chosen objects, and how many objects, or branches of trees, a budget has room for."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import CubeError
from cube2net.kernels.numpy_pagerank import entries_of
from cube2net.kernels.small_work import HUB, STEPS
from cube2net.records import Budget, Cube, Links, Query
from cube2net.records.scope import Scope

# Bytes for every place of a table of nodes: one object in eight or fewer passes for a node at first.
MARKS = 4
WEIGHTS = "weights of its links here are"


def induce(links: Links, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the links among distinct objects, each once: source, target and weight.

    Source and target are positions in ``nodes``, the source first. The cost follows the number of links of
    the nodes, not the size of the network, and a hub costs no more than a search for each of the nodes.

    >>> from cube2net.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), 4)
    >>> [ends.tolist() for ends in induce(path, np.array([3, 1, 2]))]
    [[0, 1], [2, 2], [1.0, 1.0]]
    """
    return look_up_links(links, np.array(nodes, dtype=np.int32))[0]


def look_up_links(links: Links, nodes: Array) -> tuple[tuple[Array, Array, Array], Array, Array]:
    """Return the links among nodes, and a table of 1 + the position of every node: its keys and its values.

    Where nodes are few, the table has their size; else it has a place for every object of the cube, so that a link
    costs one look.
    """
    room = int((links.indptr[nodes + 1] - links.indptr[nodes]).sum())
    if STEPS.small("subgraphs.induce", room + len(links)):
        place = np.zeros(len(links), dtype=np.int32)
        place[nodes] = np.arange(1, len(nodes) + 1)
        found = _induce_in_numpy(links.indptr, links.indices, links.weights, nodes, place)
        check_weights(found[2], WEIGHTS)
        return found, np.empty(0, np.int32), place
    from cube2net.kernels.subgraphs import induce as kernel
    from cube2net.kernels.subgraphs import keys_for, seat

    keys = keys_for(len(nodes), len(links))
    place = np.zeros(len(keys) or len(links), dtype=np.int32)
    seat(keys, place, nodes, 1, 1)
    mark = np.zeros(MARKS * len(keys), dtype=np.uint8)
    source, target = np.empty(room, np.int32), np.empty(room, np.int32)
    weight = np.empty(room, np.float32)
    rows = (links.indptr, links.indices, links.weights, nodes)
    count = kernel(*rows, keys, place, mark, source, target, weight)
    check_weights(weight[:count], WEIGHTS)
    return (source[:count].copy(), target[:count].copy(), weight[:count].copy()), keys, place


def look_up(keys: Array, place: Array, objects: Array) -> Array:
    """Return the values that a table of :func:`look_up_links` has for objects; 0 for those that are not in it."""
    if not len(keys):
        return np.asarray(place[objects])
    from cube2net.kernels.subgraphs import look

    return np.asarray(look(keys, place, objects))


def check_weights(weights: Array, what: str) -> None:
    """Raise where weights that were read from a cube, or their sums, cannot be: no cube is built with such."""
    unusable = int((~((weights >= 0) & (weights < np.inf))).sum())
    if unusable:
        raise CubeError(f"the cube is damaged: {unusable:,} {what} negative or no finite numbers")


def pinned(query: Query, scope: Scope) -> Array:
    """Return the objects outside a query that are in already, ascending."""
    return np.setdiff1d(scope.objects, query.objects) if len(scope.objects) else scope.objects


def in_already(query: Query, scope: Scope) -> Array:
    """Return the objects that are in whatever a method brings: the query, and then those that are pinned."""
    return np.concatenate([query.objects, pinned(query, scope)]) if len(scope.objects) else query.objects


def may_come(objects: Array, scope: Scope) -> Array:
    """Return those of some objects that no rule bars."""
    return objects if scope.barred is None else objects[~scope.barred[objects]]


def bars(scope: Scope) -> Array:
    """Return the marks of the objects that may not come, as compiled code takes them: none where all may."""
    return np.zeros(0, dtype=bool) if scope.barred is None else np.array(scope.barred)


def within(links: Links, query: Query, ranked: Array, budget: Budget) -> Array:
    """Return the first of some ranked objects that fit, with what is in already, into a budget's nodes and links.

    The query always stays whole, and so do the objects pinned, which come first: where these alone are over a limit, no
    other object is brought.
    """
    inside = in_already(query, budget.scope)
    pins = inside[len(query) :]
    if len(pins):
        ranked = ranked[~np.isin(ranked, pins)]
    if budget.max_nodes is not None:
        ranked = ranked[: max(0, budget.max_nodes - len(inside))]
    if budget.max_links is not None and len(ranked):
        nodes = np.concatenate([inside, ranked])
        _, later, _ = induce(links, nodes)
        held = np.cumsum(np.bincount(later, minlength=len(nodes)))[len(inside) :]
        ranked = ranked[: int(np.searchsorted(held, budget.max_links, side="right"))]
    return np.concatenate([pins, ranked]) if len(pins) else ranked


def cut_to_budget(
    budget: Budget, cube: Cube, query: Query, nodes: Array, low: Array, high: Array, cost: Array, worth: Array
) -> Array:
    """Return the objects that trees bring besides the query, ascending, cut to the budget; those pinned among them.

    ``nodes`` are objects, those that are in already first (:func:`in_already`); trees are given by their links between
    positions of nodes, and ``worth`` and ``cost`` say what a node adds to a tree and what a link takes.
    """
    from cube2net.kernels.trees import fit

    inside = len(in_already(query, budget.scope))
    keep = np.arange(len(nodes)) < inside
    keep[low] = True
    keep[high] = True
    place = np.cumsum(keep) - 1
    nodes, worth = nodes[keep], worth[keep]
    other = np.arange(len(nodes)) >= inside
    room = len(nodes) if budget.max_nodes is None else budget.max_nodes
    if len(nodes) > room or budget.max_links is not None:
        indptr, indices = np.asarray(cube.links.indptr), np.asarray(cube.links.indices)
        most = -1 if budget.max_links is None else budget.max_links
        other &= fit(indptr, indices, nodes, place[low], place[high], cost, worth, other, max(0, room - inside), most)
    other[len(query) : inside] = True
    return np.sort(nodes[other])


def _induce_in_numpy(
    indptr: Array, indices: Array, weights: Array, nodes: Array, place: Array
) -> tuple[Array, Array, Array]:
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
