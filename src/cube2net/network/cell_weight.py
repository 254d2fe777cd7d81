"""How much the links to cells weigh against links between objects, estimated from the links of the query.

Two objects of the query that have a neighbour in common are *connected*. If the labels of cells say something about
the links, connected objects share cells more often than expected; if not, cells would blur what the links say. Pairs
that are linked are left out: the item that links two objects puts both into its cells, so these agree by construction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import import_modules
from cube2net._util.statistics import REACH
from cube2net.model.network import Form

MAX_SAMPLED_OBJECTS = 600
"""Objects of a larger query that are looked at, evenly spaced: their pairs are 180,000."""
MAX_DENSE_SIZE = 1024
"""Matrices with at most this many rows and columns are dense: they are ready before sparse ones are loaded."""
MIN_WEIGHT = 0.1
FULL_LIFT = 1.6
"""From this lift on, as a lower confidence limit, cells have their full weight."""
DEGREE_SCALE = 2.0**20
HALVING_LINKS = 2.0
"""Number of links into the query at which the weights of an object's other links are halved."""
PRIOR_WEIGHT, PRIOR_PAIRS = 0.5, 30
"""The weight without evidence, and how many connected pairs outweigh it."""


@dataclass(frozen=True)
class CellWeight:
    """The weight of cells, above 0 and up to 1, and what it is based on.

    ``lift`` says how many times as often as expected connected objects share a cell, in the cuboid where that is most
    certain; ``low`` and ``high`` are its 95 % confidence limits, and ``pairs`` the number of connected pairs. ``lift``
    is None where nothing can be estimated.
    """

    value: float
    lift: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: int = 0

    def evidence(self) -> dict[str, float | int] | None:
        """Return the lift with its limits and the number of pairs, or None without an estimate."""
        if self.lift is None or self.low is None or self.high is None:
            return None
        return {"lift": self.lift, "low": self.low, "high": self.high, "pairs": self.pairs}


def estimate_cell_weight(
    links: tuple[Array, Array],
    degrees: Array,
    held: Array,
    ranks: Array,
    cuboids: Array,
    *,
    query: int,
) -> CellWeight:
    """Return the weight of cells, from how much more often than expected connected objects share them.

    A common neighbour counts 1 / degree, so that a hub, through which everything is connected, says little. For every
    cuboid the lift is the sum of these counts inside its cells over the sum expected if objects were connected
    regardless of cells; its standard error is that of a ratio of sums over objects. The cuboid with the highest lower
    limit decides: the weight rises with the logarithm of that limit, from 0.1 at 1 to 1 at 1.6.

    Parameters
    ----------
    links
        The ends of links between positions of objects, the first ``query`` of which are the query's.
    degrees
        The number of links of every object in the cube.
    held, ranks
        Object ``held[i]`` is in cell ``ranks[i]``.
    cuboids
        The number of every cell's cuboid.
    query
        The number of objects of the query.

    Examples
    --------
    Objects 0 and 1 have the neighbour 4 in common, 2 and 3 the neighbour 5, and each pair has a cell:

    >>> links = np.array([0, 1, 2, 3]), np.array([4, 4, 5, 5])
    >>> weight = estimate_cell_weight(
    ...     links, np.ones(6), np.arange(4), np.array([0, 0, 1, 1]), np.zeros(2, int), query=4
    ... )
    >>> weight.lift, weight.pairs
    (4.0, 2)
    """
    rows = np.unique(np.linspace(0, query - 1, min(query, MAX_SAMPLED_OBJECTS)).astype(np.int64))
    connected = _connect(links, degrees, rows)
    pairs = int(np.count_nonzero(connected)) // 2
    inside = held < query
    memberships = _count(held[inside], ranks[inside], (query, len(cuboids)))[rows]
    estimates = [
        estimate
        for cuboid in np.unique(cuboids)
        if (estimate := _estimate_log_lift(connected, _dense(memberships[:, np.flatnonzero(cuboids == cuboid)])))
    ]
    if not estimates:
        return CellWeight(PRIOR_WEIGHT)
    log_lift, error = max(estimates, key=lambda each: each[0] - REACH * each[1])
    low, high = log_lift - REACH * error, log_lift + REACH * error
    share = min(1.0, max(0.0, low) / math.log(FULL_LIFT))
    weight = MIN_WEIGHT + (1.0 - MIN_WEIGHT) * share
    weight = (pairs * weight + PRIOR_PAIRS * PRIOR_WEIGHT) / (pairs + PRIOR_PAIRS)
    return CellWeight(weight, math.exp(log_lift), math.exp(low), math.exp(high), pairs)


