"""Forces among many nodes of the plane: what is far away counts as one heavy node, by a tree of quarters."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit

DEEPEST = 40
"""So often a square is cut into quarters; nodes that are still together then count as one."""


@njit(cache=True)
def grown(place: Array, mass: Array) -> tuple[Array, Array, Array, float]:
    """Return the tree of some nodes: quarters of each square, its heavy node, its one node or -1, and the root's side.

    ``quarters[s]`` are four squares, -1 for none; ``heavy[s]`` is the middle of the masses in it and their sum.
    """
    count = len(place)
    low_x, low_y = place[:, 0].min(), place[:, 1].min()
    side = max(place[:, 0].max() - low_x, place[:, 1].max() - low_y) + 1e-9
    room = 4 * count + 64
    quarters = np.full((room, 4), -1, np.int64)
    heavy = np.zeros((room, 3))
    single = np.full(room, -1, np.int64)
    used = 1
    for node in range(count):
        square, at_x, at_y, half = 0, low_x, low_y, side / 2
        for depth in range(DEEPEST + 1):
            if used + 2 > room:
                more = np.full((2 * room, 4), -1, np.int64)
                more[:room] = quarters
                quarters = more
                wider = np.zeros((2 * room, 3))
                wider[:room] = heavy
                heavy = wider
                longer = np.full(2 * room, -1, np.int64)
                longer[:room] = single
                single = longer
                room *= 2
            heavy[square, 0] += place[node, 0] * mass[node]
            heavy[square, 1] += place[node, 1] * mass[node]
            heavy[square, 2] += mass[node]
            alone = heavy[square, 2] == mass[node] and single[square] < 0 and quarters[square].max() < 0
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
    for square in range(used):
        heavy[square, 0] /= heavy[square, 2]
        heavy[square, 1] /= heavy[square, 2]
    return quarters[:used], heavy[:used], single[:used], side


@njit(cache=True)
def repel_by_tree(place: Array, mass: Array, wide: float, force: Array) -> None:
    """Add to every node's force mass · mass / distance, away from every other node, about.

    A square whose side is below ``wide`` times its distance counts as one heavy node; with 0 the sum is exact. Up to
    0.7 no square counts so for a node that lies in it: that is at most √2 sides away from the middle of the masses.
    """
    quarters, heavy, single, side = grown(place, mass)
    stack = np.empty(4 * (DEEPEST + 2), np.int64)
    sides = np.empty(4 * (DEEPEST + 2))
    for node in range(len(place)):
        stack[0], sides[0], top = 0, side, 1
        while top:
            top -= 1
            square, length = stack[top], sides[top]
            other = single[square]
            dx = place[node, 0] - (heavy[square, 0] if other < 0 else place[other, 0])
            dy = place[node, 1] - (heavy[square, 1] if other < 0 else place[other, 1])
            apart = dx * dx + dy * dy
            if other >= 0 or length * length < wide * wide * apart:
                weight = heavy[square, 2]
                if other == node:
                    weight -= mass[node]
                push = mass[node] * weight / max(apart, 1e-9)
                force[node, 0] += dx * push
                force[node, 1] += dy * push
                continue
            for quarter in range(4):
                if quarters[square, quarter] >= 0:
                    stack[top], sides[top] = quarters[square, quarter], length / 2
                    top += 1
