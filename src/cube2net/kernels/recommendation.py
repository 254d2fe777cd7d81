"""Recommenders, compiled: entries of a low-rank matrix, many small solves, and the ranks of hidden links."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True, nogil=True)
def low_rank_entries(indptr: Array, indices: Array, left: Array, right: Array) -> Array:
    """Return the entries of ``left @ right.T`` at the places of a CSR matrix, in its order."""
    found = np.empty(len(indices))
    for row in range(len(indptr) - 1):
        for k in range(indptr[row], indptr[row + 1]):
            column = indices[k]
            total = 0.0
            for i in range(left.shape[1]):
                total += left[row, i] * right[column, i]
            found[k] = total
    return found


@njit(cache=True, nogil=True)
def solve_rows(indptr: Array, indices: Array, extra: float, other: Array, base: Array) -> Array:
    """Return, for every row of a CSR matrix, the x of (base + extra · Σ y yᵀ) x = (1 + extra) · Σ y.

    Sums run over the row's columns and y is the column's row in ``other``; ``base`` is symmetric and positive
    definite. By Cholesky's L Lᵀ, whose L takes the lower half of one scratch array. A row without entries is 0.
    """
    rank = other.shape[1]
    solved = np.zeros((len(indptr) - 1, rank))
    lower = np.empty((rank, rank))
    for row in range(len(indptr) - 1):
        if indptr[row] == indptr[row + 1]:
            continue
        x = solved[row]
        lower[:, :] = base
        for k in range(indptr[row], indptr[row + 1]):
            y = other[indices[k]]
            for i in range(rank):
                x[i] += (1.0 + extra) * y[i]
                for j in range(i + 1):
                    lower[i, j] += extra * y[i] * y[j]
        for i in range(rank):
            for j in range(i + 1):
                total = lower[i, j]
                for k in range(j):
                    total -= lower[i, k] * lower[j, k]
                lower[i, j] = np.sqrt(total) if i == j else total / lower[j, j]
            total = x[i]
            for k in range(i):
                total -= lower[i, k] * x[k]
            x[i] = total / lower[i, i]
        for i in range(rank - 1, -1, -1):
            total = x[i]
            for k in range(i + 1, rank):
                total -= lower[k, i] * x[k]
            x[i] = total / lower[i, i]
    return solved


@njit(cache=True, nogil=True)
def hidden_ranks(
    scores: Array, slack: Array, known_indptr: Array, known: Array, hidden_indptr: Array, hidden: Array
) -> tuple[Array, Array, Array]:
    """Return of every hidden link how many items stand above it, how many level with it, and its AUC.

    Row i of ``scores`` is a user's, and scores at most ``slack[i]`` apart are level; the items of
    ``known[known_indptr[i]:known_indptr[i + 1]]`` are left out. Level items include the link's own. The AUC is the
    share of the items that are neither known nor hidden that stand below it, level ones counted half; nan without any.
    """
    count = len(hidden)
    above = np.zeros(count, np.int64)
    level = np.zeros(count, np.int64)
    auc = np.full(count, np.nan)
    state = np.zeros(scores.shape[1], np.int8)
    for user in range(len(scores)):
        state[:] = 0
        for k in range(known_indptr[user], known_indptr[user + 1]):
            state[known[k]] = 2
        for k in range(hidden_indptr[user], hidden_indptr[user + 1]):
            state[hidden[k]] = 1
        for k in range(hidden_indptr[user], hidden_indptr[user + 1]):
            own = scores[user, hidden[k]]
            others, beaten = 0, 0.0
            for item in range(scores.shape[1]):
                if state[item] == 2:
                    continue
                apart = scores[user, item] - own
                if apart > slack[user]:
                    above[k] += 1
                elif apart >= -slack[user]:
                    level[k] += 1
                if state[item] == 0:
                    others += 1
                    if apart < -slack[user]:
                        beaten += 1.0
                    elif apart <= slack[user]:
                        beaten += 0.5
            if others > 0:
                auc[k] = beaten / others
    return above, level, auc
