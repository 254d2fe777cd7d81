"""Detect the kinds of attributes in a sample of items, and which attributes are levels above others.

A label with a single item determines any other attribute trivially. Levels are therefore tested on pairs of items: do
two items with the same label agree more often than any two items? A bound on the binomial tail excludes chance.
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

MIN_PAIRS, MAX_PAIRS = 100, 5_000
"""Minimum and maximum number of pairs of items to consider; with fewer pairs nothing is concluded."""


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The labels of the items of a sample, as pairs of item and label in ascending order of items.

    ``count`` is the number of labels. ``is_guess`` tells that they are placeholders for labels that are not known yet.
    """

    items: Array
    codes: Array
    count: int
    is_guess: bool = False

    @property
    def are_single(self) -> bool:
        """Whether no item has two labels."""
        return bool(np.all(self.items[1:] > self.items[:-1]))

    def by_item(self, items: int) -> Array:
        """Return the label of every item: -1 for none, the last of several."""
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
        labels_per_item = np.bincount(self.items, minlength=items)
        starts = np.cumsum(labels_per_item) - labels_per_item
        first_labels = self.codes[
            np.repeat(starts[first], labels_per_item[first]) + compute_row_positions(labels_per_item[first])
        ]
        pair = np.repeat(np.arange(len(first)), labels_per_item[first])
        is_common = np.isin(second[pair] * self.count + first_labels, keys)
        return np.bincount(pair[is_common], minlength=len(first)) > 0


@dataclass(frozen=True, eq=False)
class Sample:
    """Some items of a corpus, by row, and their mentions, by the number of item and object in the sample.

    ``pairs`` are pairs of items that belong together, as they mention the same or linked objects; None if there are too
    few. ``guess`` is the assumed meaningful share of labels that are not known yet.
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
        return _combine_chunks(column)

    def __len__(self) -> int:
        return len(self.rows)


def compute_row_positions(sizes: Array) -> Array:
    """Return the position of every entry within its row.

    >>> compute_row_positions(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    positions: Array = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return positions


def draw_sample(corpus: Corpus, items: int, mentions: int, seed: int) -> Sample:
    """Return a random sample of at most ``items`` items with about ``mentions`` mentions."""
    count = corpus.items.num_rows
    mentions_arrays = corpus.mentions["item"].to_numpy(), corpus.mentions["object"].to_numpy()
    n_sampled = min(items, count, max(1, int(count * mentions / max(1, len(mentions_arrays[0])))))
    if n_sampled == count:
        object_rows, objects = np.unique(mentions_arrays[1], return_inverse=True)
        pairs = _draw_pairs(corpus, mentions_arrays[0], objects, object_rows, seed)
        return Sample(corpus, np.arange(count), mentions_arrays[0], objects, len(object_rows), 1.0, pairs)
    rows = np.sort(stream(seed, "suggest", "items").choice(count, n_sampled, replace=False))
    sample_index = np.full(count, -1, dtype=np.int64)
    sample_index[rows] = np.arange(n_sampled)
    item = sample_index[mentions_arrays[0]]
    is_sampled = item >= 0
    object_rows, objects = np.unique(mentions_arrays[1][is_sampled], return_inverse=True)
    pairs = _draw_pairs(corpus, item[is_sampled], objects, object_rows, seed)
    return Sample(corpus, rows, item[is_sampled], objects, len(object_rows), n_sampled / count, pairs)


def _draw_pairs(
    corpus: Corpus, item: Array, object_indices: Array, object_rows: Array, seed: int
) -> tuple[Array, Array] | None:
    """Return pairs of items that belong together: of the same object, or of linked objects if objects have one item."""
    rng = stream(seed, "suggest", "pairs")
    order = np.argsort(object_indices, kind="stable")
    items_per_object = np.bincount(object_indices, minlength=len(object_rows))
    starts = np.cumsum(items_per_object) - items_per_object
    shared_objects = np.flatnonzero(items_per_object >= 2)
    if len(shared_objects) >= MIN_PAIRS:
        chosen = rng.choice(shared_objects, min(MAX_PAIRS, len(shared_objects)), replace=False)
        first = rng.integers(items_per_object[chosen])
        second = (first + 1 + rng.integers(items_per_object[chosen] - 1)) % items_per_object[chosen]
        return item[order[starts[chosen] + first]], item[order[starts[chosen] + second]]
    if corpus.links is None or corpus.links.num_rows < MIN_PAIRS:
        return None
    object_item = np.full(corpus.objects.num_rows, -1, dtype=np.int64)
    object_item[object_rows] = item[order[starts]]
    ends = [object_item[corpus.links[end].to_numpy()] for end in ("source", "target")]
    usable_links = np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0) & (ends[0] != ends[1]))
    if len(usable_links) < MIN_PAIRS:
        return None
    if len(usable_links) > MAX_PAIRS:
        usable_links = rng.choice(usable_links, MAX_PAIRS, replace=False)
    return ends[0][usable_links], ends[1][usable_links]


