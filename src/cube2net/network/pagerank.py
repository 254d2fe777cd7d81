"""Personalised PageRank: the objects where a walk from the query stays most.

The walk is followed by pushes and finished by sweeps over all cores; ``kernels.pagerank_push`` has the equations.
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
from cube2net.errors import ParameterError, whole_number
from cube2net.kernels.small_work import STEPS
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import OPEN, Budget, QueryObjective, Scope, Selection
from cube2net.network.assembly import check_weights, cut_to_limits, list_pinned

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

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects of highest score, without the query; the seed changes nothing."""
        top = self.top
        if top is None and budget.max_nodes is not None:
            top = max(0, budget.max_nodes - len(query))
        if top is None:
            top = min(max(EACH * len(query), LEAST), MOST)
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
    """Return the objects outside a query that are nearest to it by links, nearest first; fewer where fewer are.

    The walk is that of :class:`PageRank`. It is followed no further than tells the first ``count`` objects from the
    others: until it is proven that no object brought has less than 1 / (1 + slack) of the ``count``-th exact score, and
    none left out more than 1 + slack times as much. The proof is for the worst case, and what is brought is the best
    guess between its bounds; how much nearer the objects exchanged are, ``benchmarks/nearest_objects.py`` shows.

    Where pushes do not suffice for that, and where ``slack`` is None, scores are within ``tolerance`` of the exact
    ones, as those of :func:`compute_scores`. Of equal scores the lower object number comes first, and an object that
    the walk does not reach is never returned.

    The objects that ``scope`` has pinned come before all others and are counted with them; however many they are, all
    come. What it bars is walked through as ever, and does not come; the walk then goes on until as many are found as it
    would have brought of all, or until it came to all that can be reached. It starts at ``seeds``, else the query.

    ``rankings`` are those known of the same links, and one that is found is added: who asks again for other pins or
    bans gets the same answer sooner.

    >>> from cube2net._util.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), 5)
    >>> find_neighbors(path, Query(np.array([0])), 2).tolist()
    [1, 2]
    """
    if slack is not None and not 0 <= slack < math.inf:
        raise ParameterError(f"slack is {slack!r}, expected a number of 0 or more, or None")
    _check(damping, tolerance)
    pins = list_pinned(query, scope)
    count = max(0, count - len(pins))
    if count == 0:
        return np.asarray(pins, dtype=np.int32)
    inside = np.union1d(query.objects, pins) if len(pins) else query.objects
    start, known = query.objects if seeds is None else seeds, {} if rankings is None else rankings
    ranking = _Ranking(links, start, damping, count, inside, scope.forbidden_objects, known)
    found, wanted = ranking.near(tolerance, slack)
    if len(found) < wanted:
        found = ranking.anywhere(tolerance, wanted)
    return np.concatenate([pins, found]) if len(pins) else found


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

    def near(self, tolerance: float, slack: float | None) -> tuple[Array, int]:
        """Return those of them that the walk comes to, and how many there would be if nobody were forbidden."""
        for walk in _walks(self.links, self.seeds, self.damping, tolerance):
            found = (
                None if slack is None else walk.first(self.count, slack, tolerance, self.inside, self.forbidden_objects)
            )
            if found is not None:
                return found, len(found)
            ways = (self.seeds.tobytes(), self.damping, tolerance, *walk.state)
            if ways in self.rankings and len(leading := self._leading(self.rankings[ways])) == self.count:
                return leading, self.count
            values, known = walk.finish(tolerance)
            if walk.sound(values, known, tolerance):
                break
        self.rankings[ways] = known[select_highest(values[known], 2 * (self.count + len(self.inside)) + SPARE)]
        leading = self._leading(self.rankings[ways])
        if len(leading) == self.count:
            return leading, self.count
        values[self.inside] = 0.0
        wanted = min(self.count, int(np.count_nonzero(values[known] > 0)))
        known = self._allowed(known)
        return known[select_highest(values[known], self.count)], wanted

    def anywhere(self, tolerance: float, wanted: int) -> Array:
        """Return the first so many of all that can be reached: a walk comes as far as its sweeps, which get more."""
        while True:
            for walk in _walks(self.links, self.seeds, self.damping, tolerance):
                values, known = walk.finish(tolerance, everywhere=True)
                if walk.sound(values, known, tolerance):
                    break
            known = self._allowed(np.setdiff1d(known, self.inside, assume_unique=True))
            found = known[select_highest(values[known], wanted)]
            if len(found) == min(wanted, len(known)) or tolerance < NEAREST:
                return found
            tolerance /= NEARER

    def _leading(self, ranked: Array) -> Array:
        """Return the first of some objects, which were ranked without regard to who may come."""
        return self._allowed(ranked[~np.isin(ranked, self.inside)])[: self.count]

    def _allowed(self, objects: Array) -> Array:
        return objects if self.forbidden_objects is None else objects[~self.forbidden_objects[objects]]


