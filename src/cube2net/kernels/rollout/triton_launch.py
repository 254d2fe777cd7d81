"""The kernels behind ``kernels.rollout_torch`` on a GPU: one program per selection, or per tile of them.

The best of the k nearest cells is found from the best: take the best of all free cells; if k or more free ones are
nearer than it, neither it nor any cell as far is among the k nearest, so go on among the nearer ones. Where distance
and worth have nothing to do with each other, that takes about 1 + log(free cells / k) rounds. By the number of cells:

``held``      distances and worths of all cells stay in registers. For a small k the reach is found first, by counting.
``grouped``   cells are dealt out to groups like cards, so that neighbours are not together. A matrix product in half
              precision gives the least distance of each group up to SLACK. The (k + cells that are not free)-th least
              of these bounds the reach from above, and only groups below that bound are looked at exactly.
``streamed``  distances and worths are computed again in every round. For many cells and a large k, and where groups
              are of no use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cube2net.errors import MissingPackageError

if TYPE_CHECKING:
    from cube2net.kernels.rollout.torch_rollout import State, Tables

try:
    import triton  # type: ignore[import-not-found, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # the module can then be read, not run
    triton = None

HELD, GROUPED, STREAMED = 0, 1, 2
MOST_HELD = 16384
# The matrix product is off by less than this: coordinates are split into two halves of 11 bits each, the product of the
# lower halves is dropped (below 2⁷), and 32 terms below 2³⁰ are cut to 24 bits (below 2⁷ each) as they are added.
SLACK = 2**13

_jit: Any = triton.jit if triton is not None else lambda function: function
# Numbers that change from query to query are no reason to compile again.
_jit_sizes: Any = triton.jit(do_not_specialize=["each", "batch", "words", "k", "steps"]) if triton is not None else _jit
_constant: Any = tl.constexpr if triton is not None else int
FAR = _constant(2**31 - 1)
TAKEN = _constant(-(2**29))
LOST = _constant(-(2**62))
LEAST = _constant(-(2**63) + 1)


@_jit
def _far(
    point: tl.tensor, turned: tl.tensor, at: tl.tensor, mask: tl.tensor, stride: tl.tensor, D: tl.constexpr
) -> tl.tensor:
    """Squared distances of the cells ``at``, exactly; ``stride`` lies between the directions."""
    far = tl.zeros(at.shape, tl.int32)
    if D <= 16:
        for i in tl.static_range(D):
            gap = tl.load(turned + i * stride + at, mask, other=0).to(tl.int32) - tl.load(point + i).to(tl.int32)
            far += gap * gap
    else:
        for i in range(D):
            gap = tl.load(turned + i * stride + at, mask, other=0).to(tl.int32) - tl.load(point + i).to(tl.int32)
            far += gap * gap
    return far


@_jit
def _worth(packed: tl.tensor, price: tl.tensor) -> tl.tensor:
    return ((packed >> 32) << 24) - price * (packed & 0xFFFFFFFF)


@_jit
def _better(
    nearer: tl.tensor,
    worth: tl.tensor,
    cell: tl.tensor,
    far: tl.tensor,
    nearer_2: tl.tensor,
    worth_2: tl.tensor,
    cell_2: tl.tensor,
    far_2: tl.tensor,
) -> tl.tensor:
    """Of two cells the one of larger worth, the lower number among equals; and the sum of the counts."""
    first = (worth > worth_2) | ((worth == worth_2) & (cell < cell_2))
    worth = tl.where(first, worth, worth_2)
    return nearer + nearer_2, worth, tl.where(first, cell, cell_2), tl.where(first, far, far_2)


@_jit
def _go_on(
    nearer: tl.tensor, worth: tl.tensor, cell: tl.tensor, best: tl.tensor, k: tl.tensor, PASS_OVER: tl.constexpr
) -> tl.tensor:
    """Whether a round found that ``best`` is not near; if so ``cell`` may be."""
    far_out = (best < 0) | (nearer >= k)
    if PASS_OVER:
        far_out = far_out & (worth > 0)
    return far_out & (cell < FAR)


@_jit
def _pick(far: tl.tensor, worth: tl.tensor, at: tl.tensor, k: tl.tensor, PASS_OVER: tl.constexpr) -> tl.tensor:
    """The best of the k nearest of some cells, -1 for none; cells that are not free are FAR."""
    best = tl.full((), -1, tl.int32)
    cut = tl.full((), FAR, tl.int32)
    looking = True
    while looking:
        inside = far < cut
        nearer, most, cell, there = tl.reduce(
            (inside.to(tl.int32), tl.where(inside, worth, LEAST), tl.where(inside, at, FAR), far), 0, _better
        )
        looking = _go_on(nearer, most, cell, best, k, PASS_OVER)
        # With PASS_OVER a best cell that is not near stays none when nothing nearer is worth anything.
        best = tl.where(looking, cell, tl.where((best >= 0) & (nearer >= k), -1, best))
        cut = there
    return best


@_jit
def _free(
    point: tl.tensor,
    turned: tl.tensor,
    row: tl.tensor,
    at: tl.tensor,
    price: tl.tensor,
    columns: tl.tensor,
    D: tl.constexpr,
) -> tl.tensor:
    """How far some cells are, FAR where not free, and what they are worth."""
    mask = at < columns
    packed = tl.load(row + at, mask, other=LOST, cache_modifier=".cg")
    far = _far(point, turned, at, mask, columns, D)
    return tl.where((packed >> 32) > TAKEN, far, FAR), _worth(packed, price)


@_jit
def _streamed(
    point: tl.tensor,
    turned: tl.tensor,
    row: tl.tensor,
    k: tl.tensor,
    price: tl.tensor,
    columns: tl.tensor,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    PASS_OVER: tl.constexpr,
) -> tl.tensor:
    """What ``_pick`` does, with a pass over all cells for every round."""
    lanes = tl.arange(0, BLOCK)
    best = tl.full((), -1, tl.int32)
    cut = tl.full((), FAR, tl.int32)
    looking = True
    while looking:
        count = tl.zeros([BLOCK], tl.int32)
        top = tl.full([BLOCK], LEAST, tl.int64)
        number = tl.full([BLOCK], FAR, tl.int32)
        place = tl.full([BLOCK], FAR, tl.int32)
        for begin in range(0, columns, BLOCK):
            far, worth = _free(point, turned, row, begin + lanes, price, columns, D)
            count += (far < cut).to(tl.int32)
            better = (far < cut) & (worth > top)
            top = tl.where(better, worth, top)
            number = tl.where(better, begin + lanes, number)
            place = tl.where(better, far, place)
        nearer, most, cell, there = tl.reduce((count, top, number, place), 0, _better)
        looking = _go_on(nearer, most, cell, best, k, PASS_OVER)
        best = tl.where(looking, cell, tl.where((best >= 0) & (nearer >= k), -1, best))
        cut = there
    return best


@_jit
def _reach(far: tl.tensor, k: tl.tensor) -> tl.tensor:
    """A number with exactly k of ``far`` up to it; where ties forbid that the k-th least; all when there are fewer.

    Numbers from ``low`` (less than k up to it) to ``high`` (k or more) are cut in three, and both cuts counted in one
    sum: there are fewer than 2¹⁵ of them.
    """
    low = tl.min(far, 0) - 1
    high = tl.max(tl.where(far < FAR, far, -1), 0)
    most = tl.sum((far < FAR).to(tl.int32), 0)
    while (high - low > 1) & (most > k):
        step = (high - low) // 3 + 1
        first = low + step
        second = tl.minimum(first + step, high)
        both = tl.sum((far <= first).to(tl.int32) + (far <= second).to(tl.int32) * 65536, 0)
        below = both & 65535
        above = both >> 16
        low = tl.where(below >= k, low, tl.where(above >= k, first, second))
        high = tl.where(below >= k, first, tl.where(above >= k, second, high))
        most = tl.where(below >= k, below, tl.where(above >= k, above, most))
    return high


@_jit
def _grouped(
    point: tl.tensor,
    turned: tl.tensor,
    row: tl.tensor,
    k: tl.tensor,
    price: tl.tensor,
    columns: tl.tensor,
    gone: tl.tensor,
    minima: tl.tensor,
    hits: tl.tensor,
    found: tl.tensor,
    blocks: tl.tensor,
    each: tl.tensor,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUPS: tl.constexpr,
    FOUND: tl.constexpr,
    SLACK: tl.constexpr,
    PASS_OVER: tl.constexpr,
) -> tl.tensor:
    numbers = tl.arange(0, GROUPS)
    least = tl.load(minima + numbers)
    # So many cells are certainly within the bound that k of them are free.
    bound = tl.minimum(_reach(least, k + gone), FAR - 1 - 2 * SLACK)
    hit = (least <= bound + 2 * SLACK).to(tl.int32)
    tl.store(hits + tl.cumsum(hit, 0) - 1, numbers, mask=hit == 1)
    all_lanes = tl.sum(hit, 0) * each
    tl.debug_barrier()
    lanes = tl.arange(0, 1024)
    count = tl.full((), 0, tl.int32)
    for begin in range(0, all_lanes, 1024):
        lane = begin + lanes
        mask = lane < all_lanes
        group = tl.load(hits + lane // each, mask, other=0)
        place = lane % each
        far = _far(point, blocks, group * D * each + place, mask, each, D)
        at = place * GROUPS + group
        near = (mask & (at < columns) & (far <= bound + SLACK)).to(tl.int32)
        to = count + tl.cumsum(near, 0) - 1
        tl.store(found + to, at, mask=(near == 1) & (to < FOUND))
        tl.store(found + FOUND + to, far, mask=(near == 1) & (to < FOUND))
        count += tl.sum(near, 0)
    tl.debug_barrier()
    cell = tl.full((), -1, tl.int32)
    if (k + gone <= tl.sum((least < FAR).to(tl.int32), 0)) & (count <= FOUND):
        order = tl.arange(0, FOUND)
        number = tl.load(found + order, order < count, other=0)
        packed = tl.load(row + number, order < count, other=LOST, cache_modifier=".cg")
        exact = tl.load(found + FOUND + order, order < count, other=0)
        exact = tl.where((packed >> 32) > TAKEN, exact, FAR)
        cell = _pick(exact, _worth(packed, price), number, k, PASS_OVER)
        tl.debug_barrier()
    else:
        cell = _streamed(point, turned, row, k, price, columns, D, BLOCK, PASS_OVER)
    return cell


@_jit
def _choose(
    point: tl.tensor,
    turned: tl.tensor,
    row: tl.tensor,
    k: tl.tensor,
    price: tl.tensor,
    columns: tl.tensor,
    gone: tl.tensor,
    minima: tl.tensor,
    hits: tl.tensor,
    found: tl.tensor,
    blocks: tl.tensor,
    each: tl.tensor,
    D: tl.constexpr,
    WAY: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUPS: tl.constexpr,
    FOUND: tl.constexpr,
    SLACK: tl.constexpr,
    FEW: tl.constexpr,
    PASS_OVER: tl.constexpr,
) -> tl.tensor:
    """The number of the best cell near a point, -1 for none."""
    if WAY == 0:
        at = tl.arange(0, BLOCK)
        far, worth = _free(point, turned, row, at, price, columns, D)
        if FEW:
            # What the few near cells are worth is read again: all worths would crowd the registers meanwhile.
            far = tl.where(far <= _reach(far, k), far, FAR)
            worth = _worth(tl.load(row + at, far < FAR, other=LOST, cache_modifier=".cg"), price)
        cell = _pick(far, worth, at, k, PASS_OVER)
    elif WAY == 1:
        cell = _grouped(
            point, turned, row, k, price, columns, gone, minima, hits, found, blocks, each,
            D, BLOCK, GROUPS, FOUND, SLACK, PASS_OVER,
        )  # fmt: skip
    else:
        cell = _streamed(point, turned, row, k, price, columns, D, BLOCK, PASS_OVER)
    return cell


@_jit
def _uncovered(members: tl.tensor, covered: tl.tensor, i: tl.tensor, end: tl.tensor) -> tl.tensor:
    mask = i < end
    group = tl.load(members + i, mask, other=0)
    word = tl.load(covered + (group >> 5), mask, other=-1, cache_modifier=".cg")
    return group, mask & (((word >> (group & 31)) & 1) == 0)


@_jit
def _brings(
    members_indptr: tl.tensor,
    members: tl.tensor,
    nodes: tl.tensor,
    covered: tl.tensor,
    cell: tl.tensor,
    LANES: tl.constexpr,
) -> tl.tensor:
    """How many nodes a cell would newly bring; 0 for no cell."""
    more = tl.full((), 0, tl.int64)
    if cell >= 0:
        begin = tl.load(members_indptr + cell)
        end = tl.load(members_indptr + cell + 1)
        for at in range(begin, end, LANES):
            group, new = _uncovered(members, covered, at + tl.arange(0, LANES), end)
            more += tl.sum(tl.load(nodes + group, new, other=0).to(tl.int64), 0)
    return more


@_jit
def _cover(
    members_indptr: tl.tensor,
    members: tl.tensor,
    strips_indptr: tl.tensor,
    strips: tl.tensor,
    strip_groups: tl.tensor,
    homes: tl.tensor,
    weights: tl.tensor,
    covered: tl.tensor,
    row: tl.tensor,
    cell: tl.tensor,
    LANES: tl.constexpr,
) -> None:
    """Cover the groups of a cell, and take what they were worth from all cells that hold them.

    A strip is up to 8 homes of one group, one to a lane: a group of many homes is many strips, so that all lanes have
    as much to do.
    """
    begin = tl.load(strips_indptr + cell)
    end = tl.load(strips_indptr + cell + 1)
    lanes = tl.arange(0, LANES)
    for at in range(begin, end, LANES // 8):
        i = at + lanes // 8
        group, new = _uncovered(strip_groups, covered, i, end)
        home = tl.load(homes + tl.load(strips + i, new, other=0) * 8 + (lanes & 7), new, other=-1)
        weight = tl.load(weights + group, new, other=0)
        tl.atomic_add(row + home, -weight, home >= 0, sem="relaxed")
    # Only now, when everybody has read the bits, are they set.
    tl.debug_barrier()
    begin = tl.load(members_indptr + cell)
    end = tl.load(members_indptr + cell + 1)
    for at in range(begin, end, LANES):
        mask = at + lanes < end
        group = tl.load(members + at + lanes, mask, other=0)
        tl.atomic_or(covered + (group >> 5), tl.full([LANES], 1, tl.int32) << (group & 31), mask, sem="relaxed")


@_jit_sizes
def take(
    points: tl.tensor,
    turned: tl.tensor,
    members_indptr: tl.tensor,
    members: tl.tensor,
    strips_indptr: tl.tensor,
    strips: tl.tensor,
    strip_groups: tl.tensor,
    homes: tl.tensor,
    weights: tl.tensor,
    nodes: tl.tensor,
    left: tl.tensor,
    covered: tl.tensor,
    above: tl.tensor,
    below: tl.tensor,
    room: tl.tensor,
    gone: tl.tensor,
    chosen: tl.tensor,
    price: tl.tensor,
    minima: tl.tensor,
    hits: tl.tensor,
    found: tl.tensor,
    blocks: tl.tensor,
    each: tl.tensor,
    batch: tl.tensor,
    columns: tl.tensor,
    words: tl.tensor,
    k: tl.tensor,
    steps: tl.tensor,
    D: tl.constexpr,
    WAY: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUPS: tl.constexpr,
    FOUND: tl.constexpr,
    SLACK: tl.constexpr,
    FEW: tl.constexpr,
    LANES: tl.constexpr,
    PASS_OVER: tl.constexpr,
    LIMITED: tl.constexpr,
) -> None:
    """Let a selection take a cell near each of ``steps`` points, one after another."""
    b = tl.program_id(0).to(tl.int64)
    row = left + b * columns
    cover = covered + b * words
    minima += b * GROUPS
    hits += b * GROUPS
    found += b * 2 * FOUND
    per_cost = tl.load(price)
    total = tl.load(above + b)
    spent = tl.load(below + b)
    lost = tl.load(gone + b)
    for step in range(steps):
        point = points + (step * batch + b) * D
        cell = _choose(
            point, turned, row, k, per_cost, columns, lost, minima, hits, found, blocks, each,
            D, WAY, BLOCK, GROUPS, FOUND, SLACK, FEW, PASS_OVER,
        )  # fmt: skip
        if LIMITED:
            space = tl.load(room + b)
            more = _brings(members_indptr, members, nodes, cover, cell, LANES)
            while (cell >= 0) & (more > space):
                tl.debug_barrier()
                tl.atomic_add(row + cell, tl.full((), LOST, tl.int64), sem="relaxed")
                lost += 1
                tl.debug_barrier()
                cell = _choose(
                    point, turned, row, k, per_cost, columns, lost, minima, hits, found, blocks, each,
                    D, WAY, BLOCK, GROUPS, FOUND, SLACK, FEW, PASS_OVER,
                )  # fmt: skip
                more = _brings(members_indptr, members, nodes, cover, cell, LANES)
            tl.debug_barrier()
            tl.store(room + b, space - more)
        tl.store(chosen + step * batch + b, cell)
        if cell >= 0:
            brought = tl.load(row + cell, cache_modifier=".cg")
            total += brought >> 32
            spent += brought & 0xFFFFFFFF
            lost += 1
            # Everybody has read what is there before anybody changes it.
            tl.debug_barrier()
            _cover(
                members_indptr, members, strips_indptr, strips, strip_groups, homes, weights, cover, row, cell, LANES
            )
            tl.atomic_add(row + cell, tl.full((), LOST, tl.int64), sem="relaxed")
            tl.debug_barrier()
    tl.store(above + b, total)
    tl.store(below + b, spent)
    tl.store(gone + b, lost)


@_jit_sizes
def least(
    points: tl.tensor,
    sheet: tl.tensor,
    minima: tl.tensor,
    batch: tl.tensor,
    each: tl.tensor,
    D: tl.constexpr,
    K: tl.constexpr,
    GROUPS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
) -> None:
    """Fill ``minima`` with the least squared distance to each group, up to SLACK, for a tile of selections."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    groups = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    part = tl.arange(0, K)
    there = rows < batch
    place = points + rows[:, None].to(tl.int64) * D + (part % D)[None, :]
    value = tl.load(place, there[:, None] & (part < 3 * D)[None, :], other=0).to(tl.float32)
    norm = tl.sum(tl.where((part < D)[None, :], value * value, 0.0), 1)
    value = value * -2.0
    high = value.to(tl.float16)
    low = (value - high.to(tl.float32)).to(tl.float16)
    fixed = tl.where(part == 3 * D, 32768.0, tl.where(part == 3 * D + 1, 64.0, tl.where(part == 3 * D + 2, 1.0, 0.0)))
    side = tl.where((part < 2 * D)[None, :], high, low)
    side = tl.where((part < 3 * D)[None, :], side, fixed.to(tl.float16)[None, :])
    smallest = tl.full([ROWS, COLUMNS], float("inf"), tl.float32)
    for i in range(each):
        other = tl.load(sheet + (i * K + part)[:, None] * GROUPS + groups[None, :])
        smallest = tl.minimum(smallest, tl.dot(side, other))
    smallest = tl.maximum(smallest + norm[:, None], 0.0)
    whole = tl.where(smallest < 2.0e9, smallest, 0.0).to(tl.int32)
    whole = tl.where(smallest < 2.0e9, whole, FAR)
    tl.store(minima + rows[:, None].to(tl.int64) * GROUPS + groups[None, :], whole, mask=there[:, None])


