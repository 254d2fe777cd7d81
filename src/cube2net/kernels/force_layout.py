"""Force-directed layout: links attract, nodes repel each other, and a weak force pulls all to the centre.

In large networks, distant nodes are merged by a quadtree (Barnes–Hut).
"""

from __future__ import annotations

import math

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit

BY_TREE = 0
"""Stands for a number of bins: distant nodes are merged by a quadtree."""
OPENING_ANGLE = 0.7
"""A square of the quadtree counts as one node if its side is below this factor times its distance."""
MAX_NODES_WITH_BINS = 5000
"""The number of nodes above which the quadtree is faster."""
MAX_DEPTH = 40
"""The depth of the quadtree; nodes in one square at this depth count as one."""
MAX_NEW_SQUARES = 2 * (MAX_DEPTH + 1)
"""The most squares that one node adds."""


def choose_bins(count: int) -> int:
    """Return the number of bins along each side for a number of nodes, or ``BY_TREE``."""
    return BY_TREE if count > MAX_NODES_WITH_BINS else max(2, int(np.ceil((9 * count) ** 0.25)))


def repel(place: Array, mass: Array, bins: int, force: Array) -> None:
    """Add to every node's force mass · mass / distance, away from every other node.

    The plane is divided into bins × bins fields: nodes in the same or a neighbouring field count individually, a more
    distant field counts as one heavy node. With 2 bins or fewer the sum is exact.
    """
    low = place.min(axis=0)
    span = (place.max(axis=0) - low).max() + 1e-9
    field = np.empty((len(place), 2), np.int64)
    start, heavy = np.zeros(bins * bins + 2, np.int64), np.zeros((bins * bins, 3))
    order = np.empty(len(place), np.int64)
    _sort_into_fields(place, mass, bins, low, span, field, start, order, heavy)
    _repel_by_fields(place, mass, bins, field, start, order, heavy, force)


@njit(cache=True)
def _sort_into_fields(
    place: Array,
    mass: Array,
    bins: int,
    low: Array,
    span: float,
    field: Array,
    start: Array,
    order: Array,
    heavy: Array,
) -> None:
    """Write the field of every node, the nodes sorted by field, the start of each field, and its heavy node."""
    for i in range(len(place)):
        line = min(bins - 1, int((place[i, 1] - low[1]) / span * bins))
        column = min(bins - 1, int((place[i, 0] - low[0]) / span * bins))
        field[i, 0], field[i, 1] = line, column
        at = line * bins + column
        start[at + 2] += 1
        heavy[at, 0] += place[i, 0] * mass[i]
        heavy[at, 1] += place[i, 1] * mass[i]
        heavy[at, 2] += mass[i]
    for at in range(bins * bins):
        start[at + 2] += start[at + 1]
    # The offsets are shifted by one, and reach their values as nodes are written.
    for i in range(len(place)):
        at = field[i, 0] * bins + field[i, 1] + 1
        order[start[at]] = i
        start[at] += 1


@njit(cache=True)
def _repel_by_fields(
    place: Array, mass: Array, bins: int, field: Array, start: Array, order: Array, heavy: Array, force: Array
) -> None:
    for i in range(len(place)):
        line, column, x, y, own = field[i, 0], field[i, 1], place[i, 0], place[i, 1], mass[i]
        fx, fy = force[i, 0], force[i, 1]
        for row in range(bins):
            for col in range(bins):
                other = row * bins + col
                if start[other] == start[other + 1]:
                    continue
                if abs(row - line) > 1 or abs(col - column) > 1:
                    dx = x - heavy[other, 0] / heavy[other, 2]
                    dy = y - heavy[other, 1] / heavy[other, 2]
                    push = own * heavy[other, 2] / max(dx * dx + dy * dy, 1e-9)
                    fx += dx * push
                    fy += dy * push
                    continue
                for at in range(start[other], start[other + 1]):
                    j = order[at]
                    if j != i:
                        dx = x - place[j, 0]
                        dy = y - place[j, 1]
                        push = own * mass[j] / max(dx * dx + dy * dy, 1e-9)
                        fx += dx * push
                        fy += dy * push
        force[i, 0], force[i, 1] = fx, fy


