"""What a choice is worth: an objective by its name, and its weights for a query."""

from __future__ import annotations

from collections.abc import Callable

from cube2net import network as networks
from cube2net.arguments import made, name_of
from cube2net.array_types import Array
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.interfaces import LinkObjective, Objective
from cube2net.pipeline.queries import Asked, query_of
from cube2net.records import Cube, Judge, Query, Repeats, Weights, Worth
from cube2net.records.weights import called
from cube2net.select import OBJECTIVES as OBJECTIVES
from cube2net.select import Own

Valued = str | Objective | LinkObjective | Callable[[Array, Query], float]

# How far nearness by links may be off, summed over all objects. On the ACL Anthology, 1,820 authors: 58 of 97,922
# gains differ from the exact ones, each by its last digit (1/1024), for 80 ms; at 1e-4 744 do, for 66 ms.
LINK_TOLERANCE = 1e-5


def objective_of(given: Valued) -> Objective | LinkObjective:
    """Return the objective of a name, the object itself, or the objective that a function is."""
    if callable(given) and not isinstance(given, type | Objective | LinkObjective):
        return Own(given)
    found: Objective | LinkObjective = made(given, OBJECTIVES, (Objective, LinkObjective), "objective", {})
    return found


def weigh(cube: Cube, query: Asked, objective: Valued = "jaccard") -> Worth:
    """Return what objects are worth for a query: ``weigh(…).value(rows)`` is the value of any set of them.

    It is a record of weighted counts, or the judge that a function of one's own is.
    """
    return weighed(cube, query_of(cube, query), objective_of(objective))


def weighed(cube: Cube, query: Query, objective: Objective | LinkObjective) -> Worth:
    """Return the weights of an objective; whatever is wrong with them is said with the objective's name."""
    try:
        weights: Worth
        if isinstance(objective, LinkObjective):
            affinity = networks.scores(cube.links, query.objects, objective.damping, LINK_TOLERANCE)
            weights = objective.weigh_links(query, affinity, cube.links.degrees > 0)
        else:
            weights = objective.weigh(query, len(cube.objects))
        if not isinstance(weights, Weights | Judge | Repeats):
            raise InputError(f"it gave {weights!r}, expected Weights")
        if weights.count != len(cube.objects):
            raise InputError(f"the weights are for {weights.count:,} objects, and the cube has {len(cube.objects):,}")
    except (QueryError, ParameterError):
        raise
    except InputError as error:
        raise InputError(f"the objective {objective_name(objective)!r} cannot be used: {error}") from None
    return weights


def objective_name(objective: Objective | LinkObjective) -> str:
    """Return the name of an objective, of its class or, where it is a function of one's own, of that."""
    return called(objective.function) if isinstance(objective, Own) else name_of(objective, OBJECTIVES)
