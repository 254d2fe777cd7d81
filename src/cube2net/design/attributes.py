"""Kinds of attributes by their values, in a sample of the items, and which attribute is a level above another.

A label that stands on one item decides everything and shows nothing, so for levels only further items of a label count:
how often do two items of one label agree, against any two items? That this is no chance is asked of a bound on the
binomial tail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.random import stream
from cube2net.model.corpus import Corpus, decode, distinct_pairs, texts_of_rows
from cube2net.model.suggestion import Dependency

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

    def have_common_label(self, first: Array, second: Array, items: int) -> Array:
        """Return whether the two items of every pair have a label in common.

        >>> labels = ItemLabels(np.array([0, 0, 1, 2]), np.array([5, 7, 7, 5]), 8)
        >>> labels.have_common_label(np.array([0, 1]), np.array([1, 2]), 3).tolist()
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


YEARS = (1500, 2100)
MOSTLY = 0.9
UNIQUE = 0.95
"""An attribute of which more values are different is an id, or a name of its own for nearly every item."""
HALF = 0.5
FEW_NUMBERS = 10
"""Whole numbers of which there are so few at most, such as stars or marks, are labels."""
FEW_ITEMS = 20
"""Of so few items nothing is told from all values being different."""
TEXT_WORDS, TEXT_SIGNS = 7, 40
"""Values that have so many words and signs on average, and are mostly different, are texts."""
ID_NAME = re.compile(r"(?:^|[\W_])(?:id|ids|key|uuid|guid|doi|isbn|issn|nr|no|num|number|nummer|code)\W*$", re.I)
SKEWED = 0.5
"""Bins of one width of which one would hold more of the items do not tell them apart: they are cut by shares."""
LEAST_BINS, MOST_BINS = 5, 16
LEAST_WRITTEN, MOST_WRITTEN = 1.0, 1e15
"""Numbers from the one to the other are written with two digits behind the point at most."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What was found of an attribute in a sample, and its labels or its items' numbers where it has some.

    Of dates, the numbers are their years, and ``days`` are those since 1970.
    """

    name: str
    kind: str
    distinct: int
    filled: float
    reason: str = ""
    labels: ItemLabels | None = None
    items: Array | None = None
    numbers: Array | None = None
    days: Array | None = None
    length: float = 0.0


