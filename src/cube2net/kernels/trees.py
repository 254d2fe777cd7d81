"""Trees in a network: searching and spanning ones, the best subtree, and trees cut down to a number of nodes."""

from __future__ import annotations

import heapq

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.subgraphs import both_ends, links_among

HALVINGS = 40  # of the price of a node, whereafter it is known to a millionth of a millionth
ROUNDS = 16  # of growing into what room is left; two or three do nearly always
OPEN, TAKEN, GONE = 0, 1, 2


@njit(cache=True)
def search(indptr: Array, others: Array, links: Array, first: Array) -> tuple[Array, Array, Array, Array]:
    """Return a breadth-first tree for every connected part: from the first node it has in ``first``, else its lowest.

    For every node: the order of visits, the parent and the link to it (-1 at a root), and the part's number.
    """
    count = len(indptr) - 1
    order = np.empty(count, np.int32)
    parent = np.full(count, -1, np.int32)
    above = np.full(count, -1, np.int32)
    part = np.full(count, -1, np.int32)
    done = stop = parts = 0
    for start in range(-len(first), count):
        root = first[start] if start < 0 else start
        if part[root] >= 0:
            continue
        part[root] = parts
        order[stop] = root
        stop += 1
        while done < stop:
            node = order[done]
            done += 1
            for entry in range(indptr[node], indptr[node + 1]):
                other = others[entry]
                if part[other] < 0:
                    part[other] = parts
                    parent[other] = node
                    above[other] = links[entry]
                    order[stop] = other
                    stop += 1
        parts += 1
    return order, parent, above, part


@njit(cache=True)
def rooted(count: int, low: Array, high: Array, cost: Array, first: Array) -> tuple[Array, Array, Array]:
    """Return the order, the parents and the cost of the way up, for every node of a forest given by its links.

    A tree hangs from the first node it has in ``first``, else from its lowest.
    """
    indptr, others, links = both_ends(count, low, high)
    order, parent, above, _ = search(indptr, others, links, first)
    up = np.zeros(count)
    for node in range(count):
        if above[node] >= 0:
            up[node] = cost[above[node]]
    return order, parent, up


@njit(cache=True)
def find(top: Array, node: int) -> int:
    """Return the representative of a node's set, and shorten the way to it."""
    while top[node] != node:
        top[node] = top[top[node]]
        node = top[node]
    return node


@njit(cache=True)
def spanning(count: int, low: Array, high: Array, order: Array) -> Array:
    """Return the links of the spanning forest that takes links in the given order where they join two parts."""
    top = np.arange(count)
    kept = np.empty(min(len(order), max(count - 1, 0)), np.int64)
    size = 0
    for link in order:
        a, b = find(top, low[link]), find(top, high[link])
        if a != b:
            top[a] = b
            kept[size] = link
            size += 1
            if size == count - 1:
                break
    return kept[:size]


@njit(cache=True)
def best_subtrees(
    order: Array, parent: Array, worth: Array, cost: Array, group: Array, groups: int
) -> tuple[Array, Array]:
    """Return which nodes make the best connected subtree of each group of trees, and what each is worth.

    A subtree is worth its nodes less the cost of its links (``cost[node]`` is that of the link to the
    parent). Linear: below(v) = worth(v) + Σ max(0, below(c) − cost(c)) over the children c; the best
    subtree hangs from the v where below is highest. Branches that add nothing are left off; a group
    whose best is not above 0 is left empty.
    """
    below = worth.copy()
    for at in range(len(order) - 1, -1, -1):
        node = order[at]
        if parent[node] >= 0 and below[node] > cost[node]:
            below[parent[node]] += below[node] - cost[node]
    best = np.zeros(groups)
    top = np.full(groups, -1, np.int64)
    for node in order:
        if below[node] > best[group[node]]:
            best[group[node]] = below[node]
            top[group[node]] = node
    keep = np.zeros(len(order), np.bool_)
    for node in order:
        hangs = parent[node] >= 0 and keep[parent[node]] and below[node] > cost[node]
        keep[node] = hangs or top[group[node]] == node
    return keep, best


@njit(cache=True)
def trim(low: Array, high: Array, cost: Array, worth: Array, other: Array, room: int) -> Array:
    """Return which nodes of a forest stay when at most ``room`` of the ``other`` nodes may.

    One connected piece of every tree stays, or none of it. Every tree is hung from a node of its best piece
    at the price for each other node at which the best pieces fit. From there it grows again, by the branch
    that is worth most for each other node, which gives the best pieces for every price on the way, until the
    room is used up; n log n steps for n nodes.
    """
    count = len(worth)
    if other.sum() <= room:
        return np.ones(count, np.bool_)
    top = tops(low, high, cost, worth, other, room)
    order, parent, up = rooted(count, low, high, cost, top)
    state = np.zeros(count, np.int8)
    left = room
    for node in top:
        state[node] = TAKEN
        left -= int(other[node])
    for _ in range(ROUNDS):
        taken = regrow(order, parent, worth - up, other, left, state)
        left -= taken
        if taken == 0 or left == 0:
            break
    keep: Array = state == TAKEN
    return keep