@_jit
def aim(
    actions: tl.tensor,
    centre: tl.tensor,
    points: tl.tensor,
    unit: tl.tensor,
    reach: tl.tensor,
    count: tl.tensor,
    CENTRED: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Fill ``points`` with actions in steps of the grid; with CENTRED they are offsets from the centres."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    action = tl.load(actions + at, mask, other=0.0)
    if CENTRED:
        value = (action.to(tl.float64) + tl.load(centre + at, mask, other=0.0)) * unit
    else:
        value = (action * unit).to(tl.float64)
    value = tl.minimum(tl.maximum(value, -reach), reach)
    # Adding 1.5·2⁵² rounds halves to even, as rint does.
    value = (value + 6755399441055744.0) - 6755399441055744.0
    tl.store(points + at, value.to(tl.int32).to(tl.int16), mask)


@_jit
def look(
    left: tl.tensor,
    above: tl.tensor,
    below: tl.tensor,
    chosen: tl.tensor,
    spots: tl.tensor,
    turned: tl.tensor,
    price: tl.tensor,
    start: tl.tensor,
    sums: tl.tensor,
    sums_now: tl.tensor,
    values: tl.tensor,
    values_now: tl.tensor,
    rewards: tl.tensor,
    centre: tl.tensor,
    seen: tl.tensor,
    numbers: tl.tensor,
    columns: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    SEES_LEFT: tl.constexpr,
) -> None:
    """Fill what one selection is worth, its reward, and what is seen of it (``numbers``: see the twin)."""
    b = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, WIDTH)
    cell = tl.load(chosen + b)
    sum = tl.load(sums + b * D + i, i < D, other=0.0)
    sum += tl.load(spots + cell * D + i, (i < D) & (cell >= 0), other=0.0)
    tl.store(sums_now + b * D + i, sum, i < D)
    unit = tl.load(numbers + 2)
    over = tl.load(numbers) + tl.load(above + b).to(tl.float64) * unit
    under = tl.load(numbers + 1) + tl.load(below + b).to(tl.float64) * unit
    value = tl.where(under > 0, over / tl.where(under > 0, under, 1.0), 0.0)
    tl.store(rewards + b, ((value - tl.load(values + b)) * tl.load(numbers + 3)).to(tl.float32))
    tl.store(values_now + b, value)
    if SEES_LEFT:
        per_cost = tl.load(price)
        lanes = tl.arange(0, BLOCK)
        total = tl.full((), 0.0, tl.float64)
        mean = tl.zeros([WIDTH], tl.float64)
        for begin in range(0, columns, BLOCK):
            at = begin + lanes
            packed = tl.load(left + b * columns + at, at < columns, other=LOST)
            worth = tl.where((packed >> 32) > TAKEN, _worth(packed, per_cost), 0)
            weight = tl.where(worth > 0, worth, 0).to(tl.float64)
            whole = tl.sum(weight, 0)
            total += whole
            if whole > 0:
                for j in range(D):
                    spot = tl.load(turned + j * columns + at, worth > 0, other=0.0).to(tl.float64)
                    mean += tl.where(i == j, tl.sum(weight * spot, 0), 0.0)
        mean /= tl.where(total > 0, total, 1.0)
        tl.store(centre + b * D + i, mean, i < D)
        first = tl.load(start)
        share = total * (unit * 5.9604644775390625e-08) / tl.where(first > 0, first, 1.0)
        to = seen + b * (2 * D + 2)
        tl.store(to + i, tl.div_rn(sum, tl.broadcast_to(tl.load(numbers + 4).to(tl.float32), [WIDTH])), i < D)
        tl.store(to + D + i, mean.to(tl.float32), i < D)
        tl.store(to + 2 * D, tl.load(numbers + 5).to(tl.float32))
        tl.store(to + 2 * D + 1, share.to(tl.float32))
    else:
        tl.store(seen + b * D + i, sum, i < D)


