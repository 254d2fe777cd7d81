"""Personalised PageRank: the objects where a walk from the query stays most."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, whole_number
from cube2net.network.links import pinned, within
from cube2net.network.restart_walk import RestartWalk, best
from cube2net.records import Budget, Cube, Links, Query, Selection, Worth
from cube2net.records.scope import OPEN, Scope

TOLERANCE = 0.05
SLACK = 2.0
# How many objects are brought when nobody says: so many for each of the query, between the least and the most.
EACH, LEAST, MOST = 4, 100, 5_000
# Single precision is enough where the residual that a tolerance allows, tolerance · (1 − damping), is so large.
SINGLE = 1e-4
# Scores are so many times nearer to the exact ones where too few of the objects that may come have one yet.
NEARER, NEAREST = 16.0, 16e-12
# Beside those asked for, so many more of a ranking are kept for when some of them may not come.
SPARE = 64

Rankings = dict[tuple[object, ...], Array]


@dataclass(frozen=True, kw_only=True)
class PageRank:
    """Bring the ``top`` objects outside the query by the scores of a walk that starts again at the query.

    The walk follows a link as likely as it is heavy, goes on with probability ``damping`` and else starts
    again at an object of the query, each as likely. An object that the walk does not
    reach is never brought, and of equal scores the lower object number is. Where ``max_links`` leaves room for a part
    only, it is the best. The query itself is always whole. Objects that may not come are walked through and not
    brought, and those that are pinned come first.

    Parameters
    ----------
    top
        How many objects. Without a number as many as ``max_nodes`` leaves room for; without that too, four for each
        object of the query, but at least 100 and at most 5,000.
    damping
        The probability that the walk goes on at a step, above 0 and below 1.
    tolerance
        How far the scores may be from the exact ones, summed over all objects (all scores sum to 1).
    """

    chooses_cells = draws = takes_long = False

    top: int | None = None
    damping: float = field(default=0.85, metadata={"slows": True})
    tolerance: float = field(default=TOLERANCE, metadata={"slows": True})

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
        ranked = nearest(cube.links, query, top, self.damping, self.tolerance, slack=None, scope=budget.scope)
        objects = np.sort(within(cube.links, query, ranked, budget))
        return Selection(objects, weights.value(objects))


def nearest(
    links: Links,
    query: Query,
    count: int,
    damping: float = 0.85,
    tolerance: float = TOLERANCE,
    *,
    slack: float | None = SLACK,
    scope: Scope = OPEN,
    seeds: Array | None = None,
    rankings: Rankings | None = None,
) -> Array:
    """Return the objects outside a query that are nearest to it by links, nearest first; fewer where fewer are.

    The walk is that of :class:`PageRank`. It is followed no further than tells the first ``count`` objects from the
    others: until it is proven that no object brought has less than 1 / (1 + slack) of the ``count``-th exact score, and
    none left out more than 1 + slack times as much. The proof is for the worst case, and what is brought is the best
    guess between its bounds; how much nearer the objects exchanged are, ``benchmarks/nearest_objects.py`` shows.

    Where that needs more than pushes can do, and where ``slack`` is None, scores are within ``tolerance`` of the
    exact ones as those of :func:`scores` are. Of equal scores the lower object number comes first, and an object that
    the walk did not come to is never brought.

    The objects that ``scope`` has pinned come before all others and are counted with them; however many they are, all
    come. What it bars is walked through as ever, and does not come; the walk then goes on until as many are found as it
    would have brought of all, or until it came to all that can be reached. It starts at ``seeds``, else the query.

    ``rankings`` are those known of the same links, and one that is found is added: who asks again for other pins or
    bans gets the same answer sooner.

    >>> from cube2net.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), 5)
    >>> nearest(path, Query(np.array([0])), 2).tolist()
    [1, 2]
    """
    if slack is not None and not 0 <= slack < math.inf:
        raise ParameterError(f"slack is {slack!r}, expected a number of 0 or more, or None")
    _check(damping, tolerance)
    pins = pinned(query, scope)
    count = max(0, count - len(pins))
    if count == 0:
        return np.asarray(pins, dtype=np.int32)
    inside = np.union1d(query.objects, pins) if len(pins) else query.objects
    start, known = query.objects if seeds is None else seeds, {} if rankings is None else rankings
    ranking = _Ranking(links, start, damping, count, inside, scope.barred, known)
    found, wanted = ranking.near(tolerance, slack)
    if len(found) < wanted:
        found = ranking.anywhere(tolerance, wanted)
    return np.concatenate([pins, found]) if len(pins) else found


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The first ``count`` objects by a walk that are neither ``inside``, ascending, nor ``barred``."""

    links: Links
    seeds: Array
    damping: float
    count: int
    inside: Array
    barred: Array | None
    rankings: Rankings

    def near(self, tolerance: float, slack: float | None) -> tuple[Array, int]:
        """Return those of them that the walk comes to, and how many there would be if nobody were barred."""
        for walk in _walks(self.links, self.seeds, self.damping, tolerance):
            found = None if slack is None else walk.first(self.count, slack, tolerance, self.inside, self.barred)
            if found is not None:
                return found, len(found)
            ways = (self.seeds.tobytes(), self.damping, tolerance, *walk.state)
            if ways in self.rankings and len(leading := self._leading(self.rankings[ways])) == self.count:
                return leading, self.count
            values, known = walk.finish(tolerance)
            if walk.sound(values, known, tolerance):
                break
        self.rankings[ways] = known[best(values[known], 2 * (self.count + len(self.inside)) + SPARE)]
        leading = self._leading(self.rankings[ways])
        if len(leading) == self.count:
            return leading, self.count
        values[self.inside] = 0.0
        wanted = min(self.count, int(np.count_nonzero(values[known] > 0)))
        known = self._allowed(known)
        return known[best(values[known], self.count)], wanted

    def anywhere(self, tolerance: float, wanted: int) -> Array:
        """Return the first so many of all that can be reached: a walk comes as far as its sweeps, which get more."""
        while True:
            for walk in _walks(self.links, self.seeds, self.damping, tolerance):
                values, known = walk.finish(tolerance, everywhere=True)
                if walk.sound(values, known, tolerance):
                    break
            known = self._allowed(np.setdiff1d(known, self.inside, assume_unique=True))
            found = known[best(values[known], wanted)]
            if len(found) == min(wanted, len(known)) or tolerance < NEAREST:
                return found
            tolerance /= NEARER

    def _leading(self, ranked: Array) -> Array:
        """Return the first of some objects, which were ranked without regard to who may come."""
        return self._allowed(ranked[~np.isin(ranked, self.inside)])[: self.count]

    def _allowed(self, objects: Array) -> Array:
        return objects if self.barred is None else objects[~self.barred[objects]]


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
    for walk in _walks(links, seeds, damping, tolerance):
        values, known = walk.finish(tolerance)
        if walk.sound(values, known, tolerance):
            break
    return values.astype(np.float64, copy=False)


def _walks(links: Links, seeds: Array, damping: float, tolerance: float) -> Iterator[RestartWalk]:
    """Yield a walk in single precision where that may be enough, and then one in double precision."""
    _check(damping, tolerance)
    seeds = np.unique(np.asarray(seeds, dtype=np.int32))
    if len(seeds) == 0 or seeds[0] < 0 or seeds[-1] >= len(links):
        raise ParameterError(f"seeds are {seeds.tolist()[:3]!r}, expected one or more of {len(links):,} objects")
    if tolerance * (1.0 - damping) >= SINGLE:
        with np.errstate(all="ignore"):
            yield RestartWalk(links, seeds, damping, np.float32)
    yield RestartWalk(links, seeds, damping, np.float64)


def _check(damping: float, tolerance: float) -> None:
    if not 0 < damping < 1:
        raise ParameterError(f"damping is {damping!r}, expected a probability above 0 and below 1")
    if not 1e-12 <= tolerance < 1:
        raise ParameterError(f"tolerance is {tolerance!r}, expected a number from 1e-12 to below 1")
