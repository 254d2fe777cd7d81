"""How well links are found again, and settings chosen by it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import InputError, ParameterError
from cube2net.mining import link_prediction
from cube2net.mining.link_prediction import PairRanking, Ranking, choose_recommender, rank_links, rank_pairs
from cube2net.mining.recommenders import SHRINKAGE_PATH, ItemKnn, Popularity, SoftImpute
from cube2net.model.interfaces import Fitted

Ends = tuple[Array, Array]


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
    monkeypatch.setattr(link_prediction, "USERS_PER_BLOCK", 2)
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


def ends(*pairs: tuple[int, int]) -> Ends:
    source, target = np.array(pairs, dtype=np.int32).T
    return source, target


def by_hand(vectors: Array, hidden: Ends, unlinked: Ends) -> tuple[dict[int, float], list[float]]:
    """Return the AUC of every object and of every pair, one comparison at a time."""

    def cosine(a: int, b: int) -> float:
        one, other = vectors[a], vectors[b]
        size = float(np.sqrt(one @ one) * np.sqrt(other @ other))
        return round(float(one @ other) / size, 9) if size else 0.0

    others = [cosine(*pair) for pair in zip(*unlinked, strict=True)]
    found, own = [], dict[int, list[float]]()
    for a, b in zip(*hidden, strict=True):
        value = cosine(a, b)
        share = sum((value > other) + (value == other) / 2 for other in others) / len(others)
        found.append(share)
        for end in (int(a), int(b)):
            own.setdefault(end, []).append(share)
    return {end: sum(shares) / len(shares) for end, shares in own.items()}, found


def test_three_objects_by_hand() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [-1.0, 0.0]])
    # cosines: (0, 1) 0.71 hidden; (0, 2) 0 and (0, 3) −1 and (1, 2) 0.71 not linked
    found = rank_pairs(vectors, ends((0, 1)), ends((0, 2), (0, 3), (2, 1)))
    assert found.pairs.tolist() == [pytest.approx(2.5 / 3)]
    assert found.objects.tolist() == [0, 1] and found.auc.tolist() == [pytest.approx(2.5 / 3)] * 2
    assert repr(found) == "PairRanking(2 objects, 1 hidden pairs: AUC 0.8333)"


def test_an_object_counts_once_however_many_pairs_it_has() -> None:
    # 0 and 1 are alike, 2 and 3 are not: 0 has both pairs, the others one each
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.5, 0.5]])
    found = rank_pairs(vectors, ends((0, 1), (3, 0)), ends((4, 1), (2, 4)))
    assert found.pairs.tolist() == [1.0, 0.0]
    assert dict(zip(found.objects.tolist(), found.auc.tolist(), strict=True)) == {0: 0.5, 1: 1.0, 3: 0.0}
    assert found.mean == 0.5


def test_vectors_of_zeros_are_as_likely_above_as_below() -> None:
    found = rank_pairs(np.zeros((4, 3)), ends((0, 1)), ends((2, 3), (0, 3)))
    assert found.mean == 0.5


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 9), st.integers(1, 20))
def test_it_is_what_comparing_one_by_one_gives(seed: int, objects: int, hidden: int, unlinked: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-1, 2, (objects, 2)).astype(np.float32) * rng.choice([0.5, 1.0, 3.0], (objects, 1))

    def some_pairs(count: int) -> Ends:
        source = rng.integers(0, objects, count)
        return source, (source + rng.integers(1, objects, count)) % objects

    asked = some_pairs(hidden), some_pairs(unlinked)
    found = rank_pairs(vectors, *asked)
    own, pairs = by_hand(vectors.astype(np.float64), *asked)
    assert found.pairs.tolist() == pytest.approx(pairs)
    assert dict(zip(found.objects.tolist(), found.auc.tolist(), strict=True)) == pytest.approx(own)
    assert found.objects.tolist() == sorted(own) and len(found) == len(own)
    again = rank_pairs(7 * vectors, (asked[0][1], asked[0][0]), asked[1])
    assert again.auc.tolist() == pytest.approx(found.auc.tolist()), "neither sizes nor the order of ends matter"


def test_blocks_of_pairs_give_what_all_at_once_give(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    vectors, hidden, unlinked = rng.normal(size=(50, 8)), rng.integers(0, 25, (2, 40)), rng.integers(0, 25, (2, 120))
    asked = (hidden[0], hidden[1] + 25), (unlinked[0], unlinked[1] + 25)
    whole = rank_pairs(vectors, *asked)
    monkeypatch.setattr(link_prediction, "PAIRS_PER_BLOCK", 7)
    assert rank_pairs(vectors, *asked).pairs.tolist() == whole.pairs.tolist()


def test_groups_that_vectors_show_are_found() -> None:
    rng = np.random.default_rng(1)
    group = np.arange(40) % 4
    vectors = np.eye(4)[group] + rng.normal(0, 0.1, (40, 4))
    same = [(a, b) for a in range(40) for b in range(a) if group[a] == group[b]]
    apart = [(a, b) for a in range(40) for b in range(a) if group[a] != group[b]]
    found: PairRanking = rank_pairs(vectors, ends(*same), ends(*apart))
    assert found.mean == 1.0 and len(found) == 40
    assert rank_pairs(vectors, ends(*apart), ends(*same)).mean == 0.0


@pytest.mark.parametrize(
    ("hidden", "unlinked", "text"),
    [
        (([], []), ([0], [1]), "the ends of hidden pairs have shapes (0,) and (0,), expected one or more pairs, two"),
        (([0], [1]), ([0, 1], [2]), "the ends of unlinked pairs have shapes (2,) and (1,), expected one or more"),
        (([0], [9]), ([0], [1]), "hidden pairs name objects that are not among the 3: 9"),
        (([0], [1]), ([-1], [1]), "unlinked pairs name objects that are not among the 3: -1"),
        (([0, 2], [0, 2]), ([0], [1]), "2 hidden pairs join an object with itself"),
    ],
)
def test_pairs_that_are_none_are_refused(
    hidden: tuple[list[int], list[int]], unlinked: tuple[list[int], list[int]], text: str
) -> None:
    asked = [(np.array(a, np.int64), np.array(b, np.int64)) for a, b in (hidden, unlinked)]
    with pytest.raises(InputError) as caught:
        rank_pairs(np.eye(3), asked[0], asked[1])
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("vectors", [np.zeros(3), np.array([[0.0, np.nan], [1.0, 1.0]])], ids=["flat", "nan"])
def test_vectors_that_are_none_are_refused(vectors: Array) -> None:
    with pytest.raises(InputError, match="expected a row of finite numbers for each object"):
        rank_pairs(vectors, ends((0, 1)), ends((0, 1)))


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
    choice = choose_recommender([Popularity(), ItemKnn(), Watching([])], two_groups())
    assert choice.best == ItemKnn()
    assert {type(made) for made, _, _ in choice.tried} == {ItemKnn, Popularity, Watching}
    recalls = [recall for _, recall, _ in choice.tried]
    assert recalls == sorted(recalls, reverse=True)
    assert repr(choice) == "BestOf(ItemKnn(neighbours=100, shrink=10.0) of 3)"


def test_a_share_of_the_links_to_the_first_items_is_hidden_and_nothing_else() -> None:
    links, shown = two_groups(1), []
    choose_recommender([Watching(shown)], links, items=10, share=0.3, repeats=3)
    assert len(shown) == 3
    inside = links[:, :10].nnz
    for seen in shown:
        assert seen[:, 10:].nnz == links[:, 10:].nnz
        assert inside - seen[:, :10].nnz == round(0.3 * inside)
        assert (links - links.multiply(seen)).min() >= 0
    assert any((shown[0] != other).nnz for other in shown[1:])


def test_a_recommender_with_a_path_is_tried_with_every_setting_on_it() -> None:
    tried = choose_recommender([SoftImpute(rank=2), SoftImpute(rank=2, shrinkage=0.5)], two_groups()).tried
    assert sorted(made.shrinkage or 0 for made, _, _ in tried) == sorted([*SHRINKAGE_PATH, 0.5])


def test_the_same_seed_makes_the_same_choice_and_equals_keep_their_order() -> None:
    one, other = (
        choose_recommender([Popularity(), ItemKnn(shrink=0.0), ItemKnn()], two_groups(), seed=3) for _ in range(2)
    )
    assert one.tried == other.tried
    twins = choose_recommender([ItemKnn(neighbours=300), ItemKnn(neighbours=200)], two_groups())
    assert twins.best == ItemKnn(neighbours=300)


def test_where_there_is_nothing_to_hide_the_first_is_chosen() -> None:
    assert choose_recommender([Popularity(), ItemKnn()], sp.csr_array((3, 3))).best == Popularity()


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="there is no recommender to choose from"):
        choose_recommender([], two_groups())
    with pytest.raises(ParameterError, match="share is 1, expected a share above 0 and below 1"):
        choose_recommender([Popularity()], two_groups(), share=1)
    with pytest.raises(ParameterError, match="repeats is 0, expected a whole number of 1 or more"):
        choose_recommender([Popularity()], two_groups(), repeats=0)
    with pytest.raises(ParameterError, match="items is 25, expected a whole number of 0 to 24"):
        choose_recommender([Popularity()], two_groups(), items=25)
