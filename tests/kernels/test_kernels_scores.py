"""Entries of a low-rank matrix, small solves and the ranks of hidden links, against plain NumPy and Python."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels.scores import hidden_ranks, low_rank_entries, solve_rows

Rows = list[list[int]]


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
    found = low_rank_entries(matrix.indptr, matrix.indices, left, right)
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


def flat(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([0, *map(len, rows)])
    return ends, np.array([item for row in rows for item in row], dtype=np.int64)


def run(scores: np.ndarray, known: Rows, hidden: Rows, slack: float = 0.0) -> list[tuple[int, int, float]]:
    parts = hidden_ranks(scores, np.full(len(scores), slack), *flat(known), *flat(hidden))
    return list(zip(*(part.tolist() for part in parts), strict=True))


def twin(scores: np.ndarray, known: Rows, hidden: Rows, slack: float = 0.0) -> list[tuple[int, int, float]]:
    found = []
    for user, row in enumerate(scores.tolist()):
        left = [item for item in range(len(row)) if item not in known[user]]
        others = [item for item in left if item not in hidden[user]]
        for link in hidden[user]:
            above = sum(row[item] - row[link] > slack for item in left)
            level = sum(abs(row[item] - row[link]) <= slack for item in left)
            beaten = sum(row[item] - row[link] < -slack for item in others)
            equal = sum(abs(row[item] - row[link]) <= slack for item in others)
            found.append((above, level, (beaten + equal / 2) / len(others) if others else math.nan))
    return found


def same(one: list[tuple[int, int, float]], other: list[tuple[int, int, float]]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


@given(st.integers(0, 100_000), st.sampled_from([0.0, 1.0]))
def test_places_are_those_of_the_plain_loop(seed: int, slack: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, (3, 7)).astype(float)
    roles = rng.integers(0, 3, scores.shape)
    known, hidden = ([np.flatnonzero(row == role).tolist() for row in roles] for role in (1, 2))
    assert same(run(scores, known, hidden, slack), twin(scores, known, hidden, slack))


def test_places_by_hand() -> None:
    scores = np.array([[5.0, 3.0, 3.0, 1.0, 9.0]])
    assert run(scores, [[4]], [[1, 3]]) == [(1, 2, 0.25), (3, 1, 0.0)]


def test_where_everything_else_is_known_there_is_nothing_to_be_above_of() -> None:
    assert same(run(np.array([[1.0, 2.0]]), [[0]], [[1]]), [(0, 1, math.nan)])
