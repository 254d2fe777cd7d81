"""Node embeddings: random walks over links, and skip-gram with negative sampling.

**Walks** depend only on a seed, their start node and their round. Besides the links, only the running sums of the
weights of every row are stored; walks are never stored, but computed again when needed. Random numbers come from a
counter (SplitMix64), so walks are independent of each other and of the number of threads.

**Skip-gram**: the vectors of inputs learn to distinguish a true output from noise. All inputs of one true output share
the same noise and are updated one after another, as in word2vec. Six outputs (the true one and five of noise) are kept
in a small buffer meanwhile, so that a row of inputs is read once for all six. Only the loops over dimensions are
compiled with permission to reorder sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uintp

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import inner, njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
UNIT = 2.0**-53

PROPOSALS = 32
"""Rejected proposals of a biased step after which all links of the row are weighed instead."""

# Instead of a position: no proposal was accepted, or the walk goes back.
REFUSED = np.int64(-1)
RETURN = np.int64(-2)


@inner
def scramble(bits: Any) -> Any:
    """Return 64 random bits for a state of the counter."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inner
def counter(seed: Any, node: int, turn: int) -> Any:
    """Return the initial counter of a walk; it is increased by ``GOLDEN`` for every number."""
    return scramble(scramble(seed + np.uint64(node) * GOLDEN) + np.uint64(turn) * GOLDEN)


@inner
def share(bits: Any) -> Any:
    """Return a number in [0, 1) from 64 random bits."""
    return np.float64(bits >> np.uint64(11)) * UNIT


@njit(cache=True, nogil=True)
def running_sums(indptr: Array, weights: Array, sums: Array) -> None:
    """Fill ``sums`` with the running sums of the weights in every row."""
    for node in range(len(indptr) - 1):
        total = 0.0
        for place in range(indptr[node], indptr[node + 1]):
            total += weights[place]
            sums[place] = total


@inner
def sum_weights(indptr: Array, sums: Array, node: int) -> Any:
    """Return the sum of the weights of a node's links.

    ``sums`` are the running sums of the weights in every row; if empty, all weights are 1.
    """
    end = indptr[node + 1]
    return np.float64(end - indptr[node]) if len(sums) == 0 else sums[end - 1]


@inner
def find_link(indptr: Array, sums: Array, node: int, goal: float) -> Any:
    """Return the position of the link at which the running sums of a node's row exceed ``goal``."""
    start = indptr[node]
    last = indptr[node + 1] - 1
    if len(sums) == 0:
        return min(start + np.int64(goal), last)
    while start < last:
        middle = (start + last) >> 1
        if sums[middle] > goal:
            last = middle
        else:
            start = middle + 1
    return start


@inner
def weight_at(indptr: Array, sums: Array, node: int, place: int) -> Any:
    """Return the weight of the link at a position of a node's row."""
    if len(sums) == 0:
        return 1.0
    return sums[place] - sums[place - 1] if place > indptr[node] else sums[place]


@inner
def are_linked(indptr: Array, indices: Array, one: int, other: int) -> Any:
    """Return whether two nodes are linked, by a search in the shorter of their rows."""
    if indptr[one + 1] - indptr[one] > indptr[other + 1] - indptr[other]:
        one, other = other, one
    start = indptr[one]
    end = indptr[one + 1]
    while start < end:
        middle = (start + end) >> 1
        if indices[middle] < other:
            start = middle + 1
        else:
            end = middle
    return start < indptr[one + 1] and indices[start] == other


@inner
def bias(indptr: Array, indices: Array, before: int, node: int, back: float, away: float) -> Any:
    """Return node2vec's factor of a step: ``back`` to the previous node, 1 to its neighbours, else ``away``."""
    if node == before:
        return back
    return 1.0 if are_linked(indptr, indices, before, node) else away


