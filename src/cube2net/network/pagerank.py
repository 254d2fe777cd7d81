"""Personalised PageRank: the objects where a walk from the query stays most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cube2net.errors import ParameterError, whole_number
from cube2net.network.links import within
from cube2net.records import Budget, Cube, Links, Query, Selection, Worth
from cube2net.records.ragged import Array

TOLERANCE = 0.05
# How many objects are brought when nobody says: so many for each of the query, between the least and the most.
EACH, LEAST, MOST = 4, 100, 5_000
# Pushes may see one in so many ends of links before sweeps take over.
LOCAL = 8
# When they have seen so many, it is looked whether all that can be reached has no more than SMALL: sweeps over these
# take over then, so that the cost does not grow with a network around it.
EARLY, SMALL = 1 << 18, 1 << 21
# Where the objects that can be reached have no more than one in so many ends of links, sweeps leave out the others.
PART = 3
# Single precision is enough where the residual that a tolerance allows, tolerance · (1 − damping), is so large.
SINGLE = 1e-4
# By how much rounding in single precision may move the sum of all scores.
ROUNDING = 1e-3


@dataclass(frozen=True, kw_only=True)
class PageRank:
    """Bring the ``top`` objects outside the query by the scores of a walk that starts again at the query.

    The walk follows a link as likely as it is heavy, goes on with probability ``damping`` and else starts
    again at an object of the query, each as likely. ``tolerance`` is how far the scores may be from the exact
    ones, summed over all objects (all scores sum to 1); see :func:`scores`. An object that the walk does not
    reach is never brought, and of equal scores the lower object number is.

    Without ``top`` as many are brought as ``max_nodes`` leaves room for; without that too, four for each
    object of the query, but at least 100 and at most 5,000. Where ``max_links`` leaves room for a part only,
    it is the best. The query itself is always whole.
    """

    top: int | None = None
    damping: float = 0.85
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        object.__setattr__(self, "top", whole_number("top", self.top, 0, or_none=True, what="objects, or None"))
        _check(self.damping, self.tolerance)

    def select(self, cube: Cube, query: Query, *, weights: Worth, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects of highest score, without the query; the seed changes nothing."""
        top = self.top
        if top is None and budget.max_nodes is not None:
            top = max(0, budget.max_nodes - len(query))
        if top is None:
            top = min(max(EACH * len(query), LEAST), MOST)
        ranked = nearest(cube.links, query, top, self.damping, self.tolerance)
        objects = np.sort(within(cube.links, query, ranked, budget))
        return Selection(objects, weights.value(objects))


def nearest(links: Links, query: Query, count: int, damping: float = 0.85, tolerance: float = TOLERANCE) -> Array:
    """Return the objects outside a query that are nearest to it by links, nearest first; fewer where fewer are."""
    values, reached = _walk(links, query.objects, damping, tolerance)
    values[query.objects] = 0.0
    return reached[best(values[reached], count)]


def scores(links: Links, seeds: Array, damping: float = 0.85, tolerance: float = TOLERANCE) -> Array:
    """Return the PageRank of every object for a walk that starts again at the seeds, each as likely.

    Σ |score − exact| ≤ tolerance, and the exact scores sum to 1. Objects that no path joins to a seed have
    exactly 0. A walk at an object without links starts again at once.

    The walk is followed first by pushes, whose cost follows what the walk comes to: a loose tolerance is met there.
    When they have seen 262,144 ends of links and all that can be reached has no more than eight times as many, or when
    they have seen one link in eight, sweeps over all links that can be reached do the rest, and a tolerance ten times
    tighter costs four sweeps more.

    >>> from cube2net.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 3.0]), 4)
    >>> scores(path, np.array([1]), tolerance=1e-9).round(4).tolist()
    [0.1149, 0.5405, 0.3446, 0.0]
    """
    return _walk(links, seeds, damping, tolerance)[0].astype(np.float64, copy=False)


def _walk(links: Links, seeds: Array, damping: float, tolerance: float) -> tuple[Array, Array]:
    """Return the scores of every object, and in ascending order those that may have one beside seeds without links.

    Single precision is tried where it is enough. Very large or very small weights are too much for it: then the
    scores are not numbers, or do not sum to 1 as they must.
    """
    _check(damping, tolerance)
    seeds = np.unique(np.asarray(seeds, dtype=np.int32))
    if len(seeds) == 0 or seeds[0] < 0 or seeds[-1] >= len(links):
        raise ParameterError(f"seeds are {seeds.tolist()[:3]!r}, expected one or more of {len(links):,} objects")
    if tolerance * (1.0 - damping) >= SINGLE:
        with np.errstate(all="ignore"):
            values, known = _walked(links, seeds, damping, tolerance, np.float32)
            total = values[known].sum(dtype=np.float64) + values[_missing(seeds, known)].sum(dtype=np.float64)
        if abs(total - 1.0) <= tolerance + ROUNDING:
            return values, known
    return _walked(links, seeds, damping, tolerance, np.float64)


