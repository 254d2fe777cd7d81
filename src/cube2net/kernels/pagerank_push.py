"""Personalised PageRank as linear equations, solved locally by pushes or globally by sweeps.

A random walk continues with probability a (the damping), along links in proportion to their weights, and else restarts
at the query. The scores are x = (1 − a) (I − a P)⁻¹ s, with the start s and the transition matrix P. Both kernels keep
an estimate and the residual of s: x = settled + (1 − a) (I − a P)⁻¹ left, in the precision of the given arrays.
Offsets and entries are read as unsigned numbers, which avoids a check for negative indices at every link.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit


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
    damping: float,
    threshold: float,
    goal: float,
    allowance: int,
    total: float,
    settled: Array,
    left: Array,
    arrived: Array,
    strength: Array,
    reached: Array,
    count: int,
    active: Array,
    touched: Array,
) -> tuple[float, int, int]:
    """Push until at most ``threshold`` per unit of strength is left at every object.

    Return the amount left in total, the number of objects reached (listed in ``reached``), and the number of ends of
    links read. Pushes stop earlier if at most ``goal`` is left or more than ``allowance`` ends were read.

    A push settles the share 1 − a of the amount left at an object and passes the rest to its neighbours. In each round
    all objects above the threshold are pushed, and then the amounts that ``arrived`` are added once. Amounts are never
    negative, so their sum, ``total``, is exactly the error Σ |x − settled|. The strength of an object that was not
    reached yet is 0, or negative if it is known; that of the first ``count`` objects in ``reached`` must be known.
    ``reached``, ``active`` and ``touched`` have one more element than there are objects; the other arrays have one
    element per object.
    """
    one = np.uint64(1)
    seen = 0
    last = 0
    for place in range(count):
        u = np.uint64(reached[place])
        active[last] = reached[place]
        last += left[u] > threshold * strength[u]
    while last > 0 and total > goal and seen <= allowance:
        new = 0
        for place in range(last):
            if total <= goal or seen > allowance:
                break
            u = np.uint64(active[place])
            settle = (1.0 - damping) * left[u]
            share = damping * left[u] / strength[u]
            left[u] = 0.0
            settled[u] += settle
            total -= settle
            k = np.uint64(indptr[u])
            end = np.uint64(indptr[u + one])
            seen += indptr[u + one] - indptr[u]
            while k < end:
                v = np.uint64(indices[k])
                before = arrived[v]
                arrived[v] = before + share * weights[k]
                touched[new] = indices[k]
                new += (before == 0.0) & (arrived[v] > 0.0)
                k += one
        last = 0
        for place in range(new):
            v = np.uint64(touched[place])
            left[v] += arrived[v]
            arrived[v] = 0.0
            if strength[v] <= 0.0:
                strength_sum = -float(strength[v])
                if strength_sum == 0.0:
                    k = np.uint64(indptr[v])
                    end = np.uint64(indptr[v + one])
                    while k < end:
                        strength_sum += weights[k]
                        k += one
                strength[v] = strength_sum
                reached[count] = touched[place]
                count += 1
            active[last] = touched[place]
            last += left[v] > threshold * strength[v]
    return total, count, seen


@njit(cache=True)
def know(indptr: Array, weights: Array, strength: Array) -> None:
    """Store the strength of every object that was not reached yet, as a negative number."""
    for row in range(len(strength)):
        if strength[row] == 0.0:
            total = 0.0
            for k in range(indptr[row], indptr[row + 1]):
                total += weights[k]
            strength[row] = -total


@njit(cache=True)
def close_candidates(
    reached: Array,
    count: int,
    damping: float,
    threshold: float,
    least: float,
    settled: Array,
    left: Array,
    strength: Array,
    candidates: Array,
) -> tuple[int, float]:
    """Write to ``candidates`` the reached objects that may score ``least``; return their number and all strengths.

    Links are undirected, so the influence of u on v per unit of v's strength is that of v on u per unit of u's. With at
    most ``threshold`` left per unit everywhere, the score of v is at least settled + (1 − a) left, and at most
    a · threshold · strength more.
    """
    new = 0
    volume = 0.0
    for place in range(count):
        v = np.uint64(reached[place])
        volume += strength[v]
        candidates[new] = reached[place]
        new += settled[v] + (1.0 - damping) * left[v] + damping * threshold * strength[v] >= least
    return new, volume


@njit(cache=True)
def follow(indptr: Array, indices: Array, allowance: int, state: Array, reached: Array, count: int) -> tuple[int, bool]:
    """Append to ``reached`` all objects connected to its first ``count``; return their number, and whether it finished.

    It stops when more than ``allowance`` ends of links were read. ``state`` is 0 for objects not reached yet.
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
    """Write the strengths of some rows, and the initial amounts there per unit of strength."""
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
    ``before`` becomes the next z, by the factor ``omega``; ``now`` is not changed, so rows may come in any order.
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
