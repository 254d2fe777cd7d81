"""The nodes of a batch: seeds, what cells and nearness bring, the links among all, and which cells hold whom.

Seeds are objects that a learner asks about, in its order, and may be repeated.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import offsets, row_of_entries, take_rows
from cube2net.network.pagerank import nearest
from cube2net.records import Cube, Links, Query, Ragged, Scope
from cube2net.records.scope import OPEN


def bring(
    cube: Cube,
    query: Query,
    cells: Array,
    near: int | None,
    room: int | None,
    rng: np.random.Generator,
    scope: Scope = OPEN,
) -> Array:
    """Return the objects that come beside a query, at most ``room`` of them (None is no limit), in the order taken.

    First come ``near`` objects nearest by links, then those that the cells hold: by how many links they have to the
    query, then by how many of the cells hold them, and else by chance. Where ``near`` is None, the nearest come last
    and fill the room that is left. What ``scope`` bars does not come.

    >>> from cube2net.seeding import stream
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> brought = bring(cube, cube.query(["o0"]), cube.homes[0], 2, 5, stream(0, "example"))
    >>> len(brought), np.isin(brought[:2], cube.links.neighbours(0)).tolist()
    (5, [True, True])
    """
    first = nearest(cube.links, query, near, scope=scope) if near else np.empty(0, dtype=np.int32)
    first = first[:room]
    taken = np.concatenate([query.objects, first])
    held = ranked_members(cube, query, cells, rng)
    if scope.barred is not None:
        held = held[~scope.barred[held]]
    held = held[~np.isin(held, taken)][: None if room is None else room - len(first)]
    last = np.empty(0, dtype=np.int32)
    left = 0 if room is None else room - len(first) - len(held)
    if near is None and left:
        found = nearest(cube.links, query, left + len(held), scope=scope)
        last = found[~np.isin(found, held)][:left]
    return np.concatenate([first, held, last])


def ranked_members(cube: Cube, query: Query, cells: Array, rng: np.random.Generator) -> Array:
    """Return the objects that cells hold, without the query: those with most links to it first.

    Of as many links those come first that more of the cells hold, and then chance decides.
    """
    objects, holders = np.unique(take_rows(cube.cells.members, cells).indices, return_counts=True)
    apart = ~np.isin(objects, query.objects)
    objects, holders = objects[apart], holders[apart]
    ends, times = np.unique(cube.links.indices[_entries(cube.links, query.objects)[1]], return_counts=True)
    links = np.zeros(len(objects), dtype=np.int64)
    links[np.isin(objects, ends)] = times[np.isin(ends, objects)]
    return np.asarray(objects[np.lexsort((rng.permutation(len(objects)), -holders, -links))])


def link_entries(links: Links, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the links among nodes both ways: positions of the source and of the target, and the entry in ``links``.

    A node may be repeated: what leads to the first of them leads to every one, and only from the first anything leads
    away. So the repeats see what the first sees, and the others do not see them.

    >>> from cube2net.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1]), np.array([1, 2]), np.ones(2), 3)
    >>> [ends.tolist() for ends in link_entries(path, np.array([1, 0, 1]))]
    [[0, 1, 1], [1, 0, 2], [1, 0, 0]]
    """
    once, first, which = np.unique(nodes, return_index=True, return_inverse=True)
    shown = np.sort(first)
    source, entries = _entries(links, nodes[shown])
    ends = links.indices[entries]
    place = np.minimum(np.searchsorted(once, ends), len(once) - 1)
    among = once[place] == ends
    copies = Ragged(offsets(np.sort(which), len(once)), np.argsort(which, kind="stable").astype(np.int32))
    targets = take_rows(copies, place[among])
    again = row_of_entries(targets)
    return shown[source[among][again]], targets.indices.astype(np.int64), entries[among][again]


def memberships(cube: Cube, nodes: Array, cells: Array) -> tuple[Array, Array]:
    """Return who is in which cell: positions in ``nodes`` and positions in ``cells`` beside each other, by node.

    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.make_planted(objects=200, communities=4, noise=0).corpus)
    >>> members = cube.cells.members[5]
    >>> [ends.tolist() for ends in memberships(cube, members[:2], np.array([5]))]
    [[0, 1], [0, 0]]
    """
    if not len(cells):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    homes = take_rows(cube.homes, nodes)
    order = np.argsort(cells)
    place = np.minimum(np.searchsorted(cells, homes.indices, sorter=order), len(cells) - 1)
    there = cells[order[place]] == homes.indices
    node, cell = row_of_entries(homes)[there].astype(np.int64), order[place[there]]
    by_node = np.lexsort((cell, node))
    return node[by_node], cell[by_node]


def _entries(links: Links, objects: Array) -> tuple[Array, Array]:
    """Return the entries of the rows of objects, and beside each the position of its object."""
    sizes = links.indptr[objects + 1] - links.indptr[objects]
    position = np.repeat(np.arange(len(objects)), sizes)
    return position, np.arange(len(position)) + np.repeat(links.indptr[objects] - (np.cumsum(sizes) - sizes), sizes)
