"""Personalised PageRank: the objects that a random walk with restarts at the query visits most.

Scores are computed by local pushes, and by sweeps on all cores where these are faster; ``kernels.pagerank_push`` has
the equations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from cube2net._util.arrays import Array, Links
from cube2net._util.progress import cores, share_compile_time
from cube2net.errors import ParameterError, check_int
from cube2net.kernels.numpy_kernels import WORK
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import OPEN, Budget, QueryObjective, Scope, Selection
from cube2net.network.assembly import check_weights, cut_to_limits, list_pinned

TOLERANCE = 0.05
SLACK = 2.0
OBJECTS_PER_QUERY_OBJECT, MIN_OBJECTS, MAX_OBJECTS = 4, 100, 5_000
"""The default number of objects for each of the query, and its limits."""
SINGLE_PRECISION_RESIDUAL = 1e-4
"""Residual, tolerance · (1 − damping), from which single precision suffices."""
TOLERANCE_DIVISOR, MIN_TOLERANCE = 16.0, 16e-12
"""By how much the tolerance is lowered if too few allowed objects have a score, and its lower limit."""
SPARE_OBJECTS = 64
"""Objects of a ranking that are kept besides those requested, because some may be forbidden in the next request."""

Rankings = dict[tuple[object, ...], Array]


@dataclass(frozen=True, kw_only=True)
class PageRank:
    """Select the ``top`` objects outside the query by personalised PageRank.

    The walk continues with probability ``damping`` along a link chosen in proportion to its weight, and otherwise
    restarts at an object of the query, each with the same probability. Objects that it cannot reach are never selected;
    of equal scores the lower object number comes first. If ``max_links`` leaves room for fewer, the best are selected.
    The query is always complete. The walk passes through forbidden objects; pinned ones come first.

    Parameters
    ----------
    top
        The number of objects. By default as many as ``max_nodes`` leaves room for; without a limit four for each object
        of the query, but at least 100 and at most 5,000.
    damping
        The probability that the walk continues, above 0 and below 1.
    tolerance
        The largest error of the scores, summed over all objects (the scores sum to 1).

    Examples
    --------
    >>> PageRank(top=50)
    PageRank(top=50, damping=0.85, tolerance=0.05)

    References
    ----------
    .. [1] R. Andersen, F. Chung and K. Lang, "Local graph partitioning using PageRank vectors", FOCS 2006.
    """

    chooses_cells = draws = takes_long = False

    top: int | None = None
    damping: float = field(default=0.85, metadata={"slows": True})
    tolerance: float = field(default=TOLERANCE, metadata={"slows": True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "top", check_int("top", self.top, 0, or_none=True, what="objects, or None"))
        _check_numbers(self.damping, self.tolerance)

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects with the highest scores, without the query; ``seed`` is not used."""
        top = self.top
        if top is None and budget.max_nodes is not None:
            top = max(0, budget.max_nodes - len(query))
        if top is None:
            top = min(max(OBJECTS_PER_QUERY_OBJECT * len(query), MIN_OBJECTS), MAX_OBJECTS)
        ranked = find_neighbors(cube.links, query, top, self.damping, self.tolerance, slack=None, scope=budget.scope)
        objects = np.sort(cut_to_limits(cube.links, query, ranked, budget))
        return Selection(objects, weights.value(objects))


