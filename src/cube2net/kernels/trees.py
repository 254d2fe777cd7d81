"""Trees in a network: the part around a query, spanning trees, the best subtree, growing and trimming."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit

from cube2net.records.ragged import Array

TIGHT = 1e-9


@njit(cache=True)
def expand(indptr: Array, indices: Array, query: Array, reach: int, most: int) -> Array:
    """Return the query and the objects within ``reach`` hops of it, ring by ring, at most ``most`` others.

    Of a ring that does not fit whole, the objects with most links to the ring before come in, in the
    order found where they have as many, and it is the last.
    """
    met = np.zeros(len(indptr) - 1, np.int32)
    found = np.empty(len(met), np.int32)
    for at in range(len(query)):
        found[at] = query[at]
        met[query[at]] = -1
    start, stop = 0, len(query)
    for _ in range(reach):
        end = stop
        for at in range(start, stop):
            for entry in range(indptr[found[at]], indptr[found[at] + 1]):
                other = indices[entry]
                if met[other] == 0:
                    found[end] = other
                    end += 1
                if met[other] >= 0:
                    met[other] += 1
        room = len(query) + most - stop
        if end - stop > room:
            return _fullest(met, found, stop, end, room)
        for at in range(stop, end):
            met[found[at]] = -1
        start, stop = stop, end
        if start == stop:
            break
    return found[:stop].copy()


@njit(cache=True)
def _fullest(met: Array, found: Array, stop: int, end: int, room: int) -> Array:
    most = 0
    for at in range(stop, end):
        most = max(most, met[found[at]])
    tally = np.zeros(most + 2, np.int64)
    for at in range(stop, end):
        tally[met[found[at]]] += 1
    least, sure = most + 1, 0
    while least > 1 and sure + tally[least] <= room:
        sure += tally[least]
        least -= 1
    some, to = room - sure, stop
    for at in range(stop, end):
        count = met[found[at]]
        if count > least or (count == least and some > 0):
            some -= count == least
            found[to] = found[at]
            to += 1
    return found[:to].copy()


@njit(cache=True)
def links_among(indptr: Array, indices: Array, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the links among nodes, each once: both ends as positions in ``nodes``, and the entry it stands at."""
    place = np.full(len(indptr) - 1, -1, np.int32)
    for at in range(len(nodes)):
        place[nodes[at]] = at
    count = 0
    for at in range(len(nodes)):
        for entry in range(indptr[nodes[at]], indptr[nodes[at] + 1]):
            count += place[indices[entry]] > at
    low = np.empty(count, np.int32)
    high = np.empty(count, np.int32)
    entries = np.empty(count, np.int64)
    count = 0
    for at in range(len(nodes)):
        for entry in range(indptr[nodes[at]], indptr[nodes[at] + 1]):
            other = place[indices[entry]]
            if other > at:
                low[count], high[count], entries[count] = at, other, entry
                count += 1
    return low, high, entries


