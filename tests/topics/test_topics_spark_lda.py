"""Spark ML finds planted topics too, behind the same interface and with the same names, bags and labels."""

import json
from typing import Any

import pyarrow as pa
import pytest
from test_topics_lda import THEMES, corpus_of, heaviest, nmi, planted

from cube2net.cube.engines.spark import Spark
from cube2net.errors import ParameterError
from cube2net.model.corpus import NO_TEXT, TERMS, table
from cube2net.model.interfaces import TopicModel
from cube2net.topics.document_terms import make_bags
from cube2net.topics.lda_model import model_of
from cube2net.topics.models import SparkLda, vectors

from sparks import MASTER, needs_spark, session

HERE = Spark(master=MASTER)
__all__ = ["session"]


@needs_spark
def test_planted_topics_are_found_with_unique_names(session: Any) -> None:
    texts, truth = planted(300, seed=1)
    corpus = corpus_of([*texts, None])
    said: list[str] = []
    model = SparkLda(spark=HERE, count=5, groups=2, iterations=10, starts=2)
    topics = model.topics(corpus, seed=0, progress=lambda stage, done, total=None: said.append(stage))
    found = heaviest(topics)
    assert nmi(found[:-1], truth) >= 0.97
    assert topics.names[found[-1]] == NO_TEXT
    assert len(set(topics.names)) == len(topics.names) == 6
    assert set(topics.names) == {*THEMES, NO_TEXT}
    assert "topics: Spark learns" in said
    assert topics.settings["model"] == "spark-lda"
    assert topics.settings["log_likelihood"] < 0
    json.dumps(dict(topics.settings))
    assert topics.model is not None
    assert len(model_of(topics.model).names) == 5
    assert session.sparkContext._jsc.getPersistentRDDs().isEmpty()


@needs_spark
def test_the_same_seed_gives_the_same_topics(session: Any) -> None:
    texts, _ = planted(80, seed=2)
    corpus = corpus_of(texts)
    one, again = (SparkLda(spark=HERE, count=5, iterations=3, share=0.5, starts=1).topics(corpus, seed=3) for _ in "ab")
    assert again.names == one.names
    assert again.assigned.equals(one.assigned)
    assert again.words.equals(one.words)


def test_one_topic_or_none_needs_no_learning() -> None:
    one = SparkLda(spark=HERE).topics(corpus_of(["a parser for treebanks", None]), seed=0)
    assert len(one.names) == 2
    assert heaviest(one) == [0, 1]
    assert SparkLda(spark=HERE).topics(corpus_of([None]), seed=0).names == (NO_TEXT,)


def test_bags_become_the_columns_of_vectors() -> None:
    given = table(
        TERMS, item=pa.array([0, 0, 2], pa.int32()), term=["b", "a", "b"], count=pa.array([3, 1, 2], pa.int32())
    )
    rows = vectors(make_bags(given, 3))["features"].to_pylist()
    assert rows == [
        {"type": 0, "size": 2, "indices": [0, 1], "values": [1.0, 3.0]},
        {"type": 0, "size": 2, "indices": [1], "values": [2.0]},
    ]


def test_it_fits_the_interface() -> None:
    assert isinstance(SparkLda(spark=HERE), TopicModel)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"spark": "local[1]"}, "spark is 'local[1]', expected an engine such as Spark(master='local[*]')"),
        ({"share": 0}, "share is 0, expected a share above 0 and up to 1, or None"),
        ({"starts": 0}, "starts is 0, expected a whole number of 1 or more"),
        ({"count": 0}, "count is 0, expected 1 or more"),
        ({"alpha": 0}, "alpha is 0, expected a number above 0"),
    ],
)
def test_a_parameter_out_of_range_is_refused(option: dict, text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        SparkLda(**{"spark": HERE, **option})
    assert str(caught.value) == text
