"""More texts than the model learns from: labelled as the model labels new ones, in memory that does not grow."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from test_topics_lda import THEMES, corpus_of, heaviest, nmi, planted

from cube2net.errors import InputError, ParameterError
from cube2net.model.corpus import NO_TEXT, TERMS, Corpus, Topics, table
from cube2net.topics.document_terms import OTHER_LANGUAGE, count_terms, make_bags
from cube2net.topics.lda import Lda
from cube2net.topics.lda_model import LdaModel, read_model
from cube2net.topics.phrases import Phrases

FRENCH = "Dans cet article, nous présentons une étude des mots et de leur sens dans les textes."
GERMAN = "In diesem Beitrag wird gezeigt, dass die Methode nicht von der Sprache abhängt."


def same(one: Topics, other: Topics) -> bool:
    return (one.names, one.parents) == (other.names, other.parents) and all(
        getattr(one, name).equals(getattr(other, name)) for name in ("assigned", "words")
    )


def mixed(count: int, seed: int = 0) -> tuple[list[str | None], list[int]]:
    """Return planted texts with other languages and empty ones among them."""
    themed, truth = planted(count, seed)
    texts: list[str | None] = [f"{text} and this is the text that we have" for text in themed]
    for row in range(0, count, 40):
        texts[row : row + 3] = [None, FRENCH, ""]
    texts[count // 2] = GERMAN
    return texts, truth


@pytest.fixture(scope="module")
def found() -> tuple[Topics, LdaModel, Corpus, list[int]]:
    texts, truth = mixed(1500, seed=7)
    lda = Lda(count=5, groups=2, phrase_sample=400, labels_per_item=2)
    corpus = corpus_of(texts)
    return lda.topics(corpus, seed=3), lda.fit(corpus, seed=3), corpus, truth


def test_a_corpus_larger_than_the_sample_is_labelled_as_the_model_labels_it(
    found: tuple[Topics, LdaModel, Corpus, list[int]],
) -> None:
    topics, model, corpus, _ = found
    assert same(topics, model.topics(corpus))
    assert same(topics, model.label_texts(corpus.items["text"].to_pylist()))
    terms = count_terms(corpus.items["text"], model.vocabulary)
    assert same(topics, model.label(make_bags(terms, 1500, model.vocabulary)))
    assert topics.settings["phrase_sample"] == 400
    assert topics.model is not None
    assert same(topics, read_model(topics.model).topics(corpus))


def test_a_sample_of_the_texts_is_enough_to_find_the_topics_of_all(
    found: tuple[Topics, LdaModel, Corpus, list[int]],
) -> None:
    topics, _, corpus, truth = found
    first = topics.assigned.filter(pa.array(np.diff(topics.assigned["item"].to_numpy(), prepend=-1) > 0))
    named = [topics.names[topic] for topic in first["topic"].to_pylist()]
    texts = corpus.items["text"].to_pylist()
    assert len(named) == len(texts)
    for name, text in zip(named, texts, strict=True):
        assert (name == NO_TEXT) == (not text)
        assert (name == "French text") == (text == FRENCH)
        assert (name == OTHER_LANGUAGE) == (text == GERMAN)
    kept = [i for i, name in enumerate(named) if name in THEMES]
    assert len(kept) == 1500 - 38 * 3 - 1
    assert nmi([topics.names.index(named[i]) for i in kept], [truth[i] for i in kept]) >= 0.9
    assert topics.parents is not None
    assert len(set(topics.parents)) == 5


@pytest.mark.parametrize("batch", [1, 7, 100, 5000])
def test_the_answer_is_the_same_for_any_size_of_batches_and_number_of_workers(
    found: tuple[Topics, LdaModel, Corpus, list[int]], batch: int
) -> None:
    _, model, corpus, _ = found
    column = corpus.items["text"].slice(0, 100)
    whole = model.label_texts(column)
    for workers in (1, 3):
        assert same(whole, replace(model, workers=workers).label_texts(column, batch=batch))


def test_the_same_seed_draws_the_same_sample_for_any_number_of_workers() -> None:
    corpus = corpus_of(mixed(900, seed=1)[0])
    lda = Lda(count=5, phrase_sample=300, iterations=6)
    one, three = (replace(lda, workers=workers).topics(corpus, seed=4) for workers in (1, 3))
    assert same(one, three)
    assert not same(one, lda.topics(corpus, seed=5))


@pytest.mark.parametrize("given_terms", [False, True])
def test_a_corpus_of_no_more_than_the_sample_is_learned_whole(given_terms: bool) -> None:
    texts = mixed(200)[0]
    corpus = corpus_of(texts, Phrases().count(texts) if given_terms else None)
    topics = Lda(count=5, phrase_sample=200).topics(corpus, seed=0)
    assert same(topics, Lda(count=5, phrase_sample=10**9).topics(corpus, seed=0))
    assert topics.settings["phrase_sample"] == 200


def test_only_items_with_a_text_are_learned_from() -> None:
    texts, truth = planted(150)
    corpus = corpus_of([*[None] * 500, *texts, *[""] * 500])
    topics = Lda(count=5, phrase_sample=150).topics(corpus, seed=0)
    assert topics.settings["items"] == topics.settings["phrase_sample"] == 150
    assert nmi(heaviest(topics)[500:650], truth) >= 0.9


@pytest.mark.parametrize("order", ["ascending", "any"])
def test_terms_stand_in_for_more_texts_than_the_sample(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cube2net.topics.preprocessing.TEXTS_PER_BATCH", 17)
    monkeypatch.setattr("cube2net.topics.preprocessing.ROWS_PER_SPAN", 100)
    rows = [(item, term, 2) for item in range(400) for term in THEMES[list(THEMES)[item % 5]].split()]
    rows += [(item, "french text", 1) for item in range(400, 412)] + [(412, "german text", 1)]
    if order == "any":
        np.random.default_rng(0).shuffle(rows)
    items, terms, counts = zip(*rows, strict=True)
    items, counts = map(int, items), map(int, counts)
    given_terms = table(
        TERMS,
        item=pa.array(items, pa.int32()),
        term=pa.array(map(str, terms), pa.string()),
        count=pa.array(counts, pa.int32()),
    )
    corpus = corpus_of([None] * 414, given_terms)
    lda = Lda(count=5, phrase_sample=100)
    topics = lda.topics(corpus, seed=0)
    assert nmi(heaviest(topics)[:400], [item % 5 for item in range(400)]) >= 0.9
    assert [topics.names[topic] for topic in heaviest(topics)[400:]] == ["French text"] * 12 + [OTHER_LANGUAGE, NO_TEXT]
    model = lda.fit(corpus, seed=0)
    assert same(topics, model.label(make_bags(given_terms, 414, model.vocabulary)))


def test_the_language_is_that_of_most_texts_wherever_they_stand() -> None:
    english = [f"{text} and this is the text that we have" for text in planted(2600)[0]]
    corpus = corpus_of([*[FRENCH] * 2100, *english])
    for sample in (1000, 10_000):
        topics = Lda(count=5, phrase_sample=sample, iterations=2).topics(corpus, seed=0)
        named = [topics.names[topic] for topic in heaviest(topics)]
        assert set(named[:2100]) == {"French text"}
        assert "English text" not in named
        assert topics.settings["other_languages"] == "set aside: not English, under their own names"


def peak_of(corpus: Corpus) -> int:
    """Return the most bytes that Python, NumPy and Arrow held while the topics of a corpus were found."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        Lda(count=5, iterations=2, phrase_sample=300).topics(corpus, seed=0)
        return tracemalloc.get_traced_memory()[1] + (pool.max_memory() or 0)
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def test_memory_hardly_grows_with_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cube2net.topics.preprocessing.TEXTS_PER_BATCH", 500)
    texts = planted(2000)[0]
    Lda(count=5, iterations=2).topics(corpus_of(texts[:200]), seed=0)
    few, many = (peak_of(corpus_of((texts * 5)[:size])) for size in (2000, 10_000))
    assert many - few < 50 * 8000


