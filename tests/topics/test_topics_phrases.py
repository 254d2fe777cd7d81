"""Phrases are mined, fragments are not, and every occurrence is counted once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import ParameterError
from cube2net.topics.document_terms import count_terms
from cube2net.topics.phrases import Phrases, merge_phrases
from cube2net.topics.preprocessing import fold_plurals, list_singulars

SENTENCES = [
    "In this paper we present machine translation with neural networks.",
    "Dependency parsing and machine translation are state of the art, see https://github.com/x/y.",
    "We show that dependency parsing helps part of speech tagging.",
    "Part of speech tagging of tweets; machine translation of one tweet.",
    "A graph parser for semantic graphs.",
]


def bag(texts: list[str | None], item: int, **options: float) -> dict[str, int]:
    table = Phrases(**{"min_count": 3, "min_documents": 1, "max_share": 1.0} | options).count(texts)  # type: ignore[arg-type]
    rows = table.to_pylist()
    return {row["term"]: row["count"] for row in rows if row["item"] == item}


def test_phrases_are_joined_and_their_words_not_counted_again() -> None:
    texts: list[str | None] = [*SENTENCES * 3]
    assert bag(texts, 1) == {"dependency parsing": 1, "machine translation": 1}
    assert bag(texts, 2) == {"dependency parsing": 1, "part of speech tagging": 1}
    assert bag(texts, 3) == {"machine translation": 1, "part of speech tagging": 1, "tweet": 2}
    assert bag(texts, 4)["semantic graph"] == 1


def test_fragments_and_addresses_never_become_terms() -> None:
    texts = [
        "In this paper we present results. Dans cet article https github com x state of the art.",
        "in this paper we present results, state of the art, https github com",
    ] * 30
    terms = set(Phrases(min_count=2, max_share=1.0).count(texts)["term"].to_pylist())
    for fragment in ("in this paper", "this paper", "https github com", "state of the", "state of the art", "paper"):
        assert fragment not in terms


def test_a_text_in_another_language_becomes_one_term_that_says_so() -> None:
    french = "Dans cet article, nous présentons une étude des mots et de leur sens dans les textes."
    table = Phrases(min_count=2).count([*SENTENCES, french, *SENTENCES])
    assert [row for row in table.to_pylist() if row["item"] == 5] == [{"item": 5, "term": "french text", "count": 1}]


def test_a_french_corpus_is_not_set_aside() -> None:
    french = ["Dans cet article, nous présentons la traduction automatique des textes et de la parole."] * 20
    terms = set(
        Phrases(min_count=3, max_share=1.0).count([*french, "This is the one text in English."])["term"].to_pylist()
    )
    assert "traduction automatique" in terms
    assert "dans cet article" not in terms
    assert "english text" in terms


def test_rare_and_common_terms_are_cut() -> None:
    texts: list[str | None] = [f"translation of word{i}x speech" for i in range(300)]
    terms = set(Phrases(min_documents=2, max_share=0.5).count(texts)["term"].to_pylist())
    assert terms <= {"translation"} | {f"word{i}x" for i in range(300)} - {"word0x"}
    assert not any(term.startswith("word") for term in terms)


def test_counts_are_sorted_by_item_and_term_and_the_same_every_time() -> None:
    table = Phrases(min_count=2).count(SENTENCES * 4)
    rows = [(row["item"], row["term"]) for row in table.to_pylist()]
    assert rows == sorted(rows)
    assert len(set(rows)) == len(rows)
    assert table.equals(Phrases(min_count=2).count(SENTENCES * 4))


@given(st.lists(st.one_of(st.none(), st.text(max_size=80), st.sampled_from(SENTENCES)), max_size=12))
def test_any_texts_can_be_counted(texts: list[str | None]) -> None:
    table = Phrases(min_count=2, min_documents=1).count(texts)
    for row in table.to_pylist():
        assert 0 <= row["item"] < len(texts)
        assert row["count"] >= 1
        assert row["term"] == " ".join(row["term"].split())
        if not row["term"].endswith(" text"):
            assert len(row["term"]) > 1


@given(
    st.lists(st.integers(0, 6), max_size=120),
    st.integers(1, 4),
    st.floats(-1, 1),
    st.integers(1, 5),
    st.integers(1, 40),
)
def test_joining_loses_no_word_and_keeps_the_rules(
    tokens: list[int], min_count: int, min_npmi: float, longest: int, size: int
) -> None:
    vocabulary = ["", "of", "a1", "b2", "c3", "d4", "weak"]
    stop = np.array([True, True, False, False, False, False, False])
    weak = np.array([False] * 6 + [True])
    ids = np.array(tokens, dtype=np.int32)
    texts = (np.arange(len(ids)) // size).astype(np.int32)
    rules = Phrases(min_count=min_count, min_npmi=min_npmi, longest=longest)
    merged, owners, names = merge_phrases(ids, texts, vocabulary, stop, weak, rules)
    for text in range(int(texts.max()) + 1 if len(texts) else 0):
        before = [vocabulary[i] for i in ids[texts == text] if i]
        after = " ".join(names[i] for i in merged[owners == text] if i).split()
        assert after == before
    counts = np.bincount(merged, minlength=len(names))
    for number, name in enumerate(names[len(vocabulary) :], start=len(vocabulary)):
        parts = name.split()
        assert 2 <= len(parts) <= longest
        assert "of" not in (parts[0], parts[-1])
        assert counts[number] == 0 or counts[number] >= min_count


def test_plurals_that_are_none_stay() -> None:
    assert list_singulars("news") == ("new",)
    vocabulary = [
        "",
        "news",
        "new",
        "topics",
        "topic",
        "linguistics",
        "linguistic",
        "models",
        "model",
        "papers",
        "paper",
    ]
    stop = np.array([word == "paper" for word in vocabulary])
    folded = fold_plurals(vocabulary, np.arange(len(vocabulary)), stop)
    assert [vocabulary[i] for i in folded] == [
        "", "news", "new", "topic", "topic", "linguistics", "linguistic", "model", "model", "papers", "paper",
    ]  # fmt: skip


def test_known_terms_are_found_in_new_texts() -> None:
    terms = ["machine translation", "neural machine translation", "speech", "parsing"]
    rows = count_terms(
        ["Neural machine translations, speech and speech", None, "le chat est dans la rue"], terms
    ).to_pylist()
    assert rows == [
        {"item": 0, "term": "neural machine translation", "count": 1},
        {"item": 0, "term": "speech", "count": 2},
        {"item": 2, "term": "french text", "count": 1},
    ]


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"min_count": 0}, "min_count is 0, expected 1 or more"),
        ({"longest": 0}, "longest is 0, expected 1 or more"),
        ({"min_documents": -1}, "min_documents is -1, expected 1 or more"),
        ({"min_npmi": 1.5}, "min_npmi is 1.5, expected a number from -1 to 1"),
        ({"max_share": 0.0}, "max_share is 0.0, expected a share above 0 and up to 1"),
    ],
)
def test_a_parameter_out_of_range_is_refused(option: dict[str, float], text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Phrases(**option)  # type: ignore[arg-type]
    assert str(caught.value) == text


def test_common_words_stay_where_many_texts_have_no_others() -> None:
    subjects = ("query storage index join", "image pixel scene camera", "verb noun clause tense")
    texts = []
    for i in range(200):
        words = subjects[0 if i % 10 < 4 else 1 + i % 2].split()
        texts.append(" ".join(words[(i + k) % 4] for k in range(3)))
    terms = Phrases(min_npmi=1.0).count(texts)
    assert set(terms["item"].to_pylist()) == set(range(200))
    assert {"query", "storage"} <= set(terms["term"].to_pylist())


def test_common_words_go_where_texts_have_others() -> None:
    texts = [f"common thing{i % 50}" for i in range(200)] + ["common"] * 10
    terms = Phrases(min_npmi=1.0, min_documents=1).count(texts)
    assert "common" not in terms["term"].to_pylist()
