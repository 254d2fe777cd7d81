from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from cube2net.kernels.lowrank import entries, solve_rows


def twin_entries(matrix: sp.csr_array, left: np.ndarray, right: np.ndarray) -> list[float]:
    found = []
    for row in range(matrix.shape[0]):
        for column in matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]:
            found.append(sum(a * b for a, b in zip(left[row].tolist(), right[column].tolist(), strict=True)))
    return found


def twin_solve(matrix: sp.csr_array, extra: float, other: np.ndarray, base: np.ndarray) -> np.ndarray:
    solved = np.zeros((matrix.shape[0], other.shape[1]))
    for row in range(matrix.shape[0]):
        columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        if len(columns):
            ys = other[columns]
            solved[row] = np.linalg.solve(base + extra * ys.T @ ys, (1 + extra) * ys.sum(axis=0))
    return solved


@pytest.mark.parametrize("seed", range(5))
def test_chosen_entries_of_a_product_are_those_of_the_whole_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((7, 9), density=0.4, rng=rng, format="csr")
    left, right = rng.standard_normal((7, 3)), rng.standard_normal((9, 3))
    found = entries(matrix.indptr, matrix.indices, left, right)
    assert found == pytest.approx(twin_entries(matrix, left, right))
    rows, columns = matrix.tocoo().coords
    assert found == pytest.approx((left @ right.T)[rows, columns])


@pytest.mark.parametrize("seed", range(5))
def test_many_small_solves_are_those_of_the_plain_loop_and_empty_rows_are_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((8, 6), density=0.3, rng=rng, format="csr")
    other = rng.standard_normal((6, 4))
    base = other.T @ other + 0.5 * np.eye(4)
    solved = solve_rows(matrix.indptr, matrix.indices, 3.0, other, base)
    np.testing.assert_allclose(solved, twin_solve(matrix, 3.0, other, base), atol=1e-10)
    assert not solved[np.diff(matrix.indptr) == 0].any()


def test_one_solve_by_hand() -> None:
    one = sp.csr_array(np.array([[1.0]]))
    # (2 + 3 · 1²) x = (1 + 3) · 1
    solved = solve_rows(one.indptr, one.indices, 3.0, np.array([[1.0]]), np.array([[2.0]]))
    assert solved.tolist() == [[pytest.approx(0.8)]]
