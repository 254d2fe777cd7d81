"""The kernels of ``triton_rollout`` at work: what ``torch_rollout`` does, on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cube2net.errors import MissingPackageError
from cube2net.kernels.rollout.triton_rollout import (
    GROUPED,
    HELD,
    STREAMED,
    Groups,
    Growing,
    Holdings,
    aim,
    least,
    look,
    take,
)

if TYPE_CHECKING:
    from cube2net.kernels.rollout.torch_rollout import CellTables, State

try:
    import triton  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # the module can then be read, not run
    triton = None

MAX_HELD_CELLS = 16384


class Compiled:
    """The kernels at work on one set of tables and one batch; the twin of ``torch_rollout.Plain``.

    ``way`` is how near cells are found; by default the one that suits the number of cells and k. ``steps`` is about how
    many cells a selection takes: the bound of ``grouped`` is made for so many cells that are not free.
    """

    def __init__(self, tables: CellTables, state: State, k: int, steps: int, *, way: int | None = None) -> None:
        if triton is None:
            raise MissingPackageError("selections on a GPU need the package 'triton': install torch built for CUDA")
        if not hasattr(triton.language, "tuple"):
            raise MissingPackageError(
                f"triton is {triton.__version__}, and selections on a GPU need 3.3 or later: install torch 2.7 or later"
            )
        self.tables, self.state, self.k = tables, state, k
        device = tables.points.device
        self._each, self._groups, self._most_found = _grouping(tables, k + steps)
        if way is None:
            way = HELD if tables.cells <= MAX_HELD_CELLS else GROUPED if self._groups else STREAMED
        self.way = way
        # As measured on an H200: see docs/howto/gpu.md.
        self._block = triton.next_power_of_2(max(128, tables.columns)) if way == HELD else 1024
        self._warps = {GROUPED: 8, STREAMED: 4}.get(way, max(1, min(8, self._block // 512), self._block // 1024))
        self._registers = {GROUPED: 128, STREAMED: None}.get(way, 128 if self._block >= 8192 else 96)
        self._lanes, self._tile = 128 * self._warps, (64, 128, 4)
        self._spots = self._spots_turned = torch.empty(0, device=device)
        self._held = Holdings(
            tables.members_indptr, tables.members, *_strips(tables), weights=tables.weights, nodes=tables.nodes
        )
        self._growing = Growing(state.left, state.covered, state.above, state.below, state.room, state.gone)
        self._sheet = torch.empty(0, dtype=torch.int32, device=device)
        self._scratch = Groups(self._sheet, self._sheet, self._sheet, self._sheet)
        if way == GROUPED:
            blocks, self._sheet = _sheets(tables, self._groups, self._each)
            minima = torch.empty((len(state.left), self._groups), dtype=torch.int32, device=device)
            found = torch.empty((len(state.left), 2 * self._most_found), dtype=torch.int32, device=device)
            self._scratch = Groups(minima, torch.empty_like(minima), found, blocks)

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
            points, self._sheet, self._scratch.minima, len(points), self._each,
            D=D, K=_depth(D), GROUPS=self._groups, ROWS=rows, COLUMNS=columns, num_warps=warps, num_stages=3,
        )  # fmt: skip

    def _take(self, points: Tensor, price: Tensor, chosen: Tensor, steps: int, pass_over: bool, limited: bool) -> None:
        t = self.tables
        take[(len(self.state.left),)](
            points, t.turned, self._held, self._growing, chosen, price, self._scratch, self._each,
            len(self.state.left), t.columns, t.words, self.k, steps,
            D=t.directions, WAY=self.way, BLOCK=self._block, GROUPS=self._groups, FOUND=self._most_found,
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


def _strips(tables: CellTables) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the strips of every cell (offsets, their numbers, their groups), and the homes of every strip.

    The homes of a group are cut into strips of 8; the last one of a group is filled up with -1.
    """
    begin = tables.homes_indptr.long()
    counts = begin.diff()
    pieces = (counts + 7) // 8
    first = pieces.cumsum(0) - pieces
    of = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    homes = torch.full((int(pieces.sum()) * 8,), -1, dtype=torch.int32, device=counts.device)
    homes[torch.arange(len(of), device=of.device) - begin[of] + first[of] * 8] = tables.object_cells
    members = tables.members.long()
    many = pieces[members]
    ends = torch.cat([many.new_zeros(1), many.cumsum(0)])
    entry = torch.repeat_interleave(torch.arange(len(members), device=many.device), many)
    numbers = torch.arange(len(entry), device=many.device) - ends[entry] + first[members[entry]]
    return ends[tables.members_indptr.long()].int(), numbers.int(), tables.members[entry], homes


def _grouping(tables: CellTables, wanted: int) -> tuple[int, int, int]:
    """Return the cells of a group, the number of groups, and the most cells compared; no groups where of no use."""
    largest = int(tables.points.abs().max()) if tables.points.numel() else 0
    groups = 2048
    if wanted > groups // 8 or tables.directions > 16 or tables.directions * largest**2 > 2**28:
        return 1, 0, 16
    return -(-tables.cells // groups), groups, max(256, int(triton.next_power_of_2(2 * wanted)))


def _sheets(tables: CellTables, groups: int, each: int) -> tuple[Tensor, Tensor]:
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
