"""Places for nodes in the plane: links pull, nodes push each other away, a weak pull holds all together."""

from __future__ import annotations

import math

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.quadtree import repel_by_tree

BY_TREE = 0
"""In place of a number of bins: far nodes are put together by a tree, which suits thousands of them."""
WIDE = 0.7
"""A square of that tree counts as one node where its side is below so many times its distance."""
MANY = 5000
"""Above so many nodes the tree is quicker."""


def bins_for(count: int) -> int:
    """Return into how many bins the plane is cut along each side for so many nodes, or that a tree does it."""
    return BY_TREE if count > MANY else max(2, int(np.ceil((9 * count) ** 0.25)))


@njit(cache=True)
def repel(place: Array, mass: Array, bins: int, force: Array) -> None:
    """Add to every node's force mass · mass / distance, away from every other node.

    The plane is cut into bins × bins fields: nodes in the same or a neighbouring field count one by one,
    a field further away counts as one heavy node. With 2 bins or fewer the sum is exact.
    """
    count = len(place)
    low_x, low_y = place[:, 0].min(), place[:, 1].min()
    span = max(place[:, 0].max() - low_x, place[:, 1].max() - low_y) + 1e-9
    column = np.empty(count, np.int64)
    line = np.empty(count, np.int64)
    start = np.zeros(bins * bins + 1, np.int64)
    heavy = np.zeros((bins * bins, 3))
    for i in range(count):
        column[i] = min(bins - 1, int((place[i, 0] - low_x) / span * bins))
        line[i] = min(bins - 1, int((place[i, 1] - low_y) / span * bins))
        field = line[i] * bins + column[i]
        start[field + 1] += 1
        heavy[field, 0] += place[i, 0] * mass[i]
        heavy[field, 1] += place[i, 1] * mass[i]
        heavy[field, 2] += mass[i]
    for field in range(bins * bins):
        start[field + 1] += start[field]
    order = np.empty(count, np.int64)
    filled = start[:-1].copy()
    for i in range(count):
        field = line[i] * bins + column[i]
        order[filled[field]] = i
        filled[field] += 1
    for i in range(count):
        for row in range(bins):
            for col in range(bins):
                field = row * bins + col
                if start[field] == start[field + 1]:
                    continue
                if abs(row - line[i]) > 1 or abs(col - column[i]) > 1:
                    dx = place[i, 0] - heavy[field, 0] / heavy[field, 2]
                    dy = place[i, 1] - heavy[field, 1] / heavy[field, 2]
                    push = mass[i] * heavy[field, 2] / max(dx * dx + dy * dy, 1e-9)
                    force[i, 0] += dx * push
                    force[i, 1] += dy * push
                    continue
                for at in range(start[field], start[field + 1]):
                    j = order[at]
                    if j != i:
                        dx = place[i, 0] - place[j, 0]
                        dy = place[i, 1] - place[j, 1]
                        push = mass[i] * mass[j] / max(dx * dx + dy * dy, 1e-9)
                        force[i, 0] += dx * push
                        force[i, 1] += dy * push


@njit(cache=True)
def push_apart(place: Array, mass: Array, bins: int, force: Array) -> None:
    """Add to every node's force what pushes it away from all others, by so many bins or by a tree."""
    if bins == BY_TREE:
        repel_by_tree(place, mass, WIDE, force)
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


@njit(cache=True)
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
    """Return the places after so many steps; in each a node moves by at most a reach that falls to nothing.

    ``hold`` is the pull of every node towards the middle, per unit of mass, along x and along y.
    """
    place = place.copy()
    force = np.empty_like(place)
    for step in range(steps):
        force[:] = 0.0
        push_apart(place, mass, bins, force)
        attract(place, source, target, pull, force)
        limit = reach * (1.0 - step / steps) ** 1.5
        for i in range(len(place)):
            fx = force[i, 0] - hold[0] * mass[i] * place[i, 0]
            fy = force[i, 1] - hold[1] * mass[i] * place[i, 1]
            size = math.sqrt(fx * fx + fy * fy)
            move = min(limit, size / mass[i]) / max(size, 1e-9)
            place[i, 0] += fx * move
            place[i, 1] += fy * move
    return place


@njit(cache=True)
def separate(place: Array, radius: Array, rounds: int) -> Array:
    """Return the places after pushing apart, round by round, every two nodes whose discs overlap."""
    place = place.copy()
    order = np.argsort(place[:, 0])
    widest = 2.0 * radius.max()
    for _ in range(rounds):
        moved = False
        order = order[np.argsort(place[order, 0])]
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
        if not moved:
            break
    return place