@inner
def weigh_all(
    indptr: Array, indices: Array, sums: Array, before: int, node: int, back: float, away: float, drawn: float
) -> Any:
    """Return the position of a random link by the biased weights, at the share ``drawn`` of their sum."""
    start = indptr[node]
    end = indptr[node + 1]
    total = 0.0
    for place in range(start, end):
        total += weight_at(indptr, sums, node, place) * bias(indptr, indices, before, indices[place], back, away)
    left = drawn * total
    position = start
    for place in range(start, end):
        part = weight_at(indptr, sums, node, place) * bias(indptr, indices, before, indices[place], back, away)
        if part > 0.0:
            position = place
            left -= part
            if left < 0.0:
                break
    return position


@inner
def walk(transition: Any, node: Any, turn: int, path: Array) -> None:
    """Fill ``path`` with the nodes of one walk, the start node first; the node must have a link.

    ``transition`` is the links (``indptr``, ``indices``, running ``sums``), ``back``, ``away`` and the seed. A link is
    drawn in proportion to its weight, and with ``back`` = 1/p or ``away`` = 1/q other than 1 to weight · bias, as in
    node2vec. These steps use rejection sampling: a link is proposed with the factor top = max(1, away) and accepted
    with probability bias / top; the excess of the previous node, (back − top) · its weight, is a proposal of its own
    and always accepted, so that a large ``back`` does not cause rejections. After some rejections all links are
    weighed, which is exact too.
    """
    indptr, indices, sums, back, away, seed = transition
    bits = counter(seed, node, turn)
    plain = back == 1.0 and away == 1.0
    top = max(1.0, away)
    least = min(1.0, away, back) / top
    path[0] = node
    before = node
    came = 0.0
    for i in range(1, len(path)):
        total = sum_weights(indptr, sums, node)
        if plain or i == 1:
            bits += GOLDEN
            place = find_link(indptr, sums, node, share(scramble(bits)) * total)
        else:
            beyond = max(0.0, back - top) * came
            place = REFUSED
            for _ in range(PROPOSALS):
                bits += GOLDEN
                drawn = share(scramble(bits)) * (beyond + top * total) - beyond
                if drawn < 0.0:
                    place = RETURN
                    break
                place = find_link(indptr, sums, node, drawn / top)
                bits += GOLDEN
                kept = share(scramble(bits))
                if kept < least or kept * top < bias(indptr, indices, before, indices[place], back, away):
                    break
                place = REFUSED
            if place == REFUSED:
                bits += GOLDEN
                place = weigh_all(indptr, indices, sums, before, node, back, away, share(scramble(bits)))
            if place == RETURN:
                before, node = node, before
                path[i] = node
                continue
        came = weight_at(indptr, sums, node, place)
        before = node
        node = indices[place]
        path[i] = node


@njit(cache=True, nogil=True)
def fill_walks(transition: Any, nodes: Array, turn: int, paths: Array) -> None:
    """Fill row i of ``paths`` with the walk from ``nodes[i]`` in a round."""
    for i in range(len(nodes)):
        walk(transition, nodes[i], turn, paths[i])


# The number of outputs in the buffer, and their distance: longer than a row (so that the compiler knows that they do
# not overlap), and such that no two of them, nor their neighbours, share the lower 12 bits of their addresses.
SLOTS = 6
APART = 1184
S1, S2, S3, S4, S5 = (APART * slot for slot in range(1, SLOTS))

BITS = 52
"""The number of random bits that choose a node of the noise."""
TRIES = 16
"""The attempts to draw a node that is allowed as noise."""

ZERO, ONCE = np.float32(0.0), np.float32(1.0)
HALF = np.float32(0.5)
BEYOND = np.float32(12.0)
QUARTER = np.float32(0.25)
A0, A1, A2 = np.float32(135135.0), np.float32(17325.0), np.float32(378.0)
B1, B2, B3 = np.float32(62370.0), np.float32(3150.0), np.float32(28.0)


def make_slots() -> tuple[Array, Array]:
    """Return a buffer as one row, and a view with a row per slot; zeros keep products with unused slots finite."""
    slots = np.zeros(SLOTS * APART, np.float32)
    return slots, slots.reshape(SLOTS, APART)


