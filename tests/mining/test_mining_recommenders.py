"""Recommenders keep their promises, and agree with independent solutions."""

import dataclasses
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from cube2net.errors import InputError, ParameterError
from cube2net.mining.link_prediction import rank_links
from cube2net.mining.recommenders import RECOMMENDERS, TUNING_CHOICES, Als, Ease, ItemKnn, SoftImpute
from cube2net.model.interfaces import Fitted, Recommender

every_one = pytest.mark.parametrize("name", RECOMMENDERS)
every_personal_one = pytest.mark.parametrize("name", [name for name in RECOMMENDERS if name != "popularity"])
QUICK: dict[str, dict[str, object]] = {"als": {"rank": 8, "rounds": 5}, "softimpute": {"rank": 8}}


def make(name: str) -> Recommender:
    return RECOMMENDERS[name](**QUICK.get(name, {}))


@cache
def planted(seed: int = 0, groups: int = 4) -> tuple[sp.csr_array, sp.csr_array]:
    """Return known and hidden links of users who like the items of their group, popular ones most."""
    rng = np.random.default_rng(seed)
    user, item = np.repeat(np.arange(groups), 40), np.tile(np.arange(groups), 15)
    likes = np.where(user[:, None] == item, 0.45, 0.04) * np.linspace(1.3, 0.4, len(item))
    linked = rng.random(likes.shape) < likes
    hide = linked & (rng.random(likes.shape) < 0.25)
    return sp.csr_array((linked & ~hide).astype(float)), sp.csr_array(hide.astype(float))


def scores(fitted: Fitted, users: int) -> np.ndarray:
    return fitted.scores(np.arange(users))


@every_one
def test_a_recommender_is_a_frozen_record_of_its_parameters(name: str) -> None:
    recommender = make(name)
    assert isinstance(recommender, Recommender)
    assert dataclasses.is_dataclass(recommender)
    with pytest.raises(dataclasses.FrozenInstanceError):
        recommender.anything = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        RECOMMENDERS[name](1)  # type: ignore[call-arg]


@every_personal_one
def test_where_groups_are_planted_every_recommender_beats_what_is_popular(name: str) -> None:
    known, hidden = planted()
    floor = rank_links(make("popularity").fit(known), known, hidden).means()
    found = rank_links(make(name).fit(known, seed=0), known, hidden).means()
    for score in ("P@5", "R@10", "AUC"):
        assert found[score] > 1.25 * floor[score], score


def test_links_alone_tell_soft_impute_only_what_is_popular_and_a_few_zeros_tell_it_the_groups() -> None:
    known, hidden = planted()
    floor, textbook, better = (
        rank_links(made.fit(known, seed=0), known, hidden).means()["P@5"]
        for made in (make("popularity"), SoftImpute(rank=8, zeros=0.0), SoftImpute(rank=8, zeros=1.0))
    )
    assert textbook < 1.25 * floor < 2.5 * floor < better


@every_one
def test_the_same_seed_gives_the_same_scores_with_one_thread_or_many(name: str) -> None:
    known, _ = planted(1)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    found = []
    for threads in (1, 3):
        with threadpool_limits(limits=threads):
            found.append(scores(make(name).fit(known, seed=3), 160))
    assert np.array_equal(*found)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@every_one
def test_scores_come_for_any_users_in_the_order_asked_for(name: str) -> None:
    known, _ = planted()
    fitted = make(name).fit(known, seed=0)
    rows = np.array([7, 0, 7, 159])
    np.testing.assert_allclose(fitted.scores(rows), scores(fitted, 160)[rows])
    assert fitted.scores(rows[:0]).shape == (0, 60)


@every_one
def test_users_without_links_get_what_is_popular_and_items_without_links_come_last(name: str) -> None:
    known, _ = planted()
    rows, columns = known.tocoo().coords
    wide = sp.csr_array((np.ones(known.nnz), (rows + 1, columns)), shape=(162, 62))
    found = scores(make(name).fit(wide, seed=0), 162)
    popular = np.bincount(columns, minlength=62)
    for user in (0, 161):
        assert found[user].tolist() == popular.tolist()
    assert np.isfinite(found).all()
    assert (found[1:161, 60:] <= np.median(found[1:161], axis=1)[:, None]).all()


@every_personal_one
def test_without_the_floor_users_without_links_get_no_order_and_others_nearly_the_same(name: str) -> None:
    known, _ = planted()
    wide = sp.csr_array(sp.vstack([known, sp.csr_array((1, 60))]))
    fitted = make(name).fit(wide, seed=0)
    floor = dataclasses.replace(fitted.floor, popular=np.zeros_like(fitted.floor.popular))
    floored, bare = (scores(fit, 161) for fit in (fitted, dataclasses.replace(fitted, floor=floor)))
    assert len(set(bare[160].tolist())) == 1
    assert len(set(floored[160].tolist())) > 1
    np.testing.assert_allclose(bare[:160], floored[:160], atol=2e-6 * np.abs(floored[:160]).max())


@every_one
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (2, 0), (0, 2)])
def test_a_matrix_without_links_says_nothing(name: str, shape: tuple[int, int]) -> None:
    fitted = make(name).fit(sp.csr_array(shape), seed=0)
    assert np.array_equal(scores(fitted, shape[0]), np.zeros(shape))


@every_one
def test_learning_leaves_the_links_as_they_are(name: str) -> None:
    known, _ = planted()
    copy = known.copy()
    make(name).fit(known, seed=0)
    assert (known != copy).nnz == 0


@every_one
def test_what_is_no_matrix_of_links_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="links are a sparse matrix of users × items, got list"):
        make(name).fit([[1.0]])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 links have a weight that is not finite"):
        make(name).fit(sp.csr_array(np.array([[1.0, np.nan]])))


def test_each_recommender_has_settings_to_try_and_its_defaults_are_of_its_kind() -> None:
    assert list(TUNING_CHOICES) == list(RECOMMENDERS)
    for name, tried in TUNING_CHOICES.items():
        assert all(type(made) is RECOMMENDERS[name] for made in tried)
        assert len(set(tried)) == len(tried)


@pytest.mark.parametrize(
    ("name", "bad", "text"),
    [
        ("itemknn", {"neighbours": 0}, "neighbours is 0, expected 1 or more items"),
        ("itemknn", {"shrink": -1.0}, "shrink is -1.0, expected a number of 0 or more"),
        ("als", {"rank": 0}, "rank is 0, expected a whole number of 1 or more"),
        ("als", {"confidence": 0.0}, "confidence is 0.0, expected a number above 0"),
        ("ease", {"ridge": 0.0}, "ridge is 0.0, expected a number above 0"),
        ("ease", {"most": 0}, "most is 0, expected a whole number of 1 or more"),
        ("softimpute", {"shrinkage": 1.0}, "shrinkage is 1.0, expected a share above 0 and below 1, or None to have"),
        ("softimpute", {"centring": "user"}, "unknown centring 'user': choose one of both, items, mean, none"),
        ("softimpute", {"values": "stars"}, "unknown values 'stars': choose one of given, ones"),
        ("softimpute", {"zeros": -1.0}, "zeros is -1.0, expected a number of 0 or more"),
    ],
)
def test_bad_parameters_are_refused(name: str, bad: dict[str, float], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        RECOMMENDERS[name](**bad)


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