def find_neighbors(
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
    """Return the ``count`` objects outside a query with the highest PageRank, best first; fewer if there are fewer.

    The walk is that of :class:`cube2net.methods.PageRank`. Pushes stop as soon as it is proven that no returned object
    has less than 1 / (1 + slack) of the ``count``-th exact score, and no other object more than 1 + slack times as
    much. The proof is for the worst case; ``benchmarks/nearest_objects.py`` measures the actual differences. If pushes
    do not suffice or ``slack`` is None, scores are within ``tolerance`` of the exact ones, as those of
    :func:`compute_scores`.

    Objects pinned by ``scope`` come first and count, but none is left out. The walk passes through forbidden objects;
    it continues until enough allowed ones have a score or all reachable objects have one. It starts at ``seeds``, by
    default the query. ``rankings`` caches rankings of the same links, for further requests with other pins or bans.

    >>> from cube2net._util.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), 5)
    >>> find_neighbors(path, Query(np.array([0])), 2).tolist()
    [1, 2]
    """
    if slack is not None and not 0 <= slack < math.inf:
        raise ParameterError(f"slack is {slack!r}, expected a number of 0 or more, or None")
    _check_numbers(damping, tolerance)
    pins = list_pinned(query, scope)
    count = max(0, count - len(pins))
    if count == 0:
        return np.asarray(pins, dtype=np.int32)
    inside = np.union1d(query.objects, pins) if len(pins) else query.objects
    start, cache = query.objects if seeds is None else seeds, {} if rankings is None else rankings
    ranking = _Ranking(links, start, damping, count, inside, scope.forbidden_objects, cache)
    neighbors, wanted = ranking.select_near(tolerance, slack)
    if len(neighbors) < wanted:
        neighbors = ranking.select_anywhere(tolerance, wanted)
    return np.concatenate([pins, neighbors]) if len(pins) else neighbors


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The first ``count`` objects by a walk that are neither ``inside``, ascending, nor ``forbidden``."""

    links: Links
    seeds: Array
    damping: float
    count: int
    inside: Array
    forbidden_objects: Array | None
    rankings: Rankings

    def select_near(self, tolerance: float, slack: float | None) -> tuple[Array, int]:
        """Return those that the walk reaches, and how many there would be if no object were forbidden."""
        for walk in _make_walks(self.links, self.seeds, self.damping, tolerance):
            first = (
                None if slack is None else walk.first(self.count, slack, tolerance, self.inside, self.forbidden_objects)
            )
            if first is not None:
                return first, len(first)
            key = (self.seeds.tobytes(), self.damping, tolerance, *walk.state)
            if key in self.rankings and len(leading := self._select_leading(self.rankings[key])) == self.count:
                return leading, self.count
            values, reached = walk.finish(tolerance)
            if walk.sound(values, reached, tolerance):
                break
        self.rankings[key] = reached[
            select_highest(values[reached], 2 * (self.count + len(self.inside)) + SPARE_OBJECTS)
        ]
        leading = self._select_leading(self.rankings[key])
        if len(leading) == self.count:
            return leading, self.count
        values[self.inside] = 0.0
        wanted = min(self.count, int(np.count_nonzero(values[reached] > 0)))
        reached = self._drop_forbidden(reached)
        return reached[select_highest(values[reached], self.count)], wanted

    def select_anywhere(self, tolerance: float, wanted: int) -> Array:
        """Return the first of all reachable objects; more sweeps are made until enough have a score."""
        while True:
            for walk in _make_walks(self.links, self.seeds, self.damping, tolerance):
                values, reached = walk.finish(tolerance, everywhere=True)
                if walk.sound(values, reached, tolerance):
                    break
            reached = self._drop_forbidden(np.setdiff1d(reached, self.inside, assume_unique=True))
            first = reached[select_highest(values[reached], wanted)]
            if len(first) == min(wanted, len(reached)) or tolerance < MIN_TOLERANCE:
                return first
            tolerance /= TOLERANCE_DIVISOR

    def _select_leading(self, ranked: Array) -> Array:
        """Return the first of some ranked objects that are outside the query and allowed."""
        return self._drop_forbidden(ranked[~np.isin(ranked, self.inside)])[: self.count]

    def _drop_forbidden(self, objects: Array) -> Array:
        return objects if self.forbidden_objects is None else objects[~self.forbidden_objects[objects]]


def compute_scores(links: Links, seeds: Array, damping: float = 0.85, tolerance: float = TOLERANCE) -> Array:
    """Return the personalised PageRank of every object for a walk that restarts at the seeds.

    Σ |score − exact| ≤ tolerance, and the exact scores sum to 1. Objects without a path to a seed have exactly 0. A
    walk at an object without links restarts at once.

    Pushes come first; their cost depends on what the walk reaches, and a loose tolerance is met by them alone. When
    they have visited 262,144 ends of links and the reachable part has at most eight times as many, or when they have
    visited one link in eight, sweeps over all reachable links do the rest; a ten times tighter tolerance costs four
    more sweeps.

    >>> from cube2net._util.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 3.0]), 4)
    >>> compute_scores(path, np.array([1]), tolerance=1e-9).round(4).tolist()
    [0.1149, 0.5405, 0.3446, 0.0]
    """
    for walk in _make_walks(links, seeds, damping, tolerance):
        values, rows = walk.finish(tolerance)
        if walk.sound(values, rows, tolerance):
            break
    return values.astype(np.float64, copy=False)


def _make_walks(links: Links, seeds: Array, damping: float, tolerance: float) -> Iterator[RestartWalk]:
    """Yield a walk in single precision if that may suffice, and then one in double precision."""
    _check_numbers(damping, tolerance)
    seeds = np.unique(np.asarray(seeds, dtype=np.int32))
    if len(seeds) == 0 or seeds[0] < 0 or seeds[-1] >= len(links):
        raise ParameterError(f"seeds are {seeds.tolist()[:3]!r}, expected one or more of {len(links):,} objects")
    if tolerance * (1.0 - damping) >= SINGLE_PRECISION_RESIDUAL:
        with np.errstate(all="ignore"):
            yield RestartWalk(links, seeds, damping, np.float32)
    yield RestartWalk(links, seeds, damping, np.float64)


def _check_numbers(damping: float, tolerance: float) -> None:
    if not 0 < damping < 1:
        raise ParameterError(f"damping is {damping!r}, expected a probability above 0 and below 1")
    if not 1e-12 <= tolerance < 1:
        raise ParameterError(f"tolerance is {tolerance!r}, expected a number from 1e-12 to below 1")


FALL, STEP = 4.0, 1.5
"""Divisors of the threshold of pushes, to compute scores and to separate the first objects."""
LOWEST = 1e-300
"""Smallest threshold."""
LOCAL = 8
"""Pushes may visit this fraction (1/8) of the ends of links before sweeps take over."""
EARLY, SMALL = 1 << 18, 1 << 21
"""After ``EARLY`` visited ends of links, sweeps take over if the reachable part has at most ``SMALL``.

