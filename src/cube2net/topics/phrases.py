"""Texts as bags of phrases and words, the phrases mined from all the texts together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.errors import ParameterError
from cube2net.progress import Progress, silent
from cube2net.records.corpus import TERMS, table
from cube2net.topics.batches import Texts, look_up
from cube2net.topics.language import LANGUAGES, UNKNOWN, languages, main_language, set_aside
from cube2net.topics.merge import Rules, merge_phrases
from cube2net.topics.plurals import fold_plurals
from cube2net.topics.stopwords import EMPTY_WORDS, NAMES, SMALL_WORDS, WEAK_WORDS, words
from cube2net.topics.tokens import tokenise

# Where more than this share of the texts would have no term left, words in up to half of them stay: in texts of few
# words, such as tags, they are what the texts are about.
EMPTIED, HALF = 0.05, 0.5


@dataclass(frozen=True, eq=False)
class Found:
    """How often each term stands in each text (columns ``item``, ``term``, ``count``), and the language of most."""

    terms: pa.Table
    language: str


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Count phrases and words: a word inside a phrase is not counted again.

    Neighbouring words are joined while they stand together at least ``min_count`` times and much more
    often than chance has it (normalised pointwise mutual information of ``min_npmi`` or more), up to
    ``longest`` words. No phrase starts or ends with a stop word or crosses a mark. A term must stand in
    ``min_documents`` texts (fewer where there are few texts) and a single word in no more than
    ``max_share`` of them, or half where many texts would else have no term. English plurals count as
    their singular. A text in another language than most is set aside: it becomes the one term
    ``"french text"``, or whatever its language is.
    """

    min_count: int = 10
    min_npmi: float = 0.35
    longest: int = 5
    min_documents: int = 5
    max_share: float = 0.3

    def __post_init__(self) -> None:
        for name in ("min_count", "longest", "min_documents"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected 1 or more")
        if not -1 <= self.min_npmi <= 1:
            raise ParameterError(f"min_npmi is {self.min_npmi!r}, expected a number from -1 to 1")
        if not 0 < self.max_share <= 1:
            raise ParameterError(f"max_share is {self.max_share!r}, expected a share above 0 and up to 1")

    def count(self, texts: Texts, *, progress: Progress = silent) -> pa.Table:
        """Return how often each term stands in each text: columns ``item``, ``term``, ``count``.

        >>> texts = ["Machine translation of news.", "Neural machine translation", "We love machine translation!"]
        >>> Phrases(min_count=3, max_share=1.0).count(texts).slice(0, 2).to_pylist()
        [{'item': 0, 'term': 'machine translation', 'count': 1}, {'item': 0, 'term': 'news', 'count': 1}]
        """
        return self.learn(texts, progress=progress).terms

    def learn(self, texts: Texts, *, rows: Array | None = None, progress: Progress = silent) -> Found:
        """Return the counts of the terms and the language of most texts; of a column, of the rows given (ascending).

        Row ``i`` of those given is item ``i`` of the counts.
        """
        tokens = tokenise(texts, rows=rows, progress=progress)
        found = languages(tokens)
        main = main_language(found)
        stop = _listed(tokens.words, SMALL_WORDS.get(LANGUAGES[main], "") + EMPTY_WORDS)
        stop |= np.fromiter((len(word) < 2 for word in tokens.words), bool, len(tokens.words))
        weak = _listed(tokens.words, WEAK_WORDS + NAMES) & ~stop
        vocabulary, ids = list(tokens.words), tokens.ids
        if LANGUAGES[main] == "English":
            ids = fold_plurals(vocabulary, ids, stop)
        texts_of = tokens.texts
        aside = (found != UNKNOWN) & (found != main)
        if aside.any():
            keep = look_up(~aside, texts_of)
            ids, texts_of = ids[keep], texts_of[keep]
        del tokens
        rules = Rules(min_count=self.min_count, min_npmi=self.min_npmi, longest=self.longest)
        ids, texts_of, vocabulary = merge_phrases(ids, texts_of, vocabulary, stop, weak, rules, progress=progress)
        no_term = np.concatenate([stop | weak, np.zeros(len(vocabulary) - len(stop), dtype=bool)])
        terms = self._cut(ids, texts_of, vocabulary, no_term, np.where(aside, found, UNKNOWN), progress)
        return Found(terms, LANGUAGES[main])

    def _cut(
        self,
        ids: Array,
        texts_of: Array,
        vocabulary: list[str],
        no_term: Array,
        aside: Array,
        progress: Progress,
    ) -> pa.Table:
        """Return the table of counts over the terms that are neither too rare nor too common."""
        order = np.array(sorted(range(len(vocabulary)), key=vocabulary.__getitem__), dtype=np.int32)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        keep = look_up(~no_term, ids)
        keys = texts_of[keep].astype(np.int64)
        keys *= len(vocabulary)
        keys += look_up(rank, ids[keep])
        keys, counts = np.unique(keys, return_counts=True)
        items, terms = np.divmod(keys, len(vocabulary))
        documents = np.bincount(terms, minlength=len(vocabulary))
        phrase = np.fromiter((" " in vocabulary[term] for term in order), bool, len(vocabulary))
        size = max(1, int((aside == UNKNOWN).sum()))
        least = min(self.min_documents, max(1, size // 100))
        often = documents >= least
        good = often & (phrase | (documents <= max(1.0, self.max_share * size)))
        left = np.setdiff1d(items[often[terms]], items[good[terms]])
        if len(left) > EMPTIED * size:
            good |= often & (documents <= HALF * size)
        keep = good[terms]
        items, terms, counts = items[keep], terms[keep], counts[keep]
        rows = np.flatnonzero(aside != UNKNOWN)
        names = pa.array([*(vocabulary[term] for term in order), *map(set_aside, LANGUAGES)], pa.string())
        at = np.searchsorted(items, rows)
        progress("terms", len(aside), len(aside))
        return table(
            TERMS,
            item=pa.array(np.insert(items, at, rows), pa.int32()),
            term=names.take(pa.array(np.insert(terms, at, len(order) + aside[rows].astype(np.int64)))),
            count=pa.array(np.insert(counts, at, 1), pa.int32()),
        )


def _listed(vocabulary: tuple[str, ...], text: str) -> Array:
    """Return which words of a vocabulary a list holds."""
    listed = words(text)
    return np.fromiter((word in listed for word in vocabulary), bool, len(vocabulary))
