"""Greedy by priced gain: cells are taken for what they bring less what it costs, at the going price."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows
from cube2net.records import Cube, Query, Weights
from cube2net.select.problem import Problem, candidates
from cube2net.select.sums import EQUAL, Sums


def priced_greedy(
    problem: Problem, m: int, *, price: float = 0.0, max_nodes: float | None = None
) -> tuple[Array, float]:
    """Return positions of at most m cells, in the order taken, and their value: greedy on G − λ·C at the best price λ.

    The value of a selection S is (G₀ + G(S)) / (C₀ + C(S)), with G and C the sums of gain and cost. It is above
    a price λ exactly where

        G₀ + G(S) − λ·(C₀ + C(S)) > 0        (where C₀ + C(S) > 0),

    so a selection of the largest G − λ·C, at λ = the best value known, is better than all known ones or proves
    that none is (Dinkelbach 1967). Greedy finds a large one: at every step the cell with the largest G − λ·C of
    what no chosen cell holds yet is added, while there is one above 0, and this is repeated with λ = the value
    reached until the value no longer rises. It starts at λ = ``price``. Values are of a finite number of selections
    and rise, so it ends: on real cubes after 5 to 11 rounds.

    ``max_nodes`` is the most objects outside the query that may be brought (``problem.nodes``). Among equal cells
    the one of the lowest position is taken; what agrees to 12 digits is equal.
    """
    every = np.arange(len(problem))
    room = math.inf if max_nodes is None else float(max_nodes)

    def take(price: float) -> tuple[Array, float]:
        terms = np.column_stack([problem.gain - price * problem.cost, problem.nodes])
        chosen = Sums(problem.members, problem.homes, every, None, terms).take_by_sum(every, m, room)
        return chosen, problem.value(chosen)

    return _raised(take, problem.ratio(0.0, 0.0), price)


def priced_cells(
    cube: Cube, query: Query, weights: Weights, m: int, *, max_nodes: float | None = None
) -> tuple[Array, float]:
    """Return the cells of :func:`priced_greedy` by their numbers in the cube, and their value.

    No problem is made of the cube first: what is looked at are the homes of the objects with weights of their own,
    and the members of the cells taken.
    """
    cells = candidates(cube, weights)
    room = math.inf if max_nodes is None else float(max_nodes)
    rows = None if weights.rows is None else np.union1d(weights.rows, query.objects)
    everyone = np.arange(weights.count) if rows is None else rows
    gains, costs = weights.at(everyone)
    nodes = 1.0 - np.isin(everyone, query.objects, assume_unique=True)

    def take(price: float) -> tuple[Array, float]:
        other = (weights.others[0] - price * weights.others[1], 1.0)
        terms = np.column_stack([gains - price * costs, nodes])
        found = Sums(cube.cells.members, cube.homes, cells, rows, terms, other).take_by_sum(cells, m, room)
        return found, weights.value(np.unique(take_rows(cube.cells.members, found).indices))

    return _raised(take, weights.ratio(0.0, 0.0), 0.0)


def _raised(take: Callable[[float], tuple[Array, float]], value: float, price: float) -> tuple[Array, float]:
    """Return the best that is taken, and its value, while the price is raised to the value reached."""
    best = np.empty(0, dtype=np.int64)
    while True:
        chosen, reached = take(price)
        if reached > value + EQUAL * abs(value):
            best, value = chosen, reached
        elif price == value:
            return best, value
        price = value
