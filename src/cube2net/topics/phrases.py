"""Find phrases in texts: words that occur together much more often than by chance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net.errors import ParameterError
from cube2net.model.corpus import TERMS, table
from cube2net.topics.preprocessing import (
    CONNECTORS,
    EMPTY_WORDS,
    LANGUAGES,
    NAMES,
    SMALL_WORDS,
    UNKNOWN,
    VALUES_PER_SLICE,
    WEAK_WORDS,
    Texts,
    count_occurrences,
    detect_languages,
    find_main_language,
    fold_plurals,
    look_up,
    name_language_topic,
    split_words,
    tokenise,
)

# If more than this share of the texts would have no term left, words in up to half of them stay: in texts of few
# words, such as tags, they are what the texts are about.
MAX_EMPTY_SHARE, RELAXED_MAX_SHARE = 0.05, 0.5

CONNECTOR_NPMI = 0.15
"""How much more NPMI than neighbours two words need to be joined over a small word."""


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Count phrases and words; a word inside a phrase is not counted again.

    Neighbouring words are joined if they occur together at least ``min_count`` times and much more often than by
    chance (normalised pointwise mutual information of at least ``min_npmi``), up to ``longest`` words. No phrase
    starts or ends with a stop word or crosses a punctuation mark. A term must occur in ``min_documents`` texts (fewer
    if there are few texts), and a single word in at most ``max_share`` of them, or half if many texts would otherwise
    have no term. English plurals count as their singular. A text in another language than most becomes one term, such
    as ``"french text"``.
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
        """Return the counts of terms by text: columns ``item``, ``term``, ``count``.
        >>> texts = ["Machine translation of news.", "Neural machine translation", "We love machine translation!"]
        >>> Phrases(min_count=3, max_share=1.0).count(texts).slice(0, 2).to_pylist()
        [{'item': 0, 'term': 'machine translation', 'count': 1}, {'item': 0, 'term': 'news', 'count': 1}]
        """
        return self.learn(texts, progress=progress)[0]

    def learn(self, texts: Texts, *, rows: Array | None = None, progress: Progress = silent) -> tuple[pa.Table, str]:
        """Return the counts of terms and the language of most texts; with ``rows`` (ascending), of these rows.

        The i-th of these rows is item ``i`` of the counts.
        """
        tokens = tokenise(texts, rows=rows, progress=progress)
        languages = detect_languages(tokens)
        main = find_main_language(languages)
        stop = _mark_listed(tokens.words, SMALL_WORDS.get(LANGUAGES[main], "") + EMPTY_WORDS)
        stop |= np.fromiter((len(word) < 2 for word in tokens.words), bool, len(tokens.words))
        weak = _mark_listed(tokens.words, WEAK_WORDS + NAMES) & ~stop
        vocabulary, ids = list(tokens.words), tokens.ids
        if LANGUAGES[main] == "English":
            ids = fold_plurals(vocabulary, ids, stop)
        texts_of = tokens.texts
        aside = (languages != UNKNOWN) & (languages != main)
        if aside.any():
            keep = look_up(~aside, texts_of)
            ids, texts_of = ids[keep], texts_of[keep]
        del tokens
        ids, texts_of, vocabulary = merge_phrases(ids, texts_of, vocabulary, stop, weak, self, progress=progress)
        no_term = np.concatenate([stop | weak, np.zeros(len(vocabulary) - len(stop), dtype=bool)])
        terms = self._cut(ids, texts_of, vocabulary, no_term, np.where(aside, languages, UNKNOWN), progress)
        return terms, LANGUAGES[main]

    def _cut(
        self,
        ids: Array,
        texts_of: Array,
        vocabulary: list[str],
        no_term: Array,
        aside: Array,
        progress: Progress,
    ) -> pa.Table:
        """Return the counts of the terms that are neither too rare nor too common."""
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
        if len(left) > MAX_EMPTY_SHARE * size:
            good |= often & (documents <= RELAXED_MAX_SHARE * size)
        keep = good[terms]
        items, terms, counts = items[keep], terms[keep], counts[keep]
        rows = np.flatnonzero(aside != UNKNOWN)
        names = pa.array([*(vocabulary[term] for term in order), *map(name_language_topic, LANGUAGES)], pa.string())
        at = np.searchsorted(items, rows)
        progress("terms", len(aside), len(aside))
        return table(
            TERMS,
            item=pa.array(np.insert(items, at, rows), pa.int32()),
            term=names.take(pa.array(np.insert(terms, at, len(order) + aside[rows].astype(np.int64)))),
            count=pa.array(np.insert(counts, at, 1), pa.int32()),
        )


def _mark_listed(vocabulary: tuple[str, ...], text: str) -> Array:
    """Return which words of a vocabulary are in a list."""
    listed = split_words(text)
    return np.fromiter((word in listed for word in vocabulary), bool, len(vocabulary))


@dataclass
class Units:
    """Words and phrases by number: name, length in words (0 for a stop word), whether it is weak, and parts."""

    names: list[str]
    length: Array
    weak: Array
    parts: list[tuple[int, ...]] = field(default_factory=list)

    def join(self, joined: list[tuple[int, ...]]) -> Array:
        """Return the numbers of phrases given by their parts, and add new phrases."""
        number = {name: i for i, name in enumerate(self.names)}
        new = np.empty(len(joined), dtype=np.int32)
        lengths = self.length.tolist()
        for k, parts in enumerate(joined):
            name = " ".join(self.names[i] for i in parts)
            if name not in number:
                number[name] = len(self.names)
                self.names.append(name)
                self.parts.append(parts)
                lengths.append(sum(max(1, lengths[i]) for i in parts))
            new[k] = number[name]
        self.length = np.array(lengths, dtype=np.int32)
        self.weak = np.concatenate([self.weak, np.zeros(len(lengths) - len(self.weak), dtype=bool)])
        return new


def merge_phrases(
    ids: Array,
    texts: Array,
    vocabulary: list[str],
    stop: Array,
    weak: Array,
    limits: Phrases,
    *,
    progress: Progress = silent,
) -> tuple[Array, Array, list[str]]:
    """Return the texts with phrases in place of their words, their text numbers, and the extended vocabulary.

    In every round, the pair with the highest score among overlapping ones is joined; the next round may join the
    results. Two weak words are not joined. A phrase that remains in fewer than ``min_count`` places is split.
    """
    units = Units(list(vocabulary), np.where(stop, 0, 1).astype(np.int32), weak, [()] * len(vocabulary))
    number = {word: i for i, word in enumerate(vocabulary)}
    between = [tuple(number.get(word, -1) for word in connector.split()) for connector in CONNECTORS]
    between = [(), *(link for link in between if -1 not in link)]
    rounds = max(0, limits.longest - 1)
    for step in range(rounds):
        progress("phrases", step, rounds)
        places, links, which, joined = _find_joins(ids, texts, units, between, limits)
        if not len(places):
            break
        new = units.join(joined)
        gaps = np.array([len(link) for link in between])[links]
        keep = np.ones(len(ids), dtype=bool)
        for gap in range(int(gaps.max()) + 1):
            keep[places[gaps >= gap] + gap + 1] = False
        ids = ids.copy()
        ids[places] = new[which]
        ids, texts = ids[keep], texts[keep]
    ids, texts = _split_rare_phrases(ids.copy(), texts, units, len(vocabulary), limits.min_count)
    progress("phrases", rounds, rounds)
    return ids, texts, units.names


def _find_joins(
    ids: Array, texts: Array, units: Units, between: list[tuple[int, ...]], limits: Phrases
) -> tuple[Array, Array, Array, list[tuple[int, ...]]]:
    """Return where to join, over which connector, the phrase made there, and the parts of each phrase."""
    counts = count_occurrences(ids, len(units.names))
    total = max(1, int(counts[units.length > 0].sum()))
    usable = (units.length > 0) & (counts >= limits.min_count)
    joins = []
    joined: list[tuple[int, ...]] = []
    for link, small in enumerate(between):
        places = _find_pairs(ids, texts, units, usable, small, limits.longest)
        here = ids[places].astype(np.int64)
        here *= len(counts)
        here += ids[places + len(small) + 1]
        keys, pairs = np.unique(here, return_counts=True)
        often = pairs >= limits.min_count
        keys, pairs = keys[often], pairs[often]
        first, second = np.divmod(keys, len(counts))
        score = _compute_npmi(pairs, counts[first], counts[second], total)
        good = score >= limits.min_npmi + (CONNECTOR_NPMI if small else 0.0)
        at, rank = _find_values(here, keys[good])
        joins.append((places[at], np.full(len(at), link, np.int8), score[good][rank], rank + len(joined)))
        joined += [(a, *small, b) for a, b in zip(first[good].tolist(), second[good].tolist(), strict=True)]
    places, links, scores, which = (np.concatenate([part[k] for part in joins]) for k in range(4))
    order = np.lexsort((-scores, places))
    places, links, scores, which = places[order], links[order], scores[order], which[order]
    gaps = np.array([len(small) for small in between])[links]
    win = _mark_peaks(places, places + gaps + 1, scores)
    return places[win], links[win], which[win], joined


def _find_values(values: Array, wanted: Array) -> tuple[Array, Array]:
    """Return the places of some wanted values (ascending), and which of them is at each.

    >>> _find_values(np.array([7, 1, 3, 7]), np.array([3, 7]))
    (array([0, 2, 3]), array([1, 0, 1], dtype=int32))
    """
    at, which = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for first in range(0, len(values) if len(wanted) else 0, VALUES_PER_SLICE):
        part = values[first : first + VALUES_PER_SLICE]
        rank = np.minimum(np.searchsorted(wanted, part), len(wanted) - 1)
        here = np.flatnonzero(wanted[rank] == part)
        at.append(first + here)
        which.append(rank[here].astype(np.int32))
    return np.concatenate(at), np.concatenate(which)


def _find_pairs(ids: Array, texts: Array, units: Units, usable: Array, small: tuple[int, ...], longest: int) -> Array:
    """Return where two usable units are neighbours, or have the given small words between them."""
    gap = len(small)
    last = len(ids) - gap - 1
    if last <= 0:
        return np.empty(0, dtype=np.int64)
    if small:
        places = np.flatnonzero(ids[1 : last + 1] == small[0])
        for shift, word in enumerate(small[1:], start=2):
            places = places[ids[places + shift] == word]
        left, right = ids[places], ids[places + gap + 1]
    else:
        here = look_up(usable, ids)
        places = np.flatnonzero(here[:-1] & here[1:])
        left, right = ids[places], ids[places + 1]
    ok = usable[left] & usable[right] & (left != right) & (texts[places] == texts[places + gap + 1])
    ok &= ~(units.weak[left] & units.weak[right])
    ok &= units.length[left] + units.length[right] + gap <= longest
    return np.asarray(places[ok])


def _compute_npmi(pairs: Array, left: Array, right: Array, total: int) -> Array:
    """Return the normalised pointwise mutual information: 1 for words that always occur together, 0 for chance.

    >>> _compute_npmi(np.array([5, 1]), np.array([5, 10]), np.array([5, 10]), 100).round(2).tolist()
    [1.0, 0.0]
    """
    share = pairs / total
    attraction = np.log(pairs * (total / (left.astype(np.float64) * right)))
    return attraction / np.maximum(-np.log(share), 1e-9)


def _mark_peaks(starts: Array, ends: Array, scores: Array) -> Array:
    """Return which joins score higher than all joins they overlap with; of equal ones the leftmost.

    >>> _mark_peaks(np.array([0, 1, 2, 5]), np.array([1, 2, 3, 6]), np.array([0.5, 0.6, 0.6, 0.1])).tolist()
    [False, True, False, True]
    """
    win = np.ones(len(starts), dtype=bool)
    for shift in range(1, len(starts)):
        overlap = ends[:-shift] >= starts[shift:]
        if not overlap.any():
            break
        win[shift:] &= ~overlap | (scores[shift:] > scores[:-shift])
        win[:-shift] &= ~overlap | (scores[:-shift] >= scores[shift:])
    return win


def _split_rare_phrases(ids: Array, texts: Array, units: Units, n_words: int, min_count: int) -> tuple[Array, Array]:
    """Return the texts with every phrase that has become too rare replaced by its parts."""
    while True:
        counts = count_occurrences(ids, len(units.names))
        rare = (counts > 0) & (counts < min_count)
        rare[:n_words] = False
        if not rare.any():
            return ids, texts
        places = np.flatnonzero(look_up(rare, ids))
        parts = [units.parts[unit] for unit in ids[places].tolist()]
        after = np.repeat(places, [len(part) - 1 for part in parts])
        ids[places] = [part[0] for part in parts]
        ids = np.insert(ids, after + 1, [unit for part in parts for unit in part[1:]])
        texts = np.insert(texts, after + 1, texts[after])