@inner(fastmath=True, error_model="numpy")
def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(−x)) with an error below 1e-5, and its value at ±12 beyond ±12.

    It is 1/2 + t / (1 + t²) with t = tanh(x / 4) = above / under, by seven terms of Lambert's continued fraction. There
    is no table and no branch, and the error is below 2e-7 for x within ±6.
    """
    x = max(x, -BEYOND)
    x = min(x, BEYOND) * QUARTER
    q = x * x
    above = x * (A0 + q * (A1 + q * (A2 + q)))
    under = A0 + q * (B1 + q * (B2 + q * B3))
    return HALF + above * under / (under * under + above * above)


@inner
def take(slots: Array, slot: Any, rows: Array, row: Any) -> None:
    """Copy a row into a slot."""
    for k in range(rows.shape[1]):
        slots[slot, k] = rows[row, k]


@inner
def put(slots: Array, slot: Any, rows: Array, row: Any) -> None:
    """Copy a slot into a row."""
    for k in range(rows.shape[1]):
        rows[row, k] = slots[slot, k]


@inner(fastmath=True, error_model="numpy")
def meet(rows: Array, row: Any, slots: Array, aim: Any, rates: Array) -> None:
    """Update an input and six outputs by one gradient step, each with its rate.

    The objective is aim · log σ(x·y₀) + (1 − aim) · log σ(−x·y₀) + Σ log σ(−x·y), with the gradient at the start of the
    step.
    """
    p0 = p1 = p2 = p3 = p4 = p5 = ZERO
    for k in range(rows.shape[1]):
        x = rows[row, k]
        p0 += x * slots[k]
        p1 += x * slots[k + S1]
        p2 += x * slots[k + S2]
        p3 += x * slots[k + S3]
        p4 += x * slots[k + S4]
        p5 += x * slots[k + S5]
    p0 = rates[0] * (aim - sigmoid(p0))
    p1 = -rates[1] * sigmoid(p1)
    p2 = -rates[2] * sigmoid(p2)
    p3 = -rates[3] * sigmoid(p3)
    p4 = -rates[4] * sigmoid(p4)
    p5 = -rates[5] * sigmoid(p5)
    for k in range(rows.shape[1]):
        x = rows[row, k]
        y0, y1, y2 = slots[k], slots[k + S1], slots[k + S2]
        y3, y4, y5 = slots[k + S3], slots[k + S4], slots[k + S5]
        slots[k] = y0 + p0 * x
        slots[k + S1] = y1 + p1 * x
        slots[k + S2] = y2 + p2 * x
        slots[k + S3] = y3 + p3 * x
        slots[k + S4] = y4 + p4 * x
        slots[k + S5] = y5 + p5 * x
        rows[row, k] = x + p0 * y0 + p1 * y1 + p2 * y2 + p3 * y3 + p4 * y4 + p5 * y5


@inner
def pick(chances: Any, bits: Any) -> Any:
    """Return a node drawn by its share of the running sums, from 64 random bits.

    ``chances`` are running sums, which end at 2**52, and a guide: the first node of each of a power of two of equal
    parts of that range. The search takes a step or two from there.
    """
    sums, guide = chances
    number = bits >> np.uint64(64 - BITS)
    node = np.int64(guide[number // np.uint64((1 << BITS) // len(guide))])
    while sums[node] <= number:
        node += 1
    return node


@inner
def draw_noise(
    chances: Any, noise: int, bits: Any, one: int, other: int, targets: Array, times: Array
) -> tuple[int, Any]:
    """Draw ``noise`` nodes other than two given ones; append the distinct ones to ``targets``, and count their draws.

    Return the number of targets, and the counter of random numbers.
    """
    count = 1
    for _ in range(noise):
        for _ in range(TRIES):
            bits += GOLDEN
            node = pick(chances, scramble(bits))
            if node != one and node != other:
                break
        row = uintp(node)
        at = 1
        while at < count and targets[at] != row:
            at += 1
        if at == count:
            targets[at] = row
            times[at] = ZERO
            count += 1
        times[at] += ONCE
    return count, bits


@njit(nogil=True, inline="always")
def learn(
    inputs: Array,
    outputs: Array,
    sources: Array,
    many: int,
    targets: Array,
    times: Array,
    count: int,
    rate: Any,
    slots: Array,
    table: Array,
    rates: Array,
) -> None:
    """Update the first ``many`` sources with the true output ``targets[0]`` and the noise after it.

    The ``count`` targets are distinct, and ``times`` are their multiplicities. They are processed six at a time;
    ``slots`` and ``table`` are two views of the buffer, and ``rates`` is scratch.
    """
    for first in range(0, count, SLOTS):
        there = min(SLOTS, count - first)
        for slot in range(there):
            rates[slot] = rate * times[first + slot]
            take(table, uintp(slot), outputs, targets[first + slot])
        for slot in range(there, SLOTS):
            rates[slot] = ZERO
        aim = ONCE if first == 0 else ZERO
        for i in range(many):
            meet(inputs, sources[i], slots, aim, rates)
        for slot in range(there):
            put(table, uintp(slot), outputs, targets[first + slot])


@njit(cache=True, nogil=True)
def learn_walks(
    paths: Array,
    start: int,
    inputs: Array,
    outputs: Array,
    chances: Any,
    window: int,
    noise: int,
    draws: Any,
    epoch: int,
    rate: float,
    fall: float,
    slots: Array,
    table: Array,
) -> None:
    """Learn from walks, the rows of ``paths``: a node is the true output of the nodes near it on the walk.

    The window of a node is drawn from 1 to ``window`` steps either way. The rate falls by ``fall`` per walk, and
    ``start`` walks came before.
    """
    length = paths.shape[1]
    sources = np.empty(2 * window, np.uintp)
    targets = np.empty(noise + 1, np.uintp)
    times = np.empty(noise + 1, np.float32)
    rates = np.empty(SLOTS, np.float32)
    times[0] = ONCE
    for i in range(len(paths)):
        bits = counter(draws, paths[i, 0], epoch)
        step = np.float32(rate - fall * (start + i))
        for j in range(length):
            bits += GOLDEN
            reach = 1 + np.int64(share(scramble(bits)) * window)
            first = max(np.int64(0), j - reach)
            last = min(np.int64(length), j + reach + 1)
            many = 0
            for near in range(first, last):
                if near != j:
                    sources[many] = uintp(paths[i, near])
                    many += 1
            targets[0] = uintp(paths[i, j])
            count, bits = draw_noise(chances, noise, bits, paths[i, j], paths[i, j], targets, times)
            learn(inputs, outputs, sources, many, targets, times, count, step, slots, table, rates)


@njit(cache=True, nogil=True)
def learn_links(
    links: Any,
    first: int,
    drawn: int,
    inputs: Array,
    outputs: Array,
    ends: Any,
    chances: Any,
    noise: int,
    draws: Any,
    rate: float,
    fall: float,
    slots: Array,
    table: Array,
) -> None:
    """Learn from ``drawn`` links drawn in proportion to their weights, numbered from ``first`` on.

    ``links`` are ``indptr``, ``indices`` and running sums. One of the ``ends`` is drawn by the sum of its weights, and
    then one of its links. That end is the true output and the other one the input; ``outputs`` may be ``inputs``
    itself. The rate falls by ``fall`` per link.
    """
    indptr, indices, sums = links
    source = np.empty(1, np.uintp)
    targets = np.empty(noise + 1, np.uintp)
    times = np.empty(noise + 1, np.float32)
    rates = np.empty(SLOTS, np.float32)
    times[0] = ONCE
    for i in range(drawn):
        bits = counter(draws, first + i, 0) + GOLDEN
        end = pick(ends, scramble(bits))
        bits += GOLDEN
        place = find_link(indptr, sums, end, share(scramble(bits)) * sum_weights(indptr, sums, end))
        source[0] = uintp(indices[place])
        targets[0] = uintp(end)
        count, bits = draw_noise(chances, noise, bits, end, indices[place], targets, times)
        learn(inputs, outputs, source, 1, targets, times, count, np.float32(rate - fall * i), slots, table, rates)