def _missing(rows: Array, known: Array) -> Array:
    """Return the rows that are not among the known ones, which ascend."""
    if len(known) == 0:
        return rows
    place = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    return np.asarray(rows[known[place] != rows])


def _walked(
    links: Links, seeds: Array, damping: float, tolerance: float, precision: type[np.floating[Any]]
) -> tuple[Array, Array]:
    """Return the scores in a precision, and in ascending order the objects that may have one."""
    walk, whole = _Walk(links, seeds, damping, precision), False
    local = len(links.indices) // LOCAL
    walk.push(tolerance, min(EARLY, local))
    if walk.rest > tolerance and local > EARLY:
        whole = walk.follow(SMALL)
        if not whole:
            walk.push(tolerance, local)
    if walk.rest <= tolerance:
        known = walk.reached
        walk.settled[known] += (1.0 - damping) * walk.left[known]
    else:
        whole = whole or walk.follow(len(links.indices) // PART)
        known = walk.reached if whole else np.arange(len(links), dtype=np.int32)
        walk.settle(tolerance, known)
    return walk.settled, known


class _Walk:
    """A walk from seeds that is followed: what is settled of the scores, and what is left to spread (``rest``).

    Arrays have a place for every object. To clear them is all that costs more in a larger network.
    """

    def __init__(self, links: Links, seeds: Array, damping: float, precision: type[np.floating[Any]]) -> None:
        from cube2net.kernels.push import strengths

        count = len(links)
        self._links, self._damping = links, damping
        self.settled: Array = np.zeros(count, precision)
        self.left: Array = np.zeros(count, precision)
        self._strength: Array = np.zeros(count, precision)
        self._reached, self._queue = np.empty(count + 1, np.int32), np.empty(count + 1, np.int32)
        self._state = np.zeros(count, dtype=np.uint8)
        alone = strengths(links.indptr, links.weights, seeds) == 0
        start = 1.0 / (len(seeds) - damping * float(alone.sum()))
        self.settled[seeds[alone]] = (1.0 - damping) * start
        linked = seeds[~alone]
        self.left[linked] = start
        self._reached[: len(linked)] = linked
        self._found = len(linked)
        self.rest = start * len(linked)

    @property
    def reached(self) -> Array:
        """The objects that the walk came to, ascending."""
        return np.sort(self._reached[: self._found])

    def push(self, goal: float, allowance: int) -> None:
        """Go on by pushes until no more than ``goal`` is left, or they have seen so many ends of links."""
        from cube2net.kernels.push import push

        self.rest, self._found = push(
            self._links.indptr,
            self._links.indices,
            self._links.weights,
            self._reached[: self._found].copy(),
            self._damping,
            goal,
            allowance,
            self.settled,
            self.left,
            self._strength,
            self._state,
            self._reached,
            self._queue,
        )

    def follow(self, allowance: int) -> bool:
        """Come to all objects that can be reached, or to none where they have more ends of links; return which."""
        from cube2net.kernels.push import follow

        ends = (self._links.indptr, self._links.indices)
        found, whole = follow(*ends, allowance, self._state, self._reached, self._found)
        if whole:
            self._found = found
        else:
            self._state[self._reached[self._found : found]] = 0
        return bool(whole)

    def settle(self, goal: float, rows: Array) -> None:
        """Settle what is left by sweeps over rows, all that can be reached among them."""
        from cube2net.network.sweeps import settle

        shrink = max(self._damping, 1e-12) / (1.0 + math.sqrt(1.0 - self._damping * self._damping))
        most = 20 + int(math.log(goal * (1.0 - self._damping) / 1000.0) / math.log(shrink))
        settle(self._links, rows, self._damping, goal, most, self.settled, self.left)


def best(values: Array, count: int) -> Array:
    """Return the places of the highest values above 0, highest first; of equal ones the lower place first.

    >>> best(np.array([0.5, 0.0, 0.7, 0.5]), 2).tolist()
    [2, 0]
    """
    places = np.flatnonzero(values > 0)
    if len(places) > count:
        if count == 0:
            return places[:0]
        found = values[places]
        least = np.partition(found, len(found) - count)[len(found) - count]
        above = places[found > least]
        places = np.concatenate([above, places[found == least][: count - len(above)]])
    return places[np.lexsort((places, -values[places]))]


def _check(damping: float, tolerance: float) -> None:
    if not 0 < damping < 1:
        raise ParameterError(f"damping is {damping!r}, expected a probability above 0 and below 1")
    if not 1e-12 <= tolerance < 1:
        raise ParameterError(f"tolerance is {tolerance!r}, expected a number from 1e-12 to below 1")
