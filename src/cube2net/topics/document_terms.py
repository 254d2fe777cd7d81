"""Document-term counts: count the terms of a vocabulary in texts, and weight the counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, compute_offsets
from cube2net.model.corpus import NO_TEXT, TERMS, table
from cube2net.topics.preprocessing import (
    LANGUAGE_TOPICS,
    LANGUAGES,
    UNKNOWN,
    Texts,
    detect_languages,
    list_singulars,
    name_language_topic,
    tokenise,
)

MIN_LANGUAGE_ITEMS = 10
OTHER_LANGUAGE = "other language text"
RESERVED = frozenset({NO_TEXT, OTHER_LANGUAGE, *(label.capitalize() for label in LANGUAGE_TOPICS)})

FULL_WEIGHT_RARITY, MIN_TERM_WEIGHT = 150.0, 0.1
"""A term in fewer than one of 150 items has full weight."""


@dataclass(frozen=True, eq=False)
class Bags:
    """The items that have terms: item ``rows[i]`` has ``terms[starts[i]:starts[i + 1]]``, with these ``counts``.

    ``vocabulary`` names the terms. ``apart`` holds the topic of every item without terms: its language or "no text".
    """

    rows: Array
    starts: Array
    terms: Array
    counts: Array
    vocabulary: tuple[str, ...]
    apart: dict[int, str]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: Array) -> Bags:
        """Return some of the items with terms, by position, ascending."""
        sizes = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.starts[which] - starts[:-1], sizes) + np.arange(starts[-1])
        return Bags(self.rows[which], starts, self.terms[at], self.counts[at], self.vocabulary, {})


def make_bags(
    terms: pa.Table, items: int, vocabulary: Sequence[str] | None = None, *, fewest: int = MIN_LANGUAGE_ITEMS
) -> Bags:
    """Return the bags of ``items`` items from a table of terms, restricted to a vocabulary if one is given.

    Languages of fewer than ``fewest`` items share one topic.

    >>> table = pa.table({"item": [2, 2, 0], "term": ["parsing", "trees", "french text"], "count": [1, 2, 1]})
    >>> bags = make_bags(table, 4)
    >>> bags.rows.tolist(), bags.vocabulary, bags.apart
    ([2], ('parsing', 'trees'), {0: 'other language text', 1: 'no text', 3: 'no text'})
    """
    terms = terms.filter(pc.and_(pc.greater(terms["count"], 0), pc.is_valid(terms["term"])))
    item = terms["item"].to_numpy().astype(np.int64)
    aside = pc.is_in(terms["term"], value_set=pa.array(sorted(LANGUAGE_TOPICS))).to_numpy(zero_copy_only=False)
    aside &= (np.bincount(item, minlength=items) == 1)[item] if len(item) else True
    apart = _label_languages(item[aside], terms["term"].filter(pa.array(aside)).to_pylist(), fewest)
    terms, item = terms.filter(pa.array(~aside)), item[~aside]
    names = sorted(pc.unique(terms["term"]).to_pylist()) if vocabulary is None else list(vocabulary)
    code = pc.fill_null(pc.index_in(terms["term"], value_set=pa.array(names, pa.string())), -1).to_numpy()
    is_known = code >= 0
    item, code, count = item[is_known], code[is_known], terms["count"].to_numpy()[is_known]
    key = item * max(1, len(names)) + code
    if bool(np.any(key[1:] <= key[:-1])):
        key, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, weights=count, minlength=len(key))
        item, code = np.divmod(key, max(1, len(names)))
    has = np.bincount(item, minlength=items) > 0
    for row in np.flatnonzero(~has).tolist():
        apart.setdefault(row, NO_TEXT)
    rows = np.flatnonzero(has)
    starts = compute_offsets(np.cumsum(has)[item] - 1, len(rows))
    return Bags(
        rows, starts, code.astype(np.int32), count.astype(np.float32), tuple(names), dict(sorted(apart.items()))
    )


def _label_languages(rows: Array, labels: list[str], fewest: int) -> dict[int, str]:
    """Return the topic of every item in another language; languages of very few items share one."""
    often = {label: labels.count(label) for label in set(labels)}
    named = {label: label.capitalize() if often[label] >= fewest else OTHER_LANGUAGE for label in often}
    return dict(zip(rows.tolist(), (named[label] for label in labels), strict=True))


def compute_term_weights(bags: Bags) -> Array:
    """Return the weight of one occurrence of each term, from 0.1 to 1, by the logarithm of its inverse frequency.

    A term in fewer than one of 150 items has the weight 1; a term in a tenth of the items about a half.
    """
    items = np.bincount(bags.terms, minlength=len(bags.vocabulary))
    rare = np.log(max(1, len(bags)) / np.maximum(items, 1)) / np.log(FULL_WEIGHT_RARITY)
    return np.asarray(np.clip(rare, MIN_TERM_WEIGHT, 1.0), dtype=np.float32)


def weight_counts(bags: Bags, weights: Array) -> Bags:
    """Return the bags with weighted counts; repeats in one item count by their logarithm."""
    # NumPy's logarithm of float32 has other last bits on other processors; rounded from float64 it is the same.
    counts = weights[bags.terms] * (1.0 + np.log(bags.counts.astype(np.float64)).astype(np.float32))
    return replace(bags, counts=counts.astype(np.float32))


def count_terms(texts: Texts, terms: Sequence[str], language: str = "English") -> pa.Table:
    """Return the counts of known terms by text; of overlapping terms the longest is counted.

    A text in another language becomes one term that names the language.

    >>> count_terms(["Neural machine translations"], ["machine translation", "neural", "machine"]).to_pylist()
    [{'item': 0, 'term': 'machine translation', 'count': 1}, {'item': 0, 'term': 'neural', 'count': 1}]
    """
    return TermTrie.of(terms, language).count(texts)


@dataclass(frozen=True, eq=False)
class TermTrie:
    """A trie of the words of terms, to find these in texts of one language; ``names`` are the terms, sorted.

    ``words`` numbers the words of the terms, and ``spellings`` holds those that a plural may be replaced by.
    ``roots``, ``edges``, ``edge_parts`` and ``ends`` are the trie, as ``mark_terms`` walks it.
    """

    names: pa.Array
    language: str
    words: dict[str, int]
    spellings: frozenset[str]
    roots: Array
    edges: Array
    edge_parts: Array
    ends: Array

    @classmethod
    def of(cls, terms: Sequence[str], language: str = "English") -> TermTrie:
        """Return the trie of some terms, level by level."""
        names = sorted(set(terms))
        words: dict[str, int] = {}
        paths = [tuple(words.setdefault(word, len(words)) for word in name.split(" ")) for name in names]
        node_of: dict[tuple[int, ...], int] = {}
        level = sorted({path[:1] for path in paths})
        heads, edges, edge_parts = len(level), [0], list[int]()
        further: dict[tuple[int, ...], list[int]] = {}
        for longer in {path[:size] for path in paths for size in range(2, len(path) + 1)}:
            further.setdefault(longer[:-1], []).append(longer[-1])
        while level:
            for path in level:
                node_of[path] = len(node_of)
            level = [(*path, part) for path in level for part in sorted(further.get(path, ()))]
            edge_parts += [path[-1] for path in level]
        for path in node_of:
            edges.append(edges[-1] + len(further.get(path, ())))
        roots = np.full(len(words), -1, dtype=np.int32)
        for path, node in node_of.items():
            if node < heads:
                roots[path[0]] = node
        ends = np.full(len(node_of), -1, dtype=np.int32)
        ends[[node_of[path] for path in paths]] = np.arange(len(paths))
        return cls(
            pa.array([*names, *map(name_language_topic, LANGUAGES)], pa.string()),
            language,
            words,
            frozenset(part for name in names for part in name.split()),
            roots,
            np.array(edges, dtype=np.int32),
            np.array(edge_parts, dtype=np.int32),
            ends,
        )

    def count(self, texts: Texts) -> pa.Table:
        """Return the counts of terms by text: columns ``item``, ``term``, ``count``."""
        from cube2net.kernels.topic_models import mark_terms

        tokens = tokenise(texts)
        part_of = np.array([self.words.get(self._spelling(word), -1) for word in tokens.words], dtype=np.int32)
        term_rows = mark_terms(part_of[tokens.ids], tokens.starts, self.roots, self.edges, self.edge_parts, self.ends)
        spoken = detect_languages(tokens)
        main = LANGUAGES.index(self.language) if self.language in LANGUAGES else UNKNOWN
        aside = (spoken != UNKNOWN) & (spoken != main)
        places = np.flatnonzero(term_rows >= 0)
        items = tokens.texts[places].astype(np.int64)
        kept = ~aside[items]
        keys, counts = np.unique(items[kept] * len(self.names) + term_rows[places][kept], return_counts=True)
        items, terms = np.divmod(keys, len(self.names))
        rows = np.flatnonzero(aside)
        at = np.searchsorted(items, rows)
        labels = len(self.names) - len(LANGUAGES) + spoken[rows].astype(np.int64)
        return table(
            TERMS,
            item=pa.array(np.insert(items, at, rows), pa.int32()),
            term=self.names.take(pa.array(np.insert(terms, at, labels))),
            count=pa.array(np.insert(counts, at, 1), pa.int32()),
        )

    def _spelling(self, word: str) -> str:
        """Return a word as the terms spell it: in the singular if they do not have the plural."""
        if word in self.spellings:
            return word
        return next((singular for singular in list_singulars(word) if singular in self.spellings), word)