def compute_scores(links: Links, seeds: Array, damping: float = 0.85, tolerance: float = TOLERANCE) -> Array:
    """Return the PageRank of every object for a walk that starts again at the seeds, each as likely.

    Σ |score − exact| ≤ tolerance, and the exact scores sum to 1. Objects that no path joins to a seed have
    exactly 0. A walk at an object without links starts again at once.

    The walk is followed first by pushes, whose cost follows what the walk comes to: a loose tolerance is met there.
    When they have seen 262,144 ends of links and all that can be reached has no more than eight times as many, or when
    they have seen one link in eight, sweeps over all links that can be reached do the rest, and a tolerance ten times
    tighter costs four sweeps more.

    >>> from cube2net._util.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 3.0]), 4)
    >>> compute_scores(path, np.array([1]), tolerance=1e-9).round(4).tolist()
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


# The threshold of pushes falls by this factor whenever no object is above it; in small steps to tell objects apart.
FALL, STEP = 4.0, 1.5
# Below this one nothing is left that a number can hold.
LOWEST = 1e-300
# Pushes may see one in so many ends of links before sweeps take over.
LOCAL = 8
# When they have seen so many, it is looked whether all that can be reached has no more than SMALL: sweeps over these
# take over then, so that the cost does not grow with a network around it.
EARLY, SMALL = 1 << 18, 1 << 21
# Where the objects that can be reached have no more than one in so many ends of links, sweeps leave out the others.
PART = 3
# To tell the first objects apart pushes may see one in so many.
APART = 2
# Once a walk came to one object in so many, the strengths of all are summed in one go: quicker than one by one.
MANY = 64
# By how much rounding in single precision may move the sum of all scores.
ROUNDING = 1e-3
# Rows are shared out in so many parts of about as many links, whatever the number of cores: sums stay the same.
PARTS = 16
# Fewer ends of links are not worth a second thread.
ONE_THREAD = 1_000_000
# How often a walk looks at every end of a link, about.
LOOKS = 8


def kernels_for(links: Links) -> Any:
    """Return the kernels of a walk: compiled ones, or their twins in NumPy where these are done sooner."""
    small = STEPS.small("pagerank_push.push", len(links.indices), LOOKS)
    return import_module(f"cube2net.kernels.{'numpy_pagerank' if small else 'pagerank_push'}")


def _missing(rows: Array, known: Array) -> Array:
    """Return the rows that are not among the known ones, which ascend."""
    if len(known) == 0:
        return rows
    place = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    return np.asarray(rows[known[place] != rows])


class RestartWalk:
    """A walk from seeds that is followed: what is settled of the scores, and what is left to spread (``rest``).

    Arrays have a place for every object. To clear them is all that costs more in a larger network.
    """

    def __init__(self, links: Links, seeds: Array, damping: float, precision: type[np.floating[Any]]) -> None:
        count = len(links)
        self._kernels = kernels_for(links)
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
        self._found = len(linked)
        self.rest = start * len(linked)
        self._seen = 0
        self._threshold = start / float(strength[~alone].min()) if len(linked) else 0.0
        self._all_strengths = False

    @property
    def reached(self) -> Array:
        """The objects that the walk came to, ascending."""
        return np.sort(self._reached[: self._found])

    @property
    def state(self) -> tuple[str, int, float]:
        """How far it was followed by pushes: two walks from the same seeds that agree in this agree in every bit."""
        return self.settled.dtype.str, self._seen, self._threshold

    def first(
        self, count: int, slack: float, tolerance: float, inside: Array, forbidden: Array | None = None
    ) -> Array | None:
        """Return the first ``count`` objects that are not ``inside`` as soon as pushes tell them apart, best first.

        Those inside ascend, and objects that are marked in ``forbidden`` are passed over as they are.
        None where it looks as if they would have to see too many links: with the threshold the doubt falls about as
        much as what is seen grows. It is looked no sooner than doubt that falls with the square may be small enough.
        None too where no more than the tolerance is left.
        """
        allowance, least, due = len(self._links.indices) // APART, 0.0, math.inf
        while self._push_once(tolerance, allowance, STEP):
            if self._threshold > due:
                continue
            doubt, least, found = self._leaders(count, least, slack, inside, forbidden)
            if found is not None:
                return found
            if self._seen > min(EARLY, allowance // LOCAL) and self._seen * doubt > allowance * slack:
                return None
            due = self._threshold * (max(0.25, min(1.0, math.sqrt(slack / doubt))) if 0 < doubt < math.inf else 1.0)
        return None

    def finish(self, tolerance: float, *, everywhere: bool = False) -> tuple[Array, Array]:
        """Return the scores of every object, and in ascending order those that may have one beside lonely seeds.

        With ``everywhere`` these are all that can be reached, however little the walk comes to some.
        """
        if everywhere:
            self._follow(len(self._links.indices))
            known = self.reached
            self._settle(tolerance, known)
            return self.settled, known
        whole = False
        local = len(self._links.indices) // LOCAL
        self._push(tolerance, min(EARLY, local))
        if self.rest > tolerance and local > EARLY:
            whole = self._follow(SMALL)
            if not whole:
                self._push(tolerance, local)
        if self.rest <= tolerance:
            known = self.reached
            self.settled[known] += (1.0 - self._damping) * self.left[known]
        else:
            whole = whole or self._follow(len(self._links.indices) // PART)
            known = self.reached if whole else np.arange(len(self._links), dtype=np.int32)
            self._settle(tolerance, known)
        return self.settled, known

    def sound(self, values: Array, known: Array, tolerance: float) -> bool:
        """Return whether the precision was enough for the scores.

        Very large or very small weights are too much for single precision: then scores are not numbers, or do not sum
        to 1 as they must.
        """
        if values.dtype == np.float64:
            return True
        lonely = _missing(self._seeds, known)
        total = values[known].sum(dtype=np.float64) + values[lonely].sum(dtype=np.float64)
        return bool(abs(total - 1.0) <= tolerance + ROUNDING)

    def _push(self, goal: float, allowance: int) -> None:
        """Go on by pushes until no more than ``goal`` is left, or they have seen so many ends of links in all."""
        while self._push_once(goal, allowance, FALL):
            pass

    def _push_once(self, goal: float, allowance: int, fall: float) -> bool:
        """Go on by pushes to the next threshold; return whether it was come to, and not the goal or the allowance."""
        if self.rest <= goal or self._seen > allowance or not self._threshold >= LOWEST:
            return False
        links = self._links
        if not self._all_strengths and self._found * MANY > len(links):
            self._kernels.know(links.indptr, links.weights, self._strength)
            self._all_strengths = True
        self._threshold /= fall
        self.rest, self._found, seen = self._kernels.push(
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
            self._found,
            self._active,
            self._touched,
        )
        self._seen += seen
        return self.rest > goal and self._seen <= allowance

    def _leaders(
        self, count: int, least: float, slack: float, inside: Array, forbidden: Array | None
    ) -> tuple[float, float, Array | None]:
        """Return by how much those left out may be better, the least that the last can score, and all where settled.

        ``least`` is what the ``count``-th best scores at least, as far as is known. Between its bounds a score is
        guessed as if what is left were spread as evenly over all objects reached as it is in the end.
        """
        arrays = (self.settled, self.left, self._strength)
        ends = (self._reached, self._found, self._damping, self._threshold, least)
        number, volume = self._kernels.close_candidates(*ends, *arrays, self._touched)
        rows = _missing(np.sort(self._touched[:number]), inside)
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
        """Come to all objects that can be reached, or to none where they have more ends of links; return which."""
        state = np.zeros(len(self._links), np.uint8)
        state[self._reached[: self._found]] = 1
        ends = (self._links.indptr, self._links.indices)
        found, whole = self._kernels.follow(*ends, allowance, state, self._reached, self._found)
        if whole:
            self._found = found
        return bool(whole)

    def _settle(self, goal: float, rows: Array) -> None:
        """Settle what is left by sweeps over rows, all that can be reached among them."""
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
    """Settle what is left by sweeps over the links of ``rows``; return a bound on the error Σ |x − settled| afterwards.

    ``rows``, ascending, are all objects, or those that can be reached: none of them has a link to any other.

    Stops when the bound, Σ |residual| / (1 − damping), is at most ``goal``, or after ``most`` sweeps. See
    ``kernels.pagerank_push`` for what is settled and left; the answer is the same for every number of ``workers``,
    which is that of the cores where nobody says, and for both kinds of ``kernels``.
    """
    from concurrent.futures import ThreadPoolExecutor

    kernels = kernels_for(links) if kernels is None else kernels
    indptr, indices, weights = links.indptr, links.indices, links.weights
    # Made here and not in the kernels: large arrays of NumPy lie on large pages, which random reads want.
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
    """Return the places of the highest values above 0, highest first; of equal ones the lower place first.

    >>> select_highest(np.array([0.5, 0.0, 0.7, 0.5]), 2).tolist()
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