@njit(cache=True)
def tops(low: Array, high: Array, cost: Array, worth: Array, other: Array, room: int) -> Array:
    """Return a node of the best piece of every tree, at the lowest price found at which the pieces fit."""
    count = len(worth)
    order, parent, up = rooted(count, low, high, cost, np.empty(0, np.int32))
    tree = np.empty(count, np.int32)
    for node in order:
        tree[node] = tree[parent[node]] if parent[node] >= 0 else node
    few, many = np.abs(worth).sum() + 1.0, 0.0  # at so high a price no other node is worth it
    fits = best_subtrees(order, parent, worth - few * other, up, tree, count)[0]
    for _ in range(HALVINGS):
        price = (few + many) / 2
        keep = best_subtrees(order, parent, worth - price * other, up, tree, count)[0]
        held = np.sum(keep & other)
        if held > room:
            many = price
            continue
        few, fits = price, keep
        if held == room:
            break
    seen = np.zeros(count, np.bool_)
    found = np.empty(count, np.int32)
    size = 0
    for node in order:
        if fits[node] and not seen[tree[node]]:
            seen[tree[node]] = True
            found[size] = node
            size += 1
    return found[:size]


@njit(cache=True)
def regrow(order: Array, parent: Array, worth: Array, other: Array, room: int, state: Array) -> int:
    """Take branches of hung trees that fit, best first; return how many ``other`` nodes came in.

    ``worth`` is that of a node less the cost of its way up, and nodes TAKEN in ``state`` are in already. The
    block worth most for each other node is looked at first: below what is taken it comes in, else it joins the
    block above, through which it would come. Blocks that cannot fit, or add nothing, do not come in.
    """
    top = np.arange(len(order))
    total, size = worth.copy(), other.astype(np.int64)
    place = np.empty(len(order), np.int64)
    rate = np.zeros(len(order))
    ahead = [(0.0, -1)]  # (minus the rate, place) of the top node of every block
    for at, node in enumerate(order):
        place[node] = at
        if state[node] != TAKEN:
            state[node] = OPEN
            rate[node] = per_other(total[node], size[node])
            ahead.append((-rate[node], at))
    ahead = ahead[1:]
    heapq.heapify(ahead)
    taken = 0
    while len(ahead) > 0:
        least, at = heapq.heappop(ahead)
        if least >= 0:
            break
        node = order[at]
        if top[node] != node or state[node] != OPEN or -least != rate[node]:
            continue
        above = find(top, parent[node]) if parent[node] >= 0 else -1
        if above < 0 or state[above] == GONE or size[node] > room - taken:
            state[node] = GONE
        elif state[above] == TAKEN:
            state[node] = TAKEN
            taken += size[node]
        elif size[above] + size[node] > room - taken:
            state[node] = GONE
        else:
            top[node] = above
            total[above] += total[node]
            size[above] += size[node]
            rate[above] = per_other(total[above], size[above])
            heapq.heappush(ahead, (-rate[above], place[above]))
    for node in order:
        state[node] = state[find(top, node)]
    return taken


@njit(cache=True)
def per_other(worth: float, others: int) -> float:
    """Return what nodes are worth for each other node among them."""
    if others == 0:
        return np.inf if worth >= 0 else -np.inf
    return worth / others


@njit(cache=True)
def fit(
    indptr: Array,
    indices: Array,
    nodes: Array,
    low: Array,
    high: Array,
    cost: Array,
    worth: Array,
    other: Array,
    room: int,
    max_links: int,
) -> Array:
    """Return which nodes stay when at most ``room`` others and ``max_links`` links among all may.

    Nodes that are not ``other`` always stay. ``max_links`` below 0 is no limit; else the largest room
    that keeps the links within it is found by halving.
    """
    room = min(room, other.sum())
    fits, over, trial = -1, room + 1, room
    best = ~other
    while over - fits > 1:
        keep = trim(low, high, cost, worth, other, trial) | ~other
        if max_links < 0 or len(links_among(indptr, indices, nodes[keep])[0]) <= max_links:
            fits, best = trial, keep
        else:
            over = trial
        trial = (fits + over) // 2
    return best
