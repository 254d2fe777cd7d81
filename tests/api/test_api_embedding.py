"""The transformer that embeds the objects of a query by a network around them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import SkipTestWarning
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

import cube2net as c2n
from cube2net.errors import ParameterError, QueryError
from cube2net.model.cube import Cube

OPTIONS = c2n.NetworkOptions(n_neighbors=0)


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build(c2n.make_planted(objects=60, communities=3, seed=0).corpus)


def test_rows_come_in_the_order_in_which_objects_are_given(cube: Cube) -> None:
    names = cube.objects.ids(np.array([5, 2, 9])).to_pylist()
    embedding = c2n.CubeEmbedding(cube, OPTIONS)
    there = embedding.fit_transform(names)
    assert there.shape == (3, embedding.embedding_.shape[1])
    assert np.array_equal(embedding.transform(names[::-1]), there[::-1])
    assert np.array_equal(embedding.transform(cube.query(names)), there[[1, 0, 2]])


def test_it_stands_in_a_pipeline_and_is_cloned(cube: Cube) -> None:
    names = cube.objects.ids(np.arange(6)).to_pylist()
    pipeline = make_pipeline(c2n.CubeEmbedding(cube, OPTIONS, seed=3), PCA(2))
    assert pipeline.fit_transform(names).shape == (6, 2)
    assert pipeline[0].get_feature_names_out()[:2].tolist() == ["cubeembedding0", "cubeembedding1"]
    copied = clone(pipeline.named_steps["cubeembedding"])
    assert repr(copied) == repr(pipeline.named_steps["cubeembedding"]) and not hasattr(copied, "embedding_")
    assert pipeline.set_params(cubeembedding__seed=4).get_params()["cubeembedding__seed"] == 4


def test_what_cannot_be_embedded_is_refused(cube: Cube) -> None:
    embedding = c2n.CubeEmbedding(cube, OPTIONS)
    with pytest.raises(ParameterError, match=r"^the embedding was not fitted: call fit\(query\) first$"):
        embedding.transform(["o1"])
    first, other = cube.objects.ids(np.array([0, 1])).to_pylist()
    with pytest.raises(QueryError, match="the fitted network does not have 1 object of the query"):
        c2n.CubeEmbedding(cube, c2n.NetworkOptions(method="none")).fit([first]).transform([other])
    with pytest.raises(ParameterError, match="CubeEmbedding has no parameter 'sed'"):
        embedding.set_params(sed=1)
    with pytest.raises(ParameterError, match=r"^CubeEmbedding has no parameter 'random_state' \(did you mean 'seed'"):
        c2n.CubeEmbedding(cube, random_state=1)  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match=r"^CubeEmbedding needs cube: call CubeEmbedding\(cube\)$"):
        c2n.CubeEmbedding()  # type: ignore[call-arg]


def test_it_passes_the_checks_of_scikit_learn_that_do_not_hand_it_numbers(cube: Cube) -> None:
    embedding = c2n.CubeEmbedding(cube, OPTIONS)
    with pytest.warns(SkipTestWarning, match="requires input"):  # the others call fit(X) with a matrix
        estimator_checks.check_estimator(embedding)
    for check in (
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_valid_tag_types,
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    ):
        check("CubeEmbedding", embedding)


def test_vectors_are_a_frame_if_the_output_is_set() -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    embedding, names = c2n.CubeEmbedding(c2n.build(planted.corpus)), pd.Series(planted.query(0), index=range(5, 55))
    vectors = embedding.fit_transform(names)
    pipeline = make_pipeline(embedding).set_output(transform="pandas")
    frame = clone(pipeline).fit_transform(names)
    assert list(frame.columns) == list(embedding.get_feature_names_out()) and frame.index.equals(names.index)
    assert np.array_equal(frame.to_numpy(), vectors)
    assert np.array_equal(embedding.set_output(transform="polars").transform(list(names)).to_numpy(), vectors)
    assert np.array_equal(embedding.set_output(transform="default").transform(names), vectors)
    with pytest.raises(c2n.Cube2netError, match="unknown output 'panda'.*did you mean 'pandas'"):
        embedding.set_output(transform="panda")
