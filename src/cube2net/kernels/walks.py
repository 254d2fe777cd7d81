"""Random walks over links, each made from three numbers alone: a seed, the node it starts at, and its round.

Nothing is stored beside the links but the running sums of the weights of every row, so a walk costs the same memory
on any network, and a corpus of walks need never be kept: a walk that is needed again is made again. Random numbers
come from a counter (SplitMix64): the numbers of one walk have nothing to do with those of another, and no thread has
to wait for its turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import inner, njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
UNIT = 2.0**-53

# So many proposals of a biased step are refused before all links of the row are weighed instead.
PROPOSALS = 32

# Instead of a place: no proposal was kept, or the walk goes back.
REFUSED = np.int64(-1)
RETURN = np.int64(-2)


@inner
def scramble(bits: Any) -> Any:
    """Return 64 random bits for every count of the counter."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inner
def counter(seed: Any, node: int, turn: int) -> Any:
    """Return where the counter of one walk starts; it moves on by ``GOLDEN`` for every number."""
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
def weight_of(indptr: Array, sums: Array, node: int) -> Any:
    """Return the weight of all links of a node together.

    ``sums`` are the running sums of the weights in every row; empty, every link weighs 1.
    """
    end = indptr[node + 1]
    return np.float64(end - indptr[node]) if len(sums) == 0 else sums[end - 1]


@inner
def place_of(indptr: Array, sums: Array, node: int, goal: float) -> Any:
    """Return the place of the link that the running sums of a node's row come to at ``goal``, below their total."""
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
    """Return the weight of the link at a place of a node's row."""
    if len(sums) == 0:
        return 1.0
    return sums[place] - sums[place - 1] if place > indptr[node] else sums[place]


@inner
def linked(indptr: Array, indices: Array, one: int, other: int) -> Any:
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
    """Return node2vec's factor of a step: ``back`` to where the walk came from, 1 to its neighbours, else ``away``."""
    if node == before:
        return back
    return 1.0 if linked(indptr, indices, before, node) else away


@inner
def weigh_all(
    indptr: Array, indices: Array, sums: Array, before: int, node: int, back: float, away: float, drawn: float
) -> Any:
    """Return the place of a random link of a node by the biased weights of all, at the share ``drawn`` of their sum."""
    start = indptr[node]
    end = indptr[node + 1]
    total = 0.0
    for place in range(start, end):
        total += weight_at(indptr, sums, node, place) * bias(indptr, indices, before, indices[place], back, away)
    left = drawn * total
    found = start
    for place in range(start, end):
        part = weight_at(indptr, sums, node, place) * bias(indptr, indices, before, indices[place], back, away)
        if part > 0.0:
            found = place
            left -= part
            if left < 0.0:
                break
    return found


@inner
def walk(transition: Any, node: Any, turn: int, path: Array) -> None:
    """Fill ``path`` with the nodes of one walk, the node it starts at first; the node must have a link.

    ``transition`` is the links (``indptr``, ``indices``, running ``sums``), ``back``, ``away``, the seed. A step goes
    along a link as likely as it is heavy. With ``back`` = 1/p or ``away`` = 1/q other than 1 it is node2vec's: the
    weight counts times the bias, by where the walk came from. Such a step is proposed with the factor
    top = max(1, away) for all links and kept with probability bias / top; what the way back has beyond top,
    (back − top) · its weight, is a proposal of its own, and always kept. So a great ``back`` does not make the other
    links wait. After some refusals all links are weighed, which is as exact.
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
        total = weight_of(indptr, sums, node)
        if plain or i == 1:
            bits += GOLDEN
            place = place_of(indptr, sums, node, share(scramble(bits)) * total)
        else:
            beyond = max(0.0, back - top) * came
            place = REFUSED
            for _ in range(PROPOSALS):
                bits += GOLDEN
                drawn = share(scramble(bits)) * (beyond + top * total) - beyond
                if drawn < 0.0:
                    place = RETURN
                    break
                place = place_of(indptr, sums, node, drawn / top)
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
    """Fill row i of ``paths`` with the walk of ``nodes[i]`` in one round."""
    for i in range(len(nodes)):
        walk(transition, nodes[i], turn, paths[i])
