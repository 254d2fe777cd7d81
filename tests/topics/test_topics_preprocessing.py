"""Texts become words, and every text has a language."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.topics.preprocessing import (
    LANGUAGES,
    UNKNOWN,
    detect_languages,
    find_main_language,
    sample_main_language,
    tokenise,
)


def words_of(text: str | None) -> list[str]:
    tokens = tokenise([text])
    return [tokens.words[i] for i in tokens.ids]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Machine Translation", ["machine", "translation"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("an n-gram and in-context learning", ["an", "n-gram", "and", "in-context", "learning"]),
        ("see https://github.com/a/b now", ["see", "", "now"]),
        ("see www.x.org, or github.com/x", ["see", "", "or", ""]),
        ("mail me@uni.edu today", ["mail", "", "today"]),
        ("in 2020, 3.5 times", ["in", "", "", "", "", "", "times"]),
        (r"\textbf{BERT} and <b>it</b>", ["", "", "bert", "", "and", "", "it", ""]),
        ("the model’s don't", ["the", "model", "don't"]),
        ("L’usage des mots", ["l", "usage", "des", "mots"]),
        ("word2vec, gpt-4", ["word2vec", "", "gpt", ""]),
        ("", []),
        (None, []),
    ],
)
def test_a_text_has_these_words(text: str | None, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.lists(st.one_of(st.none(), st.text(max_size=60)), max_size=8))
def test_texts_taken_together_have_the_words_they_have_alone(texts: list[str | None]) -> None:
    tokens = tokenise(texts)
    assert len(tokens) == len(texts)
    assert tokens.starts[0] == 0
    assert tokens.starts[-1] == len(tokens.ids)
    for i, text in enumerate(texts):
        found = [tokens.words[j] for j in tokens.ids[tokens.starts[i] : tokens.starts[i + 1]]]
        assert found == words_of(text)
    assert tokens.texts.tolist() == np.repeat(np.arange(len(texts)), np.diff(tokens.starts)).tolist()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We present a model for the translation of texts that is good.", "English"),
        ("Dans cet article, nous présentons une étude des mots et de leur sens.", "French"),
        ("In diesem Beitrag wird gezeigt, dass die Methode nicht von der Sprache abhängt.", "German"),
        ("En este trabajo se presenta un sistema para el análisis de los textos.", "Spanish"),
        ("Este trabalho apresenta uma avaliação dos modelos para o português, mas não são todos.", "Portuguese"),
        ("In questo lavoro si presenta una risorsa che è stata annotata con gli eventi.", "Italian"),
        ("基于神经网络的连动句识别研究", "Chinese"),
        ("Это исследование посвящено автоматическому переводу", "Cyrillic"),
        ("Dependency parsing", None),
        ("", None),
    ],
)
def test_a_text_is_in_this_language(text: str, language: str | None) -> None:
    found = int(detect_languages(tokenise([text]))[0])
    assert (None if found == UNKNOWN else LANGUAGES[found]) == language


def test_the_language_of_most_texts_wins_and_english_where_nothing_tells() -> None:
    assert LANGUAGES[find_main_language(np.array([UNKNOWN, UNKNOWN]))] == "English"
    assert sample_main_language(["la maison de la rue est dans le village", "parsing", None]) == "French"
