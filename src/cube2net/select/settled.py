"""What is still to choose where some cells and objects are in already: the same question, made smaller.

Let P be what is in. The value of a further choice S is that of P and S together. For a ratio of sums that is a ratio of
sums again, (gain₀ + Σ gain(P) + Σ gain(S ∖ P)) / (cost₀ + Σ cost(P) + Σ cost(S ∖ P)): P goes into the constants, and
its objects weigh nothing any more. Where repeats are counted, P has held some already. A function is asked about
both together. So every method chooses as it does without pins, and every bound that it proves holds for all choices
that keep them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError
from cube2net.records import Budget, Cube, Judge, Query, Repeats, Scope, Selection, Weights, Worth
from cube2net.select.contract import brought, looked_for, merged, prefixes
from cube2net.select.objective import Jaccard

# An unliked object weighs as so many others that are not in the query.
TIMES = 10.0


def guided(worth: Worth, scope: Scope, unlike: Array) -> Worth:
    """Return what choices are worth where some objects never come, and others are not liked (rows, ascending)."""
    barred = None if scope.barred is None else np.flatnonzero(scope.barred)
    if barred is not None and len(unlike):
        unlike = np.setdiff1d(unlike, barred, assume_unique=True)
    if isinstance(worth, Weights):
        if len(unlike):
            gain, cost = worth.at(unlike)
            worth = worth.with_terms(unlike, np.where((cost == 0) & (gain < 0), TIMES * gain, gain), TIMES * cost)
        return worth if barred is None else worth.with_terms(barred, 0.0, 0.0)
    if isinstance(worth, Repeats):
        if barred is not None:
            worth = replace(worth, objects=np.setdiff1d(worth.objects, barred, assume_unique=True))
        return replace(worth, unlike=unlike) if len(unlike) else worth
    if len(unlike):
        raise ParameterError(
            f"{worth.name} is a function of the objects, and unlike says what objects cost: "
            "leave unlike out, or use an objective that counts"
        )
    return worth if scope.barred is None else _judge_without(worth, scope.barred)


@dataclass(frozen=True, eq=False)
class Settled:
    """A choice of which a part is made: what is in, and the question of what is left.

    ``objects`` are in, and ``values`` the value after every cell that is in. ``worth`` says what further choices are
    worth, ``start`` what all cells are worth beside the objects pinned, and ``budget`` how far further choices may go.
    """

    worth: Worth
    start: Worth
    budget: Budget
    objects: Array
    values: Array

    @classmethod
    def of(cls, cube: Cube, worth: Worth, budget: Budget) -> Settled:
        """Return the question of what is left to choose within a budget, whose scope says what is in."""
        scope = budget.scope
        start = _beside(worth, scope.objects, scope.objects)
        if not len(scope.cells):
            return cls(start, start, budget, scope.objects, np.empty(0))
        inside, rows, values = prefixes(cube, start, scope.cells)
        members = inside[rows.indices] if isinstance(start, Repeats) else inside
        if scope.barred is not None:
            inside = inside[~scope.barred[inside]]
        rest = _beside(start, inside, members)
        objects = merged(inside, scope.objects) if len(scope.objects) else inside
        return cls(rest, start, replace(budget, m=budget.m - len(scope.cells)), objects, values[1:])

    @property
    def empty_value(self) -> float:
        """What no cells are worth."""
        return self.start.value(np.empty(0, dtype=np.int64))

    def with_choice(self, chosen: Selection) -> Selection:
        """Return the selection of what is in and of what was chosen beside it, what is in first."""
        scope = self.budget.scope
        if scope.empty:
            return chosen
        objects, value = chosen.objects, chosen.value
        if scope.barred is not None:
            objects = objects[~scope.barred[objects]]
        if not len(chosen.cells) and len(chosen.objects):
            value = self.worth.value(objects)
        if len(self.objects):
            objects = merged(self.objects, objects)
        return replace(
            chosen,
            objects=objects,
            value=value,
            cells=np.concatenate([scope.cells, chosen.cells]),
            values=np.concatenate([self.values, chosen.values]),
            bound=None if chosen.bound is None else max(chosen.bound, value),
        )


def guide_of(cube: Cube, query: Query, worth: Weights | Judge, scope: Scope) -> Weights:
    """Return what cells are compared by: the weights, or jaccard where a function says what they are worth."""
    if isinstance(worth, Weights):
        return worth
    jaccard = Jaccard().weigh(Query(looked_for(query, worth)), len(cube.objects))
    if scope.empty:
        return jaccard
    weights = _beside(guided(jaccard, scope, scope.objects[:0]), brought(cube, scope), scope.objects)
    return weights if isinstance(weights, Weights) else jaccard


def _beside(worth: Worth, inside: Array, members: Array) -> Worth:
    """Return what further choices are worth beside some objects; ``members`` has them as often as they are held."""
    if not len(inside):
        return worth
    if isinstance(worth, Weights):
        gain, cost = worth.at(inside)
        return worth.with_terms(inside, 0.0, 0.0, more=(float(gain.sum()), float(cost.sum())))
    if isinstance(worth, Judge):
        return _judge_beside(worth, inside)
    held = _counts(worth.objects, members)
    lost = 0 if worth.unlike is None else int(_counts(worth.unlike, members).sum())
    value0 = worth.total(held) - lost
    return replace(worth, held=held if worth.held is None else worth.held + held, value0=value0)


def _counts(objects: Array, members: Array) -> Array:
    """Return how often each of some objects, ascending, is among the members of cells."""
    if not len(objects):
        return np.zeros(0, dtype=np.int64)
    place = np.minimum(np.searchsorted(objects, members), len(objects) - 1)
    return np.bincount(place[objects[place] == members], minlength=len(objects))


def _judge_without(judge: Judge, barred: Array) -> Judge:
    return replace(judge, function=lambda objects: judge.value(objects[~barred[objects]]), title=judge.called)


def _judge_beside(judge: Judge, inside: Array) -> Judge:
    return replace(judge, function=lambda objects: judge.value(np.union1d(inside, objects)), title=judge.called)
