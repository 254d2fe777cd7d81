"""How much of every item belongs to every topic, once the topics are known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from cube2net.array_types import Array
from cube2net.progress import Progress, silent
from cube2net.topics.bags import Bags

ROUNDS = 10
PARTS = 4
SLICE = 4096
SMOOTH = 0.01


def sharpen(bags: Bags, of_term: Array, in_text: Array, alpha: float, *, rounds: int, workers: int) -> Array:
    """Return the words of each topic for each term after rounds that share out every term by its text and itself."""
    for _ in range(rounds):
        of_term = _gather(bags, normalised(of_term), alpha, in_text, 1, workers)
    return of_term


def gather(bags: Bags, of_term: Array, alpha: float, *, workers: int, progress: Progress = silent) -> Array:
    """Return the words of each topic for each term over all items, terms outside the sample among them."""
    return _gather(bags, normalised(of_term), alpha, None, ROUNDS, workers, progress)


def normalised(of_term: Array) -> Array:
    """Return the probability of each term (rows) in each topic (columns)."""
    smooth = of_term + np.float32(SMOOTH)
    return np.ascontiguousarray(smooth / smooth.sum(axis=0, dtype=np.float64), dtype=np.float32)


def heaviest(
    bags: Bags, probability: Array, alpha: float, *, most: int, workers: int, progress: Progress = silent
) -> tuple[Array, Array]:
    """Return the ``most`` heaviest topics of every item, heaviest first, and their shares in it."""
    from cube2net.kernels.topics import share_texts

    none = np.empty((0, 1), dtype=np.float32)
    topics = np.empty((len(bags), most), dtype=np.int32)
    weights = np.empty((len(bags), most), dtype=np.float32)

    def fill(first: int) -> int:
        last = min(first + SLICE, len(bags))
        in_text = _even(bags, first, last, probability.shape[1])
        share_texts(bags.starts[first : last + 1], bags.terms, bags.counts, probability, alpha, ROUNDS, in_text, none)
        in_text /= in_text.sum(axis=1, keepdims=True)
        topics[first:last] = np.argsort(-in_text, axis=1, kind="stable")[:, :most]
        weights[first:last] = np.take_along_axis(in_text, topics[first:last], axis=1)
        return last

    with ThreadPoolExecutor(workers) as pool:
        for last in pool.map(fill, range(0, len(bags), SLICE)):
            progress("labels", last, len(bags))
    return topics, weights


def _gather(
    bags: Bags,
    probability: Array,
    alpha: float,
    in_text: Array | None,
    rounds: int,
    workers: int,
    progress: Progress = silent,
) -> Array:
    """Return the words of each topic for each term; ``in_text`` is updated where it is given.

    The items are cut into the same few parts whatever the number of workers, so that sums are
    made in the same order.
    """
    from cube2net.kernels.topics import share_texts

    edges = np.linspace(0, len(bags), PARTS + 1).astype(np.int64)

    def fill(part: int) -> Array:
        gathered = np.zeros_like(probability)
        for first in range(edges[part], edges[part + 1], SLICE):
            last = min(first + SLICE, int(edges[part + 1]))
            held = _even(bags, first, last, probability.shape[1]) if in_text is None else in_text[first:last]
            starts = bags.starts[first : last + 1]
            share_texts(starts, bags.terms, bags.counts, probability, alpha, rounds, held, gathered)
        return gathered

    with ThreadPoolExecutor(workers) as pool:
        total = np.zeros_like(probability)
        for done, gathered in enumerate(pool.map(fill, range(PARTS)), start=1):
            total += gathered
            progress("terms of topics", done, PARTS)
    return total


def _even(bags: Bags, first: int, last: int, topics: int) -> Array:
    """Return texts that belong to every topic alike."""
    lengths = np.add.reduceat(bags.counts[: bags.starts[last]], bags.starts[first:last])
    return np.repeat(lengths[:, None] / np.float32(topics), topics, axis=1).astype(np.float32)
