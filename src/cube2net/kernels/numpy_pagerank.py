"""The kernels of ``pagerank_push`` in NumPy, with the same arguments and bit-identical results.

A round of pushes, or a sweep, is one operation over arrays. Sums are taken in the order of the entries, in double
precision, and rounded where the kernels round: ``np.bincount`` and ``np.add.at`` add sequentially, ``np.sum`` does not.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array


def list_entries(indptr: Array, rows: Array) -> tuple[Array, Array]:
    """Return the entries of some rows, row by row, and the position of the row of each.

    >>> [part.tolist() for part in list_entries(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[2, 3, 4, 0, 1], [0, 0, 0, 1, 1]]
    """
    first = np.asarray(indptr[rows])
    sizes = np.asarray(indptr[rows + 1]) - first
    ends = np.cumsum(sizes)
    owner = np.repeat(np.arange(len(rows)), sizes)
    return np.arange(len(owner)) + np.repeat(first - (ends - sizes), sizes), owner


def strengths(indptr: Array, weights: Array, rows: Array) -> Array:
    """Return the summed weights of the links of some objects."""
    entries, owner = list_entries(indptr, rows)
    return np.bincount(owner, weights[entries], minlength=len(rows)).astype(np.float64, copy=False)


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
    """Push until no more than ``threshold`` is left at any object for each unit of its strength."""
    seen = 0
    front = _above(reached[:count], threshold, left, strength)
    while len(front) and total > goal and seen <= allowance:
        given = left[front].astype(np.float64)
        totals = np.subtract.accumulate(np.concatenate([[total], (1.0 - damping) * given]))
        ends = seen + np.concatenate([[0], np.cumsum(indptr[front + 1] - indptr[front])])
        over = np.flatnonzero((totals[:-1] <= goal) | (ends[:-1] > allowance))
        pushed = int(over[0]) if len(over) else len(front)
        front, given = front[:pushed], given[:pushed]
        total, seen = float(totals[pushed]), int(ends[pushed])
        share = damping * given / strength[front].astype(np.float64)
        left[front] = 0.0
        settled[front] = settled[front] + (1.0 - damping) * given
        entries, owner = list_entries(indptr, front)
        others, amounts = np.asarray(indices[entries]), share[owner] * weights[entries].astype(np.float64)
        np.add.at(arrived, others, amounts)
        come = others[amounts.astype(arrived.dtype) > 0.0]
        found, first = np.unique(come, return_index=True)
        new = found[np.argsort(first)]
        left[new] += arrived[new]
        arrived[new] = 0.0
        fresh = new[strength[new] <= 0.0]
        strength[fresh] = _get_strengths(indptr, weights, fresh, strength)
        reached[count : count + len(fresh)] = fresh
        count += len(fresh)
        front = _above(new, threshold, left, strength)
    return total, count, seen


def _above(rows: Array, threshold: float, left: Array, strength: Array) -> Array:
    """Return the rows with more than the threshold left per unit of strength."""
    return np.asarray(rows[left[rows] > threshold * strength[rows].astype(np.float64)])


def _get_strengths(indptr: Array, weights: Array, rows: Array, strength: Array) -> Array:
    """Return the strengths of rows: those stored as negative numbers, or sums where 0 is stored."""
    strengths = -strength[rows]
    unknown = np.flatnonzero(strengths == 0.0)
    entries, owner = list_entries(indptr, rows[unknown])
    np.add.at(strengths, unknown[owner], weights[entries])
    return np.asarray(strengths)


def know(indptr: Array, weights: Array, strength: Array) -> None:
    """Store the strength of every object that was not reached yet, as a negative number."""
    rows = np.flatnonzero(strength == 0.0)
    strength[rows] = -strengths(indptr, weights, rows)


def close_candidates(
    reached: Array,
    count: int,
    damping: float,
    threshold: float,
    least: float,
    settled: Array,
    left: Array,
    strength: Array,
    found: Array,
) -> tuple[int, float]:
    """Write to ``found`` the reached objects that may score ``least``; return their number and all strengths."""
    rows = reached[:count]
    strong = strength[rows].astype(np.float64)
    lower = settled[rows] + (1.0 - damping) * left[rows].astype(np.float64)
    named = rows[lower + damping * threshold * strong >= least]
    found[: len(named)] = named
    return len(named), _sum(strong)


def follow(indptr: Array, indices: Array, allowance: int, state: Array, reached: Array, count: int) -> tuple[int, bool]:
    """Append to ``reached`` all objects connected to its first ``count``; return their number, and whether it finished.

    It stops when more than ``allowance`` ends of links were read.
    """
    seen = place = 0
    while place < count:
        front = reached[place:count]
        seen += int((indptr[front + 1] - indptr[front]).sum())
        if seen > allowance:
            return count, False
        entries, _ = list_entries(indptr, front)
        others = np.asarray(indices[entries])
        found, first = np.unique(others[state[others] == 0], return_index=True)
        new = found[np.argsort(first)]
        state[new] = 1
        reached[count : count + len(new)] = new
        place, count = count, count + len(new)
    return count, True


def prepare(
    indptr: Array, weights: Array, rows: Array, damping: float, left: Array, strength: Array, start: Array, now: Array
) -> None:
    """Write the strengths of some rows, and the initial amounts there per unit of strength."""
    total = strengths(indptr, weights, rows)
    strength[rows] = total
    linked = total > 0.0
    rows, total = rows[linked], total[linked]
    start[rows] = (1.0 - damping) * left[rows].astype(np.float64) / total
    now[rows] = start[rows]


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
    """Do one sweep over the links of some rows; return the sum of their residuals, Σ |residual|."""
    entries, owner = list_entries(indptr, rows)
    total = np.bincount(owner, weights[entries] * now[indices[entries]], minlength=len(rows))
    linked = strength[rows] > 0.0
    rows, total = rows[linked], total[linked]
    strong = strength[rows].astype(np.float64)
    step = start[rows] + damping * total / strong
    before[rows] = before[rows] + omega * (step - before[rows])
    return _sum(np.abs(step - now[rows]) * strong)


def _sum(numbers: Array) -> float:
    """Return the sum of numbers, added sequentially."""
    return float(np.add.accumulate(numbers)[-1]) if len(numbers) else 0.0
