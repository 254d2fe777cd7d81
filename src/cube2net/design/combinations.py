"""Combinations of dimensions, and the cells they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cube2net._util.arrays import Array
from cube2net.design.attributes import ItemLabels, Sample, within
from cube2net.model.dimension import DimensionSpec
from cube2net.model.suggestion import CellCounts, Proposal

GIANT = 0.25
"""A cell that holds more of all objects is giant."""
DIRECT = 2_000_000
"""Up to so many possible cells are counted in an array, more by sorting."""
MOST_CELLS_EACH = 20
"""Dimensions that would put an object into more cells, on average over its items, are not counted."""
ENOUGH = 0.9
"""With so many of the objects in cells that are kept, cells are judged by what they tell alone."""
STEEPNESS = 4
"""The power of the covered share by which the score falls below that."""
TOGETHER = 0.95
"""So much of the score is for what is no chance, where a corpus shows what belongs together."""
TURNS = 10
"""So many pairs of any items are looked at for every pair that belongs together."""


def count_cells(sample: Sample, dimensions: Sequence[ItemLabels], min_objects: int) -> CellCounts | None:
    """Return the cells that dimensions make of a sample, or None where objects would be in far too many.

    In a sample of a part of the items, a cell is kept that has this part of ``min_objects``, and two objects at least.
    """
    placed = place(sample, dimensions)
    if placed is None:
        return None
    cell, thing, is_single = placed
    least = max(2 if sample.share < 1 else 1, round(min_objects * sample.share))
    single = int((is_single & (np.bincount(cell, minlength=len(is_single)) >= max(2, least))).sum())
    return replace(tally(cell, thing, sample.objects, least), single=single)


def tally(cell: Array, thing: Array, objects: int, least: int) -> CellCounts:
    """Return what cells there are, given the cell and the object of every membership; ``least`` objects are kept.

    Two cells of two objects each, one object in a cell of its own, and one in none:

    >>> counts = tally(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 2, 3, 4]), 6, 2)
    >>> counts.cells, counts.dead, counts.giant, round(counts.share, 2), round(counts.bits, 2)
    (2, 1, 2, 0.67, 1.06)
    """
    sizes = np.bincount(cell)
    kept = sizes >= least
    inside = kept[cell]
    members, all_of = (np.bincount(which, minlength=objects) for which in (thing[inside], thing))
    told = np.bincount(thing[inside], weights=np.log2(objects / sizes[cell[inside]]), minlength=objects)
    return CellCounts(
        cells=int(kept.sum()),
        share=float((members > 0).mean()) if objects else 0.0,
        dead=int((~kept & (sizes > 0)).sum()),
        giant=int((sizes > GIANT * objects).sum()),
        bits=float((told / np.maximum(all_of, 1)).mean()) if objects else 0.0,
    )


@dataclass(frozen=True, eq=False)
class Agreement:
    """Whether two items share a label: for pairs of items that belong together, and for pairs of any."""

    belonging: Array
    others: Array

    @classmethod
    def of(cls, sample: Sample, labels: ItemLabels) -> Agreement | None:
        """Return it for the labels of a dimension; None where a corpus does not show what belongs together."""
        if sample.pairs is None or labels.is_guess:
            return None
        first, second = sample.pairs
        turns = np.arange(1, TURNS + 1) * len(first) // (TURNS + 1)
        others = np.concatenate([np.roll(second, turn) for turn in turns])
        return cls(
            labels.have_common_label(first, second, len(sample)),
            labels.have_common_label(np.tile(first, TURNS), others, len(sample)),
        )


def told_together(agreements: Sequence[Agreement], guessed: Sequence[int] = (), guess: float = 0.5) -> float:
    """Return which part of what tells items apart is no chance, from 0 to 1.

    Let items that belong together share a cell with the share L, and any two with the share C: then a cell is
    log2(1/C) bits fine, and log2(L/C) of them hold together what belongs together. Labels by chance add to the one and
    not to the other. Of labels that are guessed, so many each, the part ``guess`` is taken to be no chance.

    >>> halves = Agreement(np.ones(1000, dtype=bool), np.arange(1000) % 2 == 0)
    >>> noise = Agreement(np.arange(1000) % 4 == 0, np.arange(1000) % 4 < 2)
    >>> round(told_together([halves]), 2), told_together([noise])
    (1.0, 0.0)
    """
    gain = fine = 0.0
    if agreements:
        shares = [
            np.logical_and.reduce([getattr(each, which) for each in agreements]) for which in ("belonging", "others")
        ]
        real, chance = ((float(share.sum()) + 0.5) / (len(share) + 1) for share in shares)
        fine = float(-np.log2(chance))
        gain = min(max(0.0, float(np.log2(real / chance))), fine)
    guesses = float(np.sum(np.log2(guessed))) if len(guessed) else 0.0
    return (gain + guess * guesses) / (fine + guesses) if fine + guesses else 0.0


def place(sample: Sample, dimensions: Sequence[ItemLabels]) -> tuple[Array, Array, Array] | None:
    """Return a cell and an object of every membership, each once, and which cells are of one item alone.

    Where there are far too many memberships the result is None.
    """
    item, thing = sample.item, sample.object
    key, width = np.zeros(len(item), dtype=np.int64), 1
    once = True
    for labels in dimensions:
        if width * labels.count > 2**62 // max(1, sample.objects):
            seen, key = np.unique(key, return_inverse=True)
            width = len(seen)
        if labels.are_single:
            code = labels.by_item(len(sample))[item]
            has = code >= 0
            if not has.all():
                item, thing, key, code = item[has], thing[has], key[has], code[has]
        else:
            once = False
            each = np.bincount(labels.items, minlength=len(sample))
            starts = np.concatenate([[0], np.cumsum(each)])
            repeats = each[item]
            if repeats.sum() > MOST_CELLS_EACH * len(sample.item):
                return None
            at = np.repeat(starts[item], repeats) + within(repeats)
            item, thing, key = (np.repeat(values, repeats) for values in (item, thing, key))
            code = labels.codes[at]
        key = key * labels.count + code
        width *= labels.count
    if width <= DIRECT:
        used = np.bincount(key, minlength=width) > 0
        cell = (np.cumsum(used) - 1)[key]
    else:
        _, cell = np.unique(key, return_inverse=True)
    first, last = np.full(len(cell), len(sample)), np.full(len(cell), -1)
    np.minimum.at(first, cell, item)
    np.maximum.at(last, cell, item)
    is_single = (first == last)[: int(cell.max(initial=-1)) + 1]
    if once and len(sample.item) == sample.objects:
        return cell, thing, is_single
    pairs = np.sort(cell * max(1, sample.objects) + thing)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    cell, thing = np.divmod(pairs, max(1, sample.objects))
    return cell, thing, is_single


def score(counts: CellCounts) -> float:
    """Return how well cells tell objects apart: their bits, far less where more than a tenth of the objects is in none.

    Where the corpus shows what belongs together, most of that is for what is no chance.
    """
    told = 1.0 if counts.together is None else 1 - TOGETHER + TOGETHER * counts.together
    return counts.bits * min(1.0, counts.share / ENOUGH) ** STEEPNESS * told


MOST_DIMENSIONS = 4
BEAM = 5
GAIN = 1.1
"""A further dimension has to raise the score by this factor."""
LEAST_CELLS, LEAST_SHARE, LEAST_BITS = 2, 0.1, 0.1
"""Dimensions that make fewer cells, hold a smaller share of the objects, or tell less are not proposed."""
MAX_SINGLE_SHARE = 0.5
LABELS, TIMES, NUMBERS = range(3)
"""What a dimension is made of. A proposal starts from the first of these that works, and times may join it."""
ENOUGH_BITS = 2.0
"""Numbers join where other dimensions tell less."""


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
    """Candidates that go together, and what cells they make."""

    parts: tuple[CandidateDimension, ...]
    counts: CellCounts
    is_whole: bool = True
    """Whether all items were counted; of a sample, a cell may have further items."""

    @property
    def score(self) -> float:
        """How well they tell objects apart."""
        return score(self.counts)

    @property
    def works(self) -> bool:
        """Whether a cube of them would have cells worth speaking of."""
        return self.has_cells and self.counts.bits >= LEAST_BITS

    @property
    def has_cells(self) -> bool:
        """Whether a cube of them would have cells, even if they tell objects apart little."""
        counts = self.counts
        return counts.cells >= LEAST_CELLS and counts.share >= LEAST_SHARE and not self.repeats_items

    @property
    def repeats_items(self) -> bool:
        """Whether most cells hold the objects of one item alone."""
        return self.is_whole and self.counts.single > MAX_SINGLE_SHARE * self.counts.cells

    @property
    def specs(self) -> tuple[DimensionSpec, ...]:
        """The dimensions, in the order of their attributes."""
        return tuple(part.spec for part in sorted(self.parts, key=lambda part: part.order))

    def proposal(self) -> Proposal:
        """Return the dimensions with what they make."""
        return Proposal(self.specs, self.counts, self.score, frozenset().union(*(part.reads for part in self.parts)))


def combine(sample: Sample, parts: Sequence[CandidateDimension], min_objects: int) -> Combination | None:
    """Return some candidates with the cells they make together; None where there would be far too many."""
    counts = count_cells(sample, [part.labels for part in parts], min_objects)
    if counts is None:
        return None
    if sample.pairs is not None:
        known = [part.agreement for part in parts if part.agreement is not None]
        guessed = [part.labels.count for part in parts if part.labels.is_guess]
        counts = replace(counts, together=told_together(known, guessed, sample.guess))
    return Combination(tuple(parts), counts, sample.share == 1)


def search(sample: Sample, alone: Sequence[Combination], min_objects: int) -> list[Combination]:
    """Return combinations that work, best first: each grew from another by a dimension that raised its score.

    ``alone`` are the candidates by themselves. Those of labels and topics come first, for years and counts make cells
    that cover everything and tell little; times only join them, and numbers only where the others tell too little.
    """
    usable = [each for each in alone if each.works]
    first = min((each.parts[0].made_of for each in usable), default=LABELS)
    start = [each for each in usable if each.parts[0].made_of == first]
    others = [each for each in usable if each.parts[0].made_of <= max(first, TIMES)]
    found = rank(_grow(sample, start, others, min_objects))
    if found and found[0].counts.bits < ENOUGH_BITS and len(others) < len(usable):
        found = rank(_grow(sample, start, usable, min_objects))
    return found


def rank(combinations: Sequence[Combination]) -> list[Combination]:
    """Return combinations by their score, the best first."""
    return sorted(combinations, key=lambda each: (-each.score, len(each.parts)))


def _grow(
    sample: Sample, start: Sequence[Combination], others: Sequence[Combination], min_objects: int
) -> list[Combination]:
    """Return some combinations, and those that grow from the best of them by others."""
    found = {_key(each.parts): each for each in start}
    tried, beam = set(found), _best(start)
    for _ in range(MOST_DIMENSIONS - 1):
        grown = []
        for base in beam:
            read = frozenset().union(*(part.reads for part in base.parts))
            for other in others:
                parts = (*base.parts, *other.parts)
                if other.parts[0].reads & read or _key(parts) in tried:
                    continue
                tried.add(_key(parts))
                wider = combine(sample, parts, min_objects)
                if wider is not None and wider.works and wider.score >= base.score * GAIN:
                    grown.append(wider)
        found.update({_key(each.parts): each for each in grown})
        beam = _best(grown)
    return list(found.values())


def _best(combinations: Sequence[Combination]) -> list[Combination]:
    return sorted(combinations, key=lambda each: -each.score)[:BEAM]


def _key(parts: Sequence[CandidateDimension]) -> frozenset[str]:
    return frozenset(str(part.spec) for part in parts)
