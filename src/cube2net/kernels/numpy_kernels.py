"""Kernels in NumPy, with the same arguments as the compiled ones and bit-identical results, and when to use them.

A process that has loaded the compiler uses every kernel compiled before. Loading it takes more than half a second, and
compiling a kernel up to a second, once per machine. A command with one query of a cube of usual size is faster with
NumPy, so the kernels that it needs (``pagerank_push``, ``subgraphs.induce``) have twins here. A process loads compiled
code once its work without it would have paid for that.

A round of pushes, or a sweep, is one operation over arrays. Sums are taken in the order of the entries, in double
precision, and rounded where the kernels round: ``np.bincount`` and ``np.add.at`` add sequentially, ``np.sum`` does not.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array

MAX_SMALL_STEPS = 1 << 21
"""Work of more steps than this is never small; a step reads one end of a link."""
MAX_STEPS_WITHOUT_COMPILING = 1 << 26
"""After this many steps in all, compiled code is loaded; NumPy takes about 10 ns per step."""
HUB = 64
"""A row this many times longer than the list of objects is searched for each of them instead of scanned.

Both twins of ``induce`` use it, so that their links have the same order.
"""


class WorkCounter:
    """Counts the steps that this process has done without compiled code."""

    def __init__(self) -> None:
        self.done = 0

    def accept(self, kernel: str, size: int, times: int = 1) -> bool:
        """Return whether to read ``size`` ends ``times`` times without compiled code; if so, count the steps.

        ``kernel`` is the module and the name of the compiled twin.

        >>> WorkCounter().accept("subgraphs.induce", MAX_SMALL_STEPS + 1)
        False
        """
        if (
            size > MAX_SMALL_STEPS
            or self.done + times * size > MAX_STEPS_WITHOUT_COMPILING
            or has_compiled_code(kernel)
        ):
            return False
        self.done += times * size
        return True


def has_compiled_code(kernel: str) -> bool:
    """Return whether a kernel was compiled, in this process or before, and the compiler is loaded."""
    # Another thread may be importing the module, which then lacks its last names.
    if not hasattr(sys.modules.get("cube2net.kernels.compiled"), "njit"):
        return False
    module, _, name = kernel.partition(".")
    return is_compiled(getattr(import_module(f"cube2net.kernels.{module}"), name))


def is_compiled(kernel: Any) -> bool:
    """Return whether a kernel was compiled in this process, or its compiled code is on disk."""
    if kernel.signatures:
        return True
    kept = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return Path(getattr(kept, "_index_path", "")).is_file()


WORK = WorkCounter()


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
        mass = left[front].astype(np.float64)
        totals = np.subtract.accumulate(np.concatenate([[total], (1.0 - damping) * mass]))
        ends = seen + np.concatenate([[0], np.cumsum(indptr[front + 1] - indptr[front])])
        over = np.flatnonzero((totals[:-1] <= goal) | (ends[:-1] > allowance))
        pushed = int(over[0]) if len(over) else len(front)
        front, mass = front[:pushed], mass[:pushed]
        total, seen = float(totals[pushed]), int(ends[pushed])
        share = damping * mass / strength[front].astype(np.float64)
        left[front] = 0.0
        settled[front] = settled[front] + (1.0 - damping) * mass
        entries, owner = list_entries(indptr, front)
        others, amounts = np.asarray(indices[entries]), share[owner] * weights[entries].astype(np.float64)
        np.add.at(arrived, others, amounts)
        come = others[amounts.astype(arrived.dtype) > 0.0]
        unique_objects, first = np.unique(come, return_index=True)
        new = unique_objects[np.argsort(first)]
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
    candidates: Array,
) -> tuple[int, float]:
    """Write to ``candidates`` the reached objects that may score ``least``; return their number and all strengths."""
    rows = reached[:count]
    strong = strength[rows].astype(np.float64)
    lower = settled[rows] + (1.0 - damping) * left[rows].astype(np.float64)
    named = rows[lower + damping * threshold * strong >= least]
    candidates[: len(named)] = named
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
        unique_objects, first = np.unique(others[state[others] == 0], return_index=True)
        new = unique_objects[np.argsort(first)]
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


def induce(indptr: Array, indices: Array, weights: Array, nodes: Array, place: Array) -> tuple[Array, Array, Array]:
    """Return the links among distinct nodes, each once, as positions source < target and their weights.

    ``place`` has, for every object, 1 + its position among the nodes, and 0 where it is none of them.
    """
    entries, source = list_entries(indptr, nodes)
    target = place[indices[entries]].astype(np.int64) - 1
    there = target > source
    entries, source, target = entries[there], source[there], target[there]
    behind = HUB * (len(nodes) - np.arange(len(nodes)))
    hub = (np.asarray(indptr[nodes + 1]) - np.asarray(indptr[nodes]) > behind)[source]
    order = np.lexsort((np.where(hub, target, entries), source))
    entries = entries[order]
    return source[order].astype(np.int32), target[order].astype(np.int32), np.asarray(weights[entries])
