"""Grow many selections in parallel, in tensors: the twin of ``numba_rollout`` for any device of torch.

Weights are multiples of 2⁻ᵇⁱᵗˢ. The gain and cost of a cell are one 64-bit number, gain·2³² + cost, so that one
addition changes both and the order of additions does not matter. Prices are multiples of 2⁻²⁴. All comparisons are
between integers, so every device takes the same cells for the same points.

On a GPU the kernels of ``triton_rollout`` are used; they must equal the functions here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from cube2net.errors import ParameterError

if TYPE_CHECKING:
    from cube2net._util.arrays import Array

FAR = 2**31 - 1
PRICE_BITS = 24
# Sums of weights are below 2^SUM_BITS. A cell that is not free has LOST subtracted from its gain, which is below TAKEN.
SUM_BITS = 29
LOST = 2**30
TAKEN = -(2**29)
HIGHEST_PRICE = 256.0


@dataclass(frozen=True, eq=False)
class CellTables:
    """The constant tensors of a choice among cells, on one device.

    ``points`` is (cells, directions) in steps of the grid and ``turned`` its transpose, with columns padded to a
    multiple of 64. ``weights`` holds gain·2³² + cost of every group, and ``first`` that of every column while nothing
    is covered; padding columns are never free.
    """

    points: Tensor
    turned: Tensor
    members_indptr: Tensor
    members: Tensor
    homes_indptr: Tensor
    object_cells: Tensor
    weights: Tensor
    nodes: Tensor
    first: Tensor
    bits: int

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(self.points.shape[0])

    @property
    def columns(self) -> int:
        """The number of columns, padding included."""
        return int(self.turned.shape[1])

    @property
    def directions(self) -> int:
        """The number of coordinates of a point."""
        return int(self.points.shape[1])

    @property
    def words(self) -> int:
        """The number of 32-bit words with one bit per group."""
        return max(1, -(-len(self.weights) // 32))


def tables(
    points: Array,
    members_indptr: Array,
    members: Array,
    homes_indptr: Array,
    homes: Array,
    gain: Array,
    cost: Array,
    nodes: Array,
    *,
    device: str | torch.device = "cpu",
) -> CellTables:
    """Return a choice among cells as tensors; the arrays are those of ``numba_rollout``."""
    bits = binary_places(gain, cost)
    weights = (np.rint(gain * 2.0**bits).astype(np.int64) << 32) + np.rint(cost * 2.0**bits).astype(np.int64)
    rows = np.repeat(np.arange(len(points)), np.diff(members_indptr))
    columns = -(-max(1, len(points)) // 64) * 64
    first = np.zeros(columns, dtype=np.int64)
    np.add.at(first, rows, weights[members])
    first[len(points) :] = -LOST << 32
    turned = np.zeros((points.shape[1], columns), dtype=np.int16)
    turned[:, : len(points)] = points.T

    def put(array: Array, dtype: torch.dtype) -> Tensor:
        return torch.tensor(np.ascontiguousarray(array), dtype=dtype, device=device)

    return CellTables(
        points=put(points, torch.int16),
        turned=put(turned, torch.int16),
        members_indptr=put(members_indptr, torch.int32),
        members=put(members, torch.int32),
        homes_indptr=put(homes_indptr, torch.int32),
        object_cells=put(homes, torch.int32),
        weights=put(weights, torch.int64),
        nodes=put(nodes, torch.int32),
        first=put(first, torch.int64),
        bits=bits,
    )


def binary_places(gain: Array, cost: Array) -> int:
    """Return the number of binary places of the weights: as many as they have, or as their sums allow.

    >>> binary_places(np.array([1.0, 0.0]), np.array([0.0, 1.0])), binary_places(np.array([0.75]), np.array([0.5]))
    (0, 2)
    """
    largest = max(float(np.abs(gain).sum()), float(cost.sum()), 1.0)
    room = SUM_BITS - math.frexp(largest)[1]
    if room < 0:
        raise ParameterError(
            f"the weights sum to {largest:,.0f}, expected less than {2**SUM_BITS:,} for selections in tensors:"
            " use device 'cpu'"
        )
    for bits in range(room):
        both = np.concatenate([gain, cost]) * 2.0**bits
        if np.array_equal(both, np.rint(both)):
            return bits
    return room


@dataclass(eq=False)
class State:
    """Parallel selections; the first axis is the selection.

    ``left`` is what every cell would add, ``covered`` has one bit per group, ``above`` and ``below`` are the sums of
    gain and cost, ``room`` is the number of nodes that may be added, and ``gone`` the number of cells that are not
    free.
    """

    left: Tensor
    covered: Tensor
    above: Tensor
    below: Tensor
    room: Tensor
    gone: Tensor


def start(tables: CellTables, batch: int) -> State:
    """Return uninitialised selections; ``restart`` empties them."""
    device = tables.points.device
    return State(
        left=torch.empty((batch, tables.columns), dtype=torch.int64, device=device),
        covered=torch.empty((batch, tables.words), dtype=torch.int32, device=device),
        above=torch.empty(batch, dtype=torch.int64, device=device),
        below=torch.empty(batch, dtype=torch.int64, device=device),
        room=torch.empty(batch, dtype=torch.int64, device=device),
        gone=torch.empty(batch, dtype=torch.int32, device=device),
    )


def restart(tables: CellTables, state: State, max_nodes: float = math.inf) -> None:
    """Empty every selection."""
    state.left.copy_(tables.first)
    for part in (state.covered, state.above, state.below, state.gone):
        part.zero_()
    state.room.fill_(2**62 if math.isinf(max_nodes) else math.floor(max_nodes))


def price_in_steps(price: float) -> int:
    """Return a price in steps of 2⁻²⁴, rounded down.

    >>> price_in_steps(0.5) == 2**23
    True
    """
    if not price < HIGHEST_PRICE:
        raise ParameterError(f"price is {price!r}, expected a number below {HIGHEST_PRICE:.0f}")
    return math.floor(price * float(1 << PRICE_BITS))


def distances(points: Tensor, turned: Tensor) -> Tensor:
    """Return squared distances, exactly: a row for every point, a column for every cell."""
    far = torch.zeros((len(points), turned.shape[1]), dtype=torch.int32, device=points.device)
    for i in range(len(turned)):
        gap = turned[i].to(torch.int32) - points[:, i, None].to(torch.int32)
        far += gap * gap
    return far


def best_near(tables: CellTables, left: Tensor, points: Tensor, k: int, price: Tensor, pass_over: bool) -> Tensor:
    """Return for every selection the best free cell among those no farther than the k-th nearest free one.

    The best has the largest gain − price·cost, of equal ones the lowest number; -1 if there is none. With
    ``pass_over``, a cell whose gain at the price is not above 0 counts as none.
    """
    free = (left >> 32) > TAKEN
    far = distances(points, tables.turned).masked_fill_(~free, FAR)
    reach = far.kthvalue(min(k, tables.columns), dim=1, keepdim=True).values
    worth = compute_worth(left, price)
    lowest = torch.iinfo(torch.int64).min
    worth.masked_fill_(~(free & (far <= reach)), lowest)
    most = worth.amax(dim=1, keepdim=True)
    numbers = torch.arange(tables.columns, device=left.device)
    cell = torch.where(worth == most, numbers, tables.columns).amin(dim=1)
    most = most.squeeze(1)
    none = most <= 0 if pass_over else most == lowest
    return torch.where(none, -1, cell)


def compute_worth(left: Tensor, price: Tensor) -> Tensor:
    """Return gain − price·cost in steps of 2^−(bits + 24)."""
    return ((left >> 32) << PRICE_BITS) - price * (left & 0xFFFFFFFF)


def take(
    tables: CellTables, state: State, points: Tensor, k: int, price: Tensor, *, pass_over: bool, limited: bool
) -> Tensor:
    """Let every selection take one cell near its point, and return their numbers, or -1.

    With ``limited``, a cell with more nodes than there is room for is not taken, and not free any more.
    """
    chosen = best_near(tables, state.left, points, k, price, pass_over)
    if limited:
        more = _count_new_nodes(tables, state, chosen)
        over = (chosen >= 0) & (more > state.room)
        while bool(over.any()):
            rows = torch.nonzero(over).squeeze(1)
            state.left[rows, chosen[rows]] -= LOST << 32
            state.gone[rows] += 1
            chosen[rows] = best_near(tables, state.left[rows], points[rows], k, price, pass_over)
            more = _count_new_nodes(tables, state, chosen)
            over = (chosen >= 0) & (more > state.room)
        state.room -= more
    rows = torch.nonzero(chosen >= 0).squeeze(1)
    cells = chosen[rows]
    brought = state.left[rows, cells]
    state.above[rows] += brought >> 32
    state.below[rows] += brought & 0xFFFFFFFF
    _cover(tables, state, rows, cells)
    state.left[rows, cells] -= LOST << 32
    state.gone[rows] += 1
    return chosen


def _entries(indptr: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positions of the entries of some rows, and the row of each."""
    begin = indptr[rows].long()
    sizes = indptr[rows + 1] - begin
    of = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), sizes)
    ends = sizes.cumsum(0)
    return torch.arange(len(of), device=rows.device) + (begin - ends + sizes)[of], of


