"""The language of every text, by its small words and its script."""

from __future__ import annotations

import unicodedata

import numpy as np

from cube2net.array_types import Array
from cube2net.topics.batches import Texts
from cube2net.topics.stopwords import SCRIPTS, SMALL_WORDS
from cube2net.topics.tokens import BREAK, Tokens, tokenise

LANGUAGES = tuple(SMALL_WORDS) + tuple(dict.fromkeys(SCRIPTS.values()))
UNKNOWN = -1
SOME = 10_000
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
    found = np.empty(len(tokens), dtype=np.int8)
    for first in range(0, len(tokens), SOME):
        starts = tokens.starts[first : first + SOME + 1]
        found[first : first + SOME] = _spoken(tokens.ids[starts[0] : starts[-1]], np.diff(starts), kinds, votes)
    return found


def _spoken(ids: Array, lengths: Array, kinds: Array, votes: Array) -> Array:
    """Return the language of some texts, given their words and how many each of them has."""
    count, texts = len(lengths), np.repeat(np.arange(len(lengths)), lengths)
    seen = np.bincount(texts * len(votes) + kinds[ids], minlength=count * len(votes)).reshape(count, len(votes))
    hits = (seen @ votes).T
    sizes = np.bincount(texts, weights=(ids != BREAK), minlength=count)
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


def spoken_language(texts: Texts, most: int = 2000) -> str:
    """Return the language of most texts, by some from all over them; English where nothing tells.

    >>> spoken_language(["le chat est dans la maison", "nous avons vu que les chats dorment"])
    'French'
    """
    rows = np.unique(np.linspace(0, len(texts) - 1, min(most, len(texts))).astype(np.int64))
    return LANGUAGES[main_language(languages(tokenise(texts, rows=rows)))]


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
