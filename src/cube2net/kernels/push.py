"""Walks that start again at the query, solved as linear equations: locally by pushes, wholly by sweeps.

A walk goes on with probability a (the damping), along a link as likely as it is heavy, and else starts again.
Its scores are x = (1 − a) (I − a P)⁻¹ s, with s where it starts and P one step. Both kernels keep an estimate
and what of s is left to spread: x = settled + (1 − a) (I − a P)⁻¹ left, in the precision of the arrays given.
Offsets and entries are read as unsigned numbers, which spares a test for negative ones at every link.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cube2net.records.ragged import Array


@njit(cache=True)
def strengths(indptr: Array, weights: Array, rows: Array) -> Array:
    """Return the summed weights of the links of some objects."""
    sums = np.zeros(len(rows))
    for place, row in enumerate(rows):
        for k in range(indptr[row], indptr[row + 1]):
            sums[place] += weights[k]
    return sums


@njit(cache=True)
def push(
    indptr: Array,
    indices: Array,
    weights: Array,
    seeds: Array,
    damping: float,
    goal: float,
    allowance: int,
    settled: Array,
    left: Array,
    strength: Array,
    state: Array,
    reached: Array,
    queue: Array,
) -> tuple[float, int]:
    """Return how much is left in all, and how many objects the walk came to, which ``reached`` names first.

    What is left is at most ``goal``, unless more than ``allowance`` ends of links were seen.

    A push settles the share 1 − a of what is left at an object and hands the rest to its neighbours. Pushed
    first is where most is left for each link to be seen: above a threshold that falls fourfold whenever no
    object is above it. What is left is never negative, so its sum is the error Σ |x − settled| exactly.
    ``left`` holds s at the seeds, whose strength must not be 0; a walk that was left off goes on with all objects that
    it came to as seeds. ``settled``, ``left``, ``strength`` and
    ``state`` have one place an object and are zero elsewhere, ``reached`` and ``queue`` one more than objects; only as
    many places are touched as the walk comes to.
    """
    one = np.uint64(1)
    room = len(queue)
    count = 0
    total = 0.0
    threshold = 0.0
    for seed in seeds:
        u = np.uint64(seed)
        reached[count] = seed
        count += 1
        state[u] = 1
        total += left[u]
        threshold = max(threshold, left[u] / (indptr[u + one] - indptr[u]))
    seen = 0
    while total > goal and seen <= allowance and threshold > 0.0:
        threshold /= 4.0
        first = 0
        last = 0
        for place in range(count):
            u = np.uint64(reached[place])
            if left[u] > threshold * (indptr[u + one] - indptr[u]):
                state[u] = 2
                queue[last] = reached[place]
                last += 1
        while first != last and total > goal and seen <= allowance:
            u = np.uint64(queue[first])
            first = first + 1 if first + 1 < room else 0
            state[u] = 1
            start = np.uint64(indptr[u])
            end = np.uint64(indptr[u + one])
            if strength[u] == 0.0:
                k = start
                while k < end:
                    strength[u] += weights[k]
                    k += one
            settle = (1.0 - damping) * left[u]
            settled[u] += settle
            total -= settle
            share = damping * left[u] / strength[u]
            left[u] = 0.0
            seen += indptr[u + one] - indptr[u]
            k = start
            while k < end:
                v = np.uint64(indices[k])
                left[v] += share * weights[k]
                if state[v] == 0:
                    state[v] = 1
                    reached[count] = indices[k]
                    count += 1
                if state[v] == 1 and left[v] > threshold * (indptr[v + one] - indptr[v]):
                    state[v] = 2
                    queue[last] = indices[k]
                    last = last + 1 if last + 1 < room else 0
                k += one
    return total, count


@njit(cache=True)
def follow(indptr: Array, indices: Array, allowance: int, state: Array, reached: Array, count: int) -> tuple[int, bool]:
    """Name the objects that can be reached from the ``count`` that ``reached`` names first; return how many there are.

    The second is whether these are all, or more than ``allowance`` ends of links were seen before. ``state`` is 0 for
    those not reached yet.
    """
    one = np.uint64(1)
    seen = 0
    place = 0
    while place < count:
        u = np.uint64(reached[place])
        place += 1
        k = np.uint64(indptr[u])
        end = np.uint64(indptr[u + one])
        seen += indptr[u + one] - indptr[u]
        if seen > allowance:
            return count, False
        while k < end:
            v = np.uint64(indices[k])
            if state[v] == 0:
                state[v] = 1
                reached[count] = indices[k]
                count += 1
            k += one
    return count, True


@njit(cache=True, nogil=True)
def prepare(
    indptr: Array,
    weights: Array,
    rows: Array,
    damping: float,
    left: Array,
    strength: Array,
    start: Array,
    now: Array,
) -> None:
    """Write the strengths of some rows, and what a walk starts with there, for each unit of strength."""
    one = np.uint64(1)
    for row in rows:
        i = np.uint64(row)
        k = np.uint64(indptr[i])
        end = np.uint64(indptr[i + one])
        total = 0.0
        while k < end:
            total += weights[k]
            k += one
        strength[i] = total
        if total > 0.0:
            start[i] = (1.0 - damping) * left[i] / total
            now[i] = start[i]


@njit(cache=True, nogil=True)
def sweep(
    indptr: Array,
    indices: Array,
    weights: Array,
    rows: Array,
    damping: float,
    omega: float,
    strength: Array,
    start: Array,
    now: Array,
    before: Array,
) -> float:
    """Do one sweep over the links of some rows; return the sum of their residuals, Σ |residual|.

    Chebyshev's semi-iteration: links are undirected, so P is similar to a symmetric matrix with eigenvalues between
    −1 and 1, and a sweep shrinks the error by (1 − √(1 − a²)) / a, 0.56 at a = 0.85, where plain iteration shrinks it
    by a. It works on z = x / strength, where one step is z ← (1 − a) left / strength + a (Σ weight · z) / strength.
    ``before`` becomes the next z, by the factor ``omega``; ``now`` is not changed, so rows may be done in any order.
    """
    one = np.uint64(1)
    residual = 0.0
    for row in rows:
        i = np.uint64(row)
        k = np.uint64(indptr[i])
        end = np.uint64(indptr[i + one])
        total = 0.0
        while k < end:
            total += weights[k] * now[np.uint64(indices[k])]
            k += one
        if strength[i] > 0.0:
            step = start[i] + damping * total / strength[i]
            residual += abs(step - now[i]) * strength[i]
            before[i] += omega * (step - before[i])
    return residual
