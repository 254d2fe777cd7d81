"""New texts counted by terms that are known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.records.corpus import TERMS, table
from cube2net.topics.batches import Texts
from cube2net.topics.language import LANGUAGES, UNKNOWN, languages, set_aside
from cube2net.topics.plurals import singulars
from cube2net.topics.tokens import tokenise


def count_known(texts: Texts, terms: Sequence[str], language: str = "English") -> pa.Table:
    """Return how often each known term stands in each text; where terms overlap, the longest counts.

    A text in another language is set aside: it becomes the one term that says so.

    >>> count_known(["Neural machine translations"], ["machine translation", "neural", "machine"]).to_pylist()
    [{'item': 0, 'term': 'machine translation', 'count': 1}, {'item': 0, 'term': 'neural', 'count': 1}]
    """
    return KnownTerms.of(terms, language).count(texts)


@dataclass(frozen=True, eq=False)
class KnownTerms:
    """Terms as a tree of their words, to be found in texts of one language; ``names`` are the terms, sorted.

    ``words`` numbers the words that terms are made of (by single blanks), and ``spellings`` holds those that a
    plural may stand for. ``roots``, ``edges``, ``edge_parts`` and ``ends`` are the tree, as ``mark_terms`` walks it.
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
    def of(cls, terms: Sequence[str], language: str = "English") -> KnownTerms:
        """Return the tree of some terms, level by level."""
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
            pa.array([*names, *map(set_aside, LANGUAGES)], pa.string()),
            language,
            words,
            frozenset(part for name in names for part in name.split()),
            roots,
            np.array(edges, dtype=np.int32),
            np.array(edge_parts, dtype=np.int32),
            ends,
        )

    def count(self, texts: Texts) -> pa.Table:
        """Return how often each term stands in each text: columns ``item``, ``term``, ``count``, in that order."""
        from cube2net.kernels.terms import mark_terms

        tokens = tokenise(texts)
        part_of = np.array([self.words.get(self._spelling(word), -1) for word in tokens.words], dtype=np.int32)
        found = mark_terms(part_of[tokens.ids], tokens.starts, self.roots, self.edges, self.edge_parts, self.ends)
        spoken = languages(tokens)
        main = LANGUAGES.index(self.language) if self.language in LANGUAGES else UNKNOWN
        aside = (spoken != UNKNOWN) & (spoken != main)
        places = np.flatnonzero(found >= 0)
        items = tokens.texts[places].astype(np.int64)
        kept = ~aside[items]
        keys, counts = np.unique(items[kept] * len(self.names) + found[places][kept], return_counts=True)
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
        """Return a word as the known terms spell it: in the singular, where they have no plural of it."""
        if word in self.spellings:
            return word
        return next((singular for singular in singulars(word) if singular in self.spellings), word)
