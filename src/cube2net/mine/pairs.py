"""How well vectors find hidden pairs of objects again: AUC by cosine, among pairs that have no link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError, some
from cube2net.records.ragged import frozen

Pairs = tuple[Array, Array]
"""The positions of the two ends of some pairs."""

# Cosines that agree to so many digits are equal; and how many pairs are looked at together.
DIGITS = 9
BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class PairRanking:
    """The AUC of every hidden pair, and of every object that has one.

    ``pairs`` is that of the pairs; ``objects`` are positions, ascending, and ``auc`` is the mean over the pairs of
    each. A pair counts for both its ends.
    """

    objects: Array
    auc: Array
    pairs: Array

    def __post_init__(self) -> None:
        for name in ("objects", "auc", "pairs"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        return f"PairRanking({len(self):,} objects, {len(self.pairs):,} hidden pairs: AUC {self.mean:.4f})"

    @property
    def mean(self) -> float:
        """The mean over the objects, each as important as any other."""
        return float(self.auc.mean())


def rank_pairs(vectors: Array, hidden: Pairs, unlinked: Pairs) -> PairRanking:
    """Return how well hidden pairs stand above unlinked ones by the cosines of their objects' vectors.

    Pairs are given by the positions of their ends. The AUC of a hidden pair is the share of the unlinked pairs that it
    is above, and equal ones (to 9 digits) count half. The cosine with a vector of zeros is 0.

    >>> vectors = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.0, 0.0]])
    >>> rank_pairs(vectors, (np.array([0, 0]), np.array([1, 3])), (np.array([0, 1]), np.array([2, 2]))).pairs.tolist()
    [1.0, 0.25]
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or not bool(np.isfinite(vectors).all()):
        raise InputError(f"vectors have shape {vectors.shape}, expected a row of finite numbers for each object")
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    units = vectors / np.where(lengths > 0, lengths, 1.0)[:, None]
    ends = [_checked(name, pairs, len(vectors)) for name, pairs in (("hidden", hidden), ("unlinked", unlinked))]
    own, others = (_cosines(units, *pair) for pair in ends)
    others.sort()
    below, up_to = (np.searchsorted(others, own, side) for side in ("left", "right"))
    pairs = (below + up_to) / (2 * len(others))
    both = np.concatenate(ends[0])
    counts = np.bincount(both, minlength=len(vectors))
    sums = np.bincount(both, weights=np.tile(pairs, 2), minlength=len(vectors))
    objects = np.flatnonzero(counts)
    return PairRanking(objects, sums[objects] / counts[objects], pairs)


def _cosines(units: Array, source: Array, target: Array) -> Array:
    """Return the cosine of every pair, a block at a time."""
    found = np.empty(len(source))
    for start in range(0, len(source), BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = np.einsum("ij,ij->i", units[source[part]], units[target[part]])
    return found.round(DIGITS) + 0.0


def _checked(name: str, pairs: Pairs, count: int) -> Pairs:
    source, target = (np.asarray(side) for side in pairs)
    if source.ndim != 1 or source.shape != target.shape or not len(source):
        raise InputError(
            f"the ends of {name} pairs have shapes {source.shape} and {target.shape}, expected one or more pairs, "
            "two ends each"
        )
    ends = np.concatenate([source, target])
    outside = ends[(ends < 0) | (ends >= count)].tolist()
    if outside:
        raise InputError(f"{name} pairs name objects that are not among the {count:,}: {some(outside)}")
    if bool((source == target).any()):
        raise InputError(f"{int((source == target).sum()):,} {name} pairs join an object with itself")
    return source.astype(np.int64), target.astype(np.int64)
