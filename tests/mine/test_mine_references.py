"""Recommenders against their equations, written out on small matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from cube2net.errors import ParameterError
from cube2net.mine.als import Als
from cube2net.mine.ease import Ease
from cube2net.mine.neighbours import ItemKnn


def random_links(seed: int, shape: tuple[int, int], share: float = 0.4) -> np.ndarray:
    links = np.random.default_rng(seed).random(shape) < share
    links[:, 0] = True
    return links.astype(float)


def every_score(fitted: object, users: int) -> np.ndarray:
    return fitted.scores(np.arange(users))  # type: ignore[attr-defined]


@pytest.mark.parametrize("shape", [(9, 5), (5, 9), (6, 6)])
def test_ease_is_its_closed_form_whichever_side_is_shorter(shape: tuple[int, int]) -> None:
    x = random_links(0, shape)
    p = np.linalg.inv(x.T @ x + 2.0 * np.eye(shape[1]))
    b = -p / np.diag(p)
    np.fill_diagonal(b, 0.0)
    np.testing.assert_allclose(every_score(Ease(ridge=2.0).fit(sp.csr_array(x)), shape[0]), x @ b, atol=1e-4)


def test_ease_predicts_every_item_from_the_others_as_well_as_ridge_regression_does() -> None:
    x = random_links(1, (12, 6))
    found = every_score(Ease(ridge=0.5).fit(sp.csr_array(x)), 12)
    for item in range(6):
        others = np.delete(x, item, axis=1)
        weights = np.linalg.solve(others.T @ others + 0.5 * np.eye(5), others.T @ x[:, item])
        np.testing.assert_allclose(found[:, item], others @ weights, atol=1e-4)


def test_ease_refuses_what_it_could_not_hold() -> None:
    with pytest.raises(ParameterError, match="EASE inverts a dense matrix of 4 × 4 here, and most is 3: bring fewer"):
        Ease(most=3).fit(sp.csr_array(random_links(0, (4, 5))))


def test_item_neighbours_are_the_cosines_written_out() -> None:
    x = random_links(2, (10, 6))
    shared = x.T @ x
    size = np.diag(shared)
    cosine = shared / (np.sqrt(np.outer(size, size)) + 3.0)
    np.fill_diagonal(cosine, 0.0)
    found = every_score(ItemKnn(neighbours=6, shrink=3.0).fit(sp.csr_array(x)), 10)
    np.testing.assert_allclose(found, x @ cosine, atol=1e-4)
    for item in range(6):
        cosine[np.argsort(-cosine[:, item], kind="stable")[2:], item] = 0.0
    found = every_score(ItemKnn(neighbours=2, shrink=3.0).fit(sp.csr_array(x)), 10)
    np.testing.assert_allclose(found, x @ cosine, atol=1e-4)


def test_item_neighbours_by_hand_and_ties_go_to_what_is_popular() -> None:
    x = np.array([[1, 1, 0, 0], [1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1.0]])
    found = every_score(ItemKnn(shrink=0.0).fit(sp.csr_array(x)), 5)
    # user 3 has item 2 only, whose one neighbour is item 3 (one user of both, 2 and 3 users): 1 / √6
    assert found[3] == pytest.approx([0.0, 0.0, 0.0, 1 / np.sqrt(6)], abs=1e-5)
    assert found[3, 0] > found[3, 1] > 0


def test_alternating_least_squares_lowers_its_objective_and_ends_where_no_side_can_move() -> None:
    x = random_links(3, (12, 8))

    def value(users: np.ndarray, items: np.ndarray) -> float:
        trust = np.where(x > 0, 1 + 5.0, 1.0)
        return float((trust * (x - users @ items.T) ** 2).sum() + 0.7 * ((users**2).sum() + (items**2).sum()))

    settings = {"rank": 3, "ridge": 0.7, "confidence": 5.0}
    fits = [Als(rounds=rounds, **settings).fit(sp.csr_array(x), seed=1) for rounds in (1, 2, 5, 400)]  # type: ignore[arg-type]
    values = [value(fit.left, fit.right) for fit in fits]  # type: ignore[attr-defined]
    assert values == sorted(values, reverse=True)
    users, items = fits[-1].left, fits[-1].right  # type: ignore[attr-defined]
    for user in range(12):
        trust = np.diag(np.where(x[user] > 0, 6.0, 1.0))
        best = np.linalg.solve(items.T @ trust @ items + 0.7 * np.eye(3), items.T @ trust @ x[user])
        np.testing.assert_allclose(users[user], best, atol=1e-3)
