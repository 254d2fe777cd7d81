from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from cube2net.mine.softimpute import SHARES, SoftImpute


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
    known, _ = made._entries(links, np.random.default_rng(0))
    assert (known.data == 1).sum() == links.nnz
    drawn = (known.data == 0).sum()
    assert 1.3 * links.nnz < drawn < 1.6 * links.nnz
    one = sp.csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    known, _ = SoftImpute(zeros=50.0)._entries(one, np.random.default_rng(0))
    assert known.toarray().tolist() == [[0, 1, 0], [0, 0, 0]]
    assert known.nnz == 3


def test_a_path_has_every_share_and_a_given_shrinkage_is_one_step_of_it() -> None:
    links = stars()
    path = list(SoftImpute(rank=6).path(links, seed=4))
    assert [made.shrinkage for made, _ in path] == list(SHARES)
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
