"""Trees in a network: spanning and breadth-first trees, trimming to a size, Steiner trees and shortest paths."""

from __future__ import annotations

import heapq

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.subgraphs import both_ends, find_links_among

HALVINGS = 40  # bisection steps of the price of a node, to a relative precision of 1e-12
ROUNDS = 16  # rounds of growing into the remaining room; two or three nearly always suffice
OPEN, TAKEN, GONE = 0, 1, 2


@njit(cache=True)
def search(indptr: Array, others: Array, links: Array, first: Array) -> tuple[Array, Array, Array, Array]:
    """Return a breadth-first tree for every connected part, from its first node in ``first`` or else its lowest.

    The result has for every node: the order of visits, the parent and the link to it (-1 at a root), and the part.
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
def root_forest(count: int, low: Array, high: Array, cost: Array, first: Array) -> tuple[Array, Array, Array]:
    """Return the order, the parents and the cost of the link to the parent, for a forest given by its links.

    The root of a tree is its first node in ``first``, or else its lowest.
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
    """Return the representative of a node's set, and shorten the path to it."""
    while top[node] != node:
        top[node] = top[top[node]]
        node = top[node]
    return node


@njit(cache=True)
def span_forest(count: int, low: Array, high: Array, order: Array) -> Array:
    """Return the links of the spanning forest that takes links in the given order if they join two parts."""
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
    """Return the nodes of the best connected subtree of each group of trees, and the value of each.

    The value of a subtree is the worth of its nodes minus the cost of its links (``cost[node]`` is that of the link to
    the parent). It takes linear time: below(v) = worth(v) + Σ max(0, below(c) − cost(c)) over the children c, and the
    root of the best subtree is the v with the highest below(v). Branches that add nothing are left out; a group whose
    best value is not above 0 is empty.
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
    """Mark the nodes of a forest to keep, at most ``room`` of the ``other`` nodes.

    At most one connected piece of every tree is kept. A price per other node is found at which the best pieces fit, and
    every tree is rooted in its piece. From there pieces grow by the branch with the highest value per other node, which
    gives the best pieces for every price on the way, until the room is used up. It takes n log n steps for n nodes.
    """
    count = len(worth)
    if other.sum() <= room:
        return np.ones(count, np.bool_)
    top = find_tops(low, high, cost, worth, other, room)
    order, parent, up = root_forest(count, low, high, cost, top)
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
def find_tops(low: Array, high: Array, cost: Array, worth: Array, other: Array, room: int) -> Array:
    """Return a node of the best piece of every tree, at the lowest price found at which the pieces fit."""
    count = len(worth)
    order, parent, up = root_forest(count, low, high, cost, np.empty(0, np.int32))
    tree = np.empty(count, np.int32)
    for node in order:
        tree[node] = tree[parent[node]] if parent[node] >= 0 else node
    few, many = np.abs(worth).sum() + 1.0, 0.0  # at this price no other node is worth it
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
    tops = np.empty(count, np.int32)
    size = 0
    for node in order:
        if fits[node] and not seen[tree[node]]:
            seen[tree[node]] = True
            tops[size] = node
            size += 1
    return tops[:size]


@njit(cache=True)
def regrow(order: Array, parent: Array, worth: Array, other: Array, room: int, state: Array) -> int:
    """Take branches of rooted trees that fit, best first; return the number of ``other`` nodes added.

    ``worth`` is that of a node minus the cost of the link to its parent, and nodes TAKEN in ``state`` are already in.
    The block with the highest worth per other node comes first: if its parent is taken, it is added, else it joins the
    block above it. Blocks that do not fit, or add nothing, are not added.
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
    """Return the worth of nodes per other node among them."""
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
    """Mark the nodes to keep, with at most ``room`` other nodes and ``max_links`` links among all.

    Nodes that are not ``other`` are always kept. ``max_links`` below 0 is no limit; else the largest room with few
    enough links is found by bisection.
    """
    room = min(room, other.sum())
    fits, over, trial = -1, room + 1, room
    best = ~other
    while over - fits > 1:
        keep = trim(low, high, cost, worth, other, trial) | ~other
        if max_links < 0 or len(find_links_among(indptr, indices, nodes[keep])[0]) <= max_links:
            fits, best = trial, keep
        else:
            over = trial
        trial = (fits + over) // 2
    return best


TIGHT = 1e-9


@njit(cache=True)
def find_cluster(top: Array, shift: Array, node: int) -> tuple[int, float]:
    """Return the representative of a node's cluster, and how much larger the node's moat is than its."""
    ahead = 0.0
    while top[node] != node:
        ahead += shift[node]
        node = top[node]
    return node, ahead


@njit(cache=True)
def first_events(
    indptr: Array,
    others: Array,
    links: Array,
    cost: Array,
    prize: Array,
    active: Array,
    part: Array,
    spending: Array,
) -> tuple[list[tuple[float, int]], list[tuple[float, int, int]]]:
    """Return the first times at which moats can meet across links, and at which clusters have spent their prizes.

    Both are the heaps of ``grow``, without parts that have a single spending cluster.
    """
    meet = [(0.0, -1)]  # (time, link): not later than the moats can meet
    spent = [(0.0, -1, -1)]  # (time, cluster, stamp): when a cluster has spent all, while its stamp holds
    for node in range(len(prize)):
        if active[node] and spending[part[node]] > 1:
            heapq.heappush(spent, (prize[node], node, 0))
            for entry in range(indptr[node], indptr[node + 1]):
                link = links[entry]
                if not active[others[entry]]:
                    heapq.heappush(meet, (cost[link], link))
                elif others[entry] > node:
                    heapq.heappush(meet, (cost[link] / 2, link))
    heapq.heappop(meet)
    heapq.heappop(spent)
    return meet, spent