@njit(cache=True)
def both_ends(count: int, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return links kept on both ends: where each node's row starts, its neighbours, and the link of each."""
    indptr = np.zeros(count + 1, np.int64)
    for link in range(len(low)):
        indptr[low[link] + 1] += 1
        indptr[high[link] + 1] += 1
    for node in range(count):
        indptr[node + 1] += indptr[node]
    free = indptr[:-1].copy()
    others = np.empty(2 * len(low), np.int64)
    links = np.empty(2 * len(low), np.int64)
    for link in range(len(low)):
        a, b = low[link], high[link]
        others[free[a]], links[free[a]] = b, link
        others[free[b]], links[free[b]] = a, link
        free[a] += 1
        free[b] += 1
    return indptr, others, links


@njit(cache=True)
def needed(indptr: Array, others: Array, first: int) -> Array:
    """Return which nodes are left when those that a neighbour can stand in for go; the ``first`` ones never go.

    A node can go when all its neighbours are also neighbours of one of them: whatever it joins, that one
    joins. So a smallest connected set around given nodes never needs it.
    """
    count = len(indptr) - 1
    left = np.ones(count, np.bool_)
    near = np.full(count, -1)
    for node in range(count):
        if not left[node]:
            continue
        near[node] = node
        for entry in range(indptr[node], indptr[node + 1]):
            near[others[entry]] = node
        for entry in range(indptr[node], indptr[node + 1]):
            other = others[entry]
            if other < first or not left[other]:
                continue
            left[other] = False
            for way in range(indptr[other], indptr[other + 1]):
                if left[others[way]] and near[others[way]] != node:
                    left[other] = True
                    break
    return left


@njit(cache=True)
def around(
    indptr: Array, indices: Array, query: Array, reach: int, most: int, spare: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the nodes around a query, itself first, and the links among them as positions, with their entries.

    With ``spare`` the nodes that another can stand in for are left out.
    """
    nodes = expand(indptr, indices, query, reach, most)
    low, high, entries = links_among(indptr, indices, nodes)
    if spare:
        ends, others, _ = both_ends(len(nodes), low, high)
        nodes = nodes[needed(ends, others, len(query))]
        low, high, entries = links_among(indptr, indices, nodes)
    return nodes, low, high, entries


@njit(cache=True)
def search(indptr: Array, others: Array, links: Array, first: int) -> tuple[Array, Array, Array, Array]:
    """Return a breadth-first tree for every connected part, that of ``first`` from ``first``.

    For every node: the order of visits, the parent and the link to it (-1 at a root), and the part's number.
    """
    count = len(indptr) - 1
    order = np.empty(count, np.int32)
    parent = np.full(count, -1, np.int32)
    above = np.full(count, -1, np.int32)
    part = np.full(count, -1, np.int32)
    done = stop = parts = 0
    for start in range(-1, count):
        root = first if start < 0 else start
        if count == 0 or part[root] >= 0:
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
def rooted(count: int, low: Array, high: Array, cost: Array) -> tuple[Array, Array, Array]:
    """Return the order, the parents and the cost of the way up, for every node of a forest given by its links."""
    indptr, others, links = both_ends(count, low, high)
    order, parent, above, _ = search(indptr, others, links, 0)
    up = np.zeros(count)
    for node in range(count):
        if above[node] >= 0:
            up[node] = cost[above[node]]
    return order, parent, up


@njit(cache=True)
def trim(order: Array, parent: Array, worth: Array, cost: Array, other: Array, room: int) -> Array:
    """Return which nodes stay when at most ``room`` of the ``other`` nodes may.

    Again and again one link is cut and the part on one side of it dropped: the part that loses least
    worth for each node by which it brings the trees closer to ``room``.
    """
    keep = np.ones(len(order), np.bool_)
    need = int(other.sum()) - room
    total, count = np.empty(len(order)), np.empty(len(order), np.int64)
    root, under = np.empty(len(order), np.int64), np.empty(len(order), np.bool_)
    while need > 0:
        for node in order:
            total[node], count[node] = worth[node], other[node]
            root[node] = root[parent[node]] if parent[node] >= 0 and keep[parent[node]] else node
        for node in order[::-1]:
            if root[node] != node:
                total[parent[node]] += total[node] - cost[node]
                count[parent[node]] += count[node]
        least, cut, lower = np.inf, -1, True
        for node in order:
            whole = root[node]
            if whole == node:
                continue
            if count[node] > 0:
                lost = (total[node] - cost[node]) / min(count[node], need)
                if lost < least:
                    least, cut, lower = lost, node, True
            if count[whole] > count[node]:
                lost = (total[whole] - total[node]) / min(count[whole] - count[node], need)
                if lost < least:
                    least, cut, lower = lost, node, False
        if cut < 0:
            break
        for node in order:
            under[node] = node == cut or (root[node] != node and under[parent[node]])
            if root[node] == root[cut] and under[node] == lower:
                keep[node] = False
                need -= int(other[node])
        order = order[keep[order]]
    return keep


@njit(cache=True)
def fit(
    indptr: Array,
    indices: Array,
    nodes: Array,
    tree: tuple[Array, Array, Array],
    worth: Array,
    other: Array,
    room: int,
    max_links: int,
) -> Array:
    """Return which nodes stay when at most ``room`` others and ``max_links`` links among all may.

    Nodes that are not ``other`` always stay. ``max_links`` below 0 is no limit; else the largest room
    that keeps the links within it is found by halving.
    """
    order, parent, cost = tree
    fits, over, trial = -1, room + 1, room
    best = ~other
    while over - fits > 1:
        keep = trim(order, parent, worth, cost, other, trial) | ~other
        if max_links < 0 or len(links_among(indptr, indices, nodes[keep])[0]) <= max_links:
            fits, best = trial, keep
        else:
            over = trial
        trial = (fits + over) // 2
    return best


@njit(cache=True)
def moat_of(top: Array, shift: Array, node: int) -> tuple[int, float]:
    """Return the representative of a node's cluster, and how far the node's moat is ahead of it."""
    ahead = 0.0
    while top[node] != node:
        ahead += shift[node]
        node = top[node]
    return node, ahead


@njit(cache=True)
def grow(
    indptr: Array, others: Array, links: Array, low: Array, high: Array, cost: Array, prize: Array, part: Array
) -> Array:
    """Return the links that get tight when every prize grows a moat: the growth of Goemans and Williamson.

    Every node with a prize starts as a cluster with that much to spend. Clusters that have something
    left widen their moats at the same speed; a link whose two moats meet is tight and joins its
    clusters, which then spend together. A connected part is done when one spending cluster is left in
    it. The links come in the order in which they got tight and make a forest.
    """
    count = len(prize)
    top, size = np.arange(count), np.ones(count, np.int64)
    shift, moat, since = np.zeros(count), np.zeros(count), np.zeros(count)
    left, active = prize.copy(), prize > 0
    last, after = np.arange(count), np.full(count, -1)  # the members of a cluster as a chain from its top
    stamp = np.zeros(count, np.int64)
    spending = np.zeros(count, np.int64)
    for node in range(count):
        spending[part[node]] += active[node]
    meet = [(0.0, -1)]  # (time, link): not later than the moats can meet
    spent = [(0.0, -1, -1)]  # (time, cluster, stamp): when a cluster has spent all, while its stamp holds
    for node in range(count):
        if active[node] and spending[part[node]] > 1:
            heapq.heappush(spent, (left[node], node, 0))
            for entry in range(indptr[node], indptr[node + 1]):
                link = links[entry]
                if not active[others[entry]]:
                    heapq.heappush(meet, (cost[link], link))
                elif others[entry] > node:
                    heapq.heappush(meet, (cost[link] / 2, link))
    heapq.heappop(meet)
    heapq.heappop(spent)
    going = np.sum(spending > 1)
    tight = np.empty(max(count - 1, 0), np.int64)
    found = 0
    while going > 0 and len(meet) > 0:
        if len(spent) > 0 and spent[0][0] < meet[0][0] - TIGHT:
            now, a, mark = heapq.heappop(spent)
            if active[a] and stamp[a] == mark and spending[part[a]] > 1:
                moat[a] += now - since[a]
                left[a], active[a] = 0.0, False
                spending[part[a]] -= 1
                going -= spending[part[a]] == 1
            continue
        now, link = heapq.heappop(meet)
        if spending[part[low[link]]] < 2:
            continue
        a, ahead_a = moat_of(top, shift, low[link])
        b, ahead_b = moat_of(top, shift, high[link])
        speed = int(active[a]) + int(active[b])
        if a == b or speed == 0:
            continue
        for c in (a, b):
            if active[c]:
                moat[c] += now - since[c]
                left[c] = max(0.0, left[c] - (now - since[c]))
            since[c] = now
        slack = cost[link] - ahead_a - moat[a] - ahead_b - moat[b]
        if slack > TIGHT:
            heapq.heappush(meet, (now + slack / speed, link))
            continue
        tight[found] = link
        found += 1
        woken = -1 if speed == 2 else (b if active[a] else a)
        stop = last[woken]
        if size[a] < size[b]:
            a, b = b, a
        top[b], shift[b] = a, moat[b] - moat[a]
        size[a] += size[b]
        after[last[a]], last[a] = b, last[b]
        left[a] += left[b]
        active[a], active[b] = True, False
        stamp[a] += 1
        heapq.heappush(spent, (now + left[a], a, stamp[a]))
        if speed == 2:
            spending[part[a]] -= 1
            going -= spending[part[a]] == 1
            continue
        node = woken
        while node >= 0:
            ahead_a = moat_of(top, shift, node)[1]
            for entry in range(indptr[node], indptr[node + 1]):
                b, ahead_b = moat_of(top, shift, others[entry])
                link = links[entry]
                if b != a:
                    slack = cost[link] - ahead_a - moat[a] - ahead_b - moat[b]
                    if active[b]:
                        slack = (slack - (now - since[b])) / 2
                    heapq.heappush(meet, (now + max(0.0, slack), link))
            node = -1 if node == stop else after[node]
    return tight[:found]


@njit(cache=True)
def join_nearest(
    indptr: Array, others: Array, links: Array, cost: Array, start: Array, wanted: Array, limit: float
) -> Array:
    """Return the links of trees that start at nodes of distinct parts and always take in the nearest wanted node.

    This is the path heuristic of Takahashi and Matsuyama: each node comes with the cheapest path from the
    tree as it stands. A node with ``wanted`` 2 is taken at any distance, one with 1 below ``limit`` only.
    """
    count = len(indptr) - 1
    inside = np.zeros(count, np.bool_)
    far = np.full(count, np.inf)
    before, above = np.full(count, -1), np.full(count, -1)
    ahead = [(0.0, -1)]
    for node in start:
        inside[node], far[node] = True, 0.0
        heapq.heappush(ahead, (0.0, node))
    heapq.heappop(ahead)
    must, may = np.sum((wanted == 2) & ~inside), np.sum((wanted == 1) & ~inside)
    taken = np.empty(count, np.int64)
    size = 0
    while len(ahead) > 0 and must + may > 0:
        way, node = heapq.heappop(ahead)
        if way > far[node]:
            continue
        if must == 0 and way >= limit:
            break
        if not inside[node] and (wanted[node] == 2 or (wanted[node] == 1 and way < limit)):
            while not inside[node]:
                inside[node], far[node] = True, 0.0
                heapq.heappush(ahead, (0.0, node))
                must -= wanted[node] == 2
                may -= wanted[node] == 1
                taken[size] = above[node]
                size += 1
                node = before[node]
            continue
        for entry in range(indptr[node], indptr[node + 1]):
            other = others[entry]
            there = way + cost[links[entry]]
            if there < far[other]:
                far[other], before[other], above[other] = there, node, links[entry]
                heapq.heappush(ahead, (there, other))
    return taken[:size]
