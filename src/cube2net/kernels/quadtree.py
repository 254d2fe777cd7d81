"""Forces among many nodes of the plane: what is far away counts as one heavy node, by a tree of quarters."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit

DEEPEST = 40
"""So often a square is cut into quarters; nodes that are still together then count as one."""
MOST_NEW = 2 * (DEEPEST + 1)
"""One node adds at most so many squares."""


def grown(place: Array, mass: Array) -> tuple[Array, Array, Array, float]:
    """Return the tree of some nodes: quarters of each square, its heavy node, its one node or -1, and the root's side.

    ``quarters[s]`` are four squares, -1 for none; ``heavy[s]`` is the middle of the masses in it and their sum.
    """
    count = len(place)
    low = place.min(axis=0)
    side = float((place.max(axis=0) - low).max()) + 1e-9
    quarters, heavy, single = _room_for(4 * count + 2 * MOST_NEW)
    node, used = 0, 1
    while True:
        node, used = _insert(place, mass, low, side, quarters, heavy, single, node, used)
        if node == count:
            break
        more = _room_for(2 * len(single))
        for old, new in zip((quarters, heavy, single), more, strict=True):
            new[:used] = old[:used]
        quarters, heavy, single = more
    heavy = heavy[:used]
    heavy[:, :2] /= heavy[:, 2:]
    return quarters[:used], heavy, single[:used], side


def _room_for(squares: int) -> tuple[Array, Array, Array]:
    """Return the arrays of a tree of so many empty squares."""
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
    """Put nodes from ``first`` on into a tree; return the first for which there is no room, and the squares in use."""
    for node in range(first, len(place)):
        if used + MOST_NEW > len(single):
            return node, used
        square, at_x, at_y, half = 0, low[0], low[1], side / 2
        for depth in range(DEEPEST + 1):
            heavy[square, 0] += place[node, 0] * mass[node]
            heavy[square, 1] += place[node, 1] * mass[node]
            heavy[square, 2] += mass[node]
            alone = heavy[square, 2] == mass[node] and single[square] < 0
            for quarter in range(4):
                alone = alone and quarters[square, quarter] < 0
            if alone or depth == DEEPEST:
                if single[square] < 0:
                    single[square] = node
                break
            if single[square] >= 0:
                # Who was alone here moves into a quarter, before the newcomer does.
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
    """Add to every node's force mass · mass / distance, away from every other node, about.

    A square whose side is below ``wide`` times its distance counts as one heavy node; with 0 the sum is exact. Up to
    0.7 no square counts so for a node that lies in it: that is at most √2 sides away from the middle of the masses.
    """
    stack, sides = np.empty(4 * (DEEPEST + 2), np.int64), np.empty(4 * (DEEPEST + 2))
    _repel(place, mass, wide, *grown(place, mass), stack, sides, force)


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
    """Add to every node's force what pushes it away from the squares of a tree."""
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
