"""Names, groups, bags and topics that the data already has."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import ParameterError
from cube2net.model.corpus import MENTIONS, OBJECTS, Corpus, table
from cube2net.topics.document_terms import compute_term_weights, make_bags, weight_counts
from cube2net.topics.lda_model import find_top_terms, group_topics, name_topics
from cube2net.topics.models import Given


def test_a_phrase_names_a_topic_rather_than_its_heavier_word() -> None:
    vocabulary = ["parser", "experiment", "dependency parsing", "dependency", "speech", "speech recognition"]
    of_term = np.array([[90, 2], [80, 90], [40, 0], [30, 1], [1, 90], [0, 30]], dtype=np.float32)
    assert name_topics(of_term, vocabulary) == ("dependency parsing", "speech recognition")


def test_small_words_of_any_language_and_general_words_name_no_topic() -> None:
    vocabulary = ["de la", "vampire", "country", "ghost"]
    of_term = np.array([[90, 1], [9, 1], [1, 90], [1, 9]], dtype=np.float32)
    assert name_topics(of_term, vocabulary) == ("vampire", "ghost")


def test_two_topics_that_want_one_name_get_two() -> None:
    vocabulary = ["machine translation", "neural machine translation", "translation"]
    of_term = np.array([[50, 49], [5, 20], [9, 9]], dtype=np.float32)
    assert name_topics(of_term, vocabulary) == ("machine translation", "neural machine translation")


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 30))
def test_names_are_always_different_terms(seed: int, topics: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    vocabulary = [f"w{i}" if i % 2 else f"w{i} w{i - 1}" for i in range(topics + more)]
    of_term = rng.poisson(2, (len(vocabulary), topics)).astype(np.float32)
    names = name_topics(of_term, vocabulary)
    assert len(set(names)) == topics
    assert set(names) <= set(vocabulary)


def test_top_terms_are_the_heaviest_and_ties_go_by_the_vocabulary() -> None:
    of_term = np.array([[1, 5], [3, 5], [2, 0]], dtype=np.float32)
    assert find_top_terms(of_term, 2).tolist() == [[1, 2], [0, 1]]


def test_groups_join_topics_that_share_terms_and_take_the_heaviest_name() -> None:
    probability = np.array([[0.6, 0.5, 0, 0], [0.4, 0.5, 0, 0.1], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.4]])
    names = ("parsing", "grammar", "speech", "audio")
    assert group_topics(probability, names, np.array([1.0, 2.0, 5.0, 4.0]), 2) == (
        "grammar",
        "grammar",
        "speech",
        "speech",
    )
    assert group_topics(probability, names, np.ones(4), 9) == names
    assert set(group_topics(probability, names, np.ones(4), 1)) == {"parsing"}
    with pytest.raises(ParameterError, match="groups is 0, expected 1 or more"):
        group_topics(probability, names, np.ones(4), 0)


def test_bags_add_up_repeated_rows_and_drop_what_is_not_known() -> None:
    rows = pa.table({"item": [1, 1, 3, 3, 3], "term": ["b", "b", "a", None, "c"], "count": [1, 2, 1, 5, 0]})
    bags = make_bags(rows, 4)
    assert bags.vocabulary == ("a", "b")
    assert bags.rows.tolist() == [1, 3]
    assert bags.counts.tolist() == [3, 1]
    assert bags.apart == {0: "no text", 2: "no text"}
    only_b = make_bags(rows, 4, ["b", "z"])
    assert only_b.rows.tolist() == [1]
    assert only_b.apart == {0: "no text", 2: "no text", 3: "no text"}


def test_an_english_item_about_french_text_is_not_set_aside() -> None:
    rows = pa.table({"item": [0, 0, 1], "term": ["french text", "corpus", "french text"], "count": [1, 1, 1]})
    bags = make_bags(rows, 2)
    assert bags.rows.tolist() == [0]
    assert "french text" in bags.vocabulary


def test_bags_taken_are_the_bags_they_were() -> None:
    rows = pa.table({"item": [0, 1, 1, 2], "term": ["a", "b", "c", "d"], "count": [1, 2, 3, 4]})
    part = make_bags(rows, 3).take(np.array([1, 2]))
    assert part.rows.tolist() == [1, 2]
    assert part.starts.tolist() == [0, 2, 3]
    assert part.terms.tolist() == [1, 2, 3]
    assert part.counts.tolist() == [2, 3, 4]


def test_common_terms_and_repeats_count_less() -> None:
    items = [*range(300), 0]
    rows = pa.table({"item": items, "term": ["common"] * 300 + ["rare"], "count": [1] * 300 + [3]})
    bags = make_bags(rows, 300)
    assert compute_term_weights(bags).tolist() == pytest.approx([0.1, 1.0])
    assert weight_counts(bags, compute_term_weights(bags)).counts[:2].tolist() == pytest.approx([0.1, 1.0 + np.log(3)])


def test_repeats_weigh_the_same_on_every_processor() -> None:
    counts = list(range(1, 400))
    bags = make_bags(pa.table({"item": [0] * 399, "term": list(map(str, counts)), "count": counts}), 1)
    weighted = weight_counts(bags, np.ones(399, dtype=np.float32)).counts
    rounded = [np.float32(1) + np.float32(math.log(count)) for count in bags.counts.tolist()]
    assert weighted.tolist() == list(map(float, rounded))


def corpus(**columns: pa.Array) -> Corpus:
    size = len(next(iter(columns.values())))
    items = pa.table({"item": [f"i{i}" for i in range(size)], **columns})
    return Corpus(objects=table(OBJECTS), items=items, mentions=table(MENTIONS))


def test_given_topics_are_used_as_they_are() -> None:
    topics = Given(attribute="area").topics(corpus(area=pa.array(["speech", "parsing", None, "speech", " "])), seed=0)
    assert topics.names == ("parsing", "speech", "no text")
    assert topics.assigned.to_pylist() == [
        {"item": 0, "topic": 1, "weight": 1.0},
        {"item": 1, "topic": 0, "weight": 1.0},
        {"item": 2, "topic": 2, "weight": 1.0},
        {"item": 3, "topic": 1, "weight": 1.0},
        {"item": 4, "topic": 2, "weight": 1.0},
    ]
    assert topics.settings == {"model": "given", "attribute": "area"}


def test_given_lists_share_the_weight_and_repeats_count_once() -> None:
    lists = pa.array([["b", "a"], [], None, ["a", "a"]], pa.list_(pa.string()))
    topics = Given(attribute="keywords").topics(corpus(keywords=lists), seed=0)
    rows = [(row["item"], topics.names[row["topic"]], row["weight"]) for row in topics.assigned.to_pylist()]
    assert rows == [(0, "a", 0.5), (0, "b", 0.5), (1, "no text", 1.0), (2, "no text", 1.0), (3, "a", 1.0)]


def test_a_given_attribute_that_is_not_there_is_refused() -> None:
    with pytest.raises(ParameterError) as caught:
        Given(attribute="aera").topics(corpus(area=pa.array(["x"])), seed=0)
    assert str(caught.value) == "the items have no attribute 'aera': choose one of area"
