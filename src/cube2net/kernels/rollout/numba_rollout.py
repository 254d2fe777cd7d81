"""Grow many selections in parallel: each takes the best cell at a price near a point.

Trajectory b has the rows ``covers[b]``, ``gains[b]`` and ``costs[b]``, each the state of ``kernels.coverage``. Cells
are points with integer coordinates, so that squared distances are exact on every machine.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.coverage import add

BITS = 10
TOPS = 12
"""The number of best cells that are checked individually."""
FAR = np.iinfo(np.int32).max


@njit(cache=True, nogil=True)
def distances(point: Array, turned: Array, out: Array) -> None:
    """Fill ``out[cell]`` with squared distances; ``turned[direction, cell]`` holds the cells' coordinates."""
    out[:] = 0
    for i in range(turned.shape[0]):
        at = np.int32(point[i])
        row = turned[i]
        for cell in range(row.shape[0]):
            gap = np.int32(row[cell]) - at
            out[cell] += gap * gap


@njit(cache=True, nogil=True)
def kth_smallest(numbers: Array, k: int) -> int:
    """Return the k-th smallest of integers from 0 to 2³¹ − 1 (k from 1; the largest one if k is larger).

    It is a radix selection with ten bits per pass. The result for no numbers is 0.
    """
    k = min(k, len(numbers))
    prefix = 0
    shift = 31
    while shift > 0:
        width = min(BITS, shift)
        above = shift
        shift -= width
        bins = np.zeros(1 << width, dtype=np.int64)
        for number in numbers:
            if number >> above == prefix:
                bins[(number >> shift) & ((1 << width) - 1)] += 1
        lies = 0
        while k > bins[lies]:
            k -= bins[lies]
            lies += 1
        prefix = (prefix << width) | lies
    return prefix


@njit(cache=True, nogil=True)
def nearer(numbers: Array, than: int) -> int:
    """Return how many numbers are smaller than a given one."""
    count = np.int32(0)
    for number in numbers:
        count += np.int32(number < than)
    return int(count)


@njit(cache=True, nogil=True)
def best_near(
    point: Array, turned: Array, k: int, price: float, gains: Array, costs: Array, free: Array, far: Array
) -> int:
    """Return the free cell with the largest gain − price·cost among those no farther than the k-th nearest free one.

    Of equal ones the lowest number; -1 if no cell is free. ``far`` is scratch, one number per cell.

    A cell is near if fewer than k free cells are nearer. If k is a large share of them, one of the few best cells is
    usually near, which counting shows; only otherwise is the k-th smallest distance computed.
    """
    distances(point, turned, far)
    tops = np.full(TOPS, -1, dtype=np.int64)
    worths = np.full(TOPS, -np.inf)
    count = 0
    for cell in range(len(far)):
        if not free[cell]:
            far[cell] = FAR
            continue
        count += 1
        worth = gains[cell] - price * costs[cell]
        if worth > worths[TOPS - 1]:
            at = TOPS - 1
            while at > 0 and worth > worths[at - 1]:
                worths[at], tops[at] = worths[at - 1], tops[at - 1]
                at -= 1
            worths[at], tops[at] = worth, cell
    if count == 0:
        return -1
    if k >= count:
        return int(tops[0])
    if count <= TOPS * k:
        for top in tops:
            if top >= 0 and nearer(far, far[top]) < k:
                return int(top)
    reach = kth_smallest(far, k)
    best = -1
    most = -np.inf
    for cell in range(len(far)):
        if far[cell] <= reach:
            worth = gains[cell] - price * costs[cell]
            if worth > most:
                most = worth
                best = cell
    return best


@njit(cache=True, nogil=True)
def step(
    points: Array,
    turned: Array,
    k: int,
    price: float,
    pass_over: bool,
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    gain: Array,
    cost: Array,
    nodes: Array,
    covers: Array,
    gains: Array,
    costs: Array,
    free: Array,
    above: Array,
    below: Array,
    room: Array,
    far: Array,
    first: int,
    last: int,
    chosen: Array,
) -> None:
    """Let trajectories ``first`` to ``last`` take one cell each; ``chosen[b]`` is its number, or -1.

    ``above[b]`` and ``below[b]`` are the sums of the selection. With ``pass_over``, a cell whose gain at the price is
    not above 0 is not taken. ``room[b]`` is the number of nodes that may be added; a cell with more is not taken, and
    not free any more.
    """
    for b in range(first, last):
        while True:
            cell = best_near(points[b], turned, k, price, gains[b], costs[b], free[b], far[b])
            if cell >= 0 and pass_over and gains[b, cell] - price * costs[b, cell] <= 0.0:
                cell = -1
            if cell < 0 or room[b] == np.inf:
                break
            more = 0.0
            for at in range(members_indptr[cell], members_indptr[cell + 1]):
                if covers[b, members_indices[at]] == 0:
                    more += nodes[members_indices[at]]
            if more <= room[b]:
                room[b] -= more
                break
            free[b, cell] = False
        chosen[b] = cell
        if cell < 0:
            continue
        above[b] += gains[b, cell]
        below[b] += costs[b, cell]
        free[b, cell] = False
        add(
            cell,
            members_indptr,
            members_indices,
            homes_indptr,
            homes_indices,
            covers[b],
            gain,
            cost,
            gains[b],
            costs[b],
        )


@njit(cache=True, nogil=True)
def centres(
    points: Array, price: float, gains: Array, costs: Array, free: Array, first: int, last: int, out: Array, left: Array
) -> None:
    """Fill ``out[b]`` with the mean point of the free cells, weighted by their gains at the price.

    ``left[b]`` is the sum of the weights; cells without a gain have no weight. Without any weight the centre is 0.
    """
    for b in range(first, last):
        out[b] = 0.0
        left[b] = 0.0
        for cell in range(len(points)):
            worth = gains[b, cell] - price * costs[b, cell]
            if worth > 0.0 and free[b, cell]:
                left[b] += worth
                for i in range(points.shape[1]):
                    out[b, i] += worth * points[cell, i]
        if left[b] > 0.0:
            for i in range(points.shape[1]):
                out[b, i] /= left[b]
