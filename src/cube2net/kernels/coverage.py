"""Marginal gains of cells in a growing selection: add and remove a cell, and compare candidates.

The state of a selection is three arrays. ``covers[o]`` is the number of chosen cells that contain object o.
``gains[c]`` and ``costs[c]`` are the sums of gain and cost over the members of cell c that no chosen cell contains.
Sums of integers (and of halves, quarters, …) are exact in any order.

``members`` is cell → objects and ``homes`` object → cells, each as offsets and entries.

For budgets, ``present[o]`` is 1 for objects in the network and 2 for objects that must never be added. Links are stored
at both ends.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.numpy_kernels import list_entries


def find_touched_cells(objects: Array, homes_indptr: Array, homes_indices: Array, cells: int) -> Array:
    """Return the cells that contain at least one of the objects, ascending."""
    hit = np.zeros(cells, dtype=np.bool_)
    hit[homes_indices[list_entries(homes_indptr, objects)[0]]] = True
    return np.flatnonzero(hit)


@njit(cache=True)
def compute_residuals(
    cells: Array, members_indptr: Array, members_indices: Array, covers: Array, gain: Array, cost: Array
) -> tuple[Array, Array]:
    """Return the gain and the cost of the uncovered members of each cell."""
    gains = np.zeros(len(cells))
    costs = np.zeros(len(cells))
    for place in range(len(cells)):
        for at in range(members_indptr[cells[place]], members_indptr[cells[place] + 1]):
            o = members_indices[at]
            if covers[o] == 0:
                gains[place] += gain[o]
                costs[place] += cost[o]
    return gains, costs


@njit(cache=True)
def compute_values(cells: Array, gains: Array, costs: Array, above: float, below: float) -> Array:
    """Return the value of the selection with each of the cells added; 0 if there is no cost.

    ``above`` and ``below`` are the current sums of gain and cost.
    """
    worth = np.zeros(len(cells))
    for place in range(len(cells)):
        total = below + costs[cells[place]]
        if total > 0.0:
            worth[place] = (above + gains[cells[place]]) / total
    return worth


@njit(cache=True)
def add(
    cell: int,
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    covers: Array,
    gain: Array,
    cost: Array,
    gains: Array,
    costs: Array,
) -> None:
    """Cover the members of a cell, and subtract the gain and cost of new ones from all cells that contain them."""
    for at in range(members_indptr[cell], members_indptr[cell + 1]):
        o = members_indices[at]
        covers[o] += 1
        if covers[o] == 1:
            for home in range(homes_indptr[o], homes_indptr[o + 1]):
                gains[homes_indices[home]] -= gain[o]
                costs[homes_indices[home]] -= cost[o]


@njit(cache=True)
def remove(
    cell: int,
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    covers: Array,
    gain: Array,
    cost: Array,
    gains: Array,
    costs: Array,
) -> None:
    """Undo ``add``: members that no chosen cell contains any more count again."""
    for at in range(members_indptr[cell], members_indptr[cell + 1]):
        o = members_indices[at]
        covers[o] -= 1
        if covers[o] == 0:
            for home in range(homes_indptr[o], homes_indptr[o + 1]):
                gains[homes_indices[home]] += gain[o]
                costs[homes_indices[home]] += cost[o]


@njit(cache=True)
def spread(rows: Array, terms: Array, homes_indptr: Array, homes_indices: Array, sums: Array) -> None:
    """Add the terms of objects to the sums of every cell that contains them; both have one column per sum."""
    for place in range(len(rows)):
        for home in range(homes_indptr[rows[place]], homes_indptr[rows[place] + 1]):
            for column in range(terms.shape[1]):
                sums[homes_indices[home], column] += terms[place, column]


@njit(cache=True)
def cover(
    cell: int,
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    rows: Array,
    terms: Array,
    others: Array,
    state: Array,
    sums: Array,
) -> None:
    """Cover the members of a cell like ``add``; the objects ``rows`` have their own terms, all others ``others``.

    ``state`` is 1 for covered objects, 2 for uncovered ``rows``, and 0 for other uncovered objects.
    """
    for at in range(members_indptr[cell], members_indptr[cell + 1]):
        o = members_indices[at]
        if state[o] == 1:
            continue
        first, second = others[0], others[1]
        if state[o] == 2:
            place, end = 0, len(rows)
            while place < end:
                middle = (place + end) // 2
                if rows[middle] < o:
                    place = middle + 1
                else:
                    end = middle
            first, second = terms[place, 0], terms[place, 1]
        state[o] = 1
        for home in range(homes_indptr[o], homes_indptr[o + 1]):
            sums[homes_indices[home], 0] -= first
            sums[homes_indices[home], 1] -= second


@njit(cache=True)
def cover_all(
    cell: int,
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    terms: Array,
    state: Array,
    sums: Array,
) -> None:
    """Cover the members of a cell like ``cover``; every object has its own terms."""
    for at in range(members_indptr[cell], members_indptr[cell + 1]):
        o = members_indices[at]
        if state[o] == 0:
            state[o] = 1
            for home in range(homes_indptr[o], homes_indptr[o + 1]):
                sums[homes_indices[home], 0] -= terms[o, 0]
                sums[homes_indices[home], 1] -= terms[o, 1]


@njit(cache=True)
def best_value(cells: Array, sums: Array, above: float, below: float, digits: float) -> int:
    """Return the position of the cell that gives the selection the highest value, the first of equal ones.

    Values are rounded relative to the largest: ``digits`` is 1e12 for 12 digits. They are 0 without any cost.
    """
    worth = np.zeros(len(cells))
    largest = 0.0
    for place in range(len(cells)):
        total = below + sums[cells[place], 1]
        if total > 0.0:
            worth[place] = (above + sums[cells[place], 0]) / total
            largest = max(largest, abs(worth[place]))
    best = 0
    highest = -np.inf
    for place in range(len(cells)):
        value = np.rint(worth[place] / largest * digits) if largest > 0.0 else 0.0
        if value > highest:
            best, highest = place, value
    return best


@njit(cache=True)
def best_sum(cells: Array, sums: Array, taken: Array, room: float, equal: float) -> int:
    """Return the position of the cell with the largest first sum above ``equal``, or −1; the first of equal ones.

    Cells that are taken, and those with a second sum above ``room``, are skipped.
    """
    best = -1
    for place in range(len(cells)):
        cell = cells[place]
        if taken[place] or sums[cell, 1] > room or sums[cell, 0] <= equal:
            continue
        if best < 0 or sums[cell, 0] > sums[cells[best], 0] + equal:
            best = place
    return best


@njit(cache=True)
def grow(
    cells: Array, members_indptr: Array, members_indices: Array, covers: Array, gain: Array, cost: Array
) -> tuple[Array, Array]:
    """Cover cells one after another; return the gain and the cost that each added."""
    gains = np.zeros(len(cells))
    costs = np.zeros(len(cells))
    for place in range(len(cells)):
        for at in range(members_indptr[cells[place]], members_indptr[cells[place] + 1]):
            o = members_indices[at]
            covers[o] += 1
            if covers[o] == 1:
                gains[place] += gain[o]
                costs[place] += cost[o]
    return gains, costs


NO_LIMIT = int(np.iinfo(np.int64).max)


@njit(cache=True)
def bring(
    objects: Array, present: Array, links_indptr: Array, links_indices: Array, max_nodes: int, max_links: int
) -> tuple[int, int]:
    """Add objects if they fit; return the numbers of new objects and links, or (-1, -1) and no change if they do not.

    A new link has both ends in the network, and at least one of them is new. Links are not counted if ``max_links`` is
    ``NO_LIMIT``.
    """
    nodes = 0
    for o in objects:
        if present[o] == 0:
            nodes += 1
    links = 0
    if nodes <= max_nodes:
        if max_links == NO_LIMIT:
            for o in objects:
                present[o] = 1
            return nodes, links
        # Objects are added as their links are counted, so a link between two new ones is counted once.
        new = np.empty(nodes, dtype=np.int64)
        done = 0
        for o in objects:
            if present[o] == 0:
                for at in range(links_indptr[o], links_indptr[o + 1]):
                    links += present[links_indices[at]] == 1
                present[o] = 1
                new[done] = o
                done += 1
                if links > max_links:
                    break
        if links <= max_links:
            return nodes, links
        for o in new[:done]:
            present[o] = 0
    return -1, -1


@njit(cache=True)
def bring_first(
    cells: Array,
    want: int,
    members_indptr: Array,
    members_indices: Array,
    present: Array,
    links_indptr: Array,
    links_indices: Array,
    max_nodes: int,
    max_links: int,
) -> tuple[Array, int, int]:
    """Add the first ``want`` cells, in their order, that fit; return their positions and the new objects and links."""
    places = np.empty(min(want, len(cells)), dtype=np.int64)
    taken = 0
    nodes = 0
    links = 0
    for place in range(len(cells)):
        if taken == len(places):
            break
        objects = members_indices[members_indptr[cells[place]] : members_indptr[cells[place] + 1]]
        left = max_links if max_links == NO_LIMIT else max_links - links
        more_nodes, more_links = bring(objects, present, links_indptr, links_indices, max_nodes - nodes, left)
        if more_nodes >= 0:
            places[taken] = place
            taken += 1
            nodes += more_nodes
            links += more_links
    return places[:taken], nodes, links
