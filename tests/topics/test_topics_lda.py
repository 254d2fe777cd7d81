"""Planted topics are found, no item is lost, and the same seed gives the same topics."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import MENTIONS, NO_TEXT, OBJECTS, TERMS, Corpus, Topics, table
from cube2net.model.interfaces import TopicModel
from cube2net.topics.lda import Lda
from cube2net.topics.lda_model import LdaModel, open_model
from cube2net.topics.models import TOPIC_MODELS

THEMES = {
    "machine translation": "translator bilingual alignment corpus source target decoder sentence fluency",
    "dependency parsing": "parser treebank grammar syntax head arc tree projective transition",
    "speech recognition": "acoustic phoneme audio speaker voice microphone signal transcript noise",
    "sentiment analysis": "opinion polarity review positive negative product emotion sarcasm star",
    "named entity": "person location organisation gazetteer span mention name newswire boundary",
}


def corpus_of(texts: list[str | None], terms: pa.Table | None = None) -> Corpus:
    items = pa.table(
        {"item": pa.array([f"i{i}" for i in range(len(texts))], pa.string()), "text": pa.array(texts, pa.string())}
    )
    return Corpus(objects=table(OBJECTS), items=items, mentions=table(MENTIONS), terms=terms)


def planted(count: int, seed: int = 0) -> tuple[list[str | None], list[int]]:
    """Return texts of one theme each, with a few words of others, and the theme of each."""
    rng = np.random.default_rng(seed)
    themes = list(THEMES.items())
    texts: list[str | None] = []
    truth = []
    for _ in range(count):
        theme = int(rng.integers(len(themes)))
        phrase, words = themes[theme]
        chosen = [*rng.choice(words.split(), size=12), *[phrase] * 2]
        chosen += list(rng.choice(themes[int(rng.integers(len(themes)))][1].split(), size=2))
        rng.shuffle(chosen)
        texts.append(", ".join(chosen))
        truth.append(theme)
    return texts, truth


def nmi(one: list[int], other: list[int]) -> float:
    """Return the normalised mutual information of two labellings, by their arithmetic mean."""
    size = len(one)
    a, b, both = Counter(one), Counter(other), Counter(zip(one, other, strict=True))
    mutual = sum(n / size * math.log(n * size / (a[x] * b[y])) for (x, y), n in both.items())
    entropy = [-sum(n / size * math.log(n / size) for n in part.values()) for part in (a, b)]
    return 2 * mutual / sum(entropy)


def heaviest(topics: Topics) -> list[int]:
    assert topics.assigned["item"].to_pylist() == list(range(topics.assigned.num_rows))
    return list(topics.assigned["topic"].to_pylist())


@pytest.fixture(scope="module")
def found() -> tuple[Topics, list[int], LdaModel, list[str | None]]:
    texts, truth = planted(600)
    model = Lda(count=5, groups=2).fit(corpus_of(texts), seed=0)
    return Lda(count=5, groups=2).topics(corpus_of(texts), seed=0), truth, model, texts


def test_planted_topics_are_recovered(found: tuple[Topics, list[int], LdaModel, list[str | None]]) -> None:
    topics, truth, _, _ = found
    assert nmi(heaviest(topics), truth) >= 0.9


def test_names_are_the_planted_phrases_and_unique(found: tuple[Topics, list[int], LdaModel, list[str | None]]) -> None:
    topics = found[0]
    assert sorted(topics.names) == sorted(THEMES)


def test_the_heaviest_words_come_first_with_their_weights(
    found: tuple[Topics, list[int], LdaModel, list[str | None]],
) -> None:
    topics = found[0]
    for number, name in enumerate(topics.names):
        rows = [row for row in topics.words.to_pylist() if row["topic"] == number]
        weights = [row["weight"] for row in rows]
        assert weights == sorted(weights, reverse=True)
        assert 0 < sum(weights) <= 1.0001
        assert {row["term"] for row in rows[:5]} <= {name, *THEMES[name].split(), *name.split()}


def test_groups_give_every_topic_a_parent_among_the_topics(
    found: tuple[Topics, list[int], LdaModel, list[str | None]],
) -> None:
    topics = found[0]
    assert topics.parents is not None
    assert len(set(topics.parents)) == 2
    assert set(topics.parents) <= set(topics.names)


def test_the_settings_say_how_to_do_it_again(found: tuple[Topics, list[int], LdaModel, list[str | None]]) -> None:
    settings = found[0].settings
    assert settings["model"] == "lda"
    assert settings["seed"] == 0
    assert settings["count"] == 5
    assert settings["workers"] == 1
    assert settings["mode"] == "exact: the same for any number of workers"
    assert 1 <= settings["iterations"] <= 60
    assert -10 < settings["log_likelihood"] < 0
    assert settings["other_languages"] == "set aside: not English, under their own names"
    json.dumps(dict(settings))


def test_the_same_seed_gives_the_same_topics_for_any_number_of_workers() -> None:
    texts, _ = planted(3000, seed=1)
    corpus = corpus_of(texts)
    one, same, three = (Lda(count=6, workers=workers, iterations=8).topics(corpus, seed=4) for workers in (1, 1, 3))
    other = Lda(count=6, iterations=8).topics(corpus, seed=5)
    for again in (same, three):
        assert again.names == one.names
        assert again.assigned.equals(one.assigned)
        assert again.words.equals(one.words)
    assert not other.words.equals(one.words)


def test_a_sample_is_enough_to_find_the_topics() -> None:
    texts, truth = planted(2000, seed=2)
    topics = Lda(count=5, sample=400).topics(corpus_of(texts), seed=0)
    assert topics.settings["sample"] == 400
    assert nmi(heaviest(topics), truth) >= 0.9


def test_items_without_text_keep_their_rows() -> None:
    texts, truth = planted(300, seed=3)
    full = heaviest(Lda(count=5).topics(corpus_of(texts), seed=0))
    holes = {0, 7, 8, 150, 299}
    spoiled = [None if i in holes and i % 2 else ("" if i in holes else text) for i, text in enumerate(texts)]
    topics = Lda(count=5).topics(corpus_of(spoiled), seed=0)
    named = [topics.names[topic] for topic in heaviest(topics)]
    assert {i for i, name in enumerate(named) if name == NO_TEXT} == holes
    kept = [i for i in range(300) if i not in holes]
    assert nmi([heaviest(topics)[i] for i in kept], [truth[i] for i in kept]) >= 0.9
    assert nmi([heaviest(topics)[i] for i in kept], [full[i] for i in kept]) >= 0.9


def test_other_languages_are_set_aside_under_their_names() -> None:
    texts, _ = planted(200, seed=4)
    french = "Dans cet article, nous présentons une étude des mots et de leur sens dans les textes."
    german = "In diesem Beitrag wird gezeigt, dass die Methode nicht von der Sprache abhängt."
    english = [f"{text} and this is the text that we have" for text in texts]
    topics = Lda(count=5, groups=2).topics(corpus_of([*english, *[french] * 12, german]), seed=0)
    named = [topics.names[topic] for topic in heaviest(topics)]
    assert named[200:] == ["French text"] * 12 + ["other language text"]
    assert not set(named[:200]) & {"French text", "other language text"}
    assert topics.parents is not None
    assert topics.parents[-2:] == ("French text", "other language text")


def test_several_labels_are_heavy_ones_and_the_heaviest_comes_first() -> None:
    themes = list(THEMES.values())
    texts: list[str | None] = [f"{themes[i % 5]} {themes[i % 5]}".replace(" ", ", ") for i in range(200)]
    both = f"{themes[0]} {themes[1]}".replace(" ", ", ")
    topics = Lda(count=5, labels_per_item=3, min_weight=0.3).topics(corpus_of([*texts, both]), seed=0)
    rows = [row for row in topics.assigned.to_pylist() if row["item"] == 200]
    assert len(rows) == 2
    assert rows[0]["weight"] >= rows[1]["weight"] >= 0.3
    assert set(topics.assigned["item"].to_pylist()) == set(range(201))


def test_terms_stand_in_for_the_text() -> None:
    rows = [(item, term, 2) for item in range(60) for term in THEMES[list(THEMES)[item % 5]].split()]
    items, terms, counts = zip(*rows, strict=True)
    given_terms = table(TERMS, item=pa.array(items, pa.int32()), term=list(terms), count=pa.array(counts, pa.int32()))
    topics = Lda(count=5).topics(corpus_of([None] * 61, given_terms), seed=0)
    assert nmi(heaviest(topics)[:60], [item % 5 for item in range(60)]) >= 0.9
    assert topics.names[heaviest(topics)[60]] == NO_TEXT


def test_a_topic_never_takes_the_name_of_what_is_set_aside() -> None:
    given_terms = table(TERMS, item=pa.array([0], pa.int32()), term=[NO_TEXT], count=pa.array([3], pa.int32()))
    topics = Lda().topics(corpus_of([None, None], given_terms), seed=0)
    assert [topics.names[topic] for topic in heaviest(topics)] == ["no text (topic)", NO_TEXT]


def test_a_saved_model_labels_old_and_new_items(
    tmp_path: object, found: tuple[Topics, list[int], LdaModel, list[str | None]]
) -> None:
    topics, _, model, texts = found
    path = f"{tmp_path}/topics.parquet"
    model.save(path)
    opened = open_model(path)
    assert repr(opened) == repr(model)
    assert isinstance(opened, TopicModel)
    again = opened.topics(corpus_of(texts))
    assert again.names == topics.names
    assert nmi(heaviest(again), heaviest(topics)) >= 0.95
    new = [
        "the parsers need treebanks and a grammar",
        None,
        "noisy audio of a speaker",
        "zzz",
        "le chat est dans la rue",
    ]
    labelled = opened.label_texts(new)
    assert [labelled.names[topic] for topic in heaviest(labelled)] == [
        "dependency parsing", NO_TEXT, "speech recognition", NO_TEXT, "other language text",
    ]  # fmt: skip
    more = replace(opened, labels_per_item=2, min_weight=0.2).label_texts(["parser treebank audio speaker"])
    assert more.assigned.num_rows == 2


def test_one_document_has_one_topic() -> None:
    topics = Lda().topics(corpus_of(["a parser for treebanks"]), seed=0)
    assert len(topics.names) == 1
    assert heaviest(topics) == [0]


@pytest.mark.parametrize("texts", [[None, "", "  ", "the of and"], []])
def test_without_any_text_every_item_has_no_text(texts: list[str | None], tmp_path: object) -> None:
    model = Lda(groups=3).fit(corpus_of(texts), seed=0)
    topics = model.topics(corpus_of(texts))
    assert [topics.names[topic] for topic in heaviest(topics)] == [NO_TEXT] * len(texts)
    model.save(f"{tmp_path}/empty.parquet")
    assert open_model(f"{tmp_path}/empty.parquet").label_texts(["parser"]).names == (NO_TEXT,)


@settings(max_examples=25)
@given(
    st.lists(st.one_of(st.none(), st.text(max_size=60), st.sampled_from(list(THEMES.values()))), max_size=10),
    st.integers(1, 4),
)
def test_any_list_of_texts_gives_each_a_topic(texts: list[str | None], labels: int) -> None:
    topics = Lda(count=3, iterations=3, labels_per_item=labels).topics(corpus_of(texts), seed=1)
    assert set(topics.assigned["item"].to_pylist()) == set(range(len(texts)))
    assert all(1 <= n <= labels for n in Counter(topics.assigned["item"].to_pylist()).values())
    assert all(0 < weight <= 1.0001 for weight in topics.assigned["weight"].to_pylist())


def test_progress_tells_the_log_likelihood_and_it_rises() -> None:
    said: list[str] = []
    Lda(count=5, iterations=10).topics(
        corpus_of(planted(300)[0]), seed=0, progress=lambda stage, done, total=None: said.append(stage)
    )
    values = [float(stage.split()[2]) for stage in said if stage.startswith("topics: log-likelihood ")]
    assert 1 < len(values) <= 10
    assert values[-1] > values[0]
    assert {"words", "phrases", "terms", "labels"} <= set(said)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"count": 0}, "count is 0, expected 1 or more"),
        ({"iterations": 0}, "iterations is 0, expected 1 or more"),
        ({"labels_per_item": 0}, "labels_per_item is 0, expected 1 or more"),
        ({"sample": -5}, "sample is -5, expected 1 or more"),
        ({"workers": -1}, "workers is -1, expected 1 or more, or 0 for all cores"),
        ({"groups": 0}, "groups is 0, expected 1 or more, or None"),
        ({"min_weight": 2}, "min_weight is 2, expected a share from 0 to 1"),
        ({"alpha": 0}, "alpha is 0, expected a number above 0"),
        ({"beta": -1}, "beta is -1, expected a number above 0"),
    ],
)
def test_a_parameter_out_of_range_is_refused(option: dict[str, float], text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Lda(**option)  # type: ignore[arg-type]
    assert str(caught.value) == text


def test_a_corpus_without_text_or_terms_is_refused() -> None:
    corpus = Corpus(objects=table(OBJECTS), items=pa.table({"item": ["a"]}), mentions=table(MENTIONS))
    for model in (Lda(), Lda().fit(corpus_of([]), seed=0)):
        with pytest.raises(SourceError, match="the items have neither a text nor terms to find topics in"):
            model.topics(corpus, seed=0)


def test_a_file_that_is_no_model_is_refused(tmp_path: object) -> None:
    path = f"{tmp_path}/x.parquet"
    with pytest.raises(SourceError, match="is no topic model of cube2net"):
        open_model(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(SourceError, match="is no topic model of cube2net"):
        open_model(path)


def test_every_topic_model_of_the_registry_fits_the_interface() -> None:
    assert isinstance(TOPIC_MODELS["lda"](), TopicModel)
    assert list(TOPIC_MODELS) == ["lda", "given"]


@pytest.mark.parametrize("column", ["term", "weight", "of_topics"])
def test_a_kept_model_whose_columns_hold_nothing_is_one_sentence(tmp_path: object, column: str) -> None:
    model = LdaModel(("tree",), np.ones(1, np.float32), np.ones((1, 1), np.float32), ("a",), 0.1)
    rows = model.table()
    pq.write_table(rows, f"{tmp_path}/whole.parquet")
    assert open_model(f"{tmp_path}/whole.parquet").vocabulary == ("tree",)
    place = rows.column_names.index(column)
    pq.write_table(rows.set_column(place, column, pa.nulls(1)), f"{tmp_path}/x.parquet")
    with pytest.raises(SourceError, match="is no topic model of cube2net"):
        open_model(f"{tmp_path}/x.parquet")
