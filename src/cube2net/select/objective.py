"""What a selection is worth: four objectives, each as weighted counts of the objects it brings.

Q is the query and M the objects of the selected cells. All weights are whole numbers where the parameters
are, so that equal values are equal to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cube2net.errors import ParameterError, QueryError
from cube2net.interfaces import Objective
from cube2net.records import Query, Weights
from cube2net.records.ragged import Array


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
        inside = _inside(query, count)
        return Weights(gain=inside, cost=1.0 - inside, cost0=float(len(query)))


@dataclass(frozen=True, kw_only=True)
class FBeta:
    """The F-measure: (1 + β²)·P·R / (β²·P + R), with precision P = |M ∩ Q| / |M| and recall R = |M ∩ Q| / |Q|.

    In counts that is (1 + β²)·|M ∩ Q| / (β²·|Q| + |M|). At β = 1 it orders selections as jaccard does;
    a larger β asks for more of the query, a smaller one for fewer others.

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
        inside = _inside(query, count)
        return Weights(gain=(1.0 + square) * inside, cost=np.ones(count), cost0=square * len(query))


@dataclass(frozen=True, kw_only=True)
class Precision:
    """The share of M that is in the query: |M ∩ Q| / |M|; 0 for no objects.

    >>> weights = Precision().weigh(Query(np.array([0, 1, 2])), count=6)
    >>> weights.value(np.array([1, 2, 4, 5]))
    0.5
    """

    def weigh(self, query: Query, count: int) -> Weights:
        """Return gain 1 for the objects of the query, cost 1 for every object, and nothing below."""
        return Weights(gain=_inside(query, count), cost=np.ones(count))


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The share of the query that M holds, less a price for others: |M ∩ Q| / |Q| − price·|M ∖ Q| / |Q|.

    A cell pays as long as it brings fewer than 1 / price others for each new object of the query; jaccard acts
    as a price equal to its own value, which stops early on queries that are scattered over many cells. The
    default lets a cell of up to 32 objects pay for a single new object of the query. It is a power of two, so
    that sums are exact.

    >>> weights = Coverage(price=0.25).weigh(Query(np.array([0, 1, 2, 3])), count=6)
    >>> weights.value(np.array([1, 2, 3, 4, 5]))
    0.625
    """

    price: float = 1 / 32

    def __post_init__(self) -> None:
        if not (math.isfinite(self.price) and self.price >= 0):
            raise ParameterError(f"price is {self.price!r}, expected 0 or more of a query object for every other")

    def weigh(self, query: Query, count: int) -> Weights:
        """Return gain 1 for the objects of the query, gain −price for all others, and |Q| below."""
        inside = _inside(query, count)
        return Weights(gain=inside - self.price * (1.0 - inside), cost=np.zeros(count), cost0=float(len(query)))


OBJECTIVES: dict[str, type[Objective]] = {
    "jaccard": Jaccard,
    "fbeta": FBeta,
    "precision": Precision,
    "coverage": Coverage,
}


def _inside(query: Query, count: int) -> Array:
    if int(query.objects[-1]) >= count:
        raise QueryError(f"query names row {int(query.objects[-1])}, and there are only {count:,} objects")
    inside = np.zeros(count)
    inside[query.objects] = 1.0
    return inside
