from __future__ import annotations

import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from cube2net.errors import InputError, ParameterError
from cube2net.mine.cluster_metrics import nmi
from cube2net.mine.kmeans import Clusters, KMeans
from cube2net.threads import one_thread


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

    def spread(found: Clusters) -> float:
        groups = [rows[found.labels == label] for label in set(found.labels.tolist())]
        return sum(float(((group - group.mean(axis=0)) ** 2).sum()) for group in groups)

    for seed in range(3):
        few, many = (spread(KMeans(restarts=restarts).cluster(rows, 8, seed=seed)) for restarts in (1, 10))
        assert many <= few + 1e-9


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
