"""Small dense algebra over tall, thin arrays, on one thread: the last bit does not depend on how many there are."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit

SWEEPS = 60


@njit(cache=True, nogil=True)
def gram(tall: Array) -> Array:
    """Return the products of all pairs of columns, in double precision."""
    width = tall.shape[1]
    products = np.zeros((width, width))
    for row in range(len(tall)):
        values = tall[row]
        for i in range(width):
            value = np.float64(values[i])
            for j in range(width):
                products[i, j] += value * np.float64(values[j])
    return products


@njit(cache=True, nogil=True)
def turn(tall: Array, matrix: Array) -> Array:
    """Return ``tall @ matrix`` in single precision, summed in double."""
    out = np.empty((len(tall), matrix.shape[1]), dtype=np.float32)
    sums = np.empty(matrix.shape[1])
    for row in range(len(tall)):
        sums[:] = 0.0
        for i in range(tall.shape[1]):
            value = np.float64(tall[row, i])
            for j in range(len(sums)):
                sums[j] += value * matrix[i, j]
        for j in range(len(sums)):
            out[row, j] = sums[j]
    return out


@njit(cache=True, nogil=True)
def eigen(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix, largest first, and its eigenvectors as columns (Jacobi's way)."""
    size = len(matrix)
    rest = matrix.copy()
    rows = np.eye(size)
    for _ in range(SWEEPS):
        off, whole = 0.0, 0.0
        for p in range(size):
            for q in range(size):
                whole += rest[p, q] ** 2
                if p != q:
                    off += rest[p, q] ** 2
        if off <= 1e-30 * whole:
            break
        for p in range(size - 1):
            for q in range(p + 1, size):
                if rest[p, q] == 0.0:
                    continue
                angle = (rest[q, q] - rest[p, p]) / (2.0 * rest[p, q])
                tangent = (1.0 if angle >= 0 else -1.0) / (abs(angle) + np.sqrt(1.0 + angle * angle))
                cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                sine = tangent * cosine
                for i in range(size):
                    a, b = rest[p, i], rest[q, i]
                    rest[p, i], rest[q, i] = cosine * a - sine * b, sine * a + cosine * b
                for i in range(size):
                    a, b = rest[i, p], rest[i, q]
                    rest[i, p], rest[i, q] = cosine * a - sine * b, sine * a + cosine * b
                for i in range(size):
                    a, b = rows[p, i], rows[q, i]
                    rows[p, i], rows[q, i] = cosine * a - sine * b, sine * a + cosine * b
    values = np.diag(rest).copy()
    order = np.argsort(-values, kind="mergesort")
    return values[order], rows[order].T.copy()
