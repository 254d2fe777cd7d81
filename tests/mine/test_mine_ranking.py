from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.errors import InputError, ParameterError
from cube2net.mine import ranking
from cube2net.mine.ranking import Ranking, rank_links


@dataclass(frozen=True, eq=False)
class Table:
    """Scores that are given."""

    table: np.ndarray

    def scores(self, users: np.ndarray) -> np.ndarray:
        return self.table[users]


def judge(table: list[list[float]], known: list[list[int]], hidden: list[list[int]], **options: object) -> Ranking:
    parts = [sp.csr_array(np.array(part, dtype=float)) for part in (known, hidden)]
    return rank_links(Table(np.array(table, dtype=float)), *parts, **options)  # type: ignore[arg-type]


def test_scores_by_hand_without_known_links_and_without_users_who_hide_none() -> None:
    table = [[9, 8, 7, 6, 5], [1, 2, 3, 4, 5], [1, 1, 1, 1, 1]]
    known = [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 0, 0, 0]]
    hidden = [[0, 1, 0, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    found = judge(table, known, hidden, ks=(1, 2, 9))
    # user 0 sees items 1 2 3 4 and hides the first and third; user 1 sees 3 2 1 0 and hides the last
    assert found.users.tolist() == [0, 1]
    assert found.left_out == 1
    assert found.hidden == 3
    assert found.precision.tolist() == [[1.0, 0.5, 2 / 9], [0.0, 0.0, 1 / 9]]
    assert found.recall.tolist() == [[0.5, 0.5, 1.0], [0.0, 0.0, 1.0]]
    assert found.auc.tolist() == [(1.0 + 0.5) / 2, 0.0]
    assert found.means()["P@2"] == 0.25
    assert repr(found).startswith("Ranking(2 users, 3 hidden links: P@1 0.5000, P@2 0.2500, P@9 0.1667, R@1 0.2500")


def by_all_orders(scores: list[float], known: set[int], hidden: set[int], k: int) -> float:
    """Return the hits among the first k, averaged over every order of the items that agrees with the scores."""
    items = [item for item in range(len(scores)) if item not in known]
    hits = [
        len(hidden & set(order[:k]))
        for order in itertools.permutations(items)
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]
    return sum(hits) / len(hits)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 6))
def test_ties_count_as_the_mean_over_all_their_orders(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, 6).tolist()
    roles = rng.integers(0, 3, 6)
    roles[int(rng.integers(6))] = 2
    found = judge([scores], [(roles == 1).tolist()], [(roles == 2).tolist()], ks=(k,))
    known, hidden = (set(np.flatnonzero(roles == role).tolist()) for role in (1, 2))
    expected = by_all_orders(scores, known, hidden, k)
    assert found.precision[0, 0] == pytest.approx(expected / k)
    assert found.recall[0, 0] == pytest.approx(expected / len(hidden))
    clear, level = [
        [(a, b) for a in hidden for b in set(range(6)) - known - hidden if scores[a] - scores[b] in apart]
        for apart in ((1, 2), (0,))
    ]
    others = len(set(range(6)) - known - hidden)
    if others:
        assert found.auc[0] == pytest.approx((len(clear) + len(level) / 2) / len(hidden) / others)


def test_an_order_of_the_items_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    table, turn = rng.integers(0, 4, (5, 8)).astype(float), rng.permutation(8)
    known, hidden = (np.arange(40).reshape(5, 8) % 5 == part for part in (1, 3))
    one = judge(table.tolist(), known.tolist(), hidden.tolist())
    other = judge(table[:, turn].tolist(), known[:, turn].tolist(), hidden[:, turn].tolist())
    assert one.means() == pytest.approx(other.means())


def test_scores_that_differ_in_the_last_digits_only_are_ties() -> None:
    exact = judge([[0.3, 0.3, 0.0]], [[0, 0, 0]], [[0, 1, 0]], ks=(1,))
    rounded = judge([[0.1 + 0.2, 0.3, 0.0]], [[0, 0, 0]], [[0, 1, 0]], ks=(1,))
    assert rounded.precision.tolist() == exact.precision.tolist() == [[0.5]]


def test_only_the_first_items_compete_where_so_many_are_named() -> None:
    table, known, hidden = [[1, 2, 9, 9]], [[0, 0, 0, 1]], [[0, 1, 0, 0]]
    found = judge(table, known, hidden, ks=(1,), items=2)
    assert found.precision.tolist() == [[1.0]]
    assert found.cold.tolist() == [False]
    assert judge(table, known, hidden, ks=(1,)).precision.tolist() == [[0.0]]


def test_users_are_scored_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    table, roles = rng.random((9, 6)).tolist(), rng.integers(0, 3, (9, 6))
    whole = judge(table, (roles == 1).tolist(), (roles == 2).tolist())
    monkeypatch.setattr(ranking, "BLOCK", 2)
    assert judge(table, (roles == 1).tolist(), (roles == 2).tolist()).means() == whole.means()


def test_a_user_who_has_everything_else_has_no_auc_and_nobody_has_no_scores() -> None:
    found = judge([[1.0, 2.0]], [[1, 0]], [[0, 1]], ks=(1,))
    assert found.precision.tolist() == [[1.0]]
    assert math.isnan(found.auc[0])
    empty = judge([[1.0, 2.0]], [[1, 0]], [[0, 0]], ks=(1,))
    assert len(empty) == 0
    assert empty.left_out == 1
    assert all(math.isnan(mean) for mean in empty.means().values())


def test_users_without_a_known_link_are_marked() -> None:
    found = judge([[1, 2], [1, 2]], [[0, 0], [1, 0]], [[0, 1], [0, 1]], ks=(1,))
    assert found.cold.tolist() == [True, False]


def test_bad_links_and_scores_are_refused() -> None:
    with pytest.raises(
        InputError, match="known links are 1 × 2 users × items and hidden ones 1 × 3, expected the same"
    ):
        judge([[1, 2, 3]], [[0, 1]], [[0, 1, 0]])
    with pytest.raises(InputError, match="some links are both known and hidden: take hidden links out of the known"):
        judge([[1, 2]], [[0, 1]], [[0, 1]])
    with pytest.raises(InputError, match=r"gave scores of shape \(1, 2\) that are not all finite"):
        judge([[1, math.nan]], [[0, 0]], [[0, 1]])
    with pytest.raises(InputError, match="1 hidden links lead to items beyond the first 1"):
        judge([[1, 2]], [[0, 0]], [[0, 1]], items=1)
    with pytest.raises(ParameterError, match="K is 0, expected 1 or more places"):
        judge([[1, 2]], [[0, 0]], [[0, 1]], ks=(0,))
    with pytest.raises(InputError, match="links are a sparse matrix of users × items, got ndarray"):
        rank_links(Table(np.ones((1, 1))), np.ones((1, 1)), np.ones((1, 1)))  # type: ignore[arg-type]
