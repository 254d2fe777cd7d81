"""The longest known term at every place, against plain Python."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.kernels.terms import mark_terms
from cube2net.topics.known import KnownTerms

NO = -1


def plain(parts: list[int], starts: list[int], terms: list[tuple[int, ...]]) -> list[int]:
    """Return the number of the longest term that starts at every place and inside no other, or -1."""
    found = [NO] * len(parts)
    for first, last in pairwise(starts):
        at = first
        while at < last:
            here = [term for term in terms if tuple(parts[at : min(at + len(term), last)]) == term]
            longest = max(here, key=len, default=())
            if longest:
                found[at] = terms.index(longest)
            at += max(1, len(longest))
    return found


def test_the_longest_term_is_found_and_none_inside_it_or_across_texts() -> None:
    known = KnownTerms.of(["a", "a b", "a b c d", "b", "c d"])
    number = known.words
    texts = ["a b c a b c d a", "", "z b", "c", "d"]
    parts = np.array([number.get(word, NO) for text in texts for word in text.split()], dtype=np.int32)
    starts = np.array([0, 8, 8, 10, 11, 12])
    found = mark_terms(parts, starts, known.roots, known.edges, known.edge_parts, known.ends)
    names = ["" if term == NO else known.names[int(term)].as_py() for term in found]
    assert names == ["a b", "", "", "a b c d", "", "", "", "a", "", "b", "", ""]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(" ".join), max_size=12),
    st.lists(st.lists(st.sampled_from("abcdz"), max_size=12), max_size=5),
)
def test_any_terms_are_found_as_plain_python_finds_them(terms: list[str], texts: list[list[str]]) -> None:
    known = KnownTerms.of(terms)
    paths = [tuple(known.words[word] for word in term.split()) for term in sorted(set(terms))]
    parts = [known.words.get(word, NO) for text in texts for word in text]
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    tree = (known.roots, known.edges, known.edge_parts, known.ends)
    found = mark_terms(np.array(parts, dtype=np.int32), starts, *tree)
    assert found.tolist() == plain(parts, starts.tolist(), paths)
