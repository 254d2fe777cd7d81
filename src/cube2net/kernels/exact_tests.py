"""Fisher's exact test of two by two tables, many at a time."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit

# Tables as likely as the one seen, but for rounding, count as such: the logarithms of their chances are so close.
AS_LIKELY = 1e-9
# What is less than so much of a sum does not change it.
NOTHING = 1e-17


@njit(cache=True)
def two_sided(ones: Array, twos: Array, first: Array, second: Array, logs: Array, chances: Array) -> None:
    """Write how likely tables are that are no likelier than each: ones[i] of first[i] against twos[i] of second[i].

    ``logs[n]`` is the logarithm of n!. Exchanging the two sides changes no bit of the answer. Tables grow likelier from
    either end to the likeliest, so those that count are two tails: each is found by halving, and summed from its
    likeliest table outwards.
    """
    for i in range(len(ones)):
        a, b, n, o = ones[i], twos[i], first[i], second[i]
        if n > o or (n == o and a > b):
            a, b, n, o = b, a, o, n
        held = a + b
        low, high = max(0, held - o), min(held, n)
        likeliest = (held + 1) * (n + 1) // (n + o + 2)
        seen = _likelihood(a, n, held, o, logs)
        most = seen + AS_LIKELY
        if _likelihood(likeliest, n, held, o, logs) <= most:
            chances[i] = 1.0
            continue
        below, above = low - 1, likeliest
        while above - below > 1:
            middle = (below + above) // 2
            if _likelihood(middle, n, held, o, logs) <= most:
                below = middle
            else:
                above = middle
        total = (
            _tail(below, n, held, o, -1) * np.exp(_likelihood(below, n, held, o, logs) - seen) if below >= low else 0.0
        )
        below, above = likeliest, high + 1
        while above - below > 1:
            middle = (below + above) // 2
            if _likelihood(middle, n, held, o, logs) <= most:
                above = middle
            else:
                below = middle
        if above <= high:
            total += _tail(above, n, held, o, 1) * np.exp(_likelihood(above, n, held, o, logs) - seen)
        whole = logs[held] + logs[n + o - held] - logs[n + o] + logs[n] + logs[o]
        chances[i] = min(1.0, np.exp(whole + seen) * total)


@njit(cache=True)
def _likelihood(a: int, n: int, held: int, o: int, logs: Array) -> float:
    """Return the logarithm of how likely a table is that has ``a`` of ``n``, but for what all tables share."""
    likelihood: float = -(logs[a] + logs[n - a] + logs[held - a] + logs[o - held + a])
    return likelihood


@njit(cache=True)
def _tail(a: int, n: int, held: int, o: int, step: int) -> float:
    """Return how likely a table and those beyond it are together, as a multiple of the table."""
    total = term = 1.0
    while True:
        if step > 0:
            ratio = (n - a) * (held - a) / ((a + 1.0) * (o - held + a + 1.0))
        else:
            ratio = a * (o - held + a) / ((n - a + 1.0) * (held - a + 1.0))
        term *= ratio
        total += term
        # Ratios fall from here on, so what is left is less than a geometric series.
        if term * ratio <= NOTHING * total * (1.0 - ratio):
            return total
        a += step
