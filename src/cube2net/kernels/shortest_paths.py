"""Shortest paths from one object to the nearest of some goals, along links; of several the heaviest.

Links are kept on both ends.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


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
    front = np.array([start], np.int32)
    steps[start], heaviest[start], ways[start], before[start] = 1, 0.0, 1.0, -1
    seen = 0
    for step in range(1, most_steps + 1):
        ends = int((indptr[front + 1] - indptr[front]).sum())
        seen += ends
        if seen > most_ends:
            return -1, np.empty(0, np.int32)
        found = np.empty(ends, np.int32)
        count = _step(front, step, indptr, indices, weights, steps, heaviest, ways, before, found)
        front = np.sort(found[:count])
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
    found: Array,
) -> int:
    """Go one step from the objects of the front; write those that are met for the first time, and return how many."""
    count = 0
    for o in front:
        for at in range(indptr[o], indptr[o + 1]):
            other = indices[at]
            weight = heaviest[o] + weights[at]
            if steps[other] == 0:
                steps[other], heaviest[other], ways[other], before[other] = step + 1, weight, ways[o], o
                found[count] = other
                count += 1
            elif steps[other] == step + 1:
                ways[other] += ways[o]
                if weight > heaviest[other] or (weight == heaviest[other] and o < before[other]):
                    heaviest[other], before[other] = weight, o
    return count
