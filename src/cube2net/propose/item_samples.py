"""A sample of the items of a corpus, the objects they mention, and the labels they have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.records import Corpus
from cube2net.records.column_kinds import distinct_pairs, texts_of_rows
from cube2net.seeding import stream

FEWEST_PAIRS, MOST_PAIRS = 100, 5_000
"""So many pairs of items are looked at; of fewer nothing is concluded."""


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The labels of a sample's items: the item and the label of every pair, items ascending; ``count`` labels.

    ``is_guess`` says that they only stand in for labels that are not known yet.
    """

    items: Array
    codes: Array
    count: int
    is_guess: bool = False

    @property
    def are_single(self) -> bool:
        """Whether no item has two."""
        return bool(np.all(self.items[1:] > self.items[:-1]))

    def by_item(self, items: int) -> Array:
        """Return the label of every item, -1 where it has none; of one that has several, the last."""
        codes = np.full(items, -1, dtype=np.int64)
        codes[self.items] = self.codes
        return codes

    def shared(self, first: Array, second: Array, items: int) -> Array:
        """Return whether the two items of every pair have a label in common.

        >>> labels = ItemLabels(np.array([0, 0, 1, 2]), np.array([5, 7, 7, 5]), 8)
        >>> labels.shared(np.array([0, 1]), np.array([1, 2]), 3).tolist()
        [True, False]
        """
        if self.are_single:
            codes = self.by_item(items)
            return np.asarray((codes[first] == codes[second]) & (codes[first] >= 0))
        keys = self.items * self.count + self.codes
        each = np.bincount(self.items, minlength=items)
        starts = np.cumsum(each) - each
        wanted = self.codes[np.repeat(starts[first], each[first]) + within(each[first])]
        pair = np.repeat(np.arange(len(first)), each[first])
        hit = np.isin(second[pair] * self.count + wanted, keys)
        return np.bincount(pair[hit], minlength=len(first)) > 0


@dataclass(frozen=True, eq=False)
class Sample:
    """Some items of a corpus, by row, and their mentions, by the number of item and object in the sample.

    ``pairs`` are pairs of items that belong together, for they mention one object or two that are linked; None where
    there are too few. ``guess`` is which part of labels that are not known yet is taken to be no chance.
    """

    corpus: Corpus
    rows: Array
    item: Array
    object: Array
    objects: int
    share: float
    pairs: tuple[Array, Array] | None = None
    guess: float = 0.5

    def column(self, name: str) -> pa.Array:
        """Return the values of an attribute."""
        column = self.corpus.items[name]
        if len(self.rows) < len(column):
            column = column.take(pa.array(self.rows))
        return _in_one(column)

    def __len__(self) -> int:
        return len(self.rows)


def within(sizes: Array) -> Array:
    """Return the place of every entry within its row.

    >>> within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    places: Array = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return places


def draw(corpus: Corpus, items: int, mentions: int, seed: int) -> Sample:
    """Return a sample of at most so many items with about so many mentions; the same seed draws the same."""
    count = corpus.items.num_rows
    of = corpus.mentions["item"].to_numpy(), corpus.mentions["object"].to_numpy()
    wanted = min(items, count, max(1, int(count * mentions / max(1, len(of[0])))))
    if wanted == count:
        seen, objects = np.unique(of[1], return_inverse=True)
        pairs = _pairs(corpus, of[0], objects, seen, seed)
        return Sample(corpus, np.arange(count), of[0], objects, len(seen), 1.0, pairs)
    rows = np.sort(stream(seed, "suggest", "items").choice(count, wanted, replace=False))
    place = np.full(count, -1, dtype=np.int64)
    place[rows] = np.arange(wanted)
    item = place[of[0]]
    inside = item >= 0
    seen, objects = np.unique(of[1][inside], return_inverse=True)
    pairs = _pairs(corpus, item[inside], objects, seen, seed)
    return Sample(corpus, rows, item[inside], objects, len(seen), wanted / count, pairs)


def _pairs(corpus: Corpus, item: Array, thing: Array, seen: Array, seed: int) -> tuple[Array, Array] | None:
    """Return pairs of items that belong together: two of one object, or, where objects have one each, of a link."""
    rng = stream(seed, "suggest", "pairs")
    order = np.argsort(thing, kind="stable")
    each = np.bincount(thing, minlength=len(seen))
    starts = np.cumsum(each) - each
    several = np.flatnonzero(each >= 2)
    if len(several) >= FEWEST_PAIRS:
        chosen = rng.choice(several, min(MOST_PAIRS, len(several)), replace=False)
        first = rng.integers(each[chosen])
        second = (first + 1 + rng.integers(each[chosen] - 1)) % each[chosen]
        return item[order[starts[chosen] + first]], item[order[starts[chosen] + second]]
    if corpus.links is None or corpus.links.num_rows < FEWEST_PAIRS:
        return None
    place = np.full(corpus.objects.num_rows, -1, dtype=np.int64)
    place[seen] = item[order[starts]]
    ends = [place[corpus.links[end].to_numpy()] for end in ("source", "target")]
    inside = np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0) & (ends[0] != ends[1]))
    if len(inside) < FEWEST_PAIRS:
        return None
    if len(inside) > MOST_PAIRS:
        inside = rng.choice(inside, MOST_PAIRS, replace=False)
    return ends[0][inside], ends[1][inside]


def read_texts(column: pa.Array) -> ItemLabels:
    """Return the labels of a column of texts, of lists of them, or of anything that can be written as text."""
    items, texts = texts_of_rows(column)
    encoded = texts.dictionary_encode()
    count = len(encoded.dictionary)
    return ItemLabels(*distinct_pairs(items, encoded.indices.to_numpy(zero_copy_only=False), count), count)


def count_lacking(corpus: Corpus, child: str, parent: str) -> int:
    """Return how many labels of an attribute stand on no item that has a label of another, in all of a corpus."""
    labels = read_texts(_in_one(corpus.items[child]))
    has = np.zeros(corpus.items.num_rows, dtype=bool)
    has[read_texts(_in_one(corpus.items[parent])).items] = True
    return labels.count - len(np.unique(labels.codes[has[labels.items]]))


def read_values(column: pa.Array) -> tuple[Array, Array]:
    """Return the items that have a number, and the numbers; of a date, its year."""
    if pa.types.is_temporal(column.type):
        column = pc.year(column)
    values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    items = np.flatnonzero(np.isfinite(values))
    return items, values[items]


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        return pa.concat_arrays(joined.chunks) if joined.num_chunks else pa.array([], joined.type)
    return joined