def _connect(links: tuple[Array, Array], degrees: Array, rows: Array) -> Array:
    """Return for every two sampled objects that are not linked the sum of 1 / degree over their common neighbours."""
    count = len(degrees)
    around = _count(np.concatenate(links), np.concatenate(links[::-1]), (count, count))[rows]
    # Multiples of a power of two are summed without rounding, so that the number of threads changes nothing.
    scaled = around * (np.round(DEGREE_SCALE / np.maximum(degrees, 1)) / DEGREE_SCALE)
    connected = _dense(scaled @ around.T)
    connected[_dense(around[:, rows]) > 0] = 0.0
    np.fill_diagonal(connected, 0.0)
    return connected


def _estimate_log_lift(connected: Array, memberships: Array) -> tuple[float, float] | None:
    """Return the logarithm of the lift of cells and its standard error; None where no cell could be shared."""
    memberships = memberships[:, memberships.sum(axis=0) > 1].astype(np.float64)
    strength = connected.sum(axis=1)
    total = strength.sum()
    if not total:
        return None
    observed = (memberships * (connected @ memberships)).sum(axis=1)
    alone = memberships.sum(axis=1) * strength**2
    expected = (strength * (memberships @ (memberships.T @ strength)) - alone) / total
    if expected.sum() <= 0:
        return None
    if observed.sum() <= 0:
        return -math.inf, 0.0
    lift = float(observed.sum() / expected.sum())
    # Every pair is in the sums of both its objects.
    error = 2.0 * float(np.sqrt(((observed - lift * expected) ** 2).sum()) / observed.sum())
    return math.log(lift), error


def _count(rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    """Return a matrix that counts how often a row and a column occur together; a sparse one where it is large."""
    if max(shape) <= MAX_DENSE_SIZE:
        places = rows.astype(np.int64) * shape[1] + columns
        return np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float32)
    import_modules("scipy.sparse")
    from scipy import sparse

    return sparse.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)


def _dense(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def damp_near_links(
    source: Array, target: Array, query_links: Array, query: int, form: Form, cell_weight: float
) -> Array:
    """Return what every link is multiplied by: 1 inside the query, and less for each end outside it.

    An object with d links into the query (``query_links``) *needs* others by 2 / (2 + d): 1 without any, a half with
    two. A link between the query's object q and a near one is multiplied by need(q)²ᵗ, and one between two neighbours
    by need(x)²ᵗ · need(y)²ᵗ, where t is the weight of cells. A ``neighbor_weight`` of the form replaces all of these.
    """
    own, other = source < query, target < query
    if form.neighbor_weight is not None:
        return np.asarray(form.neighbor_weight ** (2.0 - own - other))
    need = (HALVING_LINKS / (HALVING_LINKS + query_links)) ** (2.0 * cell_weight)
    outside = np.where(own, need[source], np.where(other, need[target], need[source] * need[target]))
    return np.asarray(np.where(own & other, 1.0, outside))


def weigh_memberships(
    kind: str,
    links: tuple[Array, Array, Array],
    held: Array,
    ranks: Array,
    shares: Array,
    query: int,
    cell_weight: float,
) -> Array:
    """Return the weight of every membership: object ``held[i]`` in cell ``ranks[i]``, of the share ``shares[i]``.

    Let s be the median, over the objects of the query that have a link within it, of the weight of all these links
    together, 2 where none has one. For ``even`` the memberships of an object weigh t · s together, divided by their
    shares, where t is the weight of cells.
    """
    if kind == "unit" or not len(held):
        return np.ones(len(held))
    if kind == "share":
        return np.asarray(1.0 / np.bincount(ranks)[ranks])
    source, target, weight = links
    own = (source < query) & (target < query)
    strengths = np.bincount(np.concatenate([source[own], target[own]]), weights=np.tile(weight[own], 2))
    typical = float(np.median(strengths[strengths > 0])) if (strengths > 0).any() else 2.0
    return np.asarray(cell_weight * typical * (shares / np.bincount(held, weights=shares)[held]))
