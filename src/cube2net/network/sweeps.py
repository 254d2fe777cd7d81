"""What is left of a walk settled over all links that it can come to, by all cores."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from cube2net.array_types import Array
from cube2net.compiling import lent
from cube2net.records import Links
from cube2net.threads import cores

# Rows are shared out in so many parts of about as many links, whatever the number of cores: sums stay the same.
PARTS = 16
# Fewer ends of links are not worth a second thread.
SMALL = 1_000_000


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
) -> float:
    """Settle what is left by sweeps over the links of ``rows``; return a bound on the error Σ |x − settled| afterwards.

    ``rows``, ascending, are all objects, or those that can be reached: none of them has a link to any other.

    Stops when the bound, Σ |residual| / (1 − damping), is at most ``goal``, or after ``most`` sweeps. See
    ``kernels.push`` for what is settled and left; the answer is the same for every number of ``workers``, which is that
    of the cores where nobody says.
    """
    from cube2net.kernels import push as kernels

    indptr, indices, weights = links.indptr, links.indices, links.weights
    # Made here and not in the kernels: large arrays of NumPy lie on large pages, which random reads want.
    strength, start, now, before = (np.zeros(len(settled), settled.dtype) for _ in range(4))
    passed = np.concatenate([[0], np.cumsum(indptr[rows + 1] - indptr[rows])])
    parts = np.split(rows, np.searchsorted(passed, np.linspace(0, passed[-1], PARTS + 1)[1:-1]))
    workers = workers or (cores() if passed[-1] >= SMALL else 1)
    ends = (indptr, indices, weights)
    with ThreadPoolExecutor(workers) as pool:
        run = map if workers == 1 else pool.map

        def prepare(part: Array) -> None:
            kernels.prepare(indptr, weights, part, damping, left, strength, start, now)

        def sweep(part: Array) -> float:
            rest = kernels.sweep(*ends, part, damping, omega, strength, start, now, before)
            return float(rest)

        bound, omega = math.inf, 2.0 / (2.0 - damping * damping)
        list(run(lent(prepare), parts))
        for _ in range(most):
            bound = sum(run(lent(sweep), parts)) / (1.0 - damping)
            if bound <= goal:
                break
            now, before = before, now
            omega = 1.0 / (1.0 - damping * damping * omega / 4.0)
    settled[rows] += now[rows] * strength[rows]
    return bound