So the cost does not depend on the rest of the network.
"""
PART = 3
"""Sweeps are limited to the reachable objects if these have at most this fraction (1/3) of the ends of links."""
APART = 2
"""To separate the first objects, pushes may visit this fraction (1/2) of the ends of links."""
MANY = 64
"""From this fraction (1/64) of reached objects on, the strengths of all objects are summed at once."""
ROUNDING = 1e-3
"""Error of the sum of all scores by rounding in single precision."""
PARTS = 16
"""Parts into which sweeps divide the rows, whatever the number of cores, so that sums are always the same."""
ONE_THREAD = 1_000_000
"""Ends of links below which a second thread does not pay."""
LOOKS = 8
"""Visits of every end of a link in a walk, approximately."""


def choose_kernels(links: Links) -> Any:
    """Return the kernels of a walk: the compiled ones, or their NumPy versions if these finish sooner."""
    is_small = WORK.accept("pagerank_push.push", len(links.indices), LOOKS)
    return import_module(f"cube2net.kernels.{'numpy_kernels' if is_small else 'pagerank_push'}")


def _exclude(rows: Array, excluded: Array) -> Array:
    """Return the rows that are not among the known ones, which are in ascending order."""
    if len(excluded) == 0:
        return rows
    place = np.minimum(np.searchsorted(excluded, rows), len(excluded) - 1)
    return np.asarray(rows[excluded[place] != rows])


class RestartWalk:
    """The state of a walk: the settled part of the scores, and the rest that is still to be spread.

    Arrays have an entry for every object; only allocating them costs more in a larger network.
    """

    def __init__(self, links: Links, seeds: Array, damping: float, precision: type[np.floating[Any]]) -> None:
        count = len(links)
        self._kernels = choose_kernels(links)
        self._links, self._damping, self._seeds = links, damping, seeds
        self.settled: Array = np.zeros(count, precision)
        self.left: Array = np.zeros(count, precision)
        self._arrived: Array = np.zeros(count, precision)
        self._strength: Array = np.zeros(count, precision)
        self._reached, self._active, self._touched = (np.empty(count + 1, np.int32) for _ in range(3))
        strength = self._kernels.strengths(links.indptr, links.weights, seeds)
        check_weights(strength, "sums of weights of its links here are")
        alone = strength == 0
        start = 1.0 / (len(seeds) - damping * float(alone.sum()))
        self.settled[seeds[alone]] = (1.0 - damping) * start
        linked = seeds[~alone]
        self.left[linked] = start
        self._strength[linked] = strength[~alone]
        self._reached[: len(linked)] = linked
        self._reached_count = len(linked)
        self.rest = start * len(linked)
        self._seen = 0
        self._threshold = start / float(strength[~alone].min()) if len(linked) else 0.0
        self._all_strengths = False

    @property
    def reached(self) -> Array:
        """The objects that the walk has reached, ascending."""
        return np.sort(self._reached[: self._reached_count])

    @property
    def state(self) -> tuple[str, int, float]:
        """The progress of pushes: two walks from the same seeds with the same state agree in every bit."""
        return self.settled.dtype.str, self._seen, self._threshold

    def first(
        self, count: int, slack: float, tolerance: float, inside: Array, forbidden: Array | None = None
    ) -> Array | None:
        """Return the first ``count`` allowed objects that are not ``inside``, as soon as pushes separate them.

        None if that seems to need too many links, or if no more than the tolerance is left. The doubt falls about as
        fast as the number of visited links grows; it is computed when it may be small enough.
        """
        allowance, least, due = len(self._links.indices) // APART, 0.0, math.inf
        while self._push_once(tolerance, allowance, STEP):
            if self._threshold > due:
                continue
            doubt, least, leaders = self._leaders(count, least, slack, inside, forbidden)
            if leaders is not None:
                return leaders
            if self._seen > min(EARLY, allowance // LOCAL) and self._seen * doubt > allowance * slack:
                return None
            due = self._threshold * (max(0.25, min(1.0, math.sqrt(slack / doubt))) if 0 < doubt < math.inf else 1.0)
        return None

    def finish(self, tolerance: float, *, everywhere: bool = False) -> tuple[Array, Array]:
        """Return the scores, and in ascending order the objects that may have one besides seeds without links.

        With ``everywhere`` these are all reachable objects.
        """
        if everywhere:
            self._follow(len(self._links.indices))
            rows = self.reached
            self._settle(tolerance, rows)
            return self.settled, rows
        is_complete = False
        local = len(self._links.indices) // LOCAL
        self._push(tolerance, min(EARLY, local))
        if self.rest > tolerance and local > EARLY:
            is_complete = self._follow(SMALL)
            if not is_complete:
                self._push(tolerance, local)
        if self.rest <= tolerance:
            rows = self.reached
            self.settled[rows] += (1.0 - self._damping) * self.left[rows]
        else:
            is_complete = is_complete or self._follow(len(self._links.indices) // PART)
            rows = self.reached if is_complete else np.arange(len(self._links), dtype=np.int32)
            self._settle(tolerance, rows)
        return self.settled, rows

    def sound(self, values: Array, rows: Array, tolerance: float) -> bool:
        """Return whether the precision sufficed: otherwise scores are not finite or do not sum to 1."""
        if values.dtype == np.float64:
            return True
        lonely = _exclude(self._seeds, rows)
        total = values[rows].sum(dtype=np.float64) + values[lonely].sum(dtype=np.float64)
        return bool(abs(total - 1.0) <= tolerance + ROUNDING)

    def _push(self, goal: float, allowance: int) -> None:
        """Push until no more than ``goal`` is left or ``allowance`` ends of links have been visited in all."""
        while self._push_once(goal, allowance, FALL):
            pass

    def _push_once(self, goal: float, allowance: int, fall: float) -> bool:
        """Push to the next threshold; return whether it was reached before the goal and the allowance."""
        if self.rest <= goal or self._seen > allowance or not self._threshold >= LOWEST:
            return False
        links = self._links
        if not self._all_strengths and self._reached_count * MANY > len(links):
            self._kernels.know(links.indptr, links.weights, self._strength)
            self._all_strengths = True
        self._threshold /= fall
        self.rest, self._reached_count, seen = self._kernels.push(
            links.indptr,
            links.indices,
            links.weights,
            self._damping,
            self._threshold,
            goal,
            allowance - self._seen,
            self.rest,
            self.settled,
            self.left,
            self._arrived,
            self._strength,
            self._reached,
            self._reached_count,
            self._active,
            self._touched,
        )
        self._seen += seen
        return self.rest > goal and self._seen <= allowance

    def _leaders(
        self, count: int, least: float, slack: float, inside: Array, forbidden: Array | None
    ) -> tuple[float, float, Array | None]:
        """Return by how much others may be better, the least score of the last, and the leaders if they are certain.

        ``least`` is a lower bound of the ``count``-th best score. Between its bounds a score is estimated as if the
        rest were spread over all reached objects in proportion to their strengths, as it is in the end.
        """
        arrays = (self.settled, self.left, self._strength)
        ends = (self._reached, self._reached_count, self._damping, self._threshold, least)
        number, volume = self._kernels.close_candidates(*ends, *arrays, self._touched)
        rows = _exclude(np.sort(self._touched[:number]), inside)
        if forbidden is not None:
            rows = rows[~forbidden[rows]]
        if len(rows) < count or not math.isfinite(volume):
            return math.inf, least, None
        settled, left, strength = (array[rows].astype(np.float64) for array in arrays)
        lower = settled + (1.0 - self._damping) * left
        width = self._damping * self._threshold
        upper, guess = lower + width * strength, lower + self._damping * self.rest / volume * strength
        chosen = select_highest(guess, count)
        low, high = (float(np.partition(each, len(rows) - count)[len(rows) - count]) for each in (lower, upper))
        out = np.delete(upper, chosen)
        most = float(out.max()) if len(out) else 0.0
        if most <= (1.0 + slack) * low and not self._all_strengths:
            self._kernels.know(self._links.indptr, self._links.weights, self._strength)
            self._all_strengths = True
        if self._all_strengths:
            most = max(most, width * -float(self._strength.min()))
        done = most <= (1.0 + slack) * low and high <= (1.0 + slack) * float(lower[chosen].min())
        return most / low - 1.0 if low > 0 else math.inf, low, rows[chosen] if done else None

    def _follow(self, allowance: int) -> bool:
        """Add all reachable objects if they have at most ``allowance`` ends of links; return whether they do."""
        state = np.zeros(len(self._links), np.uint8)
        state[self._reached[: self._reached_count]] = 1
        ends = (self._links.indptr, self._links.indices)
        count, is_complete = self._kernels.follow(*ends, allowance, state, self._reached, self._reached_count)
        if is_complete:
            self._reached_count = count
        return bool(is_complete)

    def _settle(self, goal: float, rows: Array) -> None:
        """Settle the rest by sweeps over rows, which include all reachable objects."""
        shrink = max(self._damping, 1e-12) / (1.0 + math.sqrt(1.0 - self._damping * self._damping))
        most = 20 + int(math.log(goal * (1.0 - self._damping) / 1000.0) / math.log(shrink))
        settle(self._links, rows, self._damping, goal, most, self.settled, self.left, kernels=self._kernels)


def settle(
    links: Links,
    rows: Array,
    damping: float,
    goal: float,
    most: int,
    settled: Array,
    left: Array,
    *,
    workers: int | None = None,
    kernels: Any = None,
) -> float:
    """Settle the rest by sweeps over the links of ``rows`` and return a bound on the error Σ |x − settled|.

    ``rows``, ascending, are all objects or all reachable ones, which have no links to others. Stops when the bound,
    Σ |residual| / (1 − damping), is at most ``goal``, or after ``most`` sweeps. See ``kernels.pagerank_push`` for what
    is settled and left. The result does not depend on the number of ``workers`` (by default one per core) or on the
    ``kernels``.
    """
    from concurrent.futures import ThreadPoolExecutor

    kernels = choose_kernels(links) if kernels is None else kernels
    indptr, indices, weights = links.indptr, links.indices, links.weights
    # Allocated here and not in the kernels: NumPy puts large arrays on huge pages, which makes random reads faster.
    strength, start, now, before = (np.zeros(len(settled), settled.dtype) for _ in range(4))
    passed = np.concatenate([[0], np.cumsum(indptr[rows + 1] - indptr[rows])])
    parts = np.split(rows, np.searchsorted(passed, np.linspace(0, passed[-1], PARTS + 1)[1:-1]))
    workers = workers or (cores() if passed[-1] >= ONE_THREAD else 1)
    ends = (indptr, indices, weights)
    with ThreadPoolExecutor(workers) as pool:
        run = map if workers == 1 else pool.map

        def prepare(part: Array) -> None:
            kernels.prepare(indptr, weights, part, damping, left, strength, start, now)

        def sweep(part: Array) -> float:
            rest = kernels.sweep(*ends, part, damping, omega, strength, start, now, before)
            return float(rest)

        bound, omega = math.inf, 2.0 / (2.0 - damping * damping)
        list(run(share_compile_time(prepare), parts))
        for _ in range(most):
            bound = sum(run(share_compile_time(sweep), parts)) / (1.0 - damping)
            if bound <= goal:
                break
            now, before = before, now
            omega = 1.0 / (1.0 - damping * damping * omega / 4.0)
    settled[rows] += now[rows] * strength[rows]
    return bound


def select_highest(values: Array, count: int) -> Array:
    """Return the positions of the highest values above 0, highest first; of equal ones the lower position first.

    >>> select_highest(np.array([0.5, 0.0, 0.7, 0.5]), 2).tolist()
    [2, 0]
    """
    places = np.flatnonzero(values > 0)
    if len(places) > count:
        if count == 0:
            return places[:0]
        place_values = values[places]
        least = np.partition(place_values, len(place_values) - count)[len(place_values) - count]
        above = places[place_values > least]
        places = np.concatenate([above, places[place_values == least][: count - len(above)]])
    return places[np.lexsort((places, -values[places]))]