@pytest.mark.parametrize(
    ("texts", "batch", "error", "said"),
    [
        ("a text", None, InputError, "texts are a list such as ['a text', None], got the text 'a text'"),
        (["a text"], 0, ParameterError, "batch is 0, expected a whole number of 1 or more"),
        (["a text"], 2.5, ParameterError, "batch is 2.5, expected a whole number of 1 or more"),
    ],
)
def test_bad_texts_and_batches_are_refused(
    found: tuple[Topics, LdaModel, Corpus, list[int]], texts: object, batch: object, error: type, said: str
) -> None:
    with pytest.raises(error) as caught:
        found[1].label_texts(texts, batch=batch)  # type: ignore[arg-type]
    assert str(caught.value) == said


def test_a_column_that_holds_no_texts_is_refused() -> None:
    items = pa.table({"item": ["a", "b"], "text": pa.array([["x"], None])})
    with pytest.raises(InputError, match="texts 0 to 1 hold what is neither a text nor missing"):
        Lda().topics(replace(corpus_of(["x"]), items=items), seed=0)


def test_a_phrase_sample_of_nothing_is_refused() -> None:
    with pytest.raises(ParameterError) as caught:
        Lda(phrase_sample=0)
    assert str(caught.value) == "phrase_sample is 0, expected 1 or more"
