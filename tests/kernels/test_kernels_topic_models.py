"""Gibbs sampling, sharing out texts and finding terms in them, against plain Python."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.kernels.topic_models import gibbs_block, mark_terms, share_texts, working_row
from cube2net.topics.document_terms import TermTrie

BETA, ALPHA = 0.05, 0.1
MASK = 2**64 - 1

NO = -1


def draw(bits: int) -> tuple[int, float]:
    bits ^= bits >> 12
    bits = (bits ^ (bits << 25)) & MASK
    bits ^= bits >> 27
    return bits, ((bits * 2685821657736338717 & MASK) >> 40) * 2.0**-24


def plain_gibbs(starts, texts, counts, assigned, in_text, of_term, in_all, beta, state) -> float:  # type: ignore[no-untyped-def]
    bits, likelihood = int(state[0]), 0.0
    for term in range(len(starts) - 1):
        for entry in range(starts[term], starts[term + 1]):
            text, count, old = texts[entry], counts[entry], assigned[entry]
            in_text[text, old] -= count
            of_term[term, old] -= count
            in_all[old] -= count
            chances = in_text[text] * (of_term[term] + beta) / in_all
            likelihood += count * np.log(chances.sum())
            bits, drawn = draw(bits)
            left = drawn * chances.sum() - chances[old]
            new = old
            if left >= 0:
                chances[old] = 0.0
                new = int(np.searchsorted(np.cumsum(chances), left, side="right"))
            assigned[entry] = new
            in_text[text, new] += count
            of_term[term, new] += count
            in_all[new] += count
    state[0] = bits
    return likelihood


def block(seed: int, texts: int, terms: int, entries: int, topics: int) -> tuple[Array, ...]:
    rng = np.random.default_rng(seed)
    term = np.sort(rng.integers(terms, size=entries))
    text = rng.integers(texts, size=entries).astype(np.int32)
    counts = rng.integers(1, 4, size=entries).astype(np.float32)
    assigned = rng.integers(topics, size=entries).astype(np.int32)
    in_text = np.full((texts, topics), ALPHA, dtype=np.float32)
    of_term = np.zeros((terms, topics), dtype=np.float32)
    np.add.at(in_text, (text, assigned), counts)
    np.add.at(of_term, (term, assigned), counts)
    in_all = of_term.sum(axis=0, dtype=np.float64) + terms * BETA
    starts = np.searchsorted(term, np.arange(terms + 1))
    state = rng.integers(1, 2**63, size=1, dtype=np.uint64)
    return starts, text, counts, assigned, in_text, of_term, in_all, state


@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_draws_what_plain_python_draws(seed: int) -> None:
    *arrays, state = block(seed, texts=6, terms=9, entries=80, topics=5)
    twins = [array.astype(np.float64) if array.dtype == np.float32 else array.copy() for array in arrays]
    twin_state = state.copy()
    for _ in range(3):
        got = gibbs_block(*arrays, BETA, state)
        expected = plain_gibbs(*twins, BETA, twin_state)
        assert got == pytest.approx(expected, rel=1e-4)
    assert arrays[3].tolist() == twins[3].tolist()
    assert state.tolist() == twin_state.tolist()


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 12), st.integers(1, 90), st.integers(1, 20))
def test_counts_stay_those_of_the_topics_assigned(seed: int, texts: int, terms: int, entries: int, topics: int) -> None:
    starts, text, counts, assigned, in_text, of_term, in_all, state = block(seed, texts, terms, entries, topics)
    gibbs_block(starts, text, counts, assigned, in_text, of_term, in_all, BETA, state)
    again = np.full_like(in_text, ALPHA)
    np.add.at(again, (text, assigned), counts)
    np.testing.assert_allclose(in_text, again, atol=1e-4)
    assert of_term.sum() == counts.sum()
    np.testing.assert_allclose(in_all, of_term.sum(axis=0) + terms * BETA, atol=1e-3)


def test_topics_are_drawn_with_their_probabilities() -> None:
    starts, text, counts = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32)
    weights = np.array([4.0, 1.0, 3.0, 2.0], dtype=np.float32)
    state = np.array([12345], dtype=np.uint64)
    seen = np.zeros(4)
    assigned = np.zeros(1, np.int32)
    in_text, of_term = weights[None].copy(), np.zeros((1, 4), np.float32)
    in_text[0, 0] += 1
    of_term[0, 0] += 1
    in_all = np.array([1.05, 0.05, 0.05, 0.05])
    for _ in range(20_000):
        gibbs_block(starts, text, counts, assigned, in_text, of_term, in_all, 0.05, state)
        seen[assigned[0]] += 1
    np.testing.assert_allclose(seen / seen.sum(), weights / weights.sum(), atol=0.015)


@pytest.mark.parametrize("rounds", [1, 4])
def test_texts_are_shared_out_as_plain_numpy_does(rounds: int) -> None:
    rng = np.random.default_rng(3)
    starts, terms = np.array([0, 3, 3, 7]), np.array([0, 2, 4, 1, 2, 3, 5], dtype=np.int32)
    counts = rng.integers(1, 4, size=7).astype(np.float32)
    of_term = rng.random((6, 4)).astype(np.float32)
    of_term[5] = 0.0
    in_text = rng.random((3, 4)).astype(np.float32)
    gathered = np.zeros_like(of_term)
    expected, all_shares, likelihood = in_text.astype(np.float64), np.zeros((6, 4)), 0.0
    for text in range(3):
        here = slice(starts[text], starts[text + 1])
        for step in range(rounds):
            mixed = (expected[text] + ALPHA) * of_term[terms[here]]
            total = mixed.sum(axis=1, keepdims=True)
            shares = counts[here, None] * mixed / np.where(total > 0, total, 1.0)
            expected[text] = shares.sum(axis=0)
            if step == rounds - 1:
                np.add.at(all_shares, terms[here], shares)
                seen = total[:, 0] > 0
                length = counts[here].sum() + 4 * ALPHA
                likelihood += (counts[here][seen] * np.log(total[seen, 0] / length)).sum()
    got = share_texts(starts, terms, counts, of_term, ALPHA, rounds, in_text, gathered)
    assert got == pytest.approx(likelihood, rel=1e-4)
    np.testing.assert_allclose(in_text, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gathered, all_shares, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("topics", [2, 5, 8, 20])
def test_working_rows_lie_further_apart_than_a_compiled_loop_looks(topics: int) -> None:
    rows = [working_row(topics) for _ in range(20)]
    begins = np.sort([row.ctypes.data for row in rows])
    assert all(row.shape == (topics,) and row.dtype == np.float32 for row in rows)
    # Loops look up to four vectors of 64 bytes ahead.
    assert (np.diff(begins) - 4 * topics).min() >= 4 * 64


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
    known = TermTrie.of(["a", "a b", "a b c d", "b", "c d"])
    number = known.words
    texts = ["a b c a b c d a", "", "z b", "c", "d"]
    parts = np.array([number.get(word, NO) for text in texts for word in text.split()], dtype=np.int32)
    starts = np.array([0, 8, 8, 10, 11, 12])
    found = mark_terms(parts, starts, known.roots, known.edges, known.edge_parts, known.ends)
    names = ["" if term == NO else known.names[int(term)].as_py() for term in found]
    assert names == ["a b", "", "", "a b c d", "", "", "", "a", "", "b", "", ""]


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(" ".join), max_size=12),
    st.lists(st.lists(st.sampled_from("abcdz"), max_size=12), max_size=5),
)
def test_any_terms_are_found_as_plain_python_finds_them(terms: list[str], texts: list[list[str]]) -> None:
    known = TermTrie.of(terms)
    paths = [tuple(known.words[word] for word in term.split()) for term in sorted(set(terms))]
    parts = [known.words.get(word, NO) for text in texts for word in text]
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    tree = (known.roots, known.edges, known.edge_parts, known.ends)
    found = mark_terms(np.array(parts, dtype=np.int32), starts, *tree)
    assert found.tolist() == plain(parts, starts.tolist(), paths)
