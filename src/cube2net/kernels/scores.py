"""Kernels for exact tests, low-rank completion and ranks of hidden links."""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit

AS_LIKELY = 1e-9
"""Tables whose log-likelihoods differ by less count as equally likely."""
NOTHING = 1e-17
"""Terms below this share of a sum do not change it."""


@njit(cache=True)
def two_sided(ones: Array, twos: Array, first: Array, second: Array, logs: Array, chances: Array) -> None:
    """Write the two-sided p-values of Fisher's exact test: ones[i] of first[i] against twos[i] of second[i].

    ``logs[n]`` is the logarithm of n!. Exchanging the two sides gives bit-identical results. The tables that are at
    most as likely as the observed one are two tails: each is found by bisection, and summed from its likeliest table
    outwards.
    """
    for i in range(len(ones)):
        a, b, n, o = ones[i], twos[i], first[i], second[i]
        if n > o or (n == o and a > b):
            a, b, n, o = b, a, o, n
        held = a + b
        low, high = max(0, held - o), min(held, n)
        likeliest = (held + 1) * (n + 1) // (n + o + 2)
        seen = _likelihood(a, n, held, o, logs)
        most = seen + AS_LIKELY
        if _likelihood(likeliest, n, held, o, logs) <= most:
            chances[i] = 1.0
            continue
        below, above = low - 1, likeliest
        while above - below > 1:
            middle = (below + above) // 2
            if _likelihood(middle, n, held, o, logs) <= most:
                below = middle
            else:
                above = middle
        total = (
            _tail(below, n, held, o, -1) * np.exp(_likelihood(below, n, held, o, logs) - seen) if below >= low else 0.0
        )
        below, above = likeliest, high + 1
        while above - below > 1:
            middle = (below + above) // 2
            if _likelihood(middle, n, held, o, logs) <= most:
                above = middle
            else:
                below = middle
        if above <= high:
            total += _tail(above, n, held, o, 1) * np.exp(_likelihood(above, n, held, o, logs) - seen)
        log_total = logs[held] + logs[n + o - held] - logs[n + o] + logs[n] + logs[o]
        chances[i] = min(1.0, np.exp(log_total + seen) * total)


@njit(cache=True)
def _likelihood(a: int, n: int, held: int, o: int, logs: Array) -> float:
    """Return the log-likelihood of a table with ``a`` of ``n``, without the terms common to all tables."""
    likelihood: float = -(logs[a] + logs[n - a] + logs[held - a] + logs[o - held + a])
    return likelihood


@njit(cache=True)
def _tail(a: int, n: int, held: int, o: int, step: int) -> float:
    """Return the probability of a table and those beyond it, divided by that of the table."""
    total = term = 1.0
    while True:
        if step > 0:
            ratio = (n - a) * (held - a) / ((a + 1.0) * (o - held + a + 1.0))
        else:
            ratio = a * (o - held + a) / ((n - a + 1.0) * (held - a + 1.0))
        term *= ratio
        total += term
        # Ratios decrease from here on, so the rest is less than a geometric series.
        if term * ratio <= NOTHING * total * (1.0 - ratio):
            return total
        a += step


@njit(cache=True, nogil=True)
def low_rank_entries(indptr: Array, indices: Array, left: Array, right: Array) -> Array:
    """Return the entries of ``left @ right.T`` at the places of a CSR matrix, in its order."""
    values = np.empty(len(indices))
    for row in range(len(indptr) - 1):
        for k in range(indptr[row], indptr[row + 1]):
            column = indices[k]
            total = 0.0
            for i in range(left.shape[1]):
                total += left[row, i] * right[column, i]
            values[k] = total
    return values


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
    """Return for every hidden link the number of items ranked above it, of items level with it, and its AUC.

    Row i of ``scores`` is that of a user, and scores at most ``slack[i]`` apart are level; the items of
    ``known[known_indptr[i]:known_indptr[i + 1]]`` are left out. Level items include the link's own. The AUC is the
    share of items neither known nor hidden that rank below it, level ones counted half; NaN without any.
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