@njit(cache=True)
def grow(
    indptr: Array, others: Array, links: Array, low: Array, high: Array, cost: Array, prize: Array, part: Array
) -> Array:
    """Return the links that become tight in the moat growing of Goemans and Williamson.

    Every node with a prize starts as a cluster with this budget. Clusters with a budget left widen their moats at the
    same speed; a link whose two moats meet is tight and joins its clusters, which then share their budgets. A connected
    part is done when one such cluster is left in it. The links are in the order in which they became tight, and form a
    forest.
    """
    count = len(prize)
    top, size = np.arange(count), np.ones(count, np.int64)
    shift, moat, since = np.zeros(count), np.zeros(count), np.zeros(count)
    left, active = prize.copy(), prize > 0
    last, after = np.arange(count), np.full(count, -1)  # the members of a cluster as a chain from its top
    stamp = np.zeros(count, np.int64)
    spending = np.bincount(part[active], minlength=count)
    meet, spent = first_events(indptr, others, links, cost, prize, active, part, spending)
    going = np.sum(spending > 1)
    tight = np.empty(max(count - 1, 0), np.int64)
    tight_count = 0
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
        a, ahead_a = find_cluster(top, shift, low[link])
        b, ahead_b = find_cluster(top, shift, high[link])
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
        tight[tight_count] = link
        tight_count += 1
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
            ahead_a = find_cluster(top, shift, node)[1]
            for entry in range(indptr[node], indptr[node + 1]):
                b, ahead_b = find_cluster(top, shift, others[entry])
                link = links[entry]
                if b != a:
                    slack = cost[link] - ahead_a - moat[a] - ahead_b - moat[b]
                    if active[b]:
                        slack = (slack - (now - since[b])) / 2
                    heapq.heappush(meet, (now + max(0.0, slack), link))
            node = -1 if node == stop else after[node]
    return tight[:tight_count]


@njit(cache=True)
def join_nearest(
    indptr: Array, others: Array, links: Array, cost: Array, start: Array, wanted: Array, limit: float
) -> Array:
    """Return the links of trees that start at nodes of distinct parts and repeatedly add the nearest wanted node.

    This is the path heuristic of Takahashi and Matsuyama: each node is added with the cheapest path from the current
    tree. Nodes with ``wanted`` 2 are added at any distance, those with 1 only below ``limit``.
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


def reach(
    start: int,
    goals: Array,
    indptr: Array,
    indices: Array,
    weights: Array,
    most_steps: int,
    most_ends: int,
    steps: Array,
    heaviest: Array,
    ways: Array,
    before: Array,
) -> tuple[int, Array]:
    """Search breadth-first from an object until a step reaches a goal.

    Return the number of steps and the goals reached, ascending; 0 and none if no goal is within ``most_steps``, and -1
    and none if more than ``most_ends`` ends of links would have to be read. ``goals[o]`` is 1 for a goal. The other
    arrays have one element per object, and ``steps`` starts as zeros. They become 1 + the steps to an object, the
    largest weight of a shortest path to it, the number of shortest paths, and the object before it on the heaviest one,
    of equal ones the lower number.
    """
    front = np.array([start], np.int32)
    steps[start], heaviest[start], ways[start], before[start] = 1, 0.0, 1.0, -1
    seen = 0
    for step in range(1, most_steps + 1):
        ends = int((indptr[front + 1] - indptr[front]).sum())
        seen += ends
        if seen > most_ends:
            return -1, np.empty(0, np.int32)
        next_nodes = np.empty(ends, np.int32)
        count = _step(front, step, indptr, indices, weights, steps, heaviest, ways, before, next_nodes)
        front = np.sort(next_nodes[:count])
        met = front[goals[front] == 1]
        if len(met):
            return step, met
        if not count:
            break
    return 0, np.empty(0, np.int32)


@njit(cache=True)
def _step(
    front: Array,
    step: int,
    indptr: Array,
    indices: Array,
    weights: Array,
    steps: Array,
    heaviest: Array,
    ways: Array,
    before: Array,
    next_nodes: Array,
) -> int:
    """Advance one step from the front; write the objects reached for the first time, and return their number."""
    count = 0
    for o in front:
        for at in range(indptr[o], indptr[o + 1]):
            other = indices[at]
            weight = heaviest[o] + weights[at]
            if steps[other] == 0:
                steps[other], heaviest[other], ways[other], before[other] = step + 1, weight, ways[o], o
                next_nodes[count] = other
                count += 1
            elif steps[other] == step + 1:
                ways[other] += ways[o]
                if weight > heaviest[other] or (weight == heaviest[other] and o < before[other]):
                    heaviest[other], before[other] = weight, o
    return count
