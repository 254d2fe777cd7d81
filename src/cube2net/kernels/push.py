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
) -> float:
    """Return how much is left in all: at most ``goal``, unless more than ``allowance`` ends of links were seen.

    A push settles the share 1 − a of what is left at an object and hands the rest to its neighbours. Pushed
    first is where most is left for each link to be seen: above a threshold that falls fourfold whenever no
    object is above it. What is left is never negative, so its sum is the error Σ |x − settled| exactly.
    ``left`` holds s at the seeds, whose strength must not be 0. ``settled``, ``left``, ``strength`` and
    ``state`` have one place an object and are zero elsewhere; only the places the walk comes to are touched.
    """
    one = np.uint64(1)
    room = len(settled) + 1
    queue = np.empty(room, np.int32)
    reached = np.empty(room, np.int32)
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
    return total


@njit(cache=True)
def sweep(
    indptr: Array,
    indices: Array,
    weights: Array,
    damping: float,
    goal: float,
    most: int,
    settled: Array,
    left: Array,
) -> float:
    """Settle what is left by sweeps over all links; return a bound on the error Σ |x − settled| afterwards.

    Stops when the bound is at most ``goal``, or after ``most`` sweeps. Chebyshev's semi-iteration: links are
    undirected, so P is similar to a symmetric matrix with eigenvalues between −1 and 1, and a sweep shrinks
    the error by (1 − √(1 − a²)) / a, 0.56 at a = 0.85, where plain iteration shrinks it by a. It works on
    z = x / strength, where one step is z ← (1 − a) left / strength + a (Σ weight · z) / strength. The bound is
    Σ |residual| / (1 − a).
    """
    one = np.uint64(1)
    count = len(settled)
    strength = np.zeros_like(settled)
    start = np.zeros_like(settled)
    now = np.zeros_like(settled)
    before = np.zeros_like(settled)
    k = np.uint64(0)
    for i in range(count):
        end = np.uint64(indptr[i + 1])
        total = 0.0
        while k < end:
            total += weights[k]
            k += one
        strength[i] = total
        if total > 0.0:
            start[i] = (1.0 - damping) * left[i] / total
            now[i] = start[i]
    bound = np.inf
    omega = 2.0 / (2.0 - damping * damping)
    for _ in range(most):
        residual = 0.0
        k = np.uint64(0)
        for i in range(count):
            end = np.uint64(indptr[i + 1])
            total = 0.0
            while k < end:
                total += weights[k] * now[np.uint64(indices[k])]
                k += one
            if strength[i] > 0.0:
                step = start[i] + damping * total / strength[i]
                residual += abs(step - now[i]) * strength[i]
                before[i] += omega * (step - before[i])
        bound = residual / (1.0 - damping)
        if bound <= goal:
            break
        now, before = before, now
        omega = 1.0 / (1.0 - damping * damping * omega / 4.0)
    for i in range(count):
        settled[i] += now[i] * strength[i]
    return bound