def _find_uncovered(tables: CellTables, state: State, rows: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Return the selection and the group of every group that a cell would newly cover."""
    at, of = _entries(tables.members_indptr, cells)
    groups = tables.members[at].long()
    of = rows[of]
    new = (state.covered[of, groups >> 5] >> (groups & 31).int()) & 1 == 0
    return of[new], groups[new]


def _count_new_nodes(tables: CellTables, state: State, chosen: Tensor) -> Tensor:
    rows = torch.nonzero(chosen >= 0).squeeze(1)
    of, groups = _find_uncovered(tables, state, rows, chosen[rows])
    return torch.zeros_like(state.room).index_add_(0, of, tables.nodes[groups].long())


def _cover(tables: CellTables, state: State, rows: Tensor, cells: Tensor) -> None:
    of, groups = _find_uncovered(tables, state, rows, cells)
    bits = torch.ones_like(groups, dtype=torch.int32) << (groups & 31).int()
    # The bits are distinct and not set yet, so adding sets them.
    state.covered.index_put_((of, groups >> 5), bits, accumulate=True)
    at, entry = _entries(tables.homes_indptr, groups)
    places = of[entry] * tables.columns + tables.object_cells[at].long()
    state.left.view(-1).index_add_(0, places, -tables.weights[groups][entry])


def centres(tables: CellTables, left: Tensor, spots: Tensor, price: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean spot of the free cells, weighted by their gains at the price, and the sums of weights.

    Cells without a gain have no weight; without any weight the centre is 0.
    """
    left = left[:, : tables.cells]
    worth = torch.where((left >> 32) > TAKEN, compute_worth(left, price), 0).clamp_(min=0).double()
    worth *= 2.0 ** -(PRICE_BITS + tables.bits)
    sums = worth.sum(dim=1)
    return worth @ spots.double() / torch.where(sums > 0, sums, 1.0)[:, None], sums


class Plain:
    """The work on one set of tables and one batch in operations of torch."""

    def __init__(self, tables: CellTables, state: State, k: int) -> None:
        self.tables, self.state, self.k = tables, state, k

    def aim(self, actions: Tensor, centre: Tensor | None, unit: float, reach: int) -> Tensor:
        """Return actions in steps of the grid; with centres, actions are offsets from these."""
        steps = actions * unit if centre is None else (actions.double() + centre) * unit
        return steps.round().clamp(-reach, reach).to(torch.int16)

    def take(self, points: Tensor, price: Tensor, *, pass_over: bool, limited: bool) -> Tensor:
        """Let every selection take one cell near each of its points (steps, batch, directions), one after another."""
        chosen = [
            take(self.tables, self.state, at, self.k, price, pass_over=pass_over, limited=limited) for at in points
        ]
        return torch.stack(chosen).int()

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
        """Return the observations, the rewards, the sums of chosen spots, the values and the centres.

        ``spots`` are the coordinates of the cells for the agent, ``start`` the initial sums of weights, ``sums`` and
        ``values`` those before the step. ``numbers`` are gain₀, cost₀, a unit of the sums of weights, 1 / the unit of
        rewards, √m, and the progress of the episode from −1 to 1.
        """
        gain0, cost0, unit, per_unit, root, done = numbers.unbind()
        sums = sums + torch.where((chosen >= 0)[:, None], spots[chosen.clamp(min=0)], 0.0)
        over, under = gain0 + self.state.above * unit, cost0 + self.state.below * unit
        values_now = torch.where(under > 0, over / torch.where(under > 0, under, 1.0), 0.0)
        rewards = ((values_now - values) * per_unit).float()
        centre, left = torch.zeros_like(sums, dtype=torch.float64), torch.zeros_like(values)
        seen = sums
        if sees_left:
            centre, left = centres(self.tables, self.state.left, spots, price)
            seen = see(sums, centre, left / torch.where(start > 0, start, 1.0), root, done)
        return seen, rewards, sums, values_now, centre


def see(sums: Tensor, centre: Tensor, share: Tensor, root: Tensor, done: Tensor) -> Tensor:
    """Return the observation: the sum of the chosen spots over √m, the centre and the share of weight that is left."""
    far = done.float().expand(len(sums), 1)
    return torch.cat([sums / root.float(), centre.float(), far, share.float()[:, None]], dim=1)