def read_texts(column: pa.Array) -> ItemLabels:
    """Return the labels of a column of texts, of lists of texts, or of values that can be converted to text."""
    items, texts = texts_of_rows(column)
    encoded = texts.dictionary_encode()
    count = len(encoded.dictionary)
    return ItemLabels(*distinct_pairs(items, encoded.indices.to_numpy(zero_copy_only=False), count), count)


def count_labels_without_parent(corpus: Corpus, child: str, parent: str) -> int:
    """Return how many labels of ``child`` have no item with a label of ``parent``, in the whole corpus."""
    labels = read_texts(_combine_chunks(corpus.items[child]))
    has_parent = np.zeros(corpus.items.num_rows, dtype=bool)
    has_parent[read_texts(_combine_chunks(corpus.items[parent])).items] = True
    return labels.count - len(np.unique(labels.codes[has_parent[labels.items]]))


def read_values(column: pa.Array) -> tuple[Array, Array]:
    """Return the items that have a number, and the numbers (the years of dates)."""
    if pa.types.is_temporal(column.type):
        column = pc.year(column)
    values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    items = np.flatnonzero(np.isfinite(values))
    return items, values[items]


def _combine_chunks(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        return pa.concat_arrays(joined.chunks) if joined.num_chunks else pa.array([], joined.type)
    return joined


YEAR_RANGE = (1500, 2100)
MIN_YEAR_SHARE = 0.9
MIN_UNIQUE_SHARE = 0.95
"""Minimum share of distinct values of an id or a nearly unique name."""
MIN_DISTINCT_SHARE = 0.5
MAX_NUMBER_LABELS = 10
"""Maximum count of distinct whole numbers that are labels, such as ratings or marks."""
MAX_FEW_ITEMS = 20
"""Up to this many items, distinct values do not indicate an id."""
MIN_TEXT_WORDS, MIN_TEXT_CHARACTERS = 7, 40
"""Minimum mean words and characters of values that are texts, if they are mostly distinct."""
ID_NAME = re.compile(r"(?:^|[\W_])(?:id|ids|key|uuid|guid|doi|isbn|issn|nr|no|num|number|nummer|code)\W*$", re.I)
MAX_BIN_SHARE = 0.5
"""Maximum share of the items in one bin of equal width; beyond it, quantiles are used instead."""
MIN_BINS, MAX_BINS = 5, 16
MIN_PLAIN_NUMBER, MAX_PLAIN_NUMBER = 1.0, 1e15
"""Range of numbers that are written with at most two decimal digits."""


@dataclass(frozen=True, eq=False)
class AttributeProfile:
    """The properties of an attribute in a sample, with its labels or the numbers of its items, if any.

    The numbers of dates are years, and ``days`` are days since 1970.
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


def profile_attribute(name: str, column: pa.Array) -> AttributeProfile:
    """Return the kind of an attribute and its values.

    >>> profile_attribute("state", pa.array(["NY", "CA"] * 20)).kind
    'labels'
    >>> profile_attribute("sold in", pa.array([1999, 2004] * 20)).kind
    'years'
    """
    kind = column.type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_null(kind) or len(column) == column.null_count:
        return AttributeProfile(name, "constant", 0, 0.0, "has no value")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _profile_lists(name, column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _profile_dates(name, column)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _profile_numbers(name, column)
    if pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_boolean(value):
        return _profile_texts(name, column)
    return AttributeProfile(name, "unusable", 0, 0.0, f"holds {kind}, which is neither labels, numbers nor dates")


def _profile_lists(name: str, column: pa.Array) -> AttributeProfile:
    labels = read_texts(column)
    items = len(np.unique(labels.items))
    filled = items / max(1, len(column))
    if labels.count < 2:
        return AttributeProfile(name, "constant", labels.count, filled, "has one value only")
    labels_per_item = len(labels.codes) / items
    return AttributeProfile(
        name,
        "several labels",
        labels.count,
        filled,
        f"has {labels.count:,} labels, {labels_per_item:.1f} on an item",
        labels,
    )


def _profile_texts(name: str, column: pa.Array) -> AttributeProfile:
    labels = read_texts(column)
    count, distinct = len(labels.codes), labels.count
    filled = count / max(1, len(column))
    if distinct < 2:
        return AttributeProfile(
            name, "constant", distinct, filled, "has one value only" if distinct else "has no value"
        )
    signs, words = _measure_lengths(column)
    if words >= MIN_TEXT_WORDS and signs >= MIN_TEXT_CHARACTERS and distinct > MIN_DISTINCT_SHARE * count:
        return AttributeProfile(name, "text", distinct, filled, f"is text, {words:.0f} words on average", length=words)
    if distinct >= MIN_UNIQUE_SHARE * count and count > MAX_FEW_ITEMS:
        kind = "id" if words < 1.5 else "nearly unique"
        return AttributeProfile(name, kind, distinct, filled, "has another value on nearly every item")
    if distinct > MIN_DISTINCT_SHARE * count and count > MAX_FEW_ITEMS:
        return AttributeProfile(name, "nearly unique", distinct, filled, f"has {distinct:,} values on {count:,} items")
    return AttributeProfile(name, "labels", distinct, filled, f"has {distinct:,} labels", labels, length=signs)


def _measure_lengths(column: pa.Array) -> tuple[float, float]:
    """Return the mean number of characters and words of the first few thousand values."""
    column = decode(column)
    texts = pc.drop_null(
        column[:5_000] if column.null_count < MIN_DISTINCT_SHARE * len(column) else pc.drop_null(column)[:5_000]
    )
    texts = pc.utf8_trim_whitespace(pc.cast(texts, pa.large_string()))
    if len(texts) == 0:
        return 0.0, 0.0
    words = pc.list_value_length(pc.utf8_split_whitespace(texts))
    return float(pc.mean(pc.utf8_length(texts)).as_py()), float(pc.mean(words).as_py())


def _profile_dates(name: str, column: pa.Array) -> AttributeProfile:
    items, years = read_values(column)
    days = pc.cast(pc.cast(column, pa.date32()), pa.int32()).to_numpy(zero_copy_only=False)[items]
    filled, distinct = len(items) / max(1, len(column)), len(np.unique(days))
    if distinct < 2:
        return AttributeProfile(name, "constant", distinct, filled, "has one value only")
    span = f"holds dates, {days.min().astype('M8[D]')} to {days.max().astype('M8[D]')}"
    return AttributeProfile(name, "dates", distinct, filled, span, items=items, numbers=years, days=days)


def _profile_numbers(name: str, column: pa.Array) -> AttributeProfile:
    items, values = read_values(column)
    filled = len(items) / max(1, len(column))
    distinct_values = np.unique(values)
    distinct = len(distinct_values)
    if distinct < 2:
        return AttributeProfile(
            name, "constant", distinct, filled, "has one value only" if distinct else "has no value"
        )
    span = f"{format_number(distinct_values[0])} to {format_number(distinct_values[-1])}"
    if _are_years(name, values):
        years = f"holds years, {_format_exact(distinct_values[0])} to {_format_exact(distinct_values[-1])}"
        return AttributeProfile(name, "years", distinct, filled, years, items=items, numbers=values)
    are_whole = bool(np.all(distinct_values == np.floor(distinct_values)))
    if are_whole and distinct <= MAX_NUMBER_LABELS:
        labels = ItemLabels(items, np.searchsorted(distinct_values, values), distinct)
        return AttributeProfile(
            name, "few numbers", distinct, filled, f"has {distinct:,} whole numbers, {span}", labels
        )
    if are_whole and distinct >= MIN_UNIQUE_SHARE * len(values) and len(values) > MAX_FEW_ITEMS:
        is_running_number = distinct_values[-1] - distinct_values[0] < 2 * len(values)
        if is_running_number or ID_NAME.search(name):
            return AttributeProfile(name, "id", distinct, filled, "has another whole number on nearly every item")
    return AttributeProfile(name, "numbers", distinct, filled, f"has numbers, {span}", items=items, numbers=values)


def _are_years(name: str, values: Array) -> bool:
    is_year = (values >= YEAR_RANGE[0]) & (values <= YEAR_RANGE[1]) & (values == np.floor(values))
    return bool(is_year.mean() >= MIN_YEAR_SHARE if "year" in name.casefold() else is_year.all())


def choose_bins(values: Array) -> str:
    """Return bins for numbers: about five to a dozen of equal round width, or quartiles if one bin would hold most.

    >>> choose_bins(np.arange(18.0, 66.0)), choose_bins(2.0 ** np.arange(20.0))
    ('width:5', 'quantiles:4')
    """
    low, high = np.quantile(values, [0.02, 0.98]).tolist()
    if high > low:
        width = _round_width((high - low) / MIN_BINS)
        steps = np.floor(values / width)
        _, counts = np.unique(steps, return_counts=True)
        if len(counts) <= MAX_BINS and counts.max() <= MAX_BIN_SHARE * len(values):
            return f"width:{_format_exact(width)}"
    return "quantiles:4"


def _round_width(width: float) -> float:
    """Return the largest of …, 0.5, 1, 2, 5, 10, … that is no more than a width."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(max(step for step in (1.0, 2.0, 5.0) if step * power <= width * (1 + 1e-9)) * power)


def format_number(value: float) -> str:
    """Return a number with thousands separators and at most two decimal digits.

    >>> [format_number(value) for value in (68386072.9, 7191.43, 1200, 0.000125, 1e21, 5.1)]
    ['68,386,072.9', '7,191.43', '1,200', '0.000125', '1e+21', '5.1']
    """
    if not MIN_PLAIN_NUMBER <= abs(value) < MAX_PLAIN_NUMBER:
        return _format_exact(value)
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _format_exact(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


MAX_STRAY_SHARE = 0.05
MIN_KAPPA = 0.8
"""Minimum agreement beyond chance, as a share of what is possible."""
MIN_LOG_EVIDENCE = 20.0
"""Minimum negative log-probability of chance agreement: about 1 in 500 million, as hundreds of pairs are tested."""
MAX_COARSER_SHARE = 0.8
"""Maximum labels of a level above, as a share of the labels below it."""
MAX_GLANCE_ITEMS = 10_000


@dataclass(frozen=True)
class Chains:
    """The levels above every attribute, and attributes that are equivalent to another one, which is kept.

    ``paths`` lead from fine to coarse, the longest first; no level is in two of them.
    """

    paths: Mapping[str, tuple[tuple[str, ...], ...]]
    same: Mapping[str, str]
    dependencies: tuple[Dependency, ...]

    def levels(self, name: str) -> tuple[str, ...]:
        """Return all levels above an attribute."""
        return tuple(level for path in self.paths.get(name, ()) for level in path)


def find_dependency(child: str, parent: str, lower: Array, upper: Array) -> Dependency | None:
    """Return the dependency of one attribute on another that nearly determines it, or None.

    ``lower`` and ``upper`` are the labels of every item, -1 for none.

    >>> city = np.repeat(np.arange(8), 10)
    >>> print(find_dependency("city", "state", city, city // 4))
    city → state (all of 80 items)
    >>> find_dependency("city", "colour", city, np.tile([0, 1], 40)) is None
    True
    """
    have_both = (lower >= 0) & (upper >= 0)
    lower, upper = lower[have_both], upper[have_both]
    if len(lower) < 2:
        return None
    width = int(upper.max()) + 1
    pairs, counts = np.unique(lower * width + upper, return_counts=True)
    owner = pairs // width
    sizes = np.bincount(lower)
    largest = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(largest, owner, counts)
    is_repeated = sizes >= 2
    items, strays = int(sizes[is_repeated].sum()), int((sizes - largest)[is_repeated].sum())
    trials = int((sizes[is_repeated] - 1).sum())
    shares = np.bincount(upper) / len(upper)
    chance = float(np.sum(shares**2))
    if not trials or len(shares[shares > 0]) < 2 or strays > MAX_STRAY_SHARE * items:
        return None
    agreement = float(np.sum(counts * (counts - 1.0) / sizes[owner]) / trials)
    if (
        agreement - chance < MIN_KAPPA * (1 - chance)
        or trials * _compute_evidence_per_trial(agreement, chance) < MIN_LOG_EVIDENCE
    ):
        return None
    return Dependency(child, parent, items, strays, agreement, chance)


def _compute_evidence_per_trial(agreement: float, chance: float) -> float:
    """Return the negative log-probability, per trial, of at least this agreement by chance (Chernoff bound)."""
    if agreement <= chance:
        return 0.0
    rest = 0.0 if agreement >= 1 else (1 - agreement) * np.log((1 - agreement) / (1 - chance))
    return float(agreement * np.log(agreement / chance) + rest)


def find_chains(
    labels: Mapping[str, Array],
    readable: Mapping[str, float],
    lacking: Callable[[str, str], int] = lambda child, parent: 0,
) -> Chains:
    """Return the levels above every attribute, each determined by the one below: the longest chain, and other paths.

    ``labels`` are the labels of every item by attribute, -1 for none. Of two attributes that determine each other, the
    one with longer values (``readable``) is kept, or else the first. ``lacking`` counts the labels of one attribute
    without a label of the other on any item; the other is then no level, because every label needs a parent.
    """
    label_counts = {name: int(codes.max(initial=-1)) + 1 for name, codes in labels.items()}
    dependencies: dict[tuple[str, str], Dependency] = {}
    for child, lower in labels.items():
        for parent, upper in labels.items():
            if child == parent or label_counts[parent] > label_counts[child] / MAX_COARSER_SHARE:
                continue
            step = max(1, len(lower) // MAX_GLANCE_ITEMS)
            if step > 1 and _are_clearly_independent(lower[::step], upper[::step]):
                continue
            dependency = find_dependency(child, parent, lower, upper)
            if dependency is not None:
                dependencies[child, parent] = dependency
    equivalents = _find_equivalent(dependencies, list(labels), readable)
    higher_levels = {
        pair: replace(dependency, lacking=lacking(*pair))
        for pair, dependency in dependencies.items()
        if not set(pair) & set(equivalents) and label_counts[pair[1]] <= MAX_COARSER_SHARE * label_counts[pair[0]]
    }
    usable = {pair: dependency for pair, dependency in higher_levels.items() if not dependency.lacking}

    @cache
    def find_longest(name: str) -> tuple[str, ...]:
        chains = [(parent, *find_longest(parent)) for child, parent in usable if child == name]
        return max(chains, key=lambda chain: (len(chain), label_counts[chain[0]]), default=())

    def find_paths(name: str) -> tuple[tuple[str, ...], ...]:
        paths: list[tuple[str, ...]] = [find_longest(name)] if find_longest(name) else []
        used = set(find_longest(name))
        parents = [parent for child, parent in usable if child == name]
        for parent in sorted(parents, key=lambda parent: -len(find_longest(parent))):
            if parent in used or any((other, parent) in usable for other in parents):
                continue  # it is above a level that is already in a path
            path = tuple(takewhile(lambda level: level not in used, (parent, *find_longest(parent))))
            paths.append(path)
            used.update(path)
        return tuple(paths)

    chains = {name: find_paths(name) for name in labels if name not in equivalents}
    steps = {
        step
        for name, found_paths in chains.items()
        for path in found_paths
        for step in zip((name, *path), path, strict=False)
    }
    return Chains(
        chains,
        equivalents,
        tuple(dependency for pair, dependency in higher_levels.items() if pair in steps or dependency.lacking),
    )


def _are_clearly_independent(lower: Array, upper: Array) -> bool:
    """Return whether a part of the items already shows that one attribute does not determine the other."""
    have_both = (lower >= 0) & (upper >= 0)
    if have_both.sum() < MAX_GLANCE_ITEMS // 10:
        return False
    lower, upper = lower[have_both], upper[have_both]
    width = int(upper.max()) + 1
    pairs, counts = np.unique(lower * width + upper, return_counts=True)
    largest = np.zeros(int(lower.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, pairs // width, counts)
    return bool(len(lower) - largest.sum() > 3 * MAX_STRAY_SHARE * len(lower))


def _find_equivalent(
    dependencies: Mapping[tuple[str, str], Dependency], names: list[str], readable: Mapping[str, float]
) -> dict[str, str]:
    """Return the attributes that are equivalent to another one, with the one that is kept."""
    equivalents: dict[str, str] = {}
    order = sorted(names, key=lambda name: -readable.get(name, 0))
    for position, kept in enumerate(order):
        for other in order[position + 1 :]:
            if not {kept, other} & set(equivalents) and {(kept, other), (other, kept)} <= set(dependencies):
                equivalents[other] = kept
    return equivalents
