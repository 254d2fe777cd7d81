"""The small dense algebra is that of NumPy, but for the order of its sums."""

from __future__ import annotations

import numpy as np
import pytest

from cube2net.kernels.subspace import eigen, gram, turn


def test_gram_and_turn_are_matrix_products() -> None:
    rng = np.random.default_rng(0)
    tall, matrix = rng.normal(size=(30, 4)).astype(np.float32), rng.normal(size=(4, 3))
    assert np.allclose(gram(tall), tall.astype(float).T @ tall.astype(float))
    assert np.allclose(turn(tall, matrix), tall @ matrix, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_eigenvalues_and_vectors_take_a_symmetric_matrix_apart(size: int) -> None:
    rng = np.random.default_rng(size)
    half = rng.normal(size=(size, size))
    matrix = half + half.T
    values, vectors = eigen(matrix)
    assert np.allclose(values, np.linalg.eigvalsh(matrix)[::-1])
    assert np.allclose(vectors @ np.diag(values) @ vectors.T, matrix)
    assert np.allclose(vectors.T @ vectors, np.eye(size))


def test_matrices_that_are_zero_or_of_low_rank_are_no_trouble() -> None:
    assert eigen(np.zeros((3, 3)))[0].tolist() == [0, 0, 0]
    values, _ = eigen(np.ones((4, 4)))
    assert np.allclose(values, [4, 0, 0, 0])
