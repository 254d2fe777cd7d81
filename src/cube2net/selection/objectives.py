"""Objectives: the value of a selection by counts of its objects, by repeated coverage, or by a user's function.

Q is the query and M the objects of the selected cells. Weights are integers if the parameters are (for ``linked``,
multiples of 1/1024), so equal values are equal to the last bit.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import InputError, ParameterError, QueryError, check_int
from cube2net.model.interfaces import LinkObjective, Objective, Registry
from cube2net.model.query import Query
from cube2net.model.selection import CallableObjective, CoverObjective, Weights, get_function_name

# Gains of ``linked`` are multiples of 1 / PARTS: their sums are exact, and nearness is not known much better.
PARTS = 1024


@dataclass(frozen=True, kw_only=True)
class Jaccard:
    """The objective of the paper: |M ∩ Q| / |M ∪ Q|.

    The union is |Q| + |M ∖ Q|, so an object of the query gains 1 and any other costs 1.

    >>> weights = Jaccard().weigh(Query(np.array([0, 1, 2])), count=6)
    >>> weights.value(np.array([1, 2, 4]))
    0.5
    """

    def weigh(self, query: Query, count: int) -> Weights:
        """Return gain 1 for the objects of the query, cost 1 for all others, and |Q| below."""
        return _weigh_query(query, count, (1.0, 0.0), others=(0.0, 1.0), cost0=float(len(query)))


@dataclass(frozen=True, kw_only=True)
class FBeta:
    """The F-measure: (1 + β²)·P·R / (β²·P + R), with precision P = |M ∩ Q| / |M| and recall R = |M ∩ Q| / |Q|.

    In counts that is (1 + β²)·|M ∩ Q| / (β²·|Q| + |M|). With β = 1 it ranks selections like jaccard; a larger β
    favours recall, a smaller one precision.

    >>> weights = FBeta().weigh(Query(np.array([0, 1, 2])), count=6)
    >>> weights.value(np.array([1, 2, 4]))
    0.6666666666666666
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.beta) and self.beta > 0):
            raise ParameterError(f"beta is {self.beta!r}, expected a number above 0 (for 0 use 'precision')")

    def weigh(self, query: Query, count: int) -> Weights:
        """Return gain 1 + β² for the objects of the query, cost 1 for every object, and β²·|Q| below."""
        square = self.beta**2
        return _weigh_query(query, count, (1.0 + square, 1.0), others=(0.0, 1.0), cost0=square * len(query))


