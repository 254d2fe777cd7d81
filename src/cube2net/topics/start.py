"""A first guess of topics: clusters of items that use the same terms."""

from __future__ import annotations

from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.topics.bags import Bags

ROUNDS = 12
CANDIDATES = 6


def cluster(bags: Bags, clusters: int, rng: np.random.Generator) -> Array:
    """Return a cluster for every item, by k-means over the cosine of their terms.

    A chain that starts here has its topics apart from the first sweep; from random topics it needs many
    sweeps to part them, and never parts some.
    """
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(len(bags)), np.diff(bags.starts))
    length = np.sqrt(np.bincount(rows, weights=bags.counts.astype(np.float64) ** 2, minlength=len(bags)))
    values = (bags.counts / length[rows]).astype(np.float32)
    items = csr_array((values, bags.terms, bags.starts), shape=(len(bags), len(bags.vocabulary)))
    centres = items[_apart(items, clusters, rng)].toarray()
    nearest = np.zeros(len(bags), dtype=np.int64)
    for _ in range(ROUNDS):
        before = nearest
        nearest = np.argmax(items @ np.ascontiguousarray(centres.T), axis=1)
        if np.array_equal(before, nearest):
            break
        member = csr_array((np.ones(len(bags), np.float32), (nearest, np.arange(len(bags)))), (clusters, len(bags)))
        centres = (member @ items).toarray()
        empty = np.flatnonzero(np.bincount(nearest, minlength=clusters) == 0)
        centres[empty] = items[rng.choice(len(bags), len(empty))].toarray()
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return nearest


def _apart(items: Any, clusters: int, rng: np.random.Generator) -> Array:
    """Return items to start from: each the best of a few that were drawn by their distance to those before."""
    chosen = [int(rng.integers(items.shape[0]))]
    far = _distances(items, chosen)[:, 0]
    for _ in range(clusters - 1):
        far[chosen] = 0.0
        chance = np.cumsum(far if far.any() else np.isin(np.arange(len(far)), chosen, invert=True).astype(float))
        drawn = np.searchsorted(chance, rng.random(CANDIDATES) * chance[-1], side="right")
        nearer = np.minimum(far[:, None], _distances(items, drawn.tolist()))
        best = int(np.argmin(nearer.sum(axis=0)))
        chosen.append(int(drawn[best]))
        far = nearer[:, best]
    return np.array(chosen)


def _distances(items: Any, centres: list[int]) -> Array:
    """Return one minus the cosine of every item (rows) and some of them (columns)."""
    return np.asarray(np.maximum(0.0, 1.0 - items @ np.ascontiguousarray(items[centres].toarray().T)))
