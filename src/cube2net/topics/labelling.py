"""Topics given to items batch by batch: each batch by itself, then all of them put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.records.corpus import table
from cube2net.records.topics import ASSIGNED, NO_TEXT
from cube2net.topics.bags import FEWEST, OTHER, Bags
from cube2net.topics.language import SET_ASIDE

APART = (NO_TEXT, OTHER, *sorted(label.capitalize() for label in SET_ASIDE))
_CODES = {label: -1 - number for number, label in enumerate(APART)}


@dataclass(frozen=True, eq=False)
class Labels:
    """Topics of the items of a batch, by ascending item; a topic of -1 or less is an entry of ``APART``."""

    item: Array
    topic: Array
    weight: Array


def labels_of(bags: Bags, topics: Array, weights: Array, min_weight: float, first: int = 0) -> Labels:
    """Return the topics of a batch whose first item is item ``first`` of all.

    ``topics`` and ``weights`` are the heaviest topics of every item with terms (rows), heaviest first: the first
    of them is kept, and the others of a share of ``min_weight`` or more.
    """
    keep = weights >= min_weight
    keep[:, :1] = True
    aside = np.array([_CODES[label] for label in bags.apart.values()], dtype=np.int32)
    item = np.concatenate([bags.rows[np.nonzero(keep)[0]], np.fromiter(bags.apart, np.int64, len(aside))])
    order = np.argsort(item, kind="stable")
    return Labels(
        (item[order] + first).astype(np.int32),
        np.concatenate([topics[keep], aside])[order],
        np.concatenate([weights[keep], np.ones(len(aside), dtype=np.float32)])[order],
    )


def put_together(
    batches: Iterable[Labels], topics: int, known: Collection[str] = ()
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
