"""Combinations of dimensions, and the cells they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array
from cube2net.design.attributes import ItemLabels, Sample, compute_row_positions
from cube2net.model.dimension import DimensionSpec
from cube2net.model.suggestion import CellCounts, Proposal

GIANT_SHARE = 0.25
"""A cell with more than this share of all objects is giant."""
MAX_COUNTED_CELLS = 2_000_000
"""Up to this many possible cells are counted in an array, more by sorting."""
MAX_CELLS_PER_OBJECT = 20
"""Maximum mean number of cells of a membership; dimensions beyond it are not counted."""
FULL_SCORE_SHARE = 0.9
"""Share of the objects in kept cells from which the score is not reduced."""
SHARE_EXPONENT = 4
"""Exponent by which the score falls with the covered share below that."""
TOGETHER_WEIGHT = 0.95
"""Weight in the score of what is not chance, if a corpus shows what belongs together."""
RANDOM_PAIRS_PER_PAIR = 10
"""Number of pairs of random items for every pair of items that belong together."""


def count_cells(sample: Sample, dimensions: Sequence[ItemLabels], min_objects: int) -> CellCounts | None:
    """Return the cells that dimensions make of a sample, or None if objects would be in far too many.

    In a partial sample, a cell is kept if it has the same part of ``min_objects``, and at least two objects.
    """
    memberships = assign_cells(sample, dimensions)
    if memberships is None:
        return None
    cell, object_indices, is_single = memberships
    min_kept = max(2 if sample.share < 1 else 1, round(min_objects * sample.share))
    single = int((is_single & (np.bincount(cell, minlength=len(is_single)) >= max(2, min_kept))).sum())
    return replace(tally_cells(cell, object_indices, sample.objects, min_kept), single=single)


def tally_cells(cell: Array, object_indices: Array, objects: int, min_objects: int) -> CellCounts:
    """Count cells, given the cell and the object of every membership; cells of ``min_objects`` are kept.

    Two cells of two objects each, one object in a cell of its own, and one in none:

    >>> counts = tally_cells(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 2, 3, 4]), 6, 2)
    >>> counts.cells, counts.dead, counts.giant, round(counts.share, 2), round(counts.bits, 2)
    (2, 1, 2, 0.67, 1.06)
    """
    sizes = np.bincount(cell)
    is_kept = sizes >= min_objects
    in_kept_cell = is_kept[cell]
    kept_memberships, memberships = (
        np.bincount(indices, minlength=objects) for indices in (object_indices[in_kept_cell], object_indices)
    )
    bits = np.bincount(
        object_indices[in_kept_cell], weights=np.log2(objects / sizes[cell[in_kept_cell]]), minlength=objects
    )
    return CellCounts(
        cells=int(is_kept.sum()),
        share=float((kept_memberships > 0).mean()) if objects else 0.0,
        dead=int((~is_kept & (sizes > 0)).sum()),
        giant=int((sizes > GIANT_SHARE * objects).sum()),
        bits=float((bits / np.maximum(memberships, 1)).mean()) if objects else 0.0,
    )


@dataclass(frozen=True, eq=False)
class Agreement:
    """Whether two items share a label, for pairs of items that belong together and for random pairs."""

    belonging: Array
    others: Array

    @classmethod
    def of(cls, sample: Sample, labels: ItemLabels) -> Agreement | None:
        """Return the agreement of the labels of a dimension; None if a corpus does not show what belongs together."""
        if sample.pairs is None or labels.is_guess:
            return None
        first, second = sample.pairs
        turns = np.arange(1, RANDOM_PAIRS_PER_PAIR + 1) * len(first) // (RANDOM_PAIRS_PER_PAIR + 1)
        others = np.concatenate([np.roll(second, turn) for turn in turns])
        return cls(
            labels.have_common_label(first, second, len(sample)),
            labels.have_common_label(np.tile(first, RANDOM_PAIRS_PER_PAIR), others, len(sample)),
        )


def compute_meaningful_share(agreements: Sequence[Agreement], guessed: Sequence[int] = (), guess: float = 0.5) -> float:
    """Return the share of the information of cells that is not chance, from 0 to 1.

    If items that belong together share a cell with probability L, and random items with probability C, a cell has
    log2(1/C) bits, of which log2(L/C) keep together what belongs together. Random labels add only to the former. Of
    ``guessed`` labels, given by their counts, the share ``guess`` is assumed not to be chance.

    >>> halves = Agreement(np.ones(1000, dtype=bool), np.arange(1000) % 2 == 0)
    >>> noise = Agreement(np.arange(1000) % 4 == 0, np.arange(1000) % 4 < 2)
    >>> round(compute_meaningful_share([halves]), 2), compute_meaningful_share([noise])
    (1.0, 0.0)
    """
    meaningful_bits = total_bits = 0.0
    if agreements:
        shares = [
            np.logical_and.reduce([getattr(agreement, kind) for agreement in agreements])
            for kind in ("belonging", "others")
        ]
        belonging_share, random_share = ((float(share.sum()) + 0.5) / (len(share) + 1) for share in shares)
        total_bits = float(-np.log2(random_share))
        meaningful_bits = min(max(0.0, float(np.log2(belonging_share / random_share))), total_bits)
    guessed_bits = float(np.sum(np.log2(guessed))) if len(guessed) else 0.0
    return (meaningful_bits + guess * guessed_bits) / (total_bits + guessed_bits) if total_bits + guessed_bits else 0.0


def assign_cells(sample: Sample, dimensions: Sequence[ItemLabels]) -> tuple[Array, Array, Array] | None:
    """Return the cell and the object of every distinct membership, and which cells have a single item.

    If there are far too many memberships, return None.
    """
    item, object_indices = sample.item, sample.object
    key, width = np.zeros(len(item), dtype=np.int64), 1
    is_one_label_each = True
    for labels in dimensions:
        if width * labels.count > 2**62 // max(1, sample.objects):
            used_keys, key = np.unique(key, return_inverse=True)
            width = len(used_keys)
        if labels.are_single:
            code = labels.by_item(len(sample))[item]
            has_label = code >= 0
            if not has_label.all():
                item, object_indices, key, code = (
                    item[has_label],
                    object_indices[has_label],
                    key[has_label],
                    code[has_label],
                )
        else:
            is_one_label_each = False
            labels_per_item = np.bincount(labels.items, minlength=len(sample))
            starts = np.concatenate([[0], np.cumsum(labels_per_item)])
            repeats = labels_per_item[item]
            if repeats.sum() > MAX_CELLS_PER_OBJECT * len(sample.item):
                return None
            positions = np.repeat(starts[item], repeats) + compute_row_positions(repeats)
            item, object_indices, key = (np.repeat(values, repeats) for values in (item, object_indices, key))
            code = labels.codes[positions]
        key = key * labels.count + code
        width *= labels.count
    if width <= MAX_COUNTED_CELLS:
        is_used = np.bincount(key, minlength=width) > 0
        cell = (np.cumsum(is_used) - 1)[key]
    else:
        _, cell = np.unique(key, return_inverse=True)
    first, last = np.full(len(cell), len(sample)), np.full(len(cell), -1)
    np.minimum.at(first, cell, item)
    np.maximum.at(last, cell, item)
    is_single = (first == last)[: int(cell.max(initial=-1)) + 1]
    if is_one_label_each and len(sample.item) == sample.objects:
        return cell, object_indices, is_single
    pairs = np.sort(cell * max(1, sample.objects) + object_indices)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    cell, object_indices = np.divmod(pairs, max(1, sample.objects))
    return cell, object_indices, is_single


def score(counts: CellCounts) -> float:
    """Return how well cells distinguish objects: their bits, much reduced if over a tenth of the objects are in none.

    If the corpus shows what belongs together, most of the score is for what is not chance.
    """
    meaningful_weight = 1.0 if counts.together is None else 1 - TOGETHER_WEIGHT + TOGETHER_WEIGHT * counts.together
    return counts.bits * min(1.0, counts.share / FULL_SCORE_SHARE) ** SHARE_EXPONENT * meaningful_weight


MAX_DIMENSIONS = 4
BEAM_WIDTH = 5
MIN_GAIN = 1.1
"""Minimum factor by which a further dimension must raise the score."""
MIN_CELLS, MIN_SHARE, MIN_BITS = 2, 0.1, 0.1
"""Minimum cells, share of the objects, and bits of dimensions that are proposed."""
MAX_SINGLE_SHARE = 0.5
LABELS, TIMES, NUMBERS = range(3)
"""Kinds of dimensions. A proposal starts from the first kind that works, to which times may be added."""
MIN_BITS_WITHOUT_NUMBERS = 2.0
"""Numbers are added only if other dimensions have fewer bits than this."""


@dataclass(frozen=True, eq=False)
class CandidateDimension:
    """A dimension that might be proposed, its labels in a sample, and the attributes that it and its levels read."""

    spec: DimensionSpec
    labels: ItemLabels
    reads: frozenset[str]
    order: int
    agreement: Agreement | None = None
    made_of: int = LABELS


@dataclass(frozen=True, eq=False)
class Combination:
    """Candidates that are combined, and the cells they make."""

    parts: tuple[CandidateDimension, ...]
    counts: CellCounts
    is_whole: bool = True
    """Whether all items were counted; cells of a sample may have further items."""

    @property
    def score(self) -> float:
        """How well the cells distinguish objects."""
        return score(self.counts)

    @property
    def works(self) -> bool:
        """Whether a cube of them would have meaningful cells."""
        return self.has_cells and self.counts.bits >= MIN_BITS

    @property
    def has_cells(self) -> bool:
        """Whether a cube of them would have cells, even if these hardly distinguish objects."""
        counts = self.counts
        return counts.cells >= MIN_CELLS and counts.share >= MIN_SHARE and not self.repeats_items

    @property
    def repeats_items(self) -> bool:
        """Whether too many cells hold the objects of a single item."""
        return self.is_whole and self.counts.single > MAX_SINGLE_SHARE * self.counts.cells

    @property
    def specs(self) -> tuple[DimensionSpec, ...]:
        """The dimensions, in the order of their attributes."""
        return tuple(part.spec for part in sorted(self.parts, key=lambda part: part.order))

    def proposal(self) -> Proposal:
        """Return the dimensions with the cells they make."""
        return Proposal(self.specs, self.counts, self.score, frozenset().union(*(part.reads for part in self.parts)))


def combine(sample: Sample, parts: Sequence[CandidateDimension], min_objects: int) -> Combination | None:
    """Return candidates with the cells they make together; None if there would be far too many."""
    counts = count_cells(sample, [part.labels for part in parts], min_objects)
    if counts is None:
        return None
    if sample.pairs is not None:
        agreements = [part.agreement for part in parts if part.agreement is not None]
        guessed = [part.labels.count for part in parts if part.labels.is_guess]
        counts = replace(counts, together=compute_meaningful_share(agreements, guessed, sample.guess))
    return Combination(tuple(parts), counts, sample.share == 1)


def search(sample: Sample, alone: Sequence[Combination], min_objects: int) -> list[Combination]:
    """Return combinations that work, best first; each extends another by a dimension that raises its score.

    ``alone`` are the single candidates. Labels and topics come first, because years and counts make cells that cover
    everything and distinguish little. Times are only added to them, and numbers only if the others have too few bits.
    """
    usable = [combination for combination in alone if combination.works]
    first_kind = min((combination.parts[0].made_of for combination in usable), default=LABELS)
    initial = [combination for combination in usable if combination.parts[0].made_of == first_kind]
    addable = [combination for combination in usable if combination.parts[0].made_of <= max(first_kind, TIMES)]
    ranked = rank(_extend_combinations(sample, initial, addable, min_objects))
    if ranked and ranked[0].counts.bits < MIN_BITS_WITHOUT_NUMBERS and len(addable) < len(usable):
        ranked = rank(_extend_combinations(sample, initial, usable, min_objects))
    return ranked


def rank(combinations: Sequence[Combination]) -> list[Combination]:
    """Return combinations by their score, the best first."""
    return sorted(combinations, key=lambda combination: (-combination.score, len(combination.parts)))


def _extend_combinations(
    sample: Sample, initial: Sequence[Combination], addable: Sequence[Combination], min_objects: int
) -> list[Combination]:
    """Return the initial combinations, and those that extend the best of them."""
    combinations = {_make_key(combination.parts): combination for combination in initial}
    tried_keys, beam = set(combinations), _keep_best(initial)
    for _ in range(MAX_DIMENSIONS - 1):
        extended = []
        for base in beam:
            read_attributes = frozenset().union(*(part.reads for part in base.parts))
            for addition in addable:
                parts = (*base.parts, *addition.parts)
                if addition.parts[0].reads & read_attributes or _make_key(parts) in tried_keys:
                    continue
                tried_keys.add(_make_key(parts))
                extension = combine(sample, parts, min_objects)
                if extension is not None and extension.works and extension.score >= base.score * MIN_GAIN:
                    extended.append(extension)
        combinations.update({_make_key(combination.parts): combination for combination in extended})
        beam = _keep_best(extended)
    return list(combinations.values())


def _keep_best(combinations: Sequence[Combination]) -> list[Combination]:
    return sorted(combinations, key=lambda combination: -combination.score)[:BEAM_WIDTH]


def _make_key(parts: Sequence[CandidateDimension]) -> frozenset[str]:
    return frozenset(str(part.spec) for part in parts)
