"""Which dimensions go together: those whose cells tell objects apart and leave few of them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cube2net.propose.cell_counts import Agreement, count_cells, score, told_together
from cube2net.propose.item_samples import ItemLabels, Sample
from cube2net.records import DimensionSpec
from cube2net.records.suggestion import CellCounts, Proposal

MOST_DIMENSIONS = 4
BEAM = 5
GAIN = 1.1
"""A further dimension has to raise the score by this factor."""
LEAST_CELLS, LEAST_SHARE, LEAST_BITS = 2, 0.1, 0.1
"""Dimensions that make fewer cells, hold a smaller share of the objects, or tell less are not proposed."""
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

    @property
    def score(self) -> float:
        """How well they tell objects apart."""
        return score(self.counts)

    @property
    def works(self) -> bool:
        """Whether a cube of them would have cells worth speaking of."""
        counts = self.counts
        return counts.cells >= LEAST_CELLS and counts.share >= LEAST_SHARE and counts.bits >= LEAST_BITS

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
    return Combination(tuple(parts), counts)


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