def look_at(name: str, column: pa.Array) -> Seen:
    """Return what an attribute is.

    >>> look_at("state", pa.array(["NY", "CA"] * 20)).kind, look_at("sold in", pa.array([1999, 2004] * 20)).kind
    ('labels', 'years')
    """
    kind = column.type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_null(kind) or len(column) == column.null_count:
        return Seen(name, "constant", 0, 0.0, "has no value")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _of_lists(name, column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _of_dates(name, column)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _of_numbers(name, column)
    if pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_boolean(value):
        return _of_texts(name, column)
    return Seen(name, "unusable", 0, 0.0, f"holds {kind}, which is neither labels, numbers nor dates")


def _of_lists(name: str, column: pa.Array) -> Seen:
    labels = read_texts(column)
    items = len(np.unique(labels.items))
    filled = items / max(1, len(column))
    if labels.count < 2:
        return Seen(name, "constant", labels.count, filled, "has one value only")
    each = len(labels.codes) / items
    return Seen(
        name, "several labels", labels.count, filled, f"has {labels.count:,} labels, {each:.1f} on an item", labels
    )


def _of_texts(name: str, column: pa.Array) -> Seen:
    labels = read_texts(column)
    count, distinct = len(labels.codes), labels.count
    filled = count / max(1, len(column))
    if distinct < 2:
        return Seen(name, "constant", distinct, filled, "has one value only" if distinct else "has no value")
    signs, words = _lengths(column)
    if words >= TEXT_WORDS and signs >= TEXT_SIGNS and distinct > HALF * count:
        return Seen(name, "text", distinct, filled, f"is text, {words:.0f} words on average", length=words)
    if distinct >= UNIQUE * count and count > FEW_ITEMS:
        kind = "id" if words < 1.5 else "nearly unique"
        return Seen(name, kind, distinct, filled, "has another value on nearly every item")
    if distinct > HALF * count and count > FEW_ITEMS:
        return Seen(name, "nearly unique", distinct, filled, f"has {distinct:,} values on {count:,} items")
    return Seen(name, "labels", distinct, filled, f"has {distinct:,} labels", labels, length=signs)


def _lengths(column: pa.Array) -> tuple[float, float]:
    """Return how many signs and words a value has on average, looking at the first few thousand."""
    column = decode(column)
    texts = pc.drop_null(column[:5_000] if column.null_count < HALF * len(column) else pc.drop_null(column)[:5_000])
    texts = pc.utf8_trim_whitespace(pc.cast(texts, pa.large_string()))
    if len(texts) == 0:
        return 0.0, 0.0
    words = pc.list_value_length(pc.utf8_split_whitespace(texts))
    return float(pc.mean(pc.utf8_length(texts)).as_py()), float(pc.mean(words).as_py())


def _of_dates(name: str, column: pa.Array) -> Seen:
    items, years = read_values(column)
    days = pc.cast(pc.cast(column, pa.date32()), pa.int32()).to_numpy(zero_copy_only=False)[items]
    filled, distinct = len(items) / max(1, len(column)), len(np.unique(days))
    if distinct < 2:
        return Seen(name, "constant", distinct, filled, "has one value only")
    span = f"holds dates, {days.min().astype('M8[D]')} to {days.max().astype('M8[D]')}"
    return Seen(name, "dates", distinct, filled, span, items=items, numbers=years, days=days)


def _of_numbers(name: str, column: pa.Array) -> Seen:
    items, values = read_values(column)
    filled = len(items) / max(1, len(column))
    different = np.unique(values)
    distinct = len(different)
    if distinct < 2:
        return Seen(name, "constant", distinct, filled, "has one value only" if distinct else "has no value")
    span = f"{number_in_words(different[0])} to {number_in_words(different[-1])}"
    if _are_years(name, values):
        years = f"holds years, {_exactly(different[0])} to {_exactly(different[-1])}"
        return Seen(name, "years", distinct, filled, years, items=items, numbers=values)
    whole = bool(np.all(different == np.floor(different)))
    if whole and distinct <= FEW_NUMBERS:
        labels = ItemLabels(items, np.searchsorted(different, values), distinct)
        return Seen(name, "few numbers", distinct, filled, f"has {distinct:,} whole numbers, {span}", labels)
    if whole and distinct >= UNIQUE * len(values) and len(values) > FEW_ITEMS:
        running = different[-1] - different[0] < 2 * len(values)
        if running or ID_NAME.search(name):
            return Seen(name, "id", distinct, filled, "has another whole number on nearly every item")
    return Seen(name, "numbers", distinct, filled, f"has numbers, {span}", items=items, numbers=values)


def _are_years(name: str, values: Array) -> bool:
    inside = (values >= YEARS[0]) & (values <= YEARS[1]) & (values == np.floor(values))
    return bool(inside.mean() >= MOSTLY if "year" in name.casefold() else inside.all())


def bins_for(values: Array) -> str:
    """Return bins that cut numbers: five to a dozen of one round width, or quarters where most lie in one of them.

    >>> bins_for(np.arange(18.0, 66.0)), bins_for(2.0 ** np.arange(20.0))
    ('width:5', 'quantiles:4')
    """
    low, high = np.quantile(values, [0.02, 0.98]).tolist()
    if high > low:
        width = _round_width((high - low) / LEAST_BINS)
        steps = np.floor(values / width)
        _, counts = np.unique(steps, return_counts=True)
        if len(counts) <= MOST_BINS and counts.max() <= SKEWED * len(values):
            return f"width:{_exactly(width)}"
    return "quantiles:4"


def _round_width(width: float) -> float:
    """Return the largest of …, 0.5, 1, 2, 5, 10, … that is no more than a width."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(max(step for step in (1.0, 2.0, 5.0) if step * power <= width * (1 + 1e-9)) * power)


def number_in_words(value: float) -> str:
    """Return a number as people write it: thousands apart, and no more digits than tell something.

    >>> [number_in_words(value) for value in (68386072.9, 7191.43, 1200, 0.000125, 1e21, 5.1)]
    ['68,386,072.9', '7,191.43', '1,200', '0.000125', '1e+21', '5.1']
    """
    if not LEAST_WRITTEN <= abs(value) < MOST_WRITTEN:
        return _exactly(value)
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _exactly(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


MOST_STRAYS = 0.05
LEAST_KAPPA = 0.8
"""Of what could agree beyond chance, so much must."""
CERTAIN = 20.0
"""Natural logarithm of how unlikely chance has to be: about 1 in 500 million, for hundreds of pairs are looked at."""
COARSER = 0.8
"""A level above has at most this share of the labels below it."""
GLANCE = 10_000


@dataclass(frozen=True)
class Chains:
    """The levels above every attribute, and which attributes say the same as another (that other is kept).

    ``paths`` are from fine to coarse, the longest first; no level is in two of them.
    """

    paths: Mapping[str, tuple[tuple[str, ...], ...]]
    same: Mapping[str, str]
    dependencies: tuple[Dependency, ...]

    def levels(self, name: str) -> tuple[str, ...]:
        """Return all levels above an attribute."""
        return tuple(level for path in self.paths.get(name, ()) for level in path)


def dependency(child: str, parent: str, lower: Array, upper: Array) -> Dependency | None:
    """Return that one attribute nearly decides another, or None; of each the label of every item, -1 for none.

    >>> city = np.repeat(np.arange(8), 10)
    >>> print(dependency("city", "state", city, city // 4))
    city → state (all of 80 items)
    >>> dependency("city", "colour", city, np.tile([0, 1], 40)) is None
    True
    """
    both = (lower >= 0) & (upper >= 0)
    lower, upper = lower[both], upper[both]
    if len(lower) < 2:
        return None
    width = int(upper.max()) + 1
    pairs, counts = np.unique(lower * width + upper, return_counts=True)
    owner = pairs // width
    sizes = np.bincount(lower)
    largest = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(largest, owner, counts)
    again = sizes >= 2
    items, strays = int(sizes[again].sum()), int((sizes - largest)[again].sum())
    trials = int((sizes[again] - 1).sum())
    shares = np.bincount(upper) / len(upper)
    chance = float(np.sum(shares**2))
    if not trials or len(shares[shares > 0]) < 2 or strays > MOST_STRAYS * items:
        return None
    agreement = float(np.sum(counts * (counts - 1.0) / sizes[owner]) / trials)
    if agreement - chance < LEAST_KAPPA * (1 - chance) or trials * _surprise(agreement, chance) < CERTAIN:
        return None
    return Dependency(child, parent, items, strays, agreement, chance)


def _surprise(agreement: float, chance: float) -> float:
    """Return what every trial takes from the logarithm of the probability of so much agreement by chance."""
    if agreement <= chance:
        return 0.0
    rest = 0.0 if agreement >= 1 else (1 - agreement) * np.log((1 - agreement) / (1 - chance))
    return float(agreement * np.log(agreement / chance) + rest)


def find_chains(
    labels: Mapping[str, Array],
    readable: Mapping[str, float],
    lacking: Callable[[str, str], int] = lambda child, parent: 0,
) -> Chains:
    """Return the levels above every attribute, each decided by the one below: the longest chain, and other paths.

    ``labels`` are those of every item by attribute, -1 for none. Of two attributes that decide each other the one is
    kept whose values are longer (``readable``), or comes first. ``lacking`` says how many labels of one attribute no
    item has a label of the other with: then that is no level, for every label needs a parent.
    """
    kinds = {name: int(codes.max(initial=-1)) + 1 for name, codes in labels.items()}
    found: dict[tuple[str, str], Dependency] = {}
    for child, lower in labels.items():
        for parent, upper in labels.items():
            if child == parent or kinds[parent] > kinds[child] / COARSER:
                continue
            step = max(1, len(lower) // GLANCE)
            if step > 1 and _differ_at_once(lower[::step], upper[::step]):
                continue
            known = dependency(child, parent, lower, upper)
            if known is not None:
                found[child, parent] = known
    same = _same(found, list(labels), readable)
    above = {
        pair: replace(known, lacking=lacking(*pair))
        for pair, known in found.items()
        if not set(pair) & set(same) and kinds[pair[1]] <= COARSER * kinds[pair[0]]
    }
    kept = {pair: known for pair, known in above.items() if not known.lacking}

    @cache
    def longest(name: str) -> tuple[str, ...]:
        chains = [(parent, *longest(parent)) for child, parent in kept if child == name]
        return max(chains, key=lambda chain: (len(chain), kinds[chain[0]]), default=())

    def paths(name: str) -> tuple[tuple[str, ...], ...]:
        found: list[tuple[str, ...]] = [longest(name)] if longest(name) else []
        used = set(longest(name))
        parents = [parent for child, parent in kept if child == name]
        for parent in sorted(parents, key=lambda parent: -len(longest(parent))):
            if parent in used or any((other, parent) in kept for other in parents):
                continue  # it lies above a level that is there
            path = tuple(takewhile(lambda level: level not in used, (parent, *longest(parent))))
            found.append(path)
            used.update(path)
        return tuple(found)

    chains = {name: paths(name) for name in labels if name not in same}
    steps = {
        step
        for name, found_paths in chains.items()
        for path in found_paths
        for step in zip((name, *path), path, strict=False)
    }
    return Chains(chains, same, tuple(known for pair, known in above.items() if pair in steps or known.lacking))


def _differ_at_once(lower: Array, upper: Array) -> bool:
    """Return whether some items show already that the one does not decide the other."""
    both = (lower >= 0) & (upper >= 0)
    if both.sum() < GLANCE // 10:
        return False
    lower, upper = lower[both], upper[both]
    width = int(upper.max()) + 1
    pairs, counts = np.unique(lower * width + upper, return_counts=True)
    largest = np.zeros(int(lower.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, pairs // width, counts)
    return bool(len(lower) - largest.sum() > 3 * MOST_STRAYS * len(lower))


def _same(
    found: Mapping[tuple[str, str], Dependency], names: list[str], readable: Mapping[str, float]
) -> dict[str, str]:
    """Return the attributes that say the same as another, each with the one that is kept."""
    same: dict[str, str] = {}
    order = sorted(names, key=lambda name: -readable.get(name, 0))
    for place, kept in enumerate(order):
        for other in order[place + 1 :]:
            if not {kept, other} & set(same) and {(kept, other), (other, kept)} <= set(found):
                same[other] = kept
    return same
