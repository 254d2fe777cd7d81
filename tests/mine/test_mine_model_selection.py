from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from cube2net.errors import ParameterError
from cube2net.interfaces import Fitted
from cube2net.mine.model_selection import choose
from cube2net.mine.recommenders import ItemKnn, Popularity
from cube2net.mine.softimpute import SHARES, SoftImpute


def two_groups(seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    same = np.repeat([0, 1], 25)[:, None] == np.tile([0, 1], 12)
    return sp.csr_array((rng.random(same.shape) < np.where(same, 0.5, 0.05)).astype(float))


@dataclass(frozen=True, eq=False)
class Watching:
    """Notes the links it is shown, and scores all items alike."""

    shown: list[sp.csr_array]

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        self.shown.append(matrix)
        return self

    def scores(self, users: np.ndarray) -> np.ndarray:
        return np.ones((len(users), self.shown[-1].shape[1]))


def test_the_recommender_that_finds_known_links_best_is_chosen() -> None:
    choice = choose([Popularity(), ItemKnn(), Watching([])], two_groups())
    assert choice.best == ItemKnn()
    assert {type(made) for made, _, _ in choice.tried} == {ItemKnn, Popularity, Watching}
    recalls = [recall for _, recall, _ in choice.tried]
    assert recalls == sorted(recalls, reverse=True)
    assert repr(choice) == "BestOf(ItemKnn(neighbours=100, shrink=10.0) of 3)"


def test_a_share_of_the_links_to_the_first_items_is_hidden_and_nothing_else() -> None:
    links, shown = two_groups(1), []
    choose([Watching(shown)], links, items=10, share=0.3, repeats=3)
    assert len(shown) == 3
    inside = links[:, :10].nnz
    for seen in shown:
        assert seen[:, 10:].nnz == links[:, 10:].nnz
        assert inside - seen[:, :10].nnz == round(0.3 * inside)
        assert (links - links.multiply(seen)).min() >= 0
    assert any((shown[0] != other).nnz for other in shown[1:])


def test_a_recommender_with_a_path_is_tried_with_every_setting_on_it() -> None:
    tried = choose([SoftImpute(rank=2), SoftImpute(rank=2, shrinkage=0.5)], two_groups()).tried
    assert sorted(made.shrinkage or 0 for made, _, _ in tried) == sorted([*SHARES, 0.5])


def test_the_same_seed_makes_the_same_choice_and_equals_keep_their_order() -> None:
    one, other = (choose([Popularity(), ItemKnn(shrink=0.0), ItemKnn()], two_groups(), seed=3) for _ in range(2))
    assert one.tried == other.tried
    twins = choose([ItemKnn(neighbours=300), ItemKnn(neighbours=200)], two_groups())
    assert twins.best == ItemKnn(neighbours=300)


def test_where_there_is_nothing_to_hide_the_first_is_chosen() -> None:
    assert choose([Popularity(), ItemKnn()], sp.csr_array((3, 3))).best == Popularity()


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="there is no recommender to choose from"):
        choose([], two_groups())
    with pytest.raises(ParameterError, match="share is 1, expected a share above 0 and below 1"):
        choose([Popularity()], two_groups(), share=1)
    with pytest.raises(ParameterError, match="repeats is 0, expected a whole number of 1 or more"):
        choose([Popularity()], two_groups(), repeats=0)
    with pytest.raises(ParameterError, match="items is 25, expected a whole number of 0 to 24"):
        choose([Popularity()], two_groups(), items=25)
