"""Shortest paths from one object to the nearest of some goals, along links; of several the heaviest.

Links are kept on both ends.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
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
    """Walk from one object, all objects of a step before those of the next, until a step comes to a goal.

    Return the number of steps and the goals that are met there, ascending; 0 and none where no goal is met within
    ``most_steps``, and -1 and none where more than ``most_ends`` ends of links would have to be looked at.
    ``goals[o]`` is 1 for a goal. All other arrays have a place for every object, and ``steps`` is 0 everywhere: it
    becomes 1 + the steps to an object, ``heaviest`` the largest weight of a shortest path to it, ``ways`` how many such
    paths there are, and ``before`` the object before it on the heaviest, of equal ones that of the lower number.
    """
    front = np.empty(1, np.int32)
    front[0] = start
    steps[start], heaviest[start], ways[start], before[start] = 1, 0.0, 1.0, -1
    seen = 0
    for step in range(1, most_steps + 1):
        ends = 0
        for o in front:
            ends += indptr[o + 1] - indptr[o]
        seen += ends
        if seen > most_ends:
            return -1, np.empty(0, np.int32)
        found = np.empty(ends, np.int32)
        count = 0
        met = 0
        for o in front:
            for at in range(indptr[o], indptr[o + 1]):
                other = indices[at]
                weight = heaviest[o] + weights[at]
                if steps[other] == 0:
                    steps[other], heaviest[other], ways[other], before[other] = step + 1, weight, ways[o], o
                    found[count] = other
                    count += 1
                    met += goals[other]
                elif steps[other] == step + 1:
                    ways[other] += ways[o]
                    if weight > heaviest[other] or (weight == heaviest[other] and o < before[other]):
                        heaviest[other], before[other] = weight, o
        front = np.sort(found[:count])
        if met:
            return step, front[goals[front] == 1]
        if not count:
            break
    return 0, np.empty(0, np.int32)
