"""Which cells fit into what is left of a budget of objects and links.

``present[o]`` is 1 for the objects of the network so far, and 2 for those that never come in: cells bring their other
objects. Links are kept on both ends.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit

NO_LIMIT = int(np.iinfo(np.int64).max)


@njit(cache=True)
def bring(
    objects: Array, present: Array, links_indptr: Array, links_indices: Array, max_nodes: int, max_links: int
) -> tuple[int, int]:
    """Bring objects in if they fit; return how many are new and the links they add, or (-1, -1) if they do not.

    A link is added when both its ends are in and one of them is new; it counts once. Nothing changes when
    the objects do not fit. Links are not counted where ``max_links`` is ``NO_LIMIT``.
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
        # An object comes in as its links are counted, so a link between two new ones is met from the later only.
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
    """Bring in the first ``want`` of the cells, in their order, that fit one after the other.

    Return their places in the order, how many objects are new in all, and how many links.
    """
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
