"""Ids that are a letter and a number, and what is first or best among entries of ragged rows."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
def numbers_of_ids(starts: Array, data: Array, letter: int) -> Array:
    """Return the number of every id such as ``A5``, ``a5`` or ``https://openalex.org/A5``; -1 for what is none.

    ``letter`` is the code of the capital letter; what comes before it ends with a slash, if there is anything.
    """
    numbers = np.empty(len(starts) - 1, np.int64)
    for i in range(len(numbers)):
        begin, at = starts[i], starts[i + 1]
        number, unit = 0, 1
        while at > begin and 48 <= data[at - 1] <= 57 and unit <= 10**17:
            number += unit * (data[at - 1] - 48)
            unit *= 10
            at -= 1
        good = unit > 1 and at > begin and (data[at - 1] == letter or data[at - 1] == letter + 32)
        good = good and (at - 1 == begin or data[at - 2] == 47)
        numbers[i] = number if good else -1
    return numbers


@njit(cache=True)
def heaviest(starts: Array, level: Array, weight: Array, wanted: int) -> Array:
    """Return for every row its heaviest entry of a level, the first of equal ones, -1 where it has none."""
    best = np.full(len(starts) - 1, -1, np.int64)
    for row in range(len(best)):
        for k in range(starts[row], starts[row + 1]):
            if level[k] == wanted and (best[row] < 0 or weight[k] > weight[best[row]]):
                best[row] = k
    return best


@njit(cache=True)
def first_met(starts: Array, values: Array) -> Array:
    """Return which entries come for the first time in their row; negative ones never do."""
    first = np.zeros(len(values), np.bool_)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        if end - begin <= 32:
            for k in range(begin, end):
                new = values[k] >= 0
                for before in range(begin, k):
                    new = new and values[before] != values[k]
                first[k] = new
        else:
            order = np.argsort(values[begin:end], kind="mergesort")
            for k in range(end - begin):
                value = values[begin + order[k]]
                first[begin + order[k]] = value >= 0 and (k == 0 or values[begin + order[k - 1]] != value)
    return first


@njit(cache=True)
def latest(codes: Array, days: Array, valid: Array, count: int) -> Array:
    """Return for every code its entry of the latest day, the last of equal ones; -1 where no entry is valid."""
    found = np.full(count, -1, np.int64)
    for k in range(len(codes)):
        if valid[k] and (found[codes[k]] < 0 or days[k] >= days[found[codes[k]]]):
            found[codes[k]] = k
    return found
