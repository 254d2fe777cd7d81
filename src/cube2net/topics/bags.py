"""Items as bags of terms: a matrix, with the items that have no text or another language kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.arrays import offsets
from cube2net.records.topics import NO_TEXT
from cube2net.topics.language import SET_ASIDE

FEWEST = 10
OTHER = "other language text"
RESERVED = frozenset({NO_TEXT, OTHER, *(label.capitalize() for label in SET_ASIDE)})


@dataclass(frozen=True, eq=False)
class Bags:
    """The items that have terms, in their order: item ``rows[i]`` has ``terms[starts[i]:starts[i + 1]]``.

    ``counts`` says how often each term stands there, ``vocabulary`` names the terms. ``apart`` gives every
    item without terms of its own a label: its language, or that it has no text.
    """

    rows: Array
    starts: Array
    terms: Array
    counts: Array
    vocabulary: tuple[str, ...]
    apart: dict[int, str]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: Array) -> Bags:
        """Return some of the items with terms, by position, ascending."""
        sizes = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.starts[which] - starts[:-1], sizes) + np.arange(starts[-1])
        return Bags(self.rows[which], starts, self.terms[at], self.counts[at], self.vocabulary, {})


def make_bags(table: pa.Table, items: int, vocabulary: Sequence[str] | None = None, *, fewest: int = FEWEST) -> Bags:
    """Return the bags of ``items`` items from a table of terms; given a vocabulary, other terms are left out.

    Languages of fewer than ``fewest`` items share one label.

    >>> table = pa.table({"item": [2, 2, 0], "term": ["parsing", "trees", "french text"], "count": [1, 2, 1]})
    >>> bags = make_bags(table, 4)
    >>> bags.rows.tolist(), bags.vocabulary, bags.apart
    ([2], ('parsing', 'trees'), {0: 'other language text', 1: 'no text', 3: 'no text'})
    """
    table = table.filter(pc.and_(pc.greater(table["count"], 0), pc.is_valid(table["term"])))
    item = table["item"].to_numpy().astype(np.int64)
    aside = pc.is_in(table["term"], value_set=pa.array(sorted(SET_ASIDE))).to_numpy(zero_copy_only=False)
    aside &= (np.bincount(item, minlength=items) == 1)[item] if len(item) else True
    apart = _set_aside(item[aside], table["term"].filter(pa.array(aside)).to_pylist(), fewest)
    table, item = table.filter(pa.array(~aside)), item[~aside]
    names = sorted(pc.unique(table["term"]).to_pylist()) if vocabulary is None else list(vocabulary)
    code = pc.fill_null(pc.index_in(table["term"], value_set=pa.array(names, pa.string())), -1).to_numpy()
    known = code >= 0
    item, code, count = item[known], code[known], table["count"].to_numpy()[known]
    key = item * max(1, len(names)) + code
    if bool(np.any(key[1:] <= key[:-1])):
        key, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, weights=count, minlength=len(key))
        item, code = np.divmod(key, max(1, len(names)))
    has = np.bincount(item, minlength=items) > 0
    for row in np.flatnonzero(~has).tolist():
        apart.setdefault(row, NO_TEXT)
    rows = np.flatnonzero(has)
    starts = offsets(np.cumsum(has)[item] - 1, len(rows))
    return Bags(
        rows, starts, code.astype(np.int32), count.astype(np.float32), tuple(names), dict(sorted(apart.items()))
    )


def _set_aside(rows: Array, labels: list[str], fewest: int) -> dict[int, str]:
    """Return the label of every item in another language; languages of very few items share one."""
    often = {label: labels.count(label) for label in set(labels)}
    named = {label: label.capitalize() if often[label] >= fewest else OTHER for label in often}
    return dict(zip(rows.tolist(), (named[label] for label in labels), strict=True))
