"""Grow selections on a GPU: search for cells near a point, take them, cover their members and compute the rewards.

A program searches for one selection or for a tile of them.

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

from typing import Any, NamedTuple

try:
    import triton  # type: ignore[import-not-found, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # the module can then be read, not run
    triton = None

HELD, GROUPED, STREAMED = 0, 1, 2

jit: Any = triton.jit if triton is not None else lambda function: function
# Numbers that change from query to query are no reason to compile again.
jit_sizes: Any = triton.jit(do_not_specialize=["each", "batch", "words", "k", "steps"]) if triton is not None else jit
_constant: Any = tl.constexpr if triton is not None else int
# The matrix product is off by less than this: coordinates are split into two halves of 11 bits each, the product of the
# lower halves is dropped (below 2⁷), and 32 terms below 2³⁰ are cut to 24 bits (below 2⁷ each) as they are added.
SLACK = _constant(2**13)
FAR = _constant(2**31 - 1)
TAKEN = _constant(-(2**29))
LOST = _constant(-(2**62))
LEAST = _constant(-(2**63) + 1)


class Near(NamedTuple):
    """Where one selection looks for near cells.

    ``turned`` are the cells' points and ``row`` what each would still add; ``minima``, ``hits`` and ``found`` are the
    selection's room for the search in groups, ``blocks`` the points by group and ``each`` the cells of a group.
    """

    turned: Any
    row: Any
    k: Any
    price: Any
    columns: Any
    minima: Any
    hits: Any
    found: Any
    blocks: Any
    each: Any


@jit
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


@jit
def compute_worth(packed: tl.tensor, price: tl.tensor) -> tl.tensor:
    """What cells are worth at a price, in steps of 2⁻²⁴."""
    return ((packed >> 32) << 24) - price * (packed & 0xFFFFFFFF)


@jit
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


@jit
def _go_on(
    nearer: tl.tensor, worth: tl.tensor, cell: tl.tensor, best: tl.tensor, k: tl.tensor, PASS_OVER: tl.constexpr
) -> tl.tensor:
    """Whether a round found that ``best`` is not near; if so ``cell`` may be."""
    far_out = (best < 0) | (nearer >= k)
    if PASS_OVER:
        far_out = far_out & (worth > 0)
    return far_out & (cell < FAR)


@jit
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


@jit
def _free(near: Near, point: tl.tensor, at: tl.tensor, D: tl.constexpr) -> tl.tensor:
    """How far some cells are, FAR where not free, and what they are worth."""
    mask = at < near.columns
    packed = tl.load(near.row + at, mask, other=LOST, cache_modifier=".cg")
    far = _far(point, near.turned, at, mask, near.columns, D)
    return tl.where((packed >> 32) > TAKEN, far, FAR), compute_worth(packed, near.price)


@jit
def _pick_streaming(
    near: Near, point: tl.tensor, D: tl.constexpr, BLOCK: tl.constexpr, PASS_OVER: tl.constexpr
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
        for begin in range(0, near.columns, BLOCK):
            far, worth = _free(near, point, begin + lanes, D)
            count += (far < cut).to(tl.int32)
            better = (far < cut) & (worth > top)
            top = tl.where(better, worth, top)
            number = tl.where(better, begin + lanes, number)
            place = tl.where(better, far, place)
        nearer, most, cell, there = tl.reduce((count, top, number, place), 0, _better)
        looking = _go_on(nearer, most, cell, best, near.k, PASS_OVER)
        best = tl.where(looking, cell, tl.where((best >= 0) & (nearer >= near.k), -1, best))
        cut = there
    return best


@jit
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


@jit
def _pick_from_groups(
    near: Near,
    point: tl.tensor,
    gone: tl.tensor,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUPS: tl.constexpr,
    FOUND: tl.constexpr,
    PASS_OVER: tl.constexpr,
) -> tl.tensor:
    """What ``_pick`` does, among the cells of groups that may be near; ``gone`` cells are not free."""
    k, each, hits, found = near.k, near.each, near.hits, near.found
    numbers = tl.arange(0, GROUPS)
    least = tl.load(near.minima + numbers)
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
        far = _far(point, near.blocks, group * D * each + place, mask, each, D)
        at = place * GROUPS + group
        inside = (mask & (at < near.columns) & (far <= bound + SLACK)).to(tl.int32)
        to = count + tl.cumsum(inside, 0) - 1
        tl.store(found + to, at, mask=(inside == 1) & (to < FOUND))
        tl.store(found + FOUND + to, far, mask=(inside == 1) & (to < FOUND))
        count += tl.sum(inside, 0)
    tl.debug_barrier()
    cell = tl.full((), -1, tl.int32)
    if (k + gone <= tl.sum((least < FAR).to(tl.int32), 0)) & (count <= FOUND):
        order = tl.arange(0, FOUND)
        number = tl.load(found + order, order < count, other=0)
        packed = tl.load(near.row + number, order < count, other=LOST, cache_modifier=".cg")
        exact = tl.load(found + FOUND + order, order < count, other=0)
        exact = tl.where((packed >> 32) > TAKEN, exact, FAR)
        cell = _pick(exact, compute_worth(packed, near.price), number, k, PASS_OVER)
        tl.debug_barrier()
    else:
        cell = _pick_streaming(near, point, D, BLOCK, PASS_OVER)
    return cell


@jit
def choose(
    near: Near,
    point: tl.tensor,
    gone: tl.tensor,
    D: tl.constexpr,
    WAY: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUPS: tl.constexpr,
    FOUND: tl.constexpr,
    FEW: tl.constexpr,
    PASS_OVER: tl.constexpr,
) -> tl.tensor:
    """The number of the best cell near a point, -1 for none."""
    if WAY == 0:
        at = tl.arange(0, BLOCK)
        far, worth = _free(near, point, at, D)
        if FEW:
            # What the few near cells are worth is read again: all worths would crowd the registers meanwhile.
            far = tl.where(far <= _reach(far, near.k), far, FAR)
            worth = compute_worth(tl.load(near.row + at, far < FAR, other=LOST, cache_modifier=".cg"), near.price)
        cell = _pick(far, worth, at, near.k, PASS_OVER)
    elif WAY == 1:
        cell = _pick_from_groups(near, point, gone, D, BLOCK, GROUPS, FOUND, PASS_OVER)
    else:
        cell = _pick_streaming(near, point, D, BLOCK, PASS_OVER)
    return cell


@jit_sizes
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


class Holdings(NamedTuple):
    """Who holds what, and what it is worth: tensors that do not change while selections grow.

    A strip is up to 8 homes of one group: a group of many homes is many strips.
    """

    members_indptr: Any
    members: Any
    strips_indptr: Any
    strips: Any
    strip_groups: Any
    object_cells: Any
    weights: Any
    nodes: Any


class Growing(NamedTuple):
    """The tensors of ``torch_rollout.State``."""

    left: Any
    covered: Any
    above: Any
    below: Any
    room: Any
    gone: Any


class Groups(NamedTuple):
    """Room for the search in groups of cells, a row for every selection, and the points by group (``blocks``)."""

    minima: Any
    hits: Any
    found: Any
    blocks: Any


@jit
def _find_uncovered(members: tl.tensor, covered: tl.tensor, i: tl.tensor, end: tl.tensor) -> tl.tensor:
    mask = i < end
    group = tl.load(members + i, mask, other=0)
    word = tl.load(covered + (group >> 5), mask, other=-1, cache_modifier=".cg")
    return group, mask & (((word >> (group & 31)) & 1) == 0)


@jit
def _count_new_nodes(held: Holdings, covered: tl.tensor, cell: tl.tensor, LANES: tl.constexpr) -> tl.tensor:
    """How many nodes a cell would newly bring; 0 for no cell."""
    more = tl.full((), 0, tl.int64)
    if cell >= 0:
        begin = tl.load(held.members_indptr + cell)
        end = tl.load(held.members_indptr + cell + 1)
        for at in range(begin, end, LANES):
            group, new = _find_uncovered(held.members, covered, at + tl.arange(0, LANES), end)
            more += tl.sum(tl.load(held.nodes + group, new, other=0).to(tl.int64), 0)
    return more


@jit
def _cover(held: Holdings, covered: tl.tensor, row: tl.tensor, cell: tl.tensor, LANES: tl.constexpr) -> None:
    """Cover the groups of a cell, and take what they were worth from all cells that hold them.

    A strip is up to 8 homes of one group, one to a lane: a group of many homes is many strips, so that all lanes have
    as much to do.
    """
    begin = tl.load(held.strips_indptr + cell)
    end = tl.load(held.strips_indptr + cell + 1)
    lanes = tl.arange(0, LANES)
    for at in range(begin, end, LANES // 8):
        i = at + lanes // 8
        group, new = _find_uncovered(held.strip_groups, covered, i, end)
        home = tl.load(held.object_cells + tl.load(held.strips + i, new, other=0) * 8 + (lanes & 7), new, other=-1)
        weight = tl.load(held.weights + group, new, other=0)
        tl.atomic_add(row + home, -weight, home >= 0, sem="relaxed")
    # Only now, when everybody has read the bits, are they set.
    tl.debug_barrier()
    begin = tl.load(held.members_indptr + cell)
    end = tl.load(held.members_indptr + cell + 1)
    for at in range(begin, end, LANES):
        mask = at + lanes < end
        group = tl.load(held.members + at + lanes, mask, other=0)
        tl.atomic_or(covered + (group >> 5), tl.full([LANES], 1, tl.int32) << (group & 31), mask, sem="relaxed")


@jit_sizes
def take(
    points: tl.tensor,
    turned: tl.tensor,
    held: Holdings,
    growing: Growing,
    chosen: tl.tensor,
    price: tl.tensor,
    groups: Groups,
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
    FEW: tl.constexpr,
    LANES: tl.constexpr,
    PASS_OVER: tl.constexpr,
    LIMITED: tl.constexpr,
) -> None:
    """Let a selection take a cell near each of ``steps`` points, one after another."""
    b = tl.program_id(0).to(tl.int64)
    row = growing.left + b * columns
    cover = growing.covered + b * words
    minima = groups.minima + b * GROUPS
    hits = groups.hits + b * GROUPS
    found = groups.found + b * 2 * FOUND
    per_cost = tl.load(price)
    near = Near(turned, row, k, per_cost, columns, minima, hits, found, groups.blocks, each)
    total = tl.load(growing.above + b)
    spent = tl.load(growing.below + b)
    lost = tl.load(growing.gone + b)
    for step in range(steps):
        point = points + (step * batch + b) * D
        cell = choose(near, point, lost, D, WAY, BLOCK, GROUPS, FOUND, FEW, PASS_OVER)
        if LIMITED:
            space = tl.load(growing.room + b)
            more = _count_new_nodes(held, cover, cell, LANES)
            while (cell >= 0) & (more > space):
                tl.debug_barrier()
                tl.atomic_add(row + cell, tl.full((), LOST, tl.int64), sem="relaxed")
                lost += 1
                tl.debug_barrier()
                cell = choose(near, point, lost, D, WAY, BLOCK, GROUPS, FOUND, FEW, PASS_OVER)
                more = _count_new_nodes(held, cover, cell, LANES)
            tl.debug_barrier()
            tl.store(growing.room + b, space - more)
        tl.store(chosen + step * batch + b, cell)
        if cell >= 0:
            brought = tl.load(row + cell, cache_modifier=".cg")
            total += brought >> 32
            spent += brought & 0xFFFFFFFF
            lost += 1
            # Everybody has read what is there before anybody changes it.
            tl.debug_barrier()
            _cover(held, cover, row, cell, LANES)
            tl.atomic_add(row + cell, tl.full((), LOST, tl.int64), sem="relaxed")
            tl.debug_barrier()
    tl.store(growing.above + b, total)
    tl.store(growing.below + b, spent)
    tl.store(growing.gone + b, lost)


@jit
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


@jit
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
            worth = tl.where((packed >> 32) > TAKEN, compute_worth(packed, per_cost), 0)
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
