"""Fisher's exact test of two by two tables, many at a time."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit

# Tables as likely as the one seen, but for rounding, count as such.
AS_LIKELY = 1.0 + 1e-9


@njit(cache=True)
def two_sided(ones: Array, twos: Array, first: Array, second: Array, logs: Array, chances: Array) -> None:
    """Write how likely tables are that are no likelier than each: ones[i] of first[i] against twos[i] of second[i].

    ``logs[n]`` is the logarithm of n!. Exchanging the two sides changes no bit of the answer.
    """
    for i in range(len(ones)):
        a, b, n, o = ones[i], twos[i], first[i], second[i]
        if n > o or (n == o and a > b):
            a, b, n, o = b, a, o, n
        held = a + b
        whole = logs[held] + logs[n + o - held] - logs[n + o] + logs[n] + logs[o]
        low, high = max(0, held - o), min(held, n)
        seen = whole - logs[a] - logs[n - a] - logs[b] - logs[o - b]
        most = np.exp(seen) * AS_LIKELY
        total = 0.0
        # Tables grow likelier from either end to the likeliest, so each tail ends where one is likelier than the seen.
        while low <= high:
            p = np.exp(whole - logs[low] - logs[n - low] - logs[held - low] - logs[o - held + low])
            if p > most:
                break
            total += p
            low += 1
        while high >= low:
            p = np.exp(whole - logs[high] - logs[n - high] - logs[held - high] - logs[o - held + high])
            if p > most:
                break
            total += p
            high -= 1
        chances[i] = min(1.0, total)
