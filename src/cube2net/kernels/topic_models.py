"""Topic models, compiled: terms found in texts, Gibbs sampling over a block of texts × terms, and folding-in."""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit

# Unused numbers on both sides of a working row. Compiled loops reorder sums if a row they write is within a few vectors
# of one they read: without the gap, the last bits of a result would depend on addresses.
GAP = 128


@njit(cache=True, nogil=True)
def working_row(size: int) -> Array:
    """Return an uninitialised row with a gap on both sides."""
    return np.empty(size + 2 * GAP, dtype=np.float32)[GAP : GAP + size]


@njit(cache=True, nogil=True, fastmath=True)
def gibbs_block(
    starts: Array,
    texts: Array,
    counts: Array,
    assigned: Array,
    in_text: Array,
    of_term: Array,
    in_all: Array,
    beta: float,
    state: Array,
) -> float:
    """Draw a new topic for every entry of a block of texts × terms; return the sum of the log-likelihoods.

    Entries ``starts[i]:starts[i + 1]`` belong to term ``i``; entry ``e`` occurs ``counts[e]`` times in text
    ``texts[e]``, always with topic ``assigned[e]``. ``in_text`` counts the words of each topic in each text,
    plus α; ``of_term`` those of each term; ``in_all`` those of each topic, plus Vβ. With the entry itself left
    out, a topic is drawn with probability ∝ in_text · (of_term + β) / in_all. All are updated in place;
    ``state`` holds the random generator's 64 bits.
    """
    topics = in_all.shape[0]
    share = working_row(topics)
    small = np.float32(beta)
    bits = state[0]
    likelihood = 0.0
    for term in range(starts.shape[0] - 1):
        if starts[term] == starts[term + 1]:
            continue
        row = of_term[term]
        for k in range(topics):
            share[k] = (row[k] + small) / np.float32(in_all[k])
        for entry in range(starts[term], starts[term + 1]):
            text = texts[entry]
            count = np.float32(counts[entry])
            old = assigned[entry]
            total = np.float32(0.0)
            for k in range(topics):
                total += in_text[text, k] * share[k]
            # The entry itself is subtracted from its old topic's share only here, which is cheaper than writing to
            # memory what is read again at once.
            less = (row[old] - count + small) / np.float32(in_all[old] - count)
            stay = max(np.float32(0.0), in_text[text, old] - count) * less
            total += stay - in_text[text, old] * share[old]
            likelihood += counts[entry] * np.log(max(total, np.float32(1e-30)))
            # xorshift64*: its upper 24 bits make a number in [0, 1).
            bits ^= bits >> np.uint64(12)
            bits ^= bits << np.uint64(25)
            bits ^= bits >> np.uint64(27)
            drawn = np.float32((bits * np.uint64(2685821657736338717)) >> np.uint64(40)) * np.float32(2.0**-24)
            # The old topic comes first in the draw: more than half of the entries keep it and change nothing.
            left = drawn * total - stay
            if left < 0:
                continue
            in_text[text, old] -= count
            row[old] -= count
            in_all[old] -= count
            share[old] = 0.0
            new = 0
            left -= in_text[text, 0] * share[0]
            while left >= 0 and new < topics - 1:
                new += 1
                left -= in_text[text, new] * share[new]
            share[old] = less
            assigned[entry] = new
            in_text[text, new] += count
            row[new] += count
            in_all[new] += count
            share[new] = (row[new] + small) / np.float32(in_all[new])
    state[0] = bits
    return likelihood


@njit(cache=True, nogil=True, fastmath=True)
def share_texts(
    starts: Array,
    terms: Array,
    counts: Array,
    of_term: Array,
    alpha: float,
    rounds: int,
    in_text: Array,
    gathered: Array,
) -> float:
    """Fill ``in_text`` with the words of each topic in each text; return the sum of the log-likelihoods.

    Text ``i`` has the terms ``terms[starts[i]:starts[i + 1]]``, each ``counts`` times. Every round distributes each
    term among the topics, ∝ (in_text + α) · of_term, starting from the values of ``in_text``. In the last round the
    shares are added to the terms' rows of ``gathered``, unless it has no rows. Terms of no topic are skipped.
    """
    topics = of_term.shape[1]
    before = working_row(topics)
    after = working_row(topics)
    share = working_row(topics)
    small = np.float32(alpha)
    gather = gathered.shape[0] > 0
    likelihood = 0.0
    for text in range(starts.shape[0] - 1):
        words = np.float32(0.0)
        for entry in range(starts[text], starts[text + 1]):
            words += counts[entry]
        for k in range(topics):
            after[k] = in_text[text, k]
        for step in range(rounds):
            last = step == rounds - 1
            for k in range(topics):
                before[k] = after[k] + small
                after[k] = 0.0
            for entry in range(starts[text], starts[text + 1]):
                term = terms[entry]
                total = np.float32(0.0)
                for k in range(topics):
                    share[k] = before[k] * of_term[term, k]
                    total += share[k]
                if total <= 0.0:
                    continue
                scale = np.float32(counts[entry]) / total
                for k in range(topics):
                    after[k] += share[k] * scale
                if last:
                    likelihood += counts[entry] * np.log(total / (words + topics * small))
                    if gather:
                        for k in range(topics):
                            gathered[term, k] += share[k] * scale
        for k in range(topics):
            in_text[text, k] = after[k]
    return likelihood


@njit(cache=True, nogil=True)
def mark_terms(parts: Array, starts: Array, roots: Array, edges: Array, edge_parts: Array, ends: Array) -> Array:
    """Return the term that starts at every position, or -1; matches do not overlap, and the longest is taken.

    Text ``i`` is ``parts[starts[i]:starts[i + 1]]``, a part of terms by number or -1. The terms are a tree whose
    first ``heads`` nodes are their first parts: part ``p`` leads to node ``roots[p]`` (-1: no term starts with it).
    From node ``n`` the parts ``edge_parts[edges[n]:edges[n + 1]]`` (ascending) lead on, edge ``e`` to node
    ``heads + e``. ``ends[n]`` is the term that node ``n`` completes, or -1.
    """
    terms = np.full(parts.shape[0], -1, dtype=np.int32)
    heads = ends.shape[0] - edge_parts.shape[0]
    for text in range(starts.shape[0] - 1):
        at, last = starts[text], starts[text + 1]
        while at < last:
            size = 0
            node = roots[parts[at]] if parts[at] >= 0 else -1
            further = at + 1
            while node >= 0:
                if ends[node] >= 0:
                    terms[at] = ends[node]
                    size = further - at
                if further == last or parts[further] < 0:
                    break
                part = parts[further]
                low, high = edges[node], edges[node + 1]
                while low < high:
                    middle = (low + high) // 2
                    if edge_parts[middle] < part:
                        low = middle + 1
                    else:
                        high = middle
                node = low + heads if low < edges[node + 1] and edge_parts[low] == part else -1
                further += 1
            at += max(1, size)
    return terms