def push_apart(place: Array, mass: Array, bins: int, force: Array) -> None:
    """Add to every node's force the repulsion by all others, with bins or by a quadtree."""
    if bins == BY_TREE:
        repel_by_tree(place, mass, OPENING_ANGLE, force)
    else:
        repel(place, mass, bins, force)


@njit(cache=True)
def attract(place: Array, source: Array, target: Array, pull: Array, force: Array) -> None:
    """Add to both ends of every link pull · log(1 + distance), towards each other."""
    for link in range(len(source)):
        a, b = source[link], target[link]
        dx = place[b, 0] - place[a, 0]
        dy = place[b, 1] - place[a, 1]
        distance = math.sqrt(dx * dx + dy * dy)
        strength = pull[link] * math.log1p(distance) / max(distance, 1e-9)
        force[a, 0] += dx * strength
        force[a, 1] += dy * strength
        force[b, 0] -= dx * strength
        force[b, 1] -= dy * strength


def relax(
    place: Array,
    source: Array,
    target: Array,
    pull: Array,
    mass: Array,
    bins: int,
    steps: int,
    reach: float,
    hold: Array,
) -> Array:
    """Return the positions after some steps; the largest move per step falls from ``reach`` to 0.

    ``hold`` is the force towards the centre per unit of mass, along x and along y.
    """
    place = place.copy()
    force = np.empty_like(place)
    for step in range(steps):
        force[:] = 0.0
        push_apart(place, mass, bins, force)
        attract(place, source, target, pull, force)
        _move(place, mass, force, hold, reach * (1.0 - step / steps) ** 1.5)
    return place


@njit(cache=True)
def _move(place: Array, mass: Array, force: Array, hold: Array, limit: float) -> None:
    """Move every node by its force and the force towards the centre, at most by the limit."""
    for i in range(len(place)):
        fx = force[i, 0] - hold[0] * mass[i] * place[i, 0]
        fy = force[i, 1] - hold[1] * mass[i] * place[i, 1]
        size = math.sqrt(fx * fx + fy * fy)
        move = min(limit, size / mass[i]) / max(size, 1e-9)
        place[i, 0] += fx * move
        place[i, 1] += fy * move


def separate(place: Array, radius: Array, rounds: int) -> Array:
    """Return the positions after pushing apart overlapping discs, round by round."""
    place = place.copy()
    order = np.argsort(place[:, 0], kind="stable")
    for _ in range(rounds):
        order = order[np.argsort(place[order, 0], kind="stable")]
        if not _push_overlapping(place, radius, order, 2.0 * radius.max()):
            break
    return place


@njit(cache=True)
def _push_overlapping(place: Array, radius: Array, order: Array, widest: float) -> bool:
    """Push apart overlapping discs of nodes sorted by x; return whether there were any."""
    moved = False
    for at in range(len(order)):
        i = order[at]
        for other in range(at + 1, len(order)):
            j = order[other]
            dx = place[j, 0] - place[i, 0]
            if dx > widest:
                break
            dy = place[j, 1] - place[i, 1]
            gap = radius[i] + radius[j]
            square = dx * dx + dy * dy
            if square >= gap * gap * 0.999:
                continue
            moved = True
            distance = math.sqrt(square)
            if distance < 1e-9:
                dx, dy, distance = gap * 1e-3, gap * 1e-3 * (1 + i % 7), gap * 1e-3
            shift = 0.5 * (gap - distance) / max(distance, 1e-9) * 0.9
            place[i, 0] -= dx * shift
            place[i, 1] -= dy * shift
            place[j, 0] += dx * shift
            place[j, 1] += dy * shift
    return moved


def build_tree(place: Array, mass: Array) -> tuple[Array, Array, Array, float]:
    """Return the quadtree of nodes: the quarters, heavy node and single node of each square, and the root's side.

    ``quarters[s]`` are four squares, -1 for none; ``heavy[s]`` is the centre of its masses and their sum, and
    ``single[s]`` its only node or -1.
    """
    count = len(place)
    low = place.min(axis=0)
    side = float((place.max(axis=0) - low).max()) + 1e-9
    quarters, heavy, single = _allocate_tree(4 * count + 2 * MAX_NEW_SQUARES)
    node, used = 0, 1
    while True:
        node, used = _insert(place, mass, low, side, quarters, heavy, single, node, used)
        if node == count:
            break
        more = _allocate_tree(2 * len(single))
        for old, new in zip((quarters, heavy, single), more, strict=True):
            new[:used] = old[:used]
        quarters, heavy, single = more
    heavy = heavy[:used]
    heavy[:, :2] /= heavy[:, 2:]
    return quarters[:used], heavy, single[:used], side


