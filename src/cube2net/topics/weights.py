"""How much a term's occurrences count: common terms say less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cube2net.array_types import Array
from cube2net.topics.bags import Bags

FULL = 150.0
LEAST = 0.1


def rarity(bags: Bags) -> Array:
    """Return what one occurrence of each term counts, from 0.1 to 1.

    A term that stands in fewer than one of 150 items counts fully; one that stands in a tenth of them, half.
    """
    items = np.bincount(bags.terms, minlength=len(bags.vocabulary))
    rare = np.log(max(1, len(bags)) / np.maximum(items, 1)) / np.log(FULL)
    return np.asarray(np.clip(rare, LEAST, 1.0), dtype=np.float32)


def weigh(bags: Bags, weights: Array) -> Bags:
    """Return the bags with counts weighed by term; repeats in one item count by their logarithm."""
    counts = weights[bags.terms] * (1.0 + np.log(bags.counts))
    return replace(bags, counts=counts.astype(np.float32))
