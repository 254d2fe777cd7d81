"""New texts counted by terms that are known already."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cube2net.records.corpus import TERMS, table
from cube2net.topics.language import LANGUAGES, UNKNOWN, languages, set_aside
from cube2net.topics.plurals import singulars
from cube2net.topics.tokens import tokenise


def count_known(texts: Sequence[str | None], terms: Sequence[str], language: str = "English") -> pa.Table:
    """Return how often each known term stands in each text; where terms overlap, the longest counts.

    A text in another language is set aside: it becomes the one term that says so.

    >>> count_known(["Neural machine translations"], ["machine translation", "neural", "machine"]).to_pylist()
    [{'item': 0, 'term': 'machine translation', 'count': 1}, {'item': 0, 'term': 'neural', 'count': 1}]
    """
    known = set(terms)
    parts = {part for term in terms for part in term.split()}
    openings = {term.partition(" ")[0] for term in terms}
    longest = max((term.count(" ") + 1 for term in terms), default=1)
    tokens = tokenise(texts)
    spelled = [_spelling(word, parts) for word in tokens.words]
    spoken = languages(tokens).tolist()
    counts: dict[tuple[int, str], int] = {}
    for item, (first, last) in enumerate(pairwise(tokens.starts.tolist())):
        if spoken[item] != UNKNOWN and LANGUAGES[spoken[item]] != language:
            counts[item, set_aside(LANGUAGES[spoken[item]])] = 1
            continue
        words = [spelled[i] for i in tokens.ids[first:last].tolist()]
        at = 0
        while at < len(words):
            size = min(longest, len(words) - at) if words[at] in openings else 0
            while size and " ".join(words[at : at + size]) not in known:
                size -= 1
            if size:
                key = (item, " ".join(words[at : at + size]))
                counts[key] = counts.get(key, 0) + 1
            at += max(1, size)
    rows = sorted(counts)
    return table(
        TERMS,
        item=pa.array(np.array([item for item, _ in rows], dtype=np.int32)),
        term=pa.array([term for _, term in rows], pa.string()),
        count=pa.array(np.array([counts[row] for row in rows], dtype=np.int32)),
    )


def _spelling(word: str, parts: set[str]) -> str:
    """Return a word as the known terms spell it: in the singular, where they have no plural of it."""
    if word in parts:
        return word
    return next((singular for singular in singulars(word) if singular in parts), word)
