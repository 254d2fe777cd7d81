"""Greedy by priced gain: cells are taken for what they bring less what it costs, at the going price."""

from __future__ import annotations

import math

import numpy as np

from cube2net.records.ragged import Array
from cube2net.select.problem import Problem

# Values and sums that agree to 12 digits are equal, as in greedy.
EQUAL = 1e-12


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
    from cube2net.kernels import coverage

    members, homes = problem.members, problem.homes
    room = math.inf if max_nodes is None else float(max_nodes)
    best, value = np.empty(0, dtype=np.int64), problem.ratio(0.0, 0.0)
    while True:
        chosen = coverage.take_best(
            m,
            members.indptr,
            members.indices,
            homes.indptr,
            homes.indices,
            problem.gain - price * problem.cost,
            problem.nodes,
            room,
            EQUAL,
        )
        reached = problem.value(chosen)
        if reached > value + EQUAL * abs(value):
            best, value = chosen, reached
        elif price == value:
            return best, value
        price = value