class Compiled:
    """The kernels at work on one set of tables and one batch; the twin of ``rollout_torch.Plain``.

    ``way`` is how near cells are found; by default the one that suits the number of cells and k. ``steps`` is about how
    many cells a selection takes: the bound of ``grouped`` is made for so many cells that are not free.
    """

    def __init__(self, tables: Tables, state: State, k: int, steps: int, *, way: int | None = None) -> None:
        if triton is None:
            raise MissingPackageError("selections on a GPU need the package 'triton': install torch built for CUDA")
        self.tables, self.state, self.k = tables, state, k
        device = tables.points.device
        self._each, self._groups, self._most_found = _grouping(tables, k + steps)
        if way is None:
            way = HELD if tables.cells <= MOST_HELD else GROUPED if self._groups else STREAMED
        self.way = way
        # As measured on an H200: see docs/gpu.md.
        self._block = triton.next_power_of_2(max(128, tables.columns)) if way == HELD else 1024
        self._warps = {GROUPED: 8, STREAMED: 4}.get(way, max(1, min(8, self._block // 512), self._block // 1024))
        self._registers = {GROUPED: 128, STREAMED: None}.get(way, 128 if self._block >= 8192 else 96)
        self._lanes, self._tile = 128 * self._warps, (64, 128, 4)
        self._spots = self._spots_turned = torch.empty(0, device=device)
        self._strips = _strips(tables)
        self._minima = self._hits = self._found = self._blocks = self._sheet = torch.empty(
            0, dtype=torch.int32, device=device
        )
        if way == GROUPED:
            self._blocks, self._sheet = _sheets(tables, self._groups, self._each)
            self._minima = torch.empty((len(state.left), self._groups), dtype=torch.int32, device=device)
            self._hits = torch.empty_like(self._minima)
            self._found = torch.empty((len(state.left), 2 * self._most_found), dtype=torch.int32, device=device)

    def aim(self, actions: Tensor, centre: Tensor | None, unit: float, reach: int) -> Tensor:
        """Return actions in steps of the grid."""
        points = torch.empty(actions.shape, dtype=torch.int16, device=actions.device)
        count = actions.numel()
        aim[(triton.cdiv(count, 1024),)](
            actions, actions if centre is None else centre, points, unit, float(reach), count,
            CENTRED=centre is not None, BLOCK=1024,
        )  # fmt: skip
        return points

    def take(self, points: Tensor, price: Tensor, *, pass_over: bool, limited: bool) -> Tensor:
        """Let every selection take one cell near each of its points (steps, batch, directions), one after another."""
        steps, batch = points.shape[:2]
        chosen = torch.empty((steps, batch), dtype=torch.int32, device=points.device)
        # All steps in one launch where a selection needs nothing from others.
        at_once = 1 if self.way == GROUPED else steps
        for step in range(0, steps, at_once):
            if self.way == GROUPED:
                self._least(points[step])
            self._take(points[step:], price, chosen[step:], at_once, pass_over, limited)
        return chosen

    def _least(self, points: Tensor) -> None:
        D = self.tables.directions
        rows, columns, warps = self._tile
        least[(triton.cdiv(len(points), rows), self._groups // columns)](
            points, self._sheet, self._minima, len(points), self._each,
            D=D, K=_depth(D), GROUPS=self._groups, ROWS=rows, COLUMNS=columns, num_warps=warps, num_stages=3,
        )  # fmt: skip

    def _take(self, points: Tensor, price: Tensor, chosen: Tensor, steps: int, pass_over: bool, limited: bool) -> None:
        t, s = self.tables, self.state
        take[(len(s.left),)](
            points, t.turned, t.members_indptr, t.members, *self._strips, t.weights, t.nodes,
            s.left, s.covered, s.above, s.below, s.room, s.gone, chosen, price,
            self._minima, self._hits, self._found, self._blocks, self._each,
            len(s.left), t.columns, t.words, self.k, steps,
            D=t.directions, WAY=self.way, BLOCK=self._block, GROUPS=self._groups, FOUND=self._most_found, SLACK=SLACK,
            FEW=16 * self.k < t.cells, LANES=self._lanes, PASS_OVER=pass_over, LIMITED=limited,
            num_warps=self._warps, maxnreg=self._registers,
        )  # fmt: skip

    def look(
        self,
        spots: Tensor,
        price: Tensor,
        start: Tensor,
        chosen: Tensor,
        sums: Tensor,
        values: Tensor,
        numbers: Tensor,
        *,
        sees_left: bool,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return what is seen, the rewards, the sums of chosen spots, the values and the centres (see the twin)."""
        t, s = self.tables, self.state
        batch, D = sums.shape
        seen = torch.empty((batch, 2 * D + 2 if sees_left else D), device=sums.device)
        rewards, sums_now = torch.empty(batch, device=sums.device), torch.empty_like(sums)
        values_now = torch.empty_like(values)
        centre = torch.empty((batch, D), dtype=torch.float64, device=sums.device)
        if self._spots is not spots:
            self._spots = spots
            self._spots_turned = torch.zeros((D, t.columns), device=spots.device)
            self._spots_turned[:, : t.cells] = spots.T
        block = min(2048, triton.next_power_of_2(t.columns))
        look[(batch,)](
            s.left, s.above, s.below, chosen, spots, self._spots_turned, price, start,
            sums, sums_now, values, values_now, rewards, centre, seen, numbers, t.columns,
            D=D, WIDTH=triton.next_power_of_2(D), BLOCK=block, SEES_LEFT=sees_left, num_warps=4,
        )  # fmt: skip
        return seen, rewards, sums_now, values_now, centre


def _depth(directions: int) -> int:
    return max(16, int(triton.next_power_of_2(3 * directions + 3)))


def _strips(tables: Tables) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the strips of every cell (offsets, their numbers, their groups), and the homes of every strip.

    The homes of a group are cut into strips of 8; the last one of a group is filled up with -1.
    """
    begin = tables.homes_indptr.long()
    counts = begin.diff()
    pieces = (counts + 7) // 8
    first = pieces.cumsum(0) - pieces
    of = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    homes = torch.full((int(pieces.sum()) * 8,), -1, dtype=torch.int32, device=counts.device)
    homes[torch.arange(len(of), device=of.device) - begin[of] + first[of] * 8] = tables.homes
    members = tables.members.long()
    many = pieces[members]
    ends = torch.cat([many.new_zeros(1), many.cumsum(0)])
    entry = torch.repeat_interleave(torch.arange(len(members), device=many.device), many)
    numbers = torch.arange(len(entry), device=many.device) - ends[entry] + first[members[entry]]
    return ends[tables.members_indptr.long()].int(), numbers.int(), tables.members[entry], homes


def _grouping(tables: Tables, wanted: int) -> tuple[int, int, int]:
    """Return the cells of a group, the number of groups, and the most cells compared; no groups where of no use."""
    largest = int(tables.points.abs().max()) if tables.points.numel() else 0
    groups = 2048
    if wanted > groups // 8 or tables.directions > 16 or tables.directions * largest**2 > 2**28:
        return 1, 0, 16
    return -(-tables.cells // groups), groups, max(256, int(triton.next_power_of_2(2 * wanted)))


def _sheets(tables: Tables, groups: int, each: int) -> tuple[Tensor, Tensor]:
    """Return the points by group, direction and place, and by place, part and group in half precision.

    The parts are the high, the low and again the high halves of the coordinates, and the squared length in three
    digits: their products with a point's −2·high, −2·high, −2·low and the digits' weights sum to |x|² − 2·p·x.
    """
    D, cells = tables.directions, tables.cells
    points = torch.zeros((groups * each, D), dtype=torch.float32, device=tables.points.device)
    points[:cells] = tables.points.float()
    blocks = points.view(each, groups, D).permute(1, 2, 0).to(torch.int16).contiguous()
    high = points.half()
    low = (points - high.float()).half()
    lengths = tables.points.long().square().sum(1)
    digits = torch.zeros((groups * each, 3), dtype=torch.float16, device=points.device)
    digits[:cells] = torch.stack([(lengths >> 17) * 4, (lengths >> 6) & 2047, lengths & 63], dim=1).half()
    digits[cells:, 0] = torch.inf
    parts = torch.cat([high, low, high, digits], dim=1)
    sheet = torch.zeros((each, _depth(D), groups), dtype=torch.float16, device=points.device)
    sheet[:, : 3 * D + 3] = parts.view(each, groups, 3 * D + 3).transpose(1, 2)
    return blocks, sheet.contiguous()
