"""Topics of items once the topics are known: the shares of each in every item, by folding-in, and labels from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.progress import Progress, silent
from cube2net.records.corpus import table
from cube2net.records.topics import ASSIGNED, NO_TEXT
from cube2net.topics.document_terms import FEWEST, OTHER, Bags
from cube2net.topics.preprocessing import SET_ASIDE

ROUNDS = 10
PARTS = 4
SLICE = 4096
SMOOTH = 0.01

APART = (NO_TEXT, OTHER, *sorted(label.capitalize() for label in SET_ASIDE))
_CODES = {label: -1 - number for number, label in enumerate(APART)}


def sharpen(bags: Bags, of_term: Array, in_text: Array, alpha: float, *, rounds: int, workers: int) -> Array:
    """Return the words of each topic for each term after rounds that share out every term by its text and itself."""
    for _ in range(rounds):
        of_term = _gather(bags, normalised(of_term), alpha, in_text, 1, workers)
    return of_term


def topic_words(bags: Bags, of_term: Array, alpha: float, *, workers: int, progress: Progress = silent) -> Array:
    """Return the words of each topic for each term over all items, terms outside the sample among them."""
    return _gather(bags, normalised(of_term), alpha, None, ROUNDS, workers, progress)


def normalised(of_term: Array) -> Array:
    """Return the probability of each term (rows) in each topic (columns)."""
    smooth = of_term + np.float32(SMOOTH)
    return np.ascontiguousarray(smooth / smooth.sum(axis=0, dtype=np.float64), dtype=np.float32)


def heaviest_topics(
    bags: Bags, probability: Array, alpha: float, *, most: int, workers: int, progress: Progress = silent
) -> tuple[Array, Array]:
    """Return the ``most`` heaviest topics of every item, heaviest first, and their shares in it."""
    from cube2net.kernels.topic_models import share_texts

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
    from cube2net.kernels.topic_models import share_texts

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


@dataclass(frozen=True, eq=False)
class ItemTopics:
    """Topics of the items of a batch, by ascending item; a topic of -1 or less is an entry of ``APART``."""

    item: Array
    topic: Array
    weight: Array


def labels_of(bags: Bags, topics: Array, weights: Array, min_weight: float, first: int = 0) -> ItemTopics:
    """Return the topics of a batch whose first item is item ``first`` of all.

    ``topics`` and ``weights`` are the heaviest topics of every item with terms (rows), heaviest first: the first
    of them is kept, and the others of a share of ``min_weight`` or more.
    """
    keep = weights >= min_weight
    keep[:, :1] = True
    aside = np.array([_CODES[label] for label in bags.apart.values()], dtype=np.int32)
    item = np.concatenate([bags.rows[np.nonzero(keep)[0]], np.fromiter(bags.apart, np.int64, len(aside))])
    order = np.argsort(item, kind="stable")
    return ItemTopics(
        (item[order] + first).astype(np.int32),
        np.concatenate([topics[keep], aside])[order],
        np.concatenate([weights[keep], np.ones(len(aside), dtype=np.float32)])[order],
    )


def join_batches(
    batches: Iterable[ItemTopics], topics: int, known: Collection[str] = ()
) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table of all items' topics, and the names of those that come after the ``topics`` learned.

    These are what is set aside, in the order of the items; languages of very few items share one name, but for names
    that are ``known`` already.
    """
    parts = list(batches)
    item, topic, weight = (
        np.concatenate([np.empty(0, kind), *(getattr(part, name) for part in parts)])
        for name, kind in (("item", np.int32), ("topic", np.int32), ("weight", np.float32))
    )
    del parts
    apart = np.flatnonzero(topic < 0)
    codes, begins, counts = np.unique(topic[apart], return_index=True, return_counts=True)
    extra = list[str]()
    place = np.zeros(len(APART) + 1, dtype=np.int32)
    for k in np.argsort(begins).tolist():
        label = APART[-1 - codes[k]]
        if counts[k] < FEWEST and label != NO_TEXT and label not in known:
            label = OTHER
        if label not in extra:
            extra.append(label)
        place[codes[k]] = topics + extra.index(label)
    topic[apart] = place[topic[apart]]
    assigned = table(
        ASSIGNED,
        item=pa.array(item, pa.int32()),
        topic=pa.array(topic, pa.int32()),
        weight=pa.array(weight, pa.float32()),
    )
    return assigned, tuple(extra)
