"""Recommenders that count: what is popular, and what is liked by the same users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, whole_number
from cube2net.interfaces import Fitted
from cube2net.mine.fitted import Floor, ItemWeights, known_links, link_counts, ones

if TYPE_CHECKING:
    import scipy.sparse as sp

BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Popular:
    """Everybody gets the same scores."""

    floor: Floor

    def scores(self, users: Array) -> Array:
        """Return users × items."""
        return np.tile(self.floor.popular, (len(users), 1))


@dataclass(frozen=True, kw_only=True)
class Popularity:
    """Score an item by the number of its links: the floor that anything personal has to beat."""

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the popularity of every item; the seed changes nothing."""
        return Popular(Floor.of(known_links(matrix)))


@dataclass(frozen=True, kw_only=True)
class ItemKnn:
    """Score an item by the cosines of its users with those of the user's own items.

    cos(i, j) = users of both / (√users of i · √users of j + ``shrink``), so that items with few users count for
    less; of every item only the ``neighbours`` most like it count, and of equals the first. Weights are not looked at.
    """

    neighbours: int = 100
    shrink: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", whole_number("neighbours", self.neighbours, 1, what="items"))
        if not 0 <= self.shrink < np.inf:
            raise ParameterError(f"shrink is {self.shrink!r}, expected a number of 0 or more")

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the nearest items of every item; the seed changes nothing."""
        import scipy.sparse as sp

        links = ones(known_links(matrix))
        turned = sp.csr_array(links.T)
        roots = np.sqrt(link_counts(links))
        blocks = []
        for start in range(0, links.shape[1], BLOCK):
            shared = sp.csr_array(turned[start : start + BLOCK] @ links)
            shared.sort_indices()
            rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
            cosines = shared.data / (roots[start + rows] * roots[shared.indices] + self.shrink)
            cosines[start + rows == shared.indices] = 0.0
            kept = _largest(rows, shared.indices, cosines, self.neighbours)
            pairs = (shared.indices[kept], start + rows[kept])
            blocks.append((cosines[kept], *pairs))
        parts = [np.concatenate(part) for part in zip(*blocks, strict=True)] if blocks else [np.empty(0)] * 3
        weights = sp.csr_array((parts[0], (parts[1], parts[2])), shape=(links.shape[1],) * 2)
        return ItemWeights(links, weights, Floor.of(links))


def _largest(rows: Array, columns: Array, values: Array, most: int) -> Array:
    """Return which entries are among the largest above 0 of their row, of equals the first columns.

    >>> _largest(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), np.array([1.0, 3.0, 3.0, 0.0]), 1).tolist()
    [1]
    """
    there = np.flatnonzero(values > 0)
    order = there[np.lexsort((columns[there], -values[there], rows[there]))]
    sizes = np.bincount(rows[order])
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[place < most]
