"""The language of every text, by its small words and its script."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from cube2net.records.ragged import Array
from cube2net.topics.stopwords import SCRIPTS, SMALL_WORDS
from cube2net.topics.tokens import BREAK, Tokens, tokenise

LANGUAGES = tuple(SMALL_WORDS) + tuple(dict.fromkeys(SCRIPTS.values()))
UNKNOWN = -1
MIN_WORDS = 2
MIN_SHARE = 0.15
MARGIN = 1.5
LAST_LATIN = 0x24F


def set_aside(language: str) -> str:
    """Return the label of texts that are not in the language of most.

    >>> set_aside("French")
    'french text'
    """
    return f"{language.lower()} text"


SET_ASIDE = frozenset(set_aside(language) for language in LANGUAGES)


def languages(tokens: Tokens) -> Array:
    """Return the language of every text by number in ``LANGUAGES``, or -1 where nothing tells.

    A text is in the language whose small words it uses most, if they are at least two, a seventh of its
    words, and clearly more than those of any other language; a text in another script than Latin is in
    the language of that script.
    """
    kinds, votes = _votes(tokens.words)
    count = len(tokens)
    keys = tokens.texts.astype(np.int64) * len(votes) + kinds[tokens.ids]
    seen = np.bincount(keys, minlength=count * len(votes)).reshape(count, len(votes))
    hits = (seen @ votes).T
    sizes = np.bincount(tokens.texts, weights=(tokens.ids != BREAK), minlength=count)
    best = np.argmax(hits, axis=0)
    ordered = np.sort(hits, axis=0)
    top, next_best = ordered[-1], ordered[-2]
    sure = (top >= MIN_WORDS) & (top >= MIN_SHARE * sizes) & (top >= MARGIN * next_best)
    return np.where(sure, best, UNKNOWN).astype(np.int8)


def main_language(found: Array) -> int:
    """Return the language of most texts; English where nothing tells.

    >>> LANGUAGES[main_language(np.array([-1, 1, 1, 0]))]
    'French'
    """
    known = found[found != UNKNOWN]
    return int(np.bincount(known, minlength=len(LANGUAGES)).argmax()) if len(known) else 0


def spoken_language(texts: Sequence[str | None], most: int = 2000) -> str:
    """Return the language of most of the first texts; English where nothing tells.

    >>> spoken_language(["le chat est dans la maison", "nous avons vu que les chats dorment"])
    'French'
    """
    return LANGUAGES[main_language(languages(tokenise(texts[:most])))]


def _votes(vocabulary: tuple[str, ...]) -> tuple[Array, Array]:
    """Return the kind of every word, and how much a word of each kind speaks for each language.

    A small word that English has too speaks for English alone: "in" is no sign of Dutch.
    """
    small = {word: set[int]() for text in SMALL_WORDS.values() for word in text.split()}
    for row, text in enumerate(SMALL_WORDS.values()):
        for word in text.split():
            small[word].add(row)
    kinds: dict[tuple[tuple[int, ...], int], int] = {((), 0): 0}
    kind_of = np.zeros(len(vocabulary), dtype=np.int64)
    for column, word in enumerate(vocabulary):
        if word in small:
            rows = (0,) if 0 in small[word] else tuple(sorted(small[word]))
            kind_of[column] = kinds.setdefault((rows, 1), len(kinds))
        elif word and ord(word[0]) > LAST_LATIN:
            script = SCRIPTS.get(unicodedata.name(word[0], "").partition(" ")[0])
            if script is not None:
                worth = min(8, len(word) // 2)
                kind_of[column] = kinds.setdefault(((LANGUAGES.index(script),), worth), len(kinds))
    votes = np.zeros((len(kinds), len(LANGUAGES)), dtype=np.float32)
    for (speaks_for, worth), kind in kinds.items():
        votes[kind, list(speaks_for)] = worth
    return kind_of, votes