def _allocate_tree(squares: int) -> tuple[Array, Array, Array]:
    return np.full((squares, 4), -1, np.int64), np.zeros((squares, 3)), np.full(squares, -1, np.int64)


@njit(cache=True)
def _insert(
    place: Array,
    mass: Array,
    low: Array,
    side: float,
    quarters: Array,
    heavy: Array,
    single: Array,
    first: int,
    used: int,
) -> tuple[int, int]:
    """Insert nodes from ``first`` on into a quadtree; return the first without room, and the squares in use."""
    for node in range(first, len(place)):
        if used + MAX_NEW_SQUARES > len(single):
            return node, used
        square, at_x, at_y, half = 0, low[0], low[1], side / 2
        for depth in range(MAX_DEPTH + 1):
            heavy[square, 0] += place[node, 0] * mass[node]
            heavy[square, 1] += place[node, 1] * mass[node]
            heavy[square, 2] += mass[node]
            alone = heavy[square, 2] == mass[node] and single[square] < 0
            for quarter in range(4):
                alone = alone and quarters[square, quarter] < 0
            if alone or depth == MAX_DEPTH:
                if single[square] < 0:
                    single[square] = node
                break
            if single[square] >= 0:
                # The node that was alone here moves into a quarter first.
                moving = single[square]
                single[square] = -1
                which = 2 * int(place[moving, 1] >= at_y + half) + int(place[moving, 0] >= at_x + half)
                quarters[square, which] = used
                single[used] = moving
                heavy[used, 0] = place[moving, 0] * mass[moving]
                heavy[used, 1] = place[moving, 1] * mass[moving]
                heavy[used, 2] = mass[moving]
                used += 1
            right, upper = int(place[node, 0] >= at_x + half), int(place[node, 1] >= at_y + half)
            which = 2 * upper + right
            if quarters[square, which] < 0:
                quarters[square, which] = used
                used += 1
            square = quarters[square, which]
            at_x += right * half
            at_y += upper * half
            half /= 2
    return len(place), used


def repel_by_tree(place: Array, mass: Array, wide: float, force: Array) -> None:
    """Add to every node's force, approximately, mass · mass / distance away from every other node.

    A square whose side is below ``wide`` times its distance counts as one heavy node; with 0 the sum is exact. Up to
    0.7 no square counts so for a node inside it, which is at most √2 sides away from the centre of its masses.
    """
    stack, sides = np.empty(4 * (MAX_DEPTH + 2), np.int64), np.empty(4 * (MAX_DEPTH + 2))
    _repel(place, mass, wide, *build_tree(place, mass), stack, sides, force)


@njit(cache=True)
def _repel(
    place: Array,
    mass: Array,
    wide: float,
    quarters: Array,
    heavy: Array,
    single: Array,
    side: float,
    stack: Array,
    sides: Array,
    force: Array,
) -> None:
    for node in range(len(place)):
        x, y, own, fx, fy = place[node, 0], place[node, 1], mass[node], force[node, 0], force[node, 1]
        stack[0], sides[0], top = 0, side, 1
        while top:
            top -= 1
            square, length = stack[top], sides[top]
            other = single[square]
            dx = x - (heavy[square, 0] if other < 0 else place[other, 0])
            dy = y - (heavy[square, 1] if other < 0 else place[other, 1])
            apart = dx * dx + dy * dy
            if other >= 0 or length * length < wide * wide * apart:
                weight = heavy[square, 2]
                if other == node:
                    weight -= own
                push = own * weight / max(apart, 1e-9)
                fx += dx * push
                fy += dy * push
                continue
            for quarter in range(4):
                if quarters[square, quarter] >= 0:
                    stack[top], sides[top] = quarters[square, quarter], length / 2
                    top += 1
        force[node, 0], force[node, 1] = fx, fy
