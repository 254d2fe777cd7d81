"""Clusters of vectors, and how well they agree with the true ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from cube2net._util.progress import one_thread
from cube2net.errors import InputError, ParameterError
from cube2net.mining.clustering import (
    AGREEMENT,
    METRICS,
    KMeans,
    _compute_centres,
    _run_k_means,
    f1,
    jaccard_index,
    nmi,
)


def blobs(seed: int, sizes: tuple[int, ...] = (30, 20, 25), apart: float = 10.0) -> tuple[np.ndarray, list[int]]:
    rng = np.random.default_rng(seed)
    truth = [label for label, size in enumerate(sizes) for _ in range(size)]
    centres = apart * rng.standard_normal((len(sizes), 5))
    return centres[truth] + rng.standard_normal((len(truth), 5)), truth


def test_planted_clusters_are_found() -> None:
    rows, truth = blobs(0)
    assert nmi(KMeans().cluster(rows, 3, seed=0).labels, truth) == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_clusters_with_one_thread_or_many() -> None:
    rows, _ = blobs(1, (300, 300, 300), apart=1.0)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads):
            found.append(KMeans(restarts=3).cluster(rows, 7, seed=5).labels.tolist())
    assert found[0] == found[1] == found[2]
    assert found[0] != KMeans(restarts=3).cluster(rows, 7, seed=6).labels.tolist()
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_more_restarts_are_never_worse() -> None:
    rows, _ = blobs(2, (15,) * 8, apart=2.0)

    for seed in range(3):
        few, many = (inertia(rows, KMeans(restarts=n).cluster(rows, 8, seed=seed).labels) for n in (1, 10))
        assert many <= few + 1e-9


def inertia(rows: np.ndarray, labels: np.ndarray) -> float:
    groups = [rows[labels == label] for label in np.unique(labels)]
    return sum(float(((group - group.mean(axis=0)) ** 2).sum()) for group in groups)


def test_clusters_are_those_of_scikit_learn_from_the_same_seed() -> None:
    for seed in range(20):
        rows, _ = blobs(seed, (30, 20, 25, 40)[: 1 + seed % 4], apart=1.0)
        count = 1 + seed % 7
        peer = PeerKMeans(count, n_init=10, random_state=seed).fit(rows)
        labels, centres = _run_k_means(rows, count, 10, np.random.RandomState(seed))
        assert labels.tolist() == peer.labels_.tolist()
        assert np.allclose(centres, peer.cluster_centers_)


def test_an_empty_cluster_takes_the_row_farthest_from_its_centre() -> None:
    rows = np.array([[0.0], [1.0], [7.0]])
    centres = np.array([[0.0], [99.0]])
    assert _compute_centres(rows, np.array([0, 0, 0]), centres).tolist() == [[0.5], [7.0]]


def test_objects_without_a_vector_join_the_cluster_nearest_to_zero_and_are_counted() -> None:
    rows = np.array([[1.0, 0.0], [1.1, 0.0], [0.0, 9.0], [0.0, 9.1], [0.0, 0.0], [0.0, 0.0]])
    found = KMeans().cluster(rows, 2, seed=0)
    assert found.isolated.tolist() == [4, 5]
    assert found.alone == 2
    assert found.labels[4] == found.labels[5] == found.labels[0] == found.labels[1] != found.labels[2]
    assert repr(found) == "Clusters(6 objects, 2 clusters, 2 isolated)"


def test_objects_without_a_vector_may_have_a_cluster_of_their_own_beyond_those_asked_for() -> None:
    rows, truth = blobs(3)
    rows = np.concatenate([rows, np.zeros((4, 5))])
    found = KMeans(isolated="own").cluster(rows, 3, seed=0)
    assert nmi(found.labels, [*truth, 9, 9, 9, 9]) == pytest.approx(1.0)
    assert found.labels[-4:].tolist() == [3] * 4


def test_objects_without_a_vector_cost_the_others_no_cluster() -> None:
    rows, _ = blobs(4)
    alone = KMeans().cluster(rows, 3, seed=0)
    beside = KMeans().cluster(np.concatenate([np.zeros((50, 5)), rows]), 3, seed=0)
    assert beside.labels[50:].tolist() == alone.labels.tolist()
    assert len(beside) == 125


def test_where_nobody_has_a_vector_there_is_one_cluster() -> None:
    found = KMeans().cluster(np.zeros((3, 2)), 2, seed=0)
    assert (found.labels.tolist(), found.alone) == ([0, 0, 0], 3)
    assert len(KMeans().cluster(np.zeros((0, 2)), 2, seed=0)) == 0


def test_fewer_different_vectors_than_clusters_give_fewer_clusters_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = KMeans().cluster(np.array([[1.0], [1.0], [2.0]]), 5, seed=0)
    assert len(set(found.labels.tolist())) == 2


def test_unit_vectors_are_told_apart_by_direction_only() -> None:
    rows = np.array([[1.0, 0.0], [90.0, 1.0], [0.0, 1.0], [1.0, 90.0]])
    labels = KMeans(unit=True).cluster(rows, 2, seed=0).labels.tolist()
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert np.asarray(KMeans(unit=True).cluster(rows, 2, seed=0)).tolist() == labels


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_vectors_of_any_finite_size_are_clustered(size: float, unit: bool) -> None:
    rows = size * np.array([[1.0, 1.0], [1.0, 1.1], [-1.0, 9.0], [-1.0, 9.1]])
    labels = KMeans(unit=unit).cluster(rows, 2, seed=0).labels
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_bad_parameters_and_vectors_are_refused() -> None:
    with pytest.raises(ParameterError, match="restarts is 0, expected a whole number of 1 or more"):
        KMeans(restarts=0)
    with pytest.raises(ParameterError, match="unknown isolated 'apart': choose one of nearest, own"):
        KMeans(isolated="apart")
    with pytest.raises(ParameterError, match="count is 0, expected 1 or more clusters"):
        KMeans().cluster(np.ones((2, 2)), 0, seed=0)
    with pytest.raises(InputError, match=r"vectors have shape \(3,\), expected objects × columns"):
        KMeans().cluster(np.ones(3), 2, seed=0)
    with pytest.raises(InputError, match="1 vectors are not finite"):
        KMeans().cluster(np.array([[1.0], [np.nan]]), 2, seed=0)


def test_the_limit_of_threads_is_lifted_when_the_last_user_is_gone() -> None:
    from threadpoolctl import threadpool_info

    def threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info()}

    with threadpool_limits(limits=2):
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {2}


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=25)
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def groups(labels: list[int]) -> list[set[int]]:
    return [{place for place, own in enumerate(labels) if own == label} for label in sorted(set(labels))]


def slow_f1(found: list[int], truth: list[int]) -> float:
    total = 0.0
    for c in groups(found):
        scores = []
        for t in groups(truth):
            precision, recall = len(c & t) / len(c), len(c & t) / len(t)
            scores.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
        total += len(c) / len(found) * max(scores)
    return total


def slow_jaccard(found: list[int], truth: list[int]) -> float:
    def half(own: list[set[int]], others: list[set[int]]) -> float:
        return sum(max(len(a & b) / len(a | b) for b in others) for a in own) / len(own) / 2

    return half(groups(found), groups(truth)) + half(groups(truth), groups(found))


@given(PAIRS)
def test_scores_are_those_of_their_definitions_written_out(pairs: list[tuple[int, int]]) -> None:
    found, truth = [list(part) for part in zip(*pairs, strict=True)]
    assert f1(found, truth) == pytest.approx(slow_f1(found, truth))
    assert jaccard_index(found, truth) == pytest.approx(slow_jaccard(found, truth))
    assert nmi(found, truth) == pytest.approx(normalized_mutual_info_score(truth, found), abs=1e-9)


@every_metric
@given(pairs=PAIRS, shift=st.permutations(range(5)))
def test_renaming_clusters_or_shuffling_objects_changes_no_score(
    metric: Callable[..., float], pairs: list[tuple[int, int]], shift: list[int]
) -> None:
    found, truth = [list(part) for part in zip(*pairs, strict=True)]
    score = metric(found, truth)
    assert metric([f"c{shift[label]}" for label in found], np.array(truth) * 7 - 3) == pytest.approx(score)
    assert metric(found[::-1], truth[::-1]) == pytest.approx(score)
    assert 0 <= score <= 1


@every_metric
@given(labels=st.lists(st.integers(0, 4), min_size=1, max_size=20))
def test_equal_partitions_score_one(metric: Callable[..., float], labels: list[int]) -> None:
    assert metric(labels, [f"t{label}" for label in labels]) == pytest.approx(1.0)


def test_scores_by_hand() -> None:
    found, truth = [0, 0, 0, 1, 1, 1], ["a", "a", "b", "b", "b", "b"]
    # c0 = {0, 1, 2}: with a (2 shared) 4/5, with b (1 shared) 2/7; c1 = {3, 4, 5}: with b (3 shared) 6/7
    assert f1(found, truth) == pytest.approx((4 / 5 + 6 / 7) / 2)
    assert f1(truth, found) == pytest.approx(2 / 6 * 4 / 5 + 4 / 6 * 6 / 7)
    # J: c0 with a 2/3, c1 with b 3/4, and the same from the other side
    assert jaccard_index(found, truth) == pytest.approx((2 / 3 + 3 / 4) / 2)
    half, third = math.log(2), -(math.log(1 / 3) / 3 + 2 * math.log(2 / 3) / 3)
    joint = -(2 / 6 * math.log(2 / 6) + 1 / 6 * math.log(1 / 6) + 3 / 6 * math.log(3 / 6))
    assert nmi(found, truth) == pytest.approx(2 * (half + third - joint) / (half + third))


def test_scores_bear_the_names_of_the_tables_scores_and_are_theirs() -> None:
    assert list(METRICS) == list(AGREEMENT)
    shared = np.array([[2.0, 1.0], [0.0, 3.0]])
    for name, score in METRICS.items():
        assert score([0, 0, 0, 1, 1, 1], ["a", "a", "b", "b", "b", "b"]) == float(AGREEMENT[name](shared))


def test_one_cluster_tells_nothing_of_two_and_everything_of_one() -> None:
    assert nmi([0, 0, 0, 0], [0, 0, 1, 1]) == 0.0
    assert nmi([0, 0], ["a", "a"]) == 1.0
    assert f1([0, 0, 0, 0], [0, 0, 1, 1]) == pytest.approx(2 / 3)


@every_metric
def test_labels_that_cannot_be_scored_are_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(InputError, match="3 objects have a found label and 2 a true one, expected the same objects"):
        metric([0, 0, 1], [0, 1])
    with pytest.raises(InputError, match="there are no objects to score: give one label for each object"):
        metric([], [])
    with pytest.raises(InputError, match=r"labels have shape \(2, 1\), expected one label for each object"):
        metric(np.zeros((2, 1)), [0, 1])
    with pytest.raises(InputError, match="an object has several labels, expected one: give one label for each object"):
        metric([0, 1], [["a"], ["a", "b"]])
