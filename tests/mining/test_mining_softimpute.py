"""Soft-Impute completes what was planted: by an independent solver, the shrinkage path, and settings one by one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.mining.recommenders import SHRINKAGE_PATH, SoftImpute, Solution, complete_matrix, truncated_svd


def stars(seed: int = 0, shape: tuple[int, int] = (30, 20)) -> sp.csr_array:
    """Return some ratings from 1 to 10, that users and items of two kinds explain."""
    rng = np.random.default_rng(seed)
    taste = np.where(rng.random(shape[0]) < 0.5, 1, -1)[:, None] * np.where(rng.random(shape[1]) < 0.5, 1, -1)
    rows, columns = np.nonzero(rng.random(shape) < 0.5)
    values = np.clip(np.round(5.5 + 3 * taste + rng.standard_normal(shape)), 1, 10)
    return sp.csr_array((values[rows, columns], (rows, columns)), shape=shape)


def every_score(made: SoftImpute, links: sp.csr_array, seed: int = 0) -> np.ndarray:
    return made.fit(links, seed=seed).scores(np.arange(links.shape[0]))


def test_the_penalty_is_the_share_of_the_largest_singular_value() -> None:
    links = stars()
    made = SoftImpute(values="given", zeros=0.0, shrinkage=0.2)
    top = np.linalg.svd(links.toarray(), compute_uv=False)[0]
    assert made.fit(links).solution.penalty == pytest.approx(0.2 * top)


@pytest.mark.parametrize("centring", ["none", "mean", "items", "both"])
def test_ratings_are_learned_with_every_centring(centring: str) -> None:
    links = stars()
    rows, columns = links.tocoo().coords
    made = SoftImpute(values="given", zeros=0.0, centring=centring, shrinkage=0.06, rank=4)
    learned = every_score(made, links)[rows, columns]
    assert np.corrcoef(learned, links.data)[0, 1] > 0.9


def test_with_everything_shrunk_away_an_item_scores_its_own_mean_drawn_to_that_of_all() -> None:
    links = sp.csr_array(np.array([[9.0, 2.0], [7.0, 0.0], [8.0, 0.0]]))
    found = every_score(SoftImpute(values="given", zeros=0.0, centring="items", prior=1.0, shrinkage=0.999), links)
    mean = (9 + 2 + 7 + 8) / 4
    assert found[0] == pytest.approx([mean + (24 - 3 * mean) / 4, mean + (2 - mean) / 2], abs=1e-2)


def test_a_link_of_weight_zero_is_a_link() -> None:
    links = sp.csr_array(([9.0, 0.0, 0.0, 9.0], ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    assert links.nnz == 4
    found = every_score(SoftImpute(values="given", zeros=0.0, shrinkage=0.01, rank=2), links)
    assert found == pytest.approx(np.array([[9.0, 0.0], [0.0, 9.0]]), abs=0.2)


def test_zeros_are_drawn_among_pairs_without_a_link_of_users_with_one() -> None:
    links = sp.random_array((40, 500), density=0.02, rng=np.random.default_rng(1), format="csr")
    made = SoftImpute(zeros=1.5)
    known, _ = made._prepare_entries(links, np.random.default_rng(0))
    assert (known.data == 1).sum() == links.nnz
    drawn = (known.data == 0).sum()
    assert 1.3 * links.nnz < drawn < 1.6 * links.nnz
    one = sp.csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    known, _ = SoftImpute(zeros=50.0)._prepare_entries(one, np.random.default_rng(0))
    assert known.toarray().tolist() == [[0, 1, 0], [0, 0, 0]]
    assert known.nnz == 3


def test_a_path_has_every_share_and_a_given_shrinkage_is_one_step_of_it() -> None:
    links = stars()
    path = list(SoftImpute(rank=6).path(links, seed=4))
    assert [made.shrinkage for made, _ in path] == list(SHRINKAGE_PATH)
    ranks = [completed.solution.rank for _, completed in path]
    assert ranks[0] <= ranks[-1] <= 6
    made, completed = path[3]
    again = made.fit(links, seed=4)
    assert np.array_equal(again.left, completed.left)
    assert np.array_equal(again.right, completed.right)


def test_a_chosen_shrinkage_is_on_the_path_and_the_same_for_the_same_seed() -> None:
    links = stars()
    chosen = SoftImpute(rank=4).fit(links, seed=2).solution
    assert chosen.penalty == SoftImpute(rank=4).fit(links, seed=2).solution.penalty
    penalties = [completed.solution.penalty for _, completed in SoftImpute(rank=4).path(links, seed=2)]
    assert chosen.penalty in penalties


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
    first = truncated_svd(known, rank, np.random.default_rng(seed))
    return replace(first, values=np.zeros_like(first.values))


def objective(known: sp.csr_array, z: np.ndarray, penalty: float) -> float:
    rows, columns = known.tocoo().coords
    misfit = 0.5 * float(((known.data - z[rows, columns]) ** 2).sum())
    return misfit + penalty * float(np.linalg.svd(z, compute_uv=False).sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.6, 0.3, 0.1])
def test_the_sparse_algorithm_ends_where_the_dense_textbook_one_does(seed: int, share: float) -> None:
    known = some_entries(seed)
    first = truncated_svd(known, 10, np.random.default_rng(seed))
    found = complete_matrix(known, share * first.penalty, cold_start(known, 10), rounds=3000, tolerance=1e-14)
    np.testing.assert_allclose(dense(found), textbook(known, share * first.penalty), atol=2e-5)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0.05, 0.9), st.integers(1, 10))
def test_no_step_raises_the_objective_and_the_last_is_that_of_the_answer(seed: int, share: float, rank: int) -> None:
    known = some_entries(seed, rank=3)
    penalty = share * truncated_svd(known, rank, np.random.default_rng(0)).penalty
    found = complete_matrix(known, penalty, cold_start(known, rank), rounds=50, tolerance=0.0)
    steps = np.array(found.objective)
    assert (np.diff(steps) <= 1e-9 * steps[0]).all()
    assert steps[-1] == pytest.approx(objective(known, dense(found), penalty))
    assert found.rank <= rank


def test_a_warm_start_ends_where_a_cold_one_does_and_sooner() -> None:
    known = some_entries(7, (40, 30), rank=3)
    top = truncated_svd(known, 8, np.random.default_rng(0)).penalty
    cold = complete_matrix(known, 0.1 * top, cold_start(known, 8), rounds=2000, tolerance=1e-12)
    warm = complete_matrix(known, 0.12 * top, cold_start(known, 8), rounds=2000, tolerance=1e-12)
    then = complete_matrix(known, 0.1 * top, warm, rounds=2000, tolerance=1e-12)
    np.testing.assert_allclose(dense(then), dense(cold), atol=1e-3)
    assert len(then.objective) < len(cold.objective)


def test_the_sides_are_orthonormal_and_the_rank_falls_as_the_penalty_rises() -> None:
    known = some_entries(3, (30, 20), rank=5)
    solution = cold_start(known, 12)
    top = truncated_svd(known, 12, np.random.default_rng(0)).penalty
    ranks = []
    for share in (0.9, 0.5, 0.2, 0.05):
        solution = complete_matrix(known, share * top, solution, rounds=200, tolerance=1e-8)
        for side in (solution.left, solution.right):
            np.testing.assert_allclose(side.T @ side, np.eye(12), atol=1e-8)
        ranks.append(solution.rank)
    assert ranks == sorted(ranks)
    assert ranks[0] == 1 < ranks[-1]


def test_at_the_largest_singular_value_nothing_is_left() -> None:
    known = some_entries(5)
    first = truncated_svd(known, 10, np.random.default_rng(0))
    assert first.penalty == pytest.approx(np.linalg.svd(known.toarray(), compute_uv=False)[0])
    assert complete_matrix(known, 1.001 * first.penalty, cold_start(known, 10), rounds=500, tolerance=1e-14).rank == 0


def test_hidden_entries_of_a_matrix_of_low_rank_are_found_again() -> None:
    rng = np.random.default_rng(0)
    whole = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 50))
    rows, columns = np.nonzero(rng.random(whole.shape) < 0.4)
    known = sp.csr_array((whole[rows, columns], (rows, columns)), shape=whole.shape)
    solution = cold_start(known, 5)
    top = truncated_svd(known, 5, np.random.default_rng(0)).penalty
    for share in (0.5, 0.1, 0.02, 0.005):
        solution = complete_matrix(known, share * top, solution, rounds=300, tolerance=1e-7)
    hidden = known.toarray() == 0
    assert np.abs((dense(solution) - whole)[hidden]).mean() < 0.1 * np.abs(whole[hidden]).mean()
