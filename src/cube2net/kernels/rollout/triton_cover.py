"""Selections on a GPU: take cells, cover their members and compute the rewards."""

from __future__ import annotations

from typing import Any, NamedTuple

from cube2net.kernels.rollout.triton_search import LOST, TAKEN, Near, choose, compute_worth, jit, jit_sizes

try:
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # the module can then be read, not run
    tl = None


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
