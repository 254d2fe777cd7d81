"""What factor models need beside matrix products: chosen entries of a low-rank matrix, and many small solves."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True, nogil=True)
def entries(indptr: Array, indices: Array, left: Array, right: Array) -> Array:
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