@dataclass(frozen=True, kw_only=True)
class Precision:
    """The share of M that is in the query: |M ∩ Q| / |M|; 0 for no objects.

    >>> weights = Precision().weigh(Query(np.array([0, 1, 2])), count=6)
    >>> weights.value(np.array([1, 2, 4, 5]))
    0.5
    """

    def weigh(self, query: Query, count: int) -> Weights:
        """Return gain 1 for the objects of the query, cost 1 for every object, and nothing below."""
        return _weigh_query(query, count, (1.0, 1.0), others=(0.0, 1.0), cost0=0.0)


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The share of the query in M, minus a price for other objects: |M ∩ Q| / |Q| − price·|M ∖ Q| / |Q|.

    A cell raises the value if it adds fewer than 1 / price other objects per new object of the query. For jaccard, the
    price is its own value, so it stops early if the query is scattered over many cells. The default allows 32 other
    objects per new object of the query; it is a power of two, so that sums are exact.
    """

    price: float = 1 / 32

    def __post_init__(self) -> None:
        if not (math.isfinite(self.price) and self.price >= 0):
            raise ParameterError(f"price is {self.price!r}, expected 0 or more of a query object for every other")

    def weigh(self, query: Query, count: int) -> Weights:
        """Return gain 1 for the objects of the query, gain −price for all others, and |Q| below."""
        return _weigh_query(query, count, (1.0, 0.0), others=(-self.price, 0.0), cost0=float(len(query)))


@dataclass(frozen=True, kw_only=True)
class Linked:
    """Jaccard with credit for linked objects: (|M ∩ Q| + Σ near(o)) / (|Q| + |{o linked}|), over o in M ∖ Q.

    near(o) = min(1, ppr(o) / ref) is the credit of an object outside the query, where ppr(o) is its personalised
    PageRank for the query with the given ``damping``, and ref the ppr of the ⌈reach·|Q|⌉-th object outside the query,
    so that as many objects get full credit. Credits are rounded to multiples of 1/1024.

    Objects without links outside the query have neither gain nor cost, because they are removed from the network
    (``keep_unlinked=False``).
    """

    damping: float = field(default=0.85, metadata={"slows": True})
    reach: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.damping < 1:
            raise ParameterError(f"damping is {self.damping!r}, expected a probability above 0 and below 1")
        if not (math.isfinite(self.reach) and self.reach > 0):
            raise ParameterError(
                f"reach is {self.reach!r}, expected a number above 0 of others with full credit for each query object"
            )

    def weigh_links(self, query: Query, affinity: Array, linked: Array) -> Weights:
        """Return gain 1 for the objects of the query, their credit and cost 1 for linked others, and |Q| below."""
        if affinity.ndim != 1 or affinity.shape != linked.shape:
            raise InputError(
                f"affinities have shape {affinity.shape} and links {linked.shape}, expected one per object"
            )
        count = len(affinity)
        _check(query, count)
        near = np.where(linked, affinity, 0.0)
        near[query.objects] = 0.0
        reached = near[near > 0]
        if len(reached):
            full = min(len(reached), math.ceil(round(self.reach * len(query), 9)))
            near /= np.partition(reached, len(reached) - full)[len(reached) - full]
        gain = np.round(np.minimum(near, 1.0) * PARTS) / PARTS
        own = (gain > 0) | ~linked
        own[query.objects] = True
        rows = np.flatnonzero(own)
        inside = np.isin(rows, query.objects, assume_unique=True)
        return Weights(
            gain=np.where(inside, 1.0, gain[rows]),
            cost=np.where(inside, 0.0, linked[rows]),
            cost0=float(len(query)),
            rows=rows,
            count=count,
            others=(0.0, 1.0),
        )


@dataclass(frozen=True, kw_only=True)
class Cover:
    """How often the chosen cells contain the query: Σ min(r, chosen cells with q) over the objects q of the query.

    The query determines the number of cells: each must contain at least ``least`` objects (all, if the query has fewer)
    that are in fewer than ``r`` chosen cells. With ``r=None`` there is no limit, and all cells with ``least`` objects
    of the query are chosen.
    """

    r: int | None = 3
    least: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", check_int("r", self.r, 1, or_none=True, what="times, or None for every time"))
        object.__setattr__(self, "least", check_int("least", self.least, 1, what="objects of the query"))

    def weigh(self, query: Query, count: int) -> CoverObjective:
        """Return how often the objects of the query count."""
        _check(query, count)
        return CoverObjective(query.objects, count, self.r, min(self.least, len(query)))


@dataclass(frozen=True)
class CustomObjective:
    """A user's function as an objective: ``function(objects, query)`` is the value of the objects M.

    ``objects`` are the ascending row numbers of M, possibly none; the result is a finite number. Methods call the
    function for each selection they consider.
    """

    function: Callable[[Array, Query], float]

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise ParameterError(f"an objective of one's own is a function of objects and query, got {self.function!r}")
        try:
            inspect.signature(self.function).bind(None, None)
        except TypeError:
            raise ParameterError(
                f"the objective {get_function_name(self.function)!r} must take two arguments, the objects and the query"
            ) from None
        except ValueError:
            return  # compiled code does not tell its arguments

    def weigh(self, query: Query, count: int) -> CallableObjective:
        """Return the function as an objective of this query."""
        _check(query, count)
        return CallableObjective(
            lambda objects: self.function(objects, query), count, get_function_name(self.function), query.objects
        )


OBJECTIVES: Registry[type[Objective] | type[LinkObjective]] = Registry(
    "cube2net.objectives",
    {
        "jaccard": Jaccard,
        "fbeta": FBeta,
        "precision": Precision,
        "coverage": Coverage,
        "linked": Linked,
        "cover": Cover,
    },
)


def _weigh_query(
    query: Query, count: int, each: tuple[float, float], *, others: tuple[float, float], cost0: float
) -> Weights:
    """Return the weights of one gain and cost for the objects of the query, and another for all others."""
    _check(query, count)
    gain, cost = (np.full(len(query), term) for term in each)
    return Weights(gain=gain, cost=cost, cost0=cost0, rows=query.objects, count=count, others=others)


def _check(query: Query, count: int) -> None:
    if int(query.objects[-1]) >= count:
        raise QueryError(f"query names row {int(query.objects[-1])}, and there are only {count:,} objects")
