from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.mine.completion import Solution, solve, start


def some_entries(seed: int, shape: tuple[int, int] = (14, 10), rank: int = 2, share: float = 0.6) -> sp.csr_array:
    """Return some entries of a matrix of low rank, with a little noise."""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    whole += 0.1 * rng.standard_normal(shape)
    rows, columns = np.nonzero(rng.random(shape) < share)
    return sp.csr_array((whole[rows, columns], (rows, columns)), shape=shape)


def textbook(known: sp.csr_array, penalty: float, steps: int = 4000) -> np.ndarray:
    """Return what Soft-Impute gives on a dense matrix: fill from Z, shrink the singular values, repeat."""
    there = sp.csr_array((np.ones(known.nnz), known.indices, known.indptr), shape=known.shape).toarray() > 0
    filled, z = known.toarray(), np.zeros(known.shape)
    for _ in range(steps):
        left, values, right = np.linalg.svd(np.where(there, filled, z), full_matrices=False)
        new = (left * np.maximum(values - penalty, 0.0)) @ right
        if np.abs(new - z).max() < 1e-12:
            break
        z = new
    return z


def dense(found: Solution) -> np.ndarray:
    return (found.left * found.values) @ found.right.T


def cold_start(known: sp.csr_array, rank: int, seed: int = 0) -> Solution:
    first = start(known, rank, np.random.default_rng(seed))
    return replace(first, values=np.zeros_like(first.values))


def objective(known: sp.csr_array, z: np.ndarray, penalty: float) -> float:
    rows, columns = known.tocoo().coords
    misfit = 0.5 * float(((known.data - z[rows, columns]) ** 2).sum())
    return misfit + penalty * float(np.linalg.svd(z, compute_uv=False).sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.6, 0.3, 0.1])
def test_the_sparse_algorithm_ends_where_the_dense_textbook_one_does(seed: int, share: float) -> None:
    known = some_entries(seed)
    first = start(known, 10, np.random.default_rng(seed))
    found = solve(known, share * first.penalty, cold_start(known, 10), rounds=3000, tolerance=1e-14)
    np.testing.assert_allclose(dense(found), textbook(known, share * first.penalty), atol=2e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 0.9), st.integers(1, 10))
def test_no_step_raises_the_objective_and_the_last_is_that_of_the_answer(seed: int, share: float, rank: int) -> None:
    known = some_entries(seed, rank=3)
    penalty = share * start(known, rank, np.random.default_rng(0)).penalty
    found = solve(known, penalty, cold_start(known, rank), rounds=50, tolerance=0.0)
    steps = np.array(found.objective)
    assert (np.diff(steps) <= 1e-9 * steps[0]).all()
    assert steps[-1] == pytest.approx(objective(known, dense(found), penalty))
    assert found.rank <= rank


def test_a_warm_start_ends_where_a_cold_one_does_and_sooner() -> None:
    known = some_entries(7, (40, 30), rank=3)
    top = start(known, 8, np.random.default_rng(0)).penalty
    cold = solve(known, 0.1 * top, cold_start(known, 8), rounds=2000, tolerance=1e-12)
    warm = solve(known, 0.12 * top, cold_start(known, 8), rounds=2000, tolerance=1e-12)
    then = solve(known, 0.1 * top, warm, rounds=2000, tolerance=1e-12)
    np.testing.assert_allclose(dense(then), dense(cold), atol=1e-3)
    assert len(then.objective) < len(cold.objective)


def test_the_sides_are_orthonormal_and_the_rank_falls_as_the_penalty_rises() -> None:
    known = some_entries(3, (30, 20), rank=5)
    solution = cold_start(known, 12)
    top = start(known, 12, np.random.default_rng(0)).penalty
    ranks = []
    for share in (0.9, 0.5, 0.2, 0.05):
        solution = solve(known, share * top, solution, rounds=200, tolerance=1e-8)
        for side in (solution.left, solution.right):
            np.testing.assert_allclose(side.T @ side, np.eye(12), atol=1e-8)
        ranks.append(solution.rank)
    assert ranks == sorted(ranks)
    assert ranks[0] == 1 < ranks[-1]


def test_at_the_largest_singular_value_nothing_is_left() -> None:
    known = some_entries(5)
    first = start(known, 10, np.random.default_rng(0))
    assert first.penalty == pytest.approx(np.linalg.svd(known.toarray(), compute_uv=False)[0])
    assert solve(known, 1.001 * first.penalty, cold_start(known, 10), rounds=500, tolerance=1e-14).rank == 0


def test_hidden_entries_of_a_matrix_of_low_rank_are_found_again() -> None:
    rng = np.random.default_rng(0)
    whole = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 50))
    rows, columns = np.nonzero(rng.random(whole.shape) < 0.4)
    known = sp.csr_array((whole[rows, columns], (rows, columns)), shape=whole.shape)
    solution = cold_start(known, 5)
    top = start(known, 5, np.random.default_rng(0)).penalty
    for share in (0.5, 0.1, 0.02, 0.005):
        solution = solve(known, share * top, solution, rounds=300, tolerance=1e-7)
    hidden = known.toarray() == 0
    assert np.abs((dense(solution) - whole)[hidden]).mean() < 0.1 * np.abs(whole[hidden]).mean()
